//! SQL data types.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::interned::Interned;
use crate::{Bits, EnumType, Network, Range, SqlError, SqlResult, SqlState, Whole, names};

/// The type of a column or an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum DataType {
    /// The type of a bare NULL.
    Null,
    /// TRUE or FALSE.
    Boolean,
    /// 16-bit integer.
    SmallInt,
    /// 32-bit integer.
    Integer,
    /// 64-bit integer.
    BigInt,
    /// 32-bit float.
    Real,
    /// 64-bit float.
    Double,
    /// Exact number of up to 38 digits.
    Decimal {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// A day, counted from 1970-01-01.
    Date,
    /// A point of time in microseconds from 1970-01-01, without zone.
    Timestamp,
    /// A point of time in microseconds from 1970-01-01 in UTC, shown in the zone of the session.
    TimestampTz,
    /// A time of day, in microseconds from midnight; 24:00 is one.
    Time,
    /// A time of day by clocks some way from UTC. Held as one number ([`crate::numeric::time_tz`]).
    TimeTz,
    /// A span of months, days and microseconds ([`crate::numeric::interval::Interval`]).
    Interval,
    /// 128 bits that name something. Held as the 36 characters that it is written with.
    Uuid,
    /// A string of bits. Held as a text of their digits ([`crate::numeric::bit_text`]).
    Bits(Bits),
    /// An address of a host or a network. Held as a text whose order is that of the addresses ([`crate::numeric::address`]).
    Network(Network),
    /// A string of bytes. Held as a text, each byte as the character of its number ([`crate::numeric::bytes`]).
    Bytea,
    /// JSON as it was written. Held as that text, which can be shown and taken apart, but not compared ([`crate::json`]).
    Json,
    /// JSON in one form, with each key once and in order. Held as the text of that form.
    Jsonb,
    /// Text of exactly n characters. It is held without the blanks at its end, which are put back where it is shown or
    /// matched with a pattern.
    Char(u32),
    /// CHAR of no one length: each text has the blanks at its end that it came with. They do not count in comparisons,
    /// and go where it becomes another type. Only expressions have it, where CHAR of several lengths meets.
    Bpchar,
    /// Text of at most n characters; [`DataType::VARCHAR`] has no limit.
    Varchar(u32),
    /// Text of any length.
    Text,
    /// Text of one character at most: `"char"`, of which the kinds of PostgreSQL's catalog are.
    Letter,
    /// What becomes it is cut to 63 bytes: `name`, of which the names in PostgreSQL's catalog are. Those of ours may be longer.
    Name,
    /// A whole number of a range of its own, held as a plain number.
    Whole(Whole),
    /// One of several labels, in their order. Held as the place of the label.
    Enum(EnumType),
    /// Items of one type in up to six dimensions. Held as a text whose order is that of the arrays ([`crate::array`]).
    Array(Element),
    /// Values of several types, with names or, in a row, without. Held as a text whose order is that of the structs
    /// ([`crate::structs`]).
    Struct(StructType),
    /// Values by keys. Held as an array of its entries, structs of this type.
    Map(StructType),
    /// Number of any scale, each with its own. Held as a text in the order of the numbers ([`crate::numeric::number`]).
    Numeric,
    /// All between two values. Held as a text whose order is that of the ranges ([`crate::ranges`]).
    Range(Range),
    /// Ranges that are apart from each other, in order. Held as such a text, too.
    Multirange(Range),
}

impl DataType {
    /// VARCHAR without a length: TEXT, but for what it is called.
    pub const VARCHAR: Self = Self::Varchar(u32::MAX);

    /// The type as which columns, vectors and kernels hold values of this one: another name for the same integers, floats or
    /// texts, in the same order. Whoever holds, moves, compares or counts values asks this; whoever reads, writes or
    /// calculates with them asks the type itself.
    pub fn stored(self) -> Self {
        match self {
            Self::TimestampTz => Self::Timestamp,
            Self::Time | Self::TimeTz => Self::BigInt,
            Self::Interval => Self::Decimal { precision: 38, scale: 0 },
            Self::Uuid | Self::Bytea | Self::Json | Self::Jsonb | Self::Numeric => Self::Text,
            Self::Array(_) | Self::Struct(_) | Self::Map(_) => Self::Text,
            Self::Letter | Self::Name | Self::Bits(_) | Self::Network(_) => Self::Text,
            Self::Range(_) | Self::Multirange(_) => Self::Text,
            Self::Whole(it) => it.plain(),
            Self::Enum(_) => Self::Integer,
            own => own,
        }
    }

