//! What a short text is, its integers left out: clients that make each statement anew by their values send texts that differ in
//! these alone, so that they can be read and planned once.
//!
//! Key decision: the bytes are looked through once, and whatever might mean something else is left to the parser. An integer is left
//! out only where an operand stands: behind a comparison or a sign, or as a value of a row. So `LIMIT 5`, `ORDER BY 1` and
//! `numeric(10, 2)` stay what they are.

/// Bytes of a text that is looked through; a longer one is not worth it.
const BYTES_MAX: usize = 1024;

/// Integers that are left out at most.
const VALUES_MAX: usize = 64;

/// A text without its integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimilarText {
    /// The text with parameters in their place.
    pub text: String,
    /// What they are, in order.
    pub values: Vec<i64>,
}

/// A text that reads, changes, adds or removes rows without its integers; `None` of one that is anything else, or has none of them.
pub fn similar(sql: &str) -> Option<SimilarText> {
    let sql = sql.trim_ascii();
    let sql = sql.strip_suffix(';').unwrap_or(sql).trim_ascii_end();
    if sql.len() > BYTES_MAX || !sql.is_ascii() {
        return None;
    }
    let is_row_statement = |it: &&str| {
        sql.len() > it.len() && sql.as_bytes()[..it.len()].eq_ignore_ascii_case(it.as_bytes())
    };
    let kind = ["SELECT ", "UPDATE ", "INSERT ", "DELETE "].iter().position(is_row_statement)?;
    let mut reader = Reader {
        text: sql,
        out: SimilarText { text: String::with_capacity(sql.len() + 16), values: Vec::new() },
        before: Before::Other,
        rows: if kind == 2 { Rows::Awaited } else { Rows::None },
        depth: 0,
    };
    let mut at = 0;
    while at < sql.len() {
        at = reader.token(at)?;
    }
    (!reader.out.values.is_empty()).then_some(reader.out)
}

/// What stands before a token, blanks left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A comparison or a sign, behind which an operand comes.
    Operator,
    /// A parenthesis or a comma.
    Opening,
    Other,
}

/// Whether the rows of VALUES are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    None,
    Awaited,
    Begun,
}

struct Reader<'a> {
    text: &'a str,
    out: SimilarText,
    before: Before,
    rows: Rows,
    depth: usize,
}

