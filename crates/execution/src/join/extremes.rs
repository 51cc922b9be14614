//! Marks by extremes: some partner fulfils `probe.a <> build.a` exactly when the least or the greatest value that came with
//! the key does, and so for `<`, `<=`, `>`, `>=`. Each key keeps these two, no pair is looked at, and a hot key costs no
//! more than others (docs/design/05-sql-and-planning.md, "extremes"). Only where keys repeat: else pairs cost less
//! (Q21).

use plan::{BinaryOperator, ExprKind, Join, JoinKind, PipelineId};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicI64, Ordering};
use types::{SqlResult, Value};

use super::direct::{DirectTable, Rows};
use super::hash::float_bits;
use super::stored::Words;
use super::table::Finder;
use super::{JoinTable, Pairs};
use crate::expression::Compiled;
use crate::{ColumnShape, Layout, Representation, Values, Vector};

/// Slots that a table may have per row, plus [`SMALL`]: beyond them most extremes would be of keys that are not there.
const SPREAD: usize = 4;
/// Slots that a table may have in any case.
const SMALL: usize = 4096;
/// Rows with the same key, as a row meets them on average, from which on two atomic operations cost less than pairs do.
/// With one to three of them (Q21) pairs take a third of the time.
const CROWD: u64 = 16;

/// The least and the greatest value that came with each key, and what is asked of them.
pub(super) struct Extremes {
    /// `value of the probe side <operator> value of the build side`.
    operator: BinaryOperator,
    /// The column of the payload that is compared.
    column: usize,
    /// By slot; the least above the greatest when nothing came.
    ends: Vec<[AtomicI64; 2]>,
}

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
        scalar: &dyn Fn(PipelineId) -> SqlResult<Value>,
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
        let value = Compiled::new(value, input, scalar)?;
        // It is asked of all rows, also of those whose key nobody has.
        let able = in_one_order(value.shape(), &table.layout[column]) && !value.is_fallible();
        Ok(able.then_some(Self { value, operator, column, slots }))
    }

    /// Extremes to which nothing has come yet.
    pub(super) fn extremes(&self) -> Extremes {
        let none = || [AtomicI64::new(i64::MAX), AtomicI64::new(i64::MIN)];
        let ends = (0..self.slots).map(|_| none()).collect();
        Extremes { operator: self.operator, column: self.column, ends }
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
    let (l, r) = (left.data_type, right.data_type);
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

/// A float as a word of the same order: NaN above all, and both zeros one.
pub(super) fn float_word(value: f64) -> i64 {
    let bits = float_bits(value);
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

impl Extremes {
    /// Takes in the values of rows, given with the slots of their keys; NULL fulfils no comparison.
    pub(super) fn take_in(&self, found: &Pairs, values: &Vector) {
        match &values.values {
            Values::I64(it) => self.widen(found, values, |row| it[row]),
            Values::F64(it) => self.widen(found, values, |row| float_word(it[row])),
            Values::Codes(it) => self.widen(found, values, |row| i64::from(it[row])),
            _ => unreachable!("invariant: a vector is held as its shape says"),
        }
    }

    fn widen(&self, found: &Pairs, values: &Vector, word: impl Fn(usize) -> i64) {
        for (&row, &slot) in found.probe.iter().zip(&found.build) {
            if !values.is_valid(row as usize) {
                continue;
            }
            let (it, [least, greatest]) = (word(row as usize), &self.ends[slot as usize]);
            // Looking first keeps the line shared among workers.
            if it < least.load(Ordering::Relaxed) {
                least.fetch_min(it, Ordering::Relaxed);
            }
            if it > greatest.load(Ordering::Relaxed) {
                greatest.fetch_max(it, Ordering::Relaxed);
            }
        }
    }

    /// Whether some value that came with the key of a slot fulfils the comparison with `own`.
    #[inline]
    fn decides(&self, slot: usize, own: i64) -> bool {
        let [least, greatest] = &self.ends[slot];
        let (least, greatest) = (least.load(Ordering::Relaxed), greatest.load(Ordering::Relaxed));
        least <= greatest
            && match self.operator {
                BinaryOperator::Less => least < own,
                BinaryOperator::LessEqual => least <= own,
                BinaryOperator::Greater => greatest > own,
                BinaryOperator::GreaterEqual => greatest >= own,
                _ => least != own || greatest != own,
            }
    }

    /// How many places [`Self::rows_at`] knows: a place per slot, then one per row without a key.
    pub(super) fn places(&self, table: &JoinTable) -> u64 {
        self.ends.len() as u64 + u64::from(table.rows - table.keyed)
    }

    /// Hands each row of a place to `each`, and whether the row has a partner by extremes.
    pub(super) fn rows_at<E>(
        &self,
        table: &JoinTable,
        place: usize,
        mut each: impl FnMut(u32, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(without_key) = place.checked_sub(self.ends.len()) else {
            let Finder::Direct(direct) = &table.finder else { return Ok(()) };
            let own = &table.payload[self.column];
            let words = own.words();
            let partner = |row: u32| {
                own.is_valid(row as usize) && self.decides(place, word_at(words, row as usize))
            };
            return rows_of(direct, place, |row| each(row, partner(row)));
        };
        each(table.keyed + without_key as u32, false)
    }
}

#[inline]
fn word_at(words: Words<'_>, row: usize) -> i64 {
    match words {
        Words::Integers(it) => it[row],
        Words::Floats(it) => float_word(it[row]),
        Words::Codes(it) => i64::from(it[row]),
        Words::None => 0,
    }
}

#[inline]
fn rows_of<E>(
    table: &DirectTable,
    slot: usize,
    mut each: impl FnMut(u32) -> Result<(), E>,
) -> Result<(), E> {
    let Rows::Runs { starts, rows } = &table.rows else {
        unreachable!("invariant: who has extremes has runs, see `slots`");
    };
    let mut run = starts[slot]..starts[slot + 1];
    match rows {
        None => run.try_for_each(each),
        Some(rows) => run.try_for_each(|it| each(rows[it as usize])),
    }
}
