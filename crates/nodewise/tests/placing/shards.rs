//! Queries through a coordinator and several shards, in one process: the same answers as of one engine, or a clear refusal.

use hardware::Machine;
use nodewise::distributed::{Coordinator, LocalShard, Shard, shard_of};
use nodewise::{Database, DatabaseOptions, Session, tpch};
use stdx::prng::Prng;
use stdx::sync::Arc;

use crate::common::{data, sorted_texts, texts};

const SCALE: f64 = 0.01;
const KEYS: [(&str, &str); 2] = [("lineitem", "l_orderkey"), ("orders", "o_orderkey")];

/// Queries that take more than each shard's share of the work and what is made of that.
const SEVERAL: [&str; 5] = ["q13", "q15", "q17", "q20", "q22"];

fn options() -> DatabaseOptions {
    DatabaseOptions { workers: Some(1), ..DatabaseOptions::default() }
}

fn session_of(machine: &Arc<dyn Machine>) -> Session {
    Database::open(machine.clone(), options()).unwrap().session()
}

/// A coordinator of as many shards of TPC-H.
fn tpch_shards(count: usize) -> Coordinator {
    let machine: Arc<dyn Machine> = hardware_linux::open();
    let folder = data(SCALE);
    let shard = |number: usize| -> Box<dyn Shard> {
        let mut session = session_of(&machine);
        for table in tpch::TABLES {
            let key = KEYS.iter().find(|it| it.0 == table).map(|it| shard_of(it.1, count));
            let own = key.map(|it| format!("WHERE {it} = {number}")).unwrap_or_default();
            let path = folder.join(format!("{table}.parquet"));
            let sql = format!("CREATE TABLE {table} AS SELECT * FROM '{}' {own}", path.display());
            session.execute(&sql).unwrap();
        }
        Box::new(LocalShard::new(session.database()))
    };
    let shards = (0..count).map(shard).collect();
    Coordinator::open(machine.clone(), options(), shards, &KEYS).unwrap()
}

#[test]
fn tpch_through_shards_has_its_answers() {
    for count in [2, 4] {
        let mut coordinator = tpch_shards(count);
        for (name, sql) in tpch::queries() {
            let steps = coordinator.explain(sql).unwrap();
            let is_simple = steps.len() <= 2 && !steps[0].contains("value");
            assert_eq!(is_simple, !SEVERAL.contains(name), "{name}: {steps:#?}");
            let answer =
                coordinator.query(sql).unwrap_or_else(|it| panic!("{name}: {it:?}\n{steps:?}"));
            tpch::check(name, SCALE, &answer.batches)
                .unwrap_or_else(|it| panic!("{name}, {count} shards: {it}\n{steps:#?}"));
        }
    }
}

#[test]
fn steps_are_as_few_as_they_can_be() {
    let mut coordinator = tpch_shards(2);
    let mut steps = |sql: &str| coordinator.explain(sql).unwrap();
    let two_phases = ["all shards: rows of lineitem, grouped", "coordinator: the answer"];
    assert_eq!(steps("SELECT l_returnflag, avg(l_tax) FROM lineitem GROUP BY 1"), two_phases);
    assert_eq!(steps("SELECT count(*) FROM lineitem"), two_phases);
    let joined =
        ["all shards: rows of customer, lineitem, orders, grouped", "coordinator: the answer"];
    let by_key =
        "FROM lineitem, orders, customer WHERE l_orderkey = o_orderkey AND o_custkey = c_custkey";
    assert_eq!(steps(&format!("SELECT sum(l_tax) {by_key}")), joined);
    // Whole groups, which HAVING and the order go with.
    let whole = ["all shards: rows of lineitem", "coordinator: the answer"];
    assert_eq!(
        steps(
            "SELECT l_orderkey, stddev(l_tax) FROM lineitem GROUP BY 1 HAVING count(*) > 3 ORDER BY 2 LIMIT 3"
        ),
        whole
    );
    assert_eq!(steps("SELECT 1"), ["one shard: the answer"]);
    assert_eq!(
        steps("SELECT count(*) FROM part, region"),
        ["one shard: the answer of part, region, grouped"]
    );
    let exists = "SELECT count(*) FROM orders WHERE EXISTS \
        (SELECT FROM lineitem WHERE l_orderkey = o_orderkey AND l_tax > 0.07)";
    assert_eq!(steps(exists)[0], "all shards: rows of lineitem, orders, grouped");
    let mean = "SELECT count(*) FROM lineitem WHERE l_tax > (SELECT avg(l_tax) FROM lineitem)";
    assert_eq!(
        steps(mean),
        [
            "all shards: rows of lineitem, grouped",
            "coordinator: a value",
            "all shards: rows of lineitem, grouped",
            "coordinator: the answer",
        ]
    );
}

