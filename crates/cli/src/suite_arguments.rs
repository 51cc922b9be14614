//! What the commands take that run the queries of a benchmark in rounds.

use std::path::PathBuf;

use clap::Args;

use crate::pool_arguments::{PoolArguments, at_least_one, scale};

/// Which TPC-H data.
#[derive(Args, Debug)]
pub struct DataArguments {
    /// The scale: 1 is about 1 GB of text; 0.01, 0.1 and 1 have reference answers
    #[arg(long, value_name = "S", default_value = "1", value_parser = scale)]
    pub scale: f64,
    /// Folder of the Parquet files, made when it has none; a folder for temporary files when not given
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// How the rounds are run, and what is told of them.
#[derive(Args, Debug)]
pub struct RoundArguments {
    #[command(flatten)]
    pub pool: PoolArguments,
    /// Timed rounds, after one to warm up
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    pub runs: usize,
    /// What each query may hold of memory, as 100MB; what takes more is written to temporary files
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<String>,
    /// Use the plans of earlier rounds again; without it each run plans, as other engines do
    #[arg(long)]
    pub plan_cache: bool,
    /// Tell where the time goes: each query step by step, and all together by kind of step
    #[arg(long)]
    pub profile: bool,
    /// Write the times to this file as JSON; the answers too, where none are stored
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// `nodewise bench tpch`.
#[derive(Args, Debug)]
pub struct TpchArguments {
    #[command(flatten)]
    pub data: DataArguments,
    #[command(flatten)]
    pub rounds: RoundArguments,
    /// Only these queries, by number
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub queries: Vec<usize>,
    /// Then run so many pairs of refresh functions, with the queries between RF1 and RF2 and after them
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1")]
    pub refresh: Option<u64>,
}

/// `nodewise bench tpcds` and `ssb`.
#[derive(Args, Debug)]
pub struct SuiteArguments {
    /// The scale: 1 is about 1 GB of text; TPC-DS has reference answers at 0.01, the star schema benchmark at 0.1
    #[arg(long, value_name = "S", default_value = "1", value_parser = scale)]
    pub scale: f64,
    /// Folder of the Parquet files, made when it has none; a folder for temporary files when not given
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Only these queries, by number; of the star schema benchmark from 1 for q1.1 to 13 for q4.3
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub queries: Vec<usize>,
    #[command(flatten)]
    pub rounds: RoundArguments,
}

/// `nodewise bench clickbench`.
#[derive(Args, Debug)]
pub struct ClickbenchArguments {
    /// Rows of the table
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = at_least_one)]
    pub rows: usize,
    /// Folder of the Parquet file, made when it has none; a folder for temporary files when not given
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Only these queries, by number
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub queries: Vec<usize>,
    #[command(flatten)]
    pub rounds: RoundArguments,
}

/// `nodewise generate tpch`, `tpcds` and `ssb`.
#[derive(Args, Debug)]
pub struct GenerateArguments {
    /// The scale: 1 is about 1 GB of text
    #[arg(long, value_name = "S", default_value = "1", value_parser = scale)]
    pub scale: f64,
    /// Where the files go
    #[arg(value_name = "DIR", required_unless_present = "out", conflicts_with = "out")]
    pub dir: Option<PathBuf>,
    /// Where the files go, by name
    #[arg(long, value_name = "DIR", hide = true)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise generate clickbench`.
#[derive(Args, Debug)]
pub struct GenerateHitsArguments {
    /// Rows of the table
    #[arg(long, value_name = "N", default_value = "1000000", value_parser = at_least_one)]
    pub rows: usize,
    /// Where the file goes
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// `nodewise bench workload`.
#[derive(Args, Debug)]
pub struct WorkloadArguments {
    /// Folder of Parquet files; each is a table called as the file
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Folder of SQL files; each holds one query
    #[arg(long, value_name = "DIR")]
    pub queries: PathBuf,
    #[command(flatten)]
    pub rounds: RoundArguments,
}
