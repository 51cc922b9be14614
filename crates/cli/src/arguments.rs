//! The command line.

use std::path::PathBuf;

use bench::monet::Mode;
use clap::{Args, Parser, Subcommand};
use nodewise::Loading;
use simulator::Fault;

use crate::output::Format;
pub use crate::pool_arguments::PoolArguments;
use crate::pool_arguments::{at_least_one, loading, mode, scale};
use crate::reporting_arguments::ReportingArguments;
use crate::serve_arguments::{PasswordArguments, ServeArguments};
pub use crate::suite_arguments::{
    ClickbenchArguments, DataArguments, GenerateArguments, GenerateHitsArguments, RoundArguments,
    SuiteArguments, TpchArguments, WorkloadArguments,
};

/// An analytical SQL database that knows on which NUMA node its data live.
///
/// Without a command it opens a shell, or runs the SQL on its standard input when that is no terminal. With a folder,
/// tables last; without, they are gone when it ends.
#[derive(Debug, Parser)]
#[command(name = "nodewise", version, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// What to do instead of SQL.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// How to run SQL.
    #[command(flatten)]
    pub shell: ShellArguments,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the machine as this process may use it
    Topology,
    /// Measure latency and bandwidth between all nodes, and keep them for placement and scheduling
    Probe(ProbeArguments),
    /// Show on which nodes a table lies, column by column
    Placement(PlacementArguments),
    /// Serve a database to psql and other clients of PostgreSQL
    Serve(ServeArguments),
    /// Look at how a server would be set up
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Make the line of a user for `nodewise serve --users`, with the password on standard input
    Password(PasswordArguments),
    /// Make TPC-H, load it, run the 22 queries, check every answer
    Demo(DemoArguments),
    /// Look through the folder of a database that nobody has open, and name all damage; nothing in it is changed
    Check(CheckArguments),
    /// Run SQL and write down what every worker did when
    Trace(TraceArguments),
    /// Measure
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Make the data of a benchmark as Parquet files
    #[command(subcommand)]
    Generate(GenerateCommand),
    /// Run an experiment of the papers on a modelled machine, or list them
    Simulate(SimulateArguments),
    /// Answer a coordinator on standard input, with the shard in a folder
    #[command(hide = true)]
    Shard(ShardArguments),
}

/// What can be done with settings of the server.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Check the arguments of `nodewise serve`, with what environment and file add to them, and serve nothing
    Check(ServeArguments),
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// The 22 queries of TPC-H, in rounds
    Tpch(TpchArguments),
    /// The 99 queries of TPC-DS, in rounds
    Tpcds(SuiteArguments),
    /// The 13 queries of the star schema benchmark, in rounds
    Ssb(SuiteArguments),
    /// 43 queries over one wide table of web hits, in the manner of ClickBench, in rounds
    Clickbench(ClickbenchArguments),
    /// Any queries over any Parquet files, in rounds
    Workload(WorkloadArguments),
    /// The bandwidth at which the machine reads memory
    Memory(MemoryArguments),
    /// Each primitive by itself: rows a second, and the share of what memory can deliver
    Primitives(PrimitivesArguments),
    /// Statements whose work is next to nothing: what planning and running cost in any case
    Fixed(FixedArguments),
    /// TPC-H over tables in one piece and hashed into parts, in turns: what parts cost on one node
    Parts(PartsArguments),
    /// TPC-H in folders that are mapped: oblivious of nodes, in shards, and by a process for each node (P-MONET)
    Monet(MonetArguments),
    /// Many clients that scan columns of many widths
    Scans(ScansArguments),
    /// Reports of many users over three schemas, placed in several ways, under several strategies (P-HANA 6.3)
    Reporting(ReportingArguments),
    /// TPC-H Q1 with random parameters by many clients, in the same way (P-HANA 6.3)
    Q1(ReportingArguments),
    /// Small statements by many clients: rows that come one by one, reads and updates by key, transactions
    Oltp(OltpArguments),
    /// The scheduler: its cost, morsel sizes, an intruder on a core, query streams, the trace
    Scheduling(SchedulingArguments),
}

