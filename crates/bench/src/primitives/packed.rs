//! The kernels on packed codes, by width and instruction set, over memory that no cache holds.

use std::hint::black_box;

use bitpack::PADDING;
use bitpack::bitmap;
pub use bitpack::{Kernels, Level};
use hardware::Machine;
use stdx::{Nanos, Prng};

use super::Measured;

/// Rows of a block: bitmaps and decoded rows stay in the cache, as in a scan.
const BLOCK_ROWS: usize = 1 << 16;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 12;

/// Codes of the widest set: its bits fit the second-level cache.
const SET_BITS_MAX: u32 = 20;

/// Packed bytes that are read as codes of any width: any bits are codes.
pub struct PackedBench<'a> {
    machine: &'a dyn Machine,
    bytes: Vec<u8>,
    runs: usize,
}

impl<'a> PackedBench<'a> {
    /// Fills memory with codes; each measurement is the best of `runs` passes.
    pub fn new(machine: &'a dyn Machine, bytes: usize, runs: usize) -> Self {
        let mut random = Prng::new(1);
        let words = bytes.max(BLOCK_ROWS * 4).div_ceil(8);
        let mut bytes: Vec<u8> = (0..words).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        bytes.extend([0; PADDING]);
        Self { machine, bytes, runs }
    }

    /// A range of a third of the codes, into a bitmap.
    pub fn range(&self, level: Level, bits: u32) -> Measured {
        let kernels = Kernels::for_level(level);
        let mut words = vec![0; bitmap::words_for(BLOCK_ROWS)];
        let last = (u64::MAX >> (64 - bits)) as u32;
        let (low, high) = (last / 3, last / 3 + last / 3);
        self.measure(format!("range, {bits:2} bits, {level:?}"), bits, BLOCK_ROWS, |start, rows| {
            kernels.scan_range(&self.bytes, bits, start, rows, low, high, &mut words);
            black_box(&words);
        })
    }

    /// A set of half of the codes, into a bitmap; `None` for codes too wide for a set.
    pub fn set(&self, level: Level, bits: u32) -> Option<Measured> {
        if bits > SET_BITS_MAX {
            return None;
        }
        let kernels = Kernels::for_level(level);
        let mut random = Prng::new(2);
        let codes = bitmap::words_for(1 << bits);
        let mut set: Vec<u64> = (0..codes).map(|_| random.next_u64()).collect();
        if let Some(last) = set.last_mut() {
            *last &= bitmap::tail_mask(1 << bits);
        }
        let mut words = vec![0; bitmap::words_for(BLOCK_ROWS)];
        let name = format!("set, {bits:2} bits, {level:?}");
        Some(self.measure(name, bits, BLOCK_ROWS, |start, rows| {
            kernels.scan_set(&self.bytes, bits, start, rows, &set, &mut words, false);
            black_box(&words);
        }))
    }

    /// All rows to 64-bit values with an offset, batch by batch.
    pub fn decode(&self, level: Level, bits: u32) -> Measured {
        let kernels = Kernels::for_level(level);
        let mut values = vec![0_i64; BATCH_ROWS];
        self.measure(
            format!("decode, {bits:2} bits, {level:?}"),
            bits,
            BATCH_ROWS,
            |start, rows| {
                kernels.unpack_i64_add(&self.bytes, bits, start, 1000, &mut values[..rows]);
                black_box(&values);
            },
        )
    }

    fn measure(
        &self,
        name: String,
        bits: u32,
        step: usize,
        mut body: impl FnMut(usize, usize),
    ) -> Measured {
        let rows = (self.bytes.len() - PADDING) * 8 / bits as usize / step * step;
        let mut best: Option<Nanos> = None;
        for _ in 0..self.runs.max(1) {
            let started = self.machine.now();
            (0..rows).step_by(step).for_each(|start| body(start, step));
            let time = self.machine.now() - started;
            best = Some(best.map_or(time, |it| it.min(time)));
        }
        let bytes = rows as u64 * u64::from(bits) / 8;
        Measured { name, rows: rows as u64, time: best.unwrap_or_default(), bytes }
    }
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use simulator::SimulatedMachine;

    use super::*;

    #[test]
    fn every_width_and_level_is_measured_over_all_bytes() {
        let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let bench = PackedBench::new(&*machine, 1 << 19, 1);
        for level in Level::available() {
            for bits in 1..=32 {
                for it in [bench.range(level, bits), bench.decode(level, bits)] {
                    assert_eq!(it.bytes, it.rows * u64::from(bits) / 8, "{}", it.name);
                    assert!(it.bytes <= 1 << 19 && it.bytes > 1 << 18, "{}", it.name);
                    assert!(it.millions_per_second() > 0.0);
                }
                assert_eq!(bench.set(level, bits).is_some(), bits <= SET_BITS_MAX);
            }
        }
    }
}
