//! What statements of one text have cost, their constants left out: what `pg_stat_statements` of PostgreSQL is.
//!
//! A text is read once: which entry it counts to is remembered by the text as it came, unless that is long. Both are bounded, in
//! number and length; of the entries, those with the fewest calls make room.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stdx::Nanos;
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Apart, Arc, Mutex};

/// Entries that are kept, as many as PostgreSQL keeps.
const ENTRIES_MAX: usize = 5000;
/// Entries that make room at once.
const DROPPED: usize = ENTRIES_MAX / 20;
/// Texts whose entries are remembered.
const TEXTS_MAX: usize = 4096;

/// Sums of an entry: sessions at once are seldom at the same.
const SUMS: usize = 8;
/// Texts of which a session knows where they are counted.
const OWN_MAX: usize = 64;

/// Statements by their texts.
#[derive(Default)]
pub(crate) struct StatementTexts(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: HashMap<Arc<str>, Arc<Counted>>,
    /// The text of the entry of a text.
    known: HashMap<String, Arc<str>>,
}

/// Where statements of a text are counted.
#[derive(Default)]
pub(crate) struct Counted {
    /// Whether it has made room for others: what is counted from then on is counted elsewhere.
    is_dropped: AtomicBool,
    sums: [Sum; SUMS],
}

/// What statements of some sessions have cost.
type Sum = Apart<Mutex<Entry>>;

impl Counted {
    fn entry(&self) -> Entry {
        self.sums.iter().fold(Entry::default(), |all, it| all.with(&it.0.lock()))
    }
}

/// Where the statements of a session are counted that it has run: it need not ask for those again.
#[derive(Default)]
pub(crate) struct OwnTexts(HashMap<Arc<str>, Arc<Counted>>);

impl OwnTexts {
    /// A statement of a session has ended well; with what it is counted as, where that is known.
    pub(crate) fn add(
        &mut self,
        (all, session): (&StatementTexts, u64),
        (text, key): (&str, Option<&Arc<str>>),
        took: Nanos,
        rows: u64,
    ) {
        let of = key.map_or(text, |it| it);
        let known = self.0.get(of).filter(|it| !it.is_dropped.load(Ordering::Relaxed));
        let counted = match known {
            Some(known) => known,
            None => {
                if self.0.len() >= OWN_MAX && !self.0.contains_key(of) {
                    self.0.clear();
                }
                let found = all.find(text, key);
                self.0.insert(of.into(), found);
                &self.0[of]
            }
        };
        let sum = &counted.sums[session as usize % SUMS];
        sum.0.lock().add(took.0 as f64, rows);
    }
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

    /// What both have cost (Chan, Golub and LeVeque 1979).
    fn with(self, other: &Self) -> Self {
        if self.calls == 0 || other.calls == 0 {
            return if self.calls == 0 { other.clone() } else { self };
        }
        let (apart, calls) = (other.mean() - self.mean(), self.calls + other.calls);
        let between = self.calls as f64 * other.calls as f64 / calls as f64;
        Self {
            calls,
            rows: self.rows + other.rows,
            total: self.total + other.total,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            squares: self.squares + other.squares + apart * apart * between,
        }
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
    /// Where statements of a text are counted; with what they are counted as, where that is known.
    fn find(&self, text: &str, key: Option<&Arc<str>>) -> Arc<Counted> {
        let mut kept = self.0.lock();
        let key = match key.or_else(|| kept.known.get(text)) {
            Some(key) => key.clone(),
            None => kept.learn(text),
        };
        if !kept.entries.contains_key(&key) {
            kept.make_room();
        }
        kept.entries.entry(key).or_default().clone()
    }

    /// All entries, with a number for each text.
    pub(crate) fn list(&self) -> Vec<(i64, Arc<str>, Entry)> {
        let kept = self.0.lock();
        kept.entries.iter().map(|(text, it)| (number(text), text.clone(), it.entry())).collect()
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
            self.entries.iter().map(|(text, it)| (it.entry().calls, text.clone())).collect();
        calls.sort_unstable();
        for (_, text) in calls.iter().take(DROPPED) {
            if let Some(it) = self.entries.remove(text) {
                it.is_dropped.store(true, Ordering::Relaxed);
            }
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
        let times = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        times.into_iter().for_each(|it| entry.add(it, 2));
        assert_eq!((entry.calls, entry.rows, entry.least, entry.most), (8, 16, 2.0, 9.0));
        assert_eq!((entry.mean(), entry.deviation()), (5.0, 2.0));
        let mut parts = [Entry::default(), Entry::default()];
        times.into_iter().enumerate().for_each(|it| parts[it.0 % 2].add(it.1, 2));
        let [one, other] = parts;
        let both = Entry::default().with(&one).with(&other).with(&Entry::default());
        assert_eq!((both.calls, both.rows, both.least, both.most), (8, 16, 2.0, 9.0));
        assert_eq!((both.mean(), both.deviation()), (5.0, 2.0));
    }

    #[test]
    fn texts_are_bounded_and_those_of_many_calls_stay() {
        let (texts, mut own) = (StatementTexts::default(), OwnTexts::default());
        let mut add = |session, text: String, rows| {
            own.add((&texts, session), (&text, None), Nanos(1), rows);
        };
        (0..5).for_each(|it| add(it, format!("SELECT {it}"), 1));
        assert_eq!(texts.list().len(), 1);
        (0..ENTRIES_MAX * 2).for_each(|it| add(1, format!("SELECT a{it}"), 0));
        let list = texts.list();
        assert!(list.len() <= ENTRIES_MAX, "{}", list.len());
        add(1, "SELECT a1".to_owned(), 0);
        assert!(texts.list().iter().any(|it| &*it.1 == "SELECT a1"), "it had made room");
        let first = list.iter().find(|it| &*it.1 == "SELECT $1").unwrap();
        assert_eq!((first.2.calls, first.2.rows), (5, 5));
    }
}
