//! Types that meet: unknown constants take the type that their surroundings ask for, other values are converted where
//! PostgreSQL converts them unasked.

use plan::build::cast;
use plan::{Expr, ExprKind};
use sqlparser::ast::Spanned;
use types::array::Items;
use types::numeric::{self, common_type, interval};
use types::{
    DataType, Element, Range, SqlError, SqlResult, SqlState, Styles, Value, Zone, structs,
};

use super::Binder;
use super::errors::at;

/// A type as PostgreSQL's errors name it.
pub(super) fn name_of(data_type: DataType) -> String {
    match data_type {
        DataType::Null => "unknown".to_owned(),
        DataType::Decimal { .. } | DataType::Numeric => "numeric".to_owned(),
        DataType::Timestamp => "timestamp without time zone".to_owned(),
        DataType::TimestampTz => "timestamp with time zone".to_owned(),
        DataType::Bits(it) => it.name().to_owned(),
        DataType::Time => "time without time zone".to_owned(),
        DataType::TimeTz => "time with time zone".to_owned(),
        DataType::Char(_) | DataType::Bpchar => "character".to_owned(),
        DataType::Varchar(_) => "character varying".to_owned(),
        DataType::Enum(it) => it.to_string(),
        DataType::Array(element) => format!("{}[]", name_of(element.data_type())),
        nested @ (DataType::Struct(_) | DataType::Map(_)) => numeric::errors::type_name(nested),
        DataType::Letter => "\"char\"".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

/// The type in which values meet, `Null` of unknown constants alone.
pub(super) fn common(types: impl Iterator<Item = DataType>, what: &str) -> SqlResult<DataType> {
    let mut known = DataType::Null;
    for data_type in types {
        known = common_type(known, data_type).ok_or_else(|| {
            let message = format!(
                "{what} types {} and {} cannot be matched",
                name_of(known),
                name_of(data_type)
            );
            SqlError::new(SqlState::DATATYPE_MISMATCH, message)
        })?;
    }
    Ok(known)
}

impl Binder<'_> {
    /// Brings expressions to the type in which they meet, text if nothing is known of any.
    pub(super) fn unify(&mut self, exprs: &mut [Expr], what: &str) -> SqlResult<DataType> {
        adopt_arrays(exprs);
        let data_type = match common(exprs.iter().map(|it| it.data_type), what)? {
            DataType::Null => DataType::Text,
            known => exprs.iter().fold(known, roomy),
        };
        for expr in exprs {
            let taken = std::mem::replace(expr, plan::build::null(DataType::Null));
            *expr = self.converted(taken, data_type)?;
        }
        Ok(data_type)
    }

    /// An expression in a type that it is known to convert to.
    pub(super) fn converted(&mut self, expr: Expr, to: DataType) -> SqlResult<Expr> {
        match expr.data_type {
            DataType::Null => self.coerce_unknown(expr, to),
            _ => Ok(fold_cast(expr, to)),
        }
    }

    /// A value as a column stores it that is held as another type: a text in an array that is too long is an error.
    pub(super) fn stored_as(&mut self, expr: Expr, to: DataType) -> SqlResult<Expr> {
        match to {
            _ if structs::is_nested(to) && expr.data_type != to => {
                let roomy = structs::unlimited(to)?;
                let value = self.converted(expr, roomy)?;
                Ok(match roomy == to {
                    true => value,
                    false => nested_call(plan::Function::NestedFit, value, to),
                })
            }
            DataType::Bits(of) if expr.data_type != to => {
                let value = self.converted(expr, DataType::Bits(of.unlimited()))?;
                Ok(match of.length() {
                    Some(_) => nested_call(plan::Function::NestedFit, value, to),
                    None => value,
                })
            }
            DataType::Array(Element::Bits(of)) if of.length().is_some() && expr.data_type != to => {
                let value = self.converted(expr, DataType::Array(Element::Bits(of.unlimited())))?;
                Ok(nested_call(plan::Function::NestedFit, value, to))
            }
            DataType::Array(Element::Varchar(_) | Element::Char(_)) if expr.data_type != to => {
                let texts = self.converted(expr, DataType::Array(Element::Text))?;
                self.fold_call(plan::Function::ArrayFit, vec![texts], to)
            }
            _ => self.converted(expr, to),
        }
    }

    /// An expression where a type is needed: converted as PostgreSQL does unasked, else an error.
    pub(super) fn coerce(
        &mut self,
        expr: Expr,
        to: DataType,
        node: &impl Spanned,
    ) -> SqlResult<Expr> {
        let from = expr.data_type;
        if from == DataType::Null {
            return self.coerce_unknown(expr, to).map_err(|it| at(it, node));
        }
        if from != to && !numeric::is_implicit(from, to) {
            let message = format!("{} is expected here, not {}", name_of(to), name_of(from));
            let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message);
            return Err(at(error.with_hint("write a CAST"), node));
        }
        Ok(fold_cast(expr, to))
    }

    /// A constant as a value of a type, in the time zone of the session where it names none.
    pub(super) fn read(&mut self, value: &Value, to: DataType) -> SqlResult<Value> {
        self.read_by(numeric::cast_in, value, to)
    }

    /// The same, with NULL in the place of what is no value of the type.
    pub(super) fn try_read(&mut self, value: &Value, to: DataType) -> SqlResult<Value> {
        self.read_by(numeric::try_cast_in, value, to)
    }

    fn read_by(
        &mut self,
        cast: fn(&Value, DataType, DataType, &Zone) -> SqlResult<Value>,
        value: &Value,
        to: DataType,
    ) -> SqlResult<Value> {
        if let (DataType::TimestampTz, Value::Text(text)) = (to, value)
            && !numeric::datetime::names_zone(text)
        {
            self.is_stable = false;
        }
        if let (DataType::TimeTz, Value::Text(text)) = (to, value)
            && !numeric::datetime::names_clocks(text)
        {
            self.is_stable = false;
        }
        if let Value::Text(text) = value
            && self.is_own_text()
            && let Some(absolute) = super::relative_days::absolute(
                text,
                to,
                self.environment.now.transaction,
                &self.environment.session.zone(),
            )
        {
            self.is_stable = false;
            let value = Value::Text(absolute.into());
            return self
                .read_in_style(&value, to, |value, zone| cast(value, DataType::Text, to, zone));
        }
        self.read_in_style(value, to, |value, zone| cast(value, DataType::Text, to, zone))
    }

    /// A constant or a parameter of unknown type as a value of a type.
    pub(super) fn coerce_unknown(&mut self, expr: Expr, to: DataType) -> SqlResult<Expr> {
        match expr.kind {
            ExprKind::Literal(Value::Null) => Ok(Expr::literal(Value::Null, to)),
            ExprKind::Literal(value) => {
                let value = match to {
                    // A limit of length is for values that are stored or cast.
                    DataType::Varchar(_) | DataType::Text | DataType::Name => value,
                    _ => self.read(&value, to)?,
                };
                let to = match to {
                    DataType::Varchar(_) | DataType::Name => DataType::Text,
                    to => to,
                };
                Ok(Expr::literal(value, to))
            }
            ExprKind::Parameter(number) => {
                let known = *self.parameters.entry(number).get_or_insert(to.plain());
                Ok(cast(Expr { kind: ExprKind::Parameter(number), data_type: known }, to))
            }
            kind => Ok(cast(Expr { kind, data_type: DataType::Text }, to)),
        }
    }
}

