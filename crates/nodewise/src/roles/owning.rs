//! Who owns what: what somebody makes, ALTER .. OWNER TO, REASSIGN OWNED, DROP OWNED.

use binder::{NamedRole, Owned};
use types::{
    ObjectKind, Privileges, Rights, RoleId, SqlError, SqlResult, SqlState, UserType, names,
};

use super::Authority;
use super::asking::kind_of;
use crate::answer::done;
use crate::notice::Notice;
use crate::search_path::no_schema;
use crate::{Answer, CancelToken, Session};

const REFUSED: SqlState = SqlState("42501");

impl Session {
    /// What who runs the statement has made is its own.
    pub(crate) fn own(&self, kind: ObjectKind, name: &str) -> SqlResult<()> {
        match self.role() {
            RoleId::BOOTSTRAP => Ok(()),
            role => self.put_rights((kind, name), Some(Rights::of(role))),
        }
    }

    /// Lets the rights on a view or a sequence follow it to another name; those on tables do by themselves.
    pub(crate) fn move_rights(&self, from: &str, to: &str) -> SqlResult<()> {
        let snapshot = self.snapshot();
        if snapshot.get(from).is_some() {
            return Ok(());
        }
        for kind in [ObjectKind::Relation, ObjectKind::Sequence] {
            let rights = snapshot.rights(kind, from);
            if rights != Rights::of(RoleId::BOOTSTRAP) {
                self.put_rights((kind, from), None)?;
                self.put_rights((kind, to), Some(rights))?;
            }
        }
        Ok(())
    }

    /// Lets the rights on a column follow it to another name, or go with it.
    pub(crate) fn move_column_rights(
        &self,
        table: &str,
        from: &str,
        to: Option<&str>,
    ) -> SqlResult<()> {
        let mut rights = self.snapshot().rights(ObjectKind::Relation, table);
        match rights.move_column(from, to) {
            true => self.put_rights((ObjectKind::Relation, table), Some(rights)),
            false => Ok(()),
        }
    }

    /// A table is replaced by one with other columns.
    pub(crate) fn forget_column_rights(&self, table: &str) -> SqlResult<()> {
        let mut rights = self.snapshot().rights(ObjectKind::Relation, table);
        if rights.columns.is_empty() {
            return Ok(());
        }
        rights.columns.clear();
        self.put_rights((ObjectKind::Relation, table), Some(rights))
    }

    /// Who is to own what is made. Errors: 42501 where who makes it cannot become that role.
    pub(crate) fn owner_to_be(&self, named: &NamedRole) -> SqlResult<RoleId> {
        let (own, to) = (self.authority(), self.named_role(named)?.id);
        match own.may_become(to) {
            true => Ok(to),
            false => {
                let message = format!("must be able to SET ROLE \"{}\"", self.name_of_role(to));
                Err(SqlError::new(REFUSED, message))
            }
        }
    }

    pub(super) fn change_owner(&self, of: &Owned, to: &NamedRole) -> SqlResult<Answer> {
        let to = self.named_role(to)?.id;
        let own = self.authority();
        match of {
            Owned::Schema(name) => {
                if !own.snapshot.has_schema(name) {
                    return Err(no_schema(name));
                }
                own.check_owner_of_schema(name)?;
                self.check_next_owner(&own, to, (ObjectKind::Database, ""))?;
                self.pass((ObjectKind::Schema, name), to)?;
                Ok(done("ALTER SCHEMA"))
            }
            Owned::Type { name, is_domain } => {
                let full = self.existing_type_name(name)?;
                let old = match is_domain {
                    true => self.existing_domain(&full)?.0,
                    false => self.existing_type(&full)?,
                };
                own.check_owner_of_type(&old)?;
                let schema = names::schema_of(&old.name);
                self.check_next_owner(&own, to, (ObjectKind::Schema, &schema))?;
                self.put_type(UserType { owner: to, ..UserType::clone(&old) })?;
                Ok(done(if *is_domain { "ALTER DOMAIN" } else { "ALTER TYPE" }))
            }
            Owned::Database => {
                if !own.owns((ObjectKind::Database, "")) {
                    let message = format!("must be owner of database {}", self.client.database);
                    return Err(SqlError::new(REFUSED, message));
                }
                self.check_next_owner(&own, to, (ObjectKind::Database, ""))?;
                self.pass((ObjectKind::Database, ""), to)?;
                Ok(done("ALTER DATABASE"))
            }
            Owned::Relation { kind, name, if_exists } => {
                let tag = format!("ALTER {}", kind.to_uppercase());
                let full = self.existing_name(name, *if_exists)?;
                let snapshot = self.snapshot();
                let Some(found) = snapshot.kind_of(&full) else {
                    let message = format!("relation \"{name}\" does not exist");
                    if *if_exists {
                        self.notice(Notice::told("00000", format!("{message}, skipping")));
                        return Ok(done(tag));
                    }
                    return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
                };
                if *kind != "table" && found != *kind {
                    let message = format!("\"{}\" is not a {kind}", names::bare(&full));
                    return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                }
                own.check_owner(&full)?;
                if snapshot.sequence(&full).is_some_and(|it| it.owner.is_some()) {
                    let message =
                        format!("cannot change owner of sequence \"{}\"", names::bare(&full));
                    return Err(SqlError::unsupported(message)
                        .with_hint("it belongs to a column, and goes with the table"));
                }
                let schema = names::schema_of(&full);
                self.check_next_owner(&own, to, (ObjectKind::Schema, &schema))?;
                self.pass((kind_of(&snapshot, &full), &full), to)?;
                for sequence in self.owned(&full, None) {
                    self.pass((ObjectKind::Sequence, &sequence.name), to)?;
                }
                Ok(done(tag))
            }
        }
    }

