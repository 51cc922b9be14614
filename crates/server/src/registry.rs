//! The connections that there are, and the keys by which their clients end what they run.

use std::collections::HashMap;

use nodewise::CancelHandle;
use ring::rand::{SecureRandom, SystemRandom};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex};
use tokio::sync::Notify;

use crate::replies::backend_number;
use crate::scram::same;

/// Bytes of a key of version 3.0 of the protocol, and of 3.2.
const SHORT_KEY: usize = 4;
const LONG_KEY: usize = 32;

/// The connections that are past their start.
#[derive(Default)]
pub struct Registry(Mutex<HashMap<i32, Entry>>);

struct Entry {
    key: Vec<u8>,
    stop: Stop,
}

/// Ends what a connection runs.
#[derive(Clone)]
pub struct Stop {
    handle: CancelHandle,
    flag: Arc<AtomicBool>,
    /// Wakes who waits for what the client sends.
    woken: Arc<Notify>,
    /// Whether the connection is to end.
    ended: Arc<AtomicBool>,
    /// Wakes an idle connection that has something to tell, or is to end.
    attention: Arc<Notify>,
}

impl Stop {
    pub fn new(handle: CancelHandle) -> Self {
        let (flag, woken) = (Arc::default(), Arc::default());
        Self { handle, flag, woken, ended: Arc::default(), attention: Arc::default() }
    }

    /// Whether it is stopped: a backend looks at it between two statements, and between two buffers of rows.
    pub fn is_stopped(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// What was asked of an idle connection is asked of nothing.
    pub fn forget(&self) {
        self.flag.store(self.is_ended(), Ordering::Release);
    }

    /// Waits until it is stopped.
    pub async fn stopped(&self) {
        self.woken.notified().await;
    }

    /// What wakes the connection when it does nothing.
    pub fn attention(&self) -> Arc<Notify> {
        self.attention.clone()
    }

    /// Whether the connection is to end.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Ends the connection, and what it runs.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Release);
        self.stop();
        self.attention.notify_one();
    }

    /// Ends the statement that runs, or whose rows are sent.
    pub fn stop(&self) {
        self.flag.store(true, Ordering::Release);
        self.handle.cancel();
        self.woken.notify_one();
    }
}

/// A connection among all others, until it is dropped.
pub struct Registered {
    registry: Arc<Registry>,
    pub number: i32,
    pub key: Vec<u8>,
}

impl Registry {
    /// Adds a connection; `None` where there is no randomness for its key.
    pub fn add(self: &Arc<Self>, number: u64, stop: Stop, long_key: bool) -> Option<Registered> {
        let mut key = vec![0; if long_key { LONG_KEY } else { SHORT_KEY }];
        SystemRandom::new().fill(&mut key).ok()?;
        let number = backend_number(number);
        self.0.lock().insert(number, Entry { key: key.clone(), stop });
        Some(Registered { registry: self.clone(), number, key })
    }

    /// Ends what a connection runs, if the key is its own.
    pub fn cancel(&self, number: i32, key: &[u8]) {
        let found =
            self.0.lock().get(&number).filter(|it| same(&it.key, key)).map(|it| it.stop.clone());
        found.iter().for_each(Stop::stop);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Ends what all run.
    pub fn cancel_all(&self) {
        let all: Vec<Stop> = self.0.lock().values().map(|it| it.stop.clone()).collect();
        all.iter().for_each(Stop::stop);
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.registry.0.lock().remove(&self.number);
    }
}
