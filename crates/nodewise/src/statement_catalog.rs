//! The tables as a statement sees them: one snapshot, with the views and files that it names.

use std::collections::{HashMap, HashSet};

use binder::bind::{Asked, SerialSequence, SessionFacts};
use functions::Began;
use plan::{ColumnOrigin, OutputColumn, Plan};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex};
use storage::{CatalogSnapshot, Table};
use types::{
    CatalogView, DataType, Deferral, Interrupt, MacroDefinition, RowRules, SqlError, SqlResult,
    Styles, TableId, TableInfo, UniqueKey, UnreadColumn, UserType, Value, ViewDefinition, Zone,
    names,
};

use crate::basis::Basis;
use crate::result::origins_of;
use crate::search_path::{SearchPath, no_schema};
use crate::{Session, pg_catalog, views};

/// Tables by id.
pub(crate) type Tables = HashMap<TableId, Arc<Table>>;

/// One snapshot of the tables, with the views and files that a statement names.
pub(crate) struct StatementCatalog<'a> {
    session: &'a Session,
    snapshot: Arc<CatalogSnapshot>,
    interrupt: Interrupt,
    /// Views and files, made when first asked for.
    transient: Mutex<HashMap<String, Arc<Table>>>,
    /// The columns of files that were not read.
    unread: Mutex<HashMap<TableId, Vec<UnreadColumn>>>,
    /// Where the columns of the rows of steps come from.
    step_origins: Mutex<HashMap<String, Vec<Option<ColumnOrigin>>>>,
    /// Why a view could not be made.
    failed_view: Mutex<Option<SqlError>>,
    /// The tables that were asked for.
    asked: Mutex<Vec<TableId>>,
    /// Whether planning sees bounds of tables that leave room for values to come.
    is_loose: bool,
    /// Whether the frames of the session are among the tables.
    has_frames: bool,
    /// Whether who plans on it asks for the rights of the role that runs the statement.
    is_checked: bool,
    /// The styles in which constants are read, where they are not the session's.
    reading: Option<Styles>,
    /// Whether what is planned is a text that is to be kept.
    keeps: bool,
    /// Where names are looked for that say no schema.
    path: SearchPath,
    /// Names that were looked for before those that were found.
    absent: Mutex<Vec<String>>,
    /// Whether types that users made were asked for.
    has_types: AtomicBool,
}

