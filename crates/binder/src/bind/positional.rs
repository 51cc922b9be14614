//! Joins of rows by their places ([`crate::positional`]).

use plan::build::compare;
use plan::relation::{Attr, Rel};
use plan::{BinaryOperator, WindowFunction};
use types::{DataType, SqlResult};

use super::Binder;
use super::from::{Kind, Source};
use super::limit::of_rows;

impl Binder<'_> {
    /// The first row of one side beside the first of the other, and so on; where one has fewer rows, its columns are NULL.
    pub(super) fn by_position(&mut self, left: Source, right: Source) -> SqlResult<Source> {
        let ((left, a), (right, b)) = (self.numbered(left), self.numbered(right));
        let same = compare(BinaryOperator::Equal, self.column_expr(a), self.column_expr(b));
        self.pairs(left, right, Kind::Full, vec![same])
    }

    /// Rows with their places, which no name means.
    fn numbered(&mut self, (rel, frame): Source) -> (Source, Attr) {
        let number = self.attribute(DataType::BigInt, false);
        let functions = vec![(number, of_rows(WindowFunction::RowNumber, 0))];
        let (input, partition, keys) = (Box::new(rel), Vec::new(), Vec::new());
        ((Rel::Window { input, partition, keys, functions }, frame), number)
    }
}
