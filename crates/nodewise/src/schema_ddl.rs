//! CREATE, ALTER and DROP SCHEMA, and the schemas of temporary relations.

use binder::{NamedRole, Statement, quoted_name};
use types::{ObjectKind, Rights, RoleId, SqlError, SqlResult, SqlState, names};

use crate::answer::done;
use crate::dependents::needed;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::search_path::no_schema;
use crate::{Answer, CancelToken, Session};

/// A schema that is there already.
const DUPLICATE_SCHEMA: SqlState = SqlState("42P06");

impl Session {
    pub(crate) fn create_schema(
        &self,
        name: &str,
        (if_not_exists, owner): (bool, Option<&NamedRole>),
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        check_schema_name(name)?;
        if self.snapshot().has_schema(name) || names::SYSTEM.contains(&name) {
            if if_not_exists {
                let message = format!("schema \"{name}\" already exists, skipping");
                self.notice(Notice::told("42P06", message));
                return Ok(done("CREATE SCHEMA"));
            }
            return Err(already_exists(name));
        }
        let owner = owner.map(|it| self.owner_to_be(it)).transpose()?;
        self.put_schema(name)?;
        match owner {
            None => self.own(ObjectKind::Schema, name)?,
            Some(RoleId::BOOTSTRAP) => {}
            Some(owner) => self.put_rights((ObjectKind::Schema, name), Some(Rights::of(owner)))?,
        }
        Ok(done("CREATE SCHEMA"))
    }

    /// Runs statements inside of CREATE SCHEMA, in which names without a schema are in that one.
    pub(crate) fn make_in_schema(
        &mut self,
        name: &str,
        (elements, owner): (Vec<Statement>, Option<&NamedRole>),
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        if elements.is_empty() {
            return Ok(());
        }
        let owner = owner.map(|it| self.owner_to_be(it)).transpose()?;
        if owner.is_some_and(|it| it != self.role()) {
            let message = "statements inside of CREATE SCHEMA .. AUTHORIZATION of another role";
            return Err(SqlError::unsupported(format!("{message} are not supported"))
                .with_hint("SET ROLE first"));
        }
        let before = self.settings.client.clone();
        let known = before.search_path().iter().map(|it| quoted_name(it)).collect::<Vec<_>>();
        let path = [vec![quoted_name(name)], known].concat().join(", ");
        self.settings.client.set("search_path", Some(&path))?;
        let done = elements
            .into_iter()
            .try_for_each(|it| self.run_statement(it, cancel.clone()).map(|_| ()));
        self.settings.client = before;
        done
    }

    fn put_schema(&self, name: &str) -> SqlResult<()> {
        self.catalog().put_schema(name);
        self.note(|| Operation::schema(name))
    }

    fn remove_schema(&self, name: &str) -> SqlResult<()> {
        self.catalog().drop_schema(name)?;
        self.note(|| Operation::drop_schema(name))
    }

    /// Makes the schema of the temporary relations of the session, if it is not there yet.
    pub(crate) fn make_temporary_schema(&self) -> SqlResult<()> {
        let name = self.temporary_schema();
        if self.snapshot().has_schema(&name) {
            return Ok(());
        }
        self.write_alone(&CancelToken::new())?;
        self.has_temporary.store(true, stdx::sync::atomic::Ordering::Relaxed);
        self.catalog().put_schema(&name);
        Ok(())
    }

    pub(crate) fn rename_schema(
        &mut self,
        name: &str,
        to: &str,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        check_own(name)?;
        check_schema_name(to)?;
        let snapshot = self.snapshot();
        if !snapshot.has_schema(name) {
            return Err(no_schema(name));
        }
        if snapshot.has_schema(to) || names::SYSTEM.contains(&to) {
            return Err(already_exists(to));
        }
        self.put_schema(to)?;
        for (kind, old) in snapshot.relations_of(name) {
            let new = names::joined(to, &names::bare(&old));
            match kind {
                "table" => self.rename_table(&old, &new, cancel)?,
                "view" | "materialized view" => {
                    self.rename_view(&old, &new, false, cancel)?;
                }
                "type" => self.rename_type(&old, &new, cancel)?,
                _ => self.rename_sequence_to(&old, &new, cancel)?,
            }
        }
        self.move_macros(name, to)?;
        self.move_extensions(name, to)?;
        self.move_comment(["schema", name, ""], Some(["schema", to, ""]))?;
        let rights = snapshot.rights(ObjectKind::Schema, name);
        if rights != Rights::of(RoleId::BOOTSTRAP) {
            self.put_rights((ObjectKind::Schema, to), Some(rights))?;
        }
        self.remove_schema(name)?;
        Ok(done("ALTER SCHEMA"))
    }

