//! Rights on single columns: what somebody reads and changes by them, and what not, by whatever way it is tried. The lists are as
//! PostgreSQL 18 has them, but for DuckDB's forms at their ends.

use crate::common::{Raw, Running, query, start_packet};
use server::ServerOptions;

const SETTING: &str = "
    CREATE ROLE eve LOGIN; CREATE ROLE bob LOGIN;
    CREATE TABLE open (id INTEGER, note TEXT); INSERT INTO open VALUES (1, 'o');
    GRANT SELECT ON open TO PUBLIC; GRANT UPDATE (note) ON open TO eve;
    CREATE TABLE inbox (id INTEGER, pin INTEGER); GRANT SELECT, INSERT ON inbox TO eve;
    CREATE TABLE person (id INT PRIMARY KEY, name TEXT, salary INT, note TEXT, code INT UNIQUE);
    INSERT INTO person VALUES (1, 'a', 100, 'n', 7);
    CREATE VIEW people AS SELECT id, name, salary FROM person;
    GRANT SELECT (id, name), UPDATE (note), INSERT (id, name), REFERENCES (id) ON person TO eve;
    CREATE TABLE single (id INT PRIMARY KEY, name TEXT, salary INT);
    GRANT SELECT (id), INSERT (id, name), UPDATE (name) ON single TO eve;
    GRANT SELECT (name) ON people TO eve; GRANT CREATE ON SCHEMA public TO eve";

const ALLOWED: &[&str] = &[
    "SELECT id, name FROM person",
    "SELECT count(*) FROM person",
    "SELECT 1 FROM person",
    "SELECT p.name FROM person p WHERE p.id = 1",
    "SELECT x.b FROM person AS x(a, b, c, d)",
    "SELECT name FROM people",
    "SELECT count(*) FROM people",
    "SELECT n.name FROM (SELECT name FROM people) n",
    "SELECT id FROM open JOIN person USING (id)",
    "SELECT name, count(*) FROM person GROUP BY name ORDER BY name",
    "WITH w AS (SELECT name FROM person) SELECT * FROM w",
    "SELECT id FROM person FOR UPDATE",
    "COPY person (id, name) TO STDOUT",
    "INSERT INTO person (id, name) VALUES (9, 'x')",
    "INSERT INTO person (id, name) VALUES (10, 'x') RETURNING id, name",
    "INSERT INTO person (id, name) VALUES (9, 'x') ON CONFLICT (id) DO NOTHING",
    "INSERT INTO person (id, name) VALUES (9, 'x') ON CONFLICT DO NOTHING",
    "INSERT INTO person (id, name) VALUES (9, 'x') ON CONFLICT (id) DO UPDATE SET note = excluded.name",
    "UPDATE person SET note = 'x'",
    "UPDATE person SET note = name WHERE id = 1 RETURNING id, old.name",
    "MERGE INTO person p USING (SELECT 1 AS k) s ON p.id = s.k WHEN MATCHED THEN UPDATE SET note = 'm'",
    "MERGE INTO person p USING (SELECT 11 AS k) s ON p.id = s.k WHEN NOT MATCHED THEN INSERT (id, name) VALUES (k, 'n')",
    "CREATE TABLE child (id int REFERENCES person (id))",
    "CREATE TABLE heir (id int REFERENCES person)",
    "SELECT * EXCLUDE (salary, note, code) FROM person",
    "FROM person SELECT name",
    "SELECT COLUMNS('^(id|name)$') FROM person",
];

