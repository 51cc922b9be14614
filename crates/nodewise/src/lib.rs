//! Nodewise as a library: open a [`Database`] on a machine, make a [`Session`], execute SQL.
//!
//! Key decision: the Machine is handed in, so the same database runs on Linux threads and in the simulator. Everything
//! that crosses this border is plain data: SQL in, Arrow batches and [`SqlError`] out.
//!
//! Several databases with a shard each: [`distributed`].
//!
//! Reading order: `database`, `session`, `execute` (the life of a statement), `statement`, `query`, `views`, `tpch`,
//! `made_files` and `reference` (data and answers of benchmarks).
//!
//! - Invariant: errors widen here; nothing below a session reaches a user in another form than [`SqlError`].
//! - Invariant: a statement sees one snapshot of the catalog; a failed statement leaves nothing behind.
#![forbid(unsafe_code)]

mod activity;
mod advisory_waits;
mod answer;
pub mod arrow;
mod asked;
mod basis;
mod begun_rows;
mod block;
pub mod box_table;
mod broken_keys;
mod change;
mod changed_keys;
mod changed_rows;
mod channel_statements;
mod channels;
mod client_settings;
mod column_ddl;
mod column_values;
mod comment_ddl;
mod commits;
mod committing;
mod composite_fields;
mod conflict;
mod constraints;
mod copy;
pub mod csv;
mod cursor;
mod database;
mod database_settings;
mod ddl;
mod deferred;
mod dependent_relations;
mod dependents;
mod describe;
pub mod distributed;
mod domain_ddl;
mod durability;
mod ended_statement;
mod execute;
mod explaining;
mod extension_ddl;
mod failing_row;
mod followed;
mod following;
mod foreign_keys;
mod frames;
mod generated_ddl;
mod given_numbers;
mod index_columns;
mod index_ddl;
mod index_text;
mod key_locks;
mod like;
mod loading;
mod locks;
mod macro_comments;
mod macro_ddl;
mod macro_names;
pub mod made_files;
mod mapped;
mod materialized;
mod memory_reading;
mod merges;
mod metrics;
mod notice;
mod open_statement;
mod opened;
mod own_database;
mod parallel;
mod parameter;
mod pending_commit;
mod pg_catalog;
pub mod pg_types;
pub mod picture;
mod pivots;
mod placement;
mod placer;
mod plan_cache;
mod planned_change;
mod planner_settings;
mod planning;
mod prepared;
mod preparing;
mod procedures;
pub mod profile;
mod progress;
mod query;
mod read_check;
mod read_locks;
mod reading;
mod reads;
mod recursion;
pub mod reference;
mod reference_locks;
mod registering;
mod reshape;
mod resolution;
mod result;
mod roles;
mod row_changes;
mod row_locks;
mod running;
mod scheduling;
mod schema_ddl;
mod script;
mod search_path;
mod sequence_ddl;
mod sequences;
mod session;
mod session_calls;
mod session_locks;
mod setting;
mod settings;
mod similar_planning;
mod similar_statements;
mod slow_statements;
mod sql_cursor;
mod sql_cursors;
mod sql_names;
mod starting;
mod statement;
mod statement_catalog;
mod statement_counts;
mod statement_names;
mod statement_texts;
mod statements;
mod steps;
mod styled;
mod summarize;
mod temporary;
pub mod text;
pub mod tpch;
mod trace;
mod transaction;
mod transaction_modes;
mod transaction_state;
mod type_ddl;
mod type_uses;
mod under_way;
mod variables;
mod view_ddl;
mod views;
mod writing;

pub use answer::{Answer, Described, QueryProfile, listed};
pub use channels::Notification;
pub use client_settings::POSTGRES_VERSION;
pub use copy::{
    ArrowCompression, CopyFormat, CopyIn, CopyOut, LineStyle, LineWriter, ParquetStyle,
    SequenceDefinitions, TableDefinition,
};
pub use cursor::Fetched;
pub use database::{Database, DatabaseOptions};
pub use durability::{CheckedTable, FolderCheck};
pub use ended_statement::{EndedStatement, Follow, PipelineWork, StatementStep, Told};
pub use loading::Loading;
pub use metrics::{Metric, MetricKind, MetricValue, Sample};
pub use notice::Notice;
pub use opened::Cursor;
pub use plan::ColumnOrigin;
pub use prepared::Prepared;
pub use progress::{NoProgress, Progress};
pub use roles::VerifierMaker;
pub use scheduler::{CancelToken, StealingScope, WORKERS_MAX};
pub use script::Script;
pub use session::{CancelHandle, Session};
pub use slow_statements::{SlowStatement, SlowStatements};
pub use starting::Started;
pub use storage::lists;
pub use styled::in_style;
pub use trace::Trace;
pub use types::{DataType, SqlError, SqlResult, SqlState, Subject, Value};
pub use views::names as view_names;
