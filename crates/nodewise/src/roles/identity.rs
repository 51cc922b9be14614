//! Who a session is: the role that its client came in as, and those that SET SESSION AUTHORIZATION and SET ROLE have chosen.

use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;
use storage::CatalogSnapshot;
use types::{ObjectKind, Privileges, Role, RoleId, SqlError, SqlResult, SqlState};

use super::Authority;
use super::chosen::{ChosenRoles, VerifierMaker};
use crate::client_settings::{ROLE, SESSION_ROLE, SUPERUSER};
use crate::notice::Notice;
use crate::{Database, Session};

/// A client that may not come in.
const REFUSED: SqlState = SqlState("28000");

impl Session {
    /// Who runs the statement: its rights are asked.
    pub(crate) fn role(&self) -> RoleId {
        let chosen = self.settings.roles;
        self.acting.or(chosen.role).or(chosen.session).unwrap_or(self.login)
    }

    /// Who the session is of.
    pub(crate) fn session_role(&self) -> RoleId {
        self.settings.roles.session.unwrap_or(self.login)
    }

    /// The role of a name. Errors: 42704.
    pub(crate) fn existing_role(&self, name: &str) -> SqlResult<Arc<Role>> {
        self.rights_snapshot().role(name).ok_or_else(|| no_role(name))
    }

    /// The name of a role; of one that has gone, its number.
    pub(crate) fn name_of_role(&self, id: RoleId) -> String {
        match self.rights_snapshot().role_by_id(id) {
            Some(role) => role.name.clone(),
            None => format!("unknown (OID={id})"),
        }
    }

    /// The roles and rights as they are now: what others have taken away counts at once, whatever picture of the tables the
    /// transaction has.
    pub(crate) fn rights_snapshot(&self) -> Arc<CatalogSnapshot> {
        match &*self.writing.lock() {
            Some(writing) if writing.turn.is_some() => writing.branch.snapshot(),
            _ => self.database.catalog.snapshot(),
        }
    }

    /// Lets a client in as a role. Who is trusted, whoever it says to be, is the superuser as long as nobody has made a role.
    ///
    /// Errors: 28000 where there is no such role, or it may not come in; 42501 without the right to connect; 53300 where it has as many
    /// sessions as it may.
    pub fn log_in(&mut self, user: &str, database: &str, is_trusted: bool) -> SqlResult<()> {
        let snapshot = self.database.catalog.snapshot();
        let role = match snapshot.role(user) {
            Some(role) => role,
            None if is_trusted && !snapshot.has_roles() => {
                snapshot.role_by_id(RoleId::BOOTSTRAP).ok_or_else(|| no_role(user))?
            }
            None => {
                let message = format!("role \"{user}\" does not exist");
                return Err(SqlError::new(REFUSED, message));
            }
        };
        if !role.can_login {
            let message = format!("role \"{user}\" is not permitted to log in");
            return Err(SqlError::new(REFUSED, message));
        }
        let authority = Authority::of(snapshot, role.id);
        if !authority.may((ObjectKind::Database, ""), Privileges::CONNECT) {
            let message = format!("permission denied for database \"{database}\"");
            return Err(SqlError::new(SqlState("42501"), message)
                .with_hint("its owner gives the CONNECT privilege"));
        }
        self.activity.user.store(role.id.0, Ordering::Relaxed);
        let most = role.sessions_max.filter(|_| !role.is_superuser);
        if most.is_some_and(|it| self.database.sessions.count_of(role.id) > u64::from(it)) {
            let message = format!("too many connections for role \"{user}\"");
            return Err(SqlError::new(SqlState::TOO_MANY_CONNECTIONS, message));
        }
        self.login = role.id;
        self.tell_roles();
        self.client.database = database.to_owned();
        Ok(())
    }

