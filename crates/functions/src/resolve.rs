//! Which types a call's arguments are cast to, and what comes out.
//!
//! PostgreSQL's order: a parameter list that fits without a cast wins, then the one with the cheapest implicit casts. A
//! text literal is of unknown type there; here it arrives as TEXT, so when no list takes it as such, a constant text may
//! become whatever a parameter asks for.

use plan::Function;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use crate::common::common_type;
use crate::error::type_name;
use crate::overload::{Kind, Outcome, Overload, overloads};
use crate::{array, cast, json, jsonpath, number, ranges, scale, structs};

/// A call for given argument types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The types that the arguments are cast to.
    pub arguments: Vec<DataType>,
    /// The type of the result.
    pub result: DataType,
}

/// The signature of a call without constants. Errors: 42883 when the function does not take such arguments, 42804 when
/// arguments that share a type have none in common.
pub fn resolve(function: Function, arguments: &[DataType]) -> SqlResult<Signature> {
    resolve_call(function, arguments, &vec![None; arguments.len()])
}

/// The signature of a call some of whose arguments are constants: digits to round to, fields, names of types. Errors as
/// for [`resolve`].
pub fn resolve_call(
    function: Function,
    arguments: &[DataType],
    constants: &[Option<Value>],
) -> SqlResult<Signature> {
    let unknown: Vec<DataType> = (0..arguments.len())
        .map(|it| match constants.get(it) {
            Some(Some(Value::Text(_))) if arguments[it].is_text() => DataType::Null,
            _ => arguments[it],
        })
        .collect();
    match function {
        Function::Coalesce | Function::Greatest | Function::Least if !arguments.is_empty() => {
            alike(function, arguments.len(), 0, &unknown)
        }
        Function::Nvl | Function::Nullif if arguments.len() == 2 => alike(function, 2, 0, &unknown),
        Function::Nvl2 if arguments.len() == 3 => {
            let mut signature = alike(function, 3, 1, &unknown)?;
            signature.arguments[0] = arguments[0];
            Ok(signature)
        }
        Function::ArrowCast | Function::ArrowTryCast if arguments.len() == 2 => {
            let Some(Some(Value::Text(name))) = constants.get(1) else {
                return Err(does_not_exist(function, arguments)
                    .with_hint("the name of the type must be a constant text"));
            };
            let arguments = vec![arguments[0], DataType::Text];
            Ok(Signature { arguments, result: cast::from_arrow_name(name)? })
        }
        _ if array::is_of_arrays(function) => {
            array::signature(function, arguments).ok_or_else(|| does_not_exist(function, arguments))
        }
        _ if structs::is_of_structs(function) || structs::is_of_maps(function) => {
            let found = structs::signature(function, arguments, constants);
            let found = found.or_else(|| structs::map_signature(function, arguments));
            let (types, result) = found.ok_or_else(|| does_not_exist(function, arguments))?;
            Ok(Signature { arguments: types, result })
        }
        _ => match json::signature(function, arguments)
            .or_else(|| jsonpath::signature(function, arguments))
            .or_else(|| of_ranges(function, arguments))
            .or_else(|| of_numbers(function, arguments, constants))
        {
            Some(signature) => Ok(signature),
            None => overloaded(function, arguments, &unknown, constants),
        },
    }
}

/// The signature of a call of ranges.
fn of_ranges(function: Function, arguments: &[DataType]) -> Option<Signature> {
    let (arguments, result) = ranges::signature(function, arguments)?;
    Some(Signature { arguments, result })
}

/// The signature of a call of numbers of any scale.
fn of_numbers(
    function: Function,
    arguments: &[DataType],
    constants: &[Option<Value>],
) -> Option<Signature> {
    // To how many digits each row has is not known.
    let differ = arguments.len() == 2 && !matches!(constants.get(1), Some(Some(_)));
    let (arguments, result) = number::signature(function, arguments, differ)?;
    Some(Signature { arguments, result })
}

/// Arguments from `first` on have one type, that of the result.
fn alike(
    function: Function,
    count: usize,
    first: usize,
    arguments: &[DataType],
) -> SqlResult<Signature> {
    let what = function.name().to_uppercase();
    let chosen = &arguments[first..];
    let result = match common_type(&what, chosen)? {
        // A constant of unknown type is neither cut nor filled by what it stands beside.
        DataType::Varchar(_) if chosen.contains(&DataType::Null) => DataType::VARCHAR,
        DataType::Letter if chosen.contains(&DataType::Null) => DataType::Text,
        DataType::Char(_) if chosen.contains(&DataType::Null) => DataType::Bpchar,
        known => known,
    };
    Ok(Signature { arguments: vec![result; count], result })
}

