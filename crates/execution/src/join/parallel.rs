//! Independent pieces of work on borrowed data, done by the team when there is enough of it.

use stdx::sync::Mutex;
use types::SqlResult;

use crate::Team;

/// Rows that one piece should have at least; below it, waking a worker costs more than it saves.
pub(super) const PIECE_ROWS: usize = 16 * 1024;

type Piece<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Pieces of work that do not touch each other's data.
pub(super) struct Pieces<'a> {
    pieces: Vec<Mutex<Option<Piece<'a>>>>,
    rows: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new() -> Self {
        Self { pieces: Vec::new(), rows: 0 }
    }

    /// Adds a piece that handles `rows` rows.
    pub(super) fn add(&mut self, rows: usize, piece: impl FnOnce() + Send + 'a) {
        self.pieces.push(Mutex::new(Some(Box::new(piece))));
        self.rows += rows;
    }

    /// Does all of them.
    pub(super) fn run(self, team: &dyn Team) -> SqlResult<()> {
        let run = |index: usize| {
            // Out of the lock first: the piece may take long, and nobody else wants it.
            let piece = self.pieces[index].lock().take();
            if let Some(piece) = piece {
                piece();
            }
        };
        if self.pieces.len() <= 1 || self.rows <= PIECE_ROWS {
            (0..self.pieces.len()).for_each(run);
            return Ok(());
        }
        team.run(self.pieces.len(), &|index, _| {
            run(index);
            Ok(())
        })
    }
}

/// Cuts `rows` into pieces of about equal size, at least [`PIECE_ROWS`] each and at most `most` of them.
pub(super) fn piece_rows(rows: usize, most: usize) -> usize {
    rows.div_ceil(most.max(1)).max(PIECE_ROWS).next_multiple_of(64)
}
