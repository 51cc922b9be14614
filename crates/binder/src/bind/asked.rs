//! What rights a statement needs, noted while it is bound (docs/design/13-roles.md).
//!
//! Key decision: binding knows which relations are meant and through which view, and nothing of roles. Whoever runs the statement asks
//! what is noted here at each run, so that a plan that is kept lets nobody through.

use plan::relation::AttrSet;
use types::{Privileges, TableId};

/// What a statement needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// Of relations.
    pub relations: Vec<AskedRelation>,
    /// The schemas that it says, in which it must be allowed to look.
    pub schemas: Vec<String>,
}

/// What a statement needs of a relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedRelation {
    /// Its id.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// The rights.
    pub rights: Privileges,
    /// The view on behalf of whose owner it is used.
    pub view: Option<String>,
}

/// What binding keeps for it.
#[derive(Debug, Default)]
pub(super) struct Asking {
    pub(super) asked: Asked,
    /// The view that is bound.
    pub(super) view: Option<String>,
    /// The table that is changed.
    pub(super) target: Option<(TableId, String)>,
    /// What is done to its rows.
    pub(super) rights: Privileges,
    /// Its columns.
    pub(super) readable: AttrSet,
    /// Whether rules of the table are bound, which need no right.
    pub(super) in_rules: bool,
}
