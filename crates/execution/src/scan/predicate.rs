//! Conditions on the codes of a column (P-HANA 5.2): ranges and sets of codes, tested on packed codes and on zones.
//! How they are made of SQL conditions is in `predicate_of`.

use std::ops::Deref;

use bitpack::{Comparison, Operand, bitmap};
use memory::Placed;
use stdx::sync::Arc;
use storage::{CodeRange, Column, Deletions, Encoding, Zone};

use crate::WorkContext;
use crate::lookups::Lookup;
use crate::scan::marks::Marks;
use crate::traffic::{Item, Place};

/// A bit for each code of a column.
pub enum CodeBits {
    /// From the heap.
    Few(Vec<u64>),
    /// In memory of the query, as many workers made them.
    Many(Placed<u64>),
}

impl Deref for CodeBits {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match self {
            Self::Few(it) => it,
            Self::Many(it) => it,
        }
    }
}

/// A condition on the codes of one or two columns of a table.
pub enum CodePredicate {
    /// No row passes.
    Never,
    /// Codes from `low` to `high`, both included.
    Range {
        /// The column.
        column: Arc<Column>,
        /// Least code.
        low: u32,
        /// Greatest code.
        high: u32,
    },
    /// Words from `low` to `high` of a raw column.
    RawRange {
        /// The column.
        column: Arc<Column>,
        /// Least word.
        low: u64,
        /// Greatest word.
        high: u64,
    },
    /// Codes whose bit is set.
    Set {
        /// The column.
        column: Arc<Column>,
        /// A bit per code.
        codes: CodeBits,
        /// Least code with its bit set.
        low: u32,
        /// Greatest code with its bit set.
        high: u32,
        /// Share of the codes whose bit is set.
        share: f64,
    },
    /// One column against another, both offset-encoded and without NULL.
    Compare {
        /// Left column.
        left: Arc<Column>,
        /// The comparison.
        comparison: Comparison,
        /// Right column.
        right: Arc<Column>,
    },
    /// Rows that are NULL, or those that are not.
    Null {
        /// The column, which may hold NULL.
        column: Arc<Column>,
        /// Whether it is NULL that passes.
        passes: bool,
    },
    /// Rows that pass one of some tests.
    Either(Vec<CodePredicate>),
    /// Rows that pass all of some tests, which are one of those of [`Self::Either`].
    Every(Vec<CodePredicate>),
    /// Rows that have not gone.
    Live(Arc<Deletions>),
    /// A test that another scan of the query makes too, or that is made before the scan.
    Kept {
        /// The test.
        test: Box<CodePredicate>,
        /// The rows that are known to pass.
        marks: Arc<Marks>,
    },
}

impl CodePredicate {
    /// Numbers between two, both included, as they leave a scan; for text, its codes.
    pub(super) fn of_numbers(column: &Arc<Column>, low: i64, high: i64) -> Self {
        Self::from_range(column, column.encode_numbers(low.into(), high.into()))
    }

    /// Codes between two, both included.
    pub(super) fn from_codes(column: &Arc<Column>, low: u32, high: u32) -> Self {
        Self::Range { column: column.clone(), low, high }
    }

    /// A range, as a column encodes it.
    pub(super) fn from_range(column: &Arc<Column>, range: CodeRange) -> Self {
        let column = column.clone();
        match range {
            CodeRange::None => Self::Never,
            CodeRange::Codes { low, high } => Self::Range { column, low, high },
            CodeRange::Words { low, high } => Self::RawRange { column, low, high },
        }
    }

    /// A set, or a range when its codes stand together.
    pub(super) fn from_set(column: &Arc<Column>, mut codes: Vec<u64>) -> Self {
        let values = column.code_count();
        codes.resize(bitmap::words_for(values), 0);
        if let Some(last) = codes.last_mut() {
            *last &= bitmap::tail_mask(values);
        }
        let count = bitmap::count(&codes);
        Self::from_bits(column, CodeBits::Few(codes), count)
    }

    /// As [`Self::from_set`], of so many codes; a bit for each that there may be.
    pub(super) fn from_bits(column: &Arc<Column>, codes: CodeBits, count: usize) -> Self {
        let values = column.code_count();
        let Some(low) = bitmap::iter(&codes).next() else { return Self::Never };
        let last_word = codes.iter().rposition(|&it| it != 0).unwrap_or(0);
        let high = last_word * 64 + 63 - codes[last_word].leading_zeros() as usize;
        let (low, high) = (low as u32, high as u32);
        if (high - low) as usize + 1 == count {
            return Self::from_codes(column, low, high);
        }
        let share = count as f64 / values.max(1) as f64;
        Self::Set { column: column.clone(), codes, low, high, share }
    }

    /// The same test, made with what other scans know, if there are some. Ranges cost less than a bitmap of rows.
    pub(super) fn kept(self, marks: Option<Arc<Marks>>) -> Self {
        match (self, marks) {
            (test @ (Self::Set { .. } | Self::Compare { .. } | Self::Either(_)), Some(marks)) => {
                Self::Kept { test: Box::new(test), marks }
            }
            (test, _) => test,
        }
    }

