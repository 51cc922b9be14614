//! Tests that several scans of one query make of the same table (Q17 and Q02 ask twice for the rows of some parts, Q21 for
//! late lines): the first scan that makes one leaves a bitmap of rows, and the others read that.

use plan::{Expr, Plan, Scan, Source, Transfer};
use stdx::sync::Arc;
use types::TableId;

use crate::QueryContext;
use crate::scan::marks::Marks;

/// A test of the rows of a table.
#[derive(Clone, PartialEq)]
enum Test {
    /// A condition over columns of the table, by their numbers.
    Filter(Expr),
    /// Its column and the hash table.
    Transfer(usize, Transfer),
}

/// What a query tests more than once.
#[derive(Default)]
pub struct Repeated(Vec<(TableId, Test, Arc<Marks>)>);

impl Repeated {
    /// What the scans of a plan have in common.
    pub fn of(plan: &Plan, context: &QueryContext) -> Self {
        let scans = || {
            plan.pipelines.iter().filter_map(|it| match &it.source {
                Source::Scan(scan) => Some(scan),
                _ => None,
            })
        };
        let mut this = Self::default();
        for (place, scan) in scans().enumerate() {
            let earlier = || scans().take(place).filter(|it| it.table == scan.table);
            // One table after the other is the rule: nothing is compared then.
            if earlier().next().is_none() {
                continue;
            }
            for test in tests(scan) {
                let seen = earlier().any(|it| tests(it).any(|it| it == test));
                if !seen || this.marks(scan.table, &test).is_some() {
                    continue;
                }
                // Parts have encodings and rows of their own; that would be a bitmap for each.
                let Some(table) = context.tables.get(&scan.table) else { continue };
                if let [part] = table.parts() {
                    this.0.push((scan.table, test, Arc::new(Marks::new(part.rows()))));
                }
            }
        }
        this
    }

    fn marks(&self, table: TableId, test: &Test) -> Option<Arc<Marks>> {
        self.0.iter().find(|it| it.0 == table && it.1 == *test).map(|it| it.2.clone())
    }

    /// The rows that pass a filter of a scan, if another scan asks for them too.
    pub(super) fn filter(&self, scan: &Scan, filter: &Expr) -> Option<Arc<Marks>> {
        let ask = |_: &_| self.marks(scan.table, &of_filter(scan, filter));
        self.0.first().and_then(ask)
    }

    /// The rows that pass a transfer of a scan, if another scan asks for them too.
    pub(super) fn transfer(&self, scan: &Scan, transfer: &Transfer) -> Option<Arc<Marks>> {
        let ask = |_: &_| self.marks(scan.table, &of_transfer(scan, transfer));
        self.0.first().and_then(ask)
    }
}

fn tests(scan: &Scan) -> impl Iterator<Item = Test> {
    let filters = scan.filters.iter().map(|it| of_filter(scan, it));
    filters.chain(scan.transfers.iter().map(|it| of_transfer(scan, it)))
}

fn of_filter(scan: &Scan, filter: &Expr) -> Test {
    let mut filter = filter.clone();
    filter.map_columns(&mut |it| scan.columns[it].index());
    Test::Filter(filter)
}

fn of_transfer(scan: &Scan, transfer: &Transfer) -> Test {
    Test::Transfer(
        scan.columns[transfer.column].index(),
        Transfer { column: 0, ..transfer.clone() },
    )
}