const DENIED: &[&str] = &[
    "SELECT * FROM person",
    "SELECT salary FROM person",
    "SELECT id FROM person WHERE salary > 0",
    "SELECT id FROM person ORDER BY salary",
    "SELECT count(salary) FROM person",
    "SELECT count(p.*) FROM person p",
    "SELECT name FROM person GROUP BY name HAVING max(salary) > 1",
    "TABLE person",
    "SELECT id FROM person NATURAL JOIN (SELECT 1 AS salary) s",
    "SELECT s.salary FROM (SELECT 1 AS salary) s JOIN person USING (salary)",
    "SELECT s.salary FROM (SELECT 1 AS salary) s FULL JOIN person USING (salary)",
    "SELECT x.name FROM (SELECT name, salary FROM person) x",
    "SELECT (SELECT salary FROM person LIMIT 1)",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM person WHERE salary > 0)",
    "SELECT rank() OVER (ORDER BY salary) FROM person",
    "SELECT c FROM person x(a, b, c, d)",
    "SELECT row_to_json(p) FROM person p",
    "SELECT l.salary FROM person p, LATERAL (SELECT p.salary) l",
    "SELECT id FROM person WHERE (id, salary) = (1, 2)",
    "EXPLAIN SELECT salary FROM person",
    "COPY person TO STDOUT",
    "COPY person (id, salary) TO STDOUT",
    "COPY (SELECT salary FROM person) TO STDOUT",
    "COPY person FROM STDIN",
    "COPY person (id, salary) FROM STDIN",
    "INSERT INTO person VALUES (20, 'a', 2, 'x')",
    "INSERT INTO person (id, salary) VALUES (20, 1)",
    "INSERT INTO person VALUES (20, 'a', 2)",
    "INSERT INTO person (id, name) VALUES (20, 'x') RETURNING salary",
    "INSERT INTO person (id, name) VALUES (20, 'x') RETURNING *",
    "INSERT INTO person (id, name) VALUES (20, 'x') RETURNING new.salary",
    "INSERT INTO person (id, name) SELECT id, salary::text FROM person",
    "INSERT INTO person (id, name) VALUES (9, 'x') ON CONFLICT (id) DO UPDATE SET salary = 1",
    "INSERT INTO person (id, name) VALUES (9, 'x') ON CONFLICT (id) DO UPDATE SET note = person.salary::text",
    "INSERT INTO person (id, name) VALUES (9, 'x') ON CONFLICT (id) DO UPDATE SET note = 'x' WHERE person.salary > 1",
    "UPDATE person SET name = 'x'",
    "UPDATE person SET note = salary::text",
    "UPDATE person SET note = 'x' WHERE salary = 1",
    "UPDATE person SET note = 'x' RETURNING *",
    "UPDATE person SET note = 'x' RETURNING old.salary",
    "UPDATE person SET note = 'x' RETURNING new.salary",
    "UPDATE person SET (note, name) = ('a', 'b')",
    "UPDATE open SET note = p.salary::text FROM person p WHERE p.id = open.id",
    "DELETE FROM person",
    "DELETE FROM person WHERE id = 1",
    "SELECT salary FROM people",
    "SELECT * FROM people",
    "SELECT name FROM people WHERE salary > 1",
    "SELECT name FROM people WHERE id = 1",
    "MERGE INTO person p USING (SELECT 1 AS k) s ON p.id = s.k WHEN MATCHED AND salary > 1 THEN UPDATE SET note = 'm'",
    "MERGE INTO person p USING (SELECT 1 AS k) s ON p.id = s.k WHEN MATCHED THEN UPDATE SET salary = 1",
    "MERGE INTO person p USING (SELECT 1 AS k) s ON p.id = s.k WHEN MATCHED THEN DELETE",
    "MERGE INTO person p USING (SELECT 12 AS k) s ON p.id = s.k WHEN NOT MATCHED THEN INSERT (id, salary) VALUES (k, 1)",
    "MERGE INTO inbox i USING person p ON i.id = p.id WHEN NOT MATCHED THEN INSERT (id, pin) VALUES (p.id, p.salary)",
    "TRUNCATE person",
    "LOCK TABLE person IN ACCESS EXCLUSIVE MODE",
    "SELECT salary FROM person FOR UPDATE",
    "CREATE TABLE bastard (id int REFERENCES person (code))",
    "CREATE TABLE copied (LIKE person)",
    "GRANT SELECT (salary) ON person TO bob",
    "FROM person",
    "SELECT COLUMNS(*) FROM person",
    "SELECT * EXCLUDE (name) FROM person",
    "SUMMARIZE person",
    "SELECT salary FROM person LIMIT 0",
    "INSERT OR REPLACE INTO single (id, name) VALUES (9, 'x')",
    "SELECT id FROM (FROM person UNPIVOT (v FOR k IN (salary)))",
];

struct Setting {
    server: Running,
    root: Raw,
}

impl Setting {
    fn new() -> Self {
        let options = ServerOptions { trust_loopback: true, ..ServerOptions::default() };
        let server = Running::with(options);
        let mut root = Raw::connect(server.address);
        done(&mut root, SETTING);
        Self { server, root }
    }

    fn user(&self, name: &str) -> Raw {
        let mut raw = Raw::open(self.server.address);
        raw.send(&start_packet(3 << 16, &[("user", name)]));
        raw.until_ready();
        raw
    }
}

/// The SQLSTATE and the message of the error that a statement ends with.
fn error(raw: &mut Raw, sql: &str) -> Option<(String, String)> {
    raw.send(&query(sql));
    let messages = raw.until_ready();
    let error = messages.iter().find(|it| it.0 == b'E')?;
    Some((error.field(b'C'), error.field(b'M')))
}

fn done(raw: &mut Raw, sql: &str) {
    assert_eq!(error(raw, sql), None, "{sql}");
}

