//! Guards of subqueries: the condition under which the value of a dependent join is asked for by who reads it (a branch of CASE, the
//! right side of AND and OR, the FILTER of an aggregate) goes into what of its right side may fail, so that nothing fails for
//! rows that do not ask.
//!
//! Key decision: the condition becomes an attribute of the left side, and each expression within the right side that may fail is
//! made NULL unless it is TRUE. So the expression depends on the left row like any other that does, and is computed where that is
//! known to be there: unnesting and what comes after it need no rule of their own. Values that everybody asks for, and right sides
//! that cannot fail, are left as they are.
//!
//! - Invariant: a guard evaluates nothing for a row that its reader does not evaluate for that row.

use std::collections::BTreeMap;

use plan::build::{boolean, unary};
use plan::properties::{has_effect, is_fallible, is_volatile};
use plan::relation::{Apply, ApplyRel, Attr, AttrSet, Attribute, Query, Rel, split_conjunction};
use plan::{Aggregate, BinaryOperator, Expr, ExprKind, UnaryOperator};
use types::{DataType, Value};

use super::expressions::{case, constant};

/// What must hold for an expression to be evaluated, from the outermost condition inwards.
type Path = Vec<Expr>;

/// Where the values of dependent joins are asked for.
type Asked = BTreeMap<Attr, Vec<Path>>;

/// Guards the dependent joins of all relations of a query. Gives the attributes that are guards.
pub(super) fn guard(query: &mut Query) -> AttrSet {
    let Query { attributes, scalars, shared, root, output, .. } = query;
    let mut guarding = Guarding { attributes, guards: AttrSet::default() };
    for rel in shared.iter_mut() {
        let all = rel.attrs();
        guarding.rel(rel, &all);
    }
    for scalar in scalars.iter_mut() {
        guarding.rel(&mut scalar.rel, &[scalar.attr].into_iter().collect());
    }
    guarding.rel(root, &output.iter().map(|it| it.attr).collect());
    guarding.guards
}

struct Guarding<'a> {
    attributes: &'a mut Vec<Attribute>,
    guards: AttrSet,
}

impl Guarding<'_> {
    /// Guards what is in a relation, from the inside out; `required` is what its consumer uses of it.
    fn rel(&mut self, rel: &mut Rel, required: &AttrSet) {
        let used = rel.used();
        let mut below = used.clone();
        below.union_with(required);
        match rel {
            Rel::Apply(apply) => {
                below.union_with(&apply.right.free_attrs());
                self.rel(&mut apply.right, &used);
                self.rel(&mut apply.left, &below);
            }
            other => {
                other.inputs_mut().into_iter().for_each(|it| self.rel(it, &below));
                self.reader(other, required);
            }
        }
    }

    /// Guards the dependent joins that a relation reads.
    fn reader(&mut self, rel: &mut Rel, required: &AttrSet) {
        let [input @ Rel::Apply(_)] = rel.inputs()[..] else { return };
        let offered = input.attrs();
        let mut asked = Asked::new();
        ask(rel, required, &mut asked);
        if let [input] = &mut rel.inputs_mut()[..] {
            self.joins(input, asked, &offered);
        }
    }

    /// Guards dependent joins, one over the other. `offered` is what the uppermost offers.
    fn joins(&mut self, rel: &mut Rel, mut asked: Asked, offered: &AttrSet) {
        let Rel::Apply(apply) = rel else { return };
        let ApplyRel { left, right, kind } = &mut **apply;
        let known = left.attrs();
        let is_known = |it: Attr| known.contains(it) || !offered.contains(it);
        let paths = kind.made().and_then(|it| asked.remove(&it));
        let guard = paths.and_then(|it| condition(it, &is_known));
        let mut used = right.free_attrs();
        if let Apply::Any { condition, .. } = kind {
            used.add_expr(condition);
        }
        if let Apply::Join { on, .. } = kind {
            on.iter().for_each(|it| used.add_expr(it));
        }
        let path: Path = guard.iter().cloned().collect();
        used.iter().for_each(|it| asked.entry(it).or_default().push(path.clone()));
        self.joins(left, asked, offered);
        let is_value = matches!(kind, Apply::Scalar { .. }) && right.free_attrs().is_empty();
        if let Some(guard) = guard
            && !is_value
        {
            self.put(guard, apply);
        }
    }

    /// Puts a guard into a dependent join, where that may fail.
    fn put(&mut self, guard: Expr, apply: &mut ApplyRel) {
        let ApplyRel { left, right, kind } = apply;
        let within = Fallible::within(right);
        let mut may_fail = false;
        right.visit_expressions(&mut |it| may_fail |= within.is_in(it));
        match kind {
            Apply::Any { condition, .. } => may_fail |= within.is_in(condition),
            Apply::Scalar { source, .. } => {
                may_fail |= within.values.contains(*source) || !is_one_row(right);
            }
            Apply::Join { .. } => {}
        }
        if !may_fail {
            return;
        }
        let attr = self.attribute(DataType::Boolean, false);
        self.guards.insert(attr);
        *left = Rel::Map { input: Box::new(left.take()), exprs: vec![(attr, guard)] };
        let guard = boolean(ExprKind::Column(attr));
        right.visit_mut(&mut |it| self.put_into(it, &guard, &within));
        match kind {
            Apply::Any { condition, .. } => within.guard(condition, &guard),
            Apply::Scalar { source, .. } if within.values.contains(*source) => {
                let data_type = self.attributes[*source].data_type;
                let own = self.attribute(data_type, true);
                let mut value = Expr::column(*source, data_type);
                within.guard(&mut value, &guard);
                *right = Rel::Map { input: Box::new(right.take()), exprs: vec![(own, value)] };
                *source = own;
            }
            Apply::Scalar { .. } | Apply::Join { .. } => {}
        }
        if let Apply::Scalar { .. } = kind {
            leave_out_rows(right, &guard);
        }
    }

    /// Puts a guard into the expressions of a relation.
    fn put_into(&mut self, rel: &mut Rel, guard: &Expr, within: &Fallible) {
        match rel {
            Rel::Map { exprs, .. } => {
                for (attr, expr) in exprs {
                    within.guard_made(*attr, expr, guard);
                    self.attributes[*attr].nullable |= !within.counts.contains(*attr);
                }
            }
            Rel::Values { output, rows } => {
                for row in rows {
                    let made = output.iter().zip(row);
                    made.for_each(|(attr, expr)| within.guard_made(*attr, expr, guard));
                }
            }
            other => {
                other.expressions_mut().into_iter().for_each(|it| within.guard(it, guard));
                // One that depends on nothing is a value that raises where it is read.
                if let Rel::Apply(apply) = other
                    && let Apply::Scalar { .. } = apply.kind
                    && !apply.right.free_attrs().is_empty()
                {
                    leave_out_rows(&mut apply.right, guard);
                }
            }
        }
    }

    fn attribute(&mut self, data_type: DataType, nullable: bool) -> Attr {
        self.attributes.push(Attribute { data_type, nullable });
        self.attributes.len() - 1
    }
}

