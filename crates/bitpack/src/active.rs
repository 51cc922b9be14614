//! Which kernels run: those of a level, or of the best one, which the free functions of this crate use.

use crate::level::{Instructions, Level};
use crate::portable;
use crate::table::Kernels;
#[cfg(target_arch = "x86_64")]
use crate::{avx2, avx512};

/// What [`Kernels::active`] returns, settled by its first use.
#[cfg(not(loom))]
static ACTIVE: stdx::sync::OnceLock<&'static Kernels> = stdx::sync::OnceLock::new();

impl Kernels {
    /// The kernels of a level.
    pub fn for_level(level: Level) -> &'static Self {
        match level.instructions() {
            Instructions::Portable => &portable::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => &avx2::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => &avx512::KERNELS,
            #[cfg(not(target_arch = "x86_64"))]
            _ => &portable::KERNELS,
        }
    }

    /// The kernels that the free functions of this crate use: those of the best level, unless another was chosen.
    #[inline]
    pub fn active() -> &'static Self {
        #[cfg(not(loom))]
        {
            ACTIVE.get_or_init(|| Self::for_level(Level::detect()))
        }
        #[cfg(loom)]
        {
            Self::for_level(Level::detect())
        }
    }

    /// Makes the kernels of a level the active ones of this process, to measure what a better level is worth. False when
    /// others are in use already.
    pub fn choose(level: Level) -> bool {
        #[cfg(not(loom))]
        {
            ACTIVE.get_or_init(|| Self::for_level(level)).level() == level
        }
        #[cfg(loom)]
        {
            level == Level::detect()
        }
    }
}

macro_rules! with_active_kernels {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) $(-> $output:ty)?;)*) => {$(
        $(#[$meta])*
        #[inline]
        pub fn $name($($arg: $type),*) $(-> $output)? {
            Kernels::active().$name($($arg),*)
        }
    )*};
}

with_active_kernels! {
    /// [`Kernels::unpack_u8`] at the best level.
    fn unpack_u8(packed: &[u8], bits: u32, start: usize, out: &mut [u8]);
    /// [`Kernels::unpack_u16`] at the best level.
    fn unpack_u16(packed: &[u8], bits: u32, start: usize, out: &mut [u16]);
    /// [`Kernels::unpack_u32`] at the best level.
    fn unpack_u32(packed: &[u8], bits: u32, start: usize, out: &mut [u32]);
    /// [`Kernels::unpack_u64`] at the best level.
    fn unpack_u64(packed: &[u8], bits: u32, start: usize, out: &mut [u64]);
    /// [`Kernels::unpack_i64_add`] at the best level.
    fn unpack_i64_add(packed: &[u8], bits: u32, start: usize, base: i64, out: &mut [i64]);
    /// [`Kernels::scan_range`] at the best level.
    fn scan_range(
        packed: &[u8], bits: u32, start: usize, rows: usize, lo: u32, hi: u32, out: &mut [u64]
    );
    /// [`Kernels::scan_range_and`] at the best level.
    fn scan_range_and(
        packed: &[u8], bits: u32, start: usize, rows: usize, lo: u32, hi: u32, out: &mut [u64]
    );
    /// [`Kernels::scan_range_u64`] at the best level.
    fn scan_range_u64(
        packed: &[u8], start: usize, rows: usize, lo: u64, hi: u64, out: &mut [u64], and: bool
    );
    /// [`Kernels::scan_set`] at the best level.
    fn scan_set(
        packed: &[u8], bits: u32, start: usize, rows: usize, set: &[u64], out: &mut [u64], and: bool
    );
    /// [`Kernels::gather_u32`] at the best level.
    fn gather_u32(packed: &[u8], bits: u32, start: usize, positions: &[u32], out: &mut [u32]);
    /// [`Kernels::gather_i64_add`] at the best level.
    fn gather_i64_add(
        packed: &[u8], bits: u32, start: usize, base: i64, positions: &[u32], out: &mut [i64]
    );
    /// [`Kernels::compress_i64`] at the best level.
    fn compress_i64(values: &[i64], words: &[u64], out: &mut [i64]) -> usize;
    /// [`Kernels::compress_u32`] at the best level.
    fn compress_u32(values: &[u32], words: &[u64], out: &mut [u32]) -> usize;
}
