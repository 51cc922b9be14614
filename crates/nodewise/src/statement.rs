//! What each kind of statement does.

use binder::{CopyPlace, ParsedQuery, Statement};
use execution::RowStream;
use plan::Plan;
use stdx::Nanos;
use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

use crate::answer::{done, text_answer};
use crate::begun_rows::BegunRows;
use crate::database_settings::{list_of_database, set_of_database};
use crate::ddl::{NewTable, Target};
use crate::index_ddl::NewIndex;
use crate::index_text::Said;
use crate::notice::Notice;
use crate::plan_cache::CachedPlan;
use crate::query::Planned;
use crate::result::schema_of;
use crate::settings::Settings;
use crate::statement_catalog::Tables;
use crate::view_ddl::NewView;
use crate::{Answer, CancelToken, Described, Session};

impl Session {
    /// Runs one statement.
    pub(crate) fn run_statement(
        &mut self,
        statement: Statement,
        cancel: CancelToken,
    ) -> SqlResult<Answer> {
        let statement = self.with_names(statement)?;
        self.check_statement(&statement)?;
        let ran = self.run_named(statement, cancel);
        self.tell_cascade(ran.is_ok());
        ran
    }

    /// Runs a statement whose names are found.
    fn run_named(&mut self, statement: Statement, cancel: CancelToken) -> SqlResult<Answer> {
        match statement {
            Statement::Roles(it) => self.run_roles(it, &cancel),
            it @ (Statement::Query { .. } | Statement::Execute { .. }) => {
                self.run_within(it, &cancel)
            }
            Statement::Explain { query, analyze, format } => {
                self.explain(&query, analyze, format, &cancel)
            }
            Statement::ExplainPrepared { name, arguments, analyze, format } => {
                let query = self.named_query(&name, &arguments, &cancel)?;
                self.explain(&query, analyze, format, &cancel)
            }
            Statement::Prepare { name, types, statement } => {
                self.prepare_named(name, &types, *statement, &cancel)
            }
            Statement::Deallocate { name } => self.deallocate(name.as_deref()),
            it @ (Statement::CreateTable { .. } | Statement::CreateTableAs { .. }) => {
                self.make_table(it, &cancel)
            }
            Statement::Call { procedure, arguments } => self.call(&procedure, &arguments, &cancel),
            Statement::DropTable { names, if_exists, cascade } => {
                self.drop_tables(&names, if_exists, cascade, &cancel)
            }
            Statement::Transaction(_) | Statement::Do(_) => {
                Err(SqlError::unsupported("a transaction inside of a statement is not supported"))
            }
            Statement::Change { query } => self.change(&query, &cancel),
            Statement::InSteps { first, last } => self.run_in_steps(&first, &last, &cancel),
            Statement::LockTables { names, mode, wait } => {
                self.lock_tables(&names, mode, wait, &cancel)
            }
            Statement::Truncate { names, cascade, restart } => {
                self.truncate(&names, (cascade, restart), &cancel)
            }
            it @ (Statement::CopyFrom { .. } | Statement::CopyTo { .. }) => {
                self.run_copy(it, &cancel)
            }
            it @ (Statement::Set { .. }
            | Statement::SetVariable { .. }
            | Statement::SetConstraints { .. }
            | Statement::Show { .. }
            | Statement::Reset(_)) => self.set_or_show(it, &cancel),
            Statement::Channel(it) => self.run_channel(it),
            Statement::Cursor(_) => {
                Err(SqlError::unsupported("a cursor inside of a statement is not supported"))
            }
            Statement::Discard { what } => self.discard(what, &cancel),
            it @ (Statement::ExportDatabase { .. }
            | Statement::ImportDatabase { .. }
            | Statement::Checkpoint
            | Statement::Maintain { .. }
            | Statement::Cluster { .. }
            | Statement::Backup { .. }
            | Statement::Kill { .. }
            | Statement::AlterQuery { .. }) => self.operate(it, &cancel),
            other => self.run_definition(other, &cancel),
        }
    }

