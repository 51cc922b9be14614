//! Domains: what a cast to one, and a column of one, asks of a value.
//!
//! Key decision: a value of a domain is one of its type, and nothing in a query tells them apart: what the domain asks is asked where
//! a value becomes one, by a cast or in a row that is written.

use plan::build::unary;
use plan::properties::is_volatile;
use plan::relation::substitute;
use plan::{Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast;
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult, SqlState, UserType, Value, names};

use super::Binder;
use super::changed_view::VIEWS_MAX;
use super::domain_rules::DomainRules;
use super::failing::Failing;
use super::level::{Clause, Level, one_row};
use super::scope::{Frame, Named};
use crate::domain_value::VALUE;

/// The most nodes of a value that becomes one of a domain: each constraint has copies of it, as have casts around it.
const COPIED_MAX: usize = 10_000;

/// Whether a value was found to be one of this domain just now.
fn is_checked(operand: &Expr, domain: &str) -> bool {
    let raises = |it: &Expr| match &it.kind {
        ExprKind::Call { function: Function::RaiseDomain, arguments } => {
            matches!(arguments.first().map(|it| &it.kind),
                Some(ExprKind::Literal(Value::Text(name))) if **name == *domain)
        }
        _ => false,
    };
    match &operand.kind {
        ExprKind::Case { branches, .. } => branches.iter().all(|it| raises(&it.1)),
        _ => false,
    }
}

impl<'a> Binder<'a> {
    /// The domain that a type names; `None` of any other type.
    pub(super) fn domain_named(
        &mut self,
        data_type: &ast::DataType,
    ) -> SqlResult<Option<Arc<UserType>>> {
        if crate::overloads::in_call(data_type).is_some() {
            return Ok(None);
        }
        let Some(name) = crate::data_types::user_type(data_type) else { return Ok(None) };
        let (schema, bare) = names::said(&name, self.environment.catalog.database())?;
        let found = self.environment.catalog.user_type(schema.as_deref(), &bare);
        let found = found.filter(|it| it.domain.is_some());
        if let Some(it) = &found {
            self.note_type(data_type, &it.name);
        }
        Ok(found)
    }

    /// A value of the type of a domain as one of the domain: an error, or NULL, where it is none.
    pub(super) fn as_domain(
        &mut self,
        failing: Failing,
        operand: Expr,
        domain: &UserType,
    ) -> SqlResult<Expr> {
        let rules = DomainRules::of(&domain.name, self.environment.catalog)?;
        if !rules.not_null && rules.checks.is_empty() {
            return Ok(operand);
        }
        if is_checked(&operand, &rules.name) {
            return Ok(operand);
        }
        if operand.is_larger_than(COPIED_MAX) {
            let what = format!("a value of domain {} is too long an expression", rules.name);
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, what)
                .with_hint("name the value in a subquery"));
        }
        if is_volatile(&operand) {
            let message = format!(
                "a cast of a volatile value to domain {}, which has constraints, is not supported",
                rules.name
            );
            return Err(SqlError::unsupported(message)
                .with_hint("name the value in a subquery, or cast it to the type of the domain"));
        }
        let data_type = operand.data_type;
        let text = |it: &str| Expr::literal(Value::Text(it.into()), DataType::Text);
        let error = |constraint: Option<&str>| match failing {
            Failing::IsNull => Expr::literal(Value::Null, data_type),
            Failing::Raises => {
                let arguments = vec![text(&rules.name), text(constraint.unwrap_or_default())];
                let kind = ExprKind::Call { function: Function::RaiseDomain, arguments };
                Expr { kind, data_type }
            }
        };
        let mut branches = Vec::with_capacity(rules.checks.len() + 1);
        if rules.not_null {
            branches.push((unary(UnaryOperator::IsNull, operand.clone()), error(None)));
        }
        for check in &rules.checks {
            let truth = self.domain_condition(&check.condition, &operand)?;
            branches.push((unary(UnaryOperator::Not, truth), error(Some(&check.name))));
        }
        let kind = ExprKind::Case { branches, otherwise: Some(Box::new(operand)) };
        Ok(Expr { kind, data_type })
    }

    /// The condition of a domain of a value. It sees nothing of the statement.
    fn domain_condition(&mut self, condition: &str, operand: &Expr) -> SqlResult<Expr> {
        if self.views == VIEWS_MAX {
            let message = format!("more than {VIEWS_MAX} domains are made of one another");
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
        }
        let parsed = crate::parse::expression(condition)?;
        super::change_rules::check_plain(&parsed, "check constraint")?;
        let mut inner = Binder::new(self.environment, &[]);
        inner.views = self.views + 1;
        self.lend(&mut inner);
        let attr = inner.attribute(operand.data_type, true);
        let value = Named::made(VALUE, attr);
        let level =
            Level::new(Frame::of_made(String::new(), vec![value]), one_row(), Clause::Check);
        let bound = inner.within_rules(|this| this.in_level(level, |this| this.condition(&parsed)));
        let (views, is_stable) = (self.views, inner.is_stable);
        inner.lend(self);
        self.views = views;
        self.is_stable &= is_stable;
        let (mut truth, _) = bound.map_err(|it| SqlError { position: None, ..it })?;
        substitute(&mut truth, &[(attr, operand.clone())]);
        Ok(truth)
    }
}
