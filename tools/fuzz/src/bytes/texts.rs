//! Statements of the records, and what becomes of them.

use std::path::Path;

use crate::bytes::lists;
use crate::draw::Draw;

/// Statements that one case mutates at most.
const PER_CASE: usize = 30;

/// The statements of a record file, in order.
pub struct Record(Vec<String>);

/// All record files below a folder, in the order of their names.
pub fn records(folder: &Path) -> Result<Vec<Record>, String> {
    let failed = |error| format!("the records in {} cannot be read: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut paths: Vec<_> = entries.flatten().map(|it| it.path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "slt"));
    paths.sort();
    let read = |path| std::fs::read_to_string(path).map(|it| Record(statements_of(&it)));
    let records: Vec<Record> = paths.iter().map(read).collect::<Result<_, _>>().map_err(failed)?;
    if records.is_empty() {
        return Err(format!("there are no records in {}", folder.display()));
    }
    Ok(records)
}

/// What stands below each line that begins a record, up to its result or an empty line.
fn statements_of(text: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !(line.starts_with("statement ") || line.starts_with("query")) {
            continue;
        }
        let statement: Vec<&str> =
            lines.by_ref().take_while(|it| !it.is_empty() && *it != "----").collect();
        statements.push(statement.join("\n"));
    }
    statements
}

/// The statements of a case: those that make tables as they are, and some of one file, most of them mutated.
pub fn statements(records: &[Record], draw: &mut Draw) -> Vec<String> {
    let Record(all) = draw.pick(records);
    let Record(others) = draw.pick(records);
    let begin = draw.below(all.len().max(1));
    let mut run: Vec<String> = all[..begin].iter().filter(|it| is_setup(it)).cloned().collect();
    for statement in all[begin..].iter().take(PER_CASE) {
        if draw.chance(30) {
            run.push(statement.clone());
        }
        let others = if draw.chance(70) || others.is_empty() { all } else { others };
        let other = draw.pick(others).clone();
        run.push(mutated(statement, &other, draw));
    }
    run
}

fn is_setup(statement: &str) -> bool {
    let head = statement.trim_start().get(..6).unwrap_or_default();
    head.eq_ignore_ascii_case("CREATE") || head.eq_ignore_ascii_case("INSERT")
}

/// Bytes of a text from which on it is not made longer.
const LONGEST: usize = 100_000;

/// Numbers at the edges of types.
const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "127",
    "32768",
    "2147483647",
    "2147483648",
    "-9223372036854775808",
    "9223372036854775807",
    "99999999999999999999999999999999999999",
    "1e308",
    "1e-400",
    "0.5",
    "100000000",
];
/// Texts at the edges of what types read.
const TEXTS: [&str; 16] = [
    "''",
    "'a'",
    "'%'",
    "'\\'",
    "'infinity'",
    "'NaN'",
    "'0001-01-01 BC'",
    "'9999-12-31 23:59:60'",
    "'24:00:00'",
    "'{}'",
    "'[1,{\"a\":null}]'",
    "'{1,NULL}'",
    "'\u{e9}\u{1f600}\u{0}'",
    "E'\\x00'",
    "'P1Y-2M'",
    "'$.a[*]'",
];
/// Words that change what is around them.
const WORDS: [&str; 24] = [
    "NULL",
    "DISTINCT",
    "(SELECT 1)",
    "()",
    "(",
    ")",
    "*",
    ",",
    "NOT",
    "ALL",
    "OVER ()",
    "FILTER (WHERE true)",
    "::text",
    "[1]",
    "[1:2]",
    "CASE",
    "END",
    "LATERAL",
    "WITH x AS (SELECT 1)",
    "ORDER BY 1",
    "GROUP BY ALL",
    "LIMIT 1",
    "-",
    "::bigint[]",
];

/// A statement with a few changes, some of them taken from another.
fn mutated(statement: &str, other: &str, draw: &mut Draw) -> String {
    let (mut pieces, others) = (tokens(statement), tokens(other));
    for _ in 0..draw.between(1, 4) {
        if pieces.is_empty() || pieces.iter().map(String::len).sum::<usize>() > LONGEST {
            break;
        }
        change(&mut pieces, &others, draw);
    }
    let mut text: String = pieces.concat();
    if draw.chance(8) {
        let letters: Vec<char> = text.chars().collect();
        let at = draw.below(letters.len() + 1);
        let junk =
            *draw.pick(&['\u{0}', '\'', '"', '$', '\\', '\u{fffd}', '\u{202e}', '/', ';', '\t']);
        text = letters[..at].iter().chain([&junk]).chain(&letters[at..]).collect();
    }
    text
}

