//! `nodewise trace`: SQL under the trace, for the Perfetto viewer and as a picture (P-HYPER figure 13).

use std::path::{Path, PathBuf};

use hardware::Machine;
use nodewise::{Database, SqlResult, Trace};
use stdx::Nanos;
use stdx::sync::{Arc, thread};

use crate::arguments::TraceArguments;
use crate::failure::Failure;
use crate::opening::{open_database, open_session};
use crate::output::Format;
use crate::runner::Runner;

/// Runs, and writes the trace.
pub fn run(options: &TraceArguments) -> Result<bool, Failure> {
    let database = open_database(&options.pool)?;
    if let Some(setup) = &options.setup {
        Runner::new(open_session(&database), Format::Box, false).run_file(setup)?;
    }
    match options.stagger {
        Some(millis) => run_staggered(&database, &options.execute, Nanos(millis * 1_000_000))?,
        None => run_in_order(&database, options)?,
    }
    let trace = database.trace();
    for file in write(&trace, &options.output)? {
        eprintln!("{} morsels in {}", trace.len(), file.display());
    }
    Ok(true)
}

fn run_in_order(database: &Arc<Database>, options: &TraceArguments) -> Result<(), Failure> {
    let mut session = open_session(database);
    session.execute("SET trace = on")?;
    let mut runner = Runner::new(session, Format::Box, false);
    for text in &options.execute {
        runner.run_text(text)?;
    }
    if let Some(file) = &options.file {
        runner.run_file(file)?;
    }
    Ok(())
}

/// Each statement in a session of its own, begun one after the other without waiting; the answers are not shown.
fn run_staggered(database: &Arc<Database>, texts: &[String], pause: Nanos) -> Result<(), Failure> {
    let machine: &dyn Machine = &**database.machine();
    let outcomes: Vec<SqlResult<()>> = thread::scope(|scope| {
        let running: Vec<_> = texts
            .iter()
            .map(|text| {
                let running = scope.spawn(move || -> SqlResult<()> {
                    let mut session = database.session();
                    session.execute("SET trace = on")?;
                    session.execute(text).map(drop)
                });
                machine.sleep(pause);
                running
            })
            .collect();
        let panicked = || nodewise::SqlError::internal("a session panicked");
        running.into_iter().map(|it| it.join().unwrap_or_else(|_| Err(panicked()))).collect()
    });
    outcomes.into_iter().collect::<SqlResult<Vec<()>>>()?;
    Ok(())
}

/// Writes JSON and picture, or the picture alone; tells the files.
fn write(trace: &Trace, output: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = vec![(output.with_extension("svg"), trace.to_svg())];
    if output.extension().is_none_or(|it| it != "svg") {
        files.push((output.to_owned(), trace.to_chrome()));
    }
    let store = |(file, text): (PathBuf, String)| match std::fs::write(&file, text) {
        Ok(()) => Ok(file),
        Err(error) => Err(Failure::Other(format!("cannot write {}: {error}", file.display()))),
    };
    files.into_iter().map(store).collect()
}
