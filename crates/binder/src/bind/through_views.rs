//! What a statement that changes a view sees of the rows of its table.
//!
//! Key decision: the target is the table. The statement sees its rows, those that are there and the new ones, through what the
//! views make of them: columns of the table under other names, and what is computed of them. Rows that a view leaves out are left
//! out before anything else is asked of them.

use plan::relation::{Attr, Rel};
use plan::{Expr, ExprKind};
use types::{CheckOption, DataType, SqlError, SqlResult, Value, names};

use super::change::Target;
use super::changed_view::ChangedView;
use super::domain_rules::RowCheck;
use super::from::Source;
use super::level::{Clause, Level};
use super::scope::{Columns, Frame, Named, Relation};
use super::{Binder, OutputColumn, mapped};

/// A view, and whether it shows a row.
type ViewCondition = (String, Expr);
/// What is asked of a row, with the column of the answer.
type RowChecks = Vec<(RowCheck, OutputColumn)>;

/// What is asked of rows on their way through views.
#[derive(Clone, Copy)]
enum Asks {
    Nothing,
    /// Whether the views show them: others are left out.
    Rows,
    /// Whether those show them that want to be asked, as a value.
    New,
}

impl<'a> Binder<'a> {
    /// The columns by which the statement sees rows of its target: `row` are those of the table.
    pub(super) fn seen(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
    ) -> SqlResult<(Rel, Columns)> {
        if target.views.is_empty() {
            return Ok((rel, target.columns(|place| row[place])));
        }
        let (rel, columns, _) = self.through_views(rel, target, row, Asks::Nothing)?;
        Ok((rel, columns))
    }

    /// The frame of the target alone, as the statement sees it.
    pub(super) fn seen_frame(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
    ) -> SqlResult<(Rel, Frame)> {
        let (rel, columns) = self.seen(rel, target, row)?;
        Ok((rel, target.frame_of(columns)))
    }

    /// The rows of the target that its views show.
    pub(super) fn shown_rows(&mut self, target: &Target, source: Source) -> SqlResult<Source> {
        if target.views.is_empty() {
            return Ok(source);
        }
        let row = target.stored();
        let (rel, columns, _) = self.through_views(source.0, target, &row, Asks::Rows)?;
        Ok((rel, target.frame_of(columns)))
    }

    /// Adds to what is asked of new rows whether they are rows of the views that want that.
    pub(super) fn asked_by_views(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
        mut checks: RowChecks,
    ) -> SqlResult<(Rel, RowChecks)> {
        let rules = self.rules;
        if target.views.is_empty() || rules.views.iter().all(|it| it.view.check.is_none()) {
            return Ok((rel, checks));
        }
        let (rel, _, asked) = self.through_views(rel, target, row, Asks::New)?;
        let mut made = Vec::with_capacity(asked.len());
        for (name, condition) in asked {
            let truth = |it| Expr::literal(Value::Boolean(it), DataType::Boolean);
            // What is unknown is no row of the view.
            let (branches, otherwise) = (vec![(condition, truth(true))], truth(false));
            let kind = ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) };
            let attr = self.attribute(DataType::Boolean, true);
            made.push((attr, Expr { kind, data_type: DataType::Boolean }));
            let column = OutputColumn::made("check", attr);
            checks.push((RowCheck::View(name), column));
        }
        Ok((mapped(rel, made), checks))
    }

    /// What the views make of rows of the table, from the one that is made of it to the statement's.
    fn through_views(
        &mut self,
        mut rel: Rel,
        target: &Target,
        row: &[Attr],
        asks: Asks,
    ) -> SqlResult<(Rel, Columns, Vec<ViewCondition>)> {
        let stored = target.table.columns.iter().zip(row);
        let mut below: Vec<Named> = stored.map(|(it, attr)| Named::made(&it.name, *attr)).collect();
        let rules = self.rules;
        // Who changes a view reads nothing of the table; its owner does.
        let asked = self.asking.target.take();
        let mut conditions = Vec::new();
        for (number, view) in rules.views.iter().enumerate().rev() {
            let is_asked = match asks {
                Asks::Nothing => false,
                Asks::Rows => true,
                Asks::New => {
                    let above = &rules.views[..number];
                    let cascades = |it: &ChangedView| it.view.check == Some(CheckOption::Cascaded);
                    view.view.check.is_some() || above.iter().any(cascades)
                }
            };
            let asks = if is_asked { asks } else { Asks::Nothing };
            let condition;
            (rel, below, condition) = self.through_view(rel, view, below, asks)?;
            conditions.extend(condition.map(|it| (names::bare(&view.view.name), it)));
        }
        self.asking.target = asked;
        let computed = below.iter().map(|it| it.attr).filter(|it| !row.contains(it));
        self.ask_computed(&below, computed.collect());
        // What the statement sees are columns of the view that it names.
        if let Some(ChangedView { view, .. }) = rules.views.first() {
            let number = self.number_of(view.id, &view.name);
            let own = (0..).zip(below);
            below = own.map(|(place, it)| Named::stored(it.name, it.attr, number, place)).collect();
        }
        Ok((rel, Columns::Made(below), conditions))
    }

    fn through_view(
        &mut self,
        rel: Rel,
        view: &ChangedView,
        below: Vec<Named>,
        asks: Asks,
    ) -> SqlResult<(Rel, Vec<Named>, Option<Expr>)> {
        let changed = || SqlError::internal("a view that is changed is no plain one any more");
        let select = view.select().ok_or_else(changed)?;
        let shown = below.iter().filter(|it| !names::is_hidden(&it.name)).cloned().collect();
        let schema = view.of.0.clone();
        let relation =
            Relation { schema, ..Relation::of(Some(view.called.clone()), Columns::Made(shown)) };
        let level = Level::new(Frame::of(relation), rel, Clause::Where);
        let bound = view.query.walk(|_| {
            let mut inner = Binder::new(self.environment, &[]);
            inner.views = self.views + 1;
            self.lend(&mut inner);
            let around = inner.begin_view(&view.view.name);
            let bound = inner.in_level(level, |this| {
                let condition = match (asks, &select.selection) {
                    (Asks::Rows, Some(condition)) => {
                        this.filter(condition)?;
                        None
                    }
                    (Asks::New, Some(condition)) => Some(this.condition(condition)?),
                    _ => None,
                };
                let mut made = Vec::new();
                let mut columns = Vec::with_capacity(view.places.len());
                for ((item, place), (name, _)) in
                    view.items().zip(&view.places).zip(&view.view.columns)
                {
                    let attr = match place {
                        Some(place) => below[*place].attr,
                        None => {
                            let value = this.expr(item)?;
                            let value = match value.data_type {
                                DataType::Null => this.coerce_unknown(value, DataType::Text)?,
                                _ => value,
                            };
                            this.name_expr(value, &mut made)
                        }
                    };
                    columns.push(Named::made(name, attr));
                }
                Ok((made, columns, condition))
            });
            inner.end_view(around);
            let (views, is_stable) = (self.views, inner.is_stable);
            inner.lend(self);
            self.views = views;
            self.is_stable &= is_stable;
            bound
        });
        let ((made, columns, condition), level) =
            bound.map_err(|it| SqlError { position: None, ..it })?;
        Ok((mapped(level.input, made), columns, condition))
    }
}