    /// The same test, made before the scan.
    pub(super) fn made_ahead(self, marks: Arc<Marks>) -> Self {
        Self::Kept { test: Box::new(self), marks }
    }

    /// What was found before the scan, if the test is made then.
    pub(super) fn ahead(&self) -> Option<&Marks> {
        match self {
            Self::Kept { marks, .. } if marks.is_ahead() => Some(marks),
            _ => None,
        }
    }

    /// A guess at the share of rows that pass, to order predicates by.
    pub fn share(&self) -> f64 {
        match self {
            Self::Never => 0.0,
            Self::Range { column, low, high } => {
                (f64::from(high - low) + 1.0) / column.code_count().max(1) as f64
            }
            Self::RawRange { .. } => 0.3,
            Self::Set { share, .. } => *share,
            Self::Compare { .. } => 0.5,
            Self::Null { column, passes } => {
                let nulls = column.statistics.nulls as f64 / column.rows().max(1) as f64;
                if *passes { nulls } else { 1.0 - nulls }
            }
            Self::Either(tests) => 1.0 - tests.iter().map(|it| 1.0 - it.share()).product::<f64>(),
            Self::Every(tests) => tests.iter().map(Self::share).product(),
            // Hardly any has.
            Self::Live(_) => 1.0,
            Self::Kept { test, .. } => test.share(),
        }
    }

    /// The share of rows that it drops by what it costs: the order that makes all of them together cheapest. Costs are
    /// those of docs/design/07-measured-costs.md, "packed scans", in scans of a range; a set that no register holds is
    /// fetched from the cache.
    pub fn worth(&self) -> f64 {
        (1.0 - self.share()) / self.cost()
    }

    fn cost(&self) -> f64 {
        match self {
            Self::Kept { test, .. } => test.cost(),
            Self::Never | Self::Range { .. } | Self::Null { .. } | Self::Live(_) => 1.0,
            Self::Set { column, .. } if column.bits() <= 12 => 2.0,
            Self::RawRange { .. } | Self::Compare { .. } => 3.0,
            Self::Set { .. } => 10.0,
            Self::Either(tests) | Self::Every(tests) => tests.iter().map(Self::cost).sum(),
        }
    }

    /// The columns it reads.
    pub fn columns(&self) -> Vec<&Arc<Column>> {
        match self {
            Self::Never | Self::Live(_) => vec![],
            Self::Range { column, .. }
            | Self::RawRange { column, .. }
            | Self::Set { column, .. }
            | Self::Null { column, .. } => {
                vec![column]
            }
            Self::Either(tests) | Self::Every(tests) => {
                let mut columns: Vec<&Arc<Column>> = Vec::new();
                for column in tests.iter().flat_map(Self::columns) {
                    if columns.iter().all(|it| !Arc::ptr_eq(it, column)) {
                        columns.push(column);
                    }
                }
                columns
            }
            Self::Compare { left, right, .. } => vec![left, right],
            Self::Kept { test, .. } => test.columns(),
        }
    }