    /// COPY between a table and a file.
    fn run_copy(&mut self, statement: Statement, cancel: &CancelToken) -> SqlResult<Answer> {
        match statement {
            Statement::CopyFrom {
                table,
                columns,
                place: CopyPlace::File(path),
                options,
                condition,
            } => {
                let filled = (&columns[..], condition.as_deref());
                self.copy_from(&table, filled, (&path, &options), cancel)
            }
            Statement::CopyTo { query, of, place: CopyPlace::File(path), options } => {
                let query = self.copied_rows(query, of)?;
                self.copy_to(&query, &path, &options, cancel)
            }
            _ => Err(SqlError::unsupported("COPY between a client and another statement")),
        }
    }

    /// Makes a table, with or without rows.
    fn make_table(&mut self, statement: Statement, cancel: &CancelToken) -> SqlResult<Answer> {
        match statement {
            Statement::CreateTable {
                name,
                columns,
                likes,
                constraints,
                if_not_exists,
                or_replace,
                design,
                on_commit,
            } => {
                let new = NewTable {
                    name,
                    columns,
                    constraints,
                    if_not_exists,
                    or_replace,
                    design,
                    on_commit,
                };
                match likes.is_empty() {
                    true => self.create_table(new, cancel),
                    false => self.create_table_like(new, &likes, cancel),
                }
            }
            Statement::CreateTableAs {
                name,
                columns,
                query,
                if_not_exists,
                or_replace,
                design,
                on_commit,
            } => {
                let target = Target { name, columns, if_not_exists, or_replace, design, on_commit };
                self.create_table_as(&target, &query, cancel)
            }
            _ => Err(SqlError::internal("a statement that makes no table")),
        }
    }

    /// What is set of the session or of its transaction, or shown of it.
    fn set_or_show(&mut self, statement: Statement, cancel: &CancelToken) -> SqlResult<Answer> {
        match statement {
            Statement::Set { name, value, local } => self.set(&name, value.as_deref(), local),
            Statement::SetConstraints { names, deferred } => {
                self.set_constraints(names.as_deref(), deferred, cancel)
            }
            Statement::SetVariable { name, query } => {
                self.set_variable(&name, query.as_ref(), cancel)
            }
            Statement::Show { name } => self.show(&name),
            Statement::Reset(None) => self.reset_all(),
            Statement::Reset(Some(name)) => self.set(&name, None, false).map(|_| done("RESET")),
            _ => Err(SqlError::internal("a statement that sets nothing")),
        }
    }

    /// What is done for the database, and to other statements.
    fn operate(&mut self, statement: Statement, cancel: &CancelToken) -> SqlResult<Answer> {
        match statement {
            Statement::ExportDatabase { folder, options } => {
                self.export_database(&folder, &options, cancel)
            }
            Statement::ImportDatabase { folder } => self.import_database(&folder, cancel),
            Statement::Checkpoint => self.checkpoint(cancel),
            Statement::Maintain { command, tables } => {
                tables.iter().try_for_each(|it| self.existing(it).map(|_| ()))?;
                Ok(done(command))
            }
            Statement::Cluster { table, index } => self.cluster(table.as_deref(), index.as_deref()),
            Statement::Backup { folder } => self.backup(&folder, cancel),
            Statement::Kill { statement } => self.database.kill(statement).map(|_| done("KILL")),
            Statement::AlterQuery { statement, name, value } => {
                self.database.steer(statement, &name, &value).map(|_| done("ALTER QUERY"))
            }
            _ => Err(SqlError::internal("a statement that operates nothing")),
        }
    }

    /// CLUSTER: what it names must be there; that no row moves is told.
    fn cluster(&self, table: Option<&str>, index: Option<&str>) -> SqlResult<Answer> {
        let Some(table) = table else { return Ok(done("CLUSTER")) };
        let found = self.existing_indexed(table)?;
        let own = types::names::bare(&found.name);
        let missing = match index {
            None => format!("there is no previously clustered index for table \"{own}\""),
            Some(index) if found.table.rules().indexes.iter().any(|it| *it.name == *index) => {
                let message = format!(
                    "rows of \"{own}\" stay where they are: an index leads to them anywhere"
                );
                self.notice(Notice::told("00000", message));
                return Ok(done("CLUSTER"));
            }
            Some(index) => format!("index \"{index}\" for table \"{own}\" does not exist"),
        };
        Err(SqlError::new(SqlState::UNDEFINED_OBJECT, missing))
    }

