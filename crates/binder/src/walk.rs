//! Walks through the parser's trees, which have some hundred kinds of nodes.
//!
//! Key decision: one visitor for all walks, and one for all that change what they come by. The compiler makes the code of all those
//! nodes anew for each type of visitor, some megabytes each time: thirty of them took nine tenths of this crate's time in the compiler.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, ObjectName, Query, Select, TableFactor, Visit, VisitMut, Visitor, VisitorMut,
};
use types::SqlError;

use crate::syntax::ident;

/// What looks at nodes; what is not said goes on.
pub(crate) trait Looker {
    fn pre_relation(&mut self, _: &ObjectName) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn pre_query(&mut self, _: &Query) {}
    fn post_query(&mut self) {}
    fn post_table_factor(&mut self, _: &TableFactor) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn pre_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    fn post_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

struct Looking<'a>(&'a mut dyn Looker);

impl Visitor for Looking<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.0.pre_relation(relation)
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.0.pre_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0.post_query();
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        self.0.post_table_factor(factor)
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0.pre_expr(expr)
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.0.post_expr(expr)
    }
}

/// Walks through a part; whether it was ended.
pub(crate) fn look(part: &impl Visit, by: &mut dyn Looker) -> bool {
    part.visit(&mut Looking(by)).is_break()
}

/// What changes nodes; what is not said goes on.
pub(crate) trait Editor {
    fn pre_query(&mut self, _: &mut Query) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
    fn pre_select(&mut self, _: &mut Select) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
    fn post_select(&mut self, _: &mut Select) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
    fn pre_table_factor(&mut self, _: &mut TableFactor) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
    fn post_table_factor(&mut self, _: &mut TableFactor) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
    fn pre_relation(&mut self, _: &mut ObjectName) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
    fn pre_expr(&mut self, _: &mut Expr) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
    fn post_expr(&mut self, _: &mut Expr) -> ControlFlow<SqlError> {
        ControlFlow::Continue(())
    }
}

struct Editing<'a>(&'a mut dyn Editor);

impl VisitorMut for Editing<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        self.0.pre_query(query)
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        self.0.pre_select(select)
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        self.0.post_select(select)
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        self.0.pre_table_factor(factor)
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        self.0.post_table_factor(factor)
    }

    fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<SqlError> {
        self.0.pre_relation(relation)
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        self.0.pre_expr(expr)
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        self.0.post_expr(expr)
    }
}

/// Walks through a part that changes.
pub(crate) fn edit(part: &mut impl VisitMut, by: &mut dyn Editor) -> ControlFlow<SqlError> {
    part.visit(&mut Editing(by))
}

/// Calls `body` for each expression, inner ones first, until it breaks.
pub(crate) fn expressions<B>(
    part: &impl Visit,
    mut body: impl FnMut(&Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    struct Each<'a>(&'a mut dyn FnMut(&Expr) -> ControlFlow<()>);

    impl Looker for Each<'_> {
        fn post_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            (self.0)(expr)
        }
    }

    let mut ended = ControlFlow::Continue(());
    let mut each = |expr: &Expr| {
        ended = body(expr);
        if ended.is_break() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    look(part, &mut Each(&mut each));
    ended
}

/// As [`expressions`], for a part that changes.
pub(crate) fn expressions_mut<B>(
    part: &mut impl VisitMut,
    mut body: impl FnMut(&mut Expr) -> ControlFlow<B>,
) -> ControlFlow<B> {
    struct Each<'a>(&'a mut dyn FnMut(&mut Expr) -> bool);

    impl Editor for Each<'_> {
        fn post_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
            match (self.0)(expr) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(SqlError::internal("a walk that was ended")),
            }
        }
    }

    let mut ended = ControlFlow::Continue(());
    let mut each = |expr: &mut Expr| {
        ended = body(expr);
        ended.is_continue()
    };
    let _ = edit(part, &mut Each(&mut each));
    ended
}

/// Calls `body` for each name of a relation.
pub(crate) fn relations(part: &impl Visit, mut body: impl FnMut(&ObjectName)) {
    struct Each<'a>(&'a mut dyn FnMut(&ObjectName));

    impl Looker for Each<'_> {
        fn pre_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
            (self.0)(relation);
            ControlFlow::Continue(())
        }
    }

    look(part, &mut Each(&mut body));
}

/// Whether `body` holds for an expression, which ends the walk.
pub(crate) fn any_expression(part: &impl Visit, mut body: impl FnMut(&Expr) -> bool) -> bool {
    struct Each<'a>(&'a mut dyn FnMut(&Expr) -> bool);

    impl Looker for Each<'_> {
        fn pre_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            if (self.0)(expr) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    look(part, &mut Each(&mut body))
}

/// How often each name stands for a relation in some parts of a query. Another relation of the same name counts as well, which
/// costs no more than a relation that is computed once without need.
#[derive(Clone, Default)]
pub(crate) struct Uses(BTreeMap<String, usize>);

impl Uses {
    /// Those in one part.
    pub(crate) fn of(part: &impl Visit) -> Self {
        let mut uses = Self::default();
        relations(part, |relation| {
            if let [part] = &relation.0[..]
                && let Some(name) = part.as_ident()
            {
                *uses.0.entry(ident(name)).or_default() += 1;
            }
        });
        uses
    }

    /// How often this name does.
    pub(crate) fn count(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// Each name that does, once.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (name, uses) in &other.0 {
            *self.0.entry(name.clone()).or_default() += uses;
        }
    }

    /// Takes away what was added.
    pub(crate) fn remove(&mut self, other: &Self) {
        for (name, uses) in &other.0 {
            if let Some(it) = self.0.get_mut(name) {
                *it -= uses;
            }
        }
    }
}
