//! Calls of aggregate functions.

use plan::relation::{Apply, AttrSet, Rel};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::aggregate_names::{by_value, is_ordered_set, type_of_null};
use super::aggregate_types::{Given, wrong_arguments};
use super::coercion::fold_cast;
use super::errors::{at, unsupported};
use super::level::Clause;
use super::order::Ordering;
use super::scope::Meaning;

impl<'a> Binder<'a> {
    /// A call of an aggregate function.
    pub(super) fn aggregate(
        &mut self,
        function: AggregateFunction,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if call.null_treatment.is_some() {
            return Err(unsupported("IGNORE NULLS in an aggregate", whole));
        }
        let before = self.level().clause;
        let known = self.level().left_out.len();
        let given = self.in_clause(Clause::Aggregate, |this| {
            let mut given = match call.within_group.is_empty() {
                true => this.given(function, name, call, whole)?,
                false if is_ordered_set(name) => this.ordered_set(name, call, whole)?,
                false => return Err(this.no_ordered_set(name, call, whole)),
            };
            given.filter = call.filter.as_deref().map(|it| this.condition(it)).transpose()?;
            Ok(given)
        })?;
        let left_out = self.level().left_out.split_off(known);
        if let Some(argument) = interval_of(function, &given) {
            if given.distinct {
                return Err(unsupported(&format!("{name}(DISTINCT interval)"), whole));
            }
            let used: Vec<&Expr> =
                [&argument].into_iter().chain(&given.filter).chain(&left_out).collect();
            let owner = self.owner(&used, whole)?;
            let call = &mut |this: &mut Self, part| this.call_of_level(owner, part);
            return self.of_intervals(function, (argument, given.filter), whole, call);
        }
        let of_arrays = self.is_of_rows(call)
            || given.arguments.iter().any(|it| it.data_type.element().is_some());
        let aggregate = self.aggregate_of(function, name, given, whole)?;
        let name = by_value(name, aggregate.argument.as_ref());
        let used: Vec<&Expr> = aggregate.expressions().chain(&left_out).collect();
        let owner = self.owner(&used, whole)?;
        debug_assert_eq!(self.level().clause, before);
        let value = self.call_of_level(owner, aggregate);
        match function {
            // Wherever nothing is counted, none is.
            AggregateFunction::ApproximateDistinct => {
                let zero = Expr::literal(Value::Integer(0), DataType::BigInt);
                self.coalesce(vec![value, zero], whole)
            }
            _ => self.made_of_aggregate(name, value, of_arrays),
        }
    }

    /// A sum of intervals by the sums of their parts; a mean is that, divided by their number. `call` gives the value of an
    /// aggregate, of a level or over a window.
    pub(super) fn of_intervals(
        &mut self,
        function: AggregateFunction,
        (argument, filter): (Expr, Option<Expr>),
        whole: &'a ast::Expr,
        call: &mut dyn FnMut(&mut Self, Aggregate) -> Expr,
    ) -> SqlResult<Expr> {
        let parts = [Function::IntervalMonths, Function::IntervalDays, Function::IntervalMicros];
        let of = |argument: Expr| Given {
            arguments: vec![argument],
            filter: filter.clone(),
            ..Given::default()
        };
        let mut sums = Vec::with_capacity(3);
        for part in parts {
            let copy = self.copy(&argument)?;
            let part = self.fold_call(part, vec![copy], DataType::BigInt)?;
            let sum = self.aggregate_of(AggregateFunction::Sum, "sum", of(part), whole)?;
            sums.push(fold_cast(call(self, sum), DataType::BigInt));
        }
        let sum = self.fold_call(Function::IntervalOfParts, sums, DataType::Interval)?;
        if function == AggregateFunction::Sum {
            return Ok(sum);
        }
        let copy = self.copy(&argument)?;
        let count = self.aggregate_of(AggregateFunction::Count, "count", of(copy), whole)?;
        let count = call(self, count);
        // Of no rows there is no sum, and of a count of zero no quotient is asked for.
        let rows = Expr::literal(Value::Null, DataType::BigInt);
        let zero = Expr::literal(Value::Integer(0), DataType::BigInt);
        let none = plan::build::compare(BinaryOperator::Equal, count.clone(), zero);
        let branches = vec![(none, rows)];
        let kind = ExprKind::Case { branches, otherwise: Some(Box::new(count)) };
        let divisor = Expr { kind, data_type: DataType::BigInt };
        let both = vec![sum, fold_cast(divisor, DataType::Double)];
        self.fold_call(Function::DivideInterval, both, DataType::Interval)
    }

