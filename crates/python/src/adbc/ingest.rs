//! Rows of Arrow into a table: as many at a time as memory is meant for, all of them or none.

use std::panic::{AssertUnwindSafe, catch_unwind};

use adbc_core::error::{Error, Result, Status};
use adbc_core::options::{IngestMode, OptionStatement, OptionValue};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use nodewise::text::quoted_name;
use nodewise::{Session, SqlError, SqlResult, SqlState};

use super::catalog::{check_catalog, current_schema};
use super::client::{Runner, ask};
use super::errors::{error, told};
use super::options;
use super::rows::Reader;

/// Bytes of rows that are put into the table at a time.
const PART_BYTES: usize = 64 << 20;
/// Under which name the statements that put them there find them.
const FRAME: &str = "adbc ingested rows";

/// The table that rows go into, by the options of a statement.
#[derive(Clone, Default)]
pub struct Target {
    table: Option<String>,
    schema: Option<String>,
    catalog: Option<String>,
    mode: Option<IngestMode>,
    temporary: bool,
}

impl Target {
    /// Whether there is a table.
    pub fn is_set(&self) -> bool {
        self.table.is_some()
    }

    /// From now on there is no table.
    pub fn clear(&mut self) {
        self.table = None;
    }

    /// Sets an option.
    pub fn set(&mut self, key: &OptionStatement, value: OptionValue) -> Result<()> {
        let name = key.as_ref();
        match key {
            OptionStatement::TargetTable => self.table = Some(options::text(name, value)?),
            OptionStatement::TargetDbSchema => self.schema = Some(options::text(name, value)?),
            OptionStatement::TargetCatalog => self.catalog = Some(options::text(name, value)?),
            OptionStatement::Temporary => self.temporary = options::flag(name, value)?,
            OptionStatement::IngestMode => self.mode = Some(IngestMode::try_from(&value)?),
            _ => return Err(options::unknown(name)),
        }
        Ok(())
    }

    /// What an option was set to.
    pub fn option(&self, key: &OptionStatement) -> Result<String> {
        let found = match key {
            OptionStatement::TargetTable => self.table.clone(),
            OptionStatement::TargetDbSchema => self.schema.clone(),
            OptionStatement::TargetCatalog => self.catalog.clone(),
            OptionStatement::Temporary => Some(options::flag_text(self.temporary)),
            OptionStatement::IngestMode => Some(self.mode().into()),
            _ => None,
        };
        found.ok_or_else(|| options::unset(key.as_ref()))
    }

    fn mode(&self) -> IngestMode {
        self.mode.unwrap_or(IngestMode::Create)
    }

    /// The name in SQL. Tables in other schemas of the search path are none that rows are meant for.
    fn name(&self, session: &mut Session) -> SqlResult<String> {
        check_catalog(session, self.catalog.as_deref())?;
        let schema = match (&self.schema, self.temporary) {
            (Some(_), true) => {
                let message = "cannot create temporary relation in non-temporary schema";
                return Err(SqlError::new(SqlState("42P16"), message));
            }
            (None, true) => "pg_temp".to_owned(),
            (Some(schema), false) => schema.clone(),
            (None, false) => current_schema(session)?,
        };
        let table = quoted_name(self.table.as_deref().unwrap_or_default());
        Ok(format!("{}.{table}", quoted_name(&schema)))
    }
}

/// Puts rows into a table; tells how many.
pub fn ingest(runner: &Runner, target: &Target, mut rows: Reader) -> Result<i64> {
    let client = &runner.client;
    let _turn = client.turn.lock();
    let put = put_all(runner, target, &mut rows);
    // What has failed beside a statement, as reading the rows, is taken back as well.
    let ended = client.look(|session| {
        if put.is_err() {
            session.fail_transaction();
        }
        session.end_implicit()
    });
    let count = put.map_err(|it| unlike(&it))?;
    ended.map(|()| count)
}

/// Puts all rows into a table, part by part.
fn put_all(runner: &Runner, target: &Target, rows: &mut Reader) -> SqlResult<i64> {
    let schema = rows.schema();
    let (mut count, mut is_there) = (0, false);
    loop {
        let part = part(rows)?;
        let is_last = part.is_empty();
        if is_last && is_there {
            return Ok(count);
        }
        count += part.iter().map(RecordBatch::num_rows).sum::<usize>() as i64;
        runner.run(|session| {
            runner.client.begin(session)?;
            session.begin_implicit();
            put(session, target, is_there, &schema, part)
        })?;
        is_there = true;
        if is_last {
            return Ok(count);
        }
    }
}

