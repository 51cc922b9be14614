//! Views, as the log and checkpoints keep them.

use serde::{Deserialize, Serialize};
use storage::{Catalog, CatalogSnapshot};
use types::{
    CheckOption, DataType, Materialized, SqlResult, TableId, UsedRelation, ViewDefinition,
};

/// A view.
#[derive(Serialize, Deserialize)]
pub(crate) struct ViewForm {
    pub(crate) name: String,
    columns: Vec<(String, DataType)>,
    query: String,
    /// Relations, with those of their columns that the view names.
    uses: Vec<(String, Vec<String>)>,
    /// The table of a materialized one, and whether it is populated.
    #[serde(default)]
    materialized: Option<(String, bool)>,
    /// Whether rows that come through it must be rows of it, and of all below.
    #[serde(default)]
    check: Option<bool>,
}

impl ViewForm {
    pub(crate) fn of(view: &ViewDefinition) -> Self {
        let uses = view.uses.iter().map(|it| (it.name.clone(), it.columns.clone()));
        Self {
            name: view.name.clone(),
            columns: view.columns.clone(),
            query: view.query.clone(),
            uses: uses.collect(),
            materialized: view.materialized.as_ref().map(|it| (it.table.clone(), it.is_populated)),
            check: view.check.map(|it| it == CheckOption::Cascaded),
        }
    }

    /// Puts the view into a catalog.
    pub(crate) fn put(self, catalog: &Catalog) -> SqlResult<()> {
        let Self { name, columns, query, uses, materialized, check } = self;
        let materialized =
            materialized.map(|(table, is_populated)| Materialized { table, is_populated });
        let uses = uses.into_iter().map(|(name, columns)| UsedRelation { name, columns }).collect();
        // The catalog knows its id.
        catalog.put_view(ViewDefinition {
            id: TableId(0),
            name,
            columns,
            levels: binder::view_text::levels_of(&query)?,
            query,
            uses,
            materialized,
            check: check.map(|cascades| match cascades {
                true => CheckOption::Cascaded,
                false => CheckOption::Local,
            }),
        });
        Ok(())
    }
}

/// The views that outlast their sessions, for a checkpoint.
pub(super) fn view_forms(tables: &CatalogSnapshot) -> Vec<ViewForm> {
    let views = tables.views();
    let lasting = views.iter().filter(|it| !types::names::is_temporary(&it.name));
    lasting.map(|it| ViewForm::of(it)).collect()
}
