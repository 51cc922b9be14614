//! Constants of texts that are kept: those of views, defaults, CHECK constraints, domains, generated columns and indexes.
//!
//! Key decision: such a text means the same in every session. Its constants are read in the usual styles of dates and intervals, and
//! who makes one is told where the styles of the session make another value of a constant.

use std::ops::ControlFlow;

use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, Styles, Value, Zone, numeric};

use super::Binder;
use super::level::Clause;
use crate::walk;

/// How a text that is bound has to do with those that are kept.
enum Keeping {
    /// It is the statement's own.
    Nothing,
    /// It is a kept one.
    Reads,
    /// It is to be kept.
    Makes,
}

impl Binder<'_> {
    /// A constant as a value of a type, read in the styles that hold where it stands.
    pub(super) fn read_in_style(
        &self,
        value: &Value,
        to: DataType,
        read: impl Fn(&Value, &Zone) -> SqlResult<Value>,
    ) -> SqlResult<Value> {
        let session = self.environment.session;
        let zone = session.zone().with_styles(session.reading_styles());
        if !zone.styles().reads(to) {
            return read(value, &zone);
        }
        match self.keeping() {
            Keeping::Nothing => read(value, &zone),
            Keeping::Reads => read(value, &usual(&zone)),
            Keeping::Makes => match (read(value, &usual(&zone)), read(value, &zone)) {
                (Ok(usual), Ok(own)) if usual == own => Ok(own),
                (Err(_), Err(error)) => Err(error),
                _ => Err(ambiguous(value)),
            },
        }
    }

    /// Whether what is bound is the text of a statement, and none that is kept.
    pub(super) fn is_own_text(&self) -> bool {
        matches!(self.keeping(), Keeping::Nothing)
    }

    fn keeping(&self) -> Keeping {
        let mut clauses = self.levels.iter().map(|it| it.clause);
        if self.views > 0 {
            Keeping::Reads
        } else if self.resolved.is_some() || self.environment.session.keeps_texts() {
            Keeping::Makes
        } else if self.asking.in_rules || clauses.any(Clause::is_of_rules) {
            Keeping::Reads
        } else {
            Keeping::Nothing
        }
    }
}

/// Refuses defaults that stand in the place of DEFAULT, among constants of the statement, if they mean other values there.
pub(super) fn check_alike<'a>(
    defaults: impl Iterator<Item = &'a ast::Expr>,
    zone: &Zone,
) -> SqlResult<()> {
    for default in defaults {
        let found = walk::expressions(default, |it| match it {
            ast::Expr::Value(it) => match &it.value {
                ast::Value::SingleQuotedString(text) => alike(text, zone),
                _ => ControlFlow::Continue(()),
            },
            _ => ControlFlow::Continue(()),
        });
        if let ControlFlow::Break(error) = found {
            return Err(error);
        }
    }
    Ok(())
}

fn alike(text: &str, zone: &Zone) -> ControlFlow<SqlError> {
    let value = Value::Text(text.into());
    for to in [DataType::Date, DataType::Timestamp, DataType::Interval] {
        let read = |zone: &Zone| numeric::cast_in(&value, DataType::Text, to, zone).ok();
        if read(zone) != read(&usual(zone)) {
            return ControlFlow::Break(ambiguous(&value));
        }
    }
    ControlFlow::Continue(())
}

/// A zone with the usual styles.
fn usual(zone: &Zone) -> Zone {
    zone.clone().with_styles(Styles::default())
}

fn ambiguous(value: &Value) -> SqlError {
    let message = format!(
        "the constant '{value}' of a text that is kept depends on DateStyle or IntervalStyle"
    );
    SqlError::unsupported(message)
        .with_hint("write dates as YYYY-MM-DD, and intervals with a sign for each part")
}
