//! Addresses of hosts and networks: what operators and functions make of them ([`types::numeric::address`]).

use arrow_array::ArrayRef;
use arrow_array::types::Int64Type;
use plan::Function;
use types::numeric::address::Address;
use types::{DataType, Network, SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::error::invalid;

/// Whether a function is one of addresses.
pub(crate) fn is_of_networks(function: Function) -> bool {
    use Function as F;
    makes_text(function)
        || makes_address(function)
        || matches!(
            function,
            F::Family
                | F::Masklen
                | F::InetSameFamily
                | F::InetWithin
                | F::InetOverlaps
                | F::InetDifference
        )
}

fn makes_text(function: Function) -> bool {
    matches!(function, Function::Host | Function::Abbrev | Function::AbbrevOfCidr)
}

fn makes_address(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::SetMasklen
            | F::Netmask
            | F::Hostmask
            | F::Broadcast
            | F::Network
            | F::InetMerge
            | F::InetNot
            | F::InetAnd
            | F::InetOr
            | F::InetAdd
            | F::InetSubtract
    )
}

/// The kernel of such a function.
pub(crate) fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    let first = call.texts(0)?;
    let one = |row: usize| Address::of_held(first.value(row));
    match call.function {
        F::Family => call.map_integers(|row| Ok(if one(row).is_six { 6 } else { 4 })),
        F::Masklen => call.map_integers(|row| Ok(usize::from(one(row).mask))),
        it if makes_text(it) => call.map_texts(|row, out| {
            let mut text = String::new();
            match it {
                F::Host => one(row).push_host(&mut text),
                F::Abbrev => one(row).format(Network::Inet, &mut text),
                _ => one(row).format_short(&mut text),
            }
            out.push(&text)
        }),
        it if makes_address(it) => {
            call.map_texts(|row, out| out.push(&made(call, row, one(row))?.held()))
        }
        _ => of_two(call, one),
    }
}

/// What compares two addresses.
fn of_two(call: &Call<'_>, one: impl Fn(usize) -> Address) -> SqlResult<ArrayRef> {
    use Function as F;
    let second = call.texts(1)?;
    let other = |row: usize| Address::of_held(second.value(row));
    match call.function {
        F::InetSameFamily => call.map_booleans(|row| Ok(one(row).is_six == other(row).is_six)),
        F::InetOverlaps => call.map_booleans(|row| {
            let (one, other) = (one(row), other(row));
            Ok(one.contains(other) || other.contains(one))
        }),
        F::InetWithin => {
            let may_be_equal = call.booleans(2)?;
            call.map_booleans(|row| {
                let (one, other) = (one(row), other(row));
                Ok(other.contains(one) && (may_be_equal.value(row) || other.mask < one.mask))
            })
        }
        _ => call.map::<Int64Type>(|row| {
            let (one, other) = (one(row), other(row));
            if one.is_six != other.is_six {
                return Err(invalid("cannot subtract inet values of different sizes"));
            }
            let (a, b) = (one.number(), other.number());
            let distance = i64::try_from(a.abs_diff(b)).map_err(|_| out_of_range())?;
            Ok(if a < b { -distance } else { distance })
        }),
    }
}

/// The address that a function makes of one and its other argument.
fn made(call: &Call<'_>, row: usize, one: Address) -> SqlResult<Address> {
    use Function as F;
    let second = || call.texts(1).map(|it| Address::of_held(it.value(row)));
    let number = || call.integers(1).map(|it| it.at(row));
    Ok(match call.function {
        F::SetMasklen => with_mask(one, number()?, call.result)?,
        F::Netmask => one.host(one.netmask() & one.all()),
        F::Hostmask => one.host(one.hostmask()),
        F::Broadcast => Address { bits: one.bits | one.hostmask(), ..one },
        F::Network => one.network(),
        F::InetMerge => one
            .merged(second()?)
            .ok_or_else(|| invalid("cannot merge addresses from different families"))?,
        F::InetNot => Address { bits: !one.bits & one.all(), ..one },
        F::InetAnd | F::InetOr => {
            let (other, is_and) = (second()?, call.function == F::InetAnd);
            if one.is_six != other.is_six {
                let word = if is_and { "AND" } else { "OR" };
                return Err(invalid(format!("cannot {word} inet values of different sizes")));
            }
            let bits = if is_and { one.bits & other.bits } else { one.bits | other.bits };
            Address { bits, mask: one.mask.max(other.mask), ..one }
        }
        F::InetAdd => moved(one, i128::from(number()?))?,
        _ => moved(one, -i128::from(number()?))?,
    })
}

fn with_mask(one: Address, mask: i64, of: DataType) -> SqlResult<Address> {
    let mask = match u8::try_from(mask) {
        Ok(it) if it <= one.width() => it,
        _ if mask == -1 => one.width(),
        _ => return Err(invalid(format!("invalid mask length: {mask}"))),
    };
    let made = Address { mask, ..one };
    Ok(if of == DataType::Network(Network::Cidr) { made.network() } else { made })
}

fn moved(one: Address, distance: i128) -> SqlResult<Address> {
    let number = one.number().checked_add_signed(distance);
    number.and_then(|it| one.of_number(it)).ok_or_else(out_of_range)
}

fn out_of_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "result is out of range")
}