/// Leaves a scalar subquery without a row unless the guard holds, so that several are no error.
fn leave_out_rows(right: &mut Rel, guard: &Expr) {
    if !is_one_row(right) {
        *right = right.take().filtered(vec![guard.clone()]);
    }
}

/// Whether a relation has one row at most, as its operators say.
fn is_one_row(rel: &Rel) -> bool {
    match rel {
        Rel::Map { input, .. } | Rel::Filter { input, .. } | Rel::Window { input, .. } => {
            is_one_row(input)
        }
        Rel::Sort { input, partition, limit, .. } => {
            partition.is_empty() && limit.is_some_and(|it| it <= 1) || is_one_row(input)
        }
        Rel::Limit { input, limit, .. } => limit.is_some_and(|it| it <= 1) || is_one_row(input),
        Rel::Aggregate { keys, .. } => keys.is_empty(),
        Rel::Values { rows, .. } => rows.len() <= 1,
        Rel::Apply(apply) => apply.kind.made().is_some() && is_one_row(&apply.left),
        _ => false,
    }
}

/// What may fail in the right side of a dependent join.
#[derive(Default)]
struct Fallible {
    /// The values of scalar subqueries in it: who asks for one raises what it failed by.
    values: AttrSet,
    /// How often rows come: never NULL.
    counts: AttrSet,
}

impl Fallible {
    fn within(rel: &Rel) -> Self {
        let mut this = Self::default();
        rel.visit(&mut |it| match it {
            Rel::Apply(apply) => {
                if let Apply::Scalar { value, .. } = apply.kind {
                    this.values.insert(value);
                }
            }
            Rel::Repeat { count, .. } => this.counts.insert(*count),
            _ => {}
        });
        this
    }

    fn is_in(&self, expr: &Expr) -> bool {
        is_fallible(expr) || AttrSet::of(expr).intersects(&self.values)
    }

    /// Guards what an attribute is made of. How often a row comes is never NULL: without the guard it is not at all.
    fn guard_made(&self, attr: Attr, expr: &mut Expr, guard: &Expr) {
        if !self.counts.contains(attr) || !self.is_in(expr) {
            return self.guard(expr, guard);
        }
        let data_type = expr.data_type;
        let none = Expr::literal(Value::Integer(0), data_type);
        let count = std::mem::replace(expr, none.clone());
        *expr = case(vec![(guard.clone(), count)], Some(none), data_type);
    }

