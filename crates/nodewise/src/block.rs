//! DO: the steps of a block, each a statement of its own, all of them in one transaction.
//!
//! A block with handlers is a transaction in the transaction: a savepoint that no user can name, to which an error goes back.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use binder::block::{Block, BlockStep, Raise, RaiseLevel};
use binder::{Statement, with_caught};
use types::{SqlError, SqlResult, SqlState};

use crate::answer::done;
use crate::notice::Notice;
use crate::starting::Started;
use crate::{Answer, Session};

/// What an error without a state of its own has.
const RAISED: SqlState = SqlState("P0001");
/// The name of the savepoints of blocks.
const SAVEPOINT: &str = "\0block";

/// How steps have ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Returned,
}

impl Session {
    /// Runs DO, as one transaction where none is open.
    pub(crate) fn start_do(&mut self, block: &Block) -> SqlResult<Started> {
        let is_own = self.block.is_none();
        if let Some(open) = &self.block {
            open.check()?;
        }
        self.begin_implicit();
        let ended = match self.run_block(block, None) {
            Ok(_) => Ok(()),
            Err(error) => self.end_statement(Err(error)),
        };
        let closed = if is_own { self.end_implicit() } else { Ok(()) };
        ended.and(closed).map(|()| Started::Done(done("DO")))
    }

    /// `caught` is the error that the handler around is about.
    fn run_block(&mut self, block: &Block, caught: Option<&SqlError>) -> SqlResult<Flow> {
        if block.handlers.is_empty() {
            return self.run_steps(&block.steps, caught);
        }
        let place = self.push_savepoint(SAVEPOINT.to_owned())?;
        let error = match self.run_steps(&block.steps, caught) {
            Ok(flow) => {
                self.release_savepoint(place);
                return Ok(flow);
            }
            Err(error) => error,
        };
        let fits =
            |it: &&binder::block::Handler| it.conditions.iter().any(|it| it.is_of(error.state));
        let handler = block.handlers.iter().find(fits);
        // A transaction that has expired has lost its savepoints.
        let is_there = self.block.as_ref().is_some_and(|it| it.savepoints.len() > place);
        let Some(handler) = handler.filter(|_| is_there) else {
            self.block.iter_mut().for_each(|it| it.savepoints.truncate(place));
            return Err(error);
        };
        self.back_to_savepoint(place)?;
        self.release_savepoint(place);
        self.run_steps(&handler.steps, Some(&error))
    }

    fn run_steps(&mut self, steps: &[BlockStep], caught: Option<&SqlError>) -> SqlResult<Flow> {
        for step in steps {
            let flow = match step {
                BlockStep::Statement(text) | BlockStep::Perform(text) => {
                    self.run_text(&with_caught(text, caught)?)?;
                    Flow::On
                }
                BlockStep::Execute(text) => {
                    self.run_dynamic(text, caught)?;
                    Flow::On
                }
                BlockStep::If { branches, otherwise } => {
                    self.run_if(branches, otherwise, caught)?
                }
                BlockStep::Raise(raise) => {
                    self.raise(raise, caught)?;
                    Flow::On
                }
                BlockStep::Block(block) => self.run_block(block, caught)?,
                BlockStep::Return => Flow::Returned,
            };
            if flow == Flow::Returned {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn run_if(
        &mut self,
        branches: &[(String, Vec<BlockStep>)],
        otherwise: &[BlockStep],
        caught: Option<&SqlError>,
    ) -> SqlResult<Flow> {
        for (condition, steps) in branches {
            let truth = format!("CAST(({condition}) AS boolean)");
            if self.values(&[truth], caught)?.pop().flatten().as_deref() == Some("true") {
                return self.run_steps(steps, caught);
            }
        }
        self.run_steps(otherwise, caught)
    }

    /// Runs a statement that an expression says.
    fn run_dynamic(&mut self, text: &str, caught: Option<&SqlError>) -> SqlResult<()> {
        let said = self.values(&[text.to_owned()], caught)?.pop().flatten();
        let said = said.ok_or_else(|| {
            let message = "query string argument of EXECUTE is null";
            SqlError::new(SqlState("22004"), message)
        })?;
        let statements = binder::parse::parse(&said)?;
        if statements.iter().any(|it| matches!(it, Statement::Transaction(_) | Statement::Do(_))) {
            return Err(SqlError::unsupported(
                "EXECUTE of transaction commands is not implemented",
            ));
        }
        self.run_text(&said)
    }

    /// The values of expressions, as texts.
    fn values(
        &mut self,
        expressions: &[String],
        caught: Option<&SqlError>,
    ) -> SqlResult<Vec<Option<String>>> {
        let each: Vec<String> =
            expressions.iter().map(|it| format!("CAST(({it}) AS text)")).collect();
        let answer = self.query(&with_caught(&format!("SELECT {}", each.join(", ")), caught)?)?;
        Ok(first_row(&answer))
    }

    fn run_text(&mut self, text: &str) -> SqlResult<()> {
        let mut script = self.script(text)?;
        while let Some(answer) = self.run_next(&mut script) {
            answer?;
        }
        Ok(())
    }

    fn raise(&mut self, raise: &Raise, caught: Option<&SqlError>) -> SqlResult<()> {
        let Some(message) = &raise.message else {
            let outside = || {
                let message =
                    "RAISE without parameters cannot be used outside an exception handler";
                SqlError::new(SqlState("0Z002"), message)
            };
            return Err(caught.cloned().unwrap_or_else(outside));
        };
        let asked = raise.arguments.iter().chain(&raise.detail).chain(&raise.hint);
        let asked: Vec<String> = asked.cloned().collect();
        let values = if asked.is_empty() { Vec::new() } else { self.values(&asked, caught)? };
        let mut values = values.into_iter().map(|it| it.unwrap_or_else(|| "<NULL>".to_owned()));
        let message = filled(message, values.by_ref().take(raise.arguments.len()));
        let detail = raise.detail.is_some().then(|| values.next().unwrap_or_default());
        let hint = raise.hint.is_some().then(|| values.next().unwrap_or_default());
        let (severity, usual) = match raise.level {
            RaiseLevel::Quiet => return Ok(()),
            RaiseLevel::Info => ("INFO", SqlState("00000")),
            RaiseLevel::Notice => ("NOTICE", SqlState("00000")),
            RaiseLevel::Warning => ("WARNING", SqlState("01000")),
            RaiseLevel::Error => {
                let mut error = SqlError::new(raise.state.unwrap_or(RAISED), message);
                error = detail.into_iter().fold(error, SqlError::with_detail);
                return Err(hint.into_iter().fold(error, SqlError::with_hint));
            }
        };
        let notice = Notice::of(severity, raise.state.unwrap_or(usual), message);
        self.notice(Notice { detail, hint, ..notice });
        Ok(())
    }
}

/// A message with arguments in the places of `%`; `%%` is one of it.
fn filled(message: &str, mut arguments: impl Iterator<Item = String>) -> String {
    let (mut out, mut chars) = (String::new(), message.chars().peekable());
    while let Some(it) = chars.next() {
        match it {
            '%' if chars.next_if_eq(&'%').is_some() => out.push('%'),
            '%' => out.extend(arguments.next()),
            it => out.push(it),
        }
    }
    out
}

fn first_row(answer: &Answer) -> Vec<Option<String>> {
    let Some(batch) = answer.batches.iter().find(|it| it.num_rows() > 0) else { return Vec::new() };
    let texts = batch.columns().iter().map(|it| it.as_string::<i32>());
    texts.map(|it| it.is_valid(0).then(|| it.value(0).to_owned())).collect()
}
