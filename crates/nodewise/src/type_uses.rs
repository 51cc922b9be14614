//! What uses a type that users made: columns of tables and views, and the texts that are kept of expressions and queries.
//!
//! Key decision: texts name types with their schemas, so that what a text names is told by reading it.

use binder::{ColumnAlteration, KeptText, RuleChange};
use stdx::sync::Arc;
use storage::{ColumnChange, ColumnSchema, Rules, Table};
use types::structs::{changed, has_part};
use types::{
    ColumnId, DataType, Domain, EnumType, SqlError, SqlResult, UserType, ViewDefinition, names,
};

use crate::column_ddl::check_not_cut_by;
use crate::constraints::quoted;
use crate::dependents::needed;
use crate::{CancelToken, Session};

/// Something that uses a type, and goes with it.
enum User {
    Column { table: String, column: String },
    Default { table: String, column: String },
    Check { table: String, name: String },
    Domain(String),
    Field { of: String, field: String },
    View { kind: &'static str, name: String },
}

impl User {
    /// In words.
    fn said(&self) -> String {
        match self {
            Self::Column { table, column } if names::is_hidden(column) => {
                format!("an index on table {table}")
            }
            Self::Column { table, column } => format!("column {column} of table {table}"),
            Self::Default { table, column } => {
                format!("default value for column {column} of table {table}")
            }
            Self::Check { table, name } => format!("constraint {name} on table {table}"),
            Self::Domain(name) => format!("type {name}"),
            Self::Field { of, field } => format!("column {field} of composite type {of}"),
            Self::View { kind, name } => format!("{kind} {name}"),
        }
    }
}

impl Session {
    /// Gives all that is of a type the type that it has become.
    pub(crate) fn change_type(
        &mut self,
        (old, new): (EnumType, EnumType),
        keeps_places: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let is_it = |it: DataType| it == DataType::Enum(old);
        let become_of =
            |of: DataType| changed(of, &|it| if is_it(it) { DataType::Enum(new) } else { it });
        let snapshot = self.snapshot();
        for it in snapshot.user_types().filter(|it| has_part(it.data_type, &is_it)) {
            let data_type = become_of(it.data_type)?;
            self.put_type(UserType { data_type, ..UserType::clone(it) })?;
        }
        for table in snapshot.tables() {
            for place in 0..table.columns.len() {
                let id = ColumnId(place as u16);
                let of = table.column(id).data_type;
                if !has_part(of, &is_it) {
                    continue;
                }
                let (current, data_type) = (self.existing(&table.name)?, become_of(of)?);
                match keeps_places {
                    true => {
                        let change = ColumnChange::Relabel(id, data_type);
                        self.alter_column(&current, &change, None, cancel)?;
                    }
                    false => self.move_places(&current, id, data_type, cancel)?,
                }
            }
        }
        for view in snapshot.views() {
            if !view.columns.iter().any(|it| has_part(it.1, &is_it)) {
                continue;
            }
            let mut columns = view.columns.clone();
            for column in &mut columns {
                column.1 = become_of(column.1)?;
            }
            // Another name may have come into its query.
            let view = self.existing_view(&view.name)?;
            self.put_view(ViewDefinition { columns, ..ViewDefinition::clone(&view) })?;
        }
        Ok(())
    }

    /// Writes a column anew whose labels have other places. Equal values stay equal, and their order is the same.
    fn move_places(
        &self,
        table: &Arc<Table>,
        id: ColumnId,
        data_type: DataType,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        check_not_cut_by(table, id, "move the labels of")?;
        let old = table.column(id);
        let schema = ColumnSchema::new(old.name.clone(), data_type, old.nullable);
        let values =
            self.values_of_expression(table, (&schema, None), &quoted(&old.name), cancel)?;
        let change = ColumnChange::Retype(id, data_type);
        self.alter_column(table, &change, Some(values), cancel).map(|_| ())
    }

    /// Lets texts that name a type name it by its new name.
    pub(crate) fn rename_type_in_texts(
        &self,
        from: &str,
        to: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        self.rename_type_in_functions(from, to)?;
        self.change_texts(cancel, &|text| match text.names_type(from)? {
            true => text.with_type_renamed(from, to).map(Some),
            false => Ok(None),
        })
    }

