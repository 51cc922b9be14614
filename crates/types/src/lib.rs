//! The words of the database: data types, values, schemas, ids, statistics, and the one error that ends a query.
//!
//! Key decision: planner, storage and execution share only these words and the plan; none of them imports another.
//!
//! - Invariant: plain data, no behaviour that needs a machine, a file or an engine.
//! - Invariant: every error a user can see is a [`SqlError`] with a Postgres SQLSTATE.
#![forbid(unsafe_code)]

pub mod array;
pub mod bits;
pub mod catalog;
pub mod charset;
pub mod data_type;
pub mod enums;
pub mod error;
pub mod extension;
mod interned;
pub mod interrupt;
pub mod json;
pub mod key_words;
pub mod lock_mode;
mod macro_definition;
pub mod names;
pub mod network;
pub mod numeric;
pub mod range;
pub mod ranges;
pub mod rights;
pub mod role;
mod said_states;
pub mod sequence;
pub mod shared;
pub mod structs;
pub mod styles;
pub mod user_type;
pub mod value;
pub mod view;
mod violations;
pub mod whole;
pub mod zone;

pub use bits::Bits;
pub use catalog::{
    CatalogView, CheckRule, ColumnInfo, ColumnStatistics, Deferral, DomainColumn, FieldsColumn,
    ForeignKey, Generated, Identity, IndexMethod, IndexOrder, ReferentialAction, RowRules,
    TableInfo, UniqueKey, UnreadColumn,
};
pub use charset::{Charset, CharsetReader};
pub use data_type::{DataType, Element};
pub use enums::EnumType;
pub use error::{SqlError, SqlResult, SqlState, Subject};
pub use extension::Extension;
pub use interrupt::Interrupt;
pub use lock_mode::{LockMode, LockModes, LockWait};
pub use macro_definition::{
    FunctionWord, MacroDefinition, MacroForm, MacroParameter, Parallel, SaidOfFunction,
    SqlFunction, Volatility,
};
pub use names::OnCommit;
pub use network::Network;
pub use range::Range;
pub use rights::{Grant, ObjectKind, Privileges, Rights};
pub use role::{Membership, Role, RoleId};
pub use sequence::{SequenceDefinition, SequenceOwner, SequencePosition};
pub use styles::Styles;
pub use user_type::{Domain, DomainCheck, UserType};
pub use value::Value;
pub use view::{CheckOption, Materialized, UsedRelation, ViewDefinition};
pub use whole::Whole;
pub use zone::Zone;

stdx::id! {
    /// A table; unique over the life of a database, never used again.
    #[derive(serde::Serialize, serde::Deserialize)]
    TableId(u32)
}
stdx::id! {
    /// A column by its place in its table.
    #[derive(serde::Serialize, serde::Deserialize)]
    ColumnId(u16)
}
