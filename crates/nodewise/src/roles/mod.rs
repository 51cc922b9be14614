//! Roles and rights (docs/design/13-roles.md).
//!
//! Key decision: what a statement needs is known before it runs: binding notes it for queries ([`binder::bind::Asked`]), and
//! [`asking`] tells it of all other statements. It is asked at each run, in one place, of the roles and rights as they are then.
//!
//! Reading order: `chosen`, `identity` (who somebody is), `authority` (what they may), `asking`, `role_ddl`, `membership`, `columns`, `granting`, `owning`,
//! `texts`.
//!
//! - Invariant: for the superuser that is always there, all of it is one comparison.

mod asking;
mod authority;
mod chosen;
mod columns;
mod granting;
mod identity;
mod membership;
mod owning;
mod role_ddl;
mod texts;

pub(crate) use authority::{Authority, is_secret};
pub(crate) use chosen::ChosenRoles;
pub use chosen::VerifierMaker;
pub(crate) use columns::columns_of;
pub(crate) use texts::acl;
