//! Which statements are traced, and as a part of what.

use nodewise::{Database, Session};
use stdx::prng::Prng;
use stdx::sync::{Arc, Mutex};

use super::Traces;
use super::parent::{Parent, SharedParent};
use super::spans::{Client, Clock, Place, spans_of};
use crate::scram::random;

impl Traces {
    /// Traces the statements of a session. `said` is where the calls of its client leave what they say of themselves.
    pub fn follow(self: &Arc<Self>, session: &mut Session, client: Client, said: SharedParent) {
        // Numbers need not be secret; without randomness those of sessions may be alike, which is better than no session.
        let seed = random().map_or(session.number(), u64::from_le_bytes);
        let (traces, numbers) = (self.clone(), Mutex::new(Prng::new(seed)));
        let (client, database) = (Arc::new(client), Arc::downgrade(session.database()));
        session.follow_statements(Box::new(move |text| {
            let parent = Parent::of_statement(text).or_else(|| *said.lock());
            let place = place(&mut numbers.lock(), parent, traces.options.ratio)?;
            let (traces, client, database) = (traces.clone(), client.clone(), database.clone());
            Some(Box::new(move |ended| {
                let Some(database) = database.upgrade() else { return };
                traces.queue.push(spans_of(&ended, place, &client, &clock(&database)));
            }))
        }));
    }
}

fn clock(database: &Database) -> Clock {
    let machine = database.machine();
    let micros = u64::try_from(machine.wall_clock()).unwrap_or(0);
    Clock { machine: machine.now().0, world: micros.saturating_mul(1000) }
}

/// The place of the next statement, if it is traced: a client that has a trace of its own says whether.
fn place(numbers: &mut Prng, parent: Option<Parent>, ratio: f64) -> Option<Place> {
    let trace = match parent {
        Some(parent) if !parent.is_sampled => return None,
        Some(parent) => parent.trace,
        None => {
            let (high, low) = (numbers.next_u64() | 1, numbers.next_u64());
            // The share of all numbers that are below it.
            if low as f64 >= ratio * u64::MAX as f64 && ratio < 1.0 {
                return None;
            }
            (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
        }
    };
    let span = (numbers.next_u64() | 1).to_be_bytes();
    Some(Place { trace, span, parent, numbers: Prng::new(numbers.next_u64()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_statements_is_traced_and_clients_go_before_it() {
        let mut numbers = Prng::new(1);
        let mut count =
            |ratio| (0..10_000).filter(|_| place(&mut numbers, None, ratio).is_some()).count();
        assert_eq!((count(0.0), count(1.0)), (0, 10_000));
        assert!((2_300..2_700).contains(&count(0.25)));
        let parent = Parent { trace: [1; 16], span: [2; 8], is_sampled: true };
        assert_eq!(place(&mut numbers, Some(parent), 0.0).unwrap().trace, [1; 16]);
        let parent = Parent { is_sampled: false, ..parent };
        assert!(place(&mut numbers, Some(parent), 1.0).is_none());
    }
}
