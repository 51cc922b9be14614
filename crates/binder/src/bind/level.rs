//! What belongs to one SELECT while it is bound.

use plan::relation::{Apply, ApplyRel, Attr, AttrSet, Rel};
use plan::{Aggregate, Expr};
use sqlparser::ast::Spanned;
use types::{SqlError, SqlResult, SqlState};

use super::Binder;
use super::errors::at;
use super::scope::Frame;
use super::series_parts::SeriesInList;
use super::window_parts::{BoundWindow, Definition};
use crate::levels::{self, JOINED_LEVELS};

/// What belongs to one SELECT while it is bound.
#[derive(Debug)]
pub(super) struct Level {
    /// The columns in view.
    pub frame: Frame,
    /// The clause that is being bound.
    pub clause: Clause,
    /// The rows of the clause that is being bound: what subqueries in it depend on.
    pub input: Rel,
    /// Subqueries of the clauses that stand over groups; they are joined when groups are made.
    pub pending: Vec<(Rel, Apply)>,
    /// Subqueries and windows that are joined to its rows, one over the other.
    joined: usize,
    /// The keys of GROUP BY that are no columns, with the attributes that they have above the groups.
    pub keys: Vec<(Attr, Expr)>,
    /// What constants have left out above the groups and in arguments of aggregates: nobody computes it, but its columns
    /// must be grouped by, and say to which query an aggregate belongs.
    pub left_out: Vec<Expr>,
    /// The columns that constants have left out of keys of GROUP BY: left out of the same above, they are grouped by.
    pub left_out_of_keys: AttrSet,
    /// The columns that constants have left out of entries of the select list, by their places: of those that are keys they are
    /// grouped by.
    pub left_out_of_items: Vec<(usize, AttrSet)>,
    /// Aggregates met so far.
    pub calls: Vec<(Attr, Aggregate)>,
    /// Calls of grouping() met so far, with their arguments.
    pub groupings: Vec<(Attr, Vec<Expr>)>,
    /// Window functions met so far.
    pub windows: Vec<(Attr, BoundWindow)>,
    /// The windows of the WINDOW clause.
    pub named_windows: Vec<(String, Definition)>,
    /// The functions of the select list that make rows.
    pub series: Option<SeriesInList>,
    /// What QUALIFY may call by the names of the select list.
    pub aliases: Vec<(String, Expr)>,
}

/// The clauses of a query, as far as they differ in what may stand in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clause {
    /// FROM: functions and VALUES in it.
    From,
    /// The condition of a join.
    On,
    Where,
    GroupBy,
    /// The select list.
    Select,
    Having,
    OrderBy,
    /// The argument or the filter of an aggregate.
    Aggregate,
    Qualify,
    /// The arguments of a window function.
    Window,
    /// The filter of a window function.
    Filter,
    /// The partition and the order of a window.
    WindowDefinition,
    /// The offset of a frame, with its name.
    FrameOffset(&'static str),
    Limit,
    Values,
    /// The values of UPDATE.
    Set,
    /// The condition of a WHEN of MERGE.
    When,
    Returning,
    /// The default of a column.
    Default,
    /// A CHECK constraint.
    Check,
    /// What a column is generated of.
    Generation,
}

impl Clause {
    /// Whether it is one of the rules of a table, which are kept as texts.
    pub fn is_of_rules(self) -> bool {
        matches!(self, Self::Default | Self::Check | Self::Generation)
    }

    /// Whether it stands over groups, so that aggregates may be in it.
    pub fn is_over_groups(self) -> bool {
        matches!(
            self,
            Self::Select
                | Self::Having
                | Self::OrderBy
                | Self::Qualify
                | Self::Window
                | Self::Filter
                | Self::WindowDefinition
        )
    }

    /// As an error names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::From => "functions in FROM",
            Self::On => "JOIN conditions",
            Self::Where => "WHERE",
            Self::GroupBy => "GROUP BY",
            Self::Select => "SELECT",
            Self::Having => "HAVING",
            Self::OrderBy => "ORDER BY",
            Self::Aggregate => "aggregate functions",
            Self::Qualify => "QUALIFY",
            Self::Window | Self::Filter => "FILTER",
            Self::WindowDefinition => "window definitions",
            Self::FrameOffset(name) => name,
            Self::Limit => "LIMIT",
            Self::Values => "VALUES",
            Self::Set => "UPDATE",
            Self::When => "MERGE WHEN conditions",
            Self::Returning => "RETURNING",
            Self::Default => "DEFAULT expressions",
            Self::Check => "check constraints",
            Self::Generation => "column generation expressions",
        }
    }
}

/// The relation of no columns and one row.
pub(super) fn one_row() -> Rel {
    Rel::Values { output: Vec::new(), rows: vec![Vec::new()] }
}

impl Level {
    /// A level with these columns in view over these rows.
    pub fn new(frame: Frame, input: Rel, clause: Clause) -> Self {
        Self {
            frame,
            clause,
            input,
            pending: Vec::new(),
            joined: 0,
            keys: Vec::new(),
            left_out: Vec::new(),
            left_out_of_keys: AttrSet::default(),
            left_out_of_items: Vec::new(),
            calls: Vec::new(),
            groupings: Vec::new(),
            windows: Vec::new(),
            named_windows: Vec::new(),
            series: None,
            aliases: Vec::new(),
        }
    }

    /// Whether an attribute is one of its columns, or an aggregate over its rows.
    pub fn offers(&self, attr: Attr) -> bool {
        self.frame.contains(attr) || self.calls.iter().any(|it| it.0 == attr)
    }

    /// Asks for room on the stack for one more subquery or window. Those that functions stand for are in no text that was asked
    /// before.
    ///
    /// Errors: 54001.
    pub fn ask_room(&mut self) -> SqlResult<()> {
        self.joined += 1;
        levels::ask_room(JOINED_LEVELS * self.joined)
    }

