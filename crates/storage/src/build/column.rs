//! What one column is built with: its rows, its place, and what is decided of it beforehand.

use super::context::BuildContext;
use super::piece::Pieces;
use crate::ColumnSchema;
use crate::place::ColumnPlace;

/// What one column is built with.
pub(crate) struct ColumnBuild<'a> {
    pub(crate) schema: &'a ColumnSchema,
    pub(crate) pieces: Pieces,
    pub(crate) context: BuildContext<'a>,
    pub(crate) place: ColumnPlace<'a>,
    /// Whether a column of text is plain; `None` to decide by its texts.
    pub(crate) plain: Option<bool>,
}
