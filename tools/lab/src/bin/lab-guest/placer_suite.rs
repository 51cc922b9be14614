//! The placer on a real kernel: a hot column that lies on one node spreads over all of them while clients query it.

use std::time::{Duration, Instant};

use lab::topology::GuestMachine;
use nodewise::{Database, Session};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, thread};

use crate::checks::{Checks, Verdict, same};
use crate::clients::Expected;
use crate::kernel_view::KernelView;
use crate::tables;

const CLIENTS: usize = 8;
/// Rows of the table: twelve blocks, three for each of four nodes.
const THOUSANDS: usize = 780;
/// How long the column may take to spread: the bar on the modelled machines is half of it, and an emulated one shares two
/// processors with all its clients.
const PATIENCE: Duration = Duration::from_secs(60);
/// The share of the hottest node in what is read, in percent: at least so much before, at most so much after.
const BEFORE_MIN: u64 = 80;
const AFTER_MAX: u64 = 35;

/// Runs the suite.
pub fn run(checks: &mut Checks, machine: &GuestMachine) {
    let nodes = machine.nodes.len();
    checks.run("placer::a_hot_column_spreads_under_eight_clients", || spreads(nodes));
}

/// A table of one column that is read, and one that lies on another node.
fn table(session: &mut Session) -> Verdict {
    for statement in [
        "SET default_placement = rr".to_owned(),
        "CREATE TABLE z AS SELECT * FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d)"
            .to_owned(),
        "CREATE TABLE k AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n FROM z a, z b, z c"
            .to_owned(),
        format!(
            "CREATE TABLE t AS SELECT (l.n + 1000 * h.n) * 7919 % 1000003 AS hot, l.n AS cold \
             FROM k l, k h WHERE h.n < {THOUSANDS}"
        ),
    ] {
        tables::execute(session, &statement)?;
    }
    Ok(())
}

fn spreads(nodes: usize) -> Verdict {
    let (kernel, database) = (KernelView::open()?, tables::database()?);
    let mut session = database.session();
    table(&mut session)?;
    let queries =
        [10, 500_000, 999_000].map(|it| format!("SELECT count(*) FROM t WHERE hot < {it}"));
    let expected = Expected::of(&mut session, &queries)?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let client = || -> Verdict {
            let mut session = database.session();
            tables::execute(&mut session, "SET strategy = bound")?;
            while !stop.load(Ordering::Acquire) {
                expected.check(&mut session)?;
            }
            Ok(())
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        let watched = watch(&database, &kernel, nodes);
        stop.store(true, Ordering::Release);
        for client in clients {
            client.join().map_err(|_| "a client panicked".to_owned())??;
        }
        watched
    })?;
    tables::verify(&database, &kernel).map(|_| ())
}

/// Lets the placer work until the column has spread.
fn watch(database: &Arc<Database>, kernel: &KernelView, nodes: usize) -> Verdict {
    let mut session = database.session();
    let before = hottest(&mut session)?;
    same(format!("the hottest node is read for {before} %"), before >= BEFORE_MIN, true)?;
    tables::execute(&mut session, "SET placer = on")?;
    let begun = Instant::now();
    loop {
        let after = hottest(&mut session)?;
        if after <= AFTER_MAX {
            println!(
                "hot column: {before} % -> {after} % in {:.0} s",
                begun.elapsed().as_secs_f64()
            );
            break;
        }
        if begun.elapsed() > PATIENCE {
            let log = tables::rows(&mut session, "SELECT * FROM nodewise.placer_log")?;
            return Err(format!("still {after} % on one node; {}", log.join("\n")));
        }
    }
    // What the counters say of places is what the kernel has.
    for (name, found) in tables::pages_of_columns(database, kernel, 8 * nodes)? {
        if name.starts_with("hot ") && name.ends_with(" iv") {
            let most = found.iter().max().copied().unwrap_or(0) * 100;
            let all: usize = found.iter().sum();
            let is_spread = most <= all * AFTER_MAX as usize;
            return same(format!("pages of {name}: {found:?}"), is_spread, true);
        }
    }
    Err("the column has no index vector".to_owned())
}

/// Of what is read of the column in three seconds, the share of the node that gives most, in percent.
fn hottest(session: &mut Session) -> Result<u64, String> {
    let sql = "SELECT sum(bytes_read) FROM nodewise.item_traffic WHERE table_name = 't' \
               AND column_name = 'hot' GROUP BY memory_node ORDER BY memory_node";
    let mut read = || -> Result<Vec<u64>, String> {
        Ok(tables::rows(session, sql)?.iter().filter_map(|it| it.parse().ok()).collect())
    };
    let before = read()?;
    thread::sleep(Duration::from_secs(3));
    let after = read()?;
    // A node that was read for the first time comes between those that were: then it was a long time ago.
    if before.len() != after.len() {
        return Ok(100);
    }
    let new: Vec<u64> = after.iter().zip(&before).map(|it| it.0 - it.1).collect();
    let all: u64 = new.iter().sum();
    Ok(new.into_iter().max().unwrap_or(0) * 100 / all.max(1))
}
