//! What the columns of a table are called and hold, and how that maps to Arrow.

use arrow_schema::{DataType as ArrowType, Field, Fields, IntervalUnit, TimeUnit};
use stdx::sync::Arc;
use types::structs::{self, StructType};
use types::{DataType, Element, SqlError, SqlResult, Whole};

/// A column before it has rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnSchema {
    /// Its name, as written.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may hold NULL.
    pub nullable: bool,
}

impl ColumnSchema {
    /// A column.
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> Self {
        Self { name: name.into(), data_type, nullable }
    }
}

/// The Arrow type of values of a type as the engine holds them; [`crate::outside`] says what others see.
pub fn arrow_type(data_type: DataType) -> ArrowType {
    match data_type.stored() {
        DataType::Null => ArrowType::Null,
        DataType::Boolean => ArrowType::Boolean,
        DataType::SmallInt => ArrowType::Int16,
        DataType::Integer => ArrowType::Int32,
        DataType::BigInt => ArrowType::Int64,
        DataType::Real => ArrowType::Float32,
        DataType::Double => ArrowType::Float64,
        // A scale is at most 38.
        DataType::Decimal { precision, scale } => ArrowType::Decimal128(precision, scale as i8),
        DataType::Date => ArrowType::Date32,
        DataType::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Char(_) | DataType::Bpchar | DataType::Varchar(_) | DataType::Text => {
            ArrowType::Utf8
        }
        held => unreachable!("invariant: {held} is not held as itself"),
    }
}

/// How Arrow tells what fixed bytes are (its canonical extensions).
pub(crate) const EXTENSION: &str = "ARROW:extension:name";
/// The extension of UUIDs.
pub(crate) const UUID: &str = "arrow.uuid";

/// The extension of texts that hold arrays, as tables of the catalog have them.
const HELD_ARRAY: &str = "nodewise.array";
/// The types of their items, by the names that the extension's metadata has.
const HELD_ITEMS: [(&str, Element); 7] = [
    ("oid", Element::Whole(Whole::Oid)),
    ("smallint", Element::SmallInt),
    ("bigint", Element::BigInt),
    ("text", Element::Text),
    ("name", Element::Name),
    ("int2vector", Element::SmallIntVector),
    ("oidvector", Element::OidVector),
];
const EXTENSION_METADATA: &str = "ARROW:extension:metadata";

/// The extensions of texts that are `"char"` or `name`, and of integers that are numbers of the catalog.
const LETTER: &str = "nodewise.letter";
const NAME: &str = "nodewise.name";
const OID: &str = "nodewise.oid";

/// A field of `"char"`.
pub fn letter_field(name: &str) -> Field {
    marked(Field::new(name, ArrowType::Utf8, true), LETTER)
}

/// A field of `name`.
pub fn name_field(name: &str) -> Field {
    marked(Field::new(name, ArrowType::Utf8, true), NAME)
}

/// A field of numbers of the catalog.
pub fn oid_field(name: &str) -> Field {
    marked(Field::new(name, ArrowType::Int64, true), OID)
}

fn marked(field: Field, extension: &str) -> Field {
    field.with_metadata([(EXTENSION.to_owned(), extension.to_owned())].into())
}

fn is_marked(field: &Field, extension: &str) -> bool {
    field.metadata().get(EXTENSION).is_some_and(|it| it == extension)
}

/// A field of texts that hold arrays of small integers (`smallint`), integers (`bigint`), numbers of the catalog (`oid`), texts (`text`) or names (`name`), or
/// vectors of PostgreSQL's catalog (`int2vector`, `oidvector`).
pub fn held_array_field(name: &str, item: &str) -> Field {
    let metadata = [(EXTENSION, HELD_ARRAY), (EXTENSION_METADATA, item)];
    let metadata = metadata.map(|it| (it.0.to_owned(), it.1.to_owned())).into();
    Field::new(name, ArrowType::Utf8, true).with_metadata(metadata)
}

/// The type of the arrays that texts hold; `None` where they are but texts.
fn held_array(field: &Field) -> Option<DataType> {
    let metadata = field.metadata();
    metadata.get(EXTENSION).filter(|it| *it == HELD_ARRAY)?;
    let item = metadata.get(EXTENSION_METADATA)?;
    HELD_ITEMS.iter().find(|it| it.0 == item).map(|it| DataType::Array(it.1))
}

/// Whether 16 bytes are a UUID.
fn is_uuid(field: &Field) -> bool {
    is_marked(field, UUID)
}

