//! CASE. A result is only computed for the rows that take its branch, so the others raise no error.

use stdx::sync::Arc;
use types::{DataType, SqlResult, Value};

use super::cast::cast;
use super::integers::{Interval, bounds_of, widened};
use super::kernels::{Lanes, select_rows};
use super::node::{Argument, Facts, Kernel, Node, Texts, compact, push_text};
use crate::{Batch, Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

#[derive(Debug)]
struct Case {
    conditions: Vec<Node>,
    /// One more than conditions: the last is for the rows that no branch takes.
    results: Vec<Node>,
    shape: ColumnShape,
    /// Whether all results may be computed for all rows, and then chosen from.
    blend: bool,
}

/// Compiles CASE; `results` has one more element than `conditions`.
pub(super) fn case(
    mut conditions: Vec<Node>,
    results: Vec<Node>,
    data_type: DataType,
) -> SqlResult<Node> {
    let mut results =
        results.into_iter().map(|it| cast(it, data_type)).collect::<SqlResult<Vec<_>>>()?;
    let mut place = 0;
    while place < conditions.len() {
        match conditions[place].as_constant() {
            Some(Value::Boolean(true)) => {
                conditions.truncate(place);
                results.truncate(place + 1);
            }
            Some(_) => {
                conditions.remove(place);
                results.remove(place);
            }
            None => place += 1,
        }
    }
    if conditions.is_empty() {
        return Ok(results.remove(0));
    }
    let shape = common_shape(&mut results, data_type);
    let facts = Facts { nullable: shape.nullable, ..Facts::of(conditions.iter().chain(&results)) };
    let number = matches!(
        shape.representation,
        Representation::I64 | Representation::I128 | Representation::F64
    );
    let plain = |it: &Node| !it.facts.fallible && !it.facts.volatile && !it.shape.nullable;
    let blend = number && conditions.len() == 1 && results.iter().all(plain);
    Ok(Node::new(shape.clone(), facts, Case { conditions, results, shape, blend }))
}

/// Brings the results to one way of holding values.
fn common_shape(results: &mut Vec<Node>, data_type: DataType) -> ColumnShape {
    let nullable = results.iter().any(|it| it.shape.nullable);
    let mut shape = ColumnShape::computed(data_type, nullable);
    match shape.representation {
        Representation::I64 | Representation::I128 => {
            if results.iter().any(Node::is_wide) {
                *results = results.drain(..).map(widened).collect();
                shape.representation = Representation::I128;
            } else {
                shape.representation = Representation::I64;
            }
            let union = |a: Interval, b: Interval| (a.0.min(b.0), a.1.max(b.1));
            let values = results.iter().filter(|it| !it.is_null());
            shape.bounds = values.map(|it| bounds_of(&it.shape)).reduce(union);
        }
        Representation::Text => {
            let values = results.iter().filter(|it| !it.is_null());
            let mut columns = values.map(|it| match &it.shape.representation {
                Representation::Codes(column) => Some(column.clone()),
                _ => None,
            });
            if let Some(Some(first)) = columns.next()
                && columns.all(|it| it.is_some_and(|it| Arc::ptr_eq(&it, &first)))
            {
                shape.representation = Representation::Codes(first);
            }
        }
        _ => {}
    }
    shape
}

/// The rows of a branch and its results for them.
type Part<'a> = (usize, Vec<u32>, Argument<'a>);

