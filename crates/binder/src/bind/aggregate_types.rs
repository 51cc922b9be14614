//! What an aggregate is of its arguments: types, conversions, and those that are made of others.

use plan::build::{null, unary};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, SortKey, UnaryOperator};
use sqlparser::ast;
use types::structs;
use types::{Bits, DataType, SqlError, SqlResult, SqlState, Value, numeric};

use super::Binder;
use super::coercion::{fold_cast, key_of, name_of};
use super::errors::{at, unsupported};

/// What stands in a call of an aggregate function.
#[derive(Default)]
pub(super) struct Given {
    /// The arguments; those of `count(*)` are none.
    pub arguments: Vec<Expr>,
    /// ORDER BY among them, or WITHIN GROUP.
    pub order: Vec<SortKey>,
    pub distinct: bool,
    pub filter: Option<Expr>,
}

impl Given {
    /// The arguments as an error shows them.
    fn shown(&self) -> String {
        let shown = self.arguments.iter().map(|it| name_of(it.data_type));
        shown.collect::<Vec<_>>().join(", ")
    }

    fn arguments<const N: usize>(&mut self, name: &str, whole: &ast::Expr) -> SqlResult<[Expr; N]> {
        let shown = self.shown();
        let all = std::mem::take(&mut self.arguments);
        all.try_into().map_err(|_| wrong_arguments(name, &shown, whole))
    }

    pub(super) fn also(&mut self, condition: Expr) {
        self.filter = Some(match self.filter.take() {
            Some(filter) => Expr::predicate(BinaryOperator::And, filter, condition),
            None => condition,
        });
    }
}

