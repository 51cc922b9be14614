//! What a statement costs whose work is next to nothing: planned anew, planned before, prepared.

use nodewise::{Session, SqlResult, Value};
use stdx::Nanos;

/// The median time of a statement.
#[derive(Clone, Debug)]
pub struct FixedCost {
    /// Which.
    pub name: &'static str,
    /// Its median.
    pub median: Nanos,
    /// Its fastest run.
    pub least: Nanos,
}

/// Makes a table of `rows` rows with a key, and measures each kind of statement `runs` times.
pub fn measure(session: &mut Session, rows: usize, runs: usize) -> SqlResult<Vec<FixedCost>> {
    let thousands = (rows / 1000).max(1);
    session.execute(&format!(
        "CREATE TABLE ten AS SELECT column1 AS n
           FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS it;
         CREATE TABLE thousand AS SELECT a.n * 100 + b.n * 10 + c.n AS n FROM ten a, ten b, ten c;
         CREATE TABLE t AS
           SELECT (a.n * 1000 + b.n) * CAST(1000 AS BIGINT) + c.n AS id, c.n / 8.0 AS price
           FROM ten a, thousand b, thousand c WHERE a.n * 1000 + b.n < {thousands};
         CREATE UNIQUE INDEX t_id ON t (id)"
    ))?;
    let rows = thousands as u64 * 1000;
    let key = |run: usize| run as u64 * 7_919_993 % rows;
    let by_key = "SELECT price FROM t WHERE id = ";
    let prepared = session.prepare(&format!("{by_key}$1"))?;
    session.execute("SET plan_cache = off")?;
    let mut costs = vec![
        median("SELECT 1, planned each time", session, runs, |session, _| {
            session.query("SELECT 1").map(drop)
        })?,
        median("row by key, planned each time", session, runs, |session, run| {
            session.query(&format!("{by_key}{}", key(run))).map(drop)
        })?,
    ];
    session.execute("SET plan_cache = on")?;
    costs.push(median("SELECT 1, planned before", session, runs, |session, _| {
        session.query("SELECT 1").map(drop)
    })?);
    costs.push(median("row by key, prepared", session, runs, |session, run| {
        let value = Value::Integer(i64::try_from(key(run)).unwrap_or(0));
        session.execute_prepared(&prepared, &[value]).map(drop)
    })?);
    Ok(costs)
}

fn median(
    name: &'static str,
    session: &mut Session,
    runs: usize,
    mut body: impl FnMut(&mut Session, usize) -> SqlResult<()>,
) -> SqlResult<FixedCost> {
    let machine = session.database().machine().clone();
    let mut times = Vec::with_capacity(runs.max(1));
    for run in 0..runs.max(1) {
        let started = machine.now();
        body(session, run)?;
        times.push(machine.now() - started);
    }
    times.sort_unstable();
    Ok(FixedCost { name, median: times[times.len() / 2], least: times[0] })
}

#[cfg(test)]
mod tests {
    use hardware::samples;
    use nodewise::{Database, DatabaseOptions};
    use simulator::SimulatedMachine;

    use super::*;

    #[test]
    fn each_kind_of_statement_is_measured() {
        let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let database = Database::open(machine, DatabaseOptions::default()).unwrap();
        let costs = measure(&mut database.session(), 3000, 3).unwrap();
        assert_eq!(costs.len(), 4);
        assert!(costs.iter().all(|it| it.least.0 > 0 && it.least <= it.median));
    }
}
