//! The views of a picture of the catalog.

use std::collections::HashMap;

use stdx::sync::Arc;
use types::{TableId, ViewDefinition};

use super::{CatalogSnapshot, Relation};

impl CatalogSnapshot {
    pub(super) fn views_by_name(&self) -> impl Iterator<Item = &Arc<ViewDefinition>> {
        self.names.relations.values().filter_map(|it| match it {
            Relation::View(it) => Some(it),
            _ => None,
        })
    }

    /// A view by name, ignoring case.
    pub fn view(&self, name: &str) -> Option<&Arc<ViewDefinition>> {
        match self.relation(name)? {
            Relation::View(it) => Some(it),
            _ => None,
        }
    }

    /// A view by id.
    pub fn view_by_id(&self, id: TableId) -> Option<&Arc<ViewDefinition>> {
        self.views_by_name().find(|it| it.id == id)
    }

    /// All views, each behind those that it is made of, else by name.
    pub fn views(&self) -> Vec<Arc<ViewDefinition>> {
        let mut left: Vec<&Arc<ViewDefinition>> = self.views_by_name().collect();
        let mut ordered = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let is_above = |it: &ViewDefinition| left.iter().any(|other| it.uses(&other.name));
            let (above, ready): (Vec<_>, Vec<_>) = left.iter().partition(|it| is_above(it));
            if ready.is_empty() {
                // Nobody can make a circle; who finds one all the same is shown all of it.
                ordered.extend(above.into_iter().cloned());
                break;
            }
            ordered.extend(ready.into_iter().cloned());
            left = above;
        }
        ordered
    }

    /// Levels of the deepest tree that a view brings into a statement, with the views that it is made of.
    pub fn view_levels(&self) -> usize {
        *self.names.known.view_levels.get_or_init(|| {
            let mut known = HashMap::new();
            self.views_by_name().map(|it| self.levels_of(it, &mut known)).max().unwrap_or(0)
        })
    }

    fn levels_of(&self, view: &ViewDefinition, known: &mut HashMap<TableId, usize>) -> usize {
        if let Some(levels) = known.get(&view.id) {
            return *levels;
        }
        // Nobody can make a circle; it would end here.
        known.insert(view.id, 0);
        let below = view.uses.iter().filter_map(|it| self.view(&it.name));
        let below = below.map(|it| self.levels_of(it, known)).max().unwrap_or(0);
        known.insert(view.id, view.levels + below);
        view.levels + below
    }
}
