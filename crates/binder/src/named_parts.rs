//! DuckDB's calls with a list of names, which make a struct: `date_part(['year', 'month'], d)` and
//! `regexp_extract(s, '(..)-(..)', ['a', 'b'])`. A field is what a call with the one name, or of the one group, is.

use sqlparser::ast::{Expr, Value};

/// What such a call stands for; `None` of any other.
pub(crate) fn expansion(name: &str, arguments: &[&Expr]) -> Option<String> {
    match (name, arguments) {
        ("date_part" | "datepart", [names, moment]) => {
            let names = texts(names)?;
            let fields =
                names.iter().map(|it| (*it, format!("date_part({}, {moment})", quoted(it))));
            Some(struct_unless_null(&moment.to_string(), fields))
        }
        ("regexp_extract", [text, pattern, names, options @ ..]) if options.len() < 2 => {
            let (names, more) = (groups(pattern, names)?, options_text(options));
            let group = |place: usize| {
                format!("coalesce((regexp_match({text}, {pattern}{more}))[{}], '')", place + 1)
            };
            let fields = names.iter().enumerate().map(|it| (*it.1, group(it.0)));
            Some(struct_unless_null(&text.to_string(), fields))
        }
        ("regexp_extract_all", [text, pattern, names, options @ ..]) if options.len() < 2 => {
            let (names, more) = (groups(pattern, names)?, options_text(options));
            // A match is matched by itself, so that a group that is not there is NULL; what looks around is another match then.
            if looks_around(text_of(pattern)?) {
                return None;
            }
            let field = |(place, name): (usize, &&str)| {
                let group =
                    format!("(regexp_match(\"the match\", {pattern}{more}))[{}]", place + 1);
                format!("{}: {group}", quoted(name))
            };
            let fields: Vec<String> = names.iter().enumerate().map(field).collect();
            let fields = fields.join(", ");
            let all = format!("regexp_extract_all({text}, {pattern}, 0{more})");
            Some(format!("list_transform({all}, lambda \"the match\" : {{{fields}}})"))
        }
        _ => None,
    }
}

fn options_text(options: &[&Expr]) -> String {
    options.iter().map(|it| format!(", {it}")).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn struct_unless_null<'n>(value: &str, fields: impl Iterator<Item = (&'n str, String)>) -> String {
    let fields: Vec<String> = fields.map(|(name, it)| format!("{}: {it}", quoted(name))).collect();
    format!("(CASE WHEN ({value}) IS NOT NULL THEN {{{}}} END)", fields.join(", "))
}

/// The texts of a list of constants, of which no two are the same; none of an empty one.
fn texts(list: &Expr) -> Option<Vec<&str>> {
    let Expr::Array(array) = list else { return None };
    let texts: Vec<&str> = array.elem.iter().map(text_of).collect::<Option<_>>()?;
    let repeats = (1..texts.len()).any(|it| texts[..it].contains(&texts[it]));
    (!texts.is_empty() && !repeats).then_some(texts)
}

fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Value(it) => match &it.value {
            Value::SingleQuotedString(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// The names of groups of a constant pattern that has as many of them.
fn groups<'e>(pattern: &Expr, names: &'e Expr) -> Option<Vec<&'e str>> {
    let names = texts(names)?;
    (capturing(text_of(pattern)?) >= names.len()).then_some(names)
}

/// Whether a pattern asks what stands around a match.
fn looks_around(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    let mut in_class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_some_and(|it| "AbBmMyYzZ".contains(it)) => return true,
            '[' => in_class = true,
            ']' => in_class = false,
            '^' | '$' if !in_class => return true,
            _ => {}
        }
    }
    false
}

/// How many groups of a pattern are kept.
fn capturing(pattern: &str) -> usize {
    let mut letters = pattern.chars().peekable();
    let (mut count, mut in_class) = (0, false);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && letters.peek() != Some(&'?') => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_look_around_are_told() {
        for pattern in ["^a", "a$", r"\bx", r"(a)\z"] {
            assert!(looks_around(pattern), "{pattern}");
        }
        for pattern in ["", "[^a]", r"\$(a)", r"(\w+):\\"] {
            assert!(!looks_around(pattern), "{pattern}");
        }
    }

    #[test]
    fn groups_of_patterns_are_counted() {
        for (pattern, groups) in [("", 0), ("(a)(b(c))", 3), (r"\((?:a)[(](b)", 1), ("(", 1)] {
            assert_eq!(capturing(pattern), groups, "{pattern}");
        }
    }
}
