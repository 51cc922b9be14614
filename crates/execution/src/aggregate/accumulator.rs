//! What is kept per group: counts, sums, and picked values (least, greatest, any).
//!
//! Sums of integers stay in 64 bits as long as rows seen x greatest magnitude proves that they fit, and widen to 128
//! bits once for the whole column when it no longer does: no check per row, and no wrong number. Few groups are summed
//! into several copies, because adding to one place again and again waits for the last store.

use std::ops::Range;

use super::float_sums::FloatSums;
use super::group_rows::{GroupRows, take};
use super::pick::{Pick, Rule};
use super::wide::{Wide, WideSums};
use crate::leveled::{add_by_masks, add_runs, count_runs, level, sum};
use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

/// Groups up to which sums are kept in copies.
const COPIED_GROUPS: usize = 32;
const COPIES: usize = 8;

/// One value per group.
pub enum Accumulator {
    /// Rows.
    Count(Vec<i64>),
    /// Sum of integers that provably fits.
    SumNarrow {
        /// Per group.
        sums: Vec<i64>,
        /// Greatest magnitude of a value.
        magnitude: u128,
        /// Values added so far, over all groups.
        added: u128,
    },
    /// Sum of integers.
    SumWide {
        /// Per group.
        sums: WideSums,
        /// Greatest magnitude of a value.
        magnitude: u128,
    },
    /// Sum of floats, whatever the order of rows.
    SumFloat(FloatSums),
    /// A chosen value.
    Pick(Pick),
}

impl Accumulator {
    /// Counts rows.
    pub fn count() -> Self {
        Self::Count(Vec::new())
    }

    /// Sums values of a shape.
    pub fn sum(shape: &ColumnShape) -> Self {
        let magnitude = |unknown: u128| {
            shape.bounds.map_or(unknown, |(low, high)| low.unsigned_abs().max(high.unsigned_abs()))
        };
        match shape.representation {
            Representation::F64 => Self::SumFloat(FloatSums::default()),
            Representation::I128 => {
                Self::SumWide { sums: WideSums::default(), magnitude: magnitude(u128::MAX) }
            }
            _ => Self::SumNarrow { sums: Vec::new(), magnitude: magnitude(1 << 63), added: 0 },
        }
    }

    /// Keeps a value of a shape.
    pub fn pick(rule: Rule, shape: &ColumnShape) -> Self {
        Self::Pick(Pick::new(rule, shape))
    }

    /// Makes room for groups.
    pub fn resize(&mut self, groups: usize) {
        match self {
            Self::Count(it) => it.resize(groups, 0),
            Self::SumNarrow { sums, .. } => sums.resize(groups, 0),
            Self::SumWide { sums, .. } => sums.resize(groups),
            Self::SumFloat(sums) => sums.resize(groups),
            Self::Pick(pick) => pick.resize(groups),
        }
    }

    /// The groups at some places, in that order.
    pub fn take(&self, places: &[u32]) -> Self {
        match self {
            Self::Count(counts) => Self::Count(take(counts, places)),
            Self::SumNarrow { sums, magnitude, added } => {
                Self::SumNarrow { sums: take(sums, places), magnitude: *magnitude, added: *added }
            }
            Self::SumWide { sums, magnitude } => {
                Self::SumWide { sums: sums.take(places), magnitude: *magnitude }
            }
            Self::SumFloat(sums) => Self::SumFloat(sums.take(places.iter().map(|&it| it as usize))),
            Self::Pick(pick) => Self::Pick(pick.take(places)),
        }
    }

    /// Groups that follow each other.
    pub fn slice(&self, groups: Range<usize>) -> Self {
        match self {
            Self::Count(counts) => Self::Count(counts[groups].to_vec()),
            Self::SumNarrow { sums, magnitude, added } => {
                let (magnitude, added) = (*magnitude, *added);
                Self::SumNarrow { sums: sums[groups].to_vec(), magnitude, added }
            }
            Self::SumFloat(sums) => Self::SumFloat(sums.take(groups)),
            Self::SumWide { .. } | Self::Pick(_) => {
                self.take(&(groups.start as u32..groups.end as u32).collect::<Vec<u32>>())
            }
        }
    }