impl Binder<'_> {
    /// An aggregate of its arguments, with the type of its result.
    pub(super) fn aggregate_of(
        &mut self,
        function: AggregateFunction,
        name: &str,
        mut given: Given,
        whole: &ast::Expr,
    ) -> SqlResult<Aggregate> {
        use AggregateFunction::{
            AnyValue, ApproximateDistinct, ArrayAggregate, Average, BitAnd, BitOr, BitXor, Count,
            DeviationPopulation, DeviationSample, First, Last, Max, Min, Mode,
            PercentileContinuous, PercentileDiscrete, StringAggregate, Sum, VariancePopulation,
            VarianceSample,
        };
        match function {
            Count | Average if name.starts_with("regr_") => {
                self.of_pairs_alone(function, name, given, whole)
            }
            // Any value of an order is its first.
            Min if name == "any_value" && !given.order.is_empty() => {
                let [value] = given.arguments(name, whole)?;
                let value = self.decided(value)?;
                given.distinct = false;
                given.also(unary(UnaryOperator::IsNotNull, value.clone()));
                let data_type = value.data_type;
                Ok(made(First, [value], given, data_type))
            }
            Min | Max if is_compared_by_key(name, &given) => least(function, name, given, whole),
            Count | Sum | Average | Min | Max | AnyValue => {
                of_one_value(function, name, given, whole)
            }
            BitAnd | BitOr | BitXor => of_bits(function, name, given, whole),
            VariancePopulation | VarianceSample | DeviationPopulation | DeviationSample => {
                spread(function, name, given, whole)
            }
            StringAggregate => self.string_aggregate(name, given, whole),
            ArrayAggregate => self.array_aggregate(name, given, whole),
            First if name.contains('_') || name.starts_with("arg") => {
                let [value, by] = given.arguments(name, whole)?;
                let (value, by) = (self.decided(value)?, key_of(self.decided(by)?));
                given.also(unary(UnaryOperator::IsNotNull, value.clone()));
                given.also(unary(UnaryOperator::IsNotNull, by.clone()));
                let descending = name.contains("max");
                given.order = vec![SortKey { expr: by, descending, nulls_first: descending }];
                let data_type = value.data_type;
                Ok(made(First, [value], given, data_type))
            }
            First | Last => {
                let [value] = given.arguments(name, whole)?;
                let value = self.decided(value)?;
                // What comes twice changes nothing.
                given.distinct = false;
                let data_type = value.data_type;
                Ok(made(function, [value], given, data_type))
            }
            ApproximateDistinct => {
                let [value] = given.arguments(name, whole)?;
                let value = key_of(self.decided(value)?);
                (given.distinct, given.order) = (false, Vec::new());
                Ok(made(function, [value], given, DataType::BigInt))
            }
            PercentileContinuous | PercentileDiscrete | Mode => {
                self.percentile(function, name, given, whole)
            }
            _ => {
                let arguments = self.floats(&mut given, name, whole)?;
                Ok(made(function, arguments, given, DataType::Double))
            }
        }
    }

    /// An array of values; of arrays, one of a dimension more.
    fn array_aggregate(
        &mut self,
        name: &str,
        mut given: Given,
        whole: &ast::Expr,
    ) -> SqlResult<Aggregate> {
        if super::aggregate_names::is_of_json(name) {
            given = self.json_arguments(name, given).map_err(|it| at(it, whole))?;
        }
        let shown = given.shown();
        let [value] = given.arguments(name, whole)?;
        let value = self.decided(value)?;
        if name.starts_with("range_") {
            if value.data_type.range().is_none() {
                return Err(wrong_arguments(name, &shown, whole));
            }
            given.also(unary(UnaryOperator::IsNotNull, value.clone()));
        }
        let data_type = value.data_type.array().unwrap_or(value.data_type);
        Ok(made(AggregateFunction::ArrayAggregate, [value], given, data_type))
    }

    /// A value whose type is known.
    fn decided(&mut self, expr: Expr) -> SqlResult<Expr> {
        match expr.data_type {
            DataType::Null => self.coerce_unknown(expr, DataType::Text),
            _ => Ok(expr),
        }
    }

    /// A pair of arguments (y, x) as floats.
    fn floats(&mut self, given: &mut Given, name: &str, whole: &ast::Expr) -> SqlResult<[Expr; 2]> {
        let shown = given.shown();
        let number = |it: &Expr| it.data_type == DataType::Null || it.data_type.is_numeric();
        if !given.arguments.iter().all(number) {
            return Err(wrong_arguments(name, &shown, whole));
        }
        let [y, x] = given.arguments(name, whole)?;
        Ok([self.converted(y, DataType::Double)?, self.converted(x, DataType::Double)?])
    }

    /// Counts and means of pairs of which neither is NULL.
    fn of_pairs_alone(
        &mut self,
        function: AggregateFunction,
        name: &str,
        mut given: Given,
        whole: &ast::Expr,
    ) -> SqlResult<Aggregate> {
        if given.distinct {
            return Err(unsupported(&format!("DISTINCT in {name}"), whole));
        }
        let [y, x] = self.floats(&mut given, name, whole)?;
        let (value, other) = if name == "regr_avgx" { (x, y) } else { (y, x) };
        given.also(unary(UnaryOperator::IsNotNull, other));
        let data_type = match function {
            AggregateFunction::Count => DataType::BigInt,
            _ => DataType::Double,
        };
        Ok(made(function, [value], given, data_type))
    }

    fn string_aggregate(
        &mut self,
        name: &str,
        mut given: Given,
        whole: &ast::Expr,
    ) -> SqlResult<Aggregate> {
        let shown = given.shown();
        let is_text = |it: &Expr| it.data_type == DataType::Null || it.data_type.is_text();
        let is_bytes = |it: &Expr| matches!(it.data_type, DataType::Null | DataType::Bytea);
        // Bytes are held as texts.
        let of_bytes = given.arguments.iter().any(|it| it.data_type == DataType::Bytea)
            && given.arguments.iter().all(is_bytes);
        let to = if of_bytes { DataType::Bytea } else { DataType::Text };
        if name == "string_agg" && !of_bytes && !given.arguments.iter().all(is_text) {
            return Err(wrong_arguments(name, &shown, whole));
        }
        if name != "string_agg" && given.arguments.len() == 1 {
            given.arguments.push(Expr::literal(Value::Text(",".into()), DataType::Text));
        }
        let [value, delimiter] = given.arguments(name, whole)?;
        let text = |this: &mut Self, it: Expr| this.converted(it, to);
        let arguments = [text(self, value)?, text(self, delimiter)?];
        Ok(made(AggregateFunction::StringAggregate, arguments, given, to))
    }

    /// Percentiles, of a value and a share, and the most frequent value.
    fn percentile(
        &mut self,
        function: AggregateFunction,
        name: &str,
        mut given: Given,
        whole: &ast::Expr,
    ) -> SqlResult<Aggregate> {
        let shown = given.shown();
        if name == "median" {
            let half = Expr::literal(Value::Float(0.5), DataType::Double);
            given.arguments.push(half);
        }
        if function == AggregateFunction::Mode {
            let [value] = given.arguments(name, whole)?;
            let value = self.decided(value)?;
            let data_type = value.data_type;
            return Ok(made(function, [value], given, data_type));
        }
        let [value, share] = given.arguments(name, whole)?;
        let value = self.decided(value)?;
        if !(share.data_type == DataType::Null || share.data_type.is_numeric()) {
            return Err(wrong_arguments(name, &shown, whole));
        }
        let share = self.converted(share, DataType::Double)?;
        if let Some(Value::Float(it)) = super::constant(&share)
            && !(0.0..=1.0).contains(it)
        {
            let message = format!("percentile value {it} is not between 0 and 1");
            return Err(SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        let value = match function {
            AggregateFunction::PercentileContinuous if !value.data_type.is_numeric() => {
                return Err(wrong_arguments(name, &shown, whole));
            }
            AggregateFunction::PercentileContinuous => fold_cast(value, DataType::Double),
            _ => value,
        };
        for key in &mut given.order {
            // The order is that of the value as it is taken.
            key.expr = key_of(value.clone());
        }
        let data_type = value.data_type;
        Ok(made(function, [value, share], given, data_type))
    }
}

/// Whether the argument is a struct, a map or an array of them that compares by a key.
fn is_compared_by_key(name: &str, given: &Given) -> bool {
    name != "any_value"
        && matches!(&given.arguments[..], [one]
        if structs::is_nested(one.data_type) && one.data_type.has_key())
}

/// The least or the greatest value by their keys, as what is held has not their order.
fn least(
    function: AggregateFunction,
    name: &str,
    mut given: Given,
    whole: &ast::Expr,
) -> SqlResult<Aggregate> {
    let [value] = given.arguments(name, whole)?;
    super::json::check_ordering(value.data_type).map_err(|it| at(it, whole))?;
    given.distinct = false;
    given.also(unary(UnaryOperator::IsNotNull, value.clone()));
    let descending = function == AggregateFunction::Max;
    given.order = vec![SortKey { expr: value.clone(), descending, nulls_first: descending }];
    let data_type = value.data_type;
    Ok(made(AggregateFunction::First, [value], given, data_type))
}

/// Of the bits of integers.
fn of_bits(
    function: AggregateFunction,
    name: &str,
    mut given: Given,
    whole: &ast::Expr,
) -> SqlResult<Aggregate> {
    let shown = given.shown();
    let [argument] = given.arguments(name, whole)?;
    let data_type = argument.data_type;
    match data_type {
        DataType::Bits(_) => {
            let bits = DataType::Bits(Bits::Any);
            Ok(made(function, [fold_cast(argument, bits)], given, bits))
        }
        _ if data_type.is_integer() => Ok(made(function, [argument], given, data_type)),
        _ => Err(wrong_arguments(name, &shown, whole)),
    }
}

/// Variances and deviations: of exact numbers exact ones.
fn spread(
    function: AggregateFunction,
    name: &str,
    mut given: Given,
    whole: &ast::Expr,
) -> SqlResult<Aggregate> {
    let shown = given.shown();
    let [argument] = given.arguments(name, whole)?;
    let data_type = numeric::average_type(argument.data_type);
    let data_type = data_type.ok_or_else(|| wrong_arguments(name, &shown, whole))?;
    let argument = match data_type.is_float() {
        true => fold_cast(argument, data_type),
        false => argument,
    };
    Ok(made(function, [argument], given, data_type))
}

fn made<const N: usize>(
    function: AggregateFunction,
    arguments: [Expr; N],
    given: Given,
    data_type: DataType,
) -> Aggregate {
    let mut arguments = arguments.into_iter();
    let argument = arguments.next();
    let Given { distinct, filter, order, .. } = given;
    let unpadded = |it: SortKey| SortKey { expr: key_of(it.expr), ..it };
    let order = match function.has_order() {
        true => order.into_iter().map(unpadded).collect(),
        false => Vec::new(),
    };
    Aggregate { function, argument, rest: arguments.collect(), distinct, order, filter, data_type }
}

/// Counts, sums, means and extremes.
fn of_one_value(
    function: AggregateFunction,
    name: &str,
    given: Given,
    whole: &ast::Expr,
) -> SqlResult<Aggregate> {
    if given.arguments.len() > 1 {
        return Err(unsupported(&format!("{name} of several arguments"), whole));
    }
    let Given { mut arguments, distinct, filter, .. } = given;
    let argument = arguments.pop();
    let own = argument.as_ref().map_or(DataType::Null, |it| it.data_type);
    let truth = matches!(name, "bool_and" | "bool_or" | "every");
    let ordered = own.is_numeric()
        || own.stored() != own
        || own.is_text()
        || matches!(own, DataType::Date | DataType::Timestamp);
    // As in PostgreSQL, UUIDs, JSONB and ranges have an order but no least one.
    let ordered = ordered && own != DataType::Uuid && !own.is_json() && own.range().is_none();
    if distinct {
        super::json::check_equality(own).map_err(|it| at(it, whole))?;
    }
    let orders = matches!(function, AggregateFunction::Min | AggregateFunction::Max);
    if orders && name != "any_value" && structs::is_nested(own) {
        super::json::check_ordering(own).map_err(|it| at(it, whole))?;
    }
    let data_type = match function {
        AggregateFunction::Count if matches!(name, "count_if" | "countif") => {
            (own == DataType::Boolean).then_some(DataType::BigInt)
        }
        AggregateFunction::Count => Some(DataType::BigInt),
        AggregateFunction::Sum => numeric::sum_type(own),
        AggregateFunction::Average => numeric::average_type(own),
        _ if truth => (own == DataType::Boolean).then_some(own),
        _ if name == "any_value" => Some(own),
        // A text has no limit of length any more.
        _ if ordered && own.is_cut_text() => Some(DataType::Text),
        _ if ordered => Some(own),
        _ => None,
    };
    let Some(data_type) = data_type else {
        return Err(wrong_arguments(name, &name_of(own), whole));
    };
    let argument = argument.map(|it| match function {
        AggregateFunction::Sum | AggregateFunction::Average if data_type.is_float() => {
            fold_cast(it, data_type)
        }
        AggregateFunction::Count if matches!(name, "count_if" | "countif") => {
            let branches = vec![(it.clone(), it)];
            Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type: own }
        }
        AggregateFunction::Count if distinct => key_of(it),
        _ => it,
    });
    // A constant that is not NULL counts every row.
    let counted = |it: &Expr| super::constant(it).is_some_and(|it| !it.is_null());
    let all_rows =
        function == AggregateFunction::Count && !distinct && argument.as_ref().is_some_and(counted);
    let argument = argument.filter(|_| !all_rows);
    let extreme = matches!(function, AggregateFunction::Min | AggregateFunction::Max);
    let argument = match (argument, function) {
        (None, AggregateFunction::Count) => None,
        (Some(it), _) => Some(it),
        (None, _) => Some(null(data_type)),
    };
    let distinct = distinct && !extreme;
    Ok(Aggregate { distinct, filter, ..Aggregate::of(function, argument, data_type) })
}

/// The error for arguments that an aggregate does not take.
pub(super) fn wrong_arguments(name: &str, shown: &str, whole: &ast::Expr) -> SqlError {
    let message = match (name, shown) {
        ("count", "") => {
            "count(*) must be used to call a parameterless aggregate function".to_owned()
        }
        _ => format!("function {name}({shown}) does not exist"),
    };
    at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole)
}
