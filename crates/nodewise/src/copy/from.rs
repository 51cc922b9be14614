//! COPY .. FROM: the rows of files into a table, all or none.
//!
//! Where the table asks nothing of its rows but their types and keys, they go straight into its columns. Else, and where columns
//! are left out, they are those of an INSERT: there defaults, CHECK and foreign keys have their place.

use arrow_array::RecordBatch;
use files::{
    Header, JsonFormat, JsonKnown, KeptPlace, Known, Quoting, RefusedRow, Rows, TextColumn,
    TextFormat, read_json, read_text, sniff, sniff_json,
};
use stdx::sync::Arc;
use storage::{BuildContext, ColumnSchema, Table, TableDesign};
use types::{DataType, SqlError, SqlResult, SqlState, Zone, names};

use super::filled::Filled;
use crate::answer::done;
use crate::change::{Replaced, parsed};
use crate::constraints::quoted;
use crate::durability::Operation;
use crate::generated_ddl::{is_generated, not_copied};
use crate::notice::Notice;
use crate::parallel::LoadProgress;
use crate::reading::{
    AskedOfRows, CopyHeader, CopyJson, CopyText, Direction, FileKind, Verbosity, is_tbl, text_table,
};
use crate::{Answer, CancelToken, Session};
use binder::sequence_names::qualified;

/// How the rows are called that an INSERT takes: no file is, because it has a line break.
const COPIED: &str = "copied\nrows";

/// What a file is read as.
enum ReadFormat {
    Parquet,
    Arrow,
    Json(CopyJson),
    Text(Box<CopyText>),
}

impl ReadFormat {
    /// What the options say, else the name of the file, else its first bytes; else it is PostgreSQL's text format.
    fn of(path: &str, options: &[(String, String)], table: &Table) -> SqlResult<Self> {
        let said = options.iter().find(|it| it.0 == "format").map(|it| it.1.to_lowercase());
        let text =
            |is_csv| Ok(Self::Text(Box::new(CopyText::of(options, is_csv, Direction::From)?)));
        match said.as_deref() {
            Some("csv") => text(true),
            Some("text") => text(false),
            Some("parquet") => without(options, "Parquet", Self::Parquet),
            Some("arrow" | "arrows" | "feather") => without(options, "Arrow", Self::Arrow),
            Some("json") => CopyJson::of(options, Direction::From).map(Self::Json),
            Some("binary") => Err(SqlError::unsupported("COPY FROM of format binary")),
            Some(other) => {
                let message = format!("COPY format \"{other}\" not recognized");
                Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
            }
            None => match FileKind::of(&files::expand(path)?[0]) {
                Some(FileKind::Parquet) => without(options, "Parquet", Self::Parquet),
                Some(FileKind::Arrow) => without(options, "Arrow", Self::Arrow),
                Some(FileKind::Json) => CopyJson::of(options, Direction::From).map(Self::Json),
                // PostgreSQL writes its text format into such files.
                Some(FileKind::Csv) if path.to_lowercase().ends_with(".txt") => text(false),
                Some(FileKind::Csv) => {
                    let mut text = CopyText::of(options, true, Direction::From)?;
                    adapt(&mut text, path, options, table)?;
                    Ok(Self::Text(Box::new(text)))
                }
                None => text(false),
            },
        }
    }
}

/// A format that has no options.
fn without(options: &[(String, String)], name: &str, format: ReadFormat) -> SqlResult<ReadFormat> {
    match options.iter().find(|it| it.0 != "format") {
        None => Ok(format),
        Some((option, value)) => {
            let message = format!("COPY has no option {option} {value} for this format");
            Err(SqlError::unsupported(message).with_hint(format!("{name} has none")))
        }
    }
}

