//! Folders whose files are mapped: the same answers, nothing read before it is looked at, pages where their node's workers
//! read them, and one error for all that can happen to a file (docs/design/10-files.md, "mapped").

mod common;

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use common::{data, sorted_texts, wrong_answers};
use hardware::{Machine, NodeId, samples};
use nodewise::{Database, DatabaseOptions, Loading, NoProgress, Session, SqlResult};
use simulator::{DiskImage, SimulatedMachine};
use stdx::sync::Arc;

fn open(machine: Arc<dyn Machine>, path: &Path, loading: Loading) -> SqlResult<Arc<Database>> {
    let options = DatabaseOptions {
        workers: None,
        delta_from: Some(0),
        loading,
        ..DatabaseOptions::default()
    };
    Database::open_dir(machine, path, options, &NoProgress)
}

fn run(session: &mut Session, statements: &[&str]) {
    for sql in statements {
        session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

fn rows(database: &Arc<Database>, sql: &str) -> SqlResult<Vec<String>> {
    Ok(sorted_texts(&database.session().query(sql)?.batches))
}

/// Bytes of segments that are mapped, and pieces of them that nobody has looked at.
fn mapped(database: &Database) -> (usize, usize) {
    let (mut bytes, mut unread) = (0, 0);
    for table in database.tables() {
        for component in table.components().iter().filter(|it| it.segment.is_mapped()) {
            bytes += component.segment.bytes();
            unread += component.segment.unread_pieces().len();
        }
    }
    (bytes, unread)
}

fn simulated(name: &str, image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name(name).unwrap(), 1, image)
}

fn load_tpch(database: &Arc<Database>, scale: f64) {
    let folder = data(scale);
    let mut session = database.session();
    for table in nodewise::tpch::TABLES {
        let file = folder.join(format!("{table}.parquet"));
        let sql = format!("CREATE TABLE {table} AS SELECT * FROM '{}'", file.display());
        run(&mut session, &[&sql]);
    }
    run(
        &mut session,
        &[
            "ALTER TABLE lineitem PARTITION BY HASH (l_orderkey) PARTITIONS 4",
            "ALTER TABLE orders PARTITION BY HASH (o_orderkey) PARTITIONS 4",
            "CHECKPOINT",
        ],
    );
}

#[test]
fn tpch_gives_the_reference_answers() {
    for name in ["laptop", "four_sockets"] {
        let first = simulated(name, DiskImage::default());
        load_tpch(&open(first.clone(), Path::new("/db"), Loading::Resident).unwrap(), 0.01);
        for loading in [Loading::Resident, Loading::Mapped] {
            let machine = simulated(name, first.crash(0));
            let database = open(machine, Path::new("/db"), loading).unwrap();
            let (bytes, unread) = mapped(&database);
            assert_eq!((bytes > 0, unread > 0), (loading == Loading::Mapped, bytes > 0));
            for strategy in ["target", "os", "bound"] {
                let mut session = database.session();
                run(&mut session, &[&format!("SET strategy = {strategy}")]);
                let wrong = wrong_answers(&mut session, 0.01);
                assert!(wrong.is_empty(), "{name}, {loading:?}, {strategy}: {wrong:#?}");
            }
        }
    }
}

/// A table of four parts and one of texts, in a folder.
fn fill(database: &Arc<Database>) {
    let mut session = database.session();
    run(
        &mut session,
        &[
            "CREATE TABLE digits (k BIGINT)",
            "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
            "CREATE TABLE t (i BIGINT PRIMARY KEY, n INTEGER, v TEXT) PARTITION BY HASH (i) PARTITIONS 4",
            "INSERT INTO t SELECT i, i % 1000, 'text ' || i FROM (SELECT a.k + 10 * b.k + 100 * c.k + 1000 * d.k \
             + 10000 * e.k AS i FROM digits a, digits b, digits c, digits d, digits e) n",
            "CREATE TABLE other (i INTEGER)",
            "INSERT INTO other VALUES (1), (2)",
            "CHECKPOINT",
        ],
    );
}

const SUM: &str = "SELECT count(*), sum(n), min(v), max(i) FROM t WHERE n < 700";

#[test]
fn opening_reads_nothing_and_parts_lie_where_their_workers_read_them() {
    let first = simulated("four_sockets", DiskImage::default());
    let database = open(first.clone(), Path::new("/db"), Loading::Resident).unwrap();
    fill(&database);
    let right = rows(&database, SUM).unwrap();
    let machine = simulated("four_sockets", first.crash(0));
    let database = open(machine.clone(), Path::new("/db"), Loading::Mapped).unwrap();
    let table = database.tables().into_iter().find(|it| it.name == "t").unwrap();
    let unread = || {
        let components = table.components();
        let all = components.iter().map(|it| it.segment.unread_pieces().len());
        let files = components.iter().filter(|it| it.segment.is_mapped());
        (all.sum::<usize>(), files.map(|it| it.segment.bytes().div_ceil(1 << 20)).sum::<usize>())
    };
    let (left, all) = unread();
    assert!(left == all && left > 0, "{left} of {all}");
    assert_eq!(rows(&database, "SELECT i FROM other").unwrap(), ["1", "2"]);
    assert_eq!(unread().0, all, "another table");
    assert_eq!(rows(&database, SUM).unwrap(), right);
    assert!(unread().0 < all);
    for (number, part) in table.parts().iter().enumerate() {
        for (name, segment) in part.columns[1].segments() {
            let nodes = segment.page_map().summary();
            let node = part.nodes().first().copied();
            assert_eq!(node, Some(NodeId(number as u16)));
            assert!(nodes.iter().all(|it| Some(it.0) == node), "part {number}, {name}: {nodes:?}");
            assert!(!nodes.is_empty() || segment.bytes() == 0, "part {number}, {name}");
            assert_eq!(segment.verify().unwrap(), [], "part {number}, {name}");
        }
    }
}

#[test]
fn statements_of_all_kinds_work_on_mapped_tables() {
    let first = simulated("four_sockets", DiskImage::default());
    let resident = open(first.clone(), Path::new("/db"), Loading::Resident).unwrap();
    fill(&resident);
    let statements = [
        "INSERT INTO t SELECT 100000 + a.k + 10 * b.k, 5, 'more' FROM digits a, digits b",
        "UPDATE t SET v = v || '!' WHERE n = 3",
        "DELETE FROM t WHERE n = 4",
        "CREATE INDEX t_n ON t (n)",
        "ALTER TABLE t ALTER COLUMN v NUMA NODE (2)",
        "ALTER TABLE t ALTER COLUMN n NUMA NODE REPLICATE (0 TO 2)",
        "CALL nodewise.merge('other')",
        "CHECKPOINT",
        "ALTER TABLE t RENAME TO t2; ALTER TABLE t2 RENAME TO t",
        "ALTER TABLE t ADD COLUMN w BIGINT DEFAULT 8; ALTER TABLE t DROP COLUMN w",
        "INSERT INTO other SELECT n FROM t WHERE i < 100",
        "CALL nodewise.merge('t')",
        "ALTER TABLE t PARTITION BY HASH (i) PARTITIONS 2",
        "CHECKPOINT",
    ];
    let machine = simulated("four_sockets", first.crash(0));
    let database = open(machine.clone(), Path::new("/db"), Loading::Mapped).unwrap();
    let all = "SELECT * FROM t";
    let reader = database.tables();
    for sql in statements {
        let ours = database.session().execute(sql).map(|_| ()).map_err(|it| it.state.0);
        let theirs = resident.session().execute(sql).map(|_| ()).map_err(|it| it.state.0);
        assert_eq!(ours, theirs, "{sql}");
        assert_eq!(rows(&database, SUM).unwrap(), rows(&resident, SUM).unwrap(), "{sql}");
    }
    assert!(rows(&database, all).unwrap() == rows(&resident, all).unwrap());
    let error = database.session().execute("INSERT INTO t VALUES (7, 1, '')").unwrap_err();
    assert_eq!(error.state.0, "23505");
    // The files of the first checkpoint are gone, and whoever had them mapped reads on.
    let old = reader.iter().find(|it| it.name == "t").unwrap();
    let checked = old.components().iter().all(|it| it.segment.check_file().is_ok());
    assert!(checked && old.components().iter().any(|it| it.segment.is_mapped()));
    for loading in [Loading::Resident, Loading::Mapped] {
        let again =
            open(simulated("four_sockets", machine.crash(0)), Path::new("/db"), loading).unwrap();
        assert!(rows(&again, all).unwrap() == rows(&resident, all).unwrap());
    }
}

/// A folder on the disk of this machine.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("nodewise-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// The file of a part of the large table.
    fn part(&self) -> PathBuf {
        let files = std::fs::read_dir(&self.0).unwrap().map(|it| it.unwrap().path());
        // `table-`, the round, the table, the part.
        let name = |it: &PathBuf| it.file_name().unwrap().to_string_lossy().into_owned();
        let parts = files.filter(|it| name(it).matches('-').count() == 3);
        parts.max_by_key(|it| it.metadata().unwrap().len()).unwrap()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn refused(database: &Arc<Database>, sql: &str, file: &Path) {
    let error = rows(database, sql).unwrap_err();
    assert_eq!(error.state.0, "XX001", "{sql}: {error}");
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    assert!(error.message.contains(&name), "{sql}: {error}");
}

#[test]
fn a_file_that_is_cut_or_changed_ends_statements_and_not_the_program() {
    let folder = Temporary::new("mapped-cut");
    fill(&open(hardware_linux::open(), &folder.0, Loading::Resident).unwrap());
    let part = folder.part();
    let whole = std::fs::read(&part).unwrap();
    for was_read in [false, true] {
        std::fs::write(&part, &whole).unwrap();
        let database = open(hardware_linux::open(), &folder.0, Loading::Mapped).unwrap();
        if was_read {
            assert_eq!(rows(&database, "SELECT count(v), count(n) FROM t").unwrap().len(), 1);
        }
        OpenOptions::new().write(true).open(&part).unwrap().set_len(4096).unwrap();
        for _ in 0..2 {
            refused(&database, SUM, &part);
            refused(&database, "UPDATE t SET n = n + 1", &part);
            refused(&database, "CREATE TABLE c AS SELECT v, i FROM t", &part);
        }
        let backup = Temporary::new("mapped-backup");
        refused(&database, &format!("BACKUP TO '{}'", backup.0.display()), &part);
        assert_eq!(rows(&database, "SELECT i FROM other").unwrap(), ["1", "2"]);
        run(
            &mut database.session(),
            &["INSERT INTO other VALUES (3)", "DELETE FROM other WHERE i = 3"],
        );
    }
    // A bit that flips is seen by whoever looks first.
    let mut changed = whole.clone();
    changed[8192] ^= 4;
    std::fs::write(&part, &changed).unwrap();
    let database = open(hardware_linux::open(), &folder.0, Loading::Mapped).unwrap();
    refused(&database, "SELECT * FROM t", &part);
    assert_eq!(rows(&database, "SELECT i FROM other").unwrap(), ["1", "2"]);
    drop(database);
    std::fs::write(&part, &whole).unwrap();
    let database = open(hardware_linux::open(), &folder.0, Loading::Mapped).unwrap();
    assert_eq!(rows(&database, SUM).unwrap().len(), 1);
}

/// What opening tells of its first phase.
#[derive(Default)]
struct Heard(stdx::sync::Mutex<Vec<(String, u64, u64)>>);

impl nodewise::Progress for Heard {
    fn begin(&self, phase: &str, total: u64) {
        self.0.lock().push((phase.to_owned(), total, 0));
    }

    fn advance(&self, units: u64) {
        if let Some(phase) = self.0.lock().last_mut() {
            phase.2 += units;
        }
    }

    fn end(&self) {}
}

#[test]
fn opening_tells_how_much_it_has_read() {
    let first = simulated("laptop", DiskImage::default());
    fill(&open(first.clone(), Path::new("/db"), Loading::Resident).unwrap());
    let read = [Loading::Resident, Loading::Mapped].map(|loading| {
        let machine = simulated("laptop", first.crash(0));
        let options = DatabaseOptions { loading, ..DatabaseOptions::default() };
        let heard = Heard::default();
        Database::open_dir(machine, Path::new("/db"), options, &heard).unwrap();
        let (phase, total, read) = heard.0.lock()[0].clone();
        assert_eq!(phase, "reading the tables");
        assert!(total > 0 && read <= total, "{read} of {total}");
        read as f64 / total as f64
    });
    assert!(read[0] > 0.8 && read[1] < 0.6, "{read:?}");
}
