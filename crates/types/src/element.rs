//! What the items of an array are.

use serde::{Deserialize, Serialize};

use crate::DataType;

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
    Bpchar,
    Text,
}
