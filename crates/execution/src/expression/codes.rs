//! Expressions over one dictionary column: computed once per entry, then looked up by code
//! (docs/design/04-execution.md, "work on codes").

use stdx::sync::OnceLock;
use stdx::sync::atomic::{AtomicUsize, Ordering};
use types::{DataType, SqlResult};

use super::derived;
use super::entries::{Coded, of_entries};
use super::kernels::{keep_valid, select_rows};
use super::node::{Body, Kernel, Node, select_true};
use crate::{Batch, Bitmap, Values, Vector};

/// Dictionaries up to this are computed for the first batch.
const ENTRIES_AT_ONCE: usize = 4096;

/// Entries that one worker computes at a time.
const ENTRIES_OF_PART: usize = 1 << 14;

/// The results for all entries, and one more: for NULL.
#[derive(Debug)]
struct Built {
    results: Vector,
    /// Whether no entry gives NULL; NULL itself may.
    entries_known: bool,
    /// Of a condition: the entries for which it is TRUE, as a range when they are one.
    range: Option<(u32, u32)>,
    /// Of a condition: whether it is TRUE for NULL.
    null_holds: bool,
}

/// The results for entries beside one another; the last part has NULL behind them. `None` inside when an entry, perhaps one
/// that no row has, raises an error.
type Part = OnceLock<Option<Vector>>;

#[derive(Debug)]
struct Table {
    inner: Node,
    column: usize,
    entries: usize,
    /// Rows seen so far, or expected. A large table is only computed where they are as many as it has entries, so that few rows
    /// never pay for many entries.
    seen: AtomicUsize,
    /// The parts of the table. Each worker that has need of it takes the next one; who finds none left goes on row by row, and
    /// nobody waits.
    parts: Box<[Part]>,
    taken: AtomicUsize,
    finished: AtomicUsize,
    /// `None` inside when there is no table: rows are then computed one by one.
    built: OnceLock<Option<Built>>,
}

/// Wraps a node whose only column is a dictionary's; it is expected to be computed for `expected` rows.
pub(super) fn per_entry(inner: Node, of: &Coded, expected: f64) -> Node {
    let (column, entries) = (of.place, of.entries);
    if !matches!(inner.body, Body::Kernel(_)) || inner.facts.columns != [column] {
        return inner;
    }
    if entries <= ENTRIES_AT_ONCE
        && expected >= entries as f64
        && let Some(derived) = derived::texts(&inner, of)
    {
        return derived;
    }
    let (shape, facts) = (inner.shape.clone(), inner.facts.clone());
    let parts = (entries + 1).div_ceil(ENTRIES_OF_PART);
    let table = Table {
        inner,
        column,
        entries,
        seen: AtomicUsize::new(if expected >= entries as f64 { entries } else { 0 }),
        parts: (0..parts).map(|_| Part::new()).collect(),
        taken: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        built: OnceLock::new(),
    };
    Node::new(shape, facts, table)
}

impl Table {
    /// The table, if it is there or this call finishes it.
    fn built(&self, rows: usize) -> Option<&Built> {
        if let Some(built) = self.built.get() {
            return built.as_ref();
        }
        if self.entries > ENTRIES_AT_ONCE
            && self.seen.fetch_add(rows, Ordering::Relaxed) + rows < self.entries
        {
            return None;
        }
        self.compute_parts();
        self.built.get()?.as_ref()
    }

    /// Computes parts until none is left. Who finishes the last one makes them the table.
    fn compute_parts(&self) {
        loop {
            let place = self.taken.fetch_add(1, Ordering::Relaxed);
            let Some(part) = self.parts.get(place) else {
                // The count must not come round.
                self.taken.store(self.parts.len(), Ordering::Relaxed);
                return;
            };
            part.get_or_init(|| self.part(place).ok());
            if self.finished.fetch_add(1, Ordering::AcqRel) + 1 == self.parts.len() {
                self.built.get_or_init(|| self.of_parts());
            }
        }
    }

    fn part(&self, place: usize) -> SqlResult<Vector> {
        let begin = place * ENTRIES_OF_PART;
        let end = (begin + ENTRIES_OF_PART).min(self.entries + 1);
        of_entries(&self.inner, self.column, begin..end, self.entries).map(|it| Vector::clone(&it))
    }

    fn of_parts(&self) -> Option<Built> {
        let parts: Option<Vec<&Vector>> =
            self.parts.iter().map(|it| it.get().and_then(Option::as_ref)).collect();
        let mut results = Vector::concatenated(&parts?)?;
        let (mut range, mut null_holds) = (None, false);
        if self.inner.shape.data_type == DataType::Boolean {
            let mut holding = Vec::new();
            select_true(&results, &mut holding);
            null_holds = holding.last() == Some(&(self.entries as u32));
            if null_holds {
                holding.pop();
            }
            range = match (holding.first(), holding.last()) {
                (Some(&first), Some(&last)) if (last - first) as usize + 1 == holding.len() => {
                    Some((first, last))
                }
                _ => None,
            };
        }
        let known = |it: &Bitmap| it.count(self.entries) == self.entries;
        let entries_known = results.validity.as_ref().is_none_or(known);
        if entries_known && results.is_valid(self.entries) {
            results.validity = None;
        }
        Some(Built { results, entries_known, range, null_holds })
    }

