//! A region: joins, filters and computed columns between operators that cannot be moved through. It is flattened into
//! members and predicates, each predicate goes where it belongs, and [`super::joins`] puts it together again.
//!
//! - Outer joins: a member that is not inner keeps its own condition; predicates of the region are never pushed into it.
//!   A left join is an inner one where a predicate above it rejects rows of NULLs ([`predicates::rejects_null`]).
//! - Volatile: computed columns with volatile expressions end a region, and so do filters and inner joins with volatile
//!   conditions. In the condition of another join such a conjunct stays where it is, neither a key nor pushed.
//! - Fallible: what can fail waits until all members are joined that its own query had joined and filtered below it
//!   (`Block`).

use std::collections::BTreeMap;

use plan::properties::{is_fallible, is_volatile};
use plan::{BinaryOperator, Expr, ExprKind};
use types::SqlResult;

use super::joins::{self, Conjunct, Vertex, VertexSet};
use super::predicates;
use super::state::Optimiser;
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare, substitute};

/// A member for as long as its region is flattened.
type MemberId = usize;

/// Members whose rows are only there once all of them are joined, because a filter or a join condition below looks at
/// them together. An expression that can fail and looks at one of them waits for the whole block.
type Block = Vec<MemberId>;

/// A relation of the region.
struct Member {
    id: MemberId,
    rel: Rel,
    attrs: AttrSet,
    kind: RelJoin,
    null_aware: bool,
    mark: Option<Attr>,
    /// The join's conjuncts when it is not an inner join.
    on: Vec<Expr>,
    /// The members that its conjuncts wait for beside those whose attributes they use.
    after: Vec<MemberId>,
}

/// A conjunct of the region.
#[derive(Clone)]
struct Demand {
    expr: Expr,
    /// When it can fail: the blocks below it.
    blocks: Vec<Block>,
}

#[derive(Default)]
struct Region {
    members: Vec<Member>,
    predicates: Vec<Demand>,
    maps: Vec<(Attr, Expr)>,
    /// The number of the next member.
    next: MemberId,
}

impl Region {
    /// Adds a relation, and gives the blocks that its members are.
    fn flatten(&mut self, rel: Rel) -> Vec<Block> {
        match rel {
            Rel::Filter { input, predicates } if !predicates.iter().any(is_volatile) => {
                let blocks = self.flatten(*input);
                self.demand(predicates, &blocks);
                vec![blocks.concat()]
            }
            Rel::Map { input, exprs } if !exprs.iter().any(|it| is_volatile(&it.1)) => {
                let blocks = self.flatten(*input);
                for (attr, mut expr) in exprs {
                    substitute(&mut expr, &self.maps);
                    self.maps.push((attr, expr));
                }
                blocks
            }
            Rel::Join(join) if join.kind != RelJoin::Full => self.flatten_join(*join),
            other => {
                let attrs = other.attrs();
                vec![vec![self.add(other, attrs, RelJoin::Inner)]]
            }
        }
    }

    fn flatten_join(&mut self, mut join: JoinRel) -> Vec<Block> {
        if join.kind == RelJoin::Inner {
            let (volatile, residual): (Vec<_>, Vec<_>) =
                join.residual.into_iter().partition(is_volatile);
            join.residual = residual;
            if !volatile.is_empty() {
                return self.flatten(Rel::Join(Box::new(join)).filtered(volatile));
            }
            let mut blocks = self.flatten(join.left);
            blocks.extend(self.flatten(join.right));
            if join.residual.is_empty() {
                return blocks;
            }
            self.demand(join.residual, &blocks);
            return vec![blocks.concat()];
        }
        let JoinRel { kind, null_aware, mark, left, right, residual, .. } = join;
        let mut blocks = self.flatten(left);
        let mut on = residual;
        on.iter_mut().for_each(|it| substitute(it, &self.maps));
        let attrs = member_attrs(kind, &right, mark);
        let id = self.add(right, attrs, kind);
        if let Some(member) = self.members.last_mut() {
            // What a NULL-aware join makes of its condition is no filter.
            member.on = if null_aware { on } else { predicates::simplify(on) };
            (member.null_aware, member.mark) = (null_aware, mark);
            if member.on.iter().any(is_fallible) {
                member.after = blocks.concat();
            }
        }
        blocks.push(vec![id]);
        match kind {
            RelJoin::Semi | RelJoin::Anti => vec![blocks.concat()],
            _ => blocks,
        }
    }

    fn add(&mut self, rel: Rel, attrs: AttrSet, kind: RelJoin) -> MemberId {
        let id = self.next;
        self.next += 1;
        let (null_aware, mark, on, after) = (false, None, Vec::new(), Vec::new());
        self.members.push(Member { id, rel, attrs, kind, null_aware, mark, on, after });
        id
    }

