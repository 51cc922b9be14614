//! CREATE and DROP of macros, and of functions in SQL, which are macros that say more.

use binder::{DroppedMacro, FunctionChange, sql_functions};
use stdx::sync::Arc;
use types::{DataType, MacroDefinition, MacroForm, SqlError, SqlResult, SqlState, names};

use crate::answer::done;
use crate::copy::type_sql;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::{Answer, CancelToken, Session};

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
            let message = format!("macro \"{}\" already exists", definition.name);
            return Err(SqlError::new(SqlState("42723"), message));
        }
        definition.forms.iter().try_for_each(|it| binder::note_kept(&it.body))?;
        self.catalog().put_macro(definition.clone());
        self.note(|| Operation::macro_made(definition))?;
        Ok(done("CREATE MACRO"))
    }

    /// CREATE FUNCTION: beside those of its name with another number of parameters.
    pub(crate) fn create_function(
        &self,
        mut definition: MacroDefinition,
        or_replace: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        self.say_rows(&mut definition)?;
        let (snapshot, name) = (self.snapshot(), definition.name.clone());
        if functions::lookup(&name).is_some()
            || binder::bind::aggregate_names().any(|it| it == name)
        {
            return Err(SqlError::unsupported("a function with the name of one that is built in"));
        }
        let Some(new) = definition.forms.first().cloned() else {
            return Ok(done("CREATE FUNCTION"));
        };
        let count = |it: &MacroForm| it.parameters.len();
        let exists = |what: &str| {
            let message = format!("{what} \"{name}\" already exists with same argument types");
            Err(SqlError::new(SqlState("42723"), message))
        };
        let other = snapshot.macro_of(&name, !definition.is_table);
        if other.is_some_and(|it| {
            it.is_function() && it.forms.iter().any(|it| count(it) == count(&new))
        }) {
            return exists("function");
        }
        if let Some(known) = snapshot.macro_of(&name, definition.is_table) {
            if !known.is_function() {
                return exists("macro");
            }
            if let Some(old) = known.forms.iter().find(|it| count(it) == count(&new)) {
                let (Some(was), Some(is)) = (&old.function, &new.function) else {
                    return exists("macro");
                };
                if was.types != is.types {
                    let what = "functions of one name with as many parameters of other types";
                    return Err(SqlError::unsupported(what));
                }
                if !or_replace {
                    return exists("function");
                }
                if was.returns != is.returns {
                    let message = "cannot change return type of existing function";
                    return Err(SqlError::new(SqlState("42P13"), message)
                        .with_hint("use DROP FUNCTION first"));
                }
            }
            let others = known.forms.iter().filter(|it| count(it) != count(&new)).cloned();
            definition.forms = others.chain([new.clone()]).collect();
        }
        self.check_function(&name, &new, cancel)?;
        binder::note_kept(&new.body)?;
        self.catalog().put_macro(definition.clone());
        self.note(|| Operation::macro_made(&definition))?;
        Ok(done("CREATE FUNCTION"))
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
        Ok(())
    }

    pub(crate) fn drop_macro(
        &self,
        name: &str,
        of: &DroppedMacro,
        if_exists: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let tag = if of.is_function { "DROP FUNCTION" } else { "DROP MACRO" };
        let Some(known) = self.macro_called(name, of)? else {
            if !if_exists {
                return Err(no_macro(name, of));
            }
            self.notice(skipped(name, of));
            return Ok(done(tag));
        };
        let mut left = MacroDefinition::clone(&known);
        left.forms.retain(|it| !is_meant(it, of));
        if left.forms.is_empty() {
            self.catalog().drop_macro(name, left.is_table);
            self.note(|| Operation::drop_macro(name, left.is_table))?;
        } else {
            self.catalog().put_macro(left.clone());
            self.note(|| Operation::macro_made(&left))?;
        }
        Ok(done(tag))
    }

    /// ALTER FUNCTION.
    pub(crate) fn alter_function(
        &self,
        name: &str,
        types: Option<Vec<String>>,
        changes: &[FunctionChange],
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let of = DroppedMacro { is_table: false, is_function: true, types };
        let known = self.macro_called(name, &of)?.filter(|it| it.is_function());
        let known = known.ok_or_else(|| no_macro(name, &of))?;
        for change in changes {
            match change {
                FunctionChange::Rename(to) => self.rename_function(&known, &of, to, cancel)?,
                FunctionChange::Owner(role) => _ = self.owner_to_be(role)?,
                FunctionChange::Strict(is_strict) => {
                    let mut new = MacroDefinition::clone(&known);
                    let meant = new.forms.iter_mut().filter(|it| is_meant(it, &of));
                    let functions = meant.filter_map(|it| it.function.as_mut());
                    functions.for_each(|it| it.is_strict = *is_strict);
                    self.catalog().put_macro(new.clone());
                    self.note(|| Operation::macro_made(&new))?;
                }
            }
        }
        Ok(done("ALTER FUNCTION"))
    }

    fn rename_function(
        &self,
        known: &MacroDefinition,
        of: &DroppedMacro,
        to: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        for form in known.forms.iter().filter(|it| is_meant(it, of)) {
            let (name, forms) = (to.to_owned(), vec![form.clone()]);
            let new = MacroDefinition { name, is_table: known.is_table, forms };
            self.create_function(new, false, cancel)?;
        }
        self.drop_macro(&known.name, of, false, cancel).map(|_| ())
    }

    /// The macro or function that a statement means. Errors: 42725 where a name alone means several.
    fn macro_called(
        &self,
        name: &str,
        of: &DroppedMacro,
    ) -> SqlResult<Option<Arc<MacroDefinition>>> {
        let snapshot = self.snapshot();
        // Without the word TABLE it may be either.
        let mut found =
            [of.is_table, true].into_iter().filter_map(|it| snapshot.macro_of(name, it));
        let known = found.find(|it| it.forms.iter().any(|it| is_meant(it, of))).cloned();
        if of.types.is_none()
            && known.as_ref().is_some_and(|it| it.is_function() && it.forms.len() > 1)
        {
            let message = format!("function name \"{name}\" is not unique");
            let hint = "say the types of its parameters in brackets";
            return Err(SqlError::new(SqlState("42725"), message).with_hint(hint));
        }
        Ok(known)
    }
}

/// Whether a form is that of some types of parameters.
fn is_meant(form: &MacroForm, of: &DroppedMacro) -> bool {
    match (of.types.as_deref(), &form.function) {
        (Some(types), Some(function)) => function.types == types,
        (Some(types), None) => form.parameters.len() == types.len(),
        (None, _) => true,
    }
}

/// What is told where IF EXISTS names no function or macro.
fn skipped(name: &str, of: &DroppedMacro) -> Notice {
    let what = if of.is_function { "function" } else { "macro" };
    let types = of.types.as_deref().unwrap_or_default().join(",");
    Notice::told("00000", format!("{what} {name}({types}) does not exist, skipping"))
}

fn no_macro(name: &str, of: &DroppedMacro) -> SqlError {
    let what = if of.is_function { "function" } else { "macro" };
    let types = of.types.as_ref().map(|it| format!("({})", it.join(", "))).unwrap_or_default();
    let message = format!("{what} \"{name}\"{types} does not exist");
    SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
}
