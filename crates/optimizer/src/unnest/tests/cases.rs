//! Cases by hand: answers that are easy to get wrong, and the joins that common subqueries become.

use plan::build::{boolean, unary};
use plan::relation::{Apply, ApplyRel, Attr, Attribute, Output, Query, Rel, RelJoin};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use types::{DataType, Value};

use super::both;
use crate::unnest::unnest;

/// The outer table's columns, of which the second may be NULL.
const A: Attr = 0;
const B: Attr = 1;
/// The inner table's columns, of which the second may be NULL.
const X: Attr = 2;
const Y: Attr = 3;
/// Attributes for whatever a case computes.
const MARK: Attr = 4;
const FOUND: Attr = 5;
const MADE: Attr = 6;

fn data_type(attr: Attr) -> DataType {
    if attr == MARK { DataType::Boolean } else { DataType::BigInt }
}

fn column(attr: Attr) -> Expr {
    Expr::column(attr, data_type(attr))
}

fn number(value: Option<i64>) -> Expr {
    Expr::literal(value.map_or(Value::Null, Value::Integer), DataType::BigInt)
}

fn equal(left: Expr, right: Expr) -> Expr {
    Expr::predicate(BinaryOperator::Equal, left, right)
}

fn values(output: [Attr; 2], rows: &[(i64, Option<i64>)]) -> Rel {
    let rows = rows.iter().map(|it| vec![number(Some(it.0)), number(it.1)]).collect();
    Rel::Values { output: output.to_vec(), rows }
}

fn outer() -> Rel {
    values([A, B], &[(1, Some(1)), (2, None), (3, Some(3))])
}

fn inner() -> Rel {
    values([X, Y], &[(1, Some(1)), (1, None), (2, Some(5))])
}

/// The inner rows whose first column is that of the outer row.
fn correlated() -> Rel {
    inner().filtered(vec![equal(column(X), column(A))])
}

fn applied(right: Rel, kind: Apply) -> Rel {
    Rel::Apply(Box::new(ApplyRel { left: outer(), right, kind }))
}

fn any(right: Rel, condition: Expr) -> Rel {
    applied(right, Apply::Any { mark: MARK, condition, null_as_false: false })
}

fn exists(right: Rel) -> Rel {
    any(right, boolean(ExprKind::Literal(Value::Boolean(true))))
}

fn not(expr: Expr) -> Expr {
    unary(UnaryOperator::Not, expr)
}

fn total(input: Rel, function: AggregateFunction, argument: Option<Attr>) -> Rel {
    let argument = argument.map(column);
    let data_type = DataType::BigInt;
    let aggregate = Aggregate::of(function, argument, data_type);
    let aggregates = vec![(MADE, aggregate)];
    Rel::Aggregate { input: Box::new(input), keys: Vec::new(), aggregates, rows: 0.0 }
}

fn scalar(right: Rel, source: Attr) -> Rel {
    applied(right, Apply::Scalar { value: FOUND, source })
}

fn query(root: Rel, output: &[Attr]) -> Query {
    let types = (MARK..=MADE).map(data_type).map(|it| Attribute { data_type: it, nullable: true });
    let bigint = |nullable| Attribute { data_type: DataType::BigInt, nullable };
    let tables = [false, true, false, true].map(bigint);
    Query {
        attributes: tables.into_iter().chain(types).collect(),
        scalars: Vec::new(),
        shared: Vec::new(),
        root,
        output: output.iter().map(|it| Output::unnamed(*it)).collect(),
        recursions: Vec::new(),
    }
}

/// The answer of a query, the same with dependent joins and without.
fn answers(root: Rel, output: &[Attr]) -> Vec<Vec<Option<i64>>> {
    let [expected, found] = both(&query(root, output));
    assert_eq!(expected, found);
    let number = |it: &str| match it.trim_end_matches(')').rsplit_once('(') {
        Some((_, "true")) => Some(1),
        Some((_, "false")) => Some(0),
        Some((_, digits)) => digits.parse().ok(),
        None => None,
    };
    let row = |it: String| it.trim_matches(['[', ']']).split(", ").map(number).collect();
    found.expect("no case raises an error").into_iter().map(row).collect()
}