/// Gives arrays without a value, `[]` and `[NULL]`, the type of those beside them that have some.
fn adopt_arrays(exprs: &mut [Expr]) {
    let is_array = |it: &&Expr| it.data_type.element().is_some();
    let found = exprs.iter().filter(is_array).find(|it| !is_without_value(it));
    let Some(data_type) = found.map(|it| it.data_type) else { return };
    for expr in exprs.iter_mut().filter(|it| is_without_value(it)) {
        expr.data_type = data_type;
    }
}

/// Whether an expression is an array in which nothing tells the type: it is held alike in any.
pub(super) fn is_without_value(expr: &Expr) -> bool {
    let (ExprKind::Literal(Value::Text(held)), Some(_)) = (&expr.kind, expr.data_type.element())
    else {
        return false;
    };
    Items::new(held).all(types::array::is_null)
}

/// A type like the known one that also holds a constant of unknown type: that is neither cut nor rounded, because it has no
/// limit of length or digits until it is stored or cast.
pub(super) fn roomy(known: DataType, expr: &Expr) -> DataType {
    let (ExprKind::Literal(Value::Text(text)), DataType::Null) = (&expr.kind, expr.data_type)
    else {
        return match (known, expr.data_type) {
            (DataType::Varchar(_), DataType::Null) => DataType::VARCHAR,
            (DataType::Bits(it), DataType::Null) => DataType::Bits(it.unlimited()),
            _ => known,
        };
    };
    match known {
        DataType::Varchar(_) => DataType::VARCHAR,
        DataType::Char(n) if text.chars().count() == n as usize => known,
        DataType::Char(_) => DataType::Bpchar,
        DataType::Bits(it) => DataType::Bits(it.unlimited()),
        DataType::Decimal { .. } => match numeric::parse_literal(text.trim()) {
            Ok((_, own)) => common_type(known, own).unwrap_or(known),
            // What is no number is an error when it is converted.
            Err(_) => known,
        },
        _ => known,
    }
}

/// Whether values of a type may be equal and yet look different, so that they are compared by keys.
pub(super) fn has_key(data_type: DataType) -> bool {
    data_type.has_key()
}