    /// SET ROLE. Errors: 22023 and 42501.
    pub(super) fn set_role(&mut self, name: Option<&str>, local: bool) -> SqlResult<()> {
        let mut chosen = self.settings.roles;
        chosen.role = match name {
            None => None,
            Some(name) => {
                let role = self.rights_snapshot().role(name).ok_or_else(|| no_choice(name))?;
                let own = Authority::of(self.rights_snapshot(), self.session_role());
                if !own.may_become(role.id) {
                    let message = format!("permission denied to set role \"{name}\"");
                    return Err(SqlError::new(SqlState("42501"), message));
                }
                Some(role.id)
            }
        };
        self.choose(chosen, local);
        Ok(())
    }

    /// SET SESSION AUTHORIZATION: only who came in as a superuser becomes somebody else.
    pub(super) fn set_session_role(&mut self, name: Option<&str>, local: bool) -> SqlResult<()> {
        let session = match name {
            None => None,
            Some(name) => {
                let role = self.rights_snapshot().role(name).ok_or_else(|| no_choice(name))?;
                let own = Authority::of(self.rights_snapshot(), self.login);
                if role.id != self.login && !own.is_superuser() {
                    let message =
                        format!("permission denied to set session authorization \"{name}\"");
                    return Err(SqlError::new(SqlState("42501"), message));
                }
                Some(role.id)
            }
        };
        self.choose(ChosenRoles { session, role: None }, local);
        Ok(())
    }

    /// Chooses roles as SET does: for the transaction alone where `local`.
    fn choose(&mut self, chosen: ChosenRoles, local: bool) {
        let before = self.settings.clone();
        match (&mut self.block, local) {
            (Some(block), true) if !block.is_implicit => {
                block.lasting.get_or_insert_with(|| Box::new(before));
            }
            (_, true) => {
                let message = "SET LOCAL can only be used in transaction blocks";
                self.notice(Notice::warning("25P01", message));
                return;
            }
            (Some(block), false) => {
                block.lasting.iter_mut().for_each(|it| it.roles = chosen);
            }
            (None, false) => {}
        }
        self.settings.roles = chosen;
        self.tell_roles();
    }

    /// Lets settings say who the session is.
    pub(crate) fn tell_roles(&mut self) {
        let is_superuser = self.role() == RoleId::BOOTSTRAP || self.authority().is_superuser();
        let session = self.name_of_role(self.session_role());
        let role = self.settings.roles.role.map(|it| self.name_of_role(it));
        let is_superuser = if is_superuser { "on" } else { "off" };
        let role = role.as_deref().unwrap_or("none");
        let lasting = self.block.as_mut().and_then(|it| it.lasting.as_deref_mut());
        let lasting = lasting.filter(|it| it.roles == self.settings.roles);
        for settings in [Some(&mut self.settings), lasting].into_iter().flatten() {
            settings.client.tell(SUPERUSER, is_superuser);
            settings.client.tell(SESSION_ROLE, &session);
            settings.client.tell(ROLE, role);
        }
    }

    /// Does something on behalf of the owner of an object.
    pub(crate) fn acting_as<T>(
        &mut self,
        owner: RoleId,
        act: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = self.acting.replace(owner);
        let done = act(self);
        self.acting = before;
        done
    }
}

impl Database {
    /// Who makes what checks passwords; without, CREATE ROLE takes only what checks one. Once only; whether it was the first call.
    pub fn make_verifiers_by(&self, maker: VerifierMaker) -> bool {
        self.verifiers.set(maker).is_ok()
    }

    /// Whether there is a role.
    pub fn has_role(&self, name: &str) -> bool {
        self.catalog.snapshot().role(name).is_some()
    }

    /// What checks the password of a role, if it has one that has not ended.
    pub fn verifier(&self, role: &str) -> Option<String> {
        let role = self.catalog.snapshot().role(role)?;
        let now = self.machine.wall_clock();
        let holds = role.valid_until.is_none_or(|it| it > now);
        role.verifier.clone().filter(|_| holds)
    }
}

pub(super) fn no_role(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
}

fn no_choice(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, format!("role \"{name}\" does not exist"))
}
