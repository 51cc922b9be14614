//! Aggregate functions by name, and calls of them.

use serde::{Deserialize, Serialize};
use types::DataType;

use crate::{Expr, SortKey};

/// Aggregate functions. But for counts, the value over nothing is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AggregateFunction {
    /// Rows, or values that are not NULL.
    Count,
    /// Sum.
    Sum,
    /// Mean.
    Average,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// The value of any row of the group, NULL included: for columns that the group keys determine.
    AnyValue,
    /// The bits that all whole numbers have.
    BitAnd,
    /// The bits that some have.
    BitOr,
    /// The bits that an odd number of them have.
    BitXor,
    /// Variance of a population: of exact numbers exact but for its last digit, as the three that follow.
    VariancePopulation,
    /// Variance of a sample.
    VarianceSample,
    /// Standard deviation of a population.
    DeviationPopulation,
    /// Standard deviation of a sample.
    DeviationSample,
    /// Covariance of a population of pairs of floats (y, x), as all that follow to the coefficient of determination.
    CovariancePopulation,
    /// Covariance of a sample.
    CovarianceSample,
    /// Coefficient of correlation.
    Correlation,
    /// Sum of the squares of x less its mean.
    RegressionXx,
    /// Sum of the squares of y less its mean.
    RegressionYy,
    /// Sum of the products of x and y less their means.
    RegressionXy,
    /// Slope of the line of least squares.
    RegressionSlope,
    /// Where that line meets the y axis.
    RegressionIntercept,
    /// Square of the coefficient of correlation, 1 where y is always the same.
    RegressionSquare,
    /// Texts that are not NULL, in an order, with the second argument before each but the first.
    StringAggregate,
    /// Values, NULL included, as an array in an order; arrays as one of a dimension more.
    ArrayAggregate,
    /// The value of the first row in an order, NULL included; rows that are alike in it come as they are read.
    First,
    /// The value of the last such row.
    Last,
    /// About how many distinct values there are, by a sketch (HyperLogLog).
    ApproximateDistinct,
    /// What a share of the values in an order is below, between the two nearest values: value, share. Floats.
    PercentileContinuous,
    /// The first value in an order that a share of the values does not exceed: value, share.
    PercentileDiscrete,
    /// The most frequent value, of several the first in an order.
    Mode,
}

impl AggregateFunction {
    /// Whether its value may follow from the order of the rows that ORDER BY gives them.
    pub fn has_order(self) -> bool {
        matches!(
            self,
            Self::ArrayAggregate
                | Self::First
                | Self::Last
                | Self::Mode
                | Self::PercentileContinuous
                | Self::PercentileDiscrete
                | Self::StringAggregate
        )
    }

    /// Its name, as plans show it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Average => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::AnyValue => "any",
            Self::BitAnd => "bit_and",
            Self::BitOr => "bit_or",
            Self::BitXor => "bit_xor",
            Self::VariancePopulation => "var_pop",
            Self::VarianceSample => "var_samp",
            Self::DeviationPopulation => "stddev_pop",
            Self::DeviationSample => "stddev_samp",
            Self::CovariancePopulation => "covar_pop",
            Self::CovarianceSample => "covar_samp",
            Self::Correlation => "corr",
            Self::RegressionXx => "regr_sxx",
            Self::RegressionYy => "regr_syy",
            Self::RegressionXy => "regr_sxy",
            Self::RegressionSlope => "regr_slope",
            Self::RegressionIntercept => "regr_intercept",
            Self::RegressionSquare => "regr_r2",
            Self::StringAggregate => "string_agg",
            Self::ArrayAggregate => "array_agg",
            Self::First => "first",
            Self::Last => "last",
            Self::ApproximateDistinct => "approx_count_distinct",
            Self::PercentileContinuous => "percentile_cont",
            Self::PercentileDiscrete => "percentile_disc",
            Self::Mode => "mode",
        }
    }

    /// Whether its value is that of its argument in one of the rows.
    pub fn is_choice(self) -> bool {
        use AggregateFunction::{AnyValue, First, Last, Max, Min, Mode, PercentileDiscrete};
        matches!(self, Min | Max | AnyValue | First | Last | Mode | PercentileDiscrete)
    }

    /// How many of its arguments, from the first on, must not be NULL for a row to count.
    pub fn strict_arguments(self) -> usize {
        use AggregateFunction::{
            AnyValue, ArrayAggregate, Correlation, CovariancePopulation, CovarianceSample, First,
            Last, RegressionIntercept, RegressionSlope, RegressionSquare, RegressionXx,
            RegressionXy, RegressionYy,
        };
        match self {
            AnyValue | ArrayAggregate | First | Last => 0,
            CovariancePopulation | CovarianceSample | Correlation | RegressionXx | RegressionYy
            | RegressionXy | RegressionSlope | RegressionIntercept | RegressionSquare => 2,
            _ => 1,
        }
    }
}

/// A call of an aggregate function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aggregate {
    /// Which.
    pub function: AggregateFunction,
    /// Its first argument; `None` of COUNT(*).
    pub argument: Option<Expr>,
    /// The arguments after the first.
    pub rest: Vec<Expr>,
    /// Only distinct values.
    pub distinct: bool,
    /// The order of the rows, of functions that have one.
    pub order: Vec<SortKey>,
    /// FILTER (WHERE ..).
    pub filter: Option<Expr>,
    /// The type of the result.
    pub data_type: DataType,
}

impl Aggregate {
    /// An aggregate of all values of an argument.
    pub fn of(function: AggregateFunction, argument: Option<Expr>, data_type: DataType) -> Self {
        let (rest, order) = (Vec::new(), Vec::new());
        Self { function, argument, rest, distinct: false, order, filter: None, data_type }
    }

    /// Its expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|it| &it.expr);
        self.argument.iter().chain(&self.rest).chain(order).chain(&self.filter)
    }

    /// Its expressions, to change them.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order = self.order.iter_mut().map(|it| &mut it.expr);
        self.argument.iter_mut().chain(&mut self.rest).chain(order).chain(&mut self.filter)
    }

    /// Whether a row that comes several times makes no difference.
    pub fn ignores_repetitions(&self) -> bool {
        use AggregateFunction::{AnyValue, ApproximateDistinct, BitAnd, BitOr, Max, Min};
        self.distinct
            || matches!(self.function, Min | Max | AnyValue | BitAnd | BitOr | ApproximateDistinct)
    }

    /// What makes it of its values in parts of a group; `None` where nothing does, or where a part could leave its type
    /// though the whole does not. A sum of counts is NULL over no parts.
    pub fn of_parts(&self) -> Option<AggregateFunction> {
        use AggregateFunction::{AnyValue, BitAnd, BitOr, BitXor, Count, Max, Min, Sum};
        match self.function {
            _ if self.distinct => None,
            Count => Some(Sum),
            Sum => match self.argument.as_ref()?.data_type.plain() {
                DataType::SmallInt | DataType::Integer => Some(Sum),
                DataType::Decimal { precision, .. } if precision <= 18 => Some(Sum),
                _ => None,
            },
            same @ (Min | Max | AnyValue | BitAnd | BitOr | BitXor) => Some(same),
            _ => None,
        }
    }
}
