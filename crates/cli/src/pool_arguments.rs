//! What several commands take: workers, scales, counts.

use bench::monet::Mode;
use clap::Args;
use nodewise::Loading;

/// Who works.
#[derive(Args, Debug)]
pub struct PoolArguments {
    /// Workers; one per hardware thread that the process may use when not given
    #[arg(long, value_name = "N", value_parser = workers)]
    pub threads: Option<usize>,
}

/// A count.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("a number from 1 on is needed".into()),
    }
}

/// A scale of generated data.
pub fn scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if (0.001..=100_000.0).contains(&scale) => Ok(scale),
        _ => Err("a number from 0.001 to 100000 is needed".into()),
    }
}

/// How files come into memory.
pub fn loading(text: &str) -> Result<Loading, String> {
    let all = [Loading::Resident, Loading::Mapped];
    let found = all.into_iter().find(|it| it.name() == text);
    found.ok_or_else(|| "resident or mapped is needed".into())
}

/// A configuration of P-MONET.
pub fn mode(text: &str) -> Result<Mode, String> {
    let found = Mode::ALL.into_iter().find(|it| it.word() == text);
    found.ok_or_else(|| format!("one of {} is needed", Mode::ALL.map(Mode::word).join(", ")))
}

fn workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=nodewise::WORKERS_MAX) => Ok(number),
        _ => Err(format!("a number from 1 to {} is needed", nodewise::WORKERS_MAX)),
    }
}
