//! CREATE, ALTER and DROP of macros, and of functions in SQL, which are macros that say more.

use binder::{FunctionChange, SaidMacro, sql_functions};
use types::numeric::errors::type_name;
use types::numeric::is_assignable;
use types::{
    DataType, MacroDefinition, MacroForm, MacroParameter, SqlError, SqlResult, SqlState, names,
};

use crate::answer::done;
use crate::copy::type_sql;
use crate::durability::Operation;
use crate::macro_comments::{comment_of, parts};
use crate::{Answer, CancelToken, Session};

/// A macro that is there already.
const DUPLICATE_FUNCTION: SqlState = SqlState("42723");

impl Session {
    pub(crate) fn create_macro(
        &self,
        definition: &MacroDefinition,
        (or_replace, if_not_exists): (bool, bool),
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let known = self.snapshot().macro_of(&definition.name, definition.is_table).is_some();
        if known && if_not_exists {
            return Ok(done("CREATE MACRO"));
        }
        if known && !or_replace {
            let message = format!("macro \"{}\" already exists", definition.bare_name());
            return Err(SqlError::new(DUPLICATE_FUNCTION, message));
        }
        definition.forms.iter().try_for_each(|it| binder::note_kept(&it.body))?;
        self.put_macro(definition)?;
        Ok(done("CREATE MACRO"))
    }

    /// CREATE FUNCTION: beside those of its name with other types of parameters.
    pub(crate) fn create_function(
        &self,
        mut definition: MacroDefinition,
        or_replace: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        self.say_rows(&mut definition)?;
        let bare = definition.bare_name();
        if functions::lookup(&bare).is_some()
            || binder::bind::aggregate_names().any(|it| it == bare)
        {
            return Err(SqlError::unsupported("a function with the name of one that is built in"));
        }
        let MacroDefinition { name, is_table, forms } = definition;
        for mut form in forms {
            form.function.as_mut().map_or(Ok(()), |it| self.name_types_of(it))?;
            let whole = self.with_form(&name, is_table, (&mut form, or_replace))?;
            let of_calls = form.function.iter().flat_map(|it| &it.types);
            let is_open = of_calls.into_iter().any(|it| binder::is_polymorphic(it));
            if self.settings.client.checks_function_bodies() && !is_open {
                self.check_function(&bare, &form, cancel)?;
            }
            binder::note_kept(&form.body)?;
            self.put_macro(&whole)?;
        }
        Ok(done("CREATE FUNCTION"))
    }

    /// A function with a new form beside those that it has, or in the place of one of the same types.
    ///
    /// # Errors
    /// 42723 where there is one and it is not to be replaced, 42P13 where that gives something else.
    fn with_form(
        &self,
        name: &str,
        is_table: bool,
        (form, or_replace): (&mut MacroForm, bool),
    ) -> SqlResult<MacroDefinition> {
        let exists = |what: &str| {
            let bare = names::bare(name);
            let message = format!("{what} \"{bare}\" already exists with same argument types");
            Err(SqlError::new(DUPLICATE_FUNCTION, message))
        };
        let snapshot = self.snapshot();
        let types = form.function.as_ref().map(|it| it.types.clone()).unwrap_or_default();
        let is_alike = |it: &MacroForm| {
            it.function.as_ref().is_some_and(|it| self.are_same_types(&it.types, &types))
        };
        let other = snapshot.macro_of(name, !is_table);
        if other.is_some_and(|it| it.is_function() && it.forms.iter().any(is_alike)) {
            return exists("function");
        }
        let unlike = |why: String| {
            Err(SqlError::new(SqlState("42P13"), why).with_hint("use DROP FUNCTION first"))
        };
        let mut forms = Vec::new();
        if let Some(known) = snapshot.macro_of(name, is_table) {
            if !known.is_function() {
                return exists("macro");
            }
            if let Some(old) = known.forms.iter().find(|it| is_alike(it)) {
                let (Some(was), Some(is)) = (&old.function, &mut form.function) else {
                    return exists("macro");
                };
                if !or_replace {
                    return exists("function");
                }
                let types = |it: &[(String, String)]| it.iter().map(|it| it.1.clone()).collect();
                let (before, now): (Vec<_>, Vec<_>) = (types(&was.returns), types(&is.returns));
                let names_differ = was.returns.iter().zip(&is.returns).any(|it| it.0.0 != it.1.0);
                if !self.are_same_types(&before, &now) || is_table && names_differ {
                    return unlike("cannot change return type of existing function".to_owned());
                }
                if let Some(why) = unlike_parameters(&old.parameters, &form.parameters) {
                    return unlike(why);
                }
                // What is kept under them stays.
                is.types.clone_from(&was.types);
            }
            forms.extend(known.forms.iter().filter(|it| !is_alike(it)).cloned());
        }
        forms.push(form.clone());
        Ok(MacroDefinition { name: name.to_owned(), is_table, forms })
    }

