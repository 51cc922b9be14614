//! TABLESAMPLE: each row by a draw of its own, with BERNOULLI as with SYSTEM, which leaves the unit of drawing open.

use plan::relation::Rel;
use plan::{BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast::{self, TableSampleKind, TableSampleMethod, TableSampleModifier};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::level::{Clause, Level, one_row};
use super::scope::Frame;
use super::{Binder, constant};

impl<'a> Binder<'a> {
    /// Some rows of a table.
    pub(super) fn sampled(&mut self, rel: Rel, sample: &'a TableSampleKind) -> SqlResult<Rel> {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
            sample;
        let refused = |what: &str| Err(SqlError::unsupported(format!("{what} is not supported")));
        let by_share =
            matches!(sample.name, Some(TableSampleMethod::Bernoulli | TableSampleMethod::System));
        if sample.modifier != TableSampleModifier::TableSample || !by_share {
            return refused("a sample but by TABLESAMPLE BERNOULLI or SYSTEM");
        }
        if sample.seed.is_some() || sample.bucket.is_some() || sample.offset.is_some() {
            return refused("REPEATABLE of TABLESAMPLE");
        }
        let quantity = sample.quantity.as_ref().filter(|it| it.unit.is_none());
        let Some(quantity) = quantity else { return refused("a sample of so many rows") };
        let share = self.percentage(&quantity.value)?;
        if !(0.0..=100.0).contains(&share) {
            let message = "sample percentage must be between 0 and 100";
            return Err(SqlError::new(SqlState("2202H"), message));
        }
        let draw = ExprKind::Call { function: Function::Random, arguments: Vec::new() };
        let draw = Expr { kind: draw, data_type: DataType::Double };
        let share = Expr::literal(Value::Float(share / 100.0), DataType::Double);
        Ok(rel.filtered(vec![Expr::predicate(BinaryOperator::Less, draw, share)]))
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
