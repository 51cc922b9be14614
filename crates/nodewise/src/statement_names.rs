//! Statements with the names of relations that they mean, in the place of those that they say ([`crate::resolution`]).

use binder::{
    ColumnAlteration, ColumnDefinition, Commented, Constraints, DomainChange, ExpressionChange,
    IdentityChange, IndexItem, Numbering, RuleChange, SaidMacro, SequenceChange, SequenceOptions,
    Statement, TableChange, TypeBody, TypeChange, TypeName,
};
use types::{DataType, SqlError, SqlResult, names};

use crate::Session;

impl Session {
    /// A statement with the names that it means. Names in queries stay: the binder asks what they mean.
    pub(crate) fn with_names(&self, mut statement: Statement) -> SqlResult<Statement> {
        use Statement as S;
        let all = |said: &mut Vec<String>, if_exists: bool| {
            said.iter_mut().try_for_each(|it| self.set_existing(it, if_exists))
        };
        match &mut statement {
            S::CreateTable { name, columns, likes, constraints, .. } => {
                *name = self.new_name(name)?;
                for like in likes {
                    self.set_existing(&mut like.table, false)?;
                }
                columns.iter_mut().try_for_each(|it| self.name_column(name, it))?;
                self.name_constraints(name, constraints)?;
            }
            S::CreateTableAs { name, .. } | S::CreateView { name, .. } => {
                *name = self.new_name(name)?
            }
            S::CreateSequence { name, options, .. } => {
                *name = self.new_name(name)?;
                self.name_owner(options)?;
            }
            S::CreateMacro { definition, .. } => {
                definition.name = self.new_name(&definition.name)?;
            }
            S::DropMacro { macros, if_exists, .. } => self.name_macros(macros, *if_exists)?,
            S::AlterFunction { of, .. } | S::Comment { of: Commented::Function(of), .. } => {
                *of = self.named_macro(of, false)?.unwrap_or_else(|| of.clone());
            }
            it if it.is_about_types() => self.name_types(it)?,
            S::CreateIndex { table, items, predicate, .. } => {
                self.name_index(table, items, predicate)?;
            }
            S::AlterTable { table, change, if_exists } => {
                self.set_existing(table, *if_exists)?;
                self.name_change(table, change)?;
            }
            S::AlterSequence { name, change, if_exists } => {
                self.set_existing(name, *if_exists)?;
                match change {
                    SequenceChange::Options(options) => self.name_owner(options)?,
                    SequenceChange::Rename(to) => *to = self.other_name(name, to)?,
                }
            }
            S::RefreshView { name, .. } => self.set_existing(name, false)?,
            S::RenameView { name, to, if_exists } => {
                self.set_existing(name, *if_exists)?;
                *to = self.other_name(name, to)?;
            }
            S::DropTable { names, if_exists, .. }
            | S::DropSequence { names, if_exists, .. }
            | S::DropView { names, if_exists, .. } => all(names, *if_exists)?,
            S::RenameIndex { name, if_exists, .. } => {
                *name = self.existing_index(name, *if_exists)?;
            }
            S::DropIndex { names, if_exists } => {
                for name in names {
                    *name = self.existing_index(name, *if_exists)?;
                }
            }
            S::Truncate { names, .. } | S::LockTables { names, .. } => all(names, false)?,
            S::Maintain { tables, .. } => all(tables, false)?,
            S::Cluster { table: Some(table), .. } => self.set_existing(table, false)?,
            S::CopyFrom { table, .. } => self.set_existing(table, false)?,
            S::Describe { table: Some(table), .. } => self.set_existing(table, true)?,
            _ => {}
        }
        Ok(statement)
    }

    /// The macros that are to be dropped, of those that are there.
    fn name_macros(&self, macros: &mut Vec<SaidMacro>, if_exists: bool) -> SqlResult<()> {
        let named = macros.iter().map(|it| self.named_macro(it, if_exists));
        let named = named.collect::<SqlResult<Vec<_>>>()?;
        *macros = named.into_iter().flatten().collect();
        Ok(())
    }

    fn name_index(
        &self,
        table: &mut String,
        items: &mut [IndexItem],
        predicate: &mut Option<String>,
    ) -> SqlResult<()> {
        self.set_existing(table, false)?;
        let expressions = items.iter_mut().filter_map(|it| match it {
            IndexItem::Expression(it) => Some(it),
            IndexItem::Column(_) => None,
        });
        expressions.chain(predicate).try_for_each(|it| {
            *it = self.with_calls(it)?;
            Ok(())
        })
    }

