//! Clients that put values at the end of lists and read them, in every way that SQL has for it.
//!
//! The lists are texts in rows of two tables, so that levels that refuse by tables have something to allow.

use nodewise::{Database, Session};
use stdx::Prng;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};

use crate::checker::{Deed, Level, List, Transaction};
use crate::common::texts;

pub const TABLES: u64 = 2;
/// Lists of a table.
const KEYS: u64 = 3;

/// What all clients of a history share.
#[derive(Default)]
pub struct Clock {
    time: AtomicU64,
    value: AtomicU64,
}

impl Clock {
    fn now(&self) -> u64 {
        self.time.fetch_add(1, Ordering::SeqCst)
    }

    fn next_value(&self) -> u64 {
        self.value.fetch_add(1, Ordering::SeqCst)
    }
}

/// Makes the tables.
pub fn create(database: &Arc<Database>) {
    for table in 0..TABLES {
        let sql = format!("CREATE TABLE r{table} (k BIGINT PRIMARY KEY, v TEXT NOT NULL)");
        database.session().execute(&sql).expect("the table is made");
    }
}

/// A session and what it has done.
pub struct Client {
    session: Session,
    prng: Prng,
    level: Level,
    /// Of eight things that it does, how many append. Who reads more lives on while others commit.
    appends: u64,
    clock: Arc<Clock>,
    /// The transaction that is open: when it began, what it did, and what was taken back.
    open: Option<(u64, Vec<Deed>, Vec<Deed>)>,
    pub done: Vec<Transaction>,
}

/// The state of an error.
type Refused = &'static str;

impl Client {
    /// `settings` is what the session says first.
    pub fn new(
        database: &Arc<Database>,
        seed: u64,
        level: Level,
        clock: &Arc<Clock>,
        settings: &str,
    ) -> Self {
        let mut session = database.session();
        session.execute(settings).expect("the settings are known");
        let (open, done, mut prng) = (None, Vec::new(), Prng::new(seed));
        let appends = 1 + prng.below(4);
        Self { session, prng, level, appends, clock: clock.clone(), open, done }
    }

    /// Runs its next statement, or the few that are one step.
    pub fn step(&mut self) {
        let Some((began, mut deeds, mut undone)) = self.open.take() else {
            let began = self.clock.now();
            if self.prng.below(5) == 0 {
                let mut deeds = Vec::new();
                let ended = self.deed(&mut deeds);
                self.finish(began, deeds, Vec::new(), ended.is_ok());
                return;
            }
            let level = match self.level {
                Level::ReadCommitted => "READ COMMITTED",
                Level::RepeatableRead => "REPEATABLE READ",
                Level::Serializable => "SERIALIZABLE",
            };
            self.said(&format!("BEGIN ISOLATION LEVEL {level}"));
            self.open = Some((began, Vec::new(), Vec::new()));
            return;
        };
        let ended = match self.prng.below(12) {
            0..2 => {
                let committed = self.run("COMMIT").is_ok();
                return self.finish(began, deeds, undone, committed);
            }
            2 => Err("nobody"),
            3 if self.prng.below(3) == 0 => self.taken_back(&mut deeds, &mut undone),
            _ => self.deed(&mut deeds),
        };
        match ended {
            Ok(()) => self.open = Some((began, deeds, undone)),
            Err(_) => {
                self.said("ROLLBACK");
                self.finish(began, deeds, undone, false);
            }
        }
    }

    /// Whether a transaction is open.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Ends what is open.
    pub fn end(&mut self) {
        if let Some((began, deeds, undone)) = self.open.take() {
            let committed = self.run("COMMIT").is_ok();
            self.finish(began, deeds, undone, committed);
        }
    }

    /// Reads all lists at once.
    pub fn read_all(&mut self) -> Vec<Deed> {
        let (began, mut deeds) = (self.clock.now(), Vec::new());
        (0..TABLES)
            .for_each(|it| self.read(it, 0..KEYS, &mut deeds).expect("nobody is in its way"));
        self.finish(began, deeds.clone(), Vec::new(), true);
        deeds
    }