/// What can be made.
#[derive(Debug, Subcommand)]
pub enum GenerateCommand {
    /// The eight tables of TPC-H
    Tpch(GenerateArguments),
    /// The 24 tables of TPC-DS
    Tpcds(GenerateArguments),
    /// The five tables of the star schema benchmark
    Ssb(GenerateArguments),
    /// The table of web hits of `nodewise bench clickbench`
    Clickbench(GenerateHitsArguments),
}

/// How to run SQL.
#[derive(Args, Debug)]
pub struct ShellArguments {
    /// The folder of the database, made when it is not there; in memory when not given
    #[arg(value_name = "DIR", conflicts_with = "machine")]
    pub folder: Option<PathBuf>,
    /// How the files of the folder come into memory: all are read when it is opened, or they are mapped, and read when a
    /// statement looks at them
    #[arg(long, value_name = "HOW", default_value = "resident", requires = "folder", value_parser = loading)]
    pub load: Loading,
    /// Run this SQL and end; may be given several times
    #[arg(short = 'c', long = "command", value_name = "SQL", conflicts_with = "file")]
    pub execute: Vec<String>,
    /// Run the SQL of this file and end
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// How results look
    #[arg(long, value_enum, default_value_t = Format::Box)]
    pub format: Format,
    /// Start the interactive shell without running what $XDG_CONFIG_HOME/nodewise/shellrc says
    #[arg(short = 'X', long)]
    pub no_settings: bool,
    #[command(flatten)]
    pub machine: MachineArguments,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// On which machine.
#[derive(Args, Debug, Default)]
pub struct MachineArguments {
    /// A modelled machine in place of this one, to try placements out: data lie in ordinary memory, and nodes, moves
    /// and times are modelled. A shape (laptop, four_sockets, ..) or one of the machines of `nodewise simulate`
    #[arg(long, value_name = "NAME", value_parser = machine_name)]
    pub machine: Option<String>,
}

/// `nodewise check`.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// The folder of the database
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise placement`.
#[derive(Args, Debug)]
pub struct PlacementArguments {
    /// The table, or a Parquet file to be loaded as a table
    #[arg(value_name = "TABLE")]
    pub table: String,
    /// Load a Parquet file, or all of a folder, each as a table with the name of its file; may be given several times
    #[arg(long, value_name = "PATH")]
    pub load: Vec<PathBuf>,
    /// Run SQL before the table is drawn; may be given several times
    #[arg(long, value_name = "SQL")]
    pub sql: Vec<String>,
    /// Write the picture to this file as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Draw with ASCII characters alone
    #[arg(long)]
    pub ascii: bool,
    #[command(flatten)]
    pub machine: MachineArguments,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise probe`.
#[derive(Args, Debug)]
pub struct ProbeArguments {
    /// Take a few seconds and be less exact
    #[arg(long)]
    pub quick: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
    /// Keep the figures in this file instead of the one that every start reads
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `nodewise demo`.
#[derive(Args, Debug)]
pub struct DemoArguments {
    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise bench memory`.
#[derive(Args, Debug)]
pub struct MemoryArguments {
    /// Threads at most
    #[command(flatten)]
    pub pool: PoolArguments,
    /// MiB to read in a pass
    #[arg(long, value_name = "MIB", default_value = "1024", value_parser = at_least_one)]
    pub mib: usize,
}

/// `nodewise bench primitives`.
#[derive(Args, Debug)]
pub struct PrimitivesArguments {
    /// MiB of packed codes for the kernels
    #[arg(long, value_name = "MIB", default_value = "64", value_parser = at_least_one)]
    pub mib: usize,
    /// Rows of the table for joins and groups, up to 10 million
    #[arg(long, value_name = "N", default_value = "4000000", value_parser = at_least_one)]
    pub rows: usize,
    /// Passes, of which the best counts
    #[arg(long, value_name = "N", default_value = "3", value_parser = at_least_one)]
    pub runs: usize,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise bench fixed`.
#[derive(Args, Debug)]
pub struct FixedArguments {
    /// Rows of the table with a key, up to 10 million
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = at_least_one)]
    pub rows: usize,
    /// Runs of each statement
    #[arg(long, value_name = "N", default_value = "2000", value_parser = at_least_one)]
    pub runs: usize,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise bench parts`.
#[derive(Args, Debug)]
pub struct PartsArguments {
    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub pool: PoolArguments,
    /// Parts of each table but nation and region
    #[arg(long, value_name = "N", default_value = "4", value_parser = at_least_one)]
    pub parts: usize,
    /// Timed rounds, after one to warm up
    #[arg(long, value_name = "N", default_value = "7", value_parser = at_least_one)]
    pub runs: usize,
    /// Only these queries, by number
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub queries: Vec<usize>,
}

/// `nodewise bench monet`.
#[derive(Args, Debug)]
pub struct MonetArguments {
    /// Where the folders of the databases are, or are made
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub pool: PoolArguments,
    /// Timed rounds, after the first look
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    pub runs: usize,
    /// Parts of lineitem and orders in shards, and processes; one for each node when not given, and at least two
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub parts: Option<usize>,
    /// Leave in memory what the OS has there of the files
    #[arg(long)]
    pub warm: bool,
    /// How files come into memory: mapped or resident
    #[arg(long, value_name = "HOW", default_value = "mapped", value_parser = loading)]
    pub loading: Loading,
    /// Only these configurations
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "obliv,shard,distr", value_parser = mode)]
    pub modes: Vec<Mode>,
    /// Only these queries of TPC-H, by number, and the scan
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "4,6,19")]
    pub queries: Vec<usize>,
    /// Count the accesses of the timed rounds, a phase for each configuration and query, where somebody counts
    #[arg(long)]
    pub count: bool,
}

/// `nodewise shard`.
#[derive(Args, Debug)]
pub struct ShardArguments {
    /// The folder of its database
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub pool: PoolArguments,
    /// How its files come into memory
    #[arg(long, value_name = "HOW", default_value = "resident", value_parser = loading)]
    pub loading: Loading,
}

/// `nodewise bench oltp`.
#[derive(Args, Debug)]
pub struct OltpArguments {
    /// The folder of a database to which the tables are added; in memory when not given
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Clients at once; several numbers are measured one after the other
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1", value_parser = at_least_one)]
    pub clients: Vec<usize>,
    /// Branches, each with ten tellers
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least_one)]
    pub branches: usize,
    /// Accounts of each branch
    #[arg(long, value_name = "N", default_value = "100000", value_parser = at_least_one)]
    pub accounts: usize,
    /// Seconds for each figure
    #[arg(long, value_name = "S", default_value = "5", value_parser = at_least_one)]
    pub seconds: usize,
    /// Only these: insert, read, update, transfer
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["insert", "read", "update", "transfer"])]
    pub only: Vec<String>,
    /// Other tables that the database has, which nobody changes
    #[arg(long, value_name = "N", default_value = "0")]
    pub tables: usize,
    /// Answer before a commit is on the disk
    #[arg(long)]
    pub asynchronous: bool,
    /// Write the figures to this file as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise bench scheduling`.
#[derive(Args, Debug)]
pub struct SchedulingArguments {
    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub pool: PoolArguments,
    /// Rounds of each experiment, after one to warm up
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    pub runs: usize,
    /// Only these experiments
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub only: Vec<Experiment>,
}

/// What `nodewise bench scheduling` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Experiment {
    /// An empty task, an empty morsel
    Cost,
    /// The time of a query by the size of its morsels
    Morsels,
    /// Morsels against static division, with somebody else on a core
    Interference,
    /// Throughput of 1 to 64 query streams
    Streams,
    /// What the trace costs
    Trace,
}

/// `nodewise trace`.
#[derive(Args, Debug)]
pub struct TraceArguments {
    /// Where the trace goes: JSON for the Perfetto viewer with a picture beside it, or only the picture if it ends in .svg
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Run this SQL; may be given several times
    #[arg(
        short = 'c',
        long = "command",
        value_name = "SQL",
        required_unless_present = "file",
        conflicts_with = "file"
    )]
    pub execute: Vec<String>,
    /// Run the SQL of this file
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Run the SQL of this file before, without the trace: to load data
    #[arg(long, value_name = "FILE")]
    pub setup: Option<PathBuf>,
    /// Run each -c in a session of its own, one begun every so many milliseconds
    #[arg(long, value_name = "MS")]
    pub stagger: Option<u64>,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// What to simulate.
