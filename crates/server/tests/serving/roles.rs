//! Roles and rights: what somebody may not do, by whatever way it is tried.

use crate::common::{Raw, Running, bind, execute, parse, query, start_packet, sync};
use server::{ServerOptions, Users};

/// A server with a superuser at hand, and what some roles may.
struct Setting {
    server: Running,
    root: Raw,
}

const SETTING: &str = "
    CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE eve LOGIN; CREATE ROLE staff;
    CREATE TABLE secret (id INTEGER PRIMARY KEY, pin INTEGER);
    INSERT INTO secret VALUES (1, 4711), (2, 815);
    CREATE TABLE open (id INTEGER, note TEXT);
    INSERT INTO open VALUES (1, 'a'), (2, 'b');
    GRANT SELECT ON open TO PUBLIC;
    CREATE SCHEMA own AUTHORIZATION alice;
    CREATE TABLE inbox (id INTEGER, pin INTEGER);
    GRANT INSERT ON inbox TO eve";

impl Setting {
    fn new() -> Self {
        Self::with(ServerOptions { trust_loopback: true, ..ServerOptions::default() })
    }

    fn with(options: ServerOptions) -> Self {
        let server = Running::with(options);
        let mut root = Raw::connect(server.address);
        done(&mut root, SETTING);
        Self { server, root }
    }

    fn user(&self, name: &str) -> Raw {
        connected(&self.server, name).unwrap_or_else(|state| panic!("{name}: {state}"))
    }

    fn eve(&self) -> Raw {
        self.user("eve")
    }

    fn root(&mut self, sql: &str) {
        done(&mut self.root, sql);
    }
}

/// A connection as a role, or the SQLSTATE by which it is refused.
fn connected(server: &Running, name: &str) -> Result<Raw, String> {
    let mut raw = Raw::open(server.address);
    raw.send(&start_packet(3 << 16, &[("user", name)]));
    let mut messages = Vec::new();
    while let Some(message) = raw.read() {
        match message.0 {
            b'E' => return Err(message.field(b'C')),
            b'Z' => return Ok(raw),
            _ => messages.push(message),
        }
    }
    Err("gone".to_owned())
}

/// Runs statements that must succeed.
fn done(raw: &mut Raw, sql: &str) {
    raw.send(&query(sql));
    for message in raw.until_ready() {
        assert_ne!(message.0, b'E', "{sql}: {}", message.field(b'M'));
    }
}

/// The message of the error that a statement ends with, which is that of a missing right.
fn denied(raw: &mut Raw, sql: &str) -> String {
    raw.send(&query(sql));
    let messages = raw.until_ready();
    let Some(error) = messages.iter().find(|it| it.0 == b'E') else {
        panic!("{sql} is let through: {messages:?}");
    };
    assert_eq!(error.field(b'C'), "42501", "{sql}: {}", error.field(b'M'));
    error.field(b'M')
}

fn state(raw: &mut Raw, sql: &str) -> String {
    raw.send(&query(sql));
    let messages = raw.until_ready();
    messages.iter().find(|it| it.0 == b'E').map_or(String::new(), |it| it.field(b'C'))
}

#[test]
fn nothing_is_read_or_changed_without_a_right() {
    let setting = Setting::new();
    let mut eve = setting.eve();
    for sql in [
        "SELECT * FROM secret",
        "SELECT count(*) FROM secret",
        "SELECT 1 FROM secret",
        "TABLE secret",
        "SELECT (SELECT max(pin) FROM secret)",
        "SELECT * FROM open WHERE EXISTS (SELECT 1 FROM secret WHERE pin > 100)",
        "SELECT * FROM open o JOIN secret s USING (id)",
        "WITH w AS (SELECT * FROM secret) SELECT 1",
        "WITH w AS MATERIALIZED (SELECT * FROM secret) SELECT * FROM w",
        "WITH RECURSIVE r AS (SELECT pin FROM secret UNION SELECT pin FROM r) SELECT * FROM r",
        "SELECT * FROM open UNION ALL SELECT id, pin::text FROM secret",
        "SELECT * FROM open, LATERAL (SELECT pin FROM secret WHERE secret.id = open.id) l",
        "SELECT * FROM secret WHERE false",
        "SELECT id FROM open ORDER BY (SELECT min(pin) FROM secret)",
        "EXPLAIN SELECT * FROM secret",
        "EXPLAIN ANALYZE SELECT * FROM secret",
        "EXPLAIN (FORMAT json) DELETE FROM secret",
        "DESCRIBE SELECT * FROM secret",
        "SUMMARIZE secret",
        "COPY secret TO STDOUT",
        "COPY (SELECT pin FROM secret) TO STDOUT",
        "COPY secret FROM STDIN",
        "CREATE TEMPORARY TABLE stolen AS SELECT * FROM secret",
        "SELECT * INTO TEMPORARY stolen FROM secret",
        "INSERT INTO secret VALUES (3, 3)",
        "INSERT INTO inbox SELECT * FROM secret",
        "UPDATE secret SET pin = 0",
        "DELETE FROM secret",
        "TRUNCATE secret",
        "MERGE INTO secret USING open o ON secret.id = o.id WHEN MATCHED THEN DELETE",
        "MERGE INTO inbox USING secret s ON inbox.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.pin)",
        "SELECT * FROM secret FOR UPDATE",
        "LOCK TABLE secret",
        "SELECT * FROM open FOR UPDATE",
    ] {
        let message = denied(&mut eve, sql);
        assert!(message.starts_with("permission denied for table"), "{sql}: {message}");
    }
    assert_eq!(eve.value("SELECT count(*) FROM open"), "2");
}