    /// Lets columns of a domain, and domains that are made of it, name it by its new name.
    pub(crate) fn rename_domain(
        &self,
        from: &str,
        to: &str,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let snapshot = self.snapshot();
        for table in snapshot.tables() {
            let mut rules = Rules::clone(table.rules());
            let rows = Arc::make_mut(&mut rules.rows);
            let own = rows.domains.iter_mut().filter(|it| *it.domain == *from);
            own.for_each(|it| it.domain = to.into());
            if rules != **table.rules() {
                self.apply_rules(&self.existing(&table.name)?, rules, cancel)?;
            }
        }
        for it in snapshot.user_types() {
            let Some(domain) = it.domain.clone().filter(|it| it.of.as_deref() == Some(from)) else {
                continue;
            };
            let domain = Some(Domain { of: Some(to.to_owned()), ..domain });
            self.put_type(UserType { domain, ..UserType::clone(it) })?;
        }
        Ok(())
    }

    /// Changes the kept texts of all tables, domains and views for which there is another.
    fn change_texts(
        &self,
        cancel: &CancelToken,
        change: &dyn Fn(KeptText<'_>) -> SqlResult<Option<String>>,
    ) -> SqlResult<()> {
        let snapshot = self.snapshot();
        for table in snapshot.tables() {
            let mut rules = Rules::clone(table.rules());
            let rows = Arc::make_mut(&mut rules.rows);
            let defaults = rows.defaults.iter_mut().flatten();
            for text in defaults.chain(rows.checks.iter_mut().map(|it| &mut it.condition)) {
                if let Some(new) = change(KeptText::Expression(text))? {
                    *text = new.into();
                }
            }
            if rules != **table.rules() {
                self.apply_rules(&table, rules, cancel)?;
            }
        }
        for it in snapshot.user_types() {
            let Some(old) = &it.domain else { continue };
            let mut domain = old.clone();
            let checks = domain.checks.iter_mut().map(|it| &mut it.condition);
            for text in checks.chain(&mut domain.default) {
                if let Some(new) = change(KeptText::Expression(text))? {
                    *text = new;
                }
            }
            if domain != *old {
                self.put_type(UserType { domain: Some(domain), ..UserType::clone(it) })?;
            }
        }
        for view in snapshot.views() {
            if let Some(query) = change(KeptText::Query(&view.query))? {
                self.put_view(ViewDefinition { query, ..ViewDefinition::clone(&view) })?;
            }
        }
        Ok(())
    }

    /// Lets constants that stand for a label stand for it by its new text, or refuses (0A000) where what a constant stands for
    /// is not plain.
    pub(crate) fn rename_constants(
        &self,
        of: EnumType,
        (from, to): (&str, &str),
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let is_it = |it: DataType| it == DataType::Enum(of);
        let snapshot = self.snapshot();
        let has_it = |text: KeptText<'_>, is_near: bool| -> SqlResult<bool> {
            Ok(text.has_constant(from)? && (is_near || text.names_type(of.name())?))
        };
        let refused = |what: String| {
            let message =
                format!("label \"{from}\" cannot be renamed: {what} has it as a constant");
            SqlError::unsupported(message).with_hint("drop it first, and make it anew afterwards")
        };
        for it in snapshot.user_types() {
            let Some(domain) = &it.domain else { continue };
            let is_near = has_part(it.data_type, &is_it);
            let checks = domain.checks.iter().map(|it| &it.condition);
            for text in checks.chain(&domain.default) {
                if has_it(KeptText::Expression(text), is_near)? {
                    return Err(refused(format!("domain {}", it.name)));
                }
            }
        }
        for table in snapshot.tables() {
            let is_near = table.columns.iter().any(|it| has_part(it.data_type, &is_it));
            let mut rules = Rules::clone(table.rules());
            let rows = Arc::make_mut(&mut rules.rows);
            for check in &rows.checks {
                if has_it(KeptText::Expression(&check.condition), is_near)? {
                    let what = format!("constraint {} on table {}", check.name, table.name);
                    return Err(refused(what));
                }
            }
            for (place, default) in rows.defaults.iter_mut().enumerate() {
                let Some(text) = default else { continue };
                if !has_it(KeptText::Expression(text), is_near)? {
                    continue;
                }
                let column = table.column(ColumnId(place as u16));
                let new = KeptText::Expression(text).with_constant(from, to)?;
                match new.filter(|_| is_it(column.data_type)) {
                    Some(new) => *text = new.into(),
                    None if names::is_hidden(&column.name) => {
                        return Err(refused(format!("an index on table {}", table.name)));
                    }
                    None => {
                        let what = format!("column {} of table {}", column.name, table.name);
                        return Err(refused(what));
                    }
                }
            }
            if rules != **table.rules() {
                self.apply_rules(&table, rules, cancel)?;
            }
        }
        for view in snapshot.views() {
            let used = view.uses.iter().filter_map(|it| snapshot.get(&it.name));
            let below = view.uses.iter().filter_map(|it| snapshot.view(&it.name));
            let is_near =
                used.flat_map(|it| it.columns.iter()).any(|it| has_part(it.data_type, &is_it))
                    || below.flat_map(|it| it.columns.iter()).any(|it| has_part(it.1, &is_it));
            if has_it(KeptText::Query(&view.query), is_near)? {
                return Err(refused(format!("{} {}", view.kind(), view.name)));
            }
        }
        Ok(())
    }

