//! Expressions as text.

use std::fmt::Write as _;

use types::{DataType, Value, numeric};

use crate::{
    Aggregate, AggregateFunction, Exclusion, Expr, ExprKind, Frame, FrameBound, FrameUnit, SortKey,
    UnaryOperator, WindowCall, WindowFunction,
};

/// The column of a place. A plan that is not sound may have none there.
pub(super) fn column(place: usize, names: &[String]) -> String {
    names.get(place).cloned().unwrap_or_else(|| format!("#{place}"))
}

pub(super) fn list(exprs: &[Expr], names: &[String]) -> String {
    exprs.iter().map(|it| expr(it, names)).collect::<Vec<_>>().join(", ")
}

pub(super) fn sort_key(key: &SortKey, names: &[String]) -> String {
    // Postgres: NULL counts as greater than all values, so only the other way is said.
    let nulls = match (key.descending, key.nulls_first) {
        (false, true) => " nulls first",
        (true, false) => " nulls last",
        _ => "",
    };
    let descending = if key.descending { " desc" } else { "" };
    format!("{}{descending}{nulls}", expr(&key.expr, names))
}

pub(super) fn aggregate(it: &Aggregate, names: &[String]) -> String {
    let name = it.function.name();
    let argument = it.argument.as_ref().map_or_else(|| "*".to_owned(), |it| expr(it, names));
    let filter = it.filter.as_ref().map(|it| format!(" filter {}", expr(it, names)));
    let distinct = if it.distinct { "distinct " } else { "" };
    let rest: String = it.rest.iter().map(|it| format!(", {}", expr(it, names))).collect();
    let keys: Vec<String> = it.order.iter().map(|it| sort_key(it, names)).collect();
    let order = if keys.is_empty() { String::new() } else { format!(" by {}", keys.join(", ")) };
    format!("{name}({distinct}{argument}{rest}{order}){}", filter.unwrap_or_default())
}

/// A window function, less its partition and order.
pub(super) fn window(it: &WindowCall, names: &[String]) -> String {
    let stars = it.function == WindowFunction::Aggregate(AggregateFunction::Count);
    let arguments = match &it.arguments[..] {
        [] if stars => "*".to_owned(),
        all => list(all, names),
    };
    let nulls = if it.ignore_nulls { " ignore nulls" } else { "" };
    let filter = it.filter.as_ref().map(|it| format!(" filter {}", expr(it, names)));
    let frame = match it.function.has_frame() && it.frame != Frame::default() {
        true => format!(" over {}", frame(&it.frame, names)),
        false => String::new(),
    };
    format!("{}({arguments}){nulls}{}{frame}", it.function.name(), filter.unwrap_or_default())
}

fn frame(it: &Frame, names: &[String]) -> String {
    let unit = match it.unit {
        FrameUnit::Rows => "rows",
        FrameUnit::Range => "range",
        FrameUnit::Groups => "groups",
    };
    let bound = |it: &FrameBound, unbounded: &str| match it {
        FrameBound::Unbounded => format!("unbounded {unbounded}"),
        FrameBound::CurrentRow => "current row".to_owned(),
        FrameBound::Preceding(it) => format!("{} preceding", expr(it, names)),
        FrameBound::Following(it) => format!("{} following", expr(it, names)),
        FrameBound::Value(it) => format!("value {}", expr(it, names)),
    };
    let exclusion = match it.exclusion {
        Exclusion::Nothing => "",
        Exclusion::CurrentRow => " exclude current row",
        Exclusion::Group => " exclude group",
        Exclusion::Ties => " exclude ties",
    };
    let (start, end) = (bound(&it.start, "preceding"), bound(&it.end, "following"));
    format!("{unit} between {start} and {end}{exclusion}")
}

/// An expression as text; its columns have these names.
pub(super) fn expr(it: &Expr, names: &[String]) -> String {
    let expr = |it: &Expr| expr(it, names);
    let not = |negated: &bool| if *negated { "not " } else { "" };
    match &it.kind {
        ExprKind::Column(place) => column(*place, names),
        ExprKind::Literal(value) => literal(value, it.data_type),
        ExprKind::Parameter(number) => format!("${}", number + 1),
        ExprKind::Scalar(id) => format!("value of pipeline {}", id.index()),
        ExprKind::Binary { operator, left, right } => {
            format!("({} {} {})", expr(left), operator.sql().to_lowercase(), expr(right))
        }
        ExprKind::Unary { operator, operand } => {
            let operand = expr(operand);
            match operator {
                UnaryOperator::Not => format!("not {operand}"),
                UnaryOperator::Negate => format!("-{operand}"),
                UnaryOperator::IsNull => format!("{operand} is null"),
                UnaryOperator::IsNotNull => format!("{operand} is not null"),
                UnaryOperator::IsTrue => format!("{operand} is true"),
                UnaryOperator::IsFalse => format!("{operand} is false"),
                UnaryOperator::IsNotTrue => format!("{operand} is not true"),
                UnaryOperator::IsNotFalse => format!("{operand} is not false"),
            }
        }
        ExprKind::Case { branches, otherwise } => {
            let mut out = String::from("case");
            for (condition, result) in branches {
                let _ = write!(out, " when {} then {}", expr(condition), expr(result));
            }
            if let Some(otherwise) = otherwise {
                let _ = write!(out, " else {}", expr(otherwise));
            }
            out + " end"
        }
        ExprKind::InList { operand, list, negated } => {
            let of = operand.data_type;
            let values: Vec<String> = list.iter().map(|it| literal(it, of)).collect();
            format!("{} {}in ({})", expr(operand), not(negated), values.join(", "))
        }
        ExprKind::Like { operand, pattern, case_insensitive, negated, .. } => {
            let name = if *case_insensitive { "ilike" } else { "like" };
            let pattern = pattern.replace('\'', "''");
            format!("{} {}{name} '{pattern}'", expr(operand), not(negated))
        }
        ExprKind::Cast(inner) => format!("cast({} as {})", expr(inner), it.data_type),
        ExprKind::Extract { field, operand } => {
            format!("extract({} from {})", format!("{field:?}").to_lowercase(), expr(operand))
        }
        ExprKind::Substring { operand, start, length } => {
            let length = length.map(|it| format!(", {it}")).unwrap_or_default();
            format!("substring({}, {start}{length})", expr(operand))
        }
        ExprKind::Call { function, arguments } => {
            format!("{}({})", function.name(), list(arguments, names))
        }
    }
}

/// A value as SQL has it; of an array or a number of any scale, not as it is held.
fn literal(value: &Value, of: DataType) -> String {
    if let (Value::Text(held), DataType::Numeric) = (value, of) {
        let mut text = String::new();
        // Where all numbers end that are equal to one.
        match held.strip_suffix(numeric::number::END_OF_EQUALS) {
            Some(key) => {
                text.push_str("behind ");
                numeric::number::written(key, &mut text);
            }
            None => numeric::number::written(held, &mut text),
        }
        return text;
    }
    let shown = match of {
        DataType::Array(_)
        | DataType::Enum(_)
        | DataType::Network(_)
        | DataType::Range(_)
        | DataType::Multirange(_) => numeric::cast(value, of, DataType::Text).ok(),
        _ => None,
    };
    shown.as_ref().unwrap_or(value).to_string()
}
