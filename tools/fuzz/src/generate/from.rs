//! FROM: tables, derived tables, queries of WITH, and all joins of them.

use crate::ast::{Expr, Form, From, On};
use crate::generate::query::named;
use crate::generate::state::{Generator, Relation, Scope};
use crate::kind::Kind;

/// What a FROM makes visible.
pub type Made = (From, Vec<Expr>);

impl Generator<'_> {
    /// Some relations, joined; `most` at most.
    pub fn from(&mut self, most: usize, outer: &[Expr], depth: usize) -> Made {
        let count = self.draw.weighted(&[(9, 1), (8, 2), (3, 3)]).min(most);
        if count > 1 && self.draw.chance(22) {
            return self.merging_joins(count);
        }
        let mut made = self.relation(depth);
        for _ in 1..count {
            let right = self.relation(depth);
            made = self.join(made, right, outer, depth);
        }
        made
    }

    fn relation(&mut self, depth: usize) -> Made {
        if !self.with.is_empty() && self.draw.chance(45) {
            let relation = self.draw.pick(&self.with).clone();
            return self.named_relation(&relation, 'y');
        }
        if depth > 0 && self.draw.chance(25) {
            let width = self.draw.between(1, 3);
            let want = self.classes(width);
            // A derived table sees nothing of what stands beside it.
            let (query, kinds) = self.query(&want, &[], depth - 1);
            let alias = self.alias('q');
            let columns = named(&kinds)
                .iter()
                .map(|(name, kind)| Expr::column(&alias, name, *kind))
                .collect();
            return (From::Derived(Box::new(query), alias), columns);
        }
        let relation = self.table();
        self.named_relation(&relation, 'x')
    }

    fn table(&mut self) -> Relation {
        let table = self.draw.pick(&self.world.tables);
        let columns = table.columns.iter().map(|it| (it.name.clone(), it.kind)).collect();
        Relation { name: table.name.clone(), columns }
    }

    fn named_relation(&mut self, relation: &Relation, letter: char) -> Made {
        let alias = self.alias(letter);
        let columns =
            relation.columns.iter().map(|(name, kind)| Expr::column(&alias, name, *kind)).collect();
        (From::Table(relation.name.clone(), alias), columns)
    }

    fn join(&mut self, left: Made, right: Made, outer: &[Expr], depth: usize) -> Made {
        let kinds =
            [(5, "JOIN"), (5, "LEFT JOIN"), (3, "RIGHT JOIN"), (3, "FULL JOIN"), (1, "CROSS JOIN")];
        let mut kind = self.draw.weighted(&kinds);
        let partners: Vec<(Expr, Expr)> = pairs(&left.1, &right.1);
        if kind == "FULL JOIN" && partners.is_empty() {
            kind = "LEFT JOIN";
        }
        let mut visible = left.1;
        visible.extend(right.1);
        let on = if kind == "CROSS JOIN" {
            On::Nothing
        } else {
            let equal = (!partners.is_empty() && (kind == "FULL JOIN" || self.draw.chance(85)))
                .then(|| self.draw.pick(&partners).clone())
                .map(|(left, right)| Expr::infix("=", Kind::Boolean, left, right));
            let scope = Scope { leaves: visible.clone(), rows: None, outer: outer.to_vec() };
            let more = (equal.is_none() || self.draw.chance(25))
                .then(|| self.predicate(&scope, depth.min(1)));
            On::Condition(match (equal, more) {
                (Some(equal), Some(more)) => Expr::infix("AND", Kind::Boolean, equal, more),
                (equal, more) => {
                    equal.or(more).expect("invariant: without the one there is the other")
                }
            })
        };
        let (left, right) = (Box::new(left.0), Box::new(right.0));
        (From::Join { kind, left, right, on }, visible)
    }

    /// Tables joined by equal names. All joins of a chain name the same columns, so that no name is in doubt.
    fn merging_joins(&mut self, count: usize) -> Made {
        let tables: Vec<Relation> = (0..count).map(|_| self.table()).collect();
        let common: Vec<(String, Kind)> = tables[0]
            .columns
            .iter()
            .filter(|(name, _)| tables.iter().all(|it| has(it, name)))
            .cloned()
            .collect();
        // Three tables may have names in pairs that all three do not share, which NATURAL would merge as well.
        let natural = count == 2 && self.draw.chance(40);
        let merged: Vec<(String, Kind)> = if natural {
            common
        } else {
            let share = self.draw.between(30, 100);
            let kept = common.iter().filter(|_| self.draw.chance(share)).cloned().collect();
            if common.is_empty() { kept } else { [kept, vec![common[0].clone()]].concat() }
        };
        let mut merged = merged;
        merged.sort();
        merged.dedup();
        let using: Vec<String> = merged.iter().map(|it| it.0.clone()).collect();
        let mut visible: Vec<Expr> = merged
            .iter()
            .map(|(name, kind)| {
                let form = Form::Column { from: None, name: name.clone() };
                let widest = tables.iter().filter_map(|it| kind_of(it, name)).max();
                Expr::new(form, widest.unwrap_or(*kind), Vec::new())
            })
            .collect();
        // What was merged is named often: it is what these joins are for.
        visible.extend(visible.clone());
        let mut made: Option<From> = None;
        for table in &tables {
            let (right, columns) = self.named_relation(table, 'x');
            visible.extend(columns);
            made = Some(match made {
                None => right,
                Some(left) => {
                    let kind = *self.draw.pick(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]);
                    let on = if natural {
                        On::Natural
                    } else if using.is_empty() {
                        On::Condition(Expr::literal("TRUE", Kind::Boolean))
                    } else {
                        On::Using(using.clone())
                    };
                    From::Join { kind, left: Box::new(left), right: Box::new(right), on }
                }
            });
        }
        (made.expect("invariant: there are two tables or more"), visible)
    }
}

fn has(relation: &Relation, name: &str) -> bool {
    kind_of(relation, name).is_some()
}

fn kind_of(relation: &Relation, name: &str) -> Option<Kind> {
    relation.columns.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Columns of two sides that compare without a cast.
fn pairs(left: &[Expr], right: &[Expr]) -> Vec<(Expr, Expr)> {
    let mut pairs = Vec::new();
    for one in left {
        for other in right {
            if one.kind.class() == other.kind.class() {
                pairs.push((one.clone(), other.clone()));
            }
        }
    }
    pairs
}
