//! What a statement costs whose work is next to nothing: SELECT 1, and a row by its key from a table of any size, planned
//! anew, planned before, and prepared. And an index against a scan, over how many rows match.
//!
//! `fixed_costs [rows]`; the median of many runs each.

use std::time::Instant;

use nodewise::{Database, DatabaseOptions, Session, SqlResult, Value};

fn median(runs: usize, mut body: impl FnMut(usize) -> SqlResult<()>) -> SqlResult<f64> {
    let mut times = Vec::with_capacity(runs);
    for run in 0..runs {
        let start = Instant::now();
        body(run)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[runs / 2])
}

fn fill(session: &mut Session, rows: i64) -> SqlResult<()> {
    let ten = "(VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9))";
    session.execute(&format!(
        "CREATE TABLE ten AS SELECT column1 AS n FROM {ten};
         CREATE TABLE thousand AS SELECT a.n * 100 + b.n * 10 + c.n AS n FROM ten a, ten b, ten c;
         CREATE TABLE t (id BIGINT, grp INTEGER, name TEXT, price DECIMAL(12,2))"
    ))?;
    session.execute(&format!(
        "INSERT INTO t SELECT a.n * 1000000 + b.n * 1000 + c.n, (c.n * 7919 + b.n * 31) % 100000,
         'name ' || (b.n % 500), c.n / 8.0
         FROM thousand a, thousand b, thousand c
         WHERE a.n * 1000000 + b.n * 1000 + c.n < {rows} AND a.n <= {rows} / 1000000"
    ))?;
    Ok(())
}

fn main() -> SqlResult<()> {
    let rows = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(6_000_000_i64);
    let machine = hardware_linux::open();
    let database = Database::open(machine, DatabaseOptions::default())?;
    let mut session = database.session();
    fill(&mut session, rows)?;
    let start = Instant::now();
    session.execute("CREATE UNIQUE INDEX t_id ON t (id)")?;
    println!("index on {rows} keys {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    session.execute("CREATE INDEX t_grp ON t (grp)")?;

    let one = median(2000, |_| session.query("SELECT 1").map(drop))?;
    println!("SELECT 1, text known        {one:8.1} us");
    let one = median(500, |run| session.query(&format!("SELECT {run}")).map(drop))?;
    println!("SELECT n, planned anew      {one:8.1} us");
    let key = |run: usize| (run as i64 * 7_919_993) % rows;
    let lookup = median(500, |run| {
        let sql = format!("SELECT name, price FROM t WHERE id = {}", key(run));
        session.query(&sql).map(drop)
    })?;
    println!("row by key, planned anew    {lookup:8.1} us");
    let prepared = session.prepare("SELECT name, price FROM t WHERE id = $1")?;
    let lookup = median(20_000, |run| {
        let answer = session.execute_prepared(&prepared, &[Value::Integer(key(run))])?;
        assert_eq!(answer.rows(), 1);
        Ok(())
    })?;
    println!("row by key, prepared        {lookup:8.1} us");

    println!("\nmatches     index us    scan us");
    let by_index =
        session.prepare("SELECT sum(price), min(id) FROM t WHERE grp >= $1 AND grp < $2")?;
    session.execute("CREATE TABLE u AS SELECT * FROM t")?;
    let plain =
        session.prepare("SELECT sum(price), min(id) FROM u WHERE grp >= $1 AND grp < $2")?;
    for width in [1, 10, 50, 100, 200, 400, 700, 1000, 2000, 4000] {
        let values = [Value::Integer(50_000), Value::Integer(50_000 + width)];
        let answer = session.execute_prepared(&by_index, &values)?;
        let source = answer.profile.pipelines[0].source.clone();
        let a = median(30, |_| session.execute_prepared(&by_index, &values).map(drop))?;
        let b = median(30, |_| session.execute_prepared(&plain, &values).map(drop))?;
        println!("{:8} {a:11.0} {b:10.0}   {source}", width * rows / 100_000);
    }
    Ok(())
}
