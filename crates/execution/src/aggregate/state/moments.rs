//! Variances, covariances and what is made of them: counts, sums, and sums of squares and products.
//!
//! Key decision: all sums are exact, those of floats too (`accumulator::float_sums`; the product of two floats is a sum of
//! two), and `n * sum(xx) - sum(x) * sum(x)` is rounded once. So no digits are lost where values are large and near to
//! one another, which is what others keep running means for, and the order of rows does not matter. Limit: where a square
//! is beyond the floats the result is an overflow, though the variance might not be.

use std::any::Any;

use arrow_buffer::i256;
use plan::AggregateFunction;
use storage::Check;
use types::numeric::errors::{out_of_range, overflow};
use types::{DataType, SqlResult};

use super::exact::{Exact, variance};
use super::fold::optional;
use super::interface::{GroupStates, same_kind};
use super::rows::StateRows;
use super::spec::StateSpec;
use crate::aggregate::accumulator::{FloatSums, LongSum, take};
use crate::{Values, Vector};

/// Sums of each group.
#[derive(Clone)]
enum Sums {
    /// Of exact numbers: the values and their squares; `None` where a square left 256 bits.
    Exact(Vec<Option<[i256; 2]>>),
    /// Of floats: x and xx, and of pairs also y, yy and xy.
    Floats(Vec<FloatSums>),
}

/// The moments of each group.
pub(super) struct Moments {
    spec: StateSpec,
    counts: Vec<i64>,
    sums: Sums,
}

impl Moments {
    pub(super) fn new(spec: &StateSpec) -> Self {
        let sums = match (spec.shapes[0].data_type.is_float(), spec.shapes.len()) {
            (false, _) => Sums::Exact(Vec::new()),
            (true, 1) => Sums::Floats(vec![FloatSums::default(); 2]),
            (true, _) => Sums::Floats(vec![FloatSums::default(); 5]),
        };
        Self { spec: spec.clone(), counts: Vec::new(), sums }
    }

    fn floats<'a>(&self, rows: &'a StateRows<'_>, argument: usize) -> &'a [f64] {
        match &rows.arguments[self.spec.arguments[argument]].values {
            Values::F64(it) => it,
            _ => unreachable!("invariant: pairs are bound as floats"),
        }
    }

    /// The value of a group; `None` where it has too few rows.
    fn float(&self, sums: &[FloatSums], group: usize) -> SqlResult<Option<f64>> {
        use AggregateFunction::{
            CovarianceSample, DeviationPopulation, DeviationSample, VariancePopulation,
            VarianceSample,
        };
        let function = self.spec.function;
        let count = self.counts[group];
        let sample = matches!(function, VarianceSample | DeviationSample | CovarianceSample);
        if count <= i64::from(sample) {
            return Ok(None);
        }
        let inputs = if sums.len() > 2 { &[0, 2][..] } else { &[0] };
        if inputs.iter().any(|&it| !sums[it].is_finite(group)) {
            // Nothing is known of values that are infinite or no numbers.
            return Ok(Some(f64::NAN));
        }
        let n = count as f64;
        let about = |products: usize, a: usize, b: usize| {
            let total = less_means(n, &sums[products], (&sums[a], &sums[b]), group);
            if total.is_finite() { Ok(total / n) } else { Err(overflow()) }
        };
        let xx = about(1, 0, 0)?.max(0.0);
        let divisor = if sample { n - 1.0 } else { n };
        if sums.len() == 2 {
            return Ok(Some(match function {
                VariancePopulation | VarianceSample => xx / divisor,
                DeviationPopulation | DeviationSample => (xx / divisor).sqrt(),
                _ => unreachable!("invariant: the others are of pairs"),
            }));
        }
        let (yy, xy) = (about(3, 2, 2)?.max(0.0), about(4, 0, 2)?);
        let means = (sums[0].sum(group) / n, sums[2].sum(group) / n);
        let value = of_pairs(function, [xx, yy, xy], means, divisor);
        match value {
            Some(it) if it.is_infinite() => Err(overflow()),
            value => Ok(value),
        }
    }
}

