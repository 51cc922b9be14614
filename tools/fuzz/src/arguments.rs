//! The command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Random queries against Nodewise.
#[derive(Parser, Debug)]
#[command(name = "fuzz")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// What the answers are compared with.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// The same statements on PostgreSQL or DuckDB.
    Differ {
        #[command(flatten)]
        run: Run,
        /// How to reach PostgreSQL, as psql takes it; what it does not say comes from PGHOST and its like.
        #[arg(long, default_value = "")]
        postgres: String,
        /// A Python that can import duckdb: the peer is DuckDB in place of PostgreSQL.
        #[arg(long)]
        duckdb: Option<String>,
    },
    /// Statements that change rows, on PostgreSQL, too.
    Changes {
        #[command(flatten)]
        run: Run,
        /// How to reach PostgreSQL.
        #[arg(long, default_value = "")]
        postgres: String,
    },
    /// One question in several ways.
    Logic {
        #[command(flatten)]
        run: Run,
    },
    /// Statements with little memory, a disk that fills or fails, and memory that the machine refuses.
    Limits {
        #[command(flatten)]
        run: Run,
    },
    /// Texts of statements and files with bytes and words that were changed.
    Bytes {
        #[command(flatten)]
        run: Run,
        /// The folder of the record files whose statements are changed.
        #[arg(long, default_value = "tests/sql")]
        records: PathBuf,
    },
    /// Runs kept scripts of failures again, on PostgreSQL as well.
    Replay {
        /// How to reach PostgreSQL.
        #[arg(long, default_value = "")]
        postgres: String,
        files: Vec<PathBuf>,
    },
    /// Prints the tables and queries of a seed, and runs nothing.
    Show {
        #[command(flatten)]
        run: Run,
    },
}

/// Which cases run, and for how long.
#[derive(Args, Debug, Clone)]
pub struct Run {
    /// A seed, or the first and the last one: `1..20`.
    #[arg(long, default_value = "1", value_parser = seeds)]
    pub seeds: (u64, u64),
    /// Queries of each seed.
    #[arg(long, default_value_t = 1000)]
    pub queries: u64,
    /// Only the query of this number.
    #[arg(long)]
    pub only: Option<u64>,
    /// How deep expressions and subqueries nest.
    #[arg(long, default_value_t = 3)]
    pub depth: usize,
    /// Ends after so many seconds.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Failures that are reduced.
    #[arg(long, default_value_t = 30)]
    pub reductions: usize,
    /// Seconds that the reduction of one failure may take.
    #[arg(long, default_value_t = 20)]
    pub reduction_seconds: u64,
    /// Shows one reduced case of each refusal and each order of errors, too.
    #[arg(long)]
    pub refusals: bool,
    /// A folder for the scripts of failures.
    #[arg(long)]
    pub folder: Option<PathBuf>,
    /// Types that no column and no cast has, by the words they begin with.
    #[arg(long)]
    pub without: Vec<String>,
    /// A file that names the case under way: what is left of it when a case ends the process.
    #[arg(long)]
    pub journal: Option<PathBuf>,
}

/// `7`, or `1..20` with both ends.
fn seeds(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("{text} is no number"));
    match text.split_once("..") {
        None => number(text).map(|seed| (seed, seed)),
        Some((first, last)) => Ok((number(first)?, number(last)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_one_or_a_range() {
        assert_eq!(seeds("7"), Ok((7, 7)));
        assert_eq!(seeds("1..20"), Ok((1, 20)));
        assert!(seeds("a..b").is_err());
    }
}
