//! What functions are called for, and how they are written in plans: by their names.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

use crate::function::Function;

impl Function {
    /// Whether it asks or moves a sequence.
    pub fn is_of_sequences(self) -> bool {
        matches!(self, Self::Currval | Self::Lastval | Self::Nextval | Self::Setval)
    }

    /// Whether it is called for what it does to its session, or to others.
    pub fn is_of_sessions(self) -> bool {
        use Function as F;
        let ends = matches!(self, F::PgCancelBackend | F::PgTerminateBackend);
        let says = matches!(self, F::ClockTimestamp | F::PgNotify | F::PgSleep | F::SetConfig);
        ends || says || self.is_advisory()
    }

    /// Whether it takes an advisory lock, or lets go of some.
    pub fn is_advisory(self) -> bool {
        use Function as F;
        matches!(
            self,
            F::PgAdvisoryLock
                | F::PgAdvisoryLockShared
                | F::PgAdvisoryUnlock
                | F::PgAdvisoryUnlockAll
                | F::PgAdvisoryUnlockShared
                | F::PgAdvisoryXactLock
                | F::PgAdvisoryXactLockShared
                | F::PgTryAdvisoryLock
                | F::PgTryAdvisoryLockShared
                | F::PgTryAdvisoryXactLock
                | F::PgTryAdvisoryXactLockShared
        )
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A function is written by its name, so that a list with more functions does not change what is written.
impl Serialize for Function {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Function {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name)
            .ok_or_else(|| de::Error::custom(format_args!("there is no function {name}")))
    }
}
