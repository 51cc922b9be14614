//! INSERT, UPDATE, DELETE and TRUNCATE: what they leave, what they answer, what they refuse; against a model, over tables
//! of all partitionings.

use crate::common::texts;
use hardware::{Machine, samples};
use nodewise::{Answer, DataType, Database, DatabaseOptions, Prepared, Session, Value};
use simulator::SimulatedMachine;
use stdx::Prng;
use stdx::sync::Arc;

fn in_memory() -> Session {
    let machine: Arc<dyn Machine> = SimulatedMachine::new(samples::four_sockets(), 3);
    // Tables are small: what changes shall be kept beside them nevertheless.
    let options = DatabaseOptions { delta_from: Some(0), ..Default::default() };
    Database::open(machine, options).expect("the database opens").session()
}

/// A session with two small tables.
fn session() -> Session {
    let mut session = in_memory();
    let sql = "CREATE TABLE t (a INT, b TEXT, c NUMERIC(10, 2), d CHAR(4), e DATE);
         INSERT INTO t VALUES (1, 'x', 1.239, 'ab', '2020-01-01'), (2, 'y', 2, 'c', NULL), (3, 'z', NULL, NULL, NULL);
         CREATE TABLE s (k INT, v VARCHAR(6));
         INSERT INTO s VALUES (1, 'one'), (1, 'uno'), (3, 'three'), (99, 'no');
         CREATE TABLE p (k INT PRIMARY KEY, v INT NOT NULL);
         INSERT INTO p VALUES (1, 10), (2, 20), (3, 30)";
    session.execute(sql).expect("the tables are filled");
    session
}

/// The rows of an answer in the order of their texts, each as its values with `|` between them.
fn in_order(answer: &Answer) -> Vec<String> {
    let mut rows = texts(&answer.batches, "|", "");
    rows.sort();
    rows
}

/// The rows of a query.
fn rows(session: &mut Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    in_order(&answer)
}

/// The rows of all tables.
fn all_rows(session: &mut Session) -> Vec<String> {
    let tables = ["t", "s", "p"].into_iter();
    tables.flat_map(|it| rows(session, &format!("SELECT * FROM {it}"))).collect()
}

/// A statement, its tag, and the rows that it returns.
type Returned = (&'static str, &'static str, &'static [&'static str]);

const RETURNED: &[Returned] = &[
    (
        "INSERT INTO t (b, a) VALUES ('n', 4) RETURNING *, a + 1, d || '|'",
        "INSERT 0 1",
        &["4|n||||5|"],
    ),
    (
        "INSERT INTO t SELECT a + 10, b, 7.005, 'q', e FROM t WHERE a < 3 ORDER BY a RETURNING c, d",
        "INSERT 0 2",
        &["7.01|q   ", "7.01|q   "],
    ),
    ("INSERT INTO s DEFAULT VALUES RETURNING k IS NULL", "INSERT 0 1", &["true"]),
    ("INSERT INTO s VALUES (7, DEFAULT) RETURNING v IS NULL, s.*", "INSERT 0 1", &["true|7|"]),
    ("INSERT INTO s AS q (k) VALUES (8) RETURNING q.k", "INSERT 0 1", &["8"]),
    (
        "UPDATE t SET a = a * 10, b = b || '!' WHERE a >= 2 RETURNING a, b, t.c",
        "UPDATE 2",
        &["20|y!|2.00", "30|z!|"],
    ),
    ("UPDATE t AS x SET c = x.a / 3.0 WHERE x.a = 1 RETURNING x.c", "UPDATE 1", &["0.33"]),
    (
        "UPDATE t SET (a, b) = (9, 'nine'), e = DEFAULT WHERE a = 1 RETURNING a, b, e",
        "UPDATE 1",
        &["9|nine|"],
    ),
    (
        "UPDATE t SET a = (SELECT max(k) FROM s WHERE s.k > t.a) WHERE a = 2 RETURNING a, (SELECT count(*) FROM s)",
        "UPDATE 1",
        &["99|4"],
    ),
    (
        "UPDATE t SET b = s.v FROM s WHERE t.a = s.k AND s.v <> 'uno' RETURNING t.a, t.b, s.k",
        "UPDATE 2",
        &["1|one|1", "3|three|3"],
    ),
    ("UPDATE t SET a = a + 1 WHERE FALSE RETURNING a", "UPDATE 0", &[]),
    ("UPDATE p SET k = k + 1 RETURNING *", "UPDATE 3", &["2|10", "3|20", "4|30"]),
    (
        "UPDATE p SET v = q.v FROM p AS q WHERE p.k = q.k + 1 RETURNING p.k, p.v",
        "UPDATE 2",
        &["2|10", "3|20"],
    ),
    ("DELETE FROM t WHERE a = 2 RETURNING *", "DELETE 1", &["2|y|2.00|c   |"]),
    ("DELETE FROM t x USING s WHERE x.a = s.k RETURNING x.a", "DELETE 2", &["1", "3"]),
    ("DELETE FROM s WHERE k IN (SELECT a FROM t WHERE t.b <> s.v)", "DELETE 3", &[]),
    (
        "WITH q AS (SELECT 99 AS k) DELETE FROM s USING q WHERE s.k = q.k RETURNING v",
        "DELETE 1",
        &["no"],
    ),
    (
        "WITH q AS (SELECT 5 AS k) INSERT INTO s SELECT k, 'five' FROM q RETURNING *",
        "INSERT 0 1",
        &["5|five"],
    ),
    (
        "WITH q AS (DELETE FROM t WHERE a > 1 RETURNING a, b) SELECT q.*, count(t.a) FROM q, t GROUP BY ALL",
        "SELECT 2",
        &["2|y|3", "3|z|3"],
    ),
    ("DELETE FROM p", "DELETE 3", &[]),
    (
        "EXPLAIN DELETE FROM p WHERE FALSE",
        "EXPLAIN",
        &[
            "    where false",
            "  -> result",
            "  scan p columns [\"row position\"] output [\"row position\"]",
            "pipeline 0 (about 1 rows)",
        ],
    ),
    ("TRUNCATE TABLE s, t, s", "TRUNCATE TABLE", &[]),
];

