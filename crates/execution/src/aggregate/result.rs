//! From accumulators to the rows of a finished grouping.

use memory::SpillFile;
use plan::AggregateFunction;
use stdx::sync::{Arc, Mutex};
use types::numeric::errors::{out_of_range, overflow};
use types::numeric::{Arithmetic, Exact, decimal, float};
use types::{DataType, SqlError, SqlResult};

use super::accumulator::{Accumulator, FloatSums, Wide};
use super::batch_groups::BatchGroups;
use super::groups::Groups;
use super::having::Having;
use super::key::decoded_shape;
use super::plan::{GroupPlan, column_shape};
use super::spec::{AccumulatorKind, AggregateSpec};
use super::tasks::collect_with;
use crate::lookups::batch_bytes;
use crate::spill::{Extent, Keeper, SharedFile, Writer, read};
use crate::traffic::{Item, Place};
use crate::{
    BATCH_ROWS, Batch, Bitmap, ColumnShape, Kept, Layout, Representation, Team, Values, Vector,
    WorkContext,
};

/// The columns of some groups: keys, then aggregates.
pub(super) struct Part {
    rows: usize,
    columns: Vec<Vector>,
    /// Where the columns are when they are in a file; then they are empty here.
    spilled: Option<(Arc<SpillFile>, Extent)>,
    /// Which columns have a validity map.
    nullable: Vec<bool>,
    /// Least and greatest of each aggregate that is an integer.
    bounds: Vec<Option<(i128, i128)>>,
}

impl Part {
    /// Writes the columns to a file.
    pub(super) fn spill(&mut self, file: &Arc<SpillFile>) -> SqlResult<()> {
        let columns: Vec<Arc<Vector>> = self.columns.drain(..).map(Arc::new).collect();
        let mut writer = Writer::default();
        writer.add(self.rows, &columns);
        self.spilled = writer.write(file)?.pop().map(|extent| (file.clone(), extent));
        self.columns = columns.iter().map(|it| it.slice(0..0)).collect();
        Ok(())
    }

    /// The columns, read if they are in a file.
    fn into_columns(self) -> SqlResult<Vec<Vector>> {
        let Some((file, extent)) = self.spilled else { return Ok(self.columns) };
        Ok(read(&file, extent)?.into_iter().map(Arc::unwrap_or_clone).collect())
    }
}

/// Keys and aggregates of groups that are complete.
pub(super) fn columns_of(plan: &GroupPlan, groups: &Groups) -> SqlResult<Vec<Vector>> {
    let mut columns = plan.layout.decode(&groups.keys);
    for (index, spec) in plan.aggregates.iter().enumerate() {
        let (value, count) = plan.parts[index];
        let column = if plan.accumulators[value].kind == AccumulatorKind::Distinct {
            distinct_column(plan, index, groups)?
        } else {
            let accumulators = &groups.accumulators;
            let counts = count.map(|it| accumulators[it].counts());
            let value = (&accumulators[value], groups.len());
            let scale = argument_scale(plan, index);
            match value.0.finished(&|| plan.check()) {
                Some(finished) => finished?,
                None => finish(spec, scale, value, counts)?,
            }
        };
        columns.push(column);
    }
    Ok(columns)
}

/// Computes the columns of groups that are complete, and keeps those for which a condition holds.
pub(super) fn part_of(
    plan: &GroupPlan,
    having: Option<&Having>,
    groups: &Groups,
) -> SqlResult<Part> {
    let mut columns = columns_of(plan, groups)?;
    let mut rows = groups.len();
    if let Some(having) = having {
        (rows, columns) = having.keep(plan, rows, columns)?;
    }
    let bounds = columns[plan.key_columns..].iter().map(|it| bounds_of(&it.values)).collect();
    let nullable = columns.iter().map(|it| it.validity.is_some()).collect();
    Ok(Part { rows, columns, spilled: None, nullable, bounds })
}

/// The rows of all parts, by part. Integers that fit are handed on in 64 bits with exact bounds.
pub(super) fn result_batches(
    plan: &GroupPlan,
    parts: Vec<Part>,
    team: &dyn Team,
) -> SqlResult<(Layout, Vec<Vec<Kept>>)> {
    let mut layout: Layout = plan.layout.shapes();
    for index in 0..plan.aggregates.len() {
        let shape = aggregate_shape(plan, index, &parts, layout.len());
        layout.push(shape);
    }
    let parts: Vec<Mutex<Option<Part>>> =
        parts.into_iter().map(|it| Mutex::new(Some(it))).collect();
    let (workspace, file) = (team.workspace(), SharedFile::default());
    let make = |part: usize, context: Option<&WorkContext>| {
        let Some(part) = parts[part].lock().take() else { return Ok(Vec::new()) };
        let mut keeper = Keeper::new(file.clone());
        for batch in split(part, &layout)? {
            if let Some(context) = context {
                context.touch(Item::Results, Place::Own, batch_bytes(&batch));
            }
            keeper.keep(batch, &workspace)?;
        }
        Ok(keeper.finish())
    };
    let cut = match parts.len() {
        // Groups of one part are few, and made by who coordinates.
        0 | 1 => (0..parts.len()).map(|it| make(it, None)).collect::<SqlResult<_>>()?,
        count => collect_with(team, count, &|part, context| make(part, Some(context)))?,
    };
    Ok((layout, cut))
}