/// What is made of sums of squares and products less their means.
fn of_pairs(
    function: AggregateFunction,
    [xx, yy, xy]: [f64; 3],
    means: (f64, f64),
    divisor: f64,
) -> Option<f64> {
    use AggregateFunction::{
        Correlation, CovariancePopulation, CovarianceSample, RegressionIntercept, RegressionSlope,
        RegressionSquare, RegressionXx, RegressionXy, RegressionYy,
    };
    match function {
        CovariancePopulation | CovarianceSample => Some(xy / divisor),
        RegressionXx => Some(xx),
        RegressionYy => Some(yy),
        RegressionXy => Some(xy),
        Correlation => {
            let varies = xx > 0.0 && yy > 0.0;
            // One root is rounded once, where the product has a root.
            let both = xx * yy;
            let root = if both.is_normal() { both.sqrt() } else { xx.sqrt() * yy.sqrt() };
            varies.then(|| (xy / root).clamp(-1.0, 1.0))
        }
        RegressionSlope => (xx > 0.0).then(|| xy / xx),
        RegressionIntercept => (xx > 0.0).then(|| means.1 - xy / xx * means.0),
        RegressionSquare if xx > 0.0 && yy == 0.0 => Some(1.0),
        RegressionSquare => (xx > 0.0).then(|| xy / xx * (xy / yy)),
        _ => unreachable!("invariant: the others are of single values"),
    }
}

/// The product of two floats and the error of it, which is a float as well where it is not too small for one.
fn product(a: f64, b: f64) -> (f64, f64) {
    let high = a * b;
    match high.is_finite() {
        true => (high, a.mul_add(b, -high)),
        false => (high, 0.0),
    }
}

/// `n` times a sum of products less the product of the sums, rounded once.
fn less_means(n: f64, products: &FloatSums, (a, b): (&FloatSums, &FloatSums), group: usize) -> f64 {
    let mut total = LongSum::default();
    let mut add = |(high, low): (f64, f64), sign: f64| {
        total.add(sign * high);
        total.add(sign * low);
    };
    products.parts(group).iter().for_each(|&it| add(product(n, it), 1.0));
    for a in a.parts(group) {
        b.parts(group).iter().for_each(|&b| add(product(a, b), -1.0));
    }
    total.rounded()
}

impl GroupStates for Moments {
    fn resize(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
        match &mut self.sums {
            Sums::Exact(it) => it.resize(groups, Some([i256::ZERO; 2])),
            Sums::Floats(all) => all.iter_mut().for_each(|it| it.resize(groups)),
        }
    }

    fn take(&self, places: &[u32]) -> Box<dyn GroupStates> {
        let sums = match &self.sums {
            Sums::Exact(it) => Sums::Exact(take(it, places)),
            Sums::Floats(all) => {
                let places = places.iter().map(|&it| it as usize);
                Sums::Floats(all.iter().map(|it| it.take(places.clone())).collect())
            }
        };
        Box::new(Self { spec: self.spec.clone(), counts: take(&self.counts, places), sums })
    }

