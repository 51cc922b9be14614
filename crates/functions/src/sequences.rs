//! The functions about sequences. Where the numbers are is the business of whoever runs the statement ([`Sequences`]).

use std::fmt;

use arrow_array::ArrayRef;
use arrow_array::builder::Int64Builder;
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlResult};

use crate::call::Call;
use crate::called_session::SessionCalls;
use crate::session_calls;

/// The sequences that a statement sees, by name as `nextval` is given it: in lower case where it is not quoted, with a
/// schema before it or without.
pub trait Sequences: Send + Sync + fmt::Debug {
    /// Adds the next `count` numbers of a sequence. Errors: 42P01, 2200H behind the last one, 25006.
    fn next(&self, name: &str, count: usize, into: &mut Vec<i64>) -> SqlResult<()>;
    /// The number that this session was given last of a sequence. Errors: 42P01, 55000 where there is none.
    fn current(&self, name: &str) -> SqlResult<i64>;
    /// The number that this session was given last. Errors: 55000 where there is none.
    fn last(&self) -> SqlResult<i64>;
    /// Sets a sequence to a number, given out already or not. Errors: 42P01, 22003 out of its bounds, 25006.
    fn set(&self, name: &str, number: i64, is_called: bool) -> SqlResult<()>;
    /// The session of the statement.
    fn session(&self) -> &dyn SessionCalls;
}

/// Calls a function about sequences or sessions, as [`crate::invoke`] does others: row by row, in their order.
pub fn count(
    function: Function,
    arguments: &[ArrayRef],
    rows: usize,
    sequences: &dyn Sequences,
) -> SqlResult<ArrayRef> {
    if function.is_of_sessions() {
        return session_calls::call(function, arguments, rows, sequences.session());
    }
    let call = Call::new(function, arguments, rows, DataType::BigInt);
    let mut numbers = Int64Builder::with_capacity(rows);
    match function {
        Function::Lastval => {
            for _ in 0..rows {
                numbers.append_value(sequences.last()?);
            }
        }
        Function::Nextval => {
            let names = call.texts(0)?;
            let (mut row, mut given) = (0, Vec::new());
            while row < rows {
                if call.is_null(row) {
                    numbers.append_null();
                    row += 1;
                    continue;
                }
                let name = names.value(row);
                let alike = |it: &usize| !call.is_null(*it) && names.value(*it) == name;
                let run = (row..rows).take_while(alike).count();
                given.clear();
                sequences.next(name, run, &mut given)?;
                numbers.append_slice(&given);
                row += run;
            }
        }
        Function::Currval => {
            let names = call.texts(0)?;
            for row in 0..rows {
                match call.is_null(row) {
                    true => numbers.append_null(),
                    false => numbers.append_value(sequences.current(names.value(row))?),
                }
            }
        }
        Function::Setval => {
            let (names, wanted) = (call.texts(0)?, call.integers(1)?);
            let called = if call.count() > 2 { Some(call.booleans(2)?) } else { None };
            for row in 0..rows {
                if call.is_null(row) {
                    numbers.append_null();
                    continue;
                }
                let number = wanted.at(row);
                sequences.set(names.value(row), number, called.is_none_or(|it| it.value(row)))?;
                numbers.append_value(number);
            }
        }
        _ => return Err(call.broken("sequences")),
    }
    Ok(Arc::new(numbers.finish()))
}
