//! What `nodewise bench reporting` and `nodewise bench q1` take.

use std::path::PathBuf;

use clap::Args;

use crate::pool_arguments::{PoolArguments, at_least_one, scale};

/// Which clients, placements and strategies.
#[derive(Args, Debug)]
pub struct ReportingArguments {
    /// Clients at once
    #[arg(long, value_name = "N", default_value = "32", value_parser = at_least_one)]
    pub clients: usize,
    /// Scale of the rows: of TPC-H, or million facts in each of the three schemas
    #[arg(long, value_name = "S", default_value = "0.1", value_parser = scale)]
    pub scale: f64,
    /// Folder with TPC-H's Parquet files, made when it has none; a folder for temporary files when not given
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// How tables lie, one run each: columns dealt, columns split, tables in parts, as touched first
    #[arg(
        long,
        value_enum,
        value_name = "P,..",
        value_delimiter = ',',
        default_value = "rr,ivp,pp,os"
    )]
    pub placement: Vec<PlacementArgument>,
    /// Parts of a table under pp, one run each; as many as nodes with memory when not given. One is a table on a node
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = at_least_one)]
    pub parts: Vec<usize>,
    /// Strategies, one run each
    #[arg(
        long,
        value_enum,
        value_name = "S,..",
        value_delimiter = ',',
        default_value = "os,target,bound"
    )]
    pub strategy: Vec<StrategyArgument>,
    /// Begin no report after this time; 10 s when neither this nor --reports is given
    #[arg(long, value_name = "S", value_parser = at_least_one)]
    pub seconds: Option<usize>,
    /// Reports (or instances of Q1) of a run, all clients together
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub reports: Option<usize>,
    /// A modelled machine in place of this one: real rows and the real scheduler, in modelled time
    #[arg(long, value_name = "MACHINE")]
    pub on: Option<String>,
    /// The seed that all choices follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the figures as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub pool: PoolArguments,
}

/// How tables lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PlacementArgument {
    /// Whole columns dealt round the nodes
    Rr,
    /// Columns split over the nodes
    Ivp,
    /// Tables in parts
    Pp,
    /// Where pages are touched first
    Os,
}

/// How tasks are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StrategyArgument {
    /// No affinities
    Os,
    /// Soft affinities
    Target,
    /// Hard affinities
    Bound,
    /// Hard for what memory bounds, else soft
    Adaptive,
}

impl StrategyArgument {
    /// The value of the setting.
    pub fn word(self) -> &'static str {
        match self {
            Self::Os => "os",
            Self::Target => "target",
            Self::Bound => "bound",
            Self::Adaptive => "adaptive",
        }
    }
}
