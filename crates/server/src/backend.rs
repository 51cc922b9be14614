//! The server's side of a connection after its start: what comes in, what it does to the session, what goes out.
//!
//! Key decision: it is a machine that is stepped. A step takes messages that have come and appends answers to a buffer, until
//! there is enough to send or nothing left to do. Whoever steps it (`connection`) may do so on any thread, so a connection
//! holds no thread while its client is idle or slow, and no more than two buffers of rows.
//!
//! - Invariant: every error of a message is told, and what follows it is passed over to the next Sync, as the protocol has it.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::BytesMut;
use nodewise::{Script, Session, SqlError, SqlResult, SqlState, Started};
use types::Charset;

use crate::copying::{Copied, Copying};
use crate::portal::{Kept, Portal, State};
use crate::registry::Stop;
use crate::replies::{self, Format};
use crate::requests::{Request, violation};
use crate::rows::{CHUNK_BYTES, Rows, Sent};
use crate::transcoded;

/// A session, and what its client has under way.
pub struct Backend {
    pub(crate) session: Session,
    pub(crate) portals: HashMap<String, Portal>,
    /// The statement without a name, with its text.
    pub(crate) unnamed: Option<(String, Kept)>,
    /// What clients have said and heard of statements with names.
    pub(crate) known: HashMap<String, Kept>,
    doing: Doing,
    /// Whether an error has come, and what follows is passed over until Sync.
    ignoring: bool,
    /// Whether the client asked to end what is under way, or somebody the connection.
    stop: Stop,
    /// Whether the client was told that the connection ends.
    is_over: bool,
    /// In which the client writes and reads texts.
    charset: Charset,
}

/// What goes on over several steps.
enum Doing {
    Nothing,
    /// The statements of a text. With the rows of the last that ran.
    Text(Box<Text>),
    /// The rows of a portal, by name; at most so many.
    Portal(String, usize),
    /// COPY .. FROM STDIN, and what it is a statement of.
    CopyIn(Box<Copying>, CopiedBy),
}

/// What a COPY .. FROM STDIN is a statement of.
pub(crate) enum CopiedBy {
    Text(Box<Text>),
    /// A portal, by name.
    Portal(String),
}

pub(crate) struct Text {
    text: String,
    script: Script,
    /// Whether there were several statements: then they are one transaction.
    several: bool,
    rows: Option<Rows>,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There is more to do when what there is has been sent.
    More,
    /// More has to come from the client.
    Idle,
    /// The client has said goodbye.
    Close,
}

impl Backend {
    pub fn new(session: Session, stop: Stop) -> Self {
        Self {
            charset: session.client_charset(),
            session,
            portals: HashMap::new(),
            unnamed: None,
            known: HashMap::new(),
            doing: Doing::Nothing,
            ignoring: false,
            stop,
            is_over: false,
        }
    }

    /// Whether it has a transaction open, for which others may wait.
    pub fn is_in_transaction(&self) -> bool {
        self.session.is_in_transaction()
    }

    /// How long the client may send nothing now, and the error that ends the connection after that.
    pub fn idle_limit(&self) -> Option<(Duration, SqlError)> {
        let (limit, error) = self.session.idle_limit()?;
        Some((Duration::from_nanos(limit.0), error))
    }

    /// Whether a statement waits for what the client sends.
    pub fn is_copying(&self) -> bool {
        matches!(self.doing, Doing::CopyIn(..))
    }

    /// In which the client writes texts.
    pub fn charset(&self) -> Charset {
        self.charset
    }

    /// Does what there is to do, as far as there is room for answers.
    pub fn step(&mut self, input: &mut VecDeque<Request>, out: &mut BytesMut) -> Step {
        let before = out.len();
        let step = self.do_step(input, out);
        transcoded::messages(out, before, self.charset);
        step
    }

    fn do_step(&mut self, input: &mut VecDeque<Request>, out: &mut BytesMut) -> Step {
        loop {
            if self.is_over {
                return Step::Close;
            }
            if out.len() >= CHUNK_BYTES {
                return Step::More;
            }
            match std::mem::replace(&mut self.doing, Doing::Nothing) {
                Doing::Text(text) => self.go_on_with_text(text, out),
                Doing::Portal(name, most) => self.go_on_with_portal(name, most, out),
                Doing::CopyIn(copying, by) => {
                    if let Some(step) = self.go_on_with_copy(copying, by, input, out) {
                        return step;
                    }
                }
                Doing::Nothing => match input.pop_front() {
                    None => return Step::Idle,
                    Some(Request::Terminate) => return Step::Close,
                    Some(request) => self.take(request, input, out),
                },
            }
        }
    }

    fn take(&mut self, request: Request, input: &VecDeque<Request>, out: &mut BytesMut) {
        match request {
            Request::Sync => self.sync(out),
            _ if self.ignoring => {}
            Request::Query(text) => self.begin_text(text, out),
            Request::Flush | Request::Terminate => {}
            // After an error in COPY they may still be on their way.
            Request::CopyData(_) | Request::CopyDone | Request::CopyFail(_) => {}
            Request::Password(_) => {
                let error = violation("a password was not asked for");
                self.fail(&error, None, out);
                self.ready(out);
            }
            Request::Malformed { error, extended: false } => {
                self.fail(&error, None, out);
                self.ready(out);
            }
            Request::Malformed { error, .. } => self.fail_extended(&error, None, out),
            extended => {
                if let Err((error, text)) = self.extended(extended, input, out) {
                    self.fail_extended(&error, text.as_deref(), out);
                }
            }
        }
    }

