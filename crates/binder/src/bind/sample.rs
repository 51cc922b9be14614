//! TABLESAMPLE: each row by a draw of its own, with BERNOULLI as with SYSTEM, which leaves the unit of drawing open.

use plan::relation::Rel;
use plan::{BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast::{self, TableSampleKind, TableSampleMethod, TableSampleModifier};
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::coercion::fold_cast;
use super::json::word;
use super::level::{Clause, Level, one_row};
use super::scope::Frame;
use super::{Binder, constant};

impl<'a> Binder<'a> {
    /// Some rows of a table.
    pub(super) fn sampled(&mut self, mut rel: Rel, sample: &'a TableSampleKind) -> SqlResult<Rel> {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
            sample;
        let refused = |what: &str| Err(SqlError::unsupported(format!("{what} is not supported")));
        let by_share =
            matches!(sample.name, Some(TableSampleMethod::Bernoulli | TableSampleMethod::System));
        if sample.modifier != TableSampleModifier::TableSample || !by_share {
            return refused("a sample but by TABLESAMPLE BERNOULLI or SYSTEM");
        }
        if sample.bucket.is_some() || sample.offset.is_some() {
            return refused("this form of TABLESAMPLE");
        }
        let quantity = sample.quantity.as_ref().filter(|it| it.unit.is_none());
        let Some(quantity) = quantity else { return refused("a sample of so many rows") };
        let share = self.percentage(&quantity.value)?;
        if !(0.0..=100.0).contains(&share) {
            let message = "sample percentage must be between 0 and 100";
            return Err(SqlError::new(SqlState("2202H"), message));
        }
        if let Some(seed) = &sample.seed {
            let drawn = self.drawn_again(&mut rel, &seed.value, share / 100.0)?;
            return Ok(rel.filtered(vec![drawn]));
        }
        let draw = ExprKind::Call { function: Function::Random, arguments: Vec::new() };
        let draw = Expr { kind: draw, data_type: DataType::Double };
        let share = Expr::literal(Value::Float(share / 100.0), DataType::Double);
        Ok(rel.filtered(vec![Expr::predicate(BinaryOperator::Less, draw, share)]))
    }

    /// REPEATABLE: whether a row is drawn follows from its place in the table and the seed.
    fn drawn_again(
        &mut self,
        rel: &mut Rel,
        seed: &'a ast::ValueWithSpan,
        share: f64,
    ) -> SqlResult<Expr> {
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
        let drawn = self.fold_call(Function::Crc32, vec![bytes], DataType::BigInt)?;
        let most =
            Expr::literal(Value::Integer((share * 4_294_967_296.0) as i64), DataType::BigInt);
        Ok(Expr::predicate(BinaryOperator::Less, drawn, most))
    }

    fn percentage(&mut self, expr: &'a ast::Expr) -> SqlResult<f64> {
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
