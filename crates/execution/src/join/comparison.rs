//! The comparison of a join that only marks, where extremes decide it: keys that
//! repeat often, in a table of runs. Where they do not, pairs cost less (Q21).

use memory::Scratch;
use plan::{BinaryOperator, ExprKind, Join, JoinKind};
use stdx::sync::Arc;
use types::SqlResult;

use super::JoinTable;
use super::direct::{DirectTable, Rows};
use super::extremes::Extremes;
use super::table::Finder;
use crate::expression::{Compiled, Outside};
use crate::{ColumnShape, Layout, Representation};

/// Slots that a table may have per row, plus [`SMALL`]: beyond them most extremes would be of keys that are not there.
const SPREAD: usize = 4;
/// Slots that a table may have in any case.
const SMALL: usize = 4096;
/// Rows with the same key, as a row meets them on average, from which on two atomic operations cost less than pairs do.
/// With one to three of them (Q21) pairs take a third of the time.
const CROWD: u64 = 16;

/// The comparison that marks, as the probe side sees it.
pub(super) struct Comparison {
    /// The compared value over the input.
    pub(super) value: Compiled,
    operator: BinaryOperator,
    column: usize,
    /// Of the table.
    slots: usize,
}

impl Comparison {
    /// The condition of a join that only marks, when extremes decide it.
    pub(super) fn of(
        join: &Join,
        table: &JoinTable,
        input: &Layout,
        outside: &dyn Outside,
    ) -> SqlResult<Option<Self>> {
        let Some(condition) = join.residual.as_ref().filter(|_| join.kind == JoinKind::MarkBuild)
        else {
            return Ok(None);
        };
        let ExprKind::Binary { operator, left, right } = &condition.kind else { return Ok(None) };
        use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual, NotEqual};
        if !matches!(operator, NotEqual | Less | LessEqual | Greater | GreaterEqual) {
            return Ok(None);
        }
        let Some(slots) = slots(table) else { return Ok(None) };
        let stored = |it: &plan::Expr| match it.kind {
            ExprKind::Column(place) => place.checked_sub(input.len()),
            _ => None,
        };
        let (value, column, operator) = match (stored(left), stored(right)) {
            (None, Some(column)) => (left, column, *operator),
            (Some(column), None) => (right, column, operator.mirrored()),
            _ => return Ok(None),
        };
        let mut used = std::collections::BTreeSet::new();
        value.collect_columns(&mut used);
        if used.is_empty() || used.iter().any(|&it| it >= input.len()) {
            return Ok(None);
        }
        let value = Compiled::new(value, input, outside)?;
        // It is asked of all rows, also of those whose key nobody has.
        let able = in_one_order(value.shape(), &table.layout[column]) && !value.is_fallible();
        Ok(able.then_some(Self { value, operator, column, slots }))
    }

    /// Extremes to which nothing has come yet.
    pub(super) fn extremes(&self, scratch: &Scratch) -> SqlResult<Extremes> {
        Extremes::new(self.operator, self.column, self.slots, scratch)
    }
}

/// How many slots the extremes of a table have, when it finds rows by slots that are not too many, and many by each.
fn slots(table: &JoinTable) -> Option<usize> {
    let Finder::Direct(DirectTable { rows: Rows::Runs { starts, .. }, .. }) = &table.finder else {
        return None;
    };
    let slots = starts.len() - 1;
    // A key is met as often as it has rows, where both sides are alike.
    let met: u64 = starts.windows(2).map(|it| u64::from(it[1] - it[0]).pow(2)).sum();
    let crowded = met >= CROWD * u64::from(table.keyed);
    (crowded && slots <= table.keyed as usize * SPREAD + SMALL).then_some(slots)
}

/// Whether two sides of a comparison have words of one order.
fn in_one_order(left: &ColumnShape, right: &ColumnShape) -> bool {
    let (l, r) = (left.data_type.plain(), right.data_type.plain());
    match (&left.representation, &right.representation) {
        (Representation::I64, Representation::I64) => {
            l == r || l.is_numeric() && r.is_numeric() && l.scale() == r.scale()
        }
        (Representation::F64, Representation::F64) => true,
        (Representation::Codes(a), Representation::Codes(b)) => {
            left.is_dictionary() && Arc::ptr_eq(a, b)
        }
        _ => false,
    }
}