    /// Takes in a batch: `column` has the values (`None` to count), and only rows of `valid` count.
    pub fn update(&mut self, rows: GroupRows<'_>, column: Option<&Vector>, valid: Option<&Bitmap>) {
        let groups = rows.ids;
        self.widen_before(groups.len() as u128);
        match (self, column.map(|it| &it.values)) {
            (Self::Count(counts), _) => add_ones(counts, rows, valid),
            (Self::SumNarrow { sums, .. }, Some(Values::I64(values))) => {
                add_integers(sums, rows, values, valid);
            }
            (Self::SumWide { sums, magnitude }, Some(Values::I64(values))) => {
                let fits = magnitude.saturating_mul(values.len() as u128) <= i64::MAX as u128;
                if fits && sums.len() <= COPIED_GROUPS && !rows.rising {
                    // A batch alone fits 64 bits.
                    let mut batch = [0i64; COPIED_GROUPS];
                    add_integers(&mut batch[..sums.len()], rows, values, valid);
                    (0..sums.len()).for_each(|group| sums.add(group, batch[group].into()));
                } else {
                    add_wide(sums, groups, values, valid);
                }
            }
            (Self::SumWide { sums, .. }, Some(Values::I128(values))) => {
                add_wide(sums, groups, values, valid);
            }
            (Self::SumFloat(sums), Some(Values::F64(values))) => {
                sums.update(groups, values, valid);
            }
            (Self::Pick(pick), Some(values)) => pick.update(rows, values, valid),
            _ => unreachable!("invariant: an accumulator was made for its column"),
        }
    }

    /// Sums (or counts) of `rows` rows for each of some groups, instead of those that are there; 64 bits were enough.
    pub fn set_sums(&mut self, new: Vec<i64>, rows: usize) {
        self.widen_before(rows as u128);
        match self {
            Self::Count(sums) | Self::SumNarrow { sums, .. } => *sums = new,
            Self::SumWide { sums, .. } => *sums = WideSums::of(&new),
            _ => unreachable!("invariant: only counts and sums of integers are added up"),
        }
    }

    /// Adds sums (or counts) of `rows` rows to the first groups; 64 bits were enough for each.
    pub fn add_sums(&mut self, more: &[i64], rows: usize) {
        self.widen_before(rows as u128);
        match self {
            Self::Count(sums) | Self::SumNarrow { sums, .. } => {
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            }
            Self::SumWide { sums, .. } => {
                more.iter().enumerate().for_each(|(group, &it)| sums.add(group, it.into()));
            }
            _ => unreachable!("invariant: only counts and sums of integers are added up"),
        }
    }

    /// Adds a sum (or count) of `rows` rows to the only group.
    pub fn add_total(&mut self, more: i128, rows: usize) {
        self.widen_before(rows as u128);
        match self {
            Self::Count(sums) | Self::SumNarrow { sums, .. } => sums[0] += more as i64,
            Self::SumWide { sums, .. } => sums.add(0, more),
            _ => unreachable!("invariant: only counts and sums of integers are added up"),
        }
    }

    /// Adds the groups `from[i]` of another accumulator of the same kind to the groups `to[i]` of this one.
    pub fn merge(&mut self, to: &[u32], other: &Self, from: &[u32]) {
        let pairs = || to.iter().zip(from).map(|(&to, &from)| (to as usize, from as usize));
        if let Self::SumNarrow { added, .. } = other {
            self.widen_before(*added);
        } else if let (Self::SumNarrow { .. }, Self::SumWide { .. }) = (&*self, other) {
            self.widen();
        }
        match (self, other) {
            (Self::Count(into), Self::Count(more)) => pairs().for_each(|(t, f)| into[t] += more[f]),
            (Self::SumNarrow { sums, .. }, Self::SumNarrow { sums: more, .. }) => {
                pairs().for_each(|(t, f)| sums[t] += more[f]);
            }
            (Self::SumWide { sums, .. }, Self::SumNarrow { sums: more, .. }) => {
                pairs().for_each(|(t, f)| sums.add(t, more[f].into()));
            }
            (Self::SumWide { sums, .. }, Self::SumWide { sums: more, .. }) => {
                pairs().for_each(|(t, f)| sums.add_sum(t, more.get(f)));
            }
            (Self::SumFloat(into), Self::SumFloat(more)) => {
                pairs().for_each(|(t, f)| into.merge(t, more, f));
            }
            (Self::Pick(into), Self::Pick(more)) => into.merge(to, more, from),
            _ => unreachable!("invariant: accumulators of one aggregate are of one kind"),
        }
    }

    /// Widens before the proof fails that sums fit 64 bits.
    fn widen_before(&mut self, more: u128) {
        if let Self::SumNarrow { magnitude, added, .. } = self {
            *added += more;
            if magnitude.saturating_mul(*added) > i64::MAX as u128 {
                self.widen();
            }
        }
    }

    fn widen(&mut self) {
        if let Self::SumNarrow { sums, magnitude, .. } = self {
            *self = Self::SumWide { sums: WideSums::of(sums), magnitude: *magnitude };
        }
    }

    /// The counts.
    pub fn counts(&self) -> &[i64] {
        match self {
            Self::Count(it) => it,
            _ => unreachable!("invariant: only counts are asked for counts"),
        }
    }

    /// The sums of integers when all fit 64 bits anyway.
    pub fn narrow_sums(&self) -> Option<&[i64]> {
        match self {
            Self::SumNarrow { sums, .. } => Some(sums),
            _ => None,
        }
    }

    /// The sum of integers of a group.
    pub fn wide_sum(&self, group: usize) -> Wide {
        match self {
            Self::SumNarrow { sums, .. } => Wide { low: sums[group].into(), carry: 0 },
            Self::SumWide { sums, .. } => sums.get(group),
            _ => unreachable!("invariant: only sums of integers are asked for wide sums"),
        }
    }

