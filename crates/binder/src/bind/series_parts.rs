//! What functions that make rows are bound to, before their rows stand side by side.

use plan::Expr;
use plan::relation::{Attr, Rel};
use types::DataType;
use types::structs::StructType;

/// What one function makes of a row.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// How many values: a BIGINT, NULL for none.
    pub length: Expr,
    pub rule: Rule,
    /// The attribute of the values.
    pub value: Attr,
}

/// How its values are made.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    Numbers {
        first: Expr,
        step: Expr,
        data_type: DataType,
    },
    Moments {
        first: Expr,
        step: Expr,
        zone: Option<Expr>,
        data_type: DataType,
    },
    /// The items of an array.
    Items(Attr),
    /// The same, each as another value that is made of it.
    Made {
        array: Attr,
        item: Attr,
        value: Expr,
    },
    /// The same, each as a row of it and its place from 1 on.
    Placed {
        array: Attr,
        item: Attr,
        row: StructType,
    },
    /// A value that is there once.
    Once(Expr),
}

/// The functions of a select list that make rows.
#[derive(Debug)]
pub(super) struct SeriesInList {
    /// Where their rows are among what is pending.
    pub place: usize,
    /// The row of their arguments.
    pub input: Rel,
    pub parts: Vec<Part>,
}
