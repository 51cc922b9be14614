//! What depends on an object that is dropped: it goes, too, which is told, or the drop is refused.
//!
//! Key decision: what goes with an object is gathered while a statement runs, and told in one notice at its end, as PostgreSQL does.

use types::{SqlError, SqlState, names};

use crate::Session;
use crate::notice::Notice;

/// What several objects that are dropped at once are called.
pub(crate) const SEVERAL: &str = "desired object(s)";

/// The error of a drop without CASCADE: 2BP01. Each dependent is told as `view v depends on table t`.
pub(crate) fn needed(dropped: &str, dependents: &[String]) -> SqlError {
    let them = if dropped == SEVERAL { "them" } else { "it" };
    let message = format!("cannot drop {dropped} because other objects depend on {them}");
    SqlError::new(SqlState::DEPENDENT_OBJECTS, message)
        .with_detail(dependents.join("\n"))
        .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
}

impl Session {
    /// Notes an object that goes with another, in words: `view v`.
    pub(crate) fn cascades_to(&self, object: String) {
        let mut cascade = self.cascade.lock();
        if !cascade.contains(&object) {
            cascade.push(object);
        }
    }

    /// Tells what has gone with others, unless the statement failed.
    pub(crate) fn tell_cascade(&self, succeeded: bool) {
        let all = std::mem::take(&mut *self.cascade.lock());
        if !succeeded || all.is_empty() {
            return;
        }
        let each: Vec<String> = all.iter().map(|it| format!("drop cascades to {it}")).collect();
        let told = match &each[..] {
            [one] => Notice::told("00000", one),
            several => {
                let message = format!("drop cascades to {} other objects", several.len());
                Notice { detail: Some(several.join("\n")), ..Notice::told("00000", message) }
            }
        };
        self.notice(told);
    }

    /// Tells that a relation or a type that IF EXISTS names is not there, or not even its schema.
    pub(crate) fn skip_missing(&self, kind: &str, name: &str) {
        let (schema, own) = names::split(name);
        let has_schema = self.snapshot().has_schema(&schema)
            || names::SYSTEM.contains(&&*schema)
            || names::is_temporary(name);
        let what = match has_schema {
            true => format!("{kind} \"{own}\""),
            false => format!("schema \"{schema}\""),
        };
        self.notice(Notice::told("00000", format!("{what} does not exist, skipping")));
    }

    /// Tells that a relation is there, which IF NOT EXISTS would have made.
    pub(crate) fn skip_existing(&self, name: &str) {
        let message = format!("relation \"{}\" already exists, skipping", names::bare(name));
        self.notice(Notice::told("42P07", message));
    }
}
