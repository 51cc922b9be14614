//! What psql asks for each of its backslash commands, as `psql -E` of versions 18 and 15 shows it (`tests/psql`, each statement once:
//! of 15 those that 18 does not ask): each is answered, but for those of the commands listed here. And what SQLAlchemy asks of the catalog (`tests/asked`).

use crate::common::{Raw, Running, query};

const TABLES: &str = "CREATE TABLE part (id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, price DECIMAL(10,2) DEFAULT 1); \
    CREATE TABLE stock (part BIGINT REFERENCES part (id), many INTEGER CHECK (many >= 0)); \
    CREATE INDEX stock_part ON stock (part); CREATE SEQUENCE s";

/// Commands of which a statement may be refused, by what is missing.
const REFUSED: &[(&str, &[&str])] = &[
    ("tableoid", &["\\dd", "\\dL"]),
    // PostgreSQL 18 has not these either, which psql 15 asks for.
    ("iculocale", &["\\l", "\\l+", "\\dO"]),
];

/// The statements of a file, each with its command.
fn statements(file: &str) -> Vec<(String, String)> {
    let mut command = String::new();
    let mut all = Vec::new();
    let mut statement = String::new();
    for line in file.lines() {
        match line.strip_prefix("-- \\") {
            Some(it) => command = format!("\\{it}"),
            None if line == ";" => all.push((command.clone(), std::mem::take(&mut statement))),
            None => {
                statement.push_str(line);
                statement.push('\n');
            }
        }
    }
    all
}

fn check(file: &str, least: usize) {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    assert_eq!(raw.kinds(&query(TABLES)), "CCCCZ");
    let mut oids = Vec::new();
    for name in ["part_pkey", "part", "stock_part", "stock", "s"] {
        let oid = raw.value(&format!("SELECT oid FROM pg_class WHERE relname = '{name}'"));
        oids.push((format!("':{name}'"), format!("'{oid}'")));
    }
    let mut refused: Vec<(String, String)> = Vec::new();
    let all = statements(file);
    assert!(all.len() >= least, "{}", all.len());
    for (command, mut statement) in all {
        for (name, oid) in &oids {
            statement = statement.replace(name, oid);
        }
        raw.send(&query(&statement));
        let messages = raw.until_ready();
        if let Some(error) = messages.iter().find(|it| it.0 == b'E') {
            let told = format!("{} {}", error.field(b'C'), error.field(b'M'));
            if !refused.contains(&(command.clone(), told.clone())) {
                refused.push((command, told));
            }
        }
    }
    let is_known = |(command, told): &(String, String)| {
        let known = |(what, of): &(&str, &[&str])| told.contains(what) && of.contains(&&**command);
        REFUSED.iter().any(known)
    };
    refused.retain(|it| !is_known(it));
    assert_eq!(refused, [], "these were answered before, or nobody has looked at them");
}

#[test]
fn psql_18_is_answered() {
    check(include_str!("../psql/18.sql"), 90);
}

#[test]
fn psql_15_is_answered() {
    check(include_str!("../psql/15.sql"), 14);
}

/// What SQLAlchemy 2 asks when it makes and looks at tables, but for columns.
#[test]
fn sqlalchemy_is_answered() {
    check(include_str!("../asked/sqlalchemy.sql"), 20);
}
