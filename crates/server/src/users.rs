//! Who may come in with a password: a text of lines `name:verifier`, of which the roles are made that a database has not yet.

use std::collections::BTreeMap;

use nodewise::text::quoted_name;
use nodewise::{Database, SqlResult};
use stdx::sync::Arc;

use crate::scram::Verifier;

/// Users and what is kept of their passwords.
#[derive(Clone, Debug, Default)]
pub struct Users(BTreeMap<String, Verifier>);

impl Users {
    /// Reads lines `name:SCRAM-SHA-256$..`; empty ones and those that begin with `#` say nothing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut users = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let user = line.split_once(':');
            let user = user.and_then(|(name, it)| Some((name.to_owned(), Verifier::parse(it)?)));
            let (name, verifier) = user
                .filter(|it| !it.0.is_empty())
                .ok_or_else(|| format!("line {} is no user: name:SCRAM-SHA-256$..", number + 1))?;
            if users.insert(name.clone(), verifier).is_some() {
                return Err(format!("the user {name} stands there twice"));
            }
        }
        Ok(Self(users))
    }

    /// The line of a user with a password.
    pub fn line(name: &str, password: &str) -> Result<String, String> {
        if name.is_empty() || name.contains([':', '\n', '\r', '\0', '#']) || name != name.trim() {
            return Err(format!("\"{name}\" is no name for a user"));
        }
        Ok(format!("{name}:{}", Self::verifier_of(password)?))
    }

    /// What is kept of a password: what [`Database::make_verifiers_by`] wants.
    pub fn verifier_of(password: &str) -> Result<String, String> {
        Verifier::of_password(password).map(|it| it.text())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes superusers of those that are no roles yet. Of a role that is there, what it was given counts; one without a password
    /// gets that of its line.
    pub(crate) fn make_roles(&self, database: &Arc<Database>) -> SqlResult<()> {
        let mut session = database.session();
        for (name, verifier) in &self.0 {
            let (quoted, text) = (quoted_name(name), verifier.text());
            let sql = match (database.has_role(name), database.verifier(name)) {
                (false, _) => {
                    format!("CREATE ROLE {quoted} LOGIN SUPERUSER PASSWORD '{text}'")
                }
                (true, None) => format!("ALTER ROLE {quoted} PASSWORD '{text}'"),
                (true, Some(_)) => continue,
            };
            session.execute(&sql)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_users() {
        let line = Users::line("ada", "secret").unwrap();
        assert!(!line.contains("secret"));
        let users = Users::parse(&format!("# who may\n\n{line}\n")).unwrap();
        assert!(users.0.contains_key("ada") && !users.0.contains_key("bob"));
        for wrong in [format!("{line}\n{line}"), "ada:secret".into(), ":x".into(), "ada".into()] {
            assert!(Users::parse(&wrong).is_err(), "{wrong}");
        }
        assert!(Users::line("a:b", "x").is_err() && Users::line("a", "").is_err());
    }
}
