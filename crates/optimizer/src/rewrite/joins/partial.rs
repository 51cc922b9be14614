//! Partial plans: joined sets of vertices, their size, and what is still open between them and the rest.

use super::graph::JoinGraph;
use super::set::VertexSet;
use crate::tuning::{ANTI_SHARE_MIN, UNKNOWN_SHARE};
use plan::Expr;
use plan::relation::RelJoin;

/// The two sides of equalities.
pub(super) type Sides = Vec<(Expr, Expr)>;
/// A partial plan in the list of all.
pub(super) type PlanId = usize;

/// How two sides are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BuildSide {
    /// With the hash table on the right.
    Right,
    /// With the hash table on the left.
    Left,
    /// With the right side grouped before ([`super::super::extremes`]).
    GroupedRight,
}

/// How a partial plan is made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Leaf(usize),
    Join { left: PlanId, right: PlanId, side: BuildSide },
}

/// A joined set of vertices.
#[derive(Clone, Debug)]
pub(super) struct Partial {
    pub set: VertexSet,
    /// The only vertex, when that is not inner.
    pub dependent: Option<usize>,
    pub rows: f64,
    pub cost: f64,
    pub shape: Shape,
    /// Distinct values of the classes that it has, ascending by class.
    pub distinct: Vec<(usize, f64)>,
    /// The equalities that use some of its vertices and others, ascending.
    equalities: Vec<usize>,
    /// The other conditions that use some of its vertices and are not evaluated yet, ascending.
    others: Vec<usize>,
}

impl Partial {
    /// The distinct values of a class, if it has it.
    pub fn distinct_of(&self, class: usize) -> Option<f64> {
        let place = self.distinct.binary_search_by_key(&class, |it| it.0).ok()?;
        Some(self.distinct[place].1)
    }

    /// The classes of both with their distinct values here and there.
    pub fn common<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (usize, f64, f64)> + 'a {
        let swap = other.distinct.len() < self.distinct.len();
        let (few, many) = if swap { (other, self) } else { (self, other) };
        few.distinct.iter().filter_map(move |(class, own)| {
            let there = many.distinct_of(*class)?;
            Some(if swap { (*class, there, *own) } else { (*class, *own, there) })
        })
    }
}

/// The one of two ascending lists in which an element of both, if there is one, is found sooner.
fn shorter<'a>(left: &'a [usize], right: &'a [usize]) -> &'a [usize] {
    if left.len() <= right.len() { left } else { right }
}

