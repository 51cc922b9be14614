//! COPY .. TO, EXPORT DATABASE and IMPORT DATABASE: what is written is what is read again.

use std::fs;
use std::path::PathBuf;

use hardware::samples;
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use simulator::SimulatedMachine;

/// A folder of its own for each test, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = format!("nodewise-{}-export-{name}", std::process::id());
        let path = std::env::temp_dir().join(path);
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    /// A text with the folder in the place of DIR.
    fn sql(&self, sql: &str) -> String {
        sql.replace("DIR", &self.0.display().to_string())
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn session(machine: &str) -> Session {
    let topology = samples::by_name(machine).unwrap();
    let machine = SimulatedMachine::new(topology, 7);
    Database::open(machine, DatabaseOptions::default()).unwrap().session()
}

/// The rows of an answer, values with bars between them.
fn rows(session: &mut Session, sql: &str) -> Vec<String> {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut rows = Vec::new();
    for batch in &answer.batches {
        let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        for row in 0..batch.num_rows() {
            let texts = cells.iter().map(|it| it.text(row).unwrap_or("NULL".into()));
            rows.push(texts.collect::<Vec<_>>().join("|"));
        }
    }
    rows
}

fn state(session: &mut Session, sql: &str) -> &'static str {
    session.execute(sql).unwrap_err().state.0
}

/// Tables with every rule and every way to be cut.
const TABLES: &str = "
    CREATE TABLE plain (a INTEGER, b TEXT);
    INSERT INTO plain VALUES (1, 'x'), (NULL, ''), (3, NULL), (4, 'it''s \"quoted\"');
    CREATE TABLE \"Odd/Name\" (\"Key\" BIGINT PRIMARY KEY, \"group\" CHAR(5) DEFAULT 'a' || 'b',
        n DECIMAL(20,3) NOT NULL DEFAULT 1.5, CONSTRAINT small CHECK (n < 1000),
        UNIQUE (\"group\", n)) PARTITION BY HASH (\"Key\") PARTITIONS 3 NUMA NODE (1, 3);
    INSERT INTO \"Odd/Name\" (\"Key\", n) VALUES (1, 2), (2, 3), (10, 999.125);
    CREATE TABLE \"odd name\" (d DATE NUMA NODE SPLIT, t TIMESTAMP, r REAL, f DOUBLE PRECISION NUMA NODE ROUNDROBIN (2),
        s SMALLINT, ok BOOLEAN, v VARCHAR(9))
        PARTITION BY RANGE (d) (PARTITION VALUES < DATE '1995-01-01',
            PARTITION DATE '1995-01-01' <= VALUES < DATE '1996-06-01', PARTITION DATE '1996-06-01' <= VALUES);
    INSERT INTO \"odd name\" VALUES
        (DATE '1994-12-31', TIMESTAMP '2001-02-03 04:05:06.789', 1.25, 'NaN', -3, true, 'v'),
        (DATE '1996-06-01', NULL, NULL, 1e300, NULL, NULL, NULL), (NULL, NULL, -0.5, NULL, 7, false, '');
    CREATE UNIQUE INDEX one ON plain (a);
    CREATE INDEX two ON \"odd name\" (s, v);
    CREATE TABLE empty (a INTEGER, b TEXT) PARTITION BY ROUNDROBIN PARTITIONS 2;
    ALTER TABLE empty PARTITION 1 NUMA NODE (2);
    CREATE TABLE placed (a INTEGER) NUMA NODE INTERLEAVE (0, 2);
    INSERT INTO placed VALUES (1), (2), (3);
    ALTER TABLE placed ROWS 0 TO 1 NUMA NODE SPLIT (1);
    CREATE TABLE moments (id UUID, m TIMESTAMPTZ DEFAULT '2024-01-01 00:00+00', t TIME, s INTERVAL, b BYTEA,
        x NUMERIC);
    INSERT INTO moments VALUES
        ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2024-07-01 12:00+02', '10:00:00.5', '1 mon -2 days 03:00', '\\x00ff', 1.50),
        (NULL, NULL, NULL, NULL, NULL, NULL), (gen_random_uuid(), now(), '24:00', '-1 year', 'abc', 'NaN');
    CREATE SEQUENCE \"Odd Seq\" START 7 INCREMENT 3 CYCLE;
    CREATE SEQUENCE numbered_k_seq AS INTEGER;
    CREATE TABLE numbered (id SERIAL, k SMALLINT GENERATED ALWAYS AS IDENTITY (START 9),
        o BIGINT DEFAULT nextval('\"Odd Seq\"'));
    INSERT INTO numbered (o) VALUES (DEFAULT), (1), (DEFAULT);
    CREATE TABLE made (b INTEGER GENERATED ALWAYS AS (a * 2) STORED, a INTEGER, c TEXT AS (a || 'x'));
    INSERT INTO made (a) VALUES (1), (NULL), (3)";

