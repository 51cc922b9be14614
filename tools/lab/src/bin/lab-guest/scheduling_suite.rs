//! Bound work stays on its node, by the kernel's own record of where each morsel began and ended (P-HANA 5.1).
//!
//! The trace holds what `getcpu` said at both ends of a morsel; which node a CPU belongs to is read from sysfs here. The
//! table lies on one node, so that the workers of all others have nothing to do but steal: with soft affinities or none
//! they do, which shows that the check can fail.

use std::collections::BTreeMap;
use std::fs;

use lab::topology::GuestMachine;
use nodewise::Database;
use stdx::sync::{Arc, thread};

use crate::checks::{Checks, Verdict};
use crate::tables::{self, execute, rows};

/// Sessions that query at once, and how often each does.
const SESSIONS: usize = 3;
const ROUNDS: usize = 3;
const QUERIES: [&str; 3] = [
    "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_quantity < 24",
    "SELECT l_returnflag, count(*), avg(l_quantity) FROM lineitem GROUP BY l_returnflag",
    "SELECT count(*) FROM lineitem WHERE l_comment LIKE '%special%'",
];
/// Where morsels with a home ran.
const MORSELS: &str = "SELECT home, cpu_start, cpu_end FROM nodewise.trace WHERE NOT finishing";

/// What was counted of a strategy.
#[derive(Debug, Default)]
struct Counted {
    /// Morsels with a home.
    morsels: usize,
    /// Those of them that began or ended on a CPU of another node.
    away: usize,
}

/// Runs the suite.
pub fn run(checks: &mut Checks, _: &GuestMachine) {
    checks.run("scheduling::bound_never_leaves_its_node", bound);
    checks.run("scheduling::the_check_sees_what_others_move", control);
}

fn bound() -> Verdict {
    let found = count("bound", "home")?;
    println!("lab: bound: {found:?}");
    match found {
        Counted { morsels: 0, .. } => Err("no morsel had a home".to_owned()),
        Counted { away: 0, .. } => Ok(()),
        Counted { morsels, away } => Err(format!("{away} of {morsels} morsels ran away from home")),
    }
}

fn control() -> Verdict {
    let stolen = count("'target'", "home")?;
    // Without affinities no morsel has a home: then the node of the table stands for it.
    let moved = count("os", "0 AS home")?;
    println!("lab: target: {stolen:?}, os: {moved:?}");
    if stolen.away + moved.away == 0 {
        Err("nothing ran away from home".to_owned())
    } else {
        Ok(())
    }
}

/// Queries a table on node 0 from several sessions, and counts.
fn count(strategy: &str, home: &str) -> Result<Counted, String> {
    let nodes = nodes_of_cpus()?;
    let database = tables::database()?;
    let mut session = database.session();
    let path = format!("{}/lineitem.parquet", tables::DATA);
    execute(
        &mut session,
        &format!("CREATE TABLE lineitem NUMA NODE (0) AS SELECT * FROM '{path}'"),
    )?;
    query(&database, strategy)?;
    let mut counted = Counted::default();
    for line in rows(&mut session, &MORSELS.replace("home", home))? {
        let numbers: Vec<Option<u32>> = line.split('|').map(|it| it.parse().ok()).collect();
        let [Some(home), Some(first), Some(last)] = numbers[..] else { continue };
        let node = |cpu| nodes.get(&cpu).copied().ok_or_else(|| format!("no node has cpu {cpu}"));
        counted.morsels += 1;
        counted.away += usize::from(node(first)? != home || node(last)? != home);
    }
    Ok(counted)
}

fn query(database: &Arc<Database>, strategy: &str) -> Verdict {
    let last = database.machine().topology().nodes.len() - 1;
    let client = || -> Verdict {
        let mut session = database.session();
        execute(&mut session, &format!("SET strategy = {strategy}"))?;
        // As many morsels as can be, and so small a table not kept on its node: there is something to steal.
        execute(&mut session, "SET morsel_rows = 1024")?;
        execute(&mut session, &format!("SET nodes = '0-{last}'"))?;
        execute(&mut session, "SET trace = on")?;
        for _ in 0..ROUNDS {
            for sql in QUERIES {
                execute(&mut session, sql)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..SESSIONS).map(|_| scope.spawn(client)).collect();
        let mut ended = clients.into_iter().map(|it| it.join());
        ended.try_for_each(|it| it.map_err(|_| "a client panicked".to_owned())?)
    })
}

/// The node of each CPU, as the kernel lists them.
fn nodes_of_cpus() -> Result<BTreeMap<u32, u32>, String> {
    let mut nodes = BTreeMap::new();
    let folder = "/sys/devices/system/node";
    let entries = fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(node) = name.strip_prefix("node").and_then(|it| it.parse().ok()) else { continue };
        let list = fs::read_to_string(entry.path().join("cpulist"));
        let list = list.map_err(|error| format!("{name}/cpulist: {error}"))?;
        nodes.extend(cpus(&list).into_iter().map(|cpu| (cpu, node)));
    }
    Ok(nodes)
}

/// `0-1,4` as numbers.
fn cpus(list: &str) -> Vec<u32> {
    let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(cpus("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(cpus("\n"), [0_u32; 0]);
    }
}
