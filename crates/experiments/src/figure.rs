//! An experiment that was run: outcomes of all cells, and what became of the claims.

use simulator::fields::FileError;

use crate::claim::{Claim, Class};
use crate::experiment::Experiment;
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
    /// What became of it.
    pub class: Class,
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

    /// Whether the point of the figure comes out: none of its main claims fails.
    pub fn holds(&self) -> bool {
        self.findings.iter().filter(|it| it.claim.main).all(|it| it.class != Class::Fails)
    }

    /// The claims of which something else became than is written down. Another set-up than the paper's has no record.
    pub fn drifted(&self) -> Vec<&Finding> {
        let unchanged = self.experiment.changed.is_empty();
        let drifted = |it: &&Finding| unchanged && it.class != it.claim.recorded;
        self.findings.iter().filter(drifted).collect()
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
    Finding { claim: claim.clone(), ratio, class: claim.class_of(ratio) }
}