impl<'a> StatementCatalog<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        Self::on(session, session.snapshot())
    }

    /// The tables of a snapshot, where several queries of a statement need the same.
    pub(crate) fn on(session: &'a Session, snapshot: Arc<CatalogSnapshot>) -> Self {
        let interrupt = session.interrupt();
        let transient = Mutex::new(HashMap::new());
        let unread = Mutex::new(HashMap::new());
        let (failed_view, asked) = (Mutex::new(None), Mutex::default());
        let (is_loose, has_frames, is_checked) = (false, true, true);
        let (path, absent) = (session.search_path(&snapshot), Mutex::default());
        Self {
            session,
            snapshot,
            interrupt,
            transient,
            unread,
            step_origins: Mutex::default(),
            failed_view,
            asked,
            path,
            absent,
            is_loose,
            has_frames,
            is_checked,
            reading: None,
            keeps: false,
            has_types: AtomicBool::new(false),
        }
    }

    /// The same for a plan that was made before and did not stay: its tables change so that their bounds do.
    pub(crate) fn loosened(self, is_loose: bool) -> Self {
        Self { is_loose, ..self }
    }

    /// The same for a statement that was prepared when constants were read in some styles.
    pub(crate) fn reading(self, styles: Styles) -> Self {
        Self { reading: Some(styles), ..self }
    }

    /// The same for a text that is to be kept, and to mean the same in every session.
    pub(crate) fn keeping(self) -> Self {
        Self { keeps: true, ..self }
    }

    /// The same for queries of the system's own, or for those that are not run yet: nobody's rights are asked.
    pub(crate) fn unchecked(self) -> Self {
        Self { is_checked: false, ..self }
    }

    /// Whether who runs the statement has the rights that it needs. Errors: 42501.
    pub(crate) fn check_asked(&self, asked: &Asked) -> SqlResult<()> {
        if self.is_checked { self.session.check_asked(asked) } else { Ok(()) }
    }

    /// What planning sees of a table.
    pub(crate) fn known(&self, id: TableId) -> Option<Arc<TableInfo>> {
        let info = self.snapshot.info(id)?;
        Some(if self.is_loose { Arc::new(info.loosened()) } else { info.clone() })
    }

    /// The tables without what only the session has.
    pub(crate) fn stored(session: &'a Session) -> Self {
        Self { has_frames: false, ..Self::new(session) }
    }

    /// When the statement that is planned now began, and its transaction.
    pub(crate) fn began(&self) -> Began {
        self.session.began()
    }

    fn system_view(&self, schema: &str, name: &str) -> Option<Arc<Table>> {
        let key = format!("{schema}.{name}");
        if let Some(table) = self.transient.lock().get(&key) {
            return Some(table.clone());
        }
        let rows = match schema {
            views::SCHEMA => {
                let (database, settings) = (&self.session.database, &self.session.settings);
                views::rows_of(name, database, settings, self.session)?
            }
            _ => pg_catalog::rows_of(schema, name, self.session)?,
        };
        match rows.and_then(|rows| self.session.table_of(&key, &rows)) {
            Ok(table) => Some(self.add(key, table)),
            Err(error) => {
                self.failed_view.lock().get_or_insert(error);
                None
            }
        }
    }

    /// The relation that a schema, if one is said, and a name mean.
    fn found(&self, schema: Option<&str>, name: &str) -> Option<String> {
        let is_there = |it: &str| self.snapshot.kind_of(it).is_some() || is_of_system(it);
        let found = self.session.find_name(&self.path, (schema, name), &is_there);
        self.absent.lock().extend(found.absent);
        found.name
    }

    /// What a sequence is as a table.
    fn sequence_table(&self, name: &str) -> Option<Arc<Table>> {
        let sequence = self.snapshot.sequence(name)?;
        let key = format!("{}.sequence.{name}", views::SCHEMA);
        let rows = views::sequences::as_table(sequence);
        match rows.and_then(|rows| self.session.table_of(&sequence.name, &rows)) {
            Ok(table) => Some(self.add(key, table)),
            Err(error) => {
                self.failed_view.lock().get_or_insert(error);
                None
            }
        }
    }

    /// The rows that the session was given under a name.
    fn frame(&self, name: &str) -> Option<Arc<Table>> {
        let table = self.session.frames.get(name).filter(|_| self.has_frames)?;
        self.transient.lock().insert(format!("frame {}", table.name), table.clone());
        Some(table.clone())
    }

    /// Does something that is noted where the statement is followed.
    pub(crate) fn noted<T>(&self, name: &str, run: impl FnOnce() -> T) -> T {
        self.session.noted(name, run)
    }

    /// What planning on it came to. A view that exists and cannot be made is told so, and not as a missing table.
    pub(crate) fn planned<T>(&self, planned: SqlResult<T>) -> SqlResult<T> {
        planned.map_err(|error| self.failed_view.lock().take().unwrap_or(error))
    }

    /// Adds a table that lives as long as the statement. Its id counts down from the top, out of the catalog's way.
    pub(crate) fn add(&self, key: String, mut table: Table) -> Arc<Table> {
        let mut transient = self.transient.lock();
        table.id = TableId(u32::MAX - transient.len() as u32);
        let table = Arc::new(table);
        transient.insert(key, table.clone());
        table
    }

    /// [`Self::add`] for the rows of a step.
    pub(crate) fn add_step(&self, name: &str, table: Table, columns: &[OutputColumn]) {
        self.step_origins.lock().insert(name.to_owned(), origins_of(columns));
        self.add(name.to_owned(), table);
    }

    /// Puts another table in the place of one that was added.
    pub(crate) fn replace(&self, key: String, mut table: Table, id: TableId) {
        table.id = id;
        self.transient.lock().insert(key, Arc::new(table));
    }

    /// Adds a table that was added to the catalog of an earlier try of the statement, before all others.
    pub(crate) fn add_again(&self, key: String, table: Arc<Table>) {
        self.transient.lock().insert(key, table);
    }

    /// Whether a file is there already.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.transient.lock().contains_key(name)
    }

    /// Says which columns of a file were not read.
    pub(crate) fn add_unread(&self, file: TableId, columns: Vec<UnreadColumn>) {
        if !columns.is_empty() {
            self.unread.lock().insert(file, columns);
        }
    }

    /// What planning may do in this session.
    pub(crate) fn planning(&self) -> optimizer::Options {
        self.session.settings.planning()
    }

    /// The tables that were asked for so far; `None` if some of them live as long as the statement only.
    pub(crate) fn basis(&self) -> Option<Basis> {
        let asked = self.asked.lock();
        let is_kept = !self.has_types.load(Ordering::Relaxed) && self.transient.lock().is_empty();
        is_kept.then(|| {
            let absent = self.absent.lock().clone();
            Basis::new(&self.snapshot, &asked).found_by(&self.path, absent)
        })
    }

    /// The same as ids.
    pub(crate) fn asked_tables(&self) -> Vec<TableId> {
        let mut asked = self.asked.lock().clone();
        asked.retain(|it| self.snapshot.by_id(*it).is_some());
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    /// Whether a table has a name.
    pub(crate) fn is_called(&self, table: TableId, name: &str) -> bool {
        self.snapshot.by_id(table).is_some_and(|it| it.name == name)
    }

    /// [`StatementCatalog::basis`] of a plan, of which some tables are read in ways that its scans do not tell.
    pub(crate) fn basis_of(&self, plan: &Plan, unknown: &[TableId]) -> Option<Basis> {
        self.basis().map(|it| self.of_scan(it, plan, unknown))
    }

    /// What a plan rests on, if it is one scan.
    pub(crate) fn of_scan(&self, basis: Basis, plan: &Plan, unknown: &[TableId]) -> Basis {
        basis.of_scan(&self.snapshot, |it| self.known(it), plan, unknown)
    }

    /// The tables as they are.
    pub(crate) fn snapshot(&self) -> &CatalogSnapshot {
        &self.snapshot
    }

    /// The table that a statement changes.
    pub(crate) fn changed(&self, name: &str) -> Option<&Arc<Table>> {
        self.snapshot.get(name)
    }

    /// The tables that a plan scans.
    pub(crate) fn tables(&self, plan: &Plan) -> Tables {
        let transient = self.transient.lock();
        let find = |id| {
            let stored = self.snapshot.by_id(id);
            stored.or_else(|| transient.values().find(|it| it.id == id)).cloned()
        };
        tables_of(plan, find)
    }
}

