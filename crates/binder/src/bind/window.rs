//! Calls of window functions, and the windows of a SELECT over its rows or groups.

use plan::relation::{Apply, Attr, AttrSet, Rel};
use plan::{Aggregate, AggregateFunction, Expr, Frame, SortKey, WindowCall, WindowFunction};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::aggregate::interval_of;
use super::aggregate_types::{Given, wrong_arguments};
use super::coercion::name_of;
use super::errors::{at, unsupported, windowing};
use super::level::Clause;
use super::window_parts::{BoundWindow, Definition};
use super::{Binder, aggregate_names, mapped};

/// The functions that need a window, by name.
const NAMES: &[(&str, WindowFunction)] = &[
    ("row_number", WindowFunction::RowNumber),
    ("rank", WindowFunction::Rank),
    ("dense_rank", WindowFunction::DenseRank),
    ("percent_rank", WindowFunction::PercentRank),
    ("cume_dist", WindowFunction::CumeDist),
    ("ntile", WindowFunction::Ntile),
    ("lag", WindowFunction::Lag),
    ("lead", WindowFunction::Lead),
    ("first_value", WindowFunction::FirstValue),
    ("last_value", WindowFunction::LastValue),
    ("nth_value", WindowFunction::NthValue),
];

/// The window function of a name.
pub(super) fn by_name(name: &str) -> Option<WindowFunction> {
    NAMES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// The error for a window function without a window.
pub(super) fn needs_over(name: &str, whole: &ast::Expr) -> SqlError {
    let message = format!("window function {name} requires an OVER clause");
    at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), whole)
}

