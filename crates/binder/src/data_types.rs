//! Types as SQL text names them.

use sqlparser::ast;
use types::structs::{Field, StructType};
use types::{Bits, DataType, EnumType, Network, SqlError, SqlResult, SqlState, Whole, names};

use crate::interval_fields::limits;
use crate::struct_words::{KEY, VALUE};
use crate::syntax::{ident, unsupported};

/// Characters of CHAR(n) and VARCHAR(n), which is PostgreSQL's limit; and bits, of which it has eight times as many.
const LENGTH_MAX: u32 = 10_485_760;

/// The types that there are, as a hint.
const TYPES: &str = "the types are BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE PRECISION, DECIMAL(p,s), DATE, TIME, \
    TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL, UUID, INET, CIDR, INT4RANGE, INT4MULTIRANGE and the like, BYTEA, BIT(n), BIT VARYING(n), JSON, JSONB, CHAR(n), VARCHAR(n), TEXT, \
    TINYINT, UTINYINT, USMALLINT, \
    UINTEGER, UBIGINT, HUGEINT, UHUGEINT, \
    STRUCT(name type, ..), MAP(type, type) and arrays of them";

/// Types of PostgreSQL that we do not have.
const OF_POSTGRES: [&str; 20] = [
    "box",
    "circle",
    "line",
    "lseg",
    "macaddr",
    "macaddr8",
    "money",
    "path",
    "pg_lsn",
    "point",
    "polygon",
    "regclass",
    "regoper",
    "regprocedure",
    "regrole",
    "regtype",
    "tsquery",
    "tsvector",
    "xid8",
    "xml",
];

/// The type that SQL text names.
pub(crate) fn data_type(sql: &ast::DataType) -> SqlResult<DataType> {
    data_type_with(sql, &|_| Ok(None))
}

/// Tells what a name, as `types::names::written` has it, means as a type that users made.
pub type FindType<'a> = &'a dyn Fn(&str) -> SqlResult<Option<DataType>>;

