//! Sums of formulas over packed columns as a program of vector registers: each step fills one, a value for each row of a
//! chunk, in 32 bits where these do (docs/design/07-measured-costs.md, "one query in many styles"). Equal formulas are
//! computed once.

use plan::BinaryOperator;

use super::arithmetic::{Values, binary_i64, binary_u32};
use crate::aggregate::spec::{AccumulatorKind, AccumulatorSpec};
use crate::aggregate::tuning::PACKED_MAGNITUDE_MAX;
use crate::expression::{Compiled, Formula, FormulaKind};
use crate::leveled::{Level, PACKED_ROWS, scale, scale_u32, write1};
use crate::scan::{PackedBlock, PackedColumn};

/// What is computed of each chunk of packed rows.
pub(super) struct SumProgram {
    pub(super) level: Level,
    steps: Vec<Step>,
    /// For each accumulator the step whose values it sums; `None` to count.
    pub(super) sums: Vec<Option<usize>>,
}

/// Fills a register, a value for each row of a chunk.
struct Step {
    formula: Formula,
    /// Whether the values are held in 32 bits.
    narrow: bool,
    /// Whether another step reads them; else they are only summed.
    read: bool,
    work: Work,
}

enum Work {
    Column(usize),
    Binary(BinaryOperator, Operand, Operand),
}

#[derive(Clone, Copy)]
enum Operand {
    Step(usize),
    Constant(i64),
}

/// The values of a chunk by step.
pub(super) struct Registers {
    /// Used where a step is narrow.
    narrow: Vec<u32>,
    /// Used where it is not.
    wide: Vec<i64>,
    /// The codes of columns of up to a byte.
    bytes: Vec<u8>,
}

/// The values that a step gave, in the narrowest form: they have yet to be summed.
pub(super) enum StepValues<'a> {
    /// Codes of a byte; a value is `step` times its code plus `base`.
    Codes {
        codes: &'a [u8],
        step: i64,
        base: i64,
    },
    /// In 32 bits, none greater than `high`.
    Narrow {
        values: &'a [u32],
        high: u32,
    },
    Wide(&'a [i64]),
}

/// Bits of a code that a byte holds.
const BYTE: u32 = 8;

impl SumProgram {
    /// The program, if all accumulators count rows or sum formulas of packed columns.
    pub(super) fn new(
        level: Level,
        arguments: &[Compiled],
        accumulators: &[AccumulatorSpec],
    ) -> Option<Self> {
        let mut program = Self { level, steps: Vec::new(), sums: Vec::new() };
        for it in accumulators {
            let sum = match (it.kind, it.argument, it.filter) {
                (AccumulatorKind::Count, None, None) => None,
                (AccumulatorKind::Sum, Some(argument), None) => {
                    let formula = arguments[argument].formula()?;
                    let magnitude = formula.low.unsigned_abs().max(formula.high.unsigned_abs());
                    match program.operand(&formula)? {
                        Operand::Step(step) if magnitude <= PACKED_MAGNITUDE_MAX => Some(step),
                        _ => return None,
                    }
                }
                _ => return None,
            };
            program.sums.push(sum);
        }
        Some(program)
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Has all sums held in 32 bits, also where they are only codes of a byte; `None` if a value is greater than `most`.
    pub(super) fn in_32_bits(mut self, most: i64) -> Option<Self> {
        for &step in self.sums.iter().flatten() {
            let step = &mut self.steps[step];
            step.read = true;
            if !step.narrow || step.formula.high > most {
                return None;
            }
        }
        Some(self)
    }

    /// The operand that a formula is, with the steps that compute it; equal formulas are computed once.
    fn operand(&mut self, formula: &Formula) -> Option<Operand> {
        if let Some(known) = self.steps.iter().position(|it| it.formula == *formula) {
            return Some(Operand::Step(known));
        }
        let fits = formula.low >= 0 && formula.high <= i64::from(u32::MAX);
        let (work, narrow) = match &formula.kind {
            FormulaKind::Constant => return Some(Operand::Constant(formula.low)),
            FormulaKind::Column(column) => (Work::Column(*column), fits),
            FormulaKind::Binary(operator, left, right) => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                let is_narrow = |it: Operand| match it {
                    Operand::Step(step) => self.steps[step].narrow,
                    Operand::Constant(_) => true,
                };
                let narrow = fits && is_narrow(left) && is_narrow(right);
                (Work::Binary(*operator, left, right), narrow)
            }
        };
        if let Work::Binary(_, left, right) = &work {
            for operand in [left, right] {
                if let Operand::Step(step) = operand {
                    self.steps[*step].read = true;
                }
            }
        }
        self.steps.push(Step { formula: formula.clone(), narrow, read: false, work });
        Some(Operand::Step(self.steps.len() - 1))
    }

