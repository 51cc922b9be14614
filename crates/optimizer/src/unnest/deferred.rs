//! Values of subqueries that are an error where there are several: computed where they are asked for, so that a row that a
//! condition or a branch keeps from asking raises nothing.
//!
//! Key decision: the value is put in the place of its attribute in conditions and expressions above, as far as the relation
//! goes that offers what it is made of. Joins, orders and group keys ask for it in every row; below those it is made. Rows that
//! unnesting shares, as another subquery beside asks for them, hand on what it is made of; those of a WITH that is computed once are made whole.

use std::collections::BTreeMap;

use plan::relation::{Attr, AttrSet, Attribute, Part, Query, Rel, RelJoin, substitute};
use plan::{Expr, ExprKind, Function};

type Definitions = Vec<(Attr, Expr)>;

/// Defers the values in all relations of a query, of whose shared ones the first `bound` are its own.
pub(super) fn defer(query: &mut Query, bound: usize) {
    let output: AttrSet = query.output.iter().map(|it| it.attr).collect();
    let mut this =
        Deferring { attributes: std::mem::take(&mut query.attributes), shared: BTreeMap::new() };
    // What a part reads comes before it.
    for part in query.parts() {
        match part {
            Part::Scalar(it) => {
                let scalar = &mut query.scalars[it];
                this.within(&mut scalar.rel, &[scalar.attr].into_iter().collect());
            }
            Part::Shared(it) if it < bound => {
                let all = query.shared[it].attrs();
                this.within(&mut query.shared[it], &all);
            }
            Part::Shared(it) if this.has_deferred(&query.shared[it]) => {
                let definitions = this.lifted(&mut query.shared[it]);
                this.shared.insert(it, definitions);
            }
            Part::Shared(_) => {}
        }
    }
    this.within(&mut query.root, &output);
    query.attributes = this.attributes;
}

struct Deferring {
    attributes: Vec<Attribute>,
    /// By shared relation, the values that those who read it make.
    shared: BTreeMap<usize, Definitions>,
}

impl Deferring {
    /// Defers the values in a relation, of which others use some attributes.
    fn within(&mut self, rel: &mut Rel, used: &AttrSet) {
        if self.has_deferred(rel) {
            let definitions = self.lifted(rel);
            settle(rel, definitions, used);
        }
    }

    /// Whether such a value is made anywhere in a relation, or by who reads one that it reads.
    fn has_deferred(&self, rel: &Rel) -> bool {
        let mut has = false;
        rel.visit(&mut |it| match it {
            Rel::Map { exprs, .. } => has |= exprs.iter().any(|it| is_deferred(&it.1)),
            Rel::Shared { id, .. } => has |= self.shared.contains_key(id),
            _ => {}
        });
        has
    }

    /// Takes the values out of a relation as far as they can be made above it.
    fn lifted(&mut self, rel: &mut Rel) -> Definitions {
        match rel {
            Rel::Map { input, exprs } => {
                let mut definitions = self.lifted(input);
                exprs.iter_mut().for_each(|it| substitute(&mut it.1, &definitions));
                let (own, kept): (Vec<_>, Vec<_>) =
                    std::mem::take(exprs).into_iter().partition(|it| is_deferred(&it.1));
                definitions.extend(own);
                *exprs = kept;
                if exprs.is_empty() {
                    let input = input.take();
                    *rel = input;
                }
                definitions
            }
            Rel::Filter { input, predicates } => {
                let definitions = self.lifted(input);
                predicates.iter_mut().for_each(|it| substitute(it, &definitions));
                definitions
            }
            Rel::Limit { input, .. } => self.lifted(input),
            Rel::Aggregate { input, aggregates, keys, .. } => {
                let definitions = self.lifted(input);
                for (_, it) in aggregates {
                    it.expressions_mut().for_each(|it| {
                        substitute(it, &definitions);
                    });
                }
                let mut used = AttrSet::default();
                keys.iter().for_each(|it| used.add_expr(&it.1));
                settle(input, definitions, &used);
                Vec::new()
            }
            Rel::Join(join) => {
                let mut used = AttrSet::default();
                join.keys
                    .iter()
                    .for_each(|it| [&it.0, &it.1].into_iter().for_each(|it| used.add_expr(it)));
                join.residual.iter().for_each(|it| used.add_expr(it));
                let (left, right) = (self.lifted(&mut join.left), self.lifted(&mut join.right));
                let lifts_left = join.kind != RelJoin::Full;
                let lifts_right = join.kind == RelJoin::Inner;
                let mut above = Vec::new();
                for (side, definitions, lifts) in
                    [(&mut join.left, left, lifts_left), (&mut join.right, right, lifts_right)]
                {
                    let (here, later): (Vec<_>, Vec<_>) =
                        definitions.into_iter().partition(|it| !lifts || used.contains(it.0));
                    let all = here.iter().map(|it| it.0).collect();
                    settle(side, here, &all);
                    above.extend(later);
                }
                above
            }
            Rel::Shared { id, output, .. } => self.read(*id, output),
            other => {
                for input in other.inputs_mut() {
                    let definitions = self.lifted(input);
                    let all = definitions.iter().map(|it| it.0).collect();
                    settle(input, definitions, &all);
                }
                Vec::new()
            }
        }
    }

    /// What a reader of a shared relation makes itself: it reads what that is made of.
    fn read(&mut self, id: usize, output: &mut Vec<(Attr, Attr)>) -> Definitions {
        let made = self.shared.get(&id).cloned().unwrap_or_default();
        let mut definitions = Vec::new();
        for (attr, value) in made {
            let Some(place) = output.iter().position(|it| it.1 == attr) else { continue };
            let (own, _) = output.remove(place);
            let mut value = value;
            value.map_columns(&mut |of| match output.iter().find(|it| it.1 == of) {
                Some(known) => known.0,
                None => {
                    self.attributes.push(self.attributes[of].clone());
                    output.push((self.attributes.len() - 1, of));
                    self.attributes.len() - 1
                }
            });
            definitions.push((own, value));
        }
        definitions
    }
}

/// Makes the values that are used.
fn settle(rel: &mut Rel, definitions: Definitions, used: &AttrSet) {
    let exprs: Definitions = definitions.into_iter().filter(|it| used.contains(it.0)).collect();
    if !exprs.is_empty() {
        let input = Box::new(rel.take());
        *rel = Rel::Map { input, exprs };
    }
}

/// Whether an expression is the value of a subquery that may have several rows.
fn is_deferred(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Scalar(_) => true,
        ExprKind::Case { branches, .. } => branches.first().is_some_and(|it| {
            matches!(it.1.kind, ExprKind::Call { function: Function::RaiseCardinality, .. })
        }),
        _ => false,
    }
}
