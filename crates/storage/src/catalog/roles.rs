//! Roles, and the rights on objects, beside what they are of.
//!
//! Key decision: what the system makes, as the superuser that is always there, is kept nowhere until somebody changes it; an object
//! without rights of its own belongs to that superuser. So a database without roles keeps nothing.

use std::ops::Bound;

use stdx::sync::Arc;
use types::{ObjectKind, Rights, Role, RoleId, names, role};

use super::{Catalog, CatalogSnapshot, Relation, key};

/// What the keys of roles begin with.
const OF_ROLES: char = '\u{2}';
/// What those of rights begin with, and what stands behind the kind.
const OF_RIGHTS: char = '\u{3}';

impl Catalog {
    /// A number that no role has had.
    pub fn next_role(&self) -> RoleId {
        let first = u64::from(RoleId::FIRST.0);
        RoleId((first + self.next_number()).min(u64::from(u32::MAX)) as u32)
    }

    /// Puts a role in the place of the one of its number.
    pub fn put_role(&self, role: Role) {
        let mut state = self.change();
        let number = u64::from(role.id.0.saturating_sub(RoleId::FIRST.0));
        state.last_number = state.last_number.max(number);
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        let old = snapshot.stored_roles().find(|it| it.id == role.id).map(|it| it.name.clone());
        if let Some(old) = old {
            snapshot.relations().remove(&*role_key(&old));
        }
        snapshot.relations().insert(role_key(&role.name), Relation::Role(Arc::new(role)));
    }

    /// Takes a role out.
    pub fn drop_role(&self, name: &str) {
        let mut state = self.change();
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        snapshot.relations().remove(&*role_key(name));
    }

    /// Puts the rights on an object in the place of what they were; `None` makes them those of an object of which nobody has said
    /// anything.
    pub fn put_rights(&self, (kind, name): (ObjectKind, &str), rights: Option<Rights>) {
        let mut state = self.change();
        let version = self.next_version();
        let snapshot = Arc::make_mut(&mut state.snapshot);
        snapshot.version = version;
        let key = rights_key(kind, name);
        match rights {
            Some(rights) => {
                let of = (kind, name.to_owned());
                snapshot.relations().insert(key, Relation::Rights(of, Arc::new(rights)));
            }
            None => _ = snapshot.relations().remove(&key),
        }
    }
}

impl CatalogSnapshot {
    /// All that stands behind a sign and before the next.
    pub(super) fn behind(&self, sign: char) -> impl Iterator<Item = &Relation> {
        let begin = sign.to_string();
        let end = char::from_u32(sign as u32 + 1).unwrap_or(sign).to_string();
        let range = (Bound::Included(begin.as_str()), Bound::Excluded(end.as_str()));
        self.names.relations.range::<str, _>(range).map(|it| it.1)
    }

    /// The roles that were made or changed, by name.
    pub fn stored_roles(&self) -> impl Iterator<Item = &Arc<Role>> {
        self.behind(OF_ROLES).filter_map(|it| match it {
            Relation::Role(it) => Some(it),
            _ => None,
        })
    }

    /// All roles: those that are always there, then the others by name.
    pub fn roles(&self) -> Vec<Arc<Role>> {
        let is_stored = |id: RoleId| self.stored_roles().any(|it| it.id == id);
        let fixed = role::PREDEFINED.iter().filter(|it| !is_stored(it.0));
        let fixed = fixed.filter_map(|it| Role::predefined(it.0)).map(Arc::new);
        let mut all: Vec<Arc<Role>> = fixed.chain(self.stored_roles().cloned()).collect();
        all.sort_by_key(|it| it.id);
        all
    }

    /// A role by name.
    pub fn role(&self, name: &str) -> Option<Arc<Role>> {
        if let Some(Relation::Role(it)) = self.names.relations.get(&*role_key(name)) {
            return Some(it.clone());
        }
        let (id, _) = role::PREDEFINED.iter().find(|it| it.1 == name)?;
        Role::predefined(*id).map(Arc::new)
    }

    /// A role by number.
    pub fn role_by_id(&self, id: RoleId) -> Option<Arc<Role>> {
        let stored = self.stored_roles().find(|it| it.id == id).cloned();
        stored.or_else(|| Role::predefined(id).map(Arc::new))
    }

    /// Whether somebody has made a role.
    pub fn has_roles(&self) -> bool {
        self.stored_roles().any(|it| !it.id.is_of_system())
    }

