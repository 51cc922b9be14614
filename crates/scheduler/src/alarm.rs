//! Alarms: what shall happen to a token at a point of time. The watchdog looks after them.

use std::collections::BTreeMap;

use stdx::Nanos;
use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicU64, Ordering};

use crate::cancel::{CancelReason, CancelToken};

/// A point of time, and a number that tells alarms of the same time apart.
pub(crate) type AlarmKey = (Nanos, u64);

/// All alarms that are set.
pub(crate) struct Alarms {
    set: Mutex<BTreeMap<AlarmKey, Alarm>>,
    count: AtomicU64,
}

/// What happens: the token is marked, or only those who wait for it look.
struct Alarm {
    token: CancelToken,
    reason: Option<CancelReason>,
}

impl Alarms {
    pub(crate) fn new() -> Self {
        Self { set: Mutex::new(BTreeMap::new()), count: AtomicU64::new(0) }
    }

    /// Sets an alarm; tells its key and whether it is the first to come.
    pub(crate) fn set(
        &self,
        at: Nanos,
        token: &CancelToken,
        reason: Option<CancelReason>,
    ) -> (AlarmKey, bool) {
        let key = (at, self.count.fetch_add(1, Ordering::Relaxed));
        let mut set = self.set.lock();
        set.insert(key, Alarm { token: token.clone(), reason });
        let first = set.first_key_value().is_some_and(|it| *it.0 == key);
        (key, first)
    }

    pub(crate) fn clear(&self, key: AlarmKey) {
        self.set.lock().remove(&key);
    }

    /// Does what is due; tells how many statements that ended.
    pub(crate) fn fire(&self, now: Nanos) -> u64 {
        let due = {
            let mut set = self.set.lock();
            let later = set.split_off(&(Nanos(now.0.saturating_add(1)), 0));
            std::mem::replace(&mut *set, later)
        };
        let mut ended = 0;
        for alarm in due.into_values() {
            match alarm.reason {
                Some(reason) => {
                    ended += u64::from(!alarm.token.is_cancelled());
                    alarm.token.cancel_because(reason);
                }
                None => alarm.token.ring(),
            }
        }
        ended
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.set.lock().first_key_value().map(|it| it.0.0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn alarms_go_off_in_time_unless_cleared() {
        let alarms = Alarms::new();
        let tokens: Vec<CancelToken> = (0..4).map(|_| CancelToken::new()).collect();
        let timeout = Some(CancelReason::Timeout);
        assert!(alarms.set(Nanos(50), &tokens[0], timeout).1);
        assert!(!alarms.set(Nanos(50), &tokens[1], timeout).1);
        let (cleared, first) = alarms.set(Nanos(20), &tokens[2], timeout);
        assert!(first);
        alarms.clear(cleared);
        alarms.set(Nanos(10), &tokens[3], None);
        assert_eq!(alarms.next(), Some(Nanos(10)));
        assert_eq!(alarms.fire(Nanos(49)), 0);
        assert!(tokens.iter().all(|it| !it.is_cancelled()));
        tokens[1].cancel();
        assert_eq!(alarms.fire(Nanos(50)), 1, "one was ended by its client before");
        assert_eq!(tokens[0].reason(), timeout);
        assert_eq!(tokens[1].reason(), Some(CancelReason::Client));
        assert_eq!((alarms.next(), tokens[2].reason()), (None, None));
    }
}
