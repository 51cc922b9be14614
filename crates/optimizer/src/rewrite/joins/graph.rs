//! The join graph: relations as vertices; what connects them as classes of equal attributes, other equalities, and
//! conditions that need several relations.

use plan::properties::{is_fallible, is_volatile};
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, bare};
use plan::{BinaryOperator, Expr, ExprKind};

use super::dependent::Dependent;
use super::set::VertexSet;
use super::vertex::Vertex;
use crate::estimate;
use crate::facts::equality_chains;
use crate::reach;
use crate::rewrite::origin;

/// A conjunct of inner joins, with the vertices that must be joined before it is evaluated: those it uses, and where it
/// can fail those that keep rows away from it.
pub struct Conjunct {
    /// The condition.
    pub expr: Expr,
    /// The vertices.
    pub needs: VertexSet,
    /// Of an equality: the vertices of its sides.
    pub sides: Option<(VertexSet, VertexSet)>,
}

/// An equality of expressions over different vertices.
pub(super) struct Equality {
    pub left: Expr,
    pub left_needs: VertexSet,
    pub right: Expr,
    pub right_needs: VertexSet,
    /// Whether it can fail, so that a side waits for vertices that it does not use.
    pub waits: bool,
    pub selectivity: f64,
}

impl Equality {
    /// Its two sides when one belongs to the left and one to the right.
    pub fn crossing(&self, left: &VertexSet, right: &VertexSet) -> Option<(&Expr, &Expr)> {
        if self.left_needs.is_subset(left) && self.right_needs.is_subset(right) {
            return Some((&self.left, &self.right));
        }
        let turned = self.right_needs.is_subset(left) && self.left_needs.is_subset(right);
        turned.then_some((&self.right, &self.left))
    }

    /// Whether one of its sides needs all vertices of both: it can be a key only once they are together.
    pub fn has_side_around(&self, left: &VertexSet, right: &VertexSet) -> bool {
        let around = |it: &VertexSet| left.is_subset(it) && right.is_subset(it);
        around(&self.left_needs) || around(&self.right_needs)
    }

    /// Whether it uses vertices of both.
    pub fn touches_both(&self, left: &VertexSet, right: &VertexSet) -> bool {
        let touches =
            |it: &VertexSet| self.left_needs.intersects(it) || self.right_needs.intersects(it);
        touches(left) && touches(right)
    }

    /// Whether all its vertices are in one of two sets.
    pub fn is_complete(&self, left: &VertexSet, right: &VertexSet) -> bool {
        self.left_needs.is_subset_of_both(left, right)
            && self.right_needs.is_subset_of_both(left, right)
    }
}

/// A class of equal attributes: of each vertex one, with its distinct values.
pub(super) struct Class {
    /// The vertices in ascending order.
    pub members: Vec<(usize, Expr, f64)>,
    pub vertices: VertexSet,
    /// The values that it chooses from. It does not depend on the order of joins, so neither do the rows of a result.
    pub domain: f64,
}

impl Class {
    /// The attribute of a vertex.
    pub fn of(&self, vertex: usize) -> Option<&Expr> {
        let place = self.members.binary_search_by_key(&vertex, |it| it.0).ok()?;
        Some(&self.members[place].1)
    }

    /// The attribute of the least vertex of a set.
    pub fn in_set(&self, set: &VertexSet) -> Option<&Expr> {
        self.members.iter().find(|it| set.contains(it.0)).map(|it| &it.1)
    }
}

/// The graph of a region.
pub(super) struct JoinGraph {
    pub vertices: Vec<Vertex>,
    pub classes: Vec<Class>,
    pub equalities: Vec<Equality>,
    /// Conditions that are no equality of two sides.
    pub others: Vec<(VertexSet, Expr)>,
    /// How the vertices that are not inner join.
    pub dependents: Vec<Dependent>,
    /// The rows of the tables of vertices, before conditions.
    pub base_rows: Vec<f64>,
    /// The share of the rows of each vertex whose keys are within the values of what they are to equal.
    pub reached: Vec<f64>,
}

