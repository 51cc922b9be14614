//! SQL data types.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::Whole;

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
    /// A span of months, days and microseconds ([`crate::numeric::interval::Interval`]).
    Interval,
    /// 128 bits that name something. Held as the 36 characters that it is written with.
    Uuid,
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
    /// Text of at most n characters.
    Varchar(u32),
    /// Text of any length.
    Text,
    /// A whole number of a range of its own, held as a plain number.
    Whole(Whole),
    /// Items of one type in up to six dimensions. Held as a text whose order is that of the arrays ([`crate::array`]).
    Array(Element),
}

impl DataType {
    /// The type as which columns, vectors and kernels hold values of this one: another name for the same integers, floats or
    /// texts, in the same order. Whoever holds, moves, compares or counts values asks this; whoever reads, writes or
    /// calculates with them asks the type itself.
    pub fn stored(self) -> Self {
        match self {
            Self::TimestampTz => Self::Timestamp,
            Self::Time => Self::BigInt,
            Self::Interval => Self::Decimal { precision: 38, scale: 0 },
            Self::Whole(it) => it.plain(),
            Self::Uuid | Self::Bytea | Self::Json | Self::Jsonb | Self::Array(_) => Self::Text,
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

    /// Whether values are text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Char(_) | Self::Bpchar | Self::Varchar(_) | Self::Text)
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

    /// Whether values are exact numbers.
    pub fn is_exact(self) -> bool {
        self.is_integer() || matches!(self, Self::Decimal { .. } | Self::Whole(_))
    }

    /// Whether values are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Real | Self::Double)
    }

    /// Whether one can calculate with values.
    pub fn is_numeric(self) -> bool {
        self.is_integer() || self.is_float() || matches!(self, Self::Decimal { .. })
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
            Self::UInteger => DataType::BigInt,
            Self::UBigInt => DataType::Decimal { precision: 20, scale: 0 },
            Self::HugeInt | Self::UHugeInt => DataType::Decimal { precision: 38, scale: 0 },
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
            Self::Date => f.write_str("DATE"),
            Self::Timestamp => f.write_str("TIMESTAMP"),
            Self::TimestampTz => f.write_str("TIMESTAMPTZ"),
            Self::Time => f.write_str("TIME"),
            Self::Interval => f.write_str("INTERVAL"),
            Self::Uuid => f.write_str("UUID"),
            Self::Bytea => f.write_str("BYTEA"),
            Self::Json => f.write_str("JSON"),
            Self::Jsonb => f.write_str("JSONB"),
            Self::Char(n) => write!(f, "CHAR({n})"),
            Self::Bpchar => f.write_str("BPCHAR"),
            Self::Varchar(n) => write!(f, "VARCHAR({n})"),
            Self::Text => f.write_str("TEXT"),
            Self::Whole(it) => f.write_str(it.name()),
            Self::Array(Element::SmallIntVector) => f.write_str("INT2VECTOR"),
            Self::Array(Element::OidVector) => f.write_str("OIDVECTOR"),
            Self::Array(element) => write!(f, "{}[]", element.data_type()),
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
            Whole(Whole),
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
                    Self::Whole(it) => DataType::Whole(it),
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
                    Self::Whole(it) => Element::Whole(it),
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
    Interval,
    Uuid,
    Bytea,
    Json,
    Jsonb,
    Bpchar,
    Text,
}
