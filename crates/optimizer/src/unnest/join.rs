//! Dependent joins as joins: by the conditions that were pulled up, or by the distinct outer values.

use plan::build::{null, unary};
use plan::relation::{Apply, Attr, AttrSet, JoinRel, Rel, RelJoin, bare, combine, substitute};
use plan::{Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use types::{DataType, SqlResult, Value};

use super::expressions::{case, conjuncts, constant, sides};
use super::pull::Pulled;
use super::state::{Unnesting, Use};

impl Unnesting {
    /// Whether the conditions that were pulled up are all that the join needs.
    pub(super) fn can_join(&self, pulled: &Pulled, how: &Use, outer: &AttrSet) -> bool {
        match how {
            Use::Apply(Apply::Join { outer: extended, .. }) => {
                !*extended || pulled.definitions.is_empty()
            }
            Use::Apply(Apply::Scalar { source, .. }) => {
                let right = pulled.rel.attrs();
                let defined = pulled.definitions.iter().any(|it| it.0 == *source);
                !defined
                    && (self.has_one_row(pulled, outer)
                        || pulled
                            .conjuncts
                            .iter()
                            .all(|it| self.is_guard(it) || sides(it, outer, &right).is_some()))
            }
            // What a guard alone makes depend on the left side is computed once, not for each left row.
            Use::Apply(Apply::Any { condition, .. }) if outer.intersects(&self.guards) => {
                let right = pulled.rel.attrs();
                let all = conjuncts(vec![condition.clone()]);
                all.iter().chain(&pulled.conjuncts).any(|it| is_key_of(it, &right))
            }
            _ => true,
        }
    }

    /// Whether a condition only says that a left row asks for the value.
    fn is_guard(&self, condition: &Expr) -> bool {
        bare(condition).is_some_and(|it| self.guards.contains(it))
    }

    /// Whether a row of the left side has at most one partner.
    fn has_one_row(&self, pulled: &Pulled, outer: &AttrSet) -> bool {
        let right = pulled.rel.attrs();
        let bound = pulled.conjuncts.iter().filter_map(|it| sides(it, outer, &right));
        let same = bound.filter(|it| it.0.data_type == it.1.data_type);
        self.is_unique(&pulled.rel, &same.filter_map(|it| bare(it.1)).collect())
    }

    /// Joins a left side with a right side that is still to be unnested.
    pub(super) fn join(
        &mut self,
        left: Rel,
        mut pulled: Pulled,
        how: Use,
        required: &AttrSet,
    ) -> SqlResult<Rel> {
        let mut below = required.clone();
        pulled.conjuncts.iter().for_each(|it| below.add_expr(it));
        pulled.definitions.iter().for_each(|it| below.add_expr(&it.1));
        let one_row = matches!(how, Use::Apply(Apply::Scalar { .. }))
            && self.has_one_row(&pulled, &left.attrs());
        pulled.rel = self.rel(pulled.rel, &below)?;
        Ok(match how {
            Use::Apply(Apply::Scalar { value, source }) => {
                self.value(left, pulled, value, source, one_row)
            }
            how => self.joined(left, pulled, how),
        })
    }

    /// Joins two sides that are unnested, for all but scalar values.
    pub(super) fn joined(&mut self, left: Rel, pulled: Pulled, how: Use) -> Rel {
        let Pulled { rel: right, conjuncts: mut on, definitions } = pulled;
        match how {
            Use::Semi(condition) => {
                on.extend(conditions(condition, &definitions));
                joined(RelJoin::Semi, left, right, on)
            }
            Use::Anti(condition) => self.anti(left, right, on, conditions(condition, &definitions)),
            Use::Apply(Apply::Any { mark, condition, null_as_false }) => {
                let condition = conditions(condition, &definitions);
                self.mark(left, right, on, condition, mark, null_as_false)
            }
            Use::Apply(Apply::Join { outer, on: own }) => {
                let mut own = own;
                own.iter_mut().for_each(|it| substitute(it, &definitions));
                on.extend(own);
                let kind = if outer { RelJoin::Left } else { RelJoin::Inner };
                let rel = joined(kind, left, right, on);
                match definitions.is_empty() {
                    true => rel,
                    false => Rel::Map { input: Box::new(rel), exprs: definitions },
                }
            }
            Use::Apply(Apply::Scalar { value, source }) => {
                let pulled = Pulled { rel: right, conjuncts: on, definitions };
                self.value(left, pulled, value, source, false)
            }
        }
    }

    /// Left rows for which no row of the right fulfils `on` and does not make the condition FALSE.
    fn anti(&self, left: Rel, right: Rel, mut on: Vec<Expr>, condition: Vec<Expr>) -> Rel {
        let unknown: Vec<Expr> =
            condition.iter().filter(|it| self.nullable_over(it, &left, &right)).cloned().collect();
        if unknown.is_empty() {
            on.extend(condition);
            return joined(RelJoin::Anti, left, right, on);
        }
        if on.is_empty() && is_one_equality(&condition, &left, &right) {
            let mut join = JoinRel::new(RelJoin::Anti, left, right);
            (join.null_aware, join.residual) = (true, condition);
            return Rel::Join(Box::new(join));
        }
        // A conjunction is not FALSE when none of its parts is.
        on.extend(condition.into_iter().map(|it| match unknown.contains(&it) {
            true => unary(UnaryOperator::IsNotFalse, it),
            false => it,
        }));
        joined(RelJoin::Anti, left, right, on)
    }

    /// Left rows with the three-valued OR of a condition over the rows of the right that fulfil `on`.
    fn mark(
        &mut self,
        left: Rel,
        right: Rel,
        mut on: Vec<Expr>,
        condition: Vec<Expr>,
        mark: Attr,
        null_as_false: bool,
    ) -> Rel {
        let nullable =
            !null_as_false && condition.iter().any(|it| self.nullable_over(it, &left, &right));
        if !nullable {
            on.extend(condition);
            return marked(left, right, on, mark, false);
        }
        if on.is_empty() && is_one_equality(&condition, &left, &right) {
            return marked(left, right, condition, mark, true);
        }
        // Two marks: whether a row makes it TRUE, whether one makes it NULL.
        let right_attrs: Vec<Attr> = right.attrs().iter().collect();
        let id = self.share(right);
        let both = right_attrs.iter().map(|it| (*it, *it)).collect();
        let mut again = Vec::with_capacity(right_attrs.len());
        for attr in &right_attrs {
            let copy = self.attributes[*attr].clone();
            again.push((self.attribute(copy.data_type, copy.nullable), *attr));
        }
        let replaced: Vec<(Attr, Expr)> =
            again.iter().map(|it| (it.1, self.column(it.0))).collect();
        let mut on_again = on.clone();
        let whole = combine(BinaryOperator::And, condition.clone());
        on_again.extend(whole.map(|it| unary(UnaryOperator::IsNull, it)));
        on_again.iter_mut().for_each(|it| substitute(it, &replaced));
        on.extend(condition);
        let (is_true, is_null) =
            (self.attribute(DataType::Boolean, false), self.attribute(DataType::Boolean, false));
        let rel = marked(left, Rel::shared(id, both), on, is_true, false);
        let again = Rel::shared(id, again);
        let rel = marked(rel, again, on_again, is_null, false);
        let branches = vec![
            (self.column(is_true), constant(true)),
            (self.column(is_null), null(DataType::Boolean)),
        ];
        let value = case(branches, Some(constant(false)), DataType::Boolean);
        Rel::Map { input: Box::new(rel), exprs: vec![(mark, value)] }
    }

    /// Left rows with the only value of the right: groups of the right side by what it is joined on, each with the value
    /// of a row and the number of rows, unless each left row has at most one partner anyway.
    fn value(
        &mut self,
        left: Rel,
        pulled: Pulled,
        value: Attr,
        source: Attr,
        one_row: bool,
    ) -> Rel {
        let Pulled { rel: right, conjuncts, .. } = pulled;
        let (guards, on): (Vec<Expr>, Vec<Expr>) =
            conjuncts.into_iter().partition(|it| self.is_guard(it));
        let found = self.column(source);
        if one_row {
            let rel = joined(RelJoin::Left, left, right, on);
            return Rel::Map { input: Box::new(rel), exprs: vec![(value, found)] };
        }
        let data_type = self.attributes[value].data_type;
        let (any, count) =
            (self.attribute(data_type, true), self.attribute(DataType::BigInt, false));
        let aggregates = vec![
            (any, Aggregate::of(AggregateFunction::AnyValue, Some(found), data_type)),
            (count, Aggregate::of(AggregateFunction::Count, None, DataType::BigInt)),
        ];
        let (keys, mut on) = self.keys_of(on, &left.attrs(), &right.attrs());
        on.extend(guards);
        let groups = Rel::Aggregate { input: Box::new(right), keys, aggregates, rows: 0.0 };
        let rel = joined(RelJoin::Left, left, groups, on);
        let one = Expr::literal(Value::Integer(1), DataType::BigInt);
        let several = Expr::predicate(BinaryOperator::Greater, self.column(count), one);
        let function = Function::RaiseCardinality;
        let raise = Expr { kind: ExprKind::Call { function, arguments: Vec::new() }, data_type };
        let checked = case(vec![(several, raise)], Some(self.column(any)), data_type);
        Rel::Map { input: Box::new(rel), exprs: vec![(value, checked)] }
    }

    /// The right sides of equalities as group keys, and the equalities with the keys in their place.
    pub(super) fn keys_of(
        &mut self,
        on: Vec<Expr>,
        left: &AttrSet,
        right: &AttrSet,
    ) -> (Vec<(Attr, Expr)>, Vec<Expr>) {
        let mut keys: Vec<(Attr, Expr)> = Vec::new();
        let mut joined = Vec::with_capacity(on.len());
        for equality in on {
            let (outer, inner) = sides(&equality, left, right)
                .expect("invariant: only equalities of both sides are grouped by");
            let attr = match (keys.iter().find(|it| it.1 == *inner), bare(inner)) {
                (Some(known), _) => known.0,
                (None, Some(attr)) => attr,
                (None, None) => self.attribute(inner.data_type, true),
            };
            if keys.iter().all(|it| it.0 != attr) {
                keys.push((attr, inner.clone()));
            }
            let ExprKind::Binary { operator, .. } = equality.kind else { continue };
            joined.push(Expr::predicate(operator, outer.clone(), self.column(attr)));
        }
        (keys, joined)
    }
}

/// The conjuncts of a condition with attributes replaced by what they are.
fn conditions(mut condition: Expr, definitions: &[(Attr, Expr)]) -> Vec<Expr> {
    substitute(&mut condition, definitions);
    conjuncts(vec![condition])
}

/// Whether a condition is an equality of an expression over some attributes with one without them.
fn is_key_of(condition: &Expr, attrs: &AttrSet) -> bool {
    let ExprKind::Binary { operator: BinaryOperator::Equal, left, right } = &condition.kind else {
        return false;
    };
    let of = |own: &Expr, other: &Expr| {
        let own = AttrSet::of(own);
        !own.is_empty() && own.is_subset(attrs) && !AttrSet::of(other).intersects(attrs)
    };
    of(left, right) || of(right, left)
}

/// Whether the condition is one equality of an expression of the left with one of the right: what a join that minds
/// NULL can do itself.
fn is_one_equality(condition: &[Expr], left: &Rel, right: &Rel) -> bool {
    let [condition] = condition else { return false };
    let ExprKind::Binary { operator: BinaryOperator::Equal, .. } = condition.kind else {
        return false;
    };
    sides(condition, &left.attrs(), &right.attrs())
        .is_some_and(|(own, _)| !AttrSet::of(own).iter().all(|it| is_constant(left, it)))
}

/// Whether an attribute has one value that no row decides: such a value takes its place later, and the condition is no
/// equality of both sides any more.
fn is_constant(rel: &Rel, attr: Attr) -> bool {
    match rel {
        Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
            Some((_, expr)) => AttrSet::of(expr).iter().all(|it| is_constant(input, it)),
            None => is_constant(input, attr),
        },
        Rel::Filter { input, .. } | Rel::Sort { input, .. } | Rel::Limit { input, .. } => {
            is_constant(input, attr)
        }
        Rel::Join(join) => is_constant(&join.left, attr) || is_constant(&join.right, attr),
        _ => false,
    }
}

/// A join by conditions.
pub(super) fn joined(kind: RelJoin, left: Rel, right: Rel, on: Vec<Expr>) -> Rel {
    Rel::Join(Box::new(JoinRel { residual: on, ..JoinRel::new(kind, left, right) }))
}

fn marked(left: Rel, right: Rel, on: Vec<Expr>, mark: Attr, null_aware: bool) -> Rel {
    let join = JoinRel {
        residual: on,
        mark: Some(mark),
        null_aware,
        ..JoinRel::new(RelJoin::Mark, left, right)
    };
    Rel::Join(Box::new(join))
}
