//! Intervals as they are spelt in a statement: `INTERVAL '1 day'`, `INTERVAL '3' MONTH`.

use plan::Expr;
use sqlparser::ast;
use types::numeric::{held_interval, interval};
use types::{DataType, SqlResult};

use super::errors::{at, unsupported};

/// An interval as a constant.
pub(super) fn literal(it: &ast::Interval) -> SqlResult<Expr> {
    let text = match &*it.value {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => Some(text.as_str()),
            other => super::literal::text_of(other),
        },
        _ => None,
    };
    let Some(text) = text else {
        return Err(unsupported("an INTERVAL of anything but a text", &*it.value));
    };
    if it.last_field.is_some() || it.leading_precision.is_some() {
        return Err(unsupported("INTERVAL with a range of fields", &*it.value));
    }
    let unit = it.leading_field.as_ref().map(|it| it.to_string().to_lowercase());
    let mut value =
        interval::parse(text, unit.as_deref()).map_err(|error| at(error, &*it.value))?;
    if let Some(digits @ 0..6) = it.fractional_seconds_precision {
        let unit = 10i64.pow(6 - digits as u32);
        let half = if value.micros < 0 { -unit / 2 } else { unit / 2 };
        value.micros = value.micros.saturating_add(half) / unit * unit;
    }
    Ok(Expr::literal(held_interval(value), DataType::Interval))
}
