//! Our types as clients of PostgreSQL know them: by the numbers of `pg_type`.

use types::{DataType, Element, Network, Range, Whole};

use crate::Session;
use crate::pg_catalog::oids;

/// A type in a description of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireType {
    /// Its number in `pg_type`.
    pub oid: u32,
    /// Bytes of a value; -1 where they vary.
    pub size: i16,
    /// Its length or precision as PostgreSQL packs it; -1 for none.
    pub modifier: i32,
}

/// What precedes a length or a precision in a modifier.
const MODIFIER_BASE: i32 = 4;

/// `bool`.
pub const BOOL: u32 = 16;
/// `int8`.
pub const INT8: u32 = 20;
/// `int2`.
pub const INT2: u32 = 21;
/// `int4`.
pub const INT4: u32 = 23;
/// `text`.
pub const TEXT: u32 = 25;
/// `oid`.
pub const OID: u32 = 26;
/// `float4`.
pub const FLOAT4: u32 = 700;
/// `float8`.
pub const FLOAT8: u32 = 701;
/// `unknown`.
pub const UNKNOWN: u32 = 705;
/// `bpchar`.
pub const BPCHAR: u32 = 1042;
/// `varchar`.
pub const VARCHAR: u32 = 1043;
/// `date`.
pub const DATE: u32 = 1082;
/// `timestamp`.
pub const TIMESTAMP: u32 = 1114;
/// `timestamptz`.
pub const TIMESTAMPTZ: u32 = 1184;
/// `time`.
pub const TIME: u32 = 1083;
/// `bit`.
pub const BIT: u32 = 1560;
/// `varbit`.
pub const VARBIT: u32 = 1562;
/// `timetz`.
pub const TIMETZ: u32 = 1266;
/// `interval`.
pub const INTERVAL: u32 = 1186;
/// `inet`.
pub const INET: u32 = 869;
/// `cidr`.
pub const CIDR: u32 = 650;
/// `uuid`.
pub const UUID: u32 = 2950;
/// `bytea`.
pub const BYTEA: u32 = 17;
/// `json`.
pub const JSON: u32 = 114;
/// `jsonb`.
pub const JSONB: u32 = 3802;
/// `numeric`.
pub const NUMERIC: u32 = 1700;
/// `"char"`.
pub const CHAR: u32 = 18;
/// `name`.
pub const NAME: u32 = 19;

/// `void`.
pub const VOID: u32 = 2278;
/// `record`.
pub const RECORD: u32 = 2249;
/// `int2vector`.
pub const INT2VECTOR: u32 = 22;
/// `oidvector`.
pub const OIDVECTOR: u32 = 30;

/// The numbers of types and of arrays of them.
const ARRAYS: [(u32, u32); 41] = [
    (INET, 1041),
    (CIDR, 651),
    (RECORD, 2287),
    (BOOL, 1000),
    (JSON, 199),
    (BYTEA, 1001),
    (CHAR, 1002),
    (NAME, 1003),
    (INT2, 1005),
    (INT4, 1007),
    (TEXT, 1009),
    (BPCHAR, 1014),
    (VARCHAR, 1015),
    (INT8, 1016),
    (FLOAT4, 1021),
    (FLOAT8, 1022),
    (OID, 1028),
    (TIMESTAMP, 1115),
    (DATE, 1182),
    (TIME, 1183),
    (TIMESTAMPTZ, 1185),
    (INTERVAL, 1187),
    (TIMETZ, 1270),
    (BIT, 1561),
    (VARBIT, 1563),
    (NUMERIC, 1231),
    (UUID, 2951),
    (JSONB, 3807),
    (3904, 3905),
    (3906, 3907),
    (3908, 3909),
    (3910, 3911),
    (3912, 3913),
    (3926, 3927),
    (4451, 6150),
    (4532, 6151),
    (4533, 6152),
    (4534, 6153),
    (4535, 6155),
    (4536, 6157),
    (UNKNOWN, 0),
];

/// The numbers of the types of ranges, and of sets of them.
pub const RANGES: [(Range, u32, u32); 6] = [
    (Range::Int4, 3904, 4451),
    (Range::Num, 3906, 4532),
    (Range::Ts, 3908, 4533),
    (Range::Tstz, 3910, 4534),
    (Range::Date, 3912, 4535),
    (Range::Int8, 3926, 4536),
];

/// The type of ranges, or of sets of them, that has a number.
pub fn range_by_number(oid: u32) -> Option<DataType> {
    let (of, one, _) = RANGES.into_iter().find(|it| it.1 == oid || it.2 == oid)?;
    Some(if one == oid { DataType::Range(of) } else { DataType::Multirange(of) })
}

/// The number of a type of ranges, or of sets of them.
fn number_of_range(of: DataType) -> Option<u32> {
    let found = |range: Range| RANGES.into_iter().find(|it| it.0 == range);
    match of {
        DataType::Range(it) => found(it).map(|it| it.1),
        DataType::Multirange(it) => found(it).map(|it| it.2),
        _ => None,
    }
}

/// The number of the type of arrays of a type, zero where there is none.
pub fn array_of(element: u32) -> u32 {
    ARRAYS.iter().find(|it| it.0 == element).map_or(0, |it| it.1)
}

