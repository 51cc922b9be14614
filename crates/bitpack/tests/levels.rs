//! Every kernel, at every width and level of this processor, against definitions written one row at a time.

use bitpack::{Comparison, Kernels, Level, Operand, bitmap, get_u64, pack, pack_u64, packed_bytes};
use proptest::prelude::*;
use stdx::Prng;

/// Packed codes and what they were made of. The bytes end right behind the padding, so that a reader past it is seen
/// by a sanitizer or Miri.
struct Case {
    bits: u32,
    start: usize,
    rows: usize,
    codes: Vec<u64>,
    packed: Vec<u8>,
    prng: Prng,
}

impl Case {
    fn new(bits: u32, start: usize, rows: usize, seed: u64) -> Self {
        let mut prng = Prng::new(seed);
        let max = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        // A mix of uniform, extreme and repeated codes, or codes of a clustered column with gaps here and there.
        let clustered = prng.below(3) == 0;
        let step = [5, 20, 40, 80][prng.below(4) as usize];
        let mut cluster = 0;
        let codes: Vec<u64> = (0..start + rows)
            .map(|row| match prng.below(8) {
                _ if clustered => {
                    cluster = match row % 300 {
                        0 => prng.next_u64() & max.min((1 << 18) - 1),
                        _ => (cluster + prng.below(step)) & max,
                    };
                    cluster.wrapping_sub(prng.below(4)) & max
                }
                0 => 0,
                1 => max,
                2 => 1.min(max),
                _ => prng.next_u64() & max,
            })
            .collect();
        let mut packed = vec![0xa5; packed_bytes(codes.len(), bits)];
        if bits == 64 {
            pack_u64(&codes, &mut packed, 0);
        } else {
            let narrow: Vec<u32> = codes.iter().map(|&it| it as u32).collect();
            pack(&narrow, bits, &mut packed, 0);
        }
        packed.truncate((codes.len() * bits as usize).div_ceil(8) + bitpack::PADDING);
        Self { bits, start, rows, codes, packed, prng }
    }

    fn wanted(&self) -> &[u64] {
        &self.codes[self.start..]
    }

    /// A code that is there, mostly, or any.
    fn some_code(&mut self) -> u64 {
        match self.prng.below(4) {
            0 => self.prng.next_u64(),
            1 => u64::MAX,
            _ if self.rows > 0 => {
                self.codes[self.start + self.prng.below(self.rows as u64) as usize]
            }
            _ => 0,
        }
    }

    fn bitmap(&self, test: impl Fn(usize) -> bool) -> Vec<u64> {
        let mut words = vec![0; bitmap::words_for(self.rows)];
        (0..self.rows).filter(|&it| test(it)).for_each(|it| bitmap::set(&mut words, it));
        words
    }

    fn random_bitmap(&mut self) -> Vec<u64> {
        let percent = [0, 1, 5, 50, 100][self.prng.below(5) as usize];
        let mut words = vec![0; bitmap::words_for(self.rows)];
        for row in 0..self.rows {
            if self.prng.below(100) < percent {
                bitmap::set(&mut words, row);
            }
        }
        // A long empty stretch, to be skipped.
        if self.prng.below(2) == 0 && words.len() > 8 {
            words[..8].fill(0);
        }
        words
    }
}

fn check_unpack(kernels: &Kernels, case: &Case) {
    let (bits, start) = (case.bits, case.start);
    let get: Vec<u64> = (0..case.rows).map(|it| get_u64(&case.packed, bits, start + it)).collect();
    assert_eq!(get, case.wanted());
    let mut out = vec![7; case.rows];
    kernels.unpack_u64(&case.packed, bits, start, &mut out);
    assert_eq!(out, case.wanted());
    let base = i64::MAX - 5;
    let mut out = vec![7; case.rows];
    kernels.unpack_i64_add(&case.packed, bits, start, base, &mut out);
    assert!(out.iter().zip(case.wanted()).all(|(&it, &code)| it == base.wrapping_add(code as i64)));
    if bits <= 32 {
        let mut out = vec![7; case.rows];
        kernels.unpack_u32(&case.packed, bits, start, &mut out);
        assert!(out.iter().zip(case.wanted()).all(|(&it, &code)| u64::from(it) == code));
    }
    if bits <= 16 {
        let mut out = vec![7; case.rows];
        kernels.unpack_u16(&case.packed, bits, start, &mut out);
        assert!(out.iter().zip(case.wanted()).all(|(&it, &code)| u64::from(it) == code));
    }
    if bits <= 8 {
        let mut out = vec![7; case.rows];
        kernels.unpack_u8(&case.packed, bits, start, &mut out);
        assert!(out.iter().zip(case.wanted()).all(|(&it, &code)| u64::from(it) == code));
    }
}

