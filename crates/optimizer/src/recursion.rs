//! What a query asks of recursive ones, which are tables to it.

use plan::relation::{Query, Rel};
use types::TableId;

/// How many rows of a recursive query are enough for a query: it reads them once, and takes the first it gets (LIMIT).
pub(crate) fn enough(query: &Query, table: TableId) -> Option<u64> {
    let (mut scans, mut wanted) = (0, None);
    let own = [&query.root].into_iter().chain(&query.shared);
    let others = query.recursions.iter().flat_map(|it| [&it.first, &it.step]);
    let others = others.flat_map(|it| [&it.root].into_iter().chain(&it.shared));
    for rel in own.chain(others) {
        rel.visit(&mut |it| match it {
            Rel::Scan(scan) if scan.table.id == table => scans += 1,
            Rel::Limit { input, offset, limit: Some(limit) } if is_all_of(input, table) => {
                wanted = offset.checked_add(*limit);
            }
            _ => {}
        });
    }
    // The recursive term itself reads it, too.
    let is_own = query.recursions.iter().any(|it| it.table.id == table);
    wanted.filter(|_| scans == 1 + usize::from(is_own))
}

/// Whether a relation has the rows of a table, no more and no less.
fn is_all_of(rel: &Rel, table: TableId) -> bool {
    match rel {
        Rel::Scan(scan) => scan.table.id == table && scan.filters.is_empty(),
        Rel::Map { input, .. } => is_all_of(input, table),
        _ => false,
    }
}
