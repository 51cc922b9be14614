//! `nodewise bench scheduling`: the scheduler for real, beside what P-HYPER published.

use std::io::{Write, stdout};

use bench::scheduling::{cost, interference, morsels, streams, trace};
use bench::tpch::default_folder;
use hardware::{Machine, MachineError};
use nodewise::{Database, Session};
use stdx::sync::Arc;

use crate::arguments::{Experiment, SchedulingArguments};
use crate::failure::Failure;
use crate::opening::{open_database, open_session};
use crate::progress;

/// Streams of figure 12.
const STREAMS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Queries of a round of streams: enough for 64 streams to have some each.
const STREAM_QUERIES: usize = 64 * 11;

/// Runs the experiments.
pub fn run(options: &SchedulingArguments) -> Result<bool, Failure> {
    let chosen = |it| options.only.is_empty() || options.only.contains(&it);
    if chosen(Experiment::Cost) {
        let machine: Arc<dyn Machine> = crate::switches::open_machine()?;
        print_cost(&machine, options)?;
    }
    if options.only == [Experiment::Cost] {
        return Ok(true);
    }
    let database = open_database(&options.pool)?;
    let mut session = load(&database, options)?;
    if chosen(Experiment::Morsels) {
        print_morsels(&mut session, options.runs)?;
    }
    if chosen(Experiment::Interference) {
        print_interference(&mut session, options.runs)?;
    }
    if chosen(Experiment::Streams) {
        print_streams(&database)?;
    }
    if chosen(Experiment::Trace) {
        let trace::TraceCost { off, on } = trace::measure(&mut session, options.runs)?;
        let more = 100.0 * (on.0 as f64 / off.0.max(1) as f64 - 1.0);
        writeln!(
            stdout(),
            "Trace: geometric mean of the 22 queries {off} without, {on} with ({more:+.1} %)"
        )?;
    }
    Ok(true)
}

fn load(database: &Arc<Database>, options: &SchedulingArguments) -> Result<Session, Failure> {
    let scale = options.data.scale;
    let folder = options.data.data.clone().unwrap_or_else(|| default_folder(scale));
    let progress = progress::for_people(database.machine());
    bench::tpch::provide_data(database, &folder, scale, &*progress)?;
    let mut session = open_session(database);
    bench::tpch::load(&mut session, &folder)?;
    Ok(session)
}

fn print_cost(machine: &Arc<dyn Machine>, options: &SchedulingArguments) -> Result<(), Failure> {
    let failed = |error: MachineError| Failure::Other(error.to_string());
    let cost = cost::measure(machine, options.pool.threads).map_err(failed)?;
    let mut out = stdout().lock();
    writeln!(out, "An empty task, submitted, run and awaited: {:8.0} ns", cost.task)?;
    writeln!(out, "  one of a hundred under way:              {:8.0} ns", cost.task_of_many)?;
    writeln!(out, "  on the calling thread:                   {:8.0} ns", cost.inline)?;
    writeln!(out, "An empty morsel, cut and run:              {:8.0} ns", cost.morsel)?;
    Ok(())
}

fn print_morsels(session: &mut Session, runs: usize) -> Result<(), Failure> {
    let sizes = morsels::sweep(session, runs)?;
    let least = sizes.iter().map(|it| it.time.0).min().unwrap_or(1).max(1) as f64;
    let mut out = stdout().lock();
    writeln!(out, "Time by rows of a morsel (P-HYPER figure 6: flat from 10,000 on):")?;
    for it in sizes {
        let ratio = it.time.0 as f64 / least;
        writeln!(
            out,
            "{:>9} {:>7} morsels {:>12} {ratio:6.2} x",
            it.size,
            it.morsels,
            it.time.to_string()
        )?;
    }
    Ok(())
}

fn print_interference(session: &mut Session, runs: usize) -> Result<(), Failure> {
    let [dynamic, fixed] = interference::compare(session, &[], runs)?;
    let mut out = stdout().lock();
    writeln!(out, "A busy thread on one core, geometric mean of the 22 queries (P-HYPER 5.4):")?;
    for (what, loss, published) in [("morsels", dynamic, 4.7), ("static division", fixed, 36.8)] {
        writeln!(
            out,
            "{what:>16}: {} alone, {} disturbed, {:.1} % slower (published: {published} %)",
            loss.quiet,
            loss.disturbed,
            loss.percent()
        )?;
    }
    Ok(())
}

fn print_streams(database: &Arc<Database>) -> Result<(), Failure> {
    let mut out = stdout().lock();
    writeln!(
        out,
        "Throughput by streams, each of random permutations of the 22 queries (P-HYPER figure 12: flat):"
    )?;
    let mut most: f64 = 0.0;
    streams::run(database, 2, 44)?;
    for count in STREAMS {
        let done = streams::run(database, count, STREAM_QUERIES)?;
        most = most.max(done.per_second());
        let (rate, share) = (done.per_second(), 100.0 * done.per_second() / most);
        writeln!(out, "{count:>4} streams {rate:10.1} queries/s {share:6.1} % of the best so far")?;
    }
    Ok(())
}