#[derive(Args, Debug)]
pub struct SimulateArguments {
    /// An experiment by name or as a JSON file, `all` of them, or `tpch`: real queries over real rows in the time of a
    /// modelled machine; a list when not given
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Show a modelled machine instead
    #[arg(long, value_name = "MACHINE", conflicts_with = "name")]
    pub machine: Option<String>,
    /// The machine to run on: a model by name or as a JSON file, `here`, or a folder with the `sys` and `proc` of a machine;
    /// the paper's when not given
    #[arg(long, value_name = "MACHINE")]
    pub on: Option<String>,
    /// What `nodewise probe --output` measured on that machine; for `here` what was kept, when not given
    #[arg(long, value_name = "FILE")]
    pub probe: Option<PathBuf>,
    /// What goes wrong there: slow-core=CPU:SPEED, stalled-worker=WORKER:FROM_MS:SPAN_MS, no-memory=NODE,
    /// busy=CPU:NODE:GB_PER_S; may be given several times
    #[arg(long = "fault", value_name = "FAULT")]
    pub faults: Vec<Fault>,
    /// Write the chart to this file, or with `all` the charts to this folder
    #[arg(long, value_name = "PATH")]
    pub svg: Option<PathBuf>,
    /// Write the figures with their claims as Markdown to this file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The seed that all choices follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The most clients in any run, for a quick look
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub clients: Option<usize>,
    #[command(flatten)]
    pub real: RealArguments,
}