#[test]
fn rows_change_and_returning_tells_how_they_are_stored() {
    for (sql, tag, wanted) in RETURNED {
        // Each on tables as they were.
        let mut session = session();
        let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(answer.tag, *tag, "{sql}");
        let found = in_order(&answer);
        assert_eq!(found, *wanted, "{sql}");
    }
}

#[test]
fn what_is_left_is_what_was_meant() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "UPDATE t SET a = -a, d = 'zz' WHERE b <> 'y'",
            "SELECT a, b, d FROM t",
            &["-1|x|zz  ", "-3|z|zz  ", "2|y|c   "],
        ),
        ("UPDATE t SET b = NULL", "SELECT count(*), count(b), sum(a) FROM t", &["3|0|6"]),
        ("DELETE FROM t WHERE c IS NULL", "SELECT a FROM t", &["1", "2"]),
        ("UPDATE p SET k = k + 1", "SELECT * FROM p WHERE k = 3", &["3|20"]),
        (
            "DELETE FROM p WHERE k = 2; INSERT INTO p VALUES (2, 5)",
            "SELECT * FROM p",
            &["1|10", "2|5", "3|30"],
        ),
        (
            "WITH q AS (DELETE FROM s RETURNING *) INSERT INTO p SELECT k + 40, 4 FROM q WHERE k > 1",
            "SELECT k, (SELECT count(*) FROM s) FROM p",
            &["139|0", "1|0", "2|0", "3|0", "43|0"],
        ),
        ("TRUNCATE p; INSERT INTO p VALUES (1, 1)", "SELECT * FROM p", &["1|1"]),
        // Every row is decided on the table as it was.
        (
            "DELETE FROM p WHERE EXISTS (SELECT 1 FROM p q WHERE q.k = p.k + 1)",
            "SELECT k FROM p",
            &["3"],
        ),
        (
            "UPDATE s SET k = 0 WHERE k = 1",
            "SELECT k, count(*) FROM s GROUP BY k",
            &["0|2", "3|1", "99|1"],
        ),
        (
            "PREPARE u (INT) AS UPDATE p SET v = $1 WHERE k = $2; EXECUTE u(7, 2)",
            "SELECT v FROM p",
            &["10", "30", "7"],
        ),
        ("PREPARE d AS DELETE FROM p WHERE k > $1; EXECUTE d(1)", "SELECT v FROM p", &["10"]),
    ];
    for (sql, look, wanted) in cases {
        let mut session = session();
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let found = rows(&mut session, look);
        assert_eq!(found, *wanted, "{sql}");
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let cases = [
        ("UPDATE t SET a = 'q'", "22P02"),
        ("UPDATE t SET a = b", "42804"),
        ("UPDATE t SET a = e", "42804"),
        ("UPDATE t SET zz = 1", "42703"),
        ("UPDATE t SET a = 1, a = 2", "42601"),
        ("UPDATE t SET (a, b) = (1, 2, 3)", "42601"),
        ("UPDATE t SET a = count(*)", "42803"),
        ("UPDATE t SET a = 1 RETURNING count(*)", "42803"),
        ("UPDATE t SET d = 'too long'", "22001"),
        ("UPDATE t SET a = 3000000000", "22003"),
        ("UPDATE t SET c = 123456789012", "22003"),
        ("UPDATE t SET a = 1 / (a - 1)", "22012"),
        ("UPDATE p SET v = NULL WHERE k = 2", "23502"),
        ("UPDATE p SET k = 3", "23505"),
        ("UPDATE p SET k = NULL WHERE k = 1", "23502"),
        ("UPDATE p SET k = 1 FROM s WHERE p.k = s.k + 1", "23505"),
        ("INSERT INTO p VALUES (4, 4), (3, 3)", "23505"),
        ("INSERT INTO p (k) VALUES (9)", "23502"),
        ("INSERT INTO p (v, v) VALUES (1, 2)", "42701"),
        ("INSERT INTO p (w) VALUES (1)", "42703"),
        ("INSERT INTO p VALUES (1, 2, 3)", "42601"),
        ("INSERT INTO p (k, v) VALUES (1)", "42601"),
        ("INSERT INTO s VALUES (1, 'seven ch')", "22001"),
        ("INSERT INTO s SELECT DATE '2020-01-01', 'x'", "42804"),
        ("INSERT INTO s VALUES (1, 'x') RETURNING w", "42703"),
        ("INSERT INTO s VALUES (1, 'x') ON CONFLICT (k) DO NOTHING", "42P10"),
        ("INSERT INTO s VALUES (1, 'x') ON DUPLICATE KEY UPDATE k = 1", "42601"),
        ("DELETE FROM t, s", "42601"),
        ("DELETE FROM t USING t", "42712"),
        ("DELETE FROM nosuch", "42P01"),
        ("DELETE FROM nodewise.tables", "42809"),
        ("DELETE FROM 'no.parquet'", "58P01"),
        ("UPDATE t JOIN s ON a = k SET a = 1", "42601"),
        ("UPDATE t SET a = 1 LIMIT 1", "42601"),
        ("UPDATE t SET a = \"row position\"", "42703"),
        ("UPDATE t SET a = s.k FROM s WHERE t.a = $1", "42P02"),
        ("SELECT * FROM (DELETE FROM t RETURNING *) AS q", "0A000"),
        ("TRUNCATE t, nosuch", "42P01"),
        ("EXPLAIN DELETE FROM nosuch", "42P01"),
        ("EXPLAIN ANALYZE UPDATE p SET k = 1", "23505"),
        ("EXPLAIN ANALYZE CREATE TABLE u AS SELECT 1", "0A000"),
        ("EXPLAIN ANALYZE EXECUTE nosuch", "26000"),
    ];
    let mut session = session();
    let before = all_rows(&mut session);
    for (sql, state) in cases {
        match session.execute(sql) {
            Err(error) => assert_eq!(error.state.0, state, "{sql}: {error}"),
            Ok(_) => panic!("{sql} was done"),
        }
        assert_eq!(all_rows(&mut session), before, "{sql}");
    }
}

