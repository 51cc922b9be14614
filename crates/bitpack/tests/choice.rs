//! The choice of kernels for a process, which holds from its first use: a test program of its own.

use bitpack::{Instructions, Kernels, Level};

#[test]
fn a_level_is_chosen_before_its_first_use_and_then_stays() {
    assert!(Kernels::choose(Level::PORTABLE));
    assert_eq!(Kernels::active().level(), Level::PORTABLE);
    assert!(Kernels::choose(Level::PORTABLE), "the same choice again is no change");
    for level in [Instructions::Avx2, Instructions::Avx512].into_iter().filter_map(Level::of) {
        assert!(!Kernels::choose(level), "{level:?} comes too late");
    }
    assert_eq!(Kernels::active().level(), Level::PORTABLE);
}
