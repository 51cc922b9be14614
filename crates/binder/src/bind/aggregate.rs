//! Calls of aggregate functions.

use plan::build::null;
use plan::relation::Rel;
use plan::{Aggregate, AggregateFunction, Expr, ExprKind, Function};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::numeric;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, name_of};
use super::errors::{at, unsupported};
use super::level::Clause;
use super::scope::{Columns, Meaning};

/// The aggregate functions by name.
pub(super) const NAMES: &[(&str, AggregateFunction)] = &[
    ("count", AggregateFunction::Count),
    ("sum", AggregateFunction::Sum),
    ("avg", AggregateFunction::Average),
    ("mean", AggregateFunction::Average),
    ("min", AggregateFunction::Min),
    ("max", AggregateFunction::Max),
    ("bool_and", AggregateFunction::Min),
    ("every", AggregateFunction::Min),
    ("bool_or", AggregateFunction::Max),
    // Any value that is not NULL; the least, so that it is always the same.
    ("any_value", AggregateFunction::Min),
];

/// The names of all aggregate functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|it| it.0)
}

/// The aggregate function of a name.
pub(super) fn by_name(name: &str) -> Option<AggregateFunction> {
    NAMES.iter().find(|it| it.0 == name).map(|it| it.1)
}

impl<'a> Binder<'a> {
    /// A call of an aggregate function.
    pub(super) fn aggregate(
        &mut self,
        function: AggregateFunction,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if !call.within_group.is_empty() || call.null_treatment.is_some() {
            return Err(unsupported("WITHIN GROUP, or IGNORE NULLS,", whole));
        }
        let FunctionArguments::List(list) = &call.args else {
            return Err(wrong_arguments(name, "", whole));
        };
        let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
        let before = self.level().clause;
        let known = self.level().left_out.len();
        let (argument, filter) = self.in_clause(Clause::Aggregate, |this| {
            let argument = this.argument(function, name, list, distinct, whole)?;
            // The order of what is counted, summed or compared changes nothing.
            for clause in &list.clauses {
                match clause {
                    ast::FunctionArgumentClause::OrderBy(keys) => {
                        keys.iter().try_for_each(|it| this.expr(&it.expr).map(|_| ()))?;
                    }
                    _ => return Err(unsupported("this clause in an aggregate", whole)),
                }
            }
            let filter = call.filter.as_deref().map(|it| this.condition(it)).transpose()?;
            Ok((argument, filter))
        })?;
        let left_out = self.level().left_out.split_off(known);
        let used: Vec<&Expr> = argument.iter().chain(&filter).chain(&left_out).collect();
        let owner = self.owner(&used);
        debug_assert_eq!(self.level().clause, before);
        self.check_aggregate(owner, whole)?;
        if let Some(argument) = argument.as_ref().filter(|it| it.data_type == DataType::Interval)
            && matches!(function, AggregateFunction::Sum | AggregateFunction::Average)
        {
            if distinct {
                return Err(unsupported(&format!("{name}(DISTINCT interval)"), whole));
            }
            return self.of_intervals(function, argument, filter, owner, whole);
        }
        let aggregate = call_of(function, name, argument, distinct, filter, whole)?;
        Ok(self.aggregate_column(aggregate, owner))
    }

    /// A sum of intervals by the sums of their parts; a mean is that, divided by their number.
    fn of_intervals(
        &mut self,
        function: AggregateFunction,
        argument: &Expr,
        filter: Option<Expr>,
        owner: usize,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let parts = [Function::IntervalMonths, Function::IntervalDays, Function::IntervalMicros];
        let mut sums = Vec::with_capacity(3);
        for part in parts {
            let copy = self.copy(argument)?;
            let part = self.fold_call(part, vec![copy], DataType::BigInt)?;
            let sum = AggregateFunction::Sum;
            let sum = call_of(sum, "sum", Some(part), false, filter.clone(), whole)?;
            sums.push(fold_cast(self.aggregate_column(sum, owner), DataType::BigInt));
        }
        let sum = self.fold_call(Function::IntervalOfParts, sums, DataType::Interval)?;
        if function == AggregateFunction::Sum {
            return Ok(sum);
        }
        let argument = Some(self.copy(argument)?);
        let count = AggregateFunction::Count;
        let count = call_of(count, "count", argument, false, filter, whole)?;
        let count = self.aggregate_column(count, owner);
        // Of no rows there is no sum, and of a count of zero no quotient is asked for.
        let rows = Expr::literal(Value::Null, DataType::BigInt);
        let zero = Expr::literal(Value::Integer(0), DataType::BigInt);
        let none = plan::build::compare(plan::BinaryOperator::Equal, count.clone(), zero);
        let branches = vec![(none, rows)];
        let kind = ExprKind::Case { branches, otherwise: Some(Box::new(count)) };
        let divisor = Expr { kind, data_type: DataType::BigInt };
        let both = vec![sum, fold_cast(divisor, DataType::Double)];
        self.fold_call(Function::DivideInterval, both, DataType::Interval)
    }

    /// An aggregate of a SELECT, computed once however often it is asked for.
    fn aggregate_column(&mut self, aggregate: Aggregate, owner: usize) -> Expr {
        let (function, data_type) = (aggregate.function, aggregate.data_type);
        let known = self.levels[owner].calls.iter().find(|it| {
            it.1 == aggregate && it.1.argument.iter().chain(&it.1.filter).all(super::is_repeatable)
        });
        let attr = match known {
            Some((attr, _)) => *attr,
            None => {
                let attr = self.attribute(data_type, function != AggregateFunction::Count);
                self.levels[owner].calls.push((attr, aggregate));
                attr
            }
        };
        Expr::column(attr, data_type)
    }

