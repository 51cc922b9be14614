//! The accounts: branches with tellers and accounts, as in TPC-B, and a table that rows come into.

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{Array, Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use nodewise::{Session, SqlError, SqlResult, SqlState};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};

/// Tellers of a branch.
pub const TELLERS: u64 = 10;

/// How large the tables are, and what was done to them.
#[derive(Debug)]
pub struct Bank {
    /// Branches.
    pub branches: u64,
    /// Accounts of all branches.
    pub accounts: u64,
    /// The number of the row that came last.
    pub last: AtomicU64,
    pub(super) inserted: AtomicU64,
    pub(super) updated: AtomicU64,
    pub(super) transferred: AtomicU64,
}

const TABLES: &str = "
    CREATE TABLE oltp_branches (bid INTEGER PRIMARY KEY, balance BIGINT NOT NULL, filler CHAR(88));
    CREATE TABLE oltp_tellers (tid INTEGER PRIMARY KEY, bid INTEGER NOT NULL, balance BIGINT NOT NULL, filler CHAR(84));
    CREATE TABLE oltp_accounts (aid INTEGER PRIMARY KEY, bid INTEGER NOT NULL, balance BIGINT NOT NULL, changes BIGINT NOT NULL, filler CHAR(84));
    CREATE TABLE oltp_history (tid INTEGER, bid INTEGER, aid INTEGER, delta BIGINT, mtime TIMESTAMP, filler CHAR(22));
    CREATE TABLE oltp_rows (id BIGINT PRIMARY KEY, customer BIGINT NOT NULL, amount DECIMAL(12, 2) NOT NULL, day DATE, note TEXT)";

/// Makes the tables: so many branches, each with so many accounts. Tables of these names are refused (42P07).
pub fn fill(session: &mut Session, branches: u64, accounts: u64) -> SqlResult<Bank> {
    session.execute(TABLES)?;
    let bank = Bank {
        branches,
        accounts: branches * accounts,
        last: AtomicU64::new(0),
        inserted: AtomicU64::new(0),
        updated: AtomicU64::new(0),
        transferred: AtomicU64::new(0),
    };
    let filled = [
        (branches, "INSERT INTO oltp_branches SELECT n, 0, NULL FROM oltp_numbers".to_owned()),
        (
            branches * TELLERS,
            format!("INSERT INTO oltp_tellers SELECT n, n / {TELLERS}, 0, NULL FROM oltp_numbers"),
        ),
        (
            bank.accounts,
            format!(
                "INSERT INTO oltp_accounts SELECT n, n / {accounts}, 0, 0, NULL FROM oltp_numbers"
            ),
        ),
    ];
    for (count, sql) in filled {
        session.import("oltp_numbers", vec![numbers(count)?])?;
        session.execute(&sql)?;
        session.execute("DROP TABLE oltp_numbers")?;
    }
    Ok(bank)
}

/// The numbers below `count`, in a column `n`.
fn numbers(count: u64) -> SqlResult<RecordBatch> {
    let schema = Schema::new(vec![Field::new("n", DataType::Int32, false)]);
    let numbers = Int32Array::from_iter_values(0..i32::try_from(count).unwrap_or(i32::MAX));
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(numbers)])
        .map_err(|error| SqlError::new(SqlState::INTERNAL, error.to_string()))
}

/// Whether the tables hold what was done to them.
pub fn check(session: &mut Session, bank: &Bank) -> SqlResult<()> {
    let sum = |session: &mut Session, what: &str, table: &str| -> SqlResult<i128> {
        let sql = format!("SELECT CAST(coalesce({what}, 0) AS DECIMAL(38, 0)) FROM oltp_{table}");
        let answer = session.query(&sql)?;
        let column = answer.batches.first().map(|it| it.column(0).clone());
        let value = column.filter(|it| it.len() == 1);
        let value = value.map(|it| it.as_primitive::<Decimal128Type>().value(0));
        value.ok_or_else(|| SqlError::new(SqlState::INTERNAL, format!("{sql} has no value")))
    };
    let done = |it: &AtomicU64| i128::from(it.load(Ordering::Relaxed));
    let moved = sum(session, "sum(delta)", "history")?;
    let expected = [
        ("sum(balance)", "accounts", moved),
        ("sum(balance)", "tellers", moved),
        ("sum(balance)", "branches", moved),
        ("count(*)", "history", done(&bank.transferred)),
        ("sum(changes)", "accounts", done(&bank.updated)),
        ("count(*)", "rows", done(&bank.inserted)),
        ("count(DISTINCT id)", "rows", done(&bank.inserted)),
    ];
    for (what, table, wanted) in expected {
        let found = sum(session, what, table)?;
        if found != wanted {
            let message = format!("{what} of oltp_{table} is {found}, and not {wanted}");
            return Err(SqlError::new(SqlState::INTERNAL, message));
        }
    }
    Ok(())
}
