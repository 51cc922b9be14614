//! Statements as data, after parsing and before binding.

use types::{
    CheckOption, DataType, IndexMethod, IndexOrder, LockMode, LockWait, MacroDefinition, OnCommit,
    Value,
};

use crate::block::Block;
use crate::column_definition::ColumnDefinition;
use crate::constraint::{Constraints, IndexItem};
use crate::design::{DesignClause, TableChange};
use crate::like_words::LikeClause;
use crate::macro_statement::{FunctionChange, SaidMacro};
use crate::parsed_query::{ParsedQuery, Step};
use crate::role_statement::{NamedRole, RoleStatement};
use crate::sequence::{SequenceChange, SequenceOptions};
use crate::session_statement::{ChannelStatement, CursorStep};
use crate::user_types::{DomainBody, DomainChange, TypeChange, TypeName};

/// Where the rows of a COPY go, or come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CopyPlace {
    /// A file.
    File(String),
    /// The client: STDIN and STDOUT.
    Client,
}

/// What CREATE TYPE says of a type.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeBody {
    /// ENUM of these labels.
    Labels(Vec<String>),
    /// Another name of a type, as DuckDB has it.
    Alias {
        /// The type; of one that users made `Null`, until it is found by its name.
        data_type: DataType,
        /// Its name, if users made it.
        type_name: Option<TypeName>,
    },
    /// Rows of columns.
    Row {
        /// The columns, as a struct; `Null` until it is found where users made the type of one.
        data_type: DataType,
        /// What names types that users made, if any does.
        type_name: Option<TypeName>,
    },
    /// ENUM of the texts that a query has, in the order in which they come first.
    LabelsOf(ParsedQuery),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Statement {
    /// SELECT, VALUES, WITH.
    Query {
        /// The query.
        query: ParsedQuery,
    },
    /// A statement with PIVOTs whose columns are values that are in tables ([`crate::pivots`]).
    OverPivots(Box<Statement>),
    /// EXPLAIN of a query or of a change.
    Explain {
        /// Whether to run it and show what happened.
        analyze: bool,
        /// How to print.
        format: ExplainFormat,
        /// The query.
        query: ParsedQuery,
    },
    /// EXPLAIN EXECUTE: EXPLAIN of a prepared statement with values.
    ExplainPrepared {
        /// Whether to run it and show what happened.
        analyze: bool,
        /// How to print.
        format: ExplainFormat,
        /// Its name.
        name: String,
        /// The values.
        arguments: Arguments,
    },
    /// DESCRIBE: the columns of a query.
    Describe {
        /// The query.
        query: ParsedQuery,
        /// The table that it is all of.
        table: Option<String>,
    },
    /// CREATE TABLE with columns.
    CreateTable {
        /// The table.
        name: String,
        /// Its columns.
        columns: Vec<ColumnDefinition>,
        /// LIKE: columns of other tables among them.
        likes: Vec<LikeClause>,
        /// What is asked of its rows.
        constraints: Constraints,
        /// Whether an existing table is no error.
        if_not_exists: bool,
        /// Whether a table that exists goes.
        or_replace: bool,
        /// How it is cut and placed.
        design: DesignClause,
        /// What a commit does to it, if it is temporary.
        on_commit: OnCommit,
    },
    /// CREATE INDEX.
    CreateIndex {
        /// Its name, made from the table's and the columns' when not given.
        name: Option<String>,
        /// The table.
        table: String,
        /// What it is of, at least one; a column may stand there twice.
        items: Vec<IndexItem>,
        /// In which orders, one for each item.
        orders: Vec<IndexOrder>,
        /// How it is kept.
        method: IndexMethod,
        /// The rows that it has, if not all.
        predicate: Option<String>,
        /// Whether no two rows may hold the same values.
        unique: bool,
        /// NULLS NOT DISTINCT.
        nulls_equal: bool,
        /// Columns that are named with it and that it is not of.
        included: Vec<String>,
        /// Whether an existing index is no error.
        if_not_exists: bool,
    },
    /// CREATE TYPE.
    CreateType {
        /// Its name.
        name: String,
        /// What it is.
        body: TypeBody,
    },
    /// ALTER TYPE.
    AlterType {
        /// Its name.
        name: String,
        /// What is done.
        change: TypeChange,
    },
    /// CREATE DOMAIN.
    CreateDomain {
        /// Its name.
        name: String,
        /// What it is.
        body: Box<DomainBody>,
    },
    /// ALTER DOMAIN.
    AlterDomain {
        /// Its name.
        name: String,
        /// What is done.
        change: DomainChange,
    },
    /// DROP TYPE, DROP DOMAIN.
    DropType {
        /// Their names.
        names: Vec<String>,
        /// Whether it says DOMAIN.
        domains: bool,
        /// Whether a missing one is no error.
        if_exists: bool,
        /// Whether what uses one goes, too.
        cascade: bool,
    },
    /// CREATE SEQUENCE.
    CreateSequence {
        /// The sequence.
        name: String,
        /// What is said of it.
        options: SequenceOptions,
        /// Whether an existing one is no error.
        if_not_exists: bool,
    },
    /// ALTER SEQUENCE.
    AlterSequence {
        /// The sequence.
        name: String,
        /// What is done.
        change: SequenceChange,
        /// Whether a missing one is no error.
        if_exists: bool,
    },
    /// SET VARIABLE.
    SetVariable {
        /// The variable.
        name: String,
        /// A query of its value; `None` takes it away.
        query: Option<ParsedQuery>,
    },
    /// CREATE MACRO.
    CreateMacro {
        /// What it is.
        definition: MacroDefinition,
        /// Whether one that exists goes.
        or_replace: bool,
        /// Whether an existing one is no error.
        if_not_exists: bool,
    },
    /// DROP MACRO, DROP FUNCTION.
    DropMacro {
        /// The macros or functions.
        macros: Vec<SaidMacro>,
        /// Whether they were called functions.
        is_function: bool,
        /// Whether a missing one is no error.
        if_exists: bool,
    },
    /// ALTER FUNCTION.
    AlterFunction {
        /// The function.
        of: SaidMacro,
        /// What of it.
        changes: Vec<FunctionChange>,
    },
    /// COMMENT ON.
    Comment {
        /// What it is on.
        of: Commented,
        /// The comment; `None` takes it away.
        text: Option<String>,
    },
    /// SUMMARIZE: what is in the columns of a query.
    Summarize {
        /// The query.
        query: ParsedQuery,
    },
    /// A statement about roles and rights.
    Roles(RoleStatement),
    /// A statement about extensions.
    Extension(ExtensionStatement),
    /// CREATE SCHEMA.
    CreateSchema {
        /// The schema.
        name: String,
        /// AUTHORIZATION: whose it is.
        owner: Option<NamedRole>,
        /// Whether an existing one is no error.
        if_not_exists: bool,
        /// What is made in it.
        elements: Vec<Statement>,
    },
    /// ALTER SCHEMA .. RENAME TO.
    RenameSchema {
        /// The schema.
        name: String,
        /// Its new name.
        to: String,
    },
    /// DROP SCHEMA.
    DropSchema {
        /// The schemas.
        names: Vec<String>,
        /// Whether a missing one is no error.
        if_exists: bool,
        /// Whether what is in them goes, too.
        cascade: bool,
    },
    /// CREATE VIEW.
    CreateView {
        /// The view.
        name: String,
        /// Names of its first columns.
        columns: Vec<String>,
        /// Its rows.
        query: ParsedQuery,
        /// Whether a view that exists is replaced.
        or_replace: bool,
        /// Whether an existing relation is no error.
        if_not_exists: bool,
        /// Of a materialized view, whether it is filled at once.
        materialized: Option<bool>,
        /// What is asked of rows that are changed through it.
        check: Option<CheckOption>,
    },
    /// REFRESH MATERIALIZED VIEW.
    RefreshView {
        /// The view.
        name: String,
        /// Whether it has rows afterwards.
        with_data: bool,
        /// Whether CONCURRENTLY was said.
        concurrently: bool,
    },
    /// ALTER VIEW .. RENAME TO.
    RenameView {
        /// The view.
        name: String,
        /// Its new name.
        to: String,
        /// Whether a missing one is no error.
        if_exists: bool,
    },
    /// DROP VIEW.
    DropView {
        /// The views.
        names: Vec<String>,
        /// Whether materialized ones are meant.
        materialized: bool,
        /// Whether a missing one is no error.
        if_exists: bool,
        /// Whether views that are made of them go, too.
        cascade: bool,
    },
    /// DROP SEQUENCE.
    DropSequence {
        /// The sequences.
        names: Vec<String>,
        /// Whether a missing one is no error.
        if_exists: bool,
        /// Whether defaults that ask them go, too.
        cascade: bool,
    },
    /// DROP INDEX.
    DropIndex {
        /// The indexes.
        names: Vec<String>,
        /// Whether a missing index is no error.
        if_exists: bool,
    },
    /// ALTER INDEX .. RENAME TO.
    RenameIndex {
        /// The index.
        name: String,
        /// Its new name, in the schema that it is in.
        to: String,
        /// Whether a missing index is no error.
        if_exists: bool,
    },
    /// PREPARE.
    Prepare {
        /// What it is called.
        name: String,
        /// The types of its first parameters.
        types: Vec<DataType>,
        /// What it does.
        statement: Box<Statement>,
    },
    /// EXECUTE of a prepared statement.
    Execute {
        /// The prepared statement.
        name: String,
        /// The values of its parameters.
        arguments: Arguments,
    },
    /// DEALLOCATE.
    Deallocate {
        /// The prepared statement; all when not given.
        name: Option<String>,
    },
    /// CREATE TABLE AS.
    CreateTableAs {
        /// The table.
        name: String,
        /// Names of its columns when they are not the query's.
        columns: Vec<String>,
        /// Its rows.
        query: ParsedQuery,
        /// Whether an existing table is no error.
        if_not_exists: bool,
        /// Whether an existing table is replaced.
        or_replace: bool,
        /// How it is cut and placed.
        design: DesignClause,
        /// What a commit does to it, if it is temporary.
        on_commit: OnCommit,
    },
    /// ALTER TABLE.
    AlterTable {
        /// The table.
        table: String,
        /// What is done.
        change: TableChange,
        /// Whether a missing table is no error.
        if_exists: bool,
    },
    /// CALL of a procedure.
    Call {
        /// The procedure, with its schema.
        procedure: String,
        /// What it is given, as text.
        arguments: Vec<String>,
    },
    /// DROP TABLE.
    DropTable {
        /// The tables.
        names: Vec<String>,
        /// Whether a missing table is no error.
        if_exists: bool,
        /// Whether foreign keys that refer to them go, too.
        cascade: bool,
    },
    /// INSERT, UPDATE, DELETE or MERGE; or SELECT .. FOR UPDATE and its kin, which locks rows.
    Change {
        /// The statement, as the body of a query, and the WITH queries before it.
        query: ParsedQuery,
    },
    /// A query or a change of rows, with changes in its WITH, or queries inside that lock rows.
    InSteps {
        /// These, in the order in which they run.
        first: Vec<Step>,
        /// What is left of the statement: a query or a change.
        last: Box<Statement>,
    },
    /// BEGIN, COMMIT and the like.
    Transaction(TransactionStatement),
    /// DO.
    Do(Block),
    /// LOCK TABLE.
    LockTables {
        /// The tables.
        names: Vec<String>,
        /// How strong.
        mode: LockMode,
        /// Whether it waits for others.
        wait: LockWait,
    },
    /// TRUNCATE.
    Truncate {
        /// The tables.
        names: Vec<String>,
        /// Whether tables that refer to them are emptied, too.
        cascade: bool,
        /// Whether sequences that columns of them own begin anew.
        restart: bool,
    },
    /// COPY table FROM.
    CopyFrom {
        /// The table.
        table: String,
        /// The columns that the file's columns go to; all in order when empty.
        columns: Vec<String>,
        /// Where the rows come from.
        place: CopyPlace,
        /// Options by lower-case name.
        options: Vec<(String, String)>,
        /// WHERE, as SQL.
        condition: Option<String>,
    },
    /// COPY of the rows of a table or a query.
    CopyTo {
        /// The rows.
        query: ParsedQuery,
        /// The table and the columns, where it names these and no query.
        of: Option<(String, Vec<String>)>,
        /// Where they go.
        place: CopyPlace,
        /// Options by lower-case name.
        options: Vec<(String, String)>,
    },
    /// EXPORT DATABASE.
    ExportDatabase {
        /// Where the files go.
        folder: String,
        /// Options by lower-case name.
        options: Vec<(String, String)>,
    },
    /// IMPORT DATABASE.
    ImportDatabase {
        /// Where the files are.
        folder: String,
    },
    /// SET of a setting.
    Set {
        /// The setting.
        name: String,
        /// Its value as text, `None` for DEFAULT.
        value: Option<String>,
        /// SET LOCAL: until the transaction ends.
        local: bool,
    },
    /// SET CONSTRAINTS.
    SetConstraints {
        /// The constraints; all that can be deferred where it is `None`.
        names: Option<Vec<String>>,
        /// Whether they are asked at the end of the transaction, and not of each statement.
        deferred: bool,
    },
    /// RESET: a setting, or every one of the session where it is `None`, has its default again.
    Reset(Option<String>),
    /// DISCARD.
    Discard {
        /// What is forgotten.
        what: Discarded,
    },
    /// A statement about a cursor.
    Cursor(CursorStatement),
    /// LISTEN, UNLISTEN and NOTIFY.
    Channel(ChannelStatement),
    /// CHECKPOINT.
    Checkpoint,
    /// VACUUM and ANALYZE, which have nothing to do: deleted rows go by themselves, and statistics are exact.
    Maintain {
        /// `VACUUM` or `ANALYZE`.
        command: &'static str,
        /// The tables that are named.
        tables: Vec<String>,
    },
    /// CLUSTER, which moves no row: an index here leads to rows wherever they are.
    Cluster {
        /// The table; all that have been clustered before, which are none, where it is not said.
        table: Option<String>,
        /// The index by whose order.
        index: Option<String>,
    },
    /// BACKUP TO a folder.
    Backup {
        /// The folder, in which nothing is yet.
        folder: String,
    },
    /// KILL of a statement that is under way.
    Kill {
        /// Its number.
        statement: u64,
    },
    /// ALTER QUERY: another setting for a statement that is under way.
    AlterQuery {
        /// Its number.
        statement: u64,
        /// The setting.
        name: String,
        /// Its value as text.
        value: String,
    },
    /// SHOW of a setting.
    Show {
        /// The setting; `all` for all.
        name: String,
    },
}

