//! Of which columns of which tables rows are, as they are described: what PostgreSQL 15 says of the same statements.

use std::collections::HashMap;

use crate::common::{Message, Raw, Running, bind, execute, frame, parse, query, sync};

const SETTING: &str = "
CREATE TABLE t (a INTEGER PRIMARY KEY, b VARCHAR(10), c CHAR(5), d NUMERIC(10,2), n TEXT);
CREATE TABLE u (a BIGINT, b TEXT, e DATE);
CREATE TABLE w (a INTEGER, b VARCHAR(20), c CHAR(5));
CREATE VIEW v AS SELECT b AS x, a AS y, a AS z, a + 1 AS s FROM t;
CREATE VIEW vv AS SELECT y, x FROM v;
CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t;
CREATE SEQUENCE q";

/// Statements, and of each column of their rows the column of a relation that it is.
const STATEMENTS: &[(&str, &str)] = &[
    // Columns by all their names.
    ("SELECT a, b, c, d, n FROM t", "t.a t.b t.c t.d t.n"),
    ("SELECT * FROM t", "t.a t.b t.c t.d t.n"),
    ("SELECT t.* FROM t", "t.a t.b t.c t.d t.n"),
    ("SELECT x.a AS k, b AS l FROM t AS x", "t.a t.b"),
    ("SELECT x.p, x.b FROM t AS x (p)", "t.a t.b"),
    ("SELECT public.t.a FROM public.t", "t.a"),
    ("SELECT (a), ((b)) FROM t", "t.a t.b"),
    // What is no column as it is.
    (
        "SELECT a + 0, +a, -a, a::BIGINT, b::TEXT, c::VARCHAR, coalesce(a), b || '', 1, NULL FROM t",
        "- - - - - - - - - -",
    ),
    (
        "SELECT a::INTEGER, CAST(a AS INT), d::NUMERIC, d::NUMERIC(10,2), d::NUMERIC(12,2), n::TEXT, b::VARCHAR, b::VARCHAR(10), b::VARCHAR(5), c::CHAR(5) FROM t",
        "t.a t.a - t.d - t.n - t.b - t.c",
    ),
    ("SELECT n COLLATE \"C\" FROM t", "-"),
    ("SELECT CASE WHEN true THEN a END, (SELECT a), (SELECT max(a) FROM u) FROM t", "- - -"),
    // Subqueries and WITH.
    ("SELECT x FROM (SELECT a AS x FROM t) AS s", "t.a"),
    ("SELECT x, y FROM (SELECT +a AS x, a AS y FROM t) AS s", "- t.a"),
    ("SELECT p, q FROM (SELECT a, b FROM t) AS s (p, q)", "t.a t.b"),
    ("SELECT * FROM (SELECT a, b FROM t OFFSET 0) AS s", "t.a t.b"),
    ("SELECT i.* FROM (SELECT * FROM (SELECT a AS k, b FROM t) AS o LIMIT 3) AS i", "t.a t.b"),
    ("SELECT s.x FROM t, LATERAL (SELECT t.a AS x) AS s", "t.a"),
    ("SELECT s.x FROM t LEFT JOIN LATERAL (SELECT t.a AS x) AS s ON true", "t.a"),
    ("WITH k AS (SELECT a, b AS l FROM t) SELECT a, l FROM k", "t.a t.b"),
    ("WITH k AS (SELECT a FROM t) SELECT x.a, y.a FROM k AS x, k AS y", "t.a t.a"),
    ("WITH k AS MATERIALIZED (SELECT a FROM t) SELECT * FROM k", "t.a"),
    ("WITH k (z) AS (SELECT a FROM t), l AS (SELECT z AS o FROM k) SELECT o FROM l", "t.a"),
    (
        "WITH RECURSIVE k AS (SELECT a FROM t UNION ALL SELECT a + 1 FROM k WHERE a < 3) SELECT a FROM k",
        "-",
    ),
    ("WITH RECURSIVE k AS (SELECT a FROM t) SELECT a FROM k", "t.a"),
    // Views are relations.
    ("SELECT x, y, z, s FROM v", "v.x v.y v.z v.s"),
    ("SELECT * FROM v", "v.x v.y v.z v.s"),
    ("SELECT o.z AS k FROM v AS o", "v.z"),
    ("SELECT * FROM vv", "vv.y vv.x"),
    ("SELECT y FROM (SELECT * FROM vv) AS s", "vv.y"),
    ("SELECT * FROM m", "m.a m.b"),
    // Set operations have columns of their own.
    ("SELECT a FROM t UNION SELECT a FROM t", "-"),
    ("SELECT a FROM t UNION ALL SELECT a FROM t", "-"),
    ("SELECT a FROM t INTERSECT SELECT a FROM t", "-"),
    ("SELECT a FROM t EXCEPT SELECT a FROM u", "-"),
    ("SELECT x FROM (SELECT a AS x FROM t UNION ALL SELECT a FROM t) AS s", "-"),
    ("VALUES (1)", "-"),
    ("SELECT * FROM (VALUES (1)) AS s", "-"),
    // Joins.
    ("SELECT t.a, w.a FROM t JOIN w ON t.a = w.a", "t.a w.a"),
    ("SELECT t.a, w.a FROM t LEFT JOIN w ON t.a = w.a", "t.a w.a"),
    ("SELECT t.a, w.a FROM t RIGHT JOIN w ON t.a = w.a", "t.a w.a"),
    ("SELECT t.a, w.a FROM t FULL JOIN w ON t.a = w.a", "t.a w.a"),
    ("SELECT a FROM t JOIN w USING (a)", "t.a"),
    ("SELECT a, t.a, w.a FROM t LEFT JOIN w USING (a)", "t.a t.a w.a"),
    ("SELECT a, t.a, w.a FROM t RIGHT JOIN w USING (a)", "w.a t.a w.a"),
    ("SELECT a, t.a, w.a FROM t FULL JOIN w USING (a)", "- t.a w.a"),
    ("SELECT * FROM t JOIN w USING (a)", "t.a t.b t.c t.d t.n w.b w.c"),
    ("SELECT * FROM t FULL JOIN w USING (a)", "- t.b t.c t.d t.n w.b w.c"),
    ("SELECT a FROM t JOIN u USING (a)", "u.a"),
    ("SELECT a FROM u JOIN t USING (a)", "u.a"),
    ("SELECT a FROM t LEFT JOIN u USING (a)", "-"),
    ("SELECT a FROM t RIGHT JOIN u USING (a)", "u.a"),
    ("SELECT b FROM t JOIN w USING (b)", "-"),
    ("SELECT c FROM t JOIN w USING (c)", "t.c"),
    ("SELECT a, b, c FROM t NATURAL JOIN w", "t.a - t.c"),
    ("SELECT * FROM t NATURAL LEFT JOIN w", "t.a - t.c t.d t.n"),
    ("SELECT j.a, j.e FROM (t JOIN u USING (a)) AS j (a, k, l, m, n, o, e)", "u.a u.e"),
    ("SELECT j.a FROM (t JOIN w USING (a)) AS j", "t.a"),
    ("SELECT a FROM t JOIN w USING (a) JOIN u USING (a)", "u.a"),
    // Groups, DISTINCT, order, windows, locks.
    ("SELECT a, count(*) FROM t GROUP BY a", "t.a -"),
    ("SELECT c, min(a) FROM t GROUP BY c", "t.c -"),
    ("SELECT b AS k, sum(a) FROM t GROUP BY k", "t.b -"),
    ("SELECT b AS k, sum(a) FROM t GROUP BY 1", "t.b -"),
    ("SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b)", "t.a t.b -"),
    ("SELECT b FROM t GROUP BY GROUPING SETS ((a), (b), ())", "t.b"),
    ("SELECT a, b FROM t GROUP BY a HAVING count(*) > 0", "t.a t.b"),
    ("SELECT max(a), min(b) FROM t", "- -"),
    ("SELECT DISTINCT a, c FROM t", "t.a t.c"),
    ("SELECT DISTINCT ON (b) a, b FROM t ORDER BY b", "t.a t.b"),
    ("SELECT b FROM t ORDER BY a", "t.b"),
    ("SELECT a AS k FROM t ORDER BY k DESC LIMIT 1", "t.a"),
    ("SELECT a, row_number() OVER (ORDER BY b), first_value(b) OVER () FROM t", "t.a - -"),
    ("SELECT b FROM t WHERE a = 1 FOR UPDATE", "t.b"),
    ("SELECT x.b FROM t AS x FOR SHARE OF x", "t.b"),
    // RETURNING.
    ("INSERT INTO t (a, b) VALUES (1, 'x') RETURNING *", "t.a t.b t.c t.d t.n"),
    ("INSERT INTO t (a, b) VALUES (2, 'x') RETURNING a, b AS k, a + 1", "t.a t.b -"),
    ("INSERT INTO t AS z (a) VALUES (3) RETURNING z.a, z.c", "t.a t.c"),
    (
        "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 'y' RETURNING a, b",
        "t.a t.b",
    ),
    ("INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING RETURNING a, b", "t.a t.b"),
    ("UPDATE t SET b = 'z' RETURNING a, b", "t.a t.b"),
    (
        "UPDATE t SET b = u.b FROM u WHERE u.a = t.a RETURNING t.a, u.a, t.b, u.b, u.e",
        "t.a u.a t.b u.b u.e",
    ),
    ("UPDATE t AS x SET b = 'z' RETURNING x.*", "t.a t.b t.c t.d t.n"),
    ("DELETE FROM t WHERE a = 2 RETURNING *", "t.a t.b t.c t.d t.n"),
    ("DELETE FROM t USING w WHERE w.a = t.a RETURNING w.b, t.b", "w.b t.b"),
    ("UPDATE vv SET x = 'k' RETURNING *", "vv.y vv.x"),
    ("DELETE FROM vv WHERE y = 3 RETURNING y", "vv.y"),
    ("INSERT INTO vv (y, x) VALUES (8, 'e') RETURNING x, y", "vv.x vv.y"),
    ("UPDATE vv AS k SET x = 'k' RETURNING k.y", "vv.y"),
    ("WITH k AS (INSERT INTO t (a) VALUES (5) RETURNING a, b) SELECT b, a FROM k", "t.b t.a"),
    ("WITH k AS (UPDATE t SET b = 'n' RETURNING a AS o) SELECT o FROM k", "t.a"),
    ("WITH k AS (DELETE FROM t WHERE a = 5 RETURNING *) SELECT * FROM k", "t.a t.b t.c t.d t.n"),
    (
        "WITH k AS (SELECT a FROM t) UPDATE t SET b = 'o' FROM k WHERE k.a = t.a RETURNING k.a, t.b",
        "t.a t.b",
    ),
    // Relations of other kinds.
    ("SELECT g FROM generate_series(1, 2) AS g", "-"),
    ("TABLE t", "t.a t.b t.c t.d t.n"),
    ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)", "t.a"),
    ("SELECT a, a, a AS b FROM t", "t.a t.a t.a"),
    ("SELECT unnest(ARRAY[a]), a FROM t", "- t.a"),
    ("SELECT y.* FROM t AS x, t AS y", "t.a t.b t.c t.d t.n"),
];