impl<'a> Binder<'a> {
    /// A call with OVER.
    pub(super) fn window(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        over: &'a ast::WindowType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        self.check_window(whole)?;
        if !call.within_group.is_empty() || matches!(name, "percentile_cont" | "percentile_disc") {
            let message = format!("OVER is not supported for ordered-set aggregate {name}");
            return Err(at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), whole));
        }
        if let Some(function) = aggregate_names::by_name(name) {
            return self.window_aggregate(function, name, (call, over), whole);
        }
        let (mut bound, function) = self.in_clause(Clause::Window, |this| match by_name(name) {
            Some(function) => Ok((this.window_function(function, name, call, whole)?, function)),
            None => Err(this.no_window_function(name, call, whole)),
        })?;
        use WindowFunction::{FirstValue, Lag, LastValue, Lead, NthValue};
        if !matches!(function, Lag | Lead | FirstValue | LastValue | NthValue) {
            check_takes_nulls(name, call, whole)?;
        }
        bound.ignore_nulls = call.null_treatment == Some(ast::NullTreatment::IgnoreNulls);
        let definition = self.comparable_window(over, whole)?;
        Ok(self.call_of_window(bound, &definition))
    }

    /// A window whose keys can be compared.
    fn comparable_window(
        &mut self,
        over: &'a ast::WindowType,
        whole: &'a ast::Expr,
    ) -> SqlResult<Definition> {
        let definition = self.over(over)?;
        for it in definition.partition.iter().chain(definition.order.iter().map(|it| &it.expr)) {
            super::json::check_equality(it.data_type).map_err(|it| at(it, whole))?;
        }
        Ok(definition)
    }

    /// The value of a call over a window; equal ones are computed once.
    fn call_of_window(&mut self, mut call: WindowCall, definition: &Definition) -> Expr {
        let Definition { partition, order, frame } = definition.clone();
        let function = call.function;
        if let Some(frame) = frame.filter(|_| function.has_frame()) {
            call.frame = frame;
        }
        call.order = order.len();
        let data_type = call.data_type;
        let window = BoundWindow { partition, order, call };
        let known = self.level().windows.iter().find(|it| it.1 == window && it.1.is_repeatable());
        let attr = match known {
            Some((attr, _)) => *attr,
            None => {
                let attr = self.attribute(data_type, !function.is_never_null());
                self.level().windows.push((attr, window));
                attr
            }
        };
        Expr::column(attr, data_type)
    }

    /// An error where no window function may stand.
    fn check_window(&mut self, whole: &ast::Expr) -> SqlResult<()> {
        let error = match self.level().clause {
            Clause::Select | Clause::OrderBy | Clause::Qualify => return self.level().ask_room(),
            Clause::Window => windowing("window function calls cannot be nested"),
            Clause::WindowDefinition | Clause::FrameOffset(_) => {
                windowing("window functions are not allowed in window definitions")
            }
            Clause::Aggregate => {
                let message = "aggregate function calls cannot contain window function calls";
                SqlError::new(SqlState::GROUPING_ERROR, message)
            }
            other => windowing(format!("window functions are not allowed in {}", other.name())),
        };
        Err(at(error, whole))
    }

    fn no_window_function(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlError {
        if functions::lookup(name).is_some() {
            let message = format!(
                "OVER specified, but {name} is not a window function nor an aggregate function"
            );
            return at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), whole);
        }
        match self.plain_values(call, whole) {
            Ok(bound) => self.no_function(name, &bound, whole),
            Err(error) => error,
        }
    }

    /// An aggregate of a frame.
    fn window_aggregate(
        &mut self,
        function: AggregateFunction,
        name: &str,
        (call, over): (&'a ast::Function, &'a ast::WindowType),
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let given = self
            .in_clause(Clause::Window, |this| this.given_in_window(function, name, call, whole))?;
        check_takes_nulls(name, call, whole)?;
        if let Some(argument) = interval_of(function, &given) {
            let definition = self.comparable_window(over, whole)?;
            let call =
                &mut |this: &mut Self, part| this.call_of_window(window_call(part), &definition);
            return self.of_intervals(function, (argument, given.filter), whole, call);
        }
        let aggregate = self.aggregate_of(function, name, given, whole)?;
        if !aggregate.order.is_empty() {
            return Err(unsupported(&format!("{name} with OVER"), whole));
        }
        let call = window_call(aggregate);
        let name = aggregate_names::by_value(name, call.arguments.first());
        let definition = self.comparable_window(over, whole)?;
        let value = self.call_of_window(call, &definition);
        self.made_of_aggregate(name, value, false)
    }

    /// What an aggregate of a frame is given.
    fn given_in_window(
        &mut self,
        function: AggregateFunction,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Given> {
        let FunctionArguments::List(list) = &call.args else {
            return Err(wrong_arguments(name, "", whole));
        };
        let refused = |what: &str| {
            let message = format!("{what} is not implemented for window functions");
            Err(at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), whole))
        };
        if list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct) {
            return refused("DISTINCT");
        }
        if !list.clauses.is_empty() {
            return refused("aggregate ORDER BY");
        }
        let arguments = self.arguments(function, name, list, false, whole)?;
        let filter = call.filter.as_deref();
        let filter = filter
            .map(|it| self.in_clause(Clause::Filter, |this| this.condition(it)))
            .transpose()?;
        Ok(Given { arguments, filter, ..Given::default() })
    }

    /// The values of a call that is no aggregate.
    fn plain_values(
        &mut self,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Vec<Expr>> {
        let list = match &call.args {
            FunctionArguments::None => return Ok(Vec::new()),
            FunctionArguments::List(list) => list,
            FunctionArguments::Subquery(_) => {
                return Err(unsupported("a subquery as the argument list of a function", whole));
            }
        };
        let refused =
            |what: &str| at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, what.to_owned()), whole);
        if call.filter.is_some() {
            let message = "FILTER is not implemented for non-aggregate window functions";
            return Err(refused(message));
        }
        if list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct) {
            return Err(refused("DISTINCT is not implemented for window functions"));
        }
        if !list.clauses.is_empty() {
            return Err(unsupported("a clause after the arguments of a function", whole));
        }
        let mut bound = Vec::with_capacity(list.args.len());
        for argument in &list.args {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument else {
                return Err(unsupported("a named argument, or * as one,", whole));
            };
            bound.push(self.expr(expr)?);
        }
        Ok(bound)
    }

    /// A function that is no aggregate.
    fn window_function(
        &mut self,
        function: WindowFunction,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<WindowCall> {
        use WindowFunction::{
            CumeDist, DenseRank, FirstValue, Lag, LastValue, Lead, NthValue, Ntile, PercentRank,
            Rank, RowNumber,
        };
        let mut arguments = self.plain_values(call, whole)?;
        let shown: Vec<String> = arguments.iter().map(|it| name_of(it.data_type)).collect();
        let none = || wrong_arguments(name, &shown.join(", "), whole);
        let counts: &[usize] = match function {
            RowNumber | Rank | DenseRank | PercentRank | CumeDist => &[0],
            Ntile | FirstValue | LastValue => &[1],
            NthValue => &[2],
            Lag | Lead => &[1, 2, 3],
            WindowFunction::Aggregate(_) => &[],
        };
        if !counts.contains(&arguments.len()) {
            return Err(none());
        }
        // The place of a whole number among the arguments.
        let number = if function == Ntile { 0 } else { 1 };
        if let Some(it) = arguments.get_mut(number) {
            *it = match it.data_type {
                DataType::SmallInt | DataType::Integer => it.clone(),
                DataType::Null => self.coerce_unknown(it.clone(), DataType::Integer)?,
                _ => return Err(none()),
            };
        }
        let data_type = match function {
            RowNumber | Rank | DenseRank => DataType::BigInt,
            PercentRank | CumeDist => DataType::Double,
            Ntile => DataType::Integer,
            _ => self.value_type(&mut arguments).map_err(|_| none())?,
        };
        let (frame, filter) = (Frame::default(), None);
        let order = 0;
        let ignore_nulls = false;
        Ok(WindowCall { function, arguments, filter, order, frame, ignore_nulls, data_type })
    }

    /// Brings the value and the default of a call to one type.
    fn value_type(&mut self, arguments: &mut [Expr]) -> SqlResult<DataType> {
        let mut values = vec![arguments[0].clone()];
        values.extend(arguments.get(2).cloned());
        let data_type = self.unify(&mut values, "a window function")?;
        let mut values = values.into_iter();
        for place in [0, 2] {
            if let (Some(argument), Some(value)) = (arguments.get_mut(place), values.next()) {
                *argument = value;
            }
        }
        Ok(data_type)
    }

    /// Window functions over rows: those of one partition whose orders go together share an operator.
    pub(super) fn windowed(&mut self, rel: Rel, windows: Vec<(Attr, BoundWindow)>) -> Rel {
        if windows.is_empty() {
            return rel;
        }
        let mut made = Vec::new();
        let mut shared: Vec<Window> = Vec::new();
        for (attr, BoundWindow { partition, order, call }) in windows {
            let mut own: Vec<Attr> = Vec::with_capacity(partition.len());
            for expr in partition {
                let attr = self.name_expr(super::coercion::key_of(expr), &mut made);
                if !own.contains(&attr) {
                    own.push(attr);
                }
            }
            let mut keys = Vec::with_capacity(order.len());
            for key in order {
                // What decides the order is computed once.
                let expr = super::coercion::key_of(key.expr);
                let attr = self.name_expr(expr, &mut made);
                keys.push(SortKey { expr: self.column_expr(attr), ..key });
            }
            let fits = |it: &&mut Window| {
                let common = it.keys.len().min(keys.len());
                is_same_set(&it.partition, &own) && it.keys[..common] == keys[..common]
            };
            match shared.iter_mut().find(fits) {
                Some(window) => {
                    if keys.len() > window.keys.len() {
                        window.keys = keys;
                    }
                    window.functions.push((attr, call));
                }
                None => {
                    let functions = vec![(attr, call)];
                    shared.push(Window { partition: own, keys, functions });
                }
            }
        }
        let rel = mapped(rel, made);
        shared.into_iter().fold(rel, |rel, Window { partition, keys, functions }| Rel::Window {
            input: Box::new(rel),
            partition,
            keys,
            functions,
        })
    }
}

