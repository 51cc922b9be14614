//! TABLESAMPLE: each row by a draw of its own, with BERNOULLI as with SYSTEM, which leaves the unit of drawing open. Of so many rows,
//! as DuckDB has them ([`crate::sample_words`]), those that draw the least.

use plan::relation::Rel;
use plan::{BinaryOperator, Expr, ExprKind, Function, SortKey};
use sqlparser::ast::{
    self, TableSampleKind, TableSampleMethod, TableSampleModifier, TableSampleQuantity,
    TableSampleUnit,
};
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::coercion::fold_cast;
use super::json::word;
use super::level::{Clause, Level, one_row};
use super::scope::Frame;
use super::{Binder, constant, mapped};

/// The numbers that may be drawn where a draw is to be repeated.
const DRAWS: f64 = 4_294_967_296.0;

/// How many rows are drawn.
enum Size {
    /// About this share of them.
    Share(f64),
    /// So many, or all where there are fewer.
    Rows(u64),
}

impl<'a> Binder<'a> {
    /// Some rows of a relation.
    pub(super) fn sampled(&mut self, mut rel: Rel, sample: &'a TableSampleKind) -> SqlResult<Rel> {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
            sample;
        let refused = |what: &str| Err(SqlError::unsupported(format!("{what} is not supported")));
        let is_known =
            matches!(sample.name, Some(TableSampleMethod::Bernoulli | TableSampleMethod::System));
        if sample.modifier != TableSampleModifier::TableSample || !is_known {
            return refused("a sample but by TABLESAMPLE BERNOULLI, SYSTEM or RESERVOIR");
        }
        if sample.bucket.is_some() || sample.offset.is_some() {
            return refused("this form of TABLESAMPLE");
        }
        let Some(quantity) = &sample.quantity else { return refused("this form of TABLESAMPLE") };
        let size = self.size(quantity)?;
        let drawn = match &sample.seed {
            Some(seed) => self.drawn_again(&mut rel, &seed.value)?,
            None => {
                let draw = ExprKind::Call { function: Function::Random, arguments: Vec::new() };
                Expr { kind: draw, data_type: DataType::Double }
            }
        };
        match size {
            Size::Share(share) => {
                let most = match drawn.data_type {
                    DataType::BigInt => Value::Integer((share * DRAWS) as i64),
                    _ => Value::Float(share),
                };
                let most = Expr::literal(most, drawn.data_type);
                Ok(rel.filtered(vec![Expr::predicate(BinaryOperator::Less, drawn, most)]))
            }
            Size::Rows(rows) => {
                let draw = self.attribute(drawn.data_type, false);
                let rel = mapped(rel, vec![(draw, drawn)]);
                let expr = self.column_expr(draw);
                let keys = vec![SortKey { expr, descending: false, nulls_first: false }];
                let (input, partition) = (Box::new(rel), Vec::new());
                Ok(Rel::Sort { input, keys, offset: 0, limit: Some(rows), partition })
            }
        }
    }

    fn size(&mut self, quantity: &'a TableSampleQuantity) -> SqlResult<Size> {
        let number = self.said_number(&quantity.value)?;
        if quantity.unit == Some(TableSampleUnit::Rows) {
            // No table has more.
            return match number >= 0.0 && number.fract() == 0.0 {
                true => Ok(Size::Rows(number as u64)),
                false => Err(SqlError::new(
                    SqlState("2202H"),
                    "a sample of rows needs a whole number that is not negative",
                )),
            };
        }
        if !(0.0..=100.0).contains(&number) {
            let message = "sample percentage must be between 0 and 100";
            return Err(SqlError::new(SqlState("2202H"), message));
        }
        Ok(Size::Share(number / 100.0))
    }

    /// REPEATABLE: what a row draws, below [`DRAWS`], follows from its place in the table and the seed.
    fn drawn_again(&mut self, rel: &mut Rel, seed: &'a ast::ValueWithSpan) -> SqlResult<Expr> {
        let number = match &seed.value {
            ast::Value::Number(text, _) | ast::Value::SingleQuotedString(text) => text.parse().ok(),
            _ => None,
        };
        let Some(number): Option<f64> = number else {
            let message = "a REPEATABLE parameter of TABLESAMPLE that is no number";
            return Err(SqlError::unsupported(format!("{message} is not supported")));
        };
        let place = self.attribute(DataType::BigInt, false);
        let scan = match rel {
            // Places of rows are read beside their columns.
            Rel::Scan(scan) if scan.table.columns.is_empty() => {
                let message = "REPEATABLE of TABLESAMPLE of a table without columns";
                return Err(SqlError::unsupported(format!("{message} is not supported")));
            }
            Rel::Scan(scan) if place == scan.base + scan.table.columns.len() => scan,
            _ => {
                let message = "REPEATABLE of TABLESAMPLE of anything but a table";
                return Err(SqlError::unsupported(format!("{message} is not supported")));
            }
        };
        scan.table = Arc::new(scan.table.with_positions());
        let place = fold_cast(Expr::column(place, DataType::BigInt), DataType::Text);
        let both = vec![place, word(&format!(" {number}"))];
        let text = self.fold_call(Function::ConcatOperator, both, DataType::Text)?;
        let bytes =
            self.fold_call(Function::ConvertTo, vec![text, word("UTF8")], DataType::Bytea)?;
        self.fold_call(Function::Crc32, vec![bytes], DataType::BigInt)
    }

    fn said_number(&mut self, expr: &'a ast::Expr) -> SqlResult<f64> {
        let level = Level::new(Frame::default(), one_row(), Clause::Limit);
        let (bound, _) = self.in_level(level, |this| {
            let bound = this.expr(expr)?;
            this.coerce(bound, DataType::Double, expr)
        })?;
        match constant(&bound) {
            Some(Value::Float(it)) => Ok(*it),
            Some(Value::Null) => {
                Err(SqlError::new(SqlState("2202H"), "TABLESAMPLE parameter cannot be null"))
            }
            _ => Err(SqlError::unsupported(
                "a TABLESAMPLE parameter that is no constant is not supported",
            )),
        }
    }
}
