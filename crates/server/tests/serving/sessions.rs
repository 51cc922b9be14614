//! What sessions keep, say to one another, and do to one another: cursors, channels, settings, sleep and ends.

use std::time::{Duration, Instant};

use crate::common::{Message, Raw, Running, all_of, bind, execute, frame, parse, query, sync};

/// The first columns of the rows of a text's answer, its tags, and the states of its errors.
fn told(raw: &mut Raw, text: &str) -> Vec<String> {
    raw.send(&query(text));
    let told = |it: &Message| match it.0 {
        b'D' => {
            let length = i32::from_be_bytes([it.1[2], it.1[3], it.1[4], it.1[5]]);
            let value = it.1[6..].iter().take(length.max(0) as usize).copied().collect();
            Some(String::from_utf8(value).unwrap())
        }
        b'C' => Some(it.text()),
        b'E' => Some(it.field(b'C')),
        _ => None,
    };
    raw.until_ready().iter().filter_map(told).collect()
}

#[test]
fn cursors_go_where_they_are_told() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let declare = "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT * FROM generate_series(1, 5) AS i";
    assert_eq!(told(&mut raw, declare), ["BEGIN", "DECLARE CURSOR"]);
    for (step, wanted) in [
        ("FETCH c", &["1", "FETCH 1"][..]),
        ("FETCH 2 FROM c", &["2", "3", "FETCH 2"]),
        ("FETCH 0 c", &["3", "FETCH 1"]),
        ("FETCH PRIOR FROM c", &["2", "FETCH 1"]),
        ("FETCH ABSOLUTE 4 IN c", &["4", "FETCH 1"]),
        ("FETCH RELATIVE -2 c", &["2", "FETCH 1"]),
        ("MOVE FORWARD ALL IN c", &["MOVE 3"]),
        ("FETCH NEXT c", &["FETCH 0"]),
        ("FETCH BACKWARD 2 c", &["5", "4", "FETCH 2"]),
        ("FETCH LAST c", &["5", "FETCH 1"]),
        ("FETCH ABSOLUTE -2 c", &["4", "FETCH 1"]),
        ("FETCH FIRST FROM c", &["1", "FETCH 1"]),
        ("MOVE BACKWARD ALL c", &["MOVE 0"]),
        ("FETCH ALL c", &["1", "2", "3", "4", "5", "FETCH 5"]),
        ("CLOSE c", &["CLOSE CURSOR"]),
        ("FETCH c", &["34000"]),
        ("FETCH c", &["25P02"]),
        ("ROLLBACK", &["ROLLBACK"]),
    ] {
        assert_eq!(told(&mut raw, step), wanted, "{step}");
    }
}

#[test]
fn cursors_end_with_their_transaction() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    assert_eq!(told(&mut raw, "DECLARE c CURSOR FOR SELECT 1"), ["25P01"]);
    for (text, wanted) in [
        ("BEGIN; DECLARE c CURSOR FOR VALUES (1), (2)", &["BEGIN", "DECLARE CURSOR"][..]),
        ("DECLARE c CURSOR FOR SELECT 1", &["42P03"]),
        ("ROLLBACK; BEGIN", &["ROLLBACK", "BEGIN"]),
        ("DECLARE a CURSOR FOR SELECT 1", &["DECLARE CURSOR"]),
        ("SAVEPOINT s; DECLARE b CURSOR FOR SELECT 2", &["SAVEPOINT", "DECLARE CURSOR"]),
        ("ROLLBACK TO s; FETCH a", &["ROLLBACK", "1", "FETCH 1"]),
        ("FETCH PRIOR FROM a", &["55000"]),
        ("ROLLBACK TO s; FETCH b", &["ROLLBACK", "34000"]),
        ("ROLLBACK", &["ROLLBACK"]),
        ("BEGIN; DECLARE h CURSOR WITH HOLD FOR VALUES (1), (2)", &["BEGIN", "DECLARE CURSOR"]),
        ("COMMIT; FETCH 5 h", &["COMMIT", "1", "2", "FETCH 2"]),
        ("SELECT name FROM pg_cursors", &["h", "SELECT 1"]),
        ("CLOSE ALL; FETCH h", &["CLOSE CURSOR ALL", "34000"]),
        (
            "BEGIN; DECLARE h CURSOR WITH HOLD FOR SELECT 1; ROLLBACK",
            &["BEGIN", "DECLARE CURSOR", "ROLLBACK"],
        ),
        ("FETCH h", &["34000"]),
        (
            "BEGIN; DECLARE e CURSOR FOR SELECT 1 / (2 - i) FROM generate_series(1, 3) AS i",
            &["BEGIN", "DECLARE CURSOR"],
        ),
        ("FETCH 3 e", &["22012"]),
        ("COMMIT", &["ROLLBACK"]),
    ] {
        assert_eq!(told(&mut raw, text), wanted, "{text}");
    }
}