#[test]
fn what_shards_cannot_answer_is_refused() {
    let mut coordinator = tpch_shards(2);
    let refused = [
        ("SELECT random() FROM lineitem", "0A000"),
        ("SELECT count(*) FROM nodewise.tables", "0A000"),
        (
            "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r, orders",
            "0A000",
        ),
        ("SELECT * FROM orders FOR UPDATE", "0A000"),
        ("DELETE FROM orders", "0A000"),
        ("SELECT 1; SELECT 2", "0A000"),
        ("", "42601"),
        ("SELECT * FROM nothing", "42P01"),
        ("SELECT wrong FROM orders", "42703"),
        ("SELECT o_orderkey FROM orders WHERE o_orderkey = $1", "42P02"),
        ("SELECT 1 / (o_orderkey - o_orderkey) FROM orders", "22012"),
        ("SELECT (SELECT o_orderkey FROM orders) FROM region", "21000"),
    ];
    for (sql, state) in refused {
        let error = coordinator.query(sql).expect_err(sql);
        assert_eq!(error.state.0, state, "{sql}: {error:?}");
    }
    assert_eq!(coordinator.query("SELECT count(*) FROM region").unwrap().rows(), 1);
    let unasked =
        "SELECT CASE WHEN r_name = '' THEN (SELECT o_orderkey FROM orders) END FROM region";
    assert_eq!(coordinator.query(unasked).unwrap().rows(), 5);
}

/// A shard that ends before its second reply.
struct Dying(LocalShard, usize);

impl Shard for Dying {
    fn ask(&mut self, request: &[u8]) -> nodewise::SqlResult<()> {
        self.0.ask(request)
    }

    fn answer(&mut self) -> nodewise::SqlResult<Vec<u8>> {
        self.1 += 1;
        match self.1 {
            1 => self.0.answer(),
            _ => Err(nodewise::SqlError::new(nodewise::SqlState::IO_ERROR, "it has ended")),
        }
    }
}

#[test]
fn wrong_shards_are_refused_and_lost_ones_told() {
    let machine: Arc<dyn Machine> = hardware_linux::open();
    let shard = |statements: &str| {
        let mut session = session_of(&machine);
        session.execute(statements).unwrap();
        LocalShard::new(session.database())
    };
    let open = |first: &str, second: &str, keys: &[(&str, &str)]| {
        let shards: Vec<Box<dyn Shard>> = vec![Box::new(shard(first)), Box::new(shard(second))];
        Coordinator::open(machine.clone(), options(), shards, keys)
    };
    let (even, odd) = ("CREATE TABLE t AS SELECT 2 AS k", "CREATE TABLE t AS SELECT -7 AS k");
    let state = |opened: nodewise::SqlResult<Coordinator>| opened.err().map(|it| it.state.0);
    assert_eq!(state(open(even, odd, &[("t", "k")])), None);
    assert_eq!(state(open(odd, even, &[("t", "k")])), Some("55000"), "rows in the wrong shard");
    let null = "CREATE TABLE t (k int); INSERT INTO t VALUES (NULL)";
    assert_eq!(state(open(null, odd, &[("t", "k")])), Some("55000"), "NULL is in no shard");
    assert_eq!(state(open(even, odd, &[("t", "x")])), Some("55000"));
    assert_eq!(state(open(even, odd, &[("u", "k")])), Some("55000"));
    let text = "CREATE TABLE t AS SELECT 'a' AS k";
    assert_eq!(state(open(text, text, &[("t", "k")])), Some("55000"));
    assert_eq!(state(open(even, text, &[])), Some("55000"));
    let two = "CREATE TABLE t AS SELECT generate_series(1, 2) AS k";
    assert_eq!(
        state(open(even, two, &[])),
        Some("55000"),
        "a whole table has as many rows everywhere"
    );
    let dying = Box::new(Dying(shard(odd), 0));
    let shards: Vec<Box<dyn Shard>> = vec![Box::new(shard(even)), dying];
    let mut coordinator = Coordinator::open(machine.clone(), options(), shards, &[]).unwrap();
    for _ in 0..2 {
        // What was lost stays lost.
        let sql = "SELECT k FROM t";
        assert!(coordinator.query(sql).is_ok(), "the first shard has all that is asked");
    }
}

