//! A region: joins, filters and computed columns between operators that cannot be moved through. It is flattened into
//! members and predicates, each predicate goes where it belongs, and [`super::order`] puts it together again.

use plan::{BinaryOperator, Expr, ExprKind, Function};
use types::SqlResult;

use super::order::{self, Graph, Vertex};
use super::{Optimiser, predicates};
use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare, substitute};

/// A relation of the region.
struct Member {
    rel: Rel,
    attrs: AttrSet,
    kind: RelJoin,
    null_aware: bool,
    mark: Option<Attr>,
    /// The join's conjuncts when it is not an inner join.
    on: Vec<Expr>,
}

#[derive(Default)]
struct Region {
    members: Vec<Member>,
    predicates: Vec<Expr>,
    maps: Vec<(Attr, Expr)>,
}

impl Region {
    fn flatten(&mut self, rel: Rel) {
        match rel {
            Rel::Filter { input, predicates } => {
                self.flatten(*input);
                self.demand(predicates);
            }
            Rel::Map { input, exprs } if exprs.iter().all(|it| is_immutable(&it.1)) => {
                self.flatten(*input);
                for (attr, mut expr) in exprs {
                    substitute(&mut expr, &self.maps);
                    self.maps.push((attr, expr));
                }
            }
            Rel::Join(join) if join.kind != RelJoin::Full => {
                let JoinRel { kind, null_aware, mark, left, right, residual, .. } = *join;
                self.flatten(left);
                if kind == RelJoin::Inner {
                    self.flatten(right);
                    self.demand(residual);
                } else {
                    let mut on = residual;
                    on.iter_mut().for_each(|it| substitute(it, &self.maps));
                    let on = predicates::simplify(on);
                    let attrs = member_attrs(kind, &right, mark);
                    self.members.push(Member { attrs, rel: right, kind, null_aware, mark, on });
                }
            }
            other => {
                let attrs = other.attrs();
                self.members.push(Member {
                    rel: other,
                    attrs,
                    kind: RelJoin::Inner,
                    null_aware: false,
                    mark: None,
                    on: Vec::new(),
                });
            }
        }
    }

    fn demand(&mut self, mut predicates: Vec<Expr>) {
        predicates.iter_mut().for_each(|it| substitute(it, &self.maps));
        for predicate in predicates::simplify(predicates) {
            if !self.predicates.contains(&predicate) {
                self.predicates.push(predicate);
            }
        }
    }

    /// Outer joins whose NULLs a predicate rejects are inner joins.
    fn strengthen(&mut self) {
        while let Some(place) = self.members.iter().position(|it| {
            it.kind == RelJoin::Left
                && self.predicates.iter().any(|p| predicates::rejects_null(p, &it.attrs))
        }) {
            let member = self.members.remove(place);
            self.flatten(member.rel);
            self.demand(member.on);
            self.expand_maps();
        }
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
        let predicates = std::mem::take(&mut self.predicates);
        self.demand(predicates);
    }

