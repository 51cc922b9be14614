//! Expressions over batches: compiled once against a layout, evaluated per batch.
//!
//! Key decision: types, widths and scales are decided when an expression is compiled, from the proven bounds of its
//! columns, so a kernel is a loop over slices that never asks what it holds. Constants are folded and live in kernels,
//! never in vectors. An expression over one dictionary column is computed once per entry (`codes`).
//!
//! Reading order: `node`, `kernels`, `compile`, then one file per kind of expression.
//!
//! - Invariant: a vector is held as the shape of its node says, and lies within that shape's bounds where not NULL.
//! - Invariant: only a row that needs a value raises the error of computing it: never one under NULL, in a branch of
//!   CASE not taken, or decided by an earlier operand of AND or OR.
//! - Invariant: a worker recurses over nodes only from [`Compiled`], which makes room on the stack for deep ones.
//! - Invariant: CHAR(n) is held without the blanks at its end; comparisons with CHAR disregard them on both sides.

use plan::Expr;
use stdx::stack::{self, Deep};
use stdx::sync::Arc;
use types::{SqlResult, Value};

use self::compile::Compiler;
use self::node::Node;
use crate::{Batch, ColumnShape, Layout, Vector};

mod any_scale;
mod arithmetic;
mod automaton;
mod by_value;
mod case;
mod cast;
mod characters;
mod codes;
mod compare;
mod compile;
mod constant_array;
mod date;
mod derived;
mod division;
mod entries;
mod float;
mod formula;
mod function;
mod integers;
mod kernels;
mod length;
mod like;
mod list;
mod logic;
mod node;
mod outside;
mod pattern;
mod per_value;
mod rows;
mod scale;
#[cfg(test)]
mod tests;
mod text;
mod try_cast;
mod vectors;

pub(crate) use vectors::vector_of;

pub(crate) use formula::{Formula, FormulaKind};
pub(crate) use node::null_vector;
pub(crate) use outside::is_of_rows;
pub use outside::{NoOutside, Outside};
pub use rows::{constant_rows, evaluate_row};

/// An expression ready to run on batches of one layout.
#[derive(Debug)]
pub struct Compiled {
    /// Evaluated and dropped by workers, whose stacks are small.
    node: Deep<Node>,
}

impl Compiled {
    /// Compiles `expr`.
    pub fn new(expr: &Expr, layout: &Layout, outside: &dyn Outside) -> SqlResult<Self> {
        let levels = expr.levels();
        let compiler = Compiler { layout, outside, tables: true };
        let node = stack::with_levels(levels, || compiler.compile(expr))?;
        Ok(Self { node: Deep::new(node, levels) })
    }

    /// What it yields.
    pub fn shape(&self) -> &ColumnShape {
        &self.node.shape
    }

    /// The column that it is, if it is a bare one.
    pub(crate) fn column(&self) -> Option<usize> {
        match self.node.body {
            node::Body::Column(index) => Some(index),
            _ => None,
        }
    }

    /// It as a formula, if it is one.
    pub(crate) fn formula(&self) -> Option<Formula> {
        Formula::of(&self.node)
    }

    /// The columns it reads, ascending.
    pub fn columns(&self) -> &[usize] {
        &self.node.facts.columns
    }

    /// Its value, when that is the same for all rows.
    pub fn constant(&self) -> Option<Value> {
        self.node.as_constant().cloned()
    }

    /// Whether a row can raise an error; a scan must not apply such a condition to rows that others drop.
    pub fn is_fallible(&self) -> bool {
        self.node.facts.fallible
    }

    /// The values for a batch; a bare column is handed on without a copy.
    pub fn evaluate(&self, batch: &Batch) -> SqlResult<Arc<Vector>> {
        self.node.walk(|it| it.evaluate(batch))
    }

    /// For a Boolean expression: the rows for which it is TRUE, ascending.
    pub fn select(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        self.node.walk(|it| it.select(batch, rows))
    }
}
