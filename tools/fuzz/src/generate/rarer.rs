//! Moments, times of day, intervals, UUIDs, bytes and bits.
//!
//! Key decision: what an interval does to a point of time follows from its months, days and time, and equal intervals may
//! have others; so only constants are added to points of time.

use crate::ast::{Expr, Form};
use crate::generate::expression::call;
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

impl Generator<'_> {
    /// A moment that is computed.
    pub fn moment(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(5, 0), (2, 1), (2, 2), (2, 3)]) {
            0 => {
                let left = self.expr(Class::Moment, scope, depth);
                self.moved(Kind::TimestampTz, left)
            }
            1 => {
                let class = if self.draw.chance(50) { Class::Date } else { Class::Timestamp };
                self.expr(class, scope, depth).cast(Kind::TimestampTz)
            }
            2 => {
                let unit = *self.draw.pick(&["'year'", "'month'", "'week'", "'day'", "'hour'"]);
                let part = self.expr(Class::Moment, scope, depth);
                let unit = Expr::literal(unit, Kind::Text);
                Expr::new(Form::Call("date_trunc"), Kind::TimestampTz, vec![unit, part])
            }
            _ => {
                let part = self.expr(Class::Timestamp, scope, depth);
                Expr::infix("AT TIME ZONE", Kind::TimestampTz, part, self.zone())
            }
        }
    }

    /// The name of a zone whose clocks are turned, or not.
    pub fn zone(&mut self) -> Expr {
        let zone = *self.draw.pick(&["'UTC'", "'Europe/Berlin'", "'America/New_York'", "'+03'"]);
        Expr::literal(zone, Kind::Text)
    }

    /// A point of time or a time of day, moved by a constant interval.
    pub fn moved(&mut self, kind: Kind, left: Expr) -> Expr {
        let operator = if self.draw.chance(50) { "+" } else { "-" };
        let span = *self.draw.pick(&[
            "1 day",
            "36 hours",
            "1 month",
            "2 years",
            "90 minutes",
            "1 month 3 days",
            "-1 day",
            "0.5 seconds",
        ]);
        let span = Expr::literal(format!("INTERVAL '{span}'"), Kind::Interval);
        Expr::infix(operator, kind, left, span)
    }

    /// A time of day that is computed.
    pub fn time(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(3, 0), (2, 1)]) {
            0 => {
                let left = self.expr(Class::Time, scope, depth);
                self.moved(Kind::Time, left)
            }
            _ => self.expr(Class::Timestamp, scope, depth).cast(Kind::Time),
        }
    }

    /// An interval that is computed.
    pub fn interval(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(3, 0), (2, 1), (2, 2), (2, 3), (1, 4)]) {
            0 => {
                let operator = if self.draw.chance(50) { "+" } else { "-" };
                let left = self.expr(Class::Interval, scope, depth);
                let right = self.expr(Class::Interval, scope, depth.min(1));
                Expr::infix(operator, Kind::Interval, left, right)
            }
            1 => {
                let class = *self.draw.pick(&[Class::Timestamp, Class::Moment, Class::Time]);
                let left = self.expr(class, scope, depth);
                let right = self.expr(class, scope, 0);
                Expr::infix("-", Kind::Interval, left, right)
            }
            2 => {
                let part = self.expr(Class::Interval, scope, depth);
                let number = Expr::literal(*self.draw.pick(&["2", "0", "(-3)"]), Kind::Integer);
                Expr::infix("*", Kind::Interval, part, number)
            }
            3 => {
                let part = self.expr(Class::Interval, scope, depth);
                Expr::new(Form::Prefix("-"), Kind::Interval, vec![part])
            }
            _ => self.expr(Class::Time, scope, depth).cast(Kind::Interval),
        }
    }

    /// A UUID that is read from a text.
    pub fn uuid(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.chance(50) {
            true => self.expr(Class::Uuid, scope, depth).cast(Kind::Text).cast(Kind::Uuid),
            false => {
                Expr::literal("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", Kind::Text).cast(Kind::Uuid)
            }
        }
    }

    /// Bytes that are computed.
    pub fn bytes(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(4, 0), (2, 1), (2, 2)]) {
            0 => {
                let left = self.expr(Class::Bytes, scope, depth);
                let right = self.expr(Class::Bytes, scope, depth.min(1));
                Expr::infix("||", Kind::Bytea, left, right)
            }
            1 => {
                let part = self.expr(Class::Bytes, scope, depth);
                let from = Expr::literal(*self.draw.pick(&["1", "2", "0"]), Kind::Integer);
                let count = Expr::literal(*self.draw.pick(&["1", "2", "0"]), Kind::Integer);
                let mut made = call("substr", vec![part, from, count]);
                made.kind = Kind::Bytea;
                made
            }
            _ => {
                let part = self.expr(Class::Text, scope, depth);
                let encoding = Expr::literal("'UTF8'", Kind::Text);
                Expr::new(Form::Call("convert_to"), Kind::Bytea, vec![part, encoding])
            }
        }
    }

    /// A time of day in a zone that is computed.
    pub fn clock(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(3, 0), (2, 1), (2, 2)]) {
            0 => {
                let left = self.expr(Class::Clock, scope, depth);
                self.moved(Kind::TimeTz, left)
            }
            1 => self.expr(Class::Moment, scope, depth).cast(Kind::TimeTz),
            _ => {
                let part = self.expr(Class::Clock, scope, depth);
                let zone = Expr::literal(*self.draw.pick(&["'UTC'", "'+03'"]), Kind::Text);
                Expr::infix("AT TIME ZONE", Kind::TimeTz, part, zone)
            }
        }
    }

    /// Bits that are computed.
    pub fn bits(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(3, 0), (2, 1), (2, 2), (2, 3), (2, 4)]) {
            0 => {
                let left = self.expr(Class::Bits, scope, depth);
                let right = self.expr(Class::Bits, scope, depth.min(1));
                Expr::infix("||", Kind::Varbit(12), left, right)
            }
            1 => {
                let left = self.expr(Class::Bits, scope, depth);
                let places = Expr::literal(*self.draw.pick(&["1", "0", "3"]), Kind::Integer);
                Expr::infix(
                    if self.draw.chance(50) { "<<" } else { ">>" },
                    Kind::Bit(4),
                    left,
                    places,
                )
            }
            2 => {
                let part = self.expr(Class::Bits, scope, depth);
                Expr::new(Form::Prefix("~"), Kind::Bit(4), vec![part])
            }
            3 => {
                let part = self.expr(Class::Bits, scope, depth);
                let from = Expr::literal(*self.draw.pick(&["1", "2", "0"]), Kind::Integer);
                let count = Expr::literal(*self.draw.pick(&["1", "2", "0"]), Kind::Integer);
                let mut made = call("substring", vec![part, from, count]);
                made.kind = Kind::Varbit(12);
                made
            }
            _ => {
                let kind = *self.draw.pick(&[Kind::Bit(4), Kind::Varbit(12)]);
                self.expr(Class::Bits, scope, depth).cast(kind)
            }
        }
    }
}
