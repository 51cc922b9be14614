//! GROUPING SETS, ROLLUP and CUBE: groups of several sets of keys, one after the other, with NULL for the keys that a set
//! does not have.
//!
//! Key decision: where every aggregate can be made of those of parts, the groups of all keys are computed once, and each set
//! groups them again; else each set groups the rows, which are computed once.

use plan::build::{null, unary};
use plan::relation::{Attr, AttrSet, Rel, substitute};
use plan::{Aggregate, AggregateFunction, Expr, ExprKind, UnaryOperator};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::at;
use super::{Binder, mapped};

/// The most sets of a query.
const SETS_MAX: usize = 4096;
/// The most elements of CUBE.
const CUBE_MAX: usize = 12;

/// The alternatives that an entry of GROUP BY is, each some of all keys by number.
pub(super) type Sets = Vec<Vec<usize>>;

/// The sets of ROLLUP: all its elements, and less and less of them.
pub(super) fn rollup(elements: &Sets) -> Sets {
    (0..=elements.len()).rev().map(|count| elements[..count].concat()).collect()
}

/// The sets of CUBE: any of its elements.
pub(super) fn cube(elements: &Sets, node: &ast::Expr) -> SqlResult<Sets> {
    if elements.len() > CUBE_MAX {
        let message = format!("CUBE is limited to {CUBE_MAX} elements");
        return Err(at(SqlError::new(SqlState::TOO_MANY_COLUMNS, message), node));
    }
    let last = elements.len();
    let chosen = |bits: usize| {
        let own = (0..last).filter(|it| bits >> (last - 1 - it) & 1 == 1);
        own.flat_map(|it| elements[it].iter().copied()).collect()
    };
    Ok((0..1 << last).rev().map(chosen).collect())
}

/// The sets of a whole clause: each choice of an alternative of every entry.
pub(super) fn product(entries: &[Sets]) -> SqlResult<Sets> {
    let mut sets: Sets = vec![Vec::new()];
    for entry in entries {
        if sets.len() * entry.len() > SETS_MAX {
            let message = format!("too many grouping sets present (maximum {SETS_MAX})");
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
        }
        let joined = |set: &Vec<usize>, more: &Vec<usize>| [&set[..], &more[..]].concat();
        sets =
            sets.iter().flat_map(|set| entry.iter().map(move |more| joined(set, more))).collect();
    }
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    Ok(sets)
}

/// A call of grouping(): the attribute that it is, and its arguments by number among the keys.
pub(super) type Groupings = Vec<(Attr, Vec<usize>)>;

/// What grouping() is in the groups of a set: a bit for each argument, set where the set does not have it.
pub(super) fn bits(arguments: &[usize], set: &[usize]) -> Expr {
    let bit = |bits: i64, key: &usize| bits << 1 | i64::from(!set.contains(key));
    Expr::literal(Value::Integer(arguments.iter().fold(0, bit)), DataType::Integer)
}

/// What is read by each set: its attributes have others in each reader.
struct Base {
    id: usize,
    attrs: AttrSet,
    /// Keys and aggregates over it.
    keys: Vec<Expr>,
    aggregates: Vec<Aggregate>,
    /// Whether its rows are the groups of all keys.
    is_grouped: bool,
}

