//! Columns of a block that grow row by row.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field as ArrowField, Schema};
use stdx::sync::Arc;
use types::{SqlError, SqlResult, Zone};

use crate::column::Column;
use crate::fault::Fault;
use crate::text_column::{Columns, TextColumn, default_mark};

/// Columns that grow.
pub(crate) struct Growing {
    pub(crate) columns: Vec<Option<Column>>,
    /// By wanted column: where the default is meant.
    defaults: Vec<Vec<bool>>,
    pub(crate) rows: usize,
    /// Whether the row that was begun has NULL where that is noted.
    has_noted: bool,
}

impl Growing {
    /// Columns without rows.
    pub(crate) fn new(columns: &Columns, has_defaults: bool, zone: &Zone) -> SqlResult<Self> {
        let column =
            |it: &TextColumn| it.wanted.then(|| Column::new(it.data_type, zone)).transpose();
        let columns = columns.iter().map(column).collect::<SqlResult<Vec<_>>>()?;
        let count = if has_defaults { columns.len() } else { 0 };
        Ok(Self { columns, defaults: vec![Vec::new(); count], rows: 0, has_noted: false })
    }

    pub(crate) fn push(
        &mut self,
        place: usize,
        text: &str,
        column: &TextColumn,
    ) -> Result<(), Fault> {
        if let Some(values) = &mut self.columns[place] {
            values.push(text).map_err(|error| Fault::value(error, &column.name, text))?;
            self.mark(place, false);
        }
        Ok(())
    }

    pub(crate) fn push_null(&mut self, place: usize, column: &TextColumn) -> Result<(), Fault> {
        if column.required && column.wanted {
            return Err(Fault::null(SqlError::null_in(&column.name, None), &column.name));
        }
        self.has_noted |= column.noted;
        if let Some(values) = &mut self.columns[place] {
            values.push_null();
            self.mark(place, false);
        }
        Ok(())
    }

    /// Ends the row that was begun; whether it has NULL where that is noted.
    pub(crate) fn end_row(&mut self) -> bool {
        self.rows += 1;
        std::mem::take(&mut self.has_noted)
    }

    pub(crate) fn push_default(&mut self, place: usize, column: &TextColumn) -> Result<(), Fault> {
        if !column.has_default {
            let message = format!(
                "unexpected default marker: column \"{}\" has no default value",
                column.name
            );
            return Err(Fault::malformed(message));
        }
        if let Some(values) = &mut self.columns[place] {
            values.push_null();
            self.mark(place, true);
        }
        Ok(())
    }

    fn mark(&mut self, place: usize, is_default: bool) {
        if let Some(marks) = self.defaults.get_mut(place) {
            marks.push(is_default);
        }
    }

    /// Takes the row away that was begun.
    pub(crate) fn truncate(&mut self) {
        let rows = self.rows;
        self.has_noted = false;
        self.columns
            .iter_mut()
            .flatten()
            .filter(|it| it.rows() > rows)
            .for_each(|it| it.truncate(rows));
        self.defaults.iter_mut().for_each(|it| it.truncate(rows));
    }

    pub(crate) fn finish(self, columns: &Columns) -> SqlResult<RecordBatch> {
        let mut arrays: Vec<(String, ArrayRef)> = Vec::new();
        for (values, column) in self.columns.into_iter().zip(columns) {
            if let Some(values) = values {
                arrays.push((column.name.clone(), values.finish()?));
            }
        }
        for (marks, column) in self.defaults.into_iter().zip(columns).filter(|it| it.1.wanted) {
            let array: ArrayRef = Arc::new(arrow_array::BooleanArray::from(marks));
            arrays.push((default_mark(&column.name), array));
        }
        let field = |(name, array): &(String, ArrayRef)| {
            ArrowField::new(name, array.data_type().clone(), true)
        };
        let schema = Schema::new(arrays.iter().map(field).collect::<Vec<_>>());
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(self.rows));
        let arrays = arrays.into_iter().map(|it| it.1).collect();
        RecordBatch::try_new_with_options(Arc::new(schema), arrays, &options)
            .map_err(|error| SqlError::internal(format!("rows of a file are malformed: {error}")))
    }
}
