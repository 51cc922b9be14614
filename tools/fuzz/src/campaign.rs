//! A run over many cases: counts what came of them, reduces what failed, and prints it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::reduce::{self, Budget, Check};
use crate::verdict::Verdict;

/// What a run is told.
#[derive(Clone, Debug)]
pub struct Plan {
    /// `differ` or `logic`, for the command that repeats a case.
    pub name: &'static str,
    pub depth: usize,
    /// The run ends after this time, wherever it is.
    pub until: Option<Instant>,
    /// Cases of one kind that are reduced.
    pub reductions: usize,
    pub budget: Budget,
    /// Whether refusals are shown reduced as well, one of each sentence.
    pub refusals: bool,
    /// A folder for the scripts of failures.
    pub folder: Option<PathBuf>,
}

/// What a run found.
#[derive(Default)]
pub struct Campaign {
    /// Cases by what came of them.
    pub counts: BTreeMap<String, usize>,
    /// Labels of refusals and the like that were shown.
    shown: BTreeSet<String>,
    /// Failures that were reduced to the same text up to names and constants are one.
    skeletons: BTreeSet<String>,
    reduced: usize,
    /// Cases that failed.
    pub failures: usize,
}

impl Campaign {
    /// Counts a verdict, and shows its case when it is one to be shown. `answers` tells what a case gives.
    pub fn take<C: Check>(
        &mut self,
        plan: &Plan,
        check: &mut C,
        (seed, number): (u64, u64),
        (case, verdict): (&Case, Verdict),
        answers: fn(&mut C, &Case) -> Vec<String>,
    ) {
        *self.counts.entry(verdict.label()).or_default() += 1;
        self.failures += usize::from(verdict.is_failure());
        let interesting = match &verdict {
            Verdict::Wrong(_) | Verdict::Broken(_) => self.reduced < plan.reductions,
            Verdict::Refused { .. } | Verdict::ErrorOrder(_) | Verdict::PeerRefuses(_) => {
                plan.refusals && self.shown.insert(verdict.label())
            }
            _ => false,
        };
        if !interesting {
            return;
        }
        self.reduced += usize::from(verdict.is_failure());
        let small = reduce::reduce(check, case, &verdict, plan.budget);
        let skeleton = format!("{} {}", verdict.label(), skeleton(&small));
        if !self.skeletons.insert(skeleton) {
            return;
        }
        let script = script(plan, (seed, number), &verdict, &small, &answers(check, &small));
        println!("{script}");
        if let Some(folder) = &plan.folder {
            let kind: String =
                verdict.label().chars().take_while(|it| it.is_alphabetic()).collect();
            let name = format!("{}-{kind}-{seed}-{number}.sql", plan.name).to_lowercase();
            if let Err(error) = std::fs::write(folder.join(name), &script) {
                eprintln!("the script cannot be written: {error}");
            }
        }
    }

    /// The counts, and one closing line.
    pub fn print(&self, name: &str, started: Instant) {
        let total: usize = self.counts.values().sum();
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_by_key(|it| std::cmp::Reverse(*it.1));
        for (label, count) in counts {
            println!("{count:8} {label}");
        }
        let seconds = started.elapsed().max(Duration::from_millis(1)).as_secs_f64();
        println!("{name}: {total} cases, {} failed ({seconds:.0} s)", self.failures);
    }
}

/// A script that can be pasted into a shell, with what it gave.
fn script(
    plan: &Plan,
    (seed, number): (u64, u64),
    verdict: &Verdict,
    case: &Case,
    answers: &[String],
) -> String {
    let mut out = format!("-- {}\n", verdict.label());
    out += &format!(
        "-- cargo run --release -p fuzz -- {} --seeds {seed} --only {number} --depth {}\n",
        plan.name, plan.depth
    );
    out += &case.world.script();
    out += &format!("{};\n", case.query);
    for answer in answers {
        out += &format!("-- {}\n", answer.replace('\n', " "));
    }
    out
}

/// A query without its names and constants.
fn skeleton(case: &Case) -> String {
    let mut out = String::new();
    let text = case.query.to_string();
    for (at, piece) in text.split('\'').enumerate() {
        out.push_str(if at % 2 == 0 { piece } else { "_" });
    }
    out.chars().filter(|it| !it.is_ascii_digit()).collect()
}