    fn demand(&mut self, mut predicates: Vec<Expr>, blocks: &[Block]) {
        predicates.iter_mut().for_each(|it| substitute(it, &self.maps));
        for expr in predicates::simplify(predicates) {
            if self.predicates.iter().any(|it| it.expr == expr) {
                continue;
            }
            let blocks = if is_fallible(&expr) { blocks.to_vec() } else { Vec::new() };
            self.predicates.push(Demand { expr, blocks });
        }
    }

    /// Outer joins whose NULLs a predicate rejects are inner joins.
    fn strengthen(&mut self) {
        loop {
            let used: Vec<AttrSet> =
                self.predicates.iter().map(|it| AttrSet::of(&it.expr)).collect();
            let rejected = |member: &Member| {
                let touching = self.predicates.iter().zip(&used);
                let mut touching = touching.filter(|it| it.1.intersects(&member.attrs));
                touching.any(|it| predicates::rejects_null(&it.0.expr, &member.attrs))
            };
            let is_inner = |it: &Member| it.kind == RelJoin::Left && rejected(it);
            let inner: Vec<bool> = self.members.iter().map(is_inner).collect();
            if !inner.contains(&true) {
                return;
            }
            let members = std::mem::take(&mut self.members).into_iter().zip(inner);
            let (inner, others): (Vec<_>, Vec<_>) = members.partition(|it| it.1);
            self.members = others.into_iter().map(|it| it.0).collect();
            for (member, _) in inner {
                let blocks = self.flatten(member.rel);
                self.replace(member.id, &blocks.concat());
                let outside = member.after.into_iter().map(|it| vec![it]);
                let all: Vec<Block> = outside.chain(blocks).collect();
                self.demand(member.on, &all);
            }
            self.expand_maps();
        }
    }

    /// Puts members in the place of one wherever something waits for it.
    fn replace(&mut self, old: MemberId, new: &[MemberId]) {
        let put = |ids: &mut Vec<MemberId>| {
            if ids.contains(&old) {
                ids.retain(|it| *it != old);
                ids.extend(new);
            }
        };
        self.members.iter_mut().for_each(|it| put(&mut it.after));
        self.predicates.iter_mut().flat_map(|it| &mut it.blocks).for_each(put);
    }

    /// Puts computed attributes that became part of the region where conditions use them.
    fn expand_maps(&mut self) {
        let maps = self.maps.clone();
        for (_, expr) in &mut self.maps {
            substitute(expr, &maps);
        }
        for member in &mut self.members {
            member.on.iter_mut().for_each(|it| substitute(it, &maps));
        }
        for Demand { expr, blocks } in std::mem::take(&mut self.predicates) {
            self.demand(vec![expr], &blocks);
        }
    }

    /// The members by what they give and by their numbers.
    fn index(&self) -> Index {
        let mut index = Index::default();
        for (place, member) in self.members.iter().enumerate() {
            index.of_attr.extend(member.attrs.iter().map(|it| (it, place)));
            index.of_id.insert(member.id, place);
        }
        index
    }
}

/// Where members are.
#[derive(Default)]
struct Index {
    of_attr: BTreeMap<Attr, usize>,
    of_id: BTreeMap<MemberId, usize>,
}

impl Index {
    /// The members that an expression uses.
    fn used(&self, expr: &Expr) -> VertexSet {
        AttrSet::of(expr).iter().filter_map(|it| self.of_attr.get(&it).copied()).collect()
    }

    /// The members of some numbers.
    fn members(&self, ids: &[MemberId]) -> VertexSet {
        ids.iter().filter_map(|it| self.of_id.get(it).copied()).collect()
    }

    /// The members that an expression uses, and those that it waits for.
    fn needed(&self, expr: &Expr, blocks: &[Block]) -> VertexSet {
        let mut needed = self.used(expr);
        let touched = blocks.iter().map(|it| self.members(it)).filter(|it| it.intersects(&needed));
        let touched: Vec<VertexSet> = touched.collect();
        touched.iter().for_each(|it| needed.union_with(it));
        needed
    }

    /// A conjunct with the members that it and its sides need.
    fn conjunct(&self, demand: Demand) -> Conjunct {
        let Demand { expr, blocks } = demand;
        let sides = match &expr.kind {
            ExprKind::Binary { operator: BinaryOperator::Equal, left, right } => {
                Some((self.needed(left, &blocks), self.needed(right, &blocks)))
            }
            _ => None,
        };
        Conjunct { needs: self.needed(&expr, &blocks), sides, expr }
    }
}

/// What a member gives to the rest of the region.
fn member_attrs(kind: RelJoin, right: &Rel, mark: Option<Attr>) -> AttrSet {
    match kind {
        RelJoin::Semi | RelJoin::Anti => AttrSet::default(),
        RelJoin::Mark => mark.into_iter().collect(),
        _ => right.attrs(),
    }
}

