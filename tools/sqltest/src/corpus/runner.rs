//! One script, from its first directive to its last.

use nodewise::{Answer, SqlError, SqlState};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::cells::{Flavour, Rows, rows};
use super::compare::{compare, hash};
use super::consequences::Consequences;
use super::duckdb_inside;
use super::outcome::{Finding, Kind, blank};
use super::script::{Action, Block, Condition, Directive, Expect, LoopValues, Query, Sort, parse};
use super::sessions::Sessions;
use super::variables::Variables;

/// Who is told how records end.
pub trait Sink {
    /// A record of a line begins: should the process die, it was this one.
    fn begin(&mut self, line: usize);
    /// It is right.
    fn right(&mut self);
    /// It is not.
    fn finding(&mut self, finding: Finding);
    /// So many records did not run, and why.
    fn skipped(&mut self, reason: &str, records: usize);
}

/// A run of a script.
pub struct Run<'a> {
    /// The database under test.
    pub sessions: Sessions<'a>,
    /// Who is told.
    pub sink: &'a mut dyn Sink,
    /// The engine that `onlyif` and `skipif` name.
    pub engine: &'a str,
    /// What the script is.
    pub flavour: Flavour,
    /// Lines of records that must not run, because they ended the process before.
    pub deadly: HashSet<usize>,
    /// Names and values that stand in the text: folders and the like.
    pub surroundings: Vec<(String, String)>,
}

/// Features of the other system that `require` may name and that say nothing of what we can do.
const MET: &[&str] = &[
    "vector_size",
    "skip_reload",
    "no_alternative_verify",
    "notwindows",
    "notmingw",
    "64bit",
    "noforcestorage",
    "nothreadsan",
    "strinline",
    "longdouble",
    "block_size",
    "mingw",
    "no_vector_verification",
    "no_latest_storage",
    "no_extension_autoloading",
    "parquet",
    "json",
    "icu",
    "core_functions",
    "allow_unsigned_extensions",
    "exact_vector_size",
    "ram",
    "disk_space",
];

/// Directives that change nothing for us.
const WITHOUT_EFFECT: &[&str] =
    &["hash-threshold", "set", "sleep", "tags", "subtest", "reconnect", "connection"];

/// What follows a directive.
type Flow = Result<(), Ended>;

/// The script ends here, for a reason.
struct Ended(String);

/// The state of a run.
struct State<'r, 'a> {
    run: &'r mut Run<'a>,
    variables: Variables,
    sort: Sort,
    labels: HashMap<String, String>,
    consequences: Consequences,
    /// Between `mode skip` and `mode unskip`.
    skipping: bool,
    loaded: HashSet<String>,
}

impl Run<'_> {
    /// Runs a whole script. The error is one of its form.
    pub fn script(&mut self, text: &str) -> Result<(), String> {
        let block = parse(text)?;
        let mut variables = Variables::default();
        for (name, value) in &self.surroundings {
            variables.push(name, value);
        }
        let mut state = State {
            run: self,
            variables,
            sort: Sort::Nothing,
            labels: HashMap::new(),
            consequences: Consequences::default(),
            skipping: false,
            loaded: HashSet::new(),
        };
        // The block itself tells how many records the end of the script leaves out.
        let _ = state.block(&block);
        Ok(())
    }
}

impl State<'_, '_> {
    fn block(&mut self, block: &Block<'_>) -> Flow {
        for (at, directive) in block.iter().enumerate() {
            if let Err(ended) = self.directive(directive) {
                let left = count(&block[at + 1..]);
                if left > 0 {
                    self.run.sink.skipped(&ended.0, left);
                }
                return Err(ended);
            }
        }
        Ok(())
    }

    fn directive(&mut self, directive: &Directive<'_>) -> Flow {
        match self.conditions(&directive.conditions) {
            Ok(true) => {}
            Ok(false) => {
                self.skip("condition", directive);
                return Ok(());
            }
            Err(reason) => {
                self.skip(&reason, directive);
                return Ok(());
            }
        }
        let line = directive.line;
        match &directive.action {
            Action::Other("mode", words) => {
                match words.first() {
                    Some(&"skip") => self.skipping = true,
                    Some(&"unskip") => self.skipping = false,
                    _ => {}
                }
                Ok(())
            }
            _ if self.skipping => {
                self.skip("mode skip", directive);
                Ok(())
            }
            Action::Statement { expect, connection, sql } => {
                self.statement(line, *expect, connection, sql);
                Ok(())
            }
            Action::Query(query) => {
                self.query(line, query);
                Ok(())
            }
            Action::Loop { variables, values, body } => self.turns(variables, values, body),
            Action::Other(name, words) => self.other(name, words),
        }
    }

    fn skip(&mut self, reason: &str, directive: &Directive<'_>) {
        let records = count(std::slice::from_ref(directive));
        if records > 0 {
            self.run.sink.skipped(reason, records);
        }
    }

