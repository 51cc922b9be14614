//! The safe functions around a table of kernels: they check what the kernels trust.

use crate::layout::{BITS_MAX, PADDING, byte_range, check_bits, mask};
use crate::level::Level;
use crate::table::Kernels;
use crate::{bitmap, portable};

/// Panics unless `packed` holds `rows` codes from `start` on, and the padding behind them.
#[inline]
fn check(packed: &[u8], bits: u32, start: usize, rows: usize) {
    check_bits(bits);
    let rows = start.checked_add(rows).expect("invariant: a row number fits");
    assert!(rows < usize::MAX / 64, "row {rows} is out of any range");
    let need = byte_range(0, rows, bits).end + PADDING;
    assert!(packed.len() >= need, "{} bytes, {need} for {rows} rows of {bits}", packed.len());
}

impl Kernels {
    /// The level of this table.
    #[inline]
    pub fn level(&self) -> Level {
        Level::of_table_in_use(self.level)
    }

    /// Decodes codes of up to 8 bits into bytes.
    pub fn unpack_u8(&self, packed: &[u8], bits: u32, start: usize, out: &mut [u8]) {
        assert!(bits <= 8, "{bits} bits do not fit a byte");
        check(packed, bits, start, out.len());
        // SAFETY: the lengths were checked, and a table is handed out only where its level runs.
        unsafe { self.unpack_u8[bits as usize](packed, start, out) }
    }

    /// Decodes codes of up to 16 bits.
    pub fn unpack_u16(&self, packed: &[u8], bits: u32, start: usize, out: &mut [u16]) {
        assert!(bits <= 16, "{bits} bits do not fit two bytes");
        check(packed, bits, start, out.len());
        // SAFETY: as in `unpack_u8`.
        unsafe { self.unpack_u16[bits as usize](packed, start, out) }
    }

    /// Decodes codes of up to 32 bits.
    pub fn unpack_u32(&self, packed: &[u8], bits: u32, start: usize, out: &mut [u32]) {
        assert!(bits <= BITS_MAX, "{bits} bits do not fit four bytes");
        check(packed, bits, start, out.len());
        // SAFETY: as in `unpack_u8`.
        unsafe { self.unpack_u32[bits as usize](packed, start, out) }
    }

    /// Decodes codes of any width, plain words included.
    pub fn unpack_u64(&self, packed: &[u8], bits: u32, start: usize, out: &mut [u64]) {
        check(packed, bits, start, out.len());
        if bits == 64 {
            for (out, word) in out.iter_mut().zip(packed[start * 8..].chunks_exact(8)) {
                *out = u64::from_le_bytes(word.try_into().expect("invariant: eight bytes"));
            }
            return;
        }
        // SAFETY: as in `unpack_u8`.
        unsafe { self.unpack_u64[bits as usize](packed, start, out) }
    }

    /// Decodes codes of any width and adds `base`, wrapping: the values of an offset column.
    pub fn unpack_i64_add(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        base: i64,
        out: &mut [i64],
    ) {
        check(packed, bits, start, out.len());
        if bits == 64 {
            for (out, word) in out.iter_mut().zip(packed[start * 8..].chunks_exact(8)) {
                let word = i64::from_le_bytes(word.try_into().expect("invariant: eight bytes"));
                *out = word.wrapping_add(base);
            }
            return;
        }
        // SAFETY: as in `unpack_u8`.
        unsafe { self.unpack_i64_add[bits as usize](packed, start, base, out) }
    }

    /// Bit `i` of `out` becomes "the code of row `start + i` is in `lo..=hi`". Plain words take `scan_range_u64`.
    pub fn scan_range(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        rows: usize,
        lo: u32,
        hi: u32,
        out: &mut [u64],
    ) {
        self.range(packed, bits, start, rows, lo, hi, out, u64::MAX);
    }

    /// Clears the bits of rows whose code is not in `lo..=hi`; runs of empty words are not looked at again.
    pub fn scan_range_and(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        rows: usize,
        lo: u32,
        hi: u32,
        out: &mut [u64],
    ) {
        self.range(packed, bits, start, rows, lo, hi, out, 0);
    }

    fn range(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        rows: usize,
        lo: u32,
        hi: u32,
        out: &mut [u64],
        keep: u64,
    ) {
        assert!(bits <= BITS_MAX, "a range of codes has up to 32 bits, not {bits}");
        check(packed, bits, start, rows);
        let out = &mut out[..bitmap::words_for(rows)];
        let code_max = mask(bits) as u32;
        if lo > hi || lo > code_max {
            out.fill(0);
        } else if lo == 0 && hi >= code_max {
            if keep != 0 {
                bitmap::fill(out, rows);
            } else if let Some(last) = out.last_mut() {
                *last &= bitmap::tail_mask(rows);
            }
        } else {
            let scan = self.scan_range[bits as usize];
            // SAFETY: as in `unpack_u8`; the bitmap has its words, and the range fits the width.
            unsafe { scan(packed, start, rows, lo, hi.min(code_max), out, keep) }
        }
    }

    /// The range test on plain words (`bits` = 64); with `and`, clears the bits of rows outside instead.
    pub fn scan_range_u64(
        &self,
        packed: &[u8],
        start: usize,
        rows: usize,
        lo: u64,
        hi: u64,
        out: &mut [u64],
        and: bool,
    ) {
        check(packed, 64, start, rows);
        let out = &mut out[..bitmap::words_for(rows)];
        if lo > hi {
            return out.fill(0);
        }
        let keep = if and { 0 } else { u64::MAX };
        // SAFETY: as in `range`.
        unsafe { (self.scan_range_u64)(packed, start, rows, lo, hi, out, keep) }
    }

