//! What a statement gives: its columns, and its rows as they are asked for.

use std::collections::VecDeque;

use arrow_array::RecordBatch;
use nodewise::box_table::BoxTable;
use nodewise::text::Cells;
use nodewise::{Answer, Cursor, Described};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use stdx::sync::{Arc, Mutex};

use crate::running::run;
use crate::shared::Shared;
use crate::source::Source;
use crate::stream;
use crate::values::Converter;

/// Rows as texts; `None` for NULL.
type Texts = Vec<Vec<Option<String>>>;

/// What a statement gives.
#[pyclass(frozen, module = "nodewise._native")]
pub struct Rows {
    shared: Arc<Shared>,
    described: Described,
    tag: Option<String>,
    source: Arc<Mutex<Source>>,
}

impl Rows {
    pub fn of_cursor(shared: &Arc<Shared>, cursor: Cursor) -> Self {
        let described = cursor.described();
        let source = Source::new(Some(cursor), VecDeque::new());
        Self::new(shared, described, None, source)
    }

    pub fn of_answer(shared: &Arc<Shared>, answer: Answer) -> Self {
        let described = answer.described();
        let made = answer.batches.into_iter().filter(|it| it.num_rows() > 0).collect();
        Self::new(shared, described, Some(answer.tag), Source::new(None, made))
    }

    fn new(
        shared: &Arc<Shared>,
        described: Described,
        tag: Option<String>,
        source: Source,
    ) -> Self {
        let source = Arc::new(Mutex::new(source));
        shared.note(&source);
        Self { shared: shared.clone(), described, tag, source }
    }
}

#[pymethods]
impl Rows {
    /// What was done, in PostgreSQL's words; None of a query whose rows are made as they are read.
    #[getter]
    fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Names and SQL types of the columns.
    #[getter]
    fn columns(&self) -> Vec<(String, String)> {
        let fields = self.described.schema.fields().iter();
        let types = self.described.types.iter().map(ToString::to_string);
        fields.map(|it| it.name().clone()).zip(types).collect()
    }

    /// The next rows as tuples: at most so many, or all.
    #[pyo3(signature = (count=None))]
    fn fetch<'py>(&self, py: Python<'py>, count: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let count = count.unwrap_or(usize::MAX);
        let batches = run(py, &self.shared, |session| {
            let mut source = self.source.lock();
            source.make_rows(session, count)?;
            Ok(source.take(count))
        })?;
        let rows = PyList::empty(py);
        for batch in &batches {
            let mut columns = Vec::with_capacity(batch.num_columns());
            for (array, of) in batch.columns().iter().zip(&self.described.types) {
                columns.push(Converter::new(py, array, *of)?.objects(py)?.into_iter());
            }
            for _ in 0..batch.num_rows() {
                let row: Vec<_> = columns.iter_mut().filter_map(Iterator::next).collect();
                rows.append(PyTuple::new(py, row)?)?;
            }
        }
        Ok(rows)
    }

    /// The next rows as texts, without taking them away: at most so many; and whether there are more.
    fn peek(&self, py: Python<'_>, count: usize) -> PyResult<(Texts, bool)> {
        let batches = self.seen(py, count)?;
        let mut rows = Vec::new();
        for batch in &batches {
            let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
            rows.extend(
                (0..batch.num_rows()).map(|row| columns.iter().map(|it| it.text(row)).collect()),
            );
        }
        let more = rows.len() > count;
        rows.truncate(count);
        Ok((rows, more))
    }

    /// The next rows in a box, without taking them away.
    fn boxed(&self, py: Python<'_>, count: usize, width: usize) -> PyResult<String> {
        let (rows, more) = self.peek(py, count)?;
        let fields = self.described.schema.fields().iter().zip(&self.described.types);
        let mut table = BoxTable::new(fields.map(|(it, of)| (it.name().as_str(), of.is_numeric())));
        let cells = |row: &[Option<String>]| -> Vec<String> {
            row.iter().map(|it| it.clone().unwrap_or_else(|| "NULL".to_owned())).collect()
        };
        rows.iter().for_each(|it| table.measure(&cells(it)));
        table.fit(width);
        let mut out = Vec::new();
        table.write_head(&mut out)?;
        for row in &rows {
            table.write_row(&mut out, &cells(row))?;
        }
        table.write_foot(&mut out)?;
        let plural = if rows.len() == 1 { "" } else { "s" };
        let first = if more { "the first " } else { "" };
        let text = String::from_utf8_lossy(&out);
        Ok(format!("{text}({first}{} row{plural})", rows.len()))
    }

    /// The rows that have not been read, as an Arrow stream. They keep the types that they have.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        stream::capsule(py, &self.shared, &self.source, &self.described.schema)
    }

    /// The columns as an Arrow schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        stream::schema_capsule(py, &self.described.schema)
    }

    /// Ends the statement, if rows are left.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.shared.is_open() {
            return Ok(());
        }
        run(py, &self.shared, |session| self.source.lock().close(session))
    }
}

impl Rows {
    /// One row more than so many, where there is one.
    fn seen(&self, py: Python<'_>, count: usize) -> PyResult<Vec<RecordBatch>> {
        let wanted = count.saturating_add(1);
        run(py, &self.shared, |session| {
            let mut source = self.source.lock();
            source.make_rows(session, wanted)?;
            Ok(source.seen(wanted))
        })
    }
}
