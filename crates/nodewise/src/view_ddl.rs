//! CREATE, ALTER and DROP VIEW, and what depends on a relation.
//!
//! Key decision: who drops or changes a relation asks here for the views above it, so that no view is ever of something that is not
//! there.

use binder::ParsedQuery;
use binder::bind::{BoundView, Environment, bind_view, is_changeable};
use binder::view_text::with_relation_renamed;
use stdx::sync::Arc;
use storage::CatalogSnapshot;
use types::{
    CatalogView, CheckOption, DataType, ObjectKind, SqlError, SqlResult, SqlState, TableId,
    UsedRelation, ViewDefinition, names,
};

use crate::answer::done;
use crate::dependents::needed;
use crate::durability::Operation;
use crate::foreign_keys::queried;
use crate::notice::Notice;
use crate::planning::plan_plain;
use crate::sql_names::sql_path;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, CancelToken, Session};

/// A definition that cannot be.
const INVALID_DEFINITION: SqlState = SqlState("42P16");

/// What CREATE VIEW makes.
pub(crate) struct NewView {
    pub name: String,
    pub columns: Vec<String>,
    pub query: ParsedQuery,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub check: Option<CheckOption>,
}

impl Session {
    pub(crate) fn create_view(&mut self, new: NewView, cancel: &CancelToken) -> SqlResult<Answer> {
        let NewView { name, columns, query, or_replace, if_not_exists, check } = new;
        self.write_alone(cancel)?;
        let snapshot = self.snapshot();
        if if_not_exists && self.is_relation(&name) {
            self.skip_existing(&name);
            return Ok(done("CREATE VIEW"));
        }
        let old = snapshot.view(&name).filter(|it| it.materialized.is_none()).cloned();
        match (&old, or_replace, snapshot.kind_of(&name)) {
            (None, true, Some(_)) => {
                let message = format!("\"{name}\" is not a view");
                return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
            (Some(_), true, _) => {}
            _ => snapshot.check_free_relation(&name)?,
        }
        let BoundView { query, levels, columns, uses, .. } =
            self.bound_view(&query, &columns, cancel)?;
        if check.is_some() && !is_changeable(&query, &StatementCatalog::new(self))? {
            let message = "WITH CHECK OPTION is supported only on automatically updatable views";
            return Err(SqlError::unsupported(message));
        }
        let is_above = uses.iter().any(|it| names::is_temporary(&it.name));
        let name = if is_above && !names::is_temporary(&name) {
            // What it is made of goes with the session, and so does it.
            let own = names::bare(&name);
            if self.search_path(&snapshot).creates_in() != Some(&*names::schema_of(&name)) {
                let message = "cannot create temporary relation in non-temporary schema";
                return Err(SqlError::new(INVALID_DEFINITION, message));
            }
            self.notice(Notice::told("00000", format!("view \"{own}\" will be a temporary view")));
            self.make_temporary_schema()?;
            let name = names::joined(&self.temporary_schema(), &own);
            self.snapshot().check_free(&name)?;
            name
        } else {
            if let Some(old) = &old {
                check_replaced(&old.columns, &columns)?;
                if reaches(&snapshot, &uses, &name) {
                    let message =
                        format!("infinite recursion detected in rules for relation \"{name}\"");
                    return Err(SqlError::new(SqlState("42P17"), message));
                }
            }
            name
        };
        let (id, materialized) = (TableId(0), None);
        self.put_own_view(ViewDefinition {
            id,
            name,
            columns,
            query,
            levels,
            uses,
            materialized,
            check,
        })?;
        Ok(done("CREATE VIEW"))
    }

    pub(crate) fn bound_view(
        &self,
        query: &ParsedQuery,
        names: &[String],
        cancel: &CancelToken,
    ) -> SqlResult<BoundView> {
        let catalog = StatementCatalog::new(self);
        self.open_files(query, &catalog, cancel)?;
        let interrupt = catalog.interrupt();
        let check = || interrupt.check();
        let now = catalog.began();
        let environment =
            Environment { catalog: &catalog, session: &catalog, now, moments: None, check: &check };
        let bound = catalog.planned(bind_view(&query.0, names, &environment))?;
        catalog.check_asked(&bound.asked)?;
        Ok(bound)
    }

    pub(crate) fn put_view(&self, view: ViewDefinition) -> SqlResult<()> {
        let view = self.catalog().put_view(view);
        self.note(|| Operation::view(&view))
    }

    /// A view that who runs the statement makes.
    pub(crate) fn put_own_view(&self, view: ViewDefinition) -> SqlResult<()> {
        let (is_new, name) = (self.snapshot().view(&view.name).is_none(), view.name.clone());
        self.put_view(view)?;
        if is_new { self.own(ObjectKind::Relation, &name) } else { Ok(()) }
    }

    /// A view that is there. Errors: 42809 and 42P01.
    pub(crate) fn existing_view(&self, name: &str) -> SqlResult<Arc<ViewDefinition>> {
        let snapshot = self.snapshot();
        snapshot.view(name).cloned().ok_or_else(|| match snapshot.kind_of(name) {
            Some(_) => {
                let message = format!("\"{name}\" is not a view");
                SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
            }
            None => {
                let message = format!("view \"{name}\" does not exist");
                SqlError::new(SqlState::UNDEFINED_TABLE, message)
            }
        })
    }

    pub(crate) fn rename_view(
        &mut self,
        name: &str,
        to: &str,
        if_exists: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        if if_exists && self.snapshot().kind_of(name).is_none() {
            self.skip_missing("relation", name);
            return Ok(done("ALTER VIEW"));
        }
        let old = self.existing_view(name)?;
        self.snapshot().check_free_relation(to)?;
        self.move_comments(name, to)?;
        self.move_rights(name, to)?;
        self.catalog().drop_view(name)?;
        self.note(|| Operation::drop_view(name))?;
        self.put_view(ViewDefinition { name: to.to_owned(), ..ViewDefinition::clone(&old) })?;
        self.rename_in_views(name, to)?;
        Ok(done("ALTER VIEW"))
    }

    /// Lets views that are made of a relation name it by its new name.
    pub(crate) fn rename_in_views(&self, from: &str, to: &str) -> SqlResult<()> {
        for view in views_on(&self.snapshot(), from) {
            let query = with_relation_renamed(&view.query, from, to)?;
            let mut uses = view.uses.clone();
            uses.iter_mut().filter(|it| it.name == *from).for_each(|it| it.name = to.to_owned());
            self.put_view(ViewDefinition { query, uses, ..ViewDefinition::clone(&view) })?;
        }
        Ok(())
    }

    pub(crate) fn drop_views(
        &mut self,
        (kind, names): (&'static str, &[String]),
        if_exists: bool,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            if if_exists && self.snapshot().kind_of(name).is_none() {
                self.skip_missing(kind, name);
                continue;
            }
            let view = self.existing_view(name)?;
            if view.kind() != kind {
                let message = format!("\"{}\" is not a {kind}", names::bare(name));
                return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
            }
            found.push(view.name.clone());
        }
        self.release_relations(kind, &found, cascade, cancel)?;
        for name in &found {
            // Named twice, or gone with another.
            if self.snapshot().view(name).is_some() {
                self.remove_view(name)?;
            }
        }
        Ok(done(format!("DROP {}", kind.to_uppercase())))
    }

    pub(crate) fn remove_view(&self, name: &str) -> SqlResult<()> {
        let rows = self.snapshot().view(name).and_then(|it| it.materialized.clone());
        if let Some(rows) = rows {
            self.catalog().drop_table(&rows.table)?;
            self.note(|| Operation::drop_table(&rows.table))?;
        }
        self.catalog().drop_view(name)?;
        self.note(|| Operation::drop_view(name))
    }

    /// Makes a column ready to go: views that name it go first, or all is refused (2BP01).
    pub(crate) fn release_views_of_column(
        &self,
        table: &str,
        column: &str,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let mut above = views_on(&self.snapshot(), table);
        above.retain(|it| it.uses_column(table, column));
        self.release_these(above, (&format!("column {column} of table {table}"), cascade), cancel)
    }

    /// Once a table no longer has a key: views whose groups it told more of go with it, or all is refused (2BP01), and so the
    /// statement undone. `dropped`: what has gone, in words.
    pub(crate) fn release_views_of_key(
        &self,
        table: &str,
        (dropped, cascade): (&str, bool),
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let mut resting = Vec::new();
        for view in views_on(&self.snapshot(), table) {
            if self.misses_key(&view)? {
                resting.push(view);
            }
        }
        self.release_these(resting, (dropped, cascade), cancel)
    }

    /// Whether the groups of a view no longer tell what it says of them.
    fn misses_key(&self, view: &ViewDefinition) -> SqlResult<bool> {
        let query = match view.materialized {
            Some(_) => queried(&view.query)?,
            None => queried(&format!("SELECT 1 FROM {}", sql_path(&view.name)))?,
        };
        let planned = plan_plain(&query, &StatementCatalog::new(self).unchecked().keeping());
        Ok(planned.is_err_and(|it| it.state == SqlState::GROUPING_ERROR))
    }

    /// Makes what views need ready to go: they go first, or all is refused (2BP01).
    fn release_these(
        &self,
        mut views: Vec<Arc<ViewDefinition>>,
        (dropped, cascade): (&str, bool),
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        views.sort_by_key(|it| it.id);
        let names: Vec<String> = views.iter().map(|it| it.name.clone()).collect();
        if !cascade && !views.is_empty() {
            let each = |it: &Arc<ViewDefinition>| format!("{} depends on {dropped}", described(it));
            return Err(needed(dropped, &views.iter().map(each).collect::<Vec<_>>()));
        }
        views.iter().for_each(|it| self.cascades_to(described(it)));
        self.release_relations("view", &names, cascade, cancel)?;
        names.iter().try_for_each(|it| self.remove_view(it))
    }

    /// Refuses a change of a column, or of all of a table, that views are made of: 0A000.
    pub(crate) fn refuse_with_views(&self, table: &str, column: Option<&str>) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let mut above = views_on(&snapshot, table).into_iter();
        let uses = |it: &Arc<ViewDefinition>| match column {
            Some(column) => it.uses_column(table, column),
            None => true,
        };
        match above.find(uses) {
            Some(view) => {
                let what = column.map_or_else(|| "a table".to_owned(), |it| format!("column {it}"));
                let message = format!("cannot alter {what} that view {} is made of", view.name);
                Err(SqlError::unsupported(message)
                    .with_hint("drop the view first, and create it again"))
            }
            None => Ok(()),
        }
    }
}

