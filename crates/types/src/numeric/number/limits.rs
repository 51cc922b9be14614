//! The digits that a type of numbers says where no DECIMAL has them: NUMERIC(210, 10), NUMERIC(3, -2), NUMERIC(3, 5).

use super::{Number, power};
use crate::{SqlError, SqlResult, SqlState};

/// Digits that PostgreSQL lets a type say, behind the point and before it.
const DIGITS_MAX: i64 = 1_000;

/// How many digits the numbers of a type have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Digits that count.
    pub precision: u16,
    /// Digits behind the point; fewer than none where those before it are rounded, too.
    pub scale: i16,
}

impl Limits {
    /// So many digits.
    ///
    /// # Errors
    /// 22023 for more than a type may say.
    pub fn new(precision: u64, scale: i64) -> SqlResult<Self> {
        let refused = |message| Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
        match (u16::try_from(precision), i16::try_from(scale)) {
            (Ok(precision @ 1..), Ok(scale))
                if i64::from(precision) <= DIGITS_MAX && i64::from(scale).abs() <= DIGITS_MAX =>
            {
                Ok(Self { precision, scale })
            }
            _ if !(1..=DIGITS_MAX as u64).contains(&precision) => {
                refused(format!("NUMERIC precision {precision} must be between 1 and {DIGITS_MAX}"))
            }
            _ => refused(format!(
                "NUMERIC scale {scale} must be between -{DIGITS_MAX} and {DIGITS_MAX}"
            )),
        }
    }

    /// A number as the type holds it.
    ///
    /// # Errors
    /// 22003 where it has more digits than the type.
    pub fn fit(self, number: &Number) -> SqlResult<Number> {
        let (precision, scale) = (i64::from(self.precision), i64::from(self.scale));
        let overflow = |what: String| {
            SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "numeric field overflow")
                .with_detail(format!("A field with precision {precision}, scale {scale} {what}."))
        };
        match number {
            Number::NaN => Ok(Number::NaN),
            Number::Infinite { .. } => Err(overflow("cannot hold an infinite value".to_owned())),
            Number::Finite(it) => {
                let rounded = it.rounded(scale);
                // All digits, those behind the point of the type among them, are fewer than so many.
                let most = precision - scale + i64::from(rounded.scale);
                let fits = match u32::try_from(most) {
                    Ok(most) => *rounded.unscaled.magnitude() < *power(most).magnitude(),
                    Err(_) => rounded.signum() == 0,
                };
                match fits {
                    true => Ok(rounded.into()),
                    false => {
                        let before = precision - scale;
                        let bound = if before == 0 { "1".into() } else { format!("10^{before}") };
                        Err(overflow(format!("must round to an absolute value less than {bound}")))
                    }
                }
            }
        }
    }

    /// As a type says them behind its name.
    pub fn suffix(self) -> String {
        format!("({},{})", self.precision, self.scale)
    }

    /// The number by which PostgreSQL's catalog says them.
    pub fn modifier(self) -> i32 {
        (i32::from(self.precision) << 16 | i32::from(self.scale) & 0x7ff) + 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(text: &str, precision: u64, scale: i64) -> Result<String, SqlState> {
        let limits = Limits::new(precision, scale).map_err(|it| it.state)?;
        let number = Number::parse(text).map_err(|it| it.state)?;
        limits.fit(&number).map(|it| it.to_string()).map_err(|it| it.state)
    }

    #[test]
    fn numbers_are_rounded_and_counted() {
        let over = Err(SqlState::NUMERIC_OUT_OF_RANGE);
        assert_eq!(fitted("1.25", 50, 1).as_deref(), Ok("1.3"));
        assert_eq!(fitted("123456", 3, -3).as_deref(), Ok("123000"));
        assert_eq!(fitted("999499", 3, -3).as_deref(), Ok("999000"));
        assert_eq!(fitted("999500", 3, -3), over);
        assert_eq!(fitted("0.000999", 3, 6).as_deref(), Ok("0.000999"));
        assert_eq!(fitted("0.00099949", 3, 6).as_deref(), Ok("0.000999"));
        assert_eq!(fitted("0.0009995", 3, 6), over);
        assert_eq!(fitted("NaN", 3, -6).as_deref(), Ok("NaN"));
        assert_eq!(fitted("-inf", 3, -6), over);
        assert_eq!(fitted("0", 1, 1_000).map(|it| it.len()), Ok(1_002));
        assert_eq!(fitted("1", 1_001, 0), Err(SqlState::INVALID_PARAMETER));
        assert_eq!(fitted("1", 5, -1_001), Err(SqlState::INVALID_PARAMETER));
    }
}
