//! Numbers that follow from what they are drawn for, so that any row can be made without those before it.

use stdx::prng::Prng;

/// Draws for one thing: the same salt gives the same number.
#[derive(Clone, Copy, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The draws for the thing of a kind and a number.
    pub fn of(kind: u64, number: u64) -> Self {
        Self(Prng::new(kind.wrapping_mul(0x9e6d_62d0_6f6a_02ad) ^ number).next_u64())
    }

    /// 64 bits.
    pub fn bits(self, salt: u64) -> u64 {
        Prng::new(self.0 ^ salt.wrapping_mul(0xd6e8_feb8_6659_fd93)).next_u64()
    }

    /// A number from 0 on that is below `bound`, each as likely.
    pub fn below(self, salt: u64, bound: u64) -> u64 {
        ((u128::from(self.bits(salt)) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 on that is below `bound`: the higher the power, the more often a small one.
    pub fn skewed(self, salt: u64, bound: u64, power: u32) -> u64 {
        let fraction = (self.bits(salt) >> 11) as f64 / (1u64 << 53) as f64;
        let skewed = (1..power).fold(fraction, |product, _| product * fraction);
        ((skewed * bound as f64) as u64).min(bound.saturating_sub(1))
    }

    /// Whether something happens that happens so many times in ten thousand.
    pub fn chance(self, salt: u64, of_ten_thousand: u64) -> bool {
        self.below(salt, 10_000) < of_ten_thousand
    }

    /// One of some values.
    pub fn one_of<T: Copy>(self, salt: u64, values: &[T]) -> T {
        values[self.below(salt, values.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_and_keep_their_bounds() {
        let dice = Dice::of(1, 7);
        assert_eq!(dice.bits(3), Dice::of(1, 7).bits(3));
        assert_ne!(dice.bits(3), dice.bits(4));
        assert_ne!(dice.bits(3), Dice::of(2, 7).bits(3));
        let draw = |number| Dice::of(1, number).skewed(5, 100, 3);
        assert!((0..1000).all(|it| draw(it) < 100));
        let small = (0..1000).filter(|&it| draw(it) < 10).count();
        assert!(
            (400..530).contains(&small),
            "{small} of 1000 below a tenth, the third root of which is 0.46"
        );
        let hits = (0..10_000).filter(|&it| Dice::of(1, it).chance(6, 1300)).count();
        assert!((1200..1400).contains(&hits), "{hits}");
    }
}