/// Runs the lines of a script: `sql -> what it comes to`: the rows of its last statement, or the state of its error.
fn script(lines: &str) {
    let mut session = in_memory();
    for line in lines.lines().map(str::trim_start).filter(|it| !it.is_empty()) {
        let (sql, wanted) = line.split_once(" -> ").expect("a line says what comes of it");
        let found = match session.execute(sql) {
            Ok(answers) => match answers.last() {
                Some(last) if last.has_rows() => in_order(last).join(" "),
                last => last.map_or_else(String::new, |it| it.tag.clone()),
            },
            Err(error) => error.state.0.to_owned(),
        };
        assert_eq!(found, wanted, "{line}");
    }
}

#[test]
fn columns_have_defaults() {
    script(
        "CREATE TABLE d (a INT DEFAULT 7, b TEXT DEFAULT 'x' || 'y', c NUMERIC(6, 2) DEFAULT 1.005 + 2, e DATE DEFAULT '2020-02-29', f INT) -> CREATE TABLE
         INSERT INTO d (f) VALUES (1) RETURNING * -> 7|xy|3.01|2020-02-29|1
         INSERT INTO d VALUES (DEFAULT, NULL, DEFAULT, DEFAULT, DEFAULT), (1, DEFAULT, 2, NULL, 2) RETURNING * -> 1|xy|2.00||2 7||3.01|2020-02-29|
         INSERT INTO d (f, a) VALUES (DEFAULT, DEFAULT) RETURNING a, f -> 7|
         INSERT INTO d DEFAULT VALUES RETURNING a, b, f -> 7|xy|
         INSERT INTO d (f) SELECT f + 10 FROM d WHERE f = 2 RETURNING a, f -> 7|12
         UPDATE d SET a = DEFAULT, b = DEFAULT, f = DEFAULT WHERE f = 2 RETURNING a, b, f -> 7|xy|
         UPDATE d SET (a, f) = (DEFAULT, 3) WHERE f = 1 RETURNING a, f -> 7|3
         CREATE TABLE e (a INT DEFAULT 'x') -> 22P02
         CREATE TABLE e (a INT DEFAULT b, b INT) -> 42703
         CREATE TABLE e (a INT DEFAULT DATE '2020-01-01') -> 42804
         CREATE TABLE e (a INT DEFAULT (SELECT 1)) -> 0A000
         CREATE TABLE e (a INT DEFAULT count(*)) -> 42803
         CREATE TABLE e (a INT DEFAULT 1 DEFAULT 2) -> 42601
         SELECT * FROM e -> 42P01
         CREATE TABLE e (a INT NOT NULL DEFAULT 5, b INT) ; INSERT INTO e (b) VALUES (1) RETURNING a -> 5
         INSERT INTO e VALUES (NULL, 1) -> 23502",
    );
}

