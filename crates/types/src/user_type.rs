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
    /// What it is.
    pub data_type: DataType,
}
