//! Which macros and functions are meant by what statements say.
//!
//! Key decision: types of parameters are compared as types, and kept with the schemas of those that users made, so that a function
//! stays the same whatever the search path is.

use binder::SaidMacro;
use stdx::sync::Arc;
use storage::CatalogSnapshot;
use types::{MacroDefinition, MacroForm, SqlError, SqlFunction, SqlResult, SqlState, names};

use crate::macro_comments::{comment_of, parts};
use crate::notice::Notice;
use crate::resolution::OWN_TEMPORARY;
use crate::search_path::{SearchPath, no_schema};
use crate::sql_names::sql_path;
use crate::{Session, pg_catalog};

impl Session {
    /// The macros that a name may mean, in the order in which they are asked, in each schema those of tables first. Names are looked
    /// for where those of relations are, but not among what goes with the session.
    pub(crate) fn macros_meant(
        &self,
        (snapshot, path): (&CatalogSnapshot, &SearchPath),
        (schema, name): (Option<&str>, &str),
    ) -> Vec<Arc<MacroDefinition>> {
        let said: Vec<String> = schema.map(|it| self.schema_said(it)).into_iter().collect();
        let schemas = if schema.is_some() { &said[..] } else { path.schemas() };
        let is_asked =
            |it: &&String| !it.starts_with(names::TEMPORARY) || **it == self.temporary_schema();
        let schemas = schemas.iter().filter(is_asked);
        let schemas = schemas.filter(|it| schema.is_some() || !it.starts_with(names::TEMPORARY));
        let names = schemas.map(|it| names::joined(it, name));
        let of =
            |it: &String| [true, false].map(|is_table| snapshot.macro_of(it, is_table).cloned());
        names.flat_map(|it| of(&it)).flatten().collect()
    }

    /// Puts its name in the place of what is said of a macro; `None` where there is no such one and none is needed, which a notice
    /// tells.
    ///
    /// # Errors
    /// 42883 where there is none, 3F000 where its schema is not there, 42725 where a name alone means several.
    pub(crate) fn named_macro(
        &self,
        said: &SaidMacro,
        if_exists: bool,
    ) -> SqlResult<Option<SaidMacro>> {
        let snapshot = self.snapshot();
        let (schema, _) = self.name_said(&said.name)?;
        let is_there = |full: &str| {
            (schema.is_some() || !names::is_temporary(full))
                && self.macro_in(&snapshot, full, said).is_some()
        };
        let missing = |error: SqlError| match if_exists {
            true => {
                let told = match error.state {
                    SqlState::UNDEFINED_SCHEMA => error.message,
                    _ => self.missing_in_words(said),
                };
                self.notice(Notice::told("00000", format!("{told}, skipping")));
                Ok(None)
            }
            false => Err(error),
        };
        let name = match self.name_among(&snapshot, &said.name, false, &is_there) {
            Ok(name) => name,
            Err(error) if error.state == SqlState::UNDEFINED_SCHEMA => return missing(error),
            Err(error) => return Err(error),
        };
        match self.macro_in(&snapshot, &name, said) {
            None => missing(self.no_macro(said)),
            Some(_) if is_ambiguous(&snapshot, &name, said) => {
                let message =
                    format!("function name \"{}\" is not unique", names::bare(&said.name));
                let hint = "say the types of its parameters in brackets";
                Err(SqlError::new(SqlState("42725"), message).with_hint(hint))
            }
            Some(_) => Ok(Some(SaidMacro { name, ..said.clone() })),
        }
    }

    /// The macro of a name in the catalog that is said.
    pub(crate) fn macro_in(
        &self,
        snapshot: &CatalogSnapshot,
        full: &str,
        said: &SaidMacro,
    ) -> Option<Arc<MacroDefinition>> {
        // Without the word TABLE it may be either.
        let mut found =
            [said.is_table, true].into_iter().filter_map(|it| snapshot.macro_of(full, it));
        found.find(|it| it.forms.iter().any(|it| self.is_meant(it, said))).cloned()
    }

    /// Whether a form is that of the types of parameters that are said.
    pub(crate) fn is_meant(&self, form: &MacroForm, said: &SaidMacro) -> bool {
        match (said.types.as_deref(), &form.function) {
            (Some(types), Some(function)) => self.are_same_types(&function.types, types),
            (Some(types), None) => form.parameters.len() == types.len(),
            (None, _) => true,
        }
    }