    /// Defines what is beside tables (indexes, sequences, views), and what is changed of a table; tells what columns there are.
    fn run_definition(&mut self, statement: Statement, cancel: &CancelToken) -> SqlResult<Answer> {
        match statement {
            Statement::CreateIndex {
                name,
                table,
                items,
                orders,
                method,
                predicate,
                unique,
                nulls_equal,
                included,
                if_not_exists,
            } => {
                let said = Said { items, orders, method, predicate, nulls_equal, included };
                let index = NewIndex { name, table, said, unique, if_not_exists };
                self.create_index(&index, cancel)
            }
            Statement::AlterTable { table, change, if_exists } => {
                self.alter_table(&table, (&change, if_exists), cancel)
            }
            Statement::RenameIndex { name, to, if_exists } => {
                self.rename_index(&name, &to, if_exists, cancel)
            }
            Statement::DropIndex { names, if_exists } => {
                self.drop_indexes(&names, if_exists, cancel)
            }
            it if it.is_about_types() => self.run_type_statement(&it, cancel),
            Statement::CreateSequence { name, options, if_not_exists } => {
                self.create_sequence(&name, &options, if_not_exists, cancel)
            }
            Statement::AlterSequence { name, change, if_exists } => {
                self.alter_sequence(&name, &change, if_exists, cancel)
            }
            Statement::DropSequence { names, if_exists, cascade } => {
                self.drop_sequences(&names, if_exists, cascade, cancel)
            }
            Statement::CreateMacro { definition, or_replace, if_not_exists } => {
                match definition.is_function() {
                    true => self.create_function(definition, or_replace, cancel),
                    false => self.create_macro(&definition, (or_replace, if_not_exists), cancel),
                }
            }
            Statement::AlterFunction { of, changes } => self.alter_function(&of, &changes, cancel),
            Statement::DropMacro { macros, is_function, .. } => {
                self.drop_macros((&macros, is_function), cancel)
            }
            Statement::Comment { of, text } => self.comment_on(&of, text.as_deref(), cancel),
            Statement::Summarize { query } => self.summarize(&query, cancel),
            Statement::CreateSchema { name, owner, if_not_exists, elements } => {
                let made = self.create_schema(&name, (if_not_exists, owner.as_ref()), cancel)?;
                self.make_in_schema(&name, (elements, owner.as_ref()), cancel)?;
                Ok(made)
            }
            Statement::Extension(it) => self.run_extension_statement(&it, cancel),
            Statement::RenameSchema { name, to } => self.rename_schema(&name, &to, cancel),
            Statement::DropSchema { names, if_exists, cascade } => {
                self.drop_schemas(&names, if_exists, cascade, cancel)
            }
            it @ (Statement::CreateView { .. }
            | Statement::RefreshView { .. }
            | Statement::RenameView { .. }
            | Statement::DropView { .. }) => self.run_view_statement(it, cancel),
            Statement::Describe { query, table } => {
                self.describe_columns(&query, table.as_deref(), cancel)
            }
            _ => Err(SqlError::internal("a statement that defines nothing")),
        }
    }

    /// Makes, fills, renames or drops views.
    fn run_view_statement(
        &mut self,
        statement: Statement,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        match statement {
            Statement::CreateView {
                name,
                columns,
                query,
                or_replace,
                if_not_exists,
                materialized,
                check,
            } => {
                let new = NewView { name, columns, query, or_replace, if_not_exists, check };
                match materialized {
                    None => self.create_view(new, cancel),
                    Some(with_data) => self.create_materialized(new, with_data, cancel),
                }
            }
            Statement::RefreshView { name, with_data, concurrently } => {
                self.refresh_view(&name, (with_data, concurrently), cancel)
            }
            Statement::RenameView { name, to, if_exists } => {
                self.rename_view(&name, &to, if_exists, cancel)
            }
            Statement::DropView { names, materialized, if_exists, cascade } => {
                let kind = if materialized { "materialized view" } else { "view" };
                self.drop_views((kind, &names[..]), if_exists, cascade, cancel)
            }
            _ => Err(SqlError::internal("a statement that is about no view")),
        }
    }

