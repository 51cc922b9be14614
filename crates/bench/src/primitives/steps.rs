//! The primitives with a state, each as a query in which it is the step that matters.

use nodewise::{QueryProfile, Session, SqlError, SqlResult};
use stdx::Nanos;

use super::Measured;

/// A primitive: its name, the query, the kind of the step.
pub struct Case {
    /// What it is.
    pub name: &'static str,
    /// The query.
    pub sql: &'static str,
    /// The kind of its step, as profiles call it.
    pub kind: &'static str,
}

/// All of them. Table `f` has the rows; `d` has 100,000.
pub const CASES: [Case; 16] = [
    case("decode, two columns, all rows", "SELECT max(n + h) FROM f", "decode"),
    case(
        "gather, two columns, one row of 100",
        "SELECT max(n + h) FROM f WHERE h < 10000",
        "decode",
    ),
    case("compare two columns", "SELECT count(*) FROM f WHERE k < h", "compare"),
    case(
        "semi-join bitmap in the scan",
        "SELECT count(*) FROM f WHERE k IN (SELECT k FROM d WHERE v = 1)",
        "set",
    ),
    case("LIKE over a dictionary", "SELECT count(*) FROM f WHERE t LIKE '%4_7%'", "set"),
    case("LIKE over single texts", "SELECT count(*) FROM f WHERE u LIKE '%4_7%'", "condition"),
    case("join, array", "SELECT sum(d.v) FROM f JOIN d ON f.k = d.k", "probe"),
    case("join, hash table", "SELECT sum(d.v) FROM f JOIN d ON f.s = d.s", "probe"),
    case(
        "join, hash table of two keys",
        "SELECT sum(d.v) FROM f JOIN d ON f.s = d.s AND f.k = d.k",
        "probe",
    ),
    case("build of a hash table", "SELECT count(*) FROM d JOIN f ON d.s = f.s + f.k", "build"),
    case("groups, 4", "SELECT g, sum(h), count(*) FROM f GROUP BY g", "aggregate"),
    case("groups, 100,000 dense keys", "SELECT k, sum(h) FROM f GROUP BY k", "aggregate"),
    case("groups, clustered", "SELECT c, sum(h) FROM f GROUP BY c", "aggregate"),
    case("groups, 100,000 far keys", "SELECT s, sum(h) FROM f GROUP BY s", "aggregate"),
    case("distinct values", "SELECT count(DISTINCT k - g) FROM f", "aggregate"),
    case("sort, first 100,000", "SELECT h, n FROM f ORDER BY h, n LIMIT 100000", "sort"),
];

const fn case(name: &'static str, sql: &'static str, kind: &'static str) -> Case {
    Case { name, sql, kind }
}

/// Makes the tables, `f` with about so many rows: whole thousands, from 20 thousand on, with which every case has its step.
pub fn prepare(session: &mut Session, rows: usize) -> SqlResult<()> {
    let thousands = (rows / 1000).max(20);
    session.execute(&format!(
        "CREATE TABLE ten AS SELECT column1 AS n
           FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS it;
         CREATE TABLE thousand AS SELECT a.n * 100 + b.n * 10 + c.n AS n FROM ten a, ten b, ten c;
         CREATE TABLE numbers AS
           SELECT (a.n * 1000 + b.n) * CAST(1000 AS BIGINT) + c.n AS n
           FROM ten a, thousand b, thousand c WHERE a.n * 1000 + b.n < {thousands};
         CREATE TABLE f AS
           SELECT n, n * 7919 % 100000 AS k, n * 7919 % 100000 * 1000003 AS s,
                  n * 31 % 4 AS g, n / 4 AS c, n * 7927 % 1000003 AS h,
                  'text ' || (n * 7919 % 5000) AS t, 'row ' || (n * 7919 % 100000) || '/' || n AS u
           FROM numbers;
         CREATE TABLE d AS
           SELECT CAST(a.n * 1000 + b.n AS BIGINT) AS k,
                  (a.n * 1000 + b.n) * CAST(1000003 AS BIGINT) AS s, b.n % 3 AS v
           FROM thousand a, thousand b WHERE a.n < 100"
    ))?;
    Ok(())
}

/// Runs a case `runs` times and takes the fastest of its step; with the end of the sink where the step is a sink.
pub fn measure(session: &mut Session, case: &Case, runs: usize) -> SqlResult<Measured> {
    session.execute("SET profile = on")?;
    let mut best: Option<Measured> = None;
    for _ in 0..runs.max(1) {
        let answer = session.query(case.sql)?;
        let found = step_of(case, &answer.profile).ok_or_else(|| {
            SqlError::internal(format!("\"{}\" ran without a step {}", case.name, case.kind))
        })?;
        if best.as_ref().is_none_or(|it| found.time < it.time) {
            best = Some(found);
        }
    }
    session.execute("SET profile = off")?;
    best.ok_or_else(|| SqlError::internal("a case runs once at least"))
}

/// The step of a kind with the most rows.
fn step_of(case: &Case, profile: &QueryProfile) -> Option<Measured> {
    let is_sink = matches!(case.kind, "build" | "aggregate" | "sort");
    let steps = profile.pipelines.iter().flat_map(|pipeline| {
        let finish = pipeline.steps.last().map_or(Nanos(0), |it| it.time);
        pipeline.steps.iter().map(move |it| (it, if is_sink { finish } else { Nanos(0) }))
    });
    let (step, finish) = steps.filter(|it| it.0.kind == case.kind).max_by_key(|it| it.0.rows)?;
    let (name, rows) = (case.name.to_owned(), step.rows);
    Some(Measured { name, rows, time: step.time + finish, bytes: step.bytes })
}

/// Loading a column of text: the time of the whole statement, on all workers.
pub fn dictionary(session: &mut Session, runs: usize) -> SqlResult<Measured> {
    let machine = session.database().machine().clone();
    let table = session.database().tables().into_iter().find(|it| it.name == "f");
    let rows = table.map_or(0, |it| it.rows());
    let mut best: Option<Nanos> = None;
    for _ in 0..runs.max(1) {
        let started = machine.now();
        session.execute("CREATE TABLE loaded AS SELECT t FROM f")?;
        let time = machine.now() - started;
        best = Some(best.map_or(time, |it| it.min(time)));
        session.execute("DROP TABLE loaded")?;
    }
    let name = "dictionary built, 5,000 texts".to_owned();
    Ok(Measured { name, rows, time: best.unwrap_or_default(), bytes: 0 })
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use nodewise::{Database, DatabaseOptions};
    use simulator::SimulatedMachine;

    use super::*;

    #[test]
    fn every_case_has_its_step_with_all_rows() {
        let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let mut session = database.session();
        prepare(&mut session, 20_000).unwrap();
        for case in &CASES {
            let found = measure(&mut session, case, 1).unwrap();
            let wanted = match case.kind {
                "build" => 1,
                _ if case.name.starts_with("gather") => 100,
                _ => 20_000,
            };
            assert!(found.rows >= wanted, "{}: {} rows", case.name, found.rows);
        }
        assert_eq!(dictionary(&mut session, 1).unwrap().rows, 20_000);
    }
}
