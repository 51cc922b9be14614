//! Scripts of our own in every flavour: each directive, and each way in which a record can end.

use hardware::samples;
use nodewise::{Database, DatabaseOptions};
use simulator::SimulatedMachine;
use sqltest::corpus::{Finding, Flavour, Kind, Run, Sessions, Sink};
use std::collections::HashSet;
use std::path::Path;

/// What a run told.
#[derive(Default)]
struct Told {
    begun: Vec<usize>,
    right: usize,
    findings: Vec<Finding>,
    skipped: Vec<(String, usize)>,
}

impl Sink for Told {
    fn begin(&mut self, line: usize) {
        self.begun.push(line);
    }

    fn right(&mut self) {
        self.right += 1;
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn skipped(&mut self, reason: &str, records: usize) {
        self.skipped.push((reason.to_owned(), records));
    }
}

impl Told {
    fn kinds(&self) -> Vec<(usize, Kind)> {
        self.findings.iter().map(|it| (it.line, it.kind)).collect()
    }

    fn skipped(&self) -> Vec<(&str, usize)> {
        self.skipped.iter().map(|it| (it.0.as_str(), it.1)).collect()
    }
}

fn run(text: &str, flavour: Flavour, deadly: &[usize]) -> Told {
    let open = || {
        let machine = SimulatedMachine::new(samples::by_name("laptop").expect("a sample"), 1);
        Ok(Database::open(machine, DatabaseOptions::default())?.session())
    };
    let sessions = Sessions::open(open, Vec::new()).expect("the database opens");
    let mut told = Told::default();
    let deadly: HashSet<usize> = deadly.iter().copied().collect();
    let surroundings = Vec::new();
    let sink = &mut told;
    let mut run = Run { sessions, sink, engine: "postgresql", flavour, deadly, surroundings };
    run.script(text).expect("the script is sound");
    drop(run);
    told
}

fn run_file(name: &str, deadly: &[usize]) -> Told {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let text = std::fs::read_to_string(&path).expect("the file is there");
    run(&text, Flavour::of(&path, &text), deadly)
}

#[test]
fn sqlites_flavour() {
    let told = run_file("sqlite.test", &[]);
    let wanted = [
        (56, Kind::Wrong),
        (61, Kind::Wrong),
        (66, Kind::Accepted),
        (69, Kind::Refused),
        (72, Kind::Refused),
        (75, Kind::RefusedAfter),
    ];
    assert_eq!(told.kinds(), wanted, "{:#?}", told.findings);
    assert_eq!(told.right, 8);
    assert_eq!(told.skipped(), [("condition", 1), ("condition", 1), ("halt", 1)]);
    let of = |at: usize| &told.findings[at];
    assert_eq!(of(0).cause, "other rows than the label's first query");
    assert_eq!((of(1).ours.as_str(), of(1).expected.as_str()), ("3", "4"));
    assert_eq!(of(2).cause, "SELECT should fail");
    assert!(of(3).cause.starts_with("42601 ") && of(3).sql == "CREATE NONSENSE");
}

#[test]
fn duckdbs_flavour() {
    let told = run_file("duckdb.test", &[]);
    assert_eq!(told.kinds(), [(56, Kind::Wrong)], "{:#?}", told.findings);
    assert_eq!(told.findings[0].sql, "SELECT CAST(5 AS SMALLINT) < 5, 0.5");
    assert_eq!(told.right, 17);
    let conditions: Vec<_> = told.skipped().into_iter().filter(|it| it.0 != "condition").collect();
    assert_eq!(conditions, [("mode skip", 1), ("require-env", 1)]);
}

#[test]
fn postgres_flavour() {
    let told = run_file("postgres.slt", &[]);
    assert_eq!(told.kinds(), []);
    assert_eq!(told.right, 5);
    assert_eq!(told.skipped(), [("directive system", 1)]);
}

#[test]
fn a_record_that_ended_the_process_is_left_out_and_named() {
    let told = run_file("postgres.slt", &[4]);
    assert_eq!(told.kinds(), [(4, Kind::Died)]);
    assert_eq!(told.right, 4);
    assert_eq!(told.begun[0], 4);
}

#[test]
fn what_cannot_be_met_ends_the_script_by_name() {
    for (text, reason) in [
        ("require tpch\n\nstatement ok\nSELECT 1\n", "require tpch"),
        ("loop i 0 1\nunzip x\n\nstatement ok\nSELECT 1\n\nendloop\n", "directive unzip"),
        ("foreach x <odd>\nstatement ok\nSELECT 1\n\nendloop\n", "loop over <odd>"),
        ("load a.db\nrestart\nstatement ok\nSELECT 1\n", "restart of a database in a file"),
        ("load a.db\nload a.db\nstatement ok\nSELECT 1\n", "load of a database in a file"),
        ("onlyif j=1\nstatement ok\nSELECT 1\n", "condition on j, which is no variable"),
    ] {
        let told = run(text, Flavour::DuckDb, &[]);
        assert_eq!(told.skipped(), [(reason, 1)], "{text}");
        assert_eq!(told.right, 0);
    }
    let told = run("include no/such/file\nstatement ok\nSELECT 1\n", Flavour::DuckDb, &[]);
    assert!(told.skipped[0].0.starts_with("include: "));
}

#[test]
fn wrong_rows_behind_a_refused_statement_are_its_consequence() {
    let text = "statement ok\nCREATE TABLE t(a INT)\n\nstatement ok\nINSERT INTO t FROM NONSENSE\n\n\
        query I\nSELECT count(*) FROM t\n----\n1\n\nquery I\nSELECT 1\n----\n2\n";
    let told = run(text, Flavour::Sqlite, &[]);
    assert_eq!(told.kinds(), [(4, Kind::Refused), (7, Kind::WrongAfter), (12, Kind::Wrong)]);
}
