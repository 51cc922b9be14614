//! What the nodes did during a run, by the views that anybody can ask.

use nodewise::text::Cells;
use nodewise::{Session, SqlResult};
use stdx::Nanos;

/// The views' counters at a moment.
pub(super) struct Counted {
    /// Of each node: number, workers, their busy time, morsels, morsels stolen.
    workers: Vec<[f64; 5]>,
    /// Bytes read on their own node, and all.
    bytes: [f64; 2],
}

/// What the nodes did between two moments.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NodeLoads {
    /// The share of the time that the workers of each node were inside tasks, in order of node.
    pub busy: Vec<f64>,
    /// The share of the bytes of columns that scans read on their own node; `None` when nothing was read.
    pub local: Option<f64>,
    /// The share of the morsels that ran away from their node.
    pub stolen: f64,
}

impl Counted {
    pub(super) fn now(session: &mut Session) -> SqlResult<Self> {
        let workers = "SELECT node, count(*), sum(busy_ns), sum(morsels), sum(stolen) \
            FROM nodewise.workers GROUP BY node ORDER BY node";
        let bytes = "SELECT sum(CASE WHEN running_node = memory_node THEN bytes ELSE 0 END), \
            sum(bytes) FROM nodewise.traffic WHERE item = 'columns'";
        let bytes = numbers::<2>(session, bytes)?.first().copied().unwrap_or_default();
        Ok(Self { workers: numbers(session, workers)?, bytes })
    }

    pub(super) fn since(&self, before: &Self, span: Nanos) -> NodeLoads {
        let pairs = || self.workers.iter().zip(&before.workers);
        let busy = pairs().map(|(now, then)| (now[2] - then[2]) / (span.0.max(1) as f64 * now[1]));
        let of = |column: usize| pairs().map(|(now, then)| now[column] - then[column]).sum::<f64>();
        let [local, all] = [0, 1].map(|it| self.bytes[it] - before.bytes[it]);
        NodeLoads {
            busy: busy.collect(),
            local: (all > 0.0).then_some(local / all),
            stolen: of(4) / of(3).max(1.0),
        }
    }
}

/// The rows of a query whose columns are all numbers.
fn numbers<const COLUMNS: usize>(
    session: &mut Session,
    sql: &str,
) -> SqlResult<Vec<[f64; COLUMNS]>> {
    let answer = session.query(sql)?;
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let cells: Vec<Cells> = batch.columns().iter().map(Cells::new).collect();
        let number = |column: usize, row| {
            let text = cells.get(column).and_then(|it| it.text(row));
            text.and_then(|it| it.parse().ok()).unwrap_or(0.0)
        };
        rows.extend((0..batch.num_rows()).map(|row| std::array::from_fn(|it| number(it, row))));
    }
    Ok(rows)
}