/// The SQL type that an Arrow column is loaded as. `source` names the file or query in the error.
pub fn sql_type(field: &Field, source: &str) -> SqlResult<DataType> {
    let decimal = |precision: u8, scale: i8| match u8::try_from(scale) {
        Ok(scale) if (scale.max(1)..=38).contains(&precision) => {
            Some(DataType::Decimal { precision, scale })
        }
        _ => None,
    };
    let found = match field.data_type() {
        ArrowType::Boolean => Some(DataType::Boolean),
        ArrowType::Int8 => Some(DataType::Whole(Whole::TinyInt)),
        ArrowType::UInt8 => Some(DataType::Whole(Whole::UTinyInt)),
        ArrowType::UInt16 => Some(DataType::Whole(Whole::USmallInt)),
        ArrowType::UInt32 => Some(DataType::Whole(Whole::UInteger)),
        ArrowType::UInt64 => Some(DataType::Whole(Whole::UBigInt)),
        ArrowType::Int16 => Some(DataType::SmallInt),
        ArrowType::Int32 => Some(DataType::Integer),
        ArrowType::Int64 if is_marked(field, OID) => Some(DataType::Whole(Whole::Oid)),
        ArrowType::Int64 => Some(DataType::BigInt),
        ArrowType::Float16 | ArrowType::Float32 => Some(DataType::Real),
        ArrowType::Float64 => Some(DataType::Double),
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale) => decimal(*precision, *scale),
        // Of more digits than ours have.
        ArrowType::Decimal256(39.., 0..) => Some(DataType::Numeric),
        ArrowType::Decimal256(precision, scale) => decimal(*precision, *scale),
        ArrowType::Date32 | ArrowType::Date64 => Some(DataType::Date),
        ArrowType::Timestamp(_, None) => Some(DataType::Timestamp),
        ArrowType::Timestamp(_, Some(_)) => Some(DataType::TimestampTz),
        ArrowType::Time32(_) | ArrowType::Time64(_) => Some(DataType::Time),
        ArrowType::Interval(IntervalUnit::MonthDayNano) => Some(DataType::Interval),
        ArrowType::FixedSizeBinary(16) if is_uuid(field) => Some(DataType::Uuid),
        ArrowType::Binary
        | ArrowType::LargeBinary
        | ArrowType::BinaryView
        | ArrowType::FixedSizeBinary(_) => Some(DataType::Bytea),
        ArrowType::Utf8 if held_array(field).is_some() => held_array(field),
        ArrowType::Utf8 if is_marked(field, LETTER) => Some(DataType::Letter),
        ArrowType::Utf8 if is_marked(field, NAME) => Some(DataType::Name),
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => Some(DataType::Text),
        ArrowType::Dictionary(_, values) => {
            let inner = Field::new(field.name(), (**values).clone(), true);
            return sql_type(&inner, source);
        }
        ArrowType::List(item) | ArrowType::LargeList(item) | ArrowType::FixedSizeList(item, _) => {
            // Lists of lists may be of lengths that no array has.
            sql_type(item, source).ok().and_then(DataType::array)
        }
        ArrowType::Struct(fields) => fields_of(fields, source).map(DataType::Struct),
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(fields) if fields.len() == 2 => {
                let of = fields_of(fields, source);
                let entry = of.map(|it| (it.fields()[0].data_type, it.fields()[1].data_type));
                let entry = entry.and_then(|it| StructType::entry(it.0, it.1).ok());
                entry.map(DataType::Map)
            }
            _ => None,
        },
        _ => None,
    };
    found.ok_or_else(|| {
        SqlError::unsupported(format!(
            "column {:?} of {source} has the type {}, which Nodewise does not store",
            field.name(),
            field.data_type()
        ))
    })
}

/// The fields of structs of Arrow, where all of them are stored.
fn fields_of(fields: &Fields, source: &str) -> Option<StructType> {
    let field = |it: &Arc<Field>| {
        let data_type = sql_type(it, source).ok()?;
        Some(structs::Field::new(it.name().as_str(), data_type))
    };
    StructType::new(fields.iter().map(field).collect::<Option<Vec<_>>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::SqlState;

    #[test]
    fn types_map_there_and_back() {
        for data_type in [
            DataType::Boolean,
            DataType::SmallInt,
            DataType::Integer,
            DataType::BigInt,
            DataType::Real,
            DataType::Double,
            DataType::Decimal { precision: 38, scale: 10 },
            DataType::Date,
            DataType::Timestamp,
            DataType::Text,
        ] {
            let field = Field::new("c", arrow_type(data_type), true);
            assert_eq!(sql_type(&field, "f").unwrap(), data_type);
        }
    }

    #[test]
    fn what_cannot_be_stored_is_named() {
        for arrow in [
            ArrowType::Decimal256(76, -1),
            ArrowType::Decimal128(5, -2),
            ArrowType::Decimal128(5, 6),
            ArrowType::Decimal128(0, 0),
            ArrowType::Duration(TimeUnit::Second),
        ] {
            let error = sql_type(&Field::new("c", arrow, true), "f.parquet").unwrap_err();
            assert_eq!(error.state, SqlState::FEATURE_NOT_SUPPORTED);
            assert!(error.message.contains("\"c\" of f.parquet"), "{error}");
        }
    }
}