fn argument_scale(plan: &GroupPlan, index: usize) -> u8 {
    plan.aggregates[index].argument.map_or(0, |it| plan.shapes[it].data_type.scale())
}

/// Counts and sums over the distinct values: ordinary accumulators fed once per distinct value.
fn distinct_column(plan: &GroupPlan, index: usize, groups: &Groups) -> SqlResult<Vector> {
    let spec = &plan.aggregates[index];
    let feed = plan.parts[index].0;
    let set =
        plan.accumulators[..feed].iter().filter(|it| it.kind == AccumulatorKind::Distinct).count();
    let place = spec.argument.ok_or_else(|| SqlError::internal("DISTINCT without an argument"))?;
    let shape = decoded_shape(&plan.shapes[place]);
    let (ids, values) = groups.distinct[set].rows();
    let mut counts = Accumulator::count();
    counts.resize(groups.len());
    counts.update(BatchGroups::of(&ids), None, None);
    let mut value = match spec.function {
        AggregateFunction::Count => Accumulator::count(),
        _ => Accumulator::sum(&shape),
    };
    value.resize(groups.len());
    value.update(BatchGroups::of(&ids), Some(&values), None);
    let value = (&value, groups.len());
    finish(spec, argument_scale(plan, index), value, Some(counts.counts()))
}

/// The column of an aggregate from its accumulator over so many groups; without counts, none of them is empty.
fn finish(
    spec: &AggregateSpec,
    scale: u8,
    (value, groups): (&Accumulator, usize),
    counts: Option<&[i64]>,
) -> SqlResult<Vector> {
    let validity = || {
        let counts = counts?;
        let some_empty = counts.contains(&0);
        some_empty.then(|| Bitmap::from_bits(counts.iter().map(|&count| count > 0)))
    };
    match spec.function {
        AggregateFunction::Count => Ok(Vector::new(Values::I64(value.counts().to_vec()))),
        AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::AnyValue => {
            value.picked().ok_or_else(|| SqlError::internal("an aggregate lost its accumulator"))
        }
        AggregateFunction::Sum => {
            let values = sums(value, groups, scale, spec.data_type)?;
            Ok(Vector { values, validity: validity() })
        }
        _ => {
            let counts = counts.ok_or_else(|| SqlError::internal("an average has no count"))?;
            let values = average(value, counts, spec.data_type, scale)?;
            Ok(Vector { values, validity: validity() })
        }
    }
}

/// Sums as values of their type; those of exact numbers have `scale` digits after the point.
fn sums(value: &Accumulator, groups: usize, scale: u8, data_type: DataType) -> SqlResult<Values> {
    let single = data_type == DataType::Real;
    if let Some(sums) = value.float_sums() {
        let sum = |group| float_sum(sums, group, single);
        return Ok(Values::F64((0..groups).map(sum).collect::<SqlResult<_>>()?));
    }
    if let Some(sums) = value.narrow_sums()
        && scale == data_type.scale()
        && !data_type.is_float()
    {
        return Ok(Values::I64(sums.to_vec()));
    }
    if data_type.is_float() {
        let too_great = || out_of_range(data_type);
        let sums = (0..groups).map(|group| value.wide_sum(group).fitting().ok_or_else(too_great));
        let sums = sums.map(|it| Ok(float::of_exact(it?, scale, single)));
        return Ok(Values::F64(sums.collect::<SqlResult<_>>()?));
    }
    let sums = (0..groups).map(|group| exact_sum(value.wide_sum(group), scale, data_type));
    Ok(Values::I128(sums.collect::<SqlResult<_>>()?))
}

/// A sum of exact numbers with `scale` digits after the point as a value of its type.
pub(crate) fn exact_sum(sum: Wide, scale: u8, data_type: DataType) -> SqlResult<i128> {
    let rescaled = sum.fitting().and_then(|it| decimal::rescale(it, scale, data_type.scale()));
    rescaled.filter(|&it| decimal::fits(it, data_type)).ok_or_else(|| out_of_range(data_type))
}

/// The mean of exact numbers with `scale` digits after the point as a decimal of its type.
pub(crate) fn exact_average(
    sum: Wide,
    count: i64,
    scale: u8,
    data_type: DataType,
) -> SqlResult<i128> {
    let mean = exact_mean(sum, count, scale, data_type.scale());
    mean.filter(|&it| decimal::fits(it, data_type)).ok_or_else(|| out_of_range(data_type))
}

