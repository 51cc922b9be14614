//! Functions that make rows: `generate_series(first, last [, step])` of numbers and of points of time, DuckDB's `range`, which
//! leaves its end out, `generate_subscripts`, and `unnest` of arrays; others are in `catalog_rows`. In FROM they may use what stands left of them; in a
//! select list each row comes once for each of their values, and several of them go on side by side.
//!
//! Key decision: a row is repeated and numbered (`repeated_rows`); values of a series follow from the number, and the items
//! of arrays are handed out by the operator that repeats, so that none is looked for from the first item on.

use plan::relation::{Apply, Rel};
use plan::{BinaryOperator, Expr, Function};
use sqlparser::ast::{self, Spanned, TableAlias};
use types::{DataType, Element, SqlError, SqlResult, SqlState, Value};

use super::coercion::name_of;
use super::errors::{at, unsupported};
use super::level::{Clause, Level, one_row};
use super::row_functions::EXPAND_ARRAY;
use super::scope::{Frame, Named};
use super::series_parts::{Part, Rule, SeriesInList};
use super::{Answer, Binder, OutputColumn};

impl<'a> Binder<'a> {
    /// Such a function in FROM.
    pub(super) fn series_source(
        &mut self,
        name: &str,
        arguments: Vec<&'a ast::Expr>,
        with_ordinality: bool,
        (alias, node): (Option<&'a TableAlias>, &impl Spanned),
    ) -> SqlResult<(Rel, Frame)> {
        let each: Vec<Vec<&'a ast::Expr>> = match name {
            "unnest" => arguments.into_iter().map(|it| vec![it]).collect(),
            _ => vec![arguments],
        };
        let (mut rel, mut parts) = (one_row(), Vec::with_capacity(each.len()));
        for arguments in each {
            let (input, part) = self.rows_of_call(name, &arguments, rel, node)?;
            rel = input;
            parts.push(part);
        }
        let own = alias.map_or_else(|| name.to_owned(), |it| crate::syntax::ident(&it.name));
        // DuckDB's range keeps the name of its column.
        let keeps = parts.len() > 1 || name == "range";
        let of_column = if keeps { name.to_owned() } else { own.clone() };
        let (rel, number) = self.side_by_side(rel, &parts)?;
        let (rel, mut columns) = match name {
            "unnest" => self.columns_of_items(rel, &of_column, &parts)?,
            _ => {
                let column = |it: &Part| OutputColumn::made(&of_column, it.value);
                (rel, parts.iter().map(column).collect())
            }
        };
        if with_ordinality {
            columns.push(OutputColumn::made("ordinality", number));
        }
        let (rel, frame) = self.called(own, Answer { rel, columns }, alias)?;
        Ok((rel, if name == "range" { frame.with_value() } else { frame }))
    }

    /// The columns of the items of arrays: those of a composite type are its fields.
    fn columns_of_items(
        &mut self,
        mut rel: Rel,
        name: &str,
        parts: &[Part],
    ) -> SqlResult<(Rel, Vec<OutputColumn>)> {
        let mut columns = Vec::with_capacity(parts.len());
        for part in parts {
            let item = self.column_expr(part.value);
            let of = match item.data_type {
                DataType::Struct(of) if !of.name().is_empty() => of,
                _ => {
                    columns.push(OutputColumn::made(name, part.value));
                    continue;
                }
            };
            let (names, values): (Vec<_>, Vec<_>) = self.all_fields(&item, of)?.into_iter().unzip();
            let (with_fields, own) = self.named_values(values, rel);
            rel = with_fields;
            for (name, value) in names.iter().zip(&own) {
                let attr = plan::relation::bare(value)
                    .ok_or_else(|| SqlError::internal("a field without a column"))?;
                columns.push(OutputColumn::made(name, attr));
            }
        }
        Ok((rel, columns))
    }

    /// The rows of a function in FROM, under an alias or its own name.
    pub(super) fn called(
        &mut self,
        own: String,
        answer: Answer,
        alias: Option<&'a TableAlias>,
    ) -> SqlResult<(Rel, Frame)> {
        if alias.is_some() {
            return self.derived(answer, alias);
        }
        let columns = answer.columns.into_iter().map(Named::from).collect();
        Ok((answer.rel, Frame::of_made(own, columns)))
    }

