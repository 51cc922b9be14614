//! EXISTS and NOT EXISTS with an inequality, planned in whatever way is cheapest, against pairs that are all looked at.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use hardware::samples;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;
use stdx::Prng;
use types::SqlState;

const OPERATORS: [&str; 5] = ["<>", "<", "<=", ">", ">="];

fn session(seed: u64) -> Session {
    let topology = samples::by_name("laptop").expect("a sample machine");
    let machine = SimulatedMachine::new(topology, seed);
    Database::open(machine, DatabaseOptions::default()).expect("opens").session()
}

/// The rows of one side: a number, two keys, and a value in several types.
struct Shape {
    rows: u64,
    keys: u64,
    values: u64,
    nulls: bool,
    /// Whether rows stand in the order of their first key.
    rising: bool,
}

fn fill(session: &mut Session, name: &str, shape: &Shape, prng: &mut Prng) {
    let columns = "id INTEGER, k INTEGER, h INTEGER, i INTEGER, m DECIMAL(9, 2), f DOUBLE PRECISION, \
                   t VARCHAR(20), d DATE";
    session.execute(&format!("CREATE TABLE {name} ({columns})")).expect("made");
    let mut rows: Vec<(u64, String)> = Vec::new();
    for _ in 0..shape.rows {
        let key = prng.below(shape.keys);
        let value = |prng: &mut Prng, text: fn(u64) -> String| match prng.below(6) {
            0 if shape.nulls => "NULL".to_owned(),
            _ => text(prng.below(shape.values)),
        };
        let float = |it: u64| {
            let text = match it {
                0 => "NaN".to_owned(),
                1 => "-0.0".to_owned(),
                2 => "0.0".to_owned(),
                it => format!("{it}.5"),
            };
            format!("CAST('{text}' AS DOUBLE PRECISION)")
        };
        let row = [
            if shape.nulls && prng.below(9) == 0 { "NULL".to_owned() } else { key.to_string() },
            value(prng, |it| (it % 2).to_string()),
            value(prng, |it| (it as i64 - 3).to_string()),
            value(prng, |it| format!("{it}.25")),
            value(prng, float),
            value(prng, |it| format!("'{}'", ["", "a", "ab", "b", "\u{e4}"][it as usize % 5])),
            value(prng, |it| format!("DATE '2020-01-{:02}'", it % 28 + 1)),
        ];
        rows.push((key, row.join(", ")));
    }
    if shape.rising {
        rows.sort_by_key(|it| it.0);
    }
    for (part, rows) in rows.chunks(500).enumerate() {
        let rows = rows.iter().enumerate();
        let rows: Vec<String> =
            rows.map(|(place, row)| format!("({}, {})", part * 500 + place, row.1)).collect();
        let sql = format!("INSERT INTO {name} VALUES {}", rows.join(", "));
        session.execute(&sql).expect("filled");
    }
}

fn numbers(session: &mut Session, sql: &str) -> Vec<i32> {
    let answer = session.query(sql).unwrap_or_else(|it| panic!("{sql}: {it}"));
    let columns = answer.batches.iter().map(|it| it.column(0).as_primitive::<Int32Type>());
    let mut numbers: Vec<i32> = columns.flat_map(|it| it.values().to_vec()).collect();
    numbers.sort_unstable();
    numbers
}