/// A sum of floats; beyond the floats it is an error, unless an infinity was among them.
pub(crate) fn checked_float(exact: f64, is_finite: bool, single: bool) -> SqlResult<f64> {
    let sum = if single { f64::from(exact as f32) } else { exact };
    if sum.is_infinite() && is_finite { Err(overflow()) } else { Ok(sum) }
}

/// The sum of a group of floats.
fn float_sum(sums: &FloatSums, group: usize, single: bool) -> SqlResult<f64> {
    checked_float(sums.sum(group), sums.is_finite(group), single)
}

fn average(
    value: &Accumulator,
    counts: &[i64],
    data_type: DataType,
    scale: u8,
) -> SqlResult<Values> {
    let count_of = |group: usize| counts[group].max(1);
    let groups = 0..counts.len();
    if let Some(sums) = value.float_sums() {
        let mean = |group| Ok(float_sum(sums, group, false)? / count_of(group) as f64);
        return Ok(Values::F64(groups.map(mean).collect::<SqlResult<_>>()?));
    }
    let DataType::Decimal { .. } = data_type else {
        let unit = 10f64.powi(i32::from(scale));
        let mean = |group| value.wide_sum(group).to_f64() / unit / count_of(group) as f64;
        return Ok(Values::F64(groups.map(mean).collect()));
    };
    let mean = |group| exact_average(value.wide_sum(group), count_of(group), scale, data_type);
    Ok(Values::I128(groups.map(mean).collect::<SqlResult<_>>()?))
}

/// A sum with `scale` digits after the point divided by a count, with `out` of them.
fn exact_mean(sum: Wide, count: i64, scale: u8, out: u8) -> Option<i128> {
    let Some(more) = out.checked_sub(scale) else {
        let (sum, count) = (sum.fitting()?, i128::from(count));
        let (sum, count) = (Exact { unscaled: sum, scale }, Exact { unscaled: count, scale: 0 });
        return sum.arithmetic(Arithmetic::Divide, count, out);
    };
    // The whole part first: the sum times the factor may be too long where the mean is not.
    let factor = decimal::power_of_ten(u32::from(more))?;
    let (whole, rest) = sum.divide(count)?;
    let fraction = decimal::multiply_divide(rest.into(), factor, count.into())?;
    whole.checked_mul(factor)?.checked_add(fraction)
}

/// The shape of an aggregate's column over all parts.
fn aggregate_shape(plan: &GroupPlan, index: usize, parts: &[Part], place: usize) -> ColumnShape {
    let nullable = parts.iter().any(|it| it.nullable[place]);
    let shape = column_shape(plan, index, &parts[0].columns[place].values);
    if !matches!(shape.representation, Representation::I64 | Representation::I128) {
        return ColumnShape { nullable, ..shape };
    }
    let all = parts.iter().filter_map(|it| it.bounds[index]);
    let bounds = all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0));
    let fits = bounds.0 >= i64::MIN.into() && bounds.1 <= i64::MAX.into();
    let representation = if fits { Representation::I64 } else { Representation::I128 };
    ColumnShape { representation, bounds: Some(bounds), nullable, ..shape }
}

/// What stands at a NULL is included: it is a value that the vector holds.
fn bounds_of(values: &Values) -> Option<(i128, i128)> {
    match values {
        Values::I64(values) => {
            let (low, high) = (values.iter().min()?, values.iter().max()?);
            Some(((*low).into(), (*high).into()))
        }
        Values::I128(values) => Some((*values.iter().min()?, *values.iter().max()?)),
        _ => None,
    }
}

/// Cuts the groups of a part into batches held as the layout says.
fn split(part: Part, layout: &Layout) -> SqlResult<Vec<Batch>> {
    let rows = part.rows;
    let held = |(vector, shape): (Vector, &ColumnShape)| {
        let values = match (vector.values, &shape.representation) {
            (Values::I128(values), Representation::I64) => {
                Values::I64(values.iter().map(|&it| it as i64).collect())
            }
            (Values::I64(values), Representation::I128) => {
                Values::I128(values.iter().map(|&it| it.into()).collect())
            }
            (values, _) => values,
        };
        Vector { values, validity: vector.validity }
    };
    let columns: Vec<Vector> = part.into_columns()?.into_iter().zip(layout).map(held).collect();
    if rows <= BATCH_ROWS {
        let columns = columns.into_iter().map(Arc::new).collect();
        let batch = Batch { rows, columns, sequence: 0 };
        return Ok(if rows > 0 { vec![batch] } else { Vec::new() });
    }
    let piece = |start: usize| {
        let range = start..rows.min(start + BATCH_ROWS);
        let columns = columns.iter().map(|it| Arc::new(it.slice(range.clone()))).collect();
        Batch { rows: range.len(), columns, sequence: 0 }
    };
    Ok((0..rows).step_by(BATCH_ROWS).map(piece).collect())
}
