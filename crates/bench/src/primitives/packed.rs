//! The kernels on packed codes, by width and instruction set, over memory that no cache holds.

use std::hint::black_box;

use bitpack::PADDING;
use bitpack::bitmap;
pub use bitpack::{Instructions, Kernels, Level};
use hardware::{Machine, MachineError, PagePolicy};
use memory::{Allocator, Segment};
use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, thread};
use stdx::{Nanos, Prng};

use super::Measured;

/// Rows of a block: bitmaps and decoded rows stay in the cache, as in a scan.
const BLOCK_ROWS: usize = 1 << 16;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 12;

/// Codes of the widest set: its bits fit the second-level cache.
const SET_BITS_MAX: u32 = 20;

/// Packed bytes that are read as codes of any width: any bits are codes. They lie in pages as those of columns do, on
/// all nodes in turn.
pub struct PackedBench<'a> {
    machine: &'a dyn Machine,
    codes: Segment,
    runs: usize,
}

impl<'a> PackedBench<'a> {
    /// Fills memory with codes; each measurement is the best of `runs` passes.
    pub fn new(
        machine: &'a Arc<dyn Machine>,
        bytes: usize,
        runs: usize,
    ) -> Result<Self, MachineError> {
        let mut random = Prng::new(1);
        let bytes = bytes.max(BLOCK_ROWS * 4).next_multiple_of(8);
        let nodes = machine.topology().memory_nodes();
        let allocator = Allocator::new(machine.clone());
        let mut codes = allocator.allocate(bytes + PADDING, PagePolicy::Interleave(nodes))?;
        let (filled, padding) = codes.as_bytes_mut().split_at_mut(bytes);
        filled
            .chunks_exact_mut(8)
            .for_each(|it| it.copy_from_slice(&random.next_u64().to_le_bytes()));
        padding.fill(0);
        Ok(Self { machine: &**machine, codes, runs })
    }

    /// A range of a third of the codes, into a bitmap, by so many threads at once.
    pub fn range(&self, level: Level, bits: u32, threads: usize) -> Measured {
        let kernels = Kernels::for_level(level);
        let last = (u64::MAX >> (64 - bits)) as u32;
        let (low, high) = (last / 3, last / 3 + last / 3);
        let codes = self.codes.as_bytes();
        let name = match threads {
            1 => format!("range, {bits:2} bits, {level:?}"),
            _ => format!("range, {bits:2} bits, {level:?}, {threads} threads"),
        };
        self.measure(name, bits, BLOCK_ROWS, threads, || {
            let mut words = vec![0; bitmap::words_for(BLOCK_ROWS)];
            move |start, rows| {
                kernels.scan_range(codes, bits, start, rows, low, high, &mut words);
                black_box(&words);
            }
        })
    }

    /// A set of half of the codes, into a bitmap; `None` for codes too wide for a set.
    pub fn set(&self, level: Level, bits: u32) -> Option<Measured> {
        if bits > SET_BITS_MAX {
            return None;
        }
        let kernels = Kernels::for_level(level);
        let mut random = Prng::new(2);
        let count = bitmap::words_for(1 << bits);
        let mut set: Vec<u64> = (0..count).map(|_| random.next_u64()).collect();
        if let Some(last) = set.last_mut() {
            *last &= bitmap::tail_mask(1 << bits);
        }
        let (set, codes) = (&set, self.codes.as_bytes());
        let name = format!("set, {bits:2} bits, {level:?}");
        Some(self.measure(name, bits, BLOCK_ROWS, 1, || {
            let mut words = vec![0; bitmap::words_for(BLOCK_ROWS)];
            move |start, rows| {
                kernels.scan_set(codes, bits, start, rows, set, &mut words, false);
                black_box(&words);
            }
        }))
    }

    /// All rows to 64-bit values with an offset, batch by batch.
    pub fn decode(&self, level: Level, bits: u32) -> Measured {
        let kernels = Kernels::for_level(level);
        let codes = self.codes.as_bytes();
        self.measure(format!("decode, {bits:2} bits, {level:?}"), bits, BATCH_ROWS, 1, || {
            let mut values = vec![0_i64; BATCH_ROWS];
            move |start, rows| {
                kernels.unpack_i64_add(codes, bits, start, 1000, &mut values[..rows]);
                black_box(&values);
            }
        })
    }

    /// The best pass over all rows: threads take the next `step` rows as workers take morsels.
    fn measure<B: FnMut(usize, usize)>(
        &self,
        name: String,
        bits: u32,
        step: usize,
        threads: usize,
        prepare: impl Fn() -> B + Sync,
    ) -> Measured {
        let rows = (self.codes.as_bytes().len() - PADDING) * 8 / bits as usize / step * step;
        let (passes, others) = (self.runs.max(1), threads.max(1) - 1);
        let (begun, done, next) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let pass_over = |body: &mut B| {
            loop {
                let start = next.fetch_add(step, Ordering::Relaxed);
                if start >= rows {
                    return;
                }
                body(start, step);
            }
        };
        let mut best: Option<Nanos> = None;
        thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(|| {
                    let mut body = prepare();
                    for pass in 1..=passes {
                        wait(|| begun.load(Ordering::Acquire) >= pass);
                        pass_over(&mut body);
                        done.fetch_add(1, Ordering::Release);
                    }
                });
            }
            let mut body = prepare();
            for pass in 1..=passes {
                next.store(0, Ordering::Relaxed);
                done.store(0, Ordering::Relaxed);
                let started = self.machine.now();
                begun.store(pass, Ordering::Release);
                pass_over(&mut body);
                wait(|| done.load(Ordering::Acquire) == others);
                let time = self.machine.now() - started;
                best = Some(best.map_or(time, |it| it.min(time)));
            }
        });
        let bytes = rows as u64 * u64::from(bits) / 8;
        let time = Nanos(best.unwrap_or_default().0 * (others + 1) as u64);
        Measured { name, rows: rows as u64, time, bytes }
    }
}

/// Waits for another thread, which has a processor of its own or gets this one's.
fn wait(until: impl Fn() -> bool) {
    while !until() {
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use simulator::SimulatedMachine;

    use super::*;

    #[test]
    fn every_width_and_level_is_measured_over_all_bytes() {
        let machine: Arc<dyn Machine> =
            SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let bench = PackedBench::new(&machine, 1 << 19, 1).unwrap();
        for level in Level::available() {
            for bits in 1..=32 {
                for it in [
                    bench.range(level, bits, 1),
                    bench.range(level, bits, 3),
                    bench.decode(level, bits),
                ] {
                    assert_eq!(it.bytes, it.rows * u64::from(bits) / 8, "{}", it.name);
                    assert!(it.bytes <= 1 << 19 && it.bytes > 1 << 18, "{}", it.name);
                    assert!(it.millions_per_second() > 0.0);
                }
                assert_eq!(bench.set(level, bits).is_some(), bits <= SET_BITS_MAX);
            }
        }
    }
}