impl Case {
    fn parts(&self, batch: &Batch) -> SqlResult<Vec<Part<'_>>> {
        let mut parts = Vec::with_capacity(self.results.len());
        let mut open: Vec<u32> = (0..batch.rows as u32).collect();
        let mut hits = Vec::new();
        for (branch, condition) in self.conditions.iter().enumerate() {
            if open.is_empty() {
                return Ok(parts);
            }
            if open.len() == batch.rows {
                condition.select(batch, &mut hits)?;
            } else {
                condition.select(&compact(batch, &condition.facts, &open), &mut hits)?;
            }
            if hits.is_empty() {
                continue;
            }
            let mut taken = vec![false; open.len()];
            hits.iter().for_each(|&it| taken[it as usize] = true);
            let rows: Vec<u32> = hits.iter().map(|&it| open[it as usize]).collect();
            let mut left = Vec::new();
            select_rows(open.len(), &mut left, |place| !taken[place]);
            open = left.iter().map(|&it| open[it as usize]).collect();
            parts.push(self.part(branch, rows, batch)?);
        }
        if !open.is_empty() {
            parts.push(self.part(self.conditions.len(), open, batch)?);
        }
        Ok(parts)
    }

    fn part(&self, branch: usize, rows: Vec<u32>, batch: &Batch) -> SqlResult<Part<'_>> {
        let result = &self.results[branch];
        let values = if rows.len() == batch.rows {
            result.argument(batch)?
        } else {
            result.argument(&compact(batch, &result.facts, &rows))?
        };
        Ok((branch, rows, values))
    }

    fn evaluate_blend(&self, batch: &Batch) -> SqlResult<Vector> {
        let condition = self.conditions[0].evaluate(batch)?;
        let Values::Bool(holds) = &condition.values else {
            unreachable!("invariant: a condition is held as Bool");
        };
        let mut known = Vec::new();
        let holds = match &condition.validity {
            None => holds,
            Some(map) => {
                known.extend(holds.iter().enumerate().map(|(row, &it)| it && map.get(row)));
                &known
            }
        };
        let (a, b) = (self.results[0].argument(batch)?, self.results[1].argument(batch)?);
        Ok(Vector::new(match self.shape.representation {
            Representation::I64 => Values::I64(blend(holds, a.i64(), b.i64())),
            Representation::I128 => Values::I128(blend(holds, a.i128(), b.i128())),
            _ => Values::F64(blend(holds, a.f64(), b.f64())),
        }))
    }

    fn texts(&self, rows: usize, parts: &[Part<'_>]) -> Values {
        let mut spaces: Vec<TextVector> = parts.iter().map(|_| TextVector::default()).collect();
        let sources: Vec<Texts<'_>> = (parts.iter().zip(&mut spaces))
            .map(|((branch, _, values), space)| {
                Texts::of(values, &self.results[*branch].shape, space)
            })
            .collect();
        let mut origin = vec![(0_u32, 0_u32); rows];
        for (part, (_, rows, values)) in parts.iter().enumerate() {
            for (place, &row) in rows.iter().enumerate() {
                let valid = values.validity().is_none_or(|it| it.get(place));
                origin[row as usize] =
                    if valid { (part as u32, place as u32) } else { (u32::MAX, 0) };
            }
        }
        let mut texts = TextVector::default();
        for (part, place) in origin {
            let text = sources.get(part as usize).map_or(&b""[..], |it| it.get(place as usize));
            push_text(&mut texts, text);
        }
        Values::Text(texts)
    }

    fn codes(rows: usize, parts: &[Part<'_>]) -> Values {
        let mut codes = vec![0; rows];
        for (_, rows, values) in parts {
            if let Argument::Vector(_) = values {
                scatter(&mut codes, rows, values.codes());
            }
        }
        Values::Codes(codes)
    }
}

fn blend<T: Copy>(holds: &[bool], a: Lanes<'_, T>, b: Lanes<'_, T>) -> Vec<T> {
    let pick = |holds: bool, a: T, b: T| if holds { a } else { b };
    match (a, b) {
        (Lanes::Slice(a), Lanes::Slice(b)) => {
            holds.iter().zip(a.iter().zip(b)).map(|(&it, (&a, &b))| pick(it, a, b)).collect()
        }
        (Lanes::Slice(a), Lanes::Constant(b)) => {
            holds.iter().zip(a).map(|(&it, &a)| pick(it, a, b)).collect()
        }
        (Lanes::Constant(a), Lanes::Slice(b)) => {
            holds.iter().zip(b).map(|(&it, &b)| pick(it, a, b)).collect()
        }
        (Lanes::Constant(a), Lanes::Constant(b)) => {
            holds.iter().map(|&it| pick(it, a, b)).collect()
        }
    }
}

fn scatter<T: Copy>(out: &mut [T], rows: &[u32], values: Lanes<'_, T>) {
    match values {
        Lanes::Slice(values) => {
            rows.iter().zip(values).for_each(|(&row, &it)| out[row as usize] = it);
        }
        Lanes::Constant(value) => rows.iter().for_each(|&row| out[row as usize] = value),
    }
}

fn scattered<'a, T: Copy + Default + 'a>(
    rows: usize,
    parts: &'a [Part<'a>],
    lanes: impl Fn(&'a Argument<'a>) -> Lanes<'a, T>,
) -> Vec<T> {
    let mut out = vec![T::default(); rows];
    parts.iter().for_each(|(_, rows, values)| scatter(&mut out, rows, lanes(values)));
    out
}

fn validity(rows: usize, parts: &[Part<'_>]) -> Option<Bitmap> {
    let is_null = |it: &Argument<'_>| matches!(it, Argument::Constant(Value::Null));
    if !parts.iter().any(|(_, _, it)| it.validity().is_some() || is_null(it)) {
        return None;
    }
    let mut map = Bitmap::filled(rows, true);
    for (_, rows, values) in parts {
        let null = is_null(values);
        for (place, &row) in rows.iter().enumerate() {
            if null || !values.validity().is_none_or(|it| it.get(place)) {
                map.set(row as usize, false);
            }
        }
    }
    Some(map)
}

impl Kernel for Case {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        if self.blend {
            return self.evaluate_blend(batch);
        }
        let rows = batch.rows;
        let parts = self.parts(batch)?;
        let values = match &self.shape.representation {
            Representation::I64 => Values::I64(scattered(rows, &parts, Argument::i64)),
            Representation::I128 => Values::I128(scattered(rows, &parts, Argument::i128)),
            Representation::F64 => Values::F64(scattered(rows, &parts, Argument::f64)),
            Representation::Bool => Values::Bool(scattered(rows, &parts, Argument::bool)),
            Representation::Codes(_) => Self::codes(rows, &parts),
            Representation::Text => self.texts(rows, &parts),
        };
        Ok(Vector { values, validity: validity(rows, &parts) })
    }
}
