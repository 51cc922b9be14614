//! What a client does again and again.

use nodewise::{Database, Prepared, Session, SqlError, SqlResult, SqlState, Value};
use stdx::Prng;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;

use super::bank::{Bank, TELLERS};

/// What a client does again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A row comes, with a key of its own.
    Insert,
    /// An account is read by its key.
    Read,
    /// An account is changed by its key.
    Update,
    /// A transaction of three updates, a read and a new row, as in TPC-B.
    Transfer,
}

impl Step {
    /// All, in the order in which they are measured.
    pub const ALL: [Self; 4] = [Self::Insert, Self::Read, Self::Update, Self::Transfer];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Read => "read",
            Self::Update => "update",
            Self::Transfer => "transfer",
        }
    }

    fn statements(self) -> &'static [&'static str] {
        match self {
            Self::Insert => &[
                "INSERT INTO oltp_rows VALUES ($1, $2, $3, DATE '2024-02-29', 'a row among others')",
            ],
            Self::Read => &["SELECT balance FROM oltp_accounts WHERE aid = $1"],
            Self::Update => &["UPDATE oltp_accounts SET changes = changes + 1 WHERE aid = $1"],
            Self::Transfer => &[
                "UPDATE oltp_accounts SET balance = balance + $2 WHERE aid = $1",
                "SELECT balance FROM oltp_accounts WHERE aid = $1",
                "UPDATE oltp_tellers SET balance = balance + $2 WHERE tid = $1",
                "UPDATE oltp_branches SET balance = balance + $2 WHERE bid = $1",
                "INSERT INTO oltp_history VALUES ($1, $2, $3, $4, TIMESTAMP '2024-02-29 12:00:00', NULL)",
            ],
        }
    }
}

/// Whether a statement may be tried again: another client was quicker.
pub(super) fn is_conflict(error: &SqlError) -> bool {
    ["40001", "40P01", "55P03"].contains(&error.state.0)
}

/// A client at work.
pub(super) struct Client<'a> {
    session: Session,
    prepared: Vec<Prepared>,
    bank: &'a Bank,
    step: Step,
    prng: Prng,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        database: &Arc<Database>,
        bank: &'a Bank,
        step: Step,
        prng: Prng,
    ) -> SqlResult<Self> {
        let mut session = database.session();
        let prepared =
            step.statements().iter().map(|it| session.prepare(it)).collect::<SqlResult<_>>();
        Ok(Self { prepared: prepared?, session, bank, step, prng })
    }

    /// Whether its commits are answered before they are on the disk.
    pub(super) fn set_asynchronous(&mut self, on: bool) -> SqlResult<()> {
        let value = if on { "off" } else { "on" };
        self.session.execute(&format!("SET synchronous_commit = {value}")).map(|_| ())
    }

    /// Does it once.
    pub(super) fn act(&mut self) -> SqlResult<()> {
        let account = self.prng.below(self.bank.accounts) as i64;
        match self.step {
            Step::Insert => {
                let id = self.bank.last.fetch_add(1, Ordering::Relaxed) as i64 + 1;
                let amount = Value::Decimal { unscaled: i128::from(id % 100_000), scale: 2 };
                self.one_row(0, &[Value::Integer(id), Value::Integer(account), amount])
            }
            Step::Read | Step::Update => self.one_row(0, &[Value::Integer(account)]),
            Step::Transfer => {
                self.session.execute("BEGIN")?;
                let moved = self.transfer(account);
                self.session.execute(if moved.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
                moved
            }
        }
    }

    fn transfer(&mut self, account: i64) -> SqlResult<()> {
        let delta = Value::Integer(self.prng.below(10_000) as i64 - 5_000);
        let teller = self.prng.below(self.bank.branches * TELLERS) as i64;
        let (branch, teller) = (Value::Integer(teller / TELLERS as i64), Value::Integer(teller));
        let account = Value::Integer(account);
        self.one_row(0, &[account.clone(), delta.clone()])?;
        self.one_row(1, std::slice::from_ref(&account))?;
        self.one_row(2, &[teller.clone(), delta.clone()])?;
        self.one_row(3, &[branch.clone(), delta.clone()])?;
        self.one_row(4, &[teller, branch, account, delta])
    }

    /// Runs a statement that reads or changes one row.
    fn one_row(&mut self, statement: usize, values: &[Value]) -> SqlResult<()> {
        let answer = self.session.execute_prepared(&self.prepared[statement], values)?;
        if answer.tag.ends_with(" 1") {
            return Ok(());
        }
        let sql = self.step.statements()[statement];
        Err(SqlError::new(SqlState::INTERNAL, format!("{sql} came to {}", answer.tag)))
    }
}