/// What `nodewise simulate tpch` runs.
#[derive(Args, Debug)]
#[command(next_help_heading = "Options of `simulate tpch`")]
pub struct RealArguments {
    /// The scale of the rows; 0.01, 0.1 and 1 have reference answers
    #[arg(long, value_name = "S", default_value = "0.01", value_parser = scale)]
    pub scale: f64,
    /// Folder of the Parquet files, made when it has none; a folder for temporary files when not given
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Only these queries, by number
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub queries: Vec<usize>,
    /// Run this SQL before the queries: settings, placements; may be given several times
    #[arg(long, value_name = "SQL")]
    pub sql: Vec<String>,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// Which scans by whom.
#[derive(Args, Debug)]
pub struct ScansArguments {
    /// Rows of the table
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = at_least_one)]
    pub rows: usize,
    /// Columns of the table; they take the widths of 17 to 26 bits in turn
    #[arg(long, value_name = "N", default_value = "20", value_parser = at_least_one)]
    pub columns: usize,
    /// Folder with a file `scans.parquet` to load in place of generated values: integers in columns c0, c1, .. of 17 to 26
    /// bits in turn. What it holds is not known here, so that answers are not checked
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rows", "columns"])]
    pub data: Option<PathBuf>,
    /// Rows that qualify, in percent; one run for each
    #[arg(
        long,
        value_name = "P,..",
        value_delimiter = ',',
        default_value = "0.001",
        value_parser = percent
    )]
    pub selectivity: Vec<f64>,
    /// Ask for the number and the sum of the rows that qualify, and not for the rows; with `both` once each
    #[arg(long, value_enum, value_name = "WHAT", default_value = "rows")]
    pub ask: AskedArgument,
    /// Numbers of clients, one run each
    #[arg(
        long,
        value_name = "N,..",
        value_delimiter = ',',
        default_value = "1,2,16,64,256,1024",
        value_parser = at_least_one
    )]
    pub clients: Vec<usize>,
    /// Statements of a run; at least two for each client
    #[arg(long, value_name = "N", default_value = "1000", value_parser = at_least_one)]
    pub statements: usize,
    /// Give the second half of the columns four fifths of the statements
    #[arg(long)]
    pub skewed: bool,
    /// Give each column an index
    #[arg(long)]
    pub indexes: bool,
    /// One worker for each statement
    #[arg(long)]
    pub serial: bool,
    /// Serve each statement by itself: `SET scan_sharing = off`
    #[arg(long)]
    pub apart: bool,
    /// The seed that all choices follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the figures as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the statements of all runs to this file, one a line, for other engines
    #[arg(long, value_name = "FILE")]
    pub list: Option<PathBuf>,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// What the scans ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AskedArgument {
    /// The rows
    Rows,
    /// Their number and sum
    Sums,
    /// First the one, then the other
    Both,
}

