//! Aggregates, with DISTINCT and FILTER.

use crate::ast::{Expr, Form};
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};
use crate::walk;

impl Generator<'_> {
    /// An aggregate of a class over the rows of a grouped query.
    pub fn aggregate(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        let rows = scope.of_rows();
        let below = depth.saturating_sub(1);
        let any = self.class_in(&rows);
        let (name, of) = match class {
            Class::Integer => self.draw.weighted(&[
                (4, ("count", None)),
                (3, ("count", Some(any))),
                (4, ("sum", Some(Class::Integer))),
                (2, ("min", Some(Class::Integer))),
                (2, ("max", Some(Class::Integer))),
                (1, ("bit_and", Some(Class::Integer))),
                (1, ("bit_or", Some(Class::Integer))),
                (1, ("bit_xor", Some(Class::Integer))),
                (1, ("regr_count", Some(Class::Integer))),
                (1, ("percentile_disc", Some(Class::Integer))),
            ]),
            Class::Decimal => self.draw.weighted(&[
                (4, ("sum", Some(Class::Decimal))),
                (3, ("avg", Some(Class::Decimal))),
                (3, ("avg", Some(Class::Integer))),
                (2, ("min", Some(class))),
                (2, ("max", Some(class))),
            ]),
            Class::Float => self.draw.weighted(&[
                (3, ("sum", Some(class))),
                (3, ("avg", Some(class))),
                (1, ("var_pop", Some(class))),
                (1, ("stddev", Some(class))),
                (1, ("percentile_cont", Some(class))),
                (2, ("min", Some(class))),
                (2, ("max", Some(class))),
            ]),
            Class::Boolean => {
                self.draw.weighted(&[(1, ("bool_and", Some(class))), (1, ("bool_or", Some(class)))])
            }
            // Neither least nor greatest UUIDs or bits are there in PostgreSQL 18.
            Class::Uuid => return self.uuid_of_rows(scope),
            Class::Bits => return self.bits_of_rows(scope),
            Class::Text | Class::Interval => self.ordered(class),
            _ => self.draw.weighted(&[(1, ("min", Some(class))), (1, ("max", Some(class)))]),
        };
        let mut parts: Vec<Expr> =
            of.map(|of| self.argument(of, &rows, below)).into_iter().collect();
        let kind = result_kind(name, class, parts.first());
        let plain = !matches!(name, "mode" | "percentile_disc" | "percentile_cont" | "regr_count");
        // A sum of distinct intervals is to come.
        let summed = name == "sum" && class == Class::Interval;
        let distinct = of.is_some() && plain && !summed && self.draw.chance(22);
        let filter = self.draw.chance(18);
        if filter {
            let condition = self.predicate(&rows, below);
            // A name of the queries around alone would make the aggregate theirs.
            let condition = if mine(&condition, &rows) {
                condition
            } else {
                Expr::literal("TRUE", Kind::Boolean)
            };
            parts.push(condition);
        }
        let form = Form::Aggregate { name, distinct, filter };
        let made = Expr::new(form, kind, parts);
        // The sum of large integers is a decimal; the place wants an integer.
        let large = name == "sum" && class == Class::Integer;
        if large && made.parts[0].kind == Kind::BigInt { made.cast(Kind::BigInt) } else { made }
    }

    /// An aggregate of texts or intervals, by name, and what it is of.
    fn ordered(&mut self, class: Class) -> (&'static str, Option<Class>) {
        let (texts, spans) = if class == Class::Text { (1, 0) } else { (0, 1) };
        let name = self.draw.weighted(&[
            (2, "min"),
            (2, "max"),
            (texts, "string_agg"),
            (texts, "mode"),
            (spans, "sum"),
        ]);
        (name, Some(class))
    }

    /// A UUID if there is some text among the rows.
    fn uuid_of_rows(&mut self, scope: &Scope) -> Expr {
        let text = self.aggregate(Class::Text, scope, 0);
        let uuid = Expr::literal("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", Kind::Text);
        let is_text = Expr::postfix("IS NOT NULL", text);
        let form = Form::Case { operand: false, otherwise: false };
        Expr::new(form, Kind::Uuid, vec![is_text, uuid.cast(Kind::Uuid)])
    }

    /// The bits that all rows have, or one; all of one length.
    fn bits_of_rows(&mut self, scope: &Scope) -> Expr {
        let text = self.aggregate(Class::Text, scope, 0);
        let bits = Expr::literal("B'0101'", Kind::Bit(4));
        let form = Form::Case { operand: false, otherwise: false };
        Expr::new(form, Kind::Bit(4), vec![Expr::postfix("IS NOT NULL", text), bits])
    }

    fn argument(&mut self, class: Class, rows: &Scope, depth: usize) -> Expr {
        let argument = self.expr(class, rows, depth);
        if mine(&argument, rows) {
            return argument;
        }
        let own = rows.of_class(class);
        if own.is_empty() { self.constant(class) } else { self.draw.pick(&own).clone() }
    }
}

/// Whether an argument belongs to the query of these rows: it names one of their columns, or none at all.
fn mine(argument: &Expr, rows: &Scope) -> bool {
    let named = walk::aliases(argument);
    let own = |alias: &String| {
        rows.leaves
            .iter()
            .any(|it| matches!(&it.form, Form::Column { from: Some(from), .. } if from == alias))
    };
    named.is_empty() || named.iter().any(own)
}

fn result_kind(name: &str, class: Class, argument: Option<&Expr>) -> Kind {
    match (name, argument) {
        ("count" | "regr_count", _) => Kind::BigInt,
        ("string_agg", _) => Kind::Text,
        ("sum", _) if class == Class::Integer => Kind::BigInt,
        ("avg", _) if class == Class::Decimal => Kind::Decimal(38, 10),
        (_, Some(argument)) if argument.kind.class() == class => argument.kind,
        _ => class.kind(),
    }
}
