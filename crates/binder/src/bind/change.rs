//! INSERT, UPDATE, DELETE and MERGE, bound as queries: of each row that is changed its position, what the table holds of it
//! afterwards, and what RETURNING asks. So FROM, USING and RETURNING are what they are in any query.
//!
//! Key decision: the position is a hidden column of the table's scan, behind all others. No name means it.

use plan::Expr;
use plan::relation::{Attr, Output, Query, Rel, ScanRel};
use sqlparser::ast::{self, SetExpr, TableFactor};
use stdx::sync::Arc;
use types::{
    ColumnInfo, DataType, Privileges, SqlError, SqlResult, SqlState, TableInfo, names, numeric,
};

use super::asked::Asked;
use super::change_rules::{KeyOfRow, TargetRules, check_plain};
use super::changed_view::places_in_table;
use super::coercion::{fold_cast, name_of};
use super::domain_rules::RowCheck;
use super::errors::{Name, at, unsupported};
use super::from::Source;
use super::level::{Clause, Level};
use super::row_lock::RowLock;
use super::scope::{Columns, Frame, Named, Relation, is_named};
use super::{Answer, Binder, Environment, OutputColumn, ParameterTypes, mapped};
use crate::item_assignment::item_that_is_set;
use crate::overriding::Overriding;
use crate::syntax::{ident, name};
use crate::values::is_default;

/// A statement that changes rows, bound.
#[derive(Debug)]
pub struct BoundChange {
    /// What it does.
    pub kind: ChangeKind,
    /// The table that it changes.
    pub table: String,
    /// The rows that are changed: first a row's position, unless it is new; then all columns of the table as they shall be,
    /// unless the row goes; then the columns of RETURNING, and those of CHECK constraints.
    pub query: Query,
    /// How many columns of the query RETURNING asks for; `None` without RETURNING.
    pub returning: Option<usize>,
    /// The CHECK constraints whose truth of each row the last columns are.
    pub checks: Vec<RowCheck>,
    /// The keys of ON CONFLICT; behind all other columns those of new rows stand, key by key.
    pub keys: Vec<KeyOfRow>,
    /// The tables whose rows are locked, one for each of the first columns.
    pub locks: Vec<RowLock>,
    /// Whether binding at another time gives the same as long as the tables do not change.
    pub is_stable: bool,
    /// The types of its parameters.
    pub parameters: ParameterTypes,
    /// The rights that it needs.
    pub asked: Asked,
}

/// What a statement does with rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// New ones.
    Insert,
    /// Other values for some.
    Update,
    /// Some go.
    Delete,
    /// New ones, or other values for those that have their keys: positions are NULL of new ones.
    Upsert,
    /// Any of these. Behind the position, which is NULL of new ones, stands whether the row goes.
    Merge,
    /// Nothing, but others cannot change them meanwhile. A position stands for each table whose rows are locked.
    Lock,
}

impl ChangeKind {
    /// Whether it is about rows that are there.
    pub fn has_positions(self) -> bool {
        self != Self::Insert
    }

    /// Whether all its rows are new.
    pub fn is_new(self) -> bool {
        self == Self::Insert
    }

    /// Whether it changes nothing.
    pub fn is_lock(self) -> bool {
        self == Self::Lock
    }

    /// The rights that it needs of its table; those of a MERGE depend on its WHEN.
    fn rights(self) -> Privileges {
        match self {
            Self::Insert => Privileges::INSERT,
            Self::Update => Privileges::UPDATE,
            Self::Delete => Privileges::DELETE,
            Self::Upsert => Privileges::INSERT | Privileges::UPDATE,
            Self::Merge | Self::Lock => Privileges::NONE,
        }
    }

    /// What a client is told of so many rows.
    pub fn tag(self, count: usize) -> String {
        match self {
            Self::Insert | Self::Upsert => format!("INSERT 0 {count}"),
            Self::Update => format!("UPDATE {count}"),
            Self::Delete => format!("DELETE {count}"),
            Self::Merge => format!("MERGE {count}"),
            Self::Lock => format!("SELECT {count}"),
        }
    }

    /// Whether it leaves rows.
    pub fn has_rows(self) -> bool {
        !matches!(self, Self::Delete | Self::Lock)
    }
}

