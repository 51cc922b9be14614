//! Roles and rights outlast the program: by the log, by a checkpoint, in a backup, and none of them half.

use std::path::Path;

use hardware::samples;
use nodewise::{Database, DatabaseOptions, NoProgress, Session};
use simulator::{DiskImage, SimulatedMachine};
use stdx::sync::Arc;

fn open(machine: &Arc<SimulatedMachine>) -> Arc<Database> {
    let options = DatabaseOptions { workers: Some(2), ..DatabaseOptions::default() };
    Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress).unwrap()
}

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image)
}

fn run(session: &mut Session, statements: &[&str]) {
    for sql in statements {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn value(session: &mut Session, sql: &str) -> String {
    let answer = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut lines = Vec::new();
    for batch in &answer.batches {
        let cells: Vec<_> = batch.columns().iter().map(nodewise::text::Cells::new).collect();
        for row in 0..batch.num_rows() {
            let cell = |it: &nodewise::text::Cells<'_>| it.text(row).unwrap_or("NULL".into());
            lines.push(cells.iter().map(cell).collect::<Vec<_>>().join("|"));
        }
    }
    lines.join("\n")
}

fn refused(session: &mut Session, sql: &str) {
    assert_eq!(session.execute(sql).unwrap_err().state.0, "42501", "{sql}");
}

const ROLES: &str = "SELECT rolname, rolsuper, rolinherit, rolcanlogin, rolconnlimit, rolpassword, rolvaliduntil \
     FROM pg_authid ORDER BY oid";
const MEMBERS: &str = "SELECT roleid, member, grantor, admin_option, inherit_option, set_option \
     FROM pg_auth_members ORDER BY 1, 2, 3";
const OWNED: &str = "SELECT relname, pg_get_userbyid(relowner), relacl::text FROM pg_class \
     WHERE relkind <> 'i' ORDER BY 1";
const SCHEMAS: &str =
    "SELECT nspname, pg_get_userbyid(nspowner), nspacl::text FROM pg_namespace ORDER BY 1";
const DATABASES: &str = "SELECT datacl::text FROM pg_database";

/// All that there is to see of roles and rights.
fn all(database: &Arc<Database>) -> Vec<String> {
    let mut session = database.session();
    [ROLES, MEMBERS, OWNED, SCHEMAS, DATABASES].iter().map(|it| value(&mut session, it)).collect()
}

const VERIFIER: &str = "SCRAM-SHA-256$4096:AAAAAAAAAAAAAAAAAAAAAA==$\
     AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn set_up(session: &mut Session) {
    let password =
        format!("CREATE ROLE ada LOGIN PASSWORD '{VERIFIER}' VALID UNTIL '2031-05-06 07:08:09+00'");
    run(
        session,
        &[
            &password,
            "CREATE ROLE \"Eve\" NOINHERIT CONNECTION LIMIT 3; CREATE ROLE staff; CREATE ROLE gone",
            "GRANT staff TO ada WITH ADMIN OPTION; GRANT staff TO \"Eve\" WITH SET FALSE",
            "ALTER ROLE nodewise CONNECTION LIMIT 9",
            "CREATE SCHEMA s AUTHORIZATION ada",
            "CREATE TABLE t (id SERIAL, v INTEGER); CREATE TABLE s.u (i INTEGER); CREATE VIEW w AS SELECT v FROM t",
            "CREATE MATERIALIZED VIEW m AS SELECT 1 AS one",
            "GRANT SELECT ON t TO staff WITH GRANT OPTION; GRANT ALL ON w TO PUBLIC",
            "ALTER TABLE s.u OWNER TO staff; ALTER VIEW w OWNER TO ada; ALTER MATERIALIZED VIEW m OWNER TO ada",
            "GRANT USAGE ON SEQUENCE t_id_seq TO \"Eve\"",
            "REVOKE CONNECT ON DATABASE nodewise FROM PUBLIC; GRANT USAGE ON SCHEMA s TO \"Eve\"",
            "DROP ROLE gone",
            "CREATE TEMPORARY TABLE mine (i INTEGER); GRANT SELECT ON mine TO ada",
            "ALTER TABLE t RENAME TO t2; ALTER VIEW w RENAME TO w2",
        ],
    );
}

#[test]
fn roles_and_rights_come_back_from_the_log_and_from_a_checkpoint() {
    let first = machine(DiskImage::default());
    let database = open(&first);
    let mut session = database.session();
    set_up(&mut session);
    let temporary = |it: &String| {
        it.lines().filter(|it| !it.starts_with("mine")).collect::<Vec<_>>().join("\n")
    };
    let before: Vec<String> = all(&database).iter().map(temporary).collect();
    assert!(
        before[0].contains(VERIFIER) && before[2].contains("t2|nodewise|{nodewise="),
        "{before:?}"
    );
    let second = machine(first.crash(0));
    let again = open(&second);
    let without = |all: Vec<String>| -> Vec<String> {
        let line = |it: &&str| !it.starts_with("pg_temp");
        all.iter().map(|it| it.lines().filter(line).collect::<Vec<_>>().join("\n")).collect()
    };
    assert_eq!(without(all(&again)), without(before.clone()));
    run(&mut again.session(), &["CHECKPOINT", "CREATE ROLE later", "GRANT SELECT ON t2 TO later"]);
    let known = all(&again);
    let third = machine(second.crash(0));
    let last = open(&third);
    assert_eq!(all(&last), known);
    let mut session = last.session();
    run(&mut session, &["SET ROLE later", "SELECT * FROM t2"]);
    refused(&mut session, "INSERT INTO t2 (v) VALUES (1)");
    refused(&mut session, "SELECT * FROM s.u");
    // Numbers are not given again while something is named by them.
    run(&mut session, &["RESET ROLE", "CREATE ROLE newest"]);
    let equal = "SELECT count(*) - count(DISTINCT oid) FROM pg_roles";
    assert_eq!(value(&mut session, equal), "0");
}

#[test]
fn what_is_rolled_back_gives_no_right() {
    let first = machine(DiskImage::default());
    let database = open(&first);
    let mut session = database.session();
    set_up(&mut session);
    let before = all(&database);
    run(
        &mut session,
        &[
            "BEGIN; CREATE ROLE x SUPERUSER; GRANT SELECT ON t2 TO ada; ALTER ROLE ada SUPERUSER; ALTER TABLE t2 OWNER TO x",
            "SAVEPOINT a; DROP OWNED BY ada CASCADE; DROP ROLE ada; ROLLBACK TO a",
            "ROLLBACK",
        ],
    );
    assert_eq!(all(&database), before);
    run(
        &mut session,
        &[
            "BEGIN; GRANT UPDATE ON t2 TO ada; SAVEPOINT a; GRANT DELETE ON t2 TO ada; ROLLBACK TO a; COMMIT",
        ],
    );
    let again = open(&machine(first.crash(0)));
    let mut session = again.session();
    let held = "SELECT has_table_privilege('ada', 't2', 'UPDATE'), has_table_privilege('ada', 't2', 'DELETE')";
    assert_eq!(value(&mut session, held), "true|false");
}

#[test]
fn no_crash_leaves_half_of_a_change() {
    for seed in 0..20 {
        let first = machine(DiskImage::default());
        let database = open(&first);
        let mut session = database.session();
        run(&mut session, &["CREATE TABLE t (i INTEGER); CREATE ROLE ada"]);
        run(
            &mut session,
            &[
                "BEGIN; CREATE ROLE bob; GRANT SELECT ON t TO bob; ALTER TABLE t OWNER TO ada; GRANT ada TO bob; COMMIT",
            ],
        );
        let again = open(&machine(first.crash(seed)));
        let mut session = again.session();
        let is_whole = "SELECT (SELECT count(*) FROM pg_roles WHERE rolname = 'bob'), \
             (SELECT count(*) FROM pg_tables WHERE tableowner = 'ada')";
        assert_eq!(value(&mut session, is_whole), "1|1", "seed {seed}");
        assert_eq!(value(&mut session, "SELECT has_table_privilege('bob', 't', 'DELETE')"), "true");
    }
}
