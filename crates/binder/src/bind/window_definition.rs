//! Windows: OVER (..) and WINDOW .. AS, their partitions, orders and frames.

use plan::{Exclusion, Expr, Frame, FrameBound, FrameUnit, SortKey};
use sqlparser::ast::{self, NamedWindowDefinition, NamedWindowExpr, WindowType};
use types::numeric::interval;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::coercion::{fold_cast, name_of};
use super::errors::{Name, at, unsupported, windowing};
use super::level::Clause;
use super::order::Ordering;
use super::scope::is_named;
use super::window_parts::Definition;
use crate::frames::exclusion_of;
use crate::syntax::ident;

impl<'a> Binder<'a> {
    /// Binds the windows of a WINDOW clause, each of which sees those before it.
    pub(super) fn named_windows(&mut self, clause: &'a [NamedWindowDefinition]) -> SqlResult<()> {
        for NamedWindowDefinition(name, definition) in clause {
            if self.level().named_windows.iter().any(|it| is_named(name, &it.0)) {
                let message = format!("window \"{}\" is already defined", ident(name));
                return Err(at(windowing(message), &Name(name)));
            }
            let bound = match definition {
                NamedWindowExpr::NamedWindow(of) => self.named_window(of)?,
                NamedWindowExpr::WindowSpec(spec) => self.definition(spec)?,
            };
            self.level().named_windows.push((ident(name), bound));
        }
        Ok(())
    }

    /// The window of a call.
    pub(super) fn over(&mut self, over: &'a WindowType) -> SqlResult<Definition> {
        match over {
            WindowType::NamedWindow(name) => self.named_window(name),
            WindowType::WindowSpec(spec) => self.definition(spec),
        }
    }

    fn named_window(&mut self, name: &ast::Ident) -> SqlResult<Definition> {
        let known = self.level().named_windows.iter().find(|it| is_named(name, &it.0));
        known.map(|it| it.1.clone()).ok_or_else(|| {
            let message = format!("window \"{}\" does not exist", ident(name));
            at(SqlError::new(SqlState::UNDEFINED_OBJECT, message), &Name(name))
        })
    }

    fn definition(&mut self, spec: &'a ast::WindowSpec) -> SqlResult<Definition> {
        let (exclusion, partition_by) = exclusion_of(&spec.partition_by);
        let mut bound = Definition::default();
        if let Some(name) = &spec.window_name {
            bound = self.named_window(name)?;
            let refused = |what: &str| {
                let message = format!("cannot {what} window \"{}\"", ident(name));
                Err(at(windowing(message), &Name(name)))
            };
            if !partition_by.is_empty() {
                return refused("override PARTITION BY clause of");
            }
            if !bound.order.is_empty() && !spec.order_by.is_empty() {
                return refused("override ORDER BY clause of");
            }
            if bound.frame.is_some() {
                let message =
                    format!("cannot copy window \"{}\" because it has a frame clause", ident(name));
                let hint = "leave out the parentheses of this OVER clause";
                return Err(at(windowing(message).with_hint(hint), &Name(name)));
            }
        }
        self.in_clause(Clause::WindowDefinition, |this| {
            for expr in partition_by {
                let key = this.expr(expr)?;
                bound.partition.push(match key.data_type {
                    DataType::Null => this.coerce(key, DataType::Text, expr)?,
                    _ => key,
                });
            }
            for entry in Ordering::By(&spec.order_by).expressions(0) {
                let Some(expr) = entry.expr else { continue };
                let key = this.expr(expr)?;
                let key = match key.data_type {
                    DataType::Null => this.coerce(key, DataType::Text, expr)?,
                    _ => key,
                };
                bound.order.push(entry.key(key, this.order_defaults()));
            }
            Ok(())
        })?;
        if let Some(frame) = &spec.window_frame {
            bound.frame = Some(self.frame(frame, exclusion, &bound.order)?);
        }
        Ok(bound)
    }

