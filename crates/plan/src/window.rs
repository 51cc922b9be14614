//! Window functions: what is computed of the rows around a row, in an order within a partition.

use serde::{Deserialize, Serialize};
use types::DataType;

use crate::{AggregateFunction, Expr};

/// A call of a window function. Its partition is that of the operator it stands in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowCall {
    /// Which.
    pub function: WindowFunction,
    /// Its arguments: none of count(*) and of ranks; the value, the offset and the default of lag and lead.
    pub arguments: Vec<Expr>,
    /// FILTER (WHERE ..), of aggregates.
    pub filter: Option<Expr>,
    /// How many leading keys of the operator's order are its own: rows that agree in them are peers.
    pub order: usize,
    /// The rows that it looks at.
    pub frame: Frame,
    /// Whether rows whose first argument is NULL are passed over.
    pub ignore_nulls: bool,
    /// The type of the result.
    pub data_type: DataType,
}

/// Window functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WindowFunction {
    /// An aggregate of the frame.
    Aggregate(AggregateFunction),
    /// The number of the row in its partition, from 1 on.
    RowNumber,
    /// The number of the first of its peers.
    Rank,
    /// The number of its group of peers.
    DenseRank,
    /// The rank as a share: 0 for the first, 1 for the last.
    PercentRank,
    /// The share of the rows up to the last of its peers.
    CumeDist,
    /// The number of its bucket, of so many that are as equal as can be.
    Ntile,
    /// The value of a row before.
    Lag,
    /// The value of a row behind.
    Lead,
    /// The value of the first row of the frame.
    FirstValue,
    /// The value of the last row of the frame.
    LastValue,
    /// The value of a row of the frame by its number.
    NthValue,
}

impl WindowFunction {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aggregate(function) => function.name(),
            Self::RowNumber => "row_number",
            Self::Rank => "rank",
            Self::DenseRank => "dense_rank",
            Self::PercentRank => "percent_rank",
            Self::CumeDist => "cume_dist",
            Self::Ntile => "ntile",
            Self::Lag => "lag",
            Self::Lead => "lead",
            Self::FirstValue => "first_value",
            Self::LastValue => "last_value",
            Self::NthValue => "nth_value",
        }
    }

    /// Whether its value depends on the frame.
    pub fn has_frame(self) -> bool {
        use WindowFunction::{Aggregate, FirstValue, LastValue, NthValue};
        matches!(self, Aggregate(_) | FirstValue | LastValue | NthValue)
    }

    /// Whether its value is never NULL.
    pub fn is_never_null(self) -> bool {
        use WindowFunction::{Aggregate, CumeDist, DenseRank, PercentRank, Rank, RowNumber};
        match self {
            Aggregate(function) => function == AggregateFunction::Count,
            other => matches!(other, RowNumber | Rank | DenseRank | PercentRank | CumeDist),
        }
    }
}

/// The rows of a partition that a function looks at, from the row that it is computed for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// What offsets count.
    pub unit: FrameUnit,
    /// Where it begins; unbounded is the first row of the partition.
    pub start: FrameBound,
    /// Where it ends; unbounded is the last row of the partition.
    pub end: FrameBound,
    /// Rows left out.
    pub exclusion: Exclusion,
}

impl Default for Frame {
    /// All rows up to the last peer.
    fn default() -> Self {
        let (start, end) = (FrameBound::Unbounded, FrameBound::CurrentRow);
        Self { unit: FrameUnit::Range, start, end, exclusion: Exclusion::Nothing }
    }
}

/// What the offsets of a frame count, and what its current row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// The value of the one order key; the current row is all its peers.
    Range,
    /// Groups of peers; the current row is all its peers.
    Groups,
}

/// An end of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FrameBound {
    /// As far as the partition goes.
    Unbounded,
    /// The current row, or its peers.
    CurrentRow,
    /// So many rows or groups, or so much of the order key, before the current row. No column stands in it.
    Preceding(Expr),
    /// The same behind it.
    Following(Expr),
    /// Up to this value of the order key, a timestamp: how far a date and an interval reach depends on the row.
    Value(Expr),
}

impl FrameBound {
    /// The expression in it.
    pub fn expression(&self) -> Option<&Expr> {
        match self {
            Self::Unbounded | Self::CurrentRow => None,
            Self::Preceding(it) | Self::Following(it) | Self::Value(it) => Some(it),
        }
    }

    /// The expression in it, to change it.
    pub fn expression_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Self::Unbounded | Self::CurrentRow => None,
            Self::Preceding(it) | Self::Following(it) | Self::Value(it) => Some(it),
        }
    }
}

/// Rows that a frame leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Exclusion {
    /// None.
    Nothing,
    /// The current row.
    CurrentRow,
    /// The current row and its peers.
    Group,
    /// The peers of the current row.
    Ties,
}

impl WindowCall {
    /// Its expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let bounds = [&self.frame.start, &self.frame.end].into_iter();
        let own = self.arguments.iter().chain(&self.filter);
        own.chain(bounds.filter_map(FrameBound::expression))
    }

    /// Its expressions, to change them.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let bounds = [&mut self.frame.start, &mut self.frame.end].into_iter();
        let own = self.arguments.iter_mut().chain(&mut self.filter);
        own.chain(bounds.filter_map(FrameBound::expression_mut))
    }
}
