//! Marks for an observer outside of the machine: the access counter of the lab
//! (docs/design/06-proof-without-hardware.md, "counting accesses").
//!
//! A mark is a no-operation of eight bytes whose displacement, which no processor looks at, holds a number. An emulator
//! that knows the numbers sees when a worker runs and when a phase of counting begins; anywhere else a mark costs an
//! instruction that does nothing, so nobody has to ask whether there is an observer.

/// A worker's step begins.
const ENTER: u32 = 0x4E57_0001;
/// A worker's step has ended.
const LEAVE: u32 = 0x4E57_0002;
/// Counting begins, from zero and with empty caches.
const BEGIN: u32 = 0x4E57_0003;
/// Counting ends.
const END: u32 = 0x4E57_0004;

/// Executes a mark. It may touch memory as far as the compiler knows, so that no access moves across it.
#[inline(always)]
fn mark<const NUMBER: u32>() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a no-operation: the address of its operand is computed by nobody and read by nobody.
    unsafe {
        std::arch::asm!(
            ".byte 0x0f, 0x1f, 0x84, 0x00",
            ".long {number}",
            number = const NUMBER,
            options(nostack, preserves_flags)
        );
    }
}

/// Runs the step of a worker, marked.
#[inline]
pub fn step<T>(body: impl FnOnce() -> T) -> T {
    /// Also when the step panics.
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            mark::<LEAVE>();
        }
    }
    mark::<ENTER>();
    let _leave = Leave;
    body()
}

/// Begins or ends a phase of counting.
pub fn count(on: bool) {
    if on { mark::<BEGIN>() } else { mark::<END>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_do_nothing_here() {
        count(true);
        assert_eq!(step(|| 7), 7);
        let thrown = std::panic::catch_unwind(|| step(|| panic!("as it should")));
        assert!(thrown.is_err());
        count(false);
    }
}
