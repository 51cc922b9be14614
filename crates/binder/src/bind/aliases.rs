//! Names of the select list inside of it and of other clauses, as DuckDB has them, where no column has the name: `SELECT a + 1 AS b, b *
//! 2`, `WHERE b > 3`, `HAVING`, `QUALIFY`, and expressions of ORDER BY. PostgreSQL knows them in GROUP BY and alone in ORDER BY.

use plan::Expr;
use plan::relation::{Attr, AttrSet};
use sqlparser::ast::{Ident, SelectItem};
use types::{SqlError, SqlResult};

use super::Binder;
use super::errors::{Name, unsupported};
use super::level::{Clause, Level};
use super::scope::is_named;

impl<'a> Binder<'a> {
    /// What a name of the select list of the innermost SELECT means in the clause that is being bound.
    pub(super) fn of_select_list(&mut self, name: &Ident) -> Option<SqlResult<Expr>> {
        let level = self.levels.last()?;
        if level.clause == Clause::Where {
            return self.of_later_list(name);
        }
        let (_, named) = level.aliases.iter().find(|it| is_named(name, &it.0))?;
        if level.clause != Clause::Qualify && !super::is_repeatable(named) {
            return Some(Err(two_values(name)));
        }
        let used = AttrSet::of(named);
        let may_stand = match level.clause {
            Clause::Select | Clause::OrderBy | Clause::Qualify => true,
            Clause::Having | Clause::Window | Clause::Filter | Clause::WindowDefinition => {
                !used.iter().any(|it| is_of_window(level, it))
            }
            // What is computed above the groups is no part of what they are made of.
            Clause::Aggregate => {
                used.iter().all(|it| self.levels.iter().any(|level| level.frame.contains(it)))
            }
            _ => false,
        };
        may_stand.then(|| Ok(named.clone()))
    }

    /// The same in WHERE, which is bound before the select list: the expression is bound where the name stands.
    fn of_later_list(&mut self, name: &Ident) -> Option<SqlResult<Expr>> {
        let (level, list) = *self.listed.last()?;
        if level != self.levels.len() {
            return None;
        }
        let place = list.iter().position(|it| {
            matches!(it, SelectItem::ExprWithAlias { alias, .. }
                if is_named(name, &crate::syntax::ident(alias)))
        })?;
        let SelectItem::ExprWithAlias { expr, .. } = &list[place] else { return None };
        // It may be made of the names before it.
        self.listed.push((level, &list[..place]));
        let bound = self.expr(expr);
        self.listed.pop();
        Some(bound.and_then(|it| match super::is_repeatable(&it) {
            true => Ok(it),
            false => Err(two_values(name)),
        }))
    }
}

/// The error for the name of what is another value each time that it is computed.
fn two_values(name: &Ident) -> SqlError {
    unsupported("a name of the select list for what is computed anew each time", &Name(name))
}

fn is_of_window(level: &Level, attr: Attr) -> bool {
    level.windows.iter().any(|it| it.0 == attr)
}