impl Optimiser<'_> {
    /// Optimises a region under conjuncts that its consumer demands.
    pub(super) fn region(&mut self, rel: Rel, demanded: Vec<Expr>) -> SqlResult<Rel> {
        if let Rel::Join(join) = rel {
            if join.kind == RelJoin::Full {
                return self.full_join(*join, demanded);
            }
            return self.flat_region(Rel::Join(join), demanded);
        }
        match rel {
            Rel::Map { input, exprs } if exprs.iter().any(|it| is_volatile(&it.1)) => {
                let made: AttrSet = exprs.iter().map(|it| it.0).collect();
                let (above, below) =
                    demanded.into_iter().partition(|it| AttrSet::of(it).intersects(&made));
                let input = Box::new(self.rel(*input, below)?);
                Ok(Rel::Map { input, exprs }.filtered(above))
            }
            other => self.flat_region(other, demanded),
        }
    }

    fn flat_region(&mut self, rel: Rel, demanded: Vec<Expr>) -> SqlResult<Rel> {
        let mut region = Region::default();
        let blocks = region.flatten(rel);
        region.demand(demanded, &blocks);
        if self.options.rewrites {
            region.strengthen();
        }
        let maps = std::mem::take(&mut region.maps);
        let rel = self.assemble(region)?;
        Ok(match maps.is_empty() {
            true => rel,
            false => Rel::Map { input: Box::new(rel), exprs: maps },
        })
    }

    fn assemble(&mut self, mut region: Region) -> SqlResult<Rel> {
        self.split_semi_conditions(&mut region);
        add_implied_equalities(&mut region, self.options.rewrites);
        if self.options.rewrites {
            bound_partners(&mut region);
        }
        let index = region.index();
        let mut pushed: Vec<Vec<Expr>> = vec![Vec::new(); region.members.len()];
        let (mut conjuncts, mut constant) = (Vec::new(), Vec::new());
        for demand in std::mem::take(&mut region.predicates) {
            let conjunct = index.conjunct(demand);
            let alone = conjunct.needs.single();
            let alone = alone.filter(|it| region.members[*it].kind == RelJoin::Inner);
            if let Some(alone) = alone {
                pushed[alone].push(conjunct.expr);
            } else if conjunct.needs.is_empty() {
                constant.push(conjunct.expr);
            } else {
                for (place, member) in region.members.iter().enumerate() {
                    if member.kind == RelJoin::Inner && self.options.rewrites {
                        pushed[place].extend(predicates::implied(&conjunct.expr, &member.attrs));
                    }
                }
                conjuncts.push(conjunct);
            }
        }
        let mut vertices = Vec::with_capacity(region.members.len());
        for (place, (member, own)) in region.members.into_iter().zip(pushed).enumerate() {
            vertices.push(self.vertex(member, own, &index, place)?);
        }
        let reorder = self.options.rewrites;
        let rel = joins::order(vertices, conjuncts, self.attributes, (reorder, self.interrupt))?;
        Ok(rel.filtered(constant))
    }

    /// A member as a vertex of the join graph: its own predicates in it, conjuncts of its join that use nothing else too.
    fn vertex(
        &mut self,
        member: Member,
        own: Vec<Expr>,
        index: &Index,
        place: usize,
    ) -> SqlResult<Vertex> {
        let Member { rel, attrs, kind, null_aware, mark, on, after, .. } = member;
        let mut needs = index.members(&after);
        on.iter().for_each(|it| needs.union_with(&index.used(it)));
        needs.remove(place);
        let inner_attrs = rel.attrs();
        let is_own = |it: &Expr| {
            let used = AttrSet::of(it);
            !used.is_empty() && used.is_subset(&inner_attrs) && !is_volatile(it)
        };
        let movable = kind != RelJoin::Inner && !null_aware;
        let (inside, on): (Vec<_>, Vec<_>) = on.into_iter().partition(|it| movable && is_own(it));
        let rel = self.rel(rel, own.into_iter().chain(inside).collect())?;
        Ok(Vertex { rel, attrs, inner_attrs, kind, null_aware, mark, on, needs })
    }

    /// Conjuncts of a semi join that use the left side alone are ordinary predicates.
    fn split_semi_conditions(&self, region: &mut Region) {
        let mut demanded = Vec::new();
        for member in region.members.iter_mut().filter(|it| it.kind == RelJoin::Semi) {
            let inner = member.rel.attrs();
            let (left, both): (Vec<_>, Vec<_>) =
                std::mem::take(&mut member.on).into_iter().partition(|it| {
                    let attrs = AttrSet::of(it);
                    !attrs.is_empty() && !attrs.intersects(&inner) && !is_volatile(it)
                });
            member.on = both;
            demanded.extend(left.into_iter().map(|expr| {
                let blocks =
                    if is_fallible(&expr) { vec![member.after.clone()] } else { Vec::new() };
                Demand { expr, blocks }
            }));
        }
        region.predicates.extend(demanded);
    }

    fn full_join(&mut self, mut join: JoinRel, demanded: Vec<Expr>) -> SqlResult<Rel> {
        join.left = self.rel(join.left, Vec::new())?;
        join.right = self.rel(join.right, Vec::new())?;
        let (left, right) = (join.left.attrs(), join.right.attrs());
        joins::split_keys(&mut join, &left, &right);
        join.rows = join.left.rows() + join.right.rows();
        Ok(Rel::Join(Box::new(join)).filtered(demanded))
    }
}