/// Binds a statement that changes rows, as [`super::bind`] does a query.
pub fn bind_change(
    statement: &ast::Query,
    parameters: &[Option<DataType>],
    environment: &Environment<'_>,
) -> SqlResult<BoundChange> {
    let expanded = crate::macros::expanded(statement, environment.catalog)?;
    let statement = expanded.as_deref().unwrap_or(statement);
    let rules = TargetRules::of(statement, environment.catalog)?;
    let filled = rules.with_defaults(statement, environment.catalog)?;
    if filled.is_some() {
        super::kept::check_alike(rules.all_defaults(), &environment.session.zone())?;
    }
    let statement = filled.as_ref().unwrap_or(statement);
    let is_stable = expanded.is_none();
    let mut binder = Binder { rules: &rules, is_stable, ..Binder::new(environment, parameters) };
    if let Some(with) = &statement.with {
        binder.add_with(with, statement)?;
    }
    let mut changed = match &*statement.body {
        SetExpr::Insert(ast::Statement::Insert(it)) => binder.insert(it)?,
        SetExpr::Update(ast::Statement::Update(it)) => binder.update(it)?,
        SetExpr::Delete(ast::Statement::Delete(it)) => binder.delete(it)?,
        SetExpr::Merge(ast::Statement::Merge(it)) => binder.merge(it)?,
        SetExpr::Select(select) if !statement.locks.is_empty() => {
            binder.locking(statement, select)?
        }
        other => return Err(unsupported("this change of data", other)),
    };
    binder.close_with(0)?;
    binder.decide_types(&mut changed.answer)?;
    let output = changed.answer.columns.into_iter().map(Output::from).collect();
    binder.ask_of_target(changed.kind.rights());
    let asked = binder.all_asked();
    let Binder { attributes, mut shared, recursions, is_stable, parameters, .. } = binder;
    let mut root = changed.answer.rel;
    Binder::use_items(shared.iter_mut().chain([&mut root]), environment)?;
    let scalars = Vec::new();
    let query = Query { attributes, scalars, shared, root, output, recursions };
    let Changed { kind, table, returning, checks, keys, locks, .. } = changed;
    Ok(BoundChange {
        kind,
        table,
        query,
        returning,
        checks,
        keys,
        locks,
        is_stable,
        parameters,
        asked,
    })
}

/// What a statement comes to.
pub(super) struct Changed {
    pub(super) kind: ChangeKind,
    pub(super) table: String,
    pub(super) answer: Answer,
    pub(super) returning: Option<usize>,
    pub(super) checks: Vec<RowCheck>,
    pub(super) keys: Vec<KeyOfRow>,
    pub(super) locks: Vec<RowLock>,
}

/// New rows on their way into a table.
pub(super) struct NewRows {
    pub(super) rel: Rel,
    /// The columns of the table, as they were given.
    pub(super) row: Vec<Attr>,
    /// The same, as they are read back.
    pub(super) shown: Vec<Attr>,
}

/// The table that is changed, in the query of its rows.
pub(super) struct Target {
    pub(super) table: Arc<TableInfo>,
    /// The name by which its columns are meant.
    pub(super) name: String,
    /// The schema that may stand before that name.
    schema: Option<String>,
    /// The attribute of its first column.
    pub(super) base: Attr,
    /// The number of the table, if it has one.
    number: Option<u32>,
    /// The columns of the view through which it is changed, with their places in the table; none where there is no view.
    pub(super) views: Vec<(String, Option<usize>)>,
}

impl Target {
    /// The hidden column.
    pub(super) fn position(&self) -> Attr {
        self.base + self.table.columns.len()
    }

