//! What the trace costs: the same queries with and without it, in turns.

use nodewise::tpch::queries;
use nodewise::{Session, SqlResult};
use stdx::Nanos;

use super::{Best, timed};

/// The geometric means of the 22 queries.
#[derive(Clone, Copy, Debug)]
pub struct TraceCost {
    /// Without the trace.
    pub off: Nanos,
    /// With it.
    pub on: Nanos,
}

/// Runs TPC-H, which must be loaded, `runs` times each way.
pub fn measure(session: &mut Session, runs: usize) -> SqlResult<TraceCost> {
    let mut best = Best::new(2, queries().len());
    for round in 0..=runs {
        for (variant, word) in ["off", "on"].iter().enumerate() {
            session.execute(&format!("SET trace = {word}"))?;
            for (at, (_, sql)) in queries().iter().enumerate() {
                let time = timed(session, sql)?;
                if round > 0 {
                    best.add(variant, at, time);
                }
            }
        }
    }
    session.execute("SET trace = off")?;
    session.database().clear_trace();
    Ok(TraceCost { off: best.mean(0), on: best.mean(1) })
}
