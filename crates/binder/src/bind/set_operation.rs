//! UNION, INTERSECT and EXCEPT, with and without ALL.
//!
//! Key decision: INTERSECT and EXCEPT count, for each distinct row of both sides, how often it is in either: grouping knows
//! that NULLs are alike here. How often it is in the result follows from the two counts. There is no second mechanism.

use plan::build::{cast, null};
use plan::relation::{Attr, Rel};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, SortKey};
use sqlparser::ast::{self, SetExpr, SetOperator, SetQuantifier};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::{at, unsupported};
use super::{Answer, Binder, OutputColumn, mapped};

/// An operation between the operands of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Operation {
    operator: SetOperator,
    all: bool,
    /// Whether columns meet by their names, as DuckDB has it, and not by their places.
    by_name: bool,
}

/// What makes rows unique: the keys of their groups, and what shows a group.
pub(super) struct Unique {
    pub keys: Vec<(Attr, Expr)>,
    pub aggregates: Vec<(Attr, Aggregate)>,
}

impl<'a> Binder<'a> {
    /// Binds a set operation. A chain `a UNION b UNION c ..` leans to the left, and may be as long as it likes.
    pub(super) fn set_operation(&mut self, whole: &'a SetExpr) -> SqlResult<Answer> {
        let mut chain = Vec::new();
        let mut first = whole;
        while let SetExpr::SetOperation { left, op, set_quantifier, right } = first {
            let (all, by_name) = match set_quantifier {
                SetQuantifier::All => (true, false),
                SetQuantifier::None | SetQuantifier::Distinct => (false, false),
                SetQuantifier::AllByName => (true, true),
                SetQuantifier::ByName | SetQuantifier::DistinctByName => (false, true),
            };
            if by_name && *op != SetOperator::Union {
                return Err(unsupported("BY NAME of another operation than UNION", &**right));
            }
            let operator = if *op == SetOperator::Minus { SetOperator::Except } else { *op };
            chain.push((Operation { operator, all, by_name }, &**right));
            first = left;
        }
        let mut answer = self.operand(first)?;
        let mut rest = chain.into_iter().rev().peekable();
        while let Some((operation, right)) = rest.next() {
            let mut operands = vec![self.operand(right)?];
            // Equal unions that follow each other are one: whether it makes rows distinct is seen at its end.
            while let Some((_, right)) =
                rest.next_if(|it| operation.operator == SetOperator::Union && it.0 == operation)
            {
                operands.push(self.operand(right)?);
            }
            operands.insert(0, answer);
            answer = self.combine(operation, operands, whole)?;
        }
        Ok(answer)
    }

    /// An operand. Brackets around it mean nothing, and a column of VALUES with nothing but NULL has no type of its own.
    fn operand(&mut self, body: &'a SetExpr) -> SqlResult<Answer> {
        let body = without_brackets(body);
        let mut answer = self.body(body)?;
        let SetExpr::Values(values) = body else { return Ok(answer) };
        let is_null = |row: &ast::Parens<Vec<ast::Expr>>, place: usize| matches!(row.content.get(place), Some(ast::Expr::Value(it)) if it.value == ast::Value::Null);
        let mut made = Vec::new();
        for (place, column) in answer.columns.iter_mut().enumerate() {
            if values.rows.iter().all(|row| is_null(row, place)) {
                column.attr = self.attribute(DataType::Null, true);
                made.push((column.attr, null(DataType::Null)));
            }
        }
        answer.rel = mapped(answer.rel, made);
        Ok(answer)
    }

    fn combine(
        &mut self,
        operation: Operation,
        mut operands: Vec<Answer>,
        whole: &SetExpr,
    ) -> SqlResult<Answer> {
        let name = match operation.operator {
            SetOperator::Union => "UNION",
            SetOperator::Intersect => "INTERSECT",
            _ => "EXCEPT",
        };
        if operation.by_name {
            operands = self.aligned(operands, whole)?;
        }
        let names: Vec<String> = operands[0].columns.iter().map(|it| it.name.clone()).collect();
        let types = self.common_columns(&operands, name, whole)?;
        for operand in &mut operands {
            self.convert_columns(operand, &types)?;
        }
        let answer = match operation.operator {
            SetOperator::Union if operation.all => self.union(operands, &types),
            SetOperator::Union => self.distinct_union(operands, &types)?,
            operator => {
                let [left, right]: [Answer; 2] = operands
                    .try_into()
                    .map_err(|_| SqlError::internal("a set operation has two operands"))?;
                types.iter().try_for_each(|it| super::json::check_equality(*it))?;
                self.counted(operator, operation.all, left, right, &types)
            }
        };
        let columns = names.into_iter().zip(answer.columns);
        let columns = columns.map(|(name, it)| OutputColumn::made(name, it.attr)).collect();
        Ok(Answer { rel: answer.rel, columns })
    }