    /// Makes what may fail NULL unless the guard holds. Comparisons stay what they are, since joins go by them.
    fn guard(&self, expr: &mut Expr, guard: &Expr) {
        if !self.is_in(expr) {
            return;
        }
        let is_test = match &expr.kind {
            ExprKind::Binary { operator, .. } => {
                use BinaryOperator::{And, IsDistinctFrom, IsNotDistinctFrom, Or};
                operator.is_comparison()
                    || matches!(operator, And | Or | IsDistinctFrom | IsNotDistinctFrom)
            }
            ExprKind::Unary { operator, .. } => *operator != UnaryOperator::Negate,
            _ => false,
        };
        if is_test {
            expr.children_mut().into_iter().for_each(|it| self.guard(it, guard));
            return;
        }
        let data_type = expr.data_type;
        let value = std::mem::replace(expr, constant(false));
        *expr = case(vec![(guard.clone(), value)], None, data_type);
    }
}

/// The condition under which one of several paths is taken: `None` where one always is. What is not known to the left side or
/// is another one each time ends a path, which is then taken more often.
fn condition(paths: Vec<Path>, is_known: &dyn Fn(Attr) -> bool) -> Option<Expr> {
    let mut any: Vec<Expr> = Vec::with_capacity(paths.len());
    for path in paths {
        let fits =
            |it: &Expr| !is_volatile(it) && !has_effect(it) && AttrSet::of(it).iter().all(is_known);
        let known: Path = path.into_iter().take_while(fits).collect();
        let taken = known.into_iter().rev().reduce(|inner, outer| {
            case(vec![(outer, inner)], Some(constant(false)), DataType::Boolean)
        })?;
        if !any.contains(&taken) {
            any.push(taken);
        }
    }
    let last = any.pop()?;
    let branches: Vec<_> = any.into_iter().map(|it| (it, constant(true))).collect();
    match branches.is_empty() {
        true => Some(last),
        false => Some(case(branches, Some(last), DataType::Boolean)),
    }
}

/// Notes what a relation asks for of its input, and what is asked for above it.
fn ask(rel: &Rel, required: &AttrSet, asked: &mut Asked) {
    let mut always = required.clone();
    match rel {
        Rel::Aggregate { keys, aggregates, .. } => {
            always = AttrSet::default();
            keys.iter().for_each(|it| reach(&it.1, &mut Path::new(), asked));
            let used = aggregates.iter().filter(|it| required.contains(it.0));
            used.for_each(|it| ask_for_aggregate(&it.1, asked));
        }
        Rel::Filter { predicates, .. } => {
            let mut all = Vec::new();
            predicates.iter().for_each(|it| split_conjunction(it.clone(), &mut all));
            all.iter().for_each(|it| reach(it, &mut Path::new(), asked));
        }
        // What nobody uses is not computed.
        Rel::Map { exprs, .. } => {
            let used = exprs.iter().filter(|it| required.contains(it.0));
            used.for_each(|it| reach(&it.1, &mut Path::new(), asked));
        }
        Rel::Sort { .. } | Rel::Window { .. } => {
            rel.expressions().into_iter().for_each(|it| reach(it, &mut Path::new(), asked));
        }
        other => always.union_with(&other.used()),
    }
    if let Rel::Sort { partition, .. } | Rel::Window { partition, .. } = rel {
        partition.iter().for_each(|it| always.insert(*it));
    }
    always.iter().for_each(|it| asked.entry(it).or_default().push(Path::new()));
}

/// An aggregate asks for its arguments in the rows that its filter keeps.
fn ask_for_aggregate(aggregate: &Aggregate, asked: &mut Asked) {
    let mut path = Path::new();
    if let Some(filter) = &aggregate.filter {
        reach(filter, &mut path, asked);
        path.push(unary(UnaryOperator::IsTrue, filter.clone()));
    }
    let order = aggregate.order.iter().map(|it| &it.expr);
    let arguments = aggregate.argument.iter().chain(&aggregate.rest).chain(order);
    arguments.for_each(|it| reach(it, &mut path, asked));
}

/// Notes which columns an expression asks for, and on which paths.
fn reach(expr: &Expr, path: &mut Path, asked: &mut Asked) {
    let outside = path.len();
    match &expr.kind {
        ExprKind::Column(attr) => asked.entry(*attr).or_default().push(path.clone()),
        ExprKind::Case { branches, otherwise } => {
            for (condition, result) in branches {
                reach(condition, path, asked);
                path.push(unary(UnaryOperator::IsTrue, condition.clone()));
                reach(result, path, asked);
                path.pop();
                path.push(unary(UnaryOperator::IsNotTrue, condition.clone()));
            }
            otherwise.iter().for_each(|it| reach(it, path, asked));
        }
        ExprKind::Binary {
            operator: operator @ (BinaryOperator::And | BinaryOperator::Or),
            left,
            right,
        } => {
            reach(left, path, asked);
            let passes = match operator {
                BinaryOperator::And => UnaryOperator::IsNotFalse,
                _ => UnaryOperator::IsNotTrue,
            };
            path.push(unary(passes, (**left).clone()));
            reach(right, path, asked);
        }
        _ => expr.children().into_iter().for_each(|it| reach(it, path, asked)),
    }
    path.truncate(outside);
}