    /// Begins with rows of a portal.
    pub(crate) fn begin_portal(&mut self, name: String, most: usize) {
        self.doing = Doing::Portal(name, most);
    }

    /// The end of what belongs together: it is committed.
    fn sync(&mut self, out: &mut BytesMut) {
        if let Err(error) = self.session.end_implicit() {
            replies::error(&error, None, out);
        }
        self.ignoring = false;
        self.forget_portals();
        self.ready(out);
    }

    /// Portals end with their transaction.
    fn forget_portals(&mut self) {
        if self.session.open_transaction().is_none() {
            let portals = std::mem::take(&mut self.portals);
            portals.into_values().for_each(|it| self.close_portal(it));
        }
    }

    /// Ends a portal; its statement has nothing to tell any more.
    pub(crate) fn close_portal(&mut self, portal: Portal) {
        if let State::Open(rows) = portal.state {
            // What a query that is not fetched to its end comes to is nothing to anybody.
            let _ = rows.close(&mut self.session);
        }
    }

    fn ready(&mut self, out: &mut BytesMut) {
        if self.is_over {
            return;
        }
        self.tell_notices(out);
        for (name, value) in self.session.changed_settings() {
            replies::setting(name, value, out);
        }
        self.charset = self.session.client_charset();
        self.tell_notifications(out);
        replies::ready(self.session.open_transaction(), out);
    }

    /// Tells what was said to channels; nothing while a transaction is open.
    fn tell_notifications(&mut self, out: &mut BytesMut) {
        self.session.take_notifications().iter().for_each(|it| replies::notification(it, out));
    }

    /// The same to a client that asks for nothing.
    pub fn tell_idle(&mut self, out: &mut BytesMut) {
        let before = out.len();
        self.tell_notifications(out);
        transcoded::messages(out, before, self.charset);
    }

    pub(crate) fn tell_notices(&mut self, out: &mut BytesMut) {
        self.session.take_notices().iter().for_each(|it| replies::notice(it, out));
    }

    /// Tells an error; what is open has failed, and what nobody said BEGIN of is rolled back at once.
    fn fail(&mut self, error: &SqlError, text: Option<&str>, out: &mut BytesMut) {
        self.tell_notices(out);
        match self.stop.is_ended() {
            true => replies::fatal(&terminated(), out),
            false => replies::error(error, text, out),
        }
        self.is_over |= self.stop.is_ended();
        self.session.fail_transaction();
        // A rollback does not fail.
        let _ = self.session.end_implicit();
        self.forget_portals();
    }

    fn fail_extended(&mut self, error: &SqlError, text: Option<&str>, out: &mut BytesMut) {
        self.fail(error, text, out);
        self.ignoring = true;
    }

    /// Whether the client has asked to end what is under way.
    pub(crate) fn check_cancelled(&self) -> SqlResult<()> {
        match self.stop.is_stopped() {
            true => Err(canceled()),
            false => Ok(()),
        }
    }

    fn begin_text(&mut self, text: String, out: &mut BytesMut) {
        // They are gone with each text.
        self.unnamed = None;
        self.portals.remove("").into_iter().for_each(|it| self.close_portal(it));
        match self.session.script(&text) {
            Err(error) => {
                self.fail(&error, Some(&text), out);
                self.ready(out);
            }
            Ok(script) if script.is_empty() => {
                replies::empty(out);
                self.end_text(out);
            }
            Ok(script) => {
                let several = script.len() > 1;
                self.doing = Doing::Text(Box::new(Text { text, script, several, rows: None }));
            }
        }
    }

    fn end_text(&mut self, out: &mut BytesMut) {
        if let Err(error) = self.session.end_implicit() {
            self.fail(&error, None, out);
        }
        self.forget_portals();
        self.ready(out);
    }

    /// Sends rows of a statement of a text, or runs the next.
    fn go_on_with_text(&mut self, mut text: Box<Text>, out: &mut BytesMut) {
        let gone_on = match text.rows.take() {
            Some(rows) => self.send_of_text(rows, &mut text, out),
            None if text.script.is_empty() => return self.end_text(out),
            None => match self.start_of_text(&mut text) {
                Ok(Started::CopyIn(copy)) => {
                    let copying = Box::new(Copying::begin(*copy, self.charset, out));
                    self.doing = Doing::CopyIn(copying, CopiedBy::Text(text));
                    return;
                }
                started => started.and_then(|it| self.rows_of_text(it, &mut text, out)),
            },
        };
        match gone_on {
            Ok(()) => self.doing = Doing::Text(text),
            Err(error) => self.fail_text(&error, &text, out),
        }
    }

