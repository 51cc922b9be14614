//! A look through a folder names all damage, and changes nothing.

use std::path::Path;

use hardware::samples;
use nodewise::{Database, DatabaseOptions, FolderCheck, NoProgress, SqlResult};
use simulator::{DiskImage, SimulatedMachine};
use stdx::sync::Arc;

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image)
}

fn options() -> DatabaseOptions {
    DatabaseOptions { workers: Some(2), delta_from: Some(0), ..DatabaseOptions::default() }
}

fn open(machine: &Arc<SimulatedMachine>) -> SqlResult<Arc<Database>> {
    Database::open_dir(machine.clone(), Path::new("/db"), options(), &NoProgress)
}

fn check(machine: &Arc<SimulatedMachine>) -> SqlResult<FolderCheck> {
    Database::check_dir(machine.clone(), Path::new("/db"), options(), &NoProgress)
}

/// What a database gives that was opened on a folder: all rows of all tables.
fn content(database: &Arc<Database>) -> Vec<String> {
    let mut session = database.session();
    let tables = database.tables();
    let mut ask = |it: &str| {
        let answer = session.query(&format!("SELECT * FROM {it}")).unwrap();
        answer.batches.iter().map(|it| format!("{it:?}")).collect::<String>()
    };
    tables.iter().map(|it| ask(&it.name)).collect()
}

/// A folder with a checkpoint of tables of all kinds, and a log with more, that was closed.
fn folder() -> (DiskImage, Vec<String>) {
    let machine = machine(DiskImage::default());
    let database = open(&machine).unwrap();
    let mut session = database.session();
    let rows: Vec<String> = (1..=300).map(|i| format!("({i}, 'text {}', {i}.25)", i % 7)).collect();
    let one = format!("INSERT INTO one VALUES {}", rows.join(", "));
    for sql in [
        "CREATE TABLE one (i BIGINT PRIMARY KEY, v TEXT NOT NULL, d DOUBLE PRECISION UNIQUE)",
        &one,
        "CREATE TABLE parts (i INTEGER, v TEXT) PARTITION BY HASH (i) PARTITIONS 3",
        "INSERT INTO parts SELECT i, 'common' || i % 5 FROM one WHERE i <= 200",
        "CREATE INDEX parts_v ON parts (v)",
        "INSERT INTO parts VALUES (-1, 'late'), (NULL, NULL)",
        "DELETE FROM parts WHERE i % 9 = 0",
        "CREATE TABLE empty (d DATE)",
        "CHECKPOINT",
        "INSERT INTO one VALUES (1000, 'after', NULL)",
        "CREATE TABLE young (i INTEGER)",
        "INSERT INTO young VALUES (1), (2)",
    ] {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let content = content(&database);
    drop((session, database));
    (machine.crash(0), content)
}

#[test]
fn a_whole_folder_is_told_table_by_table_and_stays_as_it_is() {
    let (image, _) = folder();
    let machine = machine(image);
    let before = format!("{:?}", machine.crash(0));
    let found = check(&machine).unwrap();
    assert_eq!((&found.damages[..], &found.notes[..]), (&[][..], &[][..]));
    let lines: Vec<_> =
        found.tables.iter().map(|it| (&*it.name, it.rows, it.parts, it.files)).collect();
    let expected =
        [("empty", 0, 1, 2), ("one", 301, 3, 3), ("parts", 180, 7, 8), ("young", 2, 2, 0)];
    assert_eq!(lines, expected);
    assert_eq!(found.files, 14, "those of tables, and the log");
    assert_eq!(format!("{:?}", machine.crash(0)), before);
    // Nobody has it now, and it opens.
    assert_eq!(open(&machine).unwrap().tables().len(), 4);
}

#[test]
fn a_flipped_bit_in_any_file_is_named_or_does_no_harm() {
    let (image, content) = folder();
    let (mut seen, mut harmless) = (std::collections::BTreeSet::new(), 0);
    for seed in 0..150 {
        let mut image = image.clone();
        let (path, place) = image.flip(seed).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let found = check(&machine(image.clone())).unwrap();
        if let Some(damage) = found.damages.first() {
            assert_eq!(damage.state.0, "XX001", "{damage}");
            assert!(damage.message.contains(path.to_str().unwrap()), "{name}, {place}: {damage}");
            seen.insert(name.trim_end_matches(|it: char| it.is_ascii_digit()).to_owned());
            continue;
        }
        // Zeros of the log behind its last record, or of its head.
        assert!(name.starts_with("log-"), "{name}, {place}");
        harmless += 1;
        assert_eq!(self::content(&open(&machine(image)).unwrap()), content, "{name}, {place}");
    }
    assert!(harmless > 0, "the log has zeros written ahead");
    let kinds = ["manifest", "table-1-", "table-1-1-"];
    assert!(kinds.iter().all(|it| seen.contains(*it)), "{seen:?}");
}

#[test]
fn damage_in_several_files_is_named_in_one_look() {
    let (mut image, _) = folder();
    let mut flipped = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let (path, _) = image.flip(seed).unwrap();
        if path.to_str().unwrap().contains("table-") {
            flipped.insert(path.display().to_string());
        }
    }
    assert!(flipped.len() > 2);
    let found = check(&machine(image)).unwrap();
    for path in flipped {
        let is_named = found.damages.iter().any(|it| it.message.contains(&path));
        assert!(is_named, "{path}: {:?}", found.damages);
    }
}

#[test]
fn what_is_no_folder_of_a_database_or_open_is_refused() {
    let machine = machine(DiskImage::default());
    assert_eq!(check(&machine).unwrap_err().state.0, "58030", "there is none");
    let database = open(&machine).unwrap();
    assert_eq!(check(&machine).unwrap_err().state.0, "55006");
    drop(database);
    assert_eq!(check(&machine).unwrap().damages, []);
    let folder = hardware::Machine::open_folder(&*machine, Path::new("/other")).unwrap();
    drop(folder);
    let other = Database::check_dir(machine.clone(), Path::new("/other"), options(), &NoProgress);
    assert_eq!(other.unwrap_err().state.0, "58P01");
}
