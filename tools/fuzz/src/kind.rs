//! The SQL types that tables and expressions have.

use std::fmt;

/// A type as it is written in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    SmallInt,
    Integer,
    BigInt,
    Real,
    Double,
    /// Precision and scale.
    Decimal(u8, u8),
    /// Of any scale.
    Numeric,
    Boolean,
    Date,
    Timestamp,
    TimestampTz,
    Time,
    TimeTz,
    Interval,
    Uuid,
    Bytea,
    /// So many bits.
    Bit(u8),
    /// At most so many bits.
    Varbit(u8),
    /// Text of so many characters at most; 0 for any length.
    Varchar(u8),
    Char(u8),
    Text,
}

/// Types that compare with each other without a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Integer,
    Float,
    Decimal,
    Boolean,
    Date,
    Timestamp,
    /// Points of time with a time zone.
    Moment,
    Time,
    /// Times of a day with a time zone.
    Clock,
    Interval,
    Uuid,
    Bytes,
    Bits,
    Text,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Integer,
        Self::Float,
        Self::Decimal,
        Self::Boolean,
        Self::Date,
        Self::Timestamp,
        Self::Moment,
        Self::Time,
        Self::Clock,
        Self::Interval,
        Self::Uuid,
        Self::Bytes,
        Self::Bits,
        Self::Text,
    ];

    /// Whether one can calculate with it.
    pub fn numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Float | Self::Decimal)
    }

    /// The types of the class that columns have.
    pub fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Integer => &[Kind::SmallInt, Kind::Integer, Kind::Integer, Kind::BigInt],
            Self::Float => &[Kind::Real, Kind::Double, Kind::Double],
            Self::Decimal => &[
                Kind::Decimal(5, 0),
                Kind::Decimal(7, 2),
                Kind::Decimal(12, 4),
                Kind::Decimal(18, 6),
                Kind::Decimal(38, 10),
                Kind::Numeric,
                Kind::Numeric,
            ],
            Self::Boolean => &[Kind::Boolean],
            Self::Date => &[Kind::Date],
            Self::Timestamp => &[Kind::Timestamp],
            Self::Moment => &[Kind::TimestampTz],
            Self::Time => &[Kind::Time],
            Self::Clock => &[Kind::TimeTz],
            Self::Interval => &[Kind::Interval],
            Self::Uuid => &[Kind::Uuid],
            Self::Bytes => &[Kind::Bytea],
            Self::Bits => &[Kind::Bit(4), Kind::Varbit(12), Kind::Varbit(12)],
            Self::Text => {
                &[Kind::Text, Kind::Varchar(0), Kind::Varchar(8), Kind::Varchar(20), Kind::Char(4)]
            }
        }
    }

    /// The type that an expression of the class is said to have when nothing more exact is known.
    pub fn kind(self) -> Kind {
        match self {
            Self::Integer => Kind::Integer,
            Self::Float => Kind::Double,
            Self::Decimal => Kind::Decimal(18, 6),
            Self::Boolean => Kind::Boolean,
            Self::Date => Kind::Date,
            Self::Timestamp => Kind::Timestamp,
            Self::Moment => Kind::TimestampTz,
            Self::Time => Kind::Time,
            Self::Clock => Kind::TimeTz,
            Self::Interval => Kind::Interval,
            Self::Uuid => Kind::Uuid,
            Self::Bytes => Kind::Bytea,
            Self::Bits => Kind::Varbit(12),
            Self::Text => Kind::Text,
        }
    }
}

impl Kind {
    /// Its class.
    pub fn class(self) -> Class {
        match self {
            Self::SmallInt | Self::Integer | Self::BigInt => Class::Integer,
            Self::Real | Self::Double => Class::Float,
            Self::Decimal(..) | Self::Numeric => Class::Decimal,
            Self::Boolean => Class::Boolean,
            Self::Date => Class::Date,
            Self::Timestamp => Class::Timestamp,
            Self::TimestampTz => Class::Moment,
            Self::Time => Class::Time,
            Self::TimeTz => Class::Clock,
            Self::Interval => Class::Interval,
            Self::Uuid => Class::Uuid,
            Self::Bytea => Class::Bytes,
            Self::Bit(_) | Self::Varbit(_) => Class::Bits,
            Self::Varchar(_) | Self::Char(_) | Self::Text => Class::Text,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SmallInt => out.write_str("SMALLINT"),
            Self::Integer => out.write_str("INTEGER"),
            Self::BigInt => out.write_str("BIGINT"),
            Self::Real => out.write_str("REAL"),
            Self::Double => out.write_str("DOUBLE PRECISION"),
            Self::Numeric => out.write_str("NUMERIC"),
            Self::Decimal(precision, scale) => write!(out, "DECIMAL({precision}, {scale})"),
            Self::Boolean => out.write_str("BOOLEAN"),
            Self::Date => out.write_str("DATE"),
            Self::Timestamp => out.write_str("TIMESTAMP"),
            Self::TimestampTz => out.write_str("TIMESTAMPTZ"),
            Self::Time => out.write_str("TIME"),
            Self::TimeTz => out.write_str("TIMETZ"),
            Self::Interval => out.write_str("INTERVAL"),
            Self::Uuid => out.write_str("UUID"),
            Self::Bytea => out.write_str("BYTEA"),
            Self::Bit(length) => write!(out, "BIT({length})"),
            Self::Varbit(length) => write!(out, "BIT VARYING({length})"),
            Self::Varchar(0) => out.write_str("VARCHAR"),
            Self::Varchar(length) => write!(out, "VARCHAR({length})"),
            Self::Char(length) => write!(out, "CHAR({length})"),
            Self::Text => out.write_str("TEXT"),
        }
    }
}
