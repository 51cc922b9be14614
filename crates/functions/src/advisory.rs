//! Advisory locks: numbers that programs lock, whatever they mean by them.

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::called_session::{AdvisoryKey, AdvisoryLock, SessionCalls};

/// Calls a function of advisory locks row by row. Of a key with NULL nothing is done.
pub(crate) fn call(
    function: Function,
    arguments: &[ArrayRef],
    rows: usize,
    session: &dyn SessionCalls,
) -> SqlResult<ArrayRef> {
    let result = DataType::Boolean;
    let call = Call::new(function, arguments, rows, result);
    let mut outcomes = Vec::with_capacity(rows);
    for row in 0..rows {
        outcomes.push(match call.is_null(row) {
            true => None,
            false => Some(of_row(&call, row, session)?),
        });
    }
    if has_answer(function) {
        let mut answers = BooleanBuilder::with_capacity(rows);
        outcomes.into_iter().for_each(|it| answers.append_option(it));
        return Ok(Arc::new(answers.finish()));
    }
    let mut nothing = StringBuilder::with_capacity(rows, 0);
    outcomes.into_iter().for_each(|it| nothing.append_option(it.map(|_| "")));
    Ok(Arc::new(nothing.finish()))
}

/// Whether it tells what came of it; the others give an empty text for nothing.
fn has_answer(function: Function) -> bool {
    use Function as F;
    !matches!(
        function,
        F::PgAdvisoryLock
            | F::PgAdvisoryLockShared
            | F::PgAdvisoryXactLock
            | F::PgAdvisoryXactLockShared
            | F::PgAdvisoryUnlockAll
    )
}

fn of_row(call: &Call<'_>, row: usize, session: &dyn SessionCalls) -> SqlResult<bool> {
    use Function as F;
    let lock = |shared: bool, of_transaction: bool, wait: bool| {
        Ok(session.lock(key(call, row)?, AdvisoryLock { shared, of_transaction, wait }))
    };
    match call.function {
        F::PgAdvisoryLock => lock(false, false, true),
        F::PgAdvisoryLockShared => lock(true, false, true),
        F::PgAdvisoryXactLock => lock(false, true, true),
        F::PgAdvisoryXactLockShared => lock(true, true, true),
        F::PgTryAdvisoryLock => lock(false, false, false),
        F::PgTryAdvisoryLockShared => lock(true, false, false),
        F::PgTryAdvisoryXactLock => lock(false, true, false),
        F::PgTryAdvisoryXactLockShared => lock(true, true, false),
        F::PgAdvisoryUnlock => Ok(session.unlock(key(call, row)?, false)),
        F::PgAdvisoryUnlockShared => Ok(session.unlock(key(call, row)?, true)),
        F::PgAdvisoryUnlockAll => {
            session.unlock_all();
            Ok(true)
        }
        _ => Err(call.broken("no advisory lock")),
    }
}

fn key(call: &Call<'_>, row: usize) -> SqlResult<AdvisoryKey> {
    let number = |index: usize| call.integers(index).map(|it| it.at(row));
    if call.count() == 1 {
        return Ok(AdvisoryKey::One(number(0)?));
    }
    let narrow = |it: i64| {
        i32::try_from(it).map_err(|_| {
            let message = format!("integer out of range: {it}");
            SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
                .with_hint("a key of two numbers is two INTEGERs")
        })
    };
    Ok(AdvisoryKey::Pair(narrow(number(0)?)?, narrow(number(1)?)?))
}
