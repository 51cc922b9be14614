//! SUMMARIZE: what is in each column of a query, as DuckDB has it.

use binder::{ParsedQuery, Statement};
use types::{DataType, SqlError, SqlResult};

use crate::planning::plan_plain;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn summarize(
        &mut self,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let output = {
            let catalog = StatementCatalog::new(self);
            self.open_files(query, &catalog, cancel)?;
            plan_plain(query, &catalog)?.plan.output
        };
        let names: Vec<String> = (0..output.len()).map(|it| format!("c{it}")).collect();
        let rows = output.iter().enumerate();
        let rows: Vec<String> = rows.map(|(at, it)| row(at, &it.name, it.data_type)).collect();
        let text = format!(
            "WITH q ({}) AS ({query}) SELECT column_name, column_type, min, max, approx_unique, avg, std, q25, \
             q50, q75, count, null_percentage FROM ({}) AS s ORDER BY place",
            names.join(", "),
            rows.join(" UNION ALL ")
        );
        let statements = binder::parse::parse(&text)?;
        let levels = statements.levels().max(self.levels);
        let summary = statements.into_tree().into_iter().next();
        match summary {
            Some(it @ Statement::Query { .. }) => {
                self.with_levels(levels, |session| session.run_statement(it, cancel.clone()))
            }
            _ => Err(SqlError::internal("a summary is a query")),
        }
    }
}

/// The row of a column: quartiles are values of the column where it has numbers or times.
fn row(at: usize, name: &str, data_type: DataType) -> String {
    let column = format!("c{at}");
    let text = |it: &str| format!("'{}'", it.replace('\'', "''"));
    let type_name = types::numeric::errors::type_name(data_type);
    let none = || "CAST(NULL AS TEXT)".to_owned();
    let is_number = data_type.is_integer()
        || data_type.is_float()
        || matches!(data_type, DataType::Decimal { .. } | DataType::Numeric);
    let is_time = matches!(data_type, DataType::Date | DataType::Timestamp | DataType::TimestampTz);
    let of_floats = |function: &str| match is_number {
        true => format!("CAST({function}(CAST({column} AS DOUBLE PRECISION)) AS TEXT)"),
        false => none(),
    };
    let quartile = |at: &str| match (data_type.is_integer(), is_number || is_time) {
        (true, _) => format!(
            "CAST(CAST(percentile_cont({at}) WITHIN GROUP (ORDER BY {column}) AS BIGINT) AS TEXT)"
        ),
        (false, true) => {
            format!("CAST(percentile_disc({at}) WITHIN GROUP (ORDER BY {column}) AS TEXT)")
        }
        (false, false) => none(),
    };
    format!(
        "SELECT {at} AS place, {} AS column_name, {} AS column_type, CAST(min({column}) AS TEXT) AS min, \
         CAST(max({column}) AS TEXT) AS max, approx_count_distinct({column}) AS approx_unique, {} AS avg, {} AS std, \
         {} AS q25, {} AS q50, {} AS q75, count(*) AS count, \
         CAST(100.0 * (count(*) - count({column})) / nullif(count(*), 0) AS DECIMAL(9, 2)) AS null_percentage FROM q",
        text(name),
        text(&type_name),
        of_floats("avg"),
        of_floats("stddev_samp"),
        quartile("0.25"),
        quartile("0.5"),
        quartile("0.75"),
    )
}
