//! SELECT .. FOR UPDATE and its kin, bound as a change that changes nothing: of each row of the result the positions of the rows
//! that it was made of, then what is asked.

use sqlparser::ast::{self, JoinOperator, TableFactor};
use types::{LockMode, LockWait, Privileges, SqlError, SqlResult, SqlState};

use super::change::{ChangeKind, Changed};
use super::errors::{at, unsupported};
use super::from::Source;
use super::order::Ordering;
use super::row_lock::RowLock;
use super::{Answer, Binder, Locking};
use crate::lock_words::said;
use crate::syntax::ident;

/// A place in FROM, and whether its rows may be missing from an outer join.
type Place<'a> = (&'a TableFactor, bool);

impl<'a> Binder<'a> {
    /// Binds a SELECT that locks rows.
    pub(super) fn locking(
        &mut self,
        query: &'a ast::Query,
        select: &'a ast::Select,
    ) -> SqlResult<Changed> {
        let first = query.locks.first().map_or("UPDATE", |it| said(it).0.name());
        let refused = |what: &str| {
            let message = format!("FOR {first} is not allowed with {what}");
            Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
        };
        let is_grouped =
            !matches!(&select.group_by, ast::GroupByExpr::Expressions(it, _) if it.is_empty());
        for (is_there, what) in [
            (select.distinct.is_some(), "DISTINCT clause"),
            (is_grouped, "GROUP BY clause"),
            (select.having.is_some(), "HAVING clause"),
        ] {
            if is_there {
                return refused(what);
            }
        }
        let wanted = self.wanted_locks(query, select)?;
        self.locking = Some(Locking { select, wanted, found: Vec::new() });
        super::query::refuse_rare(query)?;
        let ordering = Ordering::of(query.order_by.as_ref())?;
        let mut answer = self.select(select, &ordering)?;
        self.limit(&mut answer, query)?;
        let found = self.locking.take().map_or_else(Vec::new, |it| it.found);
        let (locks, mut columns): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let count = answer.columns.len();
        columns.extend(answer.columns);
        let answer = Answer { rel: answer.rel, columns };
        Ok(Changed::of_locks(answer, count, locks))
    }

    /// The places in FROM whose rows are to be locked.
    fn wanted_locks(
        &self,
        query: &'a ast::Query,
        select: &'a ast::Select,
    ) -> SqlResult<Vec<(&'a TableFactor, LockMode, LockWait)>> {
        let mut places = Vec::new();
        select.from.iter().for_each(|it| collect(it, &mut places));
        let mut wanted: Vec<(&'a TableFactor, LockMode, LockWait)> = Vec::new();
        for clause in &query.locks {
            let (mode, of, wait) = said(clause);
            let mut is_found = of.is_none();
            for (factor, nullable) in &places {
                if of.is_some_and(|it| !is_called(factor, it)) {
                    continue;
                }
                is_found = true;
                if !self.is_lockable(factor, mode, of.is_some())? {
                    continue;
                }
                if *nullable {
                    let message = format!(
                        "FOR {} cannot be applied to the nullable side of an outer join",
                        mode.name()
                    );
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                }
                match wanted.iter_mut().find(|it| std::ptr::eq(it.0, *factor)) {
                    Some(known) => (known.1, known.2) = (known.1.max(mode), known.2.max(wait)),
                    None => wanted.push((factor, mode, wait)),
                }
            }
            if let (false, Some(of)) = (is_found, of) {
                let of: Vec<String> = of.iter().map(ToString::to_string).collect();
                let message = format!(
                    "relation \"{}\" in FOR {} clause not found in FROM clause",
                    of.join("."),
                    mode.name()
                );
                return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message));
            }
        }
        Ok(wanted)
    }

    /// Whether the rows of a place in FROM are rows of a table; what has none is left out unless it is named.
    fn is_lockable(&self, factor: &TableFactor, mode: LockMode, named: bool) -> SqlResult<bool> {
        let what = match factor {
            TableFactor::Table { name, args: None, sample: None, .. } => {
                let bare = match &name.0[..] {
                    [only] => only.as_ident(),
                    _ => None,
                };
                match bare {
                    Some(it) if it.quote_style == Some('\'') => "a file",
                    Some(it) if self.find_with(&ident(it)).is_some() => "a WITH query",
                    _ => return Ok(true),
                }
            }
            // PostgreSQL locks the rows that these are made of.
            TableFactor::Derived { .. } | TableFactor::Table { args: None, .. } => {
                let what = format!("FOR {} of the rows of a subquery or a sample", mode.name());
                return Err(unsupported(&what, factor));
            }
            _ => "a function",
        };
        match named {
            true => {
                let message = format!("FOR {} cannot be applied to {what}", mode.name());
                Err(at(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message), factor))
            }
            false => Ok(false),
        }
    }

    /// A table in FROM whose rows are locked; `None` of any other place.
    pub(super) fn locked_factor(&mut self, factor: &'a TableFactor) -> SqlResult<Option<Source>> {
        let Some(locking) = &self.locking else { return Ok(None) };
        let wanted = locking.wanted.iter().find(|it| std::ptr::eq(it.0, factor));
        let Some(&(_, mode, wait)) = wanted else { return Ok(None) };
        let TableFactor::Table { name, alias, .. } = factor else { return Ok(None) };
        let renames = alias.as_ref().is_some_and(|it| !it.columns.is_empty());
        let plain = if renames { None } else { alias.as_ref().map(|it| &it.name) };
        let (target, (rel, frame)) = self.target(name, plain)?;
        let table = target.table.name.clone();
        let rights = Privileges::SELECT | Privileges::UPDATE;
        self.ask_of_scan((&target.table, target.base), rights);
        let column = target.position_output();
        if let Some(locking) = &mut self.locking {
            locking.found.push((RowLock { table, mode, wait }, column));
        }
        match alias {
            Some(alias) if renames => self.renamed(rel, frame.all(), alias).map(Some),
            _ => Ok(Some((rel, frame))),
        }
    }

    /// Refuses aggregates and window functions in a SELECT that locks rows.
    pub(super) fn check_locking(&self, select: &ast::Select, has_groups: bool) -> SqlResult<()> {
        let Some(locking) = self.locking.as_ref().filter(|it| std::ptr::eq(it.select, select))
        else {
            return Ok(());
        };
        let mode = locking.wanted.first().map_or("UPDATE", |it| it.1.name());
        let has_windows = self.levels.last().is_some_and(|it| !it.windows.is_empty());
        let what = match (has_groups, has_windows) {
            (true, _) => "aggregate functions",
            (_, true) => "window functions",
            _ => return Ok(()),
        };
        let message = format!("FOR {mode} is not allowed with {what}");
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
    }
}

