//! 512-bit kernels. A decode is one load and one byte permute that brings each lane its bytes, then one shift: by
//! `vpmultishiftqb` for up to 16 bits, by `vpsrlvd` up to 25, by two permutes beyond (docs/design/07-measured-costs.md,
//! "packed scans").
//!
//! Eight rows of any width fill whole bytes, so that rows from a multiple of 8 on need no shift of their own; scans
//! that start elsewhere run the portable kernel.

use std::arch::x86_64::*;

use crate::bitmap::tail_mask;
use crate::level::Instructions;
use crate::near::Nearness;
use crate::portable::{self, EQUAL, GREATER, LESS};
use crate::table::{Kernels, by_width};

pub(crate) static KERNELS: Kernels = Kernels {
    level: Instructions::Avx512,
    unpack_u8: by_width!(8, unpack_u8),
    unpack_u16: by_width!(16, unpack_u16),
    unpack_u32: by_width!(32, unpack_u32),
    unpack_u64: by_width!(32, unpack_u64),
    unpack_i64_add: by_width!(32, unpack_i64_add),
    scan_range: by_width!(32, scan_range),
    scan_set: by_width!(32, scan_set),
    scan_range_u64,
    compare_i16,
    compare_i32,
    compare_i64,
    compress_i64,
    compress_u32,
    positions,
    count,
};

/// Rows of a word up to which their positions are counted out one by one.
const FEW: u32 = 4;

/// Where the lanes of a vector find their code, for a width.
struct Lanes<const W: usize>;

impl<const W: usize> Lanes<W> {
    const MASK: u32 = ((1u64 << W) - 1) as u32;
    /// 64 codes of up to 8 bits: the bytes of each quadword, then the bit of each byte in it.
    const BYTES_8: [u8; 64] = bytes_of_groups(W, 8);
    const SHIFT_8: [u8; 64] = bits_of_bytes(W, 1);
    /// 32 codes of up to 16 bits: four to a quadword.
    const BYTES_16: [u8; 64] = bytes_of_groups(W, 4);
    const SHIFT_16: [u8; 64] = bits_of_bytes(W, 2);
    /// 16 codes: the four bytes from each code's first on, the next four, and the bit in the first.
    const BYTES_32: [u8; 64] = bytes_of_lanes(W, 4, 0);
    const BYTES_32_NEXT: [u8; 64] = bytes_of_lanes(W, 4, 4);
    const SHIFT_32: [u32; 16] = shift32(W);
    /// Eight codes, in 64-bit lanes.
    const BYTES_64: [u8; 64] = bytes_of_lanes(W, 8, 0);
    const SHIFT_64: [u64; 8] = shift64(W);
}

/// Byte `j` of quadword `i` comes from byte `j` of the code group `i`, of `codes` codes each.
const fn bytes_of_groups(width: usize, codes: usize) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = ((at / 8 * codes * width / 8 + at % 8) % 64) as u8;
        at += 1;
    }
    bytes
}

/// The bit in its quadword that each byte begins at; lanes are `lane` bytes wide.
const fn bits_of_bytes(width: usize, lane: usize) -> [u8; 64] {
    let mut bits = [0; 64];
    let mut at = 0;
    while at < 64 {
        let first = at / 8 * (8 / lane) * width % 8;
        bits[at] = ((first + at % 8 / lane * width + at % lane * 8) % 64) as u8;
        at += 1;
    }
    bits
}

/// Byte `j` of lane `i` comes from byte `j + skip` of code `i`.
const fn bytes_of_lanes(width: usize, lane: usize, skip: usize) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = ((at / lane * width / 8 + at % lane + skip) % 64) as u8;
        at += 1;
    }
    bytes
}

const fn shift32(width: usize) -> [u32; 16] {
    let mut shift = [0; 16];
    let mut at = 0;
    while at < 16 {
        shift[at] = (at * width % 8) as u32;
        at += 1;
    }
    shift
}

const fn shift64(width: usize) -> [u64; 8] {
    let mut shift = [0; 8];
    let mut at = 0;
    while at < 8 {
        shift[at] = (at * width % 8) as u64;
        at += 1;
    }
    shift
}

