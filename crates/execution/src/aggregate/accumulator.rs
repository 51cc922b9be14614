//! What is kept per group: counts, sums, and picked values (least, greatest, any).
//!
//! Sums of integers stay in 64 bits as long as rows seen x greatest magnitude proves that they fit, and widen to 128
//! bits once for the whole column when it no longer does: no check per row, and no wrong number. Few groups are summed
//! into several copies, because adding to one place again and again waits for the last store.

use crate::value::text_of;
use crate::{Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// Groups up to which sums are kept in copies.
const COPIED_GROUPS: usize = 32;
const COPIES: usize = 4;

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
    SumWide(Vec<i128>),
    /// Sum of floats.
    SumFloat(Vec<f64>),
    /// A chosen value.
    Pick(Pick),
}

/// Which value of a group is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The first that comes along.
    Any,
}

/// A chosen value per group; groups without one have `seen` false.
pub struct Pick {
    rule: Rule,
    shape: ColumnShape,
    values: PickValues,
    seen: Vec<bool>,
}

enum PickValues {
    Codes(Vec<u32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Text(Vec<Box<str>>),
}

impl Accumulator {
    /// Counts rows.
    pub fn count() -> Self {
        Self::Count(Vec::new())
    }

    /// Sums values of a shape.
    pub fn sum(shape: &ColumnShape) -> Self {
        match shape.representation {
            Representation::F64 => Self::SumFloat(Vec::new()),
            Representation::I128 => Self::SumWide(Vec::new()),
            _ => {
                let magnitude = shape
                    .bounds
                    .map_or(1 << 63, |(low, high)| low.unsigned_abs().max(high.unsigned_abs()));
                Self::SumNarrow { sums: Vec::new(), magnitude, added: 0 }
            }
        }
    }

    /// Keeps a value of a shape.
    pub fn pick(rule: Rule, shape: &ColumnShape) -> Self {
        let values = match &shape.representation {
            Representation::Codes(_) => PickValues::Codes(vec![]),
            Representation::I64 => PickValues::I64(vec![]),
            Representation::I128 => PickValues::I128(vec![]),
            Representation::F64 => PickValues::F64(vec![]),
            Representation::Bool => PickValues::Bool(vec![]),
            Representation::Text => PickValues::Text(vec![]),
        };
        Self::Pick(Pick { rule, shape: shape.clone(), values, seen: Vec::new() })
    }

    /// Makes room for groups.
    pub fn resize(&mut self, groups: usize) {
        match self {
            Self::Count(it) => it.resize(groups, 0),
            Self::SumNarrow { sums, .. } => sums.resize(groups, 0),
            Self::SumWide(it) => it.resize(groups, 0),
            Self::SumFloat(it) => it.resize(groups, 0.0),
            Self::Pick(pick) => pick.resize(groups),
        }
    }

    /// Takes in a batch: `groups[row]` is the group of a row, `column` the values (`None` to count), and only rows of
    /// `valid` count.
    pub fn update(&mut self, groups: &[u32], column: Option<&Vector>, valid: Option<&Bitmap>) {
        self.widen_before(groups.len() as u128);
        match (self, column.map(|it| &it.values)) {
            (Self::Count(counts), _) => add_ones(counts, groups, valid),
            (Self::SumNarrow { sums, .. }, Some(Values::I64(values))) => {
                add_all(sums, groups, values, valid, |sum, value| *sum += value);
            }
            (Self::SumWide(sums), Some(Values::I64(values))) => {
                add_all(sums, groups, values, valid, |sum, value| *sum += i128::from(value));
            }
            (Self::SumWide(sums), Some(Values::I128(values))) => {
                // 38 digits x rows may pass 128 bits; the result is checked against its type, so saturation is enough.
                add_all(sums, groups, values, valid, |sum, value| *sum = sum.saturating_add(value));
            }
            (Self::SumFloat(sums), Some(Values::F64(values))) => {
                add_all(sums, groups, values, valid, |sum, value| *sum += value);
            }
            (Self::Pick(pick), Some(values)) => {
                for (row, &group) in groups.iter().enumerate() {
                    if valid.is_none_or(|it| it.get(row)) {
                        pick.offer(group as usize, values, row);
                    }
                }
            }
            _ => unreachable!("invariant: an accumulator was made for its column"),
        }
    }