impl JoinGraph {
    pub fn new(
        vertices: Vec<Vertex>,
        conjuncts: Vec<Conjunct>,
        attributes: &mut Vec<Attribute>,
    ) -> Self {
        let owners = Owners::new(&vertices);
        let inner =
            |attr: Attr| owners.of(attr).is_some_and(|it| vertices[it].kind == RelJoin::Inner);
        let predicates = conjuncts.iter().map(|it| &it.expr);
        let classes = classes(predicates, &inner);
        let mut reached = vec![1.0; vertices.len()];
        let class = |it| owners.class(&vertices, it, &mut reached);
        let classes = classes.into_iter().map(class).collect();
        let (mut equalities, mut others) = (Vec::new(), Vec::new());
        let owner = |it: &Expr| bare(it).and_then(|it| owners.of(it));
        for Conjunct { expr, needs, sides } in conjuncts {
            // Its class joins by it, unless both are columns of one vertex.
            let of_class = column_equality(&expr, &inner);
            if of_class.is_some_and(|it| owner(it.0) != owner(it.1)) {
                continue;
            }
            let dependent = vertices.iter().enumerate();
            let mut dependent = dependent.filter(|it| it.1.kind != RelJoin::Inner);
            let apart = |it: &(VertexSet, VertexSet)| {
                !it.0.intersects(&it.1) && !it.0.is_empty() && !it.1.is_empty()
            };
            let sides = sides.filter(apart).filter(|_| !dependent.any(|it| needs.contains(it.0)));
            let waits = is_fallible(&expr);
            match (expr.kind, sides) {
                (ExprKind::Binary { left, right, .. }, Some((left_needs, right_needs))) => {
                    let distinct = |it: &Expr| owners.distinct(&vertices, it);
                    let selectivity = 1.0 / distinct(&left).max(distinct(&right));
                    let (left, right) = (*left, *right);
                    equalities.push(Equality {
                        left,
                        left_needs,
                        right,
                        right_needs,
                        waits,
                        selectivity,
                    });
                }
                (kind, _) => others.push((needs, Expr { kind, data_type: expr.data_type })),
            }
        }
        let distinct = |it: &Expr| owners.distinct(&vertices, it);
        let mut dependents: Vec<Dependent> =
            vertices.iter().map(|it| Dependent::of(it, &distinct, attributes)).collect();
        for it in &mut dependents {
            if let [(key, _)] = &it.keys[..] {
                let owner = bare(key).and_then(|it| owners.of(it));
                it.rises = owner.is_some_and(|it| origin::rises_in(&vertices[it].rel, key));
            }
        }
        let base_rows = vertices.iter().map(|it| base_rows(&it.rel)).collect();
        Self { vertices, classes, equalities, others, dependents, base_rows, reached }
    }
}

/// The vertex that gives each attribute.
struct Owners(Vec<Option<u32>>);

impl Owners {
    fn new(vertices: &[Vertex]) -> Self {
        let mut owners = Vec::new();
        for (place, vertex) in vertices.iter().enumerate() {
            for attr in vertex.attrs.iter() {
                if attr >= owners.len() {
                    owners.resize(attr + 1, None);
                }
                owners[attr] = Some(place as u32);
            }
        }
        Self(owners)
    }

    fn of(&self, attr: Attr) -> Option<usize> {
        self.0.get(attr).copied().flatten().map(|it| it as usize)
    }

    /// The most distinct values that the vertices of an expression have for it.
    fn distinct(&self, vertices: &[Vertex], expr: &Expr) -> f64 {
        let owners: VertexSet = AttrSet::of(expr).iter().filter_map(|it| self.of(it)).collect();
        let used = (0..vertices.len()).filter(|it| owners.contains(*it));
        used.map(|it| estimate::distinct_of(&vertices[it].rel, expr)).fold(1.0, f64::max)
    }

