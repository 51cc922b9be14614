//! Types of ranges, by what lies between their bounds.

use serde::{Deserialize, Serialize};

/// A type of ranges, and that of sets of such ranges.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Range {
    /// Of INTEGER.
    Int4,
    /// Of BIGINT.
    Int8,
    /// Of NUMERIC.
    Num,
    /// Of DATE.
    Date,
    /// Of TIMESTAMP.
    Ts,
    /// Of TIMESTAMPTZ.
    Tstz,
}

impl Range {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Int4, Self::Int8, Self::Num, Self::Date, Self::Ts, Self::Tstz];

    /// What PostgreSQL calls one range.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int4 => "int4range",
            Self::Int8 => "int8range",
            Self::Num => "numrange",
            Self::Date => "daterange",
            Self::Ts => "tsrange",
            Self::Tstz => "tstzrange",
        }
    }

    /// What PostgreSQL calls a set of ranges.
    pub const fn set_name(self) -> &'static str {
        match self {
            Self::Int4 => "int4multirange",
            Self::Int8 => "int8multirange",
            Self::Num => "nummultirange",
            Self::Date => "datemultirange",
            Self::Ts => "tsmultirange",
            Self::Tstz => "tstzmultirange",
        }
    }

    /// The one whose ranges PostgreSQL calls so.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The one whose sets PostgreSQL calls so.
    pub fn by_set_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.set_name() == name)
    }

    /// Whether there is a next value, so that each range is written in one way: from a bound that is in it to one that is not.
    pub const fn is_discrete(self) -> bool {
        matches!(self, Self::Int4 | Self::Int8 | Self::Date)
    }
}
