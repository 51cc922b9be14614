//! Running queries: from a parsed query to its rows, on one snapshot of the tables.

use binder::ParsedQuery;
use binder::bind::Asked;
use execution::{Executed, JobSettings, QueryContext, QueryTeam, execute};
use plan::Plan;
use stdx::Nanos;
use stdx::sync::Arc;
use storage::{BuildContext, Table, TableDesign};
use types::{SqlResult, TableId};

use crate::basis::Basis;
use crate::parallel::LoadTeam;
use crate::planning::{bound_plain, plan_plain};
use crate::reading::Opened;
use crate::reads::TablesRead;
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
        self.open_files(query, catalog, cancel)?;
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
        if let Some(followed) = self.followed() {
            followed.ran(executed.reports.clone());
        }
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
        if let Some(followed) = self.followed() {
            followed.runs(plan);
        }
        // Who only looks at views, as to see who is in the way, need not wait for a place.
        let is_view =
            |it: &Arc<Table>| VIEW_PREFIXES.iter().any(|prefix| it.name.starts_with(prefix));
        let needs_place = tables.values().any(|it| !is_view(it));
        if needs_place {
            self.wait_for_place()?;
        }
        self.read_mapped(plan, &tables, cancel)?;
        let (streams, tables) = tables.into_iter().partition(|it| it.1.stream().is_some());
        let context = QueryContext {
            scheduler: self.database.scheduler.clone(),
            machine: self.database.machine.clone(),
            workspace: self.workspace(),
            tables,
            streams,
            sequences: self.seen_sequences(),
            zone: self.zone(),
            traffic: self.database.traffic.clone(),
            control: self.control(cancel),
            exchange: self.settings.scheduling.join_exchange,
            profile: self.settings.profile,
        };
        Ok((context, needs_place))
    }

    /// Opens the files that a query, or a view that it names, has in place of tables. One that is read once makes its rows then;
    /// others are loaded as tables first.
    pub(crate) fn open_files(
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
        let mut added = Vec::new();
        for (path, used) in files {
            let opened = Opened::open(&path, &self.zone(), self.database.workers())?;
            let context = BuildContext::serial(&self.database.allocator);
            let table =
                catalog.add(path.clone(), opened.streamed(&path, &self.progress, &context)?);
            catalog.add_unread(table.id, opened.unread.clone());
            added.push((table.id, path, used, opened));
        }
        // What cannot be bound yet, as what has parameters, reads all of them when it runs.
        let Ok(bound) = bound_plain(query, catalog) else { return Ok(()) };
        let reads = TablesRead::of(&bound);
        for (id, path, used, opened) in added {
            if !reads.is_again(id) {
                continue;
            }
            let load = |context: &BuildContext<'_>| {
                opened.load(&path, &|column| used.contains(column), context)
            };
            let (table, unread) = self.loaded(&path, &TableDesign::default(), cancel, load)?;
            catalog.replace(path.clone(), table, id);
            catalog.add_unread(id, unread);
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
            settings: JobSettings {
                control: self.control(cancel),
                pipeline: pipeline as u32,
                workspace: self.workspace(),
                accesses: Arc::default(),
            },
        }
    }
}
