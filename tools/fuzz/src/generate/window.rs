//! Window functions whose value no order of peers decides: ranks, and aggregates of frames of whole groups of peers.

use crate::ast::{Expr, Form};
use crate::generate::state::{Generator, Scope};
use crate::kind::{Class, Kind};

/// Frames of whole groups of peers, but for the current row.
const FRAMES: [&str; 8] = [
    "",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "GROUPS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE GROUP",
    "GROUPS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
];

/// Frames by distances of a number.
const DISTANCES: [&str; 3] = [
    "RANGE BETWEEN 2 PRECEDING AND 3 FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
    "RANGE BETWEEN 1 FOLLOWING AND 5 FOLLOWING EXCLUDE NO OTHERS",
];

const DIRECTIONS: [&str; 5] = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST", " ASC"];

impl Generator<'_> {
    /// A window function of a class over the rows of a place, or over its groups.
    pub fn window(&mut self, class: Class, scope: &Scope, depth: usize) -> Expr {
        if class == Class::Integer && self.draw.chance(35) {
            let name = *self.draw.pick(&["rank", "dense_rank"]);
            return self.over(name, false, Vec::new(), Kind::BigInt, scope, depth);
        }
        if class == Class::Uuid {
            return self.expr(class, scope, depth);
        }
        let outer = scope.outer.clone();
        let rows = Scope { leaves: Vec::new(), rows: Some(scope.leaves.clone()), outer };
        let mut made = self.aggregate(class, &rows, depth);
        // The aggregate may stand in a cast.
        let own = match made.form {
            Form::Aggregate { .. } => &mut made,
            _ => &mut made.parts[0],
        };
        if let Form::Aggregate { name, filter, .. } = own.form {
            // Aggregates of an order have no OVER.
            let name = match name {
                "string_agg" | "mode" | "percentile_disc" | "percentile_cont" => "max",
                "regr_count" => "count",
                other => other,
            };
            let parts = std::mem::take(&mut own.parts);
            *own = self.over(name, filter, parts, own.kind, scope, depth);
        }
        made
    }

    fn over(
        &mut self,
        name: &'static str,
        filter: bool,
        mut parts: Vec<Expr>,
        kind: Kind,
        scope: &Scope,
        depth: usize,
    ) -> Expr {
        let below = depth.saturating_sub(1);
        let partitions = self.draw.weighted(&[(4, 0), (5, 1), (1, 2)]);
        for _ in 0..partitions {
            let class = self.class_in(scope);
            parts.push(self.expr(class, scope, below));
        }
        let orders = self.draw.weighted(&[(2, 0), (5, 1), (2, 2)]);
        let distance = orders == 1 && self.draw.chance(30);
        for _ in 0..orders {
            let class = if distance { Class::Integer } else { self.class_in(scope) };
            parts.push(self.expr(class, scope, below));
        }
        let frame = match (orders, distance) {
            (0, _) => *self.draw.pick(&FRAMES[..4]),
            (_, true) => *self.draw.pick(&DISTANCES),
            (_, false) => *self.draw.pick(&FRAMES),
        };
        let direction = *self.draw.pick(&DIRECTIONS);
        Expr::new(Form::Window { name, filter, partitions, orders, direction, frame }, kind, parts)
    }
}