impl Statement {
    /// A CREATE TABLE with what was said about parts and nodes; anything else as it is.
    pub(crate) fn with_design(mut self, said: &DesignClause) -> Self {
        if let Self::CreateTable { design, .. } | Self::CreateTableAs { design, .. } = &mut self {
            design.clone_from(said);
        }
        self
    }
}

/// A statement about a cursor.
#[derive(Clone, PartialEq, Debug)]
pub enum CursorStatement {
    /// DECLARE.
    Declare {
        /// What it is called.
        name: String,
        /// Whether it may go backward.
        scroll: bool,
        /// WITH HOLD: whether it outlives its transaction.
        hold: bool,
        /// Its rows.
        query: ParsedQuery,
    },
    /// FETCH, or MOVE, which gives no rows.
    Fetch {
        /// The cursor.
        name: String,
        /// Where it goes.
        step: CursorStep,
        /// Whether it is MOVE.
        is_move: bool,
    },
    /// CLOSE.
    Close {
        /// The cursor; all where it is `None`.
        name: Option<String>,
    },
}

/// A statement about extensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExtensionStatement {
    /// CREATE EXTENSION.
    Create {
        /// The extension.
        name: String,
        /// The schema of its functions.
        schema: Option<String>,
        /// The version that is wanted.
        version: Option<String>,
        /// Whether an existing one is no error.
        if_not_exists: bool,
    },
    /// DROP EXTENSION.
    Drop {
        /// The extensions.
        names: Vec<String>,
        /// Whether a missing one is no error.
        if_exists: bool,
    },
    /// ALTER EXTENSION .. UPDATE.
    Update {
        /// The extension.
        name: String,
        /// The version that is wanted.
        version: Option<String>,
    },
    /// ALTER EXTENSION .. SET SCHEMA.
    SetSchema {
        /// The extension.
        name: String,
        /// The schema of its functions.
        schema: String,
    },
}

