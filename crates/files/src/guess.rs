//! Types of columns by what all their values look like.

use types::DataType;

use crate::spelling::{plain_date, plain_timestamp};

/// What a value may be, narrowest first.
const TYPES: [DataType; 7] = [
    DataType::Boolean,
    DataType::BigInt,
    DataType::Decimal { precision: 38, scale: 0 },
    DataType::Double,
    DataType::Date,
    DataType::Timestamp,
    DataType::Text,
];

/// The types that all values of a column have so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Guess {
    /// A bit for each of [`TYPES`].
    fits: u8,
    pub(crate) is_empty: bool,
}

impl Guess {
    pub(crate) const NOTHING: Self = Self { fits: 0x7f, is_empty: true };

    /// What one value may be.
    pub(crate) fn of(text: &str) -> Self {
        let mut guess = Self::NOTHING;
        guess.add(text);
        guess
    }

    /// Takes another value into account.
    pub(crate) fn add(&mut self, text: &str) {
        self.is_empty = false;
        let text = text.trim_matches(' ');
        for (place, data_type) in TYPES.into_iter().enumerate() {
            let bit = 1 << place;
            if self.fits & bit != 0 && !looks_like(text, data_type) {
                self.fits &= !bit;
            }
        }
    }

    /// The narrowest type of all values; TEXT where there are none.
    pub(crate) fn data_type(self) -> DataType {
        match self.is_empty {
            true => DataType::Text,
            false => TYPES[(self.fits.trailing_zeros() as usize).min(TYPES.len() - 1)],
        }
    }

    /// Whether it is nothing but a text.
    pub(crate) fn is_text(self) -> bool {
        self.data_type() == DataType::Text
    }

    /// Whether values of both may stand in one column that is no text.
    pub(crate) fn agrees(self, other: Self) -> bool {
        other.is_empty || self.is_empty || self.fits & other.fits & 0x3f != 0
    }
}

fn looks_like(text: &str, data_type: DataType) -> bool {
    let bytes = text.as_bytes();
    let unsigned = bytes.strip_prefix(b"-").or(bytes.strip_prefix(b"+")).unwrap_or(bytes);
    let is_whole = || !unsigned.is_empty() && unsigned.iter().all(u8::is_ascii_digit);
    match data_type {
        DataType::BigInt | DataType::Decimal { .. } | DataType::Double if is_code(bytes) => false,
        DataType::Boolean => {
            ["true", "false", "t", "f"].iter().any(|it| text.eq_ignore_ascii_case(it))
        }
        DataType::BigInt => is_whole() && text.parse::<i64>().is_ok(),
        DataType::Decimal { .. } => is_whole() && unsigned.len() <= 38,
        DataType::Double => {
            unsigned.first().is_some_and(|it| it.is_ascii_digit() || *it == b'.')
                && text.parse::<f64>().is_ok_and(f64::is_finite)
        }
        DataType::Date => plain_date(bytes).is_some(),
        DataType::Timestamp => plain_date(bytes).is_some() || plain_timestamp(bytes).is_some(),
        _ => true,
    }
}

/// Whether digits are a code rather than a number, such as one of a post office or a telephone: a number would not show
/// their leading zero or plus again.
fn is_code(bytes: &[u8]) -> bool {
    match bytes.strip_prefix(b"+") {
        Some(digits) => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        None => {
            let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
            matches!(digits, [b'0', b'0'..=b'9', ..])
        }
    }
}

/// The narrowest type that all texts are values of; TEXT where there are none.
pub fn narrowest_type<'a>(texts: impl Iterator<Item = &'a str>) -> DataType {
    let mut guess = Guess::NOTHING;
    texts.for_each(|it| guess.add(it));
    guess.data_type()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_narrowest_type_of_all_its_values() {
        let guess = |texts: &[&str]| {
            let mut guess = Guess::NOTHING;
            texts.iter().for_each(|it| guess.add(it));
            guess.data_type()
        };
        let wide = DataType::Decimal { precision: 38, scale: 0 };
        for (texts, expected) in [
            (&[] as &[&str], DataType::Text),
            (&["1", "-2", " 3"], DataType::BigInt),
            (&["1", "2.5"], DataType::Double),
            (&["0", "0.5", "-0.5"], DataType::Double),
            (&["1", "01"], DataType::Text),
            (&["-007.5"], DataType::Text),
            (&["+4912345"], DataType::Text),
            (&["+0.5"], DataType::Double),
            (&["1", "99999999999999999999"], wide),
            (&["99999999999999999999", "1e3"], DataType::Double),
            (&["true", "F"], DataType::Boolean),
            (&["true", "1"], DataType::Text),
            (&["2024-02-29"], DataType::Date),
            (&["2024-02-29", "2024-01-01 10:00:00"], DataType::Timestamp),
            (&["2023-02-29"], DataType::Text),
            (&["nan"], DataType::Text),
            (&["1e999"], DataType::Text),
            (&["x"], DataType::Text),
        ] {
            assert_eq!(guess(texts), expected, "{texts:?}");
        }
    }
}