    /// Room for the values of a chunk.
    pub(super) fn registers(&self) -> Registers {
        let any = |narrow| self.steps.iter().any(|it| it.narrow == narrow);
        let room = |narrow| if any(narrow) { self.steps.len() * PACKED_ROWS } else { 0 };
        Registers {
            narrow: vec![0; room(true)],
            wide: vec![0; room(false)],
            bytes: vec![0; self.steps.len() * PACKED_ROWS],
        }
    }

    /// The columns that steps fetch; `None` if one of them is not packed.
    pub(super) fn columns<'a>(
        &self,
        block: &'a PackedBlock<'_>,
    ) -> Option<Vec<Option<PackedColumn<'a>>>> {
        let column = |step: &Step| match step.work {
            Work::Column(place) => block.column(place).map(Some),
            Work::Binary(..) => Some(None),
        };
        self.steps.iter().map(column).collect()
    }

    /// Runs the steps over a chunk.
    pub(super) fn compute(
        &self,
        columns: &[Option<PackedColumn<'_>>],
        start: usize,
        rows: usize,
        registers: &mut Registers,
    ) {
        for (place, (step, column)) in self.steps.iter().zip(columns).enumerate() {
            let (narrow, out) = split(&mut registers.narrow, place, rows);
            let (wide, out_wide) = split(&mut registers.wide, place, rows);
            match (&step.work, column) {
                (Work::Column(_), Some(column)) => {
                    let bytes = &mut registers.bytes[place * PACKED_ROWS..][..rows];
                    self.fetch(step, column, start, bytes, out, out_wide);
                }
                (Work::Binary(operator, left, right), _) => {
                    let values = |it: Operand| match it {
                        Operand::Constant(value) => Values::Constant(value),
                        Operand::Step(at) if self.steps[at].narrow => {
                            Values::Narrow(&narrow[at * PACKED_ROWS..][..rows])
                        }
                        Operand::Step(at) => Values::Wide(&wide[at * PACKED_ROWS..][..rows]),
                    };
                    let (left, right) = (values(*left), values(*right));
                    match step.narrow {
                        true => binary_u32(self.level, *operator, left, right, out),
                        false => binary_i64(self.level, *operator, left, right, out_wide),
                    }
                }
                _ => unreachable!("invariant: a step of a column has its column"),
            }
        }
    }

    /// Unpacks a chunk of a column.
    fn fetch(
        &self,
        step: &Step,
        column: &PackedColumn<'_>,
        start: usize,
        bytes: &mut [u8],
        narrow: &mut [u32],
        wide: &mut [i64],
    ) {
        let PackedColumn { column, base, step: by } = *column;
        let (packed, bits) = (column.packed(), column.bits());
        let (by32, base32) = (by as u32, base as u32);
        if bits <= BYTE {
            bitpack::unpack_u8(packed, bits, start, bytes);
            if step.read && step.narrow {
                let value = |it: u8| u32::from(it).wrapping_mul(by32).wrapping_add(base32);
                write1(self.level, bytes, narrow, value);
            } else if step.read {
                let value = |it: u8| i64::from(it).wrapping_mul(by).wrapping_add(base);
                write1(self.level, bytes, wide, value);
            }
        } else if step.narrow {
            bitpack::unpack_u32(packed, bits, start, narrow);
            scale_u32(self.level, narrow, by32, base32);
        } else {
            bitpack::unpack_i64_add(packed, bits, start, 0, wide);
            scale(self.level, wide, by, base);
        }
    }

    /// The values of a step, after [`SumProgram::compute`].
    pub(super) fn values<'a>(
        &self,
        step: usize,
        columns: &[Option<PackedColumn<'_>>],
        rows: usize,
        from: &'a Registers,
    ) -> StepValues<'a> {
        let first = step * PACKED_ROWS;
        match &columns[step] {
            Some(PackedColumn { column, base, step }) if column.bits() <= BYTE => {
                StepValues::Codes { codes: &from.bytes[first..][..rows], step: *step, base: *base }
            }
            _ if self.steps[step].narrow => {
                let high = self.steps[step].formula.high as u32;
                StepValues::Narrow { values: &from.narrow[first..][..rows], high }
            }
            _ => StepValues::Wide(&from.wide[first..][..rows]),
        }
    }

    /// The values of a step of a program [`SumProgram::in_32_bits`].
    pub(super) fn narrow<'a>(&self, step: usize, rows: usize, from: &'a Registers) -> &'a [u32] {
        &from.narrow[step * PACKED_ROWS..][..rows]
    }
}

/// The registers before one, and the first rows of it; nothing where there are none of the kind.
fn split<T>(registers: &mut [T], place: usize, rows: usize) -> (&[T], &mut [T]) {
    if registers.is_empty() {
        return (&[], &mut []);
    }
    let (before, rest) = registers.split_at_mut(place * PACKED_ROWS);
    (before, &mut rest[..rows])
}
