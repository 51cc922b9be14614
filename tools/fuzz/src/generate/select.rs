//! Selects: plain ones, grouped ones, and those whose aggregates are over all rows.

use crate::ast::{By, Expr, Item, Select};
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

/// How the rows of a select come about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Plain,
    Grouped,
    /// Aggregates without keys: always one row, unless HAVING drops it.
    Total,
}

impl Generator<'_> {
    /// A select with columns of the wanted classes, and what a key of an order may name.
    pub fn select(
        &mut self,
        want: &[Class],
        outer: &[Expr],
        depth: usize,
    ) -> (Select, Vec<Kind>, Scope) {
        let shape =
            self.draw.weighted(&[(12, Shape::Plain), (6, Shape::Grouped), (3, Shape::Total)]);
        self.select_of(shape, want, outer, depth)
    }

    /// [`Self::select`] of one shape.
    pub fn select_of(
        &mut self,
        shape: Shape,
        want: &[Class],
        outer: &[Expr],
        depth: usize,
    ) -> (Select, Vec<Kind>, Scope) {
        let mut select = Select::default();
        let mut columns = Vec::new();
        if shape != Shape::Plain || self.draw.chance(96) {
            let most = if outer.is_empty() { 3 } else { 2 };
            let (from, visible) = self.from(most, outer, depth);
            select.from = Some(from);
            columns = visible;
        }
        let rows = Scope { leaves: columns.clone(), rows: None, outer: outer.to_vec() };
        let correlated = self.correlation(&columns, outer);
        let plain = self.draw.chance(55).then(|| self.predicate(&rows, depth));
        select.filter = match (correlated, plain) {
            (Some(one), Some(other)) => Some(Expr::infix("AND", Kind::Boolean, one, other)),
            (one, other) => one.or(other),
        };
        let scope = match shape {
            Shape::Plain => rows,
            Shape::Total => {
                Scope { leaves: Vec::new(), rows: Some(columns), outer: outer.to_vec() }
            }
            Shape::Grouped => {
                let keys = self.keys(&rows, depth);
                select.group = keys.iter().cloned().map(By::Expr).collect();
                // What PostgreSQL makes of a constant that is a key of sets depends on the rest of the plan.
                if !keys.iter().any(Expr::may_fold) {
                    select.sets =
                        self.draw.weighted(&[(5, None), (1, Some("ROLLUP")), (1, Some("CUBE"))]);
                }
                Scope { leaves: keys, rows: Some(columns), outer: outer.to_vec() }
            }
        };
        let mut kinds = Vec::new();
        for (at, &class) in want.iter().enumerate() {
            let expr = match self.draw.chance(9) {
                true => self.window(class, &scope, depth),
                false => self.expr(class, &scope, depth),
            };
            kinds.push(expr.kind);
            select.items.push(Item::Named(expr, format!("o{at}")));
        }
        if shape != Shape::Plain && self.draw.chance(if shape == Shape::Total { 20 } else { 30 }) {
            select.having = Some(self.predicate(&scope, depth));
        }
        if shape == Shape::Total && select.having.is_none() && !aggregates(&select) {
            // Without any aggregate it would be a plain select.
            let count = Expr::infix(
                ">=",
                Kind::Boolean,
                self.aggregate(Class::Integer, &scope, 0),
                Expr::literal("0", Kind::Integer),
            );
            select.having = Some(count);
        }
        self.by_position(&mut select);
        select.distinct = self.draw.chance(12);
        (select, kinds, scope)
    }

    /// Keys to group by: columns, computed ones, constants, and now and then one twice.
    fn keys(&mut self, rows: &Scope, depth: usize) -> Vec<Expr> {
        let mut keys = Vec::new();
        for _ in 0..self.draw.between(1, 3) {
            let class = self.class_in(rows);
            let leaves = rows.of_class(class);
            let key = if !leaves.is_empty() && self.draw.chance(65) {
                self.draw.pick(&leaves).clone()
            } else {
                self.expr(class, rows, depth.min(1))
            };
            if !key.is_constant() {
                keys.push(key);
            }
        }
        if !keys.is_empty() && self.draw.chance(18) {
            let again = self.draw.pick(&keys).clone();
            keys.push(again);
        }
        if keys.is_empty() {
            // A constant is a key only behind a cast.
            keys.push(Expr::literal("1", Kind::Integer).cast(Kind::Integer));
        }
        keys
    }

    /// Names some keys by the position of an output column that is the same.
    fn by_position(&mut self, select: &mut Select) {
        for by in &mut select.group {
            let same = |item: &Item| matches!((item, &*by), (Item::Named(one, _), By::Expr(other)) if one == other);
            if let Some(at) = select.items.iter().position(same)
                && self.draw.chance(20)
            {
                *by = By::Position(at + 1);
            }
        }
    }

    /// A condition between the columns of a subquery and those around it.
    fn correlation(&mut self, own: &[Expr], outer: &[Expr]) -> Option<Expr> {
        if outer.is_empty() || !self.draw.chance(70) {
            return None;
        }
        let mut pairs = Vec::new();
        for one in own {
            for other in outer.iter().filter(|it| it.kind.class() == one.kind.class()) {
                pairs.push((one.clone(), other.clone()));
            }
        }
        if pairs.is_empty() {
            return None;
        }
        let (one, other) = self.draw.pick(&pairs).clone();
        let operator = self.draw.weighted(&[
            (14, "="),
            (2, "<"),
            (2, ">="),
            (1, "<>"),
            (2, "IS NOT DISTINCT FROM"),
            (1, "IS DISTINCT FROM"),
        ]);
        Some(Expr::infix(operator, Kind::Boolean, one, other))
    }
}

/// Whether a select's output has an aggregate of its own.
fn aggregates(select: &Select) -> bool {
    fn own(expr: &Expr) -> bool {
        matches!(expr.form, crate::ast::Form::Aggregate { .. }) || expr.parts.iter().any(own)
    }
    select.items.iter().any(|item| matches!(item, Item::Named(expr, _) if own(expr)))
}
