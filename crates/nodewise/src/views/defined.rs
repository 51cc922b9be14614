//! The view `nodewise.views`.

use arrow_array::RecordBatch;
use types::SqlResult;

use super::{Columns, ViewBuilder};
use crate::Database;

/// The columns of [`rows`].
pub(super) const COLUMNS: Columns =
    &[("view_name", 't'), ("columns", 't'), ("made_of", 't'), ("definition", 't')];

/// A row for each view that users have made.
pub fn rows(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMNS);
    for it in database.catalog.snapshot().views() {
        let columns: Vec<&str> = it.columns.iter().map(|it| it.0.as_str()).collect();
        let uses: Vec<&str> = it.uses.iter().map(|it| it.name.as_str()).collect();
        view.row([
            it.name.as_str().into(),
            columns.join(", ").into(),
            uses.join(", ").into(),
            it.query.as_str().into(),
        ]);
    }
    view.finish()
}
