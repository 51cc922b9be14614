//! AND, OR, NOT and the tests IS NULL, IS TRUE and their kin, in three-valued logic.

use types::{DataType, SqlResult, Value};

use super::kernels::select_rows;
use super::node::{Facts, Kernel, Node, compact, select_true};
use crate::{Batch, Bitmap, ColumnShape, Values, Vector};

/// AND or OR of any number of operands. Later operands only see rows that earlier ones left undecided, so that their
/// errors and their cost stay away from the others.
#[derive(Debug)]
struct Logic {
    operands: Vec<Node>,
    /// The value that decides: FALSE for AND, TRUE for OR.
    decides: bool,
}

/// Compiles AND (`decides` is FALSE) or OR (TRUE).
pub(super) fn logic(operands: Vec<Node>, decides: bool) -> Node {
    let constant = |node: &Node| match node.as_constant() {
        Some(Value::Boolean(it)) => Some(*it),
        _ => None,
    };
    // Operands after one that always decides are never reached; those that never decide change nothing.
    let mut kept: Vec<Node> = Vec::with_capacity(operands.len());
    for node in operands {
        match constant(&node) {
            Some(value) if value == decides => {
                kept.push(node);
                break;
            }
            Some(_) => {}
            None => kept.push(node),
        }
    }
    if kept.len() <= 1 {
        let neutral = || Node::constant(Value::Boolean(!decides), DataType::Boolean);
        return kept.pop().unwrap_or_else(neutral);
    }
    let facts = Facts::of(&kept);
    let shape = ColumnShape::computed(DataType::Boolean, facts.nullable);
    Node::new(shape, facts, Logic { operands: kept, decides })
}

const NEUTRAL: u8 = 0;
const UNKNOWN: u8 = 1;
const DECIDED: u8 = 2;

impl Logic {
    /// What a vector says of each row; the states of two operands combine to their maximum.
    fn states(&self, vector: &Vector) -> Vec<u8> {
        let Values::Bool(values) = &vector.values else {
            unreachable!("invariant: a condition is held as Bool");
        };
        let decides = self.decides;
        let mut states: Vec<u8> =
            values.iter().map(|&it| if it == decides { DECIDED } else { NEUTRAL }).collect();
        if let Some(map) = &vector.validity {
            for (row, state) in states.iter_mut().enumerate() {
                *state = if map.get(row) { *state } else { UNKNOWN };
            }
        }
        states
    }

    fn combine(&self, batch: &Batch, operand: &Node, states: &mut [u8]) -> SqlResult<()> {
        let decided = states.iter().filter(|&&it| it == DECIDED).count();
        let open = batch.rows - decided;
        if open == 0 {
            return Ok(());
        }
        if decided == 0 || (!operand.facts.fallible && open * 4 > batch.rows) {
            let more = self.states(&*operand.evaluate(batch)?);
            states.iter_mut().zip(more).for_each(|(state, more)| *state = (*state).max(more));
            return Ok(());
        }
        let mut rows = Vec::new();
        select_rows(batch.rows, &mut rows, |row| states[row] != DECIDED);
        let more = self.states(&*operand.evaluate(&compact(batch, &operand.facts, &rows))?);
        for (&row, more) in rows.iter().zip(more) {
            let state = &mut states[row as usize];
            *state = (*state).max(more);
        }
        Ok(())
    }

    fn select_all(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        self.operands[0].select(batch, rows)?;
        let mut kept = Vec::new();
        for operand in &self.operands[1..] {
            if rows.is_empty() {
                break;
            }
            if rows.len() == batch.rows {
                operand.select(batch, rows)?;
                continue;
            }
            operand.select(&compact(batch, &operand.facts, rows), &mut kept)?;
            kept.iter_mut().for_each(|it| *it = rows[*it as usize]);
            std::mem::swap(rows, &mut kept);
        }
        Ok(())
    }

