//! GROUPING SETS, ROLLUP and CUBE: groups of several sets of keys, one after the other, with NULL for the keys that a set
//! does not have.
//!
//! Key decision: where every aggregate can be made of those of parts, the groups of all keys are computed once, and each set
//! groups again those of the smallest other set that has its keys; else each set groups the rows, which are computed once.
//! Where they depend on a query around they are others for each of its rows, and each set reads a copy of its own.

use std::cmp::Reverse;

use plan::build::{mean, null, unary};
use plan::relation::{Attr, AttrSet, Rel, bare, fresh_copy, substitute};
use plan::{Aggregate, AggregateFunction, Expr, ExprKind, UnaryOperator};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::at;
use super::{Binder, is_repeatable, mapped};

/// The most sets of a query.
const SETS_MAX: usize = 4096;
/// The most elements of CUBE.
const CUBE_MAX: usize = 12;

/// The most keys of which sets are made of one another.
const KEYS_MAX: usize = 64;

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

/// An error where there are too many sets.
pub(super) fn check_count(sets: usize) -> SqlResult<()> {
    if sets <= SETS_MAX {
        return Ok(());
    }
    let message = format!("too many grouping sets present (maximum {SETS_MAX})");
    Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message))
}

/// The sets of a whole clause: each choice of an alternative of every entry.
pub(super) fn product(entries: &[Sets]) -> SqlResult<Sets> {
    let mut sets: Sets = vec![Vec::new()];
    for entry in entries {
        check_count(sets.len() * entry.len())?;
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

/// Aggregates and their attributes.
type Calls = Vec<(Attr, Aggregate)>;

/// A call of grouping(): the attribute that it is, and its arguments by number among the keys.
pub(super) type Groupings = Vec<(Attr, Vec<usize>)>;

/// What grouping() is in the groups of a set: a bit for each argument, set where the set does not have it.
pub(super) fn bits(arguments: &[usize], set: &[usize]) -> Expr {
    let bit = |bits: i64, key: &usize| bits << 1 | i64::from(!set.contains(key));
    Expr::literal(Value::Integer(arguments.iter().fold(0, bit)), DataType::Integer)
}

/// What is read by each set: its attributes have others in each reader.
struct Base {
    rows: Rows,
    /// Keys and aggregates over it.
    keys: Vec<Expr>,
    aggregates: Vec<Aggregate>,
    /// The keys, by number, of which its rows are the groups, if they are.
    grouped: Option<Vec<usize>>,
    /// The attributes that count rows, where its rows are groups.
    counts: AttrSet,
}

impl Base {
    /// Whether its rows are the groups of a set.
    fn is_of(&self, set: &[usize]) -> bool {
        !set.is_empty() && self.grouped.as_deref() == Some(set)
    }

    /// Whether one of its aggregates counts rows.
    fn counts_rows(&self, it: &Aggregate) -> bool {
        it.argument.as_ref().and_then(bare).is_some_and(|it| self.counts.contains(it))
    }
}

/// The rows of a base.
enum Rows {
    /// An entry of the shared relations, and its attributes.
    Shared(usize, AttrSet),
    /// Rows that depend on those of a query around.
    Dependent(Rel),
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
        let (calls, means) = self.parts_of_means(calls);
        let output: Vec<Attr> = (keys.iter().map(|it| it.0))
            .chain(calls.iter().map(|it| it.0))
            .chain(groupings.iter().map(|it| it.0))
            .collect();
        let base = self.base(input, keys, calls);
        let sources = sources(sets, &base);
        // The source of a set has more keys, and comes before it.
        let mut order: Vec<usize> = (0..sets.len()).collect();
        order.sort_by_key(|it| Reverse(sets[*it].len()));
        let mut bases: Vec<Option<Base>> = sets.iter().map(|_| None).collect();
        let mut inputs: Vec<Option<(Rel, Vec<Attr>)>> = sets.iter().map(|_| None).collect();
        for number in order {
            let (source, set) = (sources[number], &sets[number]);
            if sources.contains(&Some(number)) {
                let source = source.and_then(|it| bases[it].as_ref()).unwrap_or(&base);
                let own = self.groups_of(source, set);
                bases[number] = Some(own);
            }
            let own = bases[number].as_ref();
            let source = own.or_else(|| source.and_then(|it| bases[it].as_ref())).unwrap_or(&base);
            let input = self.set(source, set, groupings)?;
            inputs[number] = Some(input);
        }
        let inputs = inputs.into_iter().flatten().collect();
        Ok(mapped(Rel::Union { inputs, output }, means))
    }

    /// Means as sums and counts, which each set can make of the groups of all keys, where all other calls can be made of these
    /// too; and what the means are of them.
    fn parts_of_means(&mut self, calls: Calls) -> (Calls, Vec<(Attr, Expr)>) {
        let sum_of = |it: &Aggregate| {
            let argument =
                it.argument.as_ref().filter(|_| it.function == AggregateFunction::Average)?;
            let data_type = types::numeric::sum_type(argument.data_type)?;
            let sum = Aggregate { function: AggregateFunction::Sum, data_type, ..it.clone() };
            // Sum and count are computed each for itself.
            let fits = matches!(it.data_type, DataType::Decimal { .. })
                && it.expressions().all(is_repeatable);
            sum.of_parts().filter(|_| fits).map(|_| sum)
        };
        let fits = |it: &(Attr, Aggregate)| it.1.of_parts().is_some() || sum_of(&it.1).is_some();
        if !calls.iter().all(fits) {
            return (calls, Vec::new());
        }
        let (mut parts, mut means) = (Vec::with_capacity(calls.len()), Vec::new());
        for (attr, call) in calls {
            let Some(sum) = sum_of(&call) else {
                parts.push((attr, call));
                continue;
            };
            let data_type = call.data_type;
            let (function, of_count) = (AggregateFunction::Count, DataType::BigInt);
            let count = Aggregate { function, data_type: of_count, ..call };
            let total = self.attribute(sum.data_type, true);
            let counted = self.attribute(of_count, false);
            let total_expr = Expr::column(total, sum.data_type);
            means.push((attr, mean(total_expr, Expr::column(counted, of_count), data_type)));
            parts.extend([(total, sum), (counted, count)]);
        }
        (parts, means)
    }

    fn base(
        &mut self,
        input: Rel,
        keys: Vec<(Attr, Expr)>,
        mut calls: Vec<(Attr, Aggregate)>,
    ) -> Base {
        let parts: Option<Vec<AggregateFunction>> =
            calls.iter().map(|it| it.1.of_parts()).collect();
        let mut own = Vec::with_capacity(keys.len());
        let mut named: Vec<(Attr, Expr)> = Vec::new();
        let mut computed = Vec::new();
        for (_, expr) in keys {
            let known = named.iter().find(|it| it.1 == expr && is_repeatable(&expr)).map(|it| it.0);
            // A key that is a column stays that column.
            let bare = bare(&expr).filter(|it| self.level().frame.contains(*it));
            let attr = match (known, bare) {
                (Some(attr), _) | (None, Some(attr)) => attr,
                (None, None) => {
                    let attr = self.attribute(expr.data_type, true);
                    computed.push((attr, expr.clone()));
                    attr
                }
            };
            own.push(Expr::column(attr, expr.data_type));
            if known.is_none() {
                named.push((attr, expr));
            }
        }
        let Some(parts) = parts else {
            // What is volatile is the same for all sets.
            for expr in calls.iter_mut().flat_map(|it| it.1.expressions_mut()) {
                if !is_repeatable(expr) {
                    let attr = self.attribute(expr.data_type, true);
                    let column = Expr::column(attr, expr.data_type);
                    computed.push((attr, std::mem::replace(expr, column)));
                }
            }
            let rows = self.rows_of_sets(mapped(input, computed));
            let aggregates = calls.into_iter().map(|it| it.1).collect();
            return Base { rows, keys: own, aggregates, grouped: None, counts: AttrSet::default() };
        };
        let is_count = |it: &Aggregate| it.function == AggregateFunction::Count;
        let calls = calls.into_iter().zip(parts);
        let calls = calls.map(|((_, it), function)| (is_count(&it), it, function)).collect();
        let grouped = (0..own.len()).collect();
        self.base_of_groups((input, named), (own, grouped), calls)
    }

    /// The groups of one of the sets, for others to group again.
    fn groups_of(&mut self, source: &Base, set: &[usize]) -> Base {
        let (input, here) = self.read_rows(&source.rows);
        let (mut own, mut named): (_, Vec<(Attr, Expr)>) = (source.keys.clone(), Vec::new());
        for number in set {
            let key = &mut own[*number];
            substitute(key, &here);
            let known = bare(key).filter(|it| named.iter().all(|known| known.0 != *it));
            named.extend(known.map(|it| (it, key.clone())));
        }
        let call = |it: &Aggregate| {
            let is_count = source.counts_rows(it);
            let mut call = it.clone();
            call.expressions_mut().for_each(|it| substitute(it, &here));
            // What makes it of parts makes it of parts of parts.
            (is_count, call, it.function)
        };
        let calls = source.aggregates.iter().map(call).collect();
        self.base_of_groups((input, named), (own, set.to_vec()), calls)
    }

    /// Groups with aggregates, whether these count rows, and what makes them of parts. `own` are all keys by number, and which of
    /// them `named` are.
    fn base_of_groups(
        &mut self,
        (input, named): (Rel, Vec<(Attr, Expr)>),
        (own, grouped): (Vec<Expr>, Vec<usize>),
        calls: Vec<(bool, Aggregate, AggregateFunction)>,
    ) -> Base {
        let (mut inner, mut aggregates) = (Vec::new(), Vec::new());
        let mut counts = AttrSet::default();
        for (is_count, call, function) in calls {
            let data_type = call.data_type;
            let attr = self.attribute(data_type, true);
            if is_count {
                counts.insert(attr);
            }
            let argument = Some(Expr::column(attr, data_type));
            aggregates.push(Aggregate::of(function, argument, data_type));
            inner.push((attr, call));
        }
        let input = Box::new(input);
        let groups = Rel::Aggregate { input, keys: named, aggregates: inner, rows: 0.0 };
        let (rows, grouped) = (self.rows_of_sets(groups), Some(grouped));
        Base { rows, keys: own, aggregates, grouped, counts }
    }

    /// Rows that each set reads.
    fn rows_of_sets(&mut self, rel: Rel) -> Rows {
        if !rel.free_attrs().is_empty() {
            return Rows::Dependent(rel);
        }
        let attrs = rel.attrs();
        self.shared.push(rel);
        Rows::Shared(self.shared.len() - 1, attrs)
    }

    /// The rows for one of the sets, and what the attributes of the base are in them.
    fn read_rows(&mut self, rows: &Rows) -> (Rel, Vec<(Attr, Expr)>) {
        let (id, attrs) = match rows {
            Rows::Shared(id, attrs) => (*id, attrs),
            Rows::Dependent(rel) => {
                let (copy, fresh) = fresh_copy(rel, &mut self.attributes);
                let here = fresh.into_iter();
                return (copy, here.map(|(there, here)| (there, self.column_expr(here))).collect());
            }
        };
        let (mut output, mut here) = (Vec::new(), Vec::new());
        for there in attrs.iter() {
            let known = self.attributes[there].clone();
            let attr = self.attribute(known.data_type, known.nullable);
            output.push((attr, there));
            here.push((there, Expr::column(attr, known.data_type)));
        }
        (Rel::shared(id, output), here)
    }

    /// The groups of one set, and the attributes of keys, aggregates and calls of grouping() in them.
    fn set(
        &mut self,
        base: &Base,
        set: &[usize],
        groupings: &Groupings,
    ) -> SqlResult<(Rel, Vec<Attr>)> {
        let (input, here) = self.read_rows(&base.rows);
        let read = |expr: &Expr| {
            let mut expr = expr.clone();
            substitute(&mut expr, &here);
            expr
        };
        let mut keys: Vec<(Attr, Expr)> = Vec::new();
        let (mut attrs, mut made) = (Vec::new(), Vec::new());
        for (number, key) in base.keys.iter().enumerate() {
            let key = read(key);
            match bare(&key).filter(|_| set.contains(&number)) {
                Some(attr) => {
                    attrs.push(attr);
                    if keys.iter().all(|it| it.0 != attr) {
                        keys.push((attr, key));
                    }
                }
                None => {
                    let attr = self.attribute(key.data_type, true);
                    attrs.push(attr);
                    made.push((attr, null(key.data_type)));
                }
            }
        }
        let is_grouped = base.is_of(set);
        let mut aggregates = Vec::with_capacity(base.aggregates.len());
        for aggregate in &base.aggregates {
            let mut own = aggregate.clone();
            own.expressions_mut().for_each(|it| *it = read(it));
            if let Some(known) = own.argument.as_ref().and_then(bare).filter(|_| is_grouped) {
                attrs.push(known);
                continue;
            }
            let attr = self.attribute(own.data_type, true);
            // Over no rows a sum of counts is NULL, and the count is zero.
            match set.is_empty() && base.counts_rows(aggregate) {
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
        let rel = match is_grouped {
            true => input,
            false => Rel::Aggregate { input: Box::new(input), keys, aggregates, rows: 0.0 },
        };
        Ok((mapped(rel, made), attrs))
    }
}

/// The set of whose groups the groups of each set are made: the smallest that has its keys and more; `None` where it is made of
/// what all are made of.
fn sources(sets: &Sets, base: &Base) -> Vec<Option<usize>> {
    let all = base.keys.len();
    if base.grouped.is_none() || matches!(base.rows, Rows::Dependent(_)) || all > KEYS_MAX {
        return vec![None; sets.len()];
    }
    let bits = |set: &Vec<usize>| set.iter().fold(0u64, |bits, key| bits | 1 << key);
    let known: Vec<u64> = sets.iter().map(bits).collect();
    let source = |set: &u64| {
        let fits = |it: &usize| set & !known[*it] == 0 && known[*it] != *set;
        let smaller = |it: &usize| (known[*it].count_ones() as usize) < all;
        (0..known.len()).filter(fits).filter(smaller).min_by_key(|it| known[*it].count_ones())
    };
    known.iter().map(source).collect()
}

fn or_else(value: Expr, otherwise: Expr) -> Expr {
    let data_type = value.data_type;
    let known = unary(UnaryOperator::IsNotNull, value.clone());
    let branches = vec![(known, value)];
    Expr { kind: ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) }, data_type }
}
