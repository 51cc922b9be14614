//! DESCRIBE: the columns of a query, with what is known of them where it is all of a table.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use binder::ParsedQuery;
use storage::{IndexKind, Table};
use types::{ColumnId, DataType, SqlResult, names};

use crate::answer::done;
use crate::planning::plan_plain;
use crate::statement_catalog::StatementCatalog;
use crate::views::{Cell, ViewBuilder};
use crate::{Answer, CancelToken, Session};

/// The columns of DESCRIBE, as DuckDB has them.
pub(crate) const DESCRIBED: [&str; 6] =
    ["column_name", "column_type", "null", "key", "default", "extra"];

impl Session {
    pub(crate) fn describe_columns(
        &self,
        query: &ParsedQuery,
        table: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let catalog = StatementCatalog::new(self);
        self.open_files(query, &catalog, cancel)?;
        let output = plan_plain(query, &catalog)?.plan.output;
        let table = table.and_then(|it| self.snapshot().get(it).cloned());
        let shown = |it: &Table| -> Vec<usize> {
            let columns = it.columns.iter().enumerate();
            columns.filter(|it| !names::is_hidden(&it.1.name)).map(|it| it.0).collect()
        };
        let places = table.as_deref().map_or_else(Vec::new, shown);
        let table = table.filter(|_| places.len() == output.len());
        let mut view = ViewBuilder::new(&DESCRIBED.map(|it| (it, 't')));
        for (place, column) in output.iter().enumerate() {
            let of = table.as_deref().map(|it| known(it, places[place]));
            let (nullable, key, default, extra) = of.unwrap_or((true, None, None, None));
            view.row([
                column.name.as_str().into(),
                types::numeric::errors::type_name(column.data_type).into(),
                if nullable { "YES".into() } else { "NO".into() },
                Cell::Text(key.map(str::to_owned)),
                Cell::Text(default),
                Cell::Text(extra.map(str::to_owned)),
            ]);
        }
        let batch: RecordBatch = view.finish()?;
        let schema: SchemaRef = batch.schema();
        let types = vec![DataType::Text; DESCRIBED.len()];
        let tag = format!("SELECT {}", batch.num_rows());
        Ok(Answer { schema, types, batches: vec![batch], ..done(tag) })
    }
}

/// Whether a column may be NULL, the kind of key it is in, its default, and whether it is numbered by itself.
fn known(
    table: &Table,
    place: usize,
) -> (bool, Option<&'static str>, Option<String>, Option<&'static str>) {
    let (rules, id) = (table.rules(), ColumnId(place as u16));
    let in_key = |kind: IndexKind| {
        rules.indexes.iter().any(|it| it.kind == kind && it.columns.contains(&id))
    };
    let key = match (in_key(IndexKind::PrimaryKey), in_key(IndexKind::UniqueKey)) {
        (true, _) => Some("PRI"),
        (false, true) => Some("UNI"),
        (false, false) => None,
    };
    let default = rules.rows.defaults.get(place).cloned().flatten().map(|it| it.to_string());
    let extra = rules.rows.identity(id).map(|_| "identity");
    (table.columns[place].nullable, key, default, extra)
}
