//! COMMENT ON.
//!
//! Key decision: comments stand in the catalog beside what they are of, under its name, so that they go and are renamed with it
//! there, and are as transactional as it is.

use binder::Commented;
use storage::FUNCTION_COMMENT;
use types::{SqlError, SqlResult, SqlState, names};

use crate::answer::done;
use crate::durability::Operation;
use crate::macro_comments::comment_of;
use crate::search_path::no_schema;
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn comment_on(
        &self,
        of: &Commented,
        text: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let of = self.comment_key(of)?;
        self.put_comment(&of, text)?;
        Ok(done("COMMENT"))
    }

    pub(crate) fn put_comment(&self, of: &[String; 3], text: Option<&str>) -> SqlResult<()> {
        self.catalog().put_comment(of, text);
        self.note(|| Operation::comment(of, text))
    }

    /// Lets a comment follow what it is of to another name; `None` where that has gone.
    pub(crate) fn move_comment(&self, from: [&str; 3], to: Option<[&str; 3]>) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let Some(text) = snapshot.comment(from).cloned() else { return Ok(()) };
        self.put_comment(&from.map(str::to_owned), None)?;
        match to {
            Some(to) => self.put_comment(&to.map(str::to_owned), Some(&text)),
            None => Ok(()),
        }
    }

    /// Lets the comments of a relation follow it to another name.
    pub(crate) fn move_comments(&self, from: &str, to: &str) -> SqlResult<()> {
        for ([kind, name, part], _) in self.snapshot().comments() {
            if name == from && !matches!(&*kind, "schema" | FUNCTION_COMMENT) {
                self.move_comment([&kind, &name, &part], Some([&kind, to, &part]))?;
            }
        }
        Ok(())
    }

    /// What a comment is kept under. Errors: 42P01, 42809, 42703, 42704 and 3F000 where there is no such thing.
    fn comment_key(&self, of: &Commented) -> SqlResult<[String; 3]> {
        let key = |kind: &str, name: &str, part: &str| [kind, name, part].map(str::to_owned);
        let snapshot = self.snapshot();
        Ok(match of {
            Commented::Relation { kind, name } => {
                let full = self.existing_name(name, false)?;
                match snapshot.kind_of(&full) {
                    Some(found) if found == *kind => key("relation", &full, ""),
                    Some(_) => {
                        let message = format!("\"{}\" is not a {kind}", names::bare(&full));
                        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                    }
                    None => return Err(no_relation(name)),
                }
            }
            Commented::Column { relation, column } => {
                key("relation", &self.relation_with(relation, column)?, column)
            }
            Commented::Schema(name) => {
                if !snapshot.has_schema(name) && !names::SYSTEM.contains(&name.as_str()) {
                    return Err(no_schema(name));
                }
                key("schema", name, "")
            }
            Commented::Extension(name) => {
                self.existing_extension(name)?;
                crate::extension_ddl::comment_key(name)
            }
            Commented::Index(name) => {
                let full = self.existing_index(name, false)?;
                match snapshot.relation_of_index(&full) {
                    Some((of, _)) => key("index", &of.name, &names::bare(&full)),
                    None => return Err(no_relation(name)),
                }
            }
            Commented::Function(of) => {
                let known = self.macro_in(&snapshot, &of.name, of);
                let known = known.ok_or_else(|| self.no_macro(of))?;
                let form = known.forms.iter().find(|it| self.is_meant(it, of));
                form.and_then(|it| comment_of(&known.name, it)).ok_or_else(|| self.no_macro(of))?
            }
            Commented::Constraint { name, table } => {
                let full = self.existing_name(table, false)?;
                let table = self.existing(&full)?;
                if !crate::constraints::is_taken(table.rules(), name) {
                    let message = format!(
                        "constraint \"{name}\" for table \"{}\" does not exist",
                        names::bare(&full)
                    );
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
                }
                key("constraint", &full, name)
            }
        })
    }
}

impl Session {
    /// The full name of a relation that has a column. Errors: 42P01, 42809 and 42703.
    fn relation_with(&self, relation: &str, column: &str) -> SqlResult<String> {
        let (snapshot, full) = (self.snapshot(), self.existing_name(relation, false)?);
        let table = snapshot.get(&full).map(|it| it.columns.iter().any(|it| it.name == *column));
        let view = snapshot.view(&full).map(|it| it.columns.iter().any(|it| it.0 == *column));
        match table.or(view) {
            Some(true) => Ok(full),
            Some(false) => {
                let message = format!(
                    "column \"{column}\" of relation \"{}\" does not exist",
                    names::bare(&full)
                );
                Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message))
            }
            None if snapshot.kind_of(&full).is_some() => {
                let message = format!("cannot set comment on relation \"{relation}\"");
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
            }
            None => Err(no_relation(relation)),
        }
    }
}

fn no_relation(said: &str) -> SqlError {
    let message = format!("relation \"{said}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_TABLE, message)
}
