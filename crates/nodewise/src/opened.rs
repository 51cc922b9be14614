//! Statements that have begun and go on over several calls, and the rows of queries among them.

use stdx::Nanos;
use stdx::stack::Deep;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;

use crate::begun_rows::BegunRows;
use crate::statement_counts::{Kind, rows_of_tag};
use crate::under_way::UnderWay;
use crate::{Answer, CancelToken, Described};

/// A statement that has begun and has not ended.
pub(crate) struct OpenStatement {
    pub(crate) under_way: Arc<UnderWay>,
    pub(crate) cancel: CancelToken,
    /// How deep its trees can be.
    pub(crate) levels: usize,
    /// Whether its session does nothing for it, so that timeouts of idle sessions go on.
    pub(crate) paused: bool,
}

impl OpenStatement {
    /// It is such a statement.
    pub(crate) fn is(&self, kind: Kind) {
        self.under_way.record.work.is(kind);
    }

    /// It has this answer.
    pub(crate) fn answered(&self, answer: &Answer) {
        let work = &self.under_way.record.work;
        work.is(Kind::of(&answer.tag));
        // What it is made of may have given rows of its own.
        work.rows.store(rows_of_tag(&answer.tag), Ordering::Relaxed);
    }

    /// No more of its rows are made.
    pub(crate) fn made(&self, rows: &BegunRows) {
        if let Some(followed) = &self.under_way.record.work.followed {
            followed.ran(rows.stream.reports());
        }
    }

    pub(crate) fn worked(&self, time: Nanos) {
        self.under_way.record.work.nanos.fetch_add(time.0, Ordering::Relaxed);
    }
}

/// The rows of a query that have not been fetched.
pub struct Cursor {
    /// Present until the statement has ended.
    pub(crate) statement: Option<OpenStatement>,
    pub(crate) rows: Option<Deep<BegunRows>>,
    described: Described,
    pub(crate) started: Nanos,
}

impl Cursor {
    pub(crate) fn new(statement: OpenStatement, rows: BegunRows) -> Self {
        let (schema, types) = (rows.schema.clone(), rows.types.clone());
        let described = Described { schema, types, origins: rows.origins.clone() };
        let started = rows.started;
        let rows = Some(Deep::new(rows, statement.levels));
        Self { statement: Some(statement), rows, described, started }
    }

    /// The columns of its rows.
    pub fn described(&self) -> Described {
        self.described.clone()
    }
}
