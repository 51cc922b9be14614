//! From conditions to predicates on codes: a value range becomes a code range, any other condition on one column becomes
//! the set of codes for which it holds, decided once per code instead of once per row; and so do the keys of a hash table.

use std::collections::BTreeSet;
use std::ops::Bound;

use bitpack::{Comparison, bitmap};
use plan::properties::is_volatile;
use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator, outcomes};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicBool, Ordering};
use storage::{CodeRange, Column, Dictionary, Encoding};
use types::{DataType, SqlResult, Value};

use super::decode::{code_batch, code_shape};
use super::predicate::{CodeBits, CodePredicate};
use crate::expression::Compiled;
use crate::join::KeyFilter;
use crate::pieces::{Pieces, piece_rows, unspecified};
use crate::states::States;
use crate::team::QueryTeam;
use crate::{BATCH_ROWS, Team};

/// Codes up to which a condition is decided per code, unless the table has fewer rows.
const CODES_MAX: usize = 1 << 22;

/// Conditions beside one another up to which they are tested on codes.
const COMBINED_MAX: usize = 8;

/// Codes up to which the keys of a hash table become a set of codes (8 MiB) and not only a range.
const CODES_MARKED_MAX: u64 = 1 << 26;

/// Codes from which on the set of those that a hash table has is made by all workers (2 MiB of bits): fewer take less than
/// waking them, which cost 3 % of TPC-H Q4 at scale 1, of 6 million codes.
const SHARED_CODES_MIN: usize = 1 << 24;

/// Bytes of texts from which on the entries of a dictionary are long: to look for a word in all of them takes a worker 0.1 ms
/// and more.
const LONG_BYTES: u64 = 1 << 20;

/// Pieces of a long dictionary for each worker, so that none waits long for the last.
const PIECES_OF_WORKER: usize = 4;

/// Codes from which on it is made in memory of the query, in one look at the table's (32 KiB of bits).
const PLACED_CODES_MIN: usize = 1 << 18;

/// What conditions are made with: what was built before, and who decides for many codes, if that is to be several.
pub(crate) type MadeWith<'a> = (&'a States<'a>, Option<&'a dyn Fn() -> QueryTeam>);

/// Whether a look at all values of a column takes long.
pub(super) fn is_long(column: &Column) -> bool {
    match &column.encoding {
        Encoding::Dictionary(Dictionary::Text(texts)) => texts.memory_bytes() >= LONG_BYTES,
        _ => false,
    }
}

impl CodePredicate {
    /// Turns a conjunct into a code predicate if its columns allow. `columns` are those of the scan; a `team` decides long sets of
    /// codes, if there is one.
    pub(crate) fn of(
        expr: &Expr,
        columns: &[Arc<Column>],
        (states, team): MadeWith<'_>,
    ) -> SqlResult<Option<Self>> {
        let mut used = BTreeSet::new();
        expr.collect_columns(&mut used);
        let used: Vec<usize> = used.into_iter().collect();
        let found = match used[..] {
            [place] => match Self::simple(expr, &columns[place], states)? {
                None => Self::code_set(expr, place, &columns[place], (states, team))?,
                found => found,
            },
            [_, _] => comparison(expr, columns),
            _ => None,
        };
        match found {
            None => Self::combined(expr, columns, (states, team)),
            found => Ok(found),
        }
    }

    /// A condition on one column that takes no look at each of its codes.
    pub(super) fn simple(
        expr: &Expr,
        column: &Arc<Column>,
        states: &States<'_>,
    ) -> SqlResult<Option<Self>> {
        Ok(match value_range(expr, column, states)? {
            Some(range) => Some(Self::from_range(column, range)),
            None => unequal(expr, column, states)?.or_else(|| nulls(expr, column)),
        })
    }