    /// Adds the groups `from[i]` of another accumulator of the same kind to the groups `to[i]` of this one.
    pub fn merge(&mut self, to: &[u32], other: &Self, from: &[u32]) {
        let pairs = || to.iter().zip(from).map(|(&to, &from)| (to as usize, from as usize));
        if let Self::SumNarrow { added, .. } = other {
            self.widen_before(*added);
        } else if let (Self::SumNarrow { .. }, Self::SumWide(_)) = (&*self, other) {
            self.widen();
        }
        match (self, other) {
            (Self::Count(into), Self::Count(more)) => pairs().for_each(|(t, f)| into[t] += more[f]),
            (Self::SumNarrow { sums, .. }, Self::SumNarrow { sums: more, .. }) => {
                pairs().for_each(|(t, f)| sums[t] += more[f]);
            }
            (Self::SumWide(into), Self::SumNarrow { sums: more, .. }) => {
                pairs().for_each(|(t, f)| into[t] += i128::from(more[f]));
            }
            (Self::SumWide(into), Self::SumWide(more)) => {
                pairs().for_each(|(t, f)| into[t] = into[t].saturating_add(more[f]));
            }
            (Self::SumFloat(into), Self::SumFloat(more)) => {
                pairs().for_each(|(t, f)| into[t] += more[f]);
            }
            (Self::Pick(into), Self::Pick(more)) => {
                let values = more.to_values();
                for (to, from) in pairs() {
                    if more.seen[from] {
                        into.offer(to, &values, from);
                    }
                }
            }
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
        if let Self::SumNarrow { sums, .. } = self {
            *self = Self::SumWide(sums.iter().map(|&it| i128::from(it)).collect());
        }
    }

    /// The counts.
    pub fn counts(&self) -> &[i64] {
        match self {
            Self::Count(it) => it,
            _ => unreachable!("invariant: only counts are asked for counts"),
        }
    }

    /// The sums of integers, wide.
    pub fn wide_sums(&self) -> Option<Vec<i128>> {
        match self {
            Self::SumNarrow { sums, .. } => Some(sums.iter().map(|&it| i128::from(it)).collect()),
            Self::SumWide(sums) => Some(sums.clone()),
            _ => None,
        }
    }

    /// The sums of floats.
    pub fn float_sums(&self) -> Option<&[f64]> {
        match self {
            Self::SumFloat(sums) => Some(sums),
            _ => None,
        }
    }

    /// The chosen values as a vector; NULL where a group had none.
    pub fn picked(&self) -> Option<Vector> {
        match self {
            Self::Pick(pick) => {
                let all = !pick.seen.contains(&false);
                let validity = (!all).then(|| Bitmap::from_bits(pick.seen.iter().copied()));
                Some(Vector { values: pick.to_values(), validity })
            }
            _ => None,
        }
    }
}

fn add_ones(counts: &mut [i64], groups: &[u32], valid: Option<&Bitmap>) {
    match valid {
        None if counts.len() == 1 => counts[0] += groups.len() as i64,
        None if counts.len() <= COPIED_GROUPS => {
            let mut copies = [[0i64; COPIED_GROUPS]; COPIES];
            let mut chunks = groups.chunks_exact(COPIES);
            for chunk in &mut chunks {
                for (copy, &group) in copies.iter_mut().zip(chunk) {
                    copy[group as usize] += 1;
                }
            }
            chunks.remainder().iter().for_each(|&group| counts[group as usize] += 1);
            for copy in copies {
                counts.iter_mut().zip(copy).for_each(|(count, more)| *count += more);
            }
        }
        None => groups.iter().for_each(|&group| counts[group as usize] += 1),
        Some(valid) => {
            for (row, &group) in groups.iter().enumerate() {
                counts[group as usize] += i64::from(valid.get(row));
            }
        }
    }
}

#[inline]
fn add_all<S: Copy + Default, V: Copy>(
    sums: &mut [S],
    groups: &[u32],
    values: &[V],
    valid: Option<&Bitmap>,
    add: impl Fn(&mut S, V) + Copy,
) where
    S: AddOther,
{
    if let Some(valid) = valid {
        for (row, (&group, &value)) in groups.iter().zip(values).enumerate() {
            if valid.get(row) {
                add(&mut sums[group as usize], value);
            }
        }
    } else if sums.len() == 1 {
        let mut sum = S::default();
        values.iter().for_each(|&value| add(&mut sum, value));
        sums[0].add_other(sum);
    } else if sums.len() <= COPIED_GROUPS {
        let mut copies = [[S::default(); COPIED_GROUPS]; COPIES];
        let (mut groups, mut values) = (groups.chunks_exact(COPIES), values.chunks_exact(COPIES));
        for (groups, values) in (&mut groups).zip(&mut values) {
            for ((copy, &group), &value) in copies.iter_mut().zip(groups).zip(values) {
                add(&mut copy[group as usize % COPIED_GROUPS], value);
            }
        }
        for (&group, &value) in groups.remainder().iter().zip(values.remainder()) {
            add(&mut sums[group as usize], value);
        }
        for copy in copies {
            sums.iter_mut().zip(copy).for_each(|(sum, more)| sum.add_other(more));
        }
    } else {
        for (&group, &value) in groups.iter().zip(values) {
            add(&mut sums[group as usize], value);
        }
    }
}

/// Puts two partial sums together.
trait AddOther {
    fn add_other(&mut self, other: Self);
}
impl AddOther for i64 {
    fn add_other(&mut self, other: Self) {
        *self += other;
    }
}
impl AddOther for i128 {
    fn add_other(&mut self, other: Self) {
        *self = self.saturating_add(other);
    }
}
impl AddOther for f64 {
    fn add_other(&mut self, other: Self) {
        *self += other;
    }
}

impl Pick {
    fn resize(&mut self, groups: usize) {
        self.seen.resize(groups, false);
        match &mut self.values {
            PickValues::Codes(it) => it.resize(groups, 0),
            PickValues::I64(it) => it.resize(groups, 0),
            PickValues::I128(it) => it.resize(groups, 0),
            PickValues::F64(it) => it.resize(groups, 0.0),
            PickValues::Bool(it) => it.resize(groups, false),
            PickValues::Text(it) => it.resize(groups, "".into()),
        }
    }