    /// The place of a column that is assigned to.
    pub(super) fn place(&self, column: &ast::ObjectName) -> SqlResult<usize> {
        let [part] = &column.0[..] else {
            return Err(unsupported("a part of a column as what is assigned to", column));
        };
        let Some(named) = part.as_ident() else {
            return Err(unsupported("this as what is assigned to", column));
        };
        let stored = self.table.columns.iter();
        let place = match self.views.iter().find(|it| is_named(named, &it.0)) {
            Some((_, Some(place))) => Some(*place),
            Some((name, None)) => {
                let message = format!("cannot change column \"{name}\" of view \"{}\"", self.name);
                let detail =
                    "View columns that are not columns of their base relation are not updatable.";
                return Err(at(SqlError::unsupported(message).with_detail(detail), &Name(named)));
            }
            None if self.views.is_empty() => {
                stored.enumerate().find(|it| is_named(named, &it.1.name)).map(|it| it.0)
            }
            None => None,
        };
        place.ok_or_else(|| {
            let of = if self.views.is_empty() { &self.table.name } else { &self.name };
            let message =
                format!("column \"{}\" of relation \"{of}\" does not exist", ident(named));
            at(SqlError::new(SqlState::UNDEFINED_COLUMN, message), &Name(named))
        })
    }
}

