//! Expressions of a wanted class: what all classes share.

use crate::ast::{Expr, Form};
use crate::generate::data;
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

impl Generator<'_> {
    /// An expression of a class; deeper ones are larger.
    pub fn expr(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        if depth == 0 || self.draw.chance(35) {
            return self.leaf(class, scope);
        }
        if scope.rows.is_some() && self.draw.chance(55) {
            return self.aggregate(class, scope, depth);
        }
        if self.draw.chance(28) {
            return self.choice(class, scope, depth - 1);
        }
        if self.subqueries > 0 && self.draw.chance(16) {
            return self.scalar_subquery(class, scope, depth - 1);
        }
        match class {
            Class::Integer => self.integer(scope, depth - 1),
            Class::Float => self.float(scope, depth - 1),
            Class::Decimal => self.decimal(scope, depth - 1),
            Class::Boolean => self.predicate(scope, depth),
            Class::Date => self.date(scope, depth - 1),
            Class::Timestamp => self.timestamp(scope, depth - 1),
            Class::Moment => self.moment(scope, depth - 1),
            Class::Time => self.time(scope, depth - 1),
            Class::Interval => self.interval(scope, depth - 1),
            Class::Uuid => self.uuid(scope, depth - 1),
            Class::Bytes => self.bytes(scope, depth - 1),
            Class::Clock => self.clock(scope, depth - 1),
            Class::Bits => self.bits(scope, depth - 1),
            Class::Text => self.text(scope, depth - 1),
        }
    }

    /// A class that the place has columns of.
    pub fn class_in(&mut self, scope: &Scope) -> Class {
        if scope.leaves.is_empty() || self.draw.chance(10) {
            return self.classes(1)[0];
        }
        self.draw.pick(&scope.leaves).kind.class()
    }

    /// A column, an aggregate of a grouped query, or a constant.
    fn leaf(&mut self, class: Class, scope: &Scope) -> Expr {
        let own = scope.of_class(class);
        if !own.is_empty() && self.draw.chance(78) {
            return self.draw.pick(&own).clone();
        }
        if scope.rows.is_some() && self.draw.chance(60) {
            return self.aggregate(class, scope, 0);
        }
        let around: Vec<Expr> =
            scope.outer.iter().filter(|it| it.kind.class() == class).cloned().collect();
        if !around.is_empty() && self.draw.chance(60) {
            return self.draw.pick(&around).clone();
        }
        self.constant(class)
    }

    /// A constant, now and then NULL.
    pub fn constant(&mut self, class: Class) -> Expr {
        let kind = self.kind_of(class);
        if self.draw.chance(8) {
            return Expr::null(kind).cast(kind);
        }
        if class == Class::Decimal && self.draw.chance(8) {
            let text = *self.draw.pick(&["1e2", "25e-1", "1e3", "0.001", "1.50", "100000.0"]);
            return Expr::literal(text, kind);
        }
        let edges = if self.draw.chance(10) { 40 } else { 0 };
        let text = data::constant(&mut self.draw, kind, edges);
        // An integer's type follows from its size alone.
        let kind = match kind {
            Kind::SmallInt if text.len() < 10 => Kind::Integer,
            Kind::Varchar(_) | Kind::Char(_) => Kind::Text,
            kind => kind,
        };
        Expr::literal(text, kind)
    }

    /// CASE, COALESCE, NULLIF, GREATEST, LEAST: forms that every class has.
    fn choice(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(6, 0), (4, 1), (3, 2), (2, 3), (2, 4)]) {
            0 => self.case(class, scope, depth),
            1 => {
                let parts = self.several(class, scope, depth);
                call("coalesce", parts)
            }
            2 => {
                let parts = vec![self.expr(class, scope, depth), self.expr(class, scope, 0)];
                Expr::new(Form::Call("nullif"), parts[0].kind, parts)
            }
            3 if class != Class::Boolean => {
                let parts = self.several(class, scope, depth);
                let name = if self.draw.chance(50) { "greatest" } else { "least" };
                call(name, parts)
            }
            _ => {
                let inner = self.expr(class, scope, depth);
                self.cast_within(class, inner)
            }
        }
    }

    /// A cast to a type of the same class.
    fn cast_within(&mut self, class: Class, inner: Expr) -> Expr {
        let kind = self.kind_of(class);
        let colons = self.draw.chance(35);
        Expr::new(Form::Cast { colons }, kind, vec![inner])
    }

    fn several(&mut self, class: Class, scope: &Scope, depth: usize) -> Vec<Expr> {
        (0..self.draw.between(2, 3)).map(|_| self.branch(class, scope, depth)).collect()
    }

    /// An expression whose type may be another numeric one where PostgreSQL finds a common type.
    fn branch(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        let class = match class {
            Class::Decimal if self.draw.chance(25) => Class::Integer,
            class => class,
        };
        self.expr(class, scope, depth)
    }

    fn case(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        let operand = self.draw.chance(25);
        let mut parts = Vec::new();
        let of = self.class_in(scope);
        if operand {
            parts.push(self.expr(of, scope, depth));
        }
        for _ in 0..self.draw.between(1, 2) {
            parts.push(if operand {
                self.expr(of, scope, 0)
            } else {
                self.predicate(scope, depth)
            });
            parts.push(self.branch(class, scope, depth));
        }
        let otherwise = self.draw.chance(70);
        if otherwise {
            let null = self.draw.chance(12);
            parts.push(if null {
                Expr::null(class.kind())
            } else {
                self.expr(class, scope, depth)
            });
        }
        let first = usize::from(operand) + 1;
        let mut kind = parts[first].kind;
        let arms = parts.len() - usize::from(otherwise);
        let mut results: Vec<Kind> = (first..arms).step_by(2).map(|at| parts[at].kind).collect();
        results.extend(otherwise.then(|| parts[arms].kind));
        for other in results {
            kind = kind.max(other);
        }
        Expr::new(Form::Case { operand, otherwise }, kind, parts)
    }
}

/// A call whose type is the widest of its parts'.
pub fn call(name: &'static str, parts: Vec<Expr>) -> Expr {
    let kind = parts.iter().map(|it| it.kind).max().unwrap_or(Kind::Integer);
    Expr::new(Form::Call(name), kind, parts)
}