/// What a comment is on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Commented {
    /// A table, a view or a sequence.
    Relation {
        /// Which of them, as it is said.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A column.
    Column {
        /// Its table or view.
        relation: String,
        /// The column.
        column: String,
    },
    /// A schema.
    Schema(String),
    /// An extension.
    Extension(String),
    /// An index.
    Index(String),
    /// A function.
    Function(SaidMacro),
    /// A constraint.
    Constraint {
        /// The constraint.
        name: String,
        /// Its table.
        table: String,
    },
}

/// What DISCARD lets a session forget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discarded {
    /// Everything.
    All,
    /// Plans: they are kept for all sessions and made anew where they do not hold, so that nothing is to be done.
    Plans,
    /// What it was given of sequences.
    Sequences,
    /// Its temporary relations.
    Temporary,
}

/// A statement about the transaction that it is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactionStatement {
    /// BEGIN, START TRANSACTION.
    Begin {
        /// What is said of the transaction.
        modes: TransactionModes,
        /// Whether it was START TRANSACTION, which its answer says again.
        is_start: bool,
    },
    /// COMMIT, END.
    Commit {
        /// Whether another transaction of the same modes begins.
        chain: bool,
    },
    /// ROLLBACK, ABORT.
    Rollback {
        /// Whether another transaction of the same modes begins.
        chain: bool,
    },
    /// SAVEPOINT.
    Savepoint {
        /// Its name.
        name: String,
    },
    /// RELEASE SAVEPOINT.
    Release {
        /// Its name.
        name: String,
    },
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo {
        /// Its name.
        name: String,
    },
    /// SET TRANSACTION, SET SESSION CHARACTERISTICS AS TRANSACTION.
    SetModes {
        /// What is said.
        modes: TransactionModes,
        /// Whether it is said of all transactions of the session.
        for_session: bool,
    },
}

