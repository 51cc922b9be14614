//! Types that users make, as statements say them.

use sqlparser::ast;
use types::{DataType, SqlResult};

use crate::data_types::{FindType, data_type, data_type_with};
use crate::type_names::said;

/// Where a new label stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NewLabel {
    /// Behind all others.
    Last,
    /// Before another.
    Before(String),
    /// Behind another.
    After(String),
}

/// What ALTER TYPE does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeChange {
    /// One more label.
    Add {
        /// The label.
        label: String,
        /// Where it stands.
        place: NewLabel,
        /// Whether it is no error that it is there already.
        if_not_exists: bool,
    },
    /// Another label in the place of one.
    RenameLabel {
        /// The label.
        from: String,
        /// The other.
        to: String,
    },
    /// Another name.
    Rename(String),
    /// Another schema.
    Schema(String),
}

/// A type that names one which users made: what that means the catalog tells.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeName(ast::DataType);

impl TypeName {
    /// The type, and its name where users made it, or a part of it; else only the type.
    pub(crate) fn read(sql: &ast::DataType) -> SqlResult<(DataType, Option<Self>)> {
        match said(sql).is_empty() {
            true => Ok((data_type(sql)?, None)),
            false => Ok((DataType::Null, Some(Self(sql.clone())))),
        }
    }

    /// What it means. `find` tells what a name does.
    ///
    /// # Errors
    /// 42704 for a name that no type has, and those of types.
    pub fn data_type(&self, find: FindType<'_>) -> SqlResult<DataType> {
        data_type_with(&self.0, find)
    }
}