    /// The type with which operators and functions know values of this one: of a declared one the type that it is made of.
    pub fn plain(self) -> Self {
        match self {
            Self::Whole(it) => it.plain(),
            own => own,
        }
    }

    /// Whether values of a type may be equal and yet be held otherwise, so that they are compared by keys.
    pub fn has_key(self) -> bool {
        match self {
            Self::Bpchar | Self::Interval | Self::Jsonb | Self::Numeric => true,
            Self::Range(it) | Self::Multirange(it) => it == Range::Num,
            Self::Array(it) => it.data_type().has_key(),
            Self::Struct(it) | Self::Map(it) => it.fields().iter().any(|it| it.data_type.has_key()),
            _ => false,
        }
    }

    /// The name of a type that users made ([`names::joined`]), if it has one of its own: an ENUM, or a type of rows.
    pub fn made_name(self) -> Option<&'static str> {
        match self {
            Self::Enum(it) => Some(it.name()),
            Self::Struct(it) => Some(it.name()),
            _ => None,
        }
        .filter(|it| !it.is_empty())
    }

    /// A type of ranges, or of sets of them, by what PostgreSQL calls it.
    pub fn range_by_name(name: &str) -> Option<Self> {
        let one = Range::by_name(name).map(Self::Range);
        one.or_else(|| Range::by_set_name(name).map(Self::Multirange))
    }

    /// The type of the ranges that values are, or are sets of.
    pub const fn range(self) -> Option<Range> {
        match self {
            Self::Range(it) | Self::Multirange(it) => Some(it),
            _ => None,
        }
    }

    /// Whether values have parts, and so go out as they are written: arrays, structs and maps.
    pub fn has_parts(self) -> bool {
        matches!(self, Self::Array(_) | Self::Struct(_) | Self::Map(_))
    }

    /// Whether values are text.
    pub fn is_text(self) -> bool {
        self.is_blank_padded() || self == Self::Text || self.is_cut_text()
    }

    /// Whether values are texts that are as those of TEXT, but cut to a length where they are stored or cast.
    pub fn is_cut_text(self) -> bool {
        matches!(self, Self::Varchar(_) | Self::Letter | Self::Name)
    }

    /// The characters that a type says its texts to have at most: the n of CHAR(n) and VARCHAR(n).
    pub fn said_length(self) -> Option<u32> {
        match self {
            Self::Char(n) | Self::Varchar(n) => Some(n).filter(|it| *it != u32::MAX),
            _ => None,
        }
    }

    /// Whether values are texts whose blanks at the end do not count.
    pub fn is_blank_padded(self) -> bool {
        matches!(self, Self::Char(_) | Self::Bpchar)
    }

    /// Whether values are JSON of either kind.
    pub fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonb)
    }

    /// Whether values are whole numbers.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::SmallInt | Self::Integer | Self::BigInt)
    }

    /// Whether values are exact numbers, held as integers.
    pub fn is_exact(self) -> bool {
        self.is_integer() || matches!(self, Self::Decimal { .. } | Self::Whole(_))
    }

    /// Whether values are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Real | Self::Double)
    }

    /// Whether one can calculate with values.
    pub fn is_numeric(self) -> bool {
        self.is_integer() || self.is_float() || matches!(self, Self::Decimal { .. } | Self::Numeric)
    }

    /// Digits after the point of an exact number, zero for integers.
    pub fn scale(self) -> u8 {
        match self {
            Self::Decimal { scale, .. } => scale,
            _ => 0,
        }
    }
}

impl Whole {
    /// The plain type as which values are held and calculated with.
    pub const fn plain(self) -> DataType {
        match self {
            Self::TinyInt | Self::UTinyInt => DataType::SmallInt,
            Self::USmallInt => DataType::Integer,
            Self::UInteger | Self::Oid => DataType::BigInt,
            Self::UBigInt => DataType::Decimal { precision: 20, scale: 0 },
            Self::HugeInt | Self::UHugeInt => DataType::Decimal { precision: 38, scale: 0 },
        }
    }
}

