//! The columns of relations that rights may be on.

use storage::CatalogSnapshot;
use types::names;

/// Whether a table or a view has a column that can be seen.
pub(super) fn has_column(snapshot: &CatalogSnapshot, name: &str, column: &str) -> bool {
    columns_of(snapshot, name).iter().any(|it| it.1 == column)
}

/// The columns of a table or a view that can be seen, with their places.
pub(crate) fn columns_of(snapshot: &CatalogSnapshot, name: &str) -> Vec<(usize, String)> {
    if let Some(view) = snapshot.view(name) {
        return view.columns.iter().map(|it| it.0.clone()).enumerate().collect();
    }
    let Some(table) = snapshot.get(name) else { return Vec::new() };
    let shown = table.columns.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name));
    shown.map(|it| (it.0, it.1.name.clone())).collect()
}
