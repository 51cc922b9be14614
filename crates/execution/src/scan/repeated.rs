//! Tests that several scans of one query make of the same table (Q17 and Q02 ask twice for the rows of some parts, Q21 for
//! late lines): the first scan that makes one leaves a bitmap of rows for each part, and the others read that.

use plan::{Expr, Plan, Scan, Source, Transfer};
use stdx::sync::Arc;
use storage::Part;
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
pub struct Repeated(Vec<RepeatedTest>);

/// A test that several scans make.
struct RepeatedTest {
    table: TableId,
    test: Test,
    /// The rows that pass, by the position at which each part begins.
    marks: Vec<(usize, Arc<Marks>)>,
}

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
                if !seen || this.find(scan.table, &test).is_some() {
                    continue;
                }
                let Some(table) = context.tables.get(&scan.table) else { continue };
                let of = |it: &Part| (it.positions().start, Arc::new(Marks::new(it.rows())));
                let marks = table.parts().iter().map(of).collect();
                this.0.push(RepeatedTest { table: scan.table, test, marks });
            }
        }
        this
    }

    fn find(&self, table: TableId, test: &Test) -> Option<&RepeatedTest> {
        self.0.iter().find(|it| it.table == table && it.test == *test)
    }

    fn marks(&self, table: TableId, part: &Part, test: &Test) -> Option<Arc<Marks>> {
        let mut marks = self.find(table, test)?.marks.iter();
        marks.find(|it| it.0 == part.positions().start).map(|it| it.1.clone())
    }

    /// The rows of a part that pass a filter of a scan, if another scan asks for them too.
    pub(super) fn filter(&self, scan: &Scan, part: &Part, filter: &Expr) -> Option<Arc<Marks>> {
        let ask = |_: &_| self.marks(scan.table, part, &of_filter(scan, filter));
        self.0.first().and_then(ask)
    }

    /// The rows of a part that pass a transfer of a scan, if another scan asks for them too.
    pub(super) fn transfer(
        &self,
        scan: &Scan,
        part: &Part,
        transfer: &Transfer,
    ) -> Option<Arc<Marks>> {
        let ask = |_: &_| self.marks(scan.table, part, &of_transfer(scan, transfer));
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
