//! CREATE MACRO and DROP MACRO.

use types::{MacroDefinition, SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::durability::Operation;
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
        self.catalog().put_macro(definition.clone());
        self.note(|| Operation::macro_made(definition))?;
        Ok(done("CREATE MACRO"))
    }

    pub(crate) fn drop_macro(
        &self,
        name: &str,
        is_table: bool,
        if_exists: bool,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let snapshot = self.snapshot();
        // Without the word TABLE it may be either.
        let kinds = [is_table, true];
        let kind = kinds.into_iter().find(|it| snapshot.macro_of(name, *it).is_some());
        match kind {
            Some(kind) => {
                self.catalog().drop_macro(name, kind);
                self.note(|| Operation::drop_macro(name, kind))?;
            }
            None if if_exists => {}
            None => {
                let message = format!("macro \"{name}\" does not exist");
                return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message));
            }
        }
        Ok(done("DROP MACRO"))
    }
}
