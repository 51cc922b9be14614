//! Dates, timestamps and texts.

use crate::ast::{Expr, Form};
use crate::generate::expression::call;
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

impl Generator<'_> {
    /// A date that is computed.
    pub fn date(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(6, 0), (3, 1), (1, 2)]) {
            0 => {
                let operator = if self.draw.chance(50) { "+" } else { "-" };
                let left = self.expr(Class::Date, scope, depth);
                let days = if self.draw.chance(70) {
                    Expr::literal(*self.draw.pick(&["1", "30", "0", "365"]), Kind::Integer)
                } else {
                    // Only INTEGER counts days; a larger number would not.
                    self.expr(Class::Integer, scope, depth.min(1)).cast(Kind::Integer)
                };
                Expr::infix(operator, Kind::Date, left, days)
            }
            1 => self.expr(Class::Timestamp, scope, depth).cast(Kind::Date),
            _ => Expr::literal("'2024-02-29'", Kind::Text).cast(Kind::Date),
        }
    }

    /// A timestamp that is computed.
    pub fn timestamp(&mut self, scope: &Scope, depth: usize) -> Expr {
        let moments = usize::from(self.kinds.contains(&Kind::TimestampTz));
        match self.draw.weighted(&[(5, 0), (2, 1), (2, 2), (2 * moments, 3), (1, 4)]) {
            0 => {
                let class = if self.draw.chance(60) { Class::Date } else { Class::Timestamp };
                let left = self.expr(class, scope, depth);
                self.moved(Kind::Timestamp, left)
            }
            1 => self.expr(Class::Date, scope, depth).cast(Kind::Timestamp),
            2 => {
                let unit = *self.draw.pick(&["'year'", "'quarter'", "'month'", "'day'", "'hour'"]);
                let part = self.expr(Class::Timestamp, scope, depth);
                let unit = Expr::literal(unit, Kind::Text);
                Expr::new(Form::Call("date_trunc"), Kind::Timestamp, vec![unit, part])
            }
            3 => {
                let part = self.expr(Class::Moment, scope, depth);
                Expr::infix("AT TIME ZONE", Kind::Timestamp, part, self.zone())
            }
            _ => Expr::literal("'2024-02-29 12:30:00'", Kind::Text).cast(Kind::Timestamp),
        }
    }

    /// A text that is computed.
    pub fn text(&mut self, scope: &Scope, depth: usize) -> Expr {
        match self.draw.weighted(&[(4, 0), (4, 1), (3, 2), (4, 3), (2, 4), (2, 5)]) {
            0 => {
                let name = *self.draw.pick(&["upper", "lower", "trim", "ltrim", "rtrim"]);
                let part = self.expr(Class::Text, scope, depth);
                Expr::new(Form::Call(name), Kind::Text, vec![part])
            }
            1 => {
                let left = self.expr(Class::Text, scope, depth);
                let right = self.expr(Class::Text, scope, depth.min(1));
                Expr::infix("||", Kind::Text, left, right)
            }
            2 => {
                let part = self.expr(Class::Text, scope, depth);
                let from = Expr::literal(*self.draw.pick(&["1", "2", "0"]), Kind::Integer);
                let count = Expr::literal(*self.draw.pick(&["1", "2", "0"]), Kind::Integer);
                Expr::new(Form::Call("substr"), Kind::Text, vec![part, from, count])
            }
            3 => self.printed(scope, depth),
            4 => {
                let kind = if self.draw.chance(50) { Kind::Varchar(2) } else { Kind::Char(3) };
                let kind =
                    if self.kinds.contains(&Kind::Char(4)) { kind } else { Kind::Varchar(2) };
                self.expr(Class::Text, scope, depth).cast(kind)
            }
            _ => {
                let part = self.expr(Class::Text, scope, depth);
                let from = Expr::literal("'b'", Kind::Text);
                let to = Expr::literal(*self.draw.pick(&["'x'", "''", "'bb'"]), Kind::Text);
                let mut made = call("replace", vec![part, from, to]);
                made.kind = Kind::Text;
                made
            }
        }
    }

    /// A value of another class as text. How many places a computed decimal shows is not compared, so only decimals of
    /// a known scale are printed.
    fn printed(&mut self, scope: &Scope, depth: usize) -> Expr {
        let class = self.draw.weighted(&[
            (4, Class::Integer),
            (2, Class::Boolean),
            (2, Class::Date),
            (2, Class::Timestamp),
            (2, Class::Decimal),
            (1, Class::Moment),
            (1, Class::Time),
            (1, Class::Uuid),
            (1, Class::Bytes),
            (1, Class::Clock),
            (1, Class::Bits),
        ]);
        // A type that the tables have not is not there.
        let class =
            if self.kinds.iter().any(|it| it.class() == class) { class } else { Class::Date };
        let part = if class == Class::Decimal {
            let kind = self.kind_of(class);
            self.expr(class, scope, depth).cast(kind)
        } else {
            self.expr(class, scope, depth)
        };
        let kind = *self.draw.pick(&[Kind::Text, Kind::Text, Kind::Varchar(20)]);
        part.cast(kind)
    }
}
