//! Seeded schedules with faults, one level up: real queries over tiny tables on modelled machines, placed, cut, moved, ended
//! and scheduled by chance. Every answer is right, or the statement ended for a reason that was asked for.
//!
//! `NODEWISE_SCHEDULES=10000` says how many; `NODEWISE_SEED=n` runs one of them again and tells what it did.

#[path = "../../../scheduler/tests/schedules/machines.rs"]
mod machines;
mod oracle;
#[path = "../../../scheduler/tests/schedules/seeds.rs"]
mod seeds;

use nodewise::{Database, DatabaseOptions, Session};
use oracle::Tables;
use simulator::SimulatedMachine;
use stdx::Prng;
use stdx::sync::atomic::{AtomicU64, Ordering};

/// Schedules when nobody says how many.
const SCHEDULES: u64 = 300;

/// A change of how statements run, or of where the tables are.
fn change(prng: &mut Prng, nodes: u64) -> String {
    let mut pick = |words: &[&str]| words[prng.below(words.len() as u64) as usize].to_owned();
    let words = match pick(&["set", "set", "set", "table"]).as_str() {
        "set" => pick(&[
            "SET strategy = os",
            "SET strategy = 'target'",
            "SET strategy = bound",
            "SET strategy = adaptive",
            "SET stealing = none",
            "SET stealing = neighbours",
            "SET stealing = all",
            "SET binding = opportunistic",
            "SET binding = DEFAULT",
            "SET bulk = 3",
            "SET morsel_rows = 1024",
            "SET morsel_rows = static",
            "SET morsel_rows = DEFAULT",
            "SET scan_sharing = on",
            "SET scan_sharing = on",
            "SET scan_sharing = auto",
            "SET workers = 2",
            "SET workers = DEFAULT",
            "SET nodes = '0-1'",
            "SET nodes = 'all'",
            "SET priority = 200",
            "SET trace = on",
            "SET statement_timeout = '20us'",
            "SET statement_timeout = 0",
            "SET statement_timeout = 0",
            "SET max_running_queries = 1",
        ]),
        _ => pick(&[
            "ALTER TABLE t NUMA NODE (%)",
            "ALTER TABLE t NUMA NODE SPLIT",
            "ALTER TABLE t PARTITION BY HASH (k) PARTITIONS 4",
            "ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 3",
            "ALTER TABLE t MERGE PARTITIONS",
        ]),
    };
    words.replace('%', &prng.below(nodes).to_string())
}

/// What may refuse a change: a node without memory or of another machine, nothing to merge, no time.
const REFUSED: [&str; 4] = ["53200", "22023", "42704", "57014"];

/// Runs the schedule of a seed; how many answers it gave.
fn run(seed: u64) -> Result<u64, String> {
    let prng = &mut Prng::new(seed);
    let tell = seeds::one_again();
    let model = machines::machine(prng);
    let workers = 1 + prng.below(model.topology.cpus.len().min(12) as u64) as usize;
    let faults = machines::faults(prng, &model.topology, workers);
    let nodes = model.topology.nodes.len() as u64;
    if tell {
        println!("{}, {workers} workers, {faults:?}", model.name);
    }
    let machine = SimulatedMachine::with_model(model, seed, faults);
    let options = DatabaseOptions { workers: Some(workers), ..DatabaseOptions::default() };
    let database = Database::open(machine, options).map_err(|it| it.to_string())?;
    let mut session = database.session();
    let default = ["auto", "rr", "ivp", "pp", "interleave", "os"][prng.below(6) as usize];
    let error = |it: nodewise::SqlError| it.to_string();
    session.execute(&format!("SET default_placement = {default}")).map_err(error)?;
    let tables = Tables::new(prng);
    for (name, batches) in tables.batches() {
        session.import(name, batches).map_err(error)?;
    }
    let mut answers = 0;
    for _ in 0..4 + prng.below(4) {
        let change = change(prng, nodes);
        let refused = session.execute(&change).err();
        if tell {
            println!("{change}: {refused:?}");
        }
        if let Some(error) = refused.filter(|it| !REFUSED.contains(&it.state.0)) {
            return Err(format!("{change}: {error}"));
        }
        answers += u64::from(ask(&mut session, &tables, prng, tell)?);
    }
    Ok(answers)
}

/// Asks a question; whether there was an answer, which was right then.
fn ask(
    session: &mut Session,
    tables: &Tables,
    prng: &mut Prng,
    tell: bool,
) -> Result<bool, String> {
    let question = tables.ask(prng);
    if tell {
        println!("{}", question.sql);
    }
    match session.query(&question.sql) {
        Ok(answer) => match question.differs(&answer) {
            Some(what) => Err(what),
            None => Ok(true),
        },
        Err(error) if error.state.0 == "57014" && error.message.contains("statement_timeout") => {
            Ok(false)
        }
        Err(error) => Err(format!("{}: {error}", question.sql)),
    }
}

#[test]
fn queries_answer_right_under_seeded_schedules_with_faults() {
    let answers = AtomicU64::new(0);
    let count = seeds::run_all(SCHEDULES, "-p nodewise --test query_schedules", |seed| {
        answers.fetch_add(run(seed)?, Ordering::Relaxed);
        Ok(())
    });
    let answers = answers.into_inner();
    assert!(count == 1 || answers > 2 * count, "most statements have the time they need");
    println!("{count} schedules, {answers} right answers");
}
