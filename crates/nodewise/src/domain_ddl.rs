//! CREATE and ALTER DOMAIN.
//!
//! Key decision: a column of a domain is a column of its type, with the name of the domain beside it. What the domain asks is asked
//! of a row when it is written, as a CHECK of the table is (`binder::bind::DomainRules`), so that another constraint of a
//! domain changes no table.

use binder::bind::DomainRules;
use binder::column_names::has_subquery;
use binder::{DomainBody, DomainChange, TypeChange, condition_of_column};
use stdx::sync::Arc;
use storage::Table;
use types::{
    ColumnId, DataType, Domain, DomainCheck, DomainColumn, RowRules, SqlError, SqlResult, SqlState,
    UserType, names,
};

use crate::answer::done;
use crate::constraints::quoted;
use crate::foreign_keys::queried;
use crate::notice::Notice;
use crate::planning::plan_plain;
use crate::sql_names::sql_path;
use crate::statement_catalog::StatementCatalog;
use crate::{Answer, CancelToken, Session};

impl Session {
    pub(crate) fn create_domain(
        &mut self,
        name: &str,
        body: &DomainBody,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        self.check_free_type(name)?;
        let parent = body.of.as_ref().map(|it| self.existing_domain(it)).transpose()?;
        let data_type = match &parent {
            Some(parent) => parent.0.data_type,
            None => self.current_type(body.data_type)?,
        };
        let mut domain = Domain {
            of: body.of.clone(),
            default: body.default.clone(),
            not_null: body.not_null == Some(true),
            checks: Vec::new(),
        };
        for (own, condition) in &body.checks {
            add_check(&mut domain, name, own.as_deref(), condition, true)?;
            self.check_condition(data_type, condition)?;
        }
        if let Some(default) = &domain.default {
            self.check_default(data_type, default)?;
        }
        let (name, owner) = (name.to_owned(), self.role());
        self.put_type(UserType { name, owner, data_type, domain: Some(domain) })?;
        Ok(done("CREATE DOMAIN"))
    }

    pub(crate) fn alter_domain(
        &mut self,
        name: &str,
        change: &DomainChange,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        self.write_alone(cancel)?;
        let (old, mut domain) = self.existing_domain(name)?;
        match change {
            DomainChange::Type(TypeChange::Rename(to)) => {
                self.rename_type(name, to, cancel)?;
                return Ok(done("ALTER DOMAIN"));
            }
            DomainChange::Type(change) => {
                self.alter_type(name, change, cancel)?;
                return Ok(done("ALTER DOMAIN"));
            }
            DomainChange::Default(default) => {
                if let Some(default) = default {
                    self.check_default(old.data_type, default)?;
                }
                domain.default.clone_from(default);
            }
            DomainChange::NotNull(not_null) => {
                if *not_null && !domain.not_null {
                    self.check_columns_of(&old, None, cancel)?;
                }
                domain.not_null = *not_null;
            }
            DomainChange::Add { name: own, condition, is_valid } => {
                add_check(&mut domain, name, own.as_deref(), condition, *is_valid)?;
                self.check_condition(old.data_type, condition)?;
                if *is_valid {
                    self.check_columns_of(&old, Some(condition), cancel)?;
                }
            }
            DomainChange::Drop { name: own, if_exists } => {
                let before = domain.checks.len();
                domain.checks.retain(|it| it.name != *own);
                if domain.checks.len() == before {
                    let missing = no_constraint(name, own);
                    if !if_exists {
                        return Err(missing);
                    }
                    self.notice(Notice::told("00000", format!("{}, skipping", missing.message)));
                }
            }
            DomainChange::Validate(own) => {
                let check = domain.checks.iter_mut().find(|it| it.name == *own);
                let check = check.ok_or_else(|| no_constraint(name, own))?;
                if !check.is_validated {
                    self.check_columns_of(&old, Some(&check.condition), cancel)?;
                    check.is_validated = true;
                }
            }
            DomainChange::RenameConstraint { name: own, to } => {
                if domain.checks.iter().any(|it| it.name == *to) {
                    return Err(constraint_exists(name, to));
                }
                let check = domain.checks.iter_mut().find(|it| it.name == *own);
                check.ok_or_else(|| no_constraint(name, own))?.name.clone_from(to);
            }
        }
        self.put_type(UserType { domain: Some(domain), ..UserType::clone(&old) })?;
        Ok(done("ALTER DOMAIN"))
    }

    /// A domain that is there. Errors: 42704, and 42809 where a type is none.
    pub(crate) fn existing_domain(&self, name: &str) -> SqlResult<(Arc<UserType>, Domain)> {
        let found = self.existing_type(name)?;
        match found.domain.clone() {
            Some(domain) => Ok((found, domain)),
            None => {
                let message = format!("\"{}\" is not a domain", names::bare(name));
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
            }
        }
    }

    /// Refuses types that are no domains (42809).
    pub(crate) fn check_domains(&self, all: &[String]) -> SqlResult<()> {
        let snapshot = self.snapshot();
        let mut known = all.iter().filter(|it| snapshot.user_type(it).is_some());
        known.try_for_each(|it| self.existing_domain(it).map(|_| ()))
    }

    /// What all domains that a domain is made of ask, and itself.
    pub(crate) fn domain_rules(&self, name: &str) -> SqlResult<DomainRules> {
        DomainRules::of(name, &*self.snapshot())
    }

    /// Whether a condition can be asked of a value of a type.
    fn check_condition(&self, of: DataType, condition: &str) -> SqlResult<()> {
        if has_subquery(condition)? {
            return Err(SqlError::unsupported("cannot use subquery in check constraint"));
        }
        let of = crate::copy::type_sql(of);
        let value = format!("SELECT CAST(NULL AS {of}) AS value");
        let sql = format!("SELECT 1 FROM ({value}) AS d WHERE ({condition})");
        plan_plain(&queried(&sql)?, &StatementCatalog::new(self).keeping()).map(|_| ())
    }