impl Reader<'_> {
    /// Takes the token at a place; the place behind it.
    fn token(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let is_word = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
        let end_of = |test: &dyn Fn(&u8) -> bool| {
            at + bytes[at..].iter().position(|it| !test(it)).unwrap_or(bytes.len() - at)
        };
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let (end, before) = match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => (at + 1, self.before),
            it if it.is_ascii_alphabetic() || it == b'_' => {
                let end = end_of(&is_word);
                // A text may follow that has escapes, or a type of its own.
                if bytes.get(end) == Some(&b'\'') {
                    return None;
                }
                if self.rows == Rows::Awaited && bytes[at..end].eq_ignore_ascii_case(b"values") {
                    self.rows = Rows::Begun;
                } else if self.rows == Rows::Begun && self.depth == 0 {
                    self.rows = Rows::None;
                }
                (end, Before::Other)
            }
            b'0'..=b'9' => {
                let end = end_of(&|it| is_word(it) || *it == b'.');
                // Exponents and other bases.
                if bytes[at..end].iter().any(|it| !it.is_ascii_digit() && *it != b'.') {
                    return None;
                }
                if self.leave_out(&self.text[at..end], bytes.get(end).copied()) {
                    self.before = Before::Other;
                    return Some(end);
                }
                (end, Before::Other)
            }
            quote @ (b'\'' | b'"') => {
                let length = bytes[at + 1..].iter().position(|it| *it == quote)?;
                (at + length + 2, Before::Other)
            }
            b'-' if next == b'-' => return None,
            b'/' if next == b'*' => return None,
            b'=' | b'<' | b'>' | b'+' | b'-' => {
                // Operators of several characters end in these, too.
                let alone =
                    |it: &u8| matches!(it, b' ' | b'=' | b'<' | b'>' | b'(' | b')') || is_word(it);
                let is_plain = at.checked_sub(1).and_then(|it| bytes.get(it)).is_none_or(alone);
                let before = if is_plain { Before::Operator } else { Before::Other };
                (at + 1, before)
            }
            b'(' => {
                self.depth += 1;
                (at + 1, Before::Opening)
            }
            b')' => {
                self.depth = self.depth.checked_sub(1)?;
                (at + 1, Before::Other)
            }
            b',' => (at + 1, Before::Opening),
            b'.' | b'*' => (at + 1, Before::Other),
            // Parameters, several statements, casts, arrays, and what else there may be.
            _ => return None,
        };
        self.out.text.push_str(&self.text[at..end]);
        self.before = before;
        Some(end)
    }

    /// Leaves a number out, if it is an integer where an operand stands.
    fn leave_out(&mut self, number: &str, next: Option<u8>) -> bool {
        let is_value =
            self.rows == Rows::Begun && self.depth == 1 && self.before == Before::Opening;
        let is_operand = self.before == Before::Operator || is_value;
        let is_whole = number.bytes().all(|it| it.is_ascii_digit()) && number.len() <= 18;
        if !is_operand || !is_whole || next == Some(b'"') || self.out.values.len() == VALUES_MAX {
            return false;
        }
        let Ok(value) = number.parse() else { return false };
        self.out.values.push(value);
        self.out.text.push('$');
        self.out.text.push_str(&self.out.values.len().to_string());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sql: &str) -> Option<(String, Vec<i64>)> {
        similar(sql).map(|it| (it.text, it.values))
    }

    #[test]
    fn integers_are_left_out_where_operands_stand() {
        for (text, expected, values) in [
            ("SELECT a FROM t WHERE k = 17;", "SELECT a FROM t WHERE k = $1", &[17][..]),
            ("update t SET a = a + -5 WHERE k=3", "update t SET a = a + -$1 WHERE k=$2", &[5, 3]),
            (
                "INSERT INTO t (a, b) VALUES (1, 'it''s 2'), (-3, round(4, 5))",
                "INSERT INTO t (a, b) VALUES ($1, 'it''s 2'), (-$2, round(4, 5))",
                &[1, 3],
            ),
            ("DELETE FROM t WHERE k >= 0010 ", "DELETE FROM t WHERE k >= $1", &[10]),
            (
                "SELECT a5 FROM t WHERE k = 1 ORDER BY 2 LIMIT 3",
                "SELECT a5 FROM t WHERE k = $1 ORDER BY 2 LIMIT 3",
                &[1],
            ),
            (
                "INSERT INTO t VALUES (1) ON CONFLICT (k) DO UPDATE SET a = 2",
                "INSERT INTO t VALUES ($1) ON CONFLICT (k) DO UPDATE SET a = $2",
                &[1, 2],
            ),
        ] {
            assert_eq!(read(text), Some((expected.to_owned(), values.to_vec())), "{text}");
        }
    }

    #[test]
    fn what_may_mean_something_else_stays() {
        for text in [
            "SELECT 1",
            "SELECT a FROM t WHERE k = $1 AND a = 2",
            "SELECT a FROM t WHERE k = 1; SELECT 2 = 2",
            "SELECT a FROM t WHERE k = 1.5",
            "SELECT a FROM t WHERE k = 1e5",
            "SELECT a FROM t WHERE k = 1e+5",
            "SELECT a FROM t WHERE k = 0x1F",
            "SELECT a FROM t WHERE k = 1_000",
            "SELECT a FROM t WHERE k = 1 -- 2",
            "SELECT a /* b = 2 */ FROM t WHERE k = 1",
            "SELECT a FROM t WHERE k = 1::SMALLINT",
            "SELECT a FROM t WHERE j @> 1",
            "SELECT a FROM t WHERE j -> 1 = 'x'",
            "SELECT a FROM t WHERE j = E'\\' AND k = 1",
            "SELECT a FROM t WHERE j = 'open AND k = 1",
            "SELECT a FROM t WHERE k = 9223372036854775808",
            "SELECT \u{e4} FROM t WHERE k = 1",
            "SELECT CAST(a AS NUMERIC(10, 2)) FROM t LIMIT 5",
            "EXPLAIN SELECT a FROM t WHERE k = 1",
            "UPDATE t SET a = b[1]",
            "INSERT INTO t (VALUES (1))",
            "",
        ] {
            let found = read(text).map(|it| it.1);
            assert!(matches!(found.as_deref(), None | Some([])), "{text}: {found:?}");
        }
    }
}
