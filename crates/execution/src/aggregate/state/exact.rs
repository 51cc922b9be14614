//! Variances of exact numbers: rounded half away from zero to the digits of their type, as PostgreSQL does, and deviations
//! as the square roots of those.

use arrow_buffer::i256;
use plan::AggregateFunction;
use types::numeric::decimal;
use types::numeric::errors::out_of_range;
use types::{DataType, SqlResult};

/// The moments of some numbers with `scale` digits after the point.
pub(super) struct Exact {
    pub(super) count: i64,
    /// Of the unscaled numbers, and of their squares.
    pub(super) sums: [i256; 2],
    pub(super) scale: u8,
}

/// A variance or deviation as an unscaled decimal; `None` of too few numbers.
pub(super) fn variance(
    function: AggregateFunction,
    of: &Exact,
    data_type: DataType,
) -> SqlResult<Option<i128>> {
    use AggregateFunction::{DeviationPopulation, DeviationSample, VarianceSample};
    let sample = matches!(function, VarianceSample | DeviationSample);
    if of.count <= i64::from(sample) {
        return Ok(None);
    }
    let deviation = matches!(function, DeviationPopulation | DeviationSample);
    if let Some(value) = narrow(of, (sample, deviation), data_type.scale()) {
        return match decimal::fits(value, data_type) {
            true => Ok(Some(value)),
            false => Err(out_of_range(data_type)),
        };
    }
    let value = unscaled(of, sample, data_type.scale()).and_then(|variance| match deviation {
        true => root(variance.checked_mul(power_of_ten(data_type.scale())?)?),
        false => Some(variance),
    });
    let value = value.and_then(i256::to_i128).filter(|&it| decimal::fits(it, data_type));
    value.map(Some).ok_or_else(|| out_of_range(data_type))
}

/// The same in 128 bits, several times as fast; `None` where they are too few.
fn narrow(of: &Exact, (sample, deviation): (bool, bool), digits: u8) -> Option<i128> {
    let count = i128::from(of.count);
    let (sum, squares) = (of.sums[0].to_i128()?, of.sums[1].to_i128()?);
    let numerator = count.checked_mul(squares)?.checked_sub(sum.checked_mul(sum)?)?;
    let mut divisor = count.checked_mul(count - i128::from(sample))?;
    let factor = match digits.checked_sub(2 * of.scale) {
        Some(more) => decimal::power_of_ten(more.into())?,
        None => {
            let less = decimal::power_of_ten((2 * of.scale - digits).into())?;
            divisor = divisor.checked_mul(less)?;
            1
        }
    };
    let (whole, rest) = (numerator / divisor, (numerator % divisor).checked_mul(factor)?);
    let (fraction, left) = (rest / divisor, rest % divisor);
    let up = i128::from(left.checked_add(left)? >= divisor);
    let variance = whole.checked_mul(factor)?.checked_add(fraction)?.checked_add(up)?;
    if !deviation {
        return Some(variance);
    }
    let square = variance.checked_mul(decimal::power_of_ten(digits.into())?)?;
    let root = square.checked_isqrt()?;
    Some(if square - root * root > root { root + 1 } else { root })
}

fn power_of_ten(exponent: u8) -> Option<i256> {
    decimal::power_of_ten(exponent.into()).map(i256::from_i128)
}

/// The variance with `digits` after the point.
fn unscaled(of: &Exact, sample: bool, digits: u8) -> Option<i256> {
    let count = i256::from_i128(of.count.into());
    let [sum, squares] = of.sums;
    let numerator = count.checked_mul(squares)?.checked_sub(sum.checked_mul(sum)?)?;
    let others = i256::from_i128((of.count - i64::from(sample)).into());
    let mut divisor = count.checked_mul(others)?;
    let factor = match digits.checked_sub(2 * of.scale) {
        Some(more) => power_of_ten(more)?,
        None => {
            divisor = divisor.checked_mul(power_of_ten(2 * of.scale - digits)?)?;
            i256::ONE
        }
    };
    // The whole part first: the product with the factor may be too long where the variance is not.
    let (whole, rest) = (numerator.checked_div(divisor)?, numerator.checked_rem(divisor)?);
    let rest = rest.checked_mul(factor)?;
    let (fraction, left) = (rest.checked_div(divisor)?, rest.checked_rem(divisor)?);
    let up = if left.checked_add(left)? >= divisor { i256::ONE } else { i256::ZERO };
    whole.checked_mul(factor)?.checked_add(fraction)?.checked_add(up)
}

