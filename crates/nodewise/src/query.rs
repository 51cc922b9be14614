//! Running queries: from a parsed query to its rows, on one snapshot of the tables.

use binder::ParsedQuery;
use binder::bind::Asked;
use binder::files::UsedColumns;
use execution::{Executed, JobSettings, QueryContext, QueryTeam, execute};
use plan::Plan;
use stdx::Nanos;
use stdx::sync::Arc;
use storage::{BuildContext, Table, TableDesign, WantedRows};
use types::{SqlResult, TableId, UnreadColumn};

use crate::basis::Basis;
use crate::parallel::LoadTeam;
use crate::planning::{bound_plain, plan_plain};
use crate::reading::{Opened, wanted_rows};
use crate::statement_catalog::{StatementCatalog, Tables};
use crate::{CancelToken, QueryProfile, Session};

/// How the names of views begin, and of no table.
const VIEW_PREFIXES: [&str; 3] = ["nodewise.", "pg_catalog.", "information_schema."];

/// A query that has run.
pub(crate) struct Finished {
    pub plan: Plan,
    pub executed: Executed,
    pub profile: QueryProfile,
}

/// A query that was planned.
pub(crate) struct Planned {
    pub plan: Plan,
    /// The tables on which the plan is right at any time; `None` when it is right this once.
    pub basis: Option<Arc<Basis>>,
    /// The tables of which the scans of the plan do not tell all that is read.
    pub unknown: Vec<TableId>,
    /// The rights that it needs.
    pub asked: Arc<Asked>,
    pub planning: Nanos,
}

/// A file that a query has in the place of a table, and the columns that it may use.
struct QueryFile {
    path: String,
    used: UsedColumns,
    opened: Opened,
}