    fn codes<'a>(&self, batch: &'a Batch) -> (&'a [u32], Option<&'a Bitmap>) {
        let vector = &batch.columns[self.column];
        let Values::Codes(codes) = &vector.values else {
            unreachable!("invariant: a dictionary column travels as codes");
        };
        (codes, vector.validity.as_ref())
    }
}

impl Kernel for Table {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let Some(built) = self.built(batch.rows) else {
            return Ok(Vector::clone(&*self.inner.evaluate(batch)?));
        };
        let (codes, validity) = self.codes(batch);
        let Some(map) = validity else {
            let mut found = built.results.take(codes);
            if built.entries_known {
                found.validity = None;
            }
            return Ok(found);
        };
        let null = self.entries as u32;
        let place = |(row, &code)| if map.get(row) { code } else { null };
        let places: Vec<u32> = codes.iter().enumerate().map(place).collect();
        Ok(built.results.take(&places))
    }

    fn select(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        let Some(built) = self.built(batch.rows) else { return self.inner.select(batch, rows) };
        let (codes, validity) = self.codes(batch);
        let codes = &codes[..batch.rows];
        if built.null_holds && validity.is_some() {
            select_true(&self.evaluate(batch)?, rows);
            return Ok(());
        }
        if let Some((first, last)) = built.range {
            select_rows(codes.len(), rows, |row| codes[row].wrapping_sub(first) <= last - first);
            keep_valid(validity, rows);
            return Ok(());
        }
        let Values::Bool(holds) = &built.results.values else {
            unreachable!("invariant: a condition is held as Bool");
        };
        match built.results.validity.as_ref().filter(|_| !built.entries_known) {
            None => select_rows(codes.len(), rows, |row| holds[codes[row] as usize]),
            Some(known) => select_rows(codes.len(), rows, |row| {
                let code = codes[row] as usize;
                holds[code] && known.get(code)
            }),
        }
        keep_valid(validity, rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use plan::{Expr, ExprKind, Function};
    use stdx::sync::Arc;

    use super::*;
    use crate::expression::Compiled;
    use crate::scan::decode::shape;
    use crate::testing::{NoOutside, stored, text};

    /// More than two parts.
    const ENTRIES: usize = 2 * ENTRIES_OF_PART + 100;

    /// Of many texts, by several workers: each batch at its time, with or without the table, has the same values.
    #[test]
    fn workers_make_a_table_together_and_go_on_without_it() {
        // Twice each, so that there is a dictionary, in its order.
        let texts: Vec<String> =
            (0..ENTRIES).map(|it| format!("{it:06}{}", "\u{e9}".repeat(it % 90))).collect();
        let values = texts.iter().chain(&texts).map(text).collect();
        let table = stored(&[(DataType::Text, values)], 65_536);
        let layout = vec![shape(&table.parts()[0].columns[0])];
        assert!(Coded::of(&layout, 0).is_some_and(|it| it.entries > ENTRIES_AT_ONCE));
        let arguments = vec![Expr::column(0, DataType::Text)];
        let kind = ExprKind::Call { function: Function::CharacterLength, arguments };
        let expr = Expr { kind, data_type: DataType::Integer };
        let compiled = Compiled::new(&expr, &layout, &NoOutside).unwrap();
        let one_by_one: Vec<i64> = texts.iter().map(|it| it.chars().count() as i64).collect();
        let work = |seed: usize| {
            for turn in 0..30 {
                let codes: Vec<u32> =
                    (0..4096).map(|it| ((it * 7919 + turn * 31 + seed) % ENTRIES) as u32).collect();
                let expected: Vec<i64> = codes.iter().map(|it| one_by_one[*it as usize]).collect();
                let columns = vec![Arc::new(Vector::new(Values::Codes(codes)))];
                let batch = Batch { rows: 4096, columns, sequence: 0 };
                let found = compiled.evaluate(&batch).unwrap();
                assert_eq!(found.values, Values::I64(expected), "{turn}");
            }
        };
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let work = &work;
                scope.spawn(move || work(seed));
            }
        });
    }

    #[test]
    fn parts_become_one_vector() {
        let of = |values: &[i64], valid: Option<&[bool]>| Vector {
            values: Values::I64(values.to_vec()),
            validity: valid.map(|it| Bitmap::from_bits(it.iter().copied())),
        };
        let (one, other) = (of(&[1, 2], None), of(&[3, 0], Some(&[true, false])));
        let found = Vector::concatenated(&[&one, &other]).unwrap();
        assert_eq!(found.values, Values::I64(vec![1, 2, 3, 0]));
        let valid: Vec<bool> = (0..4).map(|row| found.is_valid(row)).collect();
        assert_eq!(valid, [true, true, true, false]);
        assert!(Vector::concatenated(&[&one, &one]).unwrap().validity.is_none());
        let texts = |it: &[&str]| {
            let mut all = crate::TextVector::default();
            it.iter().for_each(|it| all.push(it));
            Vector::new(Values::Text(all))
        };
        let found = Vector::concatenated(&[&texts(&["a", ""]), &texts(&["bc"])]).unwrap();
        assert_eq!(found.values, texts(&["a", "", "bc"]).values);
    }
}
