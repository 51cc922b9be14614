//! Which functions always give the same, and the values that hold for a statement.

use plan::Function;
use types::numeric::time_tz::TimeTz;
use types::{DataType, Value, Zone};

use crate::calendar::MICROS_PER_DAY;

/// Whether equal arguments give equal results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Volatility {
    /// Always.
    Immutable,
    /// Within a statement: the planner puts [`statement_constant`] in the place of the call.
    Stable,
    /// Not even from row to row, or the call is made for its effect: it must run exactly where and when it stands.
    Volatile,
}

/// The stable functions.
pub const STABLE: [Function; 6] = [
    Function::Now,
    Function::StatementTimestamp,
    Function::LocalTimestamp,
    Function::LocalTime,
    Function::CurrentTime,
    Function::CurrentDate,
];

/// When a statement began, and its transaction: microseconds from 1970-01-01, UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Began {
    /// The transaction: what all functions of the time tell but for one.
    pub transaction: i64,
    /// The statement.
    pub statement: i64,
}

/// Whether equal arguments give equal results.
pub fn volatility(function: Function) -> Volatility {
    match function {
        it if STABLE.contains(&it) => Volatility::Stable,
        // An error that is folded or moved would come when no row asks for it.
        Function::Random | Function::RandomNormal | Function::Uuid | Function::UuidV7 => {
            Volatility::Volatile
        }
        Function::ArraySample | Function::ArrayShuffle => Volatility::Volatile,
        Function::RaiseCardinality
        | Function::RaiseDomain
        | Function::RaiseRow
        | Function::RaiseUnknown => Volatility::Volatile,
        it if it.is_of_sequences() || it.is_of_sessions() => Volatility::Volatile,
        _ => Volatility::Immutable,
    }
}

/// What a stable function is for a statement that began at some time, in a session of a time zone.
pub fn statement_constant(
    function: Function,
    began: Began,
    zone: &Zone,
) -> Option<(Value, DataType)> {
    let moment = |it| Some((Value::Timestamp(it), DataType::TimestampTz));
    match function {
        Function::Now => return moment(began.transaction),
        Function::StatementTimestamp => return moment(began.statement),
        _ => {}
    }
    if volatility(function) != Volatility::Stable {
        return None;
    }
    let local = zone.local(began.transaction)?;
    match function {
        Function::LocalTimestamp => Some((Value::Timestamp(local), DataType::Timestamp)),
        Function::LocalTime => {
            Some((Value::Integer(local.rem_euclid(MICROS_PER_DAY)), DataType::Time))
        }
        Function::CurrentTime => {
            let clocks = zone.ahead_at(began.transaction);
            let time = TimeTz::new(local.rem_euclid(MICROS_PER_DAY), clocks).ok()?;
            Some((Value::Integer(time.held()), DataType::TimeTz))
        }
        Function::CurrentDate => {
            let days = i32::try_from(local.div_euclid(MICROS_PER_DAY)).ok()?;
            Some((Value::Date(days), DataType::Date))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_functions_and_they_alone_have_a_value_for_the_statement() {
        for &function in Function::ALL {
            let stable = volatility(function) == Volatility::Stable;
            assert_eq!(
                statement_constant(function, Began::default(), &Zone::utc()).is_some(),
                stable,
                "{function:?}"
            );
        }
        let began = Began { transaction: -1, statement: 1 };
        let before = |function| statement_constant(function, began, &Zone::utc());
        assert_eq!(before(Function::CurrentDate), Some((Value::Date(-1), DataType::Date)));
        let statement = Some((Value::Timestamp(1), DataType::TimestampTz));
        assert_eq!(before(Function::StatementTimestamp), statement);
    }
}
