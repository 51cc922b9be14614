//! The time of a simple query by the size of its morsels (P-HYPER figure 6): large enough to pay for scheduling, small
//! enough to divide the work.

use nodewise::{Session, SqlResult};
use stdx::Nanos;

use super::{Best, timed};

/// `select min(a) from R`, over an expression so that no statistics answer it.
const SQL: &str = "SELECT min(l_extendedprice * l_quantity) FROM lineitem";

/// Rows of a morsel, and the settings' word for it.
const SIZES: [&str; 8] =
    ["1024", "4096", "16384", "65536", "262144", "1048576", "4194304", "static"];

/// One size of morsels.
#[derive(Clone, Debug)]
pub struct SizeTime {
    /// Rows of a morsel; `static` is one for each worker.
    pub size: &'static str,
    /// Morsels that were run.
    pub morsels: u64,
    /// The least time.
    pub time: Nanos,
}

/// Runs the query with each size in turn, `runs` times. TPC-H must be loaded.
pub fn sweep(session: &mut Session, runs: usize) -> SqlResult<Vec<SizeTime>> {
    let mut best = Best::new(SIZES.len(), 1);
    let mut morsels = [0; SIZES.len()];
    for _ in 0..=runs {
        for (at, size) in SIZES.iter().enumerate() {
            session.execute(&format!("SET morsel_rows = '{size}'"))?;
            let answer = session.query(SQL)?;
            morsels[at] = answer.profile.pipelines.first().map_or(0, |it| it.morsels);
            best.add(at, 0, timed(session, SQL)?);
        }
    }
    session.execute("SET morsel_rows = DEFAULT")?;
    let row = |(at, size): (usize, &&'static str)| SizeTime {
        size,
        morsels: morsels[at],
        time: best.mean(at),
    };
    Ok(SIZES.iter().enumerate().map(row).collect())
}