    fn conditions(&self, conditions: &[Condition<'_>]) -> Result<bool, String> {
        let mut all = true;
        for Condition { only, words } in conditions {
            let holds = if words.contains(['=', '<', '>']) {
                self.variables.holds(words)?
            } else {
                words.eq_ignore_ascii_case(self.run.engine)
            };
            all &= holds == *only;
        }
        Ok(all)
    }

    fn turns(&mut self, names: &str, values: &LoopValues<'_>, body: &Block<'_>) -> Flow {
        let turns = match self.variables.turns(values) {
            Ok(turns) => turns,
            Err(reason) => {
                self.run.sink.skipped(&reason, count(body));
                return Ok(());
            }
        };
        let names: Vec<&str> = names.split(',').collect();
        let mark = self.variables.mark();
        for turn in turns {
            if let [name] = names.as_slice() {
                self.variables.push(name, &turn);
            } else {
                let parts = turn.split(',').chain(std::iter::repeat(""));
                names.iter().zip(parts).for_each(|(name, value)| self.variables.push(name, value));
            }
            let flow = self.block(body);
            self.variables.reset(mark);
            flow?;
        }
        Ok(())
    }

    fn other(&mut self, name: &str, words: &[&str]) -> Flow {
        let word = words.first().map(|it| self.variables.substitute(it).into_owned());
        let word = word.unwrap_or_default();
        match name {
            "halt" => Err(Ended("halt".to_owned())),
            "require" if MET.contains(&word.as_str()) => Ok(()),
            "require" => Err(Ended(format!("require {word}"))),
            "require-env" => match std::env::var(&word) {
                Ok(value) if words.get(1).is_none_or(|it| **it == *value) => {
                    self.variables.push(&word, &value);
                    Ok(())
                }
                _ => Err(Ended("require-env".to_owned())),
            },
            "test-env" => {
                let default = words.get(1..).unwrap_or_default().join(" ");
                let value = std::env::var(&word).unwrap_or(default);
                self.variables.push(&word, &value);
                Ok(())
            }
            "include" => self.include(&word),
            "load" => self.load(&word),
            // What the other system would find again in its file is lost here.
            "restart" if self.loaded.iter().all(String::is_empty) => self.renew(),
            "restart" => Err(Ended("restart of a database in a file".to_owned())),
            "control" => {
                match words {
                    ["sortmode", "rowsort"] => self.sort = Sort::Rows,
                    ["sortmode", "valuesort"] => self.sort = Sort::Values,
                    ["sortmode", "nosort"] => self.sort = Sort::Nothing,
                    _ => {}
                }
                Ok(())
            }
            "reset" => {
                words.get(1).map(|label| self.labels.remove(*label));
                Ok(())
            }
            known if WITHOUT_EFFECT.contains(&known) => Ok(()),
            unknown => Err(Ended(format!("directive {unknown}"))),
        }
    }

    fn include(&mut self, path: &str) -> Flow {
        let failed = |what: String| Ended(format!("include: {what}"));
        let text = std::fs::read_to_string(PathBuf::from(path));
        let text = text.map_err(|error| failed(error.to_string()))?;
        let block = parse(&text).map_err(failed)?;
        self.block(&block)
    }

    fn load(&mut self, path: &str) -> Flow {
        let name = if path == ":memory:" { "" } else { path };
        let fresh = self.loaded.insert(name.to_owned()) || name.is_empty();
        if !fresh || PathBuf::from(name).exists() {
            return Err(Ended("load of a database in a file".to_owned()));
        }
        self.renew()
    }

    fn renew(&mut self) -> Flow {
        self.consequences.clear();
        self.run.sessions.renew().map_err(|error| Ended(format!("no database: {error}")))
    }

    /// Announces a record; false if it must not run.
    fn begin(&mut self, line: usize, sql: &str) -> bool {
        self.run.sink.begin(line);
        if !self.run.deadly.contains(&line) {
            return true;
        }
        self.finding(Kind::Died, line, "the process ended".to_owned(), sql, String::new(), "");
        self.consequences.failed(sql);
        false
    }

    fn statement(&mut self, line: usize, expect: Expect, connection: &str, sql: &str) {
        let sql = self.variables.substitute(sql);
        if self.run.flavour == Flavour::DuckDb && expect != Expect::Error {
            if duckdb_inside::is_about(&sql) {
                return self.run.sink.skipped("a switch inside of DuckDB", 1);
            }
            if duckdb_inside::is_look(&sql, &[], false) {
                return self.run.sink.skipped("a look inside of DuckDB", 1);
            }
        }
        if !self.begin(line, &sql) {
            return;
        }
        let pattern = expect == Expect::Error && self.run.flavour != Flavour::DuckDb;
        let connection = if pattern { "" } else { connection };
        let result = self.run.sessions.execute(connection, &sql);
        match (expect, result) {
            (_, Err(error)) if error.state == SqlState::INTERNAL => {
                self.failed(line, &sql, &error, "");
            }
            (Expect::Either, _) | (Expect::Error, Err(_)) => self.run.sink.right(),
            (Expect::Success, Ok(_)) => {
                self.consequences.ran(&sql);
                self.run.sink.right();
            }
            (Expect::Success, Err(error)) => self.failed(line, &sql, &error, ""),
            (Expect::Error, Ok(answer)) => {
                let after = self.consequences.touch_rows(&sql);
                let kind = if after { Kind::WrongAfter } else { Kind::Accepted };
                let verb = sql.split_whitespace().next().unwrap_or_default().to_uppercase();
                let ours = answer.map(|it| it.tag).unwrap_or_default();
                self.finding(kind, line, format!("{verb} should fail"), &sql, ours, "an error");
                self.consequences.failed(&sql);
            }
        }
    }

    fn query(&mut self, line: usize, query: &Query<'_>) {
        let sql = self.variables.substitute(query.sql);
        let flavour = self.run.flavour;
        let expected: Option<Vec<_>> = (query.expected.as_ref())
            .map(|it| it.iter().map(|line| self.variables.substitute(line)).collect());
        let expected: Option<Vec<&str>> =
            expected.as_ref().map(|it| it.iter().map(AsRef::as_ref).collect());
        let lines = expected.as_deref().unwrap_or_default();
        if flavour == Flavour::DuckDb && duckdb_inside::is_look(&sql, lines, query.label.is_some())
        {
            return self.run.sink.skipped("a look inside of DuckDB", 1);
        }
        if !self.begin(line, &sql) {
            return;
        }
        let answer = match self.run.sessions.execute(query.connection, &sql) {
            Ok(answer) => answer,
            Err(error) => {
                let wanted = expected.unwrap_or_default().join("\n");
                return self.failed(line, &sql, &error, &wanted);
            }
        };
        self.consequences.ran(&sql);
        let mut rows = answer.map_or_else(none, |it| given(&it, flavour, query.types));
        let sort = query.sort.unwrap_or(self.sort);
        let ordered = || sql.to_lowercase().contains("order by");
        // DuckDB's scripts leave empty what another query of the label says.
        let by_label = flavour == Flavour::DuckDb && query.label.is_some();
        let same = match &expected {
            Some(lines) if !(by_label && lines.is_empty()) => {
                compare(&mut rows, lines, query.types, sort, flavour, &ordered)
            }
            _ => {
                super::compare::sort_values(&mut rows.values, sort, rows.columns.max(1));
                Ok(())
            }
        };
        let same = same.and_then(|()| self.label(query.label, &rows));
        match same {
            Ok(()) => self.run.sink.right(),
            Err(what) => {
                let after = self.consequences.touch_rows(&sql);
                let kind = if after { Kind::WrongAfter } else { Kind::Wrong };
                let wanted = expected.unwrap_or_default().join("\n");
                let ours = shown(&rows);
                self.finding(kind, line, what.to_owned(), &sql, ours, &wanted);
            }
        }
    }

    /// Whether queries of a label gave the same so far.
    fn label(&mut self, label: Option<&str>, rows: &Rows) -> Result<(), &'static str> {
        let Some(label) = label else { return Ok(()) };
        let hash = hash(&rows.values);
        let first = self.labels.entry(label.to_owned()).or_insert_with(|| hash.clone());
        if *first == hash { Ok(()) } else { Err("other rows than the label's first query") }
    }

