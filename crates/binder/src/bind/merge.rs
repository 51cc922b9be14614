//! MERGE: a table joined with other rows, and for each pair, or row without a partner, what the first WHEN that holds says.
//!
//! Key decision: one query. A column says by number which WHEN holds; the values of a row are a CASE over it, so that what is
//! not chosen is not computed. Rows for which nothing is to be done leave the query.

use plan::build::unary;
use plan::relation::{Attr, Rel};
use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use sqlparser::ast::{self, MergeAction, MergeClauseKind};
use types::{DataType, Privileges, SqlError, SqlResult, SqlState, Value};

use super::change::{ChangeKind, Changed, Target};
use super::coercion::fold_cast;
use super::domain_rules::RowCheck;
use super::errors::{at, unsupported};
use super::from::Kind;
use super::level::{Clause, Level, one_row};
use super::scope::Frame;
use super::{Answer, Binder, OutputColumn, mapped};
use crate::merge_words::{is_defaults, is_nothing};
use crate::values::is_default;

/// What happens with a row.
enum Action {
    Nothing,
    Delete,
    /// The values of all columns; `None` for those that stay.
    Row(Vec<Option<Expr>>),
}

/// A WHEN: its number, whether it holds of a row that none before it is for, and what it does.
struct When {
    number: i64,
    condition: Expr,
    action: Action,
    name: &'static str,
}

/// The columns that a WHEN sees.
struct Frames {
    table: Frame,
    source: Frame,
    both: Frame,
}

/// How the sides of a pair are told to be there.
struct Sides {
    position: Attr,
    present: Attr,
}

impl<'a> Binder<'a> {
    pub(super) fn merge(&mut self, merge: &'a ast::Merge) -> SqlResult<Changed> {
        let (target, table) = self.target_of(&merge.table)?;
        let (table, table_frame) = self.shown_rows(&target, table)?;
        let level = Level::new(Frame::default(), one_row(), Clause::From);
        let ((source, source_frame), _) =
            self.in_level(level, |this| this.factor(&merge.source))?;
        let present = self.attribute(DataType::Boolean, true);
        let source = mapped(source, vec![(present, truth(true))]);
        let has = |wanted: &[MergeClauseKind]| {
            merge.clauses.iter().any(|it| wanted.contains(&it.clause_kind))
        };
        let new = has(&[MergeClauseKind::NotMatched, MergeClauseKind::NotMatchedByTarget]);
        let kind = match (new, has(&[MergeClauseKind::NotMatchedBySource])) {
            (false, false) => Kind::Inner,
            (false, true) => Kind::Left,
            (true, false) => Kind::Right,
            (true, true) => Kind::Full,
        };
        let sides = ((table, table_frame.clone()), (source, source_frame.clone()));
        let (rel, both) = self.join_on(sides.0, sides.1, kind, &merge.on)?;
        let frames = Frames { table: table_frame, source: source_frame, both };
        let sides = Sides { position: target.position(), present };
        let (rel, whens) = self.whens(merge, rel, &target, &frames, &sides)?;
        self.merged(merge, rel, &target, whens, frames.source)
    }

    /// Binds all WHEN in their order.
    fn whens(
        &mut self,
        merge: &'a ast::Merge,
        mut rel: Rel,
        target: &Target,
        frames: &Frames,
        sides: &Sides,
    ) -> SqlResult<(Rel, Vec<When>)> {
        let mut whens: Vec<When> = Vec::new();
        let mut closed: Vec<Side> = Vec::new();
        for (number, clause) in merge.clauses.iter().enumerate() {
            let side = Side::of(clause.clause_kind);
            if closed.contains(&side) {
                let message = "unreachable WHEN clause specified after unconditional WHEN clause";
                return Err(at(SqlError::new(SqlState::SYNTAX, message), merge));
            }
            if clause.predicate.is_none() {
                closed.push(side);
            }
            let frame = match side {
                Side::Both => &frames.both,
                Side::Source => &frames.source,
                Side::Table => &frames.table,
            };
            let level = Level::new(frame.clone(), rel, Clause::When);
            let ((predicate, action), level) = self.in_level(level, |this| {
                let predicate = clause.predicate.as_ref();
                let predicate = predicate.map(|it| this.condition(it)).transpose()?;
                let action = this.in_clause(Clause::Set, |this| this.action(clause, target))?;
                Ok((predicate, action))
            })?;
            rel = level.input;
            let is_of = side.is_of(self, sides);
            let condition = match predicate {
                Some(predicate) => either_of(vec![(is_of, predicate)], truth(false)),
                None => is_of,
            };
            let name = match clause.action {
                MergeAction::Insert(_) => "INSERT",
                MergeAction::Update(_) => "UPDATE",
                MergeAction::Delete { .. } => "DELETE",
            };
            whens.push(When { number: number as i64, condition, action, name });
        }
        Ok((rel, whens))
    }

