//! Rows that wait for the tables of partitions.

use stdx::sync::Arc;
use types::SqlResult;

use super::PARTITIONS;
use super::build::{PIECES_PER_TASK, SpilledBuild};
use super::hashes::partition_of;
use crate::co_location::PartMap;
use crate::join::JoinTable;
use crate::partitions::{Outgoing, Piece, Waiting};
use crate::spill::{SharedFile, read};
use crate::{Batch, PerSlot, Team, WorkContext};

/// The rows of an operator that wait.
pub(in crate::join) struct Deferred {
    pub(in crate::join) build: Arc<SpilledBuild>,
    outgoing: PerSlot<Outgoing>,
    file: SharedFile,
    /// The parts that batches are of, where those behind want to know.
    parts: Option<Arc<PartMap>>,
}

impl Deferred {
    /// None wait yet.
    pub(in crate::join) fn new(
        build: Arc<SpilledBuild>,
        parts: Option<Arc<PartMap>>,
        slots: usize,
    ) -> Self {
        Self { build, outgoing: PerSlot::new(slots), file: SharedFile::of("probe"), parts }
    }

    /// Lets the rows of a batch wait that may have a partner, by the hashes of their keys; gives the others back, if they are
    /// `wanted`.
    pub(in crate::join) fn hold_by_key(
        &self,
        batch: Batch,
        hashes: &[Option<u64>],
        wanted: bool,
        context: &WorkContext,
    ) -> SqlResult<Batch> {
        let may_join = |hash: u64| self.build.keys.may_contain(hash);
        let (mut waiting, mut others, mut partitions) = (Vec::new(), Vec::new(), Vec::new());
        for (row, hash) in hashes.iter().enumerate() {
            match hash.filter(|it| may_join(*it)) {
                None if wanted => others.push(row as u32),
                None => {}
                Some(hash) => {
                    waiting.push(row as u32);
                    partitions.push(partition_of(hash));
                }
            }
        }
        let rest = if others.len() == batch.rows { batch.clone() } else { batch.take(&others) };
        if !waiting.is_empty() {
            let all = waiting.len() == batch.rows;
            let waiting = if all { batch } else { batch.take(&waiting) };
            self.hold(waiting, partitions, context)?;
        }
        Ok(rest)
    }

    /// Lets the rows of a batch wait for the tables of their partitions.
    pub(in crate::join) fn hold(
        &self,
        batch: Batch,
        partitions: Vec<u8>,
        context: &WorkContext,
    ) -> SqlResult<()> {
        let mut local = self.outgoing.lock(context.slot);
        let outgoing = match &mut *local {
            Some(it) => it,
            none => none.insert(Outgoing::new(PARTITIONS, &self.file, &context.workspace)?),
        };
        if let (Some(parts), Some(first)) = (&self.parts, outgoing.begins())
            && parts.part_of(first) != parts.part_of(batch.sequence)
        {
            // A batch is of one part.
            outgoing.write()?;
        }
        outgoing.add(Waiting { sequence: batch.sequence, columns: batch.columns, partitions })
    }

    /// Lets all go on, partition by partition: `begin` prepares what `each` does with the batches that waited for a table whose
    /// first row has a number. Keeps what the tables know of matches if `tracks`.
    pub(in crate::join) fn resume<P: Sync>(
        &self,
        team: &dyn Team,
        tracks: bool,
        begin: impl Fn(Arc<JoinTable>, u32) -> P,
        each: impl Fn(&P, Batch, &WorkContext) -> SqlResult<()> + Sync,
    ) -> SqlResult<()> {
        let written: Vec<Vec<Vec<Piece>>> =
            self.outgoing.take_all().into_iter().map(Outgoing::finish).collect::<Result<_, _>>()?;
        if written.is_empty() {
            return Ok(());
        }
        let file = self.file.get(&team.workspace())?;
        for partition in 0..PARTITIONS {
            let pieces: Vec<Piece> =
                written.iter().flat_map(|it| &it[partition]).copied().collect();
            if pieces.is_empty() {
                continue;
            }
            let table = Arc::new(self.build.load(partition, team)?);
            let with = begin(table.clone(), self.build.first(partition));
            team.run(pieces.len().div_ceil(PIECES_PER_TASK), &|task, context| {
                for piece in pieces.iter().skip(task * PIECES_PER_TASK).take(PIECES_PER_TASK) {
                    context.check()?;
                    let columns = read(&file, piece.extent)?;
                    let (rows, sequence) = (piece.extent.rows as usize, piece.sequence);
                    each(&with, Batch { rows, columns, sequence }, context)?;
                }
                Ok(())
            })?;
            if tracks {
                self.build.keep_matches(partition, &table);
            }
        }
        Ok(())
    }
}
