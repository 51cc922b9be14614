//! SQL text to statements, and queries to relations.
//!
//! Reading order: `parse` (text to [`Statement`]), `numa` (what the parser does not know: placement), `parameters`.
//!
//! - Invariant: only this crate names a type of the parser.
#![forbid(unsafe_code)]

mod alter;
mod asof;
pub mod bind;
pub mod block;
mod block_words;
mod call_words;
mod catalog_forms;
mod catalog_tables;
mod chained;
mod clauses;
mod collations;
mod column;
mod column_definition;
pub mod column_names;
mod comment_words;
mod comprehension;
mod conditions;
mod conflict_words;
mod constraint;
mod constraint_words;
mod copy;
mod copy_options;
mod cursor;
mod cursor_words;
mod data_types;
pub mod default_words;
mod definition_words;
pub mod design;
mod dialect;
mod domain_value;
mod domain_words;
mod duckdb_forms;
mod extension_words;
mod file_calls;
mod file_reference;
pub mod files;
mod folders;
mod fragments;
mod frames;
mod friendly_words;
mod from_end;
mod from_first;
mod function_words;
mod generated_columns;
mod generated_words;
pub mod index_words;
mod interval_fields;
mod item_assignment;
mod joined_relations;
mod json_constructor_words;
mod json_rows;
mod json_table_words;
mod json_words;
mod kept_text;
mod key_words;
mod keys;
mod lambda;
mod levels;
mod like_words;
mod listed_aggregates;
mod lock_words;
mod macro_statement;
mod macro_words;
mod macros;
mod maintenance;
mod merge_words;
mod named_parts;
mod new_constraints;
mod normalized;
mod notify_words;
mod numa;
mod numerals;
mod overloads;
mod overriding;
mod own_names;
pub mod parameters;
mod parenthesised;
pub mod parse;
mod parsed_query;
mod percentile_lists;
mod pivot_words;
pub mod pivots;
mod positional;
mod precedence;
mod recursion_words;
mod registered;
mod registered_output;
mod resolved;
mod rewrite;
mod role_statement;
mod role_words;
mod row_changes;
mod sample_words;
mod schema_words;
mod sequence;
pub mod sequence_names;
mod sequence_words;
mod session_statement;
mod show_words;
mod similar;
pub mod sql_functions;
mod sql_json_words;
pub mod statement;
mod steering;
mod steps;
mod storage_words;
mod struct_words;
mod subscripts;
mod syntax;
mod table_actions;
mod temporary;
mod tokenizing;
mod tokens;
mod transactions;
mod type_names;
mod type_words;
mod user_types;
mod values;
mod variable_words;
pub mod view_text;
mod view_words;
mod walk;
mod written;
mod written_in_sql;

pub use block_words::with_caught;
pub use column_definition::{ColumnDefinition, Generation, Numbering};
pub use constraint::{CheckDefinition, Constraints, IndexItem, KeyDefinition, ReferenceDefinition};
pub use data_types::{FindType, no_type};
pub use design::{
    ColumnAlteration, DesignClause, ExpressionChange, IdentityChange, NodeClause, NodeDemand,
    NodeRange, NodeWay, PartitionClause, PlacedItem, RuleChange, TableChange,
};
pub use domain_value::condition_of_column;
pub use file_reference::{FileOption, FileReference, named_type};
pub use function_words::of_one_row;
pub use json_rows::json_rows;
pub use kept_text::{KeptText, with_types_found};
pub use levels::{kept_levels, note_kept};
pub use like_words::{Including, LikeClause};
pub use macro_statement::{FunctionChange, SaidMacro};
pub use macros::with_macros_expanded;
pub use normalized::{READ_MAX, normalized};
pub use overloads::is_polymorphic;
pub use parsed_query::{ParsedQuery, Step};
pub use role_statement::{
    MembershipOptions, NamedRole, Owned, RightsOn, RoleOptions, RoleStatement,
};
pub use sequence::{SequenceChange, SequenceOptions};
pub use session_statement::{ChannelStatement, CursorStep};
pub use similar::{SimilarText, similar};
pub use statement::{
    Arguments, Commented, CopyPlace, CursorStatement, Discarded, ExplainFormat, ExtensionStatement,
    Isolation, Statement, TransactionModes, TransactionStatement, TypeBody,
};
pub use steps::names_of_columns as names_of_step;
pub use syntax::quoted_name;
pub use user_types::{DomainBody, DomainChange, NewLabel, TypeChange, TypeName};