fn denied(raw: &mut Raw, sql: &str) {
    let told = error(raw, sql);
    assert_eq!(told.as_ref().map(|it| &*it.0), Some("42501"), "{sql}: {told:?}");
}

#[test]
fn columns_are_for_who_has_a_right_to_them() {
    let setting = Setting::new();
    let mut eve = setting.user("eve");
    for sql in ALLOWED {
        done(&mut eve, sql);
    }
    for sql in DENIED {
        denied(&mut eve, sql);
    }
}

#[test]
fn rights_follow_their_columns() {
    let mut setting = Setting::new();
    let mut eve = setting.user("eve");
    done(&mut eve, "PREPARE p AS SELECT name FROM person");
    done(&mut setting.root, "ALTER TABLE person DROP CONSTRAINT person_code_key; DROP VIEW people");
    done(
        &mut setting.root,
        "ALTER TABLE person RENAME COLUMN name TO label; ALTER TABLE person RENAME COLUMN salary TO name",
    );
    done(&mut eve, "SELECT label FROM person");
    denied(&mut eve, "SELECT name FROM person");
    denied(&mut eve, "EXECUTE p");
    // A column that comes in the place of another has not its rights.
    done(
        &mut setting.root,
        "ALTER TABLE person DROP COLUMN note; ALTER TABLE person ADD COLUMN note TEXT",
    );
    denied(&mut eve, "UPDATE person SET note = 'x'");
    done(&mut setting.root, "ALTER TABLE person RENAME TO human");
    done(&mut eve, "SELECT label FROM human");
    denied(&mut eve, "SELECT name FROM human");
    done(&mut setting.root, "CREATE OR REPLACE TABLE human (id INT, label TEXT)");
    denied(&mut eve, "SELECT label FROM human");
}

#[test]
fn who_loses_the_right_to_a_table_loses_it_to_its_columns() {
    let mut setting = Setting::new();
    let mut eve = setting.user("eve");
    done(&mut eve, "PREPARE p AS SELECT name FROM person");
    done(&mut eve, "EXECUTE p");
    done(&mut setting.root, "REVOKE SELECT (name) ON person FROM eve");
    denied(&mut eve, "EXECUTE p");
    done(&mut eve, "SELECT id FROM person");
    done(&mut setting.root, "REVOKE SELECT ON person FROM eve");
    denied(&mut eve, "SELECT id FROM person");
    denied(&mut eve, "SELECT count(*) FROM person");
    done(&mut eve, "UPDATE person SET note = 'y'");
    done(&mut setting.root, "DROP OWNED BY eve");
    denied(&mut eve, "UPDATE person SET note = 'y'");
}

#[test]
fn what_is_given_on_of_a_column_rests_on_who_gave_it() {
    let mut setting = Setting::new();
    let (mut eve, mut bob) = (setting.user("eve"), setting.user("bob"));
    done(&mut setting.root, "GRANT SELECT (name) ON person TO eve WITH GRANT OPTION");
    done(&mut eve, "GRANT SELECT (name) ON person TO bob");
    done(&mut bob, "SELECT name FROM person");
    denied(&mut bob, "SELECT id FROM person");
    denied(&mut eve, "GRANT SELECT (salary) ON person TO bob");
    done(&mut eve, "GRANT SELECT (id) ON person TO bob");
    denied(&mut bob, "SELECT id FROM person");
    let told = error(&mut setting.root, "REVOKE SELECT (name) ON person FROM eve");
    assert_eq!(told.map(|it| it.0).as_deref(), Some("2BP01"));
    done(&mut setting.root, "REVOKE SELECT (name) ON person FROM eve CASCADE");
    denied(&mut bob, "SELECT name FROM person");
    denied(&mut eve, "SELECT name FROM person");
}

#[test]
fn a_view_lends_the_columns_that_its_owner_has() {
    let mut setting = Setting::new();
    let mut eve = setting.user("eve");
    let mut bob = setting.user("bob");
    done(&mut eve, "CREATE VIEW names AS SELECT name FROM person; GRANT SELECT ON names TO bob");
    denied(&mut eve, "CREATE MATERIALIZED VIEW kept AS SELECT salary FROM person");
    done(
        &mut eve,
        "CREATE VIEW pays AS SELECT name, salary FROM person; GRANT SELECT ON pays TO bob",
    );
    done(&mut bob, "SELECT * FROM names");
    denied(&mut bob, "SELECT name FROM pays");
    denied(&mut setting.root, "SELECT name FROM pays");
    done(&mut setting.root, "GRANT SELECT (salary) ON person TO eve");
    done(&mut bob, "SELECT * FROM pays");
    done(&mut setting.root, "REVOKE SELECT (name) ON person FROM eve");
    denied(&mut bob, "SELECT * FROM names");
}