/// Three tables: two cut by the same numbers, one whole.
const TABLES: &str = "
    CREATE TABLE facts (id int, k bigint, g int, a int, b numeric(10,2), d double precision, t text, day date);
    CREATE TABLE heads (k bigint, x int, y varchar(5));
    CREATE TABLE dims (id int, name char(4), v numeric(6,1));";

fn rows_of(random: &mut Prng) -> Vec<(&'static str, Option<i64>, String)> {
    let mut rows = Vec::new();
    let null =
        |random: &mut Prng, it: String| if random.below(6) == 0 { "NULL".to_owned() } else { it };
    for id in 0..150 {
        let k = random.below(40) as i64 - 10;
        let (g, a) = (random.below(5).to_string(), (random.below(20) as i64 - 9).to_string());
        let b = format!("{}.{:02}", random.below(90) as i64 - 30, random.below(100));
        let d = format!("{}", random.below(64) as f64 / 4.0);
        let t = format!("'{}'", ["ab", "b", "", "cde", "\u{e9}"][random.below(5) as usize]);
        let day = format!("DATE '2020-01-0{}'", 1 + random.below(9));
        let values = [g, a, b, d, t, day].map(|it| null(random, it)).join(", ");
        rows.push(("facts", Some(k), format!("({id}, {k}, {values})")));
    }
    for k in -12..25 {
        let (x, y) = (random.below(9).to_string(), format!("'y{}'", random.below(4)));
        let values = [x, y].map(|it| null(random, it)).join(", ");
        rows.push(("heads", Some(k), format!("({k}, {values})")));
    }
    for id in 0..6 {
        let (name, v) = (format!("'n{}'", id % 4), format!("{id}.5"));
        rows.push(("dims", None, format!("({id}, {}, {v})", null(random, name))));
    }
    rows
}

/// What may stand in FROM, with numbers and texts that may stand elsewhere.
const SHAPES: [(&str, &[&str], &[&str]); 15] = [
    ("facts f", &["f.a", "f.g", "f.k", "f.b", "f.id"], &["f.t"]),
    ("facts f JOIN heads h ON f.k = h.k", &["f.a", "f.g", "h.k", "h.x", "f.b"], &["f.t", "h.y"]),
    ("facts f LEFT JOIN heads h ON f.k = h.k AND h.x > 3", &["f.a", "f.k", "h.x"], &["h.y"]),
    ("heads h LEFT JOIN facts f USING (k)", &["f.a", "h.k", "h.x", "f.g"], &["f.t"]),
    ("heads h FULL JOIN facts f ON f.k = h.k + 0", &["f.a", "h.k", "h.x", "f.g"], &["f.t"]),
    ("heads h FULL JOIN facts f ON f.k = h.k", &["f.a", "f.k", "h.x", "f.g"], &["f.t", "h.y"]),
    ("facts f JOIN dims m ON f.g = m.id", &["f.a", "f.g", "m.v", "f.k"], &["f.t", "m.name"]),
    ("dims m LEFT JOIN facts f ON f.g = m.id", &["f.a", "m.id", "m.v"], &["f.t", "m.name"]),
    ("facts f JOIN facts h ON f.a = h.g", &["f.a", "h.a", "f.k", "h.k"], &["f.t", "h.t"]),
    ("facts f JOIN facts h ON f.k = h.k AND f.id < h.id", &["f.a", "h.a", "f.k"], &["h.t"]),
    (
        "(SELECT k, sum(a) AS a, count(*) AS g, max(t) AS t FROM facts GROUP BY k) f JOIN heads h ON f.k = h.k",
        &["f.a", "f.g", "h.x"],
        &["f.t", "h.y"],
    ),
    ("(SELECT * FROM facts ORDER BY b, id LIMIT 20) f", &["f.a", "f.k", "f.b"], &["f.t"]),
    (
        "(SELECT a, k, t FROM facts UNION ALL SELECT id, k, y FROM facts JOIN heads USING (k) UNION ALL SELECT id, id, name FROM dims) f",
        &["f.a", "f.k"],
        &["f.t"],
    ),
    ("(SELECT DISTINCT g, a, t FROM facts) f", &["f.a", "f.g"], &["f.t"]),
    (
        "(SELECT k, a, t, row_number() OVER (PARTITION BY k ORDER BY id) AS n, sum(a) OVER (PARTITION BY g) AS s FROM facts) f",
        &["f.a", "f.n", "f.s", "f.k"],
        &["f.t"],
    ),
];

