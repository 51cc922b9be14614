//! `nodewise bench`: measures, prints, and writes the times for other programs.

use std::io::{Write, stdout};
use std::path::Path;

use bench::clickbench;
use bench::memory::ReadBench;
use bench::page_map;
use bench::record::{Judge, QueryRecord, Verdict, geometric_mean, run_rounds};
use bench::refresh::{Pair, RefreshReport};
use bench::report::{Facts, run_json};
use bench::suite::MadeSuite;
use bench::tpch::{default_folder, judge, select};
use bench::workload::{Loaded, load_tables, provide, queries_in, tables_in};
use hardware::{Machine, MachineError};
use nodewise::profile::{Scale, by_kind, steps_table};
use nodewise::{Database, Session};
use stdx::Bytes;
use stdx::sync::Arc;

use crate::arguments::{
    ClickbenchArguments, MemoryArguments, RoundArguments, SuiteArguments, TpchArguments,
    WorkloadArguments,
};
use crate::commands::results::{millis, report_faults, verdict, write_file};
use crate::failure::Failure;
use crate::opening::{open_database, open_session};
use crate::progress;
use nodewise::box_table::BoxTable;

/// The 22 queries of TPC-H, in rounds.
pub fn tpch(options: &TpchArguments) -> Result<bool, Failure> {
    let mut records = select(&options.queries).map_err(|number| no_query(number, 22))?;
    let scale = options.data.scale;
    let rounds = &options.rounds;
    let database = open_database(&rounds.pool)?;
    let folder = options.data.data.clone().unwrap_or_else(|| default_folder(scale));
    let progress = progress::for_people(database.machine());
    bench::tpch::provide_data(&database, &folder, scale, &*progress)?;
    let mut session = open_session(&database);
    let loaded = bench::tpch::load(&mut session, &folder)?;
    let suite = Suite {
        title: format!("TPC-H at scale {scale}"),
        scale: Some(scale),
        loaded,
        judge: &judge(scale),
        answers: false,
    };
    let mut json = suite.run(&mut session, &mut records, rounds)?;
    let mut all: Vec<QueryRecord> = records.clone();
    if let Some(pairs) = options.refresh {
        let report =
            RefreshReport::run(&mut session, scale, pairs, &records, rounds.runs, &*progress)?;
        print_refresh(&report, &records)?;
        json["refresh"] = report.json(&records);
        all.extend(report.between.into_iter().chain(report.after));
    }
    write_json(rounds.json.as_deref(), &json)?;
    Ok(told(&all))
}

/// The queries of a benchmark whose data are made at any scale, in rounds.
pub fn made_suite(made: &MadeSuite, options: &SuiteArguments) -> Result<bool, Failure> {
    let selected = made.select(&options.queries);
    let mut records = selected.map_err(|number| no_query(number, made.queries.len()))?;
    let scale = options.scale;
    let database = open_database(&options.rounds.pool)?;
    let folder = options.data.clone().unwrap_or_else(|| made.default_folder(scale));
    let progress = progress::for_people(database.machine());
    provide(&database, &folder, &(made.data)(scale)?, &*progress)?;
    let mut session = open_session(&database);
    let loaded = made.load(&mut session, &folder)?;
    let suite = Suite {
        title: format!("{} at scale {scale}", made.title),
        scale: Some(scale),
        loaded,
        judge: &made.judge(scale),
        answers: true,
    };
    let json = suite.run(&mut session, &mut records, &options.rounds)?;
    write_json(options.rounds.json.as_deref(), &json)?;
    Ok(told(&records))
}

/// The 43 queries over the table of web hits, in rounds.
pub fn clickbench(options: &ClickbenchArguments) -> Result<bool, Failure> {
    let selected = clickbench::select(&options.queries);
    let mut records = selected.map_err(|number| no_query(number, clickbench::QUERIES.len()))?;
    let rows = options.rows as u64;
    let database = open_database(&options.rounds.pool)?;
    let folder = options.data.clone().unwrap_or_else(|| clickbench::default_folder(rows));
    let progress = progress::for_people(database.machine());
    provide(&database, &folder, &clickbench::data(rows)?, &*progress)?;
    let mut session = open_session(&database);
    let loaded = clickbench::load(&mut session, &folder)?;
    let suite = Suite {
        title: format!("ClickBench's queries over {rows} rows"),
        scale: None,
        loaded,
        judge: &|_, _| Verdict::Unchecked,
        answers: true,
    };
    let json = suite.run(&mut session, &mut records, &options.rounds)?;
    write_json(options.rounds.json.as_deref(), &json)?;
    Ok(told(&records))
}

