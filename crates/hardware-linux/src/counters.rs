//! The processor's counters of the calling thread, opened when a thread first asks. Whoever does not ask pays nothing.

use std::cell::OnceCell;
use std::os::fd::OwnedFd;

use hardware::Counters;

use crate::kernel;

thread_local! {
    /// Closed when its thread ends; `None` where the kernel refuses.
    static OPENED: OnceCell<Option<Group>> = const { OnceCell::new() };
}

/// A counter of cycles that leads one of instructions, so that both are read at the same moment.
struct Group {
    cycles: OwnedFd,
    _instructions: OwnedFd,
}

/// What the calling thread has done since it first asked.
pub(crate) fn read() -> Option<Counters> {
    OPENED.with(|opened| {
        let group = opened.get_or_init(open).as_ref()?;
        let [cycles, instructions] = kernel::read_counters(&group.cycles).ok()?;
        Some(Counters { cycles, instructions })
    })
}

fn open() -> Option<Group> {
    let cycles = kernel::open_counter(kernel::CYCLES, None).ok()?;
    let instructions = kernel::open_counter(kernel::INSTRUCTIONS, Some(&cycles)).ok()?;
    Some(Group { cycles, _instructions: instructions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_rise_where_they_can_be_read() {
        let Some(before) = read() else { return };
        let work = (0..100_000_u64).fold(1, |sum: u64, it| sum.wrapping_mul(it | 1));
        assert_ne!(work, 0, "odd factors");
        let after = read().expect("what was opened stays open");
        assert!(after.cycles > before.cycles && after.instructions > before.instructions + 1000);
    }
}
