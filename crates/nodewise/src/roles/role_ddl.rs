//! CREATE, ALTER and DROP ROLE, and all other statements about roles.

use binder::{NamedRole, RoleOptions, RoleStatement};
use stdx::sync::Arc;
use types::{DataType, Membership, Role, RoleId, SqlError, SqlResult, SqlState, Value};

use super::Authority;
use super::identity::no_role;
use crate::answer::done;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::{Answer, CancelToken, Session};

const REFUSED: SqlState = SqlState("42501");

impl Session {
    /// Runs a statement about roles and rights.
    pub(crate) fn run_roles(
        &mut self,
        statement: RoleStatement,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        match &statement {
            RoleStatement::SetRole { role, is_reset, local } => {
                self.set_role(role.as_deref(), *local)?;
                return Ok(done(if *is_reset { "RESET" } else { "SET" }));
            }
            RoleStatement::SetSession { role, is_reset, local } => {
                self.set_session_role(role.as_deref(), *local)?;
                return Ok(done(if *is_reset { "RESET" } else { "SET" }));
            }
            _ => self.write_alone(cancel)?,
        }
        match statement {
            RoleStatement::Create { name, options } => self.create_role(&name, &options),
            RoleStatement::Alter { role, options } => self.alter_role(&role, &options),
            RoleStatement::Rename { name, to } => self.rename_role(&name, &to),
            RoleStatement::Drop { names, if_exists } => self.drop_roles(&names, if_exists),
            it @ RoleStatement::Member { .. } => self.change_members(it),
            it @ RoleStatement::Rights { .. } => self.change_rights(it),
            RoleStatement::Owner { of, to } => self.change_owner(&of, &to),
            RoleStatement::Reassign { from, to } => self.reassign_owned(&from, &to),
            RoleStatement::DropOwned { by, cascade } => self.drop_owned_by(&by, cascade, cancel),
            _ => Err(SqlError::internal("a statement about no role")),
        }
    }

    pub(super) fn put_role(&self, role: Role) -> SqlResult<()> {
        self.catalog().put_role(role.clone());
        self.note(|| Operation::role(&role))
    }

    /// The role that a statement names. Errors: 42704, also for PUBLIC.
    pub(super) fn named_role(&self, named: &NamedRole) -> SqlResult<Arc<Role>> {
        let id = match named {
            NamedRole::Name(name) => return self.existing_role(name),
            NamedRole::Current => self.role(),
            NamedRole::Session => self.session_role(),
            NamedRole::Public => return Err(no_role("public")),
        };
        let found = self.rights_snapshot().role_by_id(id);
        found.ok_or_else(|| no_role(&self.name_of_role(id)))
    }

