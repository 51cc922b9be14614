//! The types that users make, as the catalog keeps them.

use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState, UserType, names};

use super::{Catalog, CatalogSnapshot, Relation, key};

/// What the keys of types begin with.
const OF_TYPES: char = '\u{4}';

fn type_key(name: &str) -> Arc<str> {
    key(&format!("{OF_TYPES}{name}"))
}

impl Catalog {
    /// Puts a type under its name, in the place of what it was there before.
    pub fn put_type(&self, it: UserType) -> Arc<UserType> {
        let mut state = self.change();
        let it = Arc::new(it);
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        snapshot.relations().insert(type_key(&it.name), Relation::Type(it.clone()));
        it
    }

    /// Takes a type out.
    ///
    /// # Errors
    /// 42704 where there is none.
    pub fn drop_type(&self, name: &str) -> SqlResult<()> {
        let mut state = self.change();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = self.next_version();
        let message = || format!("type \"{name}\" does not exist");
        let gone = snapshot.relations().remove(&type_key(name));
        gone.map(drop).ok_or_else(|| SqlError::new(SqlState::UNDEFINED_OBJECT, message()))
    }
}

impl CatalogSnapshot {
    /// A type by name, ignoring case.
    pub fn user_type(&self, name: &str) -> Option<&Arc<UserType>> {
        match self.names.relations.get(&type_key(name))? {
            Relation::Type(it) => Some(it),
            _ => None,
        }
    }

    /// All types that users made, by name.
    pub fn user_types(&self) -> impl Iterator<Item = &Arc<UserType>> {
        self.behind(OF_TYPES).filter_map(|it| match it {
            Relation::Type(it) => Some(it),
            _ => None,
        })
    }

    /// Whether what a key of the catalog names is a type that goes with its session.
    pub(super) fn is_temporary_type(key: &str) -> Option<bool> {
        key.strip_prefix(OF_TYPES).map(names::is_temporary)
    }
}

#[cfg(test)]
mod tests {
    use types::{DataType, EnumType, RoleId};

    use super::*;

    #[test]
    fn types_are_kept_apart_from_relations() {
        let catalog = Catalog::new();
        let labels = EnumType::new("s.mood", vec!["sad".to_owned()]).unwrap();
        let data_type = DataType::Enum(labels);
        let owner = RoleId::BOOTSTRAP;
        catalog.put_schema("s");
        catalog.put_type(UserType { name: "s.mood".to_owned(), owner, data_type, domain: None });
        let snapshot = catalog.snapshot();
        assert_eq!(snapshot.user_type("s.MOOD").map(|it| it.data_type), Some(data_type));
        assert_eq!((snapshot.kind_of("s.mood"), snapshot.user_types().count()), (None, 1));
        assert_eq!(snapshot.relations_of("s"), [("type", "s.mood".to_owned())]);
        catalog.drop_type("s.mood").unwrap();
        assert_eq!(catalog.drop_type("s.mood").unwrap_err().state.0, "42704");
    }
}
