//! 256-bit kernels. Each 128-bit half is loaded on its own, a byte shuffle brings each lane its bytes, and a variable
//! shift brings the code down: a multiplication in 16-bit lanes, which have no such shift
//! (docs/design/07-measured-costs.md, "packed scans").
//!
//! Eight rows of any width fill whole bytes; scans that start at other rows run the portable kernel.

use std::arch::x86_64::*;

use crate::bitmap::tail_mask;
use crate::level::Instructions;
use crate::near::Nearness;
use crate::portable::{self, EQUAL, GREATER, LESS};
use crate::table::{Kernels, by_width};

pub(crate) static KERNELS: Kernels = Kernels {
    level: Instructions::Avx2,
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

/// Where the lanes of a vector find their code, for a width.
struct Lanes<const W: usize>;

impl<const W: usize> Lanes<W> {
    const MASK: u32 = ((1u64 << W) - 1) as u32;
    /// Whether each code lies in the two bytes from its first on, so that 16-bit lanes can hold it.
    const NARROW: bool = narrow(W);
    /// 16 codes: eight to a half, which begin at whole bytes.
    const BYTES_16: [u8; 32] = bytes_of_lanes(W, 2, 0);
    /// The factor that moves a code to the top of its lane.
    const FACTOR_16: [u16; 16] = factor16(W);
    /// Eight codes: four to a half.
    const BYTES_32: [u8; 32] = bytes_of_lanes(W, 4, 0);
    const SHIFT_32: [u32; 8] = shift32(W);
    /// The first and the second four of eight codes, in 64-bit lanes: two to a half.
    const BYTES_64: [[u8; 32]; 2] = [bytes_of_lanes(W, 8, 0), bytes_of_lanes(W, 8, 4)];
    const SHIFT_64: [[u64; 4]; 2] = [shift64(W, 0), shift64(W, 4)];
}

const fn narrow(width: usize) -> bool {
    let mut code = 0;
    while code < 8 {
        if code * width % 8 + width > 16 {
            return false;
        }
        code += 1;
    }
    width > 0
}

/// The bit of a code of lane `lane` in its half, which is loaded from the byte that its first code begins in. `codes`
/// lanes make a half; `first` is the code of lane 0.
const fn bit_in_half(width: usize, codes: usize, lane: usize, first: usize) -> usize {
    let half_bit = (first + lane / codes * codes) * width;
    half_bit % 8 + lane % codes * width
}

/// Byte `j` of each lane (of `bytes` bytes) comes from byte `j` of its code.
const fn bytes_of_lanes(width: usize, bytes: usize, first: usize) -> [u8; 32] {
    let mut from = [0; 32];
    let mut at = 0;
    while at < 32 {
        let byte = bit_in_half(width, 16 / bytes, at / bytes, first) / 8 + at % bytes;
        // Bytes past the half hold no bit of a code that the lane type can take.
        from[at] = if byte < 16 { byte as u8 } else { 0x80 };
        at += 1;
    }
    from
}

const fn factor16(width: usize) -> [u16; 16] {
    let mut factor = [0; 16];
    let mut lane = 0;
    while narrow(width) && lane < 16 {
        factor[lane] = 1 << (16 - width - lane * width % 8);
        lane += 1;
    }
    factor
}

const fn shift32(width: usize) -> [u32; 8] {
    let mut shift = [0; 8];
    let mut lane = 0;
    while lane < 8 {
        shift[lane] = (bit_in_half(width, 4, lane, 0) % 8) as u32;
        lane += 1;
    }
    shift
}

const fn shift64(width: usize, first: usize) -> [u64; 4] {
    let mut shift = [0; 4];
    let mut lane = 0;
    while lane < 4 {
        shift[lane] = (bit_in_half(width, 2, lane, first) % 8) as u64;
        lane += 1;
    }
    shift
}

/// For each mask of eight lanes, the chosen ones in front: what AVX-512 calls compress.
static FRONT_32: [[u32; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut next) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 != 0 {
                table[mask][next] = lane as u32;
                next += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// The same for four lanes of 64 bits, as pairs of 32-bit lanes.
static FRONT_64: [[u32; 8]; 16] = {
    let mut table = [[0; 8]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut lane, mut next) = (0, 0);
        while lane < 4 {
            if mask >> lane & 1 != 0 {
                table[mask][next] = lane as u32 * 2;
                table[mask][next + 1] = lane as u32 * 2 + 1;
                next += 2;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// A vector from a constant array of the same size.
macro_rules! constant {
    ($array:expr) => {{
        let array = const { &$array };
        // SAFETY: 32 bytes, read unaligned.
        unsafe { _mm256_loadu_si256(array.as_ptr().cast()) }
    }};
}

/// Rows of a word up to which they are looked up one by one (0.8 ns each against 20 for all by gathers).
const SPARSE_ROWS: u32 = 16;

/// Declares a function compiled for this level.
macro_rules! kernels {
    ($($(#[$meta:meta])* fn $name:ident $(<const $w:ident: usize $(, const $q:ident: usize)?>)?
        ($($arg:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block)*) => {$(
        $(#[$meta])*
        #[inline]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        unsafe fn $name $(<const $w: usize $(, const $q: usize)?>)? ($($arg: $type),*) $(-> $output)? $body
    )*};
}

kernels! {
    /// Two 16-byte halves.
    fn halves(low: *const u8, high: *const u8) -> __m256i {
        // SAFETY: the caller knows that 16 bytes can be read at both.
        unsafe { _mm256_loadu2_m128i(high.cast(), low.cast()) }
    }

    /// 16 codes of a narrow width, in 16-bit lanes. `from` is where the first begins; reads up to 32 bytes.
    fn codes_16<const W: usize>(from: *const u8) -> __m256i {
        // SAFETY: the caller knows that the bytes can be read.
        let raw = unsafe { halves(from, from.add(W)) };
        let spread = _mm256_shuffle_epi8(raw, constant!(Lanes::<W>::BYTES_16));
        let top = _mm256_mullo_epi16(spread, constant!(Lanes::<W>::FACTOR_16));
        _mm256_srl_epi16(top, _mm_cvtsi32_si128(16 - W as i32))
    }

    /// 8 codes in 32-bit lanes; reads up to 40 bytes.
    fn codes_32<const W: usize>(from: *const u8) -> __m256i {
        if W > 25 {
            // A code may reach into a fifth byte: decode in 64-bit lanes, and keep the lower halves.
            // SAFETY: the caller's promise.
            let (low, high) = unsafe { (codes_64::<W, 0>(from), codes_64::<W, 1>(from)) };
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(low, high));
            return _mm256_permute4x64_epi64::<0xd8>(mixed);
        }
        // SAFETY: the caller knows that the bytes can be read.
        let raw = unsafe { halves(from, from.add(4 * W / 8)) };
        let spread = _mm256_shuffle_epi8(raw, constant!(Lanes::<W>::BYTES_32));
        let codes = _mm256_srlv_epi32(spread, constant!(Lanes::<W>::SHIFT_32));
        _mm256_and_si256(codes, _mm256_set1_epi32(Lanes::<W>::MASK as i32))
    }

    /// The first (0) or second (1) four of the eight codes that begin at `from`, in 64-bit lanes.
    fn codes_64<const W: usize, const PART: usize>(from: *const u8) -> __m256i {
        let first = PART * 4;
        // SAFETY: the caller knows that the bytes can be read.
        let raw = unsafe { halves(from.add(first * W / 8), from.add((first + 2) * W / 8)) };
        let spread = _mm256_shuffle_epi8(raw, constant!(Lanes::<W>::BYTES_64[PART]));
        let codes = _mm256_srlv_epi64(spread, constant!(Lanes::<W>::SHIFT_64[PART]));
        _mm256_and_si256(codes, _mm256_set1_epi64x(i64::from(Lanes::<W>::MASK)))
    }
}

kernels! {
    fn unpack_u32<const W: usize>(packed: &[u8], start: usize, out: &mut [u32]) {
        let head = (start.next_multiple_of(8) - start).min(out.len());
        let (first, rest) = out.split_at_mut(head);
        // SAFETY: as promised to this kernel.
        unsafe { portable::unpack::<W, u32>(packed, start, first) };
        let mut from = (start + head) / 8 * W;
        let whole = rest.len() / 8 * 8;
        let (body, tail) = rest.split_at_mut(whole);
        for out in body.chunks_exact_mut(8) {
            // SAFETY: the rows begin inside the data, which the padding follows; `out` is one vector.
            unsafe {
                let codes = codes_32::<W>(packed.as_ptr().add(from));
                _mm256_storeu_si256(out.as_mut_ptr().cast(), codes);
            }
            from += W;
        }
        // SAFETY: as promised to this kernel.
        unsafe { portable::unpack::<W, u32>(packed, start + head + whole, tail) };
    }

    fn unpack_u16<const W: usize>(packed: &[u8], start: usize, out: &mut [u16]) {
        if Lanes::<W>::NARROW && start.is_multiple_of(8) {
            let whole = out.len() / 16 * 16;
            let (body, tail) = out.split_at_mut(whole);
            let mut from = start / 8 * W;
            for out in body.chunks_exact_mut(16) {
                // SAFETY: the rows begin inside the data, which the padding follows; `out` is one vector.
                unsafe {
                    let codes = codes_16::<W>(packed.as_ptr().add(from));
                    _mm256_storeu_si256(out.as_mut_ptr().cast(), codes);
                }
                from += 2 * W;
            }
            // SAFETY: as promised to this kernel.
            return unsafe { portable::unpack::<W, u16>(packed, start + whole, tail) };
        }
        let mut wide = [0u32; 128];
        for (index, out) in out.chunks_mut(128).enumerate() {
            let wide = &mut wide[..out.len()];
            // SAFETY: as promised to this kernel.
            unsafe { unpack_u32::<W>(packed, start + index * 128, wide) };
            out.iter_mut().zip(wide).for_each(|(out, wide)| *out = *wide as u16);
        }
    }

    fn unpack_u8<const W: usize>(packed: &[u8], start: usize, out: &mut [u8]) {
        let mut wide = [0u16; 128];
        for (index, out) in out.chunks_mut(128).enumerate() {
            let wide = &mut wide[..out.len()];
            // SAFETY: as promised to this kernel.
            unsafe { unpack_u16::<W>(packed, start + index * 128, wide) };
            out.iter_mut().zip(wide).for_each(|(out, wide)| *out = *wide as u8);
        }
    }

    fn unpack_u64<const W: usize>(packed: &[u8], start: usize, out: &mut [u64]) {
        // SAFETY: same size, same alignment, and every bit pattern is a number of both types.
        let out = unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) };
        // SAFETY: as promised to this kernel.
        unsafe { unpack_i64_add::<W>(packed, start, 0, out) };
    }

    fn unpack_i64_add<const W: usize>(packed: &[u8], start: usize, base: i64, out: &mut [i64]) {
        let head = (start.next_multiple_of(8) - start).min(out.len());
        let (first, rest) = out.split_at_mut(head);
        // SAFETY: as promised to this kernel.
        unsafe { portable::unpack_i64_add::<W>(packed, start, base, first) };
        let mut at = (start + head) / 8 * W;
        let whole = rest.len() / 8 * 8;
        let (body, tail) = rest.split_at_mut(whole);
        let bases = _mm256_set1_epi64x(base);
        for out in body.chunks_exact_mut(8) {
            // SAFETY: the rows begin inside the data, which the padding follows; `out` is two vectors.
            unsafe {
                let from = packed.as_ptr().add(at);
                let to: *mut __m256i = out.as_mut_ptr().cast();
                _mm256_storeu_si256(to, _mm256_add_epi64(codes_64::<W, 0>(from), bases));
                _mm256_storeu_si256(to.add(1), _mm256_add_epi64(codes_64::<W, 1>(from), bases));
            }
            at += W;
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
            if Lanes::<W>::NARROW {
                range_16::<W>(from, count, lo, span)
            } else {
                range_32::<W>(from, count, lo, span)
            }
        });
    }

    fn range_16<const W: usize>(from: *const u8, rows: usize, lo: u32, span: u32) -> u64 {
        let (lo, span) = (_mm256_set1_epi16(lo as i16), _mm256_set1_epi16(span as i16));
        let mut word = 0;
        for group in 0..2 {
            if group * 32 < rows {
                // SAFETY: a row of this group exists, and 64 bytes can be read from it on.
                let (low, high) = unsafe {
                    let from = from.add(group * 4 * W);
                    (codes_16::<W>(from), codes_16::<W>(from.add(2 * W)))
                };
                let (low, high) = (_mm256_sub_epi16(low, lo), _mm256_sub_epi16(high, lo));
                let low = _mm256_cmpeq_epi16(_mm256_min_epu16(low, span), low);
                let high = _mm256_cmpeq_epi16(_mm256_min_epu16(high, span), high);
                let both = _mm256_permute4x64_epi64::<0xd8>(_mm256_packs_epi16(low, high));
                word |= u64::from(_mm256_movemask_epi8(both) as u32) << (group * 32);
            }
        }
        word
    }

    fn range_32<const W: usize>(from: *const u8, rows: usize, lo: u32, span: u32) -> u64 {
        let (lo, span) = (_mm256_set1_epi32(lo as i32), _mm256_set1_epi32(span as i32));
        let mut word = 0;
        for group in 0..8 {
            if group * 8 < rows {
                // SAFETY: a row of this group exists.
                let codes = unsafe { codes_32::<W>(from.add(group * W)) };
                let above = _mm256_sub_epi32(codes, lo);
                let found = _mm256_cmpeq_epi32(_mm256_min_epu32(above, span), above);
                let found = _mm256_movemask_ps(_mm256_castsi256_ps(found));
                word |= (found as u64) << (group * 8);
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
        let nearness = Nearness::default();
        // SAFETY: as in `scan_range`.
        scan!(packed, start, rows, out, keep, W, |from, count, before| unsafe {
            if before.count_ones() <= SPARSE_ROWS {
                portable::set_sparse::<W>(from, before, set)
            } else {
            let is_asked = W > 8 && nearness.is_asked();
            let near = if is_asked { set_near::<W>(from, count, set) } else { None };
            nearness.note(near.is_some());
            match near {
                Some(word) => word,
                None => set_32::<W>(from, count, set),
            }
            }
        });
    }

    /// Membership of codes that stand near each other, as those of clustered columns do: all of it is in two registers
    /// of the set (docs/design/07-measured-costs.md, "probes and sets"): one would do for a whole table in the order of a
    /// key, and a part of it has its values further apart. `None` when they do not.
    fn set_near<const W: usize>(from: *const u8, rows: usize, set: &[u64]) -> Option<u64> {
        let first = |group: usize| if group * 8 < rows { group } else { 0 };
        // SAFETY: rows of these groups exist; a group of none is replaced by the first.
        let codes: [__m256i; 8] = std::array::from_fn(|group| unsafe {
            codes_32::<W>(from.add(first(group) * W))
        });
        let (mut low, mut high) = (codes[0], codes[0]);
        for &codes in &codes[1..] {
            (low, high) = (_mm256_min_epu32(low, codes), _mm256_max_epu32(high, codes));
        }
        let (mut lows, mut highs) = ([0u32; 8], [0u32; 8]);
        // SAFETY: eight lanes each.
        unsafe {
            _mm256_storeu_si256(lows.as_mut_ptr().cast(), low);
            _mm256_storeu_si256(highs.as_mut_ptr().cast(), high);
        }
        let low = lows.into_iter().fold(u32::MAX, u32::min) >> 5;
        let high = highs.into_iter().fold(0, u32::max) >> 5;
        if high - low >= 16 {
            return None;
        }
        let mut members = [0u32; 16];
        for (index, member) in members.iter_mut().enumerate() {
            let place = low as usize + index;
            let word = set.get(place / 2).copied().unwrap_or(0);
            *member = (word >> (place % 2 * 32)) as u32;
        }
        // SAFETY: eight lanes of sixteen each.
        let (first, second) = unsafe {
            let lanes = members.as_ptr();
            (_mm256_loadu_si256(lanes.cast()), _mm256_loadu_si256(lanes.add(8).cast()))
        };
        let mut word = 0;
        for (group, codes) in codes.into_iter().enumerate() {
            let index =
                _mm256_sub_epi32(_mm256_srli_epi32::<5>(codes), _mm256_set1_epi32(low as i32));
            let (low, high) = (
                _mm256_permutevar8x32_epi32(first, index), _mm256_permutevar8x32_epi32(second, index),
            );
            // The fourth bit of an index, as the sign, chooses between the two.
            let is_high = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index));
            let members = _mm256_castps_si256(_mm256_blendv_ps(
                _mm256_castsi256_ps(low), _mm256_castsi256_ps(high), is_high,
            ));
            let to_sign = _mm256_andnot_si256(codes, _mm256_set1_epi32(31));
            let found = _mm256_castsi256_ps(_mm256_sllv_epi32(members, to_sign));
            word |= (_mm256_movemask_ps(found) as u64) << (group * 8);
        }
        Some(word)
    }

    /// Membership by gathers of eight lanes; the bit of a code is shifted to the sign.
    fn set_32<const W: usize>(from: *const u8, rows: usize, set: &[u64]) -> u64 {
        let words = _mm256_set1_epi32((set.len() * 2).min(i32::MAX as usize) as i32);
        let mut word = 0;
        for group in 0..8 {
            if group * 8 < rows {
                // SAFETY: a row of this group exists.
                let codes = unsafe { codes_32::<W>(from.add(group * W)) };
                let index = _mm256_srli_epi32::<5>(codes);
                let inside = _mm256_cmpgt_epi32(words, index);
                // SAFETY: only lanes whose word is in the set are read.
                let members = unsafe {
                    _mm256_mask_i32gather_epi32::<4>(
                        _mm256_setzero_si256(), set.as_ptr().cast(), index, inside,
                    )
                };
                let to_sign = _mm256_andnot_si256(codes, _mm256_set1_epi32(31));
                let found = _mm256_castsi256_ps(_mm256_sllv_epi32(members, to_sign));
                word |= (_mm256_movemask_ps(found) as u64) << (group * 8);
            }
        }
        word
    }

    fn scan_range_u64(
        packed: &[u8], start: usize, rows: usize, lo: u64, hi: u64, out: &mut [u64], keep: u64,
    ) {
        // Comparisons are signed here: both sides are moved by half the range.
        let low = _mm256_set1_epi64x(lo as i64);
        let span = _mm256_set1_epi64x((hi - lo) as i64 ^ i64::MIN);
        let sign = _mm256_set1_epi64x(i64::MIN);
        let whole = rows / 64;
        for (word, out) in out[..whole].iter_mut().enumerate() {
            if *out | keep == 0 {
                continue;
            }
            let mut outside = 0;
            for group in 0..16 {
                let at = (start + word * 64 + group * 4) * 8;
                // SAFETY: the four rows are in `packed`.
                let values = unsafe { _mm256_loadu_si256(packed.as_ptr().add(at).cast()) };
                let above = _mm256_xor_si256(_mm256_sub_epi64(values, low), sign);
                let beyond = _mm256_castsi256_pd(_mm256_cmpgt_epi64(above, span));
                outside |= (_mm256_movemask_pd(beyond) as u64) << (group * 4);
            }
            *out = !outside & (*out | keep);
        }
        let (start, rest) = (start + whole * 64, rows - whole * 64);
        portable::scan_words_u64(packed, start, rest, lo, hi, &mut out[whole..], keep);
    }

    /// The signs of 32 lanes of 16 bits.
    fn signs_16(low: __m256i, high: __m256i) -> u64 {
        let both = _mm256_permute4x64_epi64::<0xd8>(_mm256_packs_epi16(low, high));
        u64::from(_mm256_movemask_epi8(both) as u32)
    }

    fn compare_i16(
        left: &[i16], shift: i16, right: &[i16], wanted: u8, out: &mut [u64], keep: u64,
    ) {
        let whole = left.len() / 64;
        let has = |it: u8| if wanted & it != 0 { u64::MAX } else { 0 };
        let (less, equal, greater) = (has(LESS), has(EQUAL), has(GREATER));
        let shifts = _mm256_set1_epi16(shift);
        for (word, out) in out[..whole].iter_mut().enumerate() {
            let (mut gt, mut eq) = (0, 0);
            for group in 0..2 {
                let at = word * 64 + group * 32;
                // SAFETY: the 32 rows exist.
                unsafe {
                    let (l, r) = (left.as_ptr().add(at), right.as_ptr().add(at));
                    let a = _mm256_add_epi16(_mm256_loadu_si256(l.cast()), shifts);
                    let b = _mm256_loadu_si256(r.cast());
                    let c = _mm256_add_epi16(_mm256_loadu_si256(l.add(16).cast()), shifts);
                    let d = _mm256_loadu_si256(r.add(16).cast());
                    let above = signs_16(_mm256_cmpgt_epi16(a, b), _mm256_cmpgt_epi16(c, d));
                    let same = signs_16(_mm256_cmpeq_epi16(a, b), _mm256_cmpeq_epi16(c, d));
                    gt |= above << (group * 32);
                    eq |= same << (group * 32);
                }
            }
            let found = gt & greater | eq & equal | !(gt | eq) & less;
            *out = found & (*out | keep);
        }
        let (left, right) = (&left[whole * 64..], &right[whole * 64..]);
        portable::compare(left, shift, right, wanted, &mut out[whole..], keep);
    }

    fn compress_i64(values: &[i64], words: &[u64], out: &mut [i64]) {
        let (mut next, whole) = (0, values.len() / 64);
        for (word, &bits) in words[..whole].iter().enumerate() {
            for group in 0..16 {
                let lanes = (bits >> (group * 4) & 15) as usize;
                if bits == 0 {
                    break;
                }
                if next + 4 > out.len() {
                    // Too near the end for whole vectors.
                    let rest = bits & (u64::MAX << (group * 4));
                    portable::compress(&values[word * 64..][..64], &[rest], &mut out[next..]);
                    next += rest.count_ones() as usize;
                    break;
                }
                // SAFETY: the four rows exist, and a vector fits `out`.
                unsafe {
                    let read = values.as_ptr().add(word * 64 + group * 4);
                    let kept = _mm256_permutevar8x32_epi32(
                        _mm256_loadu_si256(read.cast()), _mm256_loadu_si256(FRONT_64[lanes].as_ptr().cast()),
                    );
                    _mm256_storeu_si256(out.as_mut_ptr().add(next).cast(), kept);
                }
                next += lanes.count_ones() as usize;
            }
        }
        portable::compress(&values[whole * 64..], &words[whole..], &mut out[next..]);
    }

    fn compress_u32(values: &[u32], words: &[u64], out: &mut [u32]) {
        let (mut next, whole) = (0, values.len() / 64);
        for (word, &bits) in words[..whole].iter().enumerate() {
            if next + 64 > out.len() {
                // Too near the end for whole vectors.
                portable::compress(&values[word * 64..][..64], &[bits], &mut out[next..]);
                next += bits.count_ones() as usize;
                continue;
            }
            for group in 0..8 {
                if bits == 0 {
                    break;
                }
                // SAFETY: the eight rows exist, and a vector fits `out`.
                unsafe {
                    let read = values.as_ptr().add(word * 64 + group * 8);
                    let read = _mm256_loadu_si256(read.cast());
                    store_8((bits >> (group * 8)) as u8, read, &mut next, out);
                }
            }
        }
        portable::compress(&values[whole * 64..], &words[whole..], &mut out[next..]);
    }

    /// Stores the chosen lanes behind each other from `out[next]` on, where eight fit.
    fn store_8(lanes: u8, values: __m256i, next: &mut usize, out: &mut [u32]) {
        // SAFETY: a row of the table is a vector.
        let front = unsafe { _mm256_loadu_si256(FRONT_32[lanes as usize].as_ptr().cast()) };
        let kept = _mm256_permutevar8x32_epi32(values, front);
        // SAFETY: the caller knows that eight values fit.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(*next).cast(), kept) };
        *next += lanes.count_ones() as usize;
    }

    fn positions(words: &[u64], out: &mut [u32]) {
        let mut next = 0;
        let lanes = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        for (word, &bits) in words.iter().enumerate() {
            if next + 64 > out.len() || bits.count_ones() < 4 {
                let mut left = bits;
                while left != 0 {
                    out[next] = (word * 64) as u32 + left.trailing_zeros();
                    next += 1;
                    left &= left - 1;
                }
                continue;
            }
            for group in 0..8 {
                let first = _mm256_set1_epi32((word * 64 + group * 8) as i32);
                let rows = _mm256_add_epi32(lanes, first);
                // SAFETY: a vector fits `out`.
                unsafe { store_8((bits >> (group * 8)) as u8, rows, &mut next, out) };
            }
        }
    }

    fn count(words: &[u64]) -> usize {
        words.iter().map(|it| it.count_ones() as usize).sum()
    }
}

/// A kernel that compares `left` plus `shift` with `right` in `$lanes` lanes. Greater and equal are both computed, and
/// chosen from by masks: a third outcome is what is left, and the loads cost more than the second comparison.
macro_rules! compare {
    ($name:ident, $number:ty, $lanes:literal, $set:ident, $add:ident, $greater:ident, $equal:ident,
        $cast:ident, $signs:ident) => {
        kernels! {
            fn $name(
                left: &[$number], shift: $number, right: &[$number], wanted: u8,
                out: &mut [u64], keep: u64,
            ) {
                let whole = left.len() / 64;
                let has = |it: u8| if wanted & it != 0 { u64::MAX } else { 0 };
                let (less, equal, greater) = (has(LESS), has(EQUAL), has(GREATER));
                let shifts = $set(shift);
                for (word, out) in out[..whole].iter_mut().enumerate() {
                    let (mut gt, mut eq) = (0, 0);
                    for group in 0..64 / $lanes {
                        let at = word * 64 + group * $lanes;
                        // SAFETY: the rows of the group exist.
                        let (a, b) = unsafe {
                            (
                                _mm256_loadu_si256(left.as_ptr().add(at).cast()),
                                _mm256_loadu_si256(right.as_ptr().add(at).cast()),
                            )
                        };
                        let a = $add(a, shifts);
                        gt |= ($signs($cast($greater(a, b))) as u64) << (group * $lanes);
                        eq |= ($signs($cast($equal(a, b))) as u64) << (group * $lanes);
                    }
                    let found = gt & greater | eq & equal | !(gt | eq) & less;
                    *out = found & (*out | keep);
                }
                let (left, right) = (&left[whole * 64..], &right[whole * 64..]);
                portable::compare(left, shift, right, wanted, &mut out[whole..], keep);
            }
        }
    };
}
compare!(
    compare_i32,
    i32,
    8,
    _mm256_set1_epi32,
    _mm256_add_epi32,
    _mm256_cmpgt_epi32,
    _mm256_cmpeq_epi32,
    _mm256_castsi256_ps,
    _mm256_movemask_ps
);
compare!(
    compare_i64,
    i64,
    4,
    _mm256_set1_epi64x,
    _mm256_add_epi64,
    _mm256_cmpgt_epi64,
    _mm256_cmpeq_epi64,
    _mm256_castsi256_pd,
    _mm256_movemask_pd
);
