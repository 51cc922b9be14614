//! Bit-packed index vectors: packing, decoding, predicate scans into bitmaps, and the bitmaps themselves
//! (docs/design/01-storage.md, "packing").
//!
//! Key decision: one plain layout, contiguous little-endian codes of one width with 64 bytes of padding behind them.
//! Packed costs nothing in cache and wins by the width ratio from DRAM, so no byte-aligned second form exists.
//! Each kernel is compiled once per width and per [`Level`], and picked through a table of function pointers.
//!
//! - Invariant: every level returns bit for bit what [`Level::PORTABLE`] returns (`tests/levels.rs`).
//! - Invariant: no kernel allocates, and none reads past the padding of [`packed_bytes`].
//! - Invariant: bits of a bitmap past the last row are zero, in every output of this crate.
//! - Invariant: the public functions are safe: they check lengths once per call, never per row, and a [`Level`] is a proof.
//!
//! Reading order: [`layout`], [`bitmap`], `portable` (the definition of every kernel), `level`, `table`, `kernels`,
//! then the SIMD levels and `active`.

#![expect(clippy::too_many_arguments, reason = "kernels take their operands flat, as registers do")]

mod active;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod bitmap;
mod kernels;
pub mod layout;
mod level;
#[cfg(target_arch = "x86_64")]
mod near;
mod portable;
mod select;
mod table;

pub use active::{
    compress_i64, compress_u32, gather_i64_add, gather_u32, scan_range, scan_range_and,
    scan_range_u64, scan_set, unpack_i64_add, unpack_u8, unpack_u16, unpack_u32, unpack_u64,
};
pub use layout::{PADDING, byte_range, get, get_u64, pack, pack_u64, packed_bytes};
pub use level::{Instructions, Level};
pub use select::{Comparison, Operand, scan_compare, select_i64_add, select_u32};
pub use table::Kernels;