    /// What it is, in a word for profiles.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Range { .. } => "range",
            Self::RawRange { .. } => "raw range",
            Self::Set { .. } => "set",
            Self::Compare { .. } => "compare",
            Self::Null { .. } => "null",
            Self::Either(_) => "either",
            Self::Every(_) => "every",
            Self::Live(_) => "not deleted",
            Self::Kept { test, .. } => test.kind(),
        }
    }

    /// The columns it reads and how wide their codes are, for profiles.
    pub fn describe(&self) -> String {
        let column = |it: &&Arc<Column>| format!("{} ({} bits)", it.name, it.bits());
        let ahead = if self.ahead().is_some() { ", ahead" } else { "" };
        self.columns().iter().map(column).collect::<Vec<_>>().join(", ") + ahead
    }

    /// Bytes of `rows` rows in its columns, as packed.
    pub fn bytes(&self, rows: usize) -> u64 {
        let bits = |it: &&Arc<Column>| rows as u64 * u64::from(it.bits());
        self.columns().iter().map(bits).sum::<u64>() / 8
    }

    /// Counts what a test of so many rows reads or writes of bitmaps: of rows, where they are kept, and of codes, where those are
    /// more than a cache holds.
    pub(super) fn count_bitmaps(&self, rows: usize, context: &WorkContext) {
        match self {
            Self::Kept { .. } => {
                context.touch(Item::Bitmaps, Place::Dealt, rows.div_ceil(8) as u64)
            }
            Self::Set { codes, .. } => {
                Lookup::dealt(codes.len() as u64 * 8).count(Item::Bitmaps, rows, context);
            }
            Self::Either(tests) | Self::Every(tests) => {
                tests.iter().for_each(|it| it.count_bitmaps(rows, context));
            }
            _ => {}
        }
    }

    /// What a block's zone says: `Some(false)` no row passes, `Some(true)` every row does.
    pub fn by_zone(&self, block: usize) -> Option<bool> {
        let (column, low, high, dense) = match self {
            Self::Never => return Some(false),
            Self::Range { column, low, high } => (column, *low, *high, true),
            Self::Set { column, low, high, .. } => (column, *low, *high, false),
            Self::RawRange { column, low, high } => {
                let (least, greatest) = column.sorted_words(block)?;
                return match greatest < *low || least > *high {
                    true => Some(false),
                    false => (least >= *low && greatest <= *high).then_some(true),
                };
            }
            Self::Compare { .. } => return None,
            Self::Null { column, passes } => {
                let zone: Zone = column.zones.get(block)?;
                let known = zone.nulls == 0 || zone.is_all_null();
                return known.then_some((zone.nulls > 0) == *passes);
            }
            Self::Either(tests) => return among(tests, block, true),
            Self::Every(tests) => return among(tests, block, false),
            Self::Live(gone) => return (!gone.touches(block)).then_some(true),
            Self::Kept { test, .. } => return test.by_zone(block),
        };
        let zone: Zone = column.zones.get(block)?;
        if zone.is_all_null() || zone.max_code < low || zone.min_code > high {
            Some(false)
        } else if dense && zone.nulls == 0 && zone.min_code >= low && zone.max_code <= high {
            Some(true)
        } else {
            None
        }
    }

    /// Sets (or, with `and`, keeps) the bits of the rows that pass.
    pub fn scan(&self, start: usize, rows: usize, out: &mut [u64], and: bool) {
        match self {
            Self::Never => out.fill(0),
            Self::Live(gone) => {
                if !and {
                    bitmap::fill(out, rows);
                }
                gone.clear(start, out);
            }
            Self::Kept { test, marks } => {
                let words = bitmap::words_for(rows);
                if !marks.load(start, rows, &mut out[..words], and) {
                    test.scan(start, rows, out, and);
                    // With others before it, the test was not made of all rows.
                    if !and {
                        marks.store(start, rows, &out[..words]);
                    }
                }
            }
            Self::Range { column, low, high } => {
                let (packed, bits) = (column.packed(), column.bits());
                if and {
                    bitpack::scan_range_and(packed, bits, start, rows, *low, *high, out);
                } else {
                    bitpack::scan_range(packed, bits, start, rows, *low, *high, out);
                }
            }
            Self::RawRange { column, low, high } => {
                bitpack::scan_range_u64(column.packed(), start, rows, *low, *high, out, and);
                column.clear_nulls(start, rows, out);
            }
            Self::Set { column, codes, .. } => {
                bitpack::scan_set(column.packed(), column.bits(), start, rows, codes, out, and);
            }
            Self::Null { column, passes } => scan_nulls(column, *passes, (start, rows), out, and),
            Self::Either(tests) => {
                let words = bitmap::words_for(rows);
                let (mut all, mut one) = (vec![0; words], vec![0; words]);
                for test in tests {
                    test.scan(start, rows, &mut one, false);
                    bitmap::or(&mut all, &one);
                }
                if and {
                    bitmap::and(&mut out[..words], &all);
                } else {
                    out[..words].copy_from_slice(&all);
                }
            }
            Self::Every(tests) => {
                for (place, test) in tests.iter().enumerate() {
                    test.scan(start, rows, out, and || place > 0);
                }
            }
            Self::Compare { left, comparison, right } => {
                let operand = |it: &'_ Column| -> (u32, i64) {
                    match it.encoding {
                        Encoding::Offset { min } => (it.bits(), min),
                        _ => unreachable!("invariant: only offset columns are compared"),
                    }
                };
                let ((left_bits, left_base), (right_bits, right_base)) =
                    (operand(left), operand(right));
                let left =
                    Operand { packed: left.packed(), bits: left_bits, start, base: left_base };
                let right =
                    Operand { packed: right.packed(), bits: right_bits, start, base: right_base };
                bitpack::scan_compare(left, *comparison, right, rows, out, and);
            }
        }
    }
}

/// What a block's zones say of several tests: if one of them `decides`, of all; else only if none leaves it open.
fn among(tests: &[CodePredicate], block: usize, decides: bool) -> Option<bool> {
    let mut known = true;
    for test in tests {
        match test.by_zone(block) {
            Some(it) if it == decides => return Some(decides),
            Some(_) => {}
            None => known = false,
        }
    }
    known.then_some(!decides)
}

/// The rows of a column that hold NULL, or those that do not.
fn scan_nulls(
    column: &Column,
    passes: bool,
    (start, rows): (usize, usize),
    out: &mut [u64],
    and: bool,
) {
    let (iv, low, high) = match (column.null_rows(), column.null_code()) {
        (Some(marks), _) => (marks, u32::from(passes), u32::from(passes)),
        (None, Some(null)) if passes => (column.iv(), null, null),
        // No value has a code below none.
        (None, Some(0)) => return out.fill(0),
        (None, Some(null)) => (column.iv(), 0, null - 1),
        (None, None) => unreachable!("invariant: only columns that may hold NULL are asked for it"),
    };
    let (packed, bits) = (iv.packed(), iv.bits());
    if and {
        bitpack::scan_range_and(packed, bits, start, rows, low, high, out);
    } else {
        bitpack::scan_range(packed, bits, start, rows, low, high, out);
    }
}