/// A vector from a constant array of the same size.
macro_rules! constant {
    ($array:expr) => {{
        let array = const { &$array };
        // SAFETY: 64 bytes, read unaligned.
        unsafe { _mm512_loadu_si512(array.as_ptr().cast()) }
    }};
}

/// Rows of a word up to which they are looked up one by one (0.8 ns each against 20 for all by gathers).
const SPARSE_ROWS: u32 = 16;

/// The even bytes of two registers.
const EVEN_BYTES: [u8; 64] = even_bytes();

const fn even_bytes() -> [u8; 64] {
    let mut even = [0; 64];
    let mut at = 0;
    while at < 64 {
        even[at] = at as u8 * 2;
        at += 1;
    }
    even
}

/// Declares a function compiled for this level.
macro_rules! kernels {
    ($($(#[$meta:meta])* fn $name:ident $(<const $w:ident: usize>)?
        ($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block)*) => {$(
        $(#[$meta])*
        #[inline]
        #[target_feature(
            enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx2,bmi1,bmi2,popcnt"
        )]
        unsafe fn $name $(<const $w: usize>)? ($($arg: $type),*) $(-> $output)? $body
    )*};
}

kernels! {
    /// 64 codes of up to 8 bits. Reads 64 bytes, like its siblings.
    fn codes_8<const W: usize>(from: *const u8) -> __m512i {
        // SAFETY: the caller knows that 64 bytes can be read.
        let raw = unsafe { _mm512_loadu_si512(from.cast()) };
        if W == 8 {
            return raw;
        }
        let spread = _mm512_permutexvar_epi8(constant!(Lanes::<W>::BYTES_8), raw);
        let codes = _mm512_multishift_epi64_epi8(constant!(Lanes::<W>::SHIFT_8), spread);
        _mm512_and_si512(codes, _mm512_set1_epi8(Lanes::<W>::MASK as i8))
    }

    /// 32 codes of up to 16 bits.
    fn codes_16<const W: usize>(from: *const u8) -> __m512i {
        // SAFETY: as in `codes_8`.
        let raw = unsafe { _mm512_loadu_si512(from.cast()) };
        if W == 16 {
            return raw;
        }
        let spread = _mm512_permutexvar_epi8(constant!(Lanes::<W>::BYTES_16), raw);
        let codes = _mm512_multishift_epi64_epi8(constant!(Lanes::<W>::SHIFT_16), spread);
        _mm512_and_si512(codes, _mm512_set1_epi16(Lanes::<W>::MASK as i16))
    }

    /// 16 codes.
    fn codes_32<const W: usize>(from: *const u8) -> __m512i {
        // SAFETY: as in `codes_8`.
        let raw = unsafe { _mm512_loadu_si512(from.cast()) };
        if W == 32 {
            return raw;
        }
        let shift = constant!(Lanes::<W>::SHIFT_32);
        let low = _mm512_permutexvar_epi8(constant!(Lanes::<W>::BYTES_32), raw);
        let mut codes = _mm512_srlv_epi32(low, shift);
        if W > 25 {
            // A code may reach into a fifth byte. A shift by 32 gives zero, which is right: all bits are in `low`.
            let high = _mm512_permutexvar_epi8(constant!(Lanes::<W>::BYTES_32_NEXT), raw);
            let left = _mm512_sub_epi32(_mm512_set1_epi32(32), shift);
            codes = _mm512_or_si512(codes, _mm512_sllv_epi32(high, left));
        }
        _mm512_and_si512(codes, _mm512_set1_epi32(Lanes::<W>::MASK as i32))
    }

    /// 8 codes in 64-bit lanes.
    fn codes_64<const W: usize>(from: *const u8) -> __m512i {
        // SAFETY: as in `codes_8`.
        let raw = unsafe { _mm512_loadu_si512(from.cast()) };
        let spread = _mm512_permutexvar_epi8(constant!(Lanes::<W>::BYTES_64), raw);
        let codes = _mm512_srlv_epi64(spread, constant!(Lanes::<W>::SHIFT_64));
        _mm512_and_si512(codes, _mm512_set1_epi64(i64::from(Lanes::<W>::MASK)))
    }
}

/// An unpack kernel: the portable one up to a whole byte, vectors of `$step` rows, and the portable one for the rest.
macro_rules! unpack {
    ($name:ident, $lane:ty, $step:literal, $codes:ident) => {
        kernels! {
            fn $name<const W: usize>(packed: &[u8], start: usize, out: &mut [$lane]) {
                let head = (start.next_multiple_of(8) - start).min(out.len());
                let (first, rest) = out.split_at_mut(head);
                // SAFETY: as promised to this kernel.
                unsafe { portable::unpack::<W, $lane>(packed, start, first) };
                let mut from = (start + head) / 8 * W;
                let whole = rest.len() / $step * $step;
                let (body, tail) = rest.split_at_mut(whole);
                for out in body.chunks_exact_mut($step) {
                    // SAFETY: the rows begin inside the data, which the padding follows; `out` is one vector.
                    unsafe {
                        let codes = $codes::<W>(packed.as_ptr().add(from));
                        _mm512_storeu_si512(out.as_mut_ptr().cast(), codes);
                    }
                    from += $step / 8 * W;
                }
                // SAFETY: as promised to this kernel.
                unsafe { portable::unpack::<W, $lane>(packed, start + head + whole, tail) };
            }
        }
    };
}
unpack!(unpack_u8, u8, 64, codes_8);
unpack!(unpack_u16, u16, 32, codes_16);
unpack!(unpack_u32, u32, 16, codes_32);
unpack!(unpack_u64, u64, 8, codes_64);

kernels! {
    fn unpack_i64_add<const W: usize>(packed: &[u8], start: usize, base: i64, out: &mut [i64]) {
        let head = (start.next_multiple_of(8) - start).min(out.len());
        let (first, rest) = out.split_at_mut(head);
        // SAFETY: as promised to this kernel.
        unsafe { portable::unpack_i64_add::<W>(packed, start, base, first) };
        let mut from = (start + head) / 8 * W;
        let whole = rest.len() / 8 * 8;
        let (body, tail) = rest.split_at_mut(whole);
        let bases = _mm512_set1_epi64(base);
        for out in body.chunks_exact_mut(8) {
            // SAFETY: the rows begin inside the data, which the padding follows; `out` is one vector.
            unsafe {
                let codes = codes_64::<W>(packed.as_ptr().add(from));
                _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_add_epi64(codes, bases));
            }
            from += W;
        }
        // SAFETY: as promised to this kernel.
        unsafe { portable::unpack_i64_add::<W>(packed, start + head + whole, base, tail) };
    }
}