#[test]
fn cursors_take_parameters_and_are_described() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    told(&mut raw, "BEGIN");
    let declare = "DECLARE c CURSOR FOR SELECT i FROM generate_series(1, 5) AS i WHERE i > $1";
    // The parameter is `3`, as text.
    let bound = frame(b'B', b"\0d\0\0\0\0\x01\0\0\0\x013\0\0");
    let bytes = [parse("d", declare), bound, execute("", 0), sync()].concat();
    assert_eq!(raw.kinds(&bytes), "12CZ");
    // A cursor is a portal, which has columns.
    assert_eq!(raw.kinds(&[frame(b'D', b"Pc\0"), sync()].concat()), "TZ");
    let fetch = [parse("", "FETCH 9 FROM c"), bind("", ""), frame(b'D', b"P\0"), execute("", 0)];
    assert_eq!(raw.kinds(&[fetch.concat(), sync()].concat()), "12TDDCZ");
    assert_eq!(told(&mut raw, "COMMIT"), ["COMMIT"]);
}

/// What a message says to a channel: the channel and the text.
fn said(message: &Message) -> (String, String) {
    assert_eq!(message.0, b'A', "{message:?}");
    let text = String::from_utf8(message.1[4..].to_vec()).unwrap();
    let mut parts = text.split('\0');
    (parts.next().unwrap().to_owned(), parts.next().unwrap().to_owned())
}

#[test]
fn what_is_said_to_a_channel_is_heard_when_it_is_committed() {
    let server = Running::start();
    let (mut ear, mut mouth) = (Raw::connect(server.address), Raw::connect(server.address));
    assert_eq!(told(&mut ear, "LISTEN news"), ["LISTEN"]);
    assert_eq!(told(&mut mouth, "NOTIFY news, 'one'; NOTIFY other, 'no'"), ["NOTIFY", "NOTIFY"]);
    // An idle client hears it at once.
    assert_eq!(said(&ear.read().unwrap()), ("news".into(), "one".into()));
    told(&mut mouth, "BEGIN; NOTIFY news, 'lost'; ROLLBACK");
    told(&mut mouth, "BEGIN; NOTIFY news, 'two'; SAVEPOINT s; NOTIFY news, 'lost'; ROLLBACK TO s");
    told(&mut mouth, "NOTIFY news, 'two'; SELECT pg_notify('news', 'three'); COMMIT");
    assert_eq!(said(&ear.read().unwrap()), ("news".into(), "two".into()));
    assert_eq!(said(&ear.read().unwrap()), ("news".into(), "three".into()));
    // Not within a transaction of its own.
    told(&mut ear, "BEGIN");
    told(&mut mouth, "NOTIFY news, 'four'");
    assert_eq!(ear.kinds(&query("SELECT 1")), "TDCZ");
    assert_eq!(ear.kinds(&query("COMMIT")), "CAZ");
    assert_eq!(ear.kinds(&query("NOTIFY news")), "CAZ");
    told(&mut ear, "UNLISTEN *");
    told(&mut mouth, "NOTIFY news, 'five'");
    assert_eq!(ear.kinds(&query("SELECT 1")), "TDCZ");
    assert_eq!(told(&mut mouth, "SELECT pg_notify('', 'x')"), ["22023"]);
    assert_eq!(told(&mut mouth, "SELECT pg_notify('x', repeat('y', 8000))"), ["22023"]);
}