    /// The sums of floats.
    pub fn float_sums(&self) -> Option<&FloatSums> {
        match self {
            Self::SumFloat(sums) => Some(sums),
            _ => None,
        }
    }

    /// The chosen values as a vector; NULL where a group had none.
    pub fn picked(&self) -> Option<Vector> {
        match self {
            Self::Pick(pick) => Some(pick.to_vector()),
            _ => None,
        }
    }
}

/// Copies of a few sums, so that an addition need not wait for the last one to the same group.
type Copies = [[i64; COPIED_GROUPS]; COPIES];

/// Puts copies together.
fn add_copies(sums: &mut [i64], copies: &Copies) {
    for copy in copies {
        sums.iter_mut().zip(copy).for_each(|(sum, &more)| *sum += more);
    }
}

fn add_ones(counts: &mut [i64], rows: GroupRows<'_>, valid: Option<&Bitmap>) {
    let groups = rows.ids;
    if let Some(masks) = rows.masks {
        let words = groups.len().div_ceil(64);
        for (count, masks) in counts.iter_mut().zip(masks.chunks(words.max(1))) {
            let ones = |(word, mask): (usize, &u64)| {
                (mask & valid.map_or(u64::MAX, |it| it.0[word])).count_ones()
            };
            *count += i64::from(masks.iter().enumerate().map(ones).sum::<u32>());
        }
        return;
    }
    match valid {
        None if rows.rising => count_runs(counts, groups),
        None if counts.len() == 1 => counts[0] += groups.len() as i64,
        Some(valid) if counts.len() == 1 => counts[0] += valid.count(groups.len()) as i64,
        None if counts.len() <= COPIED_GROUPS => {
            let mut copies: Copies = [[0; COPIED_GROUPS]; COPIES];
            let (chunks, rest) = groups.as_chunks::<COPIES>();
            for chunk in chunks {
                for (copy, &group) in copies.iter_mut().zip(chunk) {
                    copy[group as usize % COPIED_GROUPS] += 1;
                }
            }
            rest.iter().for_each(|&group| counts[group as usize] += 1);
            add_copies(counts, &copies);
        }
        None => groups.iter().for_each(|&group| counts[group as usize] += 1),
        Some(valid) => {
            for (row, &group) in groups.iter().enumerate() {
                counts[group as usize] += i64::from(valid.get(row));
            }
        }
    }
}

/// Adds integers to sums that cannot overflow.
fn add_integers(sums: &mut [i64], rows: GroupRows<'_>, values: &[i64], valid: Option<&Bitmap>) {
    match (valid, rows.masks) {
        (None, _) if sums.len() == 1 => sums[0] += sum(level(), values),
        (None, _) if rows.rising => add_runs(sums, rows.ids, values),
        (None, Some(masks)) => add_by_masks(level(), sums, masks, values),
        _ => add_all(sums, rows.ids, values, valid),
    }
}

/// Adds to sums that cannot overflow.
fn add_all(sums: &mut [i64], groups: &[u32], values: &[i64], valid: Option<&Bitmap>) {
    if let Some(valid) = valid {
        for (row, (&group, &value)) in groups.iter().zip(values).enumerate() {
            // Without a branch: which rows count is often random.
            sums[group as usize] += if valid.get(row) { value } else { 0 };
        }
    } else if sums.len() == 1 {
        let mut copies = [0; COPIES];
        let (chunks, rest) = values.as_chunks::<COPIES>();
        for chunk in chunks {
            copies.iter_mut().zip(chunk).for_each(|(copy, &value)| *copy += value);
        }
        copies.iter().chain(rest).for_each(|&value| sums[0] += value);
    } else if sums.len() <= COPIED_GROUPS {
        let mut copies: Copies = [[0; COPIED_GROUPS]; COPIES];
        let (group_chunks, groups) = groups.as_chunks::<COPIES>();
        let (value_chunks, values) = values.as_chunks::<COPIES>();
        for (groups, values) in group_chunks.iter().zip(value_chunks) {
            for ((copy, &group), &value) in copies.iter_mut().zip(groups).zip(values) {
                copy[group as usize % COPIED_GROUPS] += value;
            }
        }
        groups.iter().zip(values).for_each(|(&group, &value)| sums[group as usize] += value);
        add_copies(sums, &copies);
    } else {
        groups.iter().zip(values).for_each(|(&group, &value)| sums[group as usize] += value);
    }
}

fn add_wide<V: Copy + Into<i128>>(
    sums: &mut WideSums,
    groups: &[u32],
    values: &[V],
    valid: Option<&Bitmap>,
) {
    for (row, (&group, &value)) in groups.iter().zip(values).enumerate() {
        if valid.is_none_or(|it| it.get(row)) {
            sums.add(group as usize, value.into());
        }
    }
}