    fn offer(&mut self, group: usize, from: &Values, row: usize) {
        let (rule, first) = (self.rule, !self.seen[group]);
        if rule == Rule::Any && !first {
            return;
        }
        self.seen[group] = true;
        let better = |order: std::cmp::Ordering| match rule {
            Rule::Min => order.is_lt(),
            Rule::Max => order.is_gt(),
            Rule::Any => false,
        };
        match (&mut self.values, from) {
            (PickValues::Codes(into), Values::Codes(from)) => {
                let (old, new) = (into[group], from[row]);
                if first || better(compare_codes(&self.shape, new, old)) {
                    into[group] = new;
                }
            }
            (PickValues::I64(into), Values::I64(from)) => {
                if first || better(from[row].cmp(&into[group])) {
                    into[group] = from[row];
                }
            }
            (PickValues::I128(into), Values::I128(from)) => {
                if first || better(from[row].cmp(&into[group])) {
                    into[group] = from[row];
                }
            }
            (PickValues::F64(into), Values::F64(from)) => {
                if first || better(compare_floats(from[row], into[group])) {
                    into[group] = from[row];
                }
            }
            (PickValues::Bool(into), Values::Bool(from)) => {
                if first || better(from[row].cmp(&into[group])) {
                    into[group] = from[row];
                }
            }
            (PickValues::Text(into), Values::Text(from)) => {
                if first || better(from.bytes_at(row).cmp(into[group].as_bytes())) {
                    into[group] = from.get(row).into();
                }
            }
            _ => unreachable!("invariant: a vector is held as its shape says"),
        }
    }

    fn to_values(&self) -> Values {
        match &self.values {
            PickValues::Codes(it) => Values::Codes(it.clone()),
            PickValues::I64(it) => Values::I64(it.clone()),
            PickValues::I128(it) => Values::I128(it.clone()),
            PickValues::F64(it) => Values::F64(it.clone()),
            PickValues::Bool(it) => Values::Bool(it.clone()),
            PickValues::Text(it) => {
                let mut texts = TextVector::default();
                it.iter().for_each(|text| texts.push(text));
                Values::Text(texts)
            }
        }
    }
}

/// Codes of a dictionary are in the order of their values, positions of a plain column are not.
pub fn compare_codes(shape: &ColumnShape, left: u32, right: u32) -> std::cmp::Ordering {
    match &shape.representation {
        Representation::Codes(column) => match column.encoding {
            storage::Encoding::Dictionary(_) => left.cmp(&right),
            _ => text_of(column, left).as_bytes().cmp(text_of(column, right).as_bytes()),
        },
        _ => unreachable!("invariant: a vector is held as its shape says"),
    }
}

/// Postgres's order of floats: NaN is the greatest and equals itself, and both zeros are one.
pub fn compare_floats(left: f64, right: f64) -> std::cmp::Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}
