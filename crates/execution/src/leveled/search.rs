//! Searching a short text in a long one: four of its bytes are compared at 64 places at once, and only where all four
//! are there is the rest looked at (docs/design/07-measured-costs.md, "search in texts").

use memchr::memmem::Finder;

use super::{Instructions, Level};

/// Where the text of a finder first stands in `text` from `at` on.
#[inline]
pub(crate) fn find(level: Level, finder: &Finder<'_>, text: &[u8], at: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 && finder.needle().len() >= 4 {
        // SAFETY: the level says that the processor has these instructions.
        return unsafe { x86::find(finder.needle(), text, at) };
    }
    let _ = level;
    finder.find(text.get(at..)?).map(|it| at + it)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn find(needle: &[u8], text: &[u8], mut at: usize) -> Option<usize> {
        let last = needle.len() - 1;
        let offsets = [0, last, last / 3, last * 2 / 3];
        let wanted = offsets.map(|it| _mm512_set1_epi8(needle[it] as i8));
        while let Some(starts) = text.len().checked_sub(at + last).filter(|&it| it > 0) {
            let lanes = u64::MAX >> (64 - starts.min(64));
            let mut found = lanes;
            for (offset, wanted) in offsets.into_iter().zip(wanted) {
                // SAFETY: only bytes of places that begin a text of the needle's length are read.
                let bytes = unsafe {
                    _mm512_maskz_loadu_epi8(lanes, text.as_ptr().add(at + offset).cast())
                };
                found = _mm512_mask_cmpeq_epi8_mask(found, bytes, wanted);
            }
            while found != 0 {
                let place = at + found.trailing_zeros() as usize;
                if text[place..].starts_with(needle) {
                    return Some(place);
                }
                found &= found - 1;
            }
            at += 64;
        }
        None
    }
}
