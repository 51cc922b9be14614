//! Where names are looked for: the one place that knows which relation a statement means by a name.
//!
//! Key decision: statements are parsed without a session, so that they hold names as they were said (`types::names::written`).
//! What runs them asks here once which relations those are, and goes on with names that mean the same everywhere
//! (`types::names::joined`). Names in queries are asked for by the binder, through [`crate::statement_catalog`].

use binder::sequence_names::with_sequences_found;
use storage::CatalogSnapshot;
use types::{CatalogView, RoleId, SqlError, SqlResult, SqlState, names};

use crate::Session;
use crate::search_path::{Found, SearchPath, no_schema};
use crate::statement_catalog::StatementCatalog;

/// What a session calls its own temporary schema.
pub(crate) const OWN_TEMPORARY: &str = "pg_temp";

impl Session {
    /// The schema of the temporary relations of the session, whether it is there or not.
    pub(crate) fn temporary_schema(&self) -> String {
        temporary_schema_of(self.number)
    }

    /// Where the session looks for names.
    pub(crate) fn search_path(&self, snapshot: &CatalogSnapshot) -> SearchPath {
        let has_schemas = snapshot.schemas().next().is_some();
        let is_plain = !has_schemas && !self.settings.client.says_path();
        if is_plain && self.role() == RoleId::BOOTSTRAP {
            return self.usual_path.clone();
        }
        let (said, mut schemas) = (self.settings.client.search_path(), Vec::new());
        // Where somebody may not look, it finds nothing.
        let own = (self.role() != RoleId::BOOTSTRAP).then(|| self.authority());
        let temporary = if has_schemas { self.temporary_schema() } else { String::new() };
        let mut add = |name: &str| {
            let is_there = snapshot.has_schema(name) || names::SYSTEM.contains(&name);
            let is_there = is_there && !self.is_of_others(name);
            let is_there = is_there && own.as_ref().is_none_or(|it| it.finds_in(name));
            if is_there && !schemas.iter().any(|it| it == name) {
                schemas.push(name.to_owned());
            }
        };
        if has_schemas && !said.iter().any(|it| it == OWN_TEMPORARY) {
            add(&temporary);
        }
        for name in &said {
            match name.as_str() {
                "$user" if has_schemas => {
                    let user = self.name_of_role(self.role());
                    if snapshot.has_schema(&user) {
                        add(&user);
                    }
                }
                "$user" => {}
                OWN_TEMPORARY => add(&temporary),
                name => add(name),
            }
        }
        schemas.into()
    }

    /// Whether a schema is the temporary one of another session: nobody else finds anything there.
    fn is_of_others(&self, schema: &str) -> bool {
        schema.starts_with(names::TEMPORARY) && schema != self.temporary_schema()
    }

    /// The schema that a name says, with the session's own for the temporary one.
    pub(crate) fn schema_said(&self, schema: &str) -> String {
        match schema {
            OWN_TEMPORARY => self.temporary_schema(),
            _ => schema.to_owned(),
        }
    }

    /// The relation, or whatever else `is_there` knows, that a schema, if one is said, and a name in it mean.
    pub(crate) fn find_name(
        &self,
        path: &SearchPath,
        (schema, name): (Option<&str>, &str),
        is_there: &dyn Fn(&str) -> bool,
    ) -> Found {
        let mut absent = Vec::new();
        if let Some(schema) = schema {
            let schema = self.schema_said(schema);
            let full = names::joined(&schema, name);
            let is_there = !self.is_of_others(&schema) && is_there(&full);
            return Found { name: is_there.then_some(full), absent };
        }
        for schema in path.schemas() {
            let full = names::joined(schema, name);
            if is_there(&full) {
                return Found { name: Some(full), absent };
            }
            absent.push(full);
        }
        Found { name: None, absent }
    }

    /// The name of the relation that a statement means; where there is none, what it would be called.
    ///
    /// Errors: 3F000 where the schema is not there, but not with `if_exists`; 0A000 for the temporary relations of others; those
    /// of names with too many parts.
    pub(crate) fn existing_name(&self, said: &str, if_exists: bool) -> SqlResult<String> {
        let snapshot = self.snapshot();
        self.name_among(&snapshot, said, if_exists, &|it| snapshot.kind_of(it).is_some())
    }

    /// The name of the type that a statement means; where there is none, what it would be called.
    pub(crate) fn existing_type_name(&self, said: &str) -> SqlResult<String> {
        let snapshot = self.snapshot();
        self.name_among(&snapshot, said, true, &|it| snapshot.user_type(it).is_some())
    }

    /// [`Session::existing_name`] of an index.
    pub(crate) fn existing_index(&self, said: &str, if_exists: bool) -> SqlResult<String> {
        let snapshot = self.snapshot();
        self.name_among(&snapshot, said, if_exists, &|it| snapshot.relation_of_index(it).is_some())
    }

    /// The schema, if one is said, and the name in it ([`names::said`]).
    pub(crate) fn name_said(&self, said: &str) -> SqlResult<(Option<String>, String)> {
        names::said(said, &self.client.database)
    }

