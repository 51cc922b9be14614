//! The aggregate functions by name.

use plan::{AggregateFunction, Expr, ExprKind, Function};
use types::DataType;

use crate::own_names::JSON_AGGREGATES;

/// The aggregate functions by name. Those that DuckDB alone has are marked.
pub(super) const NAMES: &[(&str, AggregateFunction)] = &[
    ("count", AggregateFunction::Count),
    // DuckDB's: of rows for which a condition is TRUE.
    ("count_if", AggregateFunction::Count),
    ("countif", AggregateFunction::Count),
    ("sum", AggregateFunction::Sum),
    ("avg", AggregateFunction::Average),
    ("mean", AggregateFunction::Average),
    ("min", AggregateFunction::Min),
    ("max", AggregateFunction::Max),
    ("bool_and", AggregateFunction::Min),
    ("every", AggregateFunction::Min),
    ("bool_or", AggregateFunction::Max),
    // Any value that is not NULL; the least, so that it is always the same.
    ("any_value", AggregateFunction::Min),
    ("bit_and", AggregateFunction::BitAnd),
    ("bit_or", AggregateFunction::BitOr),
    ("bit_xor", AggregateFunction::BitXor),
    ("var_pop", AggregateFunction::VariancePopulation),
    ("var_samp", AggregateFunction::VarianceSample),
    ("variance", AggregateFunction::VarianceSample),
    ("stddev_pop", AggregateFunction::DeviationPopulation),
    ("stddev_samp", AggregateFunction::DeviationSample),
    ("stddev", AggregateFunction::DeviationSample),
    ("covar_pop", AggregateFunction::CovariancePopulation),
    ("covar_samp", AggregateFunction::CovarianceSample),
    ("corr", AggregateFunction::Correlation),
    ("regr_count", AggregateFunction::Count),
    ("regr_avgx", AggregateFunction::Average),
    ("regr_avgy", AggregateFunction::Average),
    ("regr_sxx", AggregateFunction::RegressionXx),
    ("regr_syy", AggregateFunction::RegressionYy),
    ("regr_sxy", AggregateFunction::RegressionXy),
    ("regr_slope", AggregateFunction::RegressionSlope),
    ("regr_intercept", AggregateFunction::RegressionIntercept),
    ("regr_r2", AggregateFunction::RegressionSquare),
    ("array_agg", AggregateFunction::ArrayAggregate),
    // DuckDB's.
    ("list", AggregateFunction::ArrayAggregate),
    // Arrays, of which JSON is made.
    ("json_agg", AggregateFunction::ArrayAggregate),
    ("jsonb_agg", AggregateFunction::ArrayAggregate),
    ("json_agg_strict", AggregateFunction::ArrayAggregate),
    ("jsonb_agg_strict", AggregateFunction::ArrayAggregate),
    ("json_object_agg", AggregateFunction::ArrayAggregate),
    ("jsonb_object_agg", AggregateFunction::ArrayAggregate),
    ("json_object_agg_strict", AggregateFunction::ArrayAggregate),
    ("jsonb_object_agg_strict", AggregateFunction::ArrayAggregate),
    // Arrays, of which ranges and sets of them are made.
    ("range_agg", AggregateFunction::ArrayAggregate),
    ("range_intersect_agg", AggregateFunction::ArrayAggregate),
    ("string_agg", AggregateFunction::StringAggregate),
    // DuckDB's: of any values, a comma between them unless said otherwise.
    ("group_concat", AggregateFunction::StringAggregate),
    ("listagg", AggregateFunction::StringAggregate),
    // DuckDB's.
    ("first", AggregateFunction::First),
    ("arbitrary", AggregateFunction::First),
    ("last", AggregateFunction::Last),
    ("arg_min", AggregateFunction::First),
    ("argmin", AggregateFunction::First),
    ("min_by", AggregateFunction::First),
    ("arg_max", AggregateFunction::First),
    ("argmax", AggregateFunction::First),
    ("max_by", AggregateFunction::First),
    ("approx_count_distinct", AggregateFunction::ApproximateDistinct),
    ("percentile_cont", AggregateFunction::PercentileContinuous),
    ("percentile_disc", AggregateFunction::PercentileDiscrete),
    ("mode", AggregateFunction::Mode),
    // DuckDB's.
    ("median", AggregateFunction::PercentileContinuous),
    ("quantile_cont", AggregateFunction::PercentileContinuous),
    ("quantile_disc", AggregateFunction::PercentileDiscrete),
    ("quantile", AggregateFunction::PercentileDiscrete),
    // Exact, which is near enough.
    ("approx_quantile", AggregateFunction::PercentileDiscrete),
    ("reservoir_quantile", AggregateFunction::PercentileDiscrete),
];

/// The names of all aggregate functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|it| it.0)
}

/// The aggregate function of a name.
pub(super) fn by_name(name: &str) -> Option<AggregateFunction> {
    if of_sql_json(name).is_some() {
        return Some(AggregateFunction::ArrayAggregate);
    }
    NAMES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// The aggregates that one of SQL/JSON is: of JSON, and of JSONB.
fn of_sql_json(name: &str) -> Option<(&'static str, &'static str)> {
    JSON_AGGREGATES.iter().find(|it| it.0 == name).map(|it| (it.1, it.2))
}

/// The name of an aggregate: one of SQL/JSON makes JSONB of JSONB.
pub(super) fn by_value<'n>(name: &'n str, value: Option<&Expr>) -> &'n str {
    match of_sql_json(name) {
        Some((_, of_jsonb)) if value.is_some_and(is_of_jsonb) => of_jsonb,
        Some((of_json, _)) => of_json,
        None => name,
    }
}

/// Whether a value is JSONB, or the member of an object with such a value.
fn is_of_jsonb(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Call { function: Function::JsonMember, arguments } => {
            arguments.last().is_some_and(is_of_jsonb)
        }
        ExprKind::Cast(inner) if value.data_type == DataType::Json => is_of_jsonb(inner),
        _ => value.data_type == DataType::Jsonb,
    }
}

/// The type that NULL without one has as the argument of an aggregate: PostgreSQL cannot tell which sum is meant, as DuckDB
/// does.
pub(super) fn type_of_null(function: AggregateFunction, name: &str) -> DataType {
    use AggregateFunction as A;
    match (function, name) {
        (_, "bool_and" | "bool_or" | "every" | "count_if" | "countif") => DataType::Boolean,
        (
            A::Sum
            | A::Average
            | A::BitAnd
            | A::BitOr
            | A::BitXor
            | A::VariancePopulation
            | A::VarianceSample
            | A::DeviationPopulation
            | A::DeviationSample
            | A::PercentileContinuous,
            _,
        ) => DataType::Integer,
        _ => DataType::Text,
    }
}

/// Whether a name is one of PostgreSQL's ordered-set aggregates.
pub(super) fn is_ordered_set(name: &str) -> bool {
    matches!(name, "percentile_cont" | "percentile_disc" | "mode")
}

/// Whether an aggregate makes JSON.
pub(super) fn is_of_json(name: &str) -> bool {
    of_sql_json(name).is_some()
        || matches!(
            name,
            "json_agg"
                | "jsonb_agg"
                | "json_agg_strict"
                | "jsonb_agg_strict"
                | "json_object_agg"
                | "jsonb_object_agg"
                | "json_object_agg_strict"
                | "jsonb_object_agg_strict"
        )
}
