//! Functional dependencies and keys of relations, from exact statistics and the shape of the query.

use types::ColumnId;

use plan::relation::{Attr, AttrSet, JoinRel, Rel, RelJoin, bare};

/// Facts of the form "these attributes determine those".
#[derive(Default, Debug)]
pub struct Dependencies {
    facts: Vec<(AttrSet, AttrSet)>,
}

impl Dependencies {
    /// The facts that hold for the rows of a relation.
    pub fn of(rel: &Rel) -> Self {
        let mut this = Self::default();
        this.collect(rel);
        this
    }

    /// All attributes that the given ones determine.
    pub fn closure(&self, attrs: &AttrSet) -> AttrSet {
        let mut closure = attrs.clone();
        loop {
            let before = closure.clone();
            for (from, to) in &self.facts {
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
        self.facts.push((from.iter().copied().collect(), to));
    }

    fn collect(&mut self, rel: &Rel) {
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
            | Rel::Limit { input, .. }
            | Rel::Repeat { input, .. } => self.collect(input),
            Rel::Map { input, exprs } => {
                self.collect(input);
                for (attr, expr) in exprs {
                    self.facts.push((AttrSet::of(expr), [*attr].into_iter().collect()));
                }
            }
            Rel::Join(join) => {
                self.collect(&join.left);
                if !matches!(join.kind, RelJoin::Semi | RelJoin::Anti | RelJoin::Mark) {
                    self.collect(&join.right);
                }
                if join.kind == RelJoin::Inner {
                    for (left, right) in &join.keys {
                        if let (Some(left), Some(right)) = (bare(left), bare(right)) {
                            self.add(&[left], [right].into_iter().collect());
                            self.add(&[right], [left].into_iter().collect());
                        }
                    }
                }
            }
            Rel::Aggregate { input, keys, aggregates, .. } => {
                // What held between attributes that stay keys still holds.
                self.collect(input);
                let all = aggregates.iter().map(|it| it.0).chain(keys.iter().map(|it| it.0));
                let keys: AttrSet = keys.iter().map(|it| it.0).collect();
                self.facts.push((keys, all.collect()));
            }
            Rel::Union { .. } | Rel::Values { .. } | Rel::Shared { .. } | Rel::Apply(_) => {}
        }
    }
}

/// Sets of attributes that no two rows share.
pub fn unique_keys(rel: &Rel) -> Vec<AttrSet> {
    match rel {
        Rel::Scan(scan) => (0..scan.table.columns.len())
            .filter(|it| scan.table.is_unique(ColumnId(*it as u16)))
            .map(|it| [scan.base + it].into_iter().collect())
            .collect(),
        Rel::Filter { input, .. }
        | Rel::Map { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. } => unique_keys(input),
        Rel::Aggregate { keys, .. } => vec![keys.iter().map(|it| it.0).collect()],
        Rel::Join(join) => join_keys(join),
        Rel::Union { .. } | Rel::Repeat { .. } | Rel::Shared { .. } | Rel::Apply(_) => Vec::new(),
        Rel::Values { rows, .. } if rows.len() <= 1 => vec![AttrSet::default()],
        Rel::Values { .. } => Vec::new(),
    }
}

fn join_keys(join: &JoinRel) -> Vec<AttrSet> {
    let side = |right: bool| {
        let attrs = join.keys.iter().filter_map(|it| bare(if right { &it.1 } else { &it.0 }));
        attrs.collect::<AttrSet>()
    };
    let left = unique_keys(&join.left);
    if matches!(join.kind, RelJoin::Semi | RelJoin::Anti | RelJoin::Mark) {
        return left;
    }
    let right = unique_keys(&join.right);
    let (on_left, on_right) = (side(false), side(true));
    let left_once = left.iter().any(|it| it.is_subset(&on_left));
    let right_once = right.iter().any(|it| it.is_subset(&on_right));
    let mut keys = Vec::new();
    if right_once && join.kind != RelJoin::Full {
        keys.extend(left);
    }
    if left_once && join.kind == RelJoin::Inner {
        keys.extend(right);
    }
    keys
}
