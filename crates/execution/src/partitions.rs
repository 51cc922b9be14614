//! Rows cut into partitions: what workers put together apart, and what goes to files because it does not fit into memory.

use memory::{SpillFile, Workspace};
use stdx::sync::Arc;
use types::SqlResult;

use crate::spill::{Extent, SharedFile, Writer};
use crate::{BATCH_ROWS, Vector};

/// Numbers by the partition that each is of.
pub(crate) struct Split {
    order: Vec<u32>,
    starts: Vec<u32>,
}

impl Split {
    /// From the partition of each number.
    pub(crate) fn new(partitions: usize, of: &[u8]) -> Self {
        let mut starts = vec![0u32; partitions + 1];
        of.iter().for_each(|&it| starts[usize::from(it) + 1] += 1);
        for partition in 0..partitions {
            starts[partition + 1] += starts[partition];
        }
        let (mut next, mut order) = (starts.clone(), vec![0; of.len()]);
        for (number, &partition) in of.iter().enumerate() {
            let next = &mut next[usize::from(partition)];
            order[*next as usize] = number as u32;
            *next += 1;
        }
        Self { order, starts }
    }

    /// Of numbers that stand partition after partition, each of which begins here; the last start is their count.
    pub(crate) fn in_order(starts: Vec<u32>) -> Self {
        Self { order: (0..starts.last().copied().unwrap_or(0)).collect(), starts }
    }

    /// Those of a partition, in order.
    pub(crate) fn part(&self, partition: usize) -> &[u32] {
        &self.order[self.starts[partition] as usize..self.starts[partition + 1] as usize]
    }

    /// All of them, partition after partition, and where each begins.
    pub(crate) fn into_parts(self) -> (Vec<u32>, Vec<u32>) {
        (self.order, self.starts)
    }
}

/// What part of its memory a statement lets each worker collect before it is written, so that pieces are worth reading.
const LIMIT_PART: u64 = 32;
/// The least and the most bytes that a worker collects.
const WRITTEN_MIN: u64 = 64 << 10;
const WRITTEN_MAX: u64 = 512 << 10;

/// Bytes that a worker collects before they are written.
pub(crate) fn written_bytes(workspace: &Workspace) -> u64 {
    let limit = workspace.account().limit().map_or(u64::MAX, |it| it.0);
    (limit / LIMIT_PART).clamp(WRITTEN_MIN, WRITTEN_MAX)
}

/// Rows of a batch, and the partition of each.
pub(crate) struct Waiting {
    /// Where they stood in their source.
    pub(crate) sequence: u64,
    pub(crate) columns: Vec<Arc<Vector>>,
    pub(crate) partitions: Vec<u8>,
}

/// Rows of one partition in a file.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) extent: Extent,
    /// Where the first of them stood in their source.
    pub(crate) sequence: u64,
}

/// Rows of some batches that are cut into partitions together, so that each gets many rows at a time.
pub(crate) struct Gathered {
    waiting: Vec<Waiting>,
    bytes: u64,
    partitions: usize,
}

impl Gathered {
    /// Nothing yet.
    pub(crate) fn new(partitions: usize) -> Self {
        Self { waiting: Vec::new(), bytes: 0, partitions }
    }

    /// Takes rows in; tells how many bytes wait now.
    pub(crate) fn add(&mut self, rows: Waiting) -> u64 {
        self.bytes += rows.columns.iter().map(|it| it.value_bytes()).sum::<u64>();
        self.bytes += rows.partitions.len() as u64;
        self.waiting.push(rows);
        self.bytes
    }

    /// Hands all that waits to `each`, partition after partition: its number, where the first row stood in its source, how
    /// many rows, their columns.
    pub(crate) fn cut(
        &mut self,
        mut each: impl FnMut(usize, u64, usize, &[Arc<Vector>]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let split = |it: &Waiting| Split::new(self.partitions, &it.partitions);
        let splits: Vec<Split> = self.waiting.iter().map(split).collect();
        let mut rows: Vec<(usize, u32)> = Vec::new();
        for partition in 0..self.partitions {
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
                each(partition, first.sequence, rows.len(), &columns)?;
            }
        }
        self.waiting.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// What one worker writes.
pub(crate) struct Outgoing {
    file: Arc<SpillFile>,
    gathered: Gathered,
    /// Bytes that wait at most.
    limit: u64,
    writer: Writer,
    /// Partition and sequence of what the writer holds.
    unwritten: Vec<(usize, u64)>,
    /// By partition.
    pieces: Vec<Vec<Piece>>,
}

impl Outgoing {
    /// Nothing yet, of so many partitions, for a file.
    pub(crate) fn new(
        partitions: usize,
        file: &SharedFile,
        workspace: &Workspace,
    ) -> SqlResult<Self> {
        Ok(Self {
            limit: written_bytes(workspace),
            ..Self::small(partitions, file.get(workspace)?)
        })
    }

    /// The same with the smallest buffer.
    pub(crate) fn small(partitions: usize, file: Arc<SpillFile>) -> Self {
        let pieces = vec![Vec::new(); partitions];
        let (gathered, unwritten) = (Gathered::new(partitions), Vec::new());
        let (limit, writer) = (WRITTEN_MIN, Writer::default());
        Self { file, gathered, limit, writer, unwritten, pieces }
    }

    /// Takes rows in.
    pub(crate) fn add(&mut self, rows: Waiting) -> SqlResult<()> {
        if self.gathered.add(rows) >= self.limit { self.write() } else { Ok(()) }
    }

    /// Whether what waits begins in a part of the rows, or may be put beside rows of it.
    pub(crate) fn begins(&self) -> Option<u64> {
        self.gathered.waiting.first().map(|it| it.sequence)
    }

    /// Writes all that waits.
    pub(crate) fn write(&mut self) -> SqlResult<()> {
        let Self { gathered, unwritten, writer, .. } = self;
        gathered.cut(|partition, sequence, rows, columns| {
            unwritten.push((partition, sequence));
            writer.add(rows, columns);
            Ok(())
        })?;
        let extents = self.writer.write(&self.file)?;
        for (extent, (partition, sequence)) in extents.into_iter().zip(self.unwritten.drain(..)) {
            self.pieces[partition].push(Piece { extent, sequence });
        }
        Ok(())
    }

    /// The pieces of each partition, once all is written.
    pub(crate) fn finish(mut self) -> SqlResult<Vec<Vec<Piece>>> {
        self.write()?;
        Ok(self.pieces)
    }
}
