//! The choice of kernels for a process, which holds from its first use: a test program of its own.

use bitpack::{Kernels, Level};

#[test]
fn a_level_is_chosen_before_its_first_use_and_then_stays() {
    assert!(Kernels::choose(Level::Portable));
    assert_eq!(Kernels::active().level(), Level::Portable);
    assert!(Kernels::choose(Level::Portable), "the same choice again is no change");
    for level in [Level::Avx2, Level::Avx512] {
        assert!(!Kernels::choose(level), "{level:?} comes too late");
    }
    assert_eq!(Kernels::active().level(), Level::Portable);
}
