//! Parquet files that are one table, whose row groups are read as they stand.

use std::path::PathBuf;

use arrow_array::{ArrayRef, UInt32Array};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};
use types::{ColumnId, SqlError, SqlResult, UnreadColumn};

use crate::parquet::ParquetRows;
use crate::parquet_groups::groups_within;
use crate::{
    Check, ColumnBounds, ColumnReader, ColumnSchema, Give, HeldColumn, RowBlock, RowReader,
    RowStream,
};

/// A column that has one value in each file, as an array of one row.
#[derive(Clone, Debug)]
pub struct FileColumn {
    /// Its name and type.
    pub schema: ColumnSchema,
    /// By file.
    pub values: Vec<ArrayRef>,
}

/// Parquet files that are one table: with the columns of the first, and behind these those that have one value in each file.
#[derive(Debug)]
pub struct ParquetFiles {
    files: Vec<Arc<ParquetRows>>,
    schema: Vec<ColumnSchema>,
    /// For each of the columns that files hold: which of its own, by file.
    places: Vec<Vec<Option<usize>>>,
    constants: Vec<FileColumn>,
}

impl ParquetFiles {
    /// Opens files. Columns that cannot be stored come back beside the others, each with the reason.
    ///
    /// # Errors
    /// 58P01, 58030, 22P04 and XX001 for files that cannot be read.
    pub fn open(
        paths: &[PathBuf],
        constants: Vec<FileColumn>,
    ) -> SqlResult<(Self, Vec<UnreadColumn>)> {
        let open = |it: &PathBuf| ParquetRows::open(it).map(Arc::new);
        let files = paths.iter().map(open).collect::<SqlResult<Vec<_>>>()?;
        let first = files.first().ok_or_else(|| SqlError::internal("a table of no files"))?;
        let (mut schema, mut places, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        for (column, field) in first.plain.schema().fields().iter().enumerate() {
            let name = field.name();
            let mut of_table = match first.column_schema(column) {
                Ok(it) => it,
                Err(error) => {
                    unread.push(UnreadColumn { name: name.clone(), error });
                    continue;
                }
            };
            let mut of_files = vec![Some(column)];
            for file in &files[1..] {
                let place = file.place_of(name);
                // What is NULL in one file may be so in the table.
                let is_nullable = |it: usize| file.plain.schema().field(it).is_nullable();
                of_table.nullable |= place.is_some_and(is_nullable);
                of_files.push(place);
            }
            schema.push(of_table);
            places.push(of_files);
        }
        schema.extend(constants.iter().map(|it| it.schema.clone()));
        Ok((Self { files, schema, places, constants }, unread))
    }

    /// All columns.
    pub fn schema(&self) -> &[ColumnSchema] {
        &self.schema
    }

    /// The row groups that have rows within bounds, with some columns.
    fn reading(&self, columns: &[ColumnId], wanted: &[ColumnBounds]) -> SqlResult<Reading> {
        let schema = columns.iter().map(|it| self.schema[it.index()].clone()).collect();
        let mut groups = Vec::new();
        let mut of_files = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            let place = |it: &ColumnId| match it.index().checked_sub(self.places.len()) {
                Some(constant) => {
                    Ok(Place::Constant(self.constants[constant].values[number].clone()))
                }
                None => match self.places[it.index()][number] {
                    Some(place) => Ok(Place::OfFile(place)),
                    None => Err(file.has_no_column(&self.schema[it.index()].name)),
                },
            };
            of_files.push(columns.iter().map(place).collect::<SqlResult<Vec<_>>>()?);
            let mut kept = vec![true; file.metadata().num_row_groups()];
            for bounds in wanted {
                let column = bounds.column.index();
                let place = self.places.get(column).and_then(|it| it[number]);
                let found = place
                    .and_then(|it| groups_within(bounds, &self.schema[column], it, &file.plain));
                if let Some(found) = found {
                    kept.iter_mut().zip(found).for_each(|(kept, it)| *kept &= it);
                }
            }
            groups.extend((0..kept.len()).filter(|it| kept[*it]).map(|it| (number, it)));
        }
        let (files, done) = (self.files.clone(), AtomicU64::new(0));
        Ok(Reading { files, schema, of_files, groups, done })
    }
}

impl RowStream for ParquetFiles {
    fn expected_rows(&self) -> u64 {
        let rows = |it: &Arc<ParquetRows>| it.metadata().file_metadata().num_rows().max(0) as u64;
        self.files.iter().map(rows).sum()
    }

    fn begin(
        &self,
        columns: &[ColumnId],
        wanted: &[ColumnBounds],
    ) -> SqlResult<Box<dyn RowReader>> {
        Ok(Box::new(self.reading(columns, wanted)?))
    }
}

/// Row groups that are read.
struct Reading {
    files: Vec<Arc<ParquetRows>>,
    schema: Vec<ColumnSchema>,
    /// Where each column is, by file.
    of_files: Vec<Vec<Place>>,
    /// File and row group.
    groups: Vec<(usize, usize)>,
    /// Row groups that were given.
    done: AtomicU64,
}

/// Where a column of a table is for a file.
enum Place {
    /// A column of the file.
    OfFile(usize),
    /// One value for all rows.
    Constant(ArrayRef),
}

impl ColumnReader for Reading {
    fn blocks(&self) -> usize {
        self.groups.len()
    }

    fn rows(&self, block: usize) -> usize {
        let (file, group) = self.groups[block];
        self.files[file].group_rows(group)
    }

    fn column(&self, block: usize, place: usize, check: Check<'_>) -> SqlResult<Vec<HeldColumn>> {
        let (file, group) = self.groups[block];
        let schema = &self.schema[place];
        let pieces = match &self.of_files[file][place] {
            Place::OfFile(column) => self.files[file].read_group(group, *column, schema, check)?,
            Place::Constant(value) => {
                let rows = UInt32Array::from(vec![0; self.rows(block)]);
                let array = arrow_select::take::take(value, &rows, None);
                let array = array
                    .map_err(|it| SqlError::internal(format!("a value is malformed: {it}")))?;
                return Ok(vec![HeldColumn::of(&array, schema)?]);
            }
        };
        Ok(pieces.into_iter().map(HeldColumn::from).collect())
    }
}

impl RowReader for Reading {
    fn steps(&self) -> u64 {
        self.groups.len() as u64
    }

    fn step(&self, step: u64, _: Check<'_>, give: Give<'_>) -> SqlResult<()> {
        let group = Group { reading: self, block: step as usize };
        if group.rows() > 0 {
            give(step, Ok(&group))?;
        }
        self.done.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn progress(&self) -> Option<(u64, u64)> {
        Some((self.done.load(Ordering::Relaxed), self.groups.len() as u64))
    }

    fn by_column(&self) -> Option<&dyn ColumnReader> {
        Some(self)
    }
}

/// A row group, whose columns are decoded when they are asked for.
struct Group<'a> {
    reading: &'a Reading,
    block: usize,
}

impl RowBlock for Group<'_> {
    fn rows(&self) -> usize {
        self.reading.rows(self.block)
    }

    fn column(&self, place: usize, check: Check<'_>) -> SqlResult<Vec<HeldColumn>> {
        self.reading.column(self.block, place, check)
    }
}
