//! Subscripts of columns behind the names of their tables: of `t.a[1]` the parser makes the field `a` of `t`.

use std::ops::ControlFlow;

use crate::walk;
use sqlparser::ast::{self, AccessExpr, Expr};
use sqlparser::tokenizer::Token;

/// Whether a statement with such a token may have subscripts: the walk is for those alone.
pub(crate) fn is_about(token: &Token) -> bool {
    *token == Token::LBracket
}

/// Puts the names before subscripts together.
pub(crate) fn of_columns(statement: &mut impl ast::VisitMut) {
    let _: ControlFlow<()> = walk::expressions_mut(statement, |expr| {
        if let Expr::CompoundFieldAccess { root, access_chain } = expr {
            name_root(root, access_chain);
        }
        ControlFlow::Continue(())
    });
}

fn name_root(root: &mut Expr, chain: &mut Vec<AccessExpr>) {
    let mut parts = match &*root {
        Expr::Identifier(name) => vec![name.clone()],
        Expr::CompoundIdentifier(names) => names.clone(),
        _ => return,
    };
    let is_name = |it: &&AccessExpr| matches!(it, AccessExpr::Dot(Expr::Identifier(_)));
    let names = chain.iter().take_while(is_name).count();
    if names == 0 {
        return;
    }
    parts.extend(chain.drain(..names).filter_map(|it| match it {
        AccessExpr::Dot(Expr::Identifier(name)) => Some(name),
        _ => None,
    }));
    *root = Expr::CompoundIdentifier(parts);
}
