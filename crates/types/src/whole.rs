//! Whole numbers of DuckDB that PostgreSQL does not have: of one byte, without a sign, of sixteen bytes.
//!
//! Each is held as a plain type and differs from it in its range and its name. One calculates with values as with those of
//! the plain type, which is the type of what comes out.

use serde::{Deserialize, Serialize};

/// The greatest number of 38 digits.
const DIGITS_38: i128 = 10i128.pow(38) - 1;

/// A type of whole numbers by its range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Whole {
    /// 8 bits.
    TinyInt,
    /// 8 bits without a sign.
    UTinyInt,
    /// 16 bits without a sign.
    USmallInt,
    /// 32 bits without a sign.
    UInteger,
    /// A number of PostgreSQL's catalog, of 32 bits without a sign.
    Oid,
    /// 64 bits without a sign.
    UBigInt,
    /// 38 digits, where DuckDB has 128 bits.
    HugeInt,
    /// 38 digits without a sign.
    UHugeInt,
}

impl Whole {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::TinyInt,
        Self::UTinyInt,
        Self::USmallInt,
        Self::UInteger,
        Self::Oid,
        Self::UBigInt,
        Self::HugeInt,
        Self::UHugeInt,
    ];

    /// The least and the greatest value.
    pub const fn range(self) -> (i128, i128) {
        match self {
            Self::TinyInt => (i8::MIN as i128, i8::MAX as i128),
            Self::UTinyInt => (0, u8::MAX as i128),
            Self::USmallInt => (0, u16::MAX as i128),
            Self::UInteger | Self::Oid => (0, u32::MAX as i128),
            Self::UBigInt => (0, u64::MAX as i128),
            Self::HugeInt => (-DIGITS_38, DIGITS_38),
            Self::UHugeInt => (0, DIGITS_38),
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TinyInt => "TINYINT",
            Self::UTinyInt => "UTINYINT",
            Self::USmallInt => "USMALLINT",
            Self::UInteger => "UINTEGER",
            Self::Oid => "OID",
            Self::UBigInt => "UBIGINT",
            Self::HugeInt => "HUGEINT",
            Self::UHugeInt => "UHUGEINT",
        }
    }

    /// The type of a name, or of another one that DuckDB has for it, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "tinyint" | "int1" => Self::TinyInt,
            "utinyint" | "uint8" => Self::UTinyInt,
            "usmallint" | "uint16" => Self::USmallInt,
            "uinteger" | "uint32" => Self::UInteger,
            "oid" => Self::Oid,
            "ubigint" | "uint64" => Self::UBigInt,
            "hugeint" | "int128" => Self::HugeInt,
            "uhugeint" | "uint128" => Self::UHugeInt,
            _ => return None,
        })
    }
}
