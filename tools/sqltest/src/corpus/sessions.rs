//! The database of a script and its sessions by name.

use nodewise::{Answer, Session, SqlError, SqlResult};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Opens a new empty database and gives a session of it.
type Open<'a> = Box<dyn Fn() -> SqlResult<Session> + 'a>;

/// One database at a time, with any number of sessions.
pub struct Sessions<'a> {
    open: Open<'a>,
    /// Run first in every session.
    settings: Vec<String>,
    sessions: Vec<(String, Session)>,
}

impl<'a> Sessions<'a> {
    /// Opens the database.
    pub fn open(
        open: impl Fn() -> SqlResult<Session> + 'a,
        settings: Vec<String>,
    ) -> SqlResult<Self> {
        let mut new = Self { open: Box::new(open), settings, sessions: Vec::new() };
        new.renew()?;
        Ok(new)
    }

    /// Replaces the database by a new empty one.
    pub fn renew(&mut self) -> SqlResult<()> {
        self.sessions.clear();
        let first = (self.open)()?;
        self.add("", first)
    }

    fn add(&mut self, name: &str, mut session: Session) -> SqlResult<()> {
        for setting in &self.settings {
            session.execute(setting)?;
        }
        self.sessions.push((name.to_owned(), session));
        Ok(())
    }

    /// Runs SQL in the session of a name and gives the last answer. A panic is an internal error.
    pub fn execute(&mut self, name: &str, sql: &str) -> SqlResult<Option<Answer>> {
        let found = self.sessions.iter().position(|it| it.0 == name);
        let at = match found {
            Some(at) => at,
            None => {
                let new = self.sessions[0].1.database().session();
                self.add(name, new)?;
                self.sessions.len() - 1
            }
        };
        let session = &mut self.sessions[at].1;
        let run = AssertUnwindSafe(|| session.execute(sql));
        let answers = catch_unwind(run)
            .unwrap_or_else(|_| Err(SqlError::internal("the statement panicked")))?;
        Ok(answers.into_iter().next_back())
    }
}
