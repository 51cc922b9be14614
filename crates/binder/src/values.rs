//! The rows of INSERT .. VALUES, where a value takes the type of its column: DEFAULT, and numbers of more digits than a
//! decimal has, which a column of floats takes.

use sqlparser::ast::{self, Expr, UnaryOperator, Value};
use types::numeric;

/// The greatest exponent of ten that is written out as digits: above that of any float.
const EXPONENT_MAX: i64 = 400;

/// Whether an expression is the word DEFAULT.
pub(crate) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(it)
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case("default"))
}

/// Brings the rows of an INSERT to what they mean.
pub(crate) fn prepare(values: &mut ast::Values) {
    let mut long: Vec<usize> = Vec::new();
    for row in &mut values.rows {
        for (place, value) in row.content.iter_mut().enumerate() {
            if long_number(value).is_some() && !long.contains(&place) {
                long.push(place);
            }
        }
    }
    for row in values.rows.iter_mut().filter(|_| !long.is_empty()) {
        for (place, value) in row.content.iter_mut().enumerate() {
            if long.contains(&place)
                && let Some(text) = signed(value).and_then(|it| digits(&it))
            {
                *value = Expr::Value(Value::SingleQuotedString(text).into());
            }
        }
    }
}

/// A number and the minuses before it, of which two are none; parentheses mean nothing.
pub(crate) fn signed(expr: &Expr) -> Option<String> {
    let (mut minus, mut expr) = (false, expr);
    loop {
        match expr {
            Expr::Nested(it) => expr = it,
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: operand } => {
                (minus, expr) = (!minus, operand);
            }
            Expr::Value(it) => {
                let Value::Number(text, _) = &it.value else { return None };
                return Some(format!("{}{text}", if minus { "-" } else { "" }));
            }
            _ => return None,
        }
    }
}

/// The text of an expression that is a number which no DECIMAL holds.
pub(crate) fn long_number(expr: &Expr) -> Option<String> {
    match expr {
        // As most are.
        Expr::Value(it) => match &it.value {
            Value::Number(text, _) if text.len() > 30 || text.contains(['e', 'E']) => {}
            _ => return None,
        },
        Expr::Nested(_) | Expr::UnaryOp { .. } => {}
        _ => return None,
    }
    signed(expr).filter(|it| numeric::parse_literal(it).is_err())
}

/// A number without an exponent, as a decimal of any length is printed.
fn digits(text: &str) -> Option<String> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let (sign, text) = text.strip_prefix('-').map_or(("", &*text), |it| ("-", it));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.parse::<i64>().ok().filter(|it| it.abs() <= EXPONENT_MAX)?;
    let mut all = format!("{whole}{fraction}");
    if !all.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let point = whole.len() as i64 + exponent;
    let before = usize::try_from(1 - point).unwrap_or(0);
    all.insert_str(0, &"0".repeat(before));
    let point = usize::try_from(point + before as i64).ok()?;
    let after = point.saturating_sub(all.len());
    all.push_str(&"0".repeat(after));
    let (whole, fraction) = all.split_at(point);
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_written_out() {
        for (text, wanted) in [
            ("1e3", "1000"),
            ("-1.5e1", "-15"),
            ("1.5", "1.5"),
            ("1.25e1", "12.5"),
            ("1e-3", "0.001"),
            ("-12.5e-3", "-0.0125"),
            (".5e1", "5"),
            ("1_0", "10"),
            ("0010", "10"),
            ("0.50", "0.50"),
        ] {
            assert_eq!(digits(text).as_deref(), Some(wanted), "{text}");
        }
        assert_eq!(digits("0x1f"), None);
        assert_eq!(digits("1e900000000"), None);
        assert_eq!(digits("1e300").map(|it| it.len()), Some(301));
    }
}
