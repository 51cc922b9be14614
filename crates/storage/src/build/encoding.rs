//! Which builder a column gets, by its type and its values.

use types::SqlResult;

use super::column::ColumnBuild;
use super::{numbers, text, wide};
use crate::Column;

impl ColumnBuild<'_> {
    /// Builds the column.
    pub(crate) fn finish(self) -> SqlResult<Column> {
        self.context.check_cancelled()?;
        if self.schema.data_type.stored().is_text()
            || self.schema.data_type == types::DataType::Null
        {
            text::build(self)
        } else if self.pieces.any_wide() {
            wide::build(self)
        } else {
            numbers::build(self)
        }
    }
}