#[test]
fn check_constraints_hold() {
    script(
        "CREATE TABLE c (a INT CHECK (a > 0), b INT, CONSTRAINT less CHECK (b < c.a OR b = 100), CHECK (length(s) < 4), s VARCHAR(9)) -> CREATE TABLE
         INSERT INTO c VALUES (5, 4, 'abc'), (NULL, NULL, NULL), (1, 100, '') -> INSERT 0 3
         INSERT INTO c VALUES (5, 4, 'abc'), (0, -1, 'x') -> 23514
         INSERT INTO c VALUES (5, 6, 'abc') -> 23514
         INSERT INTO c (s) VALUES ('abcd') RETURNING s -> 23514
         UPDATE c SET a = a - 1 WHERE a = 5 -> 23514
         UPDATE c AS x SET a = x.a + 1, b = 5 WHERE x.a = 5 RETURNING a, b -> 6|5
         SELECT a, b FROM c -> 1|100 6|5 |
         CREATE TABLE d (a INT CHECK (a > 0) CHECK (a < 9)); INSERT INTO d VALUES (9) -> 23514
         CREATE TABLE e (a INT CHECK (b > 0)) -> 42703
         CREATE TABLE e (a INT CHECK (a)) -> 42804
         CREATE TABLE e (a INT CHECK (a > (SELECT 1))) -> 0A000
         CREATE TABLE e (a INT, CONSTRAINT n CHECK (a > 0), CONSTRAINT n CHECK (a > 1)) -> 42710
         CREATE TABLE e (a INT DEFAULT -1 CHECK (a > 0)) -> CREATE TABLE
         INSERT INTO e DEFAULT VALUES -> 23514
         CREATE INDEX ON e (a); INSERT INTO e VALUES (-2) -> 23514
         ALTER TABLE e ALTER COLUMN a NUMA NODE (1); INSERT INTO e VALUES (-2) -> 23514
         TRUNCATE e; INSERT INTO e VALUES (3) -> INSERT 0 1
         DELETE FROM e; INSERT INTO e VALUES (-3) -> 23514",
    );
}