/// The whole number nearest to a square root.
fn root(of: i256) -> Option<i256> {
    if of <= i256::ZERO {
        return Some(i256::ZERO);
    }
    // Newton's iteration falls from above to the greatest number whose square is not greater.
    let mut guess = i256::ONE.checked_shl_bits(bits(of).div_ceil(2))?;
    loop {
        let next = (guess.checked_add(of.checked_div(guess)?)?).checked_div(i256::from_i128(2))?;
        if next >= guess {
            break;
        }
        guess = next;
    }
    let over = of.checked_sub(guess.checked_mul(guess)?)?;
    if over > guess { guess.checked_add(i256::ONE) } else { Some(guess) }
}

/// Bits of a number that is not negative.
fn bits(of: i256) -> u32 {
    256 - of.leading_zeros()
}

trait ShiftedLeft: Sized {
    fn checked_shl_bits(self, bits: u32) -> Option<Self>;
}

impl ShiftedLeft for i256 {
    fn checked_shl_bits(self, bits: u32) -> Option<Self> {
        u8::try_from(bits).ok().filter(|it| *it < 255).map(|it| self << it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i128], scale: u8) -> Exact {
        let wide = |it: i128| i256::from_i128(it);
        let sum = values.iter().map(|&it| wide(it)).fold(i256::ZERO, i256::wrapping_add);
        let squares = values.iter().map(|&it| wide(it).wrapping_mul(wide(it)));
        let squares = squares.fold(i256::ZERO, i256::wrapping_add);
        Exact { count: values.len() as i64, sums: [sum, squares], scale }
    }

    #[test]
    fn digits_are_those_of_postgresql() {
        use AggregateFunction::{DeviationSample, VariancePopulation, VarianceSample};
        let data_type = DataType::Decimal { precision: 38, scale: 16 };
        let numbers = of(&(1..=10).collect::<Vec<_>>(), 0);
        let value = |function, of: &Exact| variance(function, of, data_type).unwrap();
        assert_eq!(value(VarianceSample, &numbers), Some(9_1666666666666667));
        assert_eq!(value(VariancePopulation, &numbers), Some(8_2500000000000000));
        assert_eq!(value(DeviationSample, &numbers), Some(3_0276503540974917));
        assert_eq!(value(VarianceSample, &of(&[7], 0)), None);
        assert_eq!(value(VariancePopulation, &of(&[7], 0)), Some(0));
        // 0.1, 0.2 and 0.4
        assert_eq!(value(VarianceSample, &of(&[10, 20, 40], 2)), Some(233333333333333));
        let large = of(&[i64::MAX.into(), i64::MIN.into()], 0);
        assert!(variance(VarianceSample, &large, data_type).is_err());
    }

    #[test]
    fn few_bits_give_what_many_give() {
        let mut prng = stdx::Prng::new(3);
        for bits in [4, 16, 30, 40, 60] {
            for scale in [0, 2, 9] {
                let values: Vec<i128> =
                    (0..9).map(|_| i128::from(prng.below(1 << bits)) - (1 << (bits - 1))).collect();
                let numbers = of(&values, scale);
                for (sample, deviation) in
                    [(true, true), (true, false), (false, true), (false, false)]
                {
                    let Some(found) = narrow(&numbers, (sample, deviation), 16) else { continue };
                    let wide = unscaled(&numbers, sample, 16).and_then(|it| match deviation {
                        true => root(it.checked_mul(power_of_ten(16)?)?),
                        false => Some(it),
                    });
                    assert_eq!(Some(found), wide.and_then(i256::to_i128), "{values:?} {scale}");
                }
            }
        }
    }

    #[test]
    fn roots_are_the_nearest_whole_numbers() {
        for number in (0..2000).chain([u64::MAX.into(), i128::MAX]) {
            let root = root(i256::from_i128(number)).and_then(i256::to_i128).unwrap();
            let exact = (number as f64).sqrt();
            assert!((root as f64 - exact).abs() <= 0.5 + 1e-12 * exact, "{number}: {root}");
        }
    }
}
