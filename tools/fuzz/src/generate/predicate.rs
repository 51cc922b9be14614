//! Conditions, with all that NULL does to them.

use crate::ast::{Expr, Form};
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

/// What LIKE compares with.
const PATTERNS: &[&str] =
    &["'a%'", "'%b'", "'_b%'", "'ab'", "'%'", "''", "'_'", "'%a%b%'", "'a\\%'", "'\\_b'"];

impl Generator<'_> {
    /// A condition.
    pub fn predicate(&mut self, scope: &Scope, depth: usize) -> Expr {
        let deep = usize::from(depth > 0);
        let asks = usize::from(self.subqueries > 0 && depth > 0);
        let form = self.draw.weighted(&[
            (30, 0),
            (18 * deep, 1),
            (8 * deep, 2),
            (6, 3),
            (9, 4),
            (5, 5),
            (5, 6),
            (5, 7),
            (6, 8),
            (16 * asks, 9),
            (4, 10),
        ]);
        let below = depth.saturating_sub(1);
        match form {
            0 => self.comparison(scope, below),
            1 => {
                let operator = if self.draw.chance(50) { "AND" } else { "OR" };
                let left = self.predicate(scope, below);
                let right = self.predicate(scope, below);
                Expr::infix(operator, Kind::Boolean, left, right)
            }
            2 => self.predicate(scope, below).negated(),
            3 => {
                let operator = *self.draw.pick(&["IS NULL", "IS NOT NULL"]);
                let class = self.class_in(scope);
                Expr::postfix(operator, self.expr(class, scope, below))
            }
            4 => self.list(scope, below),
            5 => self.between(scope, below),
            6 => {
                let operator = *self.draw.pick(&["LIKE", "LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"]);
                let pattern = Expr::literal(self.pattern(), Kind::Text);
                let text = self.expr(Class::Text, scope, below);
                Expr::infix(operator, Kind::Boolean, text, pattern)
            }
            7 => {
                let operator = *self.draw.pick(&["IS DISTINCT FROM", "IS NOT DISTINCT FROM"]);
                let class = self.class_in(scope);
                let left = self.expr(class, scope, below);
                Expr::infix(operator, Kind::Boolean, left, self.expr_or_null(class, scope, below))
            }
            8 => {
                let operator = *self.draw.pick(&[
                    "IS TRUE",
                    "IS NOT TRUE",
                    "IS FALSE",
                    "IS NOT FALSE",
                    "IS UNKNOWN",
                    "IS NOT UNKNOWN",
                ]);
                Expr::postfix(operator, self.predicate(scope, below))
            }
            9 => self.condition_with_subquery(scope, below),
            _ => {
                let own = scope.of_class(Class::Boolean);
                if own.is_empty() {
                    Expr::literal(*self.draw.pick(&["TRUE", "FALSE"]), Kind::Boolean)
                } else {
                    self.draw.pick(&own).clone()
                }
            }
        }
    }

    /// A pattern, or ANY or ALL of an array of some, or of none.
    fn pattern(&mut self) -> String {
        if self.draw.chance(75) {
            return (*self.draw.pick(PATTERNS)).to_owned();
        }
        let count = self.draw.below(4);
        let some = (0..count).map(|_| match self.draw.chance(15) {
            true => "NULL".to_owned(),
            false => (*self.draw.pick(PATTERNS)).to_owned(),
        });
        let some: Vec<String> = some.collect();
        let which = if self.draw.chance(50) { "ANY" } else { "ALL" };
        format!("{which} (ARRAY[{}]::TEXT[])", some.join(", "))
    }

    fn comparison(&mut self, scope: &Scope, depth: usize) -> Expr {
        let class = self.class_in(scope);
        let operator = *self.draw.pick(&["=", "=", "=", "<", "<=", ">", ">=", "<>"]);
        let other = self.comparable(class);
        let left = self.expr(class, scope, depth);
        let right = self.expr(other, scope, depth.min(1));
        Expr::infix(operator, Kind::Boolean, left, right)
    }

    /// A class that compares with another: numbers with numbers, dates with timestamps.
    fn comparable(&mut self, class: Class) -> Class {
        if !self.draw.chance(15) {
            return class;
        }
        match class {
            Class::Date => Class::Timestamp,
            Class::Timestamp => Class::Date,
            class if class.numeric() => {
                *self.draw.pick(&[Class::Integer, Class::Decimal, Class::Float])
            }
            class => class,
        }
    }

    fn expr_or_null(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        if self.draw.chance(15) { Expr::null(class.kind()) } else { self.expr(class, scope, depth) }
    }

    /// `IN (..)` and `NOT IN (..)`, often with a NULL in the list.
    fn list(&mut self, scope: &Scope, depth: usize) -> Expr {
        let class = self.class_in(scope);
        let mut parts = vec![self.expr(class, scope, depth)];
        for _ in 0..self.draw.between(1, 4) {
            let constant = self.draw.chance(75);
            let member =
                if constant { self.constant(class) } else { self.expr(class, scope, depth.min(1)) };
            parts.push(member);
        }
        if self.draw.chance(20) {
            parts.push(Expr::null(class.kind()));
        }
        let negated = self.draw.chance(45);
        Expr::new(Form::In { negated }, Kind::Boolean, parts)
    }

    fn between(&mut self, scope: &Scope, depth: usize) -> Expr {
        let class = self.class_in(scope);
        let other = self.comparable(class);
        let parts = vec![
            self.expr(class, scope, depth),
            self.expr(other, scope, 0),
            self.expr_or_null(class, scope, 0),
        ];
        let negated = self.draw.chance(35);
        Expr::new(Form::Between { negated }, Kind::Boolean, parts)
    }
}
