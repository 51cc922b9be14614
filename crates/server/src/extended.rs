//! The extended protocol: Parse, Bind, Describe, Execute, Close.
//!
//! Key decision: statements between two Syncs are one transaction. One that stands alone between them needs no transaction
//! around it, and all that is sent together is seen before the first of it runs.

use std::collections::VecDeque;

use bytes::BytesMut;
use nodewise::pg_types::made_by_number;
use nodewise::{Prepared, SqlError, SqlResult, SqlState, Started};

use crate::backend::Backend;
use crate::copying::Copying;
use crate::declared::{Declared, declared};
use crate::portal::{Kept, Known, Portal, State, column_oids};
use crate::replies;
use crate::requests::{Bind, Request, Target};
use crate::rows::{Rows, Sent};

/// An error, and the text in which its place is counted.
type Failed = (SqlError, Option<Box<str>>);

impl Backend {
    /// Does what a message of the extended protocol asks. `input` is what comes behind it.
    pub(crate) fn extended(
        &mut self,
        request: Request,
        input: &VecDeque<Request>,
        out: &mut BytesMut,
    ) -> Result<(), Failed> {
        let without_text = |error| (error, None);
        match request {
            Request::Parse { name, text, types } => {
                self.parse(name, &text, types).map_err(|error| (error, Some(text.into())))?;
                replies::parse_complete(out);
            }
            Request::Bind(bind) => {
                self.bind(bind).map_err(without_text)?;
                replies::bind_complete(out);
            }
            Request::Describe(target) => self.describe(target, out).map_err(without_text)?,
            Request::Execute { portal, rows } => {
                self.execute(portal, rows, input, out).map_err(without_text)?;
            }
            Request::Close(target) => {
                self.close(target);
                replies::close_complete(out);
            }
            _ => {}
        }
        Ok(())
    }

