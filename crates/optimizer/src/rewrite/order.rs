//! Join ordering: exhaustive dynamic programming up to ten relations, greedy above. Semi, anti, mark and left joins are
//! members too: they join alone, as the right side, once what their condition needs is there.
//!
//! - Invariant: in each partial plan all attributes of an equality class that it holds are equal, so one key per class
//!   is enough for a join.

use std::collections::HashMap;

use plan::properties::{is_fallible, is_volatile};
use plan::{BinaryOperator, Expr, ExprKind};
use types::{Interrupt, SqlResult};

use super::extremes::Inequality;
use super::origin;
use crate::estimate;
use crate::facts::equality_chains;
use plan::relation::{Attr, AttrSet, Attribute, JoinRel, Rel, RelJoin, bare};

/// The most relations that are ordered exhaustively.
const EXHAUSTIVE: usize = 10;
/// The share of pairs that a condition of unknown selectivity keeps.
const UNKNOWN: f64 = 0.3;
/// The cost of a pair that a condition looks at.
const PAIR: f64 = 4.0;
/// The cost of a row that widens the extremes of its key.
const EXTREMES: f64 = 16.0;
/// The cost of a row that is grouped by a key that rises, and by any other.
const GROUPING: (f64, f64) = (6.0, 8.0);
/// The cost of a row of a large table that is read key by key, where keys do not rise from row to row.
const SCATTERED: f64 = 10.0;

/// A relation to join.
pub struct Vertex {
    /// Its optimised rows.
    pub rel: Rel,
    /// What it gives to the others.
    pub attrs: AttrSet,
    /// What its own rows hold.
    pub inner_attrs: AttrSet,
    /// How it joins.
    pub kind: RelJoin,
    /// Whether NULL keys matter.
    pub null_aware: bool,
    /// Its mark.
    pub mark: Option<Attr>,
    /// The conjuncts of a join that is not inner.
    pub on: Vec<Expr>,
    /// The vertices that must be there before it.
    pub needs: u64,
}

/// What is to be joined.
#[derive(Default)]
pub struct Graph {
    /// The relations.
    pub vertices: Vec<Vertex>,
    /// Conjuncts.
    pub predicates: Vec<Conjunct>,
}

/// A conjunct of inner joins, with the vertices that must be joined before it is evaluated: those it uses, and where it
/// can fail those that keep rows away from it.
pub struct Conjunct {
    /// The condition.
    pub expr: Expr,
    /// The vertices.
    pub mask: u64,
    /// Of an equality: the vertices of its sides.
    pub sides: Option<(u64, u64)>,
}

/// Classes of attributes that equalities make equal, as column expressions. Only equalities that may be chained.
pub fn classes<'a>(
    predicates: impl Iterator<Item = &'a Expr>,
    usable: &dyn Fn(Attr) -> bool,
) -> Vec<Vec<Expr>> {
    let mut classes: Vec<Vec<Expr>> = Vec::new();
    for predicate in predicates {
        let Some((left, right)) = column_equality(predicate, usable) else { continue };
        let find = |classes: &[Vec<Expr>], it: &Expr| classes.iter().position(|c| c.contains(it));
        match (find(&classes, left), find(&classes, right)) {
            (Some(a), Some(b)) if a != b => {
                let moved = classes.swap_remove(a.max(b));
                classes[a.min(b)].extend(moved);
            }
            (Some(a), None) => classes[a].push(right.clone()),
            (None, Some(b)) => classes[b].push(left.clone()),
            (None, None) => classes.push(vec![left.clone(), right.clone()]),
            _ => {}
        }
    }
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

/// An equality of expressions over different vertices.
struct Equality {
    left: Expr,
    left_mask: u64,
    right: Expr,
    right_mask: u64,
    /// Whether it can fail, so that a side waits for vertices that it does not use.
    waits: bool,
    selectivity: f64,
}

/// A class of equal attributes: of each vertex one, with its distinct values.
struct Class {
    of: Vec<Option<(Expr, f64)>>,
    mask: u64,
    /// The values that it chooses from. It does not depend on the order of joins, so neither do the rows of a result.
    domain: f64,
}

/// A join that is not inner, prepared.
#[derive(Default)]
struct Dependent {
    keys: Vec<(Expr, Expr)>,
    residual: Vec<Expr>,
    /// The share of left rows with a partner.
    share: f64,
    /// Partners of a left row.
    fan_out: f64,
    /// Its residual, when extremes can decide it.
    inequality: Option<Inequality>,
    /// Distinct keys of its rows.
    groups: f64,
    /// What grouping its rows by the keys costs each.
    grouping: f64,
    /// Whether the left side's only key rises from row to row.
    rises: bool,
}

/// How two sides are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// With the hash table on the right.
    Right,
    /// With the hash table on the left.
    Left,
    /// With the right side grouped before ([`Inequality`]).
    Grouped,
}

