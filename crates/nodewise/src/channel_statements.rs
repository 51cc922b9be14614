//! LISTEN, UNLISTEN and NOTIFY, and what a session hears.

use binder::ChannelStatement;
use stdx::sync::Arc;
use types::SqlResult;

use crate::answer::done;
use crate::channels::{Notification, Said, check_notification};
use crate::{Answer, Session};

impl Session {
    /// Calls `wake` whenever something is said to a channel that the session listens to, on any thread.
    pub fn wake_when_notified(&mut self, wake: impl Fn() + Send + Sync + 'static) {
        self.channels.wake = Some(Arc::new(wake));
    }

    /// What was said, since it was last asked, to channels that the session listens to. Nothing while a transaction is open.
    pub fn take_notifications(&mut self) -> Vec<Notification> {
        match self.channels.listens && self.block.is_none() {
            true => self.channels.all.take(self.number),
            false => Vec::new(),
        }
    }

    /// Runs LISTEN, UNLISTEN or NOTIFY.
    pub(crate) fn run_channel(&mut self, statement: ChannelStatement) -> SqlResult<Answer> {
        let (said, tag) = match statement {
            ChannelStatement::Listen(channel) => (Said::Listen(channel), "LISTEN"),
            ChannelStatement::Unlisten(channel) => (Said::Unlisten(channel), "UNLISTEN"),
            ChannelStatement::Notify(channel, payload) => {
                check_notification(&self.database.channels, &channel, &payload)?;
                (Said::Notify(channel, payload), "NOTIFY")
            }
        };
        self.channels.say(said);
        Ok(done(tag))
    }
}