    fn fail_text(&mut self, error: &SqlError, text: &Text, out: &mut BytesMut) {
        self.fail(error, Some(&text.text), out);
        self.ready(out);
    }

    fn send_of_text(
        &mut self,
        mut rows: Rows,
        text: &mut Text,
        out: &mut BytesMut,
    ) -> SqlResult<()> {
        if self.may_cancel(&rows)
            && let Err(error) = self.check_cancelled()
        {
            return Err(rows.fail(&mut self.session, error));
        }
        match rows.send(&mut self.session, 0, out)? {
            Sent::Chunk => text.rows = Some(rows),
            Sent::All | Sent::AsAsked => {
                // Before anybody is told that it is done.
                self.end_last(text)?;
                self.tell_notices(out);
                rows.complete(out);
            }
        }
        Ok(())
    }

    fn start_of_text(&mut self, text: &mut Text) -> SqlResult<Started> {
        self.check_cancelled()?;
        if text.several {
            self.session.begin_implicit();
        }
        let started = self.session.start_next(&mut text.script);
        started.unwrap_or_else(|| Err(SqlError::internal("there is no statement left")))
    }

    /// What a statement of a text that was started gives.
    fn rows_of_text(
        &mut self,
        started: Started,
        text: &mut Text,
        out: &mut BytesMut,
    ) -> SqlResult<()> {
        text.rows = Some(match started {
            Started::Rows(cursor) => {
                let described = cursor.described();
                let mut rows = Rows::of_cursor(cursor, Vec::new(), &self.session);
                // What fails before its first rows gives none.
                rows.make(&mut self.session)?;
                replies::columns(&described, |_| Format::Text, out);
                rows
            }
            Started::CopyOut(copy) => Rows::of_copy(copy, &self.session, out),
            Started::CopyIn(_) => return Err(SqlError::internal("a COPY that waits for nobody")),
            Started::Done(answer) => {
                let described = answer.has_rows().then(|| answer.described());
                let rows = Rows::of_answer(answer, Vec::new(), &self.session)?;
                self.end_last(text)?;
                if let Some(described) = described {
                    replies::columns(&described, |_| Format::Text, out);
                }
                rows
            }
        });
        Ok(())
    }

    /// Commits what the statements of a text have done, if that was the last of them.
    fn end_last(&mut self, text: &Text) -> SqlResult<()> {
        if text.script.is_empty() { self.session.end_implicit() } else { Ok(()) }
    }

    /// Takes what the client has sent for a COPY; tells what the step has come to, if it is over.
    fn go_on_with_copy(
        &mut self,
        copying: Box<Copying>,
        by: CopiedBy,
        input: &mut VecDeque<Request>,
        out: &mut BytesMut,
    ) -> Option<Step> {
        let waits = input.is_empty();
        let copied = match self.check_cancelled() {
            Ok(()) => copying.take(&mut self.session, input),
            Err(error) => Err(copying.fail(&mut self.session, error)),
        };
        match (copied, by) {
            (Ok(Copied::Gone), _) => return Some(Step::Close),
            (Ok(Copied::More(copying)), by) => {
                self.doing = Doing::CopyIn(copying, by);
                return waits.then_some(Step::Idle);
            }
            (Ok(Copied::Done(answer)), CopiedBy::Text(mut text)) => {
                match self.rows_of_text(Started::Done(answer), &mut text, out) {
                    Ok(()) => self.doing = Doing::Text(text),
                    Err(error) => self.fail_text(&error, &text, out),
                }
            }
            (Ok(Copied::Done(answer)), CopiedBy::Portal(name)) => {
                self.tell_notices(out);
                replies::complete(&answer.tag, out);
                if let Some(portal) = self.portals.get_mut(&name) {
                    portal.state = State::Done { query: false };
                }
            }
            (Err(error), CopiedBy::Text(text)) => self.fail_text(&error, &text, out),
            (Err(error), CopiedBy::Portal(_)) => self.fail_extended(&error, None, out),
        }
        None
    }

    /// Begins a COPY of a portal.
    pub(crate) fn begin_copy(&mut self, copying: Copying, portal: String) {
        self.doing = Doing::CopyIn(Box::new(copying), CopiedBy::Portal(portal));
    }

    /// Whether an error while rows are sent is the truth: what is committed cannot fail any more.
    fn may_cancel(&self, rows: &Rows) -> bool {
        rows.is_open() || rows.is_query() || self.session.open_transaction().is_some()
    }

    fn go_on_with_portal(&mut self, name: String, most: usize, out: &mut BytesMut) {
        let sent = match self.send_of_portal(&name, most, out) {
            Ok(sent) => sent,
            Err(error) => return self.fail_extended(&error, None, out),
        };
        match sent {
            Sent::Chunk => self.doing = Doing::Portal(name, most),
            Sent::AsAsked => replies::suspended(out),
            Sent::All => {}
        }
    }
}

/// Why a statement ends that its client does not want any more.
pub fn canceled() -> SqlError {
    SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request")
}

/// Why a connection ends that somebody has ended.
pub fn terminated() -> SqlError {
    let message = "terminating connection due to administrator command";
    SqlError::new(SqlState("57P01"), message)
}