/// The queries of a folder over the Parquet files of another, in rounds.
pub fn workload(options: &WorkloadArguments) -> Result<bool, Failure> {
    let mut records = queries_in(&options.queries)?;
    let tables = tables_in(&options.data)?;
    let database = open_database(&options.rounds.pool)?;
    let mut session = open_session(&database);
    let loaded = load_tables(&mut session, &tables)?;
    let suite = Suite {
        title: "The workload".into(),
        scale: None,
        loaded,
        judge: &|_, _| Verdict::Unchecked,
        answers: true,
    };
    let json = suite.run(&mut session, &mut records, &options.rounds)?;
    write_json(options.rounds.json.as_deref(), &json)?;
    Ok(told(&records))
}

fn no_query(number: usize, last: usize) -> Failure {
    Failure::Arguments(format!("there is no query {number}; they go from 1 to {last}"))
}

/// Tells what was wrong; whether nothing was.
fn told(records: &[QueryRecord]) -> bool {
    report_faults(records);
    records.iter().all(|it| matches!(it.verdict, Verdict::Right | Verdict::Unchecked))
}

/// The queries of a benchmark over tables that are loaded.
struct Suite<'a> {
    /// What is run: `TPC-H at scale 1`.
    title: String,
    scale: Option<f64>,
    loaded: Loaded,
    judge: Judge<'a>,
    /// Whether the report holds the answers.
    answers: bool,
}

impl Suite<'_> {
    /// Runs the rounds and prints what they took; the report as JSON.
    fn run(
        self,
        session: &mut Session,
        records: &mut [QueryRecord],
        options: &RoundArguments,
    ) -> Result<serde_json::Value, Failure> {
        let database = session.database().clone();
        let progress = progress::for_people(database.machine());
        // A plan made in an earlier round costs nothing in the next, which no other engine is granted.
        let plans = if options.plan_cache { "on" } else { "off" };
        session.execute(&format!("SET plan_cache = {plans}"))?;
        if let Some(limit) = &options.memory_limit {
            session.execute(&format!("SET memory_limit = '{}'", limit.replace('\'', "''")))?;
        }
        run_rounds(session, records, self.judge, options.runs, &*progress);
        let facts = Facts {
            title: self.title,
            scale: self.scale,
            threads: database.workers(),
            plan_cache: options.plan_cache,
            loaded: self.loaded,
            peak: database.machine().resident_bytes().0,
        };
        print_times(&database, &facts, records)?;
        if options.profile {
            print_profile(session, records, options.runs)?;
        }
        Ok(run_json(&facts, records, self.answers))
    }
}

/// Times of the refresh functions, and what they did to the times of the queries.
fn print_refresh(report: &RefreshReport, before: &[QueryRecord]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    for pair in &report.pairs {
        let (rf1, rf2) = (millis(Some(pair.rf1)), millis(Some(pair.rf2)));
        let Pair { stream, inserted, deleted, .. } = pair;
        writeln!(
            out,
            "Refresh stream {stream}: RF1 {rf1} ms for {inserted} new rows, RF2 {rf2} ms for {deleted} old ones"
        )?;
    }
    let ratio = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), |it| format!("{it:.2}"));
    let [between, after] = report.ratios(before).map(ratio);
    writeln!(
        out,
        "Queries took {between} times as long between RF1 and RF2 as before, and {after} times after all streams"
    )?;
    Ok(())
}

fn write_json(file: Option<&Path>, json: &serde_json::Value) -> Result<(), Failure> {
    file.map_or(Ok(()), |file| write_file(file, &format!("{json:#}\n")))
}