    /// Such a function in a select list: each row comes once for each of its values, and NULL stands where another such
    /// function has more of them.
    pub(super) fn series_in_list(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let clause = self.level().clause;
        if clause != Clause::Select {
            let message = format!("set-returning functions are not allowed in {}", clause.name());
            return Err(at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), whole));
        }
        let ast::FunctionArguments::List(list) = &call.args else {
            return Err(super::aggregate_types::wrong_arguments(name, "", whole));
        };
        let arguments = super::named_arguments::placed(name, &list.args, whole)?;
        let before = self.level().series.take();
        let input = before.as_ref().map_or_else(one_row, |it| it.input.clone());
        let (input, part) = self.rows_of_call(name, &arguments, input, whole)?;
        let value = part.value;
        let (place, mut parts) = match before {
            Some(it) => (Some(it.place), it.parts),
            None => (None, Vec::new()),
        };
        parts.push(part);
        let (rel, _) = self.side_by_side(input.clone(), &parts)?;
        let place = match place {
            Some(place) => {
                self.level().pending[place].0 = rel;
                place
            }
            None => {
                self.attach(rel, Apply::Join { outer: false, on: Vec::new() })?;
                self.level().pending.len() - 1
            }
        };
        self.level().series = Some(SeriesInList { place, input, parts });
        Ok(self.column_expr(value))
    }

    /// How many functions of the select list have made rows so far.
    pub(super) fn series_count(&mut self) -> usize {
        self.level().series.as_ref().map_or(0, |it| it.parts.len())
    }

    /// Refuses functions that make rows where not all of an expression is computed.
    pub(super) fn no_series_since(
        &mut self,
        before: usize,
        within: &str,
        whole: &ast::Expr,
    ) -> SqlResult<()> {
        if self.series_count() == before {
            return Ok(());
        }
        let message = format!("set-returning functions are not allowed in {within}");
        let hint = "You might be able to move the set-returning function into a LATERAL FROM item.";
        let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).with_hint(hint);
        Err(at(error, whole))
    }

    /// What a call makes of a row: its arguments are computed over `input`.
    pub(super) fn rows_of_call(
        &mut self,
        name: &str,
        arguments: &[&'a ast::Expr],
        input: Rel,
        node: &impl Spanned,
    ) -> SqlResult<(Rel, Part)> {
        if super::row_functions::makes_rows(name) {
            return self.json_items(name, arguments, input, node);
        }
        let level = Level::new(Frame::default(), input, Clause::From);
        let (mut bound, level) = self.in_level(level, |this| {
            arguments.iter().map(|it| this.expr(it)).collect::<SqlResult<Vec<_>>>()
        })?;
        let shown: Vec<String> = bound.iter().map(|it| name_of(it.data_type)).collect();
        let none = || {
            let message = format!("function {name}({}) does not exist", shown.join(", "));
            at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), node)
        };
        if matches!(name, "unnest" | "string_to_table" | "regexp_split_to_table") {
            let array = match name {
                "unnest" => bound.pop().map(|it| self.ranges_in(it)).transpose()?,
                "string_to_table" => self.parts_of_text(Function::StringToArray, bound)?,
                _ => self.parts_of_text(Function::RegexpSplit, bound)?,
            };
            let array = array.filter(|_| name != "unnest" || shown.len() == 1);
            return self.items_of(array.ok_or_else(none)?, level.input).ok_or_else(none)?;
        }
        if matches!(name, "regexp_matches" | "pg_listening_channels" | EXPAND_ARRAY) {
            return self.other_rows(name, bound, level.input)?.ok_or_else(none);
        }
        if name == "generate_subscripts" {
            bound = self.subscripts(bound).ok_or_else(none)??;
        }
        let is_moment = |it: &Expr| {
            matches!(it.data_type, DataType::Date | DataType::Timestamp | DataType::TimestampTz)
        };
        let exclusive = name == "range";
        let of_moments = bound.iter().take(2).any(is_moment);
        match bound.len() {
            1 if exclusive => bound.insert(0, integer(0)),
            2 | 3 => {}
            _ => return Err(none()),
        }
        if of_moments {
            let [_, _, step] = &mut bound[..] else { return Err(none()) };
            if step.data_type == DataType::Null {
                *step = self.coerce_unknown(step.clone(), DataType::Interval)?;
            }
            if step.data_type != DataType::Interval {
                return Err(none());
            }
            if exclusive {
                self.leave_out_moment(&mut bound, node)?;
            }
            return self.series_of_moments(bound, level.input);
        }
        if bound.len() == 2 {
            bound.push(integer(1));
        }
        let data_type = self.unify(&mut bound, name).map_err(|_| none())?;
        let exact = matches!(data_type, DataType::Decimal { .. } | DataType::Numeric);
        if !data_type.is_integer() && !exact {
            return Err(none());
        }
        if exclusive {
            self.leave_out_end(&mut bound, node)?;
        }
        self.series_of_numbers(bound, data_type, level.input)
    }

    /// The array of the parts of a text; `None` where the arguments are none of `string_to_array`.
    fn parts_of_text(&mut self, function: Function, bound: Vec<Expr>) -> SqlResult<Option<Expr>> {
        let types: Vec<DataType> = bound.iter().map(|it| it.data_type).collect();
        let Ok(signature) = functions::resolve(function, &types) else {
            return Ok(None);
        };
        let texts = bound.into_iter().map(|it| self.converted(it, DataType::Text));
        let texts = texts.collect::<SqlResult<Vec<_>>>()?;
        Ok(Some(self.fold_call(function, texts, signature.result)?))
    }

    /// The items of an array; `None` of what is none.
    pub(super) fn items_of(&mut self, array: Expr, input: Rel) -> Option<SqlResult<(Rel, Part)>> {
        let element = array.data_type.element()?;
        let (input, own) = self.named_values(vec![array], input);
        let [array] = &own[..] else { return None };
        let attr = plan::relation::bare(array)?;
        let count = self.fold_call(Function::Cardinality, own.clone(), DataType::Integer);
        Some(count.map(|count| {
            let length = super::coercion::fold_cast(count, DataType::BigInt);
            let value = self.attribute(element, true);
            (input, Part { length, rule: Rule::Items(attr), value })
        }))
    }

    /// The matches of a pattern, each an array; `None` where the arguments are none.
    pub(super) fn matches_of_text(
        &mut self,
        bound: Vec<Expr>,
        input: Rel,
    ) -> SqlResult<Option<(Rel, Part)>> {
        let Some(all) = self.parts_of_text(Function::RegexpMatches, bound)? else {
            return Ok(None);
        };
        let Some(items) = self.items_of(all, input) else { return Ok(None) };
        let (input, part) = items?;
        let texts = DataType::Array(Element::Text);
        let value = super::coercion::fold_cast(self.column_expr(part.value), texts);
        Ok(Some((input, self.made_of_items(part, value))))
    }

    /// Items as other values that are made of them.
    pub(super) fn made_of_items(&mut self, part: Part, value: Expr) -> Part {
        let Rule::Items(array) = part.rule else { return part };
        let attr = self.attribute(value.data_type, true);
        Part { rule: Rule::Made { array, item: part.value, value }, value: attr, ..part }
    }

    /// First, last and step of the subscripts of a dimension of an array.
    fn subscripts(&mut self, bound: Vec<Expr>) -> Option<SqlResult<Vec<Expr>>> {
        let mut bound = bound.into_iter();
        let (array, dimension, reverse) = (bound.next()?, bound.next()?, bound.next());
        array.data_type.element()?;
        let reverse = match reverse {
            None => false,
            Some(it) => *super::constant(&it)? == Value::Boolean(true),
        };
        let dimension = match dimension.data_type {
            it if it.is_integer() => super::coercion::fold_cast(dimension, DataType::BigInt),
            _ => return None,
        };
        let mut side = |function| {
            let arguments = vec![array.clone(), dimension.clone()];
            self.fold_call(function, arguments, DataType::Integer)
        };
        let (lower, upper) = match (side(Function::ArrayLower), side(Function::ArrayUpper)) {
            (Ok(lower), Ok(upper)) => (lower, upper),
            (Err(error), _) | (_, Err(error)) => return Some(Err(error)),
        };
        Some(Ok(match reverse {
            false => vec![lower, upper, integer(1)],
            true => vec![upper, lower, integer(-1)],
        }))
    }

    /// The last number of a series of whole numbers that ends before its end.
    fn leave_out_end(&mut self, bound: &mut [Expr], node: &impl Spanned) -> SqlResult<()> {
        let forward = match super::constant(&bound[2]) {
            Some(Value::Integer(step)) => *step > 0,
            _ => return Err(unsupported("range by a step that is no constant", node)),
        };
        let one = integer(if forward { 1 } else { -1 });
        let end = bound[1].clone();
        if let Some(last) = self.calculate(BinaryOperator::Subtract, end, one) {
            bound[1] = last?;
        }
        Ok(())
    }

    /// The last moment of a series that ends before its end; days are points of time of DuckDB's `range`.
    fn leave_out_moment(&mut self, bound: &mut [Expr], node: &impl Spanned) -> SqlResult<()> {
        let back = match super::constant(&bound[2]) {
            Some(Value::Decimal { unscaled, .. }) if *unscaled > 0 => "-1 microsecond",
            Some(Value::Decimal { unscaled, .. }) if *unscaled < 0 => "1 microsecond",
            // None is as long as that, which is told where the series is made.
            Some(_) => return Ok(()),
            None => return Err(unsupported("range by a step that is no constant", node)),
        };
        for it in &mut bound[..2] {
            if it.data_type == DataType::Date {
                *it = super::coercion::fold_cast(it.clone(), DataType::Timestamp);
            }
        }
        let open = bound[1].data_type == DataType::Null;
        let end = match open {
            true => self.coerce_unknown(bound[1].clone(), bound[0].data_type)?,
            false => bound[1].clone(),
        };
        let text = Expr::literal(Value::Text(back.into()), DataType::Null);
        let span = self.coerce_unknown(text, DataType::Interval)?;
        bound[1] = self.later(end, span)?;
        Ok(())
    }

    fn series_of_numbers(
        &mut self,
        bound: Vec<Expr>,
        data_type: DataType,
        input: Rel,
    ) -> SqlResult<(Rel, Part)> {
        let (input, own) = self.named_values(bound, input);
        let length = self.fold_call(Function::SeriesLength, own.clone(), DataType::BigInt)?;
        let [first, _, step] = own.try_into().map_err(|_| SqlError::internal("no series"))?;
        let value = self.attribute(data_type, true);
        Ok((input, Part { length, rule: Rule::Numbers { first, step, data_type }, value }))
    }

    /// A series of timestamps is one of timestamps; one that has dates or moments in it is of moments, as in PostgreSQL.
    fn series_of_moments(&mut self, mut bound: Vec<Expr>, input: Rel) -> SqlResult<(Rel, Part)> {
        let step = bound.pop().ok_or_else(|| SqlError::internal("a series without a step"))?;
        let is_local =
            bound.iter().all(|it| matches!(it.data_type, DataType::Timestamp | DataType::Null));
        let data_type = if is_local { DataType::Timestamp } else { DataType::TimestampTz };
        let mut values = Vec::with_capacity(3);
        for it in bound {
            values.push(self.converted(it, data_type)?);
        }
        values.push(step);
        let (input, own) = self.named_values(values, input);
        let zone = (!is_local).then(|| self.session_zone());
        let arguments = own.iter().cloned().chain(zone.clone()).collect();
        let length = self.fold_call(Function::SeriesMoments, arguments, DataType::BigInt)?;
        let [first, _, step] = own.try_into().map_err(|_| SqlError::internal("no series"))?;
        let value = self.attribute(data_type, true);
        Ok((input, Part { length, rule: Rule::Moments { first, step, zone, data_type }, value }))
    }
}

/// A whole number as a constant of the type that its text has.
pub(super) fn integer(value: i64) -> Expr {
    let data_type = if i32::try_from(value).is_ok() { DataType::Integer } else { DataType::BigInt };
    Expr::literal(Value::Integer(value), data_type)
}

/// A truth as a constant.
pub(super) fn boolean(value: bool) -> Expr {
    Expr::literal(Value::Boolean(value), DataType::Boolean)
}