/// Of which column of which relation each column is that a message describes; zeros where it is of none.
fn described(message: &Message) -> Vec<(u32, u16)> {
    let (count, mut rest) = message.1.split_first_chunk::<2>().unwrap();
    let mut column = |_| {
        let name = rest.iter().position(|it| *it == 0).unwrap();
        let fields = &rest[name + 1..];
        rest = &fields[18..];
        let relation = u32::from_be_bytes(fields[..4].try_into().unwrap());
        (relation, u16::from_be_bytes(fields[4..6].try_into().unwrap()))
    };
    (0..i16::from_be_bytes(*count)).map(&mut column).collect()
}

/// The same of all the rows that are described in answer to some messages.
fn answered(raw: &mut Raw, bytes: &[u8]) -> Vec<Vec<(u32, u16)>> {
    raw.send(bytes);
    let messages = raw.until_ready();
    if let Some(error) = messages.iter().find(|it| it.0 == b'E') {
        panic!("{}: {}", String::from_utf8_lossy(bytes), error.field(b'M'));
    }
    messages.iter().filter(|it| it.0 == b'T').map(described).collect()
}

/// The values of the only column of a query.
fn values(raw: &mut Raw, sql: &str) -> Vec<String> {
    raw.send(&query(sql));
    let rows = raw.until_ready().into_iter().filter(|it| it.0 == b'D');
    rows.map(|it| String::from_utf8(it.1[6..].to_vec()).unwrap()).collect()
}