    /// The value of an aggregate of a level; equal ones are computed once.
    pub(super) fn call_of_level(&mut self, owner: usize, aggregate: Aggregate) -> Expr {
        let data_type = aggregate.data_type;
        let calls = &self.levels[owner].calls;
        let known = calls
            .iter()
            .find(|it| it.1 == aggregate && it.1.expressions().all(super::is_repeatable));
        let attr = match known {
            Some((attr, _)) => *attr,
            None => {
                let is_count = aggregate.function == AggregateFunction::Count;
                let attr = self.attribute(data_type, !is_count);
                self.levels[owner].calls.push((attr, aggregate));
                attr
            }
        };
        Expr::column(attr, data_type)
    }

    /// The arguments between the parentheses of a call, and their order.
    fn given(
        &mut self,
        function: AggregateFunction,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Given> {
        let FunctionArguments::List(list) = &call.args else {
            return Err(wrong_arguments(name, "", whole));
        };
        if name.starts_with("percentile_") && list.args.len() == 2
            || name == "mode" && list.args.is_empty()
        {
            let message = format!("WITHIN GROUP is required for ordered-set aggregate {name}");
            return Err(at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), whole));
        }
        let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
        let arguments = self.arguments(function, name, list, distinct, whole)?;
        let mut order = Vec::new();
        for clause in &list.clauses {
            let ast::FunctionArgumentClause::OrderBy(keys) = clause else {
                return Err(unsupported("this clause in an aggregate", whole));
            };
            for entry in Ordering::By(keys).expressions(0) {
                let Some(expr) = entry.expr else { continue };
                let bound = self.expr(expr)?;
                if distinct && !arguments.contains(&bound) {
                    let message = "in an aggregate with DISTINCT, ORDER BY expressions must appear \
                                   in argument list";
                    let state = SqlState::INVALID_COLUMN_REFERENCE;
                    return Err(at(SqlError::new(state, message), expr));
                }
                let bound = match bound.data_type {
                    DataType::Null => self.coerce_unknown(bound, DataType::Text)?,
                    _ => bound,
                };
                super::json::check_ordering(bound.data_type).map_err(|it| at(it, expr))?;
                order.push(entry.key(bound, self.order_defaults()));
            }
        }
        Ok(Given { arguments, order, distinct, filter: None })
    }

    /// The arguments of an aggregate; none of `count(*)`.
    pub(super) fn arguments(
        &mut self,
        function: AggregateFunction,
        name: &str,
        list: &'a ast::FunctionArgumentList,
        distinct: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Vec<Expr>> {
        if list.args.len() < 2 {
            let argument = self.argument(function, name, list, distinct, whole)?;
            return Ok(argument.into_iter().collect());
        }
        let bind = |it: &'a FunctionArg| match it {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.expr(expr),
            _ => Err(unsupported("a named argument, or * as one,", whole)),
        };
        list.args.iter().map(bind).collect()
    }

    /// The argument of an aggregate; `None` of `count(*)`.
    fn argument(
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
                // An array holds them as they were declared.
                let bound = match name {
                    "array_agg" | "list" => self.declared(expr)?,
                    _ => self.expr(expr)?,
                };
                match (&bound.kind, bound.data_type) {
                    (ExprKind::Literal(Value::Null), DataType::Null) => {
                        self.coerce_unknown(bound, type_of_null(function, name)).map(Some)
                    }
                    (_, DataType::Null) => self.coerce(bound, DataType::Text, expr).map(Some),
                    _ => Ok(Some(bound)),
                }
            }
            // As DuckDB has it.
            [] if name == "count" && !distinct => Ok(None),
            [] => Err(wrong_arguments(name, "", whole)),
            [_] => Err(wrong_arguments(name, "*", whole)),
            _ => Err(unsupported(&format!("{name} of several arguments"), whole)),
        }
    }

    /// The argument of an aggregate of whole rows.
    fn of_whole_row(
        &mut self,
        name: &str,
        row: &ast::Ident,
        counts: bool,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match name {
            _ if counts => self.whole_row_marker(&ast::ObjectName::from(vec![row.clone()])),
            "json_agg" | "jsonb_agg" | "json_agg_strict" | "jsonb_agg_strict" | "json\nagg" => {
                self.row_as_json(row, (",", DataType::Json), whole)
            }
            _ => self.row_of_relation(row).map_err(|it| at(it, whole)),
        }
    }

    /// Whether the only argument of a call is the name of a relation.
    fn is_of_rows(&self, call: &ast::Function) -> bool {
        let FunctionArguments::List(list) = &call.args else { return false };
        matches!(
            &list.args[..],
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(ast::Expr::Identifier(row)))]
                if self.is_relation(row)
        )
    }

    /// Whether a bare name means the rows of a relation, being no column in view.
    pub(super) fn is_relation(&self, name: &ast::Ident) -> bool {
        let mut frames = self.levels.iter().map(|it| &it.frame);
        frames.clone().all(|it| it.find(name) == Meaning::Nothing)
            && frames.any(|it| it.relation(None, name).is_some())
    }

    /// A value that is not NULL exactly where a relation has a row: a constant beside its rows, below the outer joins.
    pub(super) fn whole_row_marker(&mut self, of: &ast::ObjectName) -> SqlResult<Expr> {
        let relation = self.whole_row(of)?;
        let (rows, all) =
            (relation.all_attrs(), relation.columns.iter().map(|it| it.1).collect::<Vec<_>>());
        all.into_iter().for_each(|it| self.ask_column(it));
        let marker = self.attribute(DataType::Boolean, false);
        let always = Expr::literal(Value::Boolean(true), DataType::Boolean);
        let mut input = self.level().input.take();
        let found = !rows.is_empty() && mark_rows(&mut input, &rows, marker, &always);
        self.level().input = input;
        match found {
            true => Ok(self.column_expr(marker)),
            false => Err(unsupported("count(t.*) of this relation", of)),
        }
    }
}