    fn select_any(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        self.operands[0].select(batch, rows)?;
        let mut found = vec![false; batch.rows];
        rows.iter().for_each(|&row| found[row as usize] = true);
        let (mut open, mut more) = (Vec::new(), Vec::new());
        for operand in &self.operands[1..] {
            select_rows(batch.rows, &mut open, |row| !found[row]);
            if open.is_empty() {
                break;
            }
            if open.len() == batch.rows {
                operand.select(batch, &mut more)?;
            } else {
                operand.select(&compact(batch, &operand.facts, &open), &mut more)?;
            }
            more.iter().for_each(|&it| found[open[it as usize] as usize] = true);
        }
        select_rows(batch.rows, rows, |row| found[row]);
        Ok(())
    }
}

impl Kernel for Logic {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let mut states = vec![NEUTRAL; batch.rows];
        for operand in &self.operands {
            self.combine(batch, operand, &mut states)?;
        }
        let decides = self.decides;
        let values = states.iter().map(|&it| (it == DECIDED) == decides).collect();
        let unknown = states.contains(&UNKNOWN);
        let validity = unknown.then(|| Bitmap::from_bits(states.iter().map(|&it| it != UNKNOWN)));
        Ok(Vector { values: Values::Bool(values), validity })
    }

    fn select(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        if self.decides { self.select_any(batch, rows) } else { self.select_all(batch, rows) }
    }
}

#[derive(Debug)]
struct Not(Node);

/// Compiles NOT.
pub(super) fn not(operand: Node) -> Node {
    if operand.is_null() {
        return Node::null(DataType::Boolean);
    }
    let facts = Facts::of([&operand]);
    Node::new(operand.shape.clone(), facts, Not(operand))
}

impl Kernel for Not {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.0.evaluate(batch)?;
        let Values::Bool(values) = &vector.values else {
            unreachable!("invariant: a condition is held as Bool");
        };
        let values = Values::Bool(values.iter().map(|it| !it).collect());
        Ok(Vector { values, validity: vector.validity.clone() })
    }
}

#[derive(Debug)]
struct IsNull {
    operand: Node,
    negated: bool,
}

/// Compiles IS [NOT] NULL.
pub(super) fn is_null(operand: Node, negated: bool) -> Node {
    if operand.is_null() || (!operand.shape.nullable && !operand.facts.fallible) {
        let holds = operand.is_null() != negated;
        return Node::constant(Value::Boolean(holds), DataType::Boolean);
    }
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(DataType::Boolean, false);
    Node::new(shape, facts, IsNull { operand, negated })
}

impl Kernel for IsNull {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.operand.evaluate(batch)?;
        let values = match &vector.validity {
            None => vec![self.negated; batch.rows],
            Some(map) => (0..batch.rows).map(|row| map.get(row) == self.negated).collect(),
        };
        Ok(Vector::new(Values::Bool(values)))
    }
}

#[derive(Debug)]
struct IsTruth {
    operand: Node,
    value: bool,
    negated: bool,
}

/// Compiles IS [NOT] TRUE and IS [NOT] FALSE.
pub(super) fn is_truth(operand: Node, value: bool, negated: bool) -> Node {
    if operand.is_null() {
        return Node::constant(Value::Boolean(negated), DataType::Boolean);
    }
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(DataType::Boolean, false);
    Node::new(shape, facts, IsTruth { operand, value, negated })
}

impl Kernel for IsTruth {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.operand.evaluate(batch)?;
        let Values::Bool(values) = &vector.values else {
            unreachable!("invariant: a condition is held as Bool");
        };
        let holds =
            |(row, &it): (usize, &bool)| (it == self.value && vector.is_valid(row)) != self.negated;
        Ok(Vector::new(Values::Bool(values.iter().enumerate().map(holds).collect())))
    }

    fn select(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        if self.value && !self.negated {
            return self.operand.select(batch, rows);
        }
        select_true(&self.evaluate(batch)?, rows);
        Ok(())
    }
}
