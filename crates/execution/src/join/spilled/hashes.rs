//! Which partition of a spilled join a row belongs to.

use stdx::sync::Arc;

use super::PARTITIONS;
use crate::join::hash::START;
use crate::join::key::KeySlice;
use crate::join::out::write_words;
use crate::{Values, Vector};

/// The bits of a hash that tell the partition: such that neither buckets nor tags of a table use.
const PARTITION_SHIFT: u32 = 20;

/// The partition of rows by the hash of their keys.
#[inline]
pub(in crate::join) fn partition_of(hash: u64) -> u8 {
    (hash >> PARTITION_SHIFT) as u8 % PARTITIONS as u8
}

/// Bits of a hash by which a partition is cut again, at each level.
const CUT_BITS: u32 = 3;
/// Into how many a partition is cut.
pub(super) const CUTS: usize = 1 << CUT_BITS;
/// How often: tables that are so small have their buckets by higher bits than these.
pub(super) const LEVELS: u32 = 4;

/// The part of a partition that was cut `level` times before it.
#[inline]
pub(super) fn cut_of(hash: u64, level: u32) -> u8 {
    (hash >> (PARTITION_SHIFT + PARTITIONS.ilog2() + level * CUT_BITS)) as u8 % CUTS as u8
}

/// The hash of each row, by its keys in the form that is compared.
pub(in crate::join) fn hashes_of(keys: &[KeySlice<'_>], rows: usize) -> Vec<u64> {
    let mut hashes = vec![START; rows];
    keys.iter().for_each(|it| it.combine_into(0..rows, &mut hashes));
    hashes
}

/// The same for keys of build rows as they came, none of them NULL.
pub(in crate::join) fn hashes_of_build(keys: &[Arc<Vector>], rows: usize) -> Vec<u64> {
    let mut hashes = vec![START; rows];
    let mut words = Vec::new();
    for key in keys {
        let slice = match &key.values {
            Values::I64(it) => KeySlice::Words(it),
            Values::I128(it) => KeySlice::Wide(it),
            Values::Text(it) => KeySlice::Text(it),
            other => {
                words.resize(rows, 0);
                write_words(other, &mut words);
                KeySlice::Words(&words)
            }
        };
        slice.combine_into(0..rows, &mut hashes);
    }
    hashes
}
