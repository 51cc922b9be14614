//! Errors of rows that break a rule.

use crate::names;
use crate::{SqlError, SqlState};

impl SqlError {
    /// NULL in a column that has none, of a table where that is known.
    pub fn null_in(column: &str, table: Option<&str>) -> Self {
        let of = table.map(|it| format!(" of relation \"{}\"", names::bare(it)));
        let of = of.unwrap_or_default();
        let message = format!("null value in column \"{column}\"{of} violates not-null constraint");
        Self::new(SqlState::NOT_NULL_VIOLATION, message).about(|it| {
            it.column = Some(column.to_owned());
            it.table = table.map(str::to_owned);
        })
    }

    /// The same error; if it is of NULL in a column of a table that was not known, with the table.
    pub fn in_table(mut self, table: &str) -> Self {
        let subject = self.subject.as_deref();
        let column = subject.filter(|it| it.table.is_none()).and_then(|it| it.column.as_deref());
        if self.state == SqlState::NOT_NULL_VIOLATION
            && let Some(column) = column
        {
            let Self { message, subject, .. } = Self::null_in(column, Some(table));
            (self.message, self.subject) = (message, subject);
        }
        self
    }

    /// A row that a CHECK of its table is false of.
    pub fn broken_check(table: &str, check: &str) -> Self {
        let own = names::bare(table);
        let message =
            format!("new row for relation \"{own}\" violates check constraint \"{check}\"");
        Self::new(SqlState::CHECK_VIOLATION, message).of_constraint(table, check)
    }

    /// A value that a CHECK of a domain has not; `domain` is its name with its schema ([`names::joined`]).
    pub fn outside_domain(domain: &str, constraint: &str) -> Self {
        let own = names::sql(domain);
        let message = format!("value for domain {own} violates check constraint \"{constraint}\"");
        Self::new(SqlState::CHECK_VIOLATION, message).about(|it| {
            it.data_type = Some(domain.to_owned());
            it.constraint = Some(constraint.to_owned());
        })
    }

    /// NULL for a domain that has none, by its name with its schema.
    pub fn null_of_domain(domain: &str) -> Self {
        let message = format!("domain {} does not allow null values", names::sql(domain));
        Self::new(SqlState::NOT_NULL_VIOLATION, message)
            .about(|it| it.data_type = Some(domain.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_is_told_with_its_table_where_that_is_known() {
        let error = SqlError::null_in("b", None).within("COPY t, line 1");
        assert_eq!(error.message, "null value in column \"b\" violates not-null constraint");
        let known = error.in_table("shop.t");
        let told = "null value in column \"b\" of relation \"t\" violates not-null constraint";
        assert_eq!(known.message, told);
        let subject = known.subject.as_deref().cloned().unwrap_or_default();
        assert_eq!(
            (subject.table.as_deref(), subject.column.as_deref()),
            (Some("shop.t"), Some("b"))
        );
        assert_eq!(known.context.as_deref(), Some("COPY t, line 1"));
        assert_eq!(known.clone().in_table("other"), known);
        let other = SqlError::new(SqlState::SYNTAX, "no");
        assert_eq!(other.clone().in_table("t"), other);
    }
}