impl Range {
    /// The type of the values of its bounds.
    pub const fn bound(self) -> DataType {
        match self {
            Self::Int4 => DataType::Integer,
            Self::Int8 => DataType::BigInt,
            Self::Num => DataType::Numeric,
            Self::Date => DataType::Date,
            Self::Ts => DataType::Timestamp,
            Self::Tstz => DataType::TimestampTz,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::SmallInt => f.write_str("SMALLINT"),
            Self::Integer => f.write_str("INTEGER"),
            Self::BigInt => f.write_str("BIGINT"),
            Self::Real => f.write_str("REAL"),
            Self::Double => f.write_str("DOUBLE PRECISION"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision},{scale})"),
            Self::Numeric => f.write_str("NUMERIC"),
            Self::Date => f.write_str("DATE"),
            Self::Timestamp => f.write_str("TIMESTAMP"),
            Self::TimestampTz => f.write_str("TIMESTAMPTZ"),
            Self::Time => f.write_str("TIME"),
            Self::TimeTz => f.write_str("TIMETZ"),
            Self::Interval => f.write_str("INTERVAL"),
            Self::Uuid => f.write_str("UUID"),
            Self::Bits(it) => write!(f, "{it}"),
            Self::Network(it) => write!(f, "{it}"),
            Self::Range(it) => f.write_str(&it.name().to_uppercase()),
            Self::Multirange(it) => f.write_str(&it.set_name().to_uppercase()),
            Self::Bytea => f.write_str("BYTEA"),
            Self::Json => f.write_str("JSON"),
            Self::Jsonb => f.write_str("JSONB"),
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::Bpchar => f.write_str("BPCHAR"),
            Self::Varchar(u32::MAX) => f.write_str("VARCHAR"),
            Self::Varchar(n) => write!(f, "VARCHAR({n})"),
            Self::Text => f.write_str("TEXT"),
            Self::Letter => f.write_str("\"char\""),
            Self::Name => f.write_str("NAME"),
            Self::Whole(it) => f.write_str(it.name()),
            Self::Enum(it) => write!(f, "{it}"),
            Self::Array(Element::SmallIntVector) => f.write_str("INT2VECTOR"),
            Self::Array(Element::OidVector) => f.write_str("OIDVECTOR"),
            Self::Array(element) => write!(f, "{}[]", element.data_type()),
            Self::Struct(fields) => fields.fmt(f),
            Self::Map(entry) => {
                f.write_str("MAP(")?;
                for (number, field) in entry.fields().iter().enumerate() {
                    f.write_str(if number > 0 { ", " } else { "" })?;
                    field.data_type.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Makes the enum and both conversions from one list, so that they cannot drift.
macro_rules! elements {
    ($($plain:ident,)+) => {
        /// The type of the items of an array: any type but that of a bare NULL, and no array, as an array of several
        /// dimensions is of the type of one with one.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "each is the type of its name")]
        pub enum Element {
            $($plain,)+
            Decimal { precision: u8, scale: u8 },
            Char(u32),
            Varchar(u32),
            Struct(StructType),
            Map(StructType),
            Whole(Whole),
            Enum(EnumType),
            Bits(Bits),
            Network(Network),
            Range(Range),
            Multirange(Range),
            /// SMALLINT, in an `int2vector` of PostgreSQL's catalog: from 0 on, and written with blanks between.
            SmallIntVector,
            /// A number of the catalog in an `oidvector`.
            OidVector,
        }

        impl Element {
            /// The type of an item.
            pub const fn data_type(self) -> DataType {
                match self {
                    $(Self::$plain => DataType::$plain,)+
                    Self::Decimal { precision, scale } => DataType::Decimal { precision, scale },
                    Self::Char(length) => DataType::Char(length),
                    Self::Varchar(length) => DataType::Varchar(length),
                    Self::Struct(fields) => DataType::Struct(fields),
                    Self::Map(entry) => DataType::Map(entry),
                    Self::Whole(it) => DataType::Whole(it),
                    Self::Enum(it) => DataType::Enum(it),
                    Self::Bits(it) => DataType::Bits(it),
                    Self::Network(it) => DataType::Network(it),
                    Self::Range(it) => DataType::Range(it),
                    Self::Multirange(it) => DataType::Multirange(it),
                    Self::SmallIntVector => DataType::SmallInt,
                    Self::OidVector => DataType::BigInt,
                }
            }

            /// Whether its arrays are vectors of the catalog.
            pub const fn is_of_vector(self) -> bool {
                matches!(self, Self::SmallIntVector | Self::OidVector)
            }
        }

        impl DataType {
            /// The type of arrays of values of this one. `None` of an array, and of the type of a bare NULL.
            pub const fn array(self) -> Option<Self> {
                Some(Self::Array(match self {
                    $(Self::$plain => Element::$plain,)+
                    Self::Decimal { precision, scale } => Element::Decimal { precision, scale },
                    Self::Char(length) => Element::Char(length),
                    Self::Varchar(length) => Element::Varchar(length),
                    Self::Struct(fields) => Element::Struct(fields),
                    Self::Map(entry) => Element::Map(entry),
                    Self::Whole(it) => Element::Whole(it),
                    Self::Enum(it) => Element::Enum(it),
                    Self::Bits(it) => Element::Bits(it),
                    Self::Network(it) => Element::Network(it),
                    Self::Range(it) => Element::Range(it),
                    Self::Multirange(it) => Element::Multirange(it),
                    Self::Null | Self::Array(_) => return None,
                }))
            }

            /// The type of the items of an array; `None` of what is none.
            pub const fn element(self) -> Option<Self> {
                match self {
                    Self::Array(element) => Some(element.data_type()),
                    _ => None,
                }
            }
        }
    };
}

elements! {
    Boolean,
    SmallInt,
    Integer,
    BigInt,
    Real,
    Double,
    Date,
    Timestamp,
    TimestampTz,
    Time,
    TimeTz,
    Interval,
    Uuid,
    Bytea,
    Json,
    Jsonb,
    Bpchar,
    Text,
    Letter,
    Name,
    Numeric,
}

/// How deep struct types may nest.
pub const DEPTH_MAX: usize = 64;
/// Fields that a struct type may have, those of its fields counted.
pub const FIELDS_MAX: usize = 10_000;

static ALL: Interned<Fields> = Interned::new();

/// One field of a struct.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Its name, as written; empty in a row.
    pub name: Box<str>,
    /// Its type.
    pub data_type: DataType,
}

impl Field {
    /// A field.
    pub fn new(name: impl Into<Box<str>>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type }
    }
}

/// The fields of a struct type: what is equal is the same.
#[derive(Clone, Copy)]
pub struct StructType(&'static Fields);

#[derive(PartialEq, Eq, Hash)]
struct Fields {
    /// Its name as a type that a user made ([`names::joined`]); empty where it has none.
    name: Box<str>,
    all: Vec<Field>,
    /// Levels of structs, this one among them.
    depth: usize,
    /// Fields in all.
    count: usize,
}

impl StructType {
    /// The type of these fields: all of them have names, each its own whatever the case of its letters, or none has one.
    ///
    /// # Errors
    /// 42701 for a name that two fields have, 54000 for more fields or levels than there may be.
    pub fn new(fields: Vec<Field>) -> SqlResult<Self> {
        Self::named("", fields)
    }

    /// The type of these fields under a name of its own ([`names::joined`]), empty for none: what PostgreSQL calls a composite
    /// type, whose values are written as rows.
    ///
    /// # Errors
    /// As of [`StructType::new`].
    pub fn named(name: &str, fields: Vec<Field>) -> SqlResult<Self> {
        let inner = |it: &Field| match it.data_type.element().unwrap_or(it.data_type) {
            DataType::Struct(it) | DataType::Map(it) => (it.0.depth, it.0.count),
            _ => (0, 0),
        };
        let (mut depth, mut count, mut bytes) = (0, fields.len(), name.len());
        for field in &fields {
            let (below, more) = inner(field);
            depth = depth.max(below);
            count += more;
            bytes += size_of::<Field>() + field.name.len();
        }
        let limited = |what, most| {
            let message = format!("a struct type may not have more than {most} {what}");
            Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
        };
        if count > FIELDS_MAX {
            return limited("fields", FIELDS_MAX);
        }
        if depth >= DEPTH_MAX {
            return limited("levels", DEPTH_MAX);
        }
        let mut names: Vec<String> = fields.iter().map(|it| it.name.to_lowercase()).collect();
        names.sort_unstable();
        if let Some(two) = names.windows(2).find(|it| it[0] == it[1] && !it[0].is_empty()) {
            let message = format!("the name \"{}\" is given to several fields of a struct", two[0]);
            return Err(SqlError::new(SqlState("42701"), message));
        }
        if names.iter().any(String::is_empty) && names.iter().any(|it| !it.is_empty()) {
            return Err(SqlError::new(SqlState::SYNTAX, "a field of a struct has no name"));
        }
        let name = name.into();
        ALL.keep(Fields { name, all: fields, depth: depth + 1, count }, bytes).map(Self)
    }

    /// The type of rows of values of these types, which have no names.
    ///
    /// # Errors
    /// As of [`StructType::new`].
    pub fn row(types: impl IntoIterator<Item = DataType>) -> SqlResult<Self> {
        Self::new(types.into_iter().map(|it| Field::new("", it)).collect())
    }

    /// The type of the entries of a map.
    ///
    /// # Errors
    /// 0A000 for keys that may be equal and be held otherwise, and those of [`StructType::new`].
    pub fn entry(key: DataType, value: DataType) -> SqlResult<Self> {
        if key.has_key() || key == DataType::Json {
            return Err(SqlError::unsupported(format!(
                "a map with keys of {key} is not supported"
            )));
        }
        Self::new(vec![Field::new("key", key), Field::new("value", value)])
    }

    /// Its fields, in order.
    pub fn fields(self) -> &'static [Field] {
        &self.0.all
    }

    /// The same fields, each of the type that `change` makes of its own.
    ///
    /// # Errors
    /// As of [`StructType::new`].
    pub fn with_types(self, mut change: impl FnMut(DataType) -> DataType) -> SqlResult<Self> {
        let changed = |it: &Field| Field::new(it.name.clone(), change(it.data_type));
        Self::named(self.name(), self.fields().iter().map(changed).collect())
    }

    /// Its name as a type that a user made ([`names::joined`]); empty where it has none.
    pub fn name(self) -> &'static str {
        &self.0.name
    }

    /// Whether its values are written as PostgreSQL writes rows: `(1,x)`.
    pub fn is_record(self) -> bool {
        self.is_row() || !self.name().is_empty()
    }

    /// Whether its fields have no names.
    pub fn is_row(self) -> bool {
        self.fields().first().is_none_or(|it| it.name.is_empty())
    }

    /// The place of a field by name: the case of letters counts only where it tells fields apart.
    pub fn find(self, name: &str) -> Option<usize> {
        let exact = self.fields().iter().position(|it| *it.name == *name);
        let lower = name.to_lowercase();
        let alike = || self.fields().iter().position(|it| it.name.to_lowercase() == lower);
        exact.or_else(alike).filter(|_| !name.is_empty())
    }
}

impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for StructType {}

impl Hash for StructType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Debug for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for StructType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name().is_empty() {
            return f.write_str(&names::sql(self.name()));
        }
        f.write_str(if self.is_row() { "ROW(" } else { "STRUCT(" })?;
        for (number, field) in self.fields().iter().enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            match &*field.name {
                "" => {}
                name => write!(f, "{} ", names::quoted(name))?,
            }
            fmt::Display::fmt(&field.data_type, f)?;
        }
        f.write_str(")")
    }
}