/// The columns of all relations, by the numbers that the catalog has for them.
fn columns(raw: &mut Raw) -> HashMap<(u32, u16), String> {
    let all = "SELECT c.oid || ' ' || a.attnum || ' ' || c.relname || '.' || a.attname
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid";
    let column = |it: String| {
        let parts: Vec<&str> = it.splitn(3, ' ').collect();
        ((parts[0].parse().unwrap(), parts[1].parse().unwrap()), parts[2].to_owned())
    };
    values(raw, all).into_iter().map(column).collect()
}

/// Columns by their names in the catalog.
fn names(known: &HashMap<(u32, u16), String>, columns: &[(u32, u16)]) -> String {
    let name = |it: &(u32, u16)| match it {
        (0, 0) => "-".to_owned(),
        it => known.get(it).cloned().unwrap_or_else(|| format!("{it:?}")),
    };
    columns.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// The same in the catalog as it is now.
fn named(raw: &mut Raw, columns: &[(u32, u16)]) -> String {
    names(&self::columns(raw), columns)
}

/// What a text of one statement describes.
fn origins(raw: &mut Raw, sql: &str) -> String {
    let answered = answered(raw, &query(sql));
    let [columns] = &answered[..] else { panic!("{sql}: {answered:?}") };
    named(raw, columns)
}

#[test]
fn rows_tell_of_which_tables_they_are() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    answered(&mut raw, &query(SETTING));
    let known = columns(&mut raw);
    let mut wrong = Vec::new();
    for &(sql, wanted) in STATEMENTS {
        let found = names(&known, &answered(&mut raw, &query(sql)).concat());
        // A statement tells the same before it runs.
        let before = [parse("", sql), frame(b'D', b"S\0"), sync()].concat();
        let before = names(&known, &answered(&mut raw, &before).concat());
        if found != wanted || before != wanted {
            wrong.push(format!("{sql}: {found}; before it runs {before}; not {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn rows_tell_of_which_tables_they_are_however_they_are_asked_for() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    answered(&mut raw, &query(SETTING));
    let text = "SELECT b, a + 1, a FROM t WHERE a > 0";
    assert_eq!(origins(&mut raw, text), "t.b - t.a");
    let statement = [parse("p", text), frame(b'D', b"Sp\0"), sync()].concat();
    let portal = [bind("", "p"), frame(b'D', b"P\0"), execute("", 0), sync()].concat();
    for bytes in [&statement, &portal, &portal] {
        let told = answered(&mut raw, bytes).concat();
        assert_eq!(named(&mut raw, &told), "t.b - t.a");
    }
    answered(&mut raw, &query("PREPARE k AS SELECT n, a FROM t WHERE a = $1"));
    assert_eq!(origins(&mut raw, "EXECUTE k (1)"), "t.n t.a");
    answered(&mut raw, &query("BEGIN; DECLARE c CURSOR FOR SELECT x, s FROM v"));
    assert_eq!(origins(&mut raw, "FETCH ALL FROM c"), "v.x v.s");
    let fetch = [parse("", "FETCH 1 FROM c"), bind("", ""), frame(b'D', b"P\0"), sync()].concat();
    let told = answered(&mut raw, &fetch).concat();
    assert_eq!(named(&mut raw, &told), "v.x v.s");
    answered(&mut raw, &query("COMMIT"));
    // Texts that differ in their numbers.
    for number in 1..5 {
        let sql = format!("SELECT b, {number}, a FROM t WHERE a = {number}");
        assert_eq!(origins(&mut raw, &sql), "t.b - t.a");
        let sql = format!("UPDATE t SET b = 'k' WHERE a = {number} RETURNING a, b");
        assert_eq!(origins(&mut raw, &sql), "t.a t.b");
    }
}

#[test]
fn plans_that_are_kept_tell_the_tables_of_now() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let text = "SELECT b, a FROM t";
    let portal = [bind("", "p"), frame(b'D', b"P\0"), sync()].concat();
    let mut is_prepared = false;
    for (change, wanted) in [
        ("CREATE TABLE t (a INTEGER, x INTEGER, b TEXT)", "t.b t.a"),
        ("INSERT INTO t VALUES (1, 2, 'k')", "t.b t.a"),
        ("INSERT INTO t VALUES (700, 2, 'k')", "t.b t.a"),
        ("ALTER TABLE t DROP COLUMN x", "t.b t.a"),
        ("ALTER TABLE t RENAME COLUMN a TO k; ALTER TABLE t ADD COLUMN a INTEGER", "t.b t.a"),
        ("DROP TABLE t; CREATE TABLE t (a INTEGER, b TEXT)", "t.b t.a"),
        ("DROP TABLE t; CREATE VIEW t AS SELECT 'x'::TEXT AS b, 1 AS a", "t.b t.a"),
        ("CREATE TEMPORARY TABLE t (b TEXT, a INTEGER)", "t.b t.a"),
    ] {
        answered(&mut raw, &query(change));
        assert_eq!(origins(&mut raw, text), wanted, "{change}");
        assert_eq!(origins(&mut raw, text), wanted, "{change}");
        if !std::mem::replace(&mut is_prepared, true) {
            answered(&mut raw, &[parse("p", text), sync()].concat());
        }
        let told = answered(&mut raw, &portal).concat();
        assert_eq!(named(&mut raw, &told), wanted, "{change}");
        let number = values(&mut raw, "SELECT 't'::regclass::oid");
        assert_eq!(number, [told[0].0.to_string()], "{change}");
    }
}

#[test]
fn rows_of_the_catalog_tell_of_which_views_they_are() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    answered(&mut raw, &query(SETTING));
    for (sql, of, column) in [
        ("SELECT last_value FROM q", "q", 1),
        ("SELECT oid, relname FROM pg_class", "pg_class", 1),
        ("SELECT typname FROM pg_type AS t", "pg_catalog.pg_type", 2),
        ("SELECT table_catalog FROM information_schema.tables", "information_schema.tables", 1),
    ] {
        let told = answered(&mut raw, &query(sql)).concat();
        let number = values(&mut raw, &format!("SELECT '{of}'::regclass::oid"));
        assert_eq!((told[0].0.to_string(), told[0].1), (number[0].clone(), column), "{sql}");
    }
}
