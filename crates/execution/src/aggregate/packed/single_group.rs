//! Aggregates over all rows as one group: counts, sums, least and greatest values of packed columns
//! (docs/design/04-execution.md, "structures of an aggregation").
//!
//! Key decision: each column is looked at once, whatever is computed of it: sums of `a`, of `a + 1` and of `3 * a` are one.

use plan::BinaryOperator;
use types::SqlResult;

use super::column_totals::{ColumnTotals, Scratch, Totals, value};
use super::strategy::{PackedStrategy, Target};
use crate::aggregate::accumulator::Rule;
use crate::aggregate::batch_groups::BatchGroups;
use crate::aggregate::plan::GroupPlan;
use crate::aggregate::spec::AccumulatorKind;
use crate::expression::{Compiled, Formula, FormulaKind};
use crate::scan::PackedBlock;
use crate::{PerSlot, Vector};

/// One group over columns that are never NULL.
pub(super) struct SingleGroup {
    columns: Vec<ColumnTotals>,
    /// By accumulator.
    outputs: Vec<Output>,
    scratch: PerSlot<Scratch>,
}

/// What becomes of what was found in the columns.
enum Output {
    Count,
    /// The sum of `factor` times the column plus `offset`.
    Sum {
        column: usize,
        factor: i64,
        offset: i64,
    },
    Pick {
        column: usize,
        rule: Rule,
    },
}

impl SingleGroup {
    /// The strategy, if there are no keys and each accumulator is of rows or of one column.
    pub(super) fn new(plan: &GroupPlan, arguments: &[Compiled], slots: usize) -> Option<Self> {
        if plan.is_keyed() {
            return None;
        }
        let (columns, outputs, scratch) = (Vec::new(), Vec::new(), PerSlot::new(slots));
        let mut strategy = Self { columns, outputs, scratch };
        for it in &plan.accumulators {
            let argument = it.argument.map(|it| &arguments[it]);
            let output = match (it.kind, argument, it.filter) {
                (AccumulatorKind::Count, None, None) => Output::Count,
                (AccumulatorKind::Sum, Some(argument), None) => {
                    let (place, factor, offset) = linear(&argument.formula()?)?;
                    let column = strategy.column(place);
                    strategy.columns[column].sum = true;
                    Output::Sum { column, factor, offset }
                }
                (AccumulatorKind::Pick(rule @ (Rule::Min | Rule::Max)), Some(argument), None) => {
                    let place = argument.column().filter(|_| !argument.shape().nullable)?;
                    let column = strategy.column(place);
                    strategy.columns[column].extent = true;
                    Output::Pick { column, rule }
                }
                _ => return None,
            };
            strategy.outputs.push(output);
        }
        Some(strategy)
    }

    fn column(&mut self, place: usize) -> usize {
        let known = self.columns.iter().position(|it| it.column == place);
        known.unwrap_or_else(|| {
            self.columns.push(ColumnTotals { column: place, sum: false, extent: false });
            self.columns.len() - 1
        })
    }
}

impl PackedStrategy for SingleGroup {
    fn pays(&self, _: bool) -> bool {
        true
    }

    fn add(&self, block: &PackedBlock<'_>, target: Target<'_>) -> SqlResult<bool> {
        let table = target.table;
        if !self.columns.iter().all(|it| it.can_find(block)) {
            return Ok(false);
        }
        if table.len() == 0 {
            table.insert_only_group();
        }
        let mut found: Vec<Totals> = Vec::new();
        if !self.columns.is_empty() {
            let mut guard = self.scratch.lock(target.slot);
            let scratch = guard.get_or_insert_default();
            scratch.list_rows(block);
            found.extend(self.columns.iter().map(|it| it.find(block, scratch)));
        }
        for (output, accumulator) in self.outputs.iter().zip(&mut table.accumulators) {
            match *output {
                Output::Count => accumulator.integers().add(&[block.count as i64], block.count),
                Output::Sum { column, factor, offset } => {
                    // The result is far from leaving 128 bits, whatever overflows on the way to it.
                    let factored = found[column].sum.wrapping_mul(factor.into());
                    let offsets = i128::from(offset).wrapping_mul(block.count as i128);
                    let sum = factored.wrapping_add(offsets);
                    accumulator.integers().add_total(sum, block.count);
                }
                Output::Pick { column, rule } => {
                    let (least, greatest) = found[column].extent;
                    let chosen = if rule == Rule::Min { least } else { greatest };
                    let values = value(block, self.columns[column].column, chosen);
                    accumulator.update(BatchGroups::of(&[0]), Some(&Vector::new(values)), None);
                }
            }
        }
        Ok(true)
    }
}

/// A formula as a column times a factor plus an offset.
fn linear(formula: &Formula) -> Option<(usize, i64, i64)> {
    let constant = |it: &Formula| matches!(it.kind, FormulaKind::Constant).then_some(it.low);
    let (operator, left, right) = match &formula.kind {
        FormulaKind::Column(place) => return Some((*place, 1, 0)),
        FormulaKind::Constant => return None,
        FormulaKind::Binary(operator, left, right) => (*operator, left, right),
    };
    match (operator, constant(left), constant(right)) {
        (BinaryOperator::Add, None, Some(more)) | (BinaryOperator::Subtract, None, Some(more)) => {
            let more = if operator == BinaryOperator::Add { more } else { more.checked_neg()? };
            let (place, factor, offset) = linear(left)?;
            Some((place, factor, offset.checked_add(more)?))
        }
        (BinaryOperator::Add, Some(more), None) => {
            let (place, factor, offset) = linear(right)?;
            Some((place, factor, offset.checked_add(more)?))
        }
        (BinaryOperator::Subtract, Some(from), None) => {
            let (place, factor, offset) = linear(right)?;
            Some((place, factor.checked_neg()?, from.checked_sub(offset)?))
        }
        (BinaryOperator::Multiply, Some(by), None) | (BinaryOperator::Multiply, None, Some(by)) => {
            let other = if constant(left).is_some() { right } else { left };
            let (place, factor, offset) = linear(other)?;
            Some((place, factor.checked_mul(by)?, offset.checked_mul(by)?))
        }
        _ => None,
    }
}
