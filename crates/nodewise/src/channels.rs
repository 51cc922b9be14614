//! LISTEN and NOTIFY: texts that sessions say to all that listen to a channel.
//!
//! Key decision: what is said lies in an inbox of each session that listens, and its server is woken, which tells its client
//! when no transaction is open.
//!
//! - Invariant: what a transaction says is heard by all, as a whole and in one order, or by nobody.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult, SqlState};

/// Bytes of a text that is said, as PostgreSQL has it.
const PAYLOAD_BYTES: usize = 8000;

/// Bytes of the name of a channel.
const CHANNEL_BYTES: usize = 64;

/// Texts that may wait for a session that does not hear them; whoever says more is refused.
const WAITING_MAX: usize = 100_000;

/// What was said to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The session that said it.
    pub session: u64,
    /// The channel.
    pub channel: String,
    /// The text.
    pub payload: String,
}

pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// Those who listen.
#[derive(Default)]
pub(crate) struct Channels(Mutex<BTreeMap<u64, Inbox>>);

#[derive(Default)]
struct Inbox {
    channels: BTreeSet<String>,
    waiting: VecDeque<Notification>,
    wake: Option<Wake>,
}

/// What a session says within its transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    Listen(String),
    Unlisten(Option<String>),
    Notify(String, String),
}

/// What a transaction has said.
#[derive(Clone, Debug, Default)]
pub(crate) struct SaidInTransaction(Arc<Mutex<SaidOnce>>);

/// In order, and as a set, as PostgreSQL tells the same once.
#[derive(Debug, Default)]
struct SaidOnce {
    in_order: Vec<Said>,
    notified: HashSet<Said>,
}

/// The channels of a session.
pub(crate) struct OwnChannels {
    pub(crate) all: Arc<Channels>,
    session: u64,
    said: SaidInTransaction,
    pub(crate) wake: Option<Wake>,
    /// Whether it listens, so that it may hear something.
    pub(crate) listens: bool,
}

impl Channels {
    /// What waits for a session.
    pub(crate) fn take(&self, session: u64) -> Vec<Notification> {
        let mut all = self.0.lock();
        all.get_mut(&session).map_or_else(Vec::new, |it| it.waiting.drain(..).collect())
    }

    /// Whether all who listen to a channel have room.
    fn has_room(&self, channel: &str) -> bool {
        let all = self.0.lock();
        !all.values().any(|it| it.waiting.len() >= WAITING_MAX && it.channels.contains(channel))
    }
}

impl SaidInTransaction {
    /// Says something when the transaction commits.
    pub(crate) fn say(&self, it: Said) {
        let mut said = self.0.lock();
        let is_new = !matches!(it, Said::Notify(..)) || said.notified.insert(it.clone());
        if is_new {
            said.in_order.push(it);
        }
    }
}

impl OwnChannels {
    pub(crate) fn new(all: &Arc<Channels>, session: u64) -> Self {
        Self {
            all: all.clone(),
            session,
            said: SaidInTransaction::default(),
            wake: None,
            listens: false,
        }
    }

    /// The channels that the session listens to, in order.
    pub(crate) fn heard(&self) -> Vec<String> {
        let all = self.all.0.lock();
        all.get(&self.session).map_or_else(Vec::new, |it| it.channels.iter().cloned().collect())
    }

    /// What its transaction says.
    pub(crate) fn said(&self) -> SaidInTransaction {
        self.said.clone()
    }

    /// Says something when the transaction commits.
    pub(crate) fn say(&self, it: Said) {
        self.said.say(it);
    }

    /// How much the transaction has said.
    pub(crate) fn mark(&self) -> usize {
        self.said.0.lock().in_order.len()
    }

    /// The transaction has said no more than it had then.
    pub(crate) fn go_back(&self, mark: usize) {
        let mut said = self.said.0.lock();
        let kept = mark.min(said.in_order.len());
        for it in said.in_order.split_off(kept) {
            said.notified.remove(&it);
        }
    }

    /// The transaction has ended.
    pub(crate) fn end(&mut self, is_committed: bool) {
        let said = std::mem::take(&mut *self.said.0.lock()).in_order;
        if said.is_empty() || !is_committed {
            return;
        }
        let mut woken = Vec::new();
        let mut all = self.all.0.lock();
        for it in said {
            match it {
                Said::Listen(channel) => {
                    let own = all.entry(self.session).or_default();
                    own.wake.clone_from(&self.wake);
                    own.channels.insert(channel);
                    self.listens = true;
                }
                Said::Unlisten(None) => drop(all.remove(&self.session)),
                Said::Unlisten(Some(channel)) => {
                    all.entry(self.session).or_default().channels.remove(&channel);
                }
                Said::Notify(channel, payload) => {
                    let hears = |it: &&mut Inbox| it.channels.contains(&channel);
                    for inbox in all.values_mut().filter(hears) {
                        let (channel, payload) = (channel.clone(), payload.clone());
                        let session = self.session;
                        inbox.waiting.push_back(Notification { session, channel, payload });
                        woken.extend(inbox.wake.clone());
                    }
                }
            }
        }
        drop(all);
        woken.iter().for_each(|wake| wake());
    }
}

impl Drop for OwnChannels {
    fn drop(&mut self) {
        if self.listens {
            self.all.0.lock().remove(&self.session);
        }
    }
}

/// Errors: 22023 for a name or a text that cannot be said, 53000 where somebody does not hear what was said before.
pub(crate) fn check_notification(
    channels: &Channels,
    channel: &str,
    payload: &str,
) -> SqlResult<()> {
    let wrong = |message: &str| Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    match () {
        () if channel.is_empty() => wrong("channel name cannot be empty"),
        () if channel.len() >= CHANNEL_BYTES => wrong("channel name too long"),
        () if payload.len() >= PAYLOAD_BYTES => wrong("payload string too long"),
        () if !channels.has_room(channel) => {
            let message = "too many notifications in the NOTIFY queue";
            Err(SqlError::new(SqlState("53000"), message)
                .with_hint("a session that listens to the channel does not take what it is told"))
        }
        () => Ok(()),
    }
}