const NAMES: [&str; 8] =
    ["made", "moments", "numbered", "plain", "\"Odd/Name\"", "\"odd name\"", "empty", "placed"];

#[test]
fn an_imported_database_is_the_exported_one() {
    let scratch = Scratch::new("whole");
    let mut first = session("four_sockets");
    first.execute(TABLES).unwrap();
    let answer = first.query(&scratch.sql("EXPORT DATABASE 'DIR'")).unwrap();
    assert_eq!(answer.tag, "EXPORT DATABASE");
    let mut second = session("four_sockets");
    second.query(&scratch.sql("IMPORT DATABASE 'DIR'")).unwrap();
    for name in NAMES {
        let all = format!("SELECT * FROM {name} ORDER BY ALL");
        assert_eq!(rows(&mut second, &all), rows(&mut first, &all), "{name}");
    }
    let same = [
        "SELECT table_name, index_name, kind, columns FROM nodewise.indexes ORDER BY ALL",
        "SELECT * FROM nodewise.sequences ORDER BY ALL",
        "SELECT table_name, column_name, data_type, nullable FROM nodewise.columns ORDER BY ALL",
        "SELECT column_name, is_generated, generation_expression FROM information_schema.columns ORDER BY ALL",
    ];
    for sql in same {
        assert_eq!(rows(&mut second, sql), rows(&mut first, sql), "{sql}");
    }
    // Defaults, checks and keys are there.
    assert_eq!(
        state(&mut second, "INSERT INTO \"Odd/Name\" (\"Key\", n) VALUES (5, 1000)"),
        "23514"
    );
    assert_eq!(state(&mut second, "INSERT INTO \"Odd/Name\" (\"Key\") VALUES (1)"), "23505");
    second.execute("INSERT INTO \"Odd/Name\" (\"Key\") VALUES (77)").unwrap();
    let found = rows(&mut second, "SELECT \"group\", n FROM \"Odd/Name\" WHERE \"Key\" = 77");
    assert_eq!(found, ["ab   |1.500"]);
    second.execute("DELETE FROM \"Odd/Name\" WHERE \"Key\" = 77").unwrap();
    // What is written again is the same text, but for its folder.
    let again = Scratch::new("again");
    second.query(&again.sql("EXPORT DATABASE 'DIR'")).unwrap();
    assert_eq!(again.read("schema.sql"), scratch.read("schema.sql"));
    let moved = scratch.read("load.sql").replace(&scratch.sql("DIR"), &again.sql("DIR"));
    assert_eq!(again.read("load.sql"), moved);
    for clause in [
        "CONSTRAINT small CHECK",
        "PARTITION BY HASH (\"Key\") PARTITIONS 3 NUMA NODE (1, 3)",
        "f DOUBLE PRECISION NUMA NODE ROUNDROBIN (2)",
        "NUMA NODE INTERLEAVE (0, 2)",
    ] {
        assert!(scratch.read("schema.sql").contains(clause), "{}", scratch.read("schema.sql"));
    }
    let load = scratch.read("load.sql");
    assert!(load.contains("ALTER TABLE placed ROWS 0 TO 1 NUMA NODE SPLIT (1)"), "{load}");
    assert!(load.contains("ALTER TABLE \"empty\" PARTITION 1 NUMA NODE SPLIT (2)"), "{load}");
}

