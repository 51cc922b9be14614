//! What DO says: blocks of PL/pgSQL without variables.
//!
//! Key decision: what is SQL in a block stays a text, which is read when its turn comes, as a statement of its own: it may be
//! about what the statement before it has made. That it can be read at all is asked before the first of them runs.

use types::SqlState;

use crate::conditions::Condition;

/// `BEGIN .. [EXCEPTION ..] END`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// What is done in order.
    pub steps: Vec<BlockStep>,
    /// What is done about errors; the first that fits. With any of them the steps are undone by an error.
    pub handlers: Vec<Handler>,
}

/// A step of a block. Texts are SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockStep {
    /// A statement.
    Statement(String),
    /// PERFORM: the rows of a query are thrown away.
    Perform(String),
    /// EXECUTE: an expression that says a statement.
    Execute(String),
    /// IF and ELSIF with their conditions, and ELSE.
    If {
        /// The steps of the first condition that is true are done.
        branches: Vec<(String, Vec<BlockStep>)>,
        /// The steps when none is.
        otherwise: Vec<BlockStep>,
    },
    /// RAISE.
    Raise(Raise),
    /// A block in the block.
    Block(Block),
    /// RETURN ends all blocks.
    Return,
}

/// What is done about errors of some kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The kinds.
    pub conditions: Vec<Condition>,
    /// What is done.
    pub steps: Vec<BlockStep>,
}

/// RAISE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    /// Whether it ends the block.
    pub level: RaiseLevel,
    /// The message, where `%` stands for an argument; `None` without one: the error that is handled is raised again.
    pub message: Option<String>,
    /// The arguments, as SQL.
    pub arguments: Vec<String>,
    /// The state, when a condition is named in the place of a message, or by USING.
    pub state: Option<SqlState>,
    /// USING DETAIL, as SQL.
    pub detail: Option<String>,
    /// USING HINT, as SQL.
    pub hint: Option<String>,
}

/// How much a message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaiseLevel {
    /// DEBUG and LOG, which clients are not told.
    Quiet,
    /// INFO.
    Info,
    /// NOTICE.
    Notice,
    /// WARNING.
    Warning,
    /// EXCEPTION.
    Error,
}