    /// A setting of the database, else one of this session.
    pub(crate) fn set(
        &mut self,
        name: &str,
        value: Option<&str>,
        local: bool,
    ) -> SqlResult<Answer> {
        if let Some(said) = self.said_by_setting(name, value)? {
            return self.set_modes(said, false);
        }
        if local
            && list_of_database(&self.database).iter().any(|it| it.name.eq_ignore_ascii_case(name))
        {
            let message =
                format!("{name} is a setting of the whole database, SET LOCAL is not supported");
            return Err(SqlError::unsupported(message));
        }
        if name.eq_ignore_ascii_case("temp_directory") {
            self.check_files(true)?;
        }
        if set_of_database(&self.database, &name.to_ascii_lowercase(), value)? {
            return Ok(done("SET"));
        }
        let counted = self.settings.access_counting;
        self.set_own(name, value, local)?;
        if self.settings.access_counting != counted {
            self.database.machine.count_accesses(!counted);
        }
        Ok(done("SET"))
    }

    pub(crate) fn reset_all(&mut self) -> SqlResult<Answer> {
        // Who somebody is, is reset by itself.
        self.settings = Settings { roles: self.settings.roles, ..Settings::default() };
        self.tell_roles();
        self.block.iter_mut().for_each(|it| it.lasting = None);
        Ok(done("RESET"))
    }

    /// What the column of SHOW is called.
    pub(crate) fn shown_as(&self, name: &str) -> String {
        self.transaction_setting(name).map_or(name, |it| it.0).to_owned()
    }

    fn show(&self, name: &str) -> SqlResult<Answer> {
        text_answer("SHOW", &self.shown_as(name), vec![&self.setting(name)?])
    }

    /// A setting of the transaction, of the database, or of the session.
    pub(crate) fn setting(&self, name: &str) -> SqlResult<String> {
        if let Some((_, value)) = self.transaction_setting(name) {
            return Ok(value.to_owned());
        }
        let mut all = list_of_database(&self.database).into_iter();
        match all.find(|it| it.name.eq_ignore_ascii_case(name)) {
            Some(setting) => Ok(setting.value),
            None => self.settings.get(name),
        }
    }

    /// Begins a query. When `text` is all there is of it, its plan is kept for the next time.
    pub(crate) fn begin_select(
        &mut self,
        query: &ParsedQuery,
        text: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<BegunRows> {
        let started = self.database.machine.now();
        let (catalog, planned) = self.planned_to_read(query, cancel, |_| Ok(()))?;
        let Planned { plan, basis, unknown, asked, planning } = planned;
        let rows = self.begin_plan(&plan, catalog.tables(&plan), cancel)?;
        if let (Some(text), Some(basis)) = (text, basis) {
            let options = self.settings.planning();
            // The plan is one of any time zone.
            let schema = schema_of(&plan.output);
            let plan = Arc::new(plan);
            let cached = CachedPlan { basis, options, plan, unknown, asked, schema };
            self.database.plans.put(text, cached);
        }
        Ok(BegunRows { started, planning, ..rows })
    }

    /// Runs a plan up to its first row.
    pub(crate) fn begin_plan(
        &self,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<BegunRows> {
        let (started, planning) = (self.database.machine.now(), Nanos(0));
        let Described { schema, types, origins } = self.described(&plan.output);
        let (context, needs_place) = self.query_context(plan, tables, cancel)?;
        let stream = RowStream::open(plan, context)?;
        Ok(BegunRows { stream, schema, types, origins, needs_place, started, planning })
    }
}
