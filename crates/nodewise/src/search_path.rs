//! The schemas in which names are looked for ([`crate::resolution`] looks there).

use stdx::sync::Arc;
use types::{SqlError, SqlState, names};

/// The schemas in which a name is looked for that says none, in order; all of them are there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SearchPath(Arc<[String]>);

impl From<Vec<String>> for SearchPath {
    fn from(schemas: Vec<String>) -> Self {
        Self(schemas.into())
    }
}

impl SearchPath {
    /// What it is where nobody has said anything.
    pub(crate) fn usual() -> Self {
        Self([names::PUBLIC.to_owned()].into())
    }

    pub(crate) fn schemas(&self) -> &[String] {
        &self.0
    }

    /// Where relations are made that say no schema.
    pub(crate) fn creates_in(&self) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|it| !it.starts_with(names::TEMPORARY))
    }
}

/// A relation that was found, or was not.
pub(crate) struct Found {
    /// Its name.
    pub(crate) name: Option<String>,
    /// Names that were looked for before it.
    pub(crate) absent: Vec<String>,
}

pub(crate) fn no_schema(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_SCHEMA, format!("schema \"{name}\" does not exist"))
}