impl Serialize for StructType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Without a name it is what it was before there were names.
        match (serializer.is_human_readable(), self.name()) {
            (true, "") => self.0.all.serialize(serializer),
            _ => NamedFields { name: &self.0.name, fields: &self.0.all }.serialize(serializer),
        }
    }
}

/// A struct type that may have a name, as it is written.
#[derive(Serialize)]
#[serde(rename = "StructType")]
struct NamedFields<'a> {
    name: &'a str,
    fields: &'a [Field],
}

/// The same as it is read.
#[derive(Deserialize)]
#[serde(rename = "StructType")]
struct ReadFields {
    name: String,
    fields: Vec<Field>,
}

/// Either form, where what is read tells which it is.
#[derive(Deserialize)]
#[serde(untagged)]
enum EitherFields {
    Plain(Vec<Field>),
    Named(ReadFields),
}

impl<'de> Deserialize<'de> for StructType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match deserializer.is_human_readable() {
            true => EitherFields::deserialize(deserializer)?,
            false => EitherFields::Named(ReadFields::deserialize(deserializer)?),
        };
        let (name, fields) = match read {
            EitherFields::Plain(fields) => (String::new(), fields),
            EitherFields::Named(it) => (it.name, it.fields),
        };
        Self::named(&name, fields).map_err(|it| D::Error::custom(it.message))
    }
}
