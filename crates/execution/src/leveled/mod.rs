//! Loops compiled once per [`Level`] of instructions, and the few that are written in them
//! (docs/design/04-execution.md, "levels of instructions").
//!
//! Key decision: most loops over rows need no intrinsics, only permission to use wide registers. [`leveled`] compiles
//! the body of a function for each level and calls the one that the caller names, so that the portable one is the
//! oracle of the others. Few groups, which no compiler vectorises, are written out in `masks`.
//!
//! - Invariant: every level returns what [`Level::PORTABLE`] returns, bit for bit.

#![expect(unsafe_code, reason = "kernels of a level, which is the proof that the processor has it")]

mod addends;
mod floats;
mod groups;
mod lanes;
mod masks;
mod packed;
#[cfg(target_arch = "x86_64")]
mod packed_avx2;
mod search;
mod slots;
#[cfg(test)]
mod tests;

pub(crate) use addends::{Addends, PACKED_ROWS};
pub(crate) use bitpack::{Instructions, Level};
pub(crate) use floats::{FLOAT_LANES, add_floats, two_sum};
pub(crate) use groups::{add_runs, count_runs, numbers_of_runs, rises};
pub(crate) use lanes::{any, extent, map1, map2, put, scale, sum, sum_bytes, sum_codes, sum_words};
pub(crate) use masks::{FEW_GROUPS, add_by_masks, group_masks, look_up};
pub(crate) use packed::{
    SLACK, add_packed, key_masks, put_bytes, run_starts, scale_u32, sums_before, write1, write2,
};
pub(crate) use search::find;
pub(crate) use slots::{find_places, find_ranks, ranks_of};

/// The level of this processor.
#[inline]
pub(crate) fn level() -> Level {
    bitpack::Kernels::active().level()
}

/// Defines a function whose first argument is a [`Level`], and whose body is compiled for each of them. Generics stand
/// in brackets.
macro_rules! leveled {
    ($(#[$meta:meta])* $vis:vis fn $name:ident[$($generics:tt)*]
        ($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        $vis fn $name<$($generics)*>(
            level: $crate::leveled::Level,
            $($arg: $type),*
        ) $(-> $output)? {
            #[inline(always)]
            fn portable<$($generics)*>($($arg: $type),*) $(-> $output)? $body
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
            fn avx2<$($generics)*>($($arg: $type),*) $(-> $output)? {
                portable($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(
                enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi"
            )]
            fn avx512<$($generics)*>($($arg: $type),*) $(-> $output)? {
                portable($($arg),*)
            }
            match level.instructions() {
                // SAFETY: a level is the proof that the processor has its instructions.
                #[cfg(target_arch = "x86_64")]
                $crate::leveled::Instructions::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::leveled::Instructions::Avx2 => unsafe { avx2($($arg),*) },
                _ => portable($($arg),*),
            }
        }
    };
}
use leveled;
