//! What may come of a statement under limits.

use crate::compare::{self, Tolerance};
use crate::peers::reply::{Reply, Rows};

/// Out of memory, out of disk, a disk that fails, and a value or a statement that is too large.
const CLEAR: [&str; 4] = ["53200", "53100", "58030", "54000"];

/// How rows compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compare {
    /// As a multiset, or as a list.
    Rows { ordered: bool, near: Tolerance },
    /// By their number: which rows there are is not determined.
    Number,
}

/// What a statement gives without limits.
pub enum Wanted {
    Rows(Rows, Compare),
    ValueError,
}

/// The line that an outcome is counted under, or what is wrong with it.
pub fn judge(wanted: &Wanted, reply: &Reply) -> Result<String, String> {
    match (wanted, reply) {
        (_, Reply::Error { state, .. }) if CLEAR.contains(&state.as_str()) => Ok(state.clone()),
        (_, Reply::Error { state, .. }) if state == "57014" => {
            Ok("skipped: it takes too long under limits".to_owned())
        }
        (Wanted::ValueError, Reply::Rows(_)) => Ok("error order".to_owned()),
        (Wanted::ValueError, error) if error.is_value_error() => Ok("same error".to_owned()),
        (Wanted::Rows(rows, compare), Reply::Rows(found)) => same(rows, found, *compare),
        (_, other) => Err(other.describe()),
    }
}

fn same(wanted: &Rows, found: &Rows, compare: Compare) -> Result<String, String> {
    let difference = match compare {
        Compare::Rows { ordered, near } => compare::difference(wanted, found, ordered, near),
        Compare::Number => (wanted.rows.len() != found.rows.len())
            .then(|| format!("{} rows, not {}", found.rows.len(), wanted.rows.len())),
    };
    match difference {
        None => Ok("same rows".to_owned()),
        Some(what) => {
            let (wanted, found) = (Reply::Rows(wanted.clone()), Reply::Rows(found.clone()));
            Err(format!("WRONG {what}: {} not {}", found.describe(), wanted.describe()))
        }
    }
}