    fn check_default(&self, of: DataType, default: &str) -> SqlResult<()> {
        if has_subquery(default)? {
            return Err(SqlError::unsupported("cannot use subquery in DEFAULT expression"));
        }
        let sql = format!("SELECT CAST(({default}) AS {})", crate::copy::type_sql(of));
        plan_plain(&queried(&sql)?, &StatementCatalog::new(self).keeping()).map(|_| ())
    }

    /// The columns of a domain, and of those that are made of it.
    pub(crate) fn columns_of_domain(&self, name: &str) -> Vec<(Arc<Table>, ColumnId)> {
        let snapshot = self.snapshot();
        let mut all = vec![name.to_owned()];
        let mut at = 0;
        while let Some(next) = all.get(at).cloned() {
            let is_made_of = |it: &&Arc<UserType>| {
                it.domain.as_ref().is_some_and(|it| it.of.as_deref() == Some(&*next))
            };
            let made: Vec<String> =
                snapshot.user_types().filter(is_made_of).map(|it| it.name.clone()).collect();
            all.extend(made.into_iter().filter(|it| !all.contains(it)).collect::<Vec<_>>());
            at += 1;
        }
        let mut columns = Vec::new();
        for table in snapshot.tables() {
            let of_them = table.rules().rows.domains.iter();
            let of_them = of_them.filter(|it| all.iter().any(|name| **name == *it.domain));
            columns.extend(of_them.map(|it| (table.clone(), it.column)));
        }
        columns
    }

    /// Refuses what a domain shall ask, a condition or no NULL, where a value that is there breaks it.
    fn check_columns_of(
        &self,
        domain: &UserType,
        condition: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        for (table, column) in self.columns_of_domain(&domain.name) {
            if !self.has_bad_value(&table, column, condition, cancel)? {
                continue;
            }
            let (column, own) = (&table.column(column).name, names::bare(&table.name));
            return Err(match condition {
                Some(_) => {
                    let message = format!(
                        "column \"{column}\" of table \"{own}\" contains values that violate the new constraint"
                    );
                    SqlError::new(SqlState::CHECK_VIOLATION, message)
                }
                None => {
                    let message =
                        format!("column \"{column}\" of table \"{own}\" contains null values");
                    SqlError::new(SqlState::NOT_NULL_VIOLATION, message)
                }
            });
        }
        Ok(())
    }

    fn has_bad_value(
        &self,
        table: &Table,
        column: ColumnId,
        condition: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<bool> {
        let (own, column) = (sql_path(&table.name), &table.column(column).name);
        let wrong = match condition {
            Some(it) => format!("NOT ({})", condition_of_column(it, column)?),
            None => format!("{} IS NULL", quoted(column)),
        };
        let sql = format!("SELECT 1 FROM {own} WHERE {wrong} LIMIT 1");
        Ok(self.rows_of(&sql, cancel)?.iter().any(|it| it.num_rows() > 0))
    }

    /// Puts a column into a domain, or into none; its values must be of it.
    pub(crate) fn set_domain(
        &self,
        table: &str,
        column: ColumnId,
        domain: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let current = self.existing(table)?;
        if current.rules().rows.domain(column).map(|it| &**it) != domain {
            let mut rules = storage::Rules::clone(current.rules());
            put_domain(Arc::make_mut(&mut rules.rows), column, domain);
            self.apply_rules(&current, rules, cancel)?;
        }
        let Some(domain) = domain else { return Ok(()) };
        let (rules, current) = (self.domain_rules(domain)?, self.existing(table)?);
        if rules.not_null && self.has_bad_value(&current, column, None, cancel)? {
            return Err(SqlError::null_of_domain(&rules.name));
        }
        for check in &rules.checks {
            if self.has_bad_value(&current, column, Some(&check.condition), cancel)? {
                return Err(SqlError::outside_domain(&rules.name, &check.name));
            }
        }
        Ok(())
    }
}

/// Notes the domain of a column.
pub(crate) fn put_domain(rows: &mut RowRules, column: ColumnId, domain: Option<&str>) {
    rows.domains.retain(|it| it.column != column);
    rows.domains.extend(domain.map(|it| DomainColumn { column, domain: it.into() }));
}

fn add_check(
    domain: &mut Domain,
    of: &str,
    name: Option<&str>,
    condition: &str,
    is_validated: bool,
) -> SqlResult<()> {
    let is_taken = |name: &str| domain.checks.iter().any(|it| it.name == name);
    let name = match name {
        Some(name) if is_taken(name) => return Err(constraint_exists(of, name)),
        Some(name) => name.to_owned(),
        None => {
            let first = format!("{}_check", names::bare(of));
            let mut others = (1_u32..).map(|it| format!("{first}{it}"));
            match is_taken(&first) {
                true => others.find(|it| !is_taken(it)).unwrap_or(first),
                false => first,
            }
        }
    };
    domain.checks.push(DomainCheck { name, condition: condition.to_owned(), is_validated });
    Ok(())
}

fn constraint_exists(domain: &str, name: &str) -> SqlError {
    let message =
        format!("constraint \"{name}\" for domain \"{}\" already exists", names::bare(domain));
    SqlError::new(SqlState::DUPLICATE_OBJECT, message)
}

fn no_constraint(domain: &str, name: &str) -> SqlError {
    let message =
        format!("constraint \"{name}\" of domain \"{}\" does not exist", names::bare(domain));
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}