    /// The argument of an aggregate; `None` of `count(*)`.
    pub(super) fn argument(
        &mut self,
        function: AggregateFunction,
        name: &str,
        list: &'a ast::FunctionArgumentList,
        distinct: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Expr>> {
        let counts = function == AggregateFunction::Count;
        match &list.args[..] {
            [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] if counts && !distinct => Ok(None),
            [FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(of))]
                if counts && !distinct =>
            {
                self.whole_row_marker(of).map(Some)
            }
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))] => {
                if let ast::Expr::Identifier(row) = expr
                    && self.is_relation(row)
                {
                    return self.of_whole_row(name, row, counts && !distinct, whole).map(Some);
                }
                if super::comparison::row_of(expr).is_some() {
                    return Err(unsupported("an aggregate of rows of values", whole));
                }
                let bound = self.expr(expr)?;
                match bound.data_type {
                    DataType::Null => self.coerce(bound, DataType::Text, expr).map(Some),
                    _ => Ok(Some(bound)),
                }
            }
            [] => Err(wrong_arguments(name, "", whole)),
            [_] => Err(wrong_arguments(name, "*", whole)),
            _ => Err(unsupported(&format!("{name} of several arguments"), whole)),
        }
    }

    /// The argument of an aggregate of whole rows, of which PostgreSQL has those that count and compare.
    fn of_whole_row(
        &mut self,
        name: &str,
        row: &ast::Ident,
        counts: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match name {
            _ if counts => self.whole_row_marker(&ast::ObjectName::from(vec![row.clone()])),
            "count" | "min" | "max" | "any_value" => {
                Err(unsupported(&format!("{name} of whole rows"), whole))
            }
            _ => Err(wrong_arguments(name, &crate::syntax::ident(row), whole)),
        }
    }

    /// Whether a bare name means the rows of a relation, being no column in view.
    pub(super) fn is_relation(&self, name: &ast::Ident) -> bool {
        let mut frames = self.levels.iter().map(|it| &it.frame);
        frames.clone().all(|it| it.find(name) == Meaning::Nothing)
            && frames.any(|it| it.relation(None, name).is_some())
    }

    /// A value that is not NULL exactly where a relation has a row: a constant beside its rows, below the outer joins.
    fn whole_row_marker(&mut self, of: &ast::ObjectName) -> SqlResult<Expr> {
        let first = {
            let relation = self.whole_row(of)?;
            match &relation.columns {
                Columns::Table(_, base) => Some(*base),
                Columns::Made(columns) => columns.first().map(|it| it.attr),
            }
        };
        let marker = self.attribute(DataType::Boolean, false);
        let always = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let mut input = self.level().input.take();
        let found = first.is_some_and(|it| mark_rows(&mut input, it, marker, &always));
        self.level().input = input;
        match found {
            true => Ok(self.column_expr(marker)),
            false => Err(unsupported("count(t.*) of this relation", of)),
        }
    }
}

/// Adds a marker to the relation below the joins that offers an attribute.
fn mark_rows(rel: &mut Rel, attr: usize, marker: usize, value: &Expr) -> bool {
    match rel {
        Rel::Filter { input, .. } => mark_rows(input, attr, marker, value),
        Rel::Join(join) => {
            mark_rows(&mut join.left, attr, marker, value)
                || mark_rows(&mut join.right, attr, marker, value)
        }
        Rel::Apply(apply) => mark_rows(&mut apply.left, attr, marker, value),
        other if other.attrs().contains(attr) => {
            let input = Box::new(other.take());
            *other = Rel::Map { input, exprs: vec![(marker, value.clone())] };
            true
        }
        _ => false,
    }
}

pub(super) fn wrong_arguments(name: &str, shown: &str, whole: &ast::Expr) -> SqlError {
    let message = match (name, shown) {
        ("count", "") => {
            "count(*) must be used to call a parameterless aggregate function".to_owned()
        }
        _ => format!("function {name}({shown}) does not exist"),
    };
    at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole)
}

/// An aggregate of a value, with the type of its result.
pub(super) fn call_of(
    function: AggregateFunction,
    name: &str,
    argument: Option<Expr>,
    distinct: bool,
    filter: Option<Expr>,
    whole: &ast::Expr,
) -> SqlResult<Aggregate> {
    let own = argument.as_ref().map_or(DataType::Null, |it| it.data_type);
    let truth = matches!(name, "bool_and" | "bool_or" | "every");
    let ordered = own.is_numeric()
        || own.stored() != own
        || own.is_text()
        || matches!(own, DataType::Date | DataType::Timestamp);
    // As in PostgreSQL, UUIDs have an order but no least one.
    let ordered = ordered && own != DataType::Uuid;
    let data_type = match function {
        AggregateFunction::Count => Some(DataType::BigInt),
        AggregateFunction::Sum => numeric::sum_type(own),
        AggregateFunction::Average => numeric::average_type(own),
        _ if truth => (own == DataType::Boolean).then_some(own),
        _ if name == "any_value" => Some(own),
        // A text has no limit of length any more.
        _ if ordered => Some(if let DataType::Varchar(_) = own { DataType::Text } else { own }),
        _ => None,
    };
    let Some(data_type) = data_type else {
        return Err(wrong_arguments(name, &name_of(own), whole));
    };
    let argument = argument.map(|it| match function {
        AggregateFunction::Sum | AggregateFunction::Average if data_type.is_float() => {
            fold_cast(it, data_type)
        }
        _ => it,
    });
    let argument = match distinct {
        true if function == AggregateFunction::Count => argument.map(super::coercion::key_of),
        _ => argument,
    };
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
    Ok(Aggregate { function, argument, distinct: distinct && !extreme, filter, data_type })
}