#[test]
fn an_export_goes_into_an_empty_folder_only() {
    let scratch = Scratch::new("full");
    let mut session = session("laptop");
    session.execute("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)").unwrap();
    fs::create_dir_all(&scratch.0).unwrap();
    fs::write(scratch.0.join("mine.txt"), "mine").unwrap();
    let export = scratch.sql("EXPORT DATABASE 'DIR'");
    assert_eq!(state(&mut session, &export), "58P02");
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1);
    fs::remove_file(scratch.0.join("mine.txt")).unwrap();
    assert_eq!(state(&mut session, &scratch.sql("EXPORT DATABASE 'DIR' (FORMAT csv)")), "0A000");
    session.query(&scratch.sql("EXPORT DATABASE 'DIR' (FORMAT PARQUET)")).unwrap();
    let mut files: Vec<_> =
        fs::read_dir(&scratch.0).unwrap().map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["load.sql", "schema.sql", "t.parquet"]);
    // A snapshot is exported in a transaction that only reads, with its own changes in another.
    let other = Scratch::new("other");
    session.execute("BEGIN; INSERT INTO t VALUES (2)").unwrap();
    session.execute(&other.sql("EXPORT DATABASE 'DIR'; ROLLBACK")).unwrap();
    let count = other.sql("SELECT count(*) FROM 'DIR/t.parquet'");
    assert_eq!(rows(&mut session, &count), ["2"]);
    session
        .execute(&format!(
            "BEGIN READ ONLY; SELECT 1; {}; COMMIT",
            Scratch::new("ro").sql("EXPORT DATABASE 'DIR'")
        ))
        .unwrap();
}

#[test]
fn an_import_that_fails_changes_nothing() {
    let scratch = Scratch::new("twice");
    let mut first = session("laptop");
    first.execute("CREATE TABLE a (x INTEGER); CREATE TABLE b (x INTEGER PRIMARY KEY)").unwrap();
    first.execute("INSERT INTO a VALUES (1); INSERT INTO b VALUES (1), (2)").unwrap();
    first.query(&scratch.sql("EXPORT DATABASE 'DIR'")).unwrap();
    let import = scratch.sql("IMPORT DATABASE 'DIR'");
    let mut second = session("laptop");
    second.execute("CREATE TABLE b (y TEXT)").unwrap();
    let error = second.execute(&import).unwrap_err();
    assert_eq!(error.state.0, "42P07");
    assert!(error.message.contains("\"b\" already exists"), "{error}");
    let names = "SELECT table_name FROM nodewise.tables ORDER BY 1";
    assert_eq!(rows(&mut second, names), ["b"]);
    // A file is missing: the tables that were made go again.
    second.execute("DROP TABLE b").unwrap();
    fs::remove_file(scratch.0.join("b.parquet")).unwrap();
    assert_eq!(state(&mut second, &import), "58P01");
    assert_eq!(rows(&mut second, names).len(), 0);
    // In a transaction, ROLLBACK takes an import back.
    fs::copy(scratch.0.join("a.parquet"), scratch.0.join("b.parquet")).unwrap();
    second.execute("BEGIN").unwrap();
    second.execute(&import).unwrap();
    assert_eq!(rows(&mut second, "SELECT count(*) FROM b"), ["1"]);
    second.execute("ROLLBACK").unwrap();
    assert_eq!(rows(&mut second, names).len(), 0);
    // What does not belong into such files is not run.
    fs::write(scratch.0.join("load.sql"), "SET memory_limit = '1MB'").unwrap();
    assert_eq!(state(&mut second, &import), "0A000");
    fs::write(scratch.0.join("load.sql"), "COPY a FROM").unwrap();
    assert_eq!(state(&mut second, &import), "42601");
    assert_eq!(state(&mut second, "IMPORT DATABASE '/nowhere/at/all'"), "58P01");
    for wrong in [
        "IMPORT DATABASE",
        "EXPORT DATABASE x",
        "IMPORT DATABASE 'a' (FORMAT csv)",
        "EXPORT DATABASE 'a' FORMAT",
    ] {
        assert_eq!(state(&mut second, wrong), "42601", "{wrong}");
    }
}