/// The kinds of all joins, whether each minds NULL, and whether anything is shared.
fn joins(root: Rel) -> (Vec<(RelJoin, bool)>, bool) {
    let mut query = query(root, &[A]);
    unnest(&mut query, &mut crate::Outsides::default(), &types::Interrupt::default())
        .expect("it can be unnested");
    let mut joins = Vec::new();
    query.root.visit(&mut |it| {
        if let Rel::Join(join) = it {
            joins.push((join.kind, join.null_aware));
        }
    });
    (joins, !query.shared.is_empty())
}

#[test]
fn common_subqueries_become_one_join_and_share_nothing() {
    let one = |kind, null_aware| (vec![(kind, null_aware)], false);
    let kept = |rel: Rel| joins(rel.filtered(vec![column(MARK)]));
    let dropped = |rel: Rel| joins(rel.filtered(vec![not(column(MARK))]));
    assert_eq!(kept(exists(correlated())), one(RelJoin::Semi, false));
    assert_eq!(dropped(exists(correlated())), one(RelJoin::Anti, false));
    let limited = Rel::Limit { input: Box::new(correlated()), offset: 0, limit: Some(1) };
    assert_eq!(kept(exists(limited)), one(RelJoin::Semi, false));
    assert_eq!(kept(any(inner(), equal(column(B), column(Y)))), one(RelJoin::Semi, false));
    assert_eq!(dropped(any(inner(), equal(column(A), column(X)))), one(RelJoin::Anti, false));
    assert_eq!(dropped(any(inner(), equal(column(B), column(Y)))), one(RelJoin::Anti, true));
    assert_eq!(dropped(any(correlated(), equal(column(B), column(Y)))), one(RelJoin::Anti, false));
    assert_eq!(joins(exists(correlated())), one(RelJoin::Mark, false));
    let sum = total(correlated(), AggregateFunction::Sum, Some(Y));
    assert_eq!(joins(scalar(sum, MADE)), one(RelJoin::Left, false));
    assert_eq!(joins(scalar(correlated(), Y)), one(RelJoin::Left, false));
    let whole = total(inner(), AggregateFunction::Max, Some(Y));
    assert_eq!(joins(scalar(whole, MADE)), (vec![], false), "it is a scalar subquery");
}

#[test]
fn null_is_in_nothing_and_not_in_nothing_but_the_empty() {
    let row = |it: &[i64]| it.iter().map(|it| vec![Some(*it)]).collect::<Vec<_>>();
    let not_in = |value: Expr, right: Rel| {
        let rel = any(right, equal(value, column(X))).filtered(vec![not(column(MARK))]);
        answers(rel, &[A])
    };
    assert_eq!(not_in(number(None), inner()), row(&[]));
    assert_eq!(not_in(number(None), values([X, Y], &[])), row(&[1, 2, 3]));
    assert_eq!(not_in(number(None), correlated()), row(&[3]), "it has no row for 3");
    assert_eq!(not_in(column(B), inner()), row(&[3]));
    let rel = any(inner(), equal(column(B), column(Y)));
    let marks = answers(rel, &[A, MARK]);
    assert_eq!(marks, [vec![Some(1), Some(1)], vec![Some(2), None], vec![Some(3), None]]);
}

#[test]
fn an_aggregate_has_a_row_even_of_nothing() {
    let count = || total(correlated(), AggregateFunction::Count, None);
    let all = [vec![Some(1)], vec![Some(2)], vec![Some(3)]];
    assert_eq!(answers(exists(count()).filtered(vec![column(MARK)]), &[A]), all);
    assert!(answers(exists(count()).filtered(vec![not(column(MARK))]), &[A]).is_empty());
    let counted = answers(scalar(count(), MADE), &[A, FOUND]);
    assert_eq!(counted, [[Some(1), Some(2)], [Some(2), Some(1)], [Some(3), Some(0)]]);
    let none = || count().filtered(vec![equal(column(MADE), number(Some(0)))]);
    let having = answers(scalar(none(), MADE), &[A, FOUND]);
    assert_eq!(having, [[Some(1), None], [Some(2), None], [Some(3), Some(0)]]);
    assert_eq!(answers(exists(none()).filtered(vec![column(MARK)]), &[A]), [[Some(3)]]);
    let keys = vec![(MADE, column(MADE))];
    let (input, aggregates) = (Box::new(count()), Vec::new());
    let distinct = Rel::Aggregate { input, keys, aggregates, rows: 0.0 };
    assert_eq!(answers(scalar(distinct, MADE), &[A, FOUND]), counted);
}

