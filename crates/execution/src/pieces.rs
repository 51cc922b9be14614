//! Independent pieces of work on borrowed data, done by the team when there is enough of it.

use memory::{Placed, Pod};
use stdx::sync::Mutex;
use types::SqlResult;

use crate::Team;

/// Rows that one piece should have at least; below it, waking a worker costs more than it saves.
pub(crate) const PIECE_ROWS: usize = 16 * 1024;

/// Bytes that a piece which only writes zeros has at least, and so many times as many pieces as workers there are at most.
const ZEROS_BYTES: usize = 512 << 10;
const ZEROS_PIECES: usize = 2;

type Piece<'a> = Box<dyn FnOnce() -> SqlResult<()> + Send + 'a>;

/// Pieces of work that do not touch each other's data.
pub(crate) struct Pieces<'a> {
    pieces: Vec<Mutex<Option<Piece<'a>>>>,
    rows: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new() -> Self {
        Self { pieces: Vec::new(), rows: 0 }
    }

    /// Adds a piece that handles `rows` rows.
    pub(crate) fn add(&mut self, rows: usize, piece: impl FnOnce() + Send + 'a) {
        self.try_add(rows, move || {
            piece();
            Ok(())
        });
    }

    /// Adds a piece that handles `rows` rows and may fail.
    pub(crate) fn try_add(
        &mut self,
        rows: usize,
        piece: impl FnOnce() -> SqlResult<()> + Send + 'a,
    ) {
        self.pieces.push(Mutex::new(Some(Box::new(piece))));
        self.rows += rows;
    }

    /// Does all of them.
    pub(crate) fn run(self, team: &dyn Team) -> SqlResult<()> {
        let run = |index: usize| {
            // Out of the lock first: the piece may take long, and nobody else wants it.
            let piece = self.pieces[index].lock().take();
            piece.map_or(Ok(()), |piece| piece())
        };
        if self.pieces.len() <= 1 || self.rows <= PIECE_ROWS {
            return (0..self.pieces.len()).try_for_each(run);
        }
        team.run(self.pieces.len(), &|index, _| run(index))
    }
}

/// Cuts `rows` into pieces of about equal size, at least [`PIECE_ROWS`] each and at most `most` of them.
pub(crate) fn piece_rows(rows: usize, most: usize) -> usize {
    rows.div_ceil(most.max(1)).max(PIECE_ROWS).next_multiple_of(64)
}

/// So many values to be written whole, in the order of the team's places.
pub(crate) fn unspecified<T: Pod + Default>(len: usize, team: &dyn Team) -> SqlResult<Placed<T>> {
    Ok(team.workspace().spread().unspecified(len)?)
}

/// So many zeros, which the team writes: a worker brings the pages of its part, where they are fresh.
pub(crate) fn zeros<T: Pod + Default>(len: usize, team: &dyn Team) -> SqlResult<Placed<T>> {
    let mut values = unspecified(len, team)?;
    let most = len.div_ceil((team.width() * ZEROS_PIECES).max(1));
    let piece = most.max(ZEROS_BYTES / size_of::<T>()).next_multiple_of(64);
    let mut pieces = Pieces::new();
    for part in values.chunks_mut(piece) {
        pieces.add(part.len(), move || part.fill(T::default()));
    }
    pieces.run(team)?;
    Ok(values)
}