    /// 0A000 where anything uses a type.
    pub(crate) fn check_type_unused(&self, it: &UserType) -> SqlResult<()> {
        match self.users_of(it)?.first() {
            Some(user) => Err(SqlError::unsupported(format!(
                "another name of a type of rows that is used is not supported: {} depends on it",
                user.said()
            ))),
            None => Ok(()),
        }
    }

    /// Makes a type ready to go: what uses it goes first, or all is refused (2BP01).
    pub(crate) fn release_type(
        &mut self,
        it: &UserType,
        cascade: bool,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let used = self.users_of(it)?;
        if used.is_empty() {
            return Ok(());
        }
        if !cascade {
            let dropped = format!("type {}", it.name);
            let each = |it: &User| format!("{} depends on {dropped}", it.said());
            return Err(needed(&dropped, &used.iter().map(each).collect::<Vec<_>>()));
        }
        used.iter().for_each(|it| self.cascades_to(it.said()));
        used.iter().try_for_each(|it| self.drop_user(it, cancel))
    }

    /// Drops what uses a type, unless it has gone with another.
    fn drop_user(&mut self, user: &User, cancel: &CancelToken) -> SqlResult<()> {
        // It may have gone with another.
        if !self.is_there(user) {
            return Ok(());
        }
        let (table, change) = match user {
            User::View { kind, name } => {
                self.drop_views((kind, std::slice::from_ref(name)), true, true, cancel)?;
                return Ok(());
            }
            User::Domain(name) => {
                if self.snapshot().user_type(name).is_some() {
                    self.drop_types(std::slice::from_ref(name), false, true, cancel)?;
                }
                return Ok(());
            }
            User::Field { of, field } => return self.drop_field(of, field, cancel),
            User::Column { table, column } => {
                let column = column.clone();
                let drop = ColumnAlteration::Drop { column, if_exists: true, cascade: true };
                (table, RuleChange::Column(drop))
            }
            User::Default { table, column } => {
                (table, RuleChange::Default { column: column.clone(), default: None })
            }
            User::Check { table, name } => {
                let name = name.clone();
                (table, RuleChange::Drop { name, if_exists: true, cascade: true })
            }
        };
        self.change_rules(table, &[change], cancel)
    }