    /// The types that a statement about types means.
    fn name_types(&self, statement: &mut Statement) -> SqlResult<()> {
        match statement {
            Statement::CreateType { name, body } => {
                *name = self.new_name(name)?;
                if let TypeBody::Alias { data_type, type_name }
                | TypeBody::Row { data_type, type_name } = body
                    && self.find_type(data_type, type_name)?.is_some()
                {
                    let message = "another name of a domain is not supported";
                    return Err(SqlError::unsupported(message)
                        .with_hint("CREATE DOMAIN makes a domain of a domain"));
                }
            }
            Statement::CreateDomain { name, body } => {
                *name = self.new_name(name)?;
                body.of = self.find_type(&mut body.data_type, &mut body.type_name)?;
                if let Some(default) = &mut body.default {
                    *default = self.kept_default(name, default)?;
                }
                for (_, condition) in &mut body.checks {
                    *condition = self.with_types(condition)?;
                }
            }
            Statement::AlterDomain { name, change: DomainChange::Default(Some(it)) } => {
                *name = self.existing_type_name(name)?;
                *it = self.kept_default(name, it)?;
            }
            Statement::AlterDomain { name, change: DomainChange::Add { condition, .. } } => {
                *name = self.existing_type_name(name)?;
                *condition = self.with_types(condition)?;
            }
            Statement::AlterType { name, change: TypeChange::Rename(to) }
            | Statement::AlterDomain { name, change: DomainChange::Type(TypeChange::Rename(to)) } =>
            {
                *name = self.existing_type_name(name)?;
                *to = self.other_name(name, to)?;
            }
            Statement::AlterType { name, .. } | Statement::AlterDomain { name, .. } => {
                *name = self.existing_type_name(name)?;
            }
            Statement::DropType { names, .. } => {
                for name in names {
                    *name = self.existing_type_name(name)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn set_existing(&self, name: &mut String, if_exists: bool) -> SqlResult<()> {
        *name = self.existing_name(name, if_exists)?;
        Ok(())
    }

    fn name_change(&self, table: &str, change: &mut TableChange) -> SqlResult<()> {
        match change {
            TableChange::Rename(to) => *to = self.other_name(table, to)?,
            TableChange::Rules(changes) => {
                changes.iter_mut().try_for_each(|it| self.name_rule(table, it))?;
            }
            _ => {}
        }
        Ok(())
    }

    fn name_rule(&self, table: &str, change: &mut RuleChange) -> SqlResult<()> {
        match change {
            RuleChange::Add(constraints) => self.name_constraints(table, constraints),
            RuleChange::Default { default: Some(default), .. } => {
                *default = self.kept_default(table, default)?;
                Ok(())
            }
            RuleChange::Expression { change: ExpressionChange::Set(expression), .. } => {
                *expression = self.kept_default(table, expression)?;
                Ok(())
            }
            RuleChange::Column(ColumnAlteration::Add { column, constraints, .. }) => {
                self.name_column(table, column)?;
                self.name_constraints(table, constraints)
            }
            RuleChange::Column(ColumnAlteration::Type {
                data_type,
                type_name,
                domain,
                using,
                ..
            }) => {
                *domain = self.find_type(data_type, type_name)?;
                if let Some(using) = using {
                    *using = self.with_calls(using)?;
                }
                Ok(())
            }
            RuleChange::Identity {
                change: IdentityChange::Add { options, .. } | IdentityChange::Set { options, .. },
                ..
            } => self.name_identity(table, options),
            _ => Ok(()),
        }
    }

    /// A type that users made, by its name; the domain that it is, if it is one.
    fn find_type(
        &self,
        data_type: &mut DataType,
        name: &mut Option<TypeName>,
    ) -> SqlResult<Option<String>> {
        let Some(name) = name.take() else { return Ok(None) };
        let snapshot = self.snapshot();
        if let Some(own) = name.name()
            && let Some(found) = snapshot.user_type(&self.existing_type_name(&own)?)
            && found.domain.is_some()
        {
            *data_type = found.data_type;
            return Ok(Some(found.name.clone()));
        }
        let find = |name: &str| match snapshot.user_type(&self.existing_type_name(name)?) {
            Some(it) if it.domain.is_some() => {
                let message = "arrays, structs and maps of a domain are not supported";
                Err(SqlError::unsupported(message).with_hint("take the type of the domain"))
            }
            found => Ok(found.map(|it| it.data_type)),
        };
        *data_type = name.data_type(&find)?;
        Ok(None)
    }

    fn name_column(&self, table: &str, column: &mut ColumnDefinition) -> SqlResult<()> {
        column.domain = self.find_type(&mut column.data_type, &mut column.type_name)?;
        if let Some(default) = &mut column.default {
            *default = self.kept_default(table, default)?;
        }
        match &mut column.numbering {
            Some(Numbering::Identity { options, .. }) => self.name_identity(table, options),
            _ => Ok(()),
        }
    }

    /// The sequence of an identity stands in the schema of its table, unless it says another.
    fn name_identity(&self, table: &str, options: &mut SequenceOptions) -> SqlResult<()> {
        if let Some(name) = &mut options.name {
            *name = match self.name_said(name)? {
                (None, bare) => names::joined(&names::schema_of(table), &bare),
                (Some(_), _) => self.new_name(name)?,
            };
        }
        self.name_owner(options)
    }

    fn name_owner(&self, options: &mut SequenceOptions) -> SqlResult<()> {
        match &mut options.owner {
            Some(Some((table, _))) => self.set_existing(table, false),
            _ => Ok(()),
        }
    }

    /// The tables that foreign keys refer to; a table may refer to itself while it is made.
    fn name_constraints(&self, own: &str, constraints: &mut Constraints) -> SqlResult<()> {
        for check in &mut constraints.checks {
            check.condition = self.with_types(&check.condition)?;
        }
        for reference in &mut constraints.references {
            let (schema, name) = self.name_said(&reference.parent)?;
            let snapshot = self.snapshot();
            let path = self.search_path(&snapshot);
            let is_there = |it: &str| it.eq_ignore_ascii_case(own) || snapshot.get(it).is_some();
            let found = self.find_name(&path, (schema.as_deref(), &name), &is_there).name;
            reference.parent = match found {
                Some(found) => found,
                None => self.existing_name(&reference.parent, false)?,
            };
        }
        Ok(())
    }
}