    /// Joins a subquery to the rows of the clause.
    fn attach(&mut self, right: Rel, kind: Apply) {
        if self.clause.is_over_groups() {
            self.pending.push((right, kind));
        } else {
            self.input = apply(std::mem::replace(&mut self.input, one_row()), right, kind);
        }
    }
}

/// A dependent join.
pub(super) fn apply(left: Rel, right: Rel, kind: Apply) -> Rel {
    Rel::Apply(Box::new(ApplyRel { left, right, kind }))
}

/// What stands over the relation of one row (dependent joins, values, rows that come several times), over another one.
pub(super) fn over(rel: Rel, made: Rel) -> Rel {
    match made {
        Rel::Apply(mut it) => {
            it.left = over(rel, it.left);
            Rel::Apply(it)
        }
        Rel::Map { input, exprs } => Rel::Map { input: Box::new(over(rel, *input)), exprs },
        Rel::Filter { input, predicates } => {
            Rel::Filter { input: Box::new(over(rel, *input)), predicates }
        }
        Rel::Repeat { input, count, number, items } => {
            Rel::Repeat { input: Box::new(over(rel, *input)), count, number, items }
        }
        _ => rel,
    }
}

impl Binder<'_> {
    /// The innermost level. Expressions are bound inside of one only.
    pub(super) fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("invariant: an expression is bound inside a level")
    }

    /// Binds something in a level of its own; gives the level back.
    pub(super) fn in_level<T>(
        &mut self,
        level: Level,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<(T, Level)> {
        self.levels.push(level);
        let bound = bind(self);
        let level = self.levels.pop().expect("invariant: levels are closed in order");
        Ok((bound?, level))
    }

    /// Binds something as part of a clause.
    pub(super) fn in_clause<T>(
        &mut self,
        clause: Clause,
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = std::mem::replace(&mut self.level().clause, clause);
        let bound = bind(self);
        self.level().clause = before;
        bound
    }

    /// Leaves out expressions whose values do not matter.
    pub(super) fn leave_out(&mut self, exprs: impl IntoIterator<Item = Expr>) {
        let level = self.level();
        if level.clause == Clause::GroupBy {
            exprs.into_iter().for_each(|it| level.left_out_of_keys.add_expr(&it));
        } else if level.clause.is_over_groups() || level.clause == Clause::Aggregate {
            let has_columns = |it: &Expr| !AttrSet::of(it).is_empty();
            level.left_out.extend(exprs.into_iter().filter(has_columns));
        }
    }

    /// Notes what the last entry of the select list has left out since so much was known.
    pub(super) fn note_left_out(&mut self, known: usize, items: usize) {
        let level = self.level();
        let mut columns = AttrSet::default();
        level.left_out.iter().skip(known).for_each(|it| columns.add_expr(it));
        if !columns.is_empty() && items > 0 {
            level.left_out_of_items.push((items - 1, columns));
        }
    }

    /// An entry of the select list is a key: so is what was left out of it.
    pub(super) fn group_left_out(&mut self, item: usize) {
        let level = self.level();
        for (_, columns) in level.left_out_of_items.iter().filter(|it| it.0 == item) {
            columns.iter().for_each(|it| level.left_out_of_keys.insert(it));
        }
    }

    /// A key of GROUP BY in its place, where it stands above the groups; other values as they are. As in PostgreSQL,
    /// only columns are known as keys inside of subqueries.
    pub(super) fn as_key(&self, expr: Expr) -> Expr {
        let level = self.levels.last().filter(|it| it.clause.is_over_groups());
        let known = level.and_then(|level| level.keys.iter().find(|it| it.1 == expr));
        match known {
            Some((attr, _)) => Expr::column(*attr, expr.data_type),
            None => expr,
        }
    }

    /// Joins a subquery to the rows of the clause that is being bound.
    pub(super) fn attach(&mut self, right: Rel, kind: Apply) -> SqlResult<()> {
        let level = self.level();
        level.ask_room()?;
        level.attach(right, kind);
        Ok(())
    }

    /// The level that an aggregate of these arguments belongs to: the innermost whose columns or aggregates they use. Parameters of
    /// functions are values and have no level.
    ///
    /// Errors: 42803 where none may stand in the clause of that level, or one of them is of that level, too.
    pub(super) fn owner(&self, arguments: &[&Expr], node: &impl Spanned) -> SqlResult<usize> {
        let mut used = plan::relation::AttrSet::of_all(arguments);
        // A subquery in an argument uses what it is made of.
        let mut rel = self.levels.last().map(|it| &it.input);
        while let Some(Rel::Apply(apply)) = rel {
            if apply.kind.made().is_some_and(|it| used.contains(it)) {
                used.union_with(&apply.right.free_attrs());
                if let Apply::Any { condition, .. } = &apply.kind {
                    used.add_expr(condition);
                }
            }
            rel = Some(&apply.left);
        }
        let uses =
            |level: &Level| !level.frame.has_parameters() && used.iter().any(|it| level.offers(it));
        let innermost = self.levels.len() - 1;
        let owner = self.levels.iter().rposition(uses).unwrap_or(innermost);
        let level = &self.levels[owner];
        let is_nested = level.calls.iter().any(|it| used.contains(it.0));
        let message = match level.clause {
            clause if clause.is_over_groups() && clause != Clause::Filter && !is_nested => {
                return Ok(owner);
            }
            clause if is_nested || clause == Clause::Aggregate => {
                "aggregate function calls cannot be nested".to_owned()
            }
            other => format!("aggregate functions are not allowed in {}", other.name()),
        };
        Err(at(SqlError::new(SqlState::GROUPING_ERROR, message), node))
    }
}
