//! The tables: of so many rows that limits of some MiB bite, and made by SQL.

use nodewise::Database;
use stdx::sync::Arc;

use crate::kind::Kind;
use crate::peers::reply::{Reply, Rows, Shown};
use crate::world::{Column, Constraint, Table, World};

/// Names, types and the expression of each column over the number of a row. NULLs are in `j`, `s` and `u`.
const COLUMNS: [(&str, Kind, &str); 9] = [
    ("i", Kind::Integer, "r"),
    ("j", Kind::BigInt, "nullif(r * 7919 % 70001, 17)"),
    ("k", Kind::Integer, "r % 9973"),
    ("n", Kind::Decimal(12, 4), "r * 31 % 50021 / 8.0"),
    ("f", Kind::Double, "r % 1009"),
    ("b", Kind::Boolean, "r % 3 = 0"),
    ("d", Kind::Date, "DATE '2000-01-01' + CAST(r % 3000 AS INTEGER)"),
    ("s", Kind::Text, "nullif('some text ' || r * 13 % 30011, 'some text 13')"),
    ("u", Kind::Varchar(20), "nullif('u' || r % 7, 'u3')"),
];

/// Tables with their rows and columns.
const TABLES: [(&str, u64, &str); 4] = [
    ("t0", 100_000, "ijknfbdsu"),
    ("t1", 60_000, "ijkfs"),
    ("t2", 300, "ijnbdu"),
    ("t3", 20, "ik"),
];

/// A statement that any session answers.
pub const PLAIN: &str = "SELECT count(*), sum(i) FROM t2";

/// The answer to it.
pub fn plain_answer() -> Reply {
    let row = ["300", "44850"].map(|it| Some(it.to_owned()));
    Reply::Rows(Rows { shown: vec![Shown::Exact; 2], rows: vec![row.to_vec()] })
}

/// What a generator must know of the tables; no rows.
pub fn world() -> World {
    let tables = TABLES.iter().map(|&(name, _, columns)| Table {
        name: name.to_owned(),
        columns: of(columns).map(|(name, kind, _)| column(name, kind)).collect(),
        rows: Vec::new(),
    });
    World { tables: tables.collect() }
}

fn of(names: &str) -> impl Iterator<Item = (&'static str, Kind, &'static str)> {
    COLUMNS.into_iter().filter(move |it| names.contains(it.0))
}

fn column(name: &str, kind: Kind) -> Column {
    Column { name: name.to_owned(), kind, constraint: Constraint::Nothing }
}

/// Makes the tables, the large ones in parts.
pub fn load(database: &Arc<Database>) -> Result<(), String> {
    let mut session = database.session();
    let digits = "CREATE TABLE digits AS SELECT * FROM \
        (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d);
        CREATE TABLE thousand AS SELECT CAST(a.d + 10 * b.d + 100 * c.d AS BIGINT) AS n \
            FROM digits a, digits b, digits c";
    let mut run =
        |sql: &str| session.execute(sql).map(drop).map_err(|error| format!("{sql}: {error}"));
    run(digits)?;
    for (at, (name, rows, columns)) in TABLES.into_iter().enumerate() {
        let known: Vec<String> = of(columns)
            .map(|(name, kind, value)| format!("CAST({value} AS {kind}) AS {name}"))
            .collect();
        let definitions: Vec<String> =
            of(columns).map(|(name, kind, _)| format!("{name} {kind}")).collect();
        let parts = if at == 0 { " PARTITION BY HASH (i) PARTITIONS 5" } else { "" };
        run(&format!("CREATE TABLE {name} ({}){parts}", definitions.join(", ")))?;
        run(&format!(
            "INSERT INTO {name} SELECT {} FROM (SELECT a.n + 1000 * b.n AS r FROM thousand a, thousand b \
             WHERE b.n < 100) x WHERE r < {rows}",
            known.join(", ")
        ))?;
    }
    run("DROP TABLE digits; DROP TABLE thousand")
}
