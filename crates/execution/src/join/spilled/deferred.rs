//! Rows that wait for the tables of partitions.

use stdx::sync::Arc;
use types::SqlResult;

use super::build::SpilledBuild;
use super::hashes::partition_of;
use super::part::SpilledPart;
use super::{PARTITIONS, PIECES_PER_TASK};
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
        self.write(
            outgoing,
            Waiting { sequence: batch.sequence, columns: batch.columns, partitions },
        )
    }

    /// Writes rows beside others of their part only.
    fn write(&self, outgoing: &mut Outgoing, rows: Waiting) -> SqlResult<()> {
        if let (Some(parts), Some(first)) = (&self.parts, outgoing.begins())
            && parts.part_of(first) != parts.part_of(rows.sequence)
        {
            // A batch is of one part.
            outgoing.write()?;
        }
        outgoing.add(rows)
    }

    /// Lets all go on, partition by partition, as `on` says.
    pub(in crate::join) fn resume(&self, team: &dyn Team, on: &dyn Resumed) -> SqlResult<()> {
        let written: Vec<Vec<Vec<Piece>>> =
            self.outgoing.take_all().into_iter().map(Outgoing::finish).collect::<Result<_, _>>()?;
        for partition in 0..PARTITIONS {
            let pieces = written.iter().flat_map(|it| &it[partition]).copied().collect();
            self.resume_part(&self.build.parts[partition], pieces, team, on)?;
        }
        Ok(())
    }

    /// Lets those go on that wait for the table of a partition, or for those that it is cut into.
    fn resume_part(
        &self,
        part: &SpilledPart,
        pieces: Vec<Piece>,
        team: &dyn Team,
        on: &dyn Resumed,
    ) -> SqlResult<()> {
        if pieces.is_empty() {
            return Ok(());
        }
        if !part.cut.is_empty() {
            let pieces = self.cut(part, &pieces, team, on)?;
            let mut parts = part.cut.iter().zip(pieces);
            return parts.try_for_each(|(part, pieces)| self.resume_part(part, pieces, team, on));
        }
        let table = Arc::new(self.build.load(part, team)?);
        let each = on.begin(table.clone(), part.first);
        self.read(&pieces, team, &*each)?;
        if on.tracks_matches() {
            *part.matched.lock() = table.matched_words();
        }
        Ok(())
    }

    /// Cuts rows as the build rows of their partition are cut.
    fn cut(
        &self,
        part: &SpilledPart,
        pieces: &[Piece],
        team: &dyn Team,
        on: &dyn Resumed,
    ) -> SqlResult<Vec<Vec<Piece>>> {
        let file = self.file.get(&team.workspace())?;
        let outgoing: PerSlot<Outgoing> = PerSlot::new(team.slots());
        self.read(pieces, team, &|batch, context| {
            let partitions = on.cut(&batch, part, context)?;
            let mut local = outgoing.lock(context.slot);
            let local = local.get_or_insert_with(|| Outgoing::small(part.cut.len(), file.clone()));
            self.write(
                local,
                Waiting { sequence: batch.sequence, columns: batch.columns, partitions },
            )
        })?;
        let mut parts: Vec<Vec<Piece>> = vec![Vec::new(); part.cut.len()];
        for of_worker in outgoing.take_all() {
            of_worker.finish()?.into_iter().zip(&mut parts).for_each(|(from, to)| to.extend(from));
        }
        Ok(parts)
    }

    /// Reads rows that wait.
    fn read(&self, pieces: &[Piece], team: &dyn Team, each: &Each<'_>) -> SqlResult<()> {
        let file = self.file.get(&team.workspace())?;
        team.run(pieces.len().div_ceil(PIECES_PER_TASK), &|task, context| {
            for piece in pieces.iter().skip(task * PIECES_PER_TASK).take(PIECES_PER_TASK) {
                context.check()?;
                let columns = read(&file, piece.extent)?;
                let (rows, sequence) = (piece.extent.rows as usize, piece.sequence);
                each(Batch { rows, columns, sequence }, context)?;
            }
            Ok(())
        })
    }
}

/// What is done with a batch.
pub(in crate::join) type Each<'a> = dyn Fn(Batch, &WorkContext) -> SqlResult<()> + Sync + 'a;

/// What becomes of rows that have waited.
pub(in crate::join) trait Resumed: Sync {
    /// Which of those that a partition is cut into each row of a batch waits for.
    fn cut(&self, batch: &Batch, part: &SpilledPart, context: &WorkContext) -> SqlResult<Vec<u8>>;
    /// What is done with those that waited for a table, whose first row has a number.
    fn begin(&self, table: Arc<JoinTable>, first: u32) -> Box<Each<'_>>;
    /// Whether tables learn which of their rows have found a partner.
    fn tracks_matches(&self) -> bool;
}