    fn finish(&mut self, began: u64, deeds: Vec<Deed>, undone: Vec<Deed>, committed: bool) {
        let time = (began, self.clock.now());
        self.done.push(Transaction { deeds, committed, time });
        self.done.push(Transaction { deeds: undone, committed: false, time });
    }

    /// Something within a savepoint, to which it goes back.
    fn taken_back(&mut self, deeds: &mut [Deed], undone: &mut Vec<Deed>) -> Result<(), Refused> {
        self.said("SAVEPOINT s");
        let mut tried = deeds.to_vec();
        let ended = self.append(&mut tried);
        undone.extend(
            tried.split_off(deeds.len()).into_iter().filter(|it| matches!(it, Deed::Append(..))),
        );
        ended?;
        self.said("ROLLBACK TO SAVEPOINT s");
        Ok(())
    }

    fn deed(&mut self, deeds: &mut Vec<Deed>) -> Result<(), Refused> {
        let table = self.prng.below(TABLES);
        match self.prng.below(8) {
            it if it < self.appends => self.append(deeds),
            it if it % 3 > 0 => {
                let key = self.prng.below(KEYS);
                self.read(table, key..key + 1, deeds)
            }
            _ => {
                let from = self.prng.below(KEYS);
                let to = from + 1 + self.prng.below(KEYS - from);
                self.read(table, from..to, deeds)
            }
        }
    }

    fn read(
        &mut self,
        table: u64,
        keys: std::ops::Range<u64>,
        deeds: &mut Vec<Deed>,
    ) -> Result<(), Refused> {
        let (from, to) = (keys.start, keys.end);
        let rows =
            self.run(&format!("SELECT k, v FROM r{table} WHERE k >= {from} AND k < {to}"))?;
        deeds.extend(keys.map(|key| {
            let own = format!("{key}=");
            let row = rows.iter().find_map(|it| it.strip_prefix(&own));
            Deed::Read(list(table, key), row.map_or_else(Vec::new, values))
        }));
        Ok(())
    }

    fn append(&mut self, deeds: &mut Vec<Deed>) -> Result<(), Refused> {
        let (table, key) = (self.prng.below(TABLES), self.prng.below(KEYS));
        let (list, value) = (list(table, key), self.clock.next_value());
        // It may have been done where it is not told any more.
        deeds.push(Deed::Append(list, value));
        let new = format!("r{table} VALUES ({key}, '{value}')");
        let longer = format!("v = r{table}.v || ',{value}'");
        let rows = match self.prng.below(3) {
            0 => {
                self.run(&format!("INSERT INTO {new} ON CONFLICT (k) DO UPDATE SET {longer}"))?;
                return Ok(());
            }
            1 => {
                self.run(&format!(
                    "MERGE INTO r{table} USING (SELECT {key} AS key) s ON k = key WHEN MATCHED THEN \
                     UPDATE SET {longer} WHEN NOT MATCHED THEN INSERT VALUES (key, '{value}')"
                ))?;
                return Ok(());
            }
            _ => self.run(&format!("UPDATE r{table} SET {longer} WHERE k = {key} RETURNING v"))?,
        };
        match rows.first() {
            Some(row) => deeds.push(Deed::Read(list, values(row))),
            None => {
                deeds.pop();
                deeds.push(Deed::Read(list, Vec::new()));
            }
        }
        Ok(())
    }

    /// Runs what nobody may refuse.
    fn said(&mut self, sql: &str) {
        self.run(sql).unwrap_or_else(|it| panic!("{sql}: {it}"));
    }

    /// The rows of a statement. What others do may refuse it, nothing else.
    fn run(&mut self, sql: &str) -> Result<Vec<String>, Refused> {
        match self.session.execute(sql) {
            Ok(answers) => {
                Ok(answers.last().map_or_else(Vec::new, |it| texts(&it.batches, "=", "NULL")))
            }
            Err(error) if ["40001", "55P03", "40P01"].contains(&error.state.0) => {
                Err(error.state.0)
            }
            Err(error) => panic!("{sql}: {error}"),
        }
    }
}

fn list(table: u64, key: u64) -> List {
    table * KEYS + key
}

fn values(text: &str) -> Vec<u64> {
    text.split(',').map(|it| it.parse().expect("lists are numbers")).collect()
}