    /// Whether something may be given to a role, which could have made it there itself. Errors: 42501.
    fn check_next_owner(
        &self,
        own: &Authority,
        to: RoleId,
        place: (ObjectKind, &str),
    ) -> SqlResult<()> {
        if own.is_superuser() {
            return Ok(());
        }
        if !own.may_become(to) {
            let message = format!("must be able to SET ROLE \"{}\"", self.name_of_role(to));
            return Err(SqlError::new(REFUSED, message));
        }
        if place.1.starts_with(names::TEMPORARY) {
            return Ok(());
        }
        let next = Authority::of(own.snapshot.clone(), to);
        match next.may(place, Privileges::CREATE) {
            true => Ok(()),
            false => Err(own.denied(place)),
        }
    }

    fn pass(&self, of: (ObjectKind, &str), to: RoleId) -> SqlResult<()> {
        let mut rights = self.rights_snapshot().rights(of.0, of.1);
        rights.pass_to(to);
        self.put_rights(of, Some(rights))
    }

    pub(super) fn reassign_owned(&self, from: &[NamedRole], to: &NamedRole) -> SqlResult<Answer> {
        let (own, to) = (self.authority(), self.named_role(to)?.id);
        for named in from {
            let role = self.named_role(named)?;
            if !own.has_role(role.id) || !own.has_role(to) {
                let message = "permission denied to reassign objects";
                return Err(SqlError::new(REFUSED, message)
                    .with_hint("it takes the privileges of both roles"));
            }
            if role.id.is_of_system() {
                let message = format!(
                    "cannot reassign ownership of objects owned by role {} because they are \
                     required by the database system",
                    role.name
                );
                return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS, message));
            }
            for ((kind, name), rights) in self.rights_snapshot().all_rights() {
                if rights.owner == role.id {
                    self.pass((kind, &name), to)?;
                }
            }
            for it in self.types_of(role.id) {
                self.put_type(UserType { owner: to, ..UserType::clone(&it) })?;
            }
        }
        Ok(done("REASSIGN OWNED"))
    }

    pub(super) fn drop_owned_by(
        &mut self,
        by: &[NamedRole],
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        for named in by {
            let role = self.named_role(named)?;
            if !self.authority().has_role(role.id) {
                return Err(SqlError::new(REFUSED, "permission denied to drop objects"));
            }
            if role.id.is_of_system() {
                let message = format!(
                    "cannot drop objects owned by role {} because they are required by the \
                     database system",
                    role.name
                );
                return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS, message));
            }
            for word in ["view", "materialized view", "table", "sequence", "schema"] {
                let snapshot = self.snapshot();
                let is_own = |it: &(ObjectKind, String)| match word {
                    "schema" => it.0 == ObjectKind::Schema && it.1 != names::PUBLIC,
                    _ => it.0 < ObjectKind::Schema && snapshot.kind_of(&it.1) == Some(word),
                };
                let all = snapshot.all_rights().into_iter().filter(|it| it.1.owner == role.id);
                let names: Vec<String> = all.map(|it| it.0).filter(is_own).map(|it| it.1).collect();
                if names.is_empty() {
                    continue;
                }
                match word {
                    "table" => self.drop_tables(&names, true, cascade, cancel)?,
                    "sequence" => self.drop_sequences(&names, true, cascade, cancel)?,
                    "schema" => self.drop_schemas(&names, true, cascade, cancel)?,
                    _ => self.drop_views((word, &names[..]), true, cascade, cancel)?,
                };
            }
            let types = self.types_of(role.id).into_iter().map(|it| it.name.clone());
            self.drop_types(&types.collect::<Vec<_>>(), true, cascade, cancel)?;
            for ((kind, name), rights) in self.rights_snapshot().all_rights() {
                if rights.owner != role.id && rights.names(role.id) {
                    let mut rights = Rights::clone(&rights);
                    rights.forget(role.id);
                    self.put_rights((kind, &name), Some(rights))?;
                }
            }
        }
        Ok(done("DROP OWNED"))
    }
}
