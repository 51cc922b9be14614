//! Conditions of a scan that no codes tell.

use std::collections::BTreeSet;

use plan::Expr;
use types::SqlResult;

use crate::Layout;
use crate::expression::Compiled;
use crate::states::States;

/// A conjunct that needs values: evaluated on the columns it names.
pub(super) struct Residual {
    pub columns: Vec<usize>,
    pub condition: Compiled,
}

impl Residual {
    /// Of a filter of a scan whose columns have these shapes.
    pub(super) fn new(filter: &Expr, shapes: &Layout, states: &States<'_>) -> SqlResult<Self> {
        let mut used = BTreeSet::new();
        filter.collect_columns(&mut used);
        let used: Vec<usize> = used.into_iter().collect();
        let mut filter = filter.clone();
        let place = |it| used.iter().position(|&used| used == it);
        filter.map_columns(&mut |it| place(it).expect("invariant: every column was collected"));
        let layout = used.iter().map(|&it| shapes[it].clone()).collect();
        let condition = Compiled::new(&filter, &layout, states)?;
        Ok(Self { columns: used, condition })
    }
}