/// What a file looks like whose name alone says that it is CSV: its delimiter and quote, unless the usual ones give the columns
/// that are wanted, and whether its first line has their names.
fn adapt(
    text: &mut CopyText,
    path: &str,
    options: &[(String, String)],
    table: &Table,
) -> SqlResult<()> {
    let path = &files::expand(path)?[0];
    let says = |wanted: &str| options.iter().any(|it| it.0 == wanted);
    text.strict = false;
    if is_tbl(path) && !says("delimiter") && !says("quote") {
        text.dialect = files::Dialect { delimiter: b'|', quoting: Quoting::None };
        text.trailing = true;
        return Ok(());
    }
    if says("delimiter") || says("quote") || says("escape") {
        return Ok(());
    }
    let mut known = Known {
        delimiter: Some(b','),
        quote: Some(Some(b'"')),
        header: Some(true),
        compression: text.compression,
        encoding: text.encoding,
        rows: Some(64),
        ..Known::default()
    };
    let mut found = sniff(path, &known)?;
    let shown = || table.columns.iter().filter(|it| !names::is_hidden(&it.name));
    if found.columns.len() != shown().count() {
        (known.delimiter, known.quote) = (None, None);
        let other = sniff(path, &known)?;
        if other.columns.len() == shown().count() {
            found = other;
        }
    }
    text.dialect = found.dialect;
    let header = found.header.unwrap_or_default();
    let is_name = |(it, column): (&String, &Arc<storage::Column>)| {
        it.trim().eq_ignore_ascii_case(&column.name)
    };
    let is_header = header.len() == shown().count() && header.iter().zip(shown()).all(is_name);
    if is_header && !says("header") {
        text.header = CopyHeader::Skipped;
    }
    Ok(())
}

impl Session {
    pub(crate) fn copy_from(
        &mut self,
        table: &str,
        (columns, condition): (&[String], Option<&str>),
        (path, options): (&str, &[(String, String)]),
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.check_files(false)?;
        self.begin_writing()?;
        self.wait_for_place()?;
        let old = self.existing(table)?;
        let filled = Filled { places: &targets(&old, columns)?, condition };
        filled.check(&old)?;
        match ReadFormat::of(path, options, &old)? {
            ReadFormat::Parquet => self.copy_parquet(&old, filled, path, cancel),
            ReadFormat::Arrow => self.copy_by_name("read_arrow", &old, filled, path, cancel),
            ReadFormat::Json(json) => self.copy_json(&old, filled, path, &json, cancel),
            ReadFormat::Text(text) => self.copy_text(&old, filled, path, &text, cancel),
        }
    }

    /// Columns of Parquet are found by name.
    fn copy_parquet(
        &mut self,
        old: &Arc<Table>,
        filled: Filled<'_>,
        path: &str,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        if !filled.is_plain(old) {
            return self.copy_by_name("read_parquet", old, filled, path, cancel);
        }
        // They go into its columns piece by piece.
        self.write_alone(cancel)?;
        let old = &self.existing(&old.name)?;
        let paths = files::expand(path)?;
        let load = |context: &BuildContext<'_>| storage::append_parquet(old, &paths, context);
        let new = self.loaded(path, &TableDesign::default(), cancel, load)?;
        let rows = new.rows() - old.rows();
        let new = self.catalog().replace(old, new)?;
        self.note_table(&new, None, || Operation::change(&new.name, &[], &[]))?;
        self.activity.changed(rows);
        Ok(done(format!("COPY {rows}")))
    }

    /// Columns of what a function reads are found by name.
    fn copy_by_name(
        &mut self,
        function: &str,
        old: &Arc<Table>,
        filled: Filled<'_>,
        path: &str,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let read = filled.places.iter().map(|it| read_as(&old.columns[*it])).collect();
        let call = format!("{function}('{}')", path.replace('\'', "''"));
        let statement = self.insert_of(old, filled, read, &call)?;
        let answer = self.change(&parsed(&statement)?, cancel)?;
        Ok(Answer { tag: answer.tag.replace("INSERT 0", "COPY"), ..answer })
    }

