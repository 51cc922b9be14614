//! What domains ask of values, and all that is asked of a row.

use types::{CatalogView, DomainCheck, SqlError, SqlResult, SqlState, names};

/// A condition that must not be false of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RowCheck {
    /// A CHECK constraint of the table, by its name.
    Table(String),
    /// That it is a row of a view through which it comes, by the name of that.
    View(String),
    /// One of the domain of a column.
    Domain {
        /// The domain, with its schema.
        domain: String,
        /// The constraint.
        constraint: String,
    },
    /// NOT NULL of the domain of a column.
    NotNull {
        /// The domain, with its schema.
        domain: String,
    },
}

/// Domains that may be made of one another.
const DEPTH_MAX: usize = 64;

/// What all domains that a domain is made of ask, and itself.
#[derive(Clone, Debug)]
pub struct DomainRules {
    /// The domain, with its schema ([`names::joined`]).
    pub name: String,
    /// Whether NULL is none of its values.
    pub not_null: bool,
    /// Its constraints; those of the domain that it is made of come first.
    pub checks: Vec<DomainCheck>,
    /// The expression of its default.
    pub default: Option<String>,
}

impl DomainRules {
    /// Those of a domain, by its full name.
    ///
    /// # Errors
    /// 42704 where there is no such domain, 54001 for too many that are made of one another.
    pub fn of(full: &str, catalog: &dyn CatalogView) -> SqlResult<Self> {
        let name = full.to_owned();
        let mut rules = Self { name, not_null: false, checks: Vec::new(), default: None };
        let mut next = Some(full.to_owned());
        for depth in 0..=DEPTH_MAX {
            let Some(full) = next.take() else { break };
            let (schema, own) = names::split(&full);
            let found = catalog.user_type(Some(&schema), &own);
            let Some(domain) = found.as_ref().and_then(|it| it.domain.as_ref()) else {
                return Err(crate::data_types::no_type(&full));
            };
            if depth == DEPTH_MAX {
                let message = format!("more than {DEPTH_MAX} domains are made of one another");
                return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
            }
            rules.not_null |= domain.not_null;
            rules.default = rules.default.or_else(|| domain.default.clone());
            let mut checks = domain.checks.clone();
            checks.sort_by(|one, other| one.name.cmp(&other.name));
            checks.append(&mut rules.checks);
            rules.checks = checks;
            next.clone_from(&domain.of);
        }
        Ok(rules)
    }
}
