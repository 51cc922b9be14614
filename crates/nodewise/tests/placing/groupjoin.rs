//! Groups that follow from the partner of a join are found by its number. The same groups by keys that hide where they come
//! from are found in the usual way: both must be equal.

use hardware::samples;
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;

/// Dimensions of 5000 rows by a scattered number and by a text, of which one comes twice, facts of 60,000 rows that have ten or twenty of each.
const TABLES: [&str; 4] = [
    "CREATE TABLE ten AS SELECT column1 AS n FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS it",
    "CREATE TABLE n AS SELECT CAST(a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS BIGINT) AS i
       FROM ten a, ten b, ten c, ten d",
    "CREATE TABLE d AS SELECT i * 1000003 % 998244353 AS id, 'key ' || CAST(i % 4999 AS VARCHAR) AS t,
            i / 2 * 7919 % 1000003 AS twice, i % 7 AS few,
            CASE WHEN i % 5 = 0 THEN NULL ELSE 'some ' || CAST(i AS VARCHAR) END AS some
       FROM n WHERE i < 5000",
    "CREATE TABLE f AS SELECT
            CASE WHEN b.n = 4 AND a.i % 3 = 0 THEN NULL ELSE a.i * 1000003 % 998244353 END AS fid,
            'key ' || CAST(a.i AS VARCHAR) AS ft, a.i / 2 * 7919 % 1000003 AS ftwice,
            CASE WHEN a.i % 11 = b.n THEN NULL ELSE CAST(a.i % 100 - b.n AS INTEGER) END AS v, b.n AS w
       FROM n a, ten b WHERE a.i < 6000",
];

fn session(workers: usize) -> Session {
    let topology = samples::by_name("laptop").expect("a sample machine");
    let options = DatabaseOptions { workers: Some(workers), ..DatabaseOptions::default() };
    let machine = SimulatedMachine::new(topology, workers as u64);
    let mut session = Database::open(machine, options).expect("opens").session();
    TABLES.iter().for_each(|it| _ = session.execute(it).expect("made"));
    session
}

/// The rows of an answer as text, sorted.
fn rows(session: &mut Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).unwrap_or_else(|it| panic!("{sql}: {it}"));
    let rows = answer.batches.iter().flat_map(|batch| {
        let columns: Vec<Cells> = batch.columns().iter().map(Cells::new).collect();
        let cell = |row: usize, it: &Cells| it.text(row).map_or("NULL".into(), |it| it.to_string());
        let row = |row: usize| columns.iter().map(|it| cell(row, it)).collect::<Vec<_>>();
        (0..batch.num_rows()).map(|it| row(it).join(" | ")).collect::<Vec<_>>()
    });
    let mut rows: Vec<String> = rows.collect();
    rows.sort();
    rows
}

fn is_by_number(session: &mut Session, sql: &str) -> bool {
    rows(session, &format!("EXPLAIN {sql}")).iter().any(|it| it.contains("the partner's number"))
}

/// A query as it is, and with keys that are not those of the join to look at.
fn check(session: &mut Session, keys: &[&str], rest: &str, from: &str) {
    let list = keys.join(", ");
    let hide = |key: &&str| match *key {
        text if ["d.t", "f.ft", "some"].contains(&text) => format!("({text} || '')"),
        number => format!("({number} + 0)"),
    };
    let names = (0..keys.len()).map(|it| format!("k{it}"));
    let hidden: Vec<String> = keys.iter().map(hide).collect();
    let named = |keys: &[String]| {
        let named = keys.iter().zip(names.clone()).map(|(key, name)| format!("{key} AS {name}"));
        named.collect::<Vec<_>>().join(", ")
    };
    let own: Vec<String> = keys.iter().map(|it| (*it).to_owned()).collect();
    let (having, aggregates) = rest.split_once("HAVING").map_or(("", rest), |it| (it.1, it.0));
    let having = if having.is_empty() { String::new() } else { format!(" HAVING {having}") };
    let sql = |shown: &str, by: &str| {
        format!("SELECT {shown}, {aggregates} FROM {from} GROUP BY {by}{having}")
    };
    let (sql, other) = (sql(&named(&own), &list), sql(&named(&hidden), &hidden.join(", ")));
    assert!(is_by_number(session, &sql), "{sql}");
    assert!(!is_by_number(session, &other), "{other}");
    let found = rows(session, &sql);
    assert!(found.len() > 100, "{sql}: {}", found.len());
    assert_eq!(found, rows(session, &other), "{sql}");
}

