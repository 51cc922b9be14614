//! Compressed texts answer every query as those that are stored as they are.

use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};

/// Near-unique texts of many words, some NULL, from a product of small lists.
const ROWS: &str = "SELECT row_number_a * 400 + row_number_b * 20 + row_number_c AS k, \
    CASE WHEN row_number_c = 7 THEN NULL \
    ELSE a || ' sleeps ' || b || ' among the special ' || c || ' of ' || b END AS t \
    FROM (VALUES (0, 'quickly'), (1, 'the pinto bean'), (2, 'ironic deposits'), (3, 'Customer#7'), \
    (4, 'slyly'), (5, 'request'), (6, 'requests'), (7, 'furious'), (8, 'caf\u{e9}'), (9, '~!'), \
    (10, 'b'), (11, 'cc'), (12, 'd d d'), (13, 'eee')) AS x (row_number_a, a), \
    (SELECT k AS row_number_b, 'courts' || k || 'x' AS b FROM n) AS y, \
    (SELECT k AS row_number_c, 'asymptotes' || (k * k) AS c FROM n) AS z";

const QUERIES: [&str; 18] = [
    "SELECT count(*), count(t), min(t), max(t) FROM {t}",
    "SELECT k, t FROM {t} ORDER BY t DESC NULLS LAST, k LIMIT 50",
    "SELECT count(*) FROM {t} WHERE t LIKE '%special%asymptotes1%'",
    "SELECT count(*) FROM {t} WHERE t NOT LIKE '%special%asymptotes1%'",
    "SELECT count(*) FROM {t} WHERE t LIKE 'request%'",
    "SELECT count(*) FROM {t} WHERE t LIKE '%courts3x'",
    "SELECT count(*) FROM {t} WHERE t LIKE 'caf\u{e9}%asymptotes4 of%courts19x'",
    "SELECT count(*) FROM {t} WHERE t LIKE 'request_ %'",
    "SELECT count(*) FROM {t} WHERE t ILIKE '%CUSTOMER#%'",
    "SELECT count(*) FROM {t} WHERE t LIKE '%'",
    "SELECT count(*) FROM {t} WHERE t LIKE '%zzz%'",
    "SELECT k FROM {t} WHERE t = 'slyly sleeps courts3x among the special asymptotes25 of courts3x'",
    "SELECT k FROM {t} WHERE t > 'the pinto bean sleeps courts9x among the special asymptotes8' ORDER BY k",
    "SELECT substring(t FROM 1 FOR 5) AS s, count(*) FROM {t} GROUP BY s ORDER BY s NULLS FIRST",
    "SELECT upper(t) AS u, length(t) AS l FROM {t} WHERE k < 30 ORDER BY k",
    "SELECT count(*), min(a.k), max(b.k) FROM {t} a JOIN {t} b ON a.t = b.t",
    "SELECT t, count(*) FROM {t} WHERE k % 97 = 3 GROUP BY t ORDER BY t NULLS FIRST",
    "SELECT count(*) FROM {t} WHERE t IN ('x', 'eee sleeps courts1x among the special asymptotes9 of courts1x')",
];

fn session() -> Session {
    let database = Database::open(hardware_linux::open(), DatabaseOptions::default());
    let mut session = database.expect("the database opens").session();
    let numbers: Vec<String> = (0..20).map(|it| format!("({it})")).collect();
    run(&mut session, "CREATE TABLE n (k INT)");
    run(&mut session, &format!("INSERT INTO n VALUES {}", numbers.join(", ")));
    for (name, setting, design) in [
        ("raw", "off", ""),
        ("small", "all", ""),
        ("parts", "all", "PARTITION BY RANGE (k) (PARTITION VALUES < 1500, PARTITION OTHERS)"),
    ] {
        run(&mut session, &format!("SET text_compression = {setting}"));
        run(&mut session, &format!("CREATE TABLE {name} {design} AS {ROWS}"));
    }
    session
}

fn run(session: &mut Session, sql: &str) {
    session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn answer(session: &mut Session, sql: &str) -> String {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut lines = String::new();
    for batch in &answer.batches {
        let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            let texts: Vec<Option<String>> = cells.iter().map(|it| it.text(row)).collect();
            lines += &format!("{texts:?}\n");
        }
    }
    lines
}

#[test]
fn compressed_texts_answer_as_others() {
    let mut session = session();
    let encoding = |session: &mut Session, table: &str| {
        let sql = "SELECT encoding FROM nodewise.columns WHERE column_name = 't'";
        answer(session, &format!("{sql} AND table_name = '{table}'"))
    };
    assert!(encoding(&mut session, "raw").contains("plain"));
    assert!(encoding(&mut session, "small").contains("fsst"));
    assert!(encoding(&mut session, "parts").contains("fsst"));
    for round in ["as built", "with rows appended", "with an index"] {
        for query in QUERIES {
            let expected = answer(&mut session, &query.replace("{t}", "raw"));
            for table in ["small", "parts"] {
                let found = answer(&mut session, &query.replace("{t}", table));
                assert_eq!(found, expected, "{query} on {table} {round}");
            }
        }
        for table in ["raw", "small", "parts"] {
            if round == "as built" {
                run(
                    &mut session,
                    &format!(
                        "INSERT INTO {table} SELECT k + 100000, t || '!' FROM raw WHERE k < 500"
                    ),
                );
            } else if table != "parts" {
                run(&mut session, &format!("CREATE INDEX {table}_{} ON {table} (t)", round.len()));
            }
        }
    }
}

#[test]
fn the_setting_takes_three_words() {
    let mut session = session();
    let error = session.execute("SET text_compression = 'zstd'").unwrap_err();
    assert_eq!(error.state.0, "22023");
    assert!(error.to_string().contains("text_compression"), "{error}");
    assert!(answer(&mut session, "SHOW text_compression").contains("all"));
}