/// The type that SQL text names, among those that users made, too.
pub(crate) fn data_type_with(sql: &ast::DataType, find: FindType<'_>) -> SqlResult<DataType> {
    use ast::DataType as Sql;
    Ok(match sql {
        Sql::Boolean | Sql::Bool => DataType::Boolean,
        it if let Some(whole) = whole_number(it) => whole,
        Sql::Real | Sql::Float4 => DataType::Real,
        Sql::Double(ast::ExactNumberInfo::None)
        | Sql::DoublePrecision
        | Sql::Float8
        | Sql::Float(ast::ExactNumberInfo::None) => DataType::Double,
        Sql::Float(ast::ExactNumberInfo::Precision(bits)) => match bits {
            1..=24 => DataType::Real,
            25..=53 => DataType::Double,
            _ => {
                let message = "precision for type float must be from 1 to 53 bits";
                return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
            }
        },
        Sql::TinyInt(Some(_))
        | Sql::SmallInt(_)
        | Sql::Int2(_)
        | Sql::Int(_)
        | Sql::Integer(_)
        | Sql::Int4(_)
        | Sql::BigInt(_)
        | Sql::Int8(_)
        | Sql::Double(_)
        | Sql::Float(_) => {
            let message = format!("syntax error: the type {sql} takes no such number");
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        Sql::Decimal(it) | Sql::Numeric(it) | Sql::Dec(it) => return decimal(it, sql),
        Sql::Date => DataType::Date,
        Sql::Timestamp(None | Some(6), _)
        | Sql::Time(None | Some(6), _)
        | Sql::Interval { fields: None, precision: None | Some(6) } => without_fields(sql)?,
        Sql::Uuid => DataType::Uuid,
        Sql::Bytea | Sql::Blob(None) => DataType::Bytea,
        Sql::Bit(said) => DataType::Bits(Bits::Fixed(bits(said, "bit")?.unwrap_or(1))),
        Sql::BitVarying(said) | Sql::VarBit(said) => {
            DataType::Bits(bits(said, "varbit")?.map_or(Bits::AnyVarying, Bits::Varying))
        }
        Sql::JSON => DataType::Json,
        Sql::JSONB => DataType::Jsonb,
        Sql::Char(it) | Sql::Character(it) => DataType::Char(length(it, "char")?.unwrap_or(1)),
        Sql::Varchar(it) | Sql::CharVarying(it) | Sql::CharacterVarying(it) => {
            length(it, "varchar")?.map_or(DataType::VARCHAR, DataType::Varchar)
        }
        Sql::Text | Sql::String(None) => DataType::Text,
        // PostgreSQL lets one say lengths and does not keep them, nor how many dimensions there are.
        Sql::Array(
            ast::ArrayElemTypeDef::SquareBracket(element, _)
            | ast::ArrayElemTypeDef::AngleBracket(element),
        ) => array_of(data_type_with(element, find)?),
        Sql::Struct(fields, _) => return struct_type(fields, find),
        Sql::Enum(members, None) => DataType::Enum(EnumType::new("", labels(members)?)?),
        // Types of PostgreSQL's catalog, as the nearest of ours.
        Sql::Custom(name, arguments) if arguments.is_empty() && catalog_type(name).is_some() => {
            catalog_type(name).unwrap_or(DataType::Text)
        }
        other => match user_type(other) {
            Some(name) => find(&name)?.ok_or_else(|| no_type(&name))?,
            None => return Err(unsupported(format!("the type {other}")).with_hint(TYPES)),
        },
    })
}

/// A type of times, of intervals or of numbers, whatever fields and digits it says
/// ([`crate::interval_fields::fields_of_type`]).
pub(crate) fn without_fields(sql: &ast::DataType) -> SqlResult<DataType> {
    use ast::DataType as Sql;
    use ast::TimezoneInfo::{None, Tz, WithTimeZone, WithoutTimeZone};
    Ok(match sql {
        Sql::Timestamp(_, None | WithoutTimeZone) => DataType::Timestamp,
        Sql::Timestamp(_, WithTimeZone | Tz) => DataType::TimestampTz,
        Sql::Time(_, None | WithoutTimeZone) => DataType::Time,
        Sql::Time(_, WithTimeZone | Tz) => DataType::TimeTz,
        Sql::Interval { .. } => DataType::Interval,
        Sql::Decimal(_) | Sql::Numeric(_) | Sql::Dec(_) => DataType::Numeric,
        other => return Err(unsupported(format!("the type {other}")).with_hint(TYPES)),
    })
}

/// The type of a struct, or of a map.
fn struct_type(fields: &[ast::StructField], find: FindType<'_>) -> SqlResult<DataType> {
    let mut made = Vec::with_capacity(fields.len());
    for field in fields {
        let name = field.field_name.as_ref().filter(|_| field.options.is_none());
        let Some(name) = name else {
            return Err(unsupported("a struct type with a field without a name, or with options"));
        };
        made.push(Field::new(ident(name), data_type_with(&field.field_type, find)?));
    }
    match &made[..] {
        [key, value] if (&*key.name, &*value.name) == (KEY, VALUE) => {
            Ok(DataType::Map(StructType::entry(key.data_type, value.data_type)?))
        }
        _ => Ok(DataType::Struct(StructType::new(made)?)),
    }
}

/// 42704: there is no type of a name.
pub fn no_type(name: &str) -> SqlError {
    let bare = names::bare(name);
    if OF_POSTGRES.contains(&&*bare) {
        return unsupported(format!("the type {bare}")).with_hint(TYPES);
    }
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("type \"{name}\" does not exist"))
        .with_hint(TYPES)
}

/// The name of a type that is none of ours, so that only users may have made it.
pub(crate) fn user_type(sql: &ast::DataType) -> Option<String> {
    match sql {
        ast::DataType::Custom(name, arguments)
            if arguments.is_empty() && catalog_type(name).is_none() =>
        {
            let parts = name.0.iter().map(|it| it.as_ident().map(ident));
            Some(names::written(&parts.collect::<Option<Vec<_>>>()?))
        }
        _ => None,
    }
}

/// The name of the type that users made which a type, or what its arrays hold, is.
fn made_type(sql: &ast::DataType) -> Option<String> {
    match sql {
        ast::DataType::Array(
            ast::ArrayElemTypeDef::SquareBracket(element, _)
            | ast::ArrayElemTypeDef::AngleBracket(element),
        ) => made_type(element),
        other => user_type(other),
    }
}

/// The labels of `ENUM('a', 'b')`.
fn labels(members: &[ast::EnumMember]) -> SqlResult<Vec<String>> {
    let label = |it: &ast::EnumMember| match it {
        ast::EnumMember::Name(label) => Ok(label.clone()),
        ast::EnumMember::NamedValue(..) => Err(unsupported("a number of a label")),
    };
    members.iter().map(label).collect()
}

