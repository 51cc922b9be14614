//! WITH RECURSIVE: a query whose rows are made of its own rows, round by round.
//!
//! Key decision: the rows of all rounds, and of the last one, are tables that nobody has stored: the query scans them, and whoever
//! runs the plan fills them first ([`plan::relation::RecursiveQuery`]). So nothing else of binding, planning and execution knows
//! recursion. What such a query may be is looked at in its tree (`recursive_rules`).

use plan::relation::{Output, Query, RecursiveQuery};
use sqlparser::ast::{self, SetOperator};
use stdx::sync::Arc;
use types::{
    ColumnInfo, ColumnStatistics, DataType, SqlError, SqlResult, SqlState, TableId, TableInfo,
};

use super::errors::{Name, at};
use super::recursive_rows::RecursiveRows;
use super::recursive_rules::{Parts, parts};
use super::with::WithQuery;
use super::{Answer, Binder};
use crate::syntax::ident;

/// Where the ids of tables begin that nobody has stored: those of the catalog count from below, of views and files from above.
const FIRST_ID: u32 = 1 << 31;
/// The rows that such a table is expected to have.
const ROWS: u64 = 1000;
/// How often the digits of a number may grow before they are those of all rounds.
const ROUNDS_MAX: usize = 3;
/// The most digits of a number.
const DIGITS_MAX: u8 = 38;

impl<'a> Binder<'a> {
    /// Binds a WITH query that is made of itself. Tells where its rows are.
    pub(super) fn bind_recursive(&mut self, place: usize) -> SqlResult<RecursiveRows> {
        let cte = self.with[place].cte;
        let name = &cte.alias.name;
        let parts = parts(cte)?;
        let before = self.recursions.len();
        let (_, columns) = self.first_part(place, &parts, None)?;
        if columns.is_empty() {
            return Err(at(
                SqlError::unsupported("a recursive query without columns"),
                &Name(name),
            ));
        }
        let mut types: Vec<DataType> = columns.iter().map(|it| it.1).collect();
        for _ in 0..ROUNDS_MAX {
            self.recursions.truncate(before);
            let (first, columns) = self.first_part(place, &parts, Some(&types))?;
            let table = self.unstored(&ident(name), &columns);
            let seen = (!parts.all).then(|| self.unstored(&ident(name), &columns));
            match self.step_part(place, &parts, (&table, seen.as_ref()), &mut types)? {
                Some(step) => {
                    let seen = seen.map(|it| it.id);
                    let around = None;
                    let query = RecursiveQuery { table, seen, first, step, around };
                    let rows = self.depending(query)?;
                    self.with[place].rows = Some(rows.clone());
                    return Ok(rows);
                }
                None => continue,
            }
        }
        let message = format!(
            "the digits of a number of recursive query \"{}\" grow with each round",
            ident(name)
        );
        let hint = "cast the output of its recursive term to NUMERIC of some digits";
        Err(at(SqlError::unsupported(message).with_hint(hint), &Name(name)))
    }

    /// The rows of a table that nobody has stored.
    fn unstored_rows(&mut self, table: &Arc<TableInfo>) -> Answer {
        self.recursive_rows(&RecursiveRows { table: table.clone(), around: Vec::new() })
    }

    /// A table that nobody has stored: nothing is known of its rows.
    pub(super) fn unstored(
        &mut self,
        name: &str,
        columns: &[(String, DataType)],
    ) -> Arc<TableInfo> {
        let id = TableId(FIRST_ID + self.unstored_tables);
        self.unstored_tables += 1;
        let statistics = ColumnStatistics {
            nulls: 1,
            distinct: ROWS / 2,
            distinct_exact: false,
            min: None,
            max: None,
            sorted: false,
            widened: true,
        };
        let column = |(name, data_type): &(String, DataType)| ColumnInfo {
            name: name.clone(),
            data_type: *data_type,
            nullable: true,
            statistics: statistics.clone(),
            scan_bytes: 8 * ROWS,
            numbers_rows: false,
            index: None,
        };
        let columns = columns.iter().map(column).collect();
        Arc::new(TableInfo { id, name: name.to_owned(), columns, rows: ROWS, is_guess: true })
    }

    /// The term that is not recursive, with names and types of its columns. `types`: those that they shall have.
    fn first_part(
        &mut self,
        place: usize,
        parts: &Parts<'a>,
        types: Option<&[DataType]>,
    ) -> SqlResult<(Query, Vec<(String, DataType)>)> {
        let cte = self.with[place].cte;
        let query = self.part(place, None, |inner| {
            let mut answer = inner.body_with(parts.first, &cte.query)?;
            inner.decide_types(&mut answer)?;
            super::names::rename(&mut answer.columns, &cte.alias)?;
            if let Some(types) = types {
                inner.convert_columns(&mut answer, types)?;
            }
            if parts.all { Ok(answer) } else { inner.distinct_rows(answer) }
        })?;
        let of = |it: &Output| (it.name.clone(), query.attributes[it.attr].data_type);
        let columns: Vec<(String, DataType)> = query.output.iter().map(of).collect();
        if let Some(column) = columns.iter().find(|it| it.1 == DataType::Bpchar) {
            let message = format!("the column \"{}\" is CHAR of no one length", column.0);
            let hint = "cast it to CHAR(n), VARCHAR(n) or TEXT";
            return Err(SqlError::unsupported(message).with_hint(hint));
        }
        Ok((query, columns))
    }