    /// An OR, or an AND below one, of conditions that all are tests of codes: it is TRUE where one of them, or all, are.
    fn combined(
        expr: &Expr,
        columns: &[Arc<Column>],
        made_with: MadeWith<'_>,
    ) -> SqlResult<Option<Self>> {
        let ExprKind::Binary { operator, .. } = &expr.kind else { return Ok(None) };
        let operator = *operator;
        if !matches!(operator, BinaryOperator::Or | BinaryOperator::And) {
            return Ok(None);
        }
        let (mut open, mut tests) = (vec![expr], Vec::new());
        while let Some(next) = open.pop() {
            match &next.kind {
                ExprKind::Binary { operator: own, left, right } if *own == operator => {
                    open.extend([&**right, &**left]);
                }
                // Some more looks at rows that are there anyway cost less than a look at their values.
                _ if tests.len() == COMBINED_MAX => return Ok(None),
                _ => match Self::of(next, columns, made_with)? {
                    Some(test) => tests.push(test),
                    None => return Ok(None),
                },
            }
        }
        if operator == BinaryOperator::And {
            let never = tests.iter().any(|it| matches!(it, Self::Never));
            return Ok(Some(if never { Self::Never } else { Self::Every(tests) }));
        }
        tests.retain(|it| !matches!(it, Self::Never));
        Ok(Some(match tests.len() {
            0 => Self::Never,
            1 => tests.remove(0),
            _ => Self::Either(tests),
        }))
    }

    fn code_set(
        expr: &Expr,
        place: usize,
        column: &Arc<Column>,
        (states, team): MadeWith<'_>,
    ) -> SqlResult<Option<Self>> {
        let values = column.code_count();
        // NULL has no code to decide for, what is volatile is decided per row, and deciding must not cost more than
        // reading the rows would.
        if !has_code_per_value(column)
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
        let condition = Compiled::new(&expr, &layout, states)?;
        let mut codes = vec![0u64; bitmap::words_for(values)];
        // A value that the column does not hold may raise an error that no row would raise.
        let decided = match team.filter(|_| is_long(column)) {
            Some(team) => decide_by(&team(), &condition, column, &mut codes)?,
            None => decide(&condition, column, 0, &mut codes).is_ok(),
        };
        if !decided {
            return Ok(None);
        }
        Ok(Some(Self::from_set(column, codes)))
    }