/// The number of the type of the items of an array; `None` of what is none.
pub fn element_of(array: u32) -> Option<u32> {
    ARRAYS.iter().find(|it| it.1 == array && array != 0).map(|it| it.0)
}

/// The number of a type that users made, by its name ([`types::names`]).
pub fn made_type(name: &str) -> u32 {
    oids::of_name("type", name) as u32
}

/// The number of the type of arrays of one that users made.
pub fn array_of_made(name: &str) -> u32 {
    oids::of_name("array type", name) as u32
}

/// The type that users made, or of arrays of one, which has a number.
pub fn made_by_number(session: &Session, oid: u32) -> Option<DataType> {
    let snapshot = session.snapshot();
    snapshot.user_types().find_map(|it| match () {
        () if it.domain.is_none() && it.data_type.made_name().is_none() => None,
        () if made_type(&it.name) == oid => Some(it.data_type),
        () if it.domain.is_none() && array_of_made(&it.name) == oid => it.data_type.array(),
        () => None,
    })
}

/// The type of a column of a result. A bare NULL is text, as PostgreSQL has it.
pub fn wire_type(of: DataType) -> WireType {
    let fixed = |oid, size| WireType { oid, size, modifier: -1 };
    let sized = |oid, length: u32| {
        let modifier = i32::try_from(length).map_or(-1, |it| it.saturating_add(MODIFIER_BASE));
        WireType { oid, size: -1, modifier }
    };
    match of {
        DataType::Boolean => fixed(BOOL, 1),
        DataType::SmallInt => fixed(INT2, 2),
        DataType::Integer => fixed(INT4, 4),
        DataType::BigInt => fixed(INT8, 8),
        DataType::Real => fixed(FLOAT4, 4),
        DataType::Double => fixed(FLOAT8, 8),
        DataType::Decimal { precision, scale } => {
            let modifier = (i32::from(precision) << 16 | i32::from(scale)) + MODIFIER_BASE;
            WireType { oid: NUMERIC, size: -1, modifier }
        }
        DataType::Numeric => fixed(NUMERIC, -1),
        DataType::Date => fixed(DATE, 4),
        DataType::Timestamp => fixed(TIMESTAMP, 8),
        DataType::TimestampTz => fixed(TIMESTAMPTZ, 8),
        DataType::Time => fixed(TIME, 8),
        DataType::TimeTz => fixed(TIMETZ, 12),
        DataType::Bits(it) => {
            let oid = if it.is_varying() { VARBIT } else { BIT };
            let modifier = it.length().and_then(|it| i32::try_from(it).ok()).unwrap_or(-1);
            WireType { oid, size: -1, modifier }
        }
        DataType::Interval => fixed(INTERVAL, 16),
        DataType::Network(Network::Inet) => fixed(INET, -1),
        DataType::Network(Network::Cidr) => fixed(CIDR, -1),
        DataType::Range(_) | DataType::Multirange(_) => fixed(number_of_range(of).unwrap_or(0), -1),
        DataType::Uuid => fixed(UUID, 16),
        DataType::Bytea => fixed(BYTEA, -1),
        DataType::Json => fixed(JSON, -1),
        DataType::Jsonb => fixed(JSONB, -1),
        DataType::Char(length) => sized(BPCHAR, length),
        DataType::Bpchar => fixed(BPCHAR, -1),
        DataType::Varchar(length) => sized(VARCHAR, length),
        DataType::Enum(it) if !it.name().is_empty() => fixed(made_type(it.name()), 4),
        DataType::Null | DataType::Text | DataType::Enum(_) => fixed(TEXT, -1),
        DataType::Letter => fixed(CHAR, 1),
        DataType::Name => fixed(NAME, 64),
        DataType::Whole(Whole::Oid) => fixed(OID, 4),
        DataType::Whole(it) => wire_type(it.plain()),
        DataType::Array(Element::SmallIntVector) => fixed(INT2VECTOR, -1),
        DataType::Array(Element::OidVector) => fixed(OIDVECTOR, -1),
        // Rows of functions of the catalog have names, but no types that clients could look up.
        DataType::Struct(it) if it.is_row() || it.name().starts_with("information_schema.") => {
            fixed(RECORD, -1)
        }
        DataType::Struct(it) if !it.name().is_empty() => fixed(made_type(it.name()), -1),
        DataType::Array(Element::Struct(it)) if !it.name().is_empty() => {
            fixed(array_of_made(it.name()), -1)
        }
        DataType::Array(it) if matches!(it.data_type(), DataType::Struct(of) if of.is_row()) => {
            fixed(array_of(RECORD), -1)
        }
        // PostgreSQL's clients know none of them.
        it if types::structs::is_nested(it) => fixed(TEXT, -1),
        DataType::Struct(_) | DataType::Map(_) => fixed(TEXT, -1),
        DataType::Array(Element::Enum(it)) if !it.name().is_empty() => {
            fixed(array_of_made(it.name()), -1)
        }
        DataType::Array(element) => {
            let element = wire_type(element.data_type());
            WireType { oid: array_of(element.oid), size: -1, modifier: element.modifier }
        }
    }
}
