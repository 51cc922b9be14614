//! How many statements of each kind have ended, how long they worked, and the rows that they gave or changed.
//!
//! The time of a statement is that in which its session did something for it, its commit included: a client that is slow to
//! take rows makes none of its statements slow.

use stdx::Nanos;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Apart, lane};

/// The kinds by which statements are counted: the first word of what they are.
pub(crate) const KINDS: [&str; 13] = [
    "select", "insert", "update", "delete", "merge", "copy", "create", "alter", "drop", "explain",
    "set", "call", "other",
];

/// A kind of statements, as its place in [`KINDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(usize);

impl Kind {
    /// A query.
    pub(crate) const SELECT: Self = Self(0);
    /// COPY between a client and a table.
    pub(crate) const COPY: Self = Self(5);

    /// What a text, or the tag of an answer, begins with.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.trim_start();
        let end = text.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(text.len());
        let word = &text[..end];
        let same = |it: &str| it.eq_ignore_ascii_case(word);
        if ["with", "values", "table", "from"].into_iter().any(same) || text.starts_with('(') {
            return Self::SELECT;
        }
        Self(KINDS.iter().position(|it| same(it)).unwrap_or(KINDS.len() - 1))
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        KINDS[self.0]
    }
}

/// The upper ends of the classes of durations, in nanoseconds; what takes longer is in a last one.
pub(crate) const BOUNDS: [u64; 17] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
    60_000_000_000,
];

/// Lanes of counts: threads that count at once do so in different ones.
const LANES: usize = 8;

/// What is counted of all kinds since the database was opened.
#[derive(Default)]
pub(crate) struct StatementCounts([Apart<[KindCounts; KINDS.len()]>; LANES]);

/// What is counted of a kind.
#[derive(Default)]
pub(crate) struct KindCounts {
    failed: AtomicU64,
    rows: AtomicU64,
    nanos: AtomicU64,
    classes: [AtomicU64; BOUNDS.len() + 1],
}

/// The counts of a kind at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) failed: u64,
    /// Rows that were given or changed.
    pub(crate) rows: u64,
    pub(crate) nanos: u64,
    /// Statements in each class of durations.
    pub(crate) classes: [u64; BOUNDS.len() + 1],
}

impl Counted {
    /// Statements that have ended, those that failed among them.
    pub(crate) fn statements(&self) -> u64 {
        self.classes.iter().sum()
    }
}

impl StatementCounts {
    /// A statement has ended.
    pub(crate) fn add(&self, kind: Kind, took: Nanos, rows: u64, failed: bool) {
        let counts = &self.0[lane(LANES)][kind.0];
        let class = BOUNDS.partition_point(|it| *it < took.0);
        let add = |counter: &AtomicU64, value| {
            if value > 0 {
                counter.fetch_add(value, Ordering::Relaxed);
            }
        };
        add(&counts.classes[class], 1);
        add(&counts.nanos, took.0);
        add(&counts.rows, rows);
        add(&counts.failed, u64::from(failed));
    }

    /// The counts of each kind of which there was a statement.
    pub(crate) fn all(&self) -> Vec<(Kind, Counted)> {
        let kinds = (0..KINDS.len()).map(|place| {
            let sum = |of: &dyn Fn(&KindCounts) -> &AtomicU64| {
                self.0.iter().map(|it| of(&it[place]).load(Ordering::Relaxed)).sum()
            };
            let classes = std::array::from_fn(|class| sum(&|it| &it.classes[class]));
            let (failed, rows, nanos) =
                (sum(&|it| &it.failed), sum(&|it| &it.rows), sum(&|it| &it.nanos));
            (Kind(place), Counted { failed, rows, nanos, classes })
        });
        kinds.filter(|it| it.1.statements() > 0).collect()
    }
}

/// The rows that the tag of an answer tells: its last word, where that is a number.
pub(crate) fn rows_of_tag(tag: &str) -> u64 {
    tag.rsplit(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_first_words() {
        for (text, kind) in [
            (" select 1", "select"),
            ("WITH x AS (SELECT 1) SELECT * FROM x", "select"),
            ("(VALUES (1))", "select"),
            ("INSERT 0 3", "insert"),
            ("CREATE TABLE", "create"),
            ("creates", "other"),
            ("", "other"),
            ("\u{e4}", "other"),
        ] {
            assert_eq!(Kind::of(text).name(), kind, "{text}");
        }
        assert_eq!((Kind::SELECT.name(), Kind::COPY.name()), ("select", "copy"));
        assert_eq!([rows_of_tag("INSERT 0 3"), rows_of_tag("CREATE TABLE")], [3, 0]);
    }

    #[test]
    fn durations_fall_into_the_class_of_their_bound() {
        let counts = StatementCounts::default();
        counts.add(Kind::SELECT, Nanos(100_000), 2, false);
        counts.add(Kind::SELECT, Nanos(100_001), 3, true);
        counts.add(Kind::SELECT, Nanos(u64::MAX / 2), 0, false);
        let all = counts.all();
        assert_eq!(all.len(), 1);
        let counted = &all[0].1;
        assert_eq!((counted.statements(), counted.failed, counted.rows), (3, 1, 5));
        assert_eq!([counted.classes[0], counted.classes[1], counted.classes[17]], [1, 1, 1]);
    }
}
