//! What goes wrong while a statement runs.

use crate::draw::Draw;

/// What a statement may have, and what fails under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// `memory_limit` in KiB: a MiB at least.
    pub memory: u64,
    /// Bytes that the disk has room for.
    pub room: u64,
    /// Reads and writes until all fail.
    pub good_accesses: Option<u64>,
    /// Mappings of memory until some are refused, and how many are.
    pub refusals: Option<(u64, u64)>,
    /// Whether the folder of temporary files cannot be made.
    pub no_folder: bool,
}

impl Faults {
    /// One of each kind now and then; a third have only the limit.
    pub fn draw(draw: &mut Draw) -> Self {
        let doublings = draw.between(0, 6);
        let memory = (1024 << doublings) + draw.below(1024 << doublings) as u64;
        let mut faults =
            Self { memory, room: u64::MAX, good_accesses: None, refusals: None, no_folder: false };
        if draw.chance(25) {
            faults.room = 1 << draw.between(12, 24);
        }
        if draw.chance(25) {
            let scale = *draw.pick(&[3, 30, 300]);
            faults.good_accesses = Some(draw.below(scale) as u64);
        }
        if draw.chance(40) {
            let (before, many) = (*draw.pick(&[2, 8, 32]), *draw.pick(&[1, 3, usize::MAX >> 1]));
            faults.refusals = Some((draw.below(before) as u64, many as u64));
        }
        faults.no_folder = draw.chance(10);
        faults
    }
}