    pub(crate) fn name_among(
        &self,
        snapshot: &CatalogSnapshot,
        said: &str,
        if_exists: bool,
        is_there: &dyn Fn(&str) -> bool,
    ) -> SqlResult<String> {
        let (schema, name) = self.name_said(said)?;
        let path = self.search_path(snapshot);
        let found = self.find_name(&path, (schema.as_deref(), &name), is_there);
        if let Some(found) = found.name {
            return Ok(found);
        }
        match schema {
            Some(schema) => {
                let schema = self.schema_said(&schema);
                if self.is_of_others(&schema) {
                    let message = "cannot access temporary relations of other sessions";
                    return Err(SqlError::unsupported(message));
                }
                let is_known = snapshot.has_schema(&schema)
                    || schema.starts_with(names::TEMPORARY)
                    || names::SYSTEM.contains(&&*schema);
                match is_known || if_exists {
                    true => Ok(names::joined(&schema, &name)),
                    false => Err(no_schema(&schema)),
                }
            }
            // Nothing is called so in the first schema that was looked through, either.
            None => {
                let first = path.creates_in().unwrap_or(names::CATALOG);
                Ok(names::joined(first, &name))
            }
        }
    }

    /// The name of a relation that is to be made.
    ///
    /// Errors: 3F000 where there is no schema for it, 42501 in one of the system's.
    pub(crate) fn new_name(&self, said: &str) -> SqlResult<String> {
        let (schema, name) = self.name_said(said)?;
        let snapshot = self.snapshot();
        let schema = match schema {
            Some(schema) if schema == OWN_TEMPORARY || schema == self.temporary_schema() => {
                self.make_temporary_schema()?;
                self.temporary_schema()
            }
            Some(schema) if snapshot.has_schema(&schema) && !self.is_of_others(&schema) => schema,
            Some(schema) if names::SYSTEM.contains(&&*schema) => {
                let message = format!("permission denied to create \"{schema}.{name}\"");
                return Err(SqlError::new(SqlState("42501"), message)
                    .with_hint("its relations are made by the system"));
            }
            Some(schema) => return Err(no_schema(&schema)),
            None => {
                let path = self.search_path(&snapshot);
                let place = path.creates_in().filter(|it| !names::SYSTEM.contains(it));
                let place = place.ok_or_else(|| {
                    let message = "no schema has been selected to create in";
                    SqlError::new(SqlState::UNDEFINED_SCHEMA, message)
                })?;
                place.to_owned()
            }
        };
        Ok(names::joined(&schema, &name))
    }

    /// The name that a relation is to have instead: one without a schema stays in that of the relation.
    pub(crate) fn other_name(&self, of: &str, said: &str) -> SqlResult<String> {
        match self.name_said(said)? {
            (None, name) => Ok(names::joined(&names::schema_of(of), &name)),
            (Some(_), _) if names::is_temporary(of) => {
                Err(SqlError::unsupported("cannot move objects into or out of temporary schemas"))
            }
            (Some(schema), _) if schema.starts_with(OWN_TEMPORARY) => {
                Err(SqlError::unsupported("cannot move objects into or out of temporary schemas"))
            }
            (Some(_), _) => self.new_name(said),
        }
    }

    /// An expression that is to be kept, with what its calls of functions in SQL stand for, as a view keeps it.
    pub(crate) fn with_calls(&self, expression: &str) -> SqlResult<String> {
        let catalog = StatementCatalog::new(self);
        match catalog.has_macros() {
            false => Ok(expression.to_owned()),
            true => binder::with_macros_expanded(expression, &catalog),
        }
    }

    /// The same with the full names of types that users made.
    pub(crate) fn with_types(&self, expression: &str) -> SqlResult<String> {
        let (snapshot, expression) = (self.snapshot(), self.with_calls(expression)?);
        if snapshot.user_types().next().is_none() {
            return Ok(expression);
        }
        let path = self.search_path(&snapshot);
        let is_type = |it: &str| snapshot.user_type(it).is_some();
        let find =
            |schema: Option<&str>, name: &str| self.find_name(&path, (schema, name), &is_type).name;
        binder::with_types_found(&expression, &find)
    }

    /// An expression that a table keeps, with its sequences named as they are found now.
    ///
    /// Errors: 42P16 where what lasts would ask what goes with the session.
    pub(crate) fn kept_default(&self, table: &str, expression: &str) -> SqlResult<String> {
        let snapshot = self.snapshot();
        let path = self.search_path(&snapshot);
        let is_sequence = |it: &str| snapshot.sequence(it).is_some();
        let find = |schema: Option<&str>, name: &str| {
            self.find_name(&path, (schema, name), &is_sequence).name
        };
        let kept = with_sequences_found(&self.with_types(expression)?, &find)?;
        let asked = binder::sequence_names::sequences_in(&kept)?;
        if !names::is_temporary(table) && asked.iter().any(|it| names::is_temporary(it)) {
            let message = "a default of a permanent table cannot ask a temporary sequence";
            return Err(SqlError::new(SqlState("42P16"), message));
        }
        Ok(kept)
    }
}

/// Where the temporary relations of a session are.
pub(crate) fn temporary_schema_of(session: u64) -> String {
    format!("{}{session}", names::TEMPORARY)
}