    pub(crate) fn put_macro(&self, definition: &MacroDefinition) -> SqlResult<()> {
        self.catalog().put_macro(definition.clone());
        self.note(|| Operation::macro_made(definition))
    }

    /// What a function gives whose type is that of rows, of a table or a view or one that users made: the columns of it.
    fn say_rows(&self, definition: &mut MacroDefinition) -> SqlResult<()> {
        let is_set = definition.is_table;
        let Some(form) = definition.forms.first_mut() else { return Ok(()) };
        let Some(function) = &mut form.function else { return Ok(()) };
        let [(_, said)] = &function.returns[..] else { return Ok(()) };
        let Some(columns) = self.row_columns(said)? else { return Ok(()) };
        let column = |(name, of): (String, DataType)| (name, type_sql(of));
        function.returns = columns.into_iter().map(column).collect();
        if !is_set {
            form.body = binder::of_one_row(&form.body, function.returns.len());
            definition.is_table = true;
        }
        Ok(())
    }

    /// The columns of the rows that a type has; `None` of one that has none.
    fn row_columns(&self, said: &str) -> SqlResult<Option<Vec<(String, DataType)>>> {
        // A type that is built in comes before all others.
        if binder::named_type(said).is_ok() || self.name_said(said).is_err() {
            return Ok(None);
        }
        let snapshot = self.snapshot();
        if let Some(found) = snapshot.user_type(&self.existing_type_name(said)?) {
            return Ok(match found.data_type {
                DataType::Struct(it) if !it.name().is_empty() => {
                    let columns = it.fields().iter();
                    Some(columns.map(|it| (it.name.to_string(), it.data_type)).collect())
                }
                _ => None,
            });
        }
        let Ok(name) = self.existing_name(said, true) else { return Ok(None) };
        if let Some(table) = snapshot.get(&name) {
            let shown = table.columns.iter().filter(|it| !names::is_hidden(&it.name));
            return Ok(Some(shown.map(|it| (it.name.clone(), it.data_type)).collect()));
        }
        Ok(snapshot.view(&name).map(|it| it.columns.clone()))
    }

    /// Whether the body of a function can be bound, and gives as many columns as it says.
    fn check_function(&self, name: &str, form: &MacroForm, cancel: &CancelToken) -> SqlResult<()> {
        let Some(function) = &form.function else { return Ok(()) };
        let query = sql_functions::check_query(name, form, function)?;
        let says = function.returns.len();
        let mismatch = |why: String| {
            let message = format!("return type mismatch in function \"{name}\"");
            SqlError::new(SqlState("42P13"), message).with_hint(why)
        };
        let bound = self.bound_view(&query, &[], cancel).map_err(|it| match it.state {
            // It is called with names for as many columns as it says.
            SqlState::INVALID_COLUMN_REFERENCE if says > 1 => {
                mismatch(format!("it gives fewer columns than the {says} that it says"))
            }
            _ => it,
        })?;
        let gives = bound.columns.len();
        if gives != says && says > 0 {
            return Err(mismatch(format!("it gives {gives} columns, and says {says}")));
        }
        let pairs = function.returns.iter().zip(&bound.columns);
        for (place, ((_, says), (_, gives))) in pairs.enumerate() {
            let Ok(says) = binder::named_type(says) else { continue };
            if !is_assignable(*gives, says) && !sql_functions::may_be_untyped(form, place)? {
                let (gives, says) = (type_name(*gives), type_name(says));
                let message = format!("return type mismatch in function declared to return {says}");
                let detail = format!("Actual return type is {gives}.");
                return Err(SqlError::new(SqlState("42P13"), message).with_detail(detail));
            }
        }
        Ok(())
    }

    pub(crate) fn drop_macros(
        &self,
        (macros, is_function): (&[SaidMacro], bool),
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let mut dropped = Vec::new();
        for said in macros {
            // Named twice.
            if !dropped.contains(&said) {
                self.drop_macro(said)?;
            }
            dropped.push(said);
        }
        Ok(done(if is_function { "DROP FUNCTION" } else { "DROP MACRO" }))
    }