fn overloaded(
    function: Function,
    arguments: &[DataType],
    unknown: &[DataType],
    constants: &[Option<Value>],
) -> SqlResult<Signature> {
    let lists = overloads(function);
    let found = cheapest(lists, arguments).or_else(|| cheapest(lists, unknown));
    let Some(list) = found else {
        return Err(does_not_exist(function, arguments));
    };
    let types: Vec<DataType> = (0..arguments.len())
        .map(|it| cast_target(parameter(list, it), arguments[it], unknown[it]))
        .collect();
    let result = match list.outcome {
        Outcome::Is(result) => result,
        Outcome::Rule(rule) => rule(&types, constants),
    };
    Ok(Signature { arguments: types, result })
}

fn does_not_exist(function: Function, arguments: &[DataType]) -> SqlError {
    let types: Vec<String> = arguments.iter().map(|&it| type_name(it)).collect();
    let message = format!("function {}({}) does not exist", function.name(), types.join(", "));
    SqlError::new(SqlState::UNDEFINED_FUNCTION, message).with_hint(
        "No function matches the given name and argument types. You might need to add explicit type casts.",
    )
}

/// The list with the least sum of costs, the first among equals.
fn cheapest<'a>(lists: &'a [Overload], arguments: &[DataType]) -> Option<&'a Overload> {
    let costs = lists.iter().filter_map(|it| Some((total_cost(it, arguments)?, it)));
    costs.min_by_key(|it| it.0).map(|it| it.1)
}

fn total_cost(list: &Overload, arguments: &[DataType]) -> Option<u32> {
    let most = if list.variadic { usize::MAX } else { list.parameters.len() };
    if arguments.len() < list.required || arguments.len() > most {
        return None;
    }
    let costs = arguments.iter().enumerate().map(|(index, &it)| cost(it, parameter(list, index)));
    costs.sum()
}

/// The parameter for an argument; the last one takes all that follow.
fn parameter(list: &Overload, index: usize) -> Kind {
    list.parameters.get(index).or(list.parameters.last()).copied().unwrap_or(Kind::Any)
}

/// What an implicit cast costs, if there is one.
fn cost(argument: DataType, parameter: Kind) -> Option<u32> {
    use DataType as T;
    if argument == T::Null {
        return Some(1);
    }
    let is_exact = argument.is_integer() || matches!(argument, T::Decimal { .. });
    let cost = match parameter {
        Kind::Any => 0,
        Kind::Printed | Kind::Output => u32::from(!argument.is_text()),
        Kind::Boolean if argument == T::Boolean => 0,
        Kind::Integer if argument.is_integer() => 0,
        Kind::AnyInteger if argument.is_integer() => 0,
        Kind::Number if argument.is_numeric() => 0,
        Kind::Double if argument == T::Double => 0,
        Kind::Double if argument.is_numeric() => 1,
        Kind::Decimal if matches!(argument, T::Decimal { .. }) => 0,
        Kind::Decimal if is_exact => 1,
        Kind::Whole if matches!(argument, T::Decimal { scale: 0, .. }) => 0,
        Kind::Whole if argument.is_integer() => 1,
        Kind::Text if argument.is_text() => 0,
        Kind::Date if argument == T::Date => 0,
        Kind::Timestamp if argument == T::Timestamp => 0,
        Kind::Timestamp if argument == T::Date => 1,
        Kind::TimestampTz if argument == T::TimestampTz => 0,
        Kind::TimestampTz if matches!(argument, T::Date | T::Timestamp) => 1,
        Kind::Time if argument == T::Time => 0,
        Kind::TimeTz if argument == T::TimeTz => 0,
        Kind::TimeTz if argument == T::Time => 1,
        Kind::Interval if argument == T::Interval => 0,
        Kind::Interval if argument == T::Time => 1,
        Kind::Bytea if argument == T::Bytea => 0,
        Kind::Bits | Kind::Varbit if let T::Bits(of) = argument => {
            u32::from(of.is_varying() != (parameter == Kind::Varbit))
        }
        Kind::Uuid if argument == T::Uuid => 0,
        Kind::Inet if let T::Network(of) = argument => u32::from(of != types::Network::Inet),
        Kind::Cidr if argument == T::Network(types::Network::Cidr) => 0,
        _ => return None,
    };
    Some(cost)
}