#[test]
fn times_are_written_in_the_styles_of_the_session() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.send(&query("SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'iso_8601'; SET TimeZone = 'Europe/Berlin'"));
    let messages = raw.until_ready();
    let statuses: Vec<&[u8]> =
        messages.iter().filter(|it| it.0 == b'S').map(|it| &it.1[..]).collect();
    assert_eq!(
        statuses,
        [&b"DateStyle\0SQL, DMY\0"[..], b"IntervalStyle\0iso_8601\0", b"TimeZone\0Europe/Berlin\0"]
    );
    for (sql, expected) in [
        ("SELECT DATE '2001-02-03'", "03/02/2001"),
        ("SELECT '03/02/2001'::TIMESTAMP", "03/02/2001 00:00:00"),
        ("SELECT TIMESTAMPTZ '2001-02-03 04:05:06.7+00'", "03/02/2001 05:05:06.7 CET"),
        ("SELECT INTERVAL '1 year 2 days 3 hours'", "P1Y2DT3H"),
        ("SELECT ARRAY[DATE '2001-02-03', NULL]", "{03/02/2001,NULL}"),
        ("SELECT ROW(DATE '2001-02-03', INTERVAL '1 day')", "(03/02/2001,P1D)"),
        ("SELECT to_json(DATE '2001-02-03')", "\"2001-02-03\""),
        ("SELECT TIME '04:05'", "04:05:00"),
    ] {
        assert_eq!(raw.value(sql), expected, "{sql}");
    }
    raw.send(&query("COPY (SELECT DATE '2001-02-03', INTERVAL '-1 day') TO STDOUT"));
    let messages = raw.until_ready();
    let line = messages.iter().find(|it| it.0 == b'd').unwrap();
    assert_eq!(line.1, b"03/02/2001\tP-1D\n");
    // Texts of parameters are read in the style; what is binary has none.
    let text = b"03/02/2001";
    let length = (text.len() as i32).to_be_bytes();
    let bound = [&b"\0\0\0\0\0\x01"[..], &length, text, b"\0\x01\0\x01"].concat();
    let asked =
        [parse("", "SELECT $1::DATE"), frame(b'B', &bound), execute("", 0), sync()].concat();
    raw.send(&asked);
    let messages = raw.until_ready();
    let row = messages.iter().find(|it| it.0 == b'D').unwrap();
    // 399 days behind the first of 2000.
    assert_eq!(row.1[6..], 399_i32.to_be_bytes());
    raw.kinds(&query("CREATE TABLE t (d DATE, i INTERVAL); BEGIN"));
    raw.send(&query("COPY t FROM STDIN"));
    assert_eq!(raw.read().unwrap().0, b'G');
    raw.send(&[frame(b'd', b"03/02/2001\tP1D\n"), frame(b'c', b"")].concat());
    assert_eq!(raw.until_ready()[0].text(), "COPY 1");
    assert_eq!(raw.value("SELECT to_char(d, 'YYYY-MM-DD') FROM t"), "2001-02-03");
    raw.kinds(&query("COMMIT; RESET DateStyle; RESET IntervalStyle"));
    assert_eq!(raw.value("SELECT d FROM t"), "2001-02-03");
    assert_eq!(raw.value("SELECT i FROM t"), "1 day");
}