    fn action(&mut self, clause: &'a ast::MergeClause, target: &Target) -> SqlResult<Action> {
        if is_nothing(&clause.action) {
            return Ok(Action::Nothing);
        }
        self.ask_of_target(match &clause.action {
            MergeAction::Delete { .. } => Privileges::DELETE,
            MergeAction::Update(_) => Privileges::UPDATE,
            MergeAction::Insert(_) => Privileges::INSERT,
        });
        match &clause.action {
            MergeAction::Delete { .. } => Ok(Action::Delete),
            MergeAction::Update(update) => {
                if update.update_predicate.is_some() || update.delete_predicate.is_some() {
                    let message = "syntax error: WHERE in an action of MERGE";
                    return Err(SqlError::new(SqlState::SYNTAX, message));
                }
                Ok(Action::Row(self.assignments(&update.assignments, target)?))
            }
            MergeAction::Insert(insert) => self.new_row(insert, target).map(Action::Row),
        }
    }

    /// The values of a new row.
    fn new_row(
        &mut self,
        insert: &'a ast::MergeInsertExpr,
        target: &Target,
    ) -> SqlResult<Vec<Option<Expr>>> {
        let columns = target.table.columns.len();
        let values: &'a [ast::Expr] = match &insert.kind {
            _ if is_defaults(insert) => &[],
            ast::MergeInsertKind::Values(values) => match &values.rows[..] {
                [row] => &row.content,
                _ => {
                    let message = "syntax error: MERGE inserts one row";
                    return Err(SqlError::new(SqlState::SYNTAX, message));
                }
            },
            ast::MergeInsertKind::Row => {
                return Err(SqlError::new(SqlState::SYNTAX, "syntax error: INSERT ROW"));
            }
        };
        if insert.insert_predicate.is_some() {
            let message = "syntax error: WHERE in an action of MERGE";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        let places = self.insert_places(&insert.columns, target)?;
        let few = values.len() < places.len() && !insert.columns.is_empty() && !is_defaults(insert);
        if few || values.len() > places.len() {
            let (named, given) = (places.len(), values.len());
            let message = format!("INSERT names {named} columns but gives {given} values");
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
        let given = places.iter().take(values.len());
        given.for_each(|it| self.ask_of_column(Privileges::INSERT, *it));
        let mut row = Vec::with_capacity(columns);
        for place in 0..columns {
            let given = places.iter().position(|it| *it == place).and_then(|it| values.get(it));
            row.push(Some(match given {
                Some(value) => {
                    if !is_default(value) {
                        let name = &target.table.columns[place].name;
                        self.rules.check_given(name, place, usize::MAX)?;
                    }
                    self.assigned_to(value, target, place, true)?
                }
                None => self.default_of(target, place)?,
            }));
        }
        Ok(row)
    }

    /// The rows that are changed: by the number of the WHEN that holds, what they become.
    fn merged(
        &mut self,
        merge: &'a ast::Merge,
        rel: Rel,
        target: &Target,
        whens: Vec<When>,
        source: Frame,
    ) -> SqlResult<Changed> {
        let chosen = self.attribute(DataType::BigInt, true);
        let number = |it: i64| Expr::literal(Value::Integer(it), DataType::BigInt);
        let branch = |it: &When| match it.action {
            Action::Nothing => (it.condition.clone(), plan::build::null(DataType::BigInt)),
            _ => (it.condition.clone(), number(it.number)),
        };
        let none = plan::build::null(DataType::BigInt);
        let choice = either_of(whens.iter().map(branch).collect(), none);
        let which = self.column_expr(chosen);
        let rel = mapped(rel, vec![(chosen, choice)])
            .filtered(vec![unary(UnaryOperator::IsNotNull, which.clone())]);
        let is = |it: &When| {
            plan::build::compare(BinaryOperator::Equal, which.clone(), number(it.number))
        };
        let gone = whens.iter().filter(|it| matches!(it.action, Action::Delete));
        let gone = either_of(gone.map(|it| (is(it), truth(true))).collect(), truth(false));
        let names = whens.iter().map(|it| (is(it), text(it.name))).collect();
        let mut made = Vec::new();
        let (deleted, action) =
            (self.attribute(DataType::Boolean, false), self.attribute(DataType::Text, true));
        made.push((deleted, gone));
        made.push((action, either_of(names, plan::build::null(DataType::Text))));
        let mut last = Vec::with_capacity(target.table.columns.len());
        for place in 0..target.table.columns.len() {
            // Lengths of texts are checked where they are stored.
            let data_type = match target.table.columns[place].data_type {
                it if it.is_text() => DataType::Text,
                it => it,
            };
            let old = fold_cast(self.column_expr(target.base + place), data_type);
            let value = |it: &When| match &it.action {
                Action::Row(values) => Some((is(it), fold_cast(values[place].clone()?, data_type))),
                _ => None,
            };
            let value = either_of(whens.iter().filter_map(value).collect(), old);
            // A text that comes may be longer than those of the column.
            let value = match value.kind {
                ExprKind::Case { .. } => Expr { data_type, ..value },
                _ => value,
            };
            last.push(self.attribute(data_type, true));
            made.push((last[place], value));
        }
        let rel = self.generated(mapped(rel, made), target, &mut last)?;
        let (rel, read) = self.as_stored(rel, target, &last);
        let (rel, checks) = self.checked(rel, target, &read)?;
        let (rel, checks) = self.but_deleted(rel, checks, deleted);
        let marks = [target.position_output(), OutputColumn::made("row is deleted", deleted)];
        let columns = marks.into_iter().chain(target.outputs(&last)).collect();
        let asked = returning_of(merge)?;
        let (rel, frame) = self.seen_frame(rel, target, &read)?;
        let frame = source.beside(frame);
        self.merge_action = Some(action);
        let answer = (Answer { rel, columns }, &read[..]);
        let changed = self.returning(ChangeKind::Merge, target, answer, frame, asked)?;
        Ok(changed.with_checks(checks))
    }

    /// CHECK constraints hold of rows that go.
    fn but_deleted(
        &mut self,
        rel: Rel,
        checks: Vec<(RowCheck, OutputColumn)>,
        deleted: Attr,
    ) -> (Rel, Vec<(RowCheck, OutputColumn)>) {
        let mut made = Vec::with_capacity(checks.len());
        let each = |(check, it): (RowCheck, OutputColumn)| {
            let branches = vec![(self.column_expr(deleted), truth(true))];
            let held = either_of(branches, self.column_expr(it.attr));
            let attr = self.attribute(DataType::Boolean, true);
            made.push((attr, held));
            (check, OutputColumn { attr, ..it })
        };
        let checks = checks.into_iter().map(each).collect();
        (mapped(rel, made), checks)
    }
}

/// What RETURNING asks.
fn returning_of(merge: &ast::Merge) -> SqlResult<Option<&[ast::SelectItem]>> {
    match &merge.output {
        None => Ok(None),
        Some(ast::OutputClause::Returning { select_items, .. }) => Ok(Some(&select_items[..])),
        Some(other) => Err(unsupported("MERGE .. OUTPUT", other)),
    }
}

/// Whose row a WHEN is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Source,
    Table,
}

