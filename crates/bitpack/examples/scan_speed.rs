//! Prints how many rows per nanosecond the kernels pass through, per width and level:
//! `cargo run --release -p bitpack --example scan_speed [ROWS]`.

use std::hint::black_box;
use std::time::Instant;

use bitpack::{Comparison, Kernels, Level, Operand, bitmap, pack, packed_bytes};

/// The best of several runs, in rows per nanosecond.
fn speed(rows: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..12 {
        let begin = Instant::now();
        run();
        best = best.min(begin.elapsed().as_nanos() as f64);
    }
    rows as f64 / best
}

fn main() {
    let rows = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(1 << 20);
    println!("{rows} rows, 1 thread, G rows/s");
    println!(
        "{:<9}{:>5}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}",
        "level", "bits", "range", "and 1%", "set", "less", "u32", "i64", "sel 2%", "sel 50%"
    );
    for level in Level::available() {
        let kernels = Kernels::for_level(level);
        for bits in 1..=32u32 {
            print_width(level, kernels, bits, rows);
        }
    }
}

fn print_width(level: Level, kernels: &Kernels, bits: u32, rows: usize) {
    let max = (u64::MAX >> (64 - bits)) as u32;
    let mut prng = stdx::Prng::new(7);
    let codes: Vec<u32> = (0..rows).map(|_| prng.next_u64() as u32 & max).collect();
    let mut packed = vec![0; packed_bytes(rows, bits)];
    pack(&codes, bits, &mut packed, 0);
    let mut out = vec![0u64; bitmap::words_for(rows)];
    let (lo, hi) = (max / 4 + 1, max - max / 4);
    let range =
        speed(rows, || kernels.scan_range(black_box(&packed), bits, 0, rows, lo, hi, &mut out));
    let sparse = |percent: u64| -> Vec<u64> {
        let mut prng = stdx::Prng::new(9);
        let mut words = vec![0; bitmap::words_for(rows)];
        (0..rows).filter(|_| prng.below(100) < percent).for_each(|it| bitmap::set(&mut words, it));
        words
    };
    let one = sparse(1);
    let and = speed(rows, || {
        out.copy_from_slice(&one);
        kernels.scan_range_and(black_box(&packed), bits, 0, rows, lo, hi, &mut out);
    });
    let set = vec![0x5555_aaaa; (1usize << bits.min(20)).div_ceil(64)];
    let in_set =
        speed(rows, || kernels.scan_set(black_box(&packed), bits, 0, rows, &set, &mut out, false));
    let operand = Operand { packed: &packed, bits, start: 0, base: 0 };
    let other = Operand { base: 3, ..operand };
    let less = speed(rows, || {
        kernels.scan_compare(black_box(operand), Comparison::Less, other, rows, &mut out, false);
    });
    let mut wide = vec![0u32; 4096];
    let unpack = speed(rows, || {
        for start in (0..rows / 4096 * 4096).step_by(4096) {
            kernels.unpack_u32(&packed, bits, start, black_box(&mut wide));
        }
    });
    let mut wider = vec![0i64; 4096];
    let unpack_add = speed(rows, || {
        for start in (0..rows / 4096 * 4096).step_by(4096) {
            kernels.unpack_i64_add(&packed, bits, start, 1000, black_box(&mut wider));
        }
    });
    let mut survivors = vec![0i64; rows];
    let mut select = |percent| {
        let words = sparse(percent);
        let count = bitmap::count(&words);
        speed(rows, || {
            kernels.select_i64_add(&packed, bits, 0, rows, &words, count, 5, &mut survivors);
        })
    };
    let (two, fifty) = (select(2), select(50));
    let level = format!("{level:?}");
    println!(
        "{level:<9}{bits:>5}{range:>8.1}{and:>8.1}{in_set:>8.1}{less:>8.1}{unpack:>8.1}{unpack_add:>8.1}{two:>8.1}{fifty:>8.1}"
    );
}
