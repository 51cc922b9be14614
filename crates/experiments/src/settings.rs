//! What one run of an experiment is set to: machine, data, placement, strategy, clients.

use serde_json::Value;
use simulator::fields::{Fields, FileError};
use simulator::{Fault, MachineModel};
use stdx::sync::Arc;

/// What statements do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// P-HANA section 6: `SELECT c FROM t WHERE c BETWEEN ? AND ?` on one of many columns.
    Scans,
    /// P-HANA section 6.3: an aggregation over one of several tables.
    Aggregate,
    /// P-SNC section 5.1: columns of two tables, each on a node of its own, in one statement.
    Union,
}

/// How statements are scheduled (P-HANA 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Tasks without affinity.
    Os,
    /// Soft affinity: tasks may be stolen.
    Target,
    /// Hard affinity.
    Bound,
    /// Hard affinity for what turns out to be bound by memory (P-HANA 7).
    Adaptive,
}

/// Into what a statement is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Division {
    /// As many tasks as the concurrency hint says, all cut at once (P-HANA 5.2).
    Tasks,
    /// Morsels that workers cut when they are free, as the database does it (P-HYPER 3).
    Morsels,
}

/// Where columns lie (P-HANA 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placing {
    /// Whole columns dealt round the sockets.
    RoundRobin,
    /// Index vectors split over sockets, dictionaries interleaved.
    IndexVector,
    /// Tables partitioned physically.
    Physical,
    /// Everything dealt round all nodes page by page.
    Interleaved,
    /// Everything on the first node.
    OneNode,
}

/// How far idle workers look for work.
pub use scheduler::StealingScope;

/// One run.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// The name of the machine model.
    pub machine: String,
    /// A machine to run on in place of the named one.
    pub model: Option<Arc<MachineModel>>,
    /// What goes wrong on it.
    pub faults: Vec<Fault>,
    /// Workers; one per hardware thread when not given.
    pub workers: Option<usize>,
    /// Nodes whose cores work; all when empty.
    pub workers_on: Vec<u16>,
    /// Whether only every second core works.
    pub half_cores: bool,
    /// What statements do.
    pub workload: Workload,
    /// How they are scheduled.
    pub strategy: Strategy,
    /// How far workers steal.
    pub stealing: StealingScope,
    /// Where the data lie.
    pub placement: Placing,
    /// Into how many parts columns are split; one per socket when not given.
    pub parts: Option<usize>,
    /// Clients that each issue one statement after the other.
    pub clients: usize,
    /// Whether a statement may use several tasks.
    pub parallel: bool,
    /// Into what a statement is divided.
    pub division: Division,
    /// Rows of a morsel. Larger than the database's 65,536, which only keeps simulations short.
    pub morsel_rows: u64,
    /// Whether an inverted index may be used.
    pub indexes: bool,
    /// Whether the second half of the columns gets four fifths of the statements.
    pub skewed: bool,
    /// The share of rows that qualify.
    pub selectivity: f64,
    /// Cycles of an output row of a scan.
    pub output_cycles: f64,
    /// Rows of a table.
    pub rows: u64,
    /// Columns of the scanned table, or tables of an aggregation.
    pub columns: usize,
    /// The smallest and largest bitcase; columns take them in turn.
    pub bitcases: (u32, u32),
    /// Bytes and cycles of a row of an aggregation.
    pub row_cost: (f64, f64),
    /// For each column of a union the node that it lies on.
    pub column_nodes: Vec<u16>,
    /// Whether they all lie on the first node instead: a processor that is not divided.
    pub one_domain: bool,
}

impl Default for Settings {
    /// P-HANA section 6: 100 million rows, 160 columns of bitcases 17 to 26.
    fn default() -> Self {
        Self {
            machine: "4x-ivybridge-ex".into(),
            model: None,
            faults: Vec::new(),
            workers: None,
            workers_on: Vec::new(),
            half_cores: false,
            workload: Workload::Scans,
            strategy: Strategy::Bound,
            stealing: StealingScope::All,
            placement: Placing::RoundRobin,
            parts: None,
            clients: 1024,
            parallel: true,
            division: Division::Tasks,
            morsel_rows: 1 << 20,
            indexes: false,
            skewed: false,
            selectivity: 0.00001,
            output_cycles: crate::costs::OUTPUT_CYCLES,
            rows: 100_000_000,
            columns: 160,
            bitcases: (17, 26),
            row_cost: (8.0, 4.0),
            column_nodes: Vec::new(),
            one_domain: false,
        }
    }
}