impl Side {
    fn of(kind: MergeClauseKind) -> Self {
        match kind {
            MergeClauseKind::Matched => Self::Both,
            MergeClauseKind::NotMatched | MergeClauseKind::NotMatchedByTarget => Self::Source,
            MergeClauseKind::NotMatchedBySource => Self::Table,
        }
    }

    /// Whether a row is such a one.
    fn is_of(self, binder: &Binder<'_>, sides: &Sides) -> Expr {
        let is = |attr: Attr, there: bool| {
            let operator = if there { UnaryOperator::IsNotNull } else { UnaryOperator::IsNull };
            unary(operator, binder.column_expr(attr))
        };
        match self {
            Self::Both => {
                let branches = vec![(is(sides.position, true), is(sides.present, true))];
                either_of(branches, truth(false))
            }
            Self::Source => is(sides.position, false),
            Self::Table => is(sides.present, false),
        }
    }
}

/// The value of the first branch whose condition holds.
fn either_of(branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    if branches.is_empty() {
        return otherwise;
    }
    let data_type = otherwise.data_type;
    Expr { kind: ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) }, data_type }
}

fn truth(value: bool) -> Expr {
    Expr::literal(Value::Boolean(value), DataType::Boolean)
}

fn text(value: &str) -> Expr {
    Expr::literal(Value::Text(value.into()), DataType::Text)
}
