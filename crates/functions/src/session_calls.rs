//! Functions that are called for what they do to the session of their statement, or to others ([`SessionCalls`]).

use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, TimestampMicrosecondArray};
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlResult};

use crate::advisory;
use crate::call::Call;
use crate::called_session::SessionCalls;

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
        Function::ClockTimestamp => {
            let times = std::iter::repeat_with(|| session.clock()).take(rows);
            Ok(Arc::new(TimestampMicrosecondArray::from_iter_values(times)))
        }
        it if it.is_advisory() => advisory::call(function, arguments, rows, session),
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
