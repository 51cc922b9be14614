//! Expressions over one dictionary column: computed once per entry, then looked up by code
//! (docs/design/04-execution.md, "work on codes").

use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, OnceLock};
use storage::{Column, Encoding};
use types::{DataType, SqlResult};

use super::kernels::{keep_valid, select_rows};
use super::node::{Body, Kernel, Node, select_true};
use crate::{Batch, Bitmap, Layout, Representation, Values, Vector};

/// Dictionaries above this are never computed as a whole.
const ENTRIES_MOST: usize = 1 << 22;
/// Dictionaries up to this are computed for the first batch.
const ENTRIES_AT_ONCE: usize = 4096;

/// The dictionary behind a column of a layout, when a table over its entries can pay.
pub(super) fn dictionary_entries(layout: &Layout, column: usize) -> Option<usize> {
    match &layout.get(column)?.representation {
        Representation::Codes(column) => entries(column).filter(|&it| it <= ENTRIES_MOST),
        _ => None,
    }
}

fn entries(column: &Arc<Column>) -> Option<usize> {
    match &column.encoding {
        Encoding::Dictionary(dictionary) => Some(dictionary.len()),
        _ => None,
    }
}

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

#[derive(Debug)]
struct Table {
    inner: Node,
    column: usize,
    entries: usize,
    /// Rows seen so far. A large table is only computed once as many rows came as it has entries, so that few rows
    /// never pay for many entries.
    seen: AtomicUsize,
    /// `None` inside when an entry, perhaps one that no row has, raises an error: rows are then computed one by one.
    built: OnceLock<Option<Built>>,
}

/// Wraps a node whose only column is `column`, with a dictionary of `entries`.
pub(super) fn per_entry(inner: Node, column: usize, entries: usize) -> Node {
    if !matches!(inner.body, Body::Kernel(_)) || inner.facts.columns != [column] {
        return inner;
    }
    let (shape, facts) = (inner.shape.clone(), inner.facts.clone());
    let (seen, built) = (AtomicUsize::new(0), OnceLock::new());
    Node::new(shape, facts, Table { inner, column, entries, seen, built })
}

impl Table {
    fn built(&self, rows: usize) -> Option<&Built> {
        if let Some(built) = self.built.get() {
            return built.as_ref();
        }
        if self.entries > ENTRIES_AT_ONCE
            && self.seen.fetch_add(rows, Ordering::Relaxed) + rows < self.entries
        {
            return None;
        }
        self.built.get_or_init(|| self.build().ok()).as_ref()
    }

    fn build(&self) -> SqlResult<Built> {
        let rows = self.entries + 1;
        let mut codes: Vec<u32> = (0..self.entries as u32).collect();
        codes.push(0);
        let mut validity = Bitmap::filled(rows, true);
        validity.set(self.entries, false);
        let input = Vector { values: Values::Codes(codes), validity: Some(validity) };
        // Only its own column is read.
        let input = Arc::new(input);
        let columns = (0..=self.column).map(|_| input.clone()).collect();
        let mut results =
            Vector::clone(&*self.inner.evaluate(&Batch { rows, columns, sequence: 0 })?);
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
        Ok(Built { results, entries_known, range, null_holds })
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