fn plan(session: &mut Session, sql: &str) -> String {
    let answer = session.query(&format!("EXPLAIN {sql}")).expect("explains");
    let lines = answer.batches.iter().flat_map(|it| {
        let column = nodewise::text::Cells::new(it.column(0));
        (0..it.num_rows())
            .filter_map(|row| column.text(row).map(|it| it.to_string()))
            .collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Compares all operators for one pair of tables; counts the ways that plans took.
fn check(seed: u64, ways: &mut [usize; 3]) {
    let mut prng = Prng::new(seed);
    let mut session = session(seed);
    let sizes = [(2000, 60), (300, 1500), (1500, 100), (900, 1200), (200, 0), (1, 50)];
    let (left, right) = sizes[seed as usize % sizes.len()];
    let shape = |rows, prng: &mut Prng| Shape {
        rows,
        keys: [1, 7, 60, 4000][prng.below(4) as usize],
        values: [1, 2, 30][prng.below(3) as usize],
        nulls: prng.below(2) == 0,
        rising: prng.below(2) == 0,
    };
    for (name, rows) in [("l", left), ("r", right)] {
        let shape = shape(rows, &mut prng);
        fill(&mut session, name, &shape, &mut prng);
    }
    for _ in 0..12 {
        let column = ["i", "m", "f", "t", "d"][prng.below(5) as usize];
        let operator = OPERATORS[prng.below(5) as usize];
        let comparison = match prng.below(3) {
            0 => format!("l.{column} {operator} r.{column}"),
            1 if column == "i" => format!("r.i + 1 {operator} l.i * 2"),
            _ => format!("r.{column} {operator} l.{column}"),
        };
        let keys = ["r.k = l.k", "r.k = l.k AND l.h = r.h", "l.k = r.h"][prng.below(3) as usize];
        let inner = ["", " AND r.i > 0", " AND r.t = 'a'"][prng.below(3) as usize];
        let outer = ["TRUE", "l.i <= 5", "l.id % 50 = 1"][prng.below(3) as usize];
        let on = format!("{keys} AND {comparison}{inner}");
        let pairs = format!("SELECT DISTINCT l.id FROM l JOIN r ON {on} WHERE {outer}");
        let with = numbers(&mut session, &pairs);
        let all = numbers(&mut session, &format!("SELECT id FROM l WHERE {outer}"));
        let without: Vec<i32> =
            all.into_iter().filter(|it| with.binary_search(it).is_err()).collect();
        for (negation, expected) in [("", &with), ("NOT ", &without)] {
            let sql = format!(
                "SELECT id FROM l WHERE {outer} AND {negation}EXISTS (SELECT * FROM r WHERE {on})"
            );
            assert_eq!(numbers(&mut session, &sql), *expected, "seed {seed}: {sql}");
            let plan = plan(&mut session, &sql);
            let way = if plan.contains("min(") || plan.contains("max(") {
                0
            } else if plan.contains("marking join") {
                1
            } else {
                2
            };
            ways[way] += 1;
        }
    }
}

#[test]
fn exists_with_an_inequality_is_what_pairs_say() {
    let mut ways = [0; 3];
    (0..18).for_each(|seed| check(seed, &mut ways));
    assert!(ways.iter().all(|it| *it > 8), "grouped, marked, by pairs: {ways:?}");
}

#[test]
fn rows_without_a_partner_raise_no_error() {
    let mut session = session(3);
    // Keys up to 9 have a divisor of zero, and no row of the other side.
    for sql in [
        "CREATE TABLE ten AS SELECT column1 AS n
           FROM (VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS it",
        "CREATE TABLE n AS SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS i
           FROM ten a, ten b, ten c, ten d",
        "CREATE TABLE r AS SELECT i % 50 AS k, CASE WHEN i % 50 < 10 THEN 0 ELSE 1 + i % 6 END AS b FROM n",
        "CREATE TABLE l AS SELECT i % 50 AS k, i AS a FROM n WHERE i % 50 BETWEEN 10 AND 19",
    ] {
        session.execute(sql).expect("filled");
    }
    for sql in [
        "SELECT a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND l.a <> 10 / r.b)",
        "SELECT a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND 10 / r.b < l.a)",
        "SELECT l.a FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND l.a < -10 / r.b)",
    ] {
        assert_eq!(session.query(sql).expect("no error").rows(), 2000, "{sql}");
    }
    let asked =
        "SELECT a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k + 10 = l.k AND l.a <> 10 / r.b)";
    assert_eq!(
        session.query(asked).expect_err("a partner has one").state,
        SqlState::DIVISION_BY_ZERO
    );
}
