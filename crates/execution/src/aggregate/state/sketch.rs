//! About how many distinct values each group has (Flajolet et al., HyperLogLog, 2007), with the estimator of Ertl (New
//! cardinality estimation algorithms for HyperLogLog sketches, 2017), which needs no tables of corrections.
//!
//! Key decision: few values are kept as their hashes, so that small groups are counted exactly and take little memory.

use std::any::Any;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher};

use storage::Check;
use types::SqlResult;

use super::interface::{GroupStates, same_kind};
use super::rows::StateRows;
use super::rows::text_at;
use super::spec::StateSpec;
use crate::sort::float_code;
use crate::{ColumnShape, Values, Vector};

/// Bits of a hash that choose a register: the error is about 1.04 / 2^(bits / 2), 1.6 % here.
const REGISTER_BITS: u32 = 12;
const REGISTERS: usize = 1 << REGISTER_BITS;
/// Hashes that are kept as they are.
const HASHES_MAX: usize = 256;
/// The greatest rank: that of a hash of zeros.
const RANK_MAX: usize = 64 - REGISTER_BITS as usize + 1;

/// What is kept of the values of a group.
#[derive(Clone)]
enum Sketch {
    /// All of their hashes.
    Hashes(BTreeSet<u64>),
    /// The highest rank seen by each register.
    Registers(Box<[u8]>),
}

impl Sketch {
    fn add(&mut self, hash: u64) {
        match self {
            Self::Registers(it) => raise(it, hash),
            Self::Hashes(hashes) => {
                hashes.insert(hash);
                if hashes.len() > HASHES_MAX {
                    let mut registers = vec![0; REGISTERS].into_boxed_slice();
                    hashes.iter().for_each(|&it| raise(&mut registers, it));
                    *self = Self::Registers(registers);
                }
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (_, Self::Hashes(hashes)) => hashes.iter().for_each(|&it| self.add(it)),
            (Self::Registers(into), Self::Registers(more)) => {
                into.iter_mut().zip(more).for_each(|(into, more)| *into = (*into).max(*more));
            }
            (Self::Hashes(own), Self::Registers(registers)) => {
                let mut registers = registers.clone();
                own.iter().for_each(|&it| raise(&mut registers, it));
                *self = Self::Registers(registers);
            }
        }
    }

    fn estimate(&self) -> i64 {
        match self {
            Self::Hashes(it) => it.len() as i64,
            Self::Registers(it) => estimate(it).round() as i64,
        }
    }
}

/// Counts a hash in its register.
fn raise(registers: &mut [u8], hash: u64) {
    let register = (hash >> (64 - REGISTER_BITS)) as usize;
    let rest = hash << REGISTER_BITS;
    let rank = (rest.leading_zeros() as usize + 1).min(RANK_MAX) as u8;
    registers[register] = registers[register].max(rank);
}

/// Ertl's improved raw estimator.
fn estimate(registers: &[u8]) -> f64 {
    let mut counts = [0.0; RANK_MAX + 1];
    registers.iter().for_each(|&it| counts[it as usize] += 1.0);
    let all = REGISTERS as f64;
    let mut sum = all * tau(1.0 - counts[RANK_MAX] / all);
    for count in counts[1..RANK_MAX].iter().rev() {
        sum = 0.5 * (sum + count);
    }
    sum += all * sigma(counts[0] / all);
    all * all / (2.0 * std::f64::consts::LN_2 * sum)
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

/// The sketches of groups.
pub(super) struct Sketches {
    argument: usize,
    shape: ColumnShape,
    sketches: Vec<Sketch>,
}

impl Sketches {
    pub(super) fn new(spec: &StateSpec) -> Self {
        let (argument, shape) = (spec.arguments[0], spec.shapes[0].clone());
        Self { argument, shape, sketches: Vec::new() }
    }

    /// The hash of the value of a row: equal values have equal ones.
    fn hash(&self, vector: &Vector, row: usize) -> u64 {
        let mut hasher = foldhash::quality::FixedState::with_seed(0x0068_6c6c).build_hasher();
        match &vector.values {
            Values::I64(it) => hasher.write_i128(it[row].into()),
            Values::I128(it) => hasher.write_i128(it[row]),
            Values::F64(it) => hasher.write_u64(float_code(it[row])),
            Values::Bool(it) => hasher.write_u8(it[row].into()),
            Values::Codes(_) | Values::Text(_) => {
                hasher.write(text_at(vector, &self.shape, row).as_bytes());
            }
        }
        hasher.finish()
    }
}

impl GroupStates for Sketches {
    fn resize(&mut self, groups: usize) {
        self.sketches.resize(groups, Sketch::Hashes(BTreeSet::new()));
    }

    fn take(&self, places: &[u32]) -> Box<dyn GroupStates> {
        let sketches = places.iter().map(|&it| self.sketches[it as usize].clone()).collect();
        Box::new(Self { argument: self.argument, shape: self.shape.clone(), sketches })
    }

    fn update(&mut self, rows: &StateRows<'_>) {
        let vector = &rows.arguments[self.argument];
        for (row, group) in rows.counted() {
            let hash = self.hash(vector, row);
            self.sketches[group].add(hash);
        }
    }

    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]) {
        let other: &Self = same_kind(other);
        for (&to, &from) in to.iter().zip(from) {
            self.sketches[to as usize].merge(&other.sketches[from as usize]);
        }
    }

    fn finish(&self, _: Check<'_>) -> SqlResult<Vector> {
        Ok(Vector::new(Values::I64(self.sketches.iter().map(Sketch::estimate).collect())))
    }

    fn bytes(&self) -> u64 {
        let of = |it: &Sketch| match it {
            Sketch::Hashes(it) => 16 * it.len() + 32,
            Sketch::Registers(_) => REGISTERS,
        };
        self.sketches.iter().map(of).sum::<usize>() as u64
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use stdx::prng::Prng;

    use super::*;

    #[test]
    fn estimates_are_near_and_do_not_depend_on_how_values_are_dealt() {
        let mut prng = Prng::new(5);
        for count in [0_usize, 1, 256, 257, 1000, 5000, 100_000, 400_000] {
            let hashes: Vec<u64> = (0..count).map(|_| prng.next_u64()).collect();
            let empty = || Sketch::Hashes(BTreeSet::new());
            let mut whole = empty();
            let mut dealt = [empty(), empty(), empty()];
            for &hash in &hashes {
                whole.add(hash);
                dealt[prng.below(3) as usize].add(hash);
                dealt[prng.below(3) as usize].add(hash);
            }
            let [mut first, second, third] = dealt;
            first.merge(&third);
            first.merge(&second);
            assert_eq!(first.estimate(), whole.estimate());
            let error = (whole.estimate() as f64 - count as f64).abs();
            let near = if count <= HASHES_MAX { 0.0 } else { 0.06 * count as f64 };
            assert!(error <= near, "{count}: {}", whole.estimate());
        }
    }
}
