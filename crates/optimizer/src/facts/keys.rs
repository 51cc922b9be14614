//! Keys: sets of attributes that no two rows of a relation share.
//!
//! Under outer joins: the side whose rows are all kept keeps its keys where the other has one partner at most; the side
//! that is extended by NULL loses them, since several rows may be extended.

use plan::relation::{AttrSet, JoinRel, Rel, RelJoin, bare};
use types::ColumnId;

use super::equality_chains;

/// Keys that are kept of a join. Each join above looks at all of them, so that among a thousand tables all would be billions.
const KEYS_MAX: usize = 32;

/// Sets of attributes that no two rows share; not all of those of many tables.
pub fn unique_keys(rel: &Rel) -> Vec<AttrSet> {
    match rel {
        Rel::Scan(scan) => (0..scan.table.columns.len())
            .filter(|it| scan.table.is_unique(ColumnId(*it as u16)))
            .map(|it| [scan.base + it].into_iter().collect())
            .collect(),
        Rel::Filter { input, .. }
        | Rel::Map { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Window { input, .. }
        | Rel::Limit { input, .. } => unique_keys(input),
        Rel::Aggregate { keys, .. } => vec![keys.iter().map(|it| it.0).collect()],
        Rel::Join(join) => join_keys(join),
        Rel::Union { .. } | Rel::Repeat { .. } | Rel::Shared { .. } | Rel::Apply(_) => Vec::new(),
        Rel::Values { rows, .. } if rows.len() <= 1 => vec![AttrSet::default()],
        Rel::Values { .. } => Vec::new(),
    }
}

fn join_keys(join: &JoinRel) -> Vec<AttrSet> {
    // A key of one type may equal several of another.
    let side = |right: bool| {
        let own = join.keys.iter().filter(|it| equality_chains(it.0.data_type, it.1.data_type));
        own.filter_map(|it| bare(if right { &it.1 } else { &it.0 })).collect::<AttrSet>()
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
    keys.truncate(KEYS_MAX);
    keys
}