#[derive(Clone, Copy)]
enum Shape {
    Leaf(usize),
    Join { left: u64, right: u64, way: Way },
}

#[derive(Clone)]
struct Sub {
    rows: f64,
    cost: f64,
    shape: Shape,
    /// Distinct values per class, zero where it has none.
    distinct: Vec<f64>,
}

/// The best plan of each set of vertices so far. Few vertices have few sets: each has its place.
struct PartialPlans {
    dense: Vec<Option<Sub>>,
    sparse: HashMap<u64, Sub>,
}

impl PartialPlans {
    fn new(vertices: usize) -> Self {
        let places = if vertices <= EXHAUSTIVE { 1 << vertices } else { 0 };
        Self { dense: (0..places).map(|_| None).collect(), sparse: HashMap::new() }
    }

    fn get(&self, mask: u64) -> Option<&Sub> {
        match self.dense.get(mask as usize) {
            Some(place) => place.as_ref(),
            None => self.sparse.get(&mask),
        }
    }

    fn of(&self, mask: u64) -> &Sub {
        self.get(mask).expect("invariant: both sides of a join were planned before")
    }

    fn get_mut(&mut self, mask: u64) -> Option<&mut Sub> {
        match self.dense.get_mut(mask as usize) {
            Some(place) => place.as_mut(),
            None => self.sparse.get_mut(&mask),
        }
    }

    fn contains(&self, mask: u64) -> bool {
        self.get(mask).is_some()
    }

    fn insert(&mut self, mask: u64, sub: Sub) {
        match self.dense.get_mut(mask as usize) {
            Some(place) => *place = Some(sub),
            None => drop(self.sparse.insert(mask, sub)),
        }
    }

    fn keep_leaves(&mut self) {
        let larger = |mask: usize| mask.count_ones() > 1;
        let all = self.dense.iter_mut().enumerate();
        all.filter(|it| larger(it.0)).for_each(|it| *it.1 = None);
        self.sparse.retain(|mask, _| mask.count_ones() == 1);
    }
}

struct Orderer {
    graph: Graph,
    classes: Vec<Class>,
    equalities: Vec<Equality>,
    others: Vec<(u64, Expr)>,
    dependents: Vec<Dependent>,
    base: Vec<f64>,
    /// Whether a condition that is no equality connects relations; only tried when equalities do not connect all.
    loose: bool,
    subs: PartialPlans,
}

