//! Clients that query again and again while something else goes on, and compare every answer with the first one.

use std::time::Duration;

use nodewise::{Database, Session};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, thread};

use crate::checks::Verdict;
use crate::tables::rows;

/// Between two rounds of a client: an emulated machine has little time for all.
const PAUSE: Duration = Duration::from_millis(100);

/// Queries and the answers that they must have.
pub struct Expected(Vec<(String, Vec<String>)>);

impl Expected {
    /// The answers of now.
    pub fn of(session: &mut Session, queries: &[String]) -> Result<Self, String> {
        let answer = |sql: &String| Ok((sql.clone(), rows(session, sql)?));
        queries.iter().map(answer).collect::<Result<_, String>>().map(Self)
    }

    /// An error unless all answers are what they were.
    pub fn check(&self, session: &mut Session) -> Verdict {
        for (sql, wanted) in &self.0 {
            let found = rows(session, sql)?;
            if found != *wanted {
                return Err(format!("{sql}: found {found:?}, wanted {wanted:?}"));
            }
        }
        Ok(())
    }
}

/// Does `work` while `count` clients query; every client has answered at least one round.
pub fn with_load(
    database: &Arc<Database>,
    expected: &Expected,
    count: usize,
    work: impl FnOnce() -> Verdict,
) -> Verdict {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let client = || {
            let mut session = database.session();
            let mut rounds = 0;
            while rounds == 0 || !stop.load(Ordering::Acquire) {
                expected.check(&mut session)?;
                rounds += 1;
                thread::sleep(PAUSE);
            }
            Ok::<usize, String>(rounds)
        };
        let clients: Vec<_> = (0..count).map(|_| scope.spawn(client)).collect();
        let worked = work();
        stop.store(true, Ordering::Release);
        for client in clients {
            client
                .join()
                .map_err(|_| "a client panicked".to_owned())?
                .map_err(|it| format!("a client: {it}"))?;
        }
        worked
    })
}
