//! What clients say of the types of parameters.

use nodewise::DataType;
use nodewise::pg_types::{
    BIT, BOOL, BPCHAR, BYTEA, CHAR, CIDR, DATE, FLOAT4, FLOAT8, INET, INT2, INT4, INT8, INTERVAL,
    JSON, JSONB, NAME, NUMERIC, OID, TEXT, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ, UNKNOWN, UUID,
    VARBIT, VARCHAR, VOID, element_of, range_by_number,
};
use types::{Bits, Network, Whole};

/// What a client may say of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// Nothing: the statement tells its type.
    Inferred,
    /// A type of ours.
    As(DataType),
}

/// The type of a parameter by its number; `None` for one that we do not have.
pub fn declared(oid: u32) -> Option<Declared> {
    Some(Declared::As(match oid {
        // Drivers say VOID of a parameter that a procedure is to give.
        0 | UNKNOWN | VOID => return Some(Declared::Inferred),
        BOOL => DataType::Boolean,
        INT2 => DataType::SmallInt,
        INT4 => DataType::Integer,
        INT8 => DataType::BigInt,
        OID => DataType::Whole(Whole::Oid),
        FLOAT4 => DataType::Real,
        FLOAT8 => DataType::Double,
        NUMERIC => DataType::Numeric,
        DATE => DataType::Date,
        TIMESTAMP => DataType::Timestamp,
        TIMESTAMPTZ => DataType::TimestampTz,
        TIME => DataType::Time,
        TIMETZ => DataType::TimeTz,
        INTERVAL => DataType::Interval,
        UUID => DataType::Uuid,
        INET => DataType::Network(Network::Inet),
        CIDR => DataType::Network(Network::Cidr),
        BIT => DataType::Bits(Bits::Any),
        VARBIT => DataType::Bits(Bits::AnyVarying),
        BYTEA => DataType::Bytea,
        JSON => DataType::Json,
        JSONB => DataType::Jsonb,
        TEXT | VARCHAR | BPCHAR | NAME | CHAR => DataType::Text,
        range if let Some(it) = range_by_number(range) => it,
        array => match declared(element_of(array)?)? {
            Declared::As(element) => element.array()?,
            Declared::Inferred => return None,
        },
    }))
}
