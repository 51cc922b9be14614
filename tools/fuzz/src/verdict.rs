//! What came of a case, and what of it is counted as a failure.

/// What came of running one case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The same rows.
    Same,
    /// An error on both sides, of one class.
    SameError,
    /// A difference that is meant, with the reason.
    Meant(&'static str),
    /// Only one side met an error about a value. Which rows an expression is computed for is left to the planner, so it
    /// is counted apart.
    ErrorOrder(String),
    /// The peer refuses what we answer, or both refuse it for unlike reasons.
    PeerRefuses(String),
    /// We refuse what the peer answers.
    Refused { state: String, sentence: String },
    /// Other rows.
    Wrong(String),
    /// A broken invariant, a panic, or a statement that did not end.
    Broken(String),
    /// Not run.
    Skipped(String),
}

impl Verdict {
    /// Whether it means that something must be repaired.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Wrong(_) | Self::Broken(_))
    }

    /// The line it is counted under.
    pub fn label(&self) -> String {
        match self {
            Self::Same => "same".to_owned(),
            Self::SameError => "same error".to_owned(),
            Self::Meant(reason) => format!("meant: {reason}"),
            Self::ErrorOrder(what) => format!("error order: {what}"),
            Self::PeerRefuses(what) => format!("peer refuses: {}", template(what)),
            Self::Refused { state, sentence } => format!("refused {state}: {}", template(sentence)),
            Self::Wrong(_) => "WRONG".to_owned(),
            Self::Broken(what) => format!("BROKEN: {}", template(what)),
            Self::Skipped(why) => format!("skipped: {why}"),
        }
    }
}

/// A sentence without what differs from case to case: names, numbers, what stands in quotes.
pub fn template(sentence: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    for word in sentence.split_inclusive(|it: char| !it.is_alphanumeric() && it != '_') {
        for letter in word.chars() {
            match quote {
                Some(end) if letter == end => quote = None,
                Some(_) => {}
                None if letter == '"' || letter == '`' => {
                    quote = Some(letter);
                    out.push('*');
                }
                None if letter.is_ascii_digit() => {
                    if !out.ends_with('#') {
                        out.push('#');
                    }
                }
                None => out.push(letter),
            }
        }
    }
    let mut short: String = out.chars().take(110).collect();
    if short.len() < out.len() {
        short.push_str("..");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_names_alone_are_counted_together() {
        let one = template("column \"x12.o0\" must appear in 17 places");
        assert_eq!(one, template("column \"y3.k\" must appear in 2 places"));
        assert_ne!(one, template("column \"y3.k\" does not exist"));
    }

    #[test]
    fn failures_are_wrong_rows_and_broken_invariants() {
        assert!(Verdict::Wrong(String::new()).is_failure());
        assert!(Verdict::Broken(String::new()).is_failure());
        let refused = Verdict::Refused { state: "0A000".into(), sentence: "no".into() };
        assert!(!refused.is_failure());
    }
}