impl CatalogView for StatementCatalog<'_> {
    fn table(&self, schema: Option<&str>, name: &str) -> Option<Arc<TableInfo>> {
        if let Some(schema) = schema.map(str::to_ascii_lowercase)
            && names::SYSTEM.contains(&&*schema)
        {
            let view = self.system_view(&schema, &name.to_ascii_lowercase());
            return view.map(|it| Arc::new(it.info()));
        }
        // The schema of the catalog is looked through first; its views are all called so.
        if schema.is_none() && is_of_catalog(name) {
            return self.system_view(pg_catalog::CATALOG, name).map(|it| Arc::new(it.info()));
        }
        let Some(found) = self.found(schema, name) else {
            let file = self.transient.lock().get(name).cloned();
            let found = file.or_else(|| self.frame(name).filter(|_| schema.is_none()));
            return found.map(|it| Arc::new(it.info()));
        };
        if let Some(table) = self.snapshot.get(&found) {
            self.asked.lock().push(table.id);
            return self.known(table.id);
        }
        if is_of_system(&found) {
            let (schema, name) = names::split(&found);
            return self.system_view(&schema, &name).map(|it| Arc::new(it.info()));
        }
        self.sequence_table(&found).map(|it| Arc::new(it.info()))
    }

    fn database(&self) -> &str {
        &self.session.client.database
    }

    fn has_macros(&self) -> bool {
        self.snapshot.macros().next().is_some() || self.snapshot.extensions().next().is_some()
    }

    fn has_of_extension(&self, schema: &str, name: &str) -> bool {
        self.snapshot.extensions().any(|it| it.schema == schema && it.has(name))
    }

    fn macros_of(&self, schema: Option<&str>, name: &str) -> Vec<Arc<MacroDefinition>> {
        self.session.macros_meant((&self.snapshot, &self.path), (schema, name))
    }

    fn check_schema(&self, schema: &str) -> SqlResult<()> {
        let own = self.session.schema_said(schema);
        match self.snapshot.has_schema(&own) || names::SYSTEM.contains(&&*own) {
            true if self.is_checked => self.session.check_usage(&own),
            true => Ok(()),
            false => Err(no_schema(schema)),
        }
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Option<Arc<ViewDefinition>> {
        if schema.is_none() && is_of_catalog(name) {
            return None;
        }
        let view = self.snapshot.view(&self.found(schema, name)?)?.clone();
        self.asked.lock().push(view.id);
        Some(view)
    }

    fn table_names(&self) -> Vec<String> {
        let of_catalog = [pg_catalog::CATALOG, pg_catalog::INFORMATION].into_iter();
        let of_catalog = of_catalog
            .flat_map(|schema| pg_catalog::names(schema).into_iter().map(move |it| (schema, it)));
        let own = views::names().map(|it| (views::SCHEMA, it));
        let views = own.chain(of_catalog).map(|(schema, name)| format!("{schema}.{name}"));
        self.snapshot.table_names().into_iter().chain(views).collect()
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Option<String> {
        let found = self.found(schema, name)?;
        self.snapshot.sequence(&found).map(|it| it.name.clone())
    }

    fn user_type(&self, schema: Option<&str>, name: &str) -> Option<Arc<UserType>> {
        // Whoever keeps a plan asks for relations alone whether they are the same.
        self.has_types.store(true, Ordering::Relaxed);
        let is_there = |it: &str| self.snapshot.user_type(it).is_some();
        let found = self.session.find_name(&self.path, (schema, name), &is_there);
        self.snapshot.user_type(&found.name?).cloned()
    }

    fn unread(&self, table: TableId) -> Vec<UnreadColumn> {
        self.unread.lock().get(&table).cloned().unwrap_or_default()
    }

    fn row_rules(&self, table: TableId) -> Option<Arc<RowRules>> {
        let table = self.snapshot.by_id(table)?;
        let rules = &table.rules().rows;
        (!rules.is_empty()).then(|| rules.clone())
    }

    fn unique_keys(&self, table: TableId) -> Vec<UniqueKey> {
        let Some(table) = self.snapshot.by_id(table) else { return Vec::new() };
        let unique = table.rules().indexes.iter().filter(|it| it.kind.is_unique());
        let key = |it: &storage::TableIndex| UniqueKey {
            name: it.name.clone(),
            columns: it.columns.clone(),
            is_constraint: it.kind.is_constraint(),
            is_deferrable: it.deferral != Deferral::None,
            nulls_equal: it.nulls_equal,
        };
        unique.map(key).collect()
    }

    fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
}

impl SessionFacts for StatementCatalog<'_> {
    fn session_value(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Option<SqlResult<(Value, DataType)>> {
        pg_catalog::session_value(self.session, name, arguments)
    }

    fn keeps_texts(&self) -> bool {
        self.keeps
    }

    fn zone(&self) -> Zone {
        self.session.zone()
    }

    fn reading_styles(&self) -> Styles {
        self.reading.unwrap_or_else(|| self.session.settings.client.styles())
    }

    fn variable(&self, name: &str) -> Option<(Value, DataType)> {
        self.session.settings.variables.get(name).cloned()
    }

    fn order_defaults(&self) -> plan::OrderDefaults {
        self.session.settings.order
    }

    fn catalog_texts(&self, function: &str) -> Option<Vec<(i64, Option<i64>, String)>> {
        pg_catalog::catalog_texts(self.session, function)
    }

    fn relation_number(&self, kind: &str, name: &str) -> Option<i64> {
        pg_catalog::relation_number(self.session, kind, name)
    }

    fn number_of(&self, id: TableId, name: &str) -> Option<u32> {
        pg_catalog::number_by_id(&self.snapshot, id, name)
    }

    fn step_origins(&self, name: &str) -> Vec<Option<ColumnOrigin>> {
        self.step_origins.lock().get(name).cloned().unwrap_or_default()
    }

    fn serial_sequences(&self) -> Vec<SerialSequence> {
        pg_catalog::serial_sequences(self.session)
    }

    fn settings(&self) -> Vec<(String, String)> {
        let of_database = crate::database_settings::list_of_database(&self.session.database);
        let all = of_database.into_iter().chain(self.session.settings.list());
        all.map(|it| (it.name.to_owned(), it.value)).collect()
    }
}

/// Whether a bare name is one of the catalog, which is looked through first.
fn is_of_catalog(name: &str) -> bool {
    name.starts_with("pg_") && pg_catalog::names(pg_catalog::CATALOG).contains(&name)
}

/// Whether a relation is made for each statement.
fn is_of_system(full: &str) -> bool {
    let (schema, name) = names::split(full);
    match schema.as_str() {
        views::SCHEMA => views::names().any(|it| it == name),
        other => pg_catalog::names(other).contains(&&*name),
    }
}

/// The tables that a plan scans.
pub(crate) fn tables_of(plan: &Plan, find: impl Fn(TableId) -> Option<Arc<Table>>) -> Tables {
    let scanned: HashSet<TableId> = plan.scans().into_iter().map(|it| it.table).collect();
    scanned.into_iter().filter_map(|id| Some((id, find(id)?))).collect()
}
