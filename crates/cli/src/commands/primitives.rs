//! `nodewise bench primitives` and `nodewise bench fixed`.

use std::io::{Write, stdout};

use bench::fixed::measure as measure_fixed;
use bench::memory::ReadBench;
use bench::primitives::Measured;
use bench::primitives::packed::{Kernels, Level, PackedBench};
use bench::primitives::steps::{CASES, dictionary, measure, prepare};
use hardware::MachineError;
use stdx::Bytes;

use crate::arguments::{FixedArguments, PrimitivesArguments};
use crate::failure::Failure;
use crate::opening::{open_database, open_session};

/// Passes over memory for its bandwidth.
const PASSES: usize = 5;

/// How many times as many bytes all workers read together: what no shared cache holds a good part of.
const SHARED_TIMES: usize = 4;

/// Kernels by width and level, then the steps of queries.
pub fn primitives(options: &PrimitivesArguments) -> Result<bool, Failure> {
    let database = open_database(&options.pool)?;
    let machine = database.machine().clone();
    let failed = |error: MachineError| Failure::Other(error.to_string());
    let bytes = options.mib << 20;
    let large = bytes * SHARED_TIMES;
    let roof = ReadBench::new(machine.clone(), Bytes(large as u64)).map_err(failed)?;
    let alone = roof.measure(1, PASSES).map_err(failed)?.gigabytes_per_second();
    let workers = database.workers();
    let together = || -> Result<f64, Failure> {
        let speed = roof.measure(workers, PASSES).map_err(failed)?.gigabytes_per_second();
        Ok(speed / workers as f64)
    };
    let shared = together()?;
    let mut out = stdout().lock();
    writeln!(out, "On {}; figures are per worker", machine.topology().name)?;
    writeln!(out, "One thread reads {alone:.1} GB/s, each of {workers} {shared:.1} GB/s")?;
    writeln!(out, "{:36} {:>10} {:>8} {:>8} {:>6}", "", "M rows/s", "ns/row", "GB/s", "roof")?;
    let mut print = |it: &Measured, roof: f64| -> Result<(), Failure> {
        let speed = it.gigabytes_per_second();
        let cell = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
        writeln!(
            out,
            "{:36} {:>10.1} {:>8.3} {:>8} {:>6}",
            it.name,
            it.millions_per_second(),
            it.time.0 as f64 / it.rows.max(1) as f64,
            cell(speed.map(|it| format!("{it:.1}"))),
            cell(speed.map(|it| format!("{:.0}%", it / roof * 100.0))),
        )?;
        Ok(())
    };
    let packed = PackedBench::new(&machine, large, options.runs.max(PASSES)).map_err(failed)?;
    for bits in 1..=32 {
        // Others may use the memory, now more and now less: the roof is measured anew beside each.
        let roof = together()?;
        print(&packed.range(Kernels::active().level(), bits, workers), roof)?;
    }
    drop((packed, roof));
    let packed = PackedBench::new(&machine, bytes, options.runs).map_err(failed)?;
    for level in Level::available() {
        for bits in 1..=32 {
            print(&packed.range(level, bits, 1), alone)?;
        }
        for bits in 1..=32 {
            packed.set(level, bits).map_or(Ok(()), |it| print(&it, alone))?;
        }
        for bits in 1..=32 {
            print(&packed.decode(level, bits), alone)?;
        }
    }
    drop(packed);
    let mut session = open_session(&database);
    prepare(&mut session, options.rows)?;
    for case in &CASES {
        print(&measure(&mut session, case, options.runs)?, shared)?;
    }
    print(&dictionary(&mut session, options.runs)?, shared)?;
    Ok(true)
}

/// What statements cost that do next to nothing.
pub fn fixed(options: &FixedArguments) -> Result<bool, Failure> {
    let database = open_database(&options.pool)?;
    let mut session = open_session(&database);
    let costs = measure_fixed(&mut session, options.rows, options.runs)?;
    let mut out = stdout().lock();
    writeln!(out, "{:32} {:>10} {:>10}", "", "median us", "least us")?;
    for it in costs {
        let micros = |it: stdx::Nanos| it.0 as f64 / 1e3;
        let (median, least) = (micros(it.median), micros(it.least));
        writeln!(out, "{:32} {median:>10.1} {least:>10.1}", it.name)?;
    }
    Ok(true)
}