#[test]
fn a_prepared_statement_reads_dates_as_when_it_was_prepared() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let first = "to_char(DATE '01/02/2003', 'YYYY-MM-DD')";
    raw.kinds(&query(&format!("PREPARE p AS SELECT {first}")));
    assert_eq!(raw.value("EXECUTE p"), "2003-01-02");
    assert_eq!(raw.value(&format!("SELECT {first}")), "2003-01-02");
    raw.kinds(&query("SET DateStyle = 'ISO, DMY'"));
    assert_eq!(raw.value("EXECUTE p"), "2003-01-02");
    assert_eq!(raw.value(&format!("SELECT {first}")), "2003-02-01");
}

#[test]
fn settings_are_set_by_calls() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    for (text, wanted) in [
        ("SELECT set_config('application_name', 'a', false)", &["a", "SELECT 1"][..]),
        ("SHOW application_name", &["a", "SHOW"]),
        ("SELECT set_config('DateStyle', 'iso', false)", &["ISO, MDY", "SELECT 1"]),
        ("SELECT set_config('DateStyle', 'Swiss', false)", &["22023"]),
        ("SELECT set_config('no_such', 'x', false)", &["42704"]),
        ("BEGIN; SELECT set_config('app.user', 'ada', true)", &["BEGIN", "ada", "SELECT 1"]),
        ("SELECT current_setting('app.user')", &["ada", "SELECT 1"]),
        ("COMMIT; SELECT current_setting('app.user', true) IS NULL", &["COMMIT", "t", "SELECT 1"]),
        ("SELECT current_setting('app.user')", &["42704"]),
        ("SET app.user = 'eve'; SHOW app.user", &["SET", "eve", "SHOW"]),
        (
            "BEGIN; SELECT set_config('app.user', 'x', false); ROLLBACK",
            &["BEGIN", "x", "SELECT 1", "ROLLBACK"],
        ),
        ("SELECT current_setting('App.User')", &["eve", "SELECT 1"]),
        ("SELECT current_setting('transaction_isolation')", &["read committed", "SELECT 1"]),
    ] {
        assert_eq!(told(&mut raw, text), wanted, "{text}");
    }
}

#[test]
fn a_session_sleeps_and_is_ended_by_others() {
    let server = Running::start();
    let (mut one, mut other) = (Raw::connect(server.address), Raw::connect(server.address));
    let began = Instant::now();
    assert_eq!(
        told(&mut one, "SELECT pg_sleep(0.1) FROM generate_series(1, 2)"),
        ["", "", "SELECT 2"]
    );
    assert!(began.elapsed() >= Duration::from_millis(200));
    let number = one.value("SELECT pg_backend_pid()");
    let number = number.trim_end();
    one.send(&query("SELECT pg_sleep(60)"));
    let running = format!(
        "SELECT state FROM pg_stat_activity WHERE pid = {number} AND query LIKE '%pg_sleep(60)%'"
    );
    while told(&mut other, &running).len() < 2 {}
    assert_eq!(told(&mut other, &format!("SELECT pg_cancel_backend({number})")), ["t", "SELECT 1"]);
    let ended = one.until_ready();
    assert_eq!(ended[0].field(b'C'), "57014");
    // Asleep, and idle.
    one.send(&query("SELECT pg_sleep(60)"));
    while told(&mut other, &running).len() < 2 {}
    let end = format!("SELECT pg_terminate_backend({number})");
    assert_eq!(told(&mut other, &end), ["t", "SELECT 1"]);
    let last = std::iter::from_fn(|| one.read()).last().unwrap();
    assert_eq!((last.field(b'S'), last.field(b'C')), ("FATAL".into(), "57P01".into()));
    assert_eq!(told(&mut other, "SELECT pg_terminate_backend(1000000)"), ["f", "SELECT 1"]);
    let mut idle = Raw::connect(server.address);
    let number = idle.value("SELECT pg_backend_pid()");
    told(&mut other, &format!("SELECT pg_terminate_backend({number})"));
    assert_eq!(idle.read().unwrap().field(b'C'), "57P01");
    assert_eq!(idle.read(), None);
}