fn change(pieces: &mut Vec<String>, others: &[String], draw: &mut Draw) {
    let at = draw.below(pieces.len());
    let until = (at + draw.between(1, 6)).min(pieces.len());
    match draw.below(13) {
        0 => drop(pieces.drain(at..until)),
        1 => {
            let again = pieces[at..until].to_vec();
            pieces.splice(at..at, again);
        }
        2 => {
            let with = draw.below(pieces.len());
            pieces.swap(at, with);
        }
        3 | 4 if !others.is_empty() => {
            let from = draw.below(others.len());
            let to = (from + draw.between(1, 12)).min(others.len());
            pieces.splice(at..until, others[from..to].iter().cloned());
        }
        5 => replace(pieces, |it| it.starts_with(|it: char| it.is_ascii_digit()), &NUMBERS, draw),
        6 => replace(pieces, |it| it.starts_with('\''), &TEXTS, draw),
        7 => pieces[at] = format!(" {} ", draw.pick(&NUMBERS)),
        8 => pieces[at] = format!(" {} ", draw.pick(&TEXTS)),
        9 => pieces.insert(at, format!(" {} ", draw.pick(&WORDS))),
        10 => pieces.truncate(at),
        11 => lists::repeat(pieces, at, LONGEST, draw),
        // Deep, wide and long ones.
        _ => {
            let inner = pieces[at..until].concat();
            let times = (*draw.pick(&[2, 20, 300, 4000])).min(1 + LONGEST / (inner.len() + 1));
            let nested = match draw.below(4) {
                0 => format!("{}{inner}{}", "(".repeat(times), ")".repeat(times)),
                1 => format!(" {} {inner}", "NOT ".repeat(times)),
                2 => format!(" {inner} ").repeat(times),
                _ => format!("{}{inner}", "(SELECT ".repeat(times)),
            };
            pieces.splice(at..until, [nested]);
        }
    }
}

/// Puts one of the choices in the place of one of the pieces that are of a kind.
fn replace(pieces: &mut [String], is: impl Fn(&str) -> bool, by: &[&str], draw: &mut Draw) {
    let places: Vec<usize> = (0..pieces.len()).filter(|&it| is(&pieces[it])).collect();
    if !places.is_empty() {
        pieces[*draw.pick(&places)] = (*draw.pick(by)).to_owned();
    }
}

/// Words, numbers, texts in quotes, blanks and single signs; nothing is lost.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(first) = letters.next() {
        let mut token = String::from(first);
        let goes_on: &dyn Fn(char) -> bool = match first {
            '\'' | '"' => {
                for letter in letters.by_ref() {
                    token.push(letter);
                    if letter == first {
                        break;
                    }
                }
                &|_| false
            }
            it if it.is_alphanumeric() || it == '_' => &|it| it.is_alphanumeric() || it == '_',
            it if it.is_whitespace() => &|it| it.is_whitespace(),
            _ => &|_| false,
        };
        while let Some(letter) = letters.next_if(|&it| goes_on(it)) {
            token.push(letter);
        }
        tokens.push(token);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_and_cut_without_loss() {
        let text = "# a\n\nstatement ok\nCREATE TABLE t\n  (a int)\n\nquery I\nSELECT 'x y', a1\n----\n1\n";
        let statements = statements_of(text);
        assert_eq!(statements, ["CREATE TABLE t\n  (a int)", "SELECT 'x y', a1"]);
        let tokens = tokens(&statements[1]);
        assert_eq!(tokens, ["SELECT", " ", "'x y'", ",", " ", "a1"]);
        assert_eq!(tokens.concat(), statements[1]);
    }

    #[test]
    fn a_number_repeats_its_case() {
        let records = [Record(vec!["CREATE TABLE t (a int)".into(), "SELECT a + 1 FROM t".into()])];
        let case = |number| statements(&records, &mut Draw::new(1, number));
        let all: Vec<_> = (0..50).map(case).collect();
        assert_eq!(all, (0..50).map(case).collect::<Vec<_>>());
        assert!(
            all.iter().flatten().any(|it| it.contains("SELECT") && it != "SELECT a + 1 FROM t")
        );
    }
}
