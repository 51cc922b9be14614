//! Loads a Parquet file on a modelled machine of four sockets and prints how long it takes to place the table in each
//! way: what a move costs beside a physical partitioning (P-HANA 6.2.3). The model moves pages at no cost, so segments
//! that are large enough to be moved are counted at the price of a copy, too.

use std::path::Path;
use std::time::{Duration, Instant};

use hardware::samples;
use memory::Allocator;
use simulator::SimulatedMachine;
use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicUsize, Ordering};
use storage::{BuildContext, Parallel, Partitioning, PlaceTarget, Placement, Table, load_parquet};
use types::{ColumnId, SqlError, SqlResult};

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
    let path = std::env::args().nth(1).ok_or("which Parquet file?")?;
    let allocator = Allocator::new(SimulatedMachine::new(samples::four_sockets(), 1));
    let context = BuildContext { parallel: &Threads(2), ..BuildContext::serial(&allocator) };
    let start = Instant::now();
    let table = load_parquet(Path::new(&path), "t", None, &context)?;
    println!(
        "{} rows, {} bytes, loaded in {:?}",
        table.rows(),
        table.memory_bytes(),
        start.elapsed()
    );
    let round = table.placed(&PlaceTarget::Table, &Placement::RoundRobin(vec![]), &context)?;
    for placement in [
        Placement::IndexVector(vec![]),
        Placement::RoundRobin(vec![]),
        Placement::Interleaved(vec![]),
    ] {
        let start = Instant::now();
        let placed = round.placed(&PlaceTarget::Table, &placement, &context)?;
        let time = start.elapsed();
        let moved = copy_time(&placed);
        println!("{:>12}: {time:?}, and {moved:?} to copy what was moved", placement.name());
    }
    for partitioning in [
        Partitioning::RoundRobin { parts: 4 },
        Partitioning::Hash { columns: vec![ColumnId(0)], parts: 4 },
    ] {
        let start = Instant::now();
        let parted = round.repartitioned(&partitioning, &[], &context)?;
        println!("{:>12}: {:?}, {} parts", "pp", start.elapsed(), parted.parts().len());
    }
    Ok(())
}

/// The time to copy all segments that have pages of their own.
fn copy_time(table: &Table) -> Duration {
    let start = Instant::now();
    for component in table.components().iter().filter(|it| it.segment.is_movable()) {
        std::hint::black_box(component.segment.as_bytes().to_vec());
    }
    start.elapsed()
}