    fn copy_text(
        &mut self,
        old: &Arc<Table>,
        filled: Filled<'_>,
        path: &str,
        text: &CopyText,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let paths = files::expand(path)?;
        let columns = columns_of(old, filled, text)?;
        let format = format_of(old, filled.places, text, self.zone());
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, path);
        let stop = || execution::is_ended(cancel);
        let plain = TableDesign::default();
        let context = self.build_context(&team, &progress, &stop, &plain);
        let read = read_text(&paths, &columns, &format, &context);
        let rows = self.cancelled_or(cancel, read)?;
        drop((team, progress));
        self.add_rows(old, filled, (&columns, text.asked()), rows, cancel)
    }

    /// Columns of JSON are found by name; what an object has not is NULL, and what the table has not does not count.
    fn copy_json(
        &mut self,
        old: &Arc<Table>,
        filled: Filled<'_>,
        path: &str,
        json: &CopyJson,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let paths = files::expand(path)?;
        let column = |place: &usize| {
            let column = &old.columns[*place];
            let required = filled.requires(column);
            TextColumn { required, ..TextColumn::new(column.name.clone(), column.data_type) }
        };
        let columns: Vec<TextColumn> = filled.places.iter().map(column).collect();
        let names = columns.iter().map(|it| (it.name.clone(), it.data_type)).collect();
        let known = JsonKnown {
            layout: json.layout,
            columns: Some(names),
            is_records: Some(true),
            rows: Some(1),
            is_lenient: true,
            compression: json.compression,
            ..JsonKnown::default()
        };
        let format = JsonFormat {
            layouts: sniff_json(&paths, &known)?.layouts,
            is_records: true,
            is_closed: false,
            compression: json.compression,
            on_error: json.on_error,
            is_lenient: false,
            zone: self.zone(),
        };
        let team = self.load_team(cancel);
        let progress = LoadProgress::new(&*self.progress, path);
        let stop = || execution::is_ended(cancel);
        let plain = TableDesign::default();
        let context = self.build_context(&team, &progress, &stop, &plain);
        let read = read_json(&paths, &columns, &format, &context);
        let rows = self.cancelled_or(cancel, read)?;
        drop((team, progress));
        let asked = AskedOfRows { has_defaults: false, verbosity: json.verbosity };
        self.add_rows(old, filled, (&columns, asked), rows, cancel)
    }

    /// Adds rows that were read.
    pub(super) fn add_rows(
        &mut self,
        old: &Arc<Table>,
        filled: Filled<'_>,
        (columns, asked): (&[TextColumn], AskedOfRows),
        Rows { batches, skipped, skipped_rows, noted, refused, .. }: Rows,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        for told in notices(skipped, &skipped_rows, asked.verbosity) {
            self.notice(Notice::told("00000", told));
        }
        let has_defaults = asked.has_defaults;
        if let Some(RefusedRow { batch, place }) = refused {
            let of = (columns, has_defaults);
            let error = self.insert_copied(old, filled, of, vec![batch], cancel).err();
            let missing = || SqlError::internal("a row without a value that it must have");
            return Err(place.tell(error.unwrap_or_else(missing)));
        }
        if filled.is_plain(old) && !has_defaults {
            let batches = ordered(batches, filled.places)?;
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            let mut table = old.clone();
            while rows > 0
                && !self.replace_rows(&table, &[], &batches, Replaced::At(&[]), cancel)?
            {
                self.refresh()?;
                table = self.existing(&old.name)?;
            }
            self.activity.changed(rows as u64);
            return Ok(done(format!("COPY {rows}")));
        }
        let of = (columns, has_defaults);
        let kept = if noted.is_empty() { Vec::new() } else { batches.clone() };
        let added = self.insert_copied(old, filled, of, batches, cancel);
        let answer = match added {
            Err(error) if error.state == SqlState::NOT_NULL_VIOLATION => {
                let rows = noted.iter().filter_map(|it| row_at(&kept, it.0)).collect::<Vec<_>>();
                let told = self.first_refused(old, filled, of, (&rows, noted), cancel);
                return Err(told.unwrap_or(error));
            }
            added => added?,
        };
        Ok(Answer { tag: answer.tag.replace("INSERT 0", "COPY"), ..answer })
    }

    /// What the first of some rows is refused with that has no value where there must be one, with its place. The condition leaves the
    /// others out, so that nothing of them is added.
    fn first_refused(
        &mut self,
        old: &Arc<Table>,
        filled: Filled<'_>,
        of: (&[TextColumn], bool),
        (rows, noted): (&[RecordBatch], Vec<(usize, KeptPlace)>),
        cancel: &CancelToken,
    ) -> Option<SqlError> {
        let (mut first, mut end) = (0, rows.len());
        while end - first > 1 {
            let middle = first.midpoint(end);
            let half = rows[first..middle].to_vec();
            match self.insert_copied(old, filled, of, half, cancel) {
                Err(_) => end = middle,
                Ok(_) => first = middle,
            }
        }
        let (_, place) = noted.into_iter().nth(first)?;
        let row = rows.get(first..end)?.to_vec();
        let error = self.insert_copied(old, filled, of, row, cancel).err()?;
        (error.state == SqlState::NOT_NULL_VIOLATION).then(|| place.tell(error))
    }

    /// Adds rows that were read by an INSERT, which looks at all that is asked of them.
    fn insert_copied(
        &mut self,
        old: &Arc<Table>,
        filled: Filled<'_>,
        (columns, has_defaults): (&[TextColumn], bool),
        batches: Vec<RecordBatch>,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let mut schema: Vec<ColumnSchema> = (columns.iter())
            .map(|it| ColumnSchema::new(it.name.clone(), it.data_type, true))
            .collect();
        let defaults = has_defaults.then(|| columns.iter()).into_iter().flatten();
        schema.extend(
            defaults.map(|it| {
                ColumnSchema::new(files::default_mark(&it.name), DataType::Boolean, true)
            }),
        );
        let rows = {
            let team = self.load_team(cancel);
            let progress = LoadProgress::new(&*self.progress, &old.name);
            let stop = || execution::is_ended(cancel);
            let plain = TableDesign::default();
            text_table(
                COPIED,
                schema,
                batches,
                &self.build_context(&team, &progress, &stop, &plain),
            )?
        };
        let values = values_of(old, filled.places, has_defaults);
        let statement = parsed(&self.insert_of(old, filled, values, COPIED)?)?;
        let beside = Some((COPIED.to_owned(), rows));
        self.change_with(&statement, beside, cancel).map(|it| it.0)
    }
}