fn machine_name(text: &str) -> Result<String, String> {
    let known = || hardware::samples::NAMES.into_iter().chain(simulator::model::names());
    match known().any(|it| it == text) || text.ends_with(".json") {
        true => Ok(text.to_owned()),
        false => {
            let known: Vec<&str> = known().collect();
            Err(format!("known are {}, and JSON files of models", known.join(", ")))
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a number from 0 to 100 is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn values_are_checked() {
        let parse = |line: &str| Arguments::try_parse_from(line.split_whitespace());
        assert!(parse("nodewise demo --scale 0.1 --threads 2 --data d").is_ok());
        assert!(parse("nodewise -c a -c b --format csv").is_ok());
        assert!(parse("nodewise bench tpch --scale 1 --runs 3 --queries 1,6 --json f").is_ok());
        assert!(parse("nodewise bench tpcds --scale 0.1 --runs 3 --queries 1,99 --data d").is_ok());
        assert!(parse("nodewise generate tpcds --scale 0.1 d").is_ok());
        assert!(parse("nodewise bench clickbench --rows 1000 --queries 43 --json f").is_ok());
        assert!(parse("nodewise generate clickbench --rows 1000 d").is_ok());
        assert!(
            parse("nodewise bench workload --data d --queries q --plan-cache --profile").is_ok()
        );
        assert!(parse("nodewise bench primitives --mib 64 --rows 1000 --runs 1").is_ok());
        assert!(parse("nodewise bench parts --scale 1 --parts 4 --runs 7 --queries 10,14").is_ok());
        assert!(parse("nodewise bench fixed --rows 1000 --runs 1").is_ok());
        assert!(parse("nodewise generate tpch --scale 1 d").is_ok());
        assert!(parse("nodewise probe --quick --json --output f").is_ok());
        assert!(parse("nodewise generate tpch --scale 1 --out d").is_ok());
        assert!(parse("nodewise --threads 2").is_ok());
        assert!(parse("nodewise d -c a").is_ok());
        assert!(parse("nodewise --machine ring").is_ok());
        assert!(parse("nodewise --machine nehalem-ex").is_ok());
        assert!(parse("nodewise placement t --load d --sql x --svg f --ascii").is_ok());
        assert!(parse("nodewise simulate").is_ok());
        assert!(parse("nodewise simulate hana-08 --svg f.svg --seed 7 --clients 64").is_ok());
        assert!(parse("nodewise simulate hana-08 --on nehalem-ex --fault no-memory=1").is_ok());
        assert!(parse("nodewise simulate tpch --on d --probe f --queries 1,6 --threads 3").is_ok());
        assert!(parse("nodewise bench scans --clients 1,1024 --selectivity 10 --skewed").is_ok());
        assert!(parse("nodewise bench scans --data d --selectivity 0.1,1 --ask both").is_ok());
        assert!(parse("nodewise trace -o f.json -c a -c b --stagger 10 --setup s").is_ok());
        let line =
            "nodewise bench reporting --clients 4 --placement pp,rr --parts 1,2 --strategy bound";
        assert!(parse(line).is_ok());
        assert!(
            parse("nodewise bench q1 --scale 0.01 --on nehalem-ex --reports 9 --json f").is_ok()
        );
        assert!(parse("nodewise bench q1 --placement heap").is_err());
        assert!(parse("nodewise bench scheduling --scale 0.1 --only cost,streams").is_ok());
        for wrong in [
            "nodewise demo --scale 0",
            "nodewise demo --scale x",
            "nodewise --threads 0",
            "nodewise --threads 20000",
            "nodewise -c a -f b",
            "nodewise --format xml",
            "nodewise generate tpch",
            "nodewise bench",
            "nodewise bench workload --data d",
            "nodewise bench clickbench --rows 0",
            "nodewise generate clickbench",
            "nodewise bench scans --selectivity 101",
            "nodewise bench scans --clients 0",
            "nodewise bench scans --data d --rows 5",
            "nodewise bench scans --ask nothing",
            "nodewise simulate hana-08 --machine skylake",
            "nodewise simulate hana-08 --fault fire",
            "nodewise simulate tpch --scale 0",
            "nodewise fly away",
            "nodewise d --machine ring",
            "nodewise probe --output",
            "nodewise probe fast",
            "nodewise placement",
            "nodewise --machine abacus",
            "nodewise trace -o f",
            "nodewise trace -c a",
            "nodewise bench scheduling --only nothing",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
