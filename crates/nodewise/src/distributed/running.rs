//! The steps of a query over shards: what they ask is asked, and what they give goes into those after them.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use optimizer::distribution::{At, Gives, Step};
use plan::relation::{Attr, Output, Query, Rel, ScanRel};
use plan::{Expr, ExprKind, Function, OutputColumn};
use stdx::sync::Arc;
use storage::{ColumnSchema, TableDesign};
use types::{CatalogView, ColumnId, SqlError, SqlResult, TableInfo, Value};

use super::asking::{Shards, rows};
use super::words::Request;
use crate::answer::QueryProfile;
use crate::change::shown_batches;
use crate::result::held_schema_of;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, CancelToken, Described, Session};

/// A query on its way.
pub(super) struct Running<'a> {
    session: &'a Session,
    catalog: &'a StatementCatalog<'a>,
    shards: &'a mut Shards,
    cancel: &'a CancelToken,
    /// The values of scalar subqueries. One of several rows is an error where it is used, and nowhere else.
    values: BTreeMap<usize, ExprKind>,
    /// The rows that there are, by the number of the shared relation that they are.
    rows: BTreeMap<usize, (Arc<TableInfo>, Attr)>,
}

impl<'a> Running<'a> {
    pub fn new(
        session: &'a Session,
        catalog: &'a StatementCatalog<'a>,
        shards: &'a mut Shards,
        cancel: &'a CancelToken,
    ) -> Self {
        let (values, rows) = (BTreeMap::new(), BTreeMap::new());
        Self { session, catalog, shards, cancel, values, rows }
    }

    /// Runs the steps; the last gives the answer.
    pub fn run(&mut self, steps: Vec<Step>) -> SqlResult<Answer> {
        for (number, step) in steps.into_iter().enumerate() {
            execution::check(self.cancel)?;
            let Step { at, gives, mut query } = step;
            self.put_values(&mut query);
            let columns = columns_of(&query);
            if let (At::Coordinator, Gives::Answer) = (at, gives) {
                return self.answer(query);
            }
            let batches = match at {
                At::Coordinator => self.own_rows(query)?,
                At::AllShards => {
                    let replies = self.shards.all(&Request::Part(query))?;
                    let each: SqlResult<Vec<_>> = replies.into_iter().map(rows).collect();
                    each?.concat()
                }
                At::OneShard => rows(self.shards.one(0, &Request::Part(query))?)?,
            };
            match gives {
                Gives::Answer => return self.shown(&columns, &batches),
                Gives::Scalar(scalar) => {
                    let value = self.value(number, &columns, batches)?;
                    self.values.insert(scalar, value);
                }
                Gives::Rows(id, first) => {
                    let table = self.table(number, &columns, batches)?;
                    self.rows.insert(id, (Arc::new(table.info()), first));
                }
            }
        }
        Err(SqlError::internal("no step gave the answer"))
    }

    /// Puts values in the place of scalar subqueries.
    fn put_values(&self, query: &mut Query) {
        if self.values.is_empty() {
            return;
        }
        for rel in query.shared.iter_mut().chain([&mut query.root]) {
            rel.visit_mut(&mut |it| {
                it.expressions_mut().into_iter().for_each(|it| put(it, &self.values));
            });
        }
    }

    /// Plans a query of the coordinator, over rows that there are.
    fn planned(&self, mut query: Query) -> SqlResult<plan::Plan> {
        for (id, (table, base)) in &self.rows {
            if let Some(rel) = query.shared.get_mut(*id) {
                let (table, base, filters) = (table.clone(), *base, Vec::new());
                let rows = table.rows as f64;
                *rel = Rel::Scan(ScanRel { table, base, filters, rows });
            }
        }
        optimizer::plan_unless(query, self.catalog.planning(), self.catalog.interrupt())
    }

    fn own_rows(&self, query: Query) -> SqlResult<Vec<RecordBatch>> {
        let plan = self.planned(query)?;
        let executed = self.session.run_plan(&plan, self.catalog.tables(&plan), self.cancel)?;
        self.session.record_batches(&executed, &held_schema_of(&plan.output), self.cancel)
    }

    fn answer(&self, query: Query) -> SqlResult<Answer> {
        let plan = self.planned(query)?;
        let tables = self.catalog.tables(&plan);
        let mut rows = self.session.begin_plan(&plan, tables, self.cancel)?;
        self.session.rest_of(&mut rows, self.cancel)
    }

    /// Rows that a shard gave as the answer.
    fn shown(&self, columns: &[OutputColumn], batches: &[RecordBatch]) -> SqlResult<Answer> {
        let Described { schema, types, origins } = self.session.described(columns);
        let batches = shown_batches(batches, &schema, &types)?;
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let (tag, profile) = (format!("SELECT {count}"), QueryProfile::default());
        Ok(Answer { tag, schema, types, origins, batches, profile })
    }

    fn table(
        &self,
        number: usize,
        columns: &[OutputColumn],
        batches: Vec<RecordBatch>,
    ) -> SqlResult<Arc<storage::Table>> {
        // Names of columns mean nothing to a plan, and may be equal.
        let column = |(place, it): (usize, &OutputColumn)| {
            ColumnSchema::new(format!("{place}"), it.data_type, true)
        };
        let schema = columns.iter().enumerate().map(column).collect();
        let design = TableDesign::placed(self.session.settings.default_placement.clone());
        let name = format!("rows of step {number}");
        let table = self.session.build(&name, schema, batches, &design, self.cancel)?;
        Ok(self.catalog.add(name, table))
    }

    fn value(
        &self,
        number: usize,
        columns: &[OutputColumn],
        batches: Vec<RecordBatch>,
    ) -> SqlResult<ExprKind> {
        let table = self.table(number, columns, batches)?;
        Ok(match table.rows() {
            0 => ExprKind::Literal(Value::Null),
            1 => ExprKind::Literal(table.value(ColumnId(0), 0)),
            _ => ExprKind::Call { function: Function::RaiseCardinality, arguments: Vec::new() },
        })
    }
}

/// The columns of a query's answer.
fn columns_of(query: &Query) -> Vec<OutputColumn> {
    let column = |it: &Output| OutputColumn {
        name: it.name.clone(),
        data_type: query.attributes[it.attr].data_type,
        origin: it.origin,
    };
    query.output.iter().map(column).collect()
}

fn put(expr: &mut Expr, values: &BTreeMap<usize, ExprKind>) {
    if let ExprKind::Scalar(number) = expr.kind
        && let Some(value) = values.get(&number.index())
    {
        expr.kind = value.clone();
    }
    expr.children_mut().into_iter().for_each(|it| put(it, values));
}
