//! P-MONET's table 1 and figures 3 and 8 by counting: the lines that Q4, Q6, Q19 and the scan fetch from their own node and
//! from others, in one engine oblivious of nodes, in one over shards, and in an engine for each node.
//!
//! The tables are read into memory when an engine opens: the files of a guest are in its memory, on whichever node wrote them.

use std::path::PathBuf;

use crate::count::Phase;
use crate::{LabResult, failed};

const SCALE: &str = "0.02";
/// The configurations, as the benchmark calls them, in its order.
const MODES: [&str; 3] = ["NUMA_Obliv", "NUMA_Shard", "NUMA_Distr"];
const QUERIES: [&str; 4] = ["q04", "q06", "q19", "scan"];
/// How often each query is counted; its run with the median share of local lines is judged.
const RUNS: usize = 3;

/// The least share of local lines of Q6 and the scan in shards and with an engine for each node, in percent: 56 to 81 were
/// counted. The paper has 95.6 for Q6 of NUMA_Distr; tables as small as these leave much to what an engine fetches beside
/// them, which is where its program was loaded (`experiment q6` counts larger ones).
const LOCAL_PERCENT_MIN: f64 = 50.0;
/// The most in an engine that is oblivious: 14 to 22 were counted; the paper has 33.7.
const OBLIVIOUS_PERCENT_MAX: f64 = 40.0;

/// What was counted.
pub struct Counted {
    /// What the benchmark printed.
    pub text: String,
    /// For each configuration the phase of each query.
    pub modes: Vec<Vec<Phase>>,
}

/// Runs the experiment on four linked sockets.
pub fn run(nodewise: PathBuf) -> LabResult<Counted> {
    let script = script();
    let command = ["sh", "-c", &script];
    let (outcome, phases) =
        super::counted_by("4-mesh", nodewise, ("tpch", SCALE), &command, Vec::new())?;
    Ok(Counted { text: outcome.stdout, modes: sorted(phases)? })
}

fn script() -> String {
    format!(
        "nodewise bench monet m --scale {SCALE} --data tpch-{SCALE} --parts 4 --warm --loading resident \
         --count --runs {RUNS} --queries 4,6,19"
    )
}

/// The median run of each query, in each configuration.
fn sorted(phases: Vec<Phase>) -> LabResult<Vec<Vec<Phase>>> {
    let wanted = MODES.len() * QUERIES.len() * RUNS;
    if phases.len() != wanted {
        let why = format!("it counted {} phases and not {wanted}", phases.len());
        return Err(failed("the experiment", why));
    }
    let median = |runs: &[Phase]| {
        let mut runs = runs.to_vec();
        runs.sort_by(|a, b| a.local_percent().total_cmp(&b.local_percent()));
        runs.swap_remove(RUNS / 2)
    };
    let medians: Vec<Phase> = phases.chunks(RUNS).map(median).collect();
    Ok(medians.chunks(QUERIES.len()).map(<[Phase]>::to_vec).collect())
}

/// What was printed, and a line for each query.
pub fn table(counted: &Counted) -> String {
    let line = |name: &str, phase: &Phase| {
        let (local, remote, percent) = (phase.local(), phase.remote(), phase.local_percent());
        format!("{name:<26} {local:>11} {remote:>9} {percent:>8.1}\n")
    };
    let head = format!("{:<26} {:>11} {:>9} {:>8}\n", "", "lines local", "remote", "local %");
    let mut text = format!("{}\n{head}", counted.text);
    for (mode, phases) in MODES.iter().zip(&counted.modes) {
        for (query, phase) in QUERIES.iter().zip(phases) {
            text += &line(&format!("{mode}, {query}"), phase);
        }
    }
    text
}

/// The bars: the first that is not held.
pub fn judge(counted: &Counted) -> LabResult<()> {
    for (mode, phases) in MODES.iter().zip(&counted.modes) {
        for (query, phase) in QUERIES.iter().zip(phases) {
            let percent = phase.local_percent();
            let why = match (*mode, *query) {
                _ if phase.local() + phase.remote() == 0 => "no lines were counted",
                ("NUMA_Obliv", "q06" | "scan") if percent > OBLIVIOUS_PERCENT_MAX => {
                    "it is too local to be oblivious"
                }
                ("NUMA_Shard" | "NUMA_Distr", "q06" | "scan") if percent < LOCAL_PERCENT_MIN => {
                    "it is below the bar"
                }
                _ => continue,
            };
            return Err(failed(format!("{mode}, {query}: {percent:.1} % local"), why));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(local: u64, remote: u64) -> Phase {
        Phase { accesses: 9, lines: vec![vec![local, remote], vec![0, 0]] }
    }

    fn counted(oblivious: u64, sharded: u64, distributed: u64) -> Counted {
        let mode = |local: u64| vec![phase(local, 100 - local); QUERIES.len()];
        let modes = vec![mode(oblivious), mode(sharded), mode(distributed)];
        Counted { text: String::new(), modes }
    }

    #[test]
    fn the_bars_are_held() {
        assert!(judge(&counted(25, 95, 99)).is_ok());
        for bad in [(70, 95, 99), (25, 45, 99), (25, 95, 45)] {
            assert!(judge(&counted(bad.0, bad.1, bad.2)).is_err(), "{bad:?}");
        }
        let table = table(&counted(25, 95, 99));
        assert!(
            table.contains("NUMA_Distr, q06                     99         1     99.0"),
            "{table}"
        );
    }

    #[test]
    fn medians_stand_for_their_queries() {
        let runs = [(90, 10), (97, 3), (99, 1)].map(|it| phase(it.0, it.1));
        let count = MODES.len() * QUERIES.len();
        let phases: Vec<Phase> = runs.iter().cycle().take(count * RUNS).cloned().collect();
        assert!(sorted(phases[1..].to_vec()).is_err());
        let modes = sorted(phases).unwrap();
        assert_eq!(modes.len(), 3);
        assert!(modes.iter().flatten().all(|it| it.local() == 97));
    }
}
