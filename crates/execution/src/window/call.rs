//! Window functions ready to run.

use plan::{Exclusion, FrameUnit, WindowFunction};
use types::DataType;

use crate::ColumnShape;
use crate::aggregate::StateSpec;
use crate::expression::Compiled;
use crate::sort::{CompiledSortKey, KeyEncoder};

/// A window function over compiled expressions.
pub struct CompiledCall {
    /// Which.
    pub function: WindowFunction,
    /// Its arguments.
    pub arguments: Vec<Compiled>,
    /// FILTER, a Boolean.
    pub filter: Option<Compiled>,
    /// The order of its argument, of least and greatest values.
    pub ordered: Option<KeyEncoder>,
    /// What an aggregate keeps by itself of the rows of a frame, if it does.
    pub states: Option<StateSpec>,
    /// How many leading keys of the order are its own.
    pub order: usize,
    /// Its frame.
    pub frame: CompiledFrame,
    /// Whether rows are passed over whose first argument is NULL.
    pub ignore_nulls: bool,
    /// What its first argument and its default are brought to.
    pub value: Option<ColumnShape>,
    /// The type of the result.
    pub data_type: DataType,
}

/// A frame over compiled expressions.
pub struct CompiledFrame {
    /// What offsets count.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: CompiledBound,
    /// Where it ends.
    pub end: CompiledBound,
    /// Rows left out.
    pub exclusion: Exclusion,
    /// The one key of the order, where offsets are distances of it.
    pub key: Option<CompiledSortKey>,
}

/// An end of a frame over compiled expressions.
pub enum CompiledBound {
    /// As far as the partition goes.
    Unbounded,
    /// The current row, or its peers.
    CurrentRow,
    /// So far before it.
    Preceding(Compiled),
    /// So far behind it.
    Following(Compiled),
    /// Up to a value of the order.
    Value(Compiled),
}
