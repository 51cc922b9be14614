//! The extensions that were made, as the catalog keeps them.

use stdx::sync::Arc;
use types::Extension;

use super::{Catalog, CatalogSnapshot, Relation};

/// What the keys of extensions begin with.
const OF_EXTENSIONS: char = '\u{8}';

fn extension_key(name: &str) -> Arc<str> {
    format!("{OF_EXTENSIONS}{name}").into()
}

impl Catalog {
    /// Puts an extension in the place of the one of its name.
    pub fn put_extension(&self, it: Extension) {
        let mut state = self.change();
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        snapshot.relations().insert(extension_key(&it.name), Relation::Extension(Arc::new(it)));
    }

    /// Takes an extension out.
    pub fn drop_extension(&self, name: &str) {
        let mut state = self.change();
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        snapshot.relations().remove(&extension_key(name));
    }
}

impl CatalogSnapshot {
    /// All extensions that were made, by name.
    pub fn extensions(&self) -> impl Iterator<Item = &Arc<Extension>> {
        self.behind(OF_EXTENSIONS).filter_map(|it| match it {
            Relation::Extension(it) => Some(it),
            _ => None,
        })
    }

    /// The extension of a name.
    pub fn extension(&self, name: &str) -> Option<&Arc<Extension>> {
        self.extensions().find(|it| it.name == name)
    }
}
