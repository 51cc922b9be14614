//! Choices drawn from a seed.

use stdx::Prng;

/// A sequence of choices.
#[derive(Clone, Debug)]
pub struct Draw(Prng);

impl Draw {
    /// All choices follow from the seed and the number below it.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut prng = Prng::new(seed);
        let start = prng.next_u64();
        Self(Prng::new(start ^ number.wrapping_mul(0xd6e8_feb8_6659_fd93)))
    }

    /// A number below the bound, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True so many times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several; there is at least one.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// One of several, each drawn as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let total = choices.iter().map(|it| it.0).sum();
        let mut at = self.below(total);
        for &(weight, choice) in choices {
            if at < weight {
                return choice;
            }
            at -= weight;
        }
        unreachable!("invariant: the number is below the sum of all weights")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_follow_from_seed_and_number() {
        let draw = |seed, number| {
            let mut draw = Draw::new(seed, number);
            (0..50).map(|_| draw.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn weights_hold() {
        let mut draw = Draw::new(1, 1);
        let often = (0..1000).filter(|_| draw.weighted(&[(9, true), (1, false)])).count();
        assert!((850..950).contains(&often), "{often}");
    }
}