/// What is said of a transaction; `None` where nothing is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransactionModes {
    /// Its isolation level.
    pub isolation: Option<Isolation>,
    /// Whether it changes nothing.
    pub read_only: Option<bool>,
    /// Whether it would rather wait than be refused. One that changes nothing is never refused, so that this is only kept.
    pub deferrable: Option<bool>,
}

/// What a transaction sees of others that commit while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// As [`Self::ReadCommitted`] under another name: what is not committed is never seen.
    ReadUncommitted,
    /// Each statement sees what was committed before it.
    #[default]
    ReadCommitted,
    /// All statements see what was committed before the first.
    RepeatableRead,
    /// As if transactions ran one after the other.
    Serializable,
}

impl Isolation {
    /// In PostgreSQL's words.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        let all =
            [Self::ReadUncommitted, Self::ReadCommitted, Self::RepeatableRead, Self::Serializable];
        all.into_iter().find(|it| it.name().eq_ignore_ascii_case(name))
    }

    /// Whether all statements of a transaction see the same.
    pub fn keeps_picture(self) -> bool {
        matches!(self, Self::RepeatableRead | Self::Serializable)
    }
}

/// What EXECUTE gives to the parameters.
#[derive(Clone, PartialEq, Debug)]
pub enum Arguments {
    /// Constants.
    Values(Vec<Value>),
    /// A query of one row.
    Query(ParsedQuery),
}

/// How EXPLAIN prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExplainFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// A picture, as SVG.
    Svg,
}

impl Statement {
    /// Whether it makes, changes or drops types or domains.
    pub fn is_about_types(&self) -> bool {
        matches!(
            self,
            Self::CreateType { .. }
                | Self::AlterType { .. }
                | Self::CreateDomain { .. }
                | Self::AlterDomain { .. }
                | Self::DropType { .. }
        )
    }
}
