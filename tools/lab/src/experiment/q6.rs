//! P-MONET's table 1 by counting: the lines that TPC-H Q6 fetches from its own node and from others, placed four ways.
//!
//! The table has the four columns of Q6, sixty-four times the rows of scale 0.01: page boundaries then matter little.

use std::path::PathBuf;

use crate::count::Phase;
use crate::{LabError, LabResult, failed};

/// A way to place and to run.
struct Way {
    name: &'static str,
    /// What makes it of the way before.
    statements: &'static [&'static str],
}

const WAYS: [Way; 4] = [
    Way {
        name: "os, no affinity",
        statements: &[
            "SET strategy = os",
            "SET default_placement = os",
            "CREATE TABLE few AS SELECT * FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8)) AS few (c)",
            "CREATE TABLE copies AS SELECT a.c FROM few AS a, few AS b",
            "CREATE TABLE lines AS SELECT l_shipdate, l_discount, l_quantity, l_extendedprice \
             FROM '/lab/tpch-0.01/lineitem.parquet', copies",
        ],
    },
    Way {
        name: "RR, bound",
        statements: &["SET strategy = bound", "ALTER TABLE lines NUMA NODE ROUNDROBIN"],
    },
    Way { name: "IVP, bound", statements: &["ALTER TABLE lines NUMA NODE SPLIT"] },
    Way {
        name: "PP, bound",
        statements: &["ALTER TABLE lines PARTITION BY ROUNDROBIN PARTITIONS 4"],
    },
];

const Q6: &str = "SELECT sum(l_extendedprice * l_discount) AS revenue FROM lines \
    WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' \
    AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24";

/// The least share of local lines with IVP and PP, in percent. The paper has 95.6 (196 M local, 9 M remote); here 97.7
/// and 97.8 were counted, and processes differ by three points, as the threads that are not the workers' lie.
const LOCAL_PERCENT_MIN: f64 = 92.0;
/// The most without affinity: a quarter would be chance, and this is the direction of the paper.
const OBLIVIOUS_PERCENT_MAX: f64 = 60.0;

/// How often each way is counted; its run with the median share is judged. The thread of the session runs wherever the
/// kernel puts it, also in the middle of a worker's step, whose lines its own then seem to be.
const RUNS: usize = 5;

/// What was counted for each way, in order.
pub struct Counted {
    /// The name of the way.
    pub way: &'static str,
    /// The lines.
    pub phase: Phase,
}

/// Runs the experiment on four linked sockets.
pub fn run(nodewise: PathBuf) -> LabResult<Vec<Counted>> {
    let (outcome, phases) = super::counted("4-mesh", nodewise, ("tpch", "0.01"), &sql())?;
    same_answers(&outcome.stdout)?;
    medians(phases)
}

/// Of each way the run with the median share of local lines.
fn medians(mut phases: Vec<Phase>) -> LabResult<Vec<Counted>> {
    if phases.len() != WAYS.len() * RUNS {
        return Err(failed("the experiment", format!("it counted {} phases", phases.len())));
    }
    let median = |way: &Way| {
        let mut runs: Vec<Phase> = phases.drain(..RUNS).collect();
        runs.sort_by(|a, b| a.local_percent().total_cmp(&b.local_percent()));
        Counted { way: way.name, phase: runs.swap_remove(RUNS / 2) }
    };
    Ok(WAYS.iter().map(median).collect())
}

/// Each way: its statements, Q6 once to warm up, Q6 counted again and again.
fn sql() -> String {
    let mut sql = String::new();
    for way in &WAYS {
        for statement in way.statements {
            sql.push_str(&format!("{statement};\n"));
        }
        sql.push_str(&format!("{Q6};\n"));
        let counted = format!("SET access_counting = on;\n{Q6};\nSET access_counting = off;\n");
        sql.push_str(&counted.repeat(RUNS));
    }
    sql
}

/// Q6 has the same answer every time.
fn same_answers(output: &str) -> LabResult<()> {
    let answers: Vec<&str> = output.lines().filter(|it| it.contains('.')).collect();
    match answers.len() == (1 + RUNS) * WAYS.len() && answers.iter().all(|it| *it == answers[0]) {
        true => Ok(()),
        false => Err(failed("the answers of Q6", format!("they are {answers:?}"))),
    }
}

/// The table of the paper.
pub fn table(counted: &[Counted]) -> String {
    let mut text = String::from("Q6               lines local   remote  local %\n");
    for Counted { way, phase } in counted {
        let (local, remote, percent) = (phase.local(), phase.remote(), phase.local_percent());
        text.push_str(&format!("{way:<16} {local:>11} {remote:>8} {percent:>8.1}\n"));
    }
    text
}

/// The bars: what is wrong with each way, if anything.
pub fn judge(counted: &[Counted]) -> Vec<(&'static str, Result<(), LabError>)> {
    let verdict = |it: &Counted| {
        let percent = it.phase.local_percent();
        let why = match it.way {
            _ if it.phase.local() + it.phase.remote() == 0 => "no lines were counted",
            "os, no affinity" if percent > OBLIVIOUS_PERCENT_MAX => {
                "it is too local to be oblivious"
            }
            "IVP, bound" | "PP, bound" if percent < LOCAL_PERCENT_MIN => "it is below the bar",
            _ => return Ok(()),
        };
        Err(failed(format!("{}: {percent:.1} % of the lines are local", it.way), why))
    };
    counted.iter().map(|it| (it.way, verdict(it))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(way: &'static str, local: u64, remote: u64) -> Counted {
        Counted { way, phase: Phase { accesses: 9, lines: vec![vec![local, remote], vec![0, 0]] } }
    }

    #[test]
    fn the_bars_are_held() {
        let verdicts = |counted: &[Counted]| {
            judge(counted).into_iter().map(|it| it.1.is_ok()).collect::<Vec<_>>()
        };
        let names = WAYS.map(|it| it.name);
        let good = [(25, 75), (40, 60), (96, 4), (100, 0)];
        let bad = [(70, 30), (0, 0), (91, 9), (90, 10)];
        let of = |figures: [(u64, u64); 4]| -> Vec<Counted> {
            names.iter().zip(figures).map(|(name, it)| counted(name, it.0, it.1)).collect()
        };
        assert_eq!(verdicts(&of(good)), [true; 4]);
        assert_eq!(verdicts(&of(bad)), [false; 4]);
        assert!(table(&of(good)).contains("IVP, bound                96        4     96.0"));
    }

    #[test]
    fn answers_must_agree() {
        let answers = WAYS.len() * (1 + RUNS);
        let almost = "revenue\n1.5\n".repeat(answers - 1);
        assert!(same_answers(&"revenue\n1.5\n".repeat(answers)).is_ok());
        assert!(same_answers(&almost).is_err());
        assert!(same_answers(&format!("{almost}revenue\n1.6\n")).is_err());
        assert_eq!(sql().matches("access_counting = on").count(), WAYS.len() * RUNS);
    }

    #[test]
    fn the_median_run_stands_for_its_way() {
        let runs = [(90, 10), (97, 3), (96, 4), (99, 1), (10, 90)];
        let phase = |it: &(u64, u64)| counted("", it.0, it.1).phase;
        let phases: Vec<Phase> = runs.iter().map(phase).cycle().take(WAYS.len() * RUNS).collect();
        assert!(medians(phases[1..].to_vec()).is_err());
        let medians = medians(phases).unwrap();
        assert_eq!(medians.iter().map(|it| it.way).collect::<Vec<_>>(), WAYS.map(|it| it.name));
        assert!(medians.iter().all(|it| it.phase.local() == 96));
    }
}
