//! Functions that are called for what they do to the session of their statement, or to others ([`SessionCalls`]).

use std::fmt;

use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlResult};

use crate::call::Call;

/// The session of a statement, and others.
pub trait SessionCalls: Send + Sync + fmt::Debug {
    /// The statement waits for so many seconds before it gives what it has made.
    fn sleep(&self, seconds: f64) -> SqlResult<()>;
    /// Sets a setting when the statement has ended well; `None` gives it back its default. Its value.
    fn set(&self, name: &str, value: Option<&str>, local: bool) -> SqlResult<String>;
    /// Says a text to a channel when the transaction commits. Errors: 22023.
    fn notify(&self, channel: &str, payload: &str) -> SqlResult<()>;
    /// Ends what a session runs, or all of the session; whether there is one. Errors: 42501.
    fn end(&self, session: i64, whole: bool) -> SqlResult<bool>;
}

/// Calls such a function row by row, in their order.
pub(crate) fn call(
    function: Function,
    arguments: &[ArrayRef],
    rows: usize,
    session: &dyn SessionCalls,
) -> SqlResult<ArrayRef> {
    match function {
        Function::PgCancelBackend | Function::PgTerminateBackend => {
            end(function, arguments, rows, session)
        }
        _ => say(function, arguments, rows, session),
    }
}

fn end(
    function: Function,
    arguments: &[ArrayRef],
    rows: usize,
    session: &dyn SessionCalls,
) -> SqlResult<ArrayRef> {
    let call = Call::new(function, arguments, rows, DataType::Boolean);
    let numbers = call.integers(0)?;
    let mut ended = BooleanBuilder::with_capacity(rows);
    for row in 0..rows {
        match call.is_null(row) {
            true => ended.append_null(),
            false => {
                let whole = function == Function::PgTerminateBackend;
                ended.append_value(session.end(numbers.at(row), whole)?);
            }
        }
    }
    Ok(Arc::new(ended.finish()))
}

/// Those that give a text: of nothing an empty one.
fn say(
    function: Function,
    arguments: &[ArrayRef],
    rows: usize,
    session: &dyn SessionCalls,
) -> SqlResult<ArrayRef> {
    let call = Call::new(function, arguments, rows, DataType::Text);
    let mut given = StringBuilder::with_capacity(rows, 0);
    for row in 0..rows {
        match function {
            Function::PgSleep if call.is_null(row) => given.append_null(),
            Function::PgSleep => {
                session.sleep(call.primitive::<Float64Type>(0)?.value(row))?;
                given.append_value("");
            }
            Function::PgNotify => {
                let text = |index: usize| -> SqlResult<&str> {
                    let all = call.texts(index)?;
                    Ok(if all.is_null(row) { "" } else { all.value(row) })
                };
                session.notify(text(0)?, text(1)?)?;
                given.append_value("");
            }
            Function::SetConfig => {
                let (names, values, local) = (call.texts(0)?, call.texts(1)?, call.booleans(2)?);
                let name = if names.is_null(row) { "" } else { names.value(row) };
                let value = (!values.is_null(row)).then(|| values.value(row));
                let local = !local.is_null(row) && local.value(row);
                given.append_value(session.set(name, value, local)?);
            }
            _ => return Err(call.broken("the session")),
        }
    }
    Ok(Arc::new(given.finish()))
}
