//! Aggregation of rows as they are stored, bit-packed: without a batch, a list of rows, or 64 bits where 32 do
//! (docs/design/04-execution.md, "structures of an aggregation").
//!
//! [`strategy_of`] chooses one of three: `single_group` without keys, from codes and zones alone; `few_groups` under
//! masks, for keys of a byte; `sorted_groups` for a key by which the table is sorted. The last two compute what they sum
//! by the register programs of `formulas`.

mod arithmetic;
mod column_totals;
mod few_groups;
mod formulas;
mod run_buffer;
mod single_group;
mod sorted_groups;
mod strategy;

use super::plan::GroupPlan;
use crate::expression::Compiled;

pub(super) use strategy::{PackedStrategy, Target};

use few_groups::FewGroups;
use single_group::SingleGroup;
use sorted_groups::SortedGroups;

/// The way to aggregate packed rows, if these keys and arguments have one on this processor.
pub(super) fn strategy_of(
    plan: &GroupPlan,
    keys: &[Compiled],
    arguments: &[Compiled],
    slots: usize,
) -> Option<Box<dyn PackedStrategy>> {
    if let Some(it) = SingleGroup::new(plan, arguments, slots) {
        return Some(Box::new(it));
    }
    if let Some(it) = FewGroups::new(plan, keys, arguments, slots) {
        return Some(Box::new(it));
    }
    SortedGroups::new(plan, keys, arguments, slots).map(|it| Box::new(it) as _)
}