    /// The members that an expression uses.
    fn mask(&self, expr: &Expr) -> u64 {
        let attrs = AttrSet::of(expr);
        let used = self.members.iter().enumerate().filter(|it| it.1.attrs.intersects(&attrs));
        used.fold(0, |mask, it| mask | 1 << it.0)
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

pub(crate) fn is_immutable(expr: &Expr) -> bool {
    let own = match &expr.kind {
        ExprKind::Call { function, .. } => !matches!(function, Function::Random | Function::Uuid),
        ExprKind::Function { function, .. } => function.is_immutable(),
        _ => true,
    };
    own && expr.children().into_iter().all(is_immutable)
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
            Rel::Map { input, exprs } if !exprs.iter().all(|it| is_immutable(&it.1)) => {
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
        region.flatten(rel);
        region.demand(demanded);
        region.strengthen();
        let maps = std::mem::take(&mut region.maps);
        let rel = if region.members.len() > 60 {
            return Err(types::SqlError::new(
                types::SqlState::PROGRAM_LIMIT_EXCEEDED,
                "a query may join at most 60 relations",
            ));
        } else {
            self.assemble(region)?
        };
        Ok(match maps.is_empty() {
            true => rel,
            false => Rel::Map { input: Box::new(rel), exprs: maps },
        })
    }

    fn assemble(&mut self, mut region: Region) -> SqlResult<Rel> {
        let count = region.members.len();
        let mut pushed: Vec<Vec<Expr>> = vec![Vec::new(); count];
        let mut shared: Vec<(u64, Expr)> = Vec::new();
        let mut constant = Vec::new();
        self.split_semi_conditions(&mut region);
        add_implied_equalities(&mut region);
        for predicate in std::mem::take(&mut region.predicates) {
            let mask = region.mask(&predicate);
            let alone = mask.trailing_zeros() as usize;
            if mask == 0 {
                constant.push(predicate);
            } else if mask.count_ones() == 1 && region.members[alone].kind == RelJoin::Inner {
                pushed[alone].push(predicate);
            } else {
                for (place, member) in region.members.iter().enumerate() {
                    if member.kind == RelJoin::Inner {
                        pushed[place].extend(predicates::implied(&predicate, &member.attrs));
                    }
                }
                shared.push((mask, predicate));
            }
        }
        let mut graph = Graph::default();
        let masks: Vec<u64> = region
            .members
            .iter()
            .map(|member| member.on.iter().fold(0, |mask, it| mask | region.mask(it)))
            .collect();
        for (place, (member, mut own)) in region.members.into_iter().zip(pushed).enumerate() {
            let mut on = member.on;
            let inner_attrs = member.rel.attrs();
            if member.kind != RelJoin::Inner && !member.null_aware {
                let (right, both) = on.into_iter().partition(|it| {
                    let attrs = AttrSet::of(it);
                    !attrs.is_empty() && attrs.is_subset(&inner_attrs)
                });
                own = right;
                on = both;
            }
            let rel = self.rel(member.rel, own)?;
            graph.vertices.push(Vertex {
                rel,
                attrs: member.attrs,
                inner_attrs,
                kind: member.kind,
                null_aware: member.null_aware,
                mark: member.mark,
                on,
                needs: masks[place] & !(1 << place),
            });
        }
        graph.predicates = shared;
        let rel = order::order(graph, self.attributes)?;
        Ok(rel.filtered(constant))
    }

    /// Conjuncts of a semi join that use the left side alone are ordinary predicates.
    fn split_semi_conditions(&self, region: &mut Region) {
        let mut demanded = Vec::new();
        for member in region.members.iter_mut().filter(|it| it.kind == RelJoin::Semi) {
            let inner = member.rel.attrs();
            let (left, both) = std::mem::take(&mut member.on).into_iter().partition(|it| {
                let attrs = AttrSet::of(it);
                !attrs.is_empty() && !attrs.intersects(&inner)
            });
            member.on = both;
            let left: Vec<Expr> = left;
            demanded.extend(left);
        }
        region.predicates.extend(demanded);
    }

    fn full_join(&mut self, mut join: JoinRel, demanded: Vec<Expr>) -> SqlResult<Rel> {
        join.left = self.rel(join.left, Vec::new())?;
        join.right = self.rel(join.right, Vec::new())?;
        let (left, right) = (join.left.attrs(), join.right.attrs());
        order::split_keys(&mut join, &left, &right);
        join.rows = join.left.rows() + join.right.rows();
        Ok(Rel::Join(Box::new(join)).filtered(demanded))
    }
}

/// Two attributes of one member that equal a third equal each other, and a constant bound on one of a class of equal
/// attributes holds for all of them: `a = b AND a = 5` gives `b = 5`.
fn add_implied_equalities(region: &mut Region) {
    let inner: Vec<&AttrSet> =
        region.members.iter().filter(|it| it.kind == RelJoin::Inner).map(|it| &it.attrs).collect();
    let is_inner = |attr: Attr| inner.iter().any(|it| it.contains(attr));
    let mut more = Vec::new();
    for class in order::classes(region.predicates.iter(), &is_inner) {
        for (place, a) in class.iter().enumerate() {
            for b in &class[place + 1..] {
                let same =
                    |it: &&&AttrSet| AttrSet::of(a).is_subset(it) && AttrSet::of(b).is_subset(it);
                if inner.iter().find(same).is_some() {
                    more.push(Expr::predicate(BinaryOperator::Equal, a.clone(), b.clone()));
                }
            }
        }
        for predicate in &region.predicates {
            let operand = match &predicate.kind {
                ExprKind::Binary { operator, left, right }
                    if operator.is_comparison()
                        && matches!(right.kind, ExprKind::Literal(_) | ExprKind::Parameter(_)) =>
                {
                    left
                }
                ExprKind::InList { operand, .. } => operand,
                _ => continue,
            };
            let Some(from) = bare(operand).filter(|_| class.contains(operand)) else { continue };
            let others = class.iter().filter(|it| it.data_type == operand.data_type);
            for to in others.filter(|it| bare(it) != Some(from)) {
                let mut copy = predicate.clone();
                substitute(&mut copy, &[(from, to.clone())]);
                more.push(copy);
            }
        }
    }
    for predicate in more {
        if !region.predicates.contains(&predicate) {
            region.predicates.push(predicate);
        }
    }
}
