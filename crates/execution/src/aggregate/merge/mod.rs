//! Phase two: the groups of all workers, cut into partitions by their keys, each put together by one task.

mod sorted_runs;

use types::SqlResult;

use super::distinct::DistinctSet;
use super::groups::Groups;
use super::having::Having;
use super::index::{GroupIndex, KeyOrder};
use super::key::{KeyLayout, Keys};
use super::plan::GroupPlan;
use super::result::{Part, part_of};
use super::table::GroupTable;
use super::tasks::collect;
use super::tuning::{ARRAY_BITS_MAX, PARTITION_BITS, SERIAL_GROUPS_MAX};
use crate::Team;
use crate::partitions::Split;

use sorted_runs::parts_of_runs;

/// Which partition a group belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Partitioning {
    /// All to one.
    One,
    /// Ranges of keys, `1 << shift` each: small enough to find groups through an array, and rows that came in the order
    /// of the key stay together.
    Ranges { shift: u32, partitions: usize },
    /// By the low bits of the hash; tables are probed by the high ones.
    Hash,
    /// By bits between these, as rows were written to files.
    Spilled(Cut),
}

/// How rows that are written to files are cut into partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cut {
    /// A power of two; after the first cut not more than 16.
    pub(super) partitions: usize,
    /// How often they have been cut before, each time by other bits.
    pub(super) level: u32,
}

impl Cut {
    /// The partition of each key.
    pub(super) fn of(self, keys: &Keys) -> Vec<u8> {
        // A byte of the hash for the first cut, half of one for each further.
        let shift = if self.level == 0 { 0 } else { 4 + 4 * self.level };
        keys.middle_hash_bits(shift, (self.partitions - 1) as u8)
    }
}

impl Partitioning {
    fn of(layout: &KeyLayout, groups: usize) -> Self {
        match layout.word_bits() {
            _ if groups <= SERIAL_GROUPS_MAX => Self::One,
            Some(bits) if bits <= ARRAY_BITS_MAX + PARTITION_BITS => {
                let shift = bits.saturating_sub(PARTITION_BITS);
                Self::Ranges { shift, partitions: 1 << (bits - shift) }
            }
            _ => Self::Hash,
        }
    }

    fn partitions(self) -> usize {
        match self {
            Self::One => 1,
            Self::Ranges { partitions, .. } | Self::Spilled(Cut { partitions, .. }) => partitions,
            Self::Hash => 1 << PARTITION_BITS,
        }
    }

    /// The partition of each group.
    fn of_groups(self, keys: &Keys) -> Vec<u8> {
        match self {
            Self::One => vec![0; keys.len()],
            Self::Ranges { shift, .. } => {
                keys.words().iter().map(|key| (key >> shift) as u8).collect()
            }
            Self::Hash => keys.low_hash_bits((1 << PARTITION_BITS) - 1),
            Self::Spilled(cut) => cut.of(keys),
        }
    }

    /// An index for the groups of a partition, at least so many.
    fn index(self, layout: &KeyLayout, partition: usize, groups: usize) -> GroupIndex {
        match self {
            Self::One => GroupIndex::new(layout),
            Self::Ranges { shift, .. } => {
                GroupIndex::for_key_range(layout, (partition as u64) << shift, 1 << shift)
            }
            Self::Hash | Self::Spilled(_) => GroupIndex::hashed(layout, groups),
        }
    }
}

/// Room that the table of a partition has for its share of the expected groups, times that share: partitions are not all alike.
const EXPECTED_MORE: f64 = 1.125;

/// How the groups of one table, and the values of its distinct sets, are spread over partitions.
pub(super) struct Spread {
    groups: Split,
    /// For each group its place within its partition; only needed for distinct sets.
    places: Vec<u32>,
    values: Vec<Split>,
}

impl Spread {
    pub(super) fn new(groups: &Groups, how: Partitioning) -> Self {
        let of_groups = how.of_groups(&groups.keys);
        let split = Split::new(how.partitions(), &of_groups);
        let mut places = Vec::new();
        if !groups.distinct.is_empty() {
            places.resize(groups.len(), 0);
            for partition in 0..how.partitions() {
                for (place, &group) in split.part(partition).iter().enumerate() {
                    places[group as usize] = place as u32;
                }
            }
        }
        let values = |set: &DistinctSet| {
            let of_value = |value| of_groups[set.group(value) as usize];
            Split::new(how.partitions(), &(0..set.len()).map(of_value).collect::<Vec<u8>>())
        };
        let values = groups.distinct.iter().map(values).collect();
        Self { groups: split, places, values }
    }