/// A type of whole numbers that is a word of the parser's.
fn whole_number(sql: &ast::DataType) -> Option<DataType> {
    use ast::DataType as Sql;
    Some(match sql {
        Sql::SmallInt(None) | Sql::Int2(None) | Sql::Int16 => DataType::SmallInt,
        Sql::Int(None) | Sql::Integer(None) | Sql::Int4(None) | Sql::Int32 => DataType::Integer,
        Sql::BigInt(None) | Sql::Int8(None) | Sql::Int64 => DataType::BigInt,
        Sql::TinyInt(None) => DataType::Whole(Whole::TinyInt),
        Sql::UTinyInt | Sql::UInt8 => DataType::Whole(Whole::UTinyInt),
        Sql::USmallInt | Sql::UInt16 => DataType::Whole(Whole::USmallInt),
        Sql::UInt32 => DataType::Whole(Whole::UInteger),
        Sql::UBigInt | Sql::UInt64 => DataType::Whole(Whole::UBigInt),
        Sql::HugeInt | Sql::Int128 => DataType::Whole(Whole::HugeInt),
        Sql::UHugeInt | Sql::UInt128 => DataType::Whole(Whole::UHugeInt),
        _ => return None,
    })
}

/// Arrays of a type; those of arrays have a dimension more, and the same type.
fn array_of(element: DataType) -> DataType {
    match element {
        array @ DataType::Array(_) => array,
        element => element.array().unwrap_or(DataType::Null),
    }
}

/// A type by a name that is no word of the parser's: one of the catalog, or one with its schema before it.
fn catalog_type(name: &ast::ObjectName) -> Option<DataType> {
    let parts = name.0.iter().map(|it| it.as_ident()).collect::<Option<Vec<_>>>()?;
    let name = match parts.as_slice() {
        [name] => name,
        [schema, name] if schema.value.eq_ignore_ascii_case("pg_catalog") => name,
        _ => return None,
    };
    let is_known = parts.len() == 2 || name.value == "name" || name.quote_style.is_some();
    let word = name.value.to_lowercase();
    // PostgreSQL calls the type of arrays of one by its name behind `_`.
    if let Some(element) = word.strip_prefix('_') {
        return catalog_word(element, true, false).or_else(|| array_word(element)).map(array_of);
    }
    catalog_word(&word, is_known, parts.len() == 1)
}

/// Types that are words of the parser's, as names of the types of their arrays have them.
fn array_word(word: &str) -> Option<DataType> {
    match word {
        "numeric" => Some(DataType::Numeric),
        "varchar" => Some(DataType::VARCHAR),
        _ => None,
    }
}

/// A type by one word in small letters. `is_name`: whether `name` and `char` are PostgreSQL's types; `is_bare`: whether nothing stands
/// before it, so that it may be one of DuckDB's.
fn catalog_word(word: &str, is_name: bool, is_bare: bool) -> Option<DataType> {
    Some(match word {
        "oid" => DataType::Whole(Whole::Oid),
        "bpchar" => DataType::Bpchar,
        "xid" | "regnamespace" | "regproc" => DataType::BigInt,
        "name" if is_name => DataType::Name,
        "char" if is_name => DataType::Letter,
        // The word alone is the type of one bit.
        "bit" if is_name => DataType::Bits(Bits::Any),
        "varbit" => DataType::Bits(Bits::AnyVarying),
        "bitstring" if is_bare => DataType::Bits(Bits::AnyVarying),
        "bool" => DataType::Boolean,
        "int2" => DataType::SmallInt,
        "int4" => DataType::Integer,
        "int8" => DataType::BigInt,
        "float4" => DataType::Real,
        "float8" => DataType::Double,
        "text" => DataType::Text,
        "date" => DataType::Date,
        "timestamp" => DataType::Timestamp,
        "timestamptz" => DataType::TimestampTz,
        "time" => DataType::Time,
        "timetz" => DataType::TimeTz,
        "interval" => DataType::Interval,
        "uuid" => DataType::Uuid,
        "inet" => DataType::Network(Network::Inet),
        "cidr" => DataType::Network(Network::Cidr),
        "bytea" => DataType::Bytea,
        "json" => DataType::Json,
        "jsonb" => DataType::Jsonb,
        other if let Some(range) = DataType::range_by_name(other) => range,
        other if is_bare => DataType::Whole(Whole::by_name(other)?),
        _ => return None,
    })
}

