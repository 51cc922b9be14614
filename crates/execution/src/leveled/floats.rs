//! Additions of floats that lose nothing.

use super::leveled;

/// Sums that are kept side by side: two registers of the widest level, so that an addition need not wait for the last.
pub(crate) const FLOAT_LANES: usize = 16;

/// The nearest float to `a + b`, and the error of it, which is a float as well; NaN where something is not finite.
#[inline(always)]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

leveled! {
    /// Adds values to pairs of floats whose sums are exact. Gives `false` where some pair could not hold its sum: then
    /// the pairs are of no use.
    pub(crate) fn add_floats[](
        high: &mut [f64; FLOAT_LANES],
        low: &mut [f64; FLOAT_LANES],
        values: &[[f64; FLOAT_LANES]],
    ) -> bool {
        let mut rests = [0.0_f64; FLOAT_LANES];
        let (mut highs, mut lows) = (*high, *low);
        for values in values {
            for lane in 0..FLOAT_LANES {
                let (sum, error) = two_sum(highs[lane], values[lane]);
                let (more, rest) = two_sum(lows[lane], error);
                (highs[lane], lows[lane]) = (sum, more);
                rests[lane] += rest.abs();
            }
        }
        (*high, *low) = (highs, lows);
        // NaN is not zero either.
        rests.iter().sum::<f64>() == 0.0
    }
}
