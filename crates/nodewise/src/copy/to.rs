//! COPY .. TO: the rows of a query into a file.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use binder::{ParsedQuery, Statement};
use stdx::sync::Arc;
use storage::CatalogSnapshot;
use types::{SqlError, SqlResult};

use super::format::{CopyFormat, format_of_name};
use super::partitioned::Partitioning;
use super::writing::write_file;
use crate::answer::{done, listed, listed_schema};
use crate::query::Finished;
use crate::result::{place_of, schema_of, types_of};
use crate::statement_catalog::StatementCatalog;
use crate::styled::in_style;
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn copy_to(
        &self,
        query: &ParsedQuery,
        path: &str,
        options: &[(String, String)],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.check_files(true)?;
        let path = Path::new(path);
        let (partitioning, options) = Partitioning::take(options)?;
        let format = CopyFormat::of(&options, format_of_name(path))?;
        let snapshot = self.snapshot();
        let rows = match partitioning {
            None => self.write_rows(query, snapshot, path, &format, cancel)?,
            Some(partitioning) => {
                let (schema, batches) = self.rows_for(query, snapshot, (&format, false), cancel)?;
                let team = self.load_team(cancel);
                partitioning.write(path, &format, (&schema, &batches), &team)?;
                batches.iter().map(RecordBatch::num_rows).sum()
            }
        };
        Ok(done(format!("COPY {rows}")))
    }

    /// Writes the rows of a query on a snapshot into a file; how many there were.
    pub(super) fn write_rows(
        &self,
        query: &ParsedQuery,
        snapshot: Arc<CatalogSnapshot>,
        path: &Path,
        format: &CopyFormat,
        cancel: &CancelToken,
    ) -> SqlResult<usize> {
        let (schema, batches) = self.rows_for(query, snapshot, (format, true), cancel)?;
        write_file(path, format, &schema, &batches, &self.load_team(cancel))?;
        Ok(batches.iter().map(RecordBatch::num_rows).sum())
    }

    /// The rows of a query on a snapshot, as a format has them. `is_one`: for one file, whose texts may be in the styles of the session.
    fn rows_for(
        &self,
        query: &ParsedQuery,
        snapshot: Arc<CatalogSnapshot>,
        (format, is_one): (&CopyFormat, bool),
        cancel: &CancelToken,
    ) -> SqlResult<(SchemaRef, Vec<RecordBatch>)> {
        let catalog = StatementCatalog::on(self, snapshot);
        let rows = match format {
            CopyFormat::Json { .. } => Some(binder::json_rows(query)?),
            _ => None,
        };
        let query = rows.as_ref().unwrap_or(query);
        let Finished { plan, executed, .. } = self.run_on(&catalog, query, cancel, |_| Ok(()))?;
        let schema = self.zoned(&schema_of(&plan.output));
        if let CopyFormat::Lines(style) = format {
            style.check(&schema)?;
        }
        let place = place_of(&executed);
        let batches = self.shown_batches(&executed.rows, place, &schema, cancel, &|it| it)?;
        drop(executed);
        // Files of Arrow have lists, others the texts of arrays.
        Ok(match format {
            CopyFormat::Parquet(_) | CopyFormat::Arrow { .. } => {
                let types = types_of(&plan.output);
                let lists = listed_schema(&schema, &types);
                let batches = batches.iter().map(|it| listed(it, &lists, &types));
                (lists.clone(), batches.collect::<SqlResult<Vec<_>>>()?)
            }
            CopyFormat::Lines(_) if is_one && let Some(zone) = self.styled_zone() => {
                let types = types_of(&plan.output);
                let styled = batches.iter().map(|it| in_style(it, &types, &zone, |_| true));
                (schema, styled.collect::<SqlResult<Vec<_>>>()?)
            }
            _ => (schema, batches),
        })
    }
}

/// A query of a text of ours.
pub(super) fn query_of(sql: &str) -> SqlResult<ParsedQuery> {
    match binder::parse::parse(sql)?.into_tree().pop() {
        Some(Statement::Query { query }) => Ok(query),
        _ => Err(SqlError::internal(format!("{sql} is not what it was"))),
    }
}
