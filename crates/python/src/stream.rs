//! Arrow's C streams, by the PyCapsule interface: rows of a statement out, rows of anybody in, without copies.
//!
//! - Invariant: a stream that was taken out of a capsule is marked as released there, so that it has one owner.
#![allow(unsafe_code)]

use std::ffi::CStr;

use arrow_array::RecordBatch;
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use nodewise::{SqlError, SqlResult, SqlState};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use stdx::sync::{Arc, Mutex};

use crate::errors::{closed, exception, unfit};
use crate::shared::Shared;
use crate::source::Source;

const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// The rows of a statement that have not been read, for whoever reads Arrow: made while they are read, on the reader's thread.
struct Reader {
    shared: Arc<Shared>,
    source: Arc<Mutex<Source>>,
    schema: SchemaRef,
}

impl Reader {
    fn read(&self) -> SqlResult<Option<RecordBatch>> {
        let mut session = self.shared.session.lock();
        let session = session.as_mut().ok_or_else(closed)?;
        self.source.lock().next_batch(session)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read().transpose()?;
        Some(read.map_err(|error| ArrowError::ExternalError(Box::new(error))))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The rest of the rows of a statement as a stream in a capsule.
pub fn capsule<'py>(
    py: Python<'py>,
    shared: &Arc<Shared>,
    source: &Arc<Mutex<Source>>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = Reader { shared: shared.clone(), source: source.clone(), schema: schema.clone() };
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// A schema in a capsule.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let made = FFI_ArrowSchema::try_from(&**schema);
    let made = made.map_err(|error| exception(py, &SqlError::internal(error.to_string())))?;
    PyCapsule::new_with_value(py, made, SCHEMA)
}

/// All rows of an object that gives an Arrow stream. The GIL is held while it is asked, as it may be written in Python.
pub fn batches_of(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let py = object.py();
    let failed = |error: ArrowError| {
        let message = format!("the rows cannot be read: {error}");
        exception(py, &SqlError::new(SqlState::INVALID_PARAMETER, message))
    };
    let Ok(method) = object.getattr("__arrow_c_stream__") else {
        let kind = object.get_type().name()?;
        let message = format!("{kind} gives no rows as Arrow: it has no __arrow_c_stream__");
        return Err(exception(py, &unfit(message)));
    };
    let capsule = method.call0()?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a stream (checked by pointer_checked), it stays alive here, nobody else reads it while
    // the GIL is held, and what is left in its place is a released stream, which its destructor passes over.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) }.map_err(failed)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    Ok((schema, batches))
}
