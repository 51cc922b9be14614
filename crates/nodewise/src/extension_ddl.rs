//! CREATE, ALTER and DROP EXTENSION.
//!
//! Key decision: the functions of an extension are built in, and are found without its schema whether it was made or not. That it was
//! made lets calls name its schema, and the catalog tell of it.

use binder::ExtensionStatement;
use types::extension::{KNOWN, KnownExtension, PLPGSQL, known};
use types::{Extension, SqlError, SqlResult, SqlState, names};

use crate::answer::done;
use crate::durability::Operation;
use crate::notice::Notice;
use crate::search_path::no_schema;
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn run_extension_statement(
        &self,
        statement: &ExtensionStatement,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        match statement {
            ExtensionStatement::Create { name, schema, version, if_not_exists } => {
                if self.has_extension(name) {
                    let message = format!("extension \"{name}\" already exists");
                    if !if_not_exists {
                        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
                    }
                    self.notice(Notice::told("42710", format!("{message}, skipping")));
                } else {
                    self.create_extension(name, schema.as_deref(), version.as_deref())?;
                }
                Ok(done("CREATE EXTENSION"))
            }
            ExtensionStatement::Drop { names, if_exists } => {
                self.drop_extensions(names, *if_exists)?;
                Ok(done("DROP EXTENSION"))
            }
            ExtensionStatement::Update { name, version } => {
                let known = self.existing_extension(name)?;
                check_version(known, version.as_deref())?;
                let message = format!(
                    "version \"{}\" of extension \"{name}\" is already installed",
                    known.version
                );
                self.notice(Notice::told("00000", message));
                Ok(done("ALTER EXTENSION"))
            }
            ExtensionStatement::SetSchema { name, schema } => {
                self.existing_extension(name)?;
                if name == PLPGSQL {
                    let message = format!("extension \"{name}\" does not support SET SCHEMA");
                    return Err(SqlError::unsupported(message));
                }
                self.check_extension_schema(schema)?;
                self.put_extension(Extension { name: name.clone(), schema: schema.clone() })?;
                Ok(done("ALTER EXTENSION"))
            }
        }
    }

    fn has_extension(&self, name: &str) -> bool {
        name == PLPGSQL || self.snapshot().extension(name).is_some()
    }

    /// What is known of an extension that is there. Errors: 42704.
    pub(crate) fn existing_extension(&self, name: &str) -> SqlResult<&'static KnownExtension> {
        known(name).filter(|_| self.has_extension(name)).ok_or_else(|| {
            let message = format!("extension \"{name}\" does not exist");
            SqlError::new(SqlState::UNDEFINED_OBJECT, message)
        })
    }

    fn create_extension(
        &self,
        name: &str,
        schema: Option<&str>,
        version: Option<&str>,
    ) -> SqlResult<()> {
        let Some(known) = known(name) else {
            let all: Vec<&str> = KNOWN.iter().map(|it| it.name).collect();
            let message = format!("extension \"{name}\" is not available");
            let hint =
                format!("these are, as far as their functions are built in: {}", all.join(", "));
            return Err(SqlError::unsupported(message).with_hint(hint));
        };
        check_version(known, version)?;
        let schema = match schema {
            Some(said) => {
                self.check_extension_schema(said)?;
                said.to_owned()
            }
            None => names::schema_of(&self.new_name(name_of(name).as_str())?),
        };
        self.put_extension(Extension { name: name.to_owned(), schema })?;
        self.put_comment(&comment_key(name), Some(known.comment))?;
        let functions = known.functions.join(", ");
        let message = format!("of the functions of extension \"{name}\" there is {functions}");
        self.notice(Notice::told("00000", message));
        Ok(())
    }

    fn check_extension_schema(&self, schema: &str) -> SqlResult<()> {
        match self.snapshot().has_schema(schema) {
            true => Ok(()),
            false => Err(no_schema(schema)),
        }
    }

    fn put_extension(&self, it: Extension) -> SqlResult<()> {
        self.catalog().put_extension(it.clone());
        self.note(|| Operation::extension(&it))
    }

    fn drop_extensions(&self, names: &[String], if_exists: bool) -> SqlResult<()> {
        for name in names {
            if if_exists && !self.has_extension(name) {
                let message = format!("extension \"{name}\" does not exist, skipping");
                self.notice(Notice::told("00000", message));
                continue;
            }
            self.existing_extension(name)?;
            if name == PLPGSQL {
                let message = format!(
                    "cannot drop extension {name} because it is required by the database system"
                );
                return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS, message));
            }
            self.drop_extension(name)?;
        }
        Ok(())
    }

    fn drop_extension(&self, name: &str) -> SqlResult<()> {
        self.put_comment(&comment_key(name), None)?;
        self.catalog().drop_extension(name);
        self.note(|| Operation::drop_extension(name))
    }

    /// The extensions of a schema, as errors name them.
    pub(crate) fn extensions_in_words(&self, schema: &str) -> Vec<String> {
        let snapshot = self.snapshot();
        let own = snapshot.extensions().filter(|it| it.schema == schema);
        own.map(|it| format!("extension {}", it.name)).collect()
    }

    /// Drops the extensions of a schema.
    pub(crate) fn drop_extensions_in(&self, schema: &str) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let mut own = snapshot.extensions().filter(|it| it.schema == schema);
        own.try_for_each(|it| self.drop_extension(&it.name))
    }

    /// Gives the extensions of a schema to another.
    pub(crate) fn move_extensions(&self, schema: &str, to: &str) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let mut own = snapshot.extensions().filter(|it| it.schema == schema);
        own.try_for_each(|it| {
            self.put_extension(Extension { name: it.name.clone(), schema: to.to_owned() })
        })
    }
}

/// A name as statements say it.
fn name_of(name: &str) -> String {
    names::written(&[name.to_owned()])
}

/// What the comment on an extension is kept under.
pub(crate) fn comment_key(name: &str) -> [String; 3] {
    ["extension", "", name].map(str::to_owned)
}

/// Errors: 22023 of a version that is not the one that there is.
fn check_version(known: &KnownExtension, said: Option<&str>) -> SqlResult<()> {
    match said.filter(|it| *it != known.version) {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "extension \"{}\" has no installation script nor update path for version \"{other}\"",
                known.name
            );
            Err(SqlError::new(SqlState::INVALID_PARAMETER, message))
        }
    }
}
