//! Answers as text, in the manner of a flavour.

use nodewise::Answer;
use nodewise::text::Cells;
use std::path::Path;

use super::duckdb_text;

/// How a script shows values, and what its directives mean where flavours differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// A value per line, converted as the letter of its column says; extension `test`.
    Sqlite,
    /// Values as they are, a row per line with tabs or a value per line; begins with `# name:` or `# group:`.
    DuckDb,
    /// Values as PostgreSQL shows them, a row per line with blanks; extension `slt`.
    Postgres,
}

impl Flavour {
    /// What a file is, by its extension and its first lines.
    pub fn of(path: &Path, text: &str) -> Self {
        if path.extension().is_some_and(|it| it == "slt") {
            return Self::Postgres;
        }
        let marked = |line: &str| ["# name:", "# group:"].iter().any(|it| line.starts_with(it));
        if text.lines().take(5).any(marked) { Self::DuckDb } else { Self::Sqlite }
    }

    /// The flavour of a name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "sqlite" => Some(Self::Sqlite),
            "duckdb" => Some(Self::DuckDb),
            "postgres" => Some(Self::Postgres),
            _ => None,
        }
    }
}

/// Rows as text, one value after the other.
#[derive(Debug, PartialEq)]
pub struct Rows {
    /// Columns of a row; 0 for an answer without columns.
    pub columns: usize,
    /// All values, row by row.
    pub values: Vec<String>,
}

impl Rows {
    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }
}

/// The rows of an answer: NULL as `NULL`, an empty text as `(empty)`. `types` holds a letter per column.
pub fn rows(answer: &Answer, flavour: Flavour, types: &str) -> Rows {
    let columns = answer.schema.fields().len();
    if columns == 0 {
        return Rows { columns: 0, values: Vec::new() };
    }
    let mut values = Vec::with_capacity(answer.rows() * columns);
    for batch in &answer.batches {
        let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            for (at, column) in cells.iter().enumerate() {
                let mut text = String::new();
                if !column.write(row, &mut text) {
                    values.push("NULL".to_owned());
                    continue;
                }
                values.push(match flavour {
                    Flavour::Sqlite => as_letter(text, types.as_bytes().get(at).copied()),
                    Flavour::DuckDb => named_if_empty(match answer.types.get(at) {
                        // Its runner sorts them as numbers.
                        Some(types::DataType::Boolean) if text == "t" || text == "true" => {
                            "1".to_owned()
                        }
                        Some(types::DataType::Boolean) => "0".to_owned(),
                        Some(of) => duckdb_text::shown(text, *of),
                        None => text,
                    }),
                    Flavour::Postgres => named_if_empty(text),
                });
            }
        }
    }
    Rows { columns, values }
}

fn named_if_empty(text: String) -> String {
    if text.is_empty() { "(empty)".to_owned() } else { text }
}

/// A value as SQLite's runner shows it: `I` cuts a number to an integer, `R` has three places, `T` is printable text.
fn as_letter(text: String, letter: Option<u8>) -> String {
    match letter {
        Some(b'I') => integer(text),
        Some(b'R') => real(&text),
        _ => {
            let text = match text.as_str() {
                "true" => "1".to_owned(),
                "false" => "0".to_owned(),
                _ => text,
            };
            let printable = |it: char| if (' '..='~').contains(&it) { it } else { '@' };
            if text.bytes().all(|it| (b' '..=b'~').contains(&it)) {
                return named_if_empty(text);
            }
            text.chars().map(printable).collect()
        }
    }
}

fn integer(text: String) -> String {
    let digits = text.strip_prefix('-').unwrap_or(&text);
    if !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()) && text != "-0" {
        return text;
    }
    match text.as_str() {
        "true" => return "1".to_owned(),
        "false" => return "0".to_owned(),
        _ => {}
    }
    if text.contains(['e', 'E'])
        && let Ok(number) = text.parse::<f64>()
    {
        return format!("{:.0}", number.trunc());
    }
    // A number's whole part, or the number that a text begins with.
    let signed = usize::from(text.starts_with(['-', '+']));
    let length = text[signed..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = &text[..signed + length];
    let is_zero = whole.bytes().all(|it| matches!(it, b'-' | b'+' | b'0'));
    if is_zero { "0".to_owned() } else { whole.trim_start_matches('+').to_owned() }
}

fn real(text: &str) -> String {
    match text {
        "true" => return "1.000".to_owned(),
        "false" => return "0.000".to_owned(),
        _ => {}
    }
    let number: f64 = text.parse().unwrap_or(0.0);
    // A negative zero has no sign there.
    format!("{:.3}", if number == 0.0 { 0.0 } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavours_are_told_by_the_file() {
        let of = |path: &str, text: &str| Flavour::of(Path::new(path), text);
        assert_eq!(of("a/b.slt", "# name: x"), Flavour::Postgres);
        assert_eq!(of("a/b.test", "# name: x\n# group: [y]\n"), Flavour::DuckDb);
        assert_eq!(of("a/b.test", "statement ok\n"), Flavour::Sqlite);
        assert_eq!(Flavour::named("duckdb"), Some(Flavour::DuckDb));
        assert_eq!(Flavour::named("x"), None);
    }

    #[test]
    fn letters_convert_as_sqlite_does() {
        for (text, letter, shown) in [
            ("-17", b'I', "-17"),
            ("2.99", b'I', "2"),
            ("-2.99", b'I', "-2"),
            ("-0.5", b'I', "0"),
            ("-0", b'I', "0"),
            ("1e+20", b'I', "100000000000000000000"),
            ("true", b'I', "1"),
            ("12 men", b'I', "12"),
            ("men", b'I', "0"),
            ("1", b'R', "1.000"),
            ("-0.0", b'R', "0.000"),
            ("2.0006", b'R', "2.001"),
            ("x", b'R', "0.000"),
            ("", b'T', "(empty)"),
            ("a\tb", b'T', "a@b"),
            ("false", b'T', "0"),
        ] {
            assert_eq!(as_letter(text.to_owned(), Some(letter)), shown, "{text}");
        }
    }
}
