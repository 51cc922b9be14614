//! The text of a script as directives.
//!
//! SQL and expected values are slices of the text: a script of SQLite has a hundred thousand of them.

/// The directives of a script, in order.
pub type Block<'a> = Vec<Directive<'a>>;

/// One directive of a script.
#[derive(Debug, PartialEq)]
pub struct Directive<'a> {
    /// Line of its first word, from 1.
    pub line: usize,
    /// All must hold for it to run.
    pub conditions: Vec<Condition<'a>>,
    /// What it does.
    pub action: Action<'a>,
}

/// `onlyif WORDS` or `skipif WORDS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition<'a> {
    /// Whether it is `onlyif`.
    pub only: bool,
    /// An engine's name, or comparisons of loop variables as in `i>=3&&i<9`.
    pub words: &'a str,
}

/// What a directive does.
#[derive(Debug, PartialEq)]
pub enum Action<'a> {
    /// Runs SQL of which only success matters.
    Statement {
        /// How it should end.
        expect: Expect,
        /// The session that runs it, by name; behind `error` it may be a pattern of one word instead.
        connection: &'a str,
        /// Its SQL.
        sql: &'a str,
    },
    /// Runs SQL and compares the rows.
    Query(Query<'a>),
    /// Runs a block for each of some values of variables.
    Loop {
        /// Names separated by commas.
        variables: &'a str,
        /// Over what it goes.
        values: LoopValues<'a>,
        /// What it repeats.
        body: Block<'a>,
    },
    /// Any other directive: its name and its other words.
    Other(&'a str, Vec<&'a str>),
}

/// A `query` record.
#[derive(Debug, PartialEq)]
pub struct Query<'a> {
    /// A letter per column; empty where the flavour leaves them out.
    pub types: &'a str,
    /// What is sorted before results are compared; `None` for what `control sortmode` says.
    pub sort: Option<Sort>,
    /// The session that runs it, by name.
    pub connection: &'a str,
    /// Queries of one label give the same rows.
    pub label: Option<&'a str>,
    /// Its SQL.
    pub sql: &'a str,
    /// The lines of the expected result; `None` where the script states none.
    pub expected: Option<Vec<&'a str>>,
}

/// How a statement should end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Well.
    Success,
    /// With an error.
    Error,
    /// In either way.
    Either,
}

/// What is sorted before results are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Nothing.
    Nothing,
    /// Rows.
    Rows,
    /// Single values.
    Values,
}

/// Over what a loop goes.
#[derive(Debug, PartialEq)]
pub enum LoopValues<'a> {
    /// From a number up to below another; words, because they may name variables.
    Range(&'a str, &'a str),
    /// Words, or sets of words such as `<integral>`.
    Words(Vec<&'a str>),
}

/// Parses a script. The error names the line.
pub fn parse(text: &str) -> Result<Block<'_>, String> {
    let mut lines = Lines { text, at: 0, number: 0 };
    block(&mut lines, None)
}

/// Directives up to the end of the text, or of the loop that began at a line.
fn block<'a>(lines: &mut Lines<'a>, begun: Option<usize>) -> Result<Block<'a>, String> {
    let mut directives = Vec::new();
    let mut conditions = Vec::new();
    while let Some(line) = lines.next() {
        let number = lines.number;
        let mut words = line.split_whitespace();
        let Some(first) = words.next().filter(|it| !it.starts_with('#')) else { continue };
        let mut words: Vec<&str> = words.collect();
        let action = match first {
            "endloop" if begun.is_some() => return Ok(directives),
            "endloop" => return Err(format!("line {number}: endloop without a loop")),
            "onlyif" | "skipif" => {
                let words = words.first().copied().unwrap_or_default();
                conditions.push(Condition { only: first == "onlyif", words });
                continue;
            }
            "statement" => statement(&mut words, lines),
            "query" => query(&mut words, lines),
            "loop" | "concurrentloop" => match words.as_slice() {
                [variables, from, to, ..] => {
                    let values = LoopValues::Range(from, to);
                    Action::Loop { variables, values, body: block(lines, Some(number))? }
                }
                _ => return Err(format!("line {number}: a loop has a name and two bounds")),
            },
            "foreach" | "concurrentforeach" => match words.split_first() {
                Some((variables, values)) => {
                    let values = LoopValues::Words(values.to_vec());
                    Action::Loop { variables, values, body: block(lines, Some(number))? }
                }
                None => return Err(format!("line {number}: a loop has a name")),
            },
            other => Action::Other(other, words),
        };
        let conditions = std::mem::take(&mut conditions);
        directives.push(Directive { line: number, conditions, action });
    }
    match begun {
        Some(line) => Err(format!("line {line}: the loop does not end")),
        None => Ok(directives),
    }
}

/// Leaves the words of a record's first line up to a comment.
fn drop_comment(words: &mut Vec<&str>) {
    let end = words.iter().position(|it| it.starts_with('#')).unwrap_or(words.len());
    words.truncate(end);
}

fn statement<'a>(words: &mut Vec<&'a str>, lines: &mut Lines<'a>) -> Action<'a> {
    drop_comment(words);
    let expect = match words.first().copied() {
        Some("error") => Expect::Error,
        Some("maybe") => Expect::Either,
        // Behind `ok` and `count N`.
        _ => Expect::Success,
    };
    // Behind `count` stands a number; several words behind `error` are a pattern for the other system's message.
    let connection = match words.as_slice() {
        ["count", ..] => "",
        [_, connection] => connection,
        _ => "",
    };
    let (sql, _) = lines.record();
    Action::Statement { expect, connection, sql }
}