    /// Who owns an object, and what others may do with it.
    pub fn rights(&self, kind: ObjectKind, name: &str) -> Rights {
        match self.names.relations.get(&rights_key(kind, name)) {
            Some(Relation::Rights(_, it)) => Rights::clone(it),
            _ => Rights::of(match kind {
                ObjectKind::Schema if name == names::PUBLIC => RoleId::DATABASE_OWNER,
                _ => RoleId::BOOTSTRAP,
            }),
        }
    }

    /// All rights that somebody has said something of, with what they are on.
    pub fn all_rights(&self) -> Vec<((ObjectKind, String), Arc<Rights>)> {
        let all = self.behind(OF_RIGHTS).filter_map(|it| match it {
            Relation::Rights(of, it) => Some((of.clone(), it.clone())),
            _ => None,
        });
        all.collect()
    }

    /// Puts the rights on a table that has another name now.
    pub(super) fn put_rights_of(&mut self, name: &str, rights: Rights) {
        if rights != Rights::of(RoleId::BOOTSTRAP) {
            let (kind, of) = (ObjectKind::Relation, name.to_owned());
            let key = rights_key(kind, name);
            self.relations().insert(key, Relation::Rights((kind, of), Arc::new(rights)));
        }
    }

    /// The rights on a relation go with it.
    pub(super) fn remove_rights_of(&mut self, name: &str) {
        for kind in [ObjectKind::Relation, ObjectKind::Sequence] {
            self.relations().remove(&rights_key(kind, name));
        }
    }

    /// Those on a schema do, too.
    pub(super) fn remove_rights_of_schema(&mut self, name: &str) {
        self.relations().remove(&rights_key(ObjectKind::Schema, name));
    }

    /// Whether what [`CatalogSnapshot::changes_since`] names is a role or rights, and, then, whether it goes with its session.
    pub(super) fn is_temporary_right(name: &str) -> Option<bool> {
        if name.starts_with(OF_ROLES) {
            return Some(false);
        }
        let of = name.strip_prefix(OF_RIGHTS)?;
        let of = of.split_once(OF_RIGHTS).map_or("", |it| it.1);
        Some(of.starts_with(names::TEMPORARY))
    }
}

fn role_key(name: &str) -> Arc<str> {
    // Other than of relations, names that differ in case only are two.
    format!("{OF_ROLES}{name}").into()
}

fn rights_key(kind: ObjectKind, name: &str) -> Arc<str> {
    key(&format!("{OF_RIGHTS}{}{OF_RIGHTS}{name}", kind.word()))
}

#[cfg(test)]
mod tests {
    use types::{Grant, Privileges};

    use super::*;

    #[test]
    fn roles_and_rights_are_kept_and_follow_their_objects() {
        let catalog = Catalog::new();
        assert!(!catalog.snapshot().has_roles());
        let role = Role::new(catalog.next_role(), "Ada");
        catalog.put_role(role.clone());
        let snapshot = catalog.snapshot();
        assert!(snapshot.has_roles() && snapshot.role("Ada").is_some());
        assert!(snapshot.role("ada").is_none() && snapshot.role("pg_monitor").is_some());
        catalog.put_role(Role { name: "Eve".into(), ..role.clone() });
        assert!(catalog.snapshot().role("Ada").is_none());
        assert_eq!(catalog.snapshot().role_by_id(role.id).unwrap().name, "Eve");
        assert!(catalog.next_role() > role.id);
        let table = crate::Table::whole("t", Vec::new(), 0, crate::TableDesign::default());
        catalog.create(table).unwrap();
        let mut rights = Rights::of(role.id);
        let (to, by, options) = (RoleId::PUBLIC, role.id, Privileges::NONE);
        let select = Grant { to, by, rights: Privileges::SELECT, options };
        rights.grant((ObjectKind::Relation, false), select).unwrap();
        catalog.put_rights((ObjectKind::Relation, "t"), Some(rights.clone()));
        catalog.rename("t", "u").unwrap();
        let snapshot = catalog.snapshot();
        assert_eq!(snapshot.rights(ObjectKind::Relation, "u"), rights);
        assert_eq!(snapshot.rights(ObjectKind::Relation, "t").owner, RoleId::BOOTSTRAP);
        catalog.drop_table("u").unwrap();
        assert!(catalog.snapshot().all_rights().is_empty());
        assert_eq!(
            catalog.snapshot().rights(ObjectKind::Schema, names::PUBLIC).owner,
            RoleId::DATABASE_OWNER
        );
        catalog.drop_role("Eve");
        assert!(!catalog.snapshot().has_roles());
    }
}