#[test]
fn rows_are_copied_to_files() {
    let scratch = Scratch::new("copied");
    fs::create_dir_all(&scratch.0).unwrap();
    let mut session = session("four_sockets");
    session.execute("CREATE TABLE t (a INTEGER, b TEXT, c CHAR(3))").unwrap();
    session
        .execute("INSERT INTO t VALUES (1, 'x,y', 'q'), (NULL, '', NULL), (3, NULL, 'a\"b')")
        .unwrap();
    let tag = session.query(&scratch.sql("COPY t TO 'DIR/t.csv'")).unwrap().tag;
    assert_eq!(tag, "COPY 3");
    assert_eq!(scratch.read("t.csv"), "1,\"x,y\",q  \n,\"\",\n3,,\"a\"\"b\"\n");
    let with = "COPY t (b, a) TO 'DIR/t.txt' WITH (FORMAT csv, HEADER, DELIMITER ';', NULL '-')";
    session.query(&scratch.sql(with)).unwrap();
    assert_eq!(scratch.read("t.txt"), "b;a\nx,y;1\n;-\n-;3\n");
    session.query(&scratch.sql("COPY t TO 'DIR/t.parquet'")).unwrap();
    let back = scratch.sql("SELECT * FROM 'DIR/t.parquet' ORDER BY 1");
    assert_eq!(rows(&mut session, &back), ["1|x,y|q  ", "3|NULL|a\"b", "NULL||NULL"]);
    let many = "COPY (SELECT i, i * 2 AS j FROM (SELECT a.a * 100000 + b.a AS i FROM big a, big b) s) \
        TO 'DIR/many.dat' (FORMAT parquet)";
    session.execute("CREATE TABLE big (a INTEGER)").unwrap();
    let values: Vec<String> = (0..600).map(|it| format!("({it})")).collect();
    session.execute(&format!("INSERT INTO big VALUES {}", values.join(", "))).unwrap();
    assert_eq!(session.query(&scratch.sql(many)).unwrap().tag, "COPY 360000");
    let sum = scratch
        .sql("SELECT count(*), sum(j) = 2 * sum(i), count(DISTINCT i) FROM 'DIR/many.parquet'");
    fs::rename(scratch.0.join("many.dat"), scratch.0.join("many.parquet")).unwrap();
    assert_eq!(rows(&mut session, &sum), ["360000|true|360000"]);
    let wrong = [
        ("COPY t TO 'DIR/t'", "22023"),
        ("COPY t TO 'DIR/t.x' (FORMAT avro)", "22023"),
        ("COPY t TO 'DIR/t.parquet' (HEADER)", "0A000"),
        ("COPY t TO 'DIR/no/t.csv'", "58P01"),
        ("COPY nothing TO 'DIR/n.csv'", "42P01"),
        ("COPY t (z) TO 'DIR/n.csv'", "42703"),
        ("COPY t TO STDOUT", "0A000"),
        ("COPY (SELECT 1 / 0) TO 'DIR/zero.csv'", "22012"),
    ];
    for (sql, expected) in wrong {
        assert_eq!(state(&mut session, &scratch.sql(sql)), expected, "{sql}");
    }
    assert!(!scratch.0.join("zero.csv").exists() && !scratch.0.join("n.csv").exists());
    // No half of a file stays.
    let left = fs::read_dir(&scratch.0).unwrap().map(|it| it.unwrap().file_name());
    assert!(left.into_iter().all(|it| !it.display().to_string().ends_with(".tmp")));
}