/// The type that an argument is cast to. `unknown` is NULL for a text literal, which only a parameter of texts leaves so.
fn cast_target(parameter: Kind, argument: DataType, unknown: DataType) -> DataType {
    match parameter {
        Kind::Boolean => DataType::Boolean,
        Kind::Integer => DataType::BigInt,
        Kind::Double => DataType::Double,
        Kind::Decimal => scale::as_decimal(unknown),
        Kind::Whole => DataType::Decimal { precision: 38, scale: 0 },
        Kind::AnyInteger if unknown == DataType::Null => DataType::Integer,
        Kind::Number if unknown == DataType::Null => DataType::Double,
        Kind::AnyInteger | Kind::Number => argument,
        Kind::Output if argument == DataType::Boolean => DataType::Boolean,
        Kind::Text | Kind::Printed | Kind::Output => DataType::Text,
        Kind::Date => DataType::Date,
        Kind::Timestamp => DataType::Timestamp,
        Kind::TimestampTz => DataType::TimestampTz,
        Kind::Time => DataType::Time,
        Kind::TimeTz => DataType::TimeTz,
        Kind::Interval => DataType::Interval,
        Kind::Bytea => DataType::Bytea,
        Kind::Bits => DataType::Bits(types::Bits::Any),
        Kind::Varbit => DataType::Bits(types::Bits::AnyVarying),
        Kind::Uuid => DataType::Uuid,
        Kind::Inet => DataType::Network(types::Network::Inet),
        Kind::Cidr => DataType::Network(types::Network::Cidr),
        Kind::Any => argument,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONEY: DataType = DataType::Decimal { precision: 15, scale: 2 };

    #[test]
    fn a_call_takes_the_cheapest_list() {
        let cases: &[(Function, &[DataType], DataType)] = &[
            (Function::Ceil, &[DataType::Integer], DataType::Double),
            (Function::Ceil, &[MONEY], DataType::Decimal { precision: 14, scale: 0 }),
            (Function::Abs, &[DataType::SmallInt], DataType::SmallInt),
            (Function::Abs, &[MONEY], MONEY),
            (Function::Round, &[DataType::Real], DataType::Double),
            (Function::Mod, &[DataType::SmallInt, DataType::BigInt], DataType::BigInt),
            (Function::Upper, &[DataType::Varchar(3)], DataType::Text),
            (Function::ToTimestamp, &[DataType::Double], DataType::Timestamp),
        ];
        for &(function, arguments, result) in cases {
            assert_eq!(resolve(function, arguments).unwrap().result, result, "{function:?}");
        }
    }

    #[test]
    fn what_no_list_takes_does_not_exist() {
        let error = resolve(Function::Round, &[DataType::Integer, DataType::Text]).unwrap_err();
        assert_eq!(error.state, SqlState::UNDEFINED_FUNCTION);
        assert_eq!(error.message, "function round(integer, text) does not exist");
        assert!(error.hint.unwrap().starts_with("No function matches"));
        let error = resolve(Function::Greatest, &[DataType::Integer, DataType::Date]).unwrap_err();
        assert_eq!(error.message, "GREATEST types integer and date cannot be matched");
        assert!(resolve(Function::Concat, &[]).is_err());
        assert!(resolve(Function::Coalesce, &[]).is_err());
    }

    #[test]
    fn a_constant_text_becomes_what_is_asked_for() {
        let constant = |it: &str| Some(Value::Text(it.into()));
        let types = [DataType::Text, DataType::Text];
        let constants = [constant("month"), constant("2024-01-31")];
        let signature = resolve_call(Function::DateTrunc, &types, &constants).unwrap();
        assert_eq!(signature.arguments, [DataType::Text, DataType::Timestamp]);
        assert!(resolve(Function::DateTrunc, &types).is_err());
        let types = [DataType::Date, DataType::Text];
        let constants = [None, constant("2024-01-31")];
        let signature = resolve_call(Function::Least, &types, &constants).unwrap();
        assert_eq!(signature.result, DataType::Date);
    }
}