    /// Of a table without distinct sets whose groups stand partition after partition.
    fn in_order(starts: Vec<u32>) -> Self {
        Self { groups: Split::in_order(starts), places: Vec::new(), values: Vec::new() }
    }
}

/// The groups in the order of their partitions, as long as they are in the cache: then each partition is read in one go.
pub(super) fn by_partition(plan: &GroupPlan, groups: Groups) -> Groups {
    // Distinct values name their groups by number.
    if !groups.distinct.is_empty() {
        return groups;
    }
    let how = Partitioning::of(&plan.layout, usize::MAX);
    let split = Split::new(how.partitions(), &how.of_groups(&groups.keys));
    let (order, starts) = split.into_parts();
    Groups { partitions: Some(starts), ..groups.take(&order) }
}

/// Puts the groups of all workers together and computes the columns of the result.
pub(super) fn merge_all(
    plan: &GroupPlan,
    having: Option<&Having>,
    mut all: Vec<Groups>,
    team: &dyn Team,
) -> SqlResult<Vec<Part>> {
    let count: usize = all.iter().map(Groups::len).sum();
    if all.is_empty() {
        let mut none = GroupTable::unique(plan);
        if !plan.is_keyed() {
            // Without keys there is a group even over nothing.
            none.insert_only_group();
        }
        all.push(none.finish());
    }
    if let Some(parts) = parts_of_runs(plan, having, &all, team)? {
        return Ok(parts);
    }
    if let [only] = &all[..]
        && matches!(only.order, KeyOrder::Unique)
    {
        return Ok(vec![part_of(plan, having, only)?]);
    }
    let how = Partitioning::of(&plan.layout, count);
    let is_flushed = how == Partitioning::of(&plan.layout, usize::MAX);
    let spread = |table: usize| match &all[table].partitions {
        Some(starts) if is_flushed => Spread::in_order(starts.clone()),
        _ => Spread::new(&all[table], how),
    };
    let spreads: Vec<Spread> =
        collect(team, all.len(), how != Partitioning::One, &|table| Ok(spread(table)))?;
    collect(team, how.partitions(), true, &|partition| {
        part_of(plan, having, &merge(plan, &all, &spreads, how, partition))
    })
}

/// Puts the groups of one partition together.
fn merge(
    plan: &GroupPlan,
    all: &[Groups],
    spreads: &[Spread],
    how: Partitioning,
    partition: usize,
) -> Groups {
    merged_table(plan, all, spreads, how, partition).finish()
}

/// A table of the groups of one partition, which more may be added to.
pub(super) fn merged_table(
    plan: &GroupPlan,
    all: &[Groups],
    spreads: &[Spread],
    how: Partitioning,
    partition: usize,
) -> GroupTable {
    let parts = || spreads.iter().map(|it| it.groups.part(partition));
    // At least as many groups as in the largest piece, at most those of all pieces; between them what is expected, so that a
    // table seldom grows.
    let (largest, all_pieces) =
        parts().fold((0, 0), |(most, sum), it| (it.len().max(most), sum + it.len()));
    let share = (plan.expected / how.partitions() as f64 * EXPECTED_MORE) as usize;
    let expected = match how {
        // Where there is no memory to spare, it does.
        Partitioning::Spilled(_) => largest,
        _ => share.clamp(largest, all_pieces),
    };
    let mut merged = GroupTable::new(plan, how.index(&plan.layout, partition, expected));
    let mut to = Vec::new();
    for ((groups, spread), from) in all.iter().zip(spreads).zip(parts()) {
        if from.is_empty() {
            continue;
        }
        merged.find_or_insert(&groups.keys.take(from), &mut to);
        merged.merge(&to, groups, from);
        let sets = merged.distinct.iter_mut().zip(&groups.distinct).zip(&spread.values);
        for ((into, more), values) in sets {
            into.merge(more, values.part(partition), |group| {
                to[spread.places[group as usize] as usize]
            });
        }
    }
    merged
}
