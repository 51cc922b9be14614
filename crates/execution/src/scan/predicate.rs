//! Conditions on the codes of a column (P-HANA 5.2): a value range becomes a code range, any other condition on one
//! column becomes the set of codes for which it holds, decided once per code instead of once per row.

use std::collections::BTreeSet;
use std::ops::Bound;

use bitpack::{Comparison, Operand, bitmap};
use plan::properties::is_volatile;
use plan::{BinaryOperator, Expr, ExprKind, outcomes};
use stdx::sync::Arc;
use storage::{CodeRange, Column, Dictionary, Encoding, Zone};
use types::{DataType, SqlResult, Value};

use crate::expression::Compiled;
use crate::join::KeyFilter;
use crate::scan::decode::{code_batch, code_shape};
use crate::scan::repeated::Marks;
use crate::states::States;

/// Codes up to which a condition is decided per code, unless the table has fewer rows.
const CODES_MAX: usize = 1 << 22;

/// Codes up to which the keys of a hash table become a set of codes (8 MiB) and not only a range.
const CODES_MARKED_MAX: u64 = 1 << 26;

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
        codes: Vec<u64>,
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
    /// A test that another scan of the query makes too.
    Kept {
        /// The test.
        test: Box<CodePredicate>,
        /// The rows that are known to pass.
        marks: Arc<Marks>,
    },
}

impl CodePredicate {
    /// Turns a conjunct into a code predicate if its columns allow. `columns` are those of the scan.
    pub(crate) fn of(
        expr: &Expr,
        columns: &[Arc<Column>],
        states: &States<'_>,
    ) -> SqlResult<Option<Self>> {
        let mut used = BTreeSet::new();
        expr.collect_columns(&mut used);
        let used: Vec<usize> = used.into_iter().collect();
        match used[..] {
            [place] => {
                let column = &columns[place];
                match value_range(expr, column, states)? {
                    Some(range) => Ok(Some(Self::from_range(column, range))),
                    None => match unequal(expr, column, states)? {
                        Some(predicate) => Ok(Some(predicate)),
                        None => Self::code_set(expr, place, column, states),
                    },
                }
            }
            [_, _] => Ok(comparison(expr, columns)),
            _ => Ok(None),
        }
    }

    /// The rows whose key is in a hash table.
    pub fn from_keys(column: &Arc<Column>, keys: &KeyFilter) -> Option<Self> {
        if keys.rows == 0 {
            return Some(Self::Never);
        }
        let base = match &column.encoding {
            Encoding::Offset { min } => *min,
            Encoding::Dictionary(dictionary @ Dictionary::Int(_)) => {
                let mut codes = vec![0u64; bitmap::words_for(dictionary.len())];
                for (code, &key) in dictionary.ints()[..dictionary.len()].iter().enumerate() {
                    if keys.may_contain(key) {
                        bitmap::set(&mut codes, code);
                    }
                }
                return Some(Self::from_set(column, codes));
            }
            _ => return None,
        };
        let values = column.code_count() as u64;
        let to_code = |key: i64| i128::from(key) - i128::from(base);
        let (low, high) = (to_code(keys.min).max(0), to_code(keys.max));
        let high = high.min(i128::from(values) - 1);
        if low > high {
            return Some(Self::Never);
        }
        let (low, high) = (low as usize, high as usize);
        match keys.bitmap {
            Some(words) if values <= CODES_MARKED_MAX => {
                let mut codes = vec![0u64; bitmap::words_for(high + 1)];
                // The filter's first bit stands for its least key; this column's code 0 for its own least value.
                let shift = i128::from(base) - i128::from(keys.min);
                for (index, word) in codes.iter_mut().enumerate() {
                    *word = bits_at(words, shift + index as i128 * 64);
                }
                Some(Self::from_set(column, codes))
            }
            None if values <= CODES_MARKED_MAX && !keys.keys.is_empty() => {
                let mut codes = vec![0u64; bitmap::words_for(high + 1)];
                let inside = low as i128..=high as i128;
                let marked =
                    keys.keys.iter().map(|&it| to_code(it)).filter(|it| inside.contains(it));
                marked.for_each(|code| bitmap::set(&mut codes, code as usize));
                Some(Self::from_set(column, codes))
            }
            _ => Some(Self::from_codes(column, low as u32, high as u32)),
        }
    }

    /// Numbers between two, both included, as they leave a scan; for text, its codes.
    pub(super) fn of_numbers(column: &Arc<Column>, low: i64, high: i64) -> Self {
        Self::from_range(column, column.encode_numbers(low.into(), high.into()))
    }

    fn from_codes(column: &Arc<Column>, low: u32, high: u32) -> Self {
        Self::Range { column: column.clone(), low, high }
    }