impl Session {
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
        let (catalog, planned) = self.planned_to_read(query, cancel, adjust)?;
        self.run_planned(&catalog, planned, cancel)
    }

    /// [`Session::run_adjusted`] on some tables.
    pub(crate) fn run_on(
        &self,
        catalog: &StatementCatalog<'_>,
        query: &ParsedQuery,
        cancel: &CancelToken,
        adjust: impl FnOnce(&mut Plan) -> SqlResult<()>,
    ) -> SqlResult<Finished> {
        let planned = self.planned(catalog, query, cancel, adjust)?;
        self.run_planned(catalog, planned, cancel)
    }

    pub(crate) fn run_planned(
        &self,
        catalog: &StatementCatalog<'_>,
        planned: Planned,
        cancel: &CancelToken,
    ) -> SqlResult<Finished> {
        let machine = &self.database.machine;
        let Planned { plan, planning, .. } = planned;
        let planned = machine.now();
        let executed = self.run_plan(&plan, catalog.tables(&plan), cancel)?;
        let execution = machine.now() - planned;
        let pipelines = executed.reports.clone();
        let profile = QueryProfile { planning, execution, pipelines };
        Ok(Finished { plan, executed, profile })
    }

    /// Plans a query, and notes what it reads.
    pub(crate) fn planned(
        &self,
        catalog: &StatementCatalog<'_>,
        query: &ParsedQuery,
        cancel: &CancelToken,
        adjust: impl FnOnce(&mut Plan) -> SqlResult<()>,
    ) -> SqlResult<Planned> {
        let machine = &self.database.machine;
        let started = machine.now();
        self.load_files(query, catalog, cancel)?;
        let made = plan_plain(query, catalog)?;
        let mut plan = made.plan;
        adjust(&mut plan)?;
        self.note_reads(&plan, &made.unknown);
        let planning = machine.now() - started;
        let basis = if made.is_stable { catalog.basis_of(&plan, &made.unknown) } else { None };
        let (basis, unknown, asked) = (basis.map(Arc::new), made.unknown, made.asked);
        Ok(Planned { plan, basis, unknown, asked, planning })
    }

    /// Runs a plan on some tables.
    pub(crate) fn run_plan(
        &self,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<Executed> {
        let executed = execute(plan, &self.query_context(plan, tables, cancel)?.0)?;
        self.wait_for_advisory(cancel)?;
        Ok(executed)
    }

    /// What a plan needs to run on some tables, once it may; and whether it works on tables, and so has a place among those that
    /// do.
    pub(crate) fn query_context(
        &self,
        plan: &Plan,
        tables: Tables,
        cancel: &CancelToken,
    ) -> SqlResult<(QueryContext, bool)> {
        let tables = match plan.recursions.is_empty() {
            true => tables,
            false => self.with_recursions(plan, tables, cancel)?,
        };
        if let Some(under_way) = &self.under_way
            && self.database.statements.slow.get().is_some_and(|it| it.plans)
        {
            under_way.record.work.plan.get_or_init(|| plan::explain::text(plan, &()));
        }
        // Who only looks at views, as to see who is in the way, need not wait for a place.
        let is_view =
            |it: &Arc<Table>| VIEW_PREFIXES.iter().any(|prefix| it.name.starts_with(prefix));
        let needs_place = tables.values().any(|it| !is_view(it));
        if needs_place {
            self.wait_for_place()?;
        }
        self.read_mapped(plan, &tables, cancel)?;
        let context = QueryContext {
            scheduler: self.database.scheduler.clone(),
            machine: self.database.machine.clone(),
            workspace: self.workspace(),
            tables,
            sequences: self.seen_sequences(),
            zone: self.zone(),
            traffic: self.database.traffic.clone(),
            control: self.control(cancel),
            exchange: self.settings.scheduling.join_exchange,
            profile: self.settings.profile,
        };
        Ok((context, needs_place))
    }

    /// Loads the files that a query, or a view that it names, has in place of tables.
    pub(crate) fn load_files(
        &self,
        query: &ParsedQuery,
        catalog: &StatementCatalog<'_>,
        cancel: &CancelToken,
    ) -> SqlResult<()> {
        let mut files = binder::files::files_under(query, catalog)?;
        files.retain(|it| !catalog.has_file(&it.0));
        if files.is_empty() {
            return Ok(());
        }
        self.check_files(false)?;
        let mut in_groups = Vec::new();
        for (path, used) in files {
            let opened = Opened::open(&path, &self.zone())?;
            // Which rows are wanted is known when the query is bound, for which the columns are enough.
            let has_groups = opened.has_groups()?;
            let rows = if has_groups { WantedRows::none() } else { WantedRows::all() };
            let file = QueryFile { path, used, opened };
            let (table, unread) = self.load_file(&file, &rows, cancel)?;
            let table = catalog.add(file.path.clone(), table);
            catalog.add_unread(table.id, unread);
            if has_groups {
                in_groups.push((table.id, file));
            }
        }
        if in_groups.is_empty() {
            return Ok(());
        }
        let bound = bound_plain(query, catalog).ok();
        for (id, file) in in_groups {
            let rows = bound.as_ref().map_or_else(WantedRows::all, |it| wanted_rows(it, id));
            let (table, _) = self.load_file(&file, &rows, cancel)?;
            catalog.replace(file.path, table, id);
        }
        Ok(())
    }

    /// The columns of a file that a query uses, and the rows that it may want.
    fn load_file(
        &self,
        file: &QueryFile,
        rows: &WantedRows,
        cancel: &CancelToken,
    ) -> SqlResult<(Table, Vec<UnreadColumn>)> {
        let QueryFile { path, used, opened } = file;
        let wanted = |column: &str| used.contains(column);
        let load = |context: &BuildContext<'_>| opened.load(path, (&wanted, rows), context);
        self.loaded(path, &TableDesign::default(), cancel, load)
    }

    pub(crate) fn load_team(&self, cancel: &CancelToken) -> LoadTeam {
        LoadTeam(self.team(cancel, 0))
    }

    /// The workers on behalf of the statement that runs, for a pipeline of it.
    pub(crate) fn team(&self, cancel: &CancelToken, pipeline: usize) -> QueryTeam {
        QueryTeam {
            scheduler: self.database.scheduler.clone(),
            settings: JobSettings {
                control: self.control(cancel),
                pipeline: pipeline as u32,
                workspace: self.workspace(),
                accesses: Arc::default(),
            },
        }
    }
}