fn query<'a>(words: &mut Vec<&'a str>, lines: &mut Lines<'a>) -> Action<'a> {
    drop_comment(words);
    if words.first() == Some(&"error") {
        let (sql, _) = lines.record();
        return Action::Statement { expect: Expect::Error, connection: "", sql };
    }
    let mut words = words.iter().copied();
    let types = words.next().unwrap_or_default();
    let (mut sort, mut connection, mut label) = (None, "", None);
    for (at, word) in words.enumerate() {
        match word {
            "nosort" => sort = Some(Sort::Nothing),
            "rowsort" | "sort" => sort = Some(Sort::Rows),
            "valuesort" => sort = Some(Sort::Values),
            _ if at == 0 => connection = word,
            _ => label = Some(word),
        }
    }
    let (sql, expected) = lines.record();
    Action::Query(Query { types, sort, connection, label, sql, expected })
}

/// The lines of a text.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let end = rest.find('\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        self.number += 1;
        Some(rest[..end].trim_end_matches('\r'))
    }

    /// The SQL from here to a blank line, and the lines of the result, if one is told.
    fn record(&mut self) -> (&'a str, Option<Vec<&'a str>>) {
        let begin = self.at;
        let mut end = begin;
        while let Some(line) = self.next() {
            if line.is_empty() {
                return (&self.text[begin..end], None);
            }
            if line == "----" {
                return (&self.text[begin..end], Some(self.values()));
            }
            end = begin + (line.as_ptr() as usize - self.text[begin..].as_ptr() as usize);
            end += line.len();
        }
        (&self.text[begin..end], None)
    }

    fn values(&mut self) -> Vec<&'a str> {
        let mut values = Vec::new();
        while let Some(line) = self.next().filter(|it| !it.is_empty()) {
            values.push(line);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(text: &str) -> Vec<Action<'_>> {
        parse(text).unwrap().into_iter().map(|it| it.action).collect()
    }

    #[test]
    fn statements_and_their_ends() {
        let text = "# note\nstatement ok\nCREATE TABLE t\n  (a INT)\n\nstatement error # why\nSELECT\n----\nno\n\n\
            statement maybe\nDROP TABLE u\n\nstatement ok con2\nBEGIN\n\nstatement error no .* column\nSELECT x";
        let of = |expect, connection, sql| Action::Statement { expect, connection, sql };
        assert_eq!(
            actions(text),
            [
                of(Expect::Success, "", "CREATE TABLE t\n  (a INT)"),
                of(Expect::Error, "", "SELECT"),
                of(Expect::Either, "", "DROP TABLE u"),
                of(Expect::Success, "con2", "BEGIN"),
                of(Expect::Error, "", "SELECT x"),
            ]
        );
        let lines: Vec<usize> = parse(text).unwrap().iter().map(|it| it.line).collect();
        assert_eq!(lines, [2, 6, 11, 14, 17]);
    }

    #[test]
    fn queries_with_types_sort_connection_and_label() {
        let text = "query IT rowsort label-7\nSELECT 1, 'a'\r\n----\r\n1\r\na\r\n\r\nquery I con1\nSELECT 2\n\n\
            query error\nSELECT 1/0\n\nquery\nSELECT 3\n----\n\n";
        let actions = actions(text);
        let sorted = Query {
            types: "IT",
            sort: Some(Sort::Rows),
            connection: "",
            label: Some("label-7"),
            sql: "SELECT 1, 'a'",
            expected: Some(vec!["1", "a"]),
        };
        assert_eq!(actions[0], Action::Query(sorted));
        assert!(matches!(&actions[1], Action::Query(it)
            if it.connection == "con1" && it.sort.is_none() && it.expected.is_none()));
        assert!(matches!(actions[2], Action::Statement { expect: Expect::Error, .. }));
        assert!(matches!(&actions[3], Action::Query(it) if it.expected == Some(vec![])));
    }

    #[test]
    fn conditions_belong_to_the_next_directive() {
        let block = parse("onlyif mysql # DIV\nskipif i>=3\nhalt\nhash-threshold 8\n").unwrap();
        let of = |only, words| Condition { only, words };
        assert_eq!(block[0].conditions, [of(true, "mysql"), of(false, "i>=3")]);
        assert_eq!(block[0].action, Action::Other("halt", vec![]));
        assert_eq!(block[1].conditions, []);
        assert_eq!(block[1].action, Action::Other("hash-threshold", vec!["8"]));
    }

    #[test]
    fn loops_nest_and_must_end() {
        let text = "loop i 0 3\nforeach a,b 1,2 <signed>\nstatement ok\nSELECT ${i}\n\nendloop\nendloop\nhalt\n";
        let block = parse(text).unwrap();
        let [outer, halt] = block.as_slice() else { panic!("{block:?}") };
        let Action::Loop { variables: "i", values: LoopValues::Range("0", "3"), body } =
            &outer.action
        else {
            panic!("{outer:?}")
        };
        assert!(matches!(&body[0].action, Action::Loop { variables: "a,b", values, body }
            if *values == LoopValues::Words(vec!["1,2", "<signed>"]) && body.len() == 1));
        assert_eq!((halt.line, &halt.action), (8, &Action::Other("halt", vec![])));
        for bad in ["loop i 0 3\nhalt\n", "endloop\n", "loop i\nendloop\n", "foreach\nendloop\n"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
