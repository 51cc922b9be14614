//! COPY between a client and a table or a query: the protocol's part is elsewhere, here are the rows.
//!
//! Key decision: what comes is read while more comes, and the table is not touched before all has come, so that a slow client
//! is in nobody's way.

use arrow_array::{Array, RecordBatch};
use binder::ParsedQuery;
use files::{KeptPlace, RefusedRow, Rows, TextColumn, TextStream};
use stdx::sync::Arc;
use storage::{BuildContext, Table, TableDesign};
use types::{DataType, ObjectKind, Privileges, SqlError, SqlResult, SqlState, names};

use super::filled::Filled;
use super::format::{CopyFormat, without_options};
use super::from::{columns_of, format_of, targets};
use crate::begun_rows::BegunRows;
use crate::opened::{Cursor, OpenStatement};
use crate::parallel::LoadProgress;
use crate::reading::{CopyText, Direction};
use crate::{Answer, CancelToken, Session};

/// COPY .. TO STDOUT under way.
pub struct CopyOut {
    /// The rows.
    pub cursor: Cursor,
    /// How they are to be written.
    pub format: Arc<CopyFormat>,
}

impl CopyOut {
    pub(crate) fn new(cursor: Cursor, format: CopyFormat) -> Self {
        Self { cursor, format: Arc::new(format) }
    }
}

/// COPY .. FROM STDIN under way.
pub struct CopyIn {
    /// Present once it is under way, until it has ended.
    statement: Option<OpenStatement>,
    table: Arc<Table>,
    targets: Vec<usize>,
    condition: Option<String>,
    columns: Vec<TextColumn>,
    text: CopyText,
    data: Data,
}

/// What has come.
enum Data {
    /// Lines.
    Lines(Box<TextStream>),
    /// Rows that somebody else has read.
    Rows(Vec<RecordBatch>),
    /// The first row that cannot be one of the table.
    Refused(RefusedRow),
}

impl CopyIn {
    pub(crate) fn opened(self: Box<Self>, statement: OpenStatement) -> Self {
        Self { statement: Some(statement), ..*self }
    }

    /// Whether its data are rows in PostgreSQL's binary format, which [`Session::copy_rows`] takes.
    pub fn is_binary(&self) -> bool {
        matches!(self.data, Data::Rows(_) | Data::Refused(_))
    }

    /// The names and types of the columns of its rows.
    pub fn columns(&self) -> Vec<(&str, DataType)> {
        self.columns.iter().map(|it| (&*it.name, it.data_type)).collect()
    }

    /// The name of the table.
    pub fn table(&self) -> &str {
        &self.table.name
    }
}

impl Session {
    /// Begins COPY .. TO STDOUT.
    pub(crate) fn begin_copy_to(
        &mut self,
        query: &ParsedQuery,
        options: &[(String, String)],
        cancel: &CancelToken,
    ) -> SqlResult<(BegunRows, CopyFormat)> {
        let format = CopyFormat::of(options, Some("text"))?;
        if let CopyFormat::Parquet(_) | CopyFormat::Arrow { .. } | CopyFormat::Json { .. } = format
        {
            let name = format.extension();
            let message = format!("COPY TO STDOUT of format {name} is not supported");
            return Err(SqlError::unsupported(message).with_hint("text, csv and binary are there"));
        }
        if let CopyFormat::Lines(style) = &format
            && style.compression().is_some_and(|it| it != files::Compression::None)
        {
            return Err(SqlError::unsupported("COPY TO STDOUT does not compress what it writes"));
        }
        let (catalog, planned) = self.planned_to_read(query, cancel, |_| Ok(()))?;
        let tables = catalog.tables(&planned.plan);
        let rows = self.begin_plan(&planned.plan, tables, cancel)?;
        if let CopyFormat::Lines(style) = &format {
            style.check(&rows.schema)?;
        }
        Ok((rows, format))
    }

    /// Begins COPY .. FROM STDIN.
    pub(crate) fn begin_copy_from(
        &mut self,
        table: &str,
        (columns, condition): (&[String], Option<String>),
        options: &[(String, String)],
    ) -> SqlResult<CopyIn> {
        // Whether it may write at all is told before the client sends anything.
        self.begin_writing()?;
        let table = self.existing(&self.existing_name(table, false)?)?;
        self.authority().check((ObjectKind::Relation, &table.name), Privileges::INSERT)?;
        self.authority().check_copy_condition(&table.name, condition.as_deref())?;
        let targets = targets(&table, columns)?;
        let said = options.iter().find(|it| it.0 == "format").map(|it| it.1.to_lowercase());
        let (is_csv, is_binary) = match said.as_deref() {
            None | Some("text") => (false, false),
            Some("csv") => (true, false),
            Some("binary") => (false, true),
            Some(format @ ("parquet" | "json" | "arrow" | "arrows" | "feather")) => {
                let message = format!("COPY FROM STDIN of format {format} is not supported");
                return Err(
                    SqlError::unsupported(message).with_hint("text, csv and binary are there")
                );
            }
            Some(other) => {
                let message = format!("COPY format \"{other}\" not recognized");
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
            }
        };
        if options.iter().any(|it| it.0 == "compression") {
            return Err(SqlError::unsupported("COPY FROM STDIN of compressed data"));
        }
        let options = if is_binary {
            without_options(options, "BINARY mode").map(|()| &[][..])?
        } else {
            options
        };
        let text = CopyText::of(options, is_csv, Direction::From)?;
        let filled = Filled { places: &targets, condition: condition.as_deref() };
        filled.check(&table)?;
        let columns = columns_of(&table, filled, &text)?;
        let data = match is_binary {
            true => Data::Rows(Vec::new()),
            false => {
                let format = format_of(&table, &targets, &text, self.settings.client.zone());
                let name = table.name.clone();
                Data::Lines(Box::new(TextStream::new(name, columns.clone(), format)))
            }
        };
        let statement = None;
        Ok(CopyIn { statement, table, targets, condition, columns, text, data })
    }