/// Two attributes of one member that equal a third equal each other, and a constant bound on one of a class of equal
/// attributes holds for all of them: `a = b AND a = 5` gives `b = 5`. The first is needed where classes are joined by one
/// key, the second is optional.
fn add_implied_equalities(region: &mut Region, bounds: bool) {
    let index = region.index();
    let member = |attr: Attr| {
        let place = index.of_attr.get(&attr).copied();
        place.filter(|it| region.members[*it].kind == RelJoin::Inner)
    };
    let mut more = Vec::new();
    let classes =
        joins::classes(region.predicates.iter().map(|it| &it.expr), &|it| member(it).is_some());
    let mut class_of: BTreeMap<Attr, usize> = BTreeMap::new();
    for (number, class) in classes.iter().enumerate() {
        let mut first: BTreeMap<usize, &Expr> = BTreeMap::new();
        for expr in class {
            let Some(attr) = bare(expr) else { continue };
            class_of.insert(attr, number);
            let Some(place) = member(attr) else { continue };
            match first.get(&place) {
                Some(a) => {
                    let equal = BinaryOperator::Equal;
                    more.push(Expr::predicate(equal, (*a).clone(), expr.clone()));
                }
                None => drop(first.insert(place, expr)),
            }
        }
    }
    for Demand { expr: predicate, .. } in region.predicates.iter().filter(|_| bounds) {
        let Some((from, operand)) = bound(predicate) else { continue };
        let Some(class) = class_of.get(&from) else { continue };
        let others = classes[*class].iter().filter(|it| it.data_type == operand.data_type);
        for to in others.filter(|it| bare(it) != Some(from)) {
            let mut copy = predicate.clone();
            substitute(&mut copy, &[(from, to.clone())]);
            more.push(copy);
        }
    }
    for expr in more {
        if !region.predicates.iter().any(|it| it.expr == expr) {
            region.predicates.push(Demand { expr, blocks: Vec::new() });
        }
    }
}

/// The attribute that a predicate compares with constants alone, as it stands there.
fn bound(predicate: &Expr) -> Option<(Attr, &Expr)> {
    let operand: &Expr = match &predicate.kind {
        ExprKind::Binary { operator, left, right }
            if operator.is_comparison()
                && matches!(right.kind, ExprKind::Literal(_) | ExprKind::Parameter(_)) =>
        {
            left
        }
        ExprKind::InList { operand, .. } => operand,
        _ => return None,
    };
    bare(operand).map(|it| (it, operand))
}

/// A constant bound on a key of the rows that are kept is one of their partners too: those of a left, semi or anti join
/// with another key are partners of nobody. `a LEFT JOIN b ON b.k = a.k WHERE a.k = 5` reads of b what has 5.
fn bound_partners(region: &mut Region) {
    let Region { members, predicates, .. } = region;
    let partners = [RelJoin::Left, RelJoin::Semi, RelJoin::Anti];
    for member in members.iter_mut().filter(|it| partners.contains(&it.kind) && !it.null_aware) {
        let inner = member.rel.attrs();
        let mut more = Vec::new();
        for on in &member.on {
            let ExprKind::Binary { operator: BinaryOperator::Equal, left, right } = &on.kind else {
                continue;
            };
            let (Some(a), Some(b)) = (bare(left), bare(right)) else { continue };
            let (outer, own) = match (inner.contains(a), inner.contains(b)) {
                (false, true) => (a, right),
                (true, false) => (b, left),
                _ => continue,
            };
            for Demand { expr, .. } in predicates.iter() {
                let of_outer =
                    bound(expr).is_some_and(|it| it.0 == outer && it.1.data_type == own.data_type);
                if of_outer {
                    let mut copy = expr.clone();
                    substitute(&mut copy, &[(outer, (**own).clone())]);
                    more.push(copy);
                }
            }
        }
        more.retain(|it| !member.on.contains(it));
        member.on.extend(more);
    }
}
