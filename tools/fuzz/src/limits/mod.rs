//! Statements with too little of everything: they give their rows or one clear error, and leave nothing behind.
//!
//! Each runs without a limit first, which says what its rows are. Then it runs with a memory limit, on a modelled machine of
//! four nodes whose disk fills or fails and which refuses memory, and on this machine with a folder of its own.
//!
//! - Invariant: what comes of a statement is its rows, or 53200, 53100, 58030 or 54000; no file is left, and the session
//!   answers the next statement. Anything else is told with the command that repeats it.
//!
//! Reading order: `tables`, `statements`, `faults`, `places`, `judge`.

mod faults;
mod judge;
mod places;
mod statements;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::draw::Draw;
use crate::limits::faults::Faults;
use crate::limits::judge::{Wanted, judge};
use crate::limits::places::{Modelled, Place, Real};
use crate::peers::reply::{Peer, Reply};
use crate::verdict::template;

/// Statements that share a modelled machine, so that each of its seeds is seen, and memory that lies idle is given back.
const PER_MACHINE: u64 = 25;

/// What came of statements.
#[derive(Default)]
pub struct Counts {
    by_what: BTreeMap<String, usize>,
    pub failures: usize,
}

impl Counts {
    /// The counts, and one closing line.
    pub fn print(&self, name: &str, started: Instant) {
        for (what, count) in &self.by_what {
            println!("{count:8} {what}");
        }
        let total: usize = self.by_what.values().sum();
        let seconds = started.elapsed().max(Duration::from_millis(1)).as_secs_f64();
        println!("{name}: {total} outcomes, {} failed ({seconds:.0} s)", self.failures);
    }

    fn add(&mut self, what: String) {
        *self.by_what.entry(what).or_default() += 1;
    }
}

/// The machines, and what came of statements on them.
pub struct Limits {
    world: crate::world::World,
    real: Real,
    modelled: Option<((u64, u64), Modelled)>,
    pub counts: Counts,
}

impl Limits {
    /// Opens this machine with the tables.
    pub fn open() -> Result<Self, String> {
        let (world, counts) = (tables::world(), Counts::default());
        Ok(Self { world, real: Real::open()?, modelled: None, counts })
    }

    /// Runs the statement of a number: without limits, and with those of the number on both machines.
    pub fn statement(&mut self, seed: u64, number: u64, depth: usize) -> Result<(), String> {
        let statement = statements::draw(seed, number, &self.world, depth);
        let wanted = match self.real.free.run(&statement.sql) {
            Reply::Rows(rows) => Wanted::Rows(rows, statement.compare),
            reply if reply.is_value_error() => Wanted::ValueError,
            Reply::Error { state, .. } if state == "57014" => {
                self.counts.add("skipped: it takes too long without limits".to_owned());
                return Ok(());
            }
            Reply::Error { state, message } if !state.starts_with("XX") => {
                self.counts.add(format!("skipped: {state} {}", template(&message)));
                return Ok(());
            }
            reply => {
                let what = format!("without limits: {}", reply.describe());
                self.tell(&what, (seed, number), &statement.sql, "none");
                return self.real.reopen();
            }
        };
        let mut draw = Draw::new(seed ^ 0x0fa0_17ed, number);
        let faults = Faults::draw(&mut draw);
        let found = under(&mut self.real, &faults, &statement.sql, &wanted);
        self.count("here", found, (seed, number), &statement.sql, &faults);
        let place = (seed, number / PER_MACHINE);
        if self.modelled.as_ref().is_none_or(|(known, _)| *known != place) {
            self.modelled = None;
            self.modelled = Some((place, Modelled::open(seed ^ number)?));
        }
        if let Some((_, modelled)) = &mut self.modelled {
            let faults = Faults::draw(&mut draw);
            let found = under(modelled, &faults, &statement.sql, &wanted);
            let stuck = found.is_err();
            self.count("modelled", found, (seed, number), &statement.sql, &faults);
            if stuck {
                self.modelled = None;
            }
        }
        Ok(())
    }

    fn count(
        &mut self,
        place: &str,
        found: Result<String, String>,
        at: (u64, u64),
        sql: &str,
        faults: &Faults,
    ) {
        match found {
            Ok(what) => self.counts.add(format!("{place}: {what}")),
            Err(what) => self.tell(&format!("{place}: {what}"), at, sql, &format!("{faults:?}")),
        }
    }

    /// Tells a finding.
    fn tell(&mut self, what: &str, (seed, number): (u64, u64), sql: &str, faults: &str) {
        self.counts.failures += 1;
        self.counts.add(format!("BROKEN: {}", template(what)));
        println!("-- {what}\n-- {faults}");
        println!("-- cargo run -p fuzz -- limits --seeds {seed} --only {number}\n{sql};");
    }
}

/// What comes of a statement under faults, and a finding as an error.
fn under<P: Place>(
    place: &mut P,
    faults: &Faults,
    sql: &str,
    wanted: &Wanted,
) -> Result<String, String> {
    let set = place.set(faults);
    if set != Reply::Done {
        return Err(format!("the limit cannot be set: {}", set.describe()));
    }
    let reply = place.peer().run(sql);
    let left = place.left();
    place.heal();
    let verdict = judge(wanted, &reply);
    if let Some(left) = left {
        return Err(format!("{left} after {}", reply.describe()));
    }
    let plain = place.peer().run(tables::PLAIN);
    if plain != tables::plain_answer() {
        return Err(format!("the next statement: {} after {}", plain.describe(), reply.describe()));
    }
    verdict
}
