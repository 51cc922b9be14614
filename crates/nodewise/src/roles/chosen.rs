//! What a session keeps of roles, and a database of passwords.

use types::RoleId;

/// Makes of a password what checks it.
pub type VerifierMaker = fn(&str) -> Result<String, String>;

/// What was chosen in a session; a part of its settings, so that it is undone with a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ChosenRoles {
    /// By SET SESSION AUTHORIZATION.
    pub(crate) session: Option<RoleId>,
    /// By SET ROLE.
    pub(crate) role: Option<RoleId>,
}
