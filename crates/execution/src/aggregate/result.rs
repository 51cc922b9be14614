//! From accumulators to the rows of a finished grouping.

use plan::AggregateFunction;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState};

use super::accumulator::Accumulator;
use super::{FeedKind, GroupPlan, Groups};
use crate::aggregate::key::decoded_shape;
use crate::{BATCH_ROWS, Batch, Bitmap, ColumnShape, Layout, Representation, Values, Vector};

/// The rows of merged groups: keys, then aggregates. Integers that fit are handed on in 64 bits with exact bounds.
pub(super) fn result_batches(
    plan: &GroupPlan,
    merged: &[Groups],
) -> SqlResult<(Layout, Vec<Batch>)> {
    let mut parts: Vec<Vec<Vector>> = Vec::with_capacity(merged.len());
    for groups in merged {
        let mut columns = plan.layout.decode(groups.table.keys());
        for (index, spec) in plan.specs.iter().enumerate() {
            let column =
                match spec.distinct && plan.feeds[plan.parts[index].0].kind == FeedKind::Distinct {
                    true => distinct_column(plan, index, groups)?,
                    false => {
                        let (value, count) = plan.parts[index];
                        let accumulators = &groups.accumulators;
                        finish(
                            spec.function,
                            spec.data_type,
                            argument_scale(plan, index),
                            &accumulators[value],
                            accumulators[count].counts(),
                        )?
                    }
                };
            columns.push(column);
        }
        parts.push(columns);
    }
    let mut layout: Layout = plan.layout.shapes();
    for (index, spec) in plan.specs.iter().enumerate() {
        let place = layout.len();
        layout.push(aggregate_shape(plan, index, spec.data_type, &mut parts, place));
    }
    let mut batches = Vec::new();
    for (groups, columns) in merged.iter().zip(parts) {
        split(groups.table.len(), columns, &mut batches);
    }
    Ok((layout, batches))
}

fn argument_scale(plan: &GroupPlan, index: usize) -> u8 {
    plan.specs[index].argument.map_or(0, |it| plan.shapes[it].data_type.scale())
}

/// Counts and sums over the distinct values: ordinary accumulators fed once per distinct value.
fn distinct_column(plan: &GroupPlan, index: usize, groups: &Groups) -> SqlResult<Vector> {
    let spec = &plan.specs[index];
    let feed = plan.parts[index].0;
    let set = plan.feeds[..feed].iter().filter(|it| it.kind == FeedKind::Distinct).count();
    let place = spec.argument.ok_or_else(|| SqlError::internal("DISTINCT without an argument"))?;
    let shape = decoded_shape(&plan.shapes[place]);
    let (ids, values) = groups.distinct[set].rows(&plan.shapes[place]);
    let mut counts = Accumulator::count();
    counts.resize(groups.table.len());
    counts.update(&ids, None, None);
    let mut value = match spec.function {
        AggregateFunction::Count => Accumulator::count(),
        _ => Accumulator::sum(&shape),
    };
    value.resize(groups.table.len());
    value.update(&ids, Some(&values), None);
    finish(spec.function, spec.data_type, argument_scale(plan, index), &value, counts.counts())
}

fn finish(
    function: AggregateFunction,
    data_type: DataType,
    scale: u8,
    value: &Accumulator,
    counts: &[i64],
) -> SqlResult<Vector> {
    let validity =
        counts.contains(&0).then(|| Bitmap::from_bits(counts.iter().map(|&count| count > 0)));
    match function {
        AggregateFunction::Count => Ok(Vector::new(Values::I64(value.counts().to_vec()))),
        AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::AnyValue => {
            value.picked().ok_or_else(|| SqlError::internal("an aggregate lost its accumulator"))
        }
        AggregateFunction::Sum => {
            if let Some(sums) = value.float_sums() {
                return Ok(Vector { values: Values::F64(sums.to_vec()), validity });
            }
            let sums = value.wide_sums().unwrap_or_default();
            Ok(Vector { values: Values::I128(sum_in_range(sums, data_type)?), validity })
        }
        AggregateFunction::Average => {
            let values = average(value, counts, data_type, scale)?;
            Ok(Vector { values, validity })
        }
    }
}

fn sum_in_range(sums: Vec<i128>, data_type: DataType) -> SqlResult<Vec<i128>> {
    let limit = match data_type {
        DataType::Decimal { .. } => 10i128.pow(38) - 1,
        _ => i128::from(i64::MAX),
    };
    if sums.iter().any(|&it| {
        it > limit || it < -limit - i128::from(!matches!(data_type, DataType::Decimal { .. }))
    }) {
        return Err(SqlError::new(
            SqlState::NUMERIC_OUT_OF_RANGE,
            format!("a sum is out of the range of {data_type}"),
        )
        .with_hint("cast the argument to a wider type, for example DECIMAL(38,0)"));
    }
    Ok(sums)
}