/// Orders the joins of a region.
pub fn order(
    graph: Graph,
    attributes: &mut Vec<Attribute>,
    interrupt: &Interrupt,
) -> SqlResult<Rel> {
    let mut this = Orderer::prepare(graph, attributes);
    let count = this.graph.vertices.len();
    let full = if count == 64 { u64::MAX } else { (1u64 << count) - 1 };
    if count <= EXHAUSTIVE {
        this.exhaustive(full, interrupt)?;
        if !this.subs.contains(full) && !this.others.is_empty() {
            this.loose = true;
            this.subs.keep_leaves();
            this.exhaustive(full, interrupt)?;
        }
    }
    if !this.subs.contains(full) {
        this.greedy(full, interrupt)?;
    }
    let mut rels: Vec<Option<Rel>> =
        this.graph.vertices.iter_mut().map(|it| Some(super::take(&mut it.rel))).collect();
    Ok(this.build(full, &mut rels))
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

/// What is known of a class of equal expressions, by vertex.
fn class_of(class: Vec<Expr>, vertices: &[Vertex], mask_of: &dyn Fn(&Expr) -> u64) -> Class {
    let mut of: Vec<Option<(Expr, f64)>> = vec![None; vertices.len()];
    let (mut mask, mut domain) = (0, 1.0);
    for expr in class {
        let place = mask_of(&expr).trailing_zeros() as usize;
        if of[place].is_none() {
            mask |= 1 << place;
            let distinct = estimate::distinct_of(&vertices[place].rel, &expr);
            domain = f64::max(domain, estimate::domain_of(&vertices[place].rel, &expr));
            of[place] = Some((expr, distinct));
        }
    }
    Class { of, mask, domain }
}

impl Orderer {
    fn prepare(graph: Graph, attributes: &mut Vec<Attribute>) -> Self {
        let vertices = &graph.vertices;
        let inner = |attr: Attr| {
            vertices.iter().any(|it| it.kind == RelJoin::Inner && it.attrs.contains(attr))
        };
        let mask_of = |expr: &Expr| {
            let attrs = AttrSet::of(expr);
            let used = vertices.iter().enumerate().filter(|it| it.1.attrs.intersects(&attrs));
            used.fold(0u64, |mask, it| mask | 1 << it.0)
        };
        let distinct_of = |expr: &Expr| {
            let attrs = AttrSet::of(expr);
            vertices
                .iter()
                .filter(|it| attrs.intersects(&it.attrs))
                .map(|it| estimate::distinct_of(&it.rel, expr))
                .fold(1.0, f64::max)
        };
        let made = classes(graph.predicates.iter().map(|it| &it.expr), &inner);
        let made = made.into_iter().map(|it| class_of(it, vertices, &mask_of)).collect();
        let (mut equalities, mut others) = (Vec::new(), Vec::new());
        for Conjunct { expr: predicate, mask, sides } in &graph.predicates {
            if column_equality(predicate, &inner).is_some() {
                continue;
            }
            if let (ExprKind::Binary { left, right, .. }, Some((left_mask, right_mask))) =
                (&predicate.kind, *sides)
            {
                let dependent = (0..vertices.len())
                    .any(|it| mask >> it & 1 == 1 && vertices[it].kind != RelJoin::Inner);
                if left_mask & right_mask == 0 && left_mask != 0 && right_mask != 0 && !dependent {
                    let selectivity = 1.0 / distinct_of(left).max(distinct_of(right));
                    let (left, right) = ((**left).clone(), (**right).clone());
                    let waits = is_fallible(predicate);
                    equalities.push(Equality {
                        left,
                        left_mask,
                        right,
                        right_mask,
                        waits,
                        selectivity,
                    });
                    continue;
                }
            }
            others.push((*mask, predicate.clone()));
        }
        let mut dependents: Vec<Dependent> =
            vertices.iter().map(|it| dependent(it, &distinct_of, attributes)).collect();
        for it in &mut dependents {
            if let [(key, _)] = &it.keys[..] {
                it.rises = vertices.iter().any(|vertex| rises(&vertex.rel, key));
            }
        }
        let base = vertices.iter().map(|it| base_rows(&it.rel)).collect();
        let subs = PartialPlans::new(vertices.len());
        let mut this =
            Self { classes: made, equalities, others, dependents, base, loose: false, subs, graph };
        for place in 0..this.graph.vertices.len() {
            let sub = this.leaf(place);
            this.subs.insert(1 << place, sub);
        }
        this
    }

    fn leaf(&self, place: usize) -> Sub {
        let distinct = self.classes.iter().map(|it| it.of[place].as_ref().map_or(0.0, |it| it.1));
        Sub {
            rows: self.graph.vertices[place].rel.rows().max(1.0),
            cost: 0.0,
            shape: Shape::Leaf(place),
            distinct: distinct.collect(),
        }
    }

    /// The vertex when the mask is one that is not inner.
    fn dependent_of(&self, mask: u64) -> Option<usize> {
        let place = mask.trailing_zeros() as usize;
        (mask.count_ones() == 1 && self.graph.vertices[place].kind != RelJoin::Inner)
            .then_some(place)
    }

    /// Whether two partial plans can be joined at all.
    fn joinable(&self, left: u64, right: u64) -> bool {
        if self.dependent_of(left).is_some() {
            return false;
        }
        self.dependent_of(right).is_none_or(|it| self.graph.vertices[it].needs & !left == 0)
    }

    /// Whether a condition connects them.
    fn connected(&self, left: u64, right: u64) -> bool {
        let crosses = |mask: u64| mask & left != 0 && mask & right != 0;
        self.dependent_of(right).is_some_and(|it| self.graph.vertices[it].needs != 0)
            || self.classes.iter().any(|it| crosses(it.mask))
            || self.equalities.iter().any(|it| match it.waits {
                true => crossing(it, left, right).is_some() || is_part_of_a_side(it, left | right),
                false => crosses(it.left_mask | it.right_mask),
            })
            || (self.loose
                && self.others.iter().any(|it| crosses(it.0) && it.0 & !(left | right) == 0))
    }

    /// Conjuncts that become applicable when these two are joined.
    fn fresh(&self, left: u64, right: u64) -> impl Iterator<Item = &Expr> {
        let dependent = self.dependent_of(right).is_some();
        self.others
            .iter()
            .filter(move |(mask, _)| {
                mask & !(left | right) == 0
                    && mask & !left != 0
                    && (dependent || mask & !right != 0)
            })
            .map(|it| &it.1)
    }

    /// Rows and distinct counts of a join.
    fn join_size(&self, left: u64, right: u64) -> (f64, Vec<f64>) {
        let (l, r) = (self.subs.of(left), self.subs.of(right));
        let mut rows;
        if let Some(place) = self.dependent_of(right) {
            let dependent = &self.dependents[place];
            rows = match self.graph.vertices[place].kind {
                RelJoin::Semi => l.rows * dependent.share,
                RelJoin::Anti => l.rows * (1.0 - dependent.share).max(0.1),
                RelJoin::Left => l.rows * dependent.fan_out.max(1.0),
                _ => l.rows,
            };
        } else {
            rows = l.rows * r.rows / self.class_divisor(left, right);
            for it in &self.equalities {
                if crossing(it, left, right).is_some() {
                    rows *= it.selectivity;
                }
            }
        }
        rows *= UNKNOWN.powi(self.fresh(left, right).count() as i32);
        let rows = rows.max(1.0);
        let distinct = l.distinct.iter().zip(&r.distinct).map(|(a, b)| {
            let both = if *a == 0.0 || *b == 0.0 { a.max(*b) } else { a.min(*b) };
            both.min(rows)
        });
        (rows, distinct.collect())
    }

    /// What the equal attributes of two sides divide their product by. Several keys together cannot tell more rows
    /// apart than their table has.
    fn class_divisor(&self, left: u64, right: u64) -> f64 {
        let (l, r) = (self.subs.of(left), self.subs.of(right));
        let (mut divisor, mut crossing) = (1.0, 0);
        let mut homes = [None, None];
        for (class, (a, b)) in self.classes.iter().zip(l.distinct.iter().zip(&r.distinct)) {
            if *a == 0.0 || *b == 0.0 {
                continue;
            }
            crossing += 1;
            divisor *= class.domain;
            for (home, side) in homes.iter_mut().zip([left, right]) {
                let holders = class.mask & side;
                *home = Some(home.map_or(holders, |it: u64| it & holders));
            }
        }
        if crossing < 2 {
            return divisor;
        }
        for home in homes.into_iter().flatten() {
            if home != 0 {
                divisor = f64::min(divisor, self.base[home.trailing_zeros() as usize]);
            }
        }
        divisor
    }

    /// The cost of joining in the cheapest of the ways that are possible.
    fn join_cost(&self, left: u64, right: u64, rows: f64) -> (f64, Way) {
        let (l, r) = (self.subs.of(left), self.subs.of(right));
        let is_scan = |mask: u64| {
            mask.count_ones() == 1
                && matches!(self.graph.vertices[mask.trailing_zeros() as usize].rel, Rel::Scan(_))
        };
        let probing = |mask: u64, rows: f64, build: f64| {
            let each = if build < 1e4 {
                0.4
            } else if build < 1e6 {
                0.6
            } else {
                1.5
            };
            // A scan tests the key before it reads anything else.
            each * rows * if is_scan(mask) { 0.5 } else { 1.0 }
        };
        // A key that no two rows share goes into an array; duplicates and tables beyond the cache cost more.
        let building = |mask: u64, side: &Sub, other: &Sub| {
            if self.in_place(mask, other) {
                return 0.0;
            }
            let unique = side
                .distinct
                .iter()
                .zip(&other.distinct)
                .any(|(own, other)| *other > 0.0 && *own * 1.01 >= side.rows);
            let each = if unique { 2.0 } else { 4.0 };
            side.rows * if side.rows > 1e6 { each * 1.5 } else { each }
        };
        let standard = building(right, r, l) + probing(left, l.rows, r.rows) + rows;
        let Some(place) = self.dependent_of(right) else { return (standard, Way::Right) };
        let (vertex, dependent) = (&self.graph.vertices[place], &self.dependents[place]);
        let pairs = match dependent.residual.is_empty() {
            true => 0.0,
            false => PAIR * l.rows * dependent.fan_out,
        };
        let mut best = (standard + pairs, Way::Right);
        let possible = matches!(vertex.kind, RelJoin::Semi | RelJoin::Anti | RelJoin::Left)
            && !vertex.null_aware
            && !dependent.keys.is_empty();
        // The rows of the left leave the pipeline and enter a new one; a left join even materialises its pairs.
        let again = if vertex.kind == RelJoin::Left { 4.0 * rows } else { l.rows + rows };
        // Where keys repeat, extremes mark without pairs, and are asked key by key.
        let pairs = match &dependent.inequality {
            Some(_) if dependent.rises || l.rows < 1e5 => pairs.min(EXTREMES * r.rows),
            Some(_) => pairs.min(EXTREMES * r.rows + SCATTERED * l.rows),
            None => pairs,
        };
        let turned = building(left, l, r) + probing(right, r.rows, l.rows) + again + pairs;
        if possible && turned < best.0 {
            best = (turned, Way::Left);
        }
        if dependent.inequality.is_some() {
            let grouping = dependent.grouping * r.rows + 2.0 * dependent.groups;
            let looking = probing(left, l.rows, dependent.groups) + PAIR * l.rows * dependent.share;
            let grouped = grouping + looking + rows;
            if grouped < best.0 {
                best = (grouped, Way::Grouped);
            }
        }
        best
    }

    /// Whether a side is a whole table whose rows are found by number: its key rises by one from row to row. It needs no
    /// hash table.
    fn in_place(&self, side: u64, other: &Sub) -> bool {
        let place = side.trailing_zeros() as usize;
        let Rel::Scan(scan) = &self.graph.vertices[place].rel else { return false };
        if side.count_ones() != 1 || !scan.filters.is_empty() {
            return false;
        }
        let keys = self.classes.iter().zip(&other.distinct).filter(|it| *it.1 > 0.0);
        let mut keys = keys.filter_map(|(class, _)| class.of[place].as_ref());
        let (Some(key), None) = (keys.next(), keys.next()) else { return false };
        bare(&key.0).is_some_and(|it| origin::is_row_number(scan, it))
    }

    fn consider(&mut self, left: u64, right: u64) {
        let mask = left | right;
        let known = self.subs.get(mask).map(|it| (it.rows, it.cost));
        let (rows, distinct) = match known {
            Some((rows, _)) => (rows, None),
            None => {
                let (rows, distinct) = self.join_size(left, right);
                (rows, Some(distinct))
            }
        };
        let (own, way) = self.join_cost(left, right, rows);
        let cost = own + self.subs.of(left).cost + self.subs.of(right).cost;
        let shape = Shape::Join { left, right, way };
        match distinct {
            Some(distinct) => {
                self.subs.insert(mask, Sub { rows, cost, shape, distinct });
            }
            None => {
                if let Some(sub) = self.subs.get_mut(mask).filter(|it| cost < it.cost) {
                    sub.cost = cost;
                    sub.shape = shape;
                }
            }
        }
    }

    fn exhaustive(&mut self, full: u64, interrupt: &Interrupt) -> SqlResult<()> {
        for mask in 3..=full {
            interrupt.check()?;
            if mask.count_ones() < 2 {
                continue;
            }
            let mut left = (mask - 1) & mask;
            while left != 0 {
                let right = mask ^ left;
                let ready = self.subs.contains(left) && self.subs.contains(right);
                if ready && self.joinable(left, right) && self.connected(left, right) {
                    self.consider(left, right);
                }
                left = (left - 1) & mask;
            }
        }
        Ok(())
    }

    fn greedy(&mut self, full: u64, interrupt: &Interrupt) -> SqlResult<()> {
        self.loose = true;
        let mut parts: Vec<u64> = (0..self.graph.vertices.len()).map(|it| 1 << it).collect();
        self.subs.keep_leaves();
        while parts.len() > 1 {
            let mut best: Option<(bool, f64, u64, u64)> = None;
            for &left in &parts {
                interrupt.check()?;
                for &right in &parts {
                    if left == right || !self.joinable(left, right) {
                        continue;
                    }
                    let apart = !self.connected(left, right);
                    let (rows, _) = self.join_size(left, right);
                    let cost = self.join_cost(left, right, rows).0 + rows;
                    let better = best.is_none_or(|it| (apart, cost) < (it.0, it.1));
                    if better {
                        best = Some((apart, cost, left, right));
                    }
                }
            }
            let Some((_, _, left, right)) = best else {
                return Err(types::SqlError::internal("the joins of the query have no order"));
            };
            self.consider(left, right);
            parts.retain(|it| *it != left && *it != right);
            parts.push(left | right);
        }
        debug_assert!(self.subs.contains(full));
        Ok(())
    }

    /// The relation of a partial plan.
    fn build(&self, mask: u64, rels: &mut [Option<Rel>]) -> Rel {
        let sub = self.subs.of(mask);
        let (left, right, way) = match sub.shape {
            Shape::Leaf(place) => {
                return rels[place].take().expect("invariant: each relation is in one place");
            }
            Shape::Join { left, right, way } => (left, right, way),
        };
        let mut fresh: Vec<Expr> = self.fresh(left, right).cloned().collect();
        let dependent = self.dependent_of(right);
        let left_rel = self.build(left, rels);
        let right_rel = self.build(right, rels);
        let mut join = JoinRel {
            build_left: way == Way::Left,
            rows: sub.rows,
            ..JoinRel::new(RelJoin::Inner, left_rel, right_rel)
        };
        if let Some(place) = dependent {
            let vertex = &self.graph.vertices[place];
            (join.kind, join.null_aware, join.mark) = (vertex.kind, vertex.null_aware, vertex.mark);
            join.keys = self.dependents[place].keys.clone();
            join.residual = self.dependents[place].residual.clone();
            let inequality = self.dependents[place].inequality.as_ref();
            if let Some(inequality) = inequality.filter(|_| way == Way::Grouped) {
                inequality.group(&mut join, self.dependents[place].groups);
            }
            return Rel::Join(Box::new(join)).filtered(fresh);
        }
        for class in &self.classes {
            let of = |side: u64| {
                let places = (0..class.of.len()).filter(|it| side >> it & 1 == 1);
                places.filter_map(|it| class.of[it].as_ref()).map(|it| it.0.clone()).next()
            };
            if let (Some(a), Some(b)) = (of(left), of(right)) {
                join.keys.push((a, b));
            }
        }
        for it in &self.equalities {
            let mask = it.left_mask | it.right_mask;
            if let Some((a, b)) = crossing(it, left, right) {
                join.keys.push((a.clone(), b.clone()));
            } else if mask & !(left | right) == 0 && mask & !left != 0 && mask & !right != 0 {
                let (a, b) = (it.left.clone(), it.right.clone());
                join.residual.push(Expr::predicate(BinaryOperator::Equal, a, b));
            }
        }
        join.residual.append(&mut fresh);
        Rel::Join(Box::new(join))
    }
}

/// Whether all these vertices are needed for one side of an equality: it can be a key only once they are together.
fn is_part_of_a_side(it: &Equality, vertices: u64) -> bool {
    vertices & !it.left_mask == 0 || vertices & !it.right_mask == 0
}

/// The two sides of an equality when one belongs to the left and one to the right.
fn crossing(it: &Equality, left: u64, right: u64) -> Option<(&Expr, &Expr)> {
    if it.left_mask & !left == 0 && it.right_mask & !right == 0 {
        return Some((&it.left, &it.right));
    }
    (it.right_mask & !left == 0 && it.left_mask & !right == 0).then_some((&it.right, &it.left))
}

fn base_rows(rel: &Rel) -> f64 {
    match rel {
        Rel::Scan(scan) => scan.table.rows as f64,
        Rel::Filter { input, .. } | Rel::Map { input, .. } => base_rows(input),
        other => other.rows(),
    }
    .max(1.0)
}

fn dependent(
    vertex: &Vertex,
    distinct_of: &dyn Fn(&Expr) -> f64,
    attributes: &mut Vec<Attribute>,
) -> Dependent {
    if vertex.kind == RelJoin::Inner {
        return Dependent::default();
    }
    let mut this = Dependent::default();
    let (mut left_distinct, mut right_distinct) = (1.0, 1.0);
    for predicate in &vertex.on {
        if let ExprKind::Binary { operator: BinaryOperator::Equal, left, right } = &predicate.kind {
            let inside = |it: &Expr| {
                let attrs = AttrSet::of(it);
                !attrs.is_empty() && attrs.is_subset(&vertex.inner_attrs)
            };
            let outside = |it: &Expr| {
                let attrs = AttrSet::of(it);
                !attrs.is_empty() && !attrs.intersects(&vertex.inner_attrs)
            };
            let pair = if is_volatile(predicate) {
                None
            } else if outside(left) && inside(right) {
                Some((left, right))
            } else if outside(right) && inside(left) {
                Some((right, left))
            } else {
                None
            };
            if let Some((left, right)) = pair {
                left_distinct *= distinct_of(left);
                right_distinct *= estimate::distinct_of(&vertex.rel, right);
                this.keys.push(((**left).clone(), (**right).clone()));
                continue;
            }
        }
        this.residual.push(predicate.clone());
    }
    let rows = vertex.rel.rows().max(1.0);
    let right_distinct = f64::min(right_distinct, rows);
    let left_distinct: f64 = left_distinct.max(1.0);
    this.share = (right_distinct / left_distinct).min(1.0);
    this.fan_out = rows / left_distinct.max(right_distinct);
    if vertex.kind != RelJoin::Left && !vertex.null_aware {
        let (keys, inner) = (&this.keys, &vertex.inner_attrs);
        this.inequality = Inequality::of(keys, &this.residual, inner, attributes);
    }
    this.groups = right_distinct;
    let sorted = matches!(&this.keys[..], [(_, key)] if rises(&vertex.rel, key));
    this.grouping = if sorted { GROUPING.0 } else { GROUPING.1 };
    this
}

/// Whether an expression is a column of a relation that never falls from row to row of its table.
fn rises(rel: &Rel, expr: &Expr) -> bool {
    let stored = bare(expr).and_then(|it| origin::of(rel, it));
    stored.is_some_and(|(scan, attr)| origin::rises(scan, attr))
}
