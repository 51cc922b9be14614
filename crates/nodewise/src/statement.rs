//! What each kind of statement does.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use binder::{ExplainFormat, ParsedQuery, Statement};
use execution::{Executed, JobSettings, QueryContext, QueryTeam, execute};
use plan::Plan;

use stdx::sync::{Arc, Mutex};
use storage::{CatalogSnapshot, Table, TableDesign};
use types::{CatalogView, Interrupt, SqlError, SqlResult, TableId, TableInfo};

use crate::ddl::Target;
use crate::index_ddl::NewIndex;
use crate::parallel::LoadTeam;
use crate::plan_cache::CachedPlan;
use crate::planning::plan_plain;
use crate::prepared::tables_of;
use crate::profile::{Scale, actuals};
use crate::result::schema_of;
use crate::scheduling::{list_of_database, set_of_database};
use crate::session::done;
use crate::{Answer, CancelToken, QueryProfile, Session, views};

/// How the names of views begin, and of no table.
const VIEW_PREFIX: &str = "nodewise.";

/// Tables by id.
pub(crate) type Tables = HashMap<TableId, Arc<Table>>;

/// One snapshot of the tables, with the views and files that a statement names.
pub(crate) struct StatementCatalog<'a> {
    session: &'a Session,
    snapshot: Arc<CatalogSnapshot>,
    interrupt: Interrupt,
    /// Views and files, made when first asked for.
    transient: Mutex<HashMap<String, Arc<Table>>>,
    /// Why a view could not be made.
    failed_view: Mutex<Option<SqlError>>,
}

impl<'a> StatementCatalog<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        let snapshot = session.database.catalog.snapshot();
        let interrupt = session.interrupt();
        let transient = Mutex::new(HashMap::new());
        Self { session, snapshot, interrupt, transient, failed_view: Mutex::new(None) }
    }

    /// The time of day on the machine.
    pub(crate) fn wall_clock(&self) -> i64 {
        self.session.database.machine.wall_clock()
    }

    fn view(&self, name: &str) -> Option<Arc<Table>> {
        let key = format!("{}.{name}", views::SCHEMA);
        if let Some(table) = self.transient.lock().get(&key) {
            return Some(table.clone());
        }
        let rows = views::rows_of(name, &self.session.database, &self.session.settings)?;
        match rows.and_then(|rows| self.session.table_of(&key, &rows)) {
            Ok(table) => Some(self.add(key, table)),
            Err(error) => {
                self.failed_view.lock().get_or_insert(error);
                None
            }
        }
    }

    /// What planning on it came to. A view that exists and cannot be made is told so, and not as a missing table.
    pub(crate) fn planned<T>(&self, planned: SqlResult<T>) -> SqlResult<T> {
        planned.map_err(|error| self.failed_view.lock().take().unwrap_or(error))
    }

    /// Adds a table that lives as long as the statement. Its id counts down from the top, out of the catalog's way.
    fn add(&self, key: String, mut table: Table) -> Arc<Table> {
        let mut transient = self.transient.lock();
        table.id = TableId(u32::MAX - transient.len() as u32);
        let table = Arc::new(table);
        transient.insert(key, table.clone());
        table
    }

    /// What planning may do in this session.
    pub(crate) fn planning(&self) -> optimizer::Options {
        self.session.settings.planning()
    }

    /// The version of the catalog that the snapshot is of.
    pub(crate) fn version(&self) -> u64 {
        self.snapshot.version()
    }

    /// Whether there are tables that live as long as the statement only.
    pub(crate) fn has_transient(&self) -> bool {
        !self.transient.lock().is_empty()
    }

    /// The tables that a plan scans.
    fn tables(&self, plan: &Plan) -> Tables {
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
        match schema {
            Some(schema) if schema.eq_ignore_ascii_case(views::SCHEMA) => {
                self.view(&name.to_ascii_lowercase()).map(|it| Arc::new(it.info()))
            }
            _ => match self.snapshot.table(schema, name) {
                Some(info) => Some(info),
                None => self.transient.lock().get(name).map(|it| Arc::new(it.info())),
            },
        }
    }

    fn table_names(&self) -> Vec<String> {
        let views = views::NAMES.iter().map(|it| format!("{}.{it}", views::SCHEMA));
        self.snapshot.table_names().into_iter().chain(views).collect()
    }

    fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
}

/// A query that has run.
pub(crate) struct Finished {
    pub plan: Plan,
    pub executed: Executed,
    pub profile: QueryProfile,
    /// The version of the catalog on which the plan is right at any time; `None` when it is right this once.
    pub version: Option<u64>,
}

