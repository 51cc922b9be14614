//! Subqueries: scalar ones in all their forms, EXISTS, IN, ANY and ALL; most name columns of the queries around them.

use crate::ast::{Body, By, Expr, Form, Item, Key, Query, Select};
use crate::generate::select::Shape;
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

impl Generator<'_> {
    /// A subquery of one column and at most one row.
    pub fn scalar_subquery(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        self.subqueries = self.subqueries.saturating_sub(1);
        let outer = scope.for_subquery();
        let (query, kind) = match self.draw.weighted(&[(10, 0), (3, 1), (2, 2), (2, 3), (1, 4)]) {
            0 => self.total(class, &outer, depth),
            1 => {
                let (select, kinds, _) = self.select_of(Shape::Plain, &[class], &outer, depth);
                let mut query = Query::of(select);
                let descending = self.draw.chance(50);
                query.order = vec![Key { by: By::Position(1), descending, nulls_first: None }];
                query.limit = Some(1);
                (query, kinds[0])
            }
            2 => {
                // Nothing to read: one row.
                let plain = Scope { leaves: Vec::new(), rows: None, outer };
                let expr = self.expr(class, &plain, depth);
                let kind = expr.kind;
                let items = vec![Item::Named(expr, "o0".to_owned())];
                let filter = self.draw.chance(40).then(|| self.predicate(&plain, 0));
                (Query::of(Select { items, filter, ..Select::default() }), kind)
            }
            3 => {
                // An aggregate in HAVING alone still makes one row of all.
                let (mut query, kind) = self.total(class, &outer, depth);
                if let Body::Select(select) = &mut query.body {
                    let expr = self.constant(class);
                    let count = Form::Aggregate { name: "count", distinct: false, filter: false };
                    let count = Expr::new(count, Kind::BigInt, Vec::new());
                    let operator = *self.draw.pick(&["=", ">", ">="]);
                    let zero = Expr::literal("0", Kind::Integer);
                    select.having = Some(Expr::infix(operator, Kind::Boolean, count, zero));
                    select.items = vec![Item::Named(expr, "o0".to_owned())];
                }
                (query, kind)
            }
            _ => {
                let (select, kinds, _) = self.select_of(Shape::Plain, &[class], &outer, depth);
                (Query::of(select), kinds[0])
            }
        };
        Expr::of_query(Form::Scalar, kind, Vec::new(), query)
    }

    /// A subquery of aggregates over all rows.
    fn total(&mut self, class: Class, outer: &[Expr], depth: usize) -> (Query, Kind) {
        let (select, kinds, _) = self.select_of(Shape::Total, &[class], outer, depth);
        (Query::of(select), kinds[0])
    }

    /// A condition that asks a subquery.
    pub fn condition_with_subquery(&mut self, scope: &Scope, depth: usize) -> Expr {
        self.subqueries = self.subqueries.saturating_sub(1);
        let outer = scope.for_subquery();
        let form = self.draw.weighted(&[(10, 0), (10, 1), (5, 2), (5, 3)]);
        let negated = self.draw.chance(45);
        if form == 0 {
            let want = self.classes(1);
            let (mut query, _) = self.query(&want, &outer, depth);
            let star = self.draw.chance(30);
            if let Body::Select(select) = &mut query.body
                && star
                && select.group.is_empty()
                && select.from.is_some()
                && query.order.is_empty()
            {
                select.items = vec![Item::Star];
                select.having = None;
            }
            return Expr::of_query(Form::Exists { negated }, Kind::Boolean, Vec::new(), query);
        }
        let class = self.class_in(scope);
        let left = self.expr(class, scope, depth.min(1));
        if form == 3 {
            let subquery = self.scalar_subquery(class, scope, depth);
            let operator = *self.draw.pick(&["=", "<", ">=", "<>"]);
            return Expr::infix(operator, Kind::Boolean, left, subquery);
        }
        let (query, _) = self.query(&[class], &outer, depth);
        let form = if form == 1 {
            Form::InQuery { negated }
        } else {
            let operator = *self.draw.pick(&["=", "<>", "<", "<=", ">", ">="]);
            Form::Quantified { operator, all: self.draw.chance(50) }
        };
        Expr::of_query(form, Kind::Boolean, vec![left], query)
    }
}
