//! Macros, beside the relations that have other names.

use stdx::sync::Arc;
use types::{MacroDefinition, names};

use super::{Catalog, CatalogSnapshot, FUNCTION_COMMENT, Relation, comment_key};

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

    /// Those of a schema.
    pub fn macros_in(&self, schema: &str) -> impl Iterator<Item = &Arc<MacroDefinition>> {
        self.macros().filter(move |it| names::schema_of(&it.name) == schema)
    }

    /// Whether what a key of the catalog names is a macro that goes with its session.
    pub(super) fn is_temporary_macro(key: &str) -> Option<bool> {
        let behind = key.strip_prefix(OF_MACROS)?;
        Some(behind.get(1..).is_some_and(names::is_temporary))
    }

    /// Takes out all that are in a schema, with the comments on them.
    pub(super) fn forget_macros(&mut self, schema: &str) {
        let gone: Vec<_> = self.macros_in(schema).cloned().collect();
        for it in gone {
            self.relations().remove(&macro_key(&it.name, it.is_table));
        }
        for (of, _) in self.comments() {
            if of[0] == FUNCTION_COMMENT && names::schema_of(&of[1]) == schema {
                self.relations().remove(&comment_key([&of[0], &of[1], &of[2]]));
            }
        }
    }

    /// The macro of a name ([`names::joined`]) and a kind.
    pub fn macro_of(&self, name: &str, is_table: bool) -> Option<&Arc<MacroDefinition>> {
        match self.names.relations.get(&*macro_key(name, is_table))? {
            Relation::Macro(it) => Some(it),
            _ => None,
        }
    }
}

fn macro_key(name: &str, is_table: bool) -> Arc<str> {
    let kind = if is_table { 't' } else { 'f' };
    format!("{OF_MACROS}{kind}{name}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_of_their_schemas() {
        let catalog = Catalog::new();
        let make = |name: &str, is_table| {
            let forms = Vec::new();
            catalog.put_macro(MacroDefinition { name: name.to_owned(), is_table, forms });
        };
        catalog.put_schema("s");
        [("f", false), ("s.f", false), ("s.f", true), ("s.F", false)]
            .into_iter()
            .for_each(|(name, is_table)| make(name, is_table));
        let snapshot = catalog.snapshot();
        let of = |schema| {
            let all = snapshot.macros_in(schema);
            all.map(|it| (it.name.clone(), it.is_table)).collect::<Vec<_>>()
        };
        assert_eq!(of("public"), [("f".to_owned(), false)]);
        assert_eq!(of("s").len(), 3);
        catalog.drop_macro("s.f", false);
        assert!(catalog.snapshot().macro_of("s.f", false).is_none());
        assert!(catalog.snapshot().macro_of("f", false).is_some());
        catalog.forget("s");
        assert_eq!(catalog.snapshot().macros().count(), 1);
        assert_eq!(CatalogSnapshot::is_temporary_macro("\u{7}fpg_temp_3.f"), Some(true));
        assert_eq!(CatalogSnapshot::is_temporary_macro("\u{7}ff"), Some(false));
    }
}