/// The next rows, as many as are put into the table at once; none when all have come.
fn part(rows: &mut Reader) -> SqlResult<Vec<RecordBatch>> {
    let (mut part, mut bytes) = (Vec::new(), 0);
    while bytes < PART_BYTES
        && let Some(batch) = next(rows)?
    {
        bytes += batch.get_array_memory_size();
        part.push(batch);
    }
    Ok(part)
}

/// The next rows of somebody else. What cannot be read is an error, whatever becomes of reading it.
pub fn next(rows: &mut Reader) -> SqlResult<Option<RecordBatch>> {
    let failed = |why: &str| {
        let message = format!("the rows cannot be read: {why}");
        SqlError::new(SqlState::INVALID_PARAMETER, message)
    };
    match catch_unwind(AssertUnwindSafe(|| rows.next())) {
        Ok(batch) => batch.transpose().map_err(|it| failed(&it.to_string())),
        Err(_) => Err(failed("they are malformed")),
    }
}

/// Puts some rows into a table, which is made, or looked at, before its first ones.
fn put(
    session: &mut Session,
    target: &Target,
    mut is_there: bool,
    schema: &SchemaRef,
    rows: Vec<RecordBatch>,
) -> SqlResult<()> {
    let name = target.name(session)?;
    if !is_there {
        is_there = look(session, &name, target.mode())?;
    }
    session.register(FRAME, schema, rows)?;
    let text = match (is_there, target.temporary) {
        (true, _) => {
            let columns = schema.fields().iter().map(|it| quoted_name(it.name()));
            let columns = columns.collect::<Vec<_>>().join(", ");
            format!("INSERT INTO {name} ({columns}) SELECT * FROM \"{FRAME}\"")
        }
        (false, false) => format!("CREATE TABLE {name} AS SELECT * FROM \"{FRAME}\""),
        (false, true) => format!("CREATE TEMPORARY TABLE {name} AS SELECT * FROM \"{FRAME}\""),
    };
    let put = ask(session, &text, &[]);
    session.unregister(FRAME);
    put?;
    let required = schema.fields().iter().filter(|it| !is_there && !it.is_nullable());
    let required = required.map(|it| format!("ALTER {} SET NOT NULL", quoted_name(it.name())));
    let required = required.collect::<Vec<_>>().join(", ");
    match required.is_empty() {
        true => Ok(()),
        false => ask(session, &format!("ALTER TABLE {name} {required}"), &[]).map(|_| ()),
    }
}

/// Does what a mode asks where the table is there, and where it is not; whether rows are to go into one that is.
fn look(session: &mut Session, name: &str, mode: IngestMode) -> SqlResult<bool> {
    let found = session.prepare_typed(&format!("SELECT 1 FROM {name}"), &[]);
    match (found, mode) {
        (Ok(_), IngestMode::Append | IngestMode::CreateAppend) => Ok(true),
        (Ok(_), IngestMode::Replace) => {
            ask(session, &format!("DROP TABLE {name}"), &[]).map(|_| false)
        }
        (Ok(_), IngestMode::Create) => {
            let message = format!("relation {name} already exists");
            Err(SqlError::new(SqlState::DUPLICATE_TABLE, message))
        }
        (Err(error), IngestMode::Append) => Err(error),
        (Err(error), _) if error.state == SqlState::UNDEFINED_TABLE => Ok(false),
        (Err(error), _) => Err(error),
    }
}

/// An error as ADBC has it: a table whose columns are others is one that exists already.
fn unlike(failed: &SqlError) -> Error {
    let is_unlike = [SqlState::DATATYPE_MISMATCH, SqlState::UNDEFINED_COLUMN];
    match is_unlike.contains(&failed.state) {
        true => Error { status: Status::AlreadyExists, ..error(failed) },
        false => error(failed),
    }
}

/// The rows that are bound, all at once.
pub fn all(mut rows: Reader) -> Result<Vec<RecordBatch>> {
    let mut all = Vec::new();
    while let Some(batch) = told(next(&mut rows))? {
        all.push(batch);
    }
    Ok(all)
}
