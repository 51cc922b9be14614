//! Names of relations, with the schemas that they are in.
//!
//! Key decision: a relation is known by one text: its name where its schema is `public`, else `schema.name`. So whoever
//! keeps, compares or shows names of relations keeps texts, and two relations have one name only if they are in one schema. A part that has
//! a point or a quote, or nothing, stands in double quotes, as in SQL.

use crate::{SqlError, SqlResult, SqlState, key_words};

/// The schema of relations that say no other.
pub const PUBLIC: &str = "public";

/// The schema of PostgreSQL's own catalog, which is looked through before all others.
pub const CATALOG: &str = "pg_catalog";

/// The schema of the standard's.
pub const INFORMATION: &str = "information_schema";

/// The schema of our own views.
pub const NODEWISE: &str = "nodewise";

/// The schemas whose relations are made for each statement.
pub const SYSTEM: [&str; 3] = [CATALOG, INFORMATION, NODEWISE];

/// What the schemas of temporary relations begin with; behind it is the number of their session.
pub const TEMPORARY: &str = "pg_temp_";

/// The schema of the tables that keep the rows of materialized views.
pub const MATERIALIZED: &str = "pg_materialized";

/// Whether a column is one that no text can spell, so that nobody sees it.
pub fn is_hidden(column: &str) -> bool {
    column.starts_with('\0')
}

/// The name of a column for people, who may look at where hidden ones lie: of those, what an index is of.
pub fn shown(column: &str) -> &str {
    column.trim_matches('\0')
}

/// What becomes of a temporary table when a transaction commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnCommit {
    /// Nothing.
    #[default]
    PreserveRows,
    /// Its rows go.
    DeleteRows,
    /// It goes.
    Drop,
}

/// A part of a name, as it stands in one.
fn part(text: &str) -> String {
    match text.is_empty() || text.contains(['.', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// The name of a relation of a schema.
pub fn joined(schema: &str, name: &str) -> String {
    match schema {
        PUBLIC => part(name),
        _ => written(&[schema, name]),
    }
}

/// Parts as a statement says them: other than of [`joined`], `public` stays.
pub fn written<T: AsRef<str>>(parts: &[T]) -> String {
    let each: Vec<String> = parts.iter().map(|it| part(it.as_ref())).collect();
    each.join(".")
}

/// The parts of what [`joined`] or [`written`] made.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    loop {
        let mut name = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let Some((front, behind)) = quoted.split_once('"') else {
                    name.push_str(quoted);
                    rest = "";
                    break;
                };
                name.push_str(front);
                match behind.strip_prefix('"') {
                    Some(more) => {
                        name.push('"');
                        quoted = more;
                    }
                    None => {
                        rest = behind;
                        break;
                    }
                }
            }
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            name.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        parts.push(name);
        match rest.strip_prefix('.') {
            Some(more) => rest = more,
            None => return parts,
        }
    }
}

/// The schema, if one is said, and the name in it, of what a statement says in a database, whose own name may stand before.
///
/// Errors: 0A000 where that of another does, or where no database is known (its name is empty); 42601 of more parts.
pub fn said(text: &str, database: &str) -> SqlResult<(Option<String>, String)> {
    within(parts(text), text, database)
}

/// [`said`] of parts; `text` is for errors.
pub fn within<T: AsRef<str>>(
    mut parts: Vec<T>,
    text: &str,
    database: &str,
) -> SqlResult<(Option<T>, T)> {
    let too_many = || {
        let message = format!("improper qualified name (too many dotted names): {text}");
        SqlError::new(SqlState::SYNTAX, message)
    };
    let name = parts.pop().ok_or_else(too_many)?;
    let schema = parts.pop();
    match &parts[..] {
        [] => Ok((schema, name)),
        [own] if own.as_ref() == database && !database.is_empty() => Ok((schema, name)),
        [_] => Err(SqlError::unsupported(format!(
            "cross-database references are not implemented: {text}"
        ))),
        _ => Err(too_many()),
    }
}

/// All parts but the last of what a statement says, and the last; `None` where there is one only.
pub fn last(text: &str) -> Option<(String, String)> {
    let mut parts = parts(text);
    let last = parts.pop()?;
    (!parts.is_empty()).then(|| (written(&parts), last))
}

/// The schema and the name in it of a relation.
pub fn split(full: &str) -> (String, String) {
    let mut parts = parts(full);
    let name = parts.pop().unwrap_or_default();
    (parts.pop().unwrap_or_else(|| PUBLIC.to_owned()), name)
}

/// The schema of a relation.
pub fn schema_of(full: &str) -> String {
    split(full).0
}

/// The name of a relation in its schema.
pub fn bare(full: &str) -> String {
    split(full).1
}

/// A name as SQL writes it: parts that would be read in another way stand in double quotes.
pub fn sql(full: &str) -> String {
    parts(full).iter().map(|it| quoted(it)).collect::<Vec<_>>().join(".")
}

/// A part of a name as PostgreSQL writes it: in double quotes where it has other signs than small letters, or is a key word.
pub fn quoted(part: &str) -> String {
    let is_letter = |it: u8| it.is_ascii_lowercase() || it == b'_';
    let is_plain = part.bytes().all(|it| is_letter(it) || it.is_ascii_digit())
        && part.bytes().next().is_some_and(is_letter);
    match is_plain && !key_words::is_reserved(part) {
        true => part.to_owned(),
        false => format!("\"{}\"", part.replace('"', "\"\"")),
    }
}

/// Whether a relation goes with its session.
pub fn is_temporary(full: &str) -> bool {
    full.starts_with(TEMPORARY) && schema_of(full).starts_with(TEMPORARY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_as_they_were_put_together() {
        for (schema, name, full) in [
            ("public", "t", "t"),
            ("public", "a.b", "\"a.b\""),
            ("s", "t", "s.t"),
            ("S x", "T", "S x.T"),
            ("s.x", "q\"q", "\"s.x\".\"q\"\"q\""),
            ("public", "s.", "\"s.\""),
            ("", "", "\"\".\"\""),
        ] {
            assert_eq!(joined(schema, name), full);
            assert_eq!(split(full), (schema.to_owned(), name.to_owned()));
        }
        assert_eq!(written(&["public", "t"]), "public.t");
        assert_eq!(said("public.t", "own").unwrap(), (Some("public".to_owned()), "t".to_owned()));
        assert_eq!(said("own.public.t", "own").unwrap(), said("public.t", "own").unwrap());
        assert_eq!(said(".public.t", "").unwrap_err().state.0, "0A000");
        assert_eq!(said("t", "own").unwrap(), (None, "t".to_owned()));
        assert_eq!(said("a.b.c", "own").unwrap_err().state.0, "0A000");
        assert!(is_temporary("pg_temp_3.t") && !is_temporary("pg_temp_3") && !is_temporary("t"));
    }
}
