//! What becomes of a record.

use serde_json::{Value, json};

/// How a record that is not right ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Other rows than expected.
    Wrong,
    /// It ran, and should have failed.
    Accepted,
    /// An error of class XX000, or a panic.
    Internal,
    /// The process died or had to be ended.
    Died,
    /// It ran into the time limit.
    Timeout,
    /// An error where none is expected.
    Refused,
    /// Refused, and it names what an earlier refused statement should have changed.
    RefusedAfter,
    /// Other rows than expected, likewise.
    WrongAfter,
}

impl Kind {
    /// All, the worst first, each with what a reader calls it.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::Wrong, "wrong"),
        (Self::Accepted, "accepted"),
        (Self::Internal, "internal"),
        (Self::Died, "died"),
        (Self::Timeout, "timeout"),
        (Self::Refused, "refused"),
        (Self::RefusedAfter, "refused-after"),
        (Self::WrongAfter, "wrong-after"),
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|it| it.0 == self).map_or("", |it| it.1)
    }

    /// Whether what ran gave something else than it should.
    pub fn is_wrong(self) -> bool {
        matches!(self, Self::Wrong | Self::Accepted)
    }
}

/// A record that is not right.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How it ended.
    pub kind: Kind,
    /// Its line.
    pub line: usize,
    /// Why, without names and numbers: what findings are grouped by.
    pub cause: String,
    /// Its SQL; empty where only the count matters.
    pub sql: String,
    /// What it gave: rows, or the error.
    pub ours: String,
    /// What was expected.
    pub expected: String,
}

/// Letters of a text that are kept.
const TEXT_BYTES: usize = 4000;

impl Finding {
    /// As a line of JSON, without a line feed.
    pub fn to_json(&self) -> String {
        let Self { kind, line, cause, sql, ours, expected } = self;
        json!([kind.word(), line, cause, cut(sql), cut(ours), cut(expected)]).to_string()
    }

    /// Back from JSON.
    pub fn from_json(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let word = value[0].as_str()?;
        let text = |at: usize| Some(value[at].as_str()?.to_owned());
        Some(Self {
            kind: Kind::ALL.iter().find(|it| it.1 == word)?.0,
            line: usize::try_from(value[1].as_u64()?).ok()?,
            cause: text(2)?,
            sql: text(3)?,
            ours: text(4)?,
            expected: text(5)?,
        })
    }
}

fn cut(text: &str) -> &str {
    match text.char_indices().find(|it| it.0 >= TEXT_BYTES) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// A message with what stands in quotes and all numbers blanked, so that errors of one cause look alike.
pub fn blank(message: &str) -> String {
    let mut out = String::new();
    let mut letters = message.chars().peekable();
    let mut word = false;
    while let Some(letter) = letters.next() {
        match letter {
            // An apostrophe within a word is no quote.
            '"' | '\'' | '`' if !(letter == '\'' && word) => {
                let closed = letters.clone().any(|it| it == letter);
                out.push(letter);
                if closed {
                    letters.by_ref().find(|it| *it == letter);
                    out.push(letter);
                }
            }
            '0'..='9' if !word => {
                while letters.next_if(|it| it.is_ascii_digit() || *it == '.').is_some() {}
                out.push('N');
            }
            _ => out.push(letter),
        }
        word = letter.is_alphanumeric() || letter == '_';
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_survive_json() {
        for (kind, word) in Kind::ALL {
            let finding = Finding {
                kind,
                line: 7,
                cause: word.to_owned(),
                sql: "SELECT '\n\"'".to_owned(),
                ours: String::new(),
                expected: "1\t2".to_owned(),
            };
            assert_eq!(Finding::from_json(&finding.to_json()), Some(finding));
        }
        assert_eq!(Finding::from_json("[]"), None);
    }

    #[test]
    fn causes_have_no_names_and_numbers() {
        assert_eq!(
            blank("column \"a\" of 'b c' at 12.5: it's t1"),
            "column \"\" of '' at N: it's t1"
        );
        assert_eq!(blank("an open \" stays"), "an open \" stays");
    }
}