#[test]
fn several_rows_raise_only_where_the_value_is_used() {
    let one = equal(column(A), number(Some(1)));
    let otherwise = Some(Box::new(column(FOUND)));
    let kind = ExprKind::Case { branches: vec![(one, number(Some(7)))], otherwise };
    let guarded = Expr { kind, data_type: DataType::BigInt };
    let input = Box::new(scalar(correlated(), Y));
    let rel = Rel::Map { input, exprs: vec![(MADE, guarded)] };
    let rows = answers(rel, &[A, MADE]);
    assert_eq!(rows, [[Some(1), Some(7)], [Some(2), Some(5)], [Some(3), None]]);
    let [expected, found] = both(&query(scalar(correlated(), Y), &[A, FOUND]));
    assert!(expected.is_err() && found.is_err());
}

/// A value that cannot be computed where a condition holds.
fn failing(condition: Expr, value: Expr) -> Expr {
    let data_type = value.data_type;
    let (function, arguments) = (Function::RaiseCardinality, Vec::new());
    let error = Expr { kind: ExprKind::Call { function, arguments }, data_type };
    choice(condition, error, value)
}

fn choice(condition: Expr, value: Expr, otherwise: Expr) -> Expr {
    let data_type = value.data_type;
    let (branches, otherwise) = (vec![(condition, value)], Some(Box::new(otherwise)));
    Expr { kind: ExprKind::Case { branches, otherwise }, data_type }
}

#[test]
fn what_fails_is_computed_only_for_rows_that_ask() {
    let always = || boolean(ExprKind::Literal(Value::Boolean(true)));
    let is_one = |it: Attr| equal(column(it), number(Some(1)));
    let sum_of = |argument: Expr| {
        let sum = Aggregate::of(AggregateFunction::Sum, Some(argument), DataType::BigInt);
        let (input, aggregates) = (Box::new(correlated()), vec![(MADE, sum)]);
        scalar(Rel::Aggregate { input, keys: Vec::new(), aggregates, rows: 0.0 }, MADE)
    };
    let sums = unary(UnaryOperator::IsNotNull, column(FOUND));
    let fails = |column: Attr| failing(is_one(column), always());
    let in_all = any(inner().filtered(vec![fails(X)]), equal(column(A), column(X)));
    let guarded = [
        // By the outer row, and by rows that belong to it alone.
        (sum_of(failing(is_one(A), column(Y))), choice(is_one(A), always(), sums.clone())),
        (sum_of(failing(is_one(X), column(Y))), choice(is_one(A), always(), sums.clone())),
        (
            exists(correlated().filtered(vec![fails(A)])),
            Expr::predicate(BinaryOperator::Or, is_one(A), column(MARK)),
        ),
        (
            in_all.clone(),
            choice(unary(UnaryOperator::IsNotNull, column(A)), always(), column(MARK)),
        ),
    ];
    let expected = [vec![1, 2], vec![1, 2], vec![1, 2], vec![1, 2, 3]];
    for ((rel, condition), expected) in guarded.into_iter().zip(expected) {
        // The interpreter raises what a row fails by even where nobody asks for that row.
        let [_, found] = both(&query(rel.filtered(vec![condition]), &[A]));
        let rows = found.expect("nobody asks for what fails");
        assert_eq!(rows, expected.iter().map(|it| format!("[Integer({it})]")).collect::<Vec<_>>());
    }
    // Without a guard, and where a row asks.
    let asked = choice(is_one(A), column(MARK), always());
    for rel in [in_all.clone().filtered(vec![asked]), sum_of(failing(is_one(A), column(Y)))] {
        let [expected, found] = both(&query(rel, &[A, FOUND]));
        assert!(expected.is_err() && found.is_err());
    }
}