/// The length of a type of texts, in characters.
fn length(said: &Option<ast::CharacterLength>, of: &str) -> SqlResult<Option<u32>> {
    let invalid = |message| Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    match said {
        None => Ok(None),
        Some(ast::CharacterLength::IntegerLength { length: 0, .. }) => {
            invalid(format!("length for type {of} must be at least 1"))
        }
        Some(ast::CharacterLength::IntegerLength {
            length,
            unit: None | Some(ast::CharLengthUnits::Characters),
        }) => match u32::try_from(*length) {
            Ok(length @ ..=LENGTH_MAX) => Ok(Some(length)),
            Err(_) => {
                let message = format!("syntax error: {length} is no length of {of}");
                Err(SqlError::new(SqlState::SYNTAX, message))
            }
            _ => invalid(format!("length for type {of} cannot exceed {LENGTH_MAX}")),
        },
        Some(other) => {
            let message = format!("syntax error: {other} is no length of {of}");
            Err(SqlError::new(SqlState::SYNTAX, message))
        }
    }
}

/// The length of a type of bits.
fn bits(said: &Option<u64>, of: &str) -> SqlResult<Option<u32>> {
    let invalid = |message| Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    match said.map(u32::try_from) {
        None => Ok(None),
        Some(Ok(0)) => invalid(format!("length for type {of} must be at least 1")),
        Some(Ok(length @ ..=LENGTH_MAX)) => Ok(Some(length)),
        _ => invalid(format!("length for type {of} cannot exceed {LENGTH_MAX}")),
    }
}

/// What PostgreSQL calls a type of ours; it names columns without a name of their own.
pub(crate) fn type_name(sql: &ast::DataType) -> Option<String> {
    if let Some(name) = made_type(sql) {
        return Some(names::bare(&name));
    }
    let data_type = data_type(sql).or_else(|_| without_fields(sql)).ok()?;
    let name = match data_type.element().unwrap_or(data_type) {
        DataType::Null | DataType::Array(_) => return None,
        DataType::Struct(_) => "struct",
        DataType::Map(_) => "map",
        DataType::Enum(it) => return Some(names::bare(it.name())),
        DataType::Boolean => "bool",
        DataType::SmallInt => "int2",
        DataType::Integer => "int4",
        DataType::BigInt => "int8",
        DataType::Real => "float4",
        DataType::Double => "float8",
        DataType::Decimal { .. } | DataType::Numeric => "numeric",
        DataType::Date => "date",
        DataType::Timestamp => "timestamp",
        DataType::TimestampTz => "timestamptz",
        DataType::Time => "time",
        DataType::TimeTz => "timetz",
        DataType::Interval => "interval",
        DataType::Network(it) => it.name(),
        DataType::Range(it) => it.name(),
        DataType::Multirange(it) => it.set_name(),
        DataType::Uuid => "uuid",
        DataType::Bits(it) => {
            if it.is_varying() {
                "varbit"
            } else {
                "bit"
            }
        }
        DataType::Bytea => "bytea",
        DataType::Json => "json",
        DataType::Jsonb => "jsonb",
        DataType::Char(_) | DataType::Bpchar => "bpchar",
        DataType::Varchar(_) => "varchar",
        DataType::Text => "text",
        DataType::Letter => "char",
        DataType::Name => "name",
        DataType::Whole(it) => return Some(it.name().to_lowercase()),
    };
    Some(name.to_owned())
}

fn decimal(info: &ast::ExactNumberInfo, sql: &ast::DataType) -> SqlResult<DataType> {
    let (precision, scale) = match info {
        ast::ExactNumberInfo::None => return Ok(DataType::Numeric),
        ast::ExactNumberInfo::Precision(precision) => (*precision, 0),
        ast::ExactNumberInfo::PrecisionAndScale(precision, scale) => (*precision, *scale),
    };
    match (limits(sql)?, u8::try_from(precision), u8::try_from(scale)) {
        (None, Ok(precision), Ok(scale)) => Ok(DataType::Decimal { precision, scale }),
        _ => Err(unsupported(format!("the type {sql}")).with_hint(
            "columns of tables and casts have it; elsewhere a type of numbers has 1 to 38 digits, and no more behind the \
             point than in all",
        )),
    }
}
