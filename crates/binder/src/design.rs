//! How a table shall be cut and placed, as a statement says it (docs/design/02-memory-and-placement.md, "who decides";
//! the spelling is SAP HANA's).
//!
//! Key decision: nodes, columns and bounds stay as they were written. Whether they exist is known only where there is a
//! machine and a table.

use types::DataType;
use types::numeric::interval_text::Fields;

use crate::column_definition::ColumnDefinition;
use crate::constraint::Constraints;
use crate::sequence::SequenceOptions;
use crate::user_types::TypeName;

/// Numbers of nodes, `2 TO 3`; one number is a range of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeRange {
    /// The first.
    pub first: u64,
    /// The last, not below the first.
    pub last: u64,
}

/// In which way several nodes share what is placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeWay {
    /// No way was named: split, or the parts dealt round where a table has parts.
    Fitting,
    /// SPLIT: index vectors in contiguous ranges, one per node (IVP).
    Split,
    /// INTERLEAVE: page by page.
    Interleave,
    /// ROUNDROBIN: whole columns, or whole parts, in turn (RR).
    RoundRobin,
    /// REPLICATE: a copy on each.
    Replicate,
}

/// What NUMA NODE demands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeDemand {
    /// NULL: nothing any more.
    TakenBack,
    /// To be on some nodes.
    On {
        /// In which way.
        way: NodeWay,
        /// The nodes; none for all.
        nodes: Vec<NodeRange>,
    },
}

/// The clause NUMA NODE.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeClause {
    /// What it demands.
    pub demand: NodeDemand,
    /// Whether it waits until the columns are built anew.
    pub deferred: bool,
}

/// The clause PARTITION BY.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PartitionClause {
    /// By the hash of columns.
    Hash {
        /// The columns.
        columns: Vec<String>,
        /// How many parts.
        parts: u64,
    },
    /// By the value of a column.
    Range {
        /// The column.
        column: String,
        /// SQL text of the values where a part ends and the next begins, in order.
        bounds: Vec<String>,
    },
    /// Row by row in turn.
    RoundRobin {
        /// How many parts.
        parts: u64,
    },
}

/// The clauses of CREATE TABLE about parts and nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DesignClause {
    /// PARTITION BY.
    pub partition: Option<PartitionClause>,
    /// NUMA NODE of the table.
    pub nodes: Option<NodeClause>,
    /// NUMA NODE of columns, by name.
    pub columns: Vec<(String, NodeClause)>,
}

impl DesignClause {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What of a table ALTER TABLE places.
#[derive(Clone, PartialEq, Debug)]
pub enum PlacedItem {
    /// All of it.
    Table,
    /// A column.
    Column {
        /// Its name.
        name: String,
        /// Its type, where one was written; it must be the one it has.
        data_type: Option<types::DataType>,
    },
    /// A part, from 0 on.
    Part(u64),
    /// Rows, from 0 on.
    Rows {
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
}

/// What ALTER TABLE does.
#[derive(Clone, PartialEq, Debug)]
pub enum TableChange {
    /// Places things, in this order.
    Place(Vec<(PlacedItem, NodeClause)>),
    /// Cuts the table into other parts.
    Partition {
        /// Which.
        partition: PartitionClause,
        /// Where they go.
        nodes: Option<NodeClause>,
    },
    /// Makes one part of several.
    Merge {
        /// The first and the last part; all when not given.
        parts: Option<(u64, u64)>,
    },
    /// Cuts a part of ranges in two.
    Split {
        /// The part that is meant, as a check.
        part: Option<u64>,
        /// SQL text of the value that begins the second.
        at: String,
    },
    /// Asks other things of its rows, or has other columns, one after the other.
    Rules(Vec<RuleChange>),
    /// Gives it a name.
    Rename(String),
}

/// A change of what a table asks of its rows.
#[derive(Clone, PartialEq, Debug)]
pub enum RuleChange {
    /// ADD CONSTRAINT: one.
    Add(Constraints),
    /// DROP CONSTRAINT.
    Drop {
        /// Its name.
        name: String,
        /// Whether a missing one is no error.
        if_exists: bool,
        /// Whether foreign keys that refer to it go, too.
        cascade: bool,
    },
    /// VALIDATE CONSTRAINT.
    Validate {
        /// Its name.
        name: String,
    },
    /// ALTER COLUMN SET DEFAULT, DROP DEFAULT.
    Default {
        /// The column.
        column: String,
        /// The expression; `None` to have none.
        default: Option<String>,
    },
    /// RENAME CONSTRAINT.
    RenameConstraint {
        /// Its name.
        name: String,
        /// Its new name.
        to: String,
    },
    /// Storage parameters and what statistics are asked for, of the table or of a column: they mean nothing here.
    Parameters {
        /// The column.
        column: Option<String>,
    },
    /// A change of a column.
    Column(ColumnAlteration),
    /// What ALTER COLUMN says of what a column is generated of.
    Expression {
        /// The column.
        column: String,
        /// What of it.
        change: ExpressionChange,
    },
    /// What ALTER COLUMN says of an identity.
    Identity {
        /// The column.
        column: String,
        /// What of it.
        change: IdentityChange,
    },
}

/// A change of a column itself.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnAlteration {
    /// ADD COLUMN.
    Add {
        /// The column.
        column: Box<ColumnDefinition>,
        /// What stands behind it.
        constraints: Constraints,
        /// Whether one that is there is no error.
        if_not_exists: bool,
    },
    /// DROP COLUMN.
    Drop {
        /// The column.
        column: String,
        /// Whether a missing one is no error.
        if_exists: bool,
        /// Whether what depends on it goes, too.
        cascade: bool,
    },
    /// RENAME COLUMN.
    Rename {
        /// The column.
        column: String,
        /// Its new name.
        to: String,
    },
    /// ALTER COLUMN TYPE.
    Type {
        /// The column.
        column: String,
        /// Its new type; of one that users made `Null`, until it is found by its name.
        data_type: DataType,
        /// The name of its type, if users made it.
        type_name: Option<TypeName>,
        /// Its new domain ([`types::names::joined`]), once it is found by its name.
        domain: Option<String>,
        /// What it keeps of times or intervals, if its type says it.
        fields: Option<Fields>,
        /// SQL text of what becomes of a value; `None` to convert it as an assignment does.
        using: Option<String>,
    },
    /// ALTER COLUMN SET NOT NULL, DROP NOT NULL.
    Nullable {
        /// The column.
        column: String,
        /// Whether it may hold NULL.
        nullable: bool,
    },
}

/// A change of what a column is generated of.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpressionChange {
    /// SET EXPRESSION.
    Set(String),
    /// DROP EXPRESSION: it keeps its values.
    Drop {
        /// Whether a column that is not generated is no error.
        if_exists: bool,
    },
}

/// A change of how a column is numbered by itself.
#[derive(Clone, PartialEq, Debug)]
pub enum IdentityChange {
    /// ADD GENERATED AS IDENTITY.
    Add {
        /// ALWAYS, and not BY DEFAULT.
        always: bool,
        /// Of its sequence.
        options: SequenceOptions,
    },
    /// SET GENERATED, SET of an option, RESTART.
    Set {
        /// ALWAYS or BY DEFAULT, where it is said.
        always: Option<bool>,
        /// Of its sequence.
        options: SequenceOptions,
    },
    /// DROP IDENTITY.
    Drop {
        /// Whether a column without one is no error.
        if_exists: bool,
    },
}
