//! Types that users make, as statements say them.

use sqlparser::ast;
use types::{DataType, SqlResult};

use crate::data_types::{FindType, data_type, data_type_with, user_type};
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

/// What CREATE DOMAIN says of a domain.
#[derive(Clone, PartialEq, Debug)]
pub struct DomainBody {
    /// The type of its values; of one that users made `Null`, until it is found by its name.
    pub data_type: DataType,
    /// The name of that type, if users made it.
    pub type_name: Option<TypeName>,
    /// The domain that it is made of, once it is found by its name.
    pub of: Option<String>,
    /// The expression of its default.
    pub default: Option<String>,
    /// NOT NULL, or NULL, if either is said.
    pub not_null: Option<bool>,
    /// Names and conditions of its constraints.
    pub checks: Vec<(Option<String>, String)>,
}

/// What ALTER DOMAIN does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DomainChange {
    /// Another default, or none.
    Default(Option<String>),
    /// Whether NULL is none of its values.
    NotNull(bool),
    /// One more constraint.
    Add {
        /// Its name.
        name: Option<String>,
        /// Its condition.
        condition: String,
        /// Whether values that are there must keep it.
        is_valid: bool,
    },
    /// A constraint less.
    Drop {
        /// Its name.
        name: String,
        /// Whether a missing one is no error.
        if_exists: bool,
    },
    /// Values that are there keep a constraint.
    Validate(String),
    /// Another name of a constraint.
    RenameConstraint {
        /// The name.
        name: String,
        /// The other.
        to: String,
    },
    /// Another name or schema of the domain.
    Type(TypeChange),
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

    /// The name, where it is that of a type that users made, and not of what is made of one.
    pub fn name(&self) -> Option<String> {
        user_type(&self.0)
    }

    /// What it means. `find` tells what a name does.
    ///
    /// # Errors
    /// 42704 for a name that no type has, and those of types.
    pub fn data_type(&self, find: FindType<'_>) -> SqlResult<DataType> {
        data_type_with(&self.0, find)
    }
}