#[test]
fn schemas_are_exported_and_what_is_temporary_is_not() {
    let scratch = Scratch::new("schemas");
    let mut first = session("laptop");
    first
        .execute(
            "CREATE SCHEMA s; CREATE SCHEMA \"Odd one\"; CREATE TABLE s.t (id SERIAL PRIMARY KEY, a INTEGER); \
             CREATE TABLE t (a INTEGER REFERENCES s.t); INSERT INTO s.t (a) VALUES (10), (20); \
             INSERT INTO t VALUES (2); CREATE INDEX t_a ON s.t (a); CREATE VIEW s.v AS SELECT t.a FROM s.t; \
             CREATE TABLE \"Odd one\".\"a.b\" (c INTEGER); CREATE TEMP TABLE hidden (a INTEGER); \
             CREATE TEMP VIEW hidden_too AS SELECT 1 AS a; SET search_path = s; CREATE TYPE mood AS ENUM ('sad'); \
             CREATE FUNCTION most(m mood) RETURNS INTEGER LANGUAGE sql AS 'SELECT max(a) FROM t'; \
             CREATE FUNCTION public.\"Of s\"(n INTEGER) RETURNS SETOF INTEGER LANGUAGE sql \
                 AS 'SELECT a FROM t WHERE a > n'; \
             CREATE MACRO less(x) AS x - 1; COMMENT ON FUNCTION most(mood) IS 'the most'; \
             CREATE FUNCTION pg_temp.hidden() RETURNS INTEGER LANGUAGE sql RETURN 1",
        )
        .unwrap();
    first.execute(&scratch.sql("EXPORT DATABASE 'DIR'")).unwrap();
    let mut second = session("laptop");
    second.execute("CREATE SCHEMA other; SET search_path = other").unwrap();
    second.execute(&scratch.sql("IMPORT DATABASE 'DIR'")).unwrap();
    assert_eq!(rows(&mut second, "SHOW search_path"), ["other"]);
    assert_eq!(rows(&mut second, "SELECT a FROM s.v ORDER BY a"), ["10", "20"]);
    assert_eq!(rows(&mut second, "SELECT a FROM public.t"), ["2"]);
    second.execute("INSERT INTO s.t (a) VALUES (30)").unwrap();
    assert_eq!(rows(&mut second, "SELECT max(id) FROM s.t"), ["3"]);
    assert_eq!(rows(&mut second, "SELECT count(*) FROM \"Odd one\".\"a.b\""), ["0"]);
    assert_eq!(state(&mut second, "INSERT INTO public.t VALUES (9)"), "23503");
    let temporary = "SELECT count(*) FROM pg_class WHERE relname LIKE 'hidden%'";
    assert_eq!(rows(&mut second, temporary), ["0"]);
    // What bodies of functions name is found where a call looks for names.
    second.execute("SET search_path = s").unwrap();
    assert_eq!(rows(&mut second, "SELECT most('sad'), s.less(3)"), ["30|2"]);
    assert_eq!(rows(&mut second, "SELECT * FROM public.\"Of s\"(20)"), ["30"]);
    let functions = "SELECT p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc') FROM pg_proc p \
                     JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname <> 'pg_catalog' ORDER BY 1";
    let all = ["most(s.mood)|the most", "public.\"Of s\"(integer)|NULL"];
    assert_eq!(rows(&mut second, functions), all);
}

/// Nested columns have several columns of a file each, beside others that have one.
const NESTED: &str = "
    CREATE TABLE nested (id INTEGER, p STRUCT(a INT, b VARCHAR), m MAP(VARCHAR, INT), l STRUCT(x INT, y INT[])[],
        t TINYINT, u UBIGINT, h HUGEINT, behind TEXT);
    INSERT INTO nested VALUES (1, {'a': 1, 'b': 'x'}, MAP {'k': 5, 'n': NULL}, [{'x': 1, 'y': [2, NULL]}, NULL], 100,
        18446744073709551615, -5, 'z'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (3, {'a': NULL, 'b': NULL}, MAP {}, [], -128, 0, 0, '');
    CREATE MACRO twice(x) AS x * 2;";

#[test]
fn nested_columns_come_back_from_files() {
    let scratch = Scratch::new("nested");
    let mut first = session("laptop");
    first.execute(NESTED).unwrap();
    let all = "SELECT id, p::text, (p).a, m::text, l::text, t, u, h, behind, twice(id) FROM nested ORDER BY id";
    let before = rows(&mut first, all);
    assert_eq!(before.len(), 3);
    first.execute(&scratch.sql("EXPORT DATABASE 'DIR'")).unwrap();
    let mut second = session("four_sockets");
    second.execute(&scratch.sql("IMPORT DATABASE 'DIR'")).unwrap();
    assert_eq!(rows(&mut second, all), before);
    let direct =
        scratch.sql("SELECT p::text, m::text, l::text FROM 'DIR/nested.parquet' ORDER BY id");
    assert_eq!(
        rows(&mut second, &direct),
        rows(&mut first, "SELECT p::text, m::text, l::text FROM nested ORDER BY id")
    );
}

#[test]
fn row_groups_and_compressions_of_parquet_are_as_said() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let (scratch, mut session) = (Scratch::new("style"), session("laptop"));
    fs::create_dir_all(&scratch.0).unwrap();
    let copy = |options: &str| {
        scratch.sql(&format!(
            "COPY (SELECT i, i % 7 AS j FROM generate_series(1, 10000) i) TO 'DIR/x.parquet' (FORMAT parquet{options})"
        ))
    };
    for (options, groups, codec) in [
        ("", 1, "SNAPPY"),
        (", ROW_GROUP_SIZE 3000", 4, "SNAPPY"),
        (", ROW_GROUP_SIZE 10000, COMPRESSION zstd, COMPRESSION_LEVEL 3", 1, "ZSTD(ZstdLevel(1))"),
        (", CODEC 'uncompressed'", 1, "UNCOMPRESSED"),
    ] {
        session.execute(&copy(options)).unwrap();
        let file = fs::File::open(scratch.0.join("x.parquet")).unwrap();
        let metadata = SerializedFileReader::new(file).unwrap().metadata().clone();
        assert_eq!(metadata.num_row_groups(), groups, "{options}");
        let column = metadata.row_group(0).column(0);
        assert_eq!(format!("{:?}", column.compression()), codec, "{options}");
        let sums = scratch.sql("SELECT count(*), sum(i), sum(j) FROM 'DIR/x.parquet'");
        assert_eq!(rows(&mut session, &sums), ["10000|50005000|29998"]);
    }
    assert_eq!(state(&mut session, &copy(", ROW_GROUP_SIZE 0")), "22023");
    assert_eq!(state(&mut session, &copy(", CODEC 'lzo'")), "22023");
    assert_eq!(state(&mut session, &copy(", DELIMITER ','")), "0A000");
}

