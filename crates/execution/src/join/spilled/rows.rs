//! The rows of a build side in files after all probes, by their matches.

use std::ops::Range;

use hardware::NodeId;
use scheduler::MorselRange;
use stdx::sync::Arc;
use types::SqlResult;

use super::PIECES_PER_TASK;
use super::build::SpilledBuild;
use super::part::SpilledPart;
use crate::partitions::Piece;
use crate::spill::read;
use crate::{Batch, Bitmap, Layout, Next, Source, WorkContext};

/// Reads a build side in files by its matches; counts in pieces.
pub(in crate::join) struct SpilledRowsSource {
    build: Arc<SpilledBuild>,
    /// All pieces: the partition that has a table, and the number of the first row in it.
    pieces: Vec<(usize, Piece, u32)>,
    /// By partition that has a table, and at last of the rows that have no key.
    matches: Vec<Bitmap>,
    matched: bool,
}

impl SpilledRowsSource {
    /// The rows that have (`matched`) or have not found a partner.
    pub(in crate::join) fn new(build: Arc<SpilledBuild>, matched: bool) -> Self {
        let leaves = build.leaves();
        let of_part = |(partition, part): (usize, &&SpilledPart)| {
            part.pieces.iter().map(|it| (partition, it.0, it.1)).collect::<Vec<_>>()
        };
        let pieces = leaves.iter().enumerate().flat_map(of_part).collect();
        let matches = leaves.iter().map(|it| Bitmap(it.matched.lock().clone())).collect();
        Self { build, pieces, matches, matched }
    }
}

impl Source for SpilledRowsSource {
    fn layout(&self) -> &Layout {
        self.build.layout()
    }

    fn ranges(&self) -> Vec<MorselRange> {
        vec![MorselRange { node: None, start: 0, end: self.pieces.len() as u64 }]
    }

    fn morsel_rows(&self) -> u64 {
        PIECES_PER_TASK as u64
    }

    fn produce(&self, pieces: Range<u64>, _: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        for index in pieces {
            let (partition, piece, start) = self.pieces[index as usize];
            let map = &self.matches[partition];
            let is_matched = |row: u32| !map.0.is_empty() && map.get((start + row) as usize);
            let chosen: Vec<u32> =
                (0..piece.extent.rows).filter(|&it| is_matched(it) == self.matched).collect();
            if chosen.is_empty() {
                continue;
            }
            let mut columns = read(&self.build.file, piece.extent)?;
            if partition + 1 < self.matches.len() {
                columns.drain(..self.build.key_columns());
            }
            let rows = piece.extent.rows as usize;
            next(Batch { rows, columns, sequence: index }.take(&chosen))?;
        }
        Ok(())
    }

    fn bytes_read(&self, _: Range<u64>, _: NodeId) -> Vec<(NodeId, u64)> {
        Vec::new()
    }

    fn describe(&self) -> String {
        self.build.describe()
    }
}