impl Session {
    /// Runs one statement.
    pub(crate) fn run_statement(
        &mut self,
        statement: Statement,
        cancel: CancelToken,
    ) -> SqlResult<Answer> {
        match statement {
            Statement::Query { query } => self.select(&query, None, &cancel),
            Statement::Explain { query, analyze, format } => {
                self.explain(&query, analyze, format, &cancel)
            }
            Statement::CreateIndex { name, table, column, unique, if_not_exists } => {
                let index = NewIndex { name, table, column, unique, if_not_exists };
                self.create_index(&index, &cancel)
            }
            Statement::DropIndex { names, if_exists } => {
                self.drop_indexes(&names, if_exists, &cancel)
            }
            Statement::Prepare { name, types, statement } => {
                self.prepare_named(name, &types, *statement)
            }
            Statement::Execute { name, arguments } => {
                // Places in the text of PREPARE are none in that of EXECUTE.
                self.execute_named(&name, &arguments, &cancel)
                    .map_err(|error| SqlError { position: None, ..error })
            }
            Statement::Deallocate { name } => self.deallocate(name.as_deref()),
            Statement::CreateTable { name, columns, keys, if_not_exists, design } => {
                self.create_table(&name, columns, &keys, if_not_exists, &design, &cancel)
            }
            Statement::CreateTableAs {
                name,
                columns,
                query,
                if_not_exists,
                or_replace,
                design,
            } => {
                let target = Target { name, columns, if_not_exists, or_replace, design };
                self.create_table_as(&target, &query, &cancel)
            }
            Statement::AlterTable { table, change } => self.alter_table(&table, &change, &cancel),
            Statement::Call { procedure, arguments } => self.call(&procedure, &arguments, &cancel),
            Statement::DropTable { names, if_exists } => {
                self.drop_tables(&names, if_exists, &cancel)
            }
            Statement::Insert { table, columns, query } => {
                self.insert(&table, &columns, &query, &cancel)
            }
            Statement::CopyFrom { table, columns, path, options } => {
                self.copy_from(&table, &columns, &path, &options, &cancel)
            }
            Statement::Set { name, value } => self.set(&name, value.as_deref()),
            Statement::Show { name } => self.show(&name),
            Statement::Kill { statement } => {
                self.database.kill(statement)?;
                Ok(done("KILL"))
            }
            Statement::AlterQuery { statement, name, value } => {
                self.database.steer(statement, &name, &value)?;
                Ok(done("ALTER QUERY"))
            }
        }
    }

    /// A setting of the database, else one of this session.
    fn set(&mut self, name: &str, value: Option<&str>) -> SqlResult<Answer> {
        if set_of_database(&self.database, &name.to_ascii_lowercase(), value)? {
            return Ok(done("SET"));
        }
        let counted = self.settings.access_counting;
        self.settings.set(name, value)?;
        if self.settings.access_counting != counted {
            self.database.machine.count_accesses(!counted);
        }
        Ok(done("SET"))
    }

    fn show(&self, name: &str) -> SqlResult<Answer> {
        let mut all = list_of_database(&self.database).into_iter();
        let value = match all.find(|it| it.name.eq_ignore_ascii_case(name)) {
            Some(setting) => setting.value,
            None => self.settings.get(name)?,
        };
        text_answer("SHOW", name, vec![&value])
    }

    /// Runs a query. When `text` is all there is of it, its plan is kept for the next time.
    pub(crate) fn select(
        &mut self,
        query: &ParsedQuery,
        text: Option<&str>,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let started = self.database.machine.now();
        let Finished { plan, executed, mut profile, version } = self.run_query(query, cancel)?;
        let schema = schema_of(&plan.output);
        if let (Some(text), Some(version)) = (text, version) {
            let options = self.settings.planning();
            let plan = Arc::new(plan);
            let cached = CachedPlan { version, options, plan, schema: schema.clone() };
            self.database.plans.put(text, cached);
        }
        let batches = self.record_batches(&executed, &schema, cancel)?;
        profile.execution = self.database.machine.now() - started - profile.planning;
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        Ok(Answer { tag: format!("SELECT {rows}"), schema, batches, profile })
    }