impl<'a> Binder<'a> {
    /// Binds the table that a statement changes.
    pub(super) fn target(
        &mut self,
        named: &'a ast::ObjectName,
        alias: Option<&ast::Ident>,
    ) -> SqlResult<(Target, Source)> {
        let refused = |what: &str| {
            let message = format!("{what} \"{}\" cannot be changed", name(named));
            Err(at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), named))
        };
        let (schema, table) = self.relation_said(named)?;
        if table.quote_style == Some('\'') {
            return refused("the file");
        }
        if schema.as_ref().is_some_and(|it| it.eq_ignore_ascii_case("nodewise")) {
            return refused("the view");
        }
        let view = self.environment.catalog.view(schema.as_deref(), &ident(table));
        let through = self.rules.views.first().zip(self.rules.views.last());
        let (rel, frame) = match (&view, through) {
            (None, _) => self.table(schema.as_deref(), &ident(table)),
            (Some(view), Some((first, last))) if first.view.name == view.name => {
                self.table(last.of.0.as_deref(), &last.of.1)
            }
            (Some(view), _) => Err(super::changed_view::no_change(view)),
        }
        .map_err(|it| at(it, named))?;
        let Rel::Scan(ScanRel { table, base, filters, rows }) = rel else {
            return Err(SqlError::internal("a table that is changed is not scanned"));
        };
        if table.columns.is_empty() {
            return Err(unsupported("a change of a table without columns", named));
        }
        self.ask_schema(schema.as_deref());
        self.ask_target(&table, base, view.is_some());
        let positions = self.attribute(DataType::BigInt, false);
        let (schema, own) = names::split(view.as_ref().map_or(&table.name, |it| &it.name));
        let (schema, name) = match alias {
            Some(alias) => (None, ident(alias)),
            None => (Some(schema), own),
        };
        let views = match &view {
            None => Vec::new(),
            Some(_) => places_in_table(&self.rules.views),
        };
        let number = self.number_of(table.id, &table.name);
        let target = Target { table: table.clone(), name, schema, base, number, views };
        debug_assert_eq!(
            positions,
            target.position(),
            "the hidden column stands behind the others"
        );
        let frame = match alias {
            None => frame,
            Some(_) => target.frame_of(target.columns(|place| base + place)),
        };
        let table = Arc::new(table.with_positions());
        Ok((target, (Rel::Scan(ScanRel { table, base, filters, rows }), frame)))
    }

    pub(super) fn target_of(&mut self, factor: &'a TableFactor) -> SqlResult<(Target, Source)> {
        let TableFactor::Table { name, alias, .. } = factor else {
            return Err(unsupported("a change of anything but a table", factor));
        };
        let alias = match alias {
            Some(it) if !it.columns.is_empty() => {
                return Err(unsupported("names for the columns of a table that is changed", name));
            }
            other => other.as_ref().map(|it| &it.name),
        };
        self.target(name, alias)
    }

    fn delete(&mut self, delete: &'a ast::Delete) -> SqlResult<Changed> {
        let (ast::FromTable::WithFromKeyword(tables) | ast::FromTable::WithoutKeyword(tables)) =
            &delete.from;
        let factor = crate::clauses::only_table(tables)?;
        let (target, source) = self.target_of(factor)?;
        let source = self.shown_rows(&target, source)?;
        let source = match &delete.using {
            Some(others) => self.crossed(source, others)?,
            None => source,
        };
        let level = Level::new(source.1, source.0, Clause::Where);
        let ((), level) = self.in_level(level, |this| match &delete.selection {
            Some(condition) => this.filter(condition),
            None => Ok(()),
        })?;
        let columns = vec![target.position_output()];
        self.returning(
            ChangeKind::Delete,
            &target,
            (Answer { rel: level.input, columns }, &target.stored()),
            level.frame,
            delete.returning.as_deref(),
        )
    }

    fn update(&mut self, update: &'a ast::Update) -> SqlResult<Changed> {
        let factor = crate::clauses::only_table(std::slice::from_ref(&update.table))?;
        let (target, source) = self.target_of(factor)?;
        let source = self.shown_rows(&target, source)?;
        let source = match &update.from {
            Some(ast::UpdateTableFromKind::AfterSet(others)) => self.crossed(source, others)?,
            _ => source,
        };
        let level = Level::new(source.1, source.0, Clause::Where);
        let (values, level) = self.in_level(level, |this| {
            if let Some(condition) = &update.selection {
                this.filter(condition)?;
            }
            this.in_clause(Clause::Set, |this| this.assignments(&update.assignments, &target))
        })?;
        let old = |place: usize| target.base + place;
        let mut made = Vec::new();
        let mut row = Vec::with_capacity(values.len());
        for (place, value) in values.into_iter().enumerate() {
            row.push(match value {
                Some(value) => {
                    let attr = self.attribute(value.data_type, true);
                    made.push((attr, value));
                    attr
                }
                None => old(place),
            });
        }
        let rel = self.generated(mapped(level.input, made), &target, &mut row)?;
        let (rel, shown) = self.as_stored(rel, &target, &row);
        let (rel, checks) = self.checked(rel, &target, &shown)?;
        let mut frame = level.frame;
        let (rel, seen) = self.seen(rel, &target, &shown)?;
        frame.replace_first(seen);
        let columns = [target.position_output()].into_iter().chain(target.outputs(&row)).collect();
        let answer = (Answer { rel, columns }, &shown[..]);
        let asked = update.returning.as_deref();
        let changed = self.returning(ChangeKind::Update, &target, answer, frame, asked)?;
        Ok(changed.with_checks(checks))
    }

    fn insert(&mut self, insert: &'a ast::Insert) -> SqlResult<Changed> {
        let ast::TableObject::TableName(named) = &insert.table else {
            return Err(unsupported("INSERT into anything but a table", &insert.table));
        };
        let alias = insert.table_alias.as_ref().map(|it| &it.alias);
        let (target, _) = self.target(named, alias)?;
        let by_name = crate::overriding::is_by_name(&insert.columns);
        let columns = if by_name { &[][..] } else { &insert.columns[..] };
        let mut places = self.insert_places(columns, &target)?;
        let is_default = insert.source.is_none();
        let (rel, given) = self.given_rows(insert, &target, &places)?;
        if by_name {
            places = places_of(&given, &target)?;
        }
        if given.len() > places.len() && insert.columns.is_empty() {
            no_place_of_view(&target, places.len())?;
        }
        let may_be_few = insert.columns.is_empty() || is_default;
        as_many(places.len(), given.len(), may_be_few)?;
        places.iter().take(given.len()).for_each(|it| self.ask_of_column(Privileges::INSERT, *it));
        let mut made = Vec::new();
        let mut row = Vec::with_capacity(target.table.columns.len());
        let overriding = crate::overriding::of(insert);
        for (place, column) in target.table.columns.iter().enumerate() {
            let mut at_hand =
                places.iter().position(|it| *it == place).filter(|it| *it < given.len());
            match overriding {
                Some(Overriding::System) if !self.rules.is_generated(place) => {}
                Some(Overriding::User) if self.rules.identity(place).is_some() => at_hand = None,
                _ => {
                    let check = |it| self.rules.check_given(&column.name, place, it);
                    at_hand.map(check).transpose()?;
                }
            }
            let at_hand = at_hand.map(|it| &given[it]);
            let value = match at_hand {
                Some(it) => {
                    let given = self.column_expr(it.attr);
                    self.assigned_in(given, &target, place, true)?
                }
                None => self.default_of(&target, place)?,
            };
            row.push(match plan::relation::bare(&value) {
                Some(attr) => attr,
                None => {
                    let attr = self.attribute(value.data_type, true);
                    made.push((attr, value));
                    attr
                }
            });
        }
        let rel = self.generated(mapped(rel, made), &target, &mut row)?;
        let (rel, shown) = self.as_stored(rel, &target, &row);
        let rows = NewRows { rel, row, shown };
        if let Some(or) = insert.or {
            let rows = self.as_fitting(rows, &target)?;
            return self.or_else(insert, or, named, rows);
        }
        if let Some(ast::OnInsert::OnConflict(on)) = &insert.on {
            let rows = self.as_fitting(rows, &target)?;
            return self.on_conflict(insert, on, named, rows);
        }
        let NewRows { rel, row, shown } = rows;
        let (rel, checks) = self.checked(rel, &target, &shown)?;
        let (rel, frame) = self.seen_frame(rel, &target, &shown)?;
        let answer = (Answer { rel, columns: target.outputs(&row).collect() }, &shown[..]);
        let asked = insert.returning.as_deref();
        let changed = self.returning(ChangeKind::Insert, &target, answer, frame, asked)?;
        Ok(changed.with_checks(checks))
    }

    /// The places of the columns that INSERT names, or of all.
    pub(super) fn insert_places(
        &self,
        columns: &[ast::ObjectName],
        target: &Target,
    ) -> SqlResult<Vec<usize>> {
        let mut places = Vec::with_capacity(target.table.columns.len());
        for column in columns {
            let place = target.place(column)?;
            if places.contains(&place) {
                return Err(assigned_twice(SqlState::DUPLICATE_COLUMN, target, place, column));
            }
            places.push(place);
        }
        if places.is_empty() && !target.views.is_empty() {
            // Those behind one that is computed cannot be reached without their names.
            return Ok(target.views.iter().map_while(|it| it.1).collect());
        }
        if places.is_empty() {
            let shown = |it: &usize| !names::is_hidden(&target.table.columns[*it].name);
            places = (0..target.table.columns.len()).filter(shown).collect();
        }
        Ok(places)
    }

    /// A value for a column; texts are read where `reads` says so.
    pub(super) fn assigned_to(
        &mut self,
        value: &'a ast::Expr,
        target: &Target,
        place: usize,
        reads: bool,
    ) -> SqlResult<Expr> {
        if is_default(value) {
            return self.default_of(target, place);
        }
        if let Some(set) = item_that_is_set(value) {
            return self.with_item(set, target, place, value);
        }
        let bound = self.declared(value)?;
        self.assigned_in(bound, target, place, reads).map_err(|it| at(it, value))
    }

    /// [`Self::assigned`] in a column, which may keep a part of it.
    pub(super) fn assigned_in(
        &mut self,
        value: Expr,
        target: &Target,
        place: usize,
        reads: bool,
    ) -> SqlResult<Expr> {
        let column = &target.table.columns[place];
        self.note_domain(&value, self.rules.domain(place));
        let value = self.assigned(value, &column.name, column.data_type, reads)?;
        match self.rules.fields(place) {
            Some(fields) => self.fitted(value, fields),
            None => Ok(value),
        }
    }

    /// A value that a column takes; what it does to the value is done where that is stored. `reads`: whether texts are read
    /// as values of other types, as those of VALUES are.
    pub(super) fn assigned(
        &mut self,
        value: Expr,
        name: &str,
        to: DataType,
        reads: bool,
    ) -> SqlResult<Expr> {
        let mut value = value;
        if to.element().is_some() && super::coercion::is_without_value(&value) {
            value.data_type = to;
        }
        let from = value.data_type;
        Ok(match (from, to) {
            // What is more than a letter or a name has is left out.
            (_, DataType::Letter | DataType::Name) if from == DataType::Null || from.is_text() => {
                self.converted(value, to)?
            }
            (DataType::Null, _) if to.is_text() => self.coerce_unknown(value, DataType::Text)?,
            (
                DataType::Null,
                DataType::Array(_) | DataType::Struct(_) | DataType::Map(_) | DataType::Bits(_),
            ) => self.stored_as(value, to)?,
            (DataType::Null, _) => self.coerce_unknown(value, to)?,
            // Its blanks go, and what is left must fit.
            (DataType::Bpchar, _) if to.is_text() => fold_cast(value, DataType::Text),
            _ if from.is_text() && to.is_text() => value,
            _ if to.is_text() => fold_cast(value, DataType::Text),
            // What is stored as something else is held so from here on.
            _ if (from.stored() != from || to.stored() != to)
                && numeric::is_assignable(from, to) =>
            {
                self.stored_as(value, to)?
            }
            // It is converted where it is stored, whose errors name the column.
            _ if numeric::is_assignable(from, to) => value,
            _ if reads && from.is_text() => self.stored_as(value, to)?,
            _ => {
                let message = format!(
                    "column \"{name}\" is of type {} but expression is of type {}",
                    name_of(to),
                    name_of(from)
                );
                let hint = "You will need to rewrite or cast the expression.";
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).with_hint(hint));
            }
        })
    }

    /// The rows that INSERT gives, none of DEFAULT VALUES, and their columns.
    fn given_rows(
        &mut self,
        insert: &'a ast::Insert,
        target: &Target,
        places: &[usize],
    ) -> SqlResult<(Rel, Vec<OutputColumn>)> {
        let Some(source) = &insert.source else {
            return Ok((super::level::one_row(), Vec::new()));
        };
        let mut answer = self.inserted(source, target, places)?;
        self.decide_types(&mut answer)?;
        Ok((answer.rel, answer.columns))
    }

    /// The rows that INSERT gives: where VALUES has a parameter of unknown type, it is of that of the column it goes to.
    fn inserted(
        &mut self,
        source: &'a ast::Query,
        target: &Target,
        places: &[usize],
    ) -> SqlResult<Answer> {
        let is_plain = source.with.is_none()
            && source.order_by.is_none()
            && source.limit_clause.is_none()
            && source.fetch.is_none();
        match &*source.body {
            SetExpr::Values(values) if is_plain => {
                let stored = |place: &usize| {
                    let data_type = match target.table.columns[*place].data_type {
                        it if it.is_text() => DataType::Text,
                        it => it,
                    };
                    (data_type, self.rules.domain(*place))
                };
                let types: Vec<_> = places.iter().map(stored).collect();
                self.values(values, &types)
            }
            _ => self.query(source),
        }
    }

    /// The columns of a row as they are read back: texts have the length of their column.
    pub(super) fn as_stored(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
    ) -> (Rel, Vec<Attr>) {
        let mut made = Vec::new();
        let mut shown = row.to_vec();
        for (attr, column) in shown.iter_mut().zip(&target.table.columns) {
            if self.attributes[*attr].data_type != column.data_type {
                let value = fold_cast(self.column_expr(*attr), column.data_type);
                *attr = self.attribute(column.data_type, true);
                made.push((*attr, value));
            }
        }
        (mapped(rel, made), shown)
    }

    /// The default of a column.
    pub(super) fn default_of(&mut self, target: &Target, place: usize) -> SqlResult<Expr> {
        let column = &target.table.columns[place];
        let Some(default) = self.rules.default_of(place) else {
            return Ok(plan::build::null(column.data_type));
        };
        check_plain(default, "a DEFAULT expression")?;
        let level = Level::new(Frame::default(), super::level::one_row(), Clause::Default);
        let (bound, _) = self.in_level(level, |this| {
            let bound = this.expr(default)?;
            this.assigned_in(bound, target, place, false)
        })?;
        Ok(bound)
    }

    /// Adds the truth of each CHECK constraint of the rows.
    pub(super) fn checked(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
    ) -> SqlResult<(Rel, Vec<(RowCheck, OutputColumn)>)> {
        let (rel, columns) = self.checks_of_table(rel, target, row)?;
        self.asked_by_views(rel, target, row, columns)
    }

    /// Adds the truth of each CHECK constraint of the table.
    pub(super) fn checks_of_table(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
    ) -> SqlResult<(Rel, Vec<(RowCheck, OutputColumn)>)> {
        let rules = self.rules;
        let (mut made, mut columns) = (Vec::new(), Vec::new());
        let mut rel = rel;
        for (check, condition) in &rules.checks {
            check_plain(condition, "check constraint")?;
            let level = Level::new(target.own_frame(|place| row[place]), rel, Clause::Check);
            let bound =
                self.within_rules(|this| this.in_level(level, |this| this.condition(condition)));
            let (truth, level) = bound?;
            rel = level.input;
            let attr = self.attribute(DataType::Boolean, true);
            made.push((attr, truth));
            columns.push((check.clone(), OutputColumn::made("check", attr)));
        }
        Ok((mapped(rel, made), columns))
    }
}

