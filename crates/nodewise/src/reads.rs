//! What a serializable transaction has read, and whether others have changed it since (docs/design/08-transactions.md,
//! "precision locking"; Neumann and others 2015).
//!
//! Key decision: what was read is the scans of the plans that ran, with their conditions, and what others have changed is the rows
//! in which two versions of a table differ, old and new. Whether a row would have been read is asked of the engine: the scan
//! runs once more, over these rows alone.
//!
//! - Invariant: what cannot be told counts as changed.

use std::collections::{BTreeMap, BTreeSet};

use plan::properties::is_volatile;
use plan::relation::{Query, Rel};
use plan::{Expr, Plan, Scan};
use types::TableId;

/// Scans that are kept of a table; of one that is read more often all rows count as read.
const SCANS_MAX: usize = 1000;

/// What was read of each table: some scans, or all of it.
#[derive(Default)]
pub(crate) struct Reads(BTreeMap<TableId, Option<Vec<Scan>>>);

impl Reads {
    /// Notes what a plan reads. `unknown` are the tables of which its scans do not tell.
    pub(crate) fn note(&mut self, plan: &Plan, unknown: &[TableId]) {
        for table in unknown {
            self.0.insert(*table, None);
        }
        for scan in plan.scans() {
            let known = self.0.entry(scan.table).or_insert_with(|| Some(Vec::new()));
            let Some(scans) = known else { continue };
            let is_told = |it: &Expr| {
                let mut scalars = Vec::new();
                it.collect_scalars(&mut scalars);
                scalars.is_empty() && !is_volatile(it)
            };
            let filters = scan.filters.iter().filter(|it| is_told(it)).cloned().collect::<Vec<_>>();
            if filters.is_empty() || scans.len() == SCANS_MAX {
                *known = None;
                continue;
            }
            let scan = Scan { filters, transfers: Vec::new(), index: None, ..scan.clone() };
            if !scans.contains(&scan) {
                scans.push(scan);
            }
        }
    }

    /// The tables with their scans; `None` where all rows were read.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TableId, &Option<Vec<Scan>>)> {
        self.0.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// How often a query reads each table.
pub(crate) struct TablesRead {
    counts: BTreeMap<TableId, usize>,
    /// Those that are read where a part of a query may run several times.
    repeated: BTreeSet<TableId>,
    /// Whether some of it is read several times, and may be planned as often.
    is_shared: bool,
}

impl TablesRead {
    pub(crate) fn of(query: &Query) -> Self {
        let mut this =
            Self { counts: BTreeMap::new(), repeated: BTreeSet::new(), is_shared: false };
        this.count(query, false);
        this
    }

    fn count(&mut self, query: &Query, is_repeated: bool) {
        let once = query.scalars.iter().map(|it| &it.rel).chain([&query.root]);
        let shared = query.shared.iter().map(|it| (it, true));
        for (rel, is_shared) in once.map(|it| (it, false)).chain(shared) {
            rel.visit(&mut |it| {
                if let Rel::Scan(scan) = it {
                    *self.counts.entry(scan.table.id).or_default() += 1;
                    if is_shared || is_repeated {
                        self.repeated.insert(scan.table.id);
                    }
                }
            });
        }
        self.is_shared |= !query.shared.is_empty();
        let recursions = query.recursions.iter();
        recursions.flat_map(|it| [&it.first, &it.step]).for_each(|it| self.count(it, true));
    }

    /// Whether a table is read, or may be, more than once.
    pub(crate) fn is_again(&self, table: TableId) -> bool {
        self.repeated.contains(&table) || self.counts.get(&table).is_some_and(|it| *it > 1)
    }

    /// The tables of which the scans of a plan do not tell all that the query asks: where what is known of a table has
    /// answered, a scan is missing.
    pub(crate) fn unknown(&self, plan: &Plan) -> Vec<TableId> {
        let scans = |table: TableId| plan.scans().iter().filter(|it| it.table == table).count();
        let unknown = self.counts.iter().filter(|it| self.is_shared || scans(*it.0) != *it.1);
        unknown.map(|it| *it.0).collect()
    }
}