    /// Whether types as SQL are the same, one by one.
    pub(crate) fn are_same_types(&self, some: &[String], others: &[String]) -> bool {
        let number = |it: &str| pg_catalog::number_of_type(self, it);
        let is_same = |(a, b): (&String, &String)| {
            a == b || number(a).is_some_and(|it| number(b) == Some(it))
        };
        some.len() == others.len() && some.iter().zip(others).all(is_same)
    }

    /// That a macro or function is not there.
    fn missing_in_words(&self, said: &SaidMacro) -> String {
        match said.is_function || said.types.is_some() {
            true => {
                let types = self.types_in_words(said.types.as_deref().unwrap_or_default());
                format!("function {}({types}) does not exist", said.name)
            }
            false => format!("macro \"{}\" does not exist", said.name),
        }
    }

    /// The error where there is none.
    pub(crate) fn no_macro(&self, said: &SaidMacro) -> SqlError {
        let name = &said.name;
        let message = match &said.types {
            None if said.is_function => format!("could not find a function named \"{name}\""),
            _ => self.missing_in_words(said),
        };
        SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
    }

    /// Types of parameters as PostgreSQL calls them.
    pub(crate) fn types_in_words(&self, types: &[String]) -> String {
        let each: Vec<String> =
            types.iter().map(|it| pg_catalog::type_in_words(self, it)).collect();
        each.join(", ")
    }

    /// The macros and functions of a schema, as errors name them.
    pub(crate) fn macros_in_words(&self, schema: &str) -> Vec<String> {
        let (snapshot, mut all) = (self.snapshot(), Vec::new());
        for it in snapshot.macros_in(schema) {
            if !it.is_function() {
                all.push(format!("macro {}", it.name));
            }
            for function in it.forms.iter().filter_map(|it| it.function.as_ref()) {
                let types = self.types_in_words(&function.types).replace(", ", ",");
                all.push(format!("function {}({types})", it.name));
            }
        }
        all
    }

    /// Has a function say the schemas of types that users made.
    pub(crate) fn name_types_of(&self, function: &mut SqlFunction) -> SqlResult<()> {
        let returned = function.returns.iter_mut().map(|it| &mut it.1);
        for it in function.types.iter_mut().chain(returned) {
            let element = it.trim_end_matches("[]");
            let behind = it[element.len()..].to_owned();
            if binder::is_polymorphic(element)
                || binder::named_type(element).is_ok()
                || self.name_said(element).is_err()
            {
                continue;
            }
            let full = self.existing_type_name(element)?;
            if self.snapshot().user_type(&full).is_some() {
                *it = sql_path(&full) + &behind;
            }
        }
        Ok(())
    }

    /// Has functions whose parameters or results are of a type say its new name.
    pub(crate) fn rename_type_in_functions(&self, from: &str, to: &str) -> SqlResult<()> {
        let (from, to) = (sql_path(from), sql_path(to));
        for it in self.snapshot().macros() {
            let mut new = MacroDefinition::clone(it);
            for form in &mut new.forms {
                let before = comment_of(&it.name, form);
                let Some(function) = &mut form.function else { continue };
                let returned = function.returns.iter_mut().map(|it| &mut it.1);
                for said in function.types.iter_mut().chain(returned) {
                    let element = said.trim_end_matches("[]").len();
                    if said[..element] == from {
                        said.replace_range(..element, &to);
                    }
                }
                let moved = before.zip(comment_of(&it.name, form)).filter(|it| it.0 != it.1);
                if let Some((before, after)) = moved {
                    self.move_comment(parts(&before), Some(parts(&after)))?;
                }
            }
            if new != **it {
                self.put_macro(&new)?;
            }
        }
        Ok(())
    }

    /// Whether what is in one schema may be moved into another.
    ///
    /// # Errors
    /// 3F000 where there is none, 0A000 where one of them goes with a session.
    pub(crate) fn check_move(&self, from: &str, schema: &str) -> SqlResult<()> {
        if [from, schema].iter().any(|it| it.starts_with(OWN_TEMPORARY)) {
            return Err(SqlError::unsupported(
                "cannot move objects into or out of temporary schemas",
            ));
        }
        match self.snapshot().has_schema(schema) {
            true => Ok(()),
            false => Err(no_schema(schema)),
        }
    }
}

/// Whether a name alone means several functions.
fn is_ambiguous(snapshot: &CatalogSnapshot, full: &str, said: &SaidMacro) -> bool {
    let of_kind = [false, true].into_iter().filter_map(|it| snapshot.macro_of(full, it));
    let functions = of_kind.filter(|it| it.is_function()).map(|it| it.forms.len());
    said.types.is_none() && functions.sum::<usize>() > 1
}