    /// Brings all operands to the columns of all of them, in the order in which they come; what one lacks is NULL there.
    fn aligned(&mut self, operands: Vec<Answer>, whole: &SetExpr) -> SqlResult<Vec<Answer>> {
        let mut names: Vec<String> = Vec::new();
        for operand in &operands {
            for (place, column) in operand.columns.iter().enumerate() {
                if operand.columns[..place].iter().any(|it| it.name == column.name) {
                    let message =
                        format!("column \"{}\" stands twice in a side of BY NAME", column.name);
                    return Err(at(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message), whole));
                }
                if !names.contains(&column.name) {
                    names.push(column.name.clone());
                }
            }
        }
        let align = |operand: Answer| {
            let mut made = Vec::new();
            let columns = names.iter().map(|name| {
                let known = operand.columns.iter().find(|it| it.name == *name).map(|it| it.attr);
                let attr = known.unwrap_or_else(|| {
                    let attr = self.attribute(DataType::Null, true);
                    made.push((attr, null(DataType::Null)));
                    attr
                });
                OutputColumn::made(name, attr)
            });
            let columns = columns.collect();
            Answer { rel: mapped(operand.rel, made), columns }
        };
        Ok(operands.into_iter().map(align).collect())
    }

    /// The types in which the columns of all operands meet.
    fn common_columns(
        &mut self,
        operands: &[Answer],
        name: &str,
        whole: &SetExpr,
    ) -> SqlResult<Vec<DataType>> {
        let width = operands[0].columns.len();
        if operands.iter().any(|it| it.columns.len() != width) {
            let message = format!("each {name} query must have the same number of columns");
            return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
        }
        let mut types = Vec::with_capacity(width);
        for place in 0..width {
            let of = operands.iter().map(|it| self.attributes[it.columns[place].attr].data_type);
            let data_type = super::coercion::common(of, name).map_err(|it| at(it, whole))?;
            types.push(match data_type {
                DataType::Null => DataType::Text,
                known => operands.iter().fold(known, |known, operand| {
                    let attr = operand.columns[place].attr;
                    match self.attributes[attr].data_type {
                        DataType::Null => {
                            let unknown = unknown_in(&operand.rel, attr);
                            unknown.map_or(known, |it| super::coercion::roomy(known, &it))
                        }
                        _ => known,
                    }
                }),
            });
        }
        Ok(types)
    }

    /// Brings the columns of an answer to types; unknown constants are read as values of them.
    pub(super) fn convert_columns(
        &mut self,
        answer: &mut Answer,
        types: &[DataType],
    ) -> SqlResult<()> {
        let mut made: Vec<(Attr, Expr)> = Vec::new();
        for (column, data_type) in answer.columns.iter_mut().zip(types) {
            let from = self.attributes[column.attr].data_type;
            let is_plain = from.is_text() && from != DataType::Bpchar;
            if from == *data_type || is_plain && *data_type == DataType::Text {
                continue;
            }
            let source =
                if from == DataType::Null { unknown_in(&answer.rel, column.attr) } else { None };
            let value = match source {
                Some(source) => self.coerce_unknown(source, *data_type)?,
                None => cast(self.column_expr(column.attr), *data_type),
            };
            let known = made.iter().find(|it| it.1 == value && super::is_repeatable(&value));
            column.origin = None;
            column.attr = match known {
                Some((attr, _)) => *attr,
                None => {
                    let attr = self.attribute(*data_type, true);
                    made.push((attr, value));
                    attr
                }
            };
        }
        let rel = answer.rel.take();
        answer.rel = mapped(rel, made);
        Ok(())
    }

    fn union(&mut self, operands: Vec<Answer>, types: &[DataType]) -> Answer {
        let output: Vec<Attr> = types.iter().map(|it| self.attribute(*it, true)).collect();
        let inputs = operands.into_iter().map(|it| {
            let attrs = it.columns.iter().map(|it| it.attr).collect();
            (it.rel, attrs)
        });
        let inputs = inputs.collect();
        let column = |it: &Attr| OutputColumn::made("", *it);
        let columns = output.iter().map(column).collect();
        Answer { rel: Rel::Union { inputs, output }, columns }
    }

    /// The rows of several answers, each once.
    fn distinct_union(
        &mut self,
        mut operands: Vec<Answer>,
        types: &[DataType],
    ) -> SqlResult<Answer> {
        types.iter().try_for_each(|it| super::json::check_equality(*it))?;
        if !types.iter().any(|it| super::coercion::has_key(*it)) {
            let all = self.union(operands, types);
            return self.distinct_rows(all);
        }
        for (number, operand) in operands.iter_mut().enumerate() {
            let attr = self.attribute(DataType::BigInt, false);
            let number = Expr::literal(Value::Integer(number as i64), DataType::BigInt);
            operand.rel = mapped(operand.rel.take(), vec![(attr, number)]);
            operand.columns.push(OutputColumn::made("", attr));
        }
        let mut types = types.to_vec();
        types.push(DataType::BigInt);
        let Answer { rel, mut columns } = self.union(operands, &types);
        let number = columns.pop().map(|it| self.column_expr(it.attr));
        let Unique { keys, aggregates } = self.unique(&mut columns, number.as_ref());
        let input = Box::new(rel);
        Ok(Answer { rel: Rel::Aggregate { input, keys, aggregates, rows: 0.0 }, columns })
    }

    /// The rows of an answer, each once.
    pub(super) fn distinct_rows(&mut self, answer: Answer) -> SqlResult<Answer> {
        let mut columns = answer.columns;
        for column in &columns {
            super::json::check_equality(self.attributes[column.attr].data_type)?;
        }
        let Unique { keys, aggregates } = self.unique(&mut columns, None);
        let input = Box::new(answer.rel);
        Ok(Answer { rel: Rel::Aggregate { input, keys, aggregates, rows: 0.0 }, columns })
    }

    /// What to group by for rows that differ in some columns, each column once. CHAR of no one length is grouped without
    /// its blanks, and each group shows one of its texts, in a column of its own ([`Binder::unpadded`]).
    fn unique(&mut self, columns: &mut [OutputColumn], first: Option<&Expr>) -> Unique {
        let mut unique = Unique { keys: Vec::new(), aggregates: Vec::new() };
        let mut shown: Vec<(Attr, Attr)> = Vec::new();
        for column in columns {
            let expr = self.column_expr(column.attr);
            if !super::coercion::has_key(expr.data_type) {
                if unique.keys.iter().all(|it| it.0 != column.attr) {
                    unique.keys.push((column.attr, expr));
                }
                continue;
            }
            let known = shown.iter().find(|it| it.0 == column.attr).map(|it| it.1);
            let attr = known.unwrap_or_else(|| {
                let least = self.unpadded(expr, first, &mut unique);
                shown.push((column.attr, least));
                least
            });
            column.attr = attr;
        }
        unique
    }

    /// Groups by values that may be equal and yet look different; gives what shows them: the least of a group, of those that
    /// are least in an order, where there is one.
    pub(super) fn unpadded(
        &mut self,
        expr: Expr,
        first: Option<&Expr>,
        unique: &mut Unique,
    ) -> Attr {
        let bare = super::coercion::key_of(expr.clone());
        unique.keys.push((self.attribute(bare.data_type, true), bare));
        let (shown, data_type) = (self.attribute(expr.data_type, true), expr.data_type);
        let mut call = Aggregate::of(AggregateFunction::Min, Some(expr.clone()), data_type);
        if let Some(first) = first {
            let key = |expr| SortKey { expr, descending: false, nulls_first: false };
            call.function = AggregateFunction::First;
            call.order = vec![key(first.clone()), key(expr)];
        }
        unique.aggregates.push((shown, call));
        shown
    }

    /// INTERSECT and EXCEPT by counting.
    pub(super) fn counted(
        &mut self,
        operator: SetOperator,
        all: bool,
        left: Answer,
        right: Answer,
        types: &[DataType],
    ) -> Answer {
        let sides = [(left, 1), (right, 0)].map(|(mut side, is_left)| {
            let mark = self.attribute(DataType::BigInt, false);
            let one = |it: i64| Expr::literal(Value::Integer(it), DataType::BigInt);
            let other = self.attribute(DataType::BigInt, false);
            side.rel = mapped(side.rel, vec![(mark, one(is_left)), (other, one(1 - is_left))]);
            for attr in [mark, other] {
                side.columns.push(OutputColumn::made("", attr));
            }
            side
        });
        let mut types = types.to_vec();
        types.extend([DataType::BigInt; 2]);
        let mut both = self.union(sides.into(), &types);
        let marks = both.columns.split_off(both.columns.len() - 2);
        // Rows of the left side come first: it is theirs that are shown.
        let number = self.column_expr(marks[1].attr);
        let Unique { keys, mut aggregates } = self.unique(&mut both.columns, Some(&number));
        let mut counts = Vec::with_capacity(2);
        for mark in marks {
            let attr = self.attribute(DataType::BigInt, false);
            counts.push(Expr::column(attr, DataType::BigInt));
            let argument = Some(self.column_expr(mark.attr));
            let call = Aggregate::of(AggregateFunction::Sum, argument, DataType::BigInt);
            aggregates.push((attr, call));
        }
        let rel = Rel::Aggregate { input: Box::new(both.rel), keys, aggregates, rows: 0.0 };
        let [ours, theirs]: [Expr; 2] = counts.try_into().unwrap_or_else(|_| unreachable!());
        let zero = || Expr::literal(Value::Integer(0), DataType::BigInt);
        let some = |it: &Expr| Expr::predicate(BinaryOperator::Greater, it.clone(), zero());
        let none = |it: &Expr| Expr::predicate(BinaryOperator::Equal, it.clone(), zero());
        let except = operator == SetOperator::Except;
        let rel = match (all, except) {
            (false, true) => rel.filtered(vec![some(&ours), none(&theirs)]),
            (false, false) => rel.filtered(vec![some(&ours), some(&theirs)]),
            (true, _) => {
                let fewer = Expr::predicate(BinaryOperator::Less, ours.clone(), theirs.clone());
                let kind = match except {
                    true => ExprKind::Case {
                        branches: vec![(fewer, zero())],
                        otherwise: Some(Box::new(difference(ours, theirs))),
                    },
                    false => ExprKind::Case {
                        branches: vec![(fewer, ours)],
                        otherwise: Some(Box::new(theirs)),
                    },
                };
                let count = self.attribute(DataType::BigInt, false);
                let times = Expr { kind, data_type: DataType::BigInt };
                {
                    let input = Box::new(mapped(rel, vec![(count, times)]));
                    Rel::Repeat { input, count, number: None, items: Vec::new() }
                }
            }
        };
        Answer { rel, columns: both.columns }
    }
}

fn difference(left: Expr, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    let kind = ExprKind::Binary { operator: BinaryOperator::Subtract, left, right };
    Expr { kind, data_type: DataType::BigInt }
}

/// What stands in brackets that no clause follows.
fn without_brackets(mut body: &SetExpr) -> &SetExpr {
    while let SetExpr::Query(query) = body {
        let ast::Query { with, order_by, limit_clause, fetch, locks, .. } = &**query;
        let is_bare = with.is_none()
            && order_by.is_none()
            && limit_clause.is_none()
            && fetch.is_none()
            && locks.is_empty();
        // A chain in brackets is one of its own.
        if !is_bare || matches!(*query.body, SetExpr::SetOperation { .. }) {
            break;
        }
        body = &query.body;
    }
    body
}

/// The constant of unknown type that an attribute of a relation is, if it is one for all rows.
fn unknown_in(rel: &Rel, attr: Attr) -> Option<Expr> {
    match rel {
        Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
            Some((_, expr)) => Some(expr.clone()),
            None => unknown_in(input, attr),
        },
        Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Aggregate { input, .. } => unknown_in(input, attr),
        Rel::Apply(it) => unknown_in(&it.left, attr),
        _ => None,
    }
}