    fn update(&mut self, rows: &StateRows<'_>) {
        rows.counted().for_each(|(_, group)| self.counts[group] += 1);
        let pairs = self.spec.shapes.len() > 1;
        // Pairs are (y, x); of a single value that is x.
        let of_floats = matches!(self.sums, Sums::Floats(_))
            .then(|| (self.floats(rows, usize::from(pairs)), self.floats(rows, 0)));
        match (&mut self.sums, of_floats) {
            (Sums::Floats(sums), Some((x, y))) => {
                let mut add = |of: usize, values: &[f64]| {
                    sums[of].update(rows.groups, values, rows.valid);
                };
                let mut products = |of: usize, a: &[f64], b: &[f64]| {
                    let (high, low): (Vec<f64>, Vec<f64>) =
                        a.iter().zip(b).map(|(&a, &b)| product(a, b)).unzip();
                    add(of, &high);
                    add(of, &low);
                };
                products(1, x, x);
                if pairs {
                    products(3, y, y);
                    products(4, x, y);
                    add(2, y);
                }
                add(0, x);
            }
            (Sums::Exact(sums), _) => {
                let values = &rows.arguments[self.spec.arguments[0]].values;
                for (row, group) in rows.counted() {
                    let value: i128 = match values {
                        Values::I64(it) => it[row].into(),
                        Values::I128(it) => it[row],
                        _ => unreachable!("invariant: exact numbers are integers"),
                    };
                    let square = value.checked_mul(value).map(i256::from_i128);
                    let value = i256::from_i128(value);
                    let square = square.or_else(|| value.checked_mul(value));
                    sums[group] = square.and_then(|it| added(sums[group], Some([value, it])));
                }
            }
            (Sums::Floats(_), None) => unreachable!("invariant: floats were looked up above"),
        }
    }

    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]) {
        let other: &Self = same_kind(other);
        for (to, from) in to.iter().zip(from).map(|(&to, &from)| (to as usize, from as usize)) {
            self.counts[to] += other.counts[from];
            match (&mut self.sums, &other.sums) {
                (Sums::Exact(into), Sums::Exact(more)) => into[to] = added(into[to], more[from]),
                (Sums::Floats(into), Sums::Floats(more)) => {
                    into.iter_mut().zip(more).for_each(|it| it.0.merge(to, it.1, from));
                }
                _ => unreachable!("invariant: states of one aggregate are of one kind"),
            }
        }
    }

    fn finish(&self, _: Check<'_>) -> SqlResult<Vector> {
        let groups = 0..self.counts.len();
        let mut valid = Vec::with_capacity(groups.len());
        let (function, data_type) = (self.spec.function, self.spec.result.data_type);
        let values = match &self.sums {
            Sums::Floats(sums) => {
                let mut values = Vec::with_capacity(groups.len());
                for group in groups {
                    let value = self.float(sums, group)?;
                    valid.push(value.is_some());
                    values.push(value.unwrap_or(0.0));
                }
                Values::F64(values)
            }
            Sums::Exact(sums) => {
                let mut values = Vec::with_capacity(groups.len());
                for group in groups {
                    let sums = sums[group].ok_or_else(|| out_of_range(data_type))?;
                    let scale = self.spec.shapes[0].data_type.scale();
                    let of = Exact { count: self.counts[group], sums, scale };
                    let value = variance(function, &of, data_type)?;
                    valid.push(value.is_some());
                    values.push(value.unwrap_or(0));
                }
                exact_values(values, data_type)
            }
        };
        Ok(optional(values, &valid))
    }

    fn bytes(&self) -> u64 {
        let of_group = match &self.sums {
            Sums::Exact(_) => 80,
            Sums::Floats(all) => 16 * all.len() + 8,
        };
        (of_group * self.counts.len()) as u64
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn added(a: Option<[i256; 2]>, b: Option<[i256; 2]>) -> Option<[i256; 2]> {
    let ([a, aa], [b, bb]) = (a?, b?);
    Some([a.checked_add(b)?, aa.checked_add(bb)?])
}

/// Decimals as their type is held.
fn exact_values(values: Vec<i128>, data_type: DataType) -> Values {
    match data_type {
        DataType::Decimal { precision, .. } if precision > 18 => Values::I128(values),
        _ => Values::I64(values.into_iter().map(|it| it as i64).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(values: &[f64]) -> (FloatSums, FloatSums) {
        let (mut x, mut xx) = (FloatSums::default(), FloatSums::default());
        x.resize(1);
        xx.resize(1);
        let groups = vec![0; values.len()];
        x.update(&groups, values, None);
        let (high, low): (Vec<f64>, Vec<f64>) = values.iter().map(|&it| product(it, it)).unzip();
        xx.update(&groups, &high, None);
        xx.update(&groups, &low, None);
        (x, xx)
    }

    #[test]
    fn nothing_is_lost_where_values_are_near_to_one_another() {
        for (values, expected) in [
            (&[0.1, 0.1, 0.1][..], 0.0),
            (&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0], 90.0 * 4.0),
            (&[1e15, 1e15 + 1.0], 1.0),
            (&[1e-150, -1e-150], 4e-300),
        ] {
            let (x, xx) = sums(values);
            let total = less_means(values.len() as f64, &xx, (&x, &x), 0);
            assert!((total - expected).abs() <= 1e-15 * expected, "{values:?}: {total}");
        }
    }
}