fn one<'a>(random: &mut Prng, of: &[&'a str]) -> &'a str {
    of[random.below(of.len() as u64) as usize]
}

fn condition(random: &mut Prng, numbers: &[&str], texts: &[&str]) -> String {
    let (a, b, t) = (one(random, numbers), one(random, numbers), one(random, texts));
    let n = random.below(9);
    match random.below(14) {
        0 => format!("{a} > {n}"),
        1 => format!("{a} <= {b}"),
        2 => format!("{t} LIKE '%b%'"),
        3 => format!("{t} IS NOT NULL"),
        4 => format!("EXISTS (SELECT FROM facts e WHERE e.k = {a} AND e.a > {n})"),
        5 => format!("NOT EXISTS (SELECT FROM heads e WHERE e.k = {a} AND e.x < {b})"),
        6 => format!("{a} IN (SELECT k FROM heads WHERE x > {n})"),
        7 => format!("{a} NOT IN (SELECT a FROM facts WHERE g = {n})"),
        8 => format!("{a} > (SELECT avg(a) FROM facts)"),
        9 => format!("{a} >= (SELECT min(e.a) FROM facts e WHERE e.g = {b})"),
        10 => format!("{a} >= ALL (SELECT e.x FROM heads e WHERE e.k = {b})"),
        11 => format!("{a} = (SELECT max(id) FROM dims) OR {b} < {n}"),
        12 => format!("({a} = {n} OR {a} = {b} OR {t} = 'b')"),
        _ => format!("coalesce({a}, 0) BETWEEN -3 AND {n}"),
    }
}

fn aggregate(random: &mut Prng, numbers: &[&str], texts: &[&str]) -> String {
    let (a, b, t) = (one(random, numbers), one(random, numbers), one(random, texts));
    match random.below(15) {
        0 => "count(*)".to_owned(),
        1 => format!("count({a})"),
        2 => format!("sum({a})"),
        3 => format!("avg({a})"),
        4 => format!("min({t})"),
        5 => format!("max({a})"),
        6 => format!("count(DISTINCT {a})"),
        7 => format!("sum(DISTINCT {a})"),
        8 => format!("count(*) FILTER (WHERE {a} > 2)"),
        9 => format!("var_pop({a})"),
        10 => format!("string_agg({t}, ',' ORDER BY {t}, {a})"),
        11 => format!("sum({a} * 2 + coalesce({b}, 1))"),
        12 => format!("bool_and({a} > 0)"),
        13 => format!("avg(trunc({a})::double precision)"),
        _ => format!("array_agg({a} ORDER BY {a})"),
    }
}