/// A row of some batches.
fn row_at(batches: &[RecordBatch], mut row: usize) -> Option<RecordBatch> {
    for batch in batches {
        match row.checked_sub(batch.num_rows()) {
            None => return Some(batch.slice(row, 1)),
            Some(left) => row = left,
        }
    }
    None
}

/// What PostgreSQL tells of rows that were left out.
fn notices(skipped: u64, rows: &[SqlError], verbosity: Verbosity) -> Vec<String> {
    if skipped == 0 || verbosity == Verbosity::Silent {
        return Vec::new();
    }
    let mut notices = Vec::new();
    if verbosity == Verbosity::Verbose {
        let told = |it: &SqlError| {
            format!("skipping row due to data type incompatibility: {}", it.message)
        };
        notices.extend(rows.iter().map(told));
    }
    let were = if skipped == 1 { "row was" } else { "rows were" };
    notices.push(format!("{skipped} {were} skipped due to data type incompatibility"));
    notices
}

/// The places of the columns that are filled, in the order of the file.
pub(super) fn targets(table: &Table, columns: &[String]) -> SqlResult<Vec<usize>> {
    if columns.is_empty() {
        return Ok((0..table.columns.len()).filter(|it| !is_generated(table, *it)).collect());
    }
    let mut targets = Vec::with_capacity(columns.len());
    for name in columns {
        let place = find(table, name)?;
        if is_generated(table, place) {
            return Err(not_copied(name));
        }
        if targets.contains(&place) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        targets.push(place);
    }
    Ok(targets)
}

fn find(table: &Table, name: &str) -> SqlResult<usize> {
    table.columns.iter().position(|it| it.name == name).ok_or_else(|| {
        let message = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
        SqlError::new(SqlState::UNDEFINED_COLUMN, message)
    })
}

