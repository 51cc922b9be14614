//! What a role may, by the roles that it is a member of and what was given to them.

use stdx::sync::Arc;
use storage::CatalogSnapshot;
use types::{Grant, Membership, ObjectKind, Privileges, Role, RoleId, names};

use crate::Session;

/// A role with all that it may, on one picture of roles and rights.
pub(crate) struct Authority {
    pub(crate) snapshot: Arc<CatalogSnapshot>,
    pub(crate) role: RoleId,
    is_superuser: bool,
    /// The roles whose rights it has, its own among them; unknown of a superuser, who has all.
    roles: Vec<RoleId>,
}

impl Session {
    /// What the role may that runs the statement.
    pub(crate) fn authority(&self) -> Authority {
        Authority::of(self.rights_snapshot(), self.role())
    }
}

impl Authority {
    pub(crate) fn of(snapshot: Arc<CatalogSnapshot>, role: RoleId) -> Self {
        let known = snapshot.role_by_id(role);
        let is_superuser = role == RoleId::BOOTSTRAP || known.is_some_and(|it| it.is_superuser);
        let roles =
            if is_superuser { vec![role] } else { reached(&snapshot, role, |it| it.inherit) };
        Self { snapshot, role, is_superuser, roles }
    }

    pub(crate) fn is_superuser(&self) -> bool {
        self.is_superuser
    }

    /// Whether it has the rights of a role.
    pub(crate) fn has_role(&self, role: RoleId) -> bool {
        self.is_superuser || self.roles.contains(&role)
    }

    /// Whether it is a member of a role, with its rights or without.
    pub(crate) fn is_member(&self, role: RoleId) -> bool {
        self.is_superuser || reached(&self.snapshot, self.role, |_| true).contains(&role)
    }

    /// Whether it may become a role by SET ROLE.
    pub(crate) fn may_become(&self, role: RoleId) -> bool {
        self.is_superuser || reached(&self.snapshot, self.role, |it| it.set).contains(&role)
    }

    /// Whether it may make others members of a role.
    pub(crate) fn administers(&self, role: RoleId) -> bool {
        self.is_superuser || self.admin_of(role).is_some()
    }

    /// The role whose rights it has that administers another.
    pub(crate) fn admin_of(&self, role: RoleId) -> Option<RoleId> {
        let mut own = self.roles.iter().copied();
        own.find(|it| {
            let member = self.snapshot.role_by_id(*it);
            member.is_some_and(|it| it.memberships.iter().any(|it| it.of == role && it.admin))
        })
    }

    /// All that it may do with an object.
    pub(crate) fn held(&self, (kind, name): (ObjectKind, &str)) -> Privileges {
        if self.is_superuser {
            return kind.all();
        }
        let rights = self.snapshot.rights(kind, name);
        let given = rights.given(kind, name == names::PUBLIC);
        let mut held = Privileges::NONE;
        for grant in given.iter() {
            if grant.to == RoleId::PUBLIC || self.roles.contains(&grant.to) {
                held |= grant.rights;
            }
        }
        let has = |role: RoleId| self.roles.contains(&role);
        let (reads, writes) = (has(RoleId::READ_ALL_DATA), has(RoleId::WRITE_ALL_DATA));
        match kind {
            ObjectKind::Relation | ObjectKind::Sequence if reads => held |= Privileges::SELECT,
            ObjectKind::Schema if reads || writes => held |= Privileges::USAGE,
            ObjectKind::Relation if is_open(name) => held |= Privileges::SELECT,
            _ => {}
        }
        if kind == ObjectKind::Relation && writes {
            held |= Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE;
        }
        held
    }

    /// Whether it has all of some rights.
    pub(crate) fn may(&self, of: (ObjectKind, &str), rights: Privileges) -> bool {
        self.is_superuser || self.held(of).has(rights)
    }

