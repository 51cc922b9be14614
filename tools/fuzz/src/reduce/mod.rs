//! Makes a failing case small: cuts the query and its tables as long as the case fails in the same way.
//!
//! Reading order: `query` (what can be cut from a query), `tables` (from tables), here (when a cut is kept).

mod query;
mod tables;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use crate::case::{self, Case};
use crate::verdict::Verdict;

/// Who says what comes of a case.
pub trait Check {
    /// Runs a case.
    fn verdict(&mut self, case: &Case) -> Verdict;
}

/// How much is tried for one case.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub checks: usize,
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self { checks: 1500, time: Duration::from_secs(25) }
    }
}

/// A reduction under way.
struct Reduction<'a> {
    check: &'a mut dyn Check,
    /// How the case must go on failing.
    label: String,
    case: Case,
    left: usize,
    until: Instant,
}

/// The smallest case found that still fails as the given one does.
pub fn reduce(check: &mut dyn Check, case: &Case, verdict: &Verdict, budget: Budget) -> Case {
    let mut reduction = Reduction {
        check,
        label: verdict.label(),
        case: case.clone(),
        left: budget.checks,
        until: Instant::now() + budget.time,
    };
    loop {
        let before = reduction.case.clone();
        reduction.cut_query();
        reduction.cut_tables();
        if reduction.case == before || reduction.is_spent() {
            return reduction.case;
        }
    }
}

impl Reduction<'_> {
    fn is_spent(&self) -> bool {
        self.left == 0 || Instant::now() > self.until
    }

    /// Keeps a case if it fails as it should.
    fn keep_if_failing(&mut self, case: Case) -> bool {
        if self.is_spent() || case == self.case || !case::is_determined(&case.query) {
            return false;
        }
        self.left -= 1;
        let fails = self.check.verdict(&case).label() == self.label;
        if fails {
            self.case = case;
        }
        fails
    }

    /// Tries all cuts of each node, outermost first.
    fn cut_query(&mut self) {
        let mut at = 0;
        while let Some(cuts) = query::cuts(&self.case.query, at) {
            let mut kept = false;
            for cut in cuts {
                let query = query::replaced(&self.case.query, at, cut);
                kept = self.keep_if_failing(Case { world: self.case.world.clone(), query });
                if kept || self.is_spent() {
                    break;
                }
            }
            // A node that was cut may be cut again.
            at += usize::from(!kept);
        }
    }

    fn cut_tables(&mut self) {
        let mut size = tables::largest(&self.case.world);
        let unused = tables::without_unused(&self.case);
        self.keep_if_failing(unused);
        while size > 0 && !self.is_spent() {
            let mut at = 0;
            while let Some(world) = tables::without_rows(&self.case.world, at, size) {
                let case = Case { world, query: self.case.query.clone() };
                if !self.keep_if_failing(case) {
                    at += size;
                }
            }
            size /= 2;
        }
        let mut at = 0;
        while let Some(world) = tables::simpler(&self.case.world, at) {
            let case = Case { world, query: self.case.query.clone() };
            if !self.keep_if_failing(case) {
                at += 1;
            }
        }
    }
}