    /// Takes in lines that have come. An error ends the statement.
    pub fn copy_data(&mut self, copy: &mut CopyIn, bytes: &[u8]) -> SqlResult<()> {
        self.some_of_copy(copy, |session, copy, cancel| {
            let Data::Lines(lines) = &mut copy.data else { return Err(not_lines()) };
            session.reading(&copy.table.name, cancel, |context| lines.push(bytes, context))?;
            match lines.is_refused() {
                true => session.add_copied(copy, cancel).map(|_| ()),
                false => Ok(()),
            }
        })
    }

    /// Takes in rows, with the columns of the statement. An error ends the statement.
    pub fn copy_rows(&mut self, copy: &mut CopyIn, rows: RecordBatch) -> SqlResult<()> {
        self.some_of_copy(copy, |session, copy, cancel| {
            let Data::Rows(all) = &mut copy.data else { return Err(not_lines()) };
            let columns = copy.columns.iter().zip(rows.columns()).filter(|it| it.0.required);
            let nulls = columns.filter_map(|(_, array)| array.logical_nulls());
            let first = nulls.filter_map(|it| (0..it.len()).find(|row| it.is_null(*row))).min();
            let Some(row) = first else {
                all.push(rows);
                return Ok(());
            };
            let line = all.iter().map(RecordBatch::num_rows).sum::<usize>() + row + 1;
            let own = names::bare(&copy.table.name);
            let place = KeptPlace::Client(format!("COPY {own}, line {line}"));
            copy.data = Data::Refused(RefusedRow { batch: rows.slice(row, 1), place });
            session.add_copied(copy, cancel).map(|_| ())
        })
    }

    /// Adds all rows that have come to the table.
    pub fn copy_end(&mut self, mut copy: CopyIn) -> SqlResult<Answer> {
        let Some(statement) = copy.statement.take() else { return Err(ended()) };
        let added =
            self.within(&statement, |session, cancel| session.add_copied(&mut copy, &cancel));
        if let Ok(answer) = &added {
            statement.answered(answer);
        }
        self.end_open(statement, added)
    }

    /// Ends the statement by an error, which is given back.
    pub fn copy_failed(&mut self, mut copy: CopyIn, error: SqlError) -> SqlError {
        self.fail_copy(&mut copy, error)
    }

    /// [`Session::copy_failed`] of one that others still hold.
    pub fn fail_copy(&mut self, copy: &mut CopyIn, error: SqlError) -> SqlError {
        if let Some(statement) = copy.statement.take() {
            // It fails with what it is given.
            let _ = self.end_open::<()>(statement, Err(error.clone()));
        }
        error
    }

    fn some_of_copy<T>(
        &mut self,
        copy: &mut CopyIn,
        run: impl FnOnce(&mut Self, &mut CopyIn, &CancelToken) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let Some(statement) = copy.statement.take() else { return Err(ended()) };
        let done = self.within(&statement, |session, cancel| {
            execution::check(&cancel)?;
            run(session, copy, &cancel)
        });
        match done {
            Ok(done) => {
                copy.statement = Some(statement);
                Ok(done)
            }
            Err(error) => self.end_open(statement, Err(error)),
        }
    }

    /// Reads with the workers of the session.
    fn reading<T>(
        &self,
        name: &str,
        cancel: &CancelToken,
        read: impl FnOnce(&BuildContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, name);
        let stop = || execution::is_ended(cancel);
        let plain = TableDesign::default();
        self.cancelled_or(cancel, read(&self.build_context(&team, &progress, &stop, &plain)))
    }

    /// Adds what has come.
    fn add_copied(&mut self, copy: &mut CopyIn, cancel: &CancelToken) -> SqlResult<Answer> {
        let data = std::mem::replace(&mut copy.data, Data::Rows(Vec::new()));
        let CopyIn { table, targets, condition, columns, text, .. } = copy;
        let rows = match data {
            Data::Lines(lines) => {
                self.reading(&table.name, cancel, |context| lines.finish(context))?
            }
            Data::Rows(batches) => Rows { batches, ..Rows::default() },
            Data::Refused(row) => Rows { refused: Some(row), ..Rows::default() },
        };
        self.refresh()?;
        self.wait_for_place()?;
        let now = self.existing(&table.name)?;
        if !Arc::ptr_eq(&now, table) && !is_alike(&now, table) {
            let message = format!("table \"{}\" was altered while rows were copied", table.name);
            return Err(SqlError::new(SqlState::NOT_IN_STATE, message));
        }
        let filled = Filled { places: targets, condition: condition.as_deref() };
        self.add_rows(&now, filled, (&columns[..], text.asked()), rows, cancel)
    }
}

/// Whether rows that were read for one table fit another one of its name.
fn is_alike(now: &Table, then: &Table) -> bool {
    let columns = |it: &Table| -> Vec<_> {
        let columns = it.columns.iter();
        columns.map(|it| (it.name.clone(), it.data_type, it.nullable)).collect()
    };
    now.id == then.id && columns(now) == columns(then)
}

fn ended() -> SqlError {
    SqlError::internal("a COPY that has ended")
}

fn not_lines() -> SqlError {
    SqlError::internal("data of a COPY in another format")
}