fn check_range(kernels: &Kernels, case: &mut Case) {
    let (bits, start, rows) = (case.bits, case.start, case.rows);
    let before = case.random_bitmap();
    let (mut lo, mut hi) = (case.some_code(), case.some_code());
    match case.prng.below(6) {
        0 => (lo, hi) = (0, u64::MAX),
        1 => hi = lo,
        2 => {}
        _ if lo > hi => (lo, hi) = (hi, lo),
        _ => {}
    }
    // One word more than needed must stay as it is.
    let mut out = vec![0xdead; before.len() + 1];
    let mut and = before.clone();
    let found;
    if bits == 64 {
        found = case.bitmap(|it| (lo..=hi).contains(&case.wanted()[it]));
        kernels.scan_range_u64(&case.packed, start, rows, lo, hi, &mut out, false);
        kernels.scan_range_u64(&case.packed, start, rows, lo, hi, &mut and, true);
    } else {
        let (lo, hi) = (lo as u32, hi as u32);
        found = case.bitmap(|it| (lo..=hi).contains(&(case.wanted()[it] as u32)));
        kernels.scan_range(&case.packed, bits, start, rows, lo, hi, &mut out);
        kernels.scan_range_and(&case.packed, bits, start, rows, lo, hi, &mut and);
    }
    assert_eq!(out.pop(), Some(0xdead));
    assert_eq!(out, found, "{lo}..={hi}");
    let both: Vec<u64> = found.iter().zip(&before).map(|(a, b)| a & b).collect();
    assert_eq!(and, both, "{lo}..={hi}");
}

fn check_set(kernels: &Kernels, case: &mut Case) {
    let (bits, start, rows) = (case.bits, case.start, case.rows);
    if bits > 32 {
        return;
    }
    let codes = (1usize << bits.min(18)).div_ceil(64);
    // Sometimes too short for the largest codes: those are not in it.
    let len = case.prng.below(codes as u64 + 2) as usize;
    let set: Vec<u64> = (0..len).map(|_| case.prng.next_u64()).collect();
    let within =
        |code: u64| set.get(code as usize / 64).is_some_and(|it| it >> (code % 64) & 1 != 0);
    let found = case.bitmap(|it| within(case.wanted()[it]));
    let mut out = vec![0xdead; found.len()];
    kernels.scan_set(&case.packed, bits, start, rows, &set, &mut out, false);
    assert_eq!(out, found);
    let mut and = case.random_bitmap();
    let both: Vec<u64> = found.iter().zip(&and).map(|(a, b)| a & b).collect();
    kernels.scan_set(&case.packed, bits, start, rows, &set, &mut and, true);
    assert_eq!(and, both);
    // Few rows of each word are left.
    let mut few = case.random_bitmap();
    for _ in 0..case.prng.below(5) {
        few.iter_mut().zip(case.random_bitmap()).for_each(|(word, more)| *word &= more);
    }
    let both: Vec<u64> = found.iter().zip(&few).map(|(a, b)| a & b).collect();
    kernels.scan_set(&case.packed, bits, start, rows, &set, &mut few, true);
    assert_eq!(few, both);
}

fn check_survivors(kernels: &Kernels, case: &mut Case) {
    let (bits, start, rows) = (case.bits, case.start, case.rows);
    let words = case.random_bitmap();
    let picked: Vec<usize> = (0..rows).filter(|&it| bitmap::get(&words, it)).collect();
    let selected = picked.len();
    assert_eq!((kernels.count(&words), bitmap::count(&words)), (selected, selected));
    // Room for exactly the survivors, or for more.
    let room = selected + case.prng.below(100) as usize;
    let mut positions = vec![0; room];
    assert_eq!(kernels.positions(&words, rows, &mut positions), selected);
    positions.truncate(selected);
    assert!(positions.iter().zip(&picked).all(|(&a, &b)| a as usize == b));
    let base = -12345;
    let values: Vec<i64> = picked.iter().map(|&it| base + case.wanted()[it] as i64).collect();
    let mut out = vec![0; room];
    kernels.gather_i64_add(&case.packed, bits, start, base, &positions, &mut out);
    assert_eq!(out[..selected], values);
    let mut out = vec![0; room];
    let args = (&case.packed, bits, start, rows, &words, selected, base);
    let count =
        kernels.select_i64_add(args.0, args.1, args.2, args.3, args.4, args.5, args.6, &mut out);
    assert_eq!((count, &out[..selected]), (selected, &values[..]));
    let all: Vec<i64> = case.wanted().iter().map(|&it| base.wrapping_add(it as i64)).collect();
    let mut out = vec![0; room];
    assert_eq!(kernels.compress_i64(&all, &words, &mut out), selected);
    assert_eq!(out[..selected], values);
    if bits > 32 {
        return;
    }
    let codes: Vec<u32> = picked.iter().map(|&it| case.wanted()[it] as u32).collect();
    let mut out = vec![0; room];
    kernels.gather_u32(&case.packed, bits, start, &positions, &mut out);
    assert_eq!(out[..selected], codes);
    let mut out = vec![0; room];
    kernels.select_u32(&case.packed, bits, start, rows, &words, selected, &mut out);
    assert_eq!(out[..selected], codes);
    let all: Vec<u32> = case.wanted().iter().map(|&it| it as u32).collect();
    let mut out = vec![0; room];
    assert_eq!(kernels.compress_u32(&all, &words, &mut out), selected);
    assert_eq!(out[..selected], codes);
}