#[test]
fn a_change_needs_what_it_reads() {
    let mut setting = Setting::new();
    let mut eve = setting.eve();
    done(&mut eve, "INSERT INTO inbox VALUES (1, 1)");
    setting.root(
        "CREATE TABLE k (id INTEGER PRIMARY KEY, v INTEGER); INSERT INTO k VALUES (1, 7);
        GRANT INSERT, UPDATE, DELETE ON k TO eve",
    );
    done(&mut eve, "UPDATE k SET v = 8");
    for sql in [
        "INSERT INTO inbox VALUES (2, 2) RETURNING id",
        "INSERT INTO inbox VALUES (2, 2) RETURNING *",
        "UPDATE k SET v = v + 1",
        "UPDATE k SET v = 1 WHERE id = 1",
        "UPDATE k SET v = 1 RETURNING v",
        "UPDATE k SET v = 1 RETURNING old.v",
        "UPDATE k SET v = o.id FROM open o WHERE o.id = k.id",
        "DELETE FROM k WHERE v = 7",
        "DELETE FROM k RETURNING *",
        "DELETE FROM k USING open o WHERE o.id = k.id",
        "INSERT INTO k VALUES (1, 1) ON CONFLICT (id) DO NOTHING",
        "INSERT INTO k VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET v = k.v",
        "MERGE INTO k USING open o ON k.id = o.id WHEN MATCHED THEN UPDATE SET v = 1",
        "WITH d AS (DELETE FROM k RETURNING v) SELECT * FROM d",
        "WITH u AS (UPDATE k SET v = 2) INSERT INTO inbox SELECT id, v FROM k",
    ] {
        denied(&mut eve, sql);
    }
    done(&mut eve, "INSERT INTO k VALUES (2, 2) RETURNING 1");
    done(&mut eve, "DELETE FROM k");
    assert_eq!(setting.root.value("SELECT count(*) FROM k"), "0");
    // UPDATE is no right to add, and INSERT none to update.
    denied(&mut eve, "INSERT INTO inbox VALUES (1, 1) ON CONFLICT DO NOTHING RETURNING id");
    denied(&mut eve, "UPDATE inbox SET id = 1");
    denied(&mut eve, "TRUNCATE k");
}

#[test]
fn views_lend_the_rights_of_their_owners_and_no_others() {
    let mut setting = Setting::new();
    setting.root(
        "CREATE VIEW shown AS SELECT id FROM secret; GRANT SELECT ON shown TO eve;
        CREATE VIEW hidden AS SELECT * FROM secret;
        GRANT CREATE ON SCHEMA public TO eve, alice; GRANT SELECT ON secret TO alice",
    );
    let (mut eve, mut alice) = (setting.eve(), setting.user("alice"));
    assert_eq!(eve.value("SELECT count(*) FROM shown"), "2");
    assert_eq!(denied(&mut eve, "SELECT * FROM hidden"), "permission denied for view hidden");
    // Her own view over a table that she may not read, and one over a view of somebody else.
    done(&mut eve, "CREATE VIEW mine AS SELECT * FROM secret");
    assert_eq!(denied(&mut eve, "SELECT * FROM mine"), "permission denied for table secret");
    done(&mut eve, "CREATE VIEW above AS SELECT * FROM hidden");
    assert_eq!(denied(&mut eve, "SELECT * FROM above"), "permission denied for view hidden");
    done(&mut eve, "CREATE VIEW fine AS SELECT id FROM shown");
    assert_eq!(eve.value("SELECT count(*) FROM fine"), "2");
    // The name of a view, and then another owner: it is that owner who counts.
    done(&mut alice, "CREATE VIEW lent AS SELECT pin FROM secret; GRANT SELECT ON lent TO eve");
    assert_eq!(eve.value("SELECT sum(pin) FROM lent"), "5526");
    setting.root("REVOKE SELECT ON secret FROM alice");
    assert_eq!(denied(&mut eve, "SELECT * FROM lent"), "permission denied for table secret");
    denied(&mut eve, "CREATE OR REPLACE VIEW shown AS SELECT id FROM open");
    denied(&mut eve, "DROP VIEW shown");
    denied(&mut eve, "ALTER VIEW shown RENAME TO taken");
    denied(&mut eve, "UPDATE open SET note = (SELECT max(pin)::text FROM shown s, secret)");
}