    /// Whether it has a right to each of some columns of a relation, or to any where none is said, by the whole or by the column.
    pub(crate) fn may_columns(&self, name: &str, right: Privileges, columns: &[String]) -> bool {
        if self.may((ObjectKind::Relation, name), right) {
            return true;
        }
        let rights = self.snapshot.rights(ObjectKind::Relation, name);
        let is_own = |it: &Grant| it.to == RoleId::PUBLIC || self.roles.contains(&it.to);
        let given = |grants: &[Grant]| grants.iter().any(|it| is_own(it) && it.rights.has(right));
        match columns {
            [] => rights.columns.values().any(|it| given(it)),
            all => all.iter().all(|it| rights.columns.get(it).is_some_and(|it| given(it))),
        }
    }

    /// Whether it has the rights of the owner of an object.
    pub(crate) fn owns(&self, (kind, name): (ObjectKind, &str)) -> bool {
        self.is_superuser || self.roles.contains(&self.snapshot.rights(kind, name).owner)
    }

    /// Whether it may find what is in a schema.
    pub(crate) fn finds_in(&self, schema: &str) -> bool {
        names::SYSTEM.contains(&schema)
            || schema.starts_with(names::TEMPORARY)
            || self.may((ObjectKind::Schema, schema), Privileges::USAGE)
    }

    /// The role that gives rights on its behalf, and those that it may give.
    pub(crate) fn grantor(&self, of: (ObjectKind, &str)) -> (RoleId, Privileges) {
        let rights = self.snapshot.rights(of.0, of.1);
        if self.owns(of) {
            return (rights.owner, of.0.all());
        }
        let given = rights.given(of.0, of.1 == names::PUBLIC);
        let options =
            |role: RoleId| types::rights::options_of(rights.owner, &given, role) & of.0.all();
        self.best_of(options)
    }

    /// The same of a column.
    pub(crate) fn grantor_of_column(&self, name: &str, column: &str) -> (RoleId, Privileges) {
        let of = (ObjectKind::Relation, name);
        let rights = self.snapshot.rights(of.0, name);
        if self.owns(of) {
            return (rights.owner, Privileges::ON_COLUMNS);
        }
        let given = rights.grants.iter().chain(rights.columns.get(column)).flatten();
        let given: Vec<Grant> = given.copied().collect();
        let options = |role: RoleId| {
            types::rights::options_of(rights.owner, &given, role) & Privileges::ON_COLUMNS
        };
        self.best_of(options)
    }

    fn best_of(&self, options: impl Fn(RoleId) -> Privileges) -> (RoleId, Privileges) {
        let best =
            self.roles.iter().max_by_key(|it| (options(**it).each().count(), **it == self.role));
        best.map_or((self.role, Privileges::NONE), |it| (*it, options(*it)))
    }
}

/// The roles that a role comes to by its memberships, itself among them.
fn reached(
    snapshot: &CatalogSnapshot,
    role: RoleId,
    follows: impl Fn(&Membership) -> bool,
) -> Vec<RoleId> {
    let mut all = vec![role];
    let owner = snapshot.rights(ObjectKind::Database, "").owner;
    let mut next = 0;
    while let Some(&member) = all.get(next) {
        next += 1;
        let known: Option<Arc<Role>> = snapshot.role_by_id(member);
        let of = known.iter().flat_map(|it| &it.memberships).filter(|it| follows(it));
        let of: Vec<RoleId> = of.map(|it| it.of).collect();
        let of_owner = (member == owner).then_some(RoleId::DATABASE_OWNER);
        for role in of.into_iter().chain(of_owner) {
            if !all.contains(&role) {
                all.push(role);
            }
        }
    }
    all
}

/// Whether a relation of the system is for superusers alone: what checks passwords.
pub(crate) fn is_secret(schema: &str, name: &str) -> bool {
    schema == names::CATALOG && matches!(name, "pg_authid" | "pg_shadow")
}

/// Whether everybody may read a relation, as it is the system's.
fn is_open(full: &str) -> bool {
    let (schema, name) = names::split(full);
    names::SYSTEM.contains(&&*schema) && !is_secret(&schema, &name)
}