#[test]
fn on_conflict_updates_or_does_nothing() {
    script(
        "CREATE TABLE k (a INT PRIMARY KEY, b TEXT, n INT DEFAULT 1) -> CREATE TABLE
         INSERT INTO k VALUES (1, 'one', 1), (2, 'two', 2) -> INSERT 0 2
         INSERT INTO k VALUES (1, 'x', 0), (3, 'three', 3), (3, 'again', 4) ON CONFLICT DO NOTHING RETURNING * -> 3|three|3
         INSERT INTO k VALUES (1, 'x', 0), (4, 'four', 4) ON CONFLICT (a) DO NOTHING -> INSERT 0 1
         INSERT INTO k VALUES (1, 'uno', 5), (5, 'five', 5) ON CONFLICT (a) DO UPDATE SET b = excluded.b || k.b, n = k.n + excluded.n RETURNING a, b, n -> 1|unoone|6 5|five|5
         INSERT INTO k AS t (a, b) VALUES (2, 'zwei') ON CONFLICT ON CONSTRAINT k_pkey DO UPDATE SET b = EXCLUDED.b WHERE t.n > 5 RETURNING a -> 
         INSERT INTO k AS t (a, b) VALUES (1, 'eins') ON CONFLICT ON CONSTRAINT k_pkey DO UPDATE SET b = EXCLUDED.b WHERE t.n > 5 RETURNING a, b -> 1|eins
         INSERT INTO k VALUES (2, 'a', 1), (2, 'b', 1) ON CONFLICT (a) DO UPDATE SET n = 0 -> 21000
         INSERT INTO k VALUES (9, 'a', 1), (9, 'b', 1) ON CONFLICT (a) DO UPDATE SET n = 0 -> 21000
         INSERT INTO k VALUES (2, 'a', 1) ON CONFLICT DO UPDATE SET n = 0 -> 42601
         INSERT INTO k VALUES (2, 'a', 1) ON CONFLICT (b) DO NOTHING -> 42P10
         INSERT INTO k VALUES (2, 'a', 1) ON CONFLICT (zz) DO NOTHING -> 42703
         INSERT INTO k VALUES (2, 'a', 1) ON CONFLICT ON CONSTRAINT zz DO NOTHING -> 42704
         INSERT INTO k VALUES (2, 'a', 1) ON CONFLICT (a) DO UPDATE SET n = n + 1 -> 42702
         INSERT INTO k VALUES (2, 'a', 1) ON CONFLICT (a) DO UPDATE SET a = 1 -> 23505
         INSERT INTO k SELECT a, b, n FROM k ON CONFLICT (a) DO UPDATE SET n = excluded.n * 10 -> INSERT 0 5
         SELECT a, n FROM k -> 1|60 2|20 3|30 4|40 5|50
         INSERT INTO k (a) VALUES (2) ON CONFLICT (a) DO UPDATE SET n = DEFAULT, b = (SELECT max(b) FROM k) RETURNING b, n -> two|1
         CREATE TABLE u (x INT, y CHAR(3), UNIQUE (x, y)); CREATE UNIQUE INDEX ux ON u (x) -> CREATE INDEX
         INSERT INTO u VALUES (1, 'a'), (1, 'b'), (NULL, 'a'), (NULL, 'a') ON CONFLICT DO NOTHING RETURNING x, y -> 1|a   |a   |a  
         INSERT INTO u VALUES (1, 'a ') ON CONFLICT (y, x) DO UPDATE SET y = 'z' RETURNING * -> 1|z  
         INSERT INTO u VALUES (1, 'q') ON CONFLICT (y, x) DO NOTHING -> 23505
         INSERT INTO u VALUES (NULL, 'a') ON CONFLICT (y, x) DO UPDATE SET y = 'w' RETURNING * -> |a  
         INSERT INTO u VALUES (2, 'q') ON CONFLICT (x) DO NOTHING RETURNING x -> 2
         PREPARE up (INT, INT) AS INSERT INTO k (a, n) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET n = k.n + excluded.n RETURNING n -> PREPARE
         EXECUTE up (1, 4) -> 64
         EXECUTE up (77, 4) -> 4",
    );
}

/// A row of the random tables.
type Row = (Option<i64>, String, i64);

fn shown((k, s, v): &Row) -> String {
    format!("{}|{s}|{v}", k.map_or_else(String::new, |it| it.to_string()))
}