#[test]
fn statements_that_are_prepared_are_listed() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&[parse("p", "SELECT $1::integer + 1"), sync()].concat());
    told(&mut raw, "PREPARE q AS SELECT 1");
    let listed = "SELECT concat_ws(' ', name, from_sql, parameter_types) FROM pg_prepared_statements ORDER BY prepare_time";
    assert_eq!(told(&mut raw, listed), ["p f {integer}", "q t {}", "SELECT 2"]);
    assert_eq!(raw.kinds(&[all_of("SELECT 1"), sync()].concat()), "12DCZ");
}

#[test]
fn sequences_of_columns_are_found() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    told(&mut raw, "CREATE TABLE t (i SERIAL, j INTEGER GENERATED ALWAYS AS IDENTITY, k INTEGER)");
    for (text, wanted) in [
        ("SELECT pg_get_serial_sequence('t', 'i')", &["public.t_i_seq", "SELECT 1"][..]),
        ("SELECT pg_get_serial_sequence('public.t', 'j')", &["public.t_j_seq", "SELECT 1"]),
        ("SELECT pg_get_serial_sequence('t', 'k') IS NULL", &["t", "SELECT 1"]),
        ("SELECT pg_get_serial_sequence('none', 'k')", &["42P01"]),
        (
            "SELECT pg_get_serial_sequence(attrelid::regclass::text, attname) FROM pg_attribute \
             WHERE attrelid = 't'::regclass AND attname = 'j'",
            &["public.t_j_seq", "SELECT 1"],
        ),
        (
            "SELECT relname FROM pg_class WHERE oid = CAST(pg_get_serial_sequence('t', 'i') AS regclass)",
            &["t_i_seq", "SELECT 1"],
        ),
        (
            "SELECT count(*) FROM pg_type WHERE typname = 'int4' AND typreceive != 0 AND typreceive::text = 'int4recv'",
            &["1", "SELECT 1"],
        ),
    ] {
        assert_eq!(told(&mut raw, text), wanted, "{text}");
    }
}

/// Statements of which a notice tells that they skip something, its state, and it.
const SKIPPED: &[(&str, &str, &str)] = &[
    ("DROP INDEX IF EXISTS n", "00000", "index \"n\" does not exist, skipping"),
    ("DROP INDEX IF EXISTS x.n", "00000", "schema \"x\" does not exist, skipping"),
    ("DROP TABLE IF EXISTS sc.n", "00000", "table \"n\" does not exist, skipping"),
    ("DROP SEQUENCE IF EXISTS n", "00000", "sequence \"n\" does not exist, skipping"),
    ("DROP FUNCTION IF EXISTS n", "00000", "function n() does not exist, skipping"),
    ("ALTER SEQUENCE IF EXISTS n RESTART", "00000", "relation \"n\" does not exist, skipping"),
    ("ALTER TABLE IF EXISTS n ADD a INTEGER", "00000", "relation \"n\" does not exist, skipping"),
    (
        "ALTER TABLE t DROP CONSTRAINT IF EXISTS n",
        "00000",
        "constraint \"n\" of relation \"t\" does not exist, skipping",
    ),
    (
        "ALTER TABLE t DROP COLUMN IF EXISTS n",
        "00000",
        "column \"n\" of relation \"t\" does not exist, skipping",
    ),
    (
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS a INTEGER",
        "42701",
        "column \"a\" of relation \"t\" already exists, skipping",
    ),
    ("CREATE INDEX IF NOT EXISTS ti ON t (b)", "42P07", "relation \"ti\" already exists, skipping"),
    ("CREATE SEQUENCE IF NOT EXISTS s", "42P07", "relation \"s\" already exists, skipping"),
    (
        "CREATE TABLE IF NOT EXISTS sc.t (a INTEGER)",
        "42P07",
        "relation \"t\" already exists, skipping",
    ),
    ("CREATE SCHEMA IF NOT EXISTS sc", "42P06", "schema \"sc\" already exists, skipping"),
];