    /// The recursive term: what a round makes of the rows of the last, less those `seen` where rows come once. Nothing where
    /// numbers have more digits than `types` say, which then says so.
    fn step_part(
        &mut self,
        place: usize,
        parts: &Parts<'a>,
        (table, seen): (&Arc<TableInfo>, Option<&Arc<TableInfo>>),
        types: &mut [DataType],
    ) -> SqlResult<Option<Query>> {
        let cte = self.with[place].cte;
        let mut grew = false;
        let query = self.part(place, Some(table), |inner| {
            let mut answer = inner.body_with(parts.step, &cte.query)?;
            if answer.columns.len() != types.len() {
                let message = "each UNION query must have the same number of columns";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), parts.step));
            }
            for (place, column) in answer.columns.iter().enumerate() {
                let own = inner.attributes[column.attr].data_type;
                let met = overall(types[place], own, (&ident(&cte.alias.name), place))
                    .map_err(|it| at(it, parts.step))?;
                grew |= met != types[place];
                types[place] = met;
            }
            inner.convert_columns(&mut answer, types)?;
            let Some(seen) = seen else { return Ok(answer) };
            let answer = inner.distinct_rows(answer)?;
            let known = inner.unstored_rows(seen);
            let names = answer.columns.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
            let mut new = inner.counted(SetOperator::Except, false, answer, known, types);
            new.columns.iter_mut().zip(names).for_each(|(it, name)| it.name = name);
            Ok(new)
        })?;
        Ok((!grew).then_some(query))
    }

    /// A part of a query in view of the WITH clause that stands before the whole.
    fn body_with(&mut self, body: &'a ast::SetExpr, whole: &'a ast::Query) -> SqlResult<Answer> {
        let known = self.with.len();
        if let Some(with) = &whole.with {
            self.add_with(with, whole)?;
        }
        let answer = self.body(body)?;
        self.close_with(known)?;
        Ok(answer)
    }

    /// Binds a part of a recursive query as a query of its own, which sees the WITH queries before it, and itself as a table.
    fn part(
        &mut self,
        place: usize,
        own: Option<&Arc<TableInfo>>,
        bind: impl FnOnce(&mut Self) -> SqlResult<Answer>,
    ) -> SqlResult<Query> {
        let mut inner = Binder::new(self.environment, &[]);
        self.lend(&mut inner);
        let shared = std::mem::take(&mut inner.shared);
        inner.parameters = std::mem::take(&mut self.parameters);
        inner.resolved = self.resolved.take();
        inner.rules = self.rules;
        inner.with = self.with[..place].iter().map(WithQuery::anew).collect();
        inner.lent_with = place;
        if let Some(own) = own {
            let mut query = self.with[place].anew();
            let rows = RecursiveRows { table: own.clone(), around: Vec::new() };
            (query.is_own, query.rows) = (true, Some(rows));
            inner.with.push(query);
        }
        let within = self.levels.split_off(self.with[place].levels);
        inner.levels = std::mem::take(&mut self.levels);
        let bound = bind(&mut inner);
        let of_part = std::mem::replace(&mut inner.shared, shared);
        self.parameters = std::mem::take(&mut inner.parameters);
        self.resolved = inner.resolved.take();
        self.is_stable &= inner.is_stable;
        self.levels = std::mem::take(&mut inner.levels);
        self.levels.extend(within);
        inner.lend(self);
        let answer = bound?;
        let output = answer.columns.into_iter().map(Output::from).collect();
        Ok(Query {
            attributes: self.attributes.clone(),
            scalars: Vec::new(),
            shared: of_part,
            root: answer.rel,
            output,
            recursions: Vec::new(),
        })
    }
}

/// The type of a column in all rounds: that of the term that is not recursive, or a number of more digits.
fn overall(first: DataType, step: DataType, (name, place): (&str, usize)) -> SqlResult<DataType> {
    if step == DataType::Null || step == first {
        return Ok(first);
    }
    let met = super::coercion::common([first, step].into_iter(), "UNION")?;
    match (first, met) {
        (first, met) if first == met => Ok(first),
        (DataType::Decimal { .. }, DataType::Numeric) => Ok(met),
        (DataType::Decimal { precision, scale }, DataType::Decimal { scale: wanted, .. }) => {
            match precision == DIGITS_MAX && wanted <= scale {
                true => Ok(first),
                false => Ok(DataType::Decimal { precision: DIGITS_MAX, scale: wanted.max(scale) }),
            }
        }
        (first, met) => {
            let name_of = super::coercion::name_of;
            let message = format!(
                "recursive query \"{name}\" column {} has type {} in non-recursive term but type {} overall",
                place + 1,
                name_of(first),
                name_of(met)
            );
            let hint = "Cast the output of the non-recursive term to the correct type.";
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).with_hint(hint))
        }
    }
}
