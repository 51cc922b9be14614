//! What of a difference between nodes is chance: statements that come one by one load nodes unevenly even if all columns
//! are wanted alike.

use crate::constants::{CERTAIN, CONTENDED, ERROR_UNKNOWN, ERROR_WINDOWS, STREAK_WINDOWS};

/// The error of a node's load in one window, learned from how far the windows of busy times differ from those before
/// them: a new load is one such difference among many, chance is in all.
#[derive(Debug)]
pub(crate) struct Noise {
    before: Option<Vec<f64>>,
    variance: f64,
    windows: u32,
}

impl Noise {
    pub(crate) fn new() -> Self {
        Self { before: None, variance: ERROR_UNKNOWN * ERROR_UNKNOWN, windows: STREAK_WINDOWS / 4 }
    }

    /// Takes in the loads of a window.
    pub(crate) fn see(&mut self, loads: &[f64]) {
        let is_busy = |it: &[f64]| it.iter().any(|it| *it >= CONTENDED);
        let before = self.before.replace(loads.to_vec());
        let Some(before) = before.filter(|it| is_busy(it) && is_busy(loads)) else { return };
        let squares = loads.iter().zip(&before).map(|(now, before)| (now - before).powi(2));
        // The difference of two windows has twice the variance of one.
        let fresh = squares.sum::<f64>() / loads.len() as f64 / 2.0;
        self.windows = (self.windows + 1).min(ERROR_WINDOWS);
        self.variance += (fresh - self.variance) / f64::from(self.windows);
    }

    /// The next window does not follow the last one: copies lie between.
    pub(crate) fn forget(&mut self) {
        self.before = None;
    }

    /// Whether a difference of two nodes in the mean of some windows is more than chance.
    pub(crate) fn is_certain(&self, difference: f64, windows: u32) -> bool {
        let error = (2.0 * self.variance / f64::from(windows.clamp(1, STREAK_WINDOWS))).sqrt();
        difference >= CERTAIN * error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    #[test]
    fn what_chance_makes_is_never_certain_and_a_hot_node_soon_is() {
        for seed in 0..20 {
            let (mut noise, mut prng) = (Noise::new(), Prng::new(seed));
            let mut load = || 0.5 + prng.below(1000) as f64 / 1000.0;
            let mut sums = [0.0; 4];
            for window in 1..=STREAK_WINDOWS {
                let loads: Vec<f64> = (0..4).map(|_| load()).collect();
                noise.see(&loads);
                sums.iter_mut().zip(&loads).for_each(|(sum, it)| *sum += it);
                let most = sums.iter().copied().fold(0.0, f64::max);
                let least = sums.iter().copied().fold(f64::MAX, f64::min);
                let difference = (most - least) / f64::from(window);
                // Before that too little is known of the error.
                assert!(window < 10 || !noise.is_certain(difference, window), "{seed} {window}");
            }
            assert!(noise.is_certain(0.9, 8), "with an error of 0.29");
        }
        assert!(Noise::new().is_certain(0.9, 3) && !Noise::new().is_certain(0.2, 3));
    }
}
