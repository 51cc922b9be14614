//! Functional dependencies: facts of the form "rows that agree in these attributes agree in those".
//!
//! - What makes one: a key of a table, an equality of an inner join, a computed column, the keys of groups.
//! - Volatile expressions make none. What is computed of a float is not determined by it: zero has two signs that are
//!   equal, and a text of it shows which.
//! - Under outer joins: the rows that an outer join extends by NULL agree in nothing but NULL with others. A dependency
//!   of the extended side stays one only if rows of that side never have NULL in all of its determining attributes, so
//!   that extended rows are told apart; a constant does not stay constant.

use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare};
use types::ColumnId;

use super::{Facts, equality_chains};

/// The functional dependencies of a relation.
#[derive(Default, Debug)]
pub struct Dependencies {
    /// What determines, and what it determines.
    known: Vec<(AttrSet, AttrSet)>,
}

impl Dependencies {
    /// Those that hold for the rows of a relation.
    pub fn of(rel: &Rel, facts: Facts<'_>) -> Self {
        let mut this = Self::default();
        this.collect(rel, facts);
        this
    }

    /// All attributes that the given ones determine.
    pub fn closure(&self, attrs: &AttrSet) -> AttrSet {
        let mut closure = attrs.clone();
        loop {
            let before = closure.clone();
            for (from, to) in &self.known {
                if from.is_subset(&closure) {
                    closure.union_with(to);
                }
            }
            if closure == before {
                return closure;
            }
        }
    }

    fn add(&mut self, from: &[Attr], to: AttrSet) {
        self.known.push((from.iter().copied().collect(), to));
    }

    fn collect(&mut self, rel: &Rel, facts: Facts<'_>) {
        match rel {
            Rel::Scan(scan) => {
                for place in 0..scan.table.columns.len() {
                    if scan.table.is_unique(ColumnId(place as u16)) {
                        self.add(&[scan.base + place], rel.attrs());
                    }
                }
            }
            Rel::Filter { input, .. }
            | Rel::Sort { input, .. }
            | Rel::Window { input, .. }
            | Rel::Limit { input, .. }
            | Rel::Repeat { input, .. } => self.collect(input, facts),
            Rel::Map { input, exprs } => {
                self.collect(input, facts);
                for (attr, expr) in exprs {
                    if facts.follows_from_columns(expr) {
                        self.known.push((AttrSet::of(expr), [*attr].into_iter().collect()));
                    }
                }
            }
            Rel::Join(join) => self.collect_join(join, facts),
            Rel::Aggregate { input, keys, aggregates, .. } => {
                // What held between attributes that stay keys still holds.
                self.collect(input, facts);
                let all = aggregates.iter().map(|it| it.0).chain(keys.iter().map(|it| it.0));
                let keys: AttrSet = keys.iter().map(|it| it.0).collect();
                self.known.push((keys, all.collect()));
            }
            Rel::Union { .. } | Rel::Values { .. } | Rel::Shared { .. } | Rel::Apply(_) => {}
        }
    }

    fn collect_join(&mut self, join: &JoinRel, facts: Facts<'_>) {
        let extends_left = join.kind == RelJoin::Full;
        let extends_right = matches!(join.kind, RelJoin::Left | RelJoin::Full);
        self.collect_side(&join.left, extends_left, facts);
        if !matches!(join.kind, RelJoin::Semi | RelJoin::Anti | RelJoin::Mark) {
            self.collect_side(&join.right, extends_right, facts);
        }
        if join.kind != RelJoin::Inner {
            return;
        }
        for (left, right) in &join.keys {
            if !equality_chains(left.data_type, right.data_type) {
                continue;
            }
            if let (Some(left), Some(right)) = (bare(left), bare(right)) {
                self.add(&[left], [right].into_iter().collect());
                self.add(&[right], [left].into_iter().collect());
            }
        }
    }

    /// The dependencies of one side of a join, of which those are left that rows extended by NULL do not break.
    fn collect_side(&mut self, side: &Rel, extended: bool, facts: Facts<'_>) {
        let before = self.known.len();
        self.collect(side, facts);
        if extended {
            let own = side.attrs();
            let told_apart = |it: Attr| own.contains(it) && !facts.nullable(side, it);
            let added = self.known.split_off(before);
            self.known.extend(added.into_iter().filter(|it| it.0.iter().any(told_apart)));
        }
    }
}