    fn explain(
        &mut self,
        query: &ParsedQuery,
        analyze: bool,
        format: ExplainFormat,
        cancel: &CancelToken,
    ) -> SqlResult<Answer> {
        let mut note = String::new();
        let (plan, reports, profile): (Plan, Option<Vec<_>>, _) = if analyze {
            let before = std::mem::replace(&mut self.settings.profile, true);
            let finished = self.run_query(query, cancel);
            self.settings.profile = before;
            let Finished { plan, executed, profile, .. } = finished?;
            let scale = Scale::of(&self.database);
            note = scale.note();
            let actuals = executed.reports.iter().map(|it| actuals(it, &scale)).collect();
            (plan, Some(actuals), profile)
        } else {
            let catalog = StatementCatalog::new(self);
            self.load_files(query, &catalog, cancel)?;
            (plan_plain(query, &catalog)?.plan, None, QueryProfile::default())
        };
        let (text, json);
        let actuals = |id: plan::PipelineId| reports.as_ref().map(|it| it[id.index()].clone());
        let lines = match format {
            ExplainFormat::Text => {
                text = plan::explain::text(&plan, &actuals);
                let note = (!note.is_empty()).then_some(note.as_str());
                text.lines().chain(note).collect()
            }
            ExplainFormat::Json => {
                json = plan::explain::json(&plan, &actuals);
                vec![json.as_str()]
            }
        };
        let mut answer = text_answer("EXPLAIN", "QUERY PLAN", lines)?;
        answer.profile = profile;
        Ok(answer)
    }

    /// Plans and runs a query on a snapshot.
    pub(crate) fn run_query(
        &self,
        query: &ParsedQuery,
        cancel: &CancelToken,
    ) -> SqlResult<Finished> {
        self.run_adjusted(query, cancel, |_| Ok(()))
    }

    /// [`Session::run_query`] with a last change to the plan before it runs.
    pub(crate) fn run_adjusted(
        &self,
        query: &ParsedQuery,
        cancel: &CancelToken,
        adjust: impl FnOnce(&mut Plan) -> SqlResult<()>,
    ) -> SqlResult<Finished> {
        let machine = &self.database.machine;
        let started = machine.now();
        let catalog = StatementCatalog::new(self);
        self.load_files(query, &catalog, cancel)?;
        let made = plan_plain(query, &catalog)?;
        let mut plan = made.plan;
        adjust(&mut plan)?;
        let planned = machine.now();
        let executed = self.run_plan(&plan, catalog.tables(&plan), cancel)?;
        let profile = QueryProfile {
            planning: planned - started,
            execution: machine.now() - planned,
            pipelines: executed.reports.clone(),
        };
        let version = (made.is_stable && !catalog.has_transient()).then(|| catalog.version());
        Ok(Finished { plan, executed, profile, version })
    }

    /// Runs a plan on some tables.
    pub(crate) fn run_plan(
        &self,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Executed> {
        // Who only looks at views, as to see who is in the way, need not wait for a place.
        let is_view = |it: &Arc<Table>| it.name.starts_with(VIEW_PREFIX);
        if tables.values().any(|it| !is_view(it)) {
            self.wait_for_place()?;
        }
        let context = QueryContext {
            scheduler: self.database.scheduler.clone(),
            machine: self.database.machine.clone(),
            tables,
            traffic: self.database.traffic.clone(),
            control: self.control(cancel),
            profile: self.settings.profile,
        };
        execute(plan, &context)
    }

    /// Loads the files that a query names in place of tables.
    fn load_files(
        &self,
        query: &ParsedQuery,
        catalog: &StatementCatalog<'_>,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        for path in binder::parse::files_in(query) {
            let table = self.load(&path, &path, &TableDesign::default(), cancel)?;
            catalog.add(path, table);
        }
        Ok(())
    }

    pub(crate) fn load_team(&self, cancel: &CancelToken) -> LoadTeam {
        LoadTeam(self.team(cancel, 0))
    }

    /// The workers on behalf of the statement that runs, for a pipeline of it.
    pub(crate) fn team(&self, cancel: &CancelToken, pipeline: usize) -> QueryTeam {
        QueryTeam {
            scheduler: self.database.scheduler.clone(),
            settings: JobSettings { control: self.control(cancel), pipeline: pipeline as u32 },
        }
    }
}

/// An answer of one column of text.
fn text_answer(tag: &str, name: &str, lines: Vec<&str>) -> SqlResult<Answer> {
    let array: arrow_array::ArrayRef = Arc::new(arrow_array::StringArray::from(lines));
    let field = arrow_schema::Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(arrow_schema::Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array])
        .map_err(|error| SqlError::internal(error.to_string()))?;
    Ok(Answer {
        tag: tag.to_owned(),
        schema,
        batches: vec![batch],
        profile: QueryProfile::default(),
    })
}
