//! INSERT .. ON CONFLICT: the new rows are joined with those of the table that have their keys.

use plan::build::{compare, unary};
use plan::relation::{Attr, JoinRel, Rel, RelJoin};
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast::{self, ConflictTarget, OnConflictAction};
use types::{DataType, Privileges, SqlError, SqlResult, SqlState, UniqueKey, Value};

use super::change::{ChangeKind, Changed, NewRows, Target};
use super::change_rules::{KeyOfRow, named};
use super::coercion::{fold_cast, nested_call};
use super::domain_rules::RowCheck;
use super::errors::{Name, at};
use super::level::{Clause, Level};
use super::scope::{Frame, Relation, is_named};
use super::{Answer, Binder, OutputColumn, mapped};
use crate::index_words;
use crate::syntax::ident;

impl<'a> Binder<'a> {
    /// INSERT .. ON CONFLICT. The key columns of the new rows come last, so that new rows can be told from one another.
    pub(super) fn on_conflict(
        &mut self,
        insert: &'a ast::Insert,
        on: &'a ast::OnConflict,
        named: &'a ast::ObjectName,
        rows: NewRows,
    ) -> SqlResult<Changed> {
        let alias = insert.table_alias.as_ref().map(|it| &it.alias);
        let key = match &on.conflict_target {
            Some(wanted) => Some(self.conflict_key(named, wanted)?),
            None => None,
        };
        let asked = insert.returning.as_deref();
        let update = match &on.action {
            OnConflictAction::DoNothing => {
                if key.is_none() && self.rules.keys.iter().any(|it| it.is_deferrable) {
                    return Err(at(no_arbiter(), named));
                }
                let keys = key.map_or_else(|| self.rules.keys.clone(), |it| vec![it]);
                return self.or_nothing((named, alias), &keys, rows, asked);
            }
            OnConflictAction::DoUpdate(update) => Some(update),
        };
        let Some(key) = key else {
            let message =
                "ON CONFLICT DO UPDATE requires inference specification or constraint name";
            let error = SqlError::new(SqlState::SYNTAX, message);
            return Err(at(error.with_hint("For example, ON CONFLICT (column_name)."), named));
        };
        self.or_update((named, alias), key, rows, update, asked)
    }

    /// DuckDB's INSERT OR IGNORE and INSERT OR REPLACE: rows whose keys are there are left out, or take the places of those.
    pub(super) fn or_else(
        &mut self,
        insert: &'a ast::Insert,
        or: ast::SqliteOnConflict,
        named: &'a ast::ObjectName,
        rows: NewRows,
    ) -> SqlResult<Changed> {
        let alias = insert.table_alias.as_ref().map(|it| &it.alias);
        let asked = insert.returning.as_deref();
        let keys = self.rules.keys.clone();
        if or != ast::SqliteOnConflict::Replace {
            return self.or_nothing((named, alias), &keys, rows, asked);
        }
        match <[UniqueKey; 1]>::try_from(keys) {
            Ok([key]) => self.or_update((named, alias), key, rows, None, asked),
            Err(_) => {
                let message = "INSERT OR REPLACE needs a table with one key";
                let hint = "say which one by ON CONFLICT (column) DO UPDATE";
                Err(at(SqlError::new(SqlState::SYNTAX, message).with_hint(hint), named))
            }
        }
    }

