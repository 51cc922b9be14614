//! Nanoseconds per row and thread of groupings: few groups with many sums, and many groups in and out of order.
//!
//! `cargo run --release --example aggregate_speed`; one thread in the place of two,
//! best of five. An argument names the cases that run.

use std::time::Instant;

use execution::aggregate::{AggregateSink, AggregateSpec};
use execution::expression::{Compiled, NoOutside};
use execution::{
    BATCH_ROWS, Batch, ColumnShape, Layout, Representation, Sink, State, Team, Values, Vector,
    WorkContext,
};
use plan::{AggregateFunction, Expr};
use stdx::Prng;
use stdx::sync::Arc;
use types::{DataType, SqlResult};

const ROWS: usize = 6_000_000;
const SLOTS: usize = 2;
/// Batches that one slot takes in a row, as if they were a morsel.
const MORSEL: usize = 16;

struct Alone;

impl Team for Alone {
    fn workspace(&self) -> Arc<memory::Workspace> {
        memory::Workspace::heap()
    }

    fn slots(&self) -> usize {
        SLOTS
    }

    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        (0..tasks).try_for_each(|task| body(task, &context(0)))
    }
}

fn context(slot: usize) -> WorkContext {
    let workspace = memory::Workspace::heap();
    WorkContext {
        slot,
        node: hardware::NodeId(0),
        cancel: scheduler::CancelToken::new(),
        workspace,
        accesses: stdx::sync::Arc::default(),
    }
}

/// A column of numbers below `bound`.
fn column(bound: u64, mut number: impl FnMut(usize) -> u64) -> (ColumnShape, Vec<Vector>) {
    let shape = ColumnShape {
        data_type: DataType::Decimal { precision: 18, scale: 2 },
        representation: Representation::I64,
        bounds: Some((0, i128::from(bound) - 1)),
        nullable: false,
    };
    let vectors = (0..ROWS)
        .step_by(BATCH_ROWS)
        .map(|start| {
            let rows = start..ROWS.min(start + BATCH_ROWS);
            Vector::new(Values::I64(rows.map(|row| number(row) as i64).collect()))
        })
        .collect();
    (shape, vectors)
}

fn sink(layout: &Layout, keys: usize) -> AggregateSink {
    let compile = |place: usize| {
        let expr = Expr::column(place, layout[place].data_type);
        Compiled::new(&expr, layout, &NoOutside).expect("invariant: columns compile")
    };
    let spec = |argument: Option<usize>| AggregateSpec {
        function: argument.map_or(AggregateFunction::Count, |_| AggregateFunction::Sum),
        argument,
        rest: Vec::new(),
        distinct: false,
        order: Vec::new(),
        filter: None,
        data_type: argument
            .map_or(DataType::BigInt, |_| DataType::Decimal { precision: 38, scale: 2 }),
    };
    let arguments: Vec<Compiled> = (keys..layout.len()).map(compile).collect();
    let specs = (0..arguments.len()).map(Some).chain([None]).map(spec).collect();
    let keys = (0..keys).map(compile).collect();
    AggregateSink::new(keys, arguments, specs, SLOTS).expect("invariant: sums of numbers")
}

fn measure(name: &str, keys: usize, columns: Vec<(ColumnShape, Vec<Vector>)>) {
    if std::env::args().nth(1).is_some_and(|it| !name.contains(&it)) {
        return;
    }
    let (layout, vectors): (Layout, Vec<Vec<Vector>>) = columns.into_iter().unzip();
    let mut columns: Vec<_> = vectors.into_iter().map(|it| it.into_iter().map(Arc::new)).collect();
    let batches: Vec<Batch> = (0..ROWS)
        .step_by(BATCH_ROWS)
        .map(|start| Batch {
            rows: BATCH_ROWS.min(ROWS - start),
            columns: columns.iter_mut().filter_map(Iterator::next).collect(),
            sequence: start as u64,
        })
        .collect();
    let (mut best, mut groups) = ((f64::MAX, 0.0), 0);
    for _ in 0..5 {
        let sink = sink(&layout, keys);
        let start = Instant::now();
        for (number, batch) in batches.iter().enumerate() {
            // Few groups: batches that a scan has just made are in the cache.
            let batch = if keys > 1 { &batches[number % MORSEL] } else { batch };
            let slot = number / MORSEL % SLOTS;
            sink.consume(batch.clone(), &context(slot)).expect("invariant: no sum overflows");
        }
        let consumed = start.elapsed().as_secs_f64();
        let Ok(State::Rows(rows)) = sink.finish(&Alone) else { return };
        let all = start.elapsed().as_secs_f64();
        groups = rows.rows();
        if all < best.0 {
            best = (all, consumed);
        }
    }
    let each = |seconds: f64| seconds * 1e9 / ROWS as f64;
    println!(
        "{name:32} {:7.2} ns/row of it finish {:6.2}, {:6.1} ms, {groups} groups",
        each(best.0),
        each(best.0 - best.1),
        best.0 * 1e3
    );
}

fn main() {
    let mut prng = Prng::new(1);
    let mut below = |bound: u64| prng.below(bound);
    let mut q1 = vec![column(3, |_| below(3)), column(2, |row| u64::from(row % 3 == 0))];
    q1.extend(
        [100, 10_000_000, 11, 1_000_000_000, 100_000_000_000]
            .map(|bound| column(bound, |_| below(bound))),
    );
    measure("6 groups, 5 sums", 2, q1);
    for groups in [1_000, 100_000, 1_500_000] {
        let columns = vec![column(groups, |_| below(groups)), column(1000, |_| below(1000))];
        measure(&format!("{groups} groups, random"), 1, columns);
    }
    let clustered = column(6_000_000, |row| row as u64 / 4 * 4);
    measure("1500000 groups, clustered", 1, vec![clustered, column(1000, |_| below(1000))]);
    let sparse = column(1 << 40, |_| below(1_500_000) << 20);
    measure("1500000 groups, random, hashed", 1, vec![sparse, column(1000, |_| below(1000))]);
}
