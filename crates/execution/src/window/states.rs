//! Aggregates over frames that keep what they need by themselves: a frame that only grows is added to, any other is computed
//! anew, and equal ones are computed once.

use stdx::sync::Arc;
use storage::Check;
use types::SqlResult;

use super::frames::Ranges;
use super::unit::Piece;
use crate::aggregate::{GroupStates, StateRows, StateSpec, states_of};
use crate::{Bitmap, Vector};

/// The rows of a unit as an aggregate sees them.
pub(super) struct Source<'a> {
    pub(super) pieces: &'a [Piece],
    /// Rows of the partition before the unit.
    pub(super) before: usize,
    pub(super) arguments: &'a [Vec<Arc<Vector>>],
    /// Rows that count, piece by piece; `None` for all.
    pub(super) counted: &'a [Option<Bitmap>],
}

/// What an aggregate keeps of a frame.
pub(super) struct FrameStates {
    states: Box<dyn GroupStates>,
    /// The frame.
    ranges: Option<Ranges>,
}

impl FrameStates {
    /// Of no frame yet.
    pub(super) fn new(spec: &StateSpec) -> Self {
        Self { states: empty(spec), ranges: None }
    }

    /// From now on rows are counted from the end of the frame, which goes on.
    pub(super) fn go_on(&mut self) {
        let none = (0, 0);
        self.ranges = Some(Ranges { before: none, current: none, behind: none });
    }

    /// The values of some frames, one after the other.
    pub(super) fn values(
        &mut self,
        spec: &StateSpec,
        source: &Source<'_>,
        frames: &[Ranges],
        check: Check<'_>,
    ) -> SqlResult<Vector> {
        let (mut values, mut places) = (Vec::new(), Vec::with_capacity(frames.len()));
        for frame in frames {
            if values.is_empty() || self.ranges != Some(*frame) {
                self.go_to(spec, source, *frame);
                values.push(self.states.finish(check)?);
            }
            places.push(values.len() - 1);
        }
        let rows = places.iter().map(|&it| (&values[it], 0));
        Ok(Vector::collect(spec.result(), rows))
    }

    fn go_to(&mut self, spec: &StateSpec, source: &Source<'_>, frame: Ranges) {
        let known = self.ranges.replace(frame).and_then(|it| it.whole());
        match (known, frame.whole()) {
            (Some(known), Some(new)) if known.0 == new.0 && known.1 <= new.1 => {
                source.feed(&mut *self.states, (known.1.max(known.0), new.1));
            }
            _ => {
                self.states = empty(spec);
                frame.iter().for_each(|it| source.feed(&mut *self.states, it));
            }
        }
    }
}

fn empty(spec: &StateSpec) -> Box<dyn GroupStates> {
    let mut states = states_of(spec);
    states.resize(1);
    states
}

impl Source<'_> {
    /// Feeds some rows of the unit.
    fn feed(&self, states: &mut dyn GroupStates, (start, end): (usize, usize)) {
        let mut place = self.pieces.partition_point(|it| it.first + it.rows.len() <= start);
        let mut row = start;
        while row < end {
            let Piece { first, rows, .. } = &self.pieces[place];
            let (from, to) = (row - first, (end - first).min(rows.len()));
            let places: Vec<u32> = (from as u32..to as u32).collect();
            let arguments: Vec<Arc<Vector>> = match to - from == rows.len() {
                true => self.arguments[place].clone(),
                false => {
                    self.arguments[place].iter().map(|it| Arc::new(it.take(&places))).collect()
                }
            };
            let valid = self.counted[place].as_ref();
            let valid = valid.map(|it| Bitmap::from_bits((from..to).map(|row| it.get(row))));
            let groups = vec![0; to - from];
            let (groups, valid, position) =
                (&groups[..], valid.as_ref(), ((self.before + row) as u64, 0));
            states.update(&StateRows { groups, arguments: &arguments, valid, position });
            (row, place) = (first + to, place + 1);
        }
    }
}