    /// The rows whose key is in one of some hash tables; a `team` makes a large set of codes, if there is one.
    pub(super) fn from_keys(
        column: &Arc<Column>,
        tables: &[KeyFilter<'_>],
        team: Option<&dyn Fn() -> QueryTeam>,
    ) -> SqlResult<Option<Self>> {
        let filled: Vec<&KeyFilter<'_>> = tables.iter().filter(|it| it.rows > 0).collect();
        if let ([only], Encoding::Offset { min }, Some(team)) =
            (&filled[..], &column.encoding, team)
            && let Some(words) = only.bitmap
            && (PLACED_CODES_MIN..=CODES_MARKED_MAX as usize).contains(&column.code_count())
        {
            let from = i128::from(*min) - i128::from(only.min);
            return Self::from_bitmap(column, (words, from), &team()).map(Some);
        }
        Ok(Self::from_few_keys(column, &filled))
    }

    /// The codes whose bit is set in the bitmap of a table, in which that of code 0 has a place, be it before its first.
    fn from_bitmap(
        column: &Arc<Column>,
        (words, from): (&[u64], i128),
        team: &QueryTeam,
    ) -> SqlResult<Self> {
        let values = column.code_count();
        let mut codes = unspecified(bitmap::words_for(values), team)?;
        let piece = match values < SHARED_CODES_MIN {
            true => codes.len(),
            false => piece_rows(codes.len(), team.width() * 2),
        };
        let mut counts = vec![0; codes.len().div_ceil(piece)];
        let mut pieces = Pieces::new();
        for ((index, out), count) in codes.chunks_mut(piece).enumerate().zip(&mut counts) {
            let start = index * piece;
            let holds_last = start + out.len() == bitmap::words_for(values);
            pieces.add(out.len(), move || {
                shift_bits(words, from + start as i128 * 64, out);
                if let Some(last) = out.last_mut().filter(|_| holds_last) {
                    *last &= bitmap::tail_mask(values);
                }
                *count = bitmap::count(out);
            });
        }
        pieces.run(team)?;
        let count = counts.into_iter().sum();
        Ok(Self::from_bits(column, CodeBits::Many(codes), count))
    }

    /// As [`Self::from_keys`], of tables with rows.
    fn from_few_keys(column: &Arc<Column>, filled: &[&KeyFilter<'_>]) -> Option<Self> {
        if filled.is_empty() {
            return Some(Self::Never);
        }
        let filled = || filled.iter().copied();
        let base = match &column.encoding {
            Encoding::Offset { min } => *min,
            Encoding::Dictionary(dictionary @ Dictionary::Int(_)) => {
                let mut codes = vec![0u64; bitmap::words_for(dictionary.len())];
                for (code, &key) in dictionary.ints()[..dictionary.len()].iter().enumerate() {
                    if filled().any(|it| it.is_searched() && it.may_contain(key)) {
                        bitmap::set(&mut codes, code);
                    }
                }
                for keys in filled().filter(|it| !it.is_searched()).map(|it| it.keys) {
                    let ints = &dictionary.ints()[..dictionary.len()];
                    let found = keys.iter().filter_map(|it| ints.binary_search(it).ok());
                    found.for_each(|code| bitmap::set(&mut codes, code));
                }
                return Some(Self::from_set(column, codes));
            }
            _ => return None,
        };
        let found: Vec<KeyCodes> =
            filled().map(|it| KeyCodes::of(it, base, column.code_count())).collect();
        Some(KeyCodes::united(found).map_or(Self::Never, |it| match it.set {
            Some(codes) => Self::from_set(column, codes),
            None => Self::from_codes(column, it.low as u32, it.high as u32),
        }))
    }
}

/// Sets the bits of the codes from one on, a multiple of 64, for which a condition holds.
fn decide(
    condition: &Compiled,
    column: &Arc<Column>,
    first: usize,
    codes: &mut [u64],
) -> SqlResult<()> {
    let values = column.code_count();
    let mut chosen = Vec::new();
    for (place, words) in codes.chunks_mut(BATCH_ROWS / 64).enumerate() {
        let start = first + place * BATCH_ROWS;
        let end = values.min(start + words.len() * 64);
        condition.select(&code_batch(column, start as u32..end as u32), &mut chosen)?;
        chosen.iter().for_each(|it| bitmap::set(words, *it as usize));
    }
    Ok(())
}

/// As [`decide`] for all codes, by all workers; whether no value raised an error.
fn decide_by(
    team: &QueryTeam,
    condition: &Compiled,
    column: &Arc<Column>,
    codes: &mut [u64],
) -> SqlResult<bool> {
    let failed = AtomicBool::new(false);
    let piece = piece_rows(column.code_count(), team.width() * PIECES_OF_WORKER);
    let mut pieces = Pieces::new();
    for (index, words) in codes.chunks_mut(piece / 64).enumerate() {
        let failed = &failed;
        pieces.add(words.len() * 64, move || {
            if decide(condition, column, index * piece, words).is_err() {
                failed.store(true, Ordering::Relaxed);
            }
        });
    }
    pieces.run(team)?;
    Ok(!failed.load(Ordering::Relaxed))
}

/// The codes of a column that keys of a hash table have.
struct KeyCodes {
    /// From the least to the greatest; none if the least is greater.
    low: usize,
    high: usize,
    /// Which they are, if that is known: a bit for each up to the greatest.
    set: Option<Vec<u64>>,
}

impl KeyCodes {
    /// Of a table, in a column whose code 0 stands for `base` and that has so many codes.
    fn of(keys: &KeyFilter<'_>, base: i64, values: usize) -> Self {
        let values = values as u64;
        let to_code = |key: i64| i128::from(key) - i128::from(base);
        let (low, high) = (to_code(keys.min).max(0), to_code(keys.max));
        let high = high.min(i128::from(values) - 1);
        if low > high {
            return Self { low: 1, high: 0, set: None };
        }
        let (low, high) = (low as usize, high as usize);
        let set = match keys.bitmap {
            Some(words) if values <= CODES_MARKED_MAX => {
                let mut codes = vec![0u64; bitmap::words_for(high + 1)];
                // The filter's first bit stands for its least key; this column's code 0 for its own least value.
                shift_bits(words, i128::from(base) - i128::from(keys.min), &mut codes);
                Some(codes)
            }
            None if values <= CODES_MARKED_MAX && !keys.keys.is_empty() => {
                let mut codes = vec![0u64; bitmap::words_for(high + 1)];
                let inside = low as i128..=high as i128;
                let marked =
                    keys.keys.iter().map(|&it| to_code(it)).filter(|it| inside.contains(it));
                marked.for_each(|code| bitmap::set(&mut codes, code as usize));
                Some(codes)
            }
            _ => None,
        };
        Self { low, high, set }
    }

    /// Those of all; `None` if there are none.
    fn united(all: Vec<Self>) -> Option<Self> {
        let unite = |mut one: Self, other: Self| {
            let high = one.high.max(other.high);
            let set = one.set.take().zip(other.set).map(|(mut one, other)| {
                one.resize(one.len().max(other.len()), 0);
                one.iter_mut().zip(&other).for_each(|(to, it)| *to |= it);
                one
            });
            Self { low: one.low.min(other.low), high, set }
        };
        all.into_iter().filter(|it| it.low <= it.high).reduce(unite)
    }
}

/// The bits of some words from a place on, zeros where there are none.
fn shift_bits(words: &[u64], from: i128, out: &mut [u64]) {
    let (first, bit) = (from.div_euclid(64), from.rem_euclid(64) as u32);
    // Words of which both neighbours in `words` are there, which are nearly all.
    let most = words.len().saturating_sub(1) as i128 - first;
    let start = (-first).clamp(0, out.len() as i128) as usize;
    let end = most.clamp(start as i128, out.len() as i128) as usize;
    if start < end {
        let low = &words[(start as i128 + first) as usize..];
        let pairs = low.iter().zip(&low[1..]);
        for (out, (low, high)) in out[start..end].iter_mut().zip(pairs) {
            // Two steps, as a shift by 64 bits is none.
            *out = low >> bit | high << 1 << (63 - bit);
        }
    }
    for index in (0..start).chain(end..out.len()) {
        out[index] = bits_at(words, from + index as i128 * 64);
    }
}

/// What a column alone is compared with, and how, seen from the column.
fn against_column(expr: &Expr) -> Option<(BinaryOperator, &Expr)> {
    let ExprKind::Binary { operator, left, right } = &expr.kind else { return None };
    match (&left.kind, &right.kind) {
        (ExprKind::Column(_), _) => Some((*operator, right)),
        (_, ExprKind::Column(_)) => Some((operator.mirrored(), left)),
        _ => None,
    }
}

fn has_code_per_value(column: &Column) -> bool {
    matches!(column.encoding, Encoding::Offset { .. } | Encoding::Dictionary(_))
}

/// `column op constant`, either way round, as a range of codes.
fn value_range(expr: &Expr, column: &Column, states: &States<'_>) -> SqlResult<Option<CodeRange>> {
    let Some((operator, other)) = against_column(expr) else { return Ok(None) };
    let Some(value) = constant(other, states)? else { return Ok(None) };
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
    let Some((BinaryOperator::NotEqual, other)) = against_column(expr) else { return Ok(None) };
    let values = column.code_count();
    let ignores_blanks = ignores_blanks(other.data_type, column.data_type);
    if !has_code_per_value(column) || values > CODES_MAX || ignores_blanks {
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

/// `column IS NULL` and `column IS NOT NULL`.
fn nulls(expr: &Expr, column: &Arc<Column>) -> Option<CodePredicate> {
    let passes = match &expr.kind {
        ExprKind::Unary { operator, operand } if matches!(operand.kind, ExprKind::Column(_)) => {
            match operator {
                UnaryOperator::IsNull => true,
                UnaryOperator::IsNotNull => false,
                _ => return None,
            }
        }
        _ => return None,
    };
    if column.null_rows().is_some() || column.null_code().is_some() {
        return Some(CodePredicate::Null { column: column.clone(), passes });
    }
    // Without NULL all rows pass the one and none the other.
    passes.then_some(CodePredicate::Never)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_taken_from_any_place_on() {
        let mut prng = stdx::Prng::new(7);
        for _ in 0..2_000 {
            let words: Vec<u64> = (0..prng.below(9)).map(|_| prng.next_u64()).collect();
            let from = i128::from(prng.below(1_500)) - 700;
            let mut out = vec![7; prng.below(12) as usize];
            shift_bits(&words, from, &mut out);
            for (index, found) in out.iter().enumerate() {
                assert_eq!(*found, bits_at(&words, from + index as i128 * 64), "from {from}");
            }
        }
    }
}