/// A view in words.
pub(crate) fn described(view: &ViewDefinition) -> String {
    format!("{} {}", view.kind(), view.name)
}

/// The views that are made of a relation itself.
pub(crate) fn views_on(snapshot: &CatalogSnapshot, name: &str) -> Vec<Arc<ViewDefinition>> {
    snapshot.views().into_iter().filter(|it| it.uses(name)).collect()
}

/// Whether one of some relations is a view of this name, or is made of it.
fn reaches(snapshot: &CatalogSnapshot, uses: &[UsedRelation], name: &str) -> bool {
    uses.iter().any(|it| {
        let view = snapshot.view(&it.name);
        it.name.eq_ignore_ascii_case(name)
            || view.is_some_and(|view| reaches(snapshot, &view.uses, name))
    })
}

/// A view may be replaced by one of the same columns, and of more behind them.
fn check_replaced(old: &[(String, DataType)], new: &[(String, DataType)]) -> SqlResult<()> {
    let invalid = |message: String| Err(SqlError::new(INVALID_DEFINITION, message));
    if new.len() < old.len() {
        return invalid("cannot drop columns from view".to_owned());
    }
    for ((old_name, old_type), (name, data_type)) in old.iter().zip(new) {
        if old_name != name {
            let message = format!("cannot change name of view column \"{old_name}\" to \"{name}\"");
            return Err(SqlError::new(INVALID_DEFINITION, message).with_hint(
                "Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.",
            ));
        }
        if !ViewDefinition::is_same_type(*old_type, *data_type) {
            let name_of = types::numeric::errors::type_name;
            return invalid(format!(
                "cannot change data type of view column \"{old_name}\" from {} to {}",
                name_of(*old_type),
                name_of(*data_type)
            ));
        }
    }
    Ok(())
}