/// An error where INSERT gives more values than it names columns, or fewer where it may not.
fn as_many(named: usize, given: usize, may_be_few: bool) -> SqlResult<()> {
    if given == named || given < named && may_be_few {
        return Ok(());
    }
    let message = format!("INSERT names {named} columns but gives {given} values");
    Err(SqlError::new(SqlState::SYNTAX, message))
}

impl Changed {
    /// With the truth of CHECK constraints behind what RETURNING asks.
    pub(super) fn with_checks(mut self, checks: Vec<(RowCheck, OutputColumn)>) -> Self {
        let (checks, columns): (Vec<_>, Vec<_>) = checks.into_iter().unzip();
        self.checks = checks;
        self.answer.columns.extend(columns);
        self
    }
}

impl Target {
    pub(super) fn position_output(&self) -> OutputColumn {
        OutputColumn::made("row position", self.position())
    }

    /// Its columns in a query's result.
    pub(super) fn outputs(&self, row: &[Attr]) -> impl Iterator<Item = OutputColumn> {
        let named = self.table.columns.iter().zip(row);
        named.map(|(column, &attr)| OutputColumn::made(&column.name, attr))
    }

    /// Its columns under their names, by attributes for their places.
    pub(super) fn columns(&self, attr: impl Fn(usize) -> Attr) -> Columns {
        let named = self.table.columns.iter().enumerate();
        let named = named.filter(|it| !names::is_hidden(&it.1.name));
        let own = |(place, it): (usize, &ColumnInfo)| {
            Named::stored(it.name.clone(), attr(place), self.number, place)
        };
        Columns::Made(named.map(own).collect())
    }