    /// ON CONFLICT DO UPDATE; without assignments all columns become those of the new row.
    fn or_update(
        &mut self,
        (named, alias): (&'a ast::ObjectName, Option<&'a ast::Ident>),
        key: UniqueKey,
        rows: NewRows,
        update: Option<&'a ast::DoUpdate>,
        asked: Option<&'a [ast::SelectItem]>,
    ) -> SqlResult<Changed> {
        let (target, source) = self.target(named, alias)?;
        let NewRows { rel, row, shown } = rows;
        let on = self.same_key(&key, &shown, target.base);
        let rel = joined(RelJoin::Left, rel, source.0, on);
        let (rel, there) = match target.views.is_empty() {
            true => (rel, source.1),
            false => self.seen_frame(rel, &target, &target.stored())?,
        };
        let (rel, columns) = self.seen(rel, &target, &shown)?;
        let excluded = Relation::of(Some("excluded".to_owned()), columns);
        let frame = there.beside(Frame::of(excluded));
        let level = Level::new(frame, rel, Clause::Where);
        let ((truth, values), level) = self.in_level(level, |this| {
            let Some(update) = update else {
                let all = 0..target.table.columns.len();
                all.for_each(|it| this.ask_of_column(Privileges::UPDATE, it));
                let new = shown.iter().map(|it| Some(this.column_expr(*it))).collect();
                return Ok((None, new));
            };
            let truth = update.selection.as_ref().map(|it| this.condition(it)).transpose()?;
            let values =
                this.in_clause(Clause::Set, |this| this.assignments(&update.assignments, &target))?;
            Ok((truth, values))
        })?;
        let is_new = unary(UnaryOperator::IsNull, self.column_expr(target.position()));
        let mut rel = level.input;
        if let Some(truth) = truth {
            rel = rel.filtered(vec![either(is_new.clone(), truth)]);
        }
        let (mut last, made) = self.new_or_updated(&target, &is_new, &row, values);
        let rel = self.generated(mapped(rel, made), &target, &mut last)?;
        let (rel, read) = self.as_stored(rel, &target, &last);
        let (rel, checks) = self.checked(rel, &target, &read)?;
        let columns = [target.position_output()].into_iter().chain(target.outputs(&last)).collect();
        let (rel, frame) = self.seen_frame(rel, &target, &read)?;
        let answer = (Answer { rel, columns }, &read[..]);
        let changed = self.returning(ChangeKind::Upsert, &target, answer, frame, asked)?;
        Ok(changed.with_checks(checks).with_keys(self, &[key], &shown))
    }

    /// The columns of rows as they shall be: those of the new row where it is new, else those of the old one as assigned.
    fn new_or_updated(
        &mut self,
        target: &Target,
        is_new: &Expr,
        row: &[Attr],
        values: Vec<Option<Expr>>,
    ) -> (Vec<Attr>, Vec<(Attr, Expr)>) {
        let mut made = Vec::with_capacity(row.len());
        for (place, value) in values.into_iter().enumerate() {
            // Lengths of texts are checked where they are stored.
            let data_type = match target.table.columns[place].data_type {
                it if it.is_text() => DataType::Text,
                it => it,
            };
            let new = fold_cast(self.column_expr(row[place]), data_type);
            let old = value.unwrap_or_else(|| self.column_expr(target.base + place));
            let otherwise = Some(Box::new(fold_cast(old, data_type)));
            let kind = ExprKind::Case { branches: vec![(is_new.clone(), new)], otherwise };
            made.push((self.attribute(data_type, true), Expr { kind, data_type }));
        }
        (made.iter().map(|it| it.0).collect(), made)
    }

