//! GRANT and REVOKE of rights on objects.

use binder::{NamedRole, RightsOn, RoleStatement};
use types::{Grant, ObjectKind, Privileges, Rights, RoleId, SqlError, SqlResult, SqlState, names};

use super::asking::kind_of;
use super::columns::has_column;
use crate::answer::done;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::search_path::no_schema;
use crate::{Answer, Session};

const GRANT_OPERATION: SqlState = SqlState("0LP01");

/// What is done to the rights on each object.
#[derive(Clone, Copy)]
struct Change<'a> {
    grants: bool,
    /// `None` for all.
    rights: Option<Privileges>,
    roles: &'a [RoleId],
    option: bool,
    cascade: bool,
}

impl Session {
    pub(crate) fn put_rights(
        &self,
        (kind, name): (ObjectKind, &str),
        rights: Option<Rights>,
    ) -> SqlResult<()> {
        self.catalog().put_rights((kind, name), rights.clone());
        self.note(|| Operation::rights((kind, name), rights))
    }

    pub(super) fn change_rights(&self, statement: RoleStatement) -> SqlResult<Answer> {
        let RoleStatement::Rights { grant, rights, columns, on, roles, option, by, cascade } =
            statement
        else {
            return Err(SqlError::internal("no rights"));
        };
        if let Some(by) = by
            && self.named_role(&by)?.id != self.role()
        {
            return Err(SqlError::unsupported("grantor must be current user"));
        }
        if grant && option && roles.contains(&NamedRole::Public) {
            let message = "grant options can only be granted to roles";
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        let id = |it: &NamedRole| match it {
            NamedRole::Public => Ok(RoleId::PUBLIC),
            other => self.named_role(other).map(|it| it.id),
        };
        let roles = roles.iter().map(id).collect::<SqlResult<Vec<_>>>()?;
        let change = Change { grants: grant, rights, roles: &roles, option, cascade };
        for (kind, name) in self.objects(&on)? {
            if columns.is_empty() || rights != Some(Privileges::NONE) {
                self.change_rights_on((kind, &name), &change)?;
            }
            for (rights, columns) in &columns {
                let change = Change { rights: *rights, ..change };
                for column in columns {
                    self.change_rights_on_column((kind, &name), column, &change)?;
                }
            }
        }
        Ok(done(if grant { "GRANT" } else { "REVOKE" }))
    }

    /// The objects that a statement means. Errors: 42P01, 42809 and 3F000.
    fn objects(&self, on: &RightsOn) -> SqlResult<Vec<(ObjectKind, String)>> {
        let snapshot = self.snapshot();
        Ok(match on {
            RightsOn::Relations { sequences, names } => {
                let mut found = Vec::with_capacity(names.len());
                for said in names {
                    let name = self.existing_name(said, false)?;
                    let Some(word) = snapshot.kind_of(&name) else {
                        let message = format!("relation \"{said}\" does not exist");
                        return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
                    };
                    if *sequences && word != "sequence" {
                        let message = format!("\"{}\" is not a sequence", names::bare(&name));
                        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                    }
                    found.push((kind_of(&snapshot, &name), name));
                }
                found
            }
            RightsOn::AllIn { sequences, schemas } => {
                let mut found = Vec::new();
                for schema in schemas {
                    if !snapshot.has_schema(schema) {
                        return Err(no_schema(schema));
                    }
                    let all = snapshot.relations_of(schema).into_iter();
                    let all = all.filter(|it| it.0 != "type" && (it.0 == "sequence") == *sequences);
                    found.extend(all.map(|it| (on.kind(), it.1)));
                }
                found
            }
            RightsOn::Schemas(schemas) => {
                let is_there = |it: &String| match snapshot.has_schema(it) {
                    true => Ok((ObjectKind::Schema, it.clone())),
                    false => Err(no_schema(it)),
                };
                schemas.iter().map(is_there).collect::<SqlResult<_>>()?
            }
            // There is one, under any name.
            RightsOn::Databases(_) => vec![(ObjectKind::Database, String::new())],
        })
    }

    fn change_rights_on(&self, of: (ObjectKind, &str), change: &Change<'_>) -> SqlResult<()> {
        let (kind, name) = of;
        let wanted = change.rights.unwrap_or(kind.all());
        if !kind.all().has(wanted) {
            let word = if kind == ObjectKind::Relation { "relation" } else { kind.word() };
            let wrong = wanted & !kind.all();
            let wrong = wrong.each().next().map_or("", |it| it.1);
            let message = format!("invalid privilege type {wrong} for {word}");
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        let own = self.authority();
        let (grantor, may) = own.grantor(of);
        let shown = match kind {
            ObjectKind::Database => self.client.database.clone(),
            _ => names::bare(name),
        };
        let (verb, state) =
            if change.grants { ("were granted", "01007") } else { ("could be revoked", "01006") };
        let rights = wanted & may;
        if rights.is_empty() {
            if own.held(of).is_empty() {
                return Err(own.denied(of));
            }
            let message = format!("no privileges {verb} for \"{shown}\"");
            self.notice(Notice::warning(state, message));
            return Ok(());
        }
        if rights != wanted && change.rights.is_some() {
            let message = format!("not all privileges {verb} for \"{shown}\"");
            self.notice(Notice::warning(state, message));
        }
        let mut new = own.snapshot.rights(kind, name);
        let of_kind = (kind, name == names::PUBLIC);
        for &to in change.roles {
            let options = if change.option { rights } else { Privileges::NONE };
            let given = Grant { to, by: grantor, rights, options };
            match change.grants {
                true => new.grant(of_kind, given)?,
                false => new.revoke(of_kind, given, change.option, change.cascade)?,
            }
        }
        self.put_rights(of, Some(new))
    }
    fn change_rights_on_column(
        &self,
        (kind, name): (ObjectKind, &str),
        column: &str,
        change: &Change<'_>,
    ) -> SqlResult<()> {
        let own = self.authority();
        let relation = names::bare(name);
        if kind != ObjectKind::Relation {
            let message = "column privileges are only valid for relations";
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        let wanted = change.rights.unwrap_or(Privileges::ON_COLUMNS);
        if !Privileges::ON_COLUMNS.has(wanted) {
            let wrong = wanted & !Privileges::ON_COLUMNS;
            let wrong = wrong.each().next().map_or("", |it| it.1);
            let message = format!("invalid privilege type {wrong} for column");
            return Err(SqlError::new(GRANT_OPERATION, message));
        }
        if !has_column(&own.snapshot, name, column) {
            let message = format!("column \"{column}\" of relation \"{relation}\" does not exist");
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
        }
        let (grantor, may) = own.grantor_of_column(name, column);
        let (verb, state) =
            if change.grants { ("were granted", "01007") } else { ("could be revoked", "01006") };
        let rights = wanted & may;
        let told = format!("{verb} for column \"{column}\" of relation \"{relation}\"");
        if rights.is_empty() {
            let all = [column.to_owned()];
            let has = |it: &(Privileges, &str, char)| own.may_columns(name, it.0, &all);
            if !Privileges::ON_COLUMNS.each().any(has) {
                let message =
                    format!("permission denied for column \"{column}\" of relation \"{relation}\"");
                return Err(SqlError::new(SqlState("42501"), message));
            }
            self.notice(Notice::warning(state, format!("no privileges {told}")));
            return Ok(());
        }
        if rights != wanted && change.rights.is_some() {
            self.notice(Notice::warning(state, format!("not all privileges {told}")));
        }
        let mut new = own.snapshot.rights(kind, name);
        for &to in change.roles {
            let options = if change.option { rights } else { Privileges::NONE };
            let given = Grant { to, by: grantor, rights, options };
            match change.grants {
                true => new.grant_on_column(column, given)?,
                false => new.revoke_on_column(column, given, change.option, change.cascade)?,
            }
        }
        self.put_rights((kind, name), Some(new))
    }
}
