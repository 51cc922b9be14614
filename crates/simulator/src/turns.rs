//! Clients on several OS threads in modelled time: one runs at a time, and time passes only while all of them wait. So
//! their order, and with it the whole run, follows from the seed.
//!
//! The turn goes round the clients that wait. Who finds that its wait has ended runs on until it waits again. When all
//! have looked in vain since something happened, the one whose turn it is lets time pass until something happens.

use stdx::sync::thread::{self, ThreadId};
use stdx::sync::{Condvar, Mutex};

#[derive(Default)]
pub(crate) struct Turns {
    state: Mutex<State>,
    passed: Condvar,
}

#[derive(Default)]
struct State {
    /// Clients that begin before the first of them runs.
    expected: usize,
    /// Those that have begun, in order of their numbers.
    clients: Vec<(usize, ThreadId)>,
    /// Whose turn it is.
    holder: Option<usize>,
    /// Clients that have looked in vain since something happened.
    looked: usize,
}

impl State {
    fn start_when_complete(&mut self) {
        if self.holder.is_none() && self.clients.len() == self.expected {
            self.holder = self.clients.first().map(|it| it.0);
        }
    }

    /// Gives the turn to the next client after `client`.
    fn pass_on(&mut self, client: usize) {
        let later = self.clients.iter().find(|it| it.0 > client);
        self.holder = later.or(self.clients.first()).map(|it| it.0);
    }
}

impl Turns {
    pub(crate) fn expect(&self, clients: usize) {
        *self.state.lock() = State { expected: clients, ..State::default() };
    }

    /// Returns when all have begun and it is the turn of this one.
    pub(crate) fn begin(&self, client: usize) {
        let mut state = self.state.lock();
        let place = state.clients.partition_point(|it| it.0 < client);
        state.clients.insert(place, (client, thread::current().id()));
        state.start_when_complete();
        drop(state);
        self.passed.notify_all();
        self.await_turn(client);
    }

    pub(crate) fn end(&self, client: usize) {
        let mut state = self.state.lock();
        let begun = state.clients.len();
        state.clients.retain(|it| it.0 != client);
        if state.clients.len() == begun {
            state.expected -= 1;
            state.start_when_complete();
        } else {
            state.looked = 0;
            state.pass_on(client);
        }
        drop(state);
        self.passed.notify_all();
    }

    /// The number of the calling client, if it is one.
    pub(crate) fn mine(&self) -> Option<usize> {
        let state = self.state.lock();
        if state.clients.is_empty() {
            return None;
        }
        let own = thread::current().id();
        state.clients.iter().find(|it| it.1 == own).map(|it| it.0)
    }

    /// Waits as a client until `done`; `pass_time` returns when something has happened.
    pub(crate) fn wait(&self, client: usize, done: &dyn Fn() -> bool, pass_time: &dyn Fn()) {
        while !done() {
            let mut state = self.state.lock();
            state.looked += 1;
            if state.looked >= state.clients.len() {
                state.looked = 0;
                drop(state);
                pass_time();
                continue;
            }
            state.pass_on(client);
            drop(state);
            self.passed.notify_all();
            self.await_turn(client);
        }
        self.state.lock().looked = 0;
    }

    fn await_turn(&self, client: usize) {
        let mut state = self.state.lock();
        while state.holder != Some(client) {
            state = self.passed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn clients_run_one_at_a_time_in_an_order_that_repeats() {
        let run = || {
            let (turns, log) = (Turns::default(), Mutex::new(Vec::new()));
            // The time, and when the wait of each client ends.
            let (now, ends) = (Mutex::new(0_usize), Mutex::new([0_usize; 4]));
            turns.expect(5);
            thread::scope(|scope| {
                for client in 0..4 {
                    let (turns, log, now, ends) = (&turns, &log, &now, &ends);
                    scope.spawn(move || {
                        turns.begin(client);
                        assert_eq!(turns.mine(), Some(client));
                        for round in 0..20 {
                            log.lock().push((client, *now.lock()));
                            ends.lock()[client] = *now.lock() + (client * 7 + round * 3) % 5;
                            let done = || *now.lock() >= ends.lock()[client];
                            turns.wait(client, &done, &|| *now.lock() += 1);
                        }
                        turns.end(client);
                    });
                }
                turns.end(4);
            });
            assert_eq!(turns.mine(), None);
            log.into_inner()
        };
        let first = run();
        assert_eq!(first.len(), 80);
        assert!((0..20).all(|_| run() == first));
    }
}