    /// ON CONFLICT DO NOTHING: new rows whose keys the table has are left out.
    fn or_nothing(
        &mut self,
        (named, alias): (&'a ast::ObjectName, Option<&ast::Ident>),
        keys: &[UniqueKey],
        NewRows { mut rel, row, shown }: NewRows,
        asked: Option<&'a [ast::SelectItem]>,
    ) -> SqlResult<Changed> {
        let (target, _) = self.target(named, alias)?;
        for key in keys {
            let (known, source) = self.target(named, alias)?;
            let on = self.same_key(key, &shown, known.base);
            rel = joined(RelJoin::Anti, rel, source.0, on);
        }
        let (rel, checks) = self.checked(rel, &target, &shown)?;
        let columns = target.outputs(&row).collect();
        let (rel, frame) = self.seen_frame(rel, &target, &shown)?;
        let answer = (Answer { rel, columns }, &shown[..]);
        let changed = self.returning(ChangeKind::Insert, &target, answer, frame, asked)?;
        Ok(changed.with_checks(checks).with_keys(self, keys, &shown))
    }

    /// The columns of a new row as they are read back, of which all is asked here that a row must be: whether the table has a row
    /// of their key is asked before they are stored, and rows that are left out must be right as well.
    ///
    /// Errors at run time: 22001 for a text too long for its column, 23502 for NULL where there is none, 23514 for a CHECK that is false.
    pub(super) fn as_fitting(&mut self, rows: NewRows, target: &Target) -> SqlResult<NewRows> {
        let NewRows { rel, row, mut shown } = rows;
        let (mut made, mut asked) = (Vec::new(), Vec::new());
        for ((attr, given), column) in shown.iter_mut().zip(&row).zip(&target.table.columns) {
            let data_type = column.data_type;
            if *attr != *given && data_type.said_length().is_some() {
                let fitting = nested_call(Function::NestedFit, self.column_expr(*given), data_type);
                *attr = self.attribute(data_type, true);
                made.push((*attr, fitting));
                // True, but only once the text is made.
                let test = |operator| unary(operator, self.column_expr(*attr));
                asked.push(either(test(UnaryOperator::IsNull), test(UnaryOperator::IsNotNull)));
            }
        }
        let text = |it: &str| Expr::literal(Value::Text(it.into()), DataType::Text);
        let none = || Expr::literal(Value::Null, DataType::Text);
        let table = text(&target.table.name);
        for (attr, column) in shown.iter().zip(&target.table.columns) {
            if !column.nullable && self.attributes[*attr].nullable {
                let is_null = unary(UnaryOperator::IsNull, self.column_expr(*attr));
                asked.push(unless(is_null, [table.clone(), text(&column.name), none()]));
            }
        }
        let (mut rel, checks) = self.checks_of_table(mapped(rel, made), target, &shown)?;
        for (check, column) in &checks {
            if let RowCheck::Table(name) = check {
                let is_false = unary(UnaryOperator::IsFalse, self.column_expr(column.attr));
                asked.push(unless(is_false, [table.clone(), none(), text(name)]));
            }
        }
        if !asked.is_empty() {
            rel = rel.filtered(asked);
        }
        Ok(NewRows { rel, row, shown })
    }

    /// A column as a part of a key: values that are equal may be held otherwise.
    fn key_part(&self, attr: Attr) -> Expr {
        super::coercion::key_of(self.column_expr(attr))
    }

    /// That a new row has the key of a row of the table.
    fn same_key(&self, key: &UniqueKey, new: &[Attr], base: Attr) -> Vec<Expr> {
        let operator = match key.nulls_equal {
            true => BinaryOperator::IsNotDistinctFrom,
            false => BinaryOperator::Equal,
        };
        let same = |place: usize| {
            compare(operator, self.key_part(new[place]), self.key_part(base + place))
        };
        key.columns.iter().map(|it| same(it.index())).collect()
    }

    /// The key that ON CONFLICT names, which is never broken for a while.
    fn conflict_key(
        &mut self,
        named: &'a ast::ObjectName,
        wanted: &'a ConflictTarget,
    ) -> SqlResult<UniqueKey> {
        let key = self.inferred_key(named, wanted)?;
        key.columns.iter().for_each(|it| self.ask_of_column(Privileges::SELECT, it.index()));
        if key.is_deferrable { Err(at(no_arbiter(), named)) } else { Ok(key) }
    }

    /// By a constraint, or by all that it is of in any order.
    fn inferred_key(
        &mut self,
        named: &'a ast::ObjectName,
        wanted: &'a ConflictTarget,
    ) -> SqlResult<UniqueKey> {
        let (target, _) = self.target(named, None)?;
        // Who asks for a key learns which are there.
        self.ask_of_target(Privileges::SELECT);
        let keys = &self.rules.keys;
        match wanted {
            ConflictTarget::OnConstraint(constraint) => {
                let name = constraint.0.last().and_then(|it| it.as_ident());
                let is_it = |key: &&UniqueKey| {
                    key.is_constraint && name.is_some_and(|it| is_named(it, &key.name))
                };
                keys.iter().find(is_it).cloned().ok_or_else(|| {
                    let message = format!(
                        "constraint \"{}\" for table \"{}\" does not exist",
                        crate::syntax::name(constraint),
                        target.table.name
                    );
                    at(SqlError::new(SqlState::UNDEFINED_OBJECT, message), constraint)
                })
            }
            ConflictTarget::Columns(columns) => {
                let (wanted, holds) = wanted_items(columns, &target)?;
                let is_it = |key: &&UniqueKey| {
                    let (items, condition) = self.rules.inferred(key, &target.table);
                    items.iter().all(|it| wanted.contains(it))
                        && wanted.iter().all(|it| items.contains(it))
                        && condition.iter().all(|it| holds.contains(it))
                };
                let mut found = keys.iter().filter(is_it).collect::<Vec<_>>();
                found.sort_by_key(|it| it.is_deferrable);
                found.first().map(|it| UniqueKey::clone(it)).ok_or_else(|| {
                    let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
                    at(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message), named)
                })
            }
        }
    }
}