    fn failed(&mut self, line: usize, sql: &str, error: &SqlError, wanted: &str) {
        let after = self.consequences.touch(sql);
        let kind = match error.state {
            SqlState::INTERNAL => Kind::Internal,
            SqlState::QUERY_CANCELED => Kind::Timeout,
            _ if after => Kind::RefusedAfter,
            _ => Kind::Refused,
        };
        let cause = format!("{} {}", error.state.0, blank(&error.message));
        self.finding(kind, line, cause, sql, error.to_string(), wanted);
        self.consequences.failed(sql);
    }

    fn finding(
        &mut self,
        kind: Kind,
        line: usize,
        cause: String,
        sql: &str,
        ours: String,
        wanted: &str,
    ) {
        let (sql, expected) = (sql.to_owned(), wanted.to_owned());
        self.run.sink.finding(Finding { kind, line, cause, sql, ours, expected });
    }
}

fn none() -> Rows {
    Rows { columns: 0, values: Vec::new() }
}

/// The rows of an answer; in DuckDB's flavour a statement that changes rows gives their number.
fn given(answer: &Answer, flavour: Flavour, types: &str) -> Rows {
    let rows = rows(answer, flavour, types);
    if rows.columns > 0 || flavour != Flavour::DuckDb {
        return rows;
    }
    let changed = answer.tag.rsplit(' ').next().filter(|it| it.parse::<u64>().is_ok());
    changed.map_or(rows, |it| Rows { columns: 1, values: vec![it.to_owned()] })
}

fn shown(rows: &Rows) -> String {
    let lines: Vec<String> =
        rows.values.chunks(rows.columns.max(1)).take(50).map(|row| row.join("\t")).collect();
    lines.join("\n")
}

/// Records of directives, those in loops once.
fn count(directives: &[Directive<'_>]) -> usize {
    let of = |directive: &Directive<'_>| match &directive.action {
        Action::Statement { .. } | Action::Query(_) => 1,
        Action::Loop { body, .. } => count(body),
        Action::Other(..) => 0,
    };
    directives.iter().map(of).sum()
}