impl Binder<'_> {
    /// The groups of all sets. `keys` and `calls` say what attributes they have in the result.
    pub(super) fn sets(
        &mut self,
        input: Rel,
        keys: Vec<(Attr, Expr)>,
        calls: Vec<(Attr, Aggregate)>,
        sets: &Sets,
        groupings: &Groupings,
    ) -> SqlResult<Rel> {
        let output: Vec<Attr> = (keys.iter().map(|it| it.0))
            .chain(calls.iter().map(|it| it.0))
            .chain(groupings.iter().map(|it| it.0))
            .collect();
        let base = self.base(input, keys, calls);
        let mut inputs = Vec::with_capacity(sets.len());
        for set in sets {
            inputs.push(self.set(&base, set, groupings)?);
        }
        Ok(Rel::Union { inputs, output })
    }

    fn base(&mut self, input: Rel, keys: Vec<(Attr, Expr)>, calls: Vec<(Attr, Aggregate)>) -> Base {
        let parts: Option<Vec<AggregateFunction>> =
            calls.iter().map(|it| it.1.of_parts()).collect();
        let (mut own, mut named) = (Vec::new(), Vec::new());
        let mut computed = Vec::new();
        for (_, expr) in keys {
            // A key that is a column stays that column.
            let bare = plan::relation::bare(&expr);
            let attr = match bare.filter(|it| self.level().frame.contains(*it)) {
                Some(attr) => attr,
                None => {
                    let attr = self.attribute(expr.data_type, true);
                    computed.push((attr, expr.clone()));
                    attr
                }
            };
            own.push(Expr::column(attr, expr.data_type));
            named.push((attr, expr));
        }
        let Some(parts) = parts else {
            let rel = mapped(input, computed);
            let aggregates = calls.into_iter().map(|it| it.1).collect();
            let attrs = rel.attrs();
            self.shared.push(rel);
            let id = self.shared.len() - 1;
            return Base { id, attrs, keys: own, aggregates, is_grouped: false };
        };
        let (mut inner, mut aggregates) = (Vec::new(), Vec::new());
        for ((_, call), function) in calls.into_iter().zip(parts) {
            let data_type = call.data_type;
            let attr = self.attribute(data_type, true);
            let argument = Some(Expr::column(attr, data_type));
            aggregates.push(Aggregate::of(function, argument, data_type));
            inner.push((attr, call));
        }
        let rel =
            Rel::Aggregate { input: Box::new(input), keys: named, aggregates: inner, rows: 0.0 };
        let attrs = rel.attrs();
        self.shared.push(rel);
        let id = self.shared.len() - 1;
        Base { id, attrs, keys: own, aggregates, is_grouped: true }
    }

    /// The groups of one set, and the attributes of keys, aggregates and calls of grouping() in them.
    fn set(
        &mut self,
        base: &Base,
        set: &[usize],
        groupings: &Groupings,
    ) -> SqlResult<(Rel, Vec<Attr>)> {
        let (mut output, mut here) = (Vec::new(), Vec::new());
        for there in base.attrs.iter() {
            let known = self.attributes[there].clone();
            let attr = self.attribute(known.data_type, known.nullable);
            output.push((attr, there));
            here.push((there, Expr::column(attr, known.data_type)));
        }
        let input = Rel::Shared { id: base.id, output, rows: 0.0 };
        let read = |expr: &Expr| {
            let mut expr = expr.clone();
            substitute(&mut expr, &here);
            expr
        };
        let (mut keys, mut attrs, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for (number, key) in base.keys.iter().enumerate() {
            let key = read(key);
            match plan::relation::bare(&key).filter(|_| set.contains(&number)) {
                Some(attr) => {
                    attrs.push(attr);
                    keys.push((attr, key));
                }
                None => {
                    let attr = self.attribute(key.data_type, true);
                    attrs.push(attr);
                    made.push((attr, null(key.data_type)));
                }
            }
        }
        let mut aggregates = Vec::with_capacity(base.aggregates.len());
        for aggregate in &base.aggregates {
            let mut own = aggregate.clone();
            own.expressions_mut().for_each(|it| *it = read(it));
            let attr = self.attribute(own.data_type, true);
            // Over no rows a sum of counts is NULL, and the count is zero.
            let counts = base.is_grouped && aggregate.function == AggregateFunction::Sum;
            let is_count = counts && aggregate.data_type == DataType::BigInt && set.is_empty();
            match is_count && self.counts_rows(base, aggregate) {
                false => attrs.push(attr),
                true => {
                    let sum = Expr::column(attr, own.data_type);
                    let zero = Expr::literal(Value::Integer(0), own.data_type);
                    let value = self.attribute(own.data_type, false);
                    made.push((value, or_else(sum, zero)));
                    attrs.push(value);
                }
            }
            aggregates.push((attr, own));
        }
        for (_, arguments) in groupings {
            let attr = self.attribute(DataType::Integer, false);
            made.push((attr, bits(arguments, set)));
            attrs.push(attr);
        }
        let rel = Rel::Aggregate { input: Box::new(input), keys, aggregates, rows: 0.0 };
        Ok((mapped(rel, made), attrs))
    }

    /// Whether an aggregate over the groups of all keys adds up counts.
    fn counts_rows(&self, base: &Base, aggregate: &Aggregate) -> bool {
        let argument = aggregate.argument.as_ref().and_then(plan::relation::bare);
        let Rel::Aggregate { aggregates, .. } = &self.shared[base.id] else { return false };
        let made = aggregates.iter().find(|it| Some(it.0) == argument);
        made.is_some_and(|it| it.1.function == AggregateFunction::Count)
    }
}

fn or_else(value: Expr, otherwise: Expr) -> Expr {
    let data_type = value.data_type;
    let known = unary(UnaryOperator::IsNotNull, value.clone());
    let branches = vec![(known, value)];
    Expr { kind: ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) }, data_type }
}
