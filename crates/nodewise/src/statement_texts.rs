//! What statements of one text have cost, their constants left out: what `pg_stat_statements` of PostgreSQL is.
//!
//! A text is read once: which entry it counts to is remembered by the text as it came, unless that is long. Both are bounded, in
//! number and length; of the entries, those with the fewest calls make room.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stdx::Nanos;
use stdx::sync::{Arc, Mutex};

/// Entries that are kept, as many as PostgreSQL keeps.
const ENTRIES_MAX: usize = 5000;
/// Entries that make room at once.
const DROPPED: usize = ENTRIES_MAX / 20;
/// Texts whose entries are remembered.
const TEXTS_MAX: usize = 4096;

/// Statements by their texts.
#[derive(Default)]
pub(crate) struct StatementTexts(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: HashMap<Arc<str>, Entry>,
    /// The text of the entry of a text.
    known: HashMap<String, Arc<str>>,
}

/// What statements of a text have cost. Times are nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) calls: u64,
    pub(crate) rows: u64,
    pub(crate) total: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// The sum of squared differences from the mean (Welford 1962).
    squares: f64,
}

impl Entry {
    fn add(&mut self, time: f64, rows: u64) {
        let before = self.mean();
        self.calls += 1;
        self.rows += rows;
        self.total += time;
        self.least = if self.calls == 1 { time } else { self.least.min(time) };
        self.most = self.most.max(time);
        self.squares += (time - before) * (time - self.mean());
    }

    pub(crate) fn mean(&self) -> f64 {
        self.total / self.calls.max(1) as f64
    }

    /// The standard deviation of all that were counted.
    pub(crate) fn deviation(&self) -> f64 {
        (self.squares / self.calls.max(1) as f64).sqrt()
    }
}

impl StatementTexts {
    /// A statement has ended well; with what it is counted as, where that is known.
    pub(crate) fn add(&self, text: &str, key: Option<&Arc<str>>, took: Nanos, rows: u64) {
        let mut kept = self.0.lock();
        let key = match key.or_else(|| kept.known.get(text)) {
            Some(key) => key.clone(),
            None => kept.learn(text),
        };
        if !kept.entries.contains_key(&key) {
            kept.make_room();
        }
        kept.entries.entry(key).or_default().add(took.0 as f64, rows);
    }

    /// All entries, with a number for each text.
    pub(crate) fn list(&self) -> Vec<(i64, Arc<str>, Entry)> {
        let kept = self.0.lock();
        kept.entries.iter().map(|(text, it)| (number(text), text.clone(), it.clone())).collect()
    }
}

impl Kept {
    fn learn(&mut self, text: &str) -> Arc<str> {
        let key: Arc<str> = binder::normalized(text).into();
        if text.len() > binder::READ_MAX {
            return key;
        }
        if self.known.len() >= TEXTS_MAX {
            self.known.clear();
        }
        self.known.insert(text.to_owned(), key.clone());
        key
    }

    fn make_room(&mut self) {
        if self.entries.len() < ENTRIES_MAX {
            return;
        }
        let mut calls: Vec<(u64, Arc<str>)> =
            self.entries.iter().map(|(text, it)| (it.calls, text.clone())).collect();
        calls.sort_unstable();
        for (_, text) in calls.iter().take(DROPPED) {
            self.entries.remove(text);
        }
    }
}

fn number(text: &str) -> i64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_to_mean_and_deviation() {
        let mut entry = Entry::default();
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|it| entry.add(it, 2));
        assert_eq!((entry.calls, entry.rows, entry.least, entry.most), (8, 16, 2.0, 9.0));
        assert_eq!((entry.mean(), entry.deviation()), (5.0, 2.0));
    }

    #[test]
    fn texts_are_bounded_and_those_of_many_calls_stay() {
        let texts = StatementTexts::default();
        (0..5).for_each(|it| texts.add(&format!("SELECT {it}"), None, Nanos(1), 1));
        assert_eq!(texts.list().len(), 1);
        for it in 0..ENTRIES_MAX * 2 {
            texts.add(&format!("SELECT a{it}"), None, Nanos(1), 0);
        }
        let list = texts.list();
        assert!(list.len() <= ENTRIES_MAX, "{}", list.len());
        let first = list.iter().find(|it| &*it.1 == "SELECT $1").unwrap();
        assert_eq!((first.2.calls, first.2.rows), (5, 5));
    }
}
