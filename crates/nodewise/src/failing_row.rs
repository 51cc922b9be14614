//! What is told of a row that breaks a rule of its table: its values, as far as the user may read them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use plan::OutputColumn;
use storage::Table;
use types::{Privileges, SqlResult, names};

use crate::Session;
use crate::change::shown_batches;
use crate::changed_rows::malformed;
use crate::result::{held_schema_of, schema_of, types_of};
use crate::styled::in_style;
use crate::text::Cells;

/// Bytes of a value that are told; behind them come dots.
const VALUE_BYTES_MAX: usize = 64;

impl Session {
    /// `Failing row contains (1, null).` of a row among those that come into a table, of which these are the columns. Who may read
    /// only some columns is told their names and values; who may read none, nothing.
    pub(crate) fn failing_row(
        &self,
        table: &Table,
        (columns, of): (&[ArrayRef], &[OutputColumn]),
        row: usize,
    ) -> SqlResult<Option<String>> {
        let held: Vec<ArrayRef> = columns.iter().map(|it| it.slice(row, 1)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let held = RecordBatch::try_new_with_options(held_schema_of(of), held, &options);
        let held = held.map_err(|it| malformed(&it))?;
        let (schema, types) = (self.zoned(&schema_of(of)), types_of(of));
        let shown = shown_batches(&[held], &schema, &types)?;
        let shown = match (shown.first(), self.styled_zone()) {
            (Some(batch), Some(zone)) => in_style(batch, &types, &zone, |_| true)?,
            (Some(batch), None) => batch.clone(),
            (None, _) => return Ok(None),
        };
        let authority = self.authority();
        let may_read = |it: &usize| {
            let column = table.columns[*it].name.to_string();
            authority.may_columns(&table.name, Privileges::SELECT, &[column])
        };
        // What indexes are of is no part of the row that was written.
        let is_shown = |it: &usize| !names::is_hidden(&table.columns[*it].name);
        let all: Vec<usize> = (0..table.columns.len()).filter(is_shown).collect();
        let told: Vec<usize> = all.iter().copied().filter(may_read).collect();
        if told.is_empty() {
            return Ok(None);
        }
        let values: Vec<String> = told.iter().map(|&it| value_of(shown.column(it))).collect();
        let values = values.join(", ");
        let of = match told.len() == all.len() {
            true => String::new(),
            false => {
                let own: Vec<&str> = told.iter().map(|&it| &*table.columns[it].name).collect();
                format!("({}) = ", own.join(", "))
            }
        };
        Ok(Some(format!("Failing row contains {of}({values}).")))
    }
}

/// The only value of a column as a text, the beginning of a long one.
fn value_of(column: &ArrayRef) -> String {
    let mut text = String::new();
    if !Cells::new(column).write(0, &mut text) {
        return "null".to_owned();
    }
    if let Some(truth) = column.as_boolean_opt() {
        return if truth.value(0) { "t" } else { "f" }.to_owned();
    }
    if text.len() > VALUE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(VALUE_BYTES_MAX));
        text.push_str("...");
    }
    text
}
