//! Rows of a column on their way out of a stream, as the engine holds them.

use arrow_array::{ArrayRef, StringArray};
use arrow_buffer::NullBuffer;
use types::SqlResult;

use crate::ColumnSchema;
use crate::build::convert::piece_of;
use crate::build::piece::{Piece, PieceValues};

/// Rows of a column as the engine holds them.
pub struct HeldColumn(pub(crate) Piece);

/// The values of a [`HeldColumn`]; what stands at a NULL is arbitrary.
#[derive(Clone, Copy)]
pub enum HeldValues<'a> {
    /// Integers, days, microseconds, unscaled decimals, Booleans as 0 and 1; the order-preserving keys of floats
    /// ([`crate::float_of_key`]).
    Words(&'a [i64]),
    /// Unscaled decimals that may not fit 64 bits.
    Wide(&'a [i128]),
    /// Texts.
    Texts(&'a StringArray),
    /// Texts by number.
    Coded(&'a [u32], &'a StringArray),
}

impl HeldColumn {
    /// The rows of an array, converted to the type of a column.
    ///
    /// # Errors
    /// As those of an assignment: 22003, 22001, 42804, 23502.
    pub fn of(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Self> {
        piece_of(array, column).map(Self)
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.0.rows
    }

    /// Its values.
    pub fn values(&self) -> HeldValues<'_> {
        match &self.0.values {
            PieceValues::Int { values, .. } => HeldValues::Words(values),
            PieceValues::Wide(values) => HeldValues::Wide(values),
            PieceValues::Text(texts) => HeldValues::Texts(texts),
            PieceValues::Coded { codes, texts } => HeldValues::Coded(codes, texts),
        }
    }

    /// Which rows are not NULL; `None` where none is.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.0.nulls.as_ref()
    }
}

impl From<Piece> for HeldColumn {
    fn from(piece: Piece) -> Self {
        Self(piece)
    }
}