/// What a sum or a mean of intervals is of.
pub(super) fn interval_of(function: AggregateFunction, given: &Given) -> Option<Expr> {
    let is_sum = matches!(function, AggregateFunction::Sum | AggregateFunction::Average);
    match &given.arguments[..] {
        [it] if is_sum && it.data_type == DataType::Interval => Some(it.clone()),
        _ => None,
    }
}

/// Adds a marker to the relation below the joins that has all of some attributes: beside its rows, and below what has others beside them.
fn mark_rows(rel: &mut Rel, of: &AttrSet, marker: usize, value: &Expr) -> bool {
    if !of.is_subset(&rel.attrs()) {
        return false;
    }
    let is_within = match rel {
        Rel::Filter { input, .. } => mark_rows(input, of, marker, value),
        Rel::Join(join) => {
            mark_rows(&mut join.left, of, marker, value)
                || mark_rows(&mut join.right, of, marker, value)
        }
        Rel::Apply(apply) => {
            mark_rows(&mut apply.left, of, marker, value)
                || matches!(apply.kind, Apply::Join { .. })
                    && mark_rows(&mut apply.right, of, marker, value)
        }
        _ => false,
    };
    if !is_within {
        let input = Box::new(rel.take());
        *rel = Rel::Map { input, exprs: vec![(marker, value.clone())] };
    }
    true
}
