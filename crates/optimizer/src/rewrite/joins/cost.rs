//! What a join costs: nanoseconds of building the hash table, looking rows up, and what comes out.

use plan::relation::{Rel, RelJoin, bare};

use super::graph::JoinGraph;
use super::partial::{BuildSide, Partial};
use crate::rewrite::origin;
use crate::tuning::*;

impl JoinGraph {
    /// The cost of joining in the cheapest of the ways that are possible.
    pub fn join_cost(&self, left: &Partial, right: &Partial, rows: f64) -> (f64, BuildSide) {
        let standard =
            self.building(right, left) + self.probing(left, left.rows, right.rows) + rows;
        let Some(vertex) = right.dependent else { return (standard, BuildSide::Right) };
        let dependent = &self.dependents[vertex];
        let pairs = match dependent.residual.is_empty() {
            true => 0.0,
            false => PAIR * left.rows * dependent.fan_out,
        };
        let mut best = (standard + pairs, BuildSide::Right);
        let kind = self.vertices[vertex].kind;
        let possible = matches!(kind, RelJoin::Semi | RelJoin::Anti | RelJoin::Left)
            && !self.vertices[vertex].null_aware
            && !dependent.keys.is_empty();
        if possible {
            let cost = self.build_left_cost(left, right, vertex, (rows, pairs));
            if cost < best.0 {
                best = (cost, BuildSide::Left);
            }
        }
        if dependent.inequality.is_some() {
            let grouping = dependent.grouping * right.rows + GROUP_OUTPUT * dependent.groups;
            let looking = self.probing(left, left.rows, dependent.groups)
                + PAIR * left.rows * dependent.share;
            let cost = grouping + looking + rows;
            if cost < best.0 {
                best = (cost, BuildSide::GroupedRight);
            }
        }
        best
    }

    /// The cost of a join of a dependent vertex with the hash table on the left.
    fn build_left_cost(
        &self,
        left: &Partial,
        right: &Partial,
        vertex: usize,
        (rows, pairs): (f64, f64),
    ) -> f64 {
        let dependent = &self.dependents[vertex];
        // The rows of the left leave the pipeline and enter a new one; a left join even materialises its pairs.
        let again = match self.vertices[vertex].kind {
            RelJoin::Left => MATERIALIZED_PAIR * rows,
            _ => left.rows + rows,
        };
        // Where keys repeat, extremes mark without pairs, and are asked key by key.
        let extremes = EXTREMES * right.rows;
        let pairs = match &dependent.inequality {
            Some(_) if dependent.rises || left.rows < SCATTERED_ROWS_MIN => pairs.min(extremes),
            Some(_) => pairs.min(extremes + SCATTERED * left.rows),
            None => pairs,
        };
        self.building(left, right) + self.probing(right, right.rows, left.rows) + again + pairs
    }

    /// The cost of looking up `rows` rows of a side in a table of so many.
    fn probing(&self, side: &Partial, rows: f64, table: f64) -> f64 {
        let each = if table < SMALL_TABLE_ROWS {
            PROBE_SMALL
        } else if table < CACHED_TABLE_ROWS {
            PROBE_CACHED
        } else {
            PROBE_LARGE
        };
        let is_scan =
            side.set.single().is_some_and(|it| matches!(self.vertices[it].rel, Rel::Scan(_)));
        each * rows * if is_scan { PROBE_BY_SCAN } else { 1.0 }
    }

    /// The cost of a hash table of a side, for lookups by another.
    fn building(&self, side: &Partial, other: &Partial) -> f64 {
        if self.in_place(side, other) {
            return 0.0;
        }
        let unique = side.common(other).any(|it| it.1 * UNIQUE_TOLERANCE >= side.rows);
        let each = if unique { BUILD_UNIQUE } else { BUILD_REPEATED };
        side.rows * if side.rows > CACHED_TABLE_ROWS { each * BUILD_LARGE } else { each }
    }

    /// Whether a side is a whole table that finds its rows by this key. It needs no hash table.
    fn in_place(&self, side: &Partial, other: &Partial) -> bool {
        let Some(vertex) = side.set.single() else { return false };
        let Rel::Scan(scan) = &self.vertices[vertex].rel else { return false };
        if !scan.filters.is_empty() {
            return false;
        }
        let mut common = side.common(other);
        let (Some((class, ..)), None) = (common.next(), common.next()) else { return false };
        let key = self.classes[class].of(vertex).and_then(bare);
        key.is_some_and(|it| origin::is_row_number(scan, it))
    }
}