/// What ON CONFLICT names of a key, and what it says that holds of the rows.
fn wanted_items(columns: &[ast::Ident], target: &Target) -> SqlResult<(Vec<String>, Vec<String>)> {
    if let [only] = columns
        && let Some((items, condition)) = index_words::inferred(only)?
    {
        let holds = condition.as_ref().map_or_else(Vec::new, index_words::conjuncts);
        return Ok((items.iter().map(index_words::normalized).collect(), holds));
    }
    let mut items = Vec::with_capacity(columns.len());
    for column in columns {
        let stored = target.table.columns.iter().position(|it| is_named(column, &it.name));
        let place = match target.views.iter().find(|it| is_named(column, &it.0)) {
            Some((_, place)) => *place,
            None => stored.filter(|_| target.views.is_empty()),
        };
        let place = place.ok_or_else(|| {
            let message = format!("column \"{}\" does not exist", ident(column));
            at(SqlError::new(SqlState::UNDEFINED_COLUMN, message), &Name(column))
        })?;
        items.push(index_words::normalized(&named(&target.table.columns[place].name)));
    }
    Ok((items, Vec::new()))
}

impl Changed {
    /// With the columns of keys behind all others.
    fn with_keys(mut self, binder: &mut Binder<'_>, keys: &[UniqueKey], row: &[Attr]) -> Self {
        let mut made = Vec::new();
        for key in keys {
            let (columns, nulls_equal) = (key.columns.len(), key.nulls_equal);
            self.keys.push(KeyOfRow { columns, nulls_equal });
            for column in &key.columns {
                let value = binder.key_part(row[column.index()]);
                let attr = match value.kind {
                    ExprKind::Column(attr) => attr,
                    _ => {
                        let attr = binder.attribute(value.data_type, true);
                        made.push((attr, value));
                        attr
                    }
                };
                self.answer.columns.push(OutputColumn::made(&*key.name, attr));
            }
        }
        self.answer.rel = mapped(self.answer.rel, made);
        self
    }
}

/// 55000: a key that may be broken for a while tells nothing.
fn no_arbiter() -> SqlError {
    let message = "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters";
    SqlError::new(SqlState::NOT_IN_STATE, message)
}

fn joined(kind: RelJoin, left: Rel, right: Rel, on: Vec<Expr>) -> Rel {
    Rel::Join(Box::new(JoinRel { residual: on, ..JoinRel::new(kind, left, right) }))
}

/// True, but an error where something holds of a row, about a table, a column of it, or a CHECK.
fn unless(wrong: Expr, about: [Expr; 3]) -> Expr {
    let data_type = DataType::Boolean;
    let kind = ExprKind::Call { function: Function::RaiseRow, arguments: about.to_vec() };
    let raised = Expr { kind, data_type };
    let otherwise = Some(Box::new(Expr::literal(Value::Boolean(true), data_type)));
    Expr { kind: ExprKind::Case { branches: vec![(wrong, raised)], otherwise }, data_type }
}

fn either(left: Expr, right: Expr) -> Expr {
    let operator = BinaryOperator::Or;
    let kind = ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) };
    Expr { kind, data_type: DataType::Boolean }
}