fn print_times(database: &Database, facts: &Facts, records: &[QueryRecord]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let names = ["query", "min ms", "median ms", "max ms", "planning ms", "rows", "answer"];
    let columns = names.iter().map(|it| (*it, !matches!(*it, "query" | "answer")));
    let mut table = BoxTable::new(columns);
    let rows: Vec<[String; 7]> = (records.iter())
        .map(|it| {
            let planning = it.planning.iter().min().copied();
            [
                it.name.clone(),
                millis(it.best()),
                millis(it.median()),
                millis(it.worst()),
                millis(planning),
                it.rows.to_string(),
                verdict(&it.verdict).to_owned(),
            ]
        })
        .collect();
    rows.iter().for_each(|row| table.measure(row));
    table.write_head(&mut out)?;
    for row in &rows {
        table.write_row(&mut out, row)?;
    }
    table.write_foot(&mut out)?;
    let Facts { title, threads, plan_cache, loaded, peak, .. } = facts;
    let planning = |it: &QueryRecord| it.planning.iter().min().copied();
    if let (Some(time), Some(planning)) = (
        geometric_mean(records.iter().map(QueryRecord::best)),
        geometric_mean(records.iter().map(planning)),
    ) {
        let again = if *plan_cache { "planned once" } else { "planned in each run" };
        let (time, planning) = (millis(Some(time)), millis(Some(planning)));
        writeln!(
            out,
            "Geometric mean of the fastest runs: {time} ms, of planning: {planning} ms ({again})"
        )?;
    }
    writeln!(
        out,
        "{title}, {threads} workers on {}: loaded in {} to {}, at most {peak} of memory",
        database.machine().topology().name,
        loaded.time,
        loaded.bytes,
    )?;
    Ok(())
}

/// Where the time of each query goes, and of all of them.
fn print_profile(
    session: &mut Session,
    records: &[QueryRecord],
    runs: usize,
) -> Result<(), Failure> {
    let database = session.database().clone();
    let mut out = stdout().lock();
    let mut profiles = Vec::new();
    for record in records {
        let (lines, profile) = record.profile(session, runs)?;
        writeln!(out, "\n{}", record.name)?;
        lines.iter().try_for_each(|it| writeln!(out, "  {it}"))?;
        profiles.push(profile);
    }
    let workers = database.workers();
    let mut scale = Scale::of(&database);
    if scale.bandwidth.is_none() {
        const BYTES: Bytes = Bytes(256 << 20);
        let failed = |error: MachineError| Failure::Other(error.to_string());
        let bench = ReadBench::new(database.machine().clone(), BYTES).map_err(failed)?;
        let speed = bench.measure(workers, 5).map_err(failed)?.gigabytes_per_second();
        scale = scale.with_bandwidth(speed, workers);
    }
    writeln!(out, "\nAll queries by kind of step; {}", scale.note())?;
    write!(out, "{}", steps_table(&by_kind(&profiles, workers, &scale)))?;
    Ok(())
}

/// The read bandwidth by number of threads.
pub fn memory(options: &MemoryArguments) -> Result<bool, Failure> {
    const PASSES: usize = 5;
    let machine: Arc<dyn Machine> = crate::switches::open_machine()?;
    let failed = |error: MachineError| Failure::Other(error.to_string());
    let bytes = Bytes((options.mib as u64) << 20);
    let bench = ReadBench::new(machine.clone(), bytes).map_err(failed)?;
    let mut out = stdout().lock();
    writeln!(out, "Sum over {bytes} on {}, best of {PASSES} passes:", machine.topology().name)?;
    let most = options.pool.threads.unwrap_or(machine.topology().cpus.len());
    let mut alone = None;
    for threads in bench.thread_counts(most) {
        let speed = bench.measure(threads, PASSES).map_err(failed)?.gigabytes_per_second();
        let alone = *alone.get_or_insert(speed);
        let plural = if threads == 1 { " " } else { "s" };
        writeln!(out, "{threads:>4} thread{plural} {speed:8.2} GB/s  {:6.2} x", speed / alone)?;
    }
    let lookup = page_map::lookup_ns(&*machine);
    writeln!(out, "Page-socket map of {} ranges: {lookup:.0} ns a lookup", page_map::RANGES)?;
    Ok(true)
}
