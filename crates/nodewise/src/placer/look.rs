//! The looks of the watchdog: a window, decisions, the next copy.

use hardware::NodeId;
use placer::constants::WINDOW;
use placer::{Decision, Placer, Window};
use stdx::Nanos;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;

use super::log::Outcome;
use super::measure::{Measured, Sources};
use super::service::{PlacerMode, Running};
use crate::Database;

impl Database {
    /// A look of the watchdog: takes a window when one is over, and begins the copy whose turn it is.
    pub(crate) fn run_placer(self: &Arc<Self>) {
        let mode = self.placer.mode();
        if mode == PlacerMode::Off {
            return;
        }
        let now = self.machine.now();
        let mut locked = self.placer.running.lock();
        let running = locked.get_or_insert_with(|| Running {
            placer: Placer::new(self.machine.topology()),
            measured: Measured::now(&self.sources()),
            waiting: Vec::new(),
            first: self.placer.log.lock().next(),
            next_copy: Nanos(0),
        });
        if now - running.measured.at() >= WINDOW {
            let measured = Measured::now(&self.sources());
            let window = measured.window_since(&running.measured, &self.sources());
            let window = Window { free: self.free_memory(), ..window };
            running.measured = measured;
            if !running.waiting.is_empty() || self.placer.under_way.load(Ordering::Acquire) {
                running.placer.still_copies(now);
            }
            for decision in running.placer.observe(&window) {
                let outcome =
                    if mode == PlacerMode::On { Outcome::Waiting } else { Outcome::Advised };
                let number = self.placer.log.lock().push(
                    &self.catalog.snapshot(),
                    &decision,
                    outcome.clone(),
                );
                match outcome {
                    Outcome::Waiting => running.waiting.insert(0, (number, decision)),
                    // Said once is enough for a time.
                    _ => running.placer.refused(&decision),
                }
            }
        }
        if !self.placer.under_way.load(Ordering::Acquire)
            && now >= running.next_copy
            && let Some((number, decision)) = running.waiting.pop()
        {
            self.placer.under_way.store(true, Ordering::Release);
            running.next_copy = now + decision.copy_time;
            drop(locked);
            self.begin_move(number, decision);
        }
    }

    /// What would be done, step by step, about all loads since the database was opened.
    pub(crate) fn advice(&self) -> Vec<Decision> {
        let window = Measured::now(&self.sources()).as_one_window(&self.sources());
        let window = Window { free: self.free_memory(), ..window };
        Placer::new(self.machine.topology()).advise(&window)
    }

    /// Bytes of each node that a move to it may take; empty where all nodes have CPUs, as nothing is asked of it there.
    fn free_memory(&self) -> Vec<u64> {
        let topology = self.machine.topology();
        let has_cpus = |it: &NodeId| topology.cpus_of(*it).next().is_some();
        if topology.memory_nodes().iter().all(has_cpus) {
            return Vec::new();
        }
        let nodes = self.memory.of(&*self.machine);
        nodes.into_iter().map(|it| it.1.map_or(0, |memory| memory.available.0)).collect()
    }

    fn sources(&self) -> Sources<'_> {
        Sources { scheduler: &self.scheduler, traffic: &self.traffic, tables: self.tables() }
    }
}
