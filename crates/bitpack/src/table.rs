//! The type of the table of kernels of a level: one pointer for each kernel and width.

use crate::level::Instructions;

pub(crate) type Unpack<T> = unsafe fn(&[u8], usize, &mut [T]);
pub(crate) type UnpackAdd = unsafe fn(&[u8], usize, i64, &mut [i64]);
pub(crate) type ScanRange = unsafe fn(&[u8], usize, usize, u32, u32, &mut [u64], u64);
pub(crate) type ScanRange64 = unsafe fn(&[u8], usize, usize, u64, u64, &mut [u64], u64);
pub(crate) type ScanSet = unsafe fn(&[u8], usize, usize, &[u64], &mut [u64], u64);
pub(crate) type Compare<T> = unsafe fn(&[T], T, &[T], u8, &mut [u64], u64);
pub(crate) type Compress<T> = unsafe fn(&[T], &[u64], &mut [T]);

/// The kernels of one level; tables are indexed by width. Calling a pointer needs what `portable` says and a processor
/// of that level, which is why the tables are private and [`Kernels::for_level`] wants the proof.
pub struct Kernels {
    pub(crate) level: Instructions,
    pub(crate) unpack_u8: [Unpack<u8>; 9],
    pub(crate) unpack_u16: [Unpack<u16>; 17],
    pub(crate) unpack_u32: [Unpack<u32>; 33],
    pub(crate) unpack_u64: [Unpack<u64>; 33],
    pub(crate) unpack_i64_add: [UnpackAdd; 33],
    pub(crate) scan_range: [ScanRange; 33],
    pub(crate) scan_set: [ScanSet; 33],
    pub(crate) scan_range_u64: ScanRange64,
    pub(crate) compare_i16: Compare<i16>,
    pub(crate) compare_i32: Compare<i32>,
    pub(crate) compare_i64: Compare<i64>,
    pub(crate) compress_i64: Compress<i64>,
    pub(crate) compress_u32: Compress<u32>,
    pub(crate) positions: unsafe fn(&[u64], &mut [u32]),
    pub(crate) count: unsafe fn(&[u64]) -> usize,
}

/// A kernel generic over its width, as an array of its instances for widths 0 to 8, 16 or 32.
macro_rules! by_width {
    (8, $($kernel:ident)::+ $(, $lane:ty)?) => {
        by_width!(@ [$($kernel)::+] [$($lane)?] 0 1 2 3 4 5 6 7 8)
    };
    (16, $($kernel:ident)::+ $(, $lane:ty)?) => {
        by_width!(@ [$($kernel)::+] [$($lane)?] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    (32, $($kernel:ident)::+ $(, $lane:ty)?) => {
        by_width!(@ [$($kernel)::+] [$($lane)?] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
            17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
    };
    (@ $kernel:tt $lane:tt $($width:literal)+) => { [$(by_width!(# $kernel $lane $width)),+] };
    (# [$($kernel:ident)::+] [] $width:literal) => { $($kernel)::+::<$width> };
    (# [$($kernel:ident)::+] [$lane:ty] $width:literal) => { $($kernel)::+::<$width, $lane> };
}
pub(crate) use by_width;
