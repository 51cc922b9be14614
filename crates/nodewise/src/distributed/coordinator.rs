//! The coordinator: one database in front of engines that have a shard each.

use arrow_array::RecordBatch;
use binder::Statement;
use hardware::Machine;
use optimizer::distribution::{At, Gives, Sharding, Step, distribute};
use stdx::stack::Deep;
use stdx::sync::Arc;
use types::{CatalogView, SqlError, SqlResult, SqlState};

use super::asking::{Shards, rows};
use super::opening;
use super::running::Running;
use super::shard::Shard;
use super::words::Request;
use crate::planning::bound_plain;
use crate::starting::Begun;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, Database, DatabaseOptions, Session};

/// Plans queries over shards, sends each what it is to do, and makes the answer of what they give.
pub struct Coordinator {
    session: Session,
    shards: Shards,
    sharding: Sharding,
}

impl Coordinator {
    /// A coordinator of shards. `keys` are the tables that are cut, each with the column of whole numbers that says in which
    /// shard a row is ([`super::shard_of`]); all others must be the same in all.
    ///
    /// # Errors
    /// 55000 where the shards are not so.
    pub fn open(
        machine: Arc<dyn Machine>,
        options: DatabaseOptions,
        shards: Vec<Box<dyn Shard>>,
        keys: &[(&str, &str)],
    ) -> SqlResult<Self> {
        let database = Database::open(machine, options)?;
        let mut session = database.session();
        let mut shards = Shards::new(shards);
        let sharding = opening::open(&mut session, &mut shards, keys)?;
        Ok(Self { session, shards, sharding })
    }

    /// Answers a query.
    ///
    /// # Errors
    /// Those of any query; 0A000 for what cannot be asked of shards; 08006 where an engine is gone.
    pub fn query(&mut self, sql: &str) -> SqlResult<Answer> {
        let Self { session, shards, sharding } = self;
        let statement = select_of(sql)?;
        session.with_levels(statement.levels(), |session| {
            let started = session.start(sql, |session, cancel| {
                let catalog = StatementCatalog::new(session);
                let steps = steps(&statement, &catalog, sharding)?;
                let mut running = Running::new(session, &catalog, shards, cancel);
                running.run(steps).map(Begun::Answer)
            })?;
            session.whole(started)
        })
    }

    /// The steps in which a query is answered, a line for each.
    ///
    /// # Errors
    /// As for [`Coordinator::query`].
    pub fn explain(&mut self, sql: &str) -> SqlResult<Vec<String>> {
        let Self { session, sharding, .. } = self;
        let statement = select_of(sql)?;
        session.with_levels(statement.levels(), |session| {
            session.refresh()?;
            let catalog = StatementCatalog::new(session);
            Ok(steps(&statement, &catalog, sharding)?.iter().map(described).collect())
        })
    }

    /// What each of the shards answers to a statement of its own, as a setting or a look at its views.
    ///
    /// # Errors
    /// Those of the statement in any of them.
    pub fn on_shards(&mut self, sql: &str) -> SqlResult<Vec<Vec<RecordBatch>>> {
        let replies = self.shards.all(&Request::Sql(sql.to_owned()))?;
        replies.into_iter().map(rows).collect()
    }

    /// The session that plans and merges, to change its settings.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// The only SELECT of a text.
fn select_of(sql: &str) -> SqlResult<Deep<Statement>> {
    let statements = binder::parse::parse(sql)?;
    let levels = statements.levels();
    stdx::stack::with_levels(levels, || {
        let mut each = statements.into_tree().into_iter();
        let statement = each.next().map(|it| Deep::new(it, levels));
        match (statement, each.next()) {
            (Some(it), None) if matches!(*it, Statement::Query { .. }) => Ok(it),
            (None, _) => Err(SqlError::new(SqlState::SYNTAX, "there is no statement to execute")),
            _ => Err(SqlError::unsupported("all but one SELECT over shards")),
        }
    })
}

fn steps(
    statement: &Statement,
    catalog: &StatementCatalog<'_>,
    sharding: &Sharding,
) -> SqlResult<Vec<Step>> {
    let Statement::Query { query } = statement else {
        return Err(SqlError::internal("a statement that is no query"));
    };
    distribute(bound_plain(query, catalog)?, sharding, catalog.interrupt())
}

fn described(step: &Step) -> String {
    let who = match step.at {
        At::AllShards => "all shards",
        At::OneShard => "one shard",
        At::Coordinator => "coordinator",
    };
    let what = match step.gives {
        Gives::Answer => "the answer",
        Gives::Scalar(_) => "a value",
        Gives::Rows(..) => "rows",
    };
    let names: Vec<&str> = step.tables();
    let of = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
    let is_grouped = step.at != At::Coordinator && step.is_grouped();
    let grouped = if is_grouped { ", grouped" } else { "" };
    format!("{who}: {what}{of}{grouped}")
}