    fn from_range(column: &Arc<Column>, range: CodeRange) -> Self {
        let column = column.clone();
        match range {
            CodeRange::None => Self::Never,
            CodeRange::Codes { low, high } => Self::Range { column, low, high },
            CodeRange::Words { low, high } => Self::RawRange { column, low, high },
        }
    }

    /// A set, or a range when its codes stand together.
    fn from_set(column: &Arc<Column>, mut codes: Vec<u64>) -> Self {
        let values = column.code_count();
        codes.resize(bitmap::words_for(values), 0);
        if let Some(last) = codes.last_mut() {
            *last &= bitmap::tail_mask(values);
        }
        let count = bitmap::count(&codes);
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

    fn code_set(
        expr: &Expr,
        place: usize,
        column: &Arc<Column>,
        states: &States<'_>,
    ) -> SqlResult<Option<Self>> {
        let per_code = matches!(column.encoding, Encoding::Offset { .. } | Encoding::Dictionary(_));
        let values = column.code_count();
        // NULL has no code to decide for, what is volatile is decided per row, and deciding must not cost more than
        // reading the rows would.
        if !per_code
            || is_volatile(expr)
            || values > CODES_MAX
            || values * 2 > column.rows().max(64)
            || outcomes::may_be_true(expr, &|it| it == place)
        {
            return Ok(None);
        }
        let mut expr = expr.clone();
        expr.map_columns(&mut |it| if it == place { 0 } else { it });
        let layout = vec![code_shape(column)];
        let condition = Compiled::new(&expr, &layout, &|id| states.scalar(id))?;
        let mut codes = vec![0u64; bitmap::words_for(values)];
        let mut chosen = Vec::new();
        for start in (0..values).step_by(crate::BATCH_ROWS) {
            let end = values.min(start + crate::BATCH_ROWS);
            let batch = code_batch(column, start as u32..end as u32);
            // A value that the column does not hold may raise an error that no row would raise.
            if condition.select(&batch, &mut chosen).is_err() {
                return Ok(None);
            }
            for &row in &chosen {
                bitmap::set(&mut codes, start + row as usize);
            }
        }
        Ok(Some(Self::from_set(column, codes)))
    }

    /// The same test, made with what other scans know, if there are some. Ranges cost less than a bitmap of rows.
    pub(super) fn kept(self, marks: Option<Arc<Marks>>) -> Self {
        match (self, marks) {
            (test @ (Self::Set { .. } | Self::Compare { .. }), Some(marks)) => {
                Self::Kept { test: Box::new(test), marks }
            }
            (test, _) => test,
        }
    }

    /// A guess at the share of rows that pass, to order predicates by.
    pub fn share(&self) -> f64 {
        match self {
            Self::Never => 0.0,
            Self::Range { column, low, high } => {
                f64::from(high - low + 1) / column.code_count().max(1) as f64
            }
            Self::RawRange { .. } => 0.3,
            Self::Set { share, .. } => *share,
            Self::Compare { .. } => 0.5,
            Self::Kept { test, .. } => test.share(),
        }
    }

    /// The share of rows that it drops by what it costs: the order that makes all of them together cheapest. Costs are
    /// those of docs/design/07-measured-costs.md, "packed scans", in scans of a range; a set that no register holds is
    /// fetched from the cache.
    pub fn worth(&self) -> f64 {
        let cost = match self {
            Self::Kept { test, .. } => return test.worth(),
            Self::Never | Self::Range { .. } => 1.0,
            Self::Set { column, .. } if column.bits() <= 12 => 2.0,
            Self::RawRange { .. } | Self::Compare { .. } => 3.0,
            Self::Set { .. } => 10.0,
        };
        (1.0 - self.share()) / cost
    }

    /// The columns it reads.
    pub fn columns(&self) -> Vec<&Arc<Column>> {
        match self {
            Self::Never => vec![],
            Self::Range { column, .. }
            | Self::RawRange { column, .. }
            | Self::Set { column, .. } => {
                vec![column]
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
            Self::Kept { test, .. } => test.kind(),
        }
    }

    /// The columns it reads and how wide their codes are, for profiles.
    pub fn describe(&self) -> String {
        let column = |it: &&Arc<Column>| format!("{} ({} bits)", it.name, it.bits());
        self.columns().iter().map(column).collect::<Vec<_>>().join(", ")
    }

    /// Bytes of `rows` rows in its columns, as packed.
    pub fn bytes(&self, rows: usize) -> u64 {
        let bits = |it: &&Arc<Column>| rows as u64 * u64::from(it.bits());
        self.columns().iter().map(bits).sum::<u64>() / 8
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

/// 64 bits of a bitmap from any bit on; bits outside are zero.
fn bits_at(words: &[u64], bit: i128) -> u64 {
    let word = |index: i128| {
        usize::try_from(index).ok().and_then(|it| words.get(it)).copied().unwrap_or(0)
    };
    let (index, shift) = (bit.div_euclid(64), bit.rem_euclid(64) as u32);
    match shift {
        0 => word(index),
        _ => word(index) >> shift | word(index + 1) << (64 - shift),
    }
}

/// `column op constant`, either way round, as a range of codes.
fn value_range(expr: &Expr, column: &Column, states: &States<'_>) -> SqlResult<Option<CodeRange>> {
    let ExprKind::Binary { operator, left, right } = &expr.kind else { return Ok(None) };
    let (operator, value) = match (&left.kind, &right.kind) {
        (ExprKind::Column(_), _) => (*operator, constant(right, states)?),
        (_, ExprKind::Column(_)) => (operator.mirrored(), constant(left, states)?),
        _ => return Ok(None),
    };
    let Some(value) = value else { return Ok(None) };
    if value.is_null() && operator.is_comparison() {
        return Ok(Some(CodeRange::None));
    }
    let (low, high) = match operator {
        BinaryOperator::Equal => (Bound::Included(&value), Bound::Included(&value)),
        BinaryOperator::Less => (Bound::Unbounded, Bound::Excluded(&value)),
        BinaryOperator::LessEqual => (Bound::Unbounded, Bound::Included(&value)),
        BinaryOperator::Greater => (Bound::Excluded(&value), Bound::Unbounded),
        BinaryOperator::GreaterEqual => (Bound::Included(&value), Bound::Unbounded),
        _ => return Ok(None),
    };
    // The least and the greatest value tell even where there are no codes.
    if column.excludes(low, high) {
        return Ok(Some(CodeRange::None));
    }
    Ok(column.encode_range(low, high))
}

/// Whether a comparison ignores trailing blanks that the texts of a column may have: CHAR compares without them, whichever
/// side it is on, and a CHAR column has none.
pub(super) fn ignores_blanks(constant: DataType, column: DataType) -> bool {
    matches!(constant, DataType::Char(_)) && !matches!(column, DataType::Char(_))
}

/// `column <> constant`, either way round: all codes but those of the constant, without a look at each of them.
fn unequal(
    expr: &Expr,
    column: &Arc<Column>,
    states: &States<'_>,
) -> SqlResult<Option<CodePredicate>> {
    let ExprKind::Binary { operator: BinaryOperator::NotEqual, left, right } = &expr.kind else {
        return Ok(None);
    };
    let other = match (&left.kind, &right.kind) {
        (ExprKind::Column(_), _) => right,
        (_, ExprKind::Column(_)) => left,
        _ => return Ok(None),
    };
    let per_code = matches!(column.encoding, Encoding::Offset { .. } | Encoding::Dictionary(_));
    let values = column.code_count();
    if !per_code || values > CODES_MAX || ignores_blanks(other.data_type, column.data_type) {
        return Ok(None);
    }
    let Some(value) = constant(other, states)?.filter(|it| !it.is_null()) else { return Ok(None) };
    let equal = column.encode_range(Bound::Included(&value), Bound::Included(&value));
    let mut codes = vec![u64::MAX; bitmap::words_for(values)];
    match equal {
        Some(CodeRange::None) => {}
        Some(CodeRange::Codes { low, high }) => {
            (low..=high).for_each(|it| codes[it as usize / 64] &= !(1 << (it % 64)));
        }
        Some(CodeRange::Words { .. }) | None => return Ok(None),
    }
    Ok(Some(CodePredicate::from_set(column, codes)))
}

/// The value of an expression without columns, if it is as simple as that.
pub(super) fn constant(expr: &Expr, states: &States<'_>) -> SqlResult<Option<Value>> {
    Ok(match &expr.kind {
        ExprKind::Literal(value) => Some(value.clone()),
        ExprKind::Scalar(id) => states.known_scalar(*id)?,
        _ => None,
    })
}

/// `column op column` on two offset-encoded columns of one scale.
fn comparison(expr: &Expr, columns: &[Arc<Column>]) -> Option<CodePredicate> {
    let ExprKind::Binary { operator, left, right } = &expr.kind else { return None };
    let comparison = match operator {
        BinaryOperator::Equal => Comparison::Equal,
        BinaryOperator::NotEqual => Comparison::NotEqual,
        BinaryOperator::Less => Comparison::Less,
        BinaryOperator::LessEqual => Comparison::LessOrEqual,
        BinaryOperator::Greater => Comparison::Greater,
        BinaryOperator::GreaterEqual => Comparison::GreaterOrEqual,
        _ => return None,
    };
    let (ExprKind::Column(a), ExprKind::Column(b)) = (&left.kind, &right.kind) else { return None };
    let usable =
        |it: &Column| matches!(it.encoding, Encoding::Offset { .. }) && it.statistics.nulls == 0;
    let (a, b) = (&columns[*a], &columns[*b]);
    let one_scale = left.data_type.scale() == right.data_type.scale();
    (usable(a) && usable(b) && one_scale).then(|| CodePredicate::Compare {
        left: a.clone(),
        comparison,
        right: b.clone(),
    })
}