    /// The frame of it alone under its own name, as its rules name it.
    pub(super) fn own_frame(&self, attr: impl Fn(usize) -> Attr) -> Frame {
        let columns = self.columns(attr);
        Frame::of(Relation::of(Some(names::bare(&self.table.name)), columns))
    }

    /// The attributes of its columns as they are stored.
    pub(super) fn stored(&self) -> Vec<Attr> {
        (0..self.table.columns.len()).map(|it| self.base + it).collect()
    }

    /// The frame of it alone, of these columns.
    pub(super) fn frame_of(&self, columns: Columns) -> Frame {
        let (name, schema) = (Some(self.name.clone()), self.schema.clone());
        Frame::of(Relation { schema, ..Relation::of(name, columns) })
    }
}

/// A value that is assigned: an expression of the statement, or a column of a subquery.
pub(super) enum Given<'a> {
    Written(&'a ast::Expr),
    Bound(Expr),
}

/// The places of the columns of the names that a query gives.
fn places_of(given: &[OutputColumn], target: &Target) -> SqlResult<Vec<usize>> {
    let mut places = Vec::with_capacity(given.len());
    for column in given {
        let name = ast::ObjectName::from(vec![ast::Ident::with_quote('"', &column.name)]);
        let place = target.place(&name)?;
        if places.contains(&place) {
            return Err(assigned_twice(SqlState::DUPLICATE_COLUMN, target, place, &name));
        }
        places.push(place);
    }
    Ok(places)
}

/// PostgreSQL has other states of it for INSERT and for UPDATE.
pub(super) fn assigned_twice(
    state: SqlState,
    target: &Target,
    place: usize,
    column: &ast::ObjectName,
) -> SqlError {
    let name = &target.table.columns[place].name;
    let message = format!("column \"{name}\" is assigned to more than once");
    at(SqlError::new(state, message), column)
}

/// The column of a view that has no place, if that is the next one: told by its name.
fn no_place_of_view(target: &Target, next: usize) -> SqlResult<()> {
    if let Some((name, None)) = target.views.get(next) {
        target.place(&ast::ObjectName::from(vec![ast::Ident::with_quote('"', name)]))?;
    }
    Ok(())
}
