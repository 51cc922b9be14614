//! The two ends of a shard: what a coordinator asks, and the engine that answers.

use arrow_array::RecordBatch;
use plan::relation::{Query, Rel};
use plan::wire::{self, NESTING_MAX};
use stdx::sync::Arc;
use types::{CatalogView, SqlError, SqlResult, SqlState, TableInfo};

use super::words::{self, Reply, Request};
use crate::result::held_schema_of;
use crate::starting::Begun;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, CancelHandle, Database, Described, QueryProfile, Session};

/// An engine with a shard, as a coordinator sees it: one that answers requests, in their order.
pub trait Shard: Send {
    /// Hands a request over. The next may follow once it was answered.
    ///
    /// # Errors
    /// 08006 where the engine is gone.
    fn ask(&mut self, request: &[u8]) -> SqlResult<()>;
    /// Waits for what it answers.
    ///
    /// # Errors
    /// 08006 where the engine is gone.
    fn answer(&mut self) -> SqlResult<Vec<u8>>;
}

/// An engine's end: requests in, replies out.
pub struct ShardServer {
    session: Session,
}

/// A shard in the same process.
pub struct LocalShard {
    server: ShardServer,
    reply: Option<Vec<u8>>,
}

impl ShardServer {
    /// An engine that answers from a database.
    pub fn new(database: &Arc<Database>) -> Self {
        Self { session: database.session() }
    }

    /// What ends the request that it is at.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.session.cancel_handle()
    }

    /// Answers a request. What goes wrong is an answer, too.
    pub fn reply(&mut self, request: &[u8]) -> Vec<u8> {
        words::written(self.answered(request))
    }

    fn answered(&mut self, request: &[u8]) -> SqlResult<Reply> {
        // What is read may nest as deep as its form allows.
        self.session.with_levels(NESTING_MAX, |session| match wire::from_bytes(request)? {
            Request::Tables => Ok(Reply::Tables(tables_of(&session.database))),
            Request::Sql(sql) => Ok(Reply::Rows(session.query(&sql)?.batches)),
            Request::Part(query) => session.part(query).map(Reply::Rows),
        })
    }
}

impl LocalShard {
    /// A shard of a database.
    pub fn new(database: &Arc<Database>) -> Self {
        Self { server: ShardServer::new(database), reply: None }
    }
}

impl Shard for LocalShard {
    fn ask(&mut self, request: &[u8]) -> SqlResult<()> {
        self.reply = Some(self.server.reply(request));
        Ok(())
    }

    fn answer(&mut self) -> SqlResult<Vec<u8>> {
        self.reply.take().ok_or_else(|| SqlError::internal("a shard was asked nothing"))
    }
}

/// The tables that a coordinator may ask for: those that need no schema before their names.
fn tables_of(database: &Database) -> Vec<TableInfo> {
    let tables = database.tables();
    tables.iter().filter(|it| !it.name.contains('.')).map(|it| it.info()).collect()
}

impl Session {
    /// Runs a part of a query that was bound elsewhere: its rows as tables hold them.
    fn part(&mut self, mut query: Query) -> SqlResult<Vec<RecordBatch>> {
        let started = self.start("part of a query over shards", |session, cancel| {
            let catalog = StatementCatalog::stored(session);
            own_tables(&mut query, &catalog)?;
            let plan = optimizer::plan_unless(query, catalog.planning(), catalog.interrupt())?;
            let executed = session.run_plan(&plan, catalog.tables(&plan), cancel)?;
            let held = held_schema_of(&plan.output);
            let batches = session.record_batches(&executed, &held, cancel)?;
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            let Described { schema, types, origins } = Described::of(&plan.output);
            let (tag, profile) = (format!("SELECT {rows}"), QueryProfile::default());
            Ok(Begun::Answer(Answer { tag, schema, types, origins, batches, profile }))
        })?;
        Ok(self.whole(started)?.batches)
    }
}

/// Puts a database's own tables in the place of those of the same names.
fn own_tables(query: &mut Query, catalog: &StatementCatalog<'_>) -> SqlResult<()> {
    let mut wrong = None;
    let Query { shared, scalars, root, .. } = query;
    let scalars = scalars.iter_mut().map(|it| &mut it.rel);
    for rel in shared.iter_mut().chain(scalars).chain([root]) {
        rel.visit_mut(&mut |it| {
            let Rel::Scan(scan) = it else { return };
            match catalog.table(None, &scan.table.name) {
                Some(own) if has_columns_of(&own, &scan.table) => scan.table = own,
                _ => {
                    let message = format!("table {} is not as it was", scan.table.name);
                    wrong.get_or_insert(SqlError::new(SqlState::NOT_IN_STATE, message));
                }
            }
        });
    }
    wrong.map_or(Ok(()), Err)
}

/// Whether two tables have the same columns.
pub(super) fn has_columns_of(one: &TableInfo, other: &TableInfo) -> bool {
    let is_same = |(one, other): (&types::ColumnInfo, &types::ColumnInfo)| {
        one.name == other.name && one.data_type == other.data_type
    };
    one.columns.len() == other.columns.len() && one.columns.iter().zip(&other.columns).all(is_same)
}
