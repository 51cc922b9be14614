//! WITHIN GROUP: percentiles and the mode, and where a row that is not there would stand (`rank(5) WITHIN GROUP (ORDER BY
//! a)`), which is made of counts.

use plan::build::{boolean, cast, null, unary};
use plan::relation::AttrSet;
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, SortKey, UnaryOperator};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::aggregate_types::{Given, wrong_arguments};
use super::coercion::{key_of, name_of};
use super::errors::{at, unsupported};
use super::level::Clause;
use super::order::Ordering;

/// Whether a name is that of a function of a row that is not there.
pub(super) fn is_hypothetical(name: &str) -> bool {
    matches!(name, "rank" | "dense_rank" | "percent_rank" | "cume_dist")
}

impl<'a> Binder<'a> {
    /// The arguments before WITHIN GROUP, which are constants, then what it orders by.
    pub(super) fn within_group(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<(Vec<Expr>, Vec<SortKey>)> {
        let FunctionArguments::List(list) = &call.args else {
            return Err(wrong_arguments(name, "", whole));
        };
        if list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct) {
            let message = "cannot use DISTINCT with WITHIN GROUP";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
        }
        if !list.clauses.is_empty() {
            let message = "cannot use multiple ORDER BY clauses with WITHIN GROUP";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
        }
        let mut direct = Vec::with_capacity(list.args.len());
        for argument in &list.args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else {
                return Err(unsupported("a named argument, or * as one,", whole));
            };
            let bound = self.expr(expr)?;
            if !AttrSet::of(&bound).is_empty() {
                return Err(unsupported("a column before WITHIN GROUP", expr));
            }
            direct.push(bound);
        }
        let mut order = Vec::with_capacity(call.within_group.len());
        for entry in Ordering::By(&call.within_group).expressions(0) {
            let Some(expr) = entry.expr else { continue };
            let bound = self.expr(expr)?;
            let bound = match bound.data_type {
                DataType::Null => self.coerce_unknown(bound, DataType::Text)?,
                _ => bound,
            };
            order.push(entry.key(bound, self.order_defaults()));
        }
        Ok((direct, order))
    }

    /// What an ordered-set aggregate is given: the value that it orders by, then its share.
    pub(super) fn ordered_set(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Given> {
        let (direct, order) = self.within_group(name, call, whole)?;
        let [key] = &order[..] else {
            return Err(wrong_arguments(name, &shown(&direct, &order), whole));
        };
        let arguments = [key.expr.clone()].into_iter().chain(direct).collect();
        Ok(Given { arguments, order, ..Given::default() })
    }

    /// The error for WITHIN GROUP behind a function that has none.
    pub(super) fn no_ordered_set(
        &self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlError {
        let direct = match &call.args {
            FunctionArguments::List(list) => list.args.len(),
            _ => 0,
        };
        if direct + call.within_group.len() > 1 {
            let message = format!("function {name} with WITHIN GROUP does not exist");
            return at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole);
        }
        let message =
            format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP");
        at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), whole)
    }

    /// The place of a row among those of a group, as if it were one of them.
    pub(super) fn hypothetical(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let known = self.level().left_out.len();
        let (direct, order, filter) = self.in_clause(Clause::Aggregate, |this| {
            let (direct, order) = this.within_group(name, call, whole)?;
            let filter = call.filter.as_deref().map(|it| this.condition(it)).transpose()?;
            Ok((direct, order, filter))
        })?;
        let left_out = self.level().left_out.split_off(known);
        if direct.len() != order.len() {
            let hint = format!(
                "to use the hypothetical-set aggregate {name}, the number of hypothetical direct \
                 arguments (here {}) must match the number of ordering columns (here {})",
                direct.len(),
                order.len()
            );
            return Err(wrong_arguments(name, &shown(&direct, &order), whole).with_hint(hint));
        }
        let mut pairs = Vec::with_capacity(order.len());
        for (key, value) in order.into_iter().zip(direct) {
            let mut both = [key.expr, value];
            self.unify(&mut both, "WITHIN GROUP").map_err(|it| at(it, whole))?;
            let [expr, value] = both.map(key_of);
            pairs.push((SortKey { expr, ..key }, value));
        }
        let used: Vec<&Expr> =
            pairs.iter().map(|it| &it.0.expr).chain(&filter).chain(&left_out).collect();
        let owner = self.owner(&used, whole)?;
        self.place_of(name, owner, &pairs, filter.as_ref(), whole)
    }

    fn place_of(
        &mut self,
        name: &str,
        owner: usize,
        pairs: &[(SortKey, Expr)],
        filter: Option<&Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let counted = |argument: Option<Expr>, distinct: bool, condition: Option<Expr>| {
            let both = |a: Expr, b: Expr| Expr::predicate(BinaryOperator::And, a, b);
            let filter = filter.cloned().into_iter().chain(condition).reduce(both);
            let count = AggregateFunction::Count;
            Aggregate { distinct, filter, ..Aggregate::of(count, argument, DataType::BigInt) }
        };
        let one = || Expr::literal(Value::Integer(1), DataType::BigInt);
        let before = || Some(before(pairs, false));
        match name {
            "rank" => {
                let less = self.call_of_level(owner, counted(None, false, before()));
                self.plus_of(less, one())
            }
            "dense_rank" => {
                let [(key, _)] = pairs else {
                    return Err(unsupported("dense_rank of several values", whole));
                };
                // NULL is a value like others here, which a count of distinct ones leaves out.
                let is_null = unary(UnaryOperator::IsNull, key.expr.clone());
                let null_mark = case(vec![(is_null, one())], None, DataType::BigInt);
                let values = counted(Some(key.expr.clone()), true, before());
                let nulls = counted(Some(null_mark), true, before());
                let values = self.call_of_level(owner, values);
                let nulls = self.call_of_level(owner, nulls);
                let less = self.plus_of(values, nulls)?;
                self.plus_of(less, one())
            }
            _ => {
                let is_rank = name == "percent_rank";
                let condition = self::before(pairs, !is_rank);
                let below = self.call_of_level(owner, counted(None, false, Some(condition)));
                let all = self.call_of_level(owner, counted(None, false, None));
                let (below, all) = match is_rank {
                    true => (below, all),
                    false => (self.plus_of(below, one())?, self.plus_of(all, one())?),
                };
                let zero = Expr::literal(Value::Integer(0), DataType::BigInt);
                let none = Expr::predicate(BinaryOperator::Equal, all.clone(), zero);
                let float = |it| cast(it, DataType::Double);
                let share = self.calculate(BinaryOperator::Divide, float(below), float(all));
                let share = share.unwrap_or_else(|| Err(no_operator()))?;
                let nothing = Expr::literal(Value::Float(0.0), DataType::Double);
                Ok(case(vec![(none, nothing)], Some(share), DataType::Double))
            }
        }
    }

    fn plus_of(&mut self, a: Expr, b: Expr) -> SqlResult<Expr> {
        self.calculate(BinaryOperator::Add, a, b).unwrap_or_else(|| Err(no_operator()))
    }
}

