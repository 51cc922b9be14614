//! Walks through the parser's trees, which have some hundred kinds of nodes.
//!
//! Key decision: one visitor for all walks. The compiler makes the code of all those nodes anew for each type of visitor;
//! five of them took a third of this crate's time in the compiler.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, ObjectName, Visit, Visitor};

use crate::syntax::ident;

/// What is called for nodes, outer ones first.
struct Walk<'a> {
    relation: &'a mut dyn FnMut(&ObjectName),
    expression: &'a mut dyn FnMut(&Expr) -> ControlFlow<()>,
}

impl Visitor for Walk<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        (self.relation)(relation);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        (self.expression)(expr)
    }
}

/// Calls `body` for each name of a relation.
pub(crate) fn relations(part: &impl Visit, mut body: impl FnMut(&ObjectName)) {
    let expression = &mut |_: &Expr| ControlFlow::Continue(());
    let _ = part.visit(&mut Walk { relation: &mut body, expression });
}

/// Whether `body` holds for an expression, which ends the walk.
pub(crate) fn any_expression(part: &impl Visit, mut body: impl FnMut(&Expr) -> bool) -> bool {
    let expression = &mut |expr: &Expr| match body(expr) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    part.visit(&mut Walk { relation: &mut |_| {}, expression }).is_break()
}

/// How often a name stands for a relation in a part of a query. Another relation of the same name counts as well, which
/// costs no more than a relation that is computed once without need.
pub(crate) fn uses_of(name: &str, part: &impl Visit) -> usize {
    let mut uses = 0;
    relations(part, |relation| {
        let [part] = &relation.0[..] else { return };
        uses += usize::from(part.as_ident().is_some_and(|it| ident(it) == name));
    });
    uses
}