/// A column as it is taken from a file whose columns have types: no file has numbers of any scale, times of a day in a zone,
/// addresses, ranges or bits, which are texts there.
fn read_as(column: &storage::Column) -> String {
    let name = quoted(&column.name);
    match column.data_type {
        DataType::Numeric => format!("CAST({name} AS NUMERIC)"),
        DataType::TimeTz => format!("CAST({name} AS TIMETZ)"),
        it @ (DataType::Network(_) | DataType::Range(_) | DataType::Multirange(_)) => {
            format!("CAST({name} AS {it})")
        }
        DataType::Bits(_) => format!("CAST({name} AS BIT VARYING)"),
        _ => name,
    }
}

/// What goes into each column of a table.
fn values_of(table: &Table, places: &[usize], has_defaults: bool) -> Vec<String> {
    let defaults = &table.rules().rows.defaults;
    let value = |place: &usize| {
        let name = quoted(&table.columns[*place].name);
        match defaults.get(*place).and_then(Option::as_ref) {
            Some(default) if has_defaults => {
                // What cannot be read is told when the statement is.
                let default = qualified(default).unwrap_or_else(|_| default.to_string());
                let mark = quoted(&files::default_mark(&table.columns[*place].name));
                format!("CASE WHEN {mark} THEN {default} ELSE {name} END")
            }
            _ => name,
        }
    };
    places.iter().map(value).collect()
}

pub(super) fn columns_of(
    table: &Table,
    filled: Filled<'_>,
    text: &CopyText,
) -> SqlResult<Vec<TextColumn>> {
    let forced = |list: &[String], option: &str| {
        for name in list.iter().filter(|it| *it != "*") {
            let place = find(table, name)?;
            if !filled.places.contains(&place) {
                let message = format!("{option} column \"{name}\" not referenced by COPY");
                return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
            }
        }
        Ok(())
    };
    forced(&text.force_null, "FORCE_NULL")?;
    forced(&text.force_not_null, "FORCE_NOT_NULL")?;
    let column = |place: &usize| {
        let column = &table.columns[*place];
        let is_in = |list: &[String]| list.iter().any(|it| it == "*" || *it == column.name);
        let default = table.rules().rows.defaults.get(*place);
        TextColumn {
            required: filled.requires(column),
            noted: !column.nullable && filled.condition.is_some(),
            force_null: is_in(&text.force_null),
            force_not_null: is_in(&text.force_not_null),
            has_default: default.is_some_and(Option::is_some),
            ..TextColumn::new(column.name.clone(), column.data_type)
        }
    };
    Ok(filled.places.iter().map(column).collect())
}

pub(super) fn format_of(
    table: &Table,
    targets: &[usize],
    text: &CopyText,
    zone: Zone,
) -> TextFormat {
    let names = targets.iter().map(|it| table.columns[*it].name.clone());
    TextFormat {
        dialect: text.dialect,
        nulls: vec![text.null.clone()],
        default: text.default.clone(),
        header: match text.header {
            CopyHeader::Absent => Header::Absent,
            CopyHeader::Skipped => Header::Skipped,
            CopyHeader::Matched => Header::Matched(names.collect()),
        },
        skip: 0,
        compression: text.compression,
        encoding: text.encoding,
        on_error: text.on_error,
        strict: text.strict,
        trailing: text.trailing,
        padded: false,
        zone,
    }
}

/// Rows with their columns in the order of the table.
fn ordered(batches: Vec<RecordBatch>, targets: &[usize]) -> SqlResult<Vec<RecordBatch>> {
    if targets.is_sorted() {
        return Ok(batches);
    }
    let mut order: Vec<usize> = (0..targets.len()).collect();
    order.sort_unstable_by_key(|it| targets[*it]);
    let malformed = |error| SqlError::internal(format!("rows of a file are malformed: {error}"));
    batches.iter().map(|it| it.project(&order).map_err(malformed)).collect()
}
