//! What became of all files.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::outcome::{Finding, Kind};

/// What became of one file.
#[derive(Debug, Default)]
pub struct FileResult {
    /// Its name, as the report shows it.
    pub name: String,
    /// Right records.
    pub right: usize,
    /// Records that did not run, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// Those that are not right.
    pub findings: Vec<Finding>,
    /// Why nothing or not all of it could be run.
    pub broken: Option<String>,
}

/// Findings of one cause.
struct Group {
    count: usize,
    files: usize,
    /// File and finding; the first by name and line, so that the report does not depend on the order of files.
    example: (String, Finding),
}

/// What became of all files.
#[derive(Default)]
pub struct Report {
    files: usize,
    right: usize,
    kinds: BTreeMap<Kind, usize>,
    skipped: BTreeMap<String, usize>,
    groups: BTreeMap<(Kind, String), Group>,
    broken: BTreeMap<String, String>,
}

impl Report {
    /// Adds a file.
    pub fn add(&mut self, file: FileResult) {
        self.files += 1;
        self.right += file.right;
        for (reason, count) in file.skipped {
            *self.skipped.entry(reason).or_default() += count;
        }
        if let Some(reason) = file.broken {
            self.broken.insert(file.name.clone(), reason);
        }
        let mut seen: BTreeMap<(Kind, String), usize> = BTreeMap::new();
        for finding in file.findings {
            *self.kinds.entry(finding.kind).or_default() += 1;
            let key = (finding.kind, finding.cause.clone());
            let first = *seen.entry(key.clone()).and_modify(|it| *it += 1).or_insert(1) == 1;
            let example = (file.name.clone(), finding);
            match self.groups.get_mut(&key) {
                None => drop(self.groups.insert(key, Group { count: 1, files: 1, example })),
                Some(group) => {
                    group.count += 1;
                    group.files += usize::from(first);
                    let place = |it: &(String, Finding)| (it.0.clone(), it.1.line);
                    if !example.1.sql.is_empty() && place(&example) < place(&group.example) {
                        group.example = example;
                    }
                }
            }
        }
    }

    /// Whether nothing ran otherwise than it should, and all files could be read.
    pub fn passed(&self) -> bool {
        let bad = |kind: &Kind| kind.is_wrong() || matches!(kind, Kind::Internal | Kind::Died);
        self.broken.is_empty() && !self.kinds.keys().any(bad)
    }

    /// The totals in one line.
    pub fn totals(&self) -> String {
        let ran = self.right + self.kinds.values().sum::<usize>();
        let share = 100.0 * self.right as f64 / ran.max(1) as f64;
        let mut text =
            format!("{} files, {ran} records: {} right ({share:.3} %)", self.files, self.right);
        for (kind, word) in Kind::ALL {
            let count = self.kinds.get(&kind).copied().unwrap_or(0);
            let _ = write!(text, ", {count} {word}");
        }
        let skipped: usize = self.skipped.values().sum();
        let _ = write!(text, "; {skipped} skipped");
        text
    }

    /// The most frequent causes of each kind with an example, why records were skipped, and the totals.
    pub fn tables(&self, top: usize) -> String {
        let mut text = String::new();
        for (kind, word) in Kind::ALL {
            let mut groups: Vec<_> = self.groups.iter().filter(|it| it.0.0 == kind).collect();
            groups.sort_by_key(|it| std::cmp::Reverse(it.1.count));
            if groups.is_empty() {
                continue;
            }
            let _ = writeln!(text, "== {word}: {} causes", groups.len());
            for ((_, cause), group) in groups.iter().take(top) {
                let Group { count, files, example: (name, finding) } = group;
                let _ = writeln!(text, "{count:8} in {files} files  {cause}");
                let _ =
                    writeln!(text, "         {name}:{}  {}", finding.line, one_line(&finding.sql));
                if matches!(kind, Kind::Wrong | Kind::WrongAfter) {
                    let (ours, wanted) = (one_line(&finding.ours), one_line(&finding.expected));
                    let _ = writeln!(text, "         ours: {ours}  expected: {wanted}");
                }
            }
        }
        let mut skipped: Vec<_> = self.skipped.iter().collect();
        skipped.sort_by_key(|it| std::cmp::Reverse(it.1));
        for (reason, count) in skipped.iter().take(top) {
            let _ = writeln!(text, "skipped {count:8}  {reason}");
        }
        for (name, reason) in &self.broken {
            let _ = writeln!(text, "broken  {name}: {reason}");
        }
        let _ = writeln!(text, "{}", self.totals());
        text
    }
}

/// The beginning of a text in one line.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: Kind, line: usize, cause: &str) -> Finding {
        let text = |it: &str| it.to_owned();
        Finding {
            kind,
            line,
            cause: text(cause),
            sql: text("SELECT\n 1"),
            ours: text("1"),
            expected: text("2"),
        }
    }

    #[test]
    fn causes_are_counted_with_their_first_example() {
        let mut report = Report::default();
        for (name, line) in [("b", 3), ("a", 9), ("a", 4)] {
            let findings = vec![finding(Kind::Refused, line, "0A000 no views")];
            report.add(FileResult {
                name: name.to_owned(),
                right: 3,
                findings,
                ..Default::default()
            });
        }
        assert!(report.passed());
        assert!(report.totals().starts_with("3 files, 12 records: 9 right (75.000 %), 0 wrong"));
        let tables = report.tables(10);
        assert!(
            tables.contains("3 in 3 files  0A000 no views\n         a:4  SELECT 1"),
            "{tables}"
        );
    }

    #[test]
    fn wrong_records_fail_and_show_both_sides() {
        let mut report = Report::default();
        let findings = vec![finding(Kind::Wrong, 1, "values")];
        let skipped = BTreeMap::from([("halt".to_owned(), 5)]);
        report.add(FileResult { name: "a".to_owned(), findings, skipped, ..Default::default() });
        assert!(!report.passed());
        let tables = report.tables(1);
        assert!(
            tables.contains("ours: 1  expected: 2") && tables.contains("skipped        5  halt")
        );
    }
}