/// The types of arguments and of what is ordered by, as an error shows them.
fn shown(direct: &[Expr], order: &[SortKey]) -> String {
    let all = direct.iter().chain(order.iter().map(|it| &it.expr));
    all.map(|it| name_of(it.data_type)).collect::<Vec<_>>().join(", ")
}

fn no_operator() -> SqlError {
    SqlError::internal("counts do not add up")
}

fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>, data_type: DataType) -> Expr {
    Expr { kind: ExprKind::Case { branches, otherwise: otherwise.map(Box::new) }, data_type }
}

/// Whether a row comes before some values in an order; `or_equal`: or with them.
fn before(pairs: &[(SortKey, Expr)], or_equal: bool) -> Expr {
    let truth = |it: bool| Expr::literal(Value::Boolean(it), DataType::Boolean);
    let Some(((key, value), rest)) = pairs.split_first() else { return truth(or_equal) };
    let operator = if key.descending { BinaryOperator::Greater } else { BinaryOperator::Less };
    let both = (key.expr.clone(), value.clone());
    let known = unary(UnaryOperator::IsNotNull, value.clone());
    let first = if key.nulls_first { known } else { truth(false) };
    let branches = vec![
        (unary(UnaryOperator::IsNull, key.expr.clone()), first),
        (unary(UnaryOperator::IsNull, value.clone()), truth(!key.nulls_first)),
    ];
    let less = match super::constant(value) {
        Some(Value::Null) => null(DataType::Boolean),
        _ => plan::build::compare(operator, both.0.clone(), both.1.clone()),
    };
    let less = case(branches, Some(less), DataType::Boolean);
    let (left, right) = (Box::new(both.0), Box::new(both.1));
    let operator = BinaryOperator::IsNotDistinctFrom;
    let same = boolean(ExprKind::Binary { operator, left, right });
    let later = Expr::predicate(BinaryOperator::And, same, before(rest, or_equal));
    Expr::predicate(BinaryOperator::Or, less, later)
}
