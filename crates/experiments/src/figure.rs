//! An experiment that was run: outcomes of all cells, and what became of the claims.

use simulator::fields::FileError;

use crate::experiment::{Claim, Experiment};
use crate::outcome::Outcome;
use crate::run::run;

/// An experiment and its outcomes.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// What was run.
    pub experiment: Experiment,
    /// `outcomes[series][point]`.
    pub outcomes: Vec<Vec<Outcome>>,
    /// The claims, in the order of the file.
    pub findings: Vec<Finding>,
}

/// What became of a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The claim.
    pub claim: Claim,
    /// The simulated ratio.
    pub ratio: f64,
    /// Whether the direction holds.
    pub holds: bool,
}

impl Figure {
    /// Runs all cells of an experiment; `tell` hears of each before it runs, as (cells done, cells in all).
    pub fn run(
        experiment: Experiment,
        seed: u64,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, FileError> {
        let total = experiment.series.len() * experiment.points.len();
        let mut outcomes: Vec<Vec<Outcome>> = Vec::new();
        for row in &experiment.cells {
            let mut done = Vec::new();
            for settings in row {
                tell(outcomes.len() * row.len() + done.len(), total);
                done.push(run(settings, seed)?);
            }
            outcomes.push(done);
        }
        tell(total, total);
        let findings = experiment.claims.iter().map(|it| finding(it, &outcomes)).collect();
        Ok(Self { experiment, outcomes, findings })
    }

    /// Whether the direction of the figure holds: all its main claims do.
    pub fn holds(&self) -> bool {
        self.findings.iter().filter(|it| it.claim.main).all(|it| it.holds)
    }

    /// A measure of a cell.
    pub fn value(&self, series: usize, point: usize, measure: &str) -> f64 {
        self.outcomes[series][point].get(measure).unwrap_or(0.0)
    }
}

fn finding(claim: &Claim, outcomes: &[Vec<Outcome>]) -> Finding {
    let value = |cell: (usize, usize)| outcomes[cell.0][cell.1].get(&claim.measure).unwrap_or(0.0);
    // Nothing over nothing is no change; a hundredth counts as nothing, in every unit.
    let ratio = value(claim.of).max(0.01) / value(claim.over).max(0.01);
    let holds = (claim.holds.0..=claim.holds.1).contains(&ratio);
    Finding { claim: claim.clone(), ratio, holds }
}