impl Settings {
    /// These settings with the fields of an object changed.
    pub fn with(&self, fields: &Fields<'_>) -> Result<Self, FileError> {
        let mut it = self.clone();
        it.machine = fields.text_or("machine", "")?.to_owned();
        if it.machine.is_empty() {
            it.machine.clone_from(&self.machine);
        }
        it.set_words(fields)?;
        it.half_cores = fields.flag_or("half_cores", it.half_cores)?;
        it.parallel = fields.flag_or("parallel", it.parallel)?;
        it.indexes = fields.flag_or("indexes", it.indexes)?;
        it.one_domain = fields.flag_or("one_domain", it.one_domain)?;
        it.skewed = fields.flag_or("skewed", it.skewed)?;
        it.workers = fields.maybe_count("workers")?.map(|it| it as usize).or(it.workers);
        it.morsel_rows = fields.maybe_count("morsel_rows")?.unwrap_or(it.morsel_rows);
        if fields.find("faults").is_some() {
            let faults = fields.texts("faults")?.into_iter().map(str::parse::<Fault>);
            let faults = faults.collect::<Result<_, _>>();
            it.faults = faults.map_err(|error| fields.error("faults", error))?;
        }
        it.parts = fields.maybe_count("parts")?.map(|it| it as usize).or(it.parts);
        it.clients = fields.maybe_count("clients")?.map_or(it.clients, |it| it as usize);
        it.rows = fields.maybe_count("rows")?.unwrap_or(it.rows);
        it.columns = fields.maybe_count("columns")?.map_or(it.columns, |it| it as usize);
        it.selectivity = fields.maybe_number("selectivity")?.unwrap_or(it.selectivity);
        it.output_cycles = fields.maybe_number("output_cycles")?.unwrap_or(it.output_cycles);
        it.row_cost.0 = fields.maybe_number("bytes_per_row")?.unwrap_or(it.row_cost.0);
        it.row_cost.1 = fields.maybe_number("cycles_per_row")?.unwrap_or(it.row_cost.1);
        if let Some(value) = fields.find("workers_on") {
            it.workers_on = nodes(fields, "workers_on", value)?;
        }
        if let Some(value) = fields.find("column_nodes") {
            it.column_nodes = nodes(fields, "column_nodes", value)?;
        }
        if let Some(value) = fields.find("bitcases") {
            let pair: Option<Vec<u64>> =
                value.as_array().and_then(|it| it.iter().map(Value::as_u64).collect());
            it.bitcases = match pair.as_deref() {
                Some(&[low, high]) if 1 <= low && low <= high && high <= 32 => {
                    (low as u32, high as u32)
                }
                _ => return Err(fields.error("bitcases", "two numbers from 1 to 32 are needed")),
            };
        }
        it.check(fields)?;
        Ok(it)
    }

    fn set_words(&mut self, fields: &Fields<'_>) -> Result<(), FileError> {
        let choices = [("scans", Workload::Scans), ("aggregate", Workload::Aggregate)];
        let choices = [choices[0], choices[1], ("union", Workload::Union)];
        self.workload = word(fields, "workload", self.workload, &choices)?;
        let choices = [
            ("os", Strategy::Os),
            ("target", Strategy::Target),
            ("bound", Strategy::Bound),
            ("adaptive", Strategy::Adaptive),
        ];
        self.strategy = word(fields, "strategy", self.strategy, &choices)?;
        let choices = [
            ("none", StealingScope::None),
            ("socket", StealingScope::Socket),
            ("all", StealingScope::All),
        ];
        self.stealing = word(fields, "stealing", self.stealing, &choices)?;
        let choices = [("tasks", Division::Tasks), ("morsels", Division::Morsels)];
        self.division = word(fields, "division", self.division, &choices)?;
        let choices = [
            ("rr", Placing::RoundRobin),
            ("ivp", Placing::IndexVector),
            ("pp", Placing::Physical),
            ("interleaved", Placing::Interleaved),
            ("one_node", Placing::OneNode),
        ];
        self.placement = word(fields, "placement", self.placement, &choices)?;
        Ok(())
    }

    fn check(&self, fields: &Fields<'_>) -> Result<(), FileError> {
        let limit = |field: &str, value: u64, most: u64| {
            if value <= most { Ok(()) } else { Err(fields.error(field, format!("at most {most}"))) }
        };
        limit("clients", self.clients as u64, 100_000)?;
        limit("columns", self.columns as u64, 100_000)?;
        limit("workers", self.workers.unwrap_or(1) as u64, 10_000)?;
        limit("parts", self.parts.unwrap_or(1) as u64, 1024)?;
        if self.selectivity > 1.0 {
            return Err(fields.error("selectivity", "a share of the rows, at most 1"));
        }
        Ok(())
    }
}

fn word<T: Copy>(
    fields: &Fields<'_>,
    field: &str,
    default: T,
    choices: &[(&str, T)],
) -> Result<T, FileError> {
    if fields.find(field).is_none() {
        return Ok(default);
    }
    let text = fields.text(field)?;
    let known = choices.iter().find(|it| it.0 == text).map(|it| it.1);
    known.ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|it| it.0).collect();
        fields.error(field, format!("{text} is not known; known are {}", names.join(", ")))
    })
}

fn nodes(fields: &Fields<'_>, field: &str, value: &Value) -> Result<Vec<u16>, FileError> {
    let node = |it: &Value| it.as_u64().and_then(|it| u16::try_from(it).ok());
    let nodes: Option<Vec<u16>> = value.as_array().and_then(|it| it.iter().map(node).collect());
    nodes.ok_or_else(|| fields.error(field, "a list of node numbers is needed"))
}