    fn create_role(&self, name: &str, options: &RoleOptions) -> SqlResult<Answer> {
        let own = self.authority();
        if !own.has_attribute(|it| it.creates_roles) {
            return Err(refused("create role", "the CREATEROLE attribute"));
        }
        check_attributes(&own, None, options, "create role")?;
        if own.snapshot.role(name).is_some() {
            let message = format!("role \"{name}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        let mut role = Role::new(self.catalog().next_role(), name);
        self.apply(options, &mut role)?;
        let id = role.id;
        self.put_role(role)?;
        for group in &options.in_roles {
            let group = self.existing_role(group)?;
            self.add_member(&group, id, Default::default(), None)?;
        }
        let created = self.existing_role(name)?;
        for (members, admin) in [(&options.members, None), (&options.admins, Some(true))] {
            for member in members {
                let member = self.named_role(member)?;
                let options = binder::MembershipOptions { admin, ..Default::default() };
                self.add_member(&created, member.id, options, Some(RoleId::BOOTSTRAP))?;
            }
        }
        if !own.is_superuser() {
            // Who makes a role may change and drop it, and let others be it.
            let mut creator = Role::clone(&*self.existing_by_id(self.role())?);
            let (of, grantor) = (id, RoleId::BOOTSTRAP);
            let (admin, inherit, set) = (true, false, false);
            creator.memberships.push(Membership { of, grantor, admin, inherit, set });
            self.put_role(creator)?;
        }
        Ok(done("CREATE ROLE"))
    }

    pub(super) fn existing_by_id(&self, id: RoleId) -> SqlResult<Arc<Role>> {
        let found = self.rights_snapshot().role_by_id(id);
        found.ok_or_else(|| no_role(&id.to_string()))
    }

    fn alter_role(&self, named: &NamedRole, options: &RoleOptions) -> SqlResult<Answer> {
        let mut role = Role::clone(&*self.named_role(named)?);
        let own = self.authority();
        let only_password =
            RoleOptions { password: options.password.clone(), ..RoleOptions::default() };
        let is_own = role.id == own.role && *options == only_password;
        if !is_own {
            self.check_administers(&own, &role, "alter role")?;
        }
        check_attributes(&own, Some(&role), options, "alter role")?;
        self.apply(options, &mut role)?;
        if role.id == RoleId::BOOTSTRAP && !role.is_superuser {
            let message = "the bootstrap superuser must have the SUPERUSER attribute";
            return Err(SqlError::unsupported(message));
        }
        self.put_role(role)?;
        Ok(done("ALTER ROLE"))
    }

    /// Refuses who may not change a role. Errors: 42501.
    fn check_administers(&self, own: &Authority, role: &Role, what: &str) -> SqlResult<()> {
        if own.is_superuser() {
            return Ok(());
        }
        if role.is_superuser {
            return Err(refused(what, "the SUPERUSER attribute"));
        }
        match own.has_attribute(|it| it.creates_roles) && own.administers(role.id) {
            true => Ok(()),
            false => Err(refused(
                what,
                &format!("the CREATEROLE attribute and the ADMIN option on role \"{}\"", role.name),
            )),
        }
    }

    /// Changes what is said of a role.
    fn apply(&self, options: &RoleOptions, role: &mut Role) -> SqlResult<()> {
        let set = |place: &mut bool, said: Option<bool>| *place = said.unwrap_or(*place);
        set(&mut role.is_superuser, options.superuser);
        set(&mut role.can_login, options.login);
        set(&mut role.creates_roles, options.create_role);
        set(&mut role.creates_databases, options.create_database);
        set(&mut role.inherits, options.inherit);
        set(&mut role.replicates, options.replication);
        set(&mut role.bypasses_policies, options.bypass_policies);
        match options.connections {
            Some(-1) => role.sessions_max = None,
            Some(limit) => {
                let limit = u32::try_from(limit).map_err(|_| {
                    let message = format!("invalid connection limit: {limit}");
                    SqlError::new(SqlState::INVALID_PARAMETER, message)
                })?;
                role.sessions_max = Some(limit);
            }
            None => {}
        }
        if let Some(password) = &options.password {
            role.verifier = match password.as_deref() {
                None => None,
                Some("") => {
                    let message = "empty string is not a valid password, clearing password";
                    self.notice(Notice::told("00000", message));
                    None
                }
                Some(password) => Some(self.verifier_of(password)?),
            };
        }
        if let Some(until) = &options.valid_until {
            role.valid_until = self.moment(until)?;
        }
        Ok(())
    }

    /// What checks a password: as it is where it is that already.
    fn verifier_of(&self, password: &str) -> SqlResult<String> {
        if password.starts_with("SCRAM-SHA-256$") {
            return Ok(password.to_owned());
        }
        let Some(make) = self.database.verifiers.get() else {
            let message = "a password cannot be kept here: nothing makes what checks it";
            return Err(SqlError::unsupported(message).with_hint(
                "nodewise password NAME prints a SCRAM-SHA-256 verifier to give instead",
            ));
        };
        make(password).map_err(|it| SqlError::new(SqlState::INVALID_PARAMETER, it))
    }

    /// A moment in microseconds; `None` for one that never comes.
    fn moment(&self, text: &str) -> SqlResult<Option<i64>> {
        if text.trim().eq_ignore_ascii_case("infinity") {
            return Ok(None);
        }
        let zone = self.zone();
        let text = Value::Text(text.into());
        let value = types::numeric::cast_in(&text, DataType::Text, DataType::TimestampTz, &zone)?;
        match value {
            Value::Timestamp(moment) => Ok(Some(moment)),
            _ => Ok(None),
        }
    }

    fn rename_role(&self, name: &str, to: &str) -> SqlResult<Answer> {
        let role = self.existing_role(name)?;
        if role.id.is_of_system() {
            let message = format!("role \"{name}\" is reserved and cannot be renamed");
            return Err(SqlError::new(SqlState("42939"), message));
        }
        for (id, whose) in [(self.session_role(), "session"), (self.role(), "current")] {
            if id == role.id {
                let message = format!("{whose} user cannot be renamed");
                return Err(SqlError::unsupported(message));
            }
        }
        self.check_administers(&self.authority(), &role, "rename role")?;
        if self.rights_snapshot().role(to).is_some() {
            let message = format!("role \"{to}\" already exists");
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        self.put_role(Role { name: to.to_owned(), ..Role::clone(&role) })?;
        Ok(done("ALTER ROLE"))
    }

    fn drop_roles(&self, names: &[String], if_exists: bool) -> SqlResult<Answer> {
        let own = self.authority();
        let mut dropped: Vec<Arc<Role>> = Vec::new();
        for name in names {
            let Some(role) = own.snapshot.role(name) else {
                if if_exists {
                    let message = format!("role \"{name}\" does not exist, skipping");
                    self.notice(Notice::told("00000", message));
                    continue;
                }
                return Err(no_role(name));
            };
            for (id, whose) in [
                (self.role(), "current"),
                (self.session_role(), "session"),
                (self.login, "session"),
            ] {
                if id == role.id {
                    let message = format!("{whose} user cannot be dropped");
                    return Err(SqlError::new(SqlState("55006"), message));
                }
            }
            if role.id.is_of_system() {
                let message = format!(
                    "cannot drop role {name} because it is required by the database system"
                );
                return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS, message));
            }
            self.check_administers(&own, &role, "drop role")?;
            dropped.push(role);
        }
        let is_dropped = |id: RoleId| dropped.iter().any(|it| it.id == id);
        for role in &dropped {
            self.check_unused(role, &is_dropped)?;
        }
        for role in &dropped {
            for other in self.rights_snapshot().roles() {
                if other.memberships.iter().any(|it| it.of == role.id) && !is_dropped(other.id) {
                    let mut other = Role::clone(&other);
                    other.memberships.retain(|it| it.of != role.id);
                    self.put_role(other)?;
                }
            }
            self.catalog().drop_role(&role.name);
            self.note(|| Operation::drop_role(&role.name))?;
        }
        Ok(done("DROP ROLE"))
    }

    /// Refuses to drop a role that owns something, or has been given or has given something. Errors: 2BP01.
    fn check_unused(&self, role: &Role, is_dropped: &dyn Fn(RoleId) -> bool) -> SqlResult<()> {
        let snapshot = self.rights_snapshot();
        let mut uses: Vec<String> = Vec::new();
        for ((kind, name), rights) in snapshot.all_rights() {
            if !rights.names(role.id) {
                continue;
            }
            let word = snapshot.kind_of(&name).filter(|_| kind < types::ObjectKind::Schema);
            let word = word.unwrap_or(kind.word());
            uses.push(match rights.owner == role.id {
                true => format!("owner of {word} {name}"),
                false => format!("privileges for {word} {name}"),
            });
        }
        let types = self.types_of(role.id);
        uses.extend(types.iter().map(|it| format!("owner of type {}", it.name)));
        for member in snapshot.roles().iter().filter(|it| !is_dropped(it.id)) {
            let given = member.memberships.iter();
            let mut given = given.filter(|it| it.grantor == role.id && !is_dropped(it.of));
            uses.extend(given.next().map(|it| {
                let of = self.name_of_role(it.of);
                format!("privileges for membership of role {} in role {of}", member.name)
            }));
        }
        if uses.is_empty() {
            return Ok(());
        }
        let message = format!(
            "role \"{}\" cannot be dropped because some objects depend on it: {}",
            role.name,
            uses.join(", ")
        );
        Err(SqlError::new(SqlState::DEPENDENT_OBJECTS, message))
    }
}

impl Authority {
    /// Whether its own role, which is what counts for attributes, has one.
    fn has_attribute(&self, attribute: impl Fn(&Role) -> bool) -> bool {
        self.is_superuser() || self.snapshot.role_by_id(self.role).is_some_and(|it| attribute(&it))
    }
}

/// Attributes are given by who has them. Errors: 42501.
fn check_attributes(
    own: &Authority,
    role: Option<&Role>,
    options: &RoleOptions,
    what: &str,
) -> SqlResult<()> {
    let differs = |said: Option<bool>, has: fn(&Role) -> bool| {
        said.is_some_and(|said| said != role.is_some_and(has))
    };
    for (said, has, name) in [
        (options.superuser, (|it| it.is_superuser) as fn(&Role) -> bool, "SUPERUSER"),
        (options.create_database, |it| it.creates_databases, "CREATEDB"),
        (options.replication, |it| it.replicates, "REPLICATION"),
        (options.bypass_policies, |it| it.bypasses_policies, "BYPASSRLS"),
    ] {
        if differs(said, has) && !own.has_attribute(has) {
            return Err(refused(what, &format!("the {name} attribute")));
        }
    }
    Ok(())
}

fn refused(what: &str, needs: &str) -> SqlError {
    SqlError::new(REFUSED, format!("permission denied to {what}"))
        .with_hint(format!("only roles with {needs} may"))
}