    fn frame(
        &mut self,
        frame: &'a ast::WindowFrame,
        exclusion: Exclusion,
        order: &[SortKey],
    ) -> SqlResult<Frame> {
        use ast::WindowFrameBound::CurrentRow;
        check_bounds(&frame.start_bound, frame.end_bound.as_ref())?;
        let unit = match frame.units {
            ast::WindowFrameUnits::Rows => FrameUnit::Rows,
            ast::WindowFrameUnits::Range => FrameUnit::Range,
            ast::WindowFrameUnits::Groups => FrameUnit::Groups,
        };
        if unit == FrameUnit::Groups && order.is_empty() {
            return Err(windowing("GROUPS mode requires an ORDER BY clause"));
        }
        let start = self.frame_bound(&frame.start_bound, unit, order)?;
        let end = self.frame_bound(frame.end_bound.as_ref().unwrap_or(&CurrentRow), unit, order)?;
        Ok(Frame { unit, start, end, exclusion })
    }

    fn frame_bound(
        &mut self,
        bound: &'a ast::WindowFrameBound,
        unit: FrameUnit,
        order: &[SortKey],
    ) -> SqlResult<FrameBound> {
        use ast::WindowFrameBound as Ast;
        let (offset, preceding) = match bound {
            Ast::CurrentRow => return Ok(FrameBound::CurrentRow),
            Ast::Preceding(None) | Ast::Following(None) => return Ok(FrameBound::Unbounded),
            Ast::Preceding(Some(offset)) => (&**offset, true),
            Ast::Following(Some(offset)) => (&**offset, false),
        };
        let (name, clause) = match unit {
            FrameUnit::Rows => ("ROWS", "window ROWS"),
            FrameUnit::Range => ("RANGE", "window RANGE"),
            FrameUnit::Groups => ("GROUPS", "window GROUPS"),
        };
        if super::special::has_subquery(offset) {
            return Err(unsupported("a subquery as the offset of a frame", offset));
        }
        let clause = Clause::FrameOffset(clause);
        if unit == FrameUnit::Range {
            let [key] = order else {
                let message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER \
                               BY column";
                return Err(at(windowing(message), offset));
            };
            if is_moment(key.expr.data_type) {
                return self.range_of_time(key, offset, preceding);
            }
            let distance = self.in_clause(clause, |this| {
                let bound = this.offset(offset, name)?;
                this.distance(bound, key.expr.data_type, offset)
            })?;
            return Ok(placed(distance, preceding));
        }
        let count = self.in_clause(clause, |this| this.offset(offset, name))?;
        let count = match count.data_type {
            DataType::Null => {
                self.coerce_unknown(count, DataType::BigInt).map_err(|it| at(it, offset))?
            }
            // As for a value that is stored, a part of a row is rounded.
            it if it.is_numeric() => fold_cast(count, DataType::BigInt),
            other => {
                let message =
                    format!("argument of {name} must be type bigint, not type {}", name_of(other));
                return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), offset));
            }
        };
        Ok(placed(count, preceding))
    }

    /// An offset, in which no column may stand. The parser takes a text there for an interval.
    fn offset(&mut self, offset: &'a ast::Expr, name: &str) -> SqlResult<Expr> {
        let bound = match offset {
            ast::Expr::Interval(ast::Interval { value, leading_field: None, .. }) => {
                self.expr(value)?
            }
            other => self.expr(other)?,
        };
        if !plan::relation::AttrSet::of(&bound).is_empty() {
            let message = format!("argument of {name} must not contain variables");
            return Err(at(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message), offset));
        }
        Ok(bound)
    }

    /// An offset of numbers like those of the order key.
    fn distance(&mut self, bound: Expr, key: DataType, node: &'a ast::Expr) -> SqlResult<Expr> {
        let exact = |it: DataType| {
            it.is_integer() || matches!(it, DataType::Decimal { .. } | DataType::Numeric)
        };
        let wanted = match bound.data_type {
            DataType::Null if key.is_float() => Some(DataType::Double),
            DataType::Null if key.is_numeric() => Some(key),
            it if key.is_float() && it.is_numeric() => Some(DataType::Double),
            it if key.is_integer() && it.is_integer() => Some(it),
            it if key == DataType::Numeric && exact(it) => Some(key),
            it if matches!(key, DataType::Decimal { .. }) && exact(it) => Some(it),
            _ => None,
        };
        match wanted {
            Some(to) if bound.data_type == DataType::Null => {
                self.coerce_unknown(bound, to).map_err(|it| at(it, node))
            }
            Some(to) => Ok(fold_cast(bound, to)),
            None => Err(no_range(key, Some(bound.data_type), node)),
        }
    }

    /// How far an interval reaches from a date or a point of time.
    fn range_of_time(
        &mut self,
        key: &SortKey,
        offset: &'a ast::Expr,
        preceding: bool,
    ) -> SqlResult<FrameBound> {
        let bound = self
            .in_clause(Clause::FrameOffset("window RANGE"), |this| this.offset(offset, "RANGE"))?;
        let bound = match bound.data_type {
            DataType::Null => {
                self.coerce_unknown(bound, DataType::Interval).map_err(|it| at(it, offset))?
            }
            DataType::Interval => bound,
            of => return Err(no_range(key.expr.data_type, Some(of), offset)),
        };
        let Some(span) = super::constant(&bound).and_then(Value::as_i128) else {
            return Err(unsupported("such an offset of RANGE", offset));
        };
        if interval::key_of(span) < 0 {
            let message = "invalid preceding or following size in window function";
            return Err(at(SqlError::new(SqlState::INVALID_FRAME_SIZE, message), offset));
        }
        // What comes before in falling order is later.
        let span = match preceding == key.descending {
            true => bound,
            false => self.negated_interval(bound)?,
        };
        let value = self.copy(&key.expr)?;
        self.later(value, span).map(FrameBound::Value)
    }
}

