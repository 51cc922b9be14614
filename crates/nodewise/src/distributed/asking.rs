//! Asking shards: all at once, each reply to its request.

use std::ops::Range;

use arrow_array::RecordBatch;
use plan::wire;
use types::{SqlError, SqlResult};

use super::shard::Shard;
use super::words::{self, Reply, Request};

/// The engines.
pub(super) struct Shards {
    all: Vec<Box<dyn Shard>>,
    /// Why nothing can be asked any more: a reply that did not come would be taken for the next.
    gone: Option<SqlError>,
}

/// The rows of a reply.
pub(super) fn rows(reply: Reply) -> SqlResult<Vec<RecordBatch>> {
    match reply {
        Reply::Rows(batches) => Ok(batches),
        Reply::Tables(_) => Err(SqlError::internal("a shard told its tables instead of rows")),
    }
}

impl Shards {
    pub fn new(all: Vec<Box<dyn Shard>>) -> Self {
        Self { all, gone: None }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Asks all at once; an error is the first of them, once all have answered.
    pub fn all(&mut self, request: &Request) -> SqlResult<Vec<Reply>> {
        self.ask(0..self.all.len(), request)
    }

    /// Asks one.
    pub fn one(&mut self, number: usize, request: &Request) -> SqlResult<Reply> {
        let reply = self.ask(number..number + 1, request)?.pop();
        reply.ok_or_else(|| SqlError::internal("there is no such shard"))
    }

    fn ask(&mut self, some: Range<usize>, request: &Request) -> SqlResult<Vec<Reply>> {
        if let Some(gone) = &self.gone {
            return Err(gone.clone());
        }
        let request = wire::to_bytes(request)?;
        let count = self.all.len();
        let mut replies = Vec::with_capacity(some.len());
        let asked: Vec<SqlResult<()>> =
            self.all[some.clone()].iter_mut().map(|it| it.ask(&request)).collect();
        for ((shard, number), asked) in self.all[some.clone()].iter_mut().zip(some).zip(asked) {
            let bytes = asked.and_then(|()| shard.answer());
            let reply = match bytes {
                Ok(bytes) => words::read(&bytes),
                Err(error) => {
                    self.gone.get_or_insert(error.clone());
                    Err(error)
                }
            };
            replies.push(reply.map_err(|it| it.within(format!("shard {number} of {count}"))));
        }
        replies.into_iter().collect()
    }
}