    fn parse(&mut self, name: String, text: &str, oids: Vec<u32>) -> SqlResult<()> {
        if name.is_empty() {
            // Clients that prepare for each execution say the same again and again.
            let is_same = |it: &(String, Kept)| it.0 == text && it.1.known.oids == oids;
            if let Some(mut same) = self.unnamed.take().filter(is_same)
                && !self.is_failed()
            {
                same.1.known.columns = self.columns(&same.1.prepared)?;
                self.unnamed = Some(same);
                return Ok(());
            }
        }
        let mut types = Vec::with_capacity(oids.len());
        for oid in &oids {
            types.push(match declared(*oid) {
                Some(Declared::As(it)) => Some(it),
                Some(Declared::Inferred) => None,
                None if let Some(made) = made_by_number(&self.session, *oid) => Some(made),
                None => {
                    let message = format!("there is no type of parameters with number {oid}");
                    return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message)
                        .with_hint("send it as text of no declared type, or cast it"));
                }
            });
        }
        let prepared = self.session.prepare_typed(text, &types)?;
        if self.is_failed() && !prepared.ends_transaction() && !prepared.is_empty() {
            let message =
                "current transaction is aborted, commands ignored until end of transaction block";
            return Err(SqlError::new(SqlState("25P02"), message));
        }
        let known = Known { oids, columns: self.columns(&prepared)? };
        if name.is_empty() {
            self.unnamed = Some((text.to_owned(), Kept { prepared, known }));
        } else {
            self.session.keep_prepared(&name, prepared.clone())?;
            self.known.insert(name, Kept { prepared, known });
        }
        Ok(())
    }

    fn is_failed(&self) -> bool {
        self.session.open_transaction() == Some(true)
    }

    fn kept(&self, name: &str) -> SqlResult<Kept> {
        let missing = |message: String| SqlError::new(SqlState::UNDEFINED_PREPARED, message);
        if name.is_empty() {
            let kept = self.unnamed.as_ref().map(|it| it.1.clone());
            return kept.ok_or_else(|| missing("unnamed prepared statement does not exist".into()));
        }
        let prepared = self.session.prepared(name).cloned();
        let prepared = prepared
            .ok_or_else(|| missing(format!("prepared statement \"{name}\" does not exist")))?;
        // Nothing is known of what is prepared by SQL, which may have a name that was once used here.
        let known = self.known.get(name).filter(|it| it.prepared.is(&prepared));
        Ok(known.cloned().unwrap_or(Kept { prepared, known: Known::default() }))
    }

    /// The numbers of the types of a statement's columns when it is prepared: with others it is not run, as its client has learnt of
    /// these.
    fn columns(&mut self, prepared: &Prepared) -> SqlResult<Option<Vec<u32>>> {
        if !prepared.is_planned() {
            return Ok(None);
        }
        let rows = self.session.describe(prepared)?;
        Ok(Some(column_oids(rows.as_ref())))
    }

    fn bind(&mut self, bind: Bind) -> SqlResult<()> {
        let kept = self.kept(&bind.statement)?;
        let name = bind.portal.clone();
        if name.is_empty() {
            self.portals.remove("").into_iter().for_each(|it| self.close_portal(it));
        } else if self.portals.contains_key(&name) {
            let message = format!("cursor \"{name}\" already exists");
            return Err(SqlError::new(SqlState("42P03"), message));
        }
        let rows = self.session.describe(&kept.prepared)?;
        if kept.known.columns.as_ref().is_some_and(|it| *it != column_oids(rows.as_ref())) {
            return Err(changed_type());
        }
        let zone = self.session.zone();
        self.portals.insert(name, Portal::new(kept, rows, bind, (&zone, self.charset()))?);
        Ok(())
    }

    fn describe(&mut self, target: Target, out: &mut BytesMut) -> SqlResult<()> {
        match target {
            Target::Statement(name) => {
                let mut kept = self.kept(&name)?;
                let rows = self.session.describe(&kept.prepared)?;
                kept.known.columns = Some(column_oids(rows.as_ref()));
                replies::parameters(kept.parameter_oids(), out);
                match &mut self.unnamed {
                    Some(it) if name.is_empty() => it.1 = kept,
                    _ => {
                        self.known.insert(name, kept);
                    }
                }
                match rows {
                    // Their format is said when values are.
                    Some(rows) => replies::columns(&rows, |_| replies::Format::Text, out),
                    None => replies::no_data(out),
                }
            }
            Target::Portal(name) => {
                let Some(portal) = self.portals.get(&name) else {
                    // A cursor that DECLARE has opened is a portal, too.
                    let cursor = self.session.cursor_described(&name);
                    let rows = cursor.ok_or_else(|| no_portal(&name))?;
                    replies::columns(&rows, |_| replies::Format::Text, out);
                    return Ok(());
                };
                match &portal.rows {
                    Some(rows) => replies::columns(rows, |it| portal.format(it), out),
                    None => replies::no_data(out),
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, target: Target) {
        match target {
            Target::Statement(name) if name.is_empty() => self.unnamed = None,
            Target::Statement(name) => {
                self.session.forget_prepared(&name);
                self.known.remove(&name);
            }
            Target::Portal(name) => match self.portals.remove(&name) {
                Some(portal) => self.close_portal(portal),
                // One that DECLARE has opened is a portal, too.
                None => self.session.forget_cursor(&name),
            },
        }
    }

    fn execute(
        &mut self,
        name: String,
        most: usize,
        input: &VecDeque<Request>,
        out: &mut BytesMut,
    ) -> SqlResult<()> {
        self.check_cancelled()?;
        let portal = self.portals.get_mut(&name).ok_or_else(|| no_portal(&name))?;
        match &mut portal.state {
            State::Open(rows) => rows.begin(),
            State::Done { query: true } => {
                replies::complete("SELECT 0", out);
                return Ok(());
            }
            State::Done { query: false } => return Err(Portal::finished(&name)),
            State::New => {
                if portal.kept.prepared.is_empty() {
                    replies::empty(out);
                    return Ok(());
                }
                if !self.run_portal(&name, is_alone(input), out)? {
                    return Ok(());
                }
            }
        }
        self.begin_portal(name, most);
        Ok(())
    }

    /// Runs the statement of a portal; `alone` is whether no other is in its transaction. False where it waits for data.
    fn run_portal(&mut self, name: &str, alone: bool, out: &mut BytesMut) -> SqlResult<bool> {
        let Some(portal) = self.portals.get_mut(name) else { return Err(no_portal(name)) };
        if !alone && !portal.kept.prepared.is_transaction() {
            self.session.begin_implicit();
        }
        let started = self.session.start_prepared(&portal.kept.prepared, &portal.values)?;
        let told = column_oids(portal.rows.as_ref());
        let formats = portal.all_formats();
        let rows = match started {
            Started::Done(answer) => {
                if told != column_oids(Some(&answer.described())) {
                    return Err(changed_type());
                }
                Rows::of_answer(answer, formats, &self.session)?
            }
            Started::Rows(cursor) => {
                if told != column_oids(Some(&cursor.described())) {
                    return Err(self.session.fail(cursor, changed_type()));
                }
                Rows::of_cursor(cursor, formats, &self.session)
            }
            Started::CopyOut(copy) => Rows::of_copy(copy, &self.session, out),
            Started::CopyIn(copy) => {
                let copying = Copying::begin(*copy, self.charset(), out);
                self.begin_copy(copying, name.to_owned());
                return Ok(false);
            }
        };
        portal.state = State::Open(Box::new(rows));
        Ok(true)
    }

    /// Sends rows of a portal that is open, and what became of it when all are sent.
    pub(crate) fn send_of_portal(
        &mut self,
        name: &str,
        most: usize,
        out: &mut BytesMut,
    ) -> SqlResult<Sent> {
        let cancelled = self.check_cancelled();
        let in_transaction = self.session.open_transaction().is_some();
        let portal = self.portals.get_mut(name).ok_or_else(|| no_portal(name))?;
        let state = std::mem::replace(&mut portal.state, State::Done { query: false });
        let State::Open(mut rows) = state else { return Err(Portal::finished(name)) };
        let query = rows.is_query();
        portal.state = State::Done { query };
        // What is committed cannot fail any more.
        if (query || in_transaction || rows.is_open())
            && let Err(error) = cancelled
        {
            return Err(rows.fail(&mut self.session, error));
        }
        // Only rows that the client can take in parts are suspended.
        let most = if portal.rows.is_some() { most } else { 0 };
        let sent = rows.send(&mut self.session, most, out)?;
        if sent == Sent::All {
            self.tell_notices(out);
            rows.complete(out);
            return Ok(sent);
        }
        if sent == Sent::AsAsked {
            rows.pause(&self.session);
        }
        portal.state = State::Open(rows);
        Ok(sent)
    }
}

/// Whether the next Sync comes before another Execute, and has come already.
fn is_alone(input: &VecDeque<Request>) -> bool {
    let stops =
        |it: &&Request| matches!(it, Request::Sync | Request::Execute { .. } | Request::Query(_));
    matches!(input.iter().find(stops), Some(Request::Sync))
}

fn changed_type() -> SqlError {
    let error = SqlError::unsupported("cached plan must not change result type");
    // Drivers prepare anew when they see who tells it.
    error.about(|it| it.routine = Some("RevalidateCachedQuery"))
}

fn no_portal(name: &str) -> SqlError {
    SqlError::new(SqlState("34000"), format!("portal \"{name}\" does not exist"))
}
