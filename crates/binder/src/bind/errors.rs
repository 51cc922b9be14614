//! Errors of binding: PostgreSQL's sentences, with what the user may have meant.

use sqlparser::ast::{Ident, Spanned};
use sqlparser::tokenizer::Span;
use types::{SqlError, SqlState};

/// A name as something that has a place in the text.
pub(super) struct Name<'a>(pub &'a Ident);

impl Spanned for Name<'_> {
    fn span(&self) -> Span {
        self.0.span
    }
}

/// The error with the place of what is wrong in the text of the statement.
pub(super) fn at(error: SqlError, node: &impl Spanned) -> SqlError {
    let start = node.span().start;
    match (error.position, start.line) {
        (None, 1..) => error.at(start.line as u32, start.column as u32),
        _ => error,
    }
}

/// A hint at the nearest of some names.
pub(super) fn suggested<'a>(
    error: SqlError,
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> SqlError {
    match nearest(name, candidates) {
        Some(near) => error.with_hint(format!("did you mean \"{near}\"?")),
        None => error,
    }
}

/// A column that is in no relation in view.
pub(super) fn no_column(name: &str, ident: &Ident) -> SqlError {
    let message = format!("column \"{name}\" does not exist");
    at(SqlError::new(SqlState::UNDEFINED_COLUMN, message), &Name(ident))
}

/// A name that several columns have.
pub(super) fn ambiguous(ident: &Ident) -> SqlError {
    let message = format!("column reference \"{}\" is ambiguous", ident.value);
    at(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message), &Name(ident))
}

/// 42P20: what windows do not allow.
pub(super) fn windowing(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::WINDOWING_ERROR, message)
}

/// Something SQL has and Nodewise does not do.
pub(super) fn unsupported(what: &str, node: &impl Spanned) -> SqlError {
    at(SqlError::unsupported(format!("{what} is not supported")), node)
}

/// The candidate nearest to a misspelt name, if one is near; of several as near, always the same. Short names are near to
/// everything, so at least half of a name must be right.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let limit = (length / 3).max(1) + 1;
    candidates
        .map(|it| (edit_distance(&name, &it.to_lowercase()), it))
        .filter(|it| it.0 <= limit && 2 * it.0 <= length)
        .min()
        .map(|it| it.1)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: [Vec<usize>; 3] = [vec![], vec![], (0..=b.len()).collect()];
    for i in 1..=a.len() {
        rows.rotate_left(1);
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[1][j] + 1).min(row[j - 1] + 1).min(rows[1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            row.push(best);
        }
        rows[2] = row;
    }
    rows[2][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_find_what_was_meant() {
        let names = ["lineitem", "orders", "part", "cos", "coalesce"];
        let of = |name| nearest(name, names.into_iter());
        assert_eq!(of("lineitme"), Some("lineitem"));
        assert_eq!(of("order"), Some("orders"));
        assert_eq!(of("parts"), Some("part"));
        assert_eq!(of("foo"), None);
        assert_eq!(of("x"), None);
    }
}