/// All elements of two ascending lists, once each, but for those that `done` says.
fn merged(left: &[usize], right: &[usize], done: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut all: Vec<usize> = left.iter().chain(right).copied().filter(|it| !done(*it)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl JoinGraph {
    /// The partial plan of one vertex.
    pub fn leaf(&self, vertex: usize) -> Partial {
        let set = VertexSet::one(vertex);
        let own = |(class, it): (usize, &super::graph::Class)| {
            let place = it.members.binary_search_by_key(&vertex, |it| it.0).ok()?;
            Some((class, it.members[place].2))
        };
        let uses = |it: &super::graph::Equality| {
            it.left_needs.intersects(&set) || it.right_needs.intersects(&set)
        };
        let equalities = self.equalities.iter().enumerate().filter(|it| uses(it.1));
        let others = self.others.iter().enumerate().filter(|it| it.1.0.intersects(&set));
        Partial {
            dependent: (self.vertices[vertex].kind != RelJoin::Inner).then_some(vertex),
            rows: (self.vertices[vertex].rel.rows() * self.reached[vertex]).max(1.0),
            cost: 0.0,
            shape: Shape::Leaf(vertex),
            distinct: self.classes.iter().enumerate().filter_map(own).collect(),
            equalities: equalities.map(|it| it.0).collect(),
            others: others.map(|it| it.0).collect(),
            set,
        }
    }

    /// Whether two partial plans can be joined at all.
    pub fn joinable(&self, left: &Partial, right: &Partial) -> bool {
        left.dependent.is_none()
            && right.dependent.is_none_or(|it| self.vertices[it].needs.is_subset(&left.set))
    }

    /// Whether a condition connects them; with `loose` also one that is no equality.
    pub fn connected(&self, left: &Partial, right: &Partial, loose: bool) -> bool {
        let connects = |it: &usize| {
            let it = &self.equalities[*it];
            match it.waits {
                true => {
                    it.crossing(&left.set, &right.set).is_some()
                        || it.has_side_around(&left.set, &right.set)
                }
                false => it.touches_both(&left.set, &right.set),
            }
        };
        right.dependent.is_some_and(|it| !self.vertices[it].needs.is_empty())
            || left.common(right).next().is_some()
            || shorter(&left.equalities, &right.equalities).iter().any(connects)
            || (loose
                && shorter(&left.others, &right.others).iter().any(|it| {
                    let needs = &self.others[*it].0;
                    needs.intersects(&left.set)
                        && needs.intersects(&right.set)
                        && needs.is_subset_of_both(&left.set, &right.set)
                }))
    }

    /// The places of conditions that become applicable when these two are joined.
    pub fn fresh<'a>(
        &'a self,
        left: &'a Partial,
        right: &'a Partial,
    ) -> impl Iterator<Item = usize> + 'a {
        // What a dependent vertex alone is asked for is asked once it is joined; all else uses both sides.
        let open = match right.dependent {
            Some(_) => &right.others,
            None => shorter(&left.others, &right.others),
        };
        open.iter().copied().filter(|it| {
            let needs = &self.others[*it].0;
            needs.is_subset_of_both(&left.set, &right.set) && !needs.is_subset(&left.set)
        })
    }

    /// The conditions of [`Self::fresh`].
    pub fn fresh_conditions(&self, left: &Partial, right: &Partial) -> Vec<Expr> {
        self.fresh(left, right).map(|it| self.others[it].1.clone()).collect()
    }

    /// The equalities between the two that become applicable when they are joined: the sides of those that are keys,
    /// left first, and the others.
    pub fn applicable(&self, left: &Partial, right: &Partial) -> (Sides, Sides) {
        let (mut keys, mut rest) = (Vec::new(), Vec::new());
        for place in shorter(&left.equalities, &right.equalities) {
            let it = &self.equalities[*place];
            if let Some((a, b)) = it.crossing(&left.set, &right.set) {
                keys.push((a.clone(), b.clone()));
            } else if it.is_complete(&left.set, &right.set)
                && it.touches_both(&left.set, &right.set)
            {
                rest.push((it.left.clone(), it.right.clone()));
            }
        }
        (keys, rest)
    }

    /// The rows of a join.
    pub fn rows(&self, left: &Partial, right: &Partial) -> f64 {
        let mut rows;
        if let Some(vertex) = right.dependent {
            let dependent = &self.dependents[vertex];
            rows = match self.vertices[vertex].kind {
                RelJoin::Semi => left.rows * dependent.share,
                RelJoin::Anti => left.rows * (1.0 - dependent.share).max(ANTI_SHARE_MIN),
                RelJoin::Left => left.rows * dependent.fan_out.max(1.0),
                _ => left.rows,
            };
        } else {
            rows = left.rows * right.rows / self.divisor(left, right);
            for place in shorter(&left.equalities, &right.equalities) {
                let it = &self.equalities[*place];
                if it.crossing(&left.set, &right.set).is_some() {
                    rows *= it.selectivity;
                }
            }
        }
        (rows * UNKNOWN_SHARE.powi(self.fresh(left, right).count() as i32)).max(1.0)
    }

    /// What the equal attributes of two sides divide their product by. Several keys together cannot tell more rows
    /// apart than their table has.
    fn divisor(&self, left: &Partial, right: &Partial) -> f64 {
        let mut divisor = 1.0;
        let mut crossing: Vec<usize> = Vec::new();
        for (class, ..) in left.common(right) {
            crossing.push(class);
            divisor *= self.classes[class].domain;
        }
        if crossing.len() < 2 {
            return divisor;
        }
        for side in [left, right] {
            let mut homes = side.set.clone();
            for class in &crossing {
                homes = homes.intersection(&self.classes[*class].vertices);
            }
            if let Some(home) = homes.first() {
                divisor = f64::min(divisor, self.base_rows[home]);
            }
        }
        divisor
    }

    /// The partial plan of a join; its cost is that of its sides and `cost`.
    pub fn joined(
        &self,
        (left_id, left): (PlanId, &Partial),
        (right_id, right): (PlanId, &Partial),
        rows: f64,
        (cost, side): (f64, BuildSide),
    ) -> Partial {
        let mut distinct: Vec<(usize, f64)> = Vec::new();
        let (mut a, mut b) = (left.distinct.iter().peekable(), right.distinct.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(l), Some(r)) if l.0 == r.0 => (l.0, l.1.min(r.1)),
                (Some(l), Some(r)) if l.0 < r.0 => **l,
                (Some(l), None) => **l,
                (_, Some(r)) => **r,
                (None, None) => break,
            };
            a.next_if(|it| it.0 == next.0);
            b.next_if(|it| it.0 == next.0);
            distinct.push((next.0, next.1.min(rows)));
        }
        let complete = |it: usize| self.equalities[it].is_complete(&left.set, &right.set);
        let evaluated = |it: usize| self.others[it].0.is_subset_of_both(&left.set, &right.set);
        Partial {
            set: left.set.union(&right.set),
            dependent: None,
            rows,
            cost: cost + left.cost + right.cost,
            shape: Shape::Join { left: left_id, right: right_id, side },
            distinct,
            equalities: merged(&left.equalities, &right.equalities, complete),
            others: merged(&left.others, &right.others, evaluated),
        }
    }
}