fn random_query(random: &mut Prng) -> String {
    let (from, numbers, texts) = SHAPES[random.below(SHAPES.len() as u64) as usize];
    let mut conditions: Vec<String> = Vec::new();
    for _ in 0..random.below(3) {
        conditions.push(condition(random, numbers, texts));
    }
    let filter = match conditions.is_empty() {
        true => String::new(),
        false => format!("WHERE {}", conditions.join(" AND ")),
    };
    let mut keys: Vec<String> = Vec::new();
    for _ in 0..random.below(3) {
        let key = match random.below(3) {
            0 => one(random, texts).to_owned(),
            1 => format!("{} % 3", one(random, numbers)),
            _ => one(random, numbers).to_owned(),
        };
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let mut columns = keys.clone();
    let is_grouped = random.below(4) > 0;
    if is_grouped {
        for _ in 0..=random.below(3) {
            columns.push(aggregate(random, numbers, texts));
        }
    } else {
        columns.push(one(random, numbers).to_owned());
        columns.push(one(random, texts).to_owned());
    }
    let mut sql = format!("SELECT {} FROM {from} {filter}", columns.join(", "));
    if is_grouped && !keys.is_empty() {
        let by = match random.below(8) {
            0 => format!("ROLLUP ({})", keys.join(", ")),
            _ => keys.join(", "),
        };
        sql += &format!(" GROUP BY {by}");
        if random.below(3) == 0 {
            sql += &format!(" HAVING count(*) > {}", random.below(4));
        }
    }
    if random.below(2) == 0 {
        let places: Vec<String> = (1..=columns.len()).map(|it| it.to_string()).collect();
        sql += &format!(" ORDER BY {}", places.join(", "));
        if random.below(2) == 0 {
            sql += &format!(" LIMIT {} OFFSET {}", 1 + random.below(9), random.below(4));
        }
    }
    sql
}

#[test]
fn random_queries_through_three_shards_are_those_of_one_engine() {
    let machine: Arc<dyn Machine> = hardware_linux::open();
    let mut random = Prng::new(5);
    let rows = rows_of(&mut random);
    let filled = |of: &dyn Fn(Option<i64>) -> bool| {
        let mut session = session_of(&machine);
        session.execute(TABLES).unwrap();
        for (table, key, values) in &rows {
            if of(*key) {
                session.execute(&format!("INSERT INTO {table} VALUES {values}")).unwrap();
            }
        }
        session
    };
    let mut whole = filled(&|_| true);
    let shard = |number: i64| -> Box<dyn Shard> {
        let session = filled(&|key| key.is_none_or(|it| it.rem_euclid(3) == number));
        Box::new(LocalShard::new(session.database()))
    };
    let shards = (0..3).map(shard).collect();
    let keys = [("facts", "k"), ("heads", "k")];
    let mut coordinator = Coordinator::open(machine.clone(), options(), shards, &keys).unwrap();
    let count = std::env::var("NODEWISE_SHARD_CASES").ok().and_then(|it| it.parse().ok());
    let (mut full, mut failed) = (0, 0);
    let first: u64 =
        std::env::var("NODEWISE_SHARD_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(0);
    let count = count.unwrap_or(250);
    for seed in first..first + count {
        let sql = random_query(&mut Prng::new(seed));
        let expected = whole.query(&sql);
        let found = coordinator.query(&sql);
        let steps = coordinator.explain(&sql);
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                let [a, b] = [&expected, &found].map(|it| match sql.contains("ORDER BY 1") {
                    true => texts(&it.batches, " | ", "NULL"),
                    false => sorted_texts(&it.batches),
                });
                full += usize::from(!a.is_empty());
                assert_eq!(a, b, "seed {seed}: {sql}\n{steps:#?}");
                assert_eq!(expected.schema, found.schema, "seed {seed}: {sql}");
            }
            (Err(expected), Err(found)) => {
                failed += 1;
                assert_eq!(expected.state, found.state, "seed {seed}: {sql}\n{expected}\n{found}");
            }
            (expected, found) => panic!("seed {seed}: {sql}\n{expected:?}\n{found:?}\n{steps:#?}"),
        }
    }
    let enough = count as usize / 2;
    assert!(full > enough && failed < enough, "{full} answers with rows, {failed} errors");
}