#[test]
fn a_superuser_has_no_more_by_a_view_than_its_owner() {
    let mut setting = Setting::new();
    setting.root("GRANT CREATE ON SCHEMA public TO eve; GRANT SELECT ON secret TO eve");
    let mut eve = setting.eve();
    done(&mut eve, "CREATE VIEW lured AS SELECT pin FROM secret");
    done(&mut eve, "CREATE VIEW around AS SELECT * FROM lured");
    done(&mut eve, "CREATE VIEW allowed AS SELECT id FROM open");
    setting.root("REVOKE SELECT ON secret FROM eve");
    for sql in ["SELECT * FROM lured", "SELECT count(*) FROM around", "COPY lured TO STDOUT"] {
        let told = denied(&mut setting.root, sql);
        assert_eq!(told, "permission denied for table secret", "{sql}");
    }
    assert_eq!(setting.root.value("SELECT count(*) FROM allowed"), "2");
    setting.root("PREPARE p AS SELECT max(id) FROM allowed; REVOKE SELECT ON open FROM PUBLIC");
    assert_eq!(denied(&mut setting.root, "EXECUTE p"), "permission denied for table open");
    setting.root("ALTER VIEW lured OWNER TO nodewise");
    assert_eq!(setting.root.value("SELECT max(pin) FROM lured"), "4711");
    // What is around it is eve's, who may not read it any more.
    assert_eq!(
        denied(&mut setting.root, "SELECT max(pin) FROM around"),
        "permission denied for view lured"
    );
    done(&mut setting.root, "SELECT * FROM pg_roles, pg_tables, information_schema.tables");
}

#[test]
fn materialized_views_are_refreshed_as_their_owners() {
    let mut setting = Setting::new();
    setting.root("GRANT CREATE ON SCHEMA public TO eve; CREATE MATERIALIZED VIEW kept AS SELECT * FROM secret");
    let mut eve = setting.eve();
    denied(&mut eve, "SELECT * FROM kept");
    denied(&mut eve, "REFRESH MATERIALIZED VIEW kept");
    denied(&mut eve, "SELECT * FROM pg_materialized.kept");
    denied(&mut eve, "CREATE MATERIALIZED VIEW mine AS SELECT * FROM secret");
    done(&mut eve, "CREATE MATERIALIZED VIEW mine AS SELECT * FROM secret WITH NO DATA");
    denied(&mut eve, "REFRESH MATERIALIZED VIEW mine");
    // A superuser who refreshes it does not read for her.
    setting.root("ALTER MATERIALIZED VIEW kept OWNER TO eve");
    assert_eq!(
        denied(&mut setting.root, "REFRESH MATERIALIZED VIEW mine"),
        "permission denied for table secret"
    );
    assert_eq!(setting.root.value("SELECT current_user"), "nodewise", "nothing of it stays");
    done(&mut setting.root, "SELECT * FROM secret");
    assert_eq!(eve.value("SELECT count(*) FROM kept"), "2");
}

