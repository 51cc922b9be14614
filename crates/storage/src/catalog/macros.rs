//! Macros, beside the relations that have other names.

use stdx::sync::Arc;
use types::MacroDefinition;

use super::{Catalog, CatalogSnapshot, Relation, key};

/// What the keys of macros begin with; behind it stands the kind.
const OF_MACROS: char = '\u{7}';

impl Catalog {
    /// Puts a macro in the place of the one of its name and kind.
    pub fn put_macro(&self, definition: MacroDefinition) {
        let mut state = self.change();
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        let key = macro_key(&definition.name, definition.is_table);
        snapshot.relations().insert(key, Relation::Macro(Arc::new(definition)));
    }

    /// Takes a macro out.
    pub fn drop_macro(&self, name: &str, is_table: bool) {
        let mut state = self.change();
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        snapshot.relations().remove(&*macro_key(name, is_table));
    }
}

impl CatalogSnapshot {
    /// All macros: first those of values, then those of tables, each by name.
    pub fn macros(&self) -> impl Iterator<Item = &Arc<MacroDefinition>> {
        self.behind(OF_MACROS).filter_map(|it| match it {
            Relation::Macro(it) => Some(it),
            _ => None,
        })
    }

    /// The macro of a name and a kind.
    pub fn macro_of(&self, name: &str, is_table: bool) -> Option<&Arc<MacroDefinition>> {
        match self.names.relations.get(&*macro_key(name, is_table))? {
            Relation::Macro(it) if it.name == name => Some(it),
            _ => None,
        }
    }
}

fn macro_key(name: &str, is_table: bool) -> Arc<str> {
    let kind = if is_table { 't' } else { 'f' };
    key(&format!("{OF_MACROS}{kind}{name}"))
}
