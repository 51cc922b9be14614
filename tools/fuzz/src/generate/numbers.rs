//! Integers, decimals and floats.

use crate::ast::{Expr, Form};
use crate::generate::expression::call;
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

impl Generator<'_> {
    /// An integer that is computed.
    pub fn integer(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(8, 0), (3, 1), (2, 2), (2, 3), (2, 4), (2, 5), (2, 6), (2, 7)])
        {
            0 => self.arithmetic(Class::Integer, scope, depth),
            1 => self.quotient(Class::Integer, scope, depth),
            2 => {
                let part = self.expr(Class::Integer, scope, depth);
                Expr::new(Form::Prefix("-"), part.kind, vec![part])
            }
            3 => call("abs", vec![self.expr(Class::Integer, scope, depth)]),
            4 => {
                // A boolean or a number with a fraction becomes an integer; fractions are rounded.
                let (class, kind) = match self.draw.below(4) {
                    0 => (Class::Boolean, Kind::Integer),
                    1 => (Class::Float, self.kind_of(Class::Integer)),
                    _ => (Class::Decimal, self.kind_of(Class::Integer)),
                };
                self.expr(class, scope, depth).cast(kind)
            }
            5 => {
                let left = self.expr(Class::Date, scope, depth);
                let right = self.expr(Class::Date, scope, 0);
                Expr::infix("-", Kind::Integer, left, right)
            }
            6 => {
                let part = self.expr(Class::Text, scope, depth);
                Expr::new(Form::Call("length"), Kind::Integer, vec![part])
            }
            _ => {
                let digits = *self.draw.pick(&["'12'", "'-3'", "' 7 '", "'0'"]);
                let kind = self.kind_of(Class::Integer);
                let part = if self.draw.chance(15) {
                    self.expr(Class::Text, scope, 0)
                } else {
                    Expr::literal(digits, Kind::Text)
                };
                part.cast(kind)
            }
        }
    }

    /// A decimal that is computed, with parts of several scales and of integers.
    pub fn decimal(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(8, 0), (4, 1), (4, 2), (4, 3), (2, 4), (2, 5), (1, 6)]) {
            0 => self.arithmetic(Class::Decimal, scope, depth),
            1 => self.quotient(Class::Decimal, scope, depth),
            2 => {
                let class = *self.draw.pick(&[Class::Integer, Class::Decimal, Class::Float]);
                let kind = self.kind_of(Class::Decimal);
                self.expr(class, scope, depth).cast(kind)
            }
            3 => {
                let name = *self.draw.pick(&["round", "round", "trunc"]);
                let places = *self.draw.pick(&["0", "1", "2", "3"]);
                let part = self.expr(Class::Decimal, scope, depth);
                let places = Expr::literal(places, Kind::Integer);
                Expr::new(Form::Call(name), part.kind, vec![part, places])
            }
            4 => {
                let name = *self.draw.pick(&["abs", "ceil", "floor", "round", "trunc"]);
                call(name, vec![self.expr(Class::Decimal, scope, depth)])
            }
            5 => {
                let date = self.draw.chance(60);
                let class = if date { Class::Date } else { Class::Timestamp };
                let field = *self.draw.pick(&["YEAR", "MONTH", "DAY", "DOW", "DOY", "QUARTER"]);
                let part = self.expr(class, scope, depth);
                Expr::new(Form::Extract(field), Kind::Decimal(18, 0), vec![part])
            }
            _ => {
                let part = self.expr(Class::Decimal, scope, depth);
                Expr::new(Form::Prefix("-"), part.kind, vec![part])
            }
        }
    }

    /// A float that is computed.
    pub fn float(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(6, 0), (2, 1), (4, 2), (2, 3)]) {
            0 => self.arithmetic(Class::Float, scope, depth),
            1 => self.quotient(Class::Float, scope, depth),
            2 => {
                let class = *self.draw.pick(&[Class::Integer, Class::Decimal, Class::Float]);
                let kind = self.kind_of(Class::Float);
                self.expr(class, scope, depth).cast(kind)
            }
            _ => {
                let name = *self.draw.pick(&["abs", "ceil", "floor", "round"]);
                let part = self.expr(Class::Float, scope, depth);
                Expr::new(Form::Call(name), Kind::Double, vec![part])
            }
        }
    }

    /// A sum, a difference or a product.
    fn arithmetic(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        let operator = self.draw.weighted(&[(5, "+"), (4, "-"), (3, "*")]);
        let left = self.expr(class, scope, depth);
        let right = if operator == "*" && class != Class::Float && !self.draw.chance(25) {
            // Products of products overflow, and then only that is tested.
            self.constant_of_no_edge(class)
        } else {
            let class = self.partner(class);
            self.expr(class, scope, depth.min(1))
        };
        let kind = left.kind.max(right.kind);
        if self.draw.chance(20) {
            return Expr::infix(operator, kind, right, left);
        }
        Expr::infix(operator, kind, left, right)
    }

    /// The class of the other side: integers mix with decimals and floats.
    fn partner(&mut self, class: Class) -> Class {
        if class != Class::Integer && self.draw.chance(30) { Class::Integer } else { class }
    }

    fn constant_of_no_edge(&mut self, class: Class) -> Expr {
        let kind = self.kind_of(class);
        let text = crate::generate::data::constant(&mut self.draw, kind, 0);
        let kind = if class == Class::Integer { Kind::Integer } else { kind };
        Expr::literal(text, kind)
    }

    /// A quotient or a rest, nearly always with a divisor that is not zero.
    fn quotient(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        let left = self.expr(class, scope, depth);
        let zero = || Expr::literal("0", Kind::Integer);
        let class_of_right = self.partner(class);
        let right = match self.draw.below(20) {
            0 => self.expr(class_of_right, scope, depth.min(1)),
            1..=8 => {
                let right = self.expr(class_of_right, scope, depth.min(1));
                Expr::new(Form::Call("nullif"), right.kind, vec![right, zero()])
            }
            _ if class == Class::Decimal => {
                let text = *self.draw.pick(&["2", "3", "2.0", "0.5", "7.25", "(-4)", "100000.0"]);
                Expr::literal(text, Kind::Decimal(7, 2))
            }
            _ => Expr::literal(*self.draw.pick(&["2", "3", "(-2)", "7"]), Kind::Integer),
        };
        let kind = left.kind.max(right.kind);
        let rest = class != Class::Float && self.draw.chance(30);
        Expr::infix(if rest { "%" } else { "/" }, kind, left, right)
    }
}