#[test]
fn what_was_prepared_or_planned_asks_each_time() {
    let mut setting = Setting::new();
    setting.root("GRANT SELECT, UPDATE ON secret TO eve");
    let mut eve = setting.eve();
    done(&mut eve, "PREPARE p AS SELECT pin FROM secret WHERE id = $1");
    done(&mut eve, "PREPARE u AS UPDATE secret SET pin = $1 WHERE id = 2");
    let text = "SELECT pin FROM secret ORDER BY id";
    assert_eq!(eve.value(text), "4711");
    assert_eq!(eve.value(text), "4711");
    assert_eq!(eve.value("EXECUTE p(1)"), "4711");
    done(&mut eve, "EXECUTE u(9)");
    eve.send(
        &[parse("s", "SELECT pin FROM secret"), bind("", "s"), execute("", 0), sync()].concat(),
    );
    assert!(eve.until_ready().iter().all(|it| it.0 != b'E'));
    done(&mut eve, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM secret");
    setting.root("REVOKE SELECT, UPDATE ON secret FROM eve");
    denied(&mut eve, "SELECT pin FROM secret");
    done(&mut eve, "ROLLBACK");
    for sql in [text, "EXECUTE p(1)", "EXECUTE u(10)"] {
        denied(&mut eve, sql);
    }
    eve.send(&[bind("", "s"), execute("", 0), sync()].concat());
    let messages = eve.until_ready();
    assert_eq!(messages.iter().find(|it| it.0 == b'E').unwrap().field(b'C'), "42501");
    // A plan that the superuser has left in the cache, and one that was made before SET ROLE.
    let text = "SELECT id, pin FROM secret ORDER BY pin";
    setting.root(text);
    setting.root(text);
    denied(&mut eve, text);
    let mut root = setting.user("nodewise");
    done(&mut root, "PREPARE q AS SELECT * FROM secret");
    done(&mut root, "EXECUTE q; SET ROLE eve");
    denied(&mut root, "EXECUTE q");
    denied(&mut root, text);
    done(&mut root, "RESET ROLE; EXECUTE q");
}

#[test]
fn set_role_is_for_members() {
    let mut setting = Setting::new();
    setting.root(
        "CREATE ROLE boss LOGIN SUPERUSER; GRANT staff TO bob; GRANT alice TO bob WITH SET FALSE;
        GRANT SELECT ON secret TO staff; CREATE ROLE low LOGIN NOINHERIT; GRANT staff TO low",
    );
    let (mut eve, mut bob, mut low) = (setting.eve(), setting.user("bob"), setting.user("low"));
    for role in ["nodewise", "boss", "alice", "staff", "pg_read_all_data", "pg_read_server_files"] {
        let message = denied(&mut eve, &format!("SET ROLE {role}"));
        assert_eq!(message, format!("permission denied to set role \"{role}\""));
        denied(&mut eve, &format!("SET SESSION AUTHORIZATION {role}"));
    }
    assert_eq!(state(&mut eve, "SET ROLE nobody"), "22023");
    denied(&mut bob, "SET ROLE alice");
    assert_eq!(bob.value("SELECT count(*) FROM secret"), "2", "by inheritance");
    denied(&mut low, "SELECT * FROM secret");
    done(&mut low, "SET ROLE staff");
    assert_eq!(low.value("SELECT count(*) FROM secret"), "2");
    assert_eq!(low.value("SELECT current_user || session_user"), "stafflow");
    let told = "SELECT current_setting('is_superuser') || current_setting('role') \
                || current_setting('session_authorization')";
    assert_eq!(low.value(told), "offstafflow");
    assert_eq!(setting.root.value(told), "onnonenodewise");
    // From staff one comes back, and nowhere else.
    denied(&mut low, "SET ROLE nodewise");
    done(&mut low, "SET ROLE NONE");
    denied(&mut low, "SELECT * FROM secret");
    done(&mut low, "BEGIN; SET LOCAL ROLE staff; SELECT * FROM secret; COMMIT");
    denied(&mut low, "SELECT * FROM secret");
    done(&mut low, "BEGIN; SET ROLE staff; ROLLBACK");
    denied(&mut low, "SELECT * FROM secret");
    // Who is somebody else for a time is so wholly.
    setting.root("SET SESSION AUTHORIZATION eve");
    denied(&mut setting.root, "SELECT * FROM secret");
    denied(&mut setting.root, "SET ROLE boss");
    setting.root("RESET SESSION AUTHORIZATION; SELECT * FROM secret");
    setting.root("SET ROLE eve; DISCARD ALL; SELECT * FROM secret");
    // Membership ends, and what was chosen by it counts no more than the role itself has.
    done(&mut low, "SET ROLE staff");
    setting.root("REVOKE SELECT ON secret FROM staff");
    denied(&mut low, "SELECT * FROM secret");
}

#[test]
fn owners_alone_change_what_is_theirs() {
    let mut setting = Setting::new();
    setting.root(
        "GRANT ALL ON secret TO eve; CREATE SEQUENCE s; CREATE INDEX si ON secret (pin);
        CREATE MATERIALIZED VIEW m AS SELECT 1 AS one",
    );
    let mut eve = setting.eve();
    for (sql, message) in [
        ("DROP TABLE secret", "must be owner of table secret"),
        ("ALTER TABLE secret ADD COLUMN x INTEGER", "must be owner of table secret"),
        ("ALTER TABLE secret DROP COLUMN pin", "must be owner of table secret"),
        ("ALTER TABLE secret RENAME TO mine", "must be owner of table secret"),
        ("ALTER TABLE secret RENAME COLUMN pin TO x", "must be owner of table secret"),
        ("ALTER TABLE secret SET SCHEMA own", "must be owner of table secret"),
        ("ALTER TABLE secret OWNER TO eve", "must be owner of table secret"),
        (
            "ALTER TABLE secret ALTER COLUMN pin TYPE TEXT USING pin::text",
            "must be owner of table secret",
        ),
        ("CREATE INDEX mine ON secret (pin)", "must be owner of table secret"),
        ("DROP INDEX si", "must be owner of index si"),
        ("COMMENT ON TABLE secret IS 'x'", "must be owner of table secret"),
        ("COMMENT ON COLUMN secret.pin IS 'x'", "must be owner of table secret"),
        ("DROP SEQUENCE s", "must be owner of sequence s"),
        ("ALTER SEQUENCE s RESTART", "must be owner of sequence s"),
        ("DROP MATERIALIZED VIEW m", "must be owner of materialized view m"),
        ("DROP SCHEMA own", "must be owner of schema own"),
        ("ALTER SCHEMA own RENAME TO mine", "must be owner of schema own"),
        ("ALTER SCHEMA own OWNER TO eve", "must be owner of schema own"),
        ("ALTER DATABASE nodewise OWNER TO eve", "must be owner of database ada"),
        ("CREATE TABLE t (i INTEGER)", "permission denied for schema public"),
        ("CREATE TABLE own.t (i INTEGER)", "permission denied for schema own"),
        ("CREATE VIEW own.v AS SELECT 1", "permission denied for schema own"),
        ("CREATE SEQUENCE own.q", "permission denied for schema own"),
        ("CREATE TABLE own.t AS SELECT 1", "permission denied for schema own"),
        ("CREATE OR REPLACE TABLE secret AS SELECT 1", "permission denied for schema public"),
        ("CREATE SCHEMA mine", "permission denied for database eve"),
        ("SELECT * FROM own.x", "permission denied for schema own"),
    ] {
        if sql == "SELECT * FROM own.x" {
            setting.root("CREATE TABLE own.x (i INTEGER); GRANT ALL ON own.x TO eve");
        }
        if sql == "ALTER DATABASE nodewise OWNER TO eve" {
            assert!(denied(&mut eve, sql).starts_with("must be owner of database"));
            continue;
        }
        assert_eq!(denied(&mut eve, sql), message, "{sql}");
    }
}

#[test]
fn keys_of_others_are_not_asked_by_foreign_keys() {
    let mut setting = Setting::new();
    let mut eve = setting.eve();
    setting.root("GRANT SELECT ON secret TO eve; GRANT CREATE ON SCHEMA public TO eve");
    // What is one's own can be given to nobody whom one cannot be, and a key of somebody else be referred to by nobody.
    done(&mut eve, "CREATE TEMPORARY TABLE t (id INTEGER)");
    done(&mut eve, "CREATE TABLE child (id INTEGER)");
    assert_eq!(
        denied(&mut eve, "ALTER TABLE child OWNER TO alice"),
        "must be able to SET ROLE \"alice\""
    );
    for sql in [
        "CREATE TABLE probe (id INTEGER REFERENCES secret)",
        "ALTER TABLE child ADD FOREIGN KEY (id) REFERENCES secret",
        "ALTER TABLE child ADD COLUMN s INTEGER REFERENCES secret",
    ] {
        assert_eq!(denied(&mut eve, sql), "permission denied for table secret", "{sql}");
    }
    setting.root("GRANT REFERENCES ON secret TO eve; REVOKE SELECT ON secret FROM eve");
    done(&mut eve, "ALTER TABLE child ADD FOREIGN KEY (id) REFERENCES secret ON DELETE CASCADE");
    // Keys are kept on behalf of the tables.
    done(&mut eve, "INSERT INTO child VALUES (1)");
    assert_eq!(state(&mut eve, "INSERT INTO child VALUES (3)"), "23503");
    setting.root("GRANT DELETE, SELECT ON secret TO bob");
    let mut bob = setting.user("bob");
    done(&mut bob, "DELETE FROM secret WHERE id = 1");
    assert_eq!(eve.value("SELECT count(*) FROM child"), "0");
    denied(&mut bob, "SELECT * FROM child");
}

#[test]
fn files_are_for_roles_with_that_right() {
    let folder = std::env::temp_dir().join(format!("nodewise-roles-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("x.csv");
    std::fs::write(&file, "i\n1\n2\n").unwrap();
    let options =
        ServerOptions { trust_loopback: true, allow_files: true, ..ServerOptions::default() };
    let mut setting = Setting::with(options);
    setting.root(
        "GRANT pg_read_server_files TO alice; GRANT pg_write_server_files TO bob;
        GRANT CREATE ON SCHEMA public TO eve, alice, bob; GRANT INSERT ON inbox TO bob",
    );
    let (mut eve, mut alice, mut bob) = (setting.eve(), setting.user("alice"), setting.user("bob"));
    let (path, dir) = (file.display(), folder.display());
    let reads = [
        format!("SELECT * FROM '{path}'"),
        format!("SELECT * FROM read_csv('{path}')"),
        format!("SELECT * FROM open WHERE id IN (SELECT i FROM '{path}')"),
        format!("EXPLAIN SELECT * FROM '{path}'"),
        format!("DESCRIBE SELECT * FROM '{path}'"),
        format!("COPY inbox (id) FROM '{path}' (FORMAT csv, HEADER)"),
        format!("CREATE TABLE taken AS SELECT * FROM '{path}'"),
        format!("CREATE TABLE taken AS FROM '{path}'"),
        format!("IMPORT DATABASE '{dir}'"),
        format!("INSERT INTO inbox (id) SELECT i FROM '{path}'"),
        format!("PREPARE f AS SELECT * FROM '{path}'; EXECUTE f"),
        "SELECT * FROM '/etc/passwd'".to_owned(),
    ];
    for sql in &reads {
        denied(&mut eve, sql);
        denied(&mut bob, sql);
    }
    let writes = [
        format!("COPY open TO '{dir}/out.csv'"),
        format!("COPY (SELECT 1) TO '{dir}/out.csv'"),
        format!("EXPORT DATABASE '{dir}/all'"),
        format!("BACKUP TO '{dir}/all'"),
        format!("SET temp_directory = '{dir}'"),
    ];
    for sql in &writes {
        denied(&mut eve, sql);
        denied(&mut alice, sql);
    }
    assert_eq!(alice.value(&format!("SELECT sum(i) FROM '{path}'")), "3");
    done(&mut bob, &format!("COPY open TO '{dir}/out.csv'"));
    // The right to write files is none to read tables.
    for sql in [
        format!("COPY secret TO '{dir}/out.csv'"),
        format!("EXPORT DATABASE '{dir}/all'"),
        format!("BACKUP TO '{dir}/all'"),
    ] {
        denied(&mut bob, &sql);
    }
    assert!(!folder.join("all").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn passwords_are_seen_by_superusers_alone() {
    let mut setting = Setting::new();
    setting.root("ALTER ROLE alice PASSWORD 'geheim'");
    let mut eve = setting.eve();
    for sql in [
        "SELECT * FROM pg_authid",
        "SELECT rolpassword FROM pg_catalog.pg_authid",
        "SELECT passwd FROM pg_shadow",
        "CREATE TEMPORARY TABLE t AS SELECT * FROM pg_authid",
    ] {
        denied(&mut eve, sql);
    }
    setting.root("CREATE VIEW peek AS SELECT 1 AS one");
    assert_eq!(eve.value("SELECT DISTINCT rolpassword FROM pg_roles"), "********");
    assert_eq!(eve.value("SELECT DISTINCT passwd FROM pg_user"), "********");
    let kept = setting.root.value("SELECT rolpassword FROM pg_authid WHERE rolname = 'alice'");
    assert!(kept.starts_with("SCRAM-SHA-256$4096:") && !kept.contains("geheim"));
    let texts = "SELECT count(*) FROM pg_stat_statements WHERE query LIKE '%geheim%'";
    assert_eq!(setting.root.value(texts), "0");
}

#[test]
fn the_catalog_shows_no_values() {
    let mut setting = Setting::new();
    setting.root("CREATE SEQUENCE s; SELECT nextval('s')");
    let mut eve = setting.eve();
    let greatest = "SELECT string_agg(max, '') FROM nodewise.columns WHERE table_name = 'secret'";
    assert_eq!(eve.value(greatest), "");
    assert_eq!(setting.root.value(greatest), "24711");
    let least = "SELECT string_agg(min, '') FROM nodewise.columns WHERE table_name = 'open'";
    assert_eq!(eve.value(least), "1'a'");
    assert_eq!(eve.value("SELECT count(last_value) FROM nodewise.sequences"), "0");
    assert_eq!(
        eve.value("SELECT DISTINCT query FROM pg_stat_statements"),
        "<insufficient privilege>"
    );
}

/// What a statement comes to that is asked by HTTP.
fn posted(server: &Running, user: &str, sql: &str) -> String {
    use base64::Engine;
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(server.http).unwrap();
    let token = base64::engine::general_purpose::STANDARD.encode(format!("{user}:x"));
    let body = format!("{{\"texts\": [\"{sql}\"]}}");
    let head = format!(
        "POST /query HTTP/1.1\r\nHost: {}\r\nAuthorization: Basic {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        server.http,
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_page_has_the_same_rights() {
    let setting = Setting::new();
    let answer = posted(&setting.server, "eve", "SELECT * FROM secret");
    assert!(answer.contains("42501") && !answer.contains("4711"), "{answer}");
    let answer = posted(&setting.server, "nodewise", "SELECT * FROM secret");
    assert!(answer.contains("4711"), "{answer}");
    for nobody in ["mallory", "staff", "ada"] {
        let answer = posted(&setting.server, nobody, "SELECT 1");
        assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    }
}

#[test]
fn passwords_of_roles_let_in() {
    let users = Users::parse(&Users::line("ada", "secret").unwrap()).unwrap();
    let server = Running::with(ServerOptions { users, ..ServerOptions::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let asked = |user: &str, password: &str, sql: &str| {
        let mut config = tokio_postgres::Config::new();
        config.host("127.0.0.1").port(server.address.port()).user(user).password(password);
        runtime.block_on(async {
            let state = |it: &tokio_postgres::Error| {
                it.code().map_or(it.to_string(), |it| it.code().to_owned())
            };
            let connected = config.connect(tokio_postgres::NoTls).await;
            let (client, connection) = connected.map_err(|it| state(&it))?;
            tokio::spawn(connection);
            client.batch_execute(sql).await.map_err(|it| state(&it))
        })
    };
    let wrong = Err("28P01".to_owned());
    assert_eq!(asked("ada", "secret", "CREATE ROLE bob LOGIN PASSWORD 'geheim'"), Ok(()));
    assert_eq!(asked("bob", "geheim", "SELECT 1"), Ok(()));
    assert_eq!(asked("bob", "geheim", "CREATE ROLE x"), Err("42501".to_owned()));
    assert_eq!(asked("bob", "Geheim", "SELECT 1"), wrong);
    assert!(asked("nodewise", "", "SELECT 1").is_err(), "it has no password");
    assert_eq!(asked("nodewise", "x", "SELECT 1"), wrong);
    assert_eq!(asked("bob", "geheim", "ALTER ROLE bob PASSWORD 'neu'"), Ok(()));
    assert_eq!(asked("bob", "geheim", "SELECT 1"), wrong);
    assert_eq!(asked("bob", "neu", "SELECT 1"), Ok(()));
    assert_eq!(asked("ada", "secret", "ALTER ROLE bob VALID UNTIL '2001-01-01'"), Ok(()));
    assert_eq!(asked("bob", "neu", "SELECT 1"), wrong);
    assert_eq!(asked("ada", "secret", "ALTER ROLE bob VALID UNTIL 'infinity' NOLOGIN"), Ok(()));
    assert_eq!(asked("bob", "neu", "SELECT 1"), Err("28000".to_owned()));
}

#[test]
fn roles_are_changed_by_who_administers_them() {
    let mut setting = Setting::new();
    setting.root("CREATE ROLE maker LOGIN CREATEROLE; CREATE ROLE boss SUPERUSER");
    let (mut eve, mut maker) = (setting.eve(), setting.user("maker"));
    for sql in [
        "CREATE ROLE x",
        "CREATE USER x SUPERUSER",
        "ALTER ROLE eve SUPERUSER",
        "ALTER ROLE eve CREATEROLE",
        "ALTER ROLE alice PASSWORD 'x'",
        "ALTER ROLE nodewise PASSWORD 'x'",
        "DROP ROLE alice",
        "ALTER ROLE alice RENAME TO x",
        "GRANT alice TO eve",
        "GRANT pg_read_all_data TO eve",
        "GRANT nodewise TO eve",
        "REVOKE staff FROM bob",
        "GRANT SELECT ON secret TO eve",
        "REASSIGN OWNED BY alice TO eve",
        "DROP OWNED BY alice",
    ] {
        denied(&mut eve, sql);
    }
    done(
        &mut eve,
        "ALTER ROLE eve PASSWORD 'mine'; GRANT ALL ON SCHEMA public TO eve; GRANT ALL ON DATABASE nodewise TO eve",
    );
    denied(&mut eve, "CREATE TABLE t (i INTEGER)");
    denied(&mut eve, "CREATE SCHEMA mine");
    for sql in [
        "CREATE ROLE x SUPERUSER",
        "CREATE ROLE x REPLICATION",
        "CREATE ROLE x IN ROLE alice",
        "ALTER ROLE maker SUPERUSER",
        "ALTER ROLE alice PASSWORD 'x'",
        "ALTER ROLE boss PASSWORD 'x'",
        "GRANT boss TO maker",
        "GRANT pg_read_server_files TO maker",
        "GRANT alice TO maker",
        "DROP ROLE boss",
    ] {
        denied(&mut maker, sql);
    }
    // Who makes a role may be it, once it has said so, and has no more by it than the role itself.
    done(&mut maker, "CREATE ROLE made; GRANT made TO maker; SET ROLE made; RESET ROLE");
    denied(&mut maker, "SELECT * FROM secret");
    done(&mut maker, "ALTER ROLE made RENAME TO made2; DROP ROLE made2");
    for sql in
        ["DROP ROLE nodewise", "ALTER ROLE nodewise NOSUPERUSER", "DROP ROLE pg_read_all_data"]
    {
        assert!(["2BP01", "0A000", "55006"].contains(&&*state(&mut setting.root, sql)), "{sql}");
    }
    assert_eq!(state(&mut setting.root, "CREATE ROLE pg_x"), "42939");
    assert_eq!(state(&mut setting.root, "GRANT boss TO boss"), "0LP01");
}

#[test]
fn what_was_given_on_goes_with_what_it_rests_on() {
    let mut setting = Setting::new();
    setting.root("GRANT SELECT ON secret TO alice WITH GRANT OPTION");
    let (mut alice, mut eve, mut bob) = (setting.user("alice"), setting.eve(), setting.user("bob"));
    // A right that one has not to give is none that is given.
    done(&mut alice, "GRANT INSERT ON secret TO eve");
    denied(&mut eve, "INSERT INTO secret VALUES (9, 9)");
    denied(&mut eve, "GRANT SELECT ON secret TO eve");
    done(&mut alice, "GRANT SELECT ON secret TO bob WITH GRANT OPTION");
    done(&mut bob, "GRANT SELECT ON secret TO eve");
    assert_eq!(state(&mut bob, "GRANT SELECT ON secret TO alice WITH GRANT OPTION"), "0LP01");
    assert_eq!(eve.value("SELECT count(*) FROM secret"), "2");
    assert_eq!(state(&mut setting.root, "REVOKE SELECT ON secret FROM alice"), "2BP01");
    assert_eq!(eve.value("SELECT count(*) FROM secret"), "2");
    setting.root("REVOKE SELECT ON secret FROM alice CASCADE");
    for raw in [&mut alice, &mut bob, &mut eve] {
        denied(raw, "SELECT * FROM secret");
    }
    // With a table its rights go: another of the name has none.
    setting.root("GRANT SELECT ON secret TO eve; DROP TABLE secret CASCADE; CREATE TABLE secret (id INTEGER)");
    denied(&mut eve, "SELECT * FROM secret");
    assert_eq!(state(&mut setting.root, "DROP ROLE alice"), "2BP01");
    setting.root("DROP OWNED BY alice; DROP ROLE alice");
    assert_eq!(connected(&setting.server, "alice").err(), Some("28000".into()));
}

#[test]
fn schemas_and_sequences_have_rights() {
    let mut setting = Setting::new();
    setting.root("CREATE SCHEMA closed; CREATE TABLE closed.t (i INTEGER); GRANT ALL ON closed.t TO eve;
        CREATE SEQUENCE s; CREATE TABLE made (id INTEGER GENERATED ALWAYS AS IDENTITY, v INTEGER);
        CREATE TABLE old (id SERIAL, v INTEGER); GRANT INSERT ON made, old TO eve;
        GRANT CREATE ON SCHEMA public TO eve; CREATE VIEW v AS SELECT * FROM closed.t; GRANT SELECT ON v TO eve");
    let mut eve = setting.eve();
    assert_eq!(denied(&mut eve, "SELECT * FROM closed.t"), "permission denied for schema closed");
    denied(&mut eve, "INSERT INTO closed.t VALUES (1)");
    denied(&mut eve, "CREATE VIEW through AS SELECT * FROM closed.t");
    done(&mut eve, "SELECT * FROM v");
    done(&mut eve, "SET search_path = closed, public");
    assert_eq!(
        state(&mut eve, "SELECT * FROM t"),
        "42P01",
        "what may not be looked through is not"
    );
    setting.root(
        "CREATE FUNCTION closed.f() RETURNS INTEGER LANGUAGE sql RETURN 1;
        CREATE FUNCTION closed.listed() RETURNS SETOF INTEGER LANGUAGE sql AS 'SELECT 1'",
    );
    assert_eq!(state(&mut eve, "SELECT f()"), "42883");
    for sql in ["SELECT closed.f()", "SELECT * FROM closed.listed()", "SELECT closed.nosuch(1)"] {
        assert_eq!(denied(&mut eve, sql), "permission denied for schema closed", "{sql}");
    }
    setting.root("GRANT USAGE ON SCHEMA closed TO eve");
    done(&mut eve, "SELECT * FROM t; SELECT f(), closed.f() FROM listed(); RESET search_path");
    for sql in [
        "CREATE FUNCTION closed.g() RETURNS INTEGER LANGUAGE sql RETURN 1",
        "DROP FUNCTION closed.f()",
        "ALTER FUNCTION closed.f() RENAME TO g",
        "COMMENT ON FUNCTION closed.f() IS 'x'",
    ] {
        assert_eq!(denied(&mut eve, sql), "permission denied for schema closed", "{sql}");
    }
    for sql in
        ["SELECT nextval('s')", "SELECT currval('s')", "SELECT setval('s', 5)", "SELECT * FROM s"]
    {
        assert_eq!(denied(&mut eve, sql), "permission denied for sequence s", "{sql}");
    }
    done(&mut eve, "INSERT INTO made (v) VALUES (1)");
    assert_eq!(
        denied(&mut eve, "INSERT INTO old (v) VALUES (1)"),
        "permission denied for sequence old_id_seq"
    );
    denied(&mut eve, "SELECT setval('made_id_seq', 1)");
    setting.root("GRANT USAGE ON SEQUENCE s, old_id_seq TO eve");
    done(
        &mut eve,
        "SELECT nextval('s'); SELECT currval('s'); SELECT lastval(); INSERT INTO old (v) VALUES (1)",
    );
    denied(&mut eve, "SELECT setval('s', 5)");
    denied(&mut eve, "SELECT last_value FROM s");
}

#[test]
fn others_are_left_alone() {
    let mut setting = Setting::new();
    setting.root("GRANT pg_signal_backend TO alice");
    let (mut eve, mut alice) = (setting.eve(), setting.user("alice"));
    let mut busy = setting.user("bob");
    let slow = "SELECT count(*) FROM generate_series(1, 3000000) a, generate_series(1, 30000) b";
    busy.send(&query(slow));
    let wait =
        "SELECT coalesce(max(id), -1) FROM nodewise.queries WHERE session <> pg_backend_pid()";
    let mut number = eve.value(wait);
    while number == "-1" {
        number = eve.value(wait);
    }
    let seen = eve.value("SELECT text FROM nodewise.queries WHERE session <> pg_backend_pid()");
    assert_eq!(seen, "<insufficient privilege>");
    denied(&mut eve, &format!("KILL {number}"));
    denied(&mut eve, &format!("ALTER QUERY {number} SET priority = 255"));
    done(&mut alice, &format!("KILL {number}"));
    assert!(busy.until_ready().iter().any(|it| it.field(b'C') == "57014"));
    for sql in [
        "SET max_running_queries = 1",
        "SET placer = on",
        "SET total_memory_limit = '1MB'",
        "CHECKPOINT",
        "CALL nodewise.merge()",
        "CALL nodewise.verify_placement('secret')",
    ] {
        denied(&mut eve, sql);
    }
}

#[test]
fn who_may_come_in() {
    let mut setting = Setting::new();
    setting.root("CREATE ROLE closed; CREATE ROLE one LOGIN CONNECTION LIMIT 1");
    assert_eq!(connected(&setting.server, "mallory").err(), Some("28000".into()));
    assert_eq!(connected(&setting.server, "closed").err(), Some("28000".into()));
    assert_eq!(
        connected(&setting.server, "ada").err(),
        Some("28000".into()),
        "once there are roles"
    );
    assert!(connected(&setting.server, "nodewise").is_ok());
    let _one = setting.user("one");
    assert_eq!(connected(&setting.server, "one").err(), Some("53300".into()));
    setting.root("REVOKE CONNECT ON DATABASE nodewise FROM PUBLIC; GRANT CONNECT ON DATABASE nodewise TO bob");
    assert_eq!(connected(&setting.server, "eve").err(), Some("42501".into()));
    assert!(connected(&setting.server, "bob").is_ok());
    let mut bob = setting.user("bob");
    setting.root("REVOKE TEMPORARY ON DATABASE nodewise FROM PUBLIC");
    denied(&mut bob, "CREATE TEMPORARY TABLE t (i INTEGER)");
}