#[test]
fn groups_by_the_partners_number_are_the_groups_by_keys() {
    for workers in [1, 3] {
        let mut session = session(workers);
        let by_id = "d, f WHERE id = fid";
        let by_text = "d, f WHERE t = ft";
        let twice = "d, f WHERE twice = ftwice";
        let sums = "count(*) AS c, count(v) AS n, sum(v) AS s, min(v) AS a, max(v) AS z";
        let means = "avg(v) AS m, sum(v + few) AS p, count(DISTINCT v) AS u";
        for (keys, rest, from) in [
            // Each partner is a group.
            (&["d.id"][..], sums, by_id),
            (&["f.fid", "few", "some"], means, by_id),
            (&["d.id", "d.t"], "sum(v) AS s HAVING sum(v) > 300", by_id),
            (&["d.id"], sums, "d, f WHERE id = fid AND few + w < 7"),
            // One text comes twice, so partners are grouped once more.
            (&["d.t"], sums, by_text),
            (&["f.ft", "some"], sums, by_text),
            (&["d.t", "few"], "sum(v) AS s HAVING min(v) >= 0", by_text),
            // Keys that repeat, with several partners each, and keys that are coarser than rows.
            (&["d.twice", "few"], sums, twice),
            (&["twice", "some"], "max(w) AS z", "d, f WHERE id = fid"),
            (&["some", "few"], sums, by_id),
        ] {
            check(&mut session, keys, rest, from);
        }
    }
}

#[test]
fn first_groups_fetch_what_their_order_does_not_need() {
    let mut session = session(2);
    let sql =
        "SELECT d.id, few, some, sum(v) AS s FROM d, f WHERE id = fid GROUP BY d.id, few, some
                ORDER BY s DESC, id";
    assert!(is_by_number(&mut session, sql));
    let mut all = session.query(sql).expect("ordered").batches;
    let first = session.query(&format!("{sql} LIMIT 7")).expect("limited");
    assert_eq!(first.rows(), 7);
    let whole = all.swap_remove(0);
    assert_eq!(first.batches[0].columns(), whole.slice(0, 7).columns());
    // Ordered by what is fetched, it is fetched before.
    let sql = "SELECT d.id, some, sum(v) AS s FROM d, f WHERE id = fid GROUP BY d.id, some
                ORDER BY some, d.id LIMIT 3";
    let texts = rows(&mut session, sql);
    assert!(texts[0].contains("some 1 |") && texts[1].contains("some 1001 |"), "{texts:?}");
}

#[test]
fn groups_without_use_for_numbers_keep_their_way() {
    let mut session = session(2);
    for sql in [
        // Few groups; keys of both sides; as many partners as rows; rows without partner.
        "SELECT few, count(*) FROM d, f WHERE id = fid GROUP BY few",
        "SELECT d.id, w, count(*) FROM d, f WHERE id = fid GROUP BY d.id, w",
        "SELECT d.id, count(*) FROM d, f WHERE id = fid AND w = 1 GROUP BY d.id",
        "SELECT fid, few, count(*) FROM f LEFT JOIN d ON id = fid GROUP BY fid, few",
    ] {
        assert!(!is_by_number(&mut session, sql), "{sql}");
        assert!(!rows(&mut session, sql).is_empty());
    }
}
