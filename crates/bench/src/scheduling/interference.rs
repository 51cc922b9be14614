//! Morsels against a static division of the work, with and without somebody else on one of the cores (P-HYPER 5.4).

use hardware::{CpuId, Machine, MachineError, Step, Worker, WorkerSpec, WorkerTeam};
use nodewise::tpch::queries;
use nodewise::{Session, SqlError, SqlResult, SqlState};
use stdx::Nanos;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicBool, Ordering};

use super::timed;
use crate::record::geometric_mean;

/// What became of the geometric mean of the queries.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// With the cores to ourselves.
    pub quiet: Nanos,
    /// With a busy thread on one of them.
    pub disturbed: Nanos,
}

impl Loss {
    /// By how much the speed dropped, in per cent.
    pub fn percent(&self) -> f64 {
        100.0 * (1.0 - self.quiet.0 as f64 / self.disturbed.0.max(1) as f64)
    }
}

/// Somebody else: a thread that computes on one hardware thread and does not know us.
struct Intruder {
    team: Arc<dyn WorkerTeam>,
    stop: Arc<AtomicBool>,
}

struct Busy {
    machine: Arc<dyn Machine>,
    stop: Arc<AtomicBool>,
}

impl Worker for Busy {
    fn step(&mut self) -> Step {
        let until = self.machine.now() + Nanos(200_000);
        while self.machine.now() < until {}
        if self.stop.load(Ordering::Acquire) { Step::Stopped } else { Step::Worked }
    }
}

impl Intruder {
    fn start(machine: &Arc<dyn Machine>, cpu: CpuId) -> Result<Self, MachineError> {
        let stop = Arc::new(AtomicBool::new(false));
        let body = Box::new(Busy { machine: machine.clone(), stop: stop.clone() });
        let team = machine.start(vec![WorkerSpec { cpu, name: "intruder".to_owned(), body }])?;
        Ok(Self { team, stop })
    }
}

impl Drop for Intruder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.team.join();
    }
}

/// Runs TPC-H, which must be loaded, with dynamic morsels and with static division, quiet and disturbed, in turns.
/// The first loss is that of the morsels. Only some queries when numbers are given.
pub fn compare(session: &mut Session, numbers: &[usize], runs: usize) -> SqlResult<[Loss; 2]> {
    let machine = session.database().machine().clone();
    let cpu = machine.topology().cpus.first().map(|it| it.id).unwrap_or_default();
    let chosen: Vec<&str> = (queries().iter().enumerate())
        .filter(|(at, _)| numbers.is_empty() || numbers.contains(&(at + 1)))
        .map(|(_, it)| it.1)
        .collect();
    let divisions = ["DEFAULT", "static"];
    let mut times: Vec<Vec<Vec<Nanos>>> = vec![vec![Vec::new(); chosen.len()]; 4];
    for round in 0..=runs {
        for disturbed in [false, true] {
            let refused = |it: MachineError| SqlError::new(SqlState::IO_ERROR, it.to_string());
            let intruder = disturbed.then(|| Intruder::start(&machine, cpu).map_err(refused));
            let _intruder = intruder.transpose()?;
            for (division, word) in divisions.iter().enumerate() {
                session.execute(&format!("SET morsel_rows = {word}"))?;
                for (at, sql) in chosen.iter().enumerate() {
                    let time = timed(session, sql)?;
                    // The first round warms up.
                    if round > 0 {
                        times[division * 2 + usize::from(disturbed)][at].push(time);
                    }
                }
            }
        }
    }
    session.execute("SET morsel_rows = DEFAULT")?;
    let mean = |variant: usize| {
        geometric_mean(times[variant].iter().cloned().map(median)).unwrap_or_default()
    };
    Ok([0, 2].map(|it| Loss { quiet: mean(it), disturbed: mean(it + 1) }))
}

/// The time in the middle: the least one is that of a run in which the OS let the intruder wait.
fn median(mut times: Vec<Nanos>) -> Option<Nanos> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_in_speed_and_the_intruder_leaves() {
        let loss = Loss { quiet: Nanos(80), disturbed: Nanos(100) };
        assert!((loss.percent() - 20.0).abs() < 1e-9);
        assert_eq!(median(vec![Nanos(9), Nanos(1), Nanos(2)]), Some(Nanos(2)));
        assert_eq!(median(Vec::new()), None);
        let machine: Arc<dyn Machine> = hardware_linux::open();
        let cpu = machine.topology().cpus[0].id;
        drop(Intruder::start(&machine, cpu).unwrap());
    }
}
