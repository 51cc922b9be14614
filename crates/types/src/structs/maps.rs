//! Maps, as the lists of their entries.

use std::collections::HashSet;

use crate::array::{Items, close_list, is_null, push_text};
use crate::{SqlError, SqlResult, SqlState};

/// A map of entries, which are structs of key and value, in this order.
///
/// # Errors
/// 22004 for a key that is NULL, 22000 for one that is there twice, 54000 for too many.
pub fn map_of(entries: &[String]) -> SqlResult<String> {
    let mut keys = HashSet::with_capacity(entries.len());
    let mut out = String::new();
    for entry in entries {
        let key = Items::new(entry).next().filter(|it| !is_null(it));
        let key =
            key.ok_or_else(|| SqlError::new(SqlState("22004"), "map keys can not be NULL"))?;
        if !keys.insert(key) {
            return Err(SqlError::new(SqlState("22000"), "map keys must be unique"));
        }
        push_text(&mut out, entry);
    }
    close_list(&mut out, 0, entries.len())?;
    Ok(out)
}
