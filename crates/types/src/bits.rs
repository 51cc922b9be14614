//! Types of strings of bits.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A type of strings of bits, by the number of bits that its values have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Bits {
    /// Exactly so many: BIT(n).
    Fixed(u32),
    /// Any number, as constants and what operators make have: PostgreSQL's `bit` of which no length is known.
    Any,
    /// At most so many: BIT VARYING(n).
    Varying(u32),
    /// Any number, as a type that says so: BIT VARYING.
    AnyVarying,
}

impl Bits {
    /// Whether it is one of BIT VARYING.
    pub const fn is_varying(self) -> bool {
        matches!(self, Self::Varying(_) | Self::AnyVarying)
    }

    /// The length that it says, if any.
    pub const fn length(self) -> Option<u32> {
        match self {
            Self::Fixed(length) | Self::Varying(length) => Some(length),
            Self::Any | Self::AnyVarying => None,
        }
    }

    /// The same type without a length.
    pub const fn unlimited(self) -> Self {
        match self {
            Self::Fixed(_) | Self::Any => Self::Any,
            Self::Varying(_) | Self::AnyVarying => Self::AnyVarying,
        }
    }

    /// The type in which values of two meet: BIT VARYING is preferred, and a length stays that both say.
    pub fn common(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            _ if self.is_varying() || other.is_varying() => Self::AnyVarying,
            _ => Self::Any,
        }
    }

    /// What PostgreSQL calls it without its length.
    pub const fn name(self) -> &'static str {
        if self.is_varying() { "bit varying" } else { "bit" }
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(length) => write!(f, "BIT({length})"),
            // The word alone is the type of one bit.
            Self::Any => f.write_str("\"bit\""),
            Self::Varying(length) => write!(f, "BIT VARYING({length})"),
            Self::AnyVarying => f.write_str("BIT VARYING"),
        }
    }
}