/// What values are compared by: CHAR without the blanks that do not count, the span of an interval, the
/// order of JSONB; anything else as it is.
pub(super) fn key_of(expr: Expr) -> Expr {
    match expr.data_type {
        DataType::Bpchar => fold_cast(expr, DataType::Char(u32::MAX)),
        DataType::Interval => span_of(expr),
        DataType::Jsonb => json_key_of(expr),
        DataType::Numeric => number_key_of(expr),
        nested if structs::is_nested(nested) && has_key(nested) => {
            nested_call(plan::Function::NestedKey, expr, structs::key_type(nested))
        }
        ranges if ranges.range().is_some() && has_key(ranges) => {
            nested_call(plan::Function::NestedKey, expr, structs::key_type(ranges))
        }
        DataType::Array(Element::Bpchar) => {
            fold_cast(expr, DataType::Array(Element::Char(u32::MAX)))
        }
        DataType::Array(Element::Jsonb) => {
            let kind = ExprKind::Call { function: plan::Function::JsonKey, arguments: vec![expr] };
            Expr { kind, data_type: DataType::Array(Element::Text) }
        }
        DataType::Array(
            Element::Numeric | Element::Range(Range::Num) | Element::Multirange(Range::Num),
        ) => nested_call(plan::Function::NestedKey, expr, DataType::Array(Element::Text)),
        DataType::Array(Element::Interval) => {
            let data_type = DataType::Array(Element::Decimal { precision: 21, scale: 0 });
            let kind = ExprKind::Call {
                function: plan::Function::ArrayIntervalKeys,
                arguments: vec![expr],
            };
            Expr { kind, data_type }
        }
        _ => expr,
    }
}

/// A call that knows the type of its argument.
pub(super) fn nested_call(function: plan::Function, expr: Expr, data_type: DataType) -> Expr {
    if let ExprKind::Literal(value) = &expr.kind
        && let Ok(made) =
            functions::evaluate(function, &[(value.clone(), expr.data_type)], data_type)
    {
        return Expr::literal(made, data_type);
    }
    Expr { kind: ExprKind::Call { function, arguments: vec![expr] }, data_type }
}

fn json_key_of(expr: Expr) -> Expr {
    let data_type = DataType::Text;
    if let ExprKind::Literal(value) = &expr.kind {
        let key = match value {
            Value::Text(held) => types::json::order_key(held).map(|it| Value::Text(it.into())),
            _ => Ok(Value::Null),
        };
        if let Ok(key) = key {
            return Expr::literal(key, data_type);
        }
    }
    let kind = ExprKind::Call { function: plan::Function::JsonKey, arguments: vec![expr] };
    Expr { kind, data_type }
}

/// A number of any scale without the zeros at its end, which do not count.
fn number_key_of(expr: Expr) -> Expr {
    let data_type = DataType::Numeric;
    match &expr.kind {
        ExprKind::Literal(Value::Text(held)) => {
            Expr::literal(Value::Text(numeric::number::key_of(held).into()), data_type)
        }
        ExprKind::Literal(_) | ExprKind::Call { function: plan::Function::TrimScale, .. } => expr,
        // A whole number has none.
        ExprKind::Cast(from) if from.data_type.plain().is_integer() => expr,
        _ => {
            let kind =
                ExprKind::Call { function: plan::Function::TrimScale, arguments: vec![expr] };
            Expr { kind, data_type }
        }
    }
}

fn span_of(expr: Expr) -> Expr {
    let data_type = DataType::Decimal { precision: 21, scale: 0 };
    if let ExprKind::Literal(value) = &expr.kind {
        let span = match value.as_i128() {
            Some(held) => Value::Decimal { unscaled: interval::key_of(held), scale: 0 },
            None => Value::Null,
        };
        return Expr::literal(span, data_type);
    }
    let kind = ExprKind::Call { function: plan::Function::IntervalKey, arguments: vec![expr] };
    Expr { kind, data_type }
}

/// CHAR with the blanks that fill it, as patterns and functions of its characters see it; anything else as it is.
pub(super) fn with_blanks(expr: Expr) -> Expr {
    match expr.data_type {
        DataType::Char(_) => fold_cast(expr, DataType::Bpchar),
        _ => expr,
    }
}

/// A value of a declared type as one of the plain type that operators and functions know; anything else as it is.
pub(super) fn plain(expr: Expr) -> Expr {
    let to = expr.data_type.plain();
    if expr.data_type == to { expr } else { fold_cast(expr, to) }
}

/// A conversion, done at once where the operand is a constant. One that fails is left for who needs its value.
pub(super) fn fold_cast(expr: Expr, to: DataType) -> Expr {
    if let ExprKind::Literal(value) = &expr.kind
        && expr.data_type != to
        && expr.data_type != DataType::Null
        && !numeric::depends_on_zone(expr.data_type, to)
        && !Styles::decide_texts(expr.data_type, to)
        && let Ok(converted) = numeric::cast(value, expr.data_type, to)
    {
        return Expr::literal(converted, to);
    }
    cast(expr, to)
}
