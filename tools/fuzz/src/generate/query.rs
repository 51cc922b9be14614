//! Whole queries: WITH, set operations, order and limit around selects.

use crate::ast::{Body, By, Expr, Form, From, Item, Key, Query, Select};
use crate::generate::select::Shape;
use crate::generate::state::{Generator, Relation, Scope};
use crate::kind::{Class, Kind};

/// A query and the types of its columns, which are named `o0`, `o1`, ..
pub type Typed = (Query, Vec<Kind>);

impl Generator<'_> {
    /// A query as a user would send it.
    pub fn statement(&mut self, depth: usize) -> Query {
        let width = self.draw.between(1, 4);
        let want = self.classes(width);
        let mut with = Vec::new();
        if depth > 0 && self.draw.chance(15) {
            for _ in 0..self.draw.between(1, 2) {
                with.push(self.common(depth - 1));
            }
        }
        let (mut query, _) = self.query(&want, &[], depth);
        // A query around the reader keeps its own WITH, where a side of a set operation had made one.
        with.append(&mut query.with);
        query.with = with;
        self.with.clear();
        query
    }

    /// A plain select with a condition: what the rules about conditions begin with.
    pub fn filtered(&mut self, depth: usize) -> Query {
        let width = self.draw.between(1, 3);
        let want = self.classes(width);
        let (mut select, _, scope) = self.select_of(Shape::Plain, &want, &[], depth);
        if select.filter.is_none() {
            select.filter = Some(self.predicate(&scope, depth));
        }
        if depth > 0 && self.draw.chance(20) {
            // A subquery that names nothing around it, where only truth counts.
            let class = self.class_in(&scope);
            let left = self.expr(class, &scope, 0);
            let (query, _) = self.query(&[class], &[], depth - 1);
            let form = Form::InQuery { negated: false };
            let member = Expr::of_query(form, Kind::Boolean, vec![left], query);
            let filter = select.filter.take();
            select.filter = filter.map(|it| Expr::infix("AND", Kind::Boolean, it, member));
        }
        Query::of(select)
    }

    /// So many classes of output columns, from what the tables have.
    pub fn classes(&mut self, count: usize) -> Vec<Class> {
        let known: Vec<Class> = Class::ALL
            .into_iter()
            .filter(|class| self.kinds.iter().any(|kind| kind.class() == *class))
            .collect();
        let favourite = |draw: &mut crate::draw::Draw| {
            if draw.chance(35) { Class::Integer } else { *draw.pick(&known) }
        };
        (0..count).map(|_| favourite(&mut self.draw)).collect()
    }

    /// A query of WITH, which can be read from now on.
    fn common(&mut self, depth: usize) -> (String, Query) {
        if self.draw.chance(20) {
            return self.recursive();
        }
        let width = self.draw.between(1, 3);
        let want = self.classes(width);
        let (query, kinds) = self.query(&want, &[], depth);
        let name = self.alias('w');
        self.with.push(Relation { name: name.clone(), columns: named(&kinds) });
        (name, query)
    }

    /// A query of WITH that counts on from what a table has, and ends.
    fn recursive(&mut self) -> (String, Query) {
        let (name, alias) = (self.alias('w'), self.alias('y'));
        let (from, visible) = self.from(1, &[], 0);
        let scope = Scope { leaves: visible, rows: None, outer: Vec::new() };
        let first = Select {
            items: vec![Item::Named(
                self.expr(Class::Integer, &scope, 0).cast(Kind::Integer),
                "o0".to_owned(),
            )],
            from: Some(from),
            filter: Some(self.predicate(&scope, 1)),
            ..Select::default()
        };
        let last = Expr::column(&alias, "o0", Kind::Integer);
        let step = *self.draw.pick(&["1", "2", "7"]);
        let next =
            Expr::infix("+", Kind::Integer, last.clone(), Expr::literal(step, Kind::Integer));
        let least = Expr::literal("(-4)", Kind::Integer);
        let most = Expr::literal("8", Kind::Integer);
        let between = Form::Between { negated: false };
        let more = Select {
            items: vec![Item::Named(next, "o0".to_owned())],
            from: Some(From::Table(name.clone(), alias)),
            filter: Some(Expr::new(between, Kind::Boolean, vec![last, least, most])),
            ..Select::default()
        };
        let (left, right) = (Box::new(Query::of(first)), Box::new(Query::of(more)));
        let all = self.draw.chance(50);
        let columns = named(&[Kind::Integer]);
        self.with.push(Relation { name: name.clone(), columns });
        (name, Query::of_body(Body::Set { operator: "UNION", all, left, right }))
    }

    /// A query with columns of the wanted classes, which may name columns of the queries around it.
    pub fn query(&mut self, want: &[Class], outer: &[Expr], depth: usize) -> Typed {
        if depth > 0 && self.draw.chance(18) {
            return self.set_operation(want, outer, depth - 1);
        }
        let (select, kinds, scope) = self.select(want, outer, depth);
        let distinct = select.distinct;
        let mut query = Query::of(select);
        self.order(&mut query, &kinds, (!distinct).then_some(&scope), depth);
        (query, kinds)
    }

    fn set_operation(&mut self, want: &[Class], outer: &[Expr], depth: usize) -> Typed {
        let operator = self.draw.weighted(&[(5, "UNION"), (3, "INTERSECT"), (3, "EXCEPT")]);
        let all = self.draw.chance(50);
        let (left, mut kinds) = self.query(want, outer, depth);
        let (right, others) = self.query(want, outer, depth.saturating_sub(1));
        for (kind, other) in kinds.iter_mut().zip(others) {
            *kind = (*kind).max(other);
        }
        let (left, right) = (Box::new(left), Box::new(right));
        let mut query = Query::of_body(Body::Set { operator, all, left, right });
        self.order(&mut query, &kinds, None, 0);
        (query, kinds)
    }

    /// An order by all columns, perhaps with a limit, or by anything that the scope has.
    fn order(&mut self, query: &mut Query, kinds: &[Kind], scope: Option<&Scope>, depth: usize) {
        match self.draw.below(10) {
            0..=2 => {
                let mut positions: Vec<usize> = (1..=kinds.len()).collect();
                let first = self.draw.below(positions.len());
                positions.swap(0, first);
                query.order = positions.into_iter().map(|at| self.key(By::Position(at))).collect();
                if self.draw.chance(50) {
                    query.limit = Some(self.draw.weighted(&[(1, 0), (4, 1), (4, 3), (2, 50)]));
                    query.offset = self.draw.chance(25).then_some(2);
                }
            }
            3 => {
                let Some(scope) = scope else { return };
                for _ in 0..self.draw.between(1, 2) {
                    let class = self.class_in(scope);
                    let by = self.expr(class, scope, depth);
                    if !by.is_constant() {
                        let key = self.key(By::Expr(by));
                        query.order.push(key);
                    }
                }
            }
            _ => {}
        }
    }

    fn key(&mut self, by: By) -> Key {
        let descending = self.draw.chance(40);
        let nulls_first = match self.draw.below(4) {
            0 => Some(true),
            1 => Some(false),
            _ => None,
        };
        Key { by, descending, nulls_first }
    }
}

/// Columns as queries name them.
pub fn named(kinds: &[Kind]) -> Vec<(String, Kind)> {
    kinds.iter().enumerate().map(|(at, &kind)| (format!("o{at}"), kind)).collect()
}
