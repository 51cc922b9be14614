//! Row groups of Parquet files are read only where a query may want rows of them, and never is a row missing.

use crate::scratch::Scratch;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;

fn session() -> Session {
    let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 5);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

/// Rows of many types, rising with their number; NULL in between, and NaN among floats.
const ROWS: &str = "SELECT i AS a, (i / 100.0)::decimal(12, 2) AS c, DATE '2020-01-01' + (i / 50)::int AS d, \
    TIMESTAMP '2020-01-01' + i * INTERVAL '1 minute' AS t, CASE WHEN i % 7 <> 0 THEN i END AS n, \
    CASE WHEN i % 1000 = 1 THEN 'NaN'::double ELSE i::double END AS f, lpad(i::text, 6, '0') AS s, \
    lpad(i::text, 6, '0')::char(10) AS p, -i AS m, 9000000000000000000 + i::decimal(38) AS w \
    FROM generate_series(0, 39999) AS g(i)";

/// Conditions, and reads of the file with several of them.
const QUERIES: [&str; 34] = [
    "SELECT count(*), sum(a) FROM the_file WHERE a = 12345",
    "SELECT count(*), sum(a) FROM the_file WHERE a IN (3, 12345, 39999)",
    "SELECT count(*), sum(a) FROM the_file WHERE a IN (3, NULL)",
    "SELECT count(*), sum(a) FROM the_file WHERE a BETWEEN 12000 AND 12010 OR a = 5",
    "SELECT count(*), sum(a) FROM the_file WHERE 30000 < a AND a <= 30010",
    "SELECT count(*), sum(a) FROM the_file WHERE a > 12.5 AND a < 13.5",
    "SELECT count(*), sum(a) FROM the_file WHERE a < 10.0::double",
    "SELECT count(*), sum(a) FROM the_file WHERE m BETWEEN -12010 AND -12000",
    "SELECT count(*), sum(a) FROM the_file WHERE c >= 399.5",
    "SELECT count(*), sum(a) FROM the_file WHERE c > 399.995",
    "SELECT count(*), sum(a) FROM the_file WHERE d = DATE '2020-06-01'",
    "SELECT count(*), sum(a) FROM the_file WHERE d > TIMESTAMP '2022-01-01 12:00:00'",
    "SELECT count(*), sum(a) FROM the_file WHERE t < DATE '2020-01-02'",
    "SELECT count(*), sum(a) FROM the_file WHERE t BETWEEN '2020-01-05' AND '2020-01-06'",
    "SELECT count(*), sum(a) FROM the_file WHERE n = 12345",
    "SELECT count(*), sum(a) FROM the_file WHERE n IS NULL AND a < 100",
    "SELECT count(*), count(f) FROM the_file WHERE f > 39990",
    "SELECT count(*), sum(a) FROM the_file WHERE f < 10",
    "SELECT count(*), sum(a) FROM the_file WHERE s >= '039990'",
    "SELECT count(*), sum(a) FROM the_file WHERE s = '012345   '::char(10)",
    "SELECT count(*), sum(a) FROM the_file WHERE p = '012345'",
    "SELECT count(*), sum(a) FROM the_file WHERE w > 9000000000000039990",
    "SELECT count(*), sum(a) FROM the_file WHERE a = (SELECT max(a) FROM the_file)",
    "SELECT count(*), sum(x.a), sum(y.a) FROM the_file x JOIN the_file y ON y.a = x.a + 30000 WHERE x.a < 5",
    "SELECT count(*), sum(x.a), sum(y.a) FROM the_file x LEFT JOIN the_file y ON y.a = x.a AND y.a < 3 WHERE x.a < 5",
    "SELECT count(*), sum(x.a), count(y.a) FROM the_file x FULL JOIN (SELECT * FROM the_file WHERE a > 39990) y ON y.a = x.a WHERE x.a < 5 OR x.a IS NULL",
    "SELECT count(*) FROM the_file x WHERE x.a < 5 AND NOT EXISTS (SELECT 1 FROM the_file y WHERE y.a = x.a + 39997)",
    "SELECT count(*) FROM the_file x WHERE x.a > 39990 AND x.a - 39990 IN (SELECT y.a FROM the_file y WHERE y.a < 5)",
    "SELECT count(*), sum(b) FROM (SELECT a + 1 AS b FROM the_file UNION ALL SELECT a FROM the_file WHERE a < 3) u WHERE b > 39999",
    "SELECT sum(k) FROM (SELECT a, count(*) OVER () AS k FROM the_file) w WHERE a < 2",
    "SELECT count(*) FROM (SELECT a FROM the_file ORDER BY a DESC LIMIT 10) w WHERE a > 5",
    "SELECT max(k) FROM (SELECT d, count(*) AS k FROM the_file GROUP BY d) w WHERE d > DATE '2022-01-01'",
    "WITH few AS (SELECT * FROM the_file WHERE a < 3), many AS (SELECT * FROM the_file WHERE a > 39996) \
     SELECT (SELECT sum(a) FROM few), (SELECT sum(a) FROM many)",
    "WITH RECURSIVE r AS (SELECT a FROM the_file WHERE a = 3 UNION ALL SELECT y.a FROM r JOIN the_file AS y ON y.a = r.a * 10 WHERE y.a < 39999) \
     SELECT count(*), sum(a) FROM r",
];

#[test]
fn no_row_is_missing_that_a_query_wants() {
    let scratch = Scratch::new("parquet-groups");
    let mut session = session();
    session.execute(&format!("CREATE TABLE whole AS {ROWS}")).unwrap();
    let write = "COPY whole TO 'DIR/f.parquet' (ROW_GROUP_SIZE 1000)";
    assert_eq!(scratch.error(&mut session, write), "done: COPY 40000");
    // What a file has of a type may be another one: CHAR is text in it.
    scratch.run(&mut session, "CREATE TABLE loaded AS SELECT * FROM 'DIR/f.parquet'").unwrap();
    for query in QUERIES {
        let of = |table: &str| query.replace("the_file", table);
        let expected = scratch.rows(&mut session, &of("loaded"));
        let found = scratch.rows(&mut session, &of("'DIR/f.parquet'"));
        assert_eq!(found, expected, "{query}");
    }
}