/// Whether an order by a type has distances that are intervals.
fn is_moment(key: DataType) -> bool {
    matches!(key, DataType::Date | DataType::Timestamp | DataType::TimestampTz)
}

fn placed(distance: Expr, preceding: bool) -> FrameBound {
    if preceding { FrameBound::Preceding(distance) } else { FrameBound::Following(distance) }
}

/// The error for an order that has no distances, or not of this type.
fn no_range(key: DataType, offset: Option<DataType>, node: &ast::Expr) -> SqlError {
    let known = key.is_numeric() || is_moment(key);
    let key = name_of(key);
    let what = "RANGE with offset PRECEDING/FOLLOWING is not supported for column type";
    let message = match offset.filter(|_| known) {
        Some(offset) => format!("{what} {key} and offset type {}", name_of(offset)),
        None => format!("{what} {key}"),
    };
    let error = at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), node);
    if known { error.with_hint("cast the offset to a type that fits") } else { error }
}

/// What no frame can be.
fn check_bounds(
    start: &ast::WindowFrameBound,
    end: Option<&ast::WindowFrameBound>,
) -> SqlResult<()> {
    use ast::WindowFrameBound::{CurrentRow, Following, Preceding};
    let message = match (start, end) {
        (Following(None), _) => "frame start cannot be UNBOUNDED FOLLOWING",
        (_, Some(Preceding(None))) => "frame end cannot be UNBOUNDED PRECEDING",
        (Following(Some(_)), None | Some(CurrentRow)) => {
            "frame starting from following row cannot end with current row"
        }
        (CurrentRow, Some(Preceding(_))) => {
            "frame starting from current row cannot have preceding rows"
        }
        (Following(Some(_)), Some(Preceding(_))) => {
            "frame starting from following row cannot have preceding rows"
        }
        _ => return Ok(()),
    };
    Err(windowing(message))
}
