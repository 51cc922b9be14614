//! Types of the catalog that are numbers of something, as REGCLASS.

use sqlparser::ast;

/// A type of the catalog that stands for numbers of something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registered {
    Relation,
    Type,
    Schema,
    Role,
    Function,
    /// A function that is said with the types of its parameters.
    Procedure,
    Operator,
}

impl Registered {
    /// What has such a number.
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Relation => "relation",
            Self::Type => "type",
            Self::Schema => "schema",
            Self::Role => "role",
            Self::Function | Self::Procedure => "function",
            Self::Operator => "operator",
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Relation => "regclass",
            Self::Type => "regtype",
            Self::Schema => "regnamespace",
            Self::Role => "regrole",
            Self::Function => "regproc",
            Self::Procedure => "regprocedure",
            Self::Operator => "regoperator",
        }
    }

    /// The type by its name in SQL.
    pub(crate) fn named(data_type: &ast::DataType) -> Option<Self> {
        Self::by_name(&last_word(data_type)?)
    }

    /// The type by its name in small letters.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name {
            "regclass" => Some(Self::Relation),
            "regtype" => Some(Self::Type),
            "regnamespace" => Some(Self::Schema),
            "regrole" => Some(Self::Role),
            "regproc" => Some(Self::Function),
            "regprocedure" => Some(Self::Procedure),
            "regoper" | "regoperator" => Some(Self::Operator),
            _ => None,
        }
    }
}

/// The last word of a type's name, in lower case, where it is one by name.
fn last_word(data_type: &ast::DataType) -> Option<String> {
    match data_type {
        ast::DataType::Regclass => Some("regclass".to_owned()),
        ast::DataType::Custom(name, arguments) if arguments.is_empty() => {
            Some(name.0.last()?.as_ident()?.value.to_lowercase())
        }
        _ => None,
    }
}