    pub(crate) fn drop_schemas(
        &mut self,
        schemas: &[String],
        if_exists: bool,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let mut found = Vec::with_capacity(schemas.len());
        for name in schemas {
            check_own(name)?;
            match (self.snapshot().has_schema(name), if_exists) {
                (true, _) => found.push(name),
                (false, true) => {
                    let message = format!("schema \"{name}\" does not exist, skipping");
                    self.notice(Notice::told("00000", message));
                }
                (false, false) => return Err(no_schema(name)),
            }
        }
        for name in found {
            if !self.snapshot().has_schema(name) {
                // Named twice.
                continue;
            }
            self.empty_schema(name, cascade, cancel)?;
            self.remove_schema(name)?;
        }
        Ok(done("DROP SCHEMA"))
    }

    /// Drops all that is in a schema, or refuses where there is anything (2BP01).
    pub(crate) fn empty_schema(
        &mut self,
        name: &str,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let relations = snapshot.relations_of(name);
        let mut macros = self.macros_in_words(name);
        macros.extend(self.extensions_in_words(name));
        if relations.is_empty() && macros.is_empty() {
            return Ok(());
        }
        // What a column owns goes with it, and is no object of its own.
        let is_owned = |it: &str| snapshot.sequence(it).is_some_and(|it| it.owner.is_some());
        let told = relations.iter().filter(|it| !is_owned(&it.1));
        let told = told.map(|(kind, it)| format!("{kind} {it}"));
        let described: Vec<String> = told.chain(macros).collect();
        if !cascade {
            let each = |it| format!("{it} depends on schema {name}");
            let each: Vec<String> = described.iter().map(each).collect();
            return Err(needed(&format!("schema {name}"), &each));
        }
        described.into_iter().for_each(|it| self.cascades_to(it));
        let of = |wanted: &str| -> Vec<String> {
            relations.iter().filter(|it| it.0 == wanted).map(|it| it.1.clone()).collect()
        };
        let left = |session: &Self, all: Vec<String>| -> Vec<String> {
            let snapshot = session.snapshot();
            all.into_iter().filter(|it| snapshot.kind_of(it).is_some()).collect()
        };
        for kind in ["view", "materialized view"] {
            let views = left(self, of(kind));
            self.drop_views((kind, &views[..]), true, true, cancel)?;
        }
        let tables = left(self, of("table"));
        self.drop_tables(&tables, true, true, cancel)?;
        let sequences = left(self, of("sequence"));
        self.drop_sequences(&sequences, true, true, cancel)?;
        self.drop_macros_in(name)?;
        self.drop_extensions_in(name)?;
        let mut types = of("type");
        types.retain(|it| self.snapshot().user_type(it).is_some());
        self.drop_types(&types, true, true, cancel)?;
        Ok(())
    }
}

fn already_exists(name: &str) -> SqlError {
    SqlError::new(DUPLICATE_SCHEMA, format!("schema \"{name}\" already exists"))
}

/// Refuses names that only the system gives.
fn check_schema_name(name: &str) -> SqlResult<()> {
    if name.starts_with("pg_") && !names::SYSTEM.contains(&name) {
        let message = format!("unacceptable schema name \"{name}\"");
        return Err(SqlError::new(SqlState("42939"), message)
            .with_hint("the prefix \"pg_\" is reserved for system schemas"));
    }
    Ok(())
}

/// Refuses to change a schema that is always there, or goes with its session.
fn check_own(name: &str) -> SqlResult<()> {
    if names::SYSTEM.contains(&name) || name.starts_with(names::TEMPORARY) {
        let message = format!("permission denied for schema {name}");
        return Err(SqlError::new(SqlState("42501"), message).with_hint("it belongs to the system"));
    }
    if name == names::PUBLIC {
        return Err(SqlError::unsupported("schema \"public\" cannot be dropped or renamed"));
    }
    Ok(())
}