fn average(
    value: &Accumulator,
    counts: &[i64],
    data_type: DataType,
    scale: u8,
) -> SqlResult<Values> {
    let count_of = |group: usize| counts[group].max(1);
    if let Some(sums) = value.float_sums() {
        let mean = |(group, sum): (usize, &f64)| sum / count_of(group) as f64;
        return Ok(Values::F64(sums.iter().enumerate().map(mean).collect()));
    }
    let sums = value.wide_sums().unwrap_or_default();
    let DataType::Decimal { scale: out, .. } = data_type else {
        let unit = 10f64.powi(i32::from(scale));
        let mean = |(group, &sum): (usize, &i128)| sum as f64 / unit / count_of(group) as f64;
        return Ok(Values::F64(sums.iter().enumerate().map(mean).collect()));
    };
    let factor = 10i128.pow(u32::from(out.saturating_sub(scale)));
    let mean = |(group, &sum): (usize, &i128)| -> SqlResult<i128> {
        let scaled = sum.checked_mul(factor).ok_or_else(|| {
            SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "an average needs more than 38 digits")
        })?;
        Ok(divide_rounded(scaled, i128::from(count_of(group))))
    };
    Ok(Values::I128(sums.iter().enumerate().map(mean).collect::<SqlResult<_>>()?))
}

/// Division that rounds half away from zero; the divisor is positive.
fn divide_rounded(dividend: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let up = rest.unsigned_abs() * 2 >= divisor.unsigned_abs();
    quotient + if up { dividend.signum() } else { 0 }
}

/// The shape of an aggregate's column; narrows 128-bit results that all fit.
fn aggregate_shape(
    plan: &GroupPlan,
    index: usize,
    data_type: DataType,
    parts: &mut [Vec<Vector>],
    place: usize,
) -> ColumnShape {
    let nullable = parts.iter().any(|it| it[place].validity.is_some());
    let argument = plan.specs[index].argument.map(|it| &plan.shapes[it]);
    let representation = match (&parts[0][place].values, argument) {
        (Values::Codes(_), Some(shape)) => shape.representation.clone(),
        (Values::Codes(_) | Values::Text(_), _) => Representation::Text,
        (Values::F64(_), _) => Representation::F64,
        (Values::Bool(_), _) => Representation::Bool,
        (Values::I64(_) | Values::I128(_), _) => {
            let bounds = bounds_of(parts, place);
            let fits = bounds.0 >= i64::MIN.into() && bounds.1 <= i64::MAX.into();
            for columns in parts.iter_mut() {
                let vector = &mut columns[place];
                if let (true, Values::I128(values)) = (fits, &vector.values) {
                    vector.values = Values::I64(values.iter().map(|&it| it as i64).collect());
                }
            }
            let representation = if fits { Representation::I64 } else { Representation::I128 };
            return ColumnShape { data_type, representation, bounds: Some(bounds), nullable };
        }
    };
    ColumnShape { data_type, representation, bounds: None, nullable }
}

fn bounds_of(parts: &[Vec<Vector>], place: usize) -> (i128, i128) {
    let mut bounds: Option<(i128, i128)> = None;
    let mut include = |value: i128| {
        bounds =
            Some(bounds.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
    };
    for columns in parts {
        match &columns[place].values {
            Values::I64(values) => values.iter().for_each(|&it| include(it.into())),
            Values::I128(values) => values.iter().for_each(|&it| include(it)),
            _ => {}
        }
    }
    bounds.unwrap_or((0, 0))
}

/// Cuts the groups of a partition into batches.
fn split(rows: usize, columns: Vec<Vector>, batches: &mut Vec<Batch>) {
    if rows <= BATCH_ROWS {
        if rows > 0 {
            let columns = columns.into_iter().map(Arc::new).collect();
            batches.push(Batch { rows, columns, sequence: batches.len() as u64 });
        }
        return;
    }
    for start in (0..rows).step_by(BATCH_ROWS) {
        let places: Vec<u32> = (start as u32..rows.min(start + BATCH_ROWS) as u32).collect();
        let columns = columns.iter().map(|it| Arc::new(it.take(&places))).collect();
        batches.push(Batch { rows: places.len(), columns, sequence: batches.len() as u64 });
    }
}
