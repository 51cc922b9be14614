//! The connections that there are, and the keys by which their clients end what they run.

use std::collections::HashMap;

use nodewise::CancelHandle;
use ring::rand::{SecureRandom, SystemRandom};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex};
use tokio::sync::Notify;

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
}

impl Stop {
    pub fn new(handle: CancelHandle) -> Self {
        Self { handle, flag: Arc::default(), woken: Arc::default() }
    }

    /// What a backend looks at between two statements, and between two buffers of rows.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.flag.clone()
    }

    /// What was asked of an idle connection is asked of nothing.
    pub fn forget(&self) {
        self.flag.store(false, Ordering::Release);
    }

    /// Waits until it is stopped.
    pub async fn stopped(&self) {
        self.woken.notified().await;
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
        // Sessions are counted from 1, and clients take the number for that of a process.
        let number = (number % i32::MAX as u64) as i32;
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
