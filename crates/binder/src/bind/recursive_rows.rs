//! Where the rows of recursive queries are, and how they are read for the row around.

use plan::relation::{Attr, Rel, ScanRel};
use plan::{BinaryOperator, Expr};
use stdx::sync::Arc;
use types::TableInfo;

/// Where the rows of a recursive query are.
#[derive(Clone, Debug)]
pub(super) struct RecursiveRows {
    /// A table that nobody has stored.
    pub table: Arc<TableInfo>,
    /// The attributes of queries around whose values its last columns have.
    pub around: Vec<Attr>,
}

impl RecursiveRows {
    /// How many columns are those of the query.
    pub fn own(&self) -> usize {
        self.table.columns.len() - self.around.len()
    }

    /// Its rows for the values around, the columns of the table from the attribute `base` on.
    pub fn read(&self, base: Attr) -> Rel {
        let (table, rows) = (self.table.clone(), self.table.rows as f64);
        let scan = Rel::Scan(ScanRel { table, base, filters: Vec::new(), rows });
        let same = |(place, attr): (usize, &Attr)| {
            let data_type = self.table.columns[self.own() + place].data_type;
            let column = |it| Expr::column(it, data_type);
            let held = column(base + self.own() + place);
            Expr::predicate(BinaryOperator::IsNotDistinctFrom, held, column(*attr))
        };
        scan.filtered(self.around.iter().enumerate().map(same).collect())
    }
}
