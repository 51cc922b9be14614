//! Answers that the statistics of a table hold already: least and greatest values, values that are there, distinct ones.
//!
//! Key decision: only over all rows of a table and only from what is exact; a plan goes with the version of the catalog it
//! was made on, so what was exact then is exact when it runs. Counting rows alone stays a scan, which reads no column.
//!
//! - Outer joins, filters, FILTER and expressions: no answer; the relation is a scan without conditions and the argument a
//!   column of it.
//! - Floats: no least, greatest or distinct values, since an index tells zeros of two signs apart that are equal.

use plan::{Aggregate, AggregateFunction, Expr};
use types::{ColumnStatistics, Value};

use crate::estimate;
use crate::facts::equal_is_same;
use plan::relation::{Attr, Rel, ScanRel, bare};

/// The one row that aggregates without keys are, if the statistics of the table tell all of them.
pub(super) fn known_row(input: &Rel, aggregates: &[(Attr, Aggregate)]) -> Option<Rel> {
    let Rel::Scan(scan) = input else { return None };
    let of_columns = aggregates.iter().any(|it| it.1.argument.is_some());
    if !scan.filters.is_empty() || !of_columns {
        return None;
    }
    let known = |it: &(Attr, Aggregate)| Some(Expr::literal(known(scan, &it.1)?, it.1.data_type));
    let row = aggregates.iter().map(known).collect::<Option<Vec<Expr>>>()?;
    Some(Rel::Values { output: aggregates.iter().map(|it| it.0).collect(), rows: vec![row] })
}

fn known(scan: &ScanRel, aggregate: &Aggregate) -> Option<Value> {
    if aggregate.filter.is_some() || scan.table.is_guess {
        return None;
    }
    let count = |it: u64| Some(Value::Integer(i64::try_from(it).ok()?));
    let rows = scan.table.rows;
    let Some(argument) = &aggregate.argument else {
        return (aggregate.function == AggregateFunction::Count).then(|| count(rows))?;
    };
    let (_, column) = estimate::column(scan, bare(argument)?)?;
    let facts = &column.statistics;
    let ColumnStatistics { nulls, distinct, distinct_exact, min, max, .. } = facts;
    // What an index of floats calls least need not be how it is shown: there are two zeros.
    let is_told = column.data_type == aggregate.data_type && !column.data_type.is_float();
    let chosen = |it: &Option<Value>| match it {
        // Whose row may have gone.
        _ if facts.widened => None,
        Some(value) => Some(value.clone()),
        None => (*nulls == rows).then_some(Value::Null),
    };
    match aggregate.function {
        AggregateFunction::Count if !aggregate.distinct && facts.widened && *nulls > 0 => None,
        AggregateFunction::Count if !aggregate.distinct => count(rows.checked_sub(*nulls)?),
        AggregateFunction::Count if equal_is_same(column.data_type) => {
            distinct_exact.then(|| count(*distinct))?
        }
        AggregateFunction::Min if is_told => chosen(min),
        AggregateFunction::Max if is_told => chosen(max),
        _ => None,
    }
}
