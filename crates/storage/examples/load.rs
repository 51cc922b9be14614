//! Loads Parquet files given as arguments on two threads, and prints time, encodings and bytes.

use std::path::Path;
use std::time::Instant;

use hardware::{Machine, samples};
use memory::Allocator;
use simulator::SimulatedMachine;
use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicUsize, Ordering};
use storage::{BuildContext, Parallel, load_parquet};
use types::{SqlError, SqlResult};

struct Threads(usize);

impl Parallel for Threads {
    fn run(&self, tasks: usize, body: &(dyn Fn(usize) -> SqlResult<()> + Sync)) -> SqlResult<()> {
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<SqlError>));
        std::thread::scope(|scope| {
            for _ in 0..self.0 {
                scope.spawn(|| {
                    loop {
                        let task = next.fetch_add(1, Ordering::Relaxed);
                        if task >= tasks || failed.lock().is_some() {
                            break;
                        }
                        if let Err(error) = body(task) {
                            *failed.lock() = Some(error);
                        }
                    }
                });
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    fn width(&self) -> usize {
        self.0
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = SimulatedMachine::new(samples::laptop(), 1);
    let allocator = Allocator::new(machine.clone());
    let context = BuildContext { parallel: &Threads(2), ..BuildContext::serial(&allocator) };
    let mut tables = Vec::new();
    let all = Instant::now();
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let table = load_parquet(Path::new(&path), &path, None, &context)?;
        println!(
            "{path}: {} rows in {:?}, {} bytes",
            table.rows(),
            start.elapsed(),
            table.memory_bytes()
        );
        for column in &table.columns {
            let facts = &column.statistics;
            println!(
                "  {:18} {:15} {:10} {:2} bits {:>11} bytes, {} distinct{}{}",
                column.name,
                column.data_type.to_string(),
                column.encoding_name(),
                column.bits(),
                column.memory_bytes(),
                facts.distinct,
                if facts.distinct_exact { "" } else { " (about)" },
                if facts.sorted { ", sorted" } else { "" },
            );
        }
        tables.push(table);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|it| it.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!("all in {:?}; {peak}; simulated {:?}", all.elapsed(), machine.resident_bytes());
    Ok(())
}
