//! What a transaction is like, and what the next one of the session will be: SET TRANSACTION, SET SESSION CHARACTERISTICS,
//! and the settings `transaction_*` and `default_transaction_*`, which are the same by other words; SET LOCAL.

use binder::{Isolation, TransactionModes};
use types::{SqlError, SqlResult, SqlState};

use crate::Session;
use crate::client_settings::{DEFERRABLE, READ_ONLY};
use crate::notice::Notice;
use crate::transaction_state::Modes;

/// How SHOW names the isolation level of the transaction in words.
const ISOLATION_IN_WORDS: &str = "transaction.isolation.level";
const TRANSACTION_ISOLATION: &str = "transaction_isolation";
const TRANSACTION_READ_ONLY: &str = "transaction_read_only";
const TRANSACTION_DEFERRABLE: &str = "transaction_deferrable";

impl Session {
    /// Those of the transaction that is open, or of the next.
    pub(crate) fn modes(&self) -> Modes {
        self.block.as_ref().map_or_else(|| self.usual_modes(), |it| it.modes)
    }

    /// Those of a transaction that does not name them.
    pub(crate) fn usual_modes(&self) -> Modes {
        Modes {
            isolation: self.settings.isolation,
            read_only: self.settings.client.is_on(READ_ONLY),
            deferrable: self.settings.client.is_on(DEFERRABLE),
        }
    }

    /// SET SESSION CHARACTERISTICS AS TRANSACTION.
    pub(crate) fn set_usual_modes(&mut self, said: TransactionModes) -> SqlResult<()> {
        let modes = self.usual_modes().with(said);
        let lasting = self.block.as_mut().and_then(|it| it.lasting.as_deref_mut());
        for settings in [&mut self.settings].into_iter().chain(lasting) {
            settings.isolation = modes.isolation;
            settings.client.set(READ_ONLY, Some(on_or_off(modes.read_only)))?;
            settings.client.set(DEFERRABLE, Some(on_or_off(modes.deferrable)))?;
        }
        Ok(())
    }

    /// What a setting of the transaction is, by its name and that of the column in which it is shown; `None` for others.
    pub(crate) fn transaction_setting(&self, name: &str) -> Option<(&'static str, &'static str)> {
        let modes = self.modes();
        match name.to_ascii_lowercase().as_str() {
            TRANSACTION_ISOLATION | ISOLATION_IN_WORDS => {
                Some((TRANSACTION_ISOLATION, modes.isolation.name()))
            }
            TRANSACTION_READ_ONLY => Some((TRANSACTION_READ_ONLY, on_or_off(modes.read_only))),
            TRANSACTION_DEFERRABLE => Some((TRANSACTION_DEFERRABLE, on_or_off(modes.deferrable))),
            _ => None,
        }
    }

    /// What SET of a setting of the transaction says of it; `None` for other settings.
    pub(crate) fn said_by_setting(
        &self,
        name: &str,
        value: Option<&str>,
    ) -> SqlResult<Option<TransactionModes>> {
        let usual = self.usual_modes();
        let invalid = |value: &str| {
            let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
            SqlError::new(SqlState::INVALID_PARAMETER, message)
        };
        let switch = |usual: bool| match value.map(str::to_ascii_lowercase).as_deref() {
            None => Ok(usual),
            Some("on" | "true" | "yes" | "1") => Ok(true),
            Some("off" | "false" | "no" | "0") => Ok(false),
            Some(other) => Err(invalid(other)),
        };
        let mut said = TransactionModes::default();
        match name.to_ascii_lowercase().as_str() {
            TRANSACTION_ISOLATION => {
                said.isolation = Some(match value {
                    Some(value) => Isolation::named(value).ok_or_else(|| invalid(value))?,
                    None => usual.isolation,
                });
            }
            TRANSACTION_READ_ONLY => said.read_only = Some(switch(usual.read_only)?),
            TRANSACTION_DEFERRABLE => said.deferrable = Some(switch(usual.deferrable)?),
            _ => return Ok(None),
        }
        Ok(Some(said))
    }

    /// Sets what is the session's own: for the transaction alone where `local`, and then only inside of a block.
    pub(crate) fn set_own(
        &mut self,
        name: &str,
        value: Option<&str>,
        local: bool,
    ) -> SqlResult<()> {
        let before = self.settings.clone();
        self.settings.set(name, value)?;
        match (&mut self.block, local) {
            (Some(block), true) if !block.is_implicit => {
                block.lasting.get_or_insert_with(|| Box::new(before));
            }
            (_, true) => {
                self.settings = before;
                let message = "SET LOCAL can only be used in transaction blocks";
                self.notice(Notice::warning("25P01", message));
            }
            (Some(block), false) => {
                block.lasting.iter_mut().try_for_each(|it| it.set(name, value))?;
            }
            (None, false) => {}
        }
        Ok(())
    }
}

fn on_or_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
