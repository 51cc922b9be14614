//! A connection: a session of a database in this process, and what it runs.

use std::path::PathBuf;

use nodewise::{DataType, DatabaseOptions, Prepared, Session, SqlResult, Started};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stdx::sync::Arc;

use crate::errors::exception;
use crate::opening::{open, workers};
use crate::parameters::Parameters;
use crate::placeholders::numbered;
use crate::rows::Rows;
use crate::running::run;
use crate::shared::Shared;
use crate::statements::{counted, of_script, refuse_copy};
use crate::stream;

/// A session of a database in this process.
#[pyclass(frozen, module = "nodewise._native")]
pub struct Connection(Arc<Shared>);

#[pymethods]
impl Connection {
    /// Opens a folder, or a new database in memory. Settings are those of SET, by name; `threads` is the number of workers.
    #[new]
    #[pyo3(signature = (path=None, settings=None))]
    fn new(
        py: Python<'_>,
        path: Option<PathBuf>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut threads = None;
        let mut others = Vec::new();
        for (name, value) in settings.into_iter().flatten() {
            let (name, value) = (name.extract::<String>()?, value.str()?.to_string());
            match &*name {
                "threads" => {
                    threads = Some(workers(&value).map_err(|error| exception(py, &error))?);
                }
                _ => others.push((name, value)),
            }
        }
        let options = DatabaseOptions { workers: threads, ..DatabaseOptions::default() };
        let opened = py.detach(|| open(path.as_deref(), options).map(|it| it.session()));
        let mut session = opened.map_err(|error| exception(py, &error))?;
        for (name, value) in &others {
            session.set_setting(name, value).map_err(|error| exception(py, &error))?;
        }
        Ok(Self(Shared::new(session)))
    }

    /// Another session of the same database.
    fn duplicate(&self, py: Python<'_>) -> PyResult<Self> {
        let session = run(py, &self.0, |session| Ok(session.database().session()))?;
        Ok(Self(Shared::new(session)))
    }

    /// Runs the statements of a text; what the last of them gives. With parameters it is one statement.
    #[pyo3(signature = (sql, parameters=None))]
    fn execute(
        &self,
        py: Python<'_>,
        sql: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Rows> {
        let started = match parameters {
            None => {
                run(py, &self.0, |session| of_script(session, sql).map(|it| paused(session, it)))?
            }
            Some(given) => {
                let parameters = Parameters::of(sql, given)?;
                run(py, &self.0, |session| {
                    let prepared = session.prepare_typed(&parameters.sql, &parameters.types)?;
                    let started = session.start_prepared(&prepared, &parameters.values);
                    started.map(|it| paused(session, it))
                })?
            }
        };
        match started {
            Started::Rows(cursor) => Ok(Rows::of_cursor(&self.0, cursor)),
            Started::Done(answer) => Ok(Rows::of_answer(&self.0, answer)),
            copy => run(py, &self.0, |session| Err(refuse_copy(session, copy))),
        }
    }

    /// Runs a statement once for each set of parameters, all or none of them; the rows that were changed.
    fn execute_many(&self, py: Python<'_>, sql: &str, sets: &Bound<'_, PyAny>) -> PyResult<u64> {
        let mut all = Vec::new();
        for set in sets.try_iter()? {
            all.push(Parameters::of(sql, &set?)?);
        }
        run(py, &self.0, |session| {
            session.begin_implicit();
            match each(session, &all) {
                Ok(rows) => session.end_implicit().map(|()| rows),
                Err(error) => {
                    session.fail_transaction();
                    // What it was to do has failed already.
                    let _ = session.end_implicit();
                    Err(error)
                }
            }
        })
    }

    /// Gives the rows of an object a name for the statements of this connection.
    fn register(&self, py: Python<'_>, name: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let (schema, batches) = stream::batches_of(object)?;
        run(py, &self.0, |session| session.register(name, &schema, batches))
    }

    /// Forgets the rows of a name; whether there were any.
    fn unregister(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        run(py, &self.0, |session| Ok(session.unregister(name)))
    }

    /// The names in the place of tables that nothing has.
    #[pyo3(signature = (sql, parameters=None))]
    fn unknown_tables(
        &self,
        py: Python<'_>,
        sql: &str,
        parameters: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let sql = match parameters {
            None => sql.to_owned(),
            Some(given) => numbered(sql, given.cast::<PyDict>().is_ok()).0,
        };
        run(py, &self.0, |session| Ok(session.unknown_tables(&sql)))
    }

    /// Whether a transaction is open.
    #[getter]
    fn in_transaction(&self, py: Python<'_>) -> bool {
        // Another thread's statement may hold the session for long.
        py.detach(|| {
            self.0.session.lock().as_ref().is_some_and(|it| it.open_transaction().is_some())
        })
    }

    /// What statements have said beside their answers since this was last asked: severity, SQLSTATE, sentence.
    fn take_notices(&self, py: Python<'_>) -> Vec<(&'static str, &'static str, String)> {
        let notices = py.detach(|| {
            let mut session = self.0.session.lock();
            session.as_mut().map(Session::take_notices).unwrap_or_default()
        });
        notices.into_iter().map(|it| (it.severity, it.state.0, it.message)).collect()
    }

    /// Ends the statement that runs, from any thread.
    fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        !self.0.is_open()
    }

    /// Ends what is open, and gives the folder back when it was the last connection to it.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.close());
    }
}

/// What was started, of which nothing more is asked for now.
fn paused(session: &Session, mut started: Started) -> Started {
    if let Started::Rows(cursor) = &mut started {
        session.pause_cursor(cursor);
    }
    started
}

/// Runs a statement for each set of parameters; it is prepared anew only where other types come.
fn each(session: &mut Session, all: &[Parameters]) -> SqlResult<u64> {
    let mut rows = 0;
    let mut known: Option<(&[Option<DataType>], Prepared)> = None;
    for Parameters { sql, types, values } in all {
        let prepared = match &known {
            Some((of, prepared)) if of == types => prepared.clone(),
            _ => session.prepare_typed(sql, types)?,
        };
        rows += counted(&session.execute_prepared(&prepared, values)?).unwrap_or(0);
        known = Some((types, prepared));
    }
    Ok(rows)
}
