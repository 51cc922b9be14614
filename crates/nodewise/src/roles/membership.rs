//! GRANT and REVOKE of roles.

use binder::{MembershipOptions, RoleStatement};
use types::{Membership, Role, RoleId, SqlError, SqlResult, SqlState};

use super::Authority;
use crate::answer::done;
use crate::notice::Notice;
use crate::{Answer, Session};

const REFUSED: SqlState = SqlState("42501");
const GRANT_OPERATION: SqlState = SqlState("0LP01");

impl Session {
    pub(super) fn change_members(&self, statement: RoleStatement) -> SqlResult<Answer> {
        let RoleStatement::Member { grant, roles, members, options, by, cascade } = statement
        else {
            return Err(SqlError::internal("no membership"));
        };
        for name in &roles {
            let role = self.existing_role(name)?;
            let by = by.as_ref().map(|it| self.named_role(it)).transpose()?;
            let grantor = self.grantor_of_role(&role, by.map(|it| it.id), grant)?;
            for member in &members {
                let member = self.named_role(member)?;
                match grant {
                    true => self.add_member(&role, member.id, options, Some(grantor))?,
                    false => self.remove_member(&role, &member, (options, grantor), cascade)?,
                }
            }
        }
        Ok(done(if grant { "GRANT ROLE" } else { "REVOKE ROLE" }))
    }

    /// Who makes others members of a role on behalf of who runs the statement. Errors: 42501.
    fn grantor_of_role(
        &self,
        role: &Role,
        said: Option<RoleId>,
        grants: bool,
    ) -> SqlResult<RoleId> {
        let own = self.authority();
        let refused = || {
            let verb = if grants { "grant" } else { "revoke" };
            let message = format!("permission denied to {verb} role \"{}\"", role.name);
            Err(SqlError::new(REFUSED, message).with_hint(format!(
                "only roles with the ADMIN option on role \"{}\" may",
                role.name
            )))
        };
        if role.is_superuser && !own.is_superuser() {
            return refused();
        }
        if let Some(said) = said {
            let other = Authority::of(own.snapshot.clone(), said);
            let is_admin = said == RoleId::BOOTSTRAP || other.admin_of(role.id) == Some(said);
            return if own.has_role(said) && is_admin { Ok(said) } else { refused() };
        }
        if own.is_superuser() {
            return Ok(RoleId::BOOTSTRAP);
        }
        own.admin_of(role.id).map_or_else(refused, Ok)
    }

    /// Makes a role a member of another, by whoever may where that is not said.
    ///
    /// Errors: 0LP01 where the other is one of it.
    pub(super) fn add_member(
        &self,
        role: &Role,
        member: RoleId,
        options: MembershipOptions,
        by: Option<RoleId>,
    ) -> SqlResult<()> {
        let grantor = match by {
            Some(by) => by,
            None => self.grantor_of_role(role, None, true)?,
        };
        if role.id == RoleId::DATABASE_OWNER {
            let message = format!("role \"{}\" cannot have explicit members", role.name);
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        let snapshot = self.rights_snapshot();
        let mut changed = Role::clone(&*self.existing_by_id(member)?);
        let upper = Role::clone(role);
        let of_upper = Authority::of(snapshot, upper.id);
        let is_circle = upper.id == member || !upper.is_superuser && of_upper.is_member(member);
        if is_circle {
            let message =
                format!("role \"{}\" is a member of role \"{}\"", role.name, changed.name);
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        let inherits = changed.inherits;
        let known = changed.memberships.iter_mut();
        let mut known = known.filter(|it| it.of == role.id && it.grantor == grantor);
        match known.next() {
            Some(_) if options == MembershipOptions::default() => {
                let message = format!(
                    "role \"{}\" has already been granted membership in role \"{}\" by role \"{}\"",
                    changed.name,
                    role.name,
                    self.name_of_role(grantor)
                );
                self.notice(Notice::told("00000", message));
                return Ok(());
            }
            Some(known) => {
                known.admin = options.admin.unwrap_or(known.admin);
                known.inherit = options.inherit.unwrap_or(known.inherit);
                known.set = options.set.unwrap_or(known.set);
            }
            None => changed.memberships.push(Membership {
                of: role.id,
                grantor,
                admin: options.admin.unwrap_or(false),
                inherit: options.inherit.unwrap_or(inherits),
                set: options.set.unwrap_or(true),
            }),
        }
        self.put_role(changed)
    }

    /// Ends a membership, or takes one of its options away. Errors: 2BP01 where others rest on it.
    fn remove_member(
        &self,
        role: &Role,
        member: &Role,
        (options, grantor): (MembershipOptions, RoleId),
        cascade: bool,
    ) -> SqlResult<()> {
        let mut changed = Role::clone(&*self.existing_by_id(member.id)?);
        let mut known = changed.memberships.iter();
        let place = known.position(|it| it.of == role.id && it.grantor == grantor);
        let Some(place) = place else {
            let message = format!(
                "role \"{}\" has not been granted membership in role \"{}\" by role \"{}\"",
                member.name,
                role.name,
                self.name_of_role(grantor)
            );
            self.notice(Notice::warning("01000", message));
            return Ok(());
        };
        if options == MembershipOptions::default() {
            changed.memberships.remove(place);
        } else {
            let known = &mut changed.memberships[place];
            known.admin = options.admin.unwrap_or(known.admin);
            known.inherit = options.inherit.unwrap_or(known.inherit);
            known.set = options.set.unwrap_or(known.set);
        }
        let is_admin = changed.memberships.iter().any(|it| it.of == role.id && it.admin);
        self.put_role(changed)?;
        if is_admin {
            return Ok(());
        }
        // What it has given as an admin rests on that.
        for other in self.rights_snapshot().roles() {
            let rests = |it: &Membership| it.of == role.id && it.grantor == member.id;
            if !other.memberships.iter().any(rests) {
                continue;
            }
            if !cascade {
                let message = "dependent privileges exist";
                return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS, message)
                    .with_hint("Use CASCADE to revoke them too."));
            }
            let all = MembershipOptions::default();
            self.remove_member(role, &other, (all, member.id), true)?;
        }
        Ok(())
    }
}