    fn drop_macro(&self, said: &SaidMacro) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let known = self.macro_in(&snapshot, &said.name, said);
        let known = known.ok_or_else(|| self.no_macro(said))?;
        let (gone, left): (Vec<_>, Vec<_>) =
            known.forms.iter().cloned().partition(|it| self.is_meant(it, said));
        for key in gone.iter().filter_map(|it| comment_of(&known.name, it)) {
            self.move_comment(parts(&key), None)?;
        }
        match left.is_empty() {
            true => {
                self.catalog().drop_macro(&known.name, known.is_table);
                self.note(|| Operation::drop_macro(&known.name, known.is_table))
            }
            false => self.put_macro(&MacroDefinition {
                name: known.name.clone(),
                is_table: known.is_table,
                forms: left,
            }),
        }
    }

    /// Drops all macros and functions of a schema.
    pub(crate) fn drop_macros_in(&self, schema: &str) -> SqlResult<()> {
        let snapshot = self.snapshot();
        for it in snapshot.macros_in(schema) {
            let (is_table, is_function) = (it.is_table, it.is_function());
            let name = it.name.clone();
            self.drop_macro(&SaidMacro { name, is_table, is_function, types: None })?;
        }
        Ok(())
    }

    /// ALTER FUNCTION.
    pub(crate) fn alter_function(
        &self,
        of: &SaidMacro,
        changes: &[FunctionChange],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let snapshot = self.snapshot();
        let known = self.macro_in(&snapshot, &of.name, of).filter(|it| it.is_function());
        let known = known.ok_or_else(|| self.no_macro(of))?;
        let (schema, bare) = names::split(&known.name);
        let mut saying = MacroDefinition::clone(&known);
        for change in changes {
            match change {
                FunctionChange::Rename(to) => {
                    self.move_function(&known, of, &names::joined(&schema, to))?;
                }
                FunctionChange::Schema(to) => {
                    self.check_move(&schema, to)?;
                    if *to != schema {
                        self.move_function(&known, of, &names::joined(to, &bare))?;
                    }
                }
                FunctionChange::Owner(role) => _ = self.owner_to_be(role)?,
                FunctionChange::Says(word) => {
                    let meant = saying.forms.iter_mut().filter(|it| self.is_meant(it, of));
                    let functions = meant.filter_map(|it| it.function.as_mut());
                    functions.for_each(|it| it.say(*word));
                    self.put_macro(&saying)?;
                }
            }
        }
        Ok(done("ALTER FUNCTION"))
    }

    /// Gives the forms of a function that are meant another name, with the comments on them.
    fn move_function(&self, known: &MacroDefinition, of: &SaidMacro, to: &str) -> SqlResult<()> {
        let bare = known.bare_name();
        for form in known.forms.iter().filter(|it| self.is_meant(it, of)) {
            let mut moved = form.clone();
            // What gives single values has a column of the name of the function.
            if let Some(function) = &mut moved.function
                && let [(column, _)] = &mut function.returns[..]
                && *column == bare
            {
                *column = names::bare(to);
            }
            let exists = |_| {
                let types = moved.function.iter().flat_map(|it| it.types.clone());
                let types = self.types_in_words(&types.collect::<Vec<_>>());
                let (schema, bare) = names::split(to);
                let message =
                    format!("function {bare}({types}) already exists in schema \"{schema}\"");
                SqlError::new(DUPLICATE_FUNCTION, message)
            };
            let whole = self.with_form(to, known.is_table, (&mut moved.clone(), false));
            let whole = whole.map_err(|it| match it.state {
                DUPLICATE_FUNCTION => exists(it),
                _ => it,
            })?;
            self.put_macro(&whole)?;
            if let (Some(from), Some(to)) = (comment_of(&known.name, form), comment_of(to, form)) {
                self.move_comment(parts(&from), Some(parts(&to)))?;
            }
        }
        self.drop_macro(&SaidMacro { name: known.name.clone(), ..of.clone() })
    }

    /// Gives all macros and functions of a schema to another.
    pub(crate) fn move_macros(&self, schema: &str, to: &str) -> SqlResult<()> {
        let snapshot = self.snapshot();
        for it in snapshot.macros_in(schema) {
            let name = names::joined(to, &it.bare_name());
            self.put_macro(&MacroDefinition { name: name.clone(), ..MacroDefinition::clone(it) })?;
            for form in &it.forms {
                let (from, to) = (comment_of(&it.name, form), comment_of(&name, form));
                let Some((from, to)) = from.zip(to) else { continue };
                self.move_comment(parts(&from), Some(parts(&to)))?;
            }
        }
        self.drop_macros_in(schema)
    }
}

/// Why parameters cannot take the places of others of the same types: calls say their names, and leave out those that have defaults.
fn unlike_parameters(old: &[MacroParameter], new: &[MacroParameter]) -> Option<String> {
    for (old, new) in old.iter().zip(new) {
        if !old.name.starts_with('$') && old.name != new.name {
            return Some(format!("cannot change name of input parameter \"{}\"", old.name));
        }
        if old.default.is_some() && new.default.is_none() {
            return Some("cannot remove parameter defaults from existing function".to_owned());
        }
    }
    None
}