    fn is_there(&self, user: &User) -> bool {
        let snapshot = self.snapshot();
        match user {
            User::View { name, .. } => snapshot.view(name).is_some(),
            User::Domain(name) => snapshot.user_type(name).is_some(),
            User::Field { of, field } => snapshot.user_type(of).is_some_and(|it| {
                matches!(it.data_type, DataType::Struct(row) if row.fields().iter().any(|it| *it.name == **field))
            }),
            User::Column { table, column } | User::Default { table, column } => {
                let table = snapshot.get(table);
                table.is_some_and(|it| it.columns.iter().any(|it| it.name == *column))
            }
            User::Check { table, name } => {
                let table = snapshot.get(table);
                table.is_some_and(|it| it.rules().rows.checks.iter().any(|it| *it.name == **name))
            }
        }
    }

    fn users_of(&self, it: &UserType) -> SqlResult<Vec<User>> {
        // Columns of another name of a type are of that type.
        let is_it = |of: DataType| of.made_name().is_some() && of == it.data_type;
        let is_alias = it.domain.is_some() || it.data_type.made_name() != Some(&*it.name);
        let is_of_it = |of: DataType| !is_alias && has_own_part(of, &is_it);
        let snapshot = self.snapshot();
        let mut used = Vec::new();
        for view in snapshot.views() {
            if view.columns.iter().any(|column| is_of_it(column.1))
                || KeptText::Query(&view.query).names_type(&it.name)?
            {
                used.push(User::View { kind: view.kind(), name: view.name.clone() });
            }
        }
        for other in snapshot.user_types().filter(|other| other.name != it.name) {
            let Some(domain) = &other.domain else {
                used.extend(users_in(other, &is_of_it));
                continue;
            };
            let mut texts = domain.checks.iter().map(|it| &it.condition).chain(&domain.default);
            let is_named = texts.try_fold(false, |found, text| {
                KeptText::Expression(text).names_type(&it.name).map(|it| it || found)
            })?;
            if is_named || domain.of.as_deref() == Some(&*it.name) || is_of_it(other.data_type) {
                used.push(User::Domain(other.name.clone()));
            }
        }
        for table in snapshot.tables() {
            if names::schema_of(&table.name) == names::MATERIALIZED {
                continue;
            }
            let rows = &table.rules().rows;
            let own = table.name.clone();
            for check in &rows.checks {
                if KeptText::Expression(&check.condition).names_type(&it.name)? {
                    let name = check.name.to_string();
                    used.push(User::Check { table: own.clone(), name });
                }
            }
            for (place, column) in table.columns.iter().enumerate() {
                let (table, id) = (own.clone(), ColumnId(place as u16));
                let default = rows.defaults.get(place).and_then(|it| it.as_ref());
                let is_named = match default {
                    Some(text) => KeptText::Expression(text).names_type(&it.name)?,
                    None => false,
                };
                let column_name = column.name.clone();
                let is_made = names::is_hidden(&column_name) || rows.generated(id).is_some();
                let is_own = rows.domain(id).is_some_and(|domain| **domain == *it.name);
                if is_own || is_of_it(column.data_type) || is_named && is_made {
                    used.push(User::Column { table, column: column_name });
                } else if is_named {
                    used.push(User::Default { table, column: column_name });
                }
            }
        }
        Ok(used)
    }
}

/// What uses a type of a type that is no domain: fields of rows, or all of another name of a type.
fn users_in(other: &UserType, is_of_it: &dyn Fn(DataType) -> bool) -> Vec<User> {
    let of = || other.name.clone();
    match other.data_type {
        DataType::Struct(row) if row.name() == other.name => {
            let fields = row.fields().iter().filter(|it| is_of_it(it.data_type));
            fields.map(|it| User::Field { of: of(), field: it.name.to_string() }).collect()
        }
        it if is_of_it(it) => vec![User::Domain(of())],
        _ => Vec::new(),
    }
}

/// Whether a type is one, or has it as a part that is no part of another type that users made.
fn has_own_part(of: DataType, is_it: &dyn Fn(DataType) -> bool) -> bool {
    is_it(of)
        || match of {
            DataType::Array(it) => has_own_part(it.data_type(), is_it),
            DataType::Struct(it) if !it.name().is_empty() => false,
            DataType::Struct(it) | DataType::Map(it) => {
                it.fields().iter().any(|it| has_own_part(it.data_type, is_it))
            }
            _ => false,
        }
}
