//! Variables of loops and of the surroundings, and what conditions say of them.

use std::borrow::Cow;

use super::script::LoopValues;

const SIGNED: &[&str] = &["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"];
const UNSIGNED: &[&str] = &["UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"];
const FLOATS: &[&str] = &["FLOAT", "DOUBLE"];
const OTHERS: &[&str] = &["BOOL", "INTERVAL", "VARCHAR"];
const COMPRESSION: &[&str] =
    &["none", "uncompressed", "rle", "bitpacking", "dictionary", "fsst", "alp", "alprd"];

/// Names with values; the last of a name counts.
#[derive(Default)]
pub struct Variables(Vec<(String, String)>);

impl Variables {
    /// How many there are: a mark to go back to.
    pub fn mark(&self) -> usize {
        self.0.len()
    }

    /// Forgets all after a mark.
    pub fn reset(&mut self, mark: usize) {
        self.0.truncate(mark);
    }

    /// Adds one.
    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// A text with `${name}`, `{name}` and `__NAME__` replaced where the name is known.
    pub fn substitute<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() || !(text.contains('{') || text.contains("__")) {
            return Cow::Borrowed(text);
        }
        let mut text = text.to_owned();
        for (name, value) in self.0.iter().rev() {
            for pattern in [format!("${{{name}}}"), format!("{{{name}}}"), format!("__{name}__")] {
                if text.contains(&pattern) {
                    text = text.replace(&pattern, value);
                }
            }
        }
        Cow::Owned(text)
    }

    /// Whether comparisons of variables joined by `&&` hold; an error where one cannot be read.
    pub fn holds(&self, comparisons: &str) -> Result<bool, String> {
        let mut all = true;
        for comparison in comparisons.split("&&") {
            all &= self.compares(comparison)?;
        }
        Ok(all)
    }

    fn compares(&self, comparison: &str) -> Result<bool, String> {
        // The longer signs first.
        let signs = ["<>", "!=", ">=", "<=", "=", "<", ">"];
        let found = signs.iter().find_map(|sign| Some((*sign, comparison.split_once(sign)?)));
        let (sign, (name, wanted)) = found.ok_or_else(|| format!("condition {comparison}"))?;
        let Some(value) = self.get(name.trim()) else {
            return Err(format!("condition on {name}, which is no variable"));
        };
        let wanted = wanted.trim();
        let order = match (value.parse::<i64>(), wanted.parse::<i64>()) {
            (Ok(value), Ok(wanted)) => value.cmp(&wanted),
            _ => value.to_lowercase().cmp(&wanted.to_lowercase()),
        };
        Ok(match sign {
            "=" => order.is_eq(),
            "<>" | "!=" => order.is_ne(),
            ">=" => order.is_ge(),
            "<=" => order.is_le(),
            "<" => order.is_lt(),
            _ => order.is_gt(),
        })
    }

    /// What the variables of a loop are, turn by turn.
    pub fn turns(&self, values: &LoopValues<'_>) -> Result<Vec<String>, String> {
        match values {
            LoopValues::Range(from, to) => {
                let bound = |word: &str| {
                    let text = self.substitute(word);
                    text.parse::<i64>().map_err(|_| format!("loop bound {text}"))
                };
                Ok((bound(from)?..bound(to)?).map(|it| it.to_string()).collect())
            }
            LoopValues::Words(words) => {
                let mut turns: Vec<String> = Vec::new();
                for word in words {
                    let word = self.substitute(word);
                    match word.strip_prefix('!') {
                        Some(without) => turns.retain(|it| !it.eq_ignore_ascii_case(without)),
                        None => add_words(&word, &mut turns)?,
                    }
                }
                Ok(turns)
            }
        }
    }
}

/// A word, or all words of a named set.
fn add_words(word: &str, turns: &mut Vec<String>) -> Result<(), String> {
    let sets: &[&[&str]] = match word {
        "<signed>" => &[SIGNED],
        "<unsigned>" => &[UNSIGNED],
        "<integral>" => &[SIGNED, UNSIGNED],
        "<numeric>" => &[SIGNED, UNSIGNED, FLOATS],
        "<alltypes>" => &[SIGNED, UNSIGNED, FLOATS, OTHERS],
        "<compression>" => &[COMPRESSION],
        unknown if unknown.starts_with('<') && unknown.ends_with('>') => {
            return Err(format!("loop over {unknown}"));
        }
        plain => {
            turns.push(plain.to_owned());
            return Ok(());
        }
    };
    turns.extend(sets.iter().flat_map(|it| it.iter()).map(|it| (*it).to_owned()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_the_innermost_first() {
        let mut variables = Variables::default();
        assert_eq!(variables.substitute("${i}"), "${i}");
        variables.push("i", "1");
        variables.push("TEST_DIR", "/data");
        let mark = variables.mark();
        variables.push("i", "2");
        assert_eq!(
            variables.substitute("${i}{i} ${j} {TEST_DIR}__TEST_DIR__"),
            "22 ${j} /data/data"
        );
        variables.reset(mark);
        assert_eq!(variables.substitute("${i}"), "1");
    }

    #[test]
    fn conditions_compare_numbers_and_words() {
        let mut variables = Variables::default();
        variables.push("i", "10");
        variables.push("type", "VARCHAR");
        for (condition, holds) in [
            ("i=10", true),
            ("i<9", false),
            ("i>=3&&i<=10", true),
            ("i>=3&&i<10", false),
            ("i<>10", false),
            ("i!=9", true),
            ("i>9", true),
            ("type=varchar", true),
        ] {
            assert_eq!(variables.holds(condition), Ok(holds), "{condition}");
        }
        assert!(variables.holds("j=1").is_err());
        assert!(variables.holds("i").is_err());
    }

    #[test]
    fn loops_go_over_ranges_words_and_sets() {
        let mut variables = Variables::default();
        variables.push("n", "3");
        let turns = |values| variables.turns(&values);
        assert_eq!(turns(LoopValues::Range("1", "${n}")).unwrap(), ["1", "2"]);
        assert!(turns(LoopValues::Range("1", "m")).is_err());
        let words = vec!["<signed>", "!hugeint", "!bigint", "a,b"];
        let wanted = ["TINYINT", "SMALLINT", "INTEGER", "a,b"];
        assert_eq!(turns(LoopValues::Words(words)).unwrap(), wanted);
        assert!(turns(LoopValues::Words(vec!["<odd>"])).is_err());
    }
}
