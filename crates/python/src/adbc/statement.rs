//! Statements: a text with what is bound to it, or a table that rows go into.

use adbc_core::error::{Result, Status};
use adbc_core::options::{OptionStatement, OptionValue};
use adbc_core::{CancelHandle, Optionable, PartitionedResult};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::Schema;
use nodewise::{Session, SqlResult};
use stdx::sync::Arc;

use super::client::{Client, Runner};
use super::errors::{error, missing, refused, told};
use super::ingest::{self, Target};
use super::options;
use super::query::Query;
use super::rows::{self, Reader};
use crate::errors::unfit;
use crate::statements::of_script;

/// Whether columns are bound to the places of their names. ADBC has no constant for it here yet.
const BY_NAME: &str = "adbc.statement.bind_by_name";

/// A statement.
pub struct Statement {
    runner: Runner,
    text: Option<String>,
    query: Option<Query>,
    /// Where rows go that are ingested; then there is no text.
    target: Target,
    bound: Option<Reader>,
    by_name: bool,
}

impl Statement {
    /// A statement without a text.
    pub fn new(client: &Arc<Client>) -> Self {
        Self {
            runner: client.runner(),
            text: None,
            query: None,
            target: Target::default(),
            bound: None,
            by_name: false,
        }
    }

    fn client(&self) -> &Arc<Client> {
        &self.runner.client
    }

    fn text(&self) -> Result<&str> {
        let message = "the statement has no text";
        self.text.as_deref().ok_or_else(|| refused(Status::InvalidState, message))
    }

    /// Runs something on behalf of the statement, in the transaction that is open.
    fn run<T>(&self, work: impl FnOnce(&mut Session) -> SqlResult<T>) -> Result<T> {
        let client = self.client();
        let _turn = client.turn.lock();
        told(self.runner.run(|session| {
            client.begin(session)?;
            work(session)
        }))
    }

    /// What is bound, read before the session is asked for.
    fn take_bound(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        self.bound.take().map(ingest::all).transpose()
    }

    /// The statement as it is prepared.
    fn prepared(&mut self) -> Result<Query> {
        if let Some(query) = &self.query {
            return Ok(query.clone());
        }
        let text = self.text()?;
        let query = self.run(|session| Query::prepare(session, text))?;
        self.query = Some(query.clone());
        Ok(query)
    }

    fn ingest(&mut self) -> Result<i64> {
        let message = "no rows are bound to ingest";
        let reader = self.bound.take().ok_or_else(|| refused(Status::InvalidState, message))?;
        ingest::ingest(&self.runner, &self.target, reader)
    }

    fn option(&self, key: &OptionStatement) -> Result<String> {
        match key {
            OptionStatement::Incremental => Ok(options::flag_text(false)),
            OptionStatement::Other(it) if it == BY_NAME => Ok(options::flag_text(self.by_name)),
            key => self.target.option(key),
        }
    }
}

impl Optionable for Statement {
    type Option = OptionStatement;

    fn set_option(&mut self, key: OptionStatement, value: OptionValue) -> Result<()> {
        match &key {
            OptionStatement::Incremental => match options::flag(key.as_ref(), value)? {
                true => Err(missing("executing bit by bit")),
                false => Ok(()),
            },
            OptionStatement::Other(it) if it == BY_NAME => {
                self.by_name = options::flag(BY_NAME, value)?;
                Ok(())
            }
            key => {
                self.target.set(key, value)?;
                if matches!(key, OptionStatement::TargetTable) {
                    (self.text, self.query) = (None, None);
                }
                Ok(())
            }
        }
    }

    fn get_option_string(&self, key: OptionStatement) -> Result<String> {
        self.option(&key)
    }

    fn get_option_bytes(&self, key: OptionStatement) -> Result<Vec<u8>> {
        Err(options::unset(key.as_ref()))
    }

    fn get_option_int(&self, key: OptionStatement) -> Result<i64> {
        options::int(key.as_ref(), &self.option(&key)?)
    }

    fn get_option_double(&self, key: OptionStatement) -> Result<f64> {
        options::double(key.as_ref(), &self.option(&key)?)
    }
}

impl adbc_core::Statement for Statement {
    fn bind(&mut self, batch: RecordBatch) -> Result<()> {
        let schema = batch.schema();
        self.bound = Some(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        Ok(())
    }

    fn bind_stream(&mut self, reader: Reader) -> Result<()> {
        self.bound = Some(reader);
        Ok(())
    }

    fn execute(&mut self) -> Result<Box<dyn RecordBatchReader + Send + 'static>> {
        self.runner.start();
        if self.target.is_set() {
            return self.ingest().map(|_| rows::none());
        }
        let mut query = self.prepared()?;
        let (bound, by_name) = (self.take_bound()?, self.by_name);
        let rows = self.run(|session| {
            let (prepared, runs) = query.bind(session, bound.as_deref(), by_name)?;
            rows::begin(session, &self.runner, &prepared, &runs)
        })?;
        self.query = Some(query);
        Ok(Box::new(rows))
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        self.runner.start();
        if self.target.is_set() {
            return self.ingest().map(Some);
        }
        // A text that is not prepared may be of several statements.
        if self.query.is_none() && self.bound.is_none() {
            let text = self.text()?;
            return self.run(|session| {
                let started = of_script(session, text)?;
                rows::count(session, &self.runner, started)
            });
        }
        let mut query = self.prepared()?;
        let (bound, by_name) = (self.take_bound()?, self.by_name);
        let count = self.run(|session| {
            let (prepared, runs) = query.bind(session, bound.as_deref(), by_name)?;
            rows::update(session, &self.runner, &prepared, &runs)
        })?;
        self.query = Some(query);
        Ok(count)
    }

    fn execute_schema(&mut self) -> Result<Schema> {
        self.runner.start();
        let query = self.prepared()?;
        let described = told(self.runner.run(|session| session.describe(&query.prepared)))?;
        let rows = described
            .ok_or_else(|| error(&unfit("the statement gives no rows, and so has no schema")))?;
        Ok(rows.with_lists().as_ref().clone())
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        Err(missing("results in partitions"))
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        let message = "the statement is not prepared";
        let query = self.query.as_ref().ok_or_else(|| refused(Status::InvalidState, message))?;
        Ok(query.parameters())
    }

    fn prepare(&mut self) -> Result<()> {
        self.runner.start();
        self.prepared().map(|_| ())
    }

    fn set_sql_query(&mut self, query: impl AsRef<str>) -> Result<()> {
        self.target.clear();
        (self.text, self.query) = (Some(query.as_ref().to_owned()), None);
        Ok(())
    }

    fn set_substrait_plan(&mut self, _plan: impl AsRef<[u8]>) -> Result<()> {
        Err(missing("Substrait"))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(self.runner.clone())
    }
}