#[test]
fn csv_without_quotes_is_written_as_it_is() {
    let (scratch, mut session) = (Scratch::new("plain"), session("laptop"));
    fs::create_dir_all(&scratch.0).unwrap();
    let copy =
        scratch.sql("COPY (SELECT '{\"a\": 1, \"b\": 2}') TO 'DIR/x.csv' (FORMAT csv, QUOTE '')");
    session.execute(&copy).unwrap();
    assert_eq!(scratch.read("x.csv"), "{\"a\": 1, \"b\": 2}\n");
    session.execute("CREATE TABLE t (a TEXT, b TEXT)").unwrap();
    let from = scratch.sql("COPY t FROM 'DIR/x.csv' (FORMAT csv, QUOTE '', DELIMITER ',')");
    session.execute(&from).unwrap();
    assert_eq!(rows(&mut session, "SELECT * FROM t"), ["{\"a\": 1| \"b\": 2}"]);
    let both = scratch.sql("COPY t TO 'DIR/y.csv' (FORMAT csv, QUOTE '', ESCAPE '!')");
    assert_eq!(state(&mut session, &both), "22023");
}

#[test]
fn a_view_of_a_file_reads_it_anew() {
    let (scratch, mut session) = (Scratch::new("view"), session("laptop"));
    fs::create_dir_all(&scratch.0).unwrap();
    fs::write(scratch.0.join("x.csv"), "a,B\n1,x\n2,y\n").unwrap();
    session.execute(&scratch.sql("CREATE VIEW v AS FROM read_csv('DIR/x.csv')")).unwrap();
    let lower = scratch.sql("SELECT b, x.B FROM 'DIR/x.csv' x WHERE b <> 'y' GROUP BY b, x.\"B\"");
    assert_eq!(rows(&mut session, &lower), ["x|x"]);
    session.execute("CREATE VIEW w AS SELECT a + 1 AS n FROM v; CREATE TABLE t (a INT)").unwrap();
    assert_eq!(rows(&mut session, "SELECT a, \"B\" FROM v ORDER BY a"), ["1|x", "2|y"]);
    assert_eq!(
        rows(&mut session, "SELECT v.\"B\", n FROM v JOIN w ON n = a + 1 ORDER BY n"),
        ["x|2", "y|3"]
    );
    fs::write(scratch.0.join("x.csv"), "a,B\n7,z\n").unwrap();
    assert_eq!(rows(&mut session, "SELECT * FROM w"), ["8"]);
    session.execute("INSERT INTO t SELECT n FROM w").unwrap();
    assert_eq!(rows(&mut session, "SELECT a FROM t"), ["8"]);
    session.execute("PREPARE p AS SELECT a FROM v WHERE a > $1").unwrap();
    assert_eq!(rows(&mut session, "EXECUTE p (1)"), ["7"]);
    fs::write(scratch.0.join("x.csv"), "a,B\n7.5,z\n").unwrap();
    assert_eq!(state(&mut session, "SELECT * FROM v"), "42P16");
    fs::remove_file(scratch.0.join("x.csv")).unwrap();
    assert_eq!(state(&mut session, "SELECT * FROM w"), "58P01");
    session.execute("DROP VIEW v CASCADE").unwrap();
}