/// A call of an aggregate, over a window that is yet to be said.
fn window_call(aggregate: Aggregate) -> WindowCall {
    WindowCall {
        function: WindowFunction::Aggregate(aggregate.function),
        arguments: aggregate.argument.into_iter().chain(aggregate.rest).collect(),
        filter: aggregate.filter,
        order: 0,
        frame: Frame::default(),
        ignore_nulls: false,
        data_type: aggregate.data_type,
    }
}

/// An error where a function is told what to do with NULLs and asks nobody.
fn check_takes_nulls(name: &str, call: &ast::Function, whole: &ast::Expr) -> SqlResult<()> {
    if call.null_treatment.is_none() {
        return Ok(());
    }
    let message = format!("function {name} does not accept RESPECT/IGNORE NULLS");
    Err(at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), whole))
}

fn is_same_set(left: &[Attr], right: &[Attr]) -> bool {
    left.len() == right.len() && left.iter().all(|it| right.contains(it))
}

/// Window functions that share an operator.
struct Window {
    partition: Vec<Attr>,
    keys: Vec<SortKey>,
    functions: Vec<(Attr, WindowCall)>,
}

/// Subqueries, with what is made of their rows.
type Subqueries = Vec<(Rel, Apply)>;

/// Parts subqueries into those below the windows and those that use what windows compute.
pub(super) fn part_of_windows(
    pending: Subqueries,
    windows: &[(Attr, BoundWindow)],
) -> (Subqueries, Subqueries) {
    let mut above: AttrSet = windows.iter().map(|it| it.0).collect();
    if above.is_empty() {
        return (pending, Vec::new());
    }
    let read: Vec<&Expr> = windows.iter().flat_map(|it| it.1.expressions()).collect();
    let read = AttrSet::of_all(&read);
    pending.into_iter().partition(|(right, kind)| {
        let mut used = right.free_attrs();
        match kind {
            Apply::Any { condition, .. } => used.add_expr(condition),
            Apply::Join { on, .. } => on.iter().for_each(|it| used.add_expr(it)),
            Apply::Scalar { .. } => {}
        }
        // Series make several rows of one when windows have seen it.
        let is_series = matches!(kind, Apply::Join { .. }) && !right.attrs().intersects(&read);
        let is_above = used.intersects(&above) || is_series;
        if let (true, Some(made)) = (is_above, kind.made()) {
            above.insert(made);
        }
        !is_above
    })
}
