//! The rows of a query on their way out: made as they are fetched (docs/design/11-server.md, "rows on their way").
//!
//! - Invariant: no more rows are made than were asked for, but those of what a fetch is for, and rows that the plan had to
//!   have all of, as those of a sort.

use arrow_array::RecordBatch;
use memory::Workspace;
use stdx::Nanos;
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use crate::begun_rows::BegunRows;
use crate::opened::Cursor;
use crate::{Answer, QueryProfile, Session};

/// What was made of some rows, which counts to the memory of their statement.
pub struct Fetched<T> {
    /// Present until it is dropped.
    items: Vec<T>,
    workspace: Option<Arc<Workspace>>,
    /// Whether these were the last: the statement has ended.
    pub is_last: bool,
}

impl<T> Fetched<T> {
    /// What counts to no statement any more.
    pub fn of(items: Vec<T>) -> Self {
        Self { items, workspace: None, is_last: true }
    }

    /// What was made of each batch, in order.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

impl<T> Drop for Fetched<T> {
    fn drop(&mut self) {
        // What is given back is taken off those who took it.
        let _entered = self.workspace.as_ref().map(|it| it.enter(None));
        self.items.clear();
    }
}

impl Session {
    /// Makes something of each of the next batches, about `bytes` of rows in all; the workers do it where the rows lie. An error
    /// ends the statement.
    pub fn fetch<T: Send>(
        &mut self,
        cursor: &mut Cursor,
        bytes: u64,
        map: &(dyn Fn(RecordBatch) -> T + Sync),
    ) -> SqlResult<Fetched<T>> {
        let none = Fetched { items: Vec::new(), workspace: None, is_last: true };
        let (Some(mut statement), Some(mut rows)) = (cursor.statement.take(), cursor.rows.take())
        else {
            return Ok(none);
        };
        let resumed = self.resume(&mut statement);
        let fetched = resumed.and_then(|()| {
            self.within(&statement, |session, cancel| {
                if rows.needs_place {
                    session.wait_for_place()?;
                }
                let BegunRows { stream, schema, .. } = &mut *rows;
                let Some(made) = stream.next(bytes)? else { return Ok(none) };
                let place = (stream.workspace(), stream.pipeline());
                let items = session.shown_batches(&made, place, schema, &cancel, map)?;
                session.gave(made.batches.iter().map(|it| it.rows() as u64).sum());
                let (workspace, is_last) = (Some(place.0.clone()), stream.is_ended());
                drop(made);
                Ok(Fetched { items, workspace, is_last })
            })
        });
        match fetched {
            Ok(fetched) if !fetched.is_last => {
                (cursor.statement, cursor.rows) = (Some(statement), Some(rows));
                Ok(fetched)
            }
            ended => {
                statement.made(&rows);
                drop(rows);
                self.end_open(statement, ended)
            }
        }
    }

    /// From now on the client does not ask for rows: what counts while it does nothing counts again.
    pub fn pause_cursor(&self, cursor: &mut Cursor) {
        if let Some(statement) = &mut cursor.statement {
            self.pause(statement);
        }
    }

    /// Ends the statement of a cursor whose other rows nobody wants.
    pub fn close(&mut self, cursor: Cursor) -> SqlResult<()> {
        let Cursor { statement, rows, .. } = cursor;
        if let (Some(statement), Some(rows)) = (&statement, &rows) {
            statement.made(rows);
        }
        drop(rows);
        statement.map_or(Ok(()), |it| self.end_open(it, Ok(())))
    }

    /// Ends the statement of a cursor by an error, which is given back.
    pub fn fail(&mut self, cursor: Cursor, error: SqlError) -> SqlError {
        let Cursor { statement, rows, .. } = cursor;
        drop(rows);
        if let Some(statement) = statement {
            // It fails with what it is given.
            let _ = self.end_open::<()>(statement, Err(error.clone()));
        }
        error
    }

    /// All rows of a cursor.
    pub(crate) fn fetch_all(&mut self, mut cursor: Cursor) -> SqlResult<Answer> {
        let (Some(statement), Some(mut rows)) = (cursor.statement.take(), cursor.rows.take())
        else {
            return Err(SqlError::internal("the rows of a query are gone"));
        };
        let ended = self.within(&statement, |session, cancel| {
            if rows.needs_place {
                session.wait_for_place()?;
            }
            session.rest_of(&mut rows, &cancel)
        });
        statement.made(&rows);
        drop(rows);
        let mut answer = self.end_open(statement, ended)?;
        answer.profile.execution =
            self.database.machine.now() - cursor.started - answer.profile.planning;
        Ok(answer)
    }

    /// The statement that runs has given so many rows.
    fn gave(&self, rows: u64) {
        if let Some(it) = &self.under_way {
            it.record.work.add_rows(rows);
        }
    }

    /// All rows that are left of a query.
    pub(crate) fn rest_of(
        &self,
        rows: &mut BegunRows,
        cancel: &crate::CancelToken,
    ) -> SqlResult<Answer> {
        let BegunRows { stream, schema, types, origins, planning, .. } = rows;
        let made = stream.rest()?;
        let place = (stream.workspace(), stream.pipeline());
        let mut batches = self.shown_batches(&made, place, schema, cancel, &|it| it)?;
        drop(made);
        batches.retain(|it| it.num_rows() > 0);
        let count: usize = batches.iter().map(RecordBatch::num_rows).sum();
        self.gave(count as u64);
        let profile =
            QueryProfile { planning: *planning, execution: Nanos(0), pipelines: stream.reports() };
        let (schema, types, origins) = (schema.clone(), types.clone(), origins.clone());
        Ok(Answer { tag: format!("SELECT {count}"), schema, types, origins, batches, profile })
    }
}
