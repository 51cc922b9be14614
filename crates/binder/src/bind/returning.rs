//! RETURNING: what it asks of the rows that are changed, and what it calls them.

use plan::Expr;
use plan::relation::{Attr, Rel};
use sqlparser::ast;
use types::{DataType, SqlResult};

use super::change::{ChangeKind, Changed, Target};
use super::level::{Clause, Level};
use super::scope::{Frame, Relation};
use super::{Answer, Binder, OutputColumn, mapped};

impl<'a> Binder<'a> {
    /// Adds what RETURNING asks of the rows; `row` are the columns of the table that are left.
    pub(super) fn returning(
        &mut self,
        kind: ChangeKind,
        target: &Target,
        (Answer { rel, mut columns }, row): (Answer, &[Attr]),
        frame: Frame,
        asked: Option<&'a [ast::SelectItem]>,
    ) -> SqlResult<Changed> {
        let table = target.table.name.clone();
        let Some(asked) = asked else {
            let answer = Answer { rel, columns };
            return Ok(Changed {
                kind,
                table,
                answer,
                returning: None,
                checks: Vec::new(),
                keys: Vec::new(),
                locks: Vec::new(),
            });
        };
        let (rel, frame) = self.with_sides(kind, target, (rel, row), frame)?;
        let level = Level::new(frame, rel, Clause::Returning);
        let mut items = Vec::new();
        let ((), level) = self.in_level(level, |this| this.listed(asked, true, &mut items))?;
        let mut made = Vec::new();
        let count = items.len();
        for item in items {
            let attr = self.name_expr(item.expr, &mut made);
            columns.push(OutputColumn { name: item.name, attr, origin: item.origin });
        }
        let answer = Answer { rel: mapped(level.input, made), columns };
        Ok(Changed {
            kind,
            table,
            answer,
            returning: Some(count),
            checks: Vec::new(),
            keys: Vec::new(),
            locks: Vec::new(),
        })
    }

    /// The rows before and after the change beside those that RETURNING sees, by the names `old` and `new`: of NULLs where there
    /// is none.
    fn with_sides(
        &mut self,
        kind: ChangeKind,
        target: &Target,
        (rel, row): (Rel, &[Attr]),
        mut frame: Frame,
    ) -> SqlResult<(Rel, Frame)> {
        if frame.relation(None, &ast::Ident::with_quote('"', &target.name)).is_none() {
            return Ok((rel, frame));
        }
        let own = row.to_vec();
        let mut made = Vec::new();
        let missing = |this: &mut Self, made: &mut Vec<(Attr, Expr)>| -> Vec<Attr> {
            let types: Vec<DataType> = target.table.columns.iter().map(|it| it.data_type).collect();
            let null = |data_type| {
                let attr = this.attribute(data_type, true);
                made.push((attr, plan::build::null(data_type)));
                attr
            };
            types.into_iter().map(null).collect()
        };
        let stored = target.stored();
        self.ask_columns(own.iter().copied());
        let (old, new) = match kind {
            ChangeKind::Insert => (missing(self, &mut made), own),
            ChangeKind::Delete => (own, missing(self, &mut made)),
            _ => (stored, own),
        };
        self.ask_columns(old.iter().copied());
        self.ask_columns(new.iter().copied());
        // What a MERGE leaves of a row that goes is the row.
        let sides = [("old", old), ("new", new)].into_iter();
        let mut rel = mapped(rel, made);
        for (name, side) in sides.take(if kind == ChangeKind::Merge { 1 } else { 2 }) {
            let columns;
            (rel, columns) = self.seen(rel, target, &side)?;
            frame.add_aside(Relation::of(Some(name.to_owned()), columns));
        }
        Ok((rel, frame))
    }
}