impl Changed {
    fn of_locks(answer: Answer, returning: usize, locks: Vec<RowLock>) -> Self {
        let returning = Some(returning);
        let (checks, keys) = (Vec::new(), Vec::new());
        let (kind, table) = (ChangeKind::Lock, String::new());
        Self { kind, table, answer, returning, checks, keys, locks }
    }
}

/// The places of a FROM, in order.
fn collect<'a>(joined: &'a ast::TableWithJoins, places: &mut Vec<Place<'a>>) {
    use JoinOperator as On;
    let first = places.len();
    place(&joined.relation, places);
    for join in &joined.joins {
        let new = places.len();
        place(&join.relation, places);
        let (ours, theirs) = match join.join_operator {
            On::Left(_) | On::LeftOuter(_) => (false, true),
            On::Right(_) | On::RightOuter(_) => (true, false),
            On::FullOuter(_) => (true, true),
            _ => (false, false),
        };
        places[first..new].iter_mut().for_each(|it| it.1 |= ours);
        places[new..].iter_mut().for_each(|it| it.1 |= theirs);
    }
}

fn place<'a>(factor: &'a TableFactor, places: &mut Vec<Place<'a>>) {
    match factor {
        TableFactor::NestedJoin { table_with_joins, alias: None } => {
            collect(table_with_joins, places);
        }
        other => places.push((other, false)),
    }
}

/// Whether a place in FROM has a name.
fn is_called(factor: &TableFactor, parts: &[ast::ObjectNamePart]) -> bool {
    let wanted: Vec<String> = parts.iter().filter_map(|it| it.as_ident()).map(ident).collect();
    let own: Vec<String> = match factor {
        TableFactor::Table { alias: Some(it), .. }
        | TableFactor::Derived { alias: Some(it), .. }
        | TableFactor::Function { alias: Some(it), .. }
        | TableFactor::NestedJoin { alias: Some(it), .. } => vec![ident(&it.name)],
        TableFactor::Table { name, .. } => {
            name.0.iter().filter_map(|it| it.as_ident()).map(ident).collect()
        }
        _ => return false,
    };
    !wanted.is_empty() && own.ends_with(&wanted)
}
