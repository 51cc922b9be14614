//! When a row is the expected one.

use sqllogictest::Normalizer;

/// Compares all rows; called by the runner.
pub fn rows_match(_: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    actual.len() == expected.len()
        && actual
            .iter()
            .zip(expected)
            .all(|(actual, expected)| row_matches(&actual.join(" "), expected))
}

/// Rows are compared word by word, because the expectation does not tell where a column ends.
fn row_matches(actual: &str, expected: &str) -> bool {
    let mut actual = actual.split_whitespace();
    let mut expected = expected.split_whitespace();
    loop {
        match (actual.next(), expected.next()) {
            (None, None) => return true,
            (Some(actual), Some(expected)) if word_matches(actual, expected) => {}
            _ => return false,
        }
    }
}

/// Places behind the point up to which a number compares exactly.
const EXACT_PLACES: usize = 6;

/// Systems keep different numbers of places in quotients and averages; nothing else may differ.
fn word_matches(actual: &str, expected: &str) -> bool {
    if actual == expected {
        return true;
    }
    let (Ok(a), Ok(b)) = (actual.parse::<f64>(), expected.parse::<f64>()) else { return false };
    if places(actual).max(places(expected)) <= EXACT_PLACES {
        return trimmed(actual) == trimmed(expected);
    }
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

/// Places behind the point; an exponent counts as many.
fn places(number: &str) -> usize {
    if number.contains(['e', 'E']) {
        return usize::MAX;
    }
    number.split_once('.').map_or(0, |(_, fraction)| fraction.trim_end_matches('0').len())
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values_are_exact() {
        assert!(row_matches("1 a b NULL", "1 a b NULL"));
        assert!(row_matches("1.50 2.0", "1.5 2"));
        for (actual, expected) in [
            ("9223372036854775807", "9223372036854775806"),
            ("1234567890123.45", "1234567890123.46"),
            ("1.5", "1.500001"),
            ("a", "b"),
            ("1", "1 2"),
            ("1 2", "1"),
            ("NULL", "0"),
            ("2", "20"),
        ] {
            assert!(!row_matches(actual, expected), "{actual} against {expected}");
        }
    }

    #[test]
    fn long_fractions_are_rounded() {
        assert!(row_matches("0.333333", "0.33333333333333333333"));
        assert!(row_matches("2.1666666666666665", "2.1666666666666667"));
        assert!(!row_matches("0.3333", "0.33333333333333333333"));
    }

    #[test]
    fn counts_must_agree() {
        let rows = [vec!["1".to_owned()]];
        assert!(rows_match(|text| text.clone(), &rows, &["1".to_owned()]));
        assert!(!rows_match(|text| text.clone(), &rows, &[]));
        assert!(!rows_match(|text| text.clone(), &[], &["1".to_owned()]));
    }
}
