//! Types that users make.

use serde::{Deserialize, Serialize};

use crate::{DataType, RoleId};

/// A type with a name of its own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UserType {
    /// Its name ([`crate::names::joined`]).
    pub name: String,
    /// Whose it is.
    pub owner: RoleId,
    /// What it is; of a domain what its values are.
    pub data_type: DataType,
    /// What a domain asks of its values; `None` of what is none.
    #[serde(default)]
    pub domain: Option<Domain>,
}

/// A type under another name, which not all of its values have.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Domain {
    /// The domain that it is made of, if it is made of one ([`crate::names::joined`]).
    pub of: Option<String>,
    /// The expression of what columns without a default of their own get.
    pub default: Option<String>,
    /// Whether NULL is none of its values.
    pub not_null: bool,
    /// What must not be false of its values.
    pub checks: Vec<DomainCheck>,
}

/// A CHECK constraint of a domain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DomainCheck {
    /// Its name.
    pub name: String,
    /// Its condition, in which a value is called `VALUE`.
    pub condition: String,
    /// Whether values that were there before it keep it.
    pub is_validated: bool,
}