    /// Bit `i` of `out` becomes "the code of row `start + i` is in `set`", a bitmap over codes; a code past its end is
    /// not in it. With `and`, clears the bits of the other rows instead.
    pub fn scan_set(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        rows: usize,
        set: &[u64],
        out: &mut [u64],
        and: bool,
    ) {
        assert!(bits <= BITS_MAX, "a set of codes has up to 32 bits, not {bits}");
        check(packed, bits, start, rows);
        let out = &mut out[..bitmap::words_for(rows)];
        let keep = if and { 0 } else { u64::MAX };
        // SAFETY: as in `range`.
        unsafe { self.scan_set[bits as usize](packed, start, rows, set, out, keep) }
    }

    /// The codes of some rows; positions count from `start`.
    pub fn gather_u32(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        positions: &[u32],
        out: &mut [u32],
    ) {
        assert!(bits <= BITS_MAX, "{bits} bits do not fit four bytes");
        gather(packed, bits, start, positions, out, |code| code as u32);
    }

    /// The codes of some rows plus `base`, wrapping; positions count from `start`.
    pub fn gather_i64_add(
        &self,
        packed: &[u8],
        bits: u32,
        start: usize,
        base: i64,
        positions: &[u32],
        out: &mut [i64],
    ) {
        gather(packed, bits, start, positions, out, |code| base.wrapping_add(code as i64));
    }

    /// Writes the values whose bit is set, in order, and returns how many. Panics when `out` is shorter than that.
    pub fn compress_i64(&self, values: &[i64], words: &[u64], out: &mut [i64]) -> usize {
        let count = self.check_compress(values.len(), words, out.len());
        // SAFETY: the survivors fit `out`, no bit is set past `values`, and the level runs here.
        unsafe { (self.compress_i64)(values, &words[..bitmap::words_for(values.len())], out) };
        count
    }

    /// Writes the values whose bit is set, in order, and returns how many. Panics when `out` is shorter than that.
    pub fn compress_u32(&self, values: &[u32], words: &[u64], out: &mut [u32]) -> usize {
        let count = self.check_compress(values.len(), words, out.len());
        // SAFETY: as in `compress_i64`.
        unsafe { (self.compress_u32)(values, &words[..bitmap::words_for(values.len())], out) };
        count
    }

    /// Writes the rows that are in a bitmap over `rows` rows, ascending, and returns how many. Panics when `out` is
    /// shorter than that.
    pub fn positions(&self, words: &[u64], rows: usize, out: &mut [u32]) -> usize {
        let count = self.check_compress(rows, words, out.len());
        // SAFETY: as in `compress_i64`.
        unsafe { (self.positions)(&words[..bitmap::words_for(rows)], out) };
        count
    }

    /// How many rows are in a bitmap.
    pub fn count(&self, words: &[u64]) -> usize {
        // SAFETY: the level runs here.
        unsafe { (self.count)(words) }
    }

    fn check_compress(&self, rows: usize, words: &[u64], room: usize) -> usize {
        let words = &words[..bitmap::words_for(rows)];
        if let Some(last) = words.last() {
            assert_eq!(last & !bitmap::tail_mask(rows), 0, "a bitmap has bits past its last row");
        }
        let count = self.count(words);
        assert!(count <= room, "{count} rows are in, {room} fit");
        count
    }
}

/// Positions ahead of the one being read whose codes are already on their way.
const AHEAD: usize = 64;

/// Random access by one unaligned load each; sparse positions wait for memory, so that SIMD gathers would not help, and
/// a prefetch does: the loads of a loop that is short of registers and branches rarely reach so far ahead by themselves.
#[inline(always)]
fn gather<T>(
    packed: &[u8],
    bits: u32,
    start: usize,
    positions: &[u32],
    out: &mut [T],
    value: impl Fn(u64) -> T,
) {
    check_bits(bits);
    // One pass over the positions is cheaper than a check per load in the loop that waits for them.
    let rows = positions.iter().max().map_or(0, |&it| it as usize + 1);
    check(packed, bits, start, rows);
    let (packed, width, mask) = (packed.as_ptr(), bits as usize, mask(bits));
    let bit = |position: u32| (start + position as usize) * width;
    positions.iter().take(AHEAD).for_each(|&it| prefetch(packed, bit(it)));
    let out = &mut out[..positions.len()];
    for (index, (out, &position)) in out.iter_mut().zip(positions).enumerate() {
        if let Some(&next) = positions.get(index + AHEAD) {
            prefetch(packed, bit(next));
        }
        // SAFETY: the greatest position was checked, and eight bytes behind its first are data or padding.
        *out = value(unsafe { portable::window(packed, bit(position)) } & mask);
    }
}

/// Asks for the cache line of a bit, into the second level: more lines can be on their way there than to the first
/// (9.6 ns a code where 2 % are wanted of a column in DRAM; 12.4 by way of the first). Nothing is read: any address will do.
#[inline(always)]
fn prefetch(packed: *const u8, bit: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(packed.wrapping_add(bit / 8).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (packed, bit);
}
