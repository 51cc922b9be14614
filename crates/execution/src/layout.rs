//! What the columns of a batch are at a place of a pipeline: SQL type, representation, and bounds that were proven.
//!
//! Decided once, when a plan is lowered; batches carry no types. Bounds come from exact column statistics and grow by
//! interval arithmetic, so that a decimal stays in 64 bits as long as it provably fits (docs/design/04-execution.md,
//! "decimals").

use stdx::sync::Arc;
use storage::{Column, Encoding, PlainStrings};
use types::DataType;

/// How the values of a column are held in a vector.
#[derive(Clone, Debug)]
pub enum Representation {
    /// [`crate::Values::Codes`] of this column: a dictionary code, or a position when the column is plain.
    Codes(Arc<Column>),
    /// [`crate::Values::I64`].
    I64,
    /// [`crate::Values::I128`].
    I128,
    /// [`crate::Values::F64`].
    F64,
    /// [`crate::Values::Bool`].
    Bool,
    /// [`crate::Values::Text`].
    Text,
}

/// One column of a layout.
#[derive(Clone, Debug)]
pub struct ColumnShape {
    /// Its SQL type.
    pub data_type: DataType,
    /// How its values are held.
    pub representation: Representation,
    /// Least and greatest value it can have, in unscaled integers, when known. Only for `I64` and `I128`.
    pub bounds: Option<(i128, i128)>,
    /// Whether a vector of it may have a validity map.
    pub nullable: bool,
}

/// The columns of a batch at one place of a pipeline.
pub type Layout = Vec<ColumnShape>;

impl ColumnShape {
    /// The shape of computed values of a type without known bounds.
    pub fn computed(data_type: DataType, nullable: bool) -> Self {
        Self { data_type, representation: Representation::of(data_type), bounds: None, nullable }
    }

    /// Whether values are codes of a dictionary, which are in the order of what they stand for.
    pub fn is_dictionary(&self) -> bool {
        matches!(&self.representation, Representation::Codes(column)
            if matches!(column.encoding, Encoding::Dictionary(_)))
    }

    /// The texts that values are positions of, when they are those of a plain column: in no order.
    pub fn plain(&self) -> Option<&PlainStrings> {
        let Representation::Codes(column) = &self.representation else { return None };
        match &column.encoding {
            Encoding::Plain(strings) => Some(strings),
            _ => None,
        }
    }
}

impl Representation {
    /// Whether values are held in the same way, codes of the same column.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Codes(a), Self::Codes(b)) => Arc::ptr_eq(a, b),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether values are 64-bit integers.
    pub fn is_i64(&self) -> bool {
        matches!(self, Self::I64)
    }

    /// How computed values of a type are held: decimals of more than 18 digits in 128 bits.
    pub fn of(data_type: DataType) -> Self {
        match data_type.stored() {
            DataType::Boolean => Self::Bool,
            DataType::SmallInt | DataType::Integer | DataType::BigInt => Self::I64,
            DataType::Date | DataType::Timestamp => Self::I64,
            DataType::Decimal { precision, .. } if precision <= 18 => Self::I64,
            DataType::Decimal { .. } => Self::I128,
            DataType::Real | DataType::Double => Self::F64,
            DataType::Null
            | DataType::Char(_)
            | DataType::Bpchar
            | DataType::Varchar(_)
            | DataType::Text => Self::Text,
            held => unreachable!("invariant: {held} is not held as itself"),
        }
    }
}