    /// A class of attributes as one of vertices: the first attribute of each. What is beyond the values that all of them may
    /// have is taken from the shares of rows that are reached.
    fn class(&self, vertices: &[Vertex], exprs: Vec<Expr>, reached: &mut [f64]) -> Class {
        let mut class = Class { members: Vec::new(), vertices: VertexSet::default(), domain: 1.0 };
        let spans =
            exprs.iter().filter_map(|it| reach::span(&vertices[self.of(bare(it)?)?].rel, it));
        let within = spans.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)));
        for expr in exprs {
            let Some(place) = bare(&expr).and_then(|it| self.of(it)) else { continue };
            if class.vertices.contains(place) {
                continue;
            }
            class.vertices.insert(place);
            let rel = &vertices[place].rel;
            let shares = within.and_then(|it| reach::shares(rel, &expr, it));
            let (rows, values) = shares.unwrap_or((1.0, 1.0));
            reached[place] *= rows;
            class.domain = f64::max(class.domain, estimate::domain_of(rel, &expr) * values);
            let distinct = (estimate::distinct_of(rel, &expr) * rows).max(1.0);
            class.members.push((place, expr, distinct));
        }
        class.members.sort_by_key(|it| it.0);
        class
    }
}

/// Classes of attributes that equalities make equal, as column expressions. Only equalities that may be chained.
pub fn classes<'a>(
    predicates: impl Iterator<Item = &'a Expr>,
    usable: &dyn Fn(Attr) -> bool,
) -> Vec<Vec<Expr>> {
    let mut classes: Vec<Vec<Expr>> = Vec::new();
    let mut known: std::collections::HashMap<Attr, usize> = std::collections::HashMap::new();
    for predicate in predicates {
        let Some((left, right)) = column_equality(predicate, usable) else { continue };
        let (Some(l), Some(r)) = (bare(left), bare(right)) else { continue };
        match (known.get(&l).copied(), known.get(&r).copied()) {
            (Some(a), Some(b)) if a != b => {
                let moved = std::mem::take(&mut classes[a.max(b)]);
                for expr in &moved {
                    known.extend(bare(expr).map(|it| (it, a.min(b))));
                }
                classes[a.min(b)].extend(moved);
            }
            (Some(a), None) => {
                classes[a].push(right.clone());
                known.insert(r, a);
            }
            (None, Some(b)) => {
                classes[b].push(left.clone());
                known.insert(l, b);
            }
            (None, None) => {
                known.extend([(l, classes.len()), (r, classes.len())]);
                classes.push(vec![left.clone(), right.clone()]);
            }
            _ => {}
        }
    }
    classes.retain(|it| !it.is_empty());
    classes
}

fn column_equality<'a>(
    expr: &'a Expr,
    usable: &dyn Fn(Attr) -> bool,
) -> Option<(&'a Expr, &'a Expr)> {
    match &expr.kind {
        ExprKind::Binary { operator: BinaryOperator::Equal, left, right } => {
            let both = usable(bare(left)?) && usable(bare(right)?) && left != right;
            let chains = equality_chains(left.data_type, right.data_type);
            (both && chains).then_some((left, right))
        }
        _ => None,
    }
}

/// Splits the conjuncts of a join into keys and the rest.
pub fn split_keys(join: &mut JoinRel, left: &AttrSet, right: &AttrSet) {
    for predicate in std::mem::take(&mut join.residual) {
        if let ExprKind::Binary { operator: BinaryOperator::Equal, left: l, right: r } =
            &predicate.kind
        {
            let (a, b) = (AttrSet::of(l), AttrSet::of(r));
            if !a.is_empty() && !b.is_empty() && !is_volatile(&predicate) {
                if a.is_subset(left) && b.is_subset(right) {
                    join.keys.push(((**l).clone(), (**r).clone()));
                    continue;
                }
                if b.is_subset(left) && a.is_subset(right) {
                    join.keys.push(((**r).clone(), (**l).clone()));
                    continue;
                }
            }
        }
        join.residual.push(predicate);
    }
}

fn base_rows(rel: &Rel) -> f64 {
    match rel {
        Rel::Scan(scan) => scan.table.rows as f64,
        Rel::Filter { input, .. } | Rel::Map { input, .. } => base_rows(input),
        other => other.rows(),
    }
    .max(1.0)
}