/// Fills a bitmap: `$find` gives the word of the `$rows` rows whose bytes begin at `$from`. Whole words get the literal
/// 64 for `$rows`, so that they are compiled without the tests that the last one needs.
macro_rules! scan {
    ($packed:ident, $start:ident, $total:ident, $out:ident, $keep:ident, $w:ident,
        |$from:ident, $rows:ident, $before:ident| $find:expr) => {{
        let base = $start / 8 * $w;
        let words = $total / 64;
        for (index, run) in $out[..words].chunks_mut(8).enumerate() {
            if $keep == 0 && run.iter().all(|&it| it == 0) {
                continue;
            }
            for (word, out) in run.iter_mut().enumerate() {
                let at = base + (index * 8 + word) * 8 * $w;
                // SAFETY: the rows begin inside the data.
                let $from = unsafe { $packed.as_ptr().add(at) };
                let $rows = 64;
                let $before = *out | $keep;
                *out = $find & $before;
            }
        }
        let $rows = $total % 64;
        if $rows > 0 {
            // SAFETY: as above.
            let $from = unsafe { $packed.as_ptr().add(base + words * 8 * $w) };
            let $before = ($out[words] | $keep) & tail_mask($rows);
            $out[words] = $find & $before;
        }
    }};
}

kernels! {
    fn scan_range<const W: usize>(
        packed: &[u8], start: usize, rows: usize, lo: u32, hi: u32, out: &mut [u64], keep: u64,
    ) {
        if !start.is_multiple_of(8) {
            // SAFETY: as promised to this kernel.
            return unsafe { portable::scan_range::<W>(packed, start, rows, lo, hi, out, keep) };
        }
        let span = hi - lo;
        // SAFETY: each group of rows that is decoded begins inside the data, which the padding follows.
        scan!(packed, start, rows, out, keep, W, |from, count, _before| unsafe {
            if W <= 8 {
                range_8::<W>(from, lo, span)
            } else if W <= 16 {
                range_16::<W>(from, count, lo, span)
            } else {
                range_32::<W>(from, count, lo, span)
            }
        });
    }

    fn range_8<const W: usize>(from: *const u8, lo: u32, span: u32) -> u64 {
        // SAFETY: the caller's promise.
        let codes = unsafe { codes_8::<W>(from) };
        let above = _mm512_sub_epi8(codes, _mm512_set1_epi8(lo as i8));
        _mm512_cmple_epu8_mask(above, _mm512_set1_epi8(span as i8))
    }

    fn range_16<const W: usize>(from: *const u8, rows: usize, lo: u32, span: u32) -> u64 {
        let (lo, span) = (_mm512_set1_epi16(lo as i16), _mm512_set1_epi16(span as i16));
        // SAFETY: the caller's promise.
        let codes = unsafe { codes_16::<W>(from) };
        let mut word = u64::from(_mm512_cmple_epu16_mask(_mm512_sub_epi16(codes, lo), span));
        if rows > 32 {
            // SAFETY: a row of this group exists.
            let codes = unsafe { codes_16::<W>(from.add(4 * W)) };
            let found = _mm512_cmple_epu16_mask(_mm512_sub_epi16(codes, lo), span);
            word |= u64::from(found) << 32;
        }
        word
    }

    fn range_32<const W: usize>(from: *const u8, rows: usize, lo: u32, span: u32) -> u64 {
        let (lo, span) = (_mm512_set1_epi32(lo as i32), _mm512_set1_epi32(span as i32));
        let mut word = 0;
        for group in 0..4 {
            if group * 16 < rows {
                // SAFETY: a row of this group exists.
                let codes = unsafe { codes_32::<W>(from.add(group * 2 * W)) };
                let found = _mm512_cmple_epu32_mask(_mm512_sub_epi32(codes, lo), span);
                word |= u64::from(found) << (group * 16);
            }
        }
        word
    }

    fn scan_set<const W: usize>(
        packed: &[u8], start: usize, rows: usize, set: &[u64], out: &mut [u64], keep: u64,
    ) {
        if !start.is_multiple_of(8) {
            // SAFETY: as promised to this kernel.
            return unsafe { portable::scan_set::<W>(packed, start, rows, set, out, keep) };
        }
        if W <= 12 {
            // The whole set fits vector registers.
            let mut table = [0u64; 64];
            let words = set.len().min(64);
            table[..words].copy_from_slice(&set[..words]);
            // SAFETY: as in `scan_range`.
            scan!(packed, start, rows, out, keep, W, |from, count, _before| unsafe {
                if W <= 8 { set_8::<W>(from, &table) } else { set_16::<W>(from, count, &table) }
            });
        } else if W <= 14 {
            // The whole set fits a few lines of the first-level cache.
            let mut table = [0u64; 256];
            let words = set.len().min(256);
            table[..words].copy_from_slice(&set[..words]);
            // SAFETY: as in `scan_range`.
            scan!(packed, start, rows, out, keep, W, |from, count, before| unsafe {
                if before.count_ones() <= SPARSE_ROWS {
                    portable::set_sparse::<W>(from, before, set)
                } else {
                    set_14::<W>(from, count, &table)
                }
            });
        } else {
            let nearness = Nearness::default();
            // SAFETY: as in `scan_range`.
            scan!(packed, start, rows, out, keep, W, |from, count, before| unsafe {
                if before.count_ones() <= SPARSE_ROWS {
                    portable::set_sparse::<W>(from, before, set)
                } else {
                let near =
                    if nearness.is_asked() { set_near::<W>(from, count, set) } else { None };
                nearness.note(near.is_some());
                match near {
                    Some(word) => word,
                    None => set_32::<W>(from, count, set),
                }
                }
            });
        }
    }

    /// Membership of codes that stand near each other, as those of clustered columns do: all of it is in two registers
    /// of the set (docs/design/07-measured-costs.md, "probes and sets"): one would do for a whole table in the order of a
    /// key, and a part of it has its values further apart, those of one in four in up to four registers. `None` when they do not.
    fn set_near<const W: usize>(from: *const u8, rows: usize, set: &[u64]) -> Option<u64> {
        let first = |group: usize| if group * 16 < rows { group } else { 0 };
        // SAFETY: rows of these groups exist; a group of none is replaced by the first.
        let codes: [__m512i; 4] = std::array::from_fn(|group| unsafe {
            codes_32::<W>(from.add(first(group) * 2 * W))
        });
        let low = _mm512_min_epu32(
            _mm512_min_epu32(codes[0], codes[1]), _mm512_min_epu32(codes[2], codes[3]),
        );
        let high = _mm512_max_epu32(
            _mm512_max_epu32(codes[0], codes[1]), _mm512_max_epu32(codes[2], codes[3]),
        );
        let (low, high) = (_mm512_reduce_min_epu32(low) >> 5, _mm512_reduce_max_epu32(high) >> 5);
        if high - low >= 64 {
            return None;
        }
        let lanes = (set.len() * 2).saturating_sub(low as usize).min(64);
        let members = |from: usize| {
            let mask = (1u64 << lanes.saturating_sub(from).min(16)) - 1;
            let start = set.as_ptr().cast::<i32>().wrapping_add(low as usize + from);
            // SAFETY: only lanes within the set are read.
            unsafe { _mm512_maskz_loadu_epi32(mask as u16, start) }
        };
        let is_wide = high - low >= 32;
        let (first, second) = (members(0), members(16));
        let mut any = _mm512_or_si512(first, second);
        let (third, fourth) = if is_wide { (members(32), members(48)) } else { (first, second) };
        any = _mm512_or_si512(any, _mm512_or_si512(third, fourth));
        if _mm512_test_epi32_mask(any, any) == 0 {
            return Some(0);
        }
        let mut word = 0;
        for (group, codes) in codes.into_iter().enumerate() {
            let index =
                _mm512_sub_epi32(_mm512_srli_epi32::<5>(codes), _mm512_set1_epi32(low as i32));
            let bit = _mm512_and_si512(codes, _mm512_set1_epi32(31));
            let bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), bit);
            let mut members = _mm512_permutex2var_epi32(first, index, second);
            if is_wide {
                let upper = _mm512_permutex2var_epi32(third, index, fourth);
                let is_upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
                members = _mm512_mask_mov_epi32(members, is_upper, upper);
            }
            word |= u64::from(_mm512_test_epi32_mask(members, bit)) << (group * 16);
        }
        Some(word)
    }

    /// Membership in a set of 256 codes: a byte of eight members by permute, its bit by shuffle.
    fn set_8<const W: usize>(from: *const u8, table: &[u64; 64]) -> u64 {
        // SAFETY: the caller's promise.
        let codes = unsafe { codes_8::<W>(from) };
        let index = _mm512_and_si512(_mm512_srli_epi16::<3>(codes), _mm512_set1_epi8(31));
        // SAFETY: the first 64 of 512 bytes.
        let table = unsafe { _mm512_loadu_si512(table.as_ptr().cast()) };
        let members = _mm512_permutexvar_epi8(index, table);
        let bits = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
        let bit = _mm512_shuffle_epi8(bits, _mm512_and_si512(codes, _mm512_set1_epi8(7)));
        _mm512_test_epi8_mask(members, bit)
    }

    fn set_16<const W: usize>(from: *const u8, rows: usize, table: &[u64; 64]) -> u64 {
        // SAFETY: the caller's promise.
        let low = unsafe { members_16::<W>(from, table) };
        if rows <= 32 {
            return low;
        }
        // SAFETY: a row of this group exists.
        low | unsafe { members_16::<W>(from.add(4 * W), table) } << 32
    }

    /// Membership in a set of up to 4096 codes: 16 members by permutes of two registers each, then one bit.
    fn members_16<const W: usize>(from: *const u8, table: &[u64; 64]) -> u64 {
        // SAFETY: the caller's promise.
        let codes = unsafe { codes_16::<W>(from) };
        let index = _mm512_srli_epi16::<4>(codes);
        let pair = |at: usize| {
            let pair = table[at * 16..][..16].as_ptr();
            // SAFETY: sixteen words are there.
            let (low, high) =
                unsafe { (_mm512_loadu_si512(pair.cast()), _mm512_loadu_si512(pair.add(8).cast())) };
            _mm512_permutex2var_epi16(low, index, high)
        };
        let has = |bit: i16| _mm512_test_epi16_mask(index, _mm512_set1_epi16(bit));
        let mut members = pair(0);
        if W >= 11 {
            members = _mm512_mask_mov_epi16(members, has(64), pair(1));
        }
        if W >= 12 {
            let upper = _mm512_mask_mov_epi16(pair(2), has(64), pair(3));
            members = _mm512_mask_mov_epi16(members, has(128), upper);
        }
        let bit = _mm512_and_si512(codes, _mm512_set1_epi16(15));
        u64::from(_mm512_test_epi16_mask(members, _mm512_sllv_epi16(_mm512_set1_epi16(1), bit)))
    }

    /// Membership in a set of up to 16,384 codes, for 64 rows: bytes of eight members by 16 permutes of two registers
    /// each, then one bit. 0.3 ns a row where gathers take 0.5.
    fn set_14<const W: usize>(from: *const u8, rows: usize, table: &[u64; 256]) -> u64 {
        // SAFETY: rows of these groups exist; a group of none is replaced by the first.
        let (low, high) = unsafe {
            (codes_16::<W>(from), codes_16::<W>(from.add(if rows > 32 { 4 * W } else { 0 })))
        };
        let bytes = |low, high| _mm512_permutex2var_epi8(low, constant!(EVEN_BYTES), high);
        // The lowest three bits choose a bit, the next seven a byte of two registers, the rest the registers.
        let bit = _mm512_and_si512(bytes(low, high), _mm512_set1_epi8(7));
        let place = bytes(_mm512_srli_epi16::<3>(low), _mm512_srli_epi16::<3>(high));
        let pair = bytes(_mm512_srli_epi16::<10>(low), _mm512_srli_epi16::<10>(high));
        let mut members: [__m512i; 16] = std::array::from_fn(|at| {
            let pair = table[at * 16..][..16].as_ptr();
            // SAFETY: sixteen words are there.
            let (low, high) =
                unsafe { (_mm512_loadu_si512(pair.cast()), _mm512_loadu_si512(pair.add(8).cast())) };
            _mm512_permutex2var_epi8(low, place, high)
        });
        for (left, choice) in [(8, 1), (4, 2), (2, 4), (1, 8)] {
            let upper = _mm512_test_epi8_mask(pair, _mm512_set1_epi8(choice));
            for at in 0..left {
                members[at] =
                    _mm512_mask_blend_epi8(upper, members[at * 2], members[at * 2 + 1]);
            }
        }
        let bits = _mm512_set1_epi64(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
        _mm512_test_epi8_mask(members[0], _mm512_shuffle_epi8(bits, bit))
    }

    /// Membership in any set, by gathers of eight lanes: sixteen are slower (docs/design/07-measured-costs.md, "probes
    /// and sets").
    fn set_32<const W: usize>(from: *const u8, rows: usize, set: &[u64]) -> u64 {
        let words = _mm256_set1_epi32((set.len() * 2).min(i32::MAX as usize) as i32);
        let mut word = 0;
        for group in 0..4 {
            if group * 16 < rows {
                // SAFETY: a row of this group exists.
                let codes = unsafe { codes_32::<W>(from.add(group * 2 * W)) };
                let halves =
                    [_mm512_castsi512_si256(codes), _mm512_extracti32x8_epi32::<1>(codes)];
                for (half, codes) in halves.into_iter().enumerate() {
                    let index = _mm256_srli_epi32::<5>(codes);
                    let inside = _mm256_cmplt_epu32_mask(index, words);
                    // SAFETY: only lanes whose word is in the set are read.
                    let members = unsafe {
                        _mm256_mmask_i32gather_epi32::<4>(
                            _mm256_setzero_si256(), inside, index, set.as_ptr().cast(),
                        )
                    };
                    let bit = _mm256_and_si256(codes, _mm256_set1_epi32(31));
                    let bit = _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
                    let found = _mm256_test_epi32_mask(members, bit);
                    word |= u64::from(found) << (group * 16 + half * 8);
                }
            }
        }
        word
    }

    fn scan_range_u64(
        packed: &[u8], start: usize, rows: usize, lo: u64, hi: u64, out: &mut [u64], keep: u64,
    ) {
        let (low, span) = (_mm512_set1_epi64(lo as i64), _mm512_set1_epi64((hi - lo) as i64));
        let whole = rows / 64;
        for (word, out) in out[..whole].iter_mut().enumerate() {
            if *out | keep == 0 {
                continue;
            }
            let mut found = 0;
            for group in 0..8 {
                let at = (start + word * 64 + group * 8) * 8;
                // SAFETY: the eight rows are in `packed`.
                let values = unsafe { _mm512_loadu_si512(packed.as_ptr().add(at).cast()) };
                let inside = _mm512_cmple_epu64_mask(_mm512_sub_epi64(values, low), span);
                found |= u64::from(inside) << (group * 8);
            }
            *out = found & (*out | keep);
        }
        let (start, rest) = (start + whole * 64, rows - whole * 64);
        portable::scan_words_u64(packed, start, rest, lo, hi, &mut out[whole..], keep);
    }

    fn compress_i64(values: &[i64], words: &[u64], out: &mut [i64]) {
        let mut next = 0;
        for (word, &bits) in words.iter().enumerate() {
            if bits == 0 {
                continue;
            }
            for group in 0..8 {
                let lanes = (bits >> (group * 8)) as u8;
                let count = lanes.count_ones() as usize;
                // SAFETY: only lanes of set bits are read, which are rows of `values`; a whole vector is stored only
                // where it fits, and the survivors always do.
                unsafe {
                    let from = values.as_ptr().wrapping_add(word * 64 + group * 8);
                    let kept = _mm512_maskz_compress_epi64(
                        lanes, _mm512_maskz_loadu_epi64(lanes, from),
                    );
                    let to = out.as_mut_ptr().wrapping_add(next);
                    if next + 8 <= out.len() {
                        _mm512_storeu_si512(to.cast(), kept);
                    } else {
                        _mm512_mask_storeu_epi64(to, ((1u16 << count) - 1) as u8, kept);
                    }
                }
                next += count;
            }
        }
    }

    fn compress_u32(values: &[u32], words: &[u64], out: &mut [u32]) {
        let mut next = 0;
        for (word, &bits) in words.iter().enumerate() {
            if bits == 0 {
                continue;
            }
            for group in 0..4 {
                let lanes = (bits >> (group * 16)) as u16;
                let from = values.as_ptr().wrapping_add(word * 64 + group * 16);
                // SAFETY: only lanes of set bits are read, which are rows of `values`.
                let read = unsafe { _mm512_maskz_loadu_epi32(lanes, from.cast()) };
                // SAFETY: the survivors fit `out`.
                unsafe { store_16(lanes, read, &mut next, out) };
            }
        }
    }

    /// Stores the chosen lanes behind each other from `out[next]` on.
    fn store_16(lanes: u16, values: __m512i, next: &mut usize, out: &mut [u32]) {
        let count = lanes.count_ones() as usize;
        let kept = _mm512_maskz_compress_epi32(lanes, values);
        let to = out.as_mut_ptr().wrapping_add(*next);
        // SAFETY: a whole vector is stored only where it fits; the caller knows that the chosen lanes do.
        unsafe {
            if *next + 16 <= out.len() {
                _mm512_storeu_si512(to.cast(), kept);
            } else {
                _mm512_mask_storeu_epi32(to.cast(), ((1u32 << count) - 1) as u16, kept);
            }
        }
        *next += count;
    }

    fn positions(words: &[u64], out: &mut [u32]) {
        let mut next = 0;
        let lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        for (chunk, eight) in words.chunks(8).enumerate() {
            // Few rows qualify in most scans: eight words are passed over at once.
            // SAFETY: only the words of the chunk are read.
            let loaded =
                unsafe { _mm512_maskz_loadu_epi64((1u16 << eight.len()).wrapping_sub(1) as u8, eight.as_ptr().cast()) };
            let mut some = _mm512_test_epi64_mask(loaded, loaded);
            while some != 0 {
                let at = some.trailing_zeros() as usize;
                some &= some - 1;
                let (word, bits) = (chunk * 8 + at, eight[at]);
                if bits.count_ones() <= FEW && next + FEW as usize <= out.len() {
                    // All that there might be: whether there are one or four is nothing to branch on.
                    let mut left = bits;
                    for out in &mut out[next..next + FEW as usize] {
                        *out = (word * 64) as u32 + left.trailing_zeros();
                        left &= left.wrapping_sub(1);
                    }
                    next += bits.count_ones() as usize;
                    continue;
                }
                for group in 0..4 {
                    let first = _mm512_set1_epi32((word * 64 + group * 16) as i32);
                    let rows = _mm512_add_epi32(lanes, first);
                    // SAFETY: the caller knows that the rows fit `out`.
                    unsafe { store_16((bits >> (group * 16)) as u16, rows, &mut next, out) };
                }
            }
        }
    }

    fn count(words: &[u64]) -> usize {
        words.iter().map(|it| it.count_ones() as usize).sum()
    }
}