/// Does something to the table and to the model.
fn random_change(prng: &mut Prng, session: &mut Session, model: &mut Vec<Row>) {
    let (low, width) = (prng.below(60) as i64, prng.below(12) as i64);
    let is_met = |k: Option<i64>| k.is_some_and(|it| (low..low + width).contains(&it));
    let met = format!("k >= {low} AND k < {}", low + width);
    let done = match prng.below(8) {
        0..3 => {
            let count = prng.below(40) as usize;
            let rows: Vec<Row> = (0..count)
                .map(|_| {
                    let k = (prng.below(9) > 0).then(|| prng.below(60) as i64);
                    (k, format!("s{}", prng.below(20)), prng.below(1 << 40) as i64)
                })
                .collect();
            if rows.is_empty() {
                return;
            }
            let values: Vec<String> = (rows.iter())
                .map(|(k, s, v)| {
                    let k = k.map_or_else(|| "NULL".to_owned(), |it| it.to_string());
                    format!("({k}, '{s}', {v})")
                })
                .collect();
            model.extend(rows);
            (format!("INSERT INTO r VALUES {}", values.join(", ")), count)
        }
        3..5 => {
            let before = model.len();
            model.retain(|it| !is_met(it.0));
            (format!("DELETE FROM r WHERE {met}"), before - model.len())
        }
        5 => {
            let before = model.len();
            model.retain(|it| it.0.is_some());
            ("DELETE FROM r WHERE k IS NULL".to_owned(), before - model.len())
        }
        6 => {
            let changed = model.iter_mut().filter(|it| is_met(it.0));
            let count = changed.map(|it| (it.0, it.2) = (it.0.map(|k| k + 5), -it.2)).count();
            (format!("UPDATE r SET k = k + 5, v = -v WHERE {met}"), count)
        }
        _ => {
            let changed = model.iter_mut().filter(|it| is_met(it.0));
            let count = changed.map(|it| it.1 = format!("{}{}", it.1, it.2 % 3)).count();
            (format!("UPDATE r SET s = s || v % 3 WHERE {met}"), count)
        }
    };
    let (sql, count) = done;
    let answer = session.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let number = answer.tag.rsplit(' ').next().and_then(|it| it.parse().ok());
    assert_eq!(number, Some(count), "{sql}: {}", answer.tag);
}

#[test]
fn random_changes_leave_what_a_model_has() {
    let designs = [
        "",
        "PARTITION BY HASH (k) PARTITIONS 3",
        "PARTITION BY RANGE (k) (PARTITION VALUES < 20, PARTITION 20 <= VALUES < 40, PARTITION OTHERS)",
        "PARTITION BY ROUNDROBIN PARTITIONS 4",
    ];
    for (seed, design) in designs.iter().enumerate() {
        let mut prng = Prng::new(seed as u64 + 1);
        let (mut session, mut model) = (in_memory(), Vec::new());
        let create = format!("CREATE TABLE r (k BIGINT, s TEXT, v BIGINT) {design}");
        session.execute(&create).unwrap_or_else(|error| panic!("{create}: {error}"));
        session.execute("CREATE INDEX r_s ON r (s)").expect("an index is made");
        for step in 0..120 {
            random_change(&mut prng, &mut session, &mut model);
            let found = rows(&mut session, "SELECT k, s, v FROM r");
            let mut wanted: Vec<String> = model.iter().map(shown).collect();
            wanted.sort();
            assert_eq!(found, wanted, "{design}, step {step}");
            let by_index = rows(&mut session, "SELECT count(*), sum(v) FROM r WHERE s = 's3'");
            let same: Vec<&Row> = model.iter().filter(|it| it.1 == "s3").collect();
            let sum: i64 = same.iter().map(|it| it.2).sum();
            let sum = if same.is_empty() { String::new() } else { sum.to_string() };
            assert_eq!(by_index, [format!("{}|{sum}", same.len())], "{design}, step {step}");
        }
    }
}

