//! Rows on their way to a file.

use memory::SpillFile;
use stdx::sync::Arc;
use types::SqlResult;

use super::PARTITIONS;
use crate::join::hash::START;
use crate::join::key::{KeySlice, write_words};
use crate::partitions::Split;
use crate::spill::{Extent, Writer};
use crate::{BATCH_ROWS, Values, Vector};

/// Bytes that a worker collects before they are written, so that pieces are worth reading.
pub(in crate::join) const WRITTEN_BYTES: u64 = 512 << 10;

/// The bits of a hash that tell the partition: such that neither buckets nor tags of a table use.
const PARTITION_SHIFT: u32 = 20;

/// The partition of rows by the hash of their keys.
#[inline]
pub(in crate::join) fn partition_of(hash: u64) -> u8 {
    (hash >> PARTITION_SHIFT) as u8 % PARTITIONS as u8
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

/// Rows of a batch, and the partition of each.
pub(in crate::join) struct Waiting {
    /// Where they stood in their source.
    pub(in crate::join) sequence: u64,
    pub(in crate::join) columns: Vec<Arc<Vector>>,
    pub(in crate::join) partitions: Vec<u8>,
}

/// Rows of one partition in a file.
#[derive(Clone, Copy)]
pub(in crate::join) struct Piece {
    pub(in crate::join) extent: Extent,
    /// Where the first of them stood in their source.
    pub(in crate::join) sequence: u64,
}

/// What one worker writes.
pub(in crate::join) struct Outgoing {
    file: Arc<SpillFile>,
    waiting: Vec<Waiting>,
    bytes: u64,
    writer: Writer,
    /// Partition and sequence of what the writer holds.
    unwritten: Vec<(usize, u64)>,
    /// By partition; one more than are told by hashes.
    pieces: Vec<Vec<Piece>>,
}

impl Outgoing {
    /// Nothing yet.
    pub(in crate::join) fn new(file: Arc<SpillFile>) -> Self {
        let pieces = vec![Vec::new(); PARTITIONS + 1];
        let (waiting, unwritten) = (Vec::new(), Vec::new());
        Self { file, waiting, bytes: 0, writer: Writer::default(), unwritten, pieces }
    }

    /// Takes rows in.
    pub(in crate::join) fn add(&mut self, rows: Waiting) -> SqlResult<()> {
        self.bytes += rows.columns.iter().map(|it| it.value_bytes()).sum::<u64>();
        self.bytes += rows.partitions.len() as u64;
        self.waiting.push(rows);
        if self.bytes >= WRITTEN_BYTES { self.write() } else { Ok(()) }
    }

    /// Whether what waits begins in a part of the rows, or may be put beside rows of it.
    pub(in crate::join) fn begins(&self) -> Option<u64> {
        self.waiting.first().map(|it| it.sequence)
    }

    /// Writes all that waits.
    pub(in crate::join) fn write(&mut self) -> SqlResult<()> {
        let splits: Vec<Split> =
            self.waiting.iter().map(|it| Split::new(PARTITIONS + 1, &it.partitions)).collect();
        let mut rows: Vec<(usize, u32)> = Vec::new();
        for partition in 0..=PARTITIONS {
            rows.clear();
            for (batch, split) in splits.iter().enumerate() {
                rows.extend(split.part(partition).iter().map(|&row| (batch, row)));
            }
            for rows in rows.chunks(BATCH_ROWS) {
                let first = &self.waiting[rows[0].0];
                let column = |(place, like): (usize, &Arc<Vector>)| {
                    let row =
                        |&(batch, row): &(usize, u32)| (&*self.waiting[batch].columns[place], row);
                    Arc::new(Vector::collect_like(&like.values, rows.iter().map(row)))
                };
                let columns: Vec<_> = first.columns.iter().enumerate().map(column).collect();
                self.unwritten.push((partition, first.sequence));
                self.writer.add(rows.len(), &columns);
            }
        }
        self.waiting.clear();
        self.bytes = 0;
        let extents = self.writer.write(&self.file)?;
        for (extent, (partition, sequence)) in extents.into_iter().zip(self.unwritten.drain(..)) {
            self.pieces[partition].push(Piece { extent, sequence });
        }
        Ok(())
    }

    /// The pieces of each partition, once all is written.
    pub(in crate::join) fn finish(mut self) -> SqlResult<Vec<Vec<Piece>>> {
        self.write()?;
        Ok(self.pieces)
    }
}