/// A kernel that compares `left` plus `shift` with `right` in `$lanes` lanes. Less and equal are both computed, and
/// chosen from by masks: a third outcome is what is left, and the loads cost more than the second comparison.
macro_rules! compare {
    ($name:ident, $number:ty, $mask:ty, $lanes:literal, $set:ident, $load:ident, $add:ident,
        $less:ident, $equal:ident) => {
        kernels! {
            fn $name(
                left: &[$number], shift: $number, right: &[$number], wanted: u8,
                out: &mut [u64], keep: u64,
            ) {
                let has = |it: u8| if wanted & it != 0 { u64::MAX } else { 0 };
                let (less, equal, greater) = (has(LESS), has(EQUAL), has(GREATER));
                let shift = $set(shift);
                for (word, out) in out.iter_mut().enumerate() {
                    let valid = tail_mask((left.len() - word * 64).min(64));
                    let (mut lt, mut eq) = (0, 0);
                    for group in 0..64 / $lanes {
                        let at = word * 64 + group * $lanes;
                        let lanes = (valid >> (group * $lanes)) as $mask;
                        // SAFETY: only lanes of rows that exist are read.
                        let (a, b) = unsafe {
                            (
                                $load(lanes, left.as_ptr().wrapping_add(at)),
                                $load(lanes, right.as_ptr().wrapping_add(at)),
                            )
                        };
                        let a = $add(a, shift);
                        lt |= u64::from($less(a, b)) << (group * $lanes);
                        eq |= u64::from($equal(a, b)) << (group * $lanes);
                    }
                    let found = lt & less | eq & equal | !(lt | eq) & greater;
                    *out = found & valid & (*out | keep);
                }
            }
        }
    };
}
compare!(
    compare_i16,
    i16,
    u32,
    32,
    _mm512_set1_epi16,
    _mm512_maskz_loadu_epi16,
    _mm512_add_epi16,
    _mm512_cmplt_epi16_mask,
    _mm512_cmpeq_epi16_mask
);
compare!(
    compare_i32,
    i32,
    u16,
    16,
    _mm512_set1_epi32,
    _mm512_maskz_loadu_epi32,
    _mm512_add_epi32,
    _mm512_cmplt_epi32_mask,
    _mm512_cmpeq_epi32_mask
);
compare!(
    compare_i64,
    i64,
    u8,
    8,
    _mm512_set1_epi64,
    _mm512_maskz_loadu_epi64,
    _mm512_add_epi64,
    _mm512_cmplt_epi64_mask,
    _mm512_cmpeq_epi64_mask
);