/// A prepared change is planned once: what it asks of its values, and what tables ask of rows, stays.
#[test]
fn prepared_changes_know_the_types_of_their_columns() {
    let mut session = session();
    let insert = session.prepare("INSERT INTO t (e, a, d) VALUES ($1, $2, $3)").unwrap();
    let types = [DataType::Date, DataType::Integer, DataType::Text].map(Some);
    assert_eq!(insert.parameters(), types);
    let text = |it: &str| Value::Text(it.into());
    let run = |session: &mut Session, of: &Prepared, values: &[Value]| {
        session.execute_prepared(of, values).map(|it| it.tag).map_err(|it| it.state.0)
    };
    let values = [Value::Null, Value::Integer(7), text("abcd  ")];
    assert_eq!(run(&mut session, &insert, &values).unwrap(), "INSERT 0 1");
    let values = [text("2024-02-29"), text("8"), Value::Null];
    assert_eq!(run(&mut session, &insert, &values).unwrap(), "INSERT 0 1");
    let values = [text("2023-02-29"), Value::Integer(9), Value::Null];
    assert_eq!(run(&mut session, &insert, &values).unwrap_err(), "22008");
    let values = [Value::Null, Value::Integer(9), text("abcde")];
    assert_eq!(run(&mut session, &insert, &values).unwrap_err(), "22001");
    let found = rows(&mut session, "SELECT a, d, e FROM t WHERE a > 6");
    assert_eq!(found, ["7|abcd|", "8||2024-02-29"]);

    let update = session.prepare("UPDATE p SET v = v + $2 WHERE k = $1 RETURNING v").unwrap();
    let key = session.prepare("INSERT INTO p VALUES ($1, $2)").unwrap();
    let pair = |key, value| [Value::Integer(key), Value::Integer(value)];
    for round in 1..=20 {
        assert_eq!(run(&mut session, &update, &pair(2, 1)).unwrap(), "UPDATE 1");
        assert_eq!(run(&mut session, &key, &pair(2, 1)).unwrap_err(), "23505");
        assert_eq!(run(&mut session, &key, &pair(100 + round, round)).unwrap(), "INSERT 0 1");
        assert_eq!(rows(&mut session, "SELECT v FROM p WHERE k = 2"), [(20 + round).to_string()]);
    }
    // Another table of the name asks for other values.
    session.execute("DROP TABLE p").unwrap();
    assert_eq!(run(&mut session, &key, &pair(1, 2)).unwrap_err(), "42P01");
    session.execute("CREATE TABLE p (k INT, v INT CHECK (v < 5))").unwrap();
    assert_eq!(run(&mut session, &key, &pair(1, 5)).unwrap_err(), "23514");
    assert_eq!(run(&mut session, &key, &pair(1, 4)).unwrap(), "INSERT 0 1");
    session.execute("BEGIN; INSERT INTO p VALUES (5, 1)").unwrap();
    assert_eq!(run(&mut session, &update, &pair(5, 1)).unwrap(), "UPDATE 1");
    session.execute("ROLLBACK").unwrap();
    assert_eq!(rows(&mut session, "SELECT * FROM p"), ["1|4"]);
    assert_eq!(session.prepare("INSERT INTO nowhere VALUES ($1)").unwrap_err().state.0, "42P01");
}

/// What a MERGE asks of positions is no condition on the column that is stored first.
#[test]
fn merge_finds_all_rows_of_a_table_that_changed() {
    let mut session = in_memory();
    session.execute("CREATE TABLE m (a INT, b INT)").unwrap();
    for round in 0..6 {
        let values = (0..9).map(|it| match it % 3 {
            0 => format!("(NULL, {})", round * 10 + it),
            _ => format!("({it}, {})", round * 10 + it),
        });
        let values = values.collect::<Vec<String>>().join(", ");
        session.execute(&format!("INSERT INTO m VALUES {values}")).unwrap();
        session.execute(&format!("DELETE FROM m WHERE b = {}", round * 10 + 4)).unwrap();
    }
    session.execute("CREATE TABLE n (c INT); INSERT INTO n VALUES (1), (NULL)").unwrap();
    let sql = "MERGE INTO m USING n ON c = 1 WHEN MATCHED AND b % 2 = 0 THEN DELETE \
               WHEN MATCHED THEN UPDATE SET b = -b \
               WHEN NOT MATCHED THEN INSERT VALUES (1000, c) RETURNING merge_action(), a, b";
    let found = rows(&mut session, sql);
    let count = |what: &str| found.iter().filter(|it| it.starts_with(what)).count();
    assert_eq!([count("DELETE"), count("UPDATE"), count("INSERT")], [24, 24, 1], "{found:?}");
    let left = rows(&mut session, "SELECT count(*), count(a), sum(b) FROM m");
    assert_eq!(left, ["25|19|-696"]);
}
