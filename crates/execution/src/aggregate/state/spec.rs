//! What an aggregate with states of its own needs to know of its arguments.

use plan::{AggregateFunction, Expr, ExprKind, Function};
use stdx::sync::Arc;
use types::{DataType, Element, SqlResult, structs};

use super::interface::has_states;
use super::rows::StateRows;
use crate::aggregate::spec::AggregateSpec;
use crate::expression::{Compiled, NoOutside};
use crate::sort::{CompiledSortKey, KeyEncoder, RowKey};
use crate::{ColumnShape, Layout};

/// An aggregate that has states of its own.
#[derive(Clone)]
pub(crate) struct StateSpec {
    pub(super) function: AggregateFunction,
    /// Its arguments by place among those of all aggregates.
    pub(super) arguments: Vec<usize>,
    /// What they are held as.
    pub(super) shapes: Vec<ColumnShape>,
    pub(super) filter: Option<usize>,
    pub(super) distinct: bool,
    /// The order of the rows, encoded from the arguments of all aggregates.
    pub(super) order: Arc<KeyEncoder>,
    /// The result.
    pub(super) result: ColumnShape,
}

/// What a value is compared by: of a number of any scale the zeros at its end do not count, of an interval its span, of JSONB its
/// order, of CHAR the blanks at its end do not.
fn compared(column: Expr) -> Expr {
    let span = DataType::Decimal { precision: 21, scale: 0 };
    let (function, data_type) = match column.data_type {
        of @ DataType::Numeric => (Function::TrimScale, of),
        DataType::Interval => (Function::IntervalKey, span),
        DataType::Jsonb => (Function::JsonKey, DataType::Text),
        DataType::Bpchar => {
            let kind = ExprKind::Cast(Box::new(column));
            return Expr { kind, data_type: DataType::Char(u32::MAX) };
        }
        DataType::Array(Element::Interval) => match span.array() {
            Some(spans) => (Function::ArrayIntervalKeys, spans),
            None => return column,
        },
        DataType::Array(Element::Jsonb) => (Function::JsonKey, DataType::Array(Element::Text)),
        // Within ranges, structs, maps and arrays it is the same.
        of if of.has_key() => (Function::NestedKey, structs::key_type(of)),
        _ => return column,
    };
    Expr { kind: ExprKind::Call { function, arguments: vec![column] }, data_type }
}

impl StateSpec {
    /// What an aggregate needs of a layout of arguments; `None` of one that has no states of its own.
    pub(crate) fn new(spec: &AggregateSpec, layout: &Layout) -> SqlResult<Option<Self>> {
        if !has_states(spec.function, spec.argument.map(|it| layout[it].data_type)) {
            return Ok(None);
        }
        let arguments: Vec<usize> = spec.argument.iter().chain(&spec.rest).copied().collect();
        let shapes: Vec<ColumnShape> = arguments.iter().map(|&it| layout[it].clone()).collect();
        let mut order = spec.order.clone();
        let ranks = matches!(
            spec.function,
            AggregateFunction::PercentileContinuous
                | AggregateFunction::PercentileDiscrete
                | AggregateFunction::Mode
        );
        if let (true, true, Some(&value)) = (ranks, order.is_empty(), arguments.first()) {
            order.push((value, false, false));
        }
        if spec.distinct {
            // Equal rows come one after the other: the order is one of the arguments.
            order.extend(arguments.iter().map(|&it| (it, false, false)));
        }
        let key = |&(place, descending, nulls_first): &(usize, bool, bool)| {
            let column = compared(Expr::column(place, layout[place].data_type));
            let key = Compiled::new(&column, layout, &NoOutside)?;
            Ok(CompiledSortKey { key, descending, nulls_first })
        };
        let order = order.iter().map(key).collect::<SqlResult<_>>()?;
        let order = Arc::new(KeyEncoder::new(order));
        let result = match (spec.function.is_choice(), shapes.first()) {
            (true, Some(shape)) => {
                ColumnShape { data_type: spec.data_type, nullable: true, ..shape.clone() }
            }
            _ => ColumnShape::computed(spec.data_type, true),
        };
        let (function, distinct, filter) = (spec.function, spec.distinct, spec.filter);
        Ok(Some(Self { function, arguments, shapes, filter, distinct, order, result }))
    }

    /// What its values are held as.
    pub(crate) fn result(&self) -> &ColumnShape {
        &self.result
    }

    /// FILTER and the arguments that must not be NULL, by place.
    pub(in crate::aggregate) fn filter(&self) -> (Option<usize>, &[usize]) {
        (self.filter, &self.arguments[..self.function.strict_arguments().min(self.arguments.len())])
    }

    /// The keys of rows in the order.
    pub(super) fn keys<K: RowKey>(&self, rows: &StateRows<'_>) -> Vec<K> {
        K::encode(&self.order, &rows.batch()).expect("invariant: columns raise no errors")
    }
}