type Holds = fn(i64, i64) -> bool;

fn check_compare(kernels: &Kernels, left: &mut Case, right_bits: u32, right_start: usize) {
    let right = Case::new(right_bits, right_start, left.rows, left.prng.next_u64());
    // Bases far apart, near, equal, and beyond what 32-bit lanes can shift.
    let bases =
        [(0, 0), (10, -3), (-1 << 40, 5), (1 << 30, 0), (0, (1 << 30) + 1), (0, 1 << 14), (7, 7)];
    let (a, b) = bases[left.prng.below(7) as usize];
    if left.bits == 64 || right_bits == 64 {
        return;
    }
    let value = |case: &Case, base: i64, row: usize| base + case.wanted()[row] as i64;
    let operators: [(Comparison, Holds); 6] = [
        (Comparison::Less, |a, b| a < b),
        (Comparison::LessOrEqual, |a, b| a <= b),
        (Comparison::Equal, |a, b| a == b),
        (Comparison::NotEqual, |a, b| a != b),
        (Comparison::GreaterOrEqual, |a, b| a >= b),
        (Comparison::Greater, |a, b| a > b),
    ];
    for (comparison, holds) in operators {
        let found = left.bitmap(|it| holds(value(left, a, it), value(&right, b, it)));
        let before = left.random_bitmap();
        let operand = |case: &Case, base| (case.bits, case.start, base);
        let (l, r) = (operand(left, a), operand(&right, b));
        let l = Operand { packed: &left.packed, bits: l.0, start: l.1, base: l.2 };
        let r = Operand { packed: &right.packed, bits: r.0, start: r.1, base: r.2 };
        let mut out = vec![0xdead; found.len()];
        kernels.scan_compare(l, comparison, r, left.rows, &mut out, false);
        assert_eq!(out, found, "{comparison:?} {a} {b}");
        let both: Vec<u64> = found.iter().zip(&before).map(|(a, b)| a & b).collect();
        let mut and = before;
        kernels.scan_compare(l, comparison, r, left.rows, &mut and, true);
        assert_eq!(and, both, "{comparison:?} {a} {b}");
    }
}

fn check_all(level: Level, bits: u32, start: usize, rows: usize, seed: u64) {
    let kernels = Kernels::for_level(level);
    let mut case = Case::new(bits, start, rows, seed);
    check_unpack(kernels, &case);
    for _ in 0..3 {
        check_range(kernels, &mut case);
        check_survivors(kernels, &mut case);
    }
    check_set(kernels, &mut case);
    // As wide as the left side, often, so that narrow lanes are met.
    let right_bits = [case.prng.below(33) as u32, bits.min(14)][case.prng.below(2) as usize];
    let right_start = case.prng.below(20) as usize;
    check_compare(kernels, &mut case, right_bits, right_start);
}

fn widths() -> impl Iterator<Item = u32> {
    (0..=32).chain([64])
}

#[test]
fn every_width_and_level_on_the_lengths_where_kernels_break() {
    let lengths: &[usize] = if cfg!(miri) { &[67] } else { &[0, 1, 7, 31, 33, 64, 65, 1024, 1500] };
    for level in Level::available() {
        assert_eq!(Kernels::for_level(level).level(), level);
        for bits in widths() {
            for (seed, &rows) in lengths.iter().enumerate() {
                if !cfg!(miri) {
                    check_all(level, bits, 0, rows, seed as u64);
                }
                check_all(level, bits, 1024 * (seed % 2) + 8, rows, seed as u64 + 100);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 24 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_width_and_level_on_any_start_and_length(
        start in 0..200usize,
        rows in 0..if cfg!(miri) { 90 } else { 2500usize },
        seed in any::<u64>(),
    ) {
        for level in Level::available() {
            // Miri meets all widths in the test of lengths.
            for bits in widths().step_by(if cfg!(miri) { 5 } else { 1 }) {
                check_all(level, bits, start, rows, seed);
            }
        }
    }
}

#[test]
fn a_dense_range_test_at_every_width_against_every_code() {
    // All codes of narrow widths, all their ranges: the sign and carry traps of narrow lanes.
    for level in Level::available() {
        let kernels = Kernels::for_level(level);
        for bits in if cfg!(miri) { 1..=2 } else { 1..=5u32 } {
            let codes: Vec<u32> = (0..1 << bits).collect();
            let mut packed = vec![0; packed_bytes(codes.len(), bits)];
            pack(&codes, bits, &mut packed, 0);
            for lo in 0..=1 << bits {
                for hi in 0..=1 << bits {
                    let mut out = [0];
                    kernels.scan_range(&packed, bits, 0, codes.len(), lo, hi, &mut out);
                    let expect = (0..1u32 << bits).filter(|it| (lo..=hi).contains(it));
                    assert_eq!(out[0], expect.map(|it| 1 << it).sum::<u64>(), "{lo}..={hi}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "rows of 12")]
fn too_few_bytes_are_refused() {
    let packed = vec![0; packed_bytes(1000, 12)];
    Kernels::active().unpack_u32(&packed, 12, 100, &mut [0; 1000]);
}
