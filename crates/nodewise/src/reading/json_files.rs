//! Files of JSON in the place of a table.

use std::path::PathBuf;

use files::{JsonFormat, JsonFound, OnError, Rows, TextColumn, read_json, sniff_json};
use storage::{BuildContext, ColumnSchema, Table};
use types::{SqlError, SqlResult, SqlState, UnreadColumn};

use super::extra::{ExtraColumn, divided, extra_columns, with_extra};
use super::json_options::JsonOptions;
use super::tables::{text_table, unread};

/// Files of JSON that are one table.
pub(crate) struct JsonFiles {
    paths: Vec<PathBuf>,
    options: JsonOptions,
    found: JsonFound,
    extra: Vec<ExtraColumn>,
}

impl JsonFiles {
    /// Looks at files.
    pub(crate) fn open(paths: Vec<PathBuf>, options: JsonOptions) -> SqlResult<Self> {
        let found = sniff_json(&paths, &options.known)?;
        let own: Vec<String> = found.columns.iter().map(|it| it.0.clone()).collect();
        let extra = extra_columns(&paths, &own, options.filename.as_deref(), options.hive);
        Ok(Self { paths, options, found, extra })
    }

    /// All columns.
    pub(crate) fn schema(&self) -> Vec<ColumnSchema> {
        let column = |(name, of): &(String, _)| ColumnSchema::new(name.clone(), *of, true);
        let extra = self.extra.iter().map(ExtraColumn::schema);
        self.found.columns.iter().map(column).chain(extra).collect()
    }

    /// A table of those columns that are wanted; and the others, which cannot be used.
    pub(crate) fn load(
        &self,
        name: &str,
        wanted: &dyn Fn(&str) -> bool,
        context: &BuildContext<'_>,
    ) -> SqlResult<(Table, Vec<UnreadColumn>)> {
        let (mut schema, mut unread_columns, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for (name, data_type) in &self.found.columns {
            let wanted = wanted(name);
            columns.push(TextColumn { wanted, ..TextColumn::new(name.clone(), *data_type) });
            match wanted {
                true => schema.push(ColumnSchema::new(name.clone(), *data_type, true)),
                false => unread_columns.push(unread(name)),
            }
        }
        let (extra, not_read) = divided(&self.extra, wanted);
        unread_columns.extend(not_read);
        schema.extend(extra.iter().map(|it| it.schema()));
        let known = &self.options.known;
        let format = JsonFormat {
            layouts: self.found.layouts.clone(),
            is_records: self.found.is_records,
            is_closed: known.columns.is_none(),
            compression: known.compression,
            on_error: OnError::Stop,
            is_lenient: known.is_lenient,
            zone: self.options.zone.clone(),
        };
        let rows = read_json(&self.paths, &columns, &format, context);
        let Rows { batches, files, .. } = rows.map_err(|it| self.advised(it))?;
        let batches = batches.into_iter().zip(files);
        let batches = batches.map(|(batch, file)| with_extra(batch, file, &extra));
        let batches = batches.collect::<SqlResult<_>>()?;
        Ok((text_table(name, schema, batches, context)?, unread_columns))
    }

    /// What can be done about a value that does not fit what was found.
    fn advised(&self, error: SqlError) -> SqlError {
        let is_key = error.message.starts_with("unknown key");
        let is_malformed = error.state == SqlState::BAD_FILE_FORMAT && !is_key;
        if self.options.known.columns.is_some()
            || is_malformed
            || !error.state.is_data_exception() && !is_key
        {
            return error;
        }
        error.with_hint(
            "columns and types were found in the first values: read_json('..', sample_size = -1) looks at all, columns = {..} \
             says them, union_by_name = true looks into all files, ignore_errors = true makes what does not fit NULL",
        )
    }
}