/// Drops, the state and the message of what is told first, and its detail.
const DROPPED: &[(&str, &str, &str, &str)] = &[
    (
        "DROP SEQUENCE s CASCADE",
        "00000",
        "drop cascades to default value for column d of table r",
        "",
    ),
    ("DROP SCHEMA sc CASCADE", "00000", "drop cascades to table sc.t", ""),
    (
        "DROP VIEW v",
        "2BP01",
        "cannot drop view v because other objects depend on it",
        "view v2 depends on view v",
    ),
    (
        "ALTER TABLE t DROP CONSTRAINT t_pkey",
        "2BP01",
        "cannot drop constraint t_pkey on table t because other objects depend on it",
        "constraint r_a_fkey on table r depends on index t_pkey",
    ),
    (
        "DROP TABLE t",
        "2BP01",
        "cannot drop table t because other objects depend on it",
        "constraint r_a_fkey on table r depends on table t\nview v depends on table t\nview v2 depends on view v",
    ),
    (
        "DROP TABLE t CASCADE",
        "00000",
        "drop cascades to 3 other objects",
        "drop cascades to constraint r_a_fkey on table r\ndrop cascades to view v\ndrop cascades to view v2",
    ),
];

#[test]
fn what_is_skipped_and_what_goes_along_is_told() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    let tables = "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER); CREATE INDEX ti ON t (b); \
                  CREATE SEQUENCE s; CREATE SCHEMA sc; CREATE TABLE sc.t (a INTEGER); \
                  CREATE TABLE r (a INTEGER REFERENCES t, d INTEGER DEFAULT nextval('s')); \
                  CREATE VIEW v AS SELECT a FROM t; CREATE VIEW v2 AS SELECT a FROM v";
    told(&mut raw, tables);
    let skipped = SKIPPED.iter().map(|it| (it.0, it.1, it.2, ""));
    for (text, state, message, detail) in skipped.chain(DROPPED.iter().copied()) {
        raw.send(&query(text));
        let messages = raw.until_ready();
        let first = &messages[0];
        assert!(matches!(first.0, b'N' | b'E'), "{text}");
        let fields = [b'C', b'M', b'D'].map(|it| first.field(it));
        assert_eq!(fields, [state, message, detail], "{text}");
    }
}

#[test]
fn blocks_raise_with_what_they_say() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.send(&query(
        "DO $$ BEGIN RAISE INFO 'i'; RAISE NOTICE 'n' USING ERRCODE = 'XY001', DETAIL = 'd', HINT = 'h'; \
         RAISE SQLSTATE 'ZZ123'; END $$",
    ));
    let messages = raw.until_ready();
    assert_eq!((messages[0].0, messages[0].field(b'S')), (b'N', "INFO".into()));
    let fields = [b'C', b'M', b'D', b'H'].map(|it| messages[1].field(it));
    assert_eq!(fields, ["XY001", "n", "d", "h"]);
    let fields = [b'S', b'C', b'M'].map(|it| messages[2].field(it));
    assert_eq!(fields, ["ERROR", "ZZ123", "ZZ123"]);
    assert_eq!(told(&mut raw, "RESET DateStyle; RESET ALL"), ["RESET", "RESET"]);
}

#[test]
fn sessions_that_do_nothing_are_ended() {
    let server = Running::start();
    for (text, state) in [
        ("SET idle_in_transaction_session_timeout = 100; BEGIN", "25P03"),
        ("SET idle_session_timeout = 100", "57P05"),
    ] {
        let mut raw = Raw::connect(server.address);
        told(&mut raw, text);
        let last = raw.read().unwrap();
        assert_eq!((last.field(b'S'), last.field(b'C')), ("FATAL".into(), state.into()));
        assert_eq!(raw.read(), None);
    }
}
