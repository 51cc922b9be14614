//! Random transactions, a crash in the middle of one, and what is there afterwards: all that was answered, and of the one that
//! was not all or nothing (docs/design/09-durability.md). The model is the same database in memory.
//!
//! `NODEWISE_CRASH_SEEDS=A..B` runs the seeds from A up to B, `NODEWISE_CRASH_IMAGES=N` opens so many images of each moment.

use std::cell::OnceCell;
use std::ops::Range;
use std::path::Path;

use hardware::{Machine, samples};
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Loading, NoProgress, Session, SqlError, SqlResult};
use simulator::{DiskImage, Picture, SimulatedMachine};
use stdx::Bytes;
use stdx::prng::Prng;
use stdx::sync::Arc;

/// States of a disk that fails, as SQLSTATEs.
const DISK: [&str; 3] = ["58030", "53100", "25006"];

fn seeds(usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("NODEWISE_CRASH_SEEDS") else { return usual };
    let (first, end) = text.split_once("..").expect("A..B");
    first.parse().expect("a number")..end.parse().expect("a number")
}

/// How many images of each moment are looked at.
fn images_of_each() -> usize {
    std::env::var("NODEWISE_CRASH_IMAGES").map_or(1, |it| it.parse().expect("a number"))
}

fn machine(image: DiskImage) -> Arc<SimulatedMachine> {
    SimulatedMachine::after_crash(samples::by_name("laptop").unwrap(), 1, image)
}

fn options() -> DatabaseOptions {
    DatabaseOptions { workers: Some(1), delta_from: Some(0), ..DatabaseOptions::default() }
}

/// A database that writes any rows as files of tables, or all but none as records.
fn open_with_files(
    machine: &Arc<SimulatedMachine>,
    files: bool,
    loading: Loading,
) -> SqlResult<Arc<Database>> {
    let options = DatabaseOptions { files_from: files.then_some(Bytes(0)), loading, ..options() };
    Database::open_dir(machine.clone(), Path::new("/db"), options, &NoProgress)
}

fn open(machine: &Arc<SimulatedMachine>) -> SqlResult<Arc<Database>> {
    open_with_files(machine, false, Loading::Resident)
}

/// Resident or mapped.
fn loading(prng: &mut Prng) -> Loading {
    if prng.below(2) == 0 { Loading::Resident } else { Loading::Mapped }
}

/// What a check of an image says is damaged; nothing where no database has begun.
fn damages(image: &DiskImage) -> Vec<SqlError> {
    let machine = machine(image.clone());
    let checked = Database::check_dir(machine, Path::new("/db"), options(), &NoProgress);
    checked.map(|it| it.damages).unwrap_or_else(|error| match error.state.0 {
        "58P01" | "58030" => Vec::new(),
        // A flipped bit of a version.
        _ => vec![error],
    })
}

/// All that can be seen of a database.
fn seen(database: &Arc<Database>) -> Vec<String> {
    try_seen(database).unwrap_or_else(|error| panic!("{error}"))
}

/// [`seen`], where files may be damaged.
fn try_seen(database: &Arc<Database>) -> SqlResult<Vec<String>> {
    let mut session = database.session();
    let mut all = Vec::new();
    let names: Vec<String> = database.tables().iter().map(|it| it.name.clone()).collect();
    let tables = names.iter().map(|it| format!("SELECT * FROM {it}"));
    let views = [
        "SELECT table_name, index_name, columns FROM nodewise.indexes".to_owned(),
        "SELECT * FROM nodewise.constraints".to_owned(),
    ];
    for query in tables.chain(views) {
        let answer = session.query(&query)?;
        let mut lines = Vec::new();
        for batch in &answer.batches {
            let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
            lines.extend((0..batch.num_rows()).map(|row| {
                let cells = cells.iter().map(|it| it.text(row).unwrap_or("NULL".into()));
                cells.collect::<Vec<_>>().join("|")
            }));
        }
        lines.sort_unstable();
        all.push(format!("{query}: {}", lines.join(" ")));
    }
    Ok(all)
}

fn statement(prng: &mut Prng) -> String {
    let table = format!("t{}", prng.below(3));
    let other = format!("t{}", prng.below(3));
    let number = prng.below(40);
    let parts = ["", "PARTITION BY HASH (i) PARTITIONS 3", "PARTITION BY ROUNDROBIN PARTITIONS 2"];
    match prng.below(21) {
        18..21 => alter_columns(prng, &table),
        0..3 => {
            let key = if prng.below(2) == 0 { "PRIMARY KEY" } else { "" };
            let parts = parts[prng.below(3) as usize];
            format!(
                "CREATE TABLE {table} (i INTEGER {key}, v TEXT DEFAULT 'd', n DECIMAL(20, 3)) {parts}"
            )
        }
        3 => format!("DROP TABLE IF EXISTS {table}"),
        4..8 => {
            let row = |it: u64| format!("({}, 'text {it}', {it}.125)", number + it);
            let rows: Vec<String> = (0..1 + prng.below(6)).map(row).collect();
            format!("INSERT INTO {table} VALUES {}", rows.join(", "))
        }
        8 => format!("INSERT INTO {table} (i) SELECT i + 100 FROM {other}"),
        9 | 10 => {
            format!("UPDATE {table} SET v = v || '{number}', n = NULL WHERE i % 3 = {}", number % 3)
        }
        11 | 12 => format!("DELETE FROM {table} WHERE i % 4 = {}", number % 4),
        13 => format!("TRUNCATE {table}"),
        14 => format!("CREATE INDEX IF NOT EXISTS x{number} ON {table} (v)"),
        16 => match prng.below(4) {
            0 => format!("ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {table}_i_fkey"),
            1 => format!("ALTER TABLE {table} ADD PRIMARY KEY (i), ALTER v SET DEFAULT 'e'"),
            action => {
                let action = ["CASCADE", "SET NULL"][action as usize - 2];
                format!(
                    "ALTER TABLE {table} ADD FOREIGN KEY (i) REFERENCES {other} ON DELETE {action}"
                )
            }
        },
        _ if number < 20 => format!("CREATE OR REPLACE TABLE {table} AS SELECT * FROM {other}"),
        _ => match prng.below(2) {
            0 => format!("ALTER TABLE {table} PARTITION BY HASH (i) PARTITIONS 2"),
            _ => format!("ALTER TABLE {table} MERGE PARTITIONS"),
        },
    }
}

/// A change of the columns of a table; what it names may not be there.
fn alter_columns(prng: &mut Prng, table: &str) -> String {
    let number = prng.below(3);
    let actions = [
        format!("ADD COLUMN c{number} INTEGER DEFAULT {number}"),
        format!("ADD COLUMN c{number} TEXT NOT NULL DEFAULT 'text'"),
        format!("ADD COLUMN s{number} SERIAL"),
        format!("ADD COLUMN c{number} INTEGER UNIQUE"),
        format!("DROP COLUMN c{number}"),
        format!("DROP COLUMN s{number}"),
        format!("RENAME COLUMN c{number} TO c{}", prng.below(3)),
        format!("RENAME TO t{number}"),
        format!("ALTER COLUMN c{number} TYPE BIGINT USING length(c{number} || '')"),
        "ALTER COLUMN n TYPE TEXT USING 'n' || n".to_owned(),
        format!("ALTER COLUMN v {} NOT NULL", if number == 0 { "SET" } else { "DROP" }),
        format!("DROP COLUMN IF EXISTS n, ADD COLUMN n DECIMAL(20, 3) DEFAULT {number}"),
    ];
    format!("ALTER TABLE {table} {}", actions[prng.below(actions.len() as u64) as usize])
}

/// The statements of a transaction.
fn transaction(prng: &mut Prng) -> Vec<String> {
    if prng.below(2) == 0 {
        return vec![statement(prng)];
    }
    let mut all = vec!["BEGIN".to_owned()];
    for _ in 0..1 + prng.below(4) {
        if prng.below(4) == 0 {
            all.extend(["SAVEPOINT s".to_owned(), statement(prng), "ROLLBACK TO s".to_owned()]);
        }
        all.push(statement(prng));
    }
    all.push(if prng.below(5) == 0 { "ROLLBACK" } else { "COMMIT" }.to_owned());
    all
}

/// Runs a transaction, and tells what each statement came to: nothing, or a SQLSTATE.
fn run(session: &mut Session, statements: &[String]) -> Vec<&'static str> {
    let run = |it: &String| session.execute(it).err().map_or("", |it| it.state.0);
    let states = statements.iter().map(run).collect();
    if session.open_transaction().is_some() {
        session.execute("ROLLBACK").unwrap();
    }
    states
}

/// The same transactions in memory.
fn model(history: &[Vec<String>]) -> Arc<Database> {
    let database = Database::open(machine(DiskImage::default()), options()).unwrap();
    let mut session = database.session();
    for statements in history {
        run(&mut session, statements);
    }
    database
}

/// What a crash may have left: of the last transaction, nothing or all.
struct Expected {
    history: Vec<Vec<String>>,
    in_doubt: Option<Vec<String>>,
    /// What was seen at first, and after each transaction of this time; pictures are marked by the places.
    states: Vec<Vec<String>>,
}

/// Runs transactions until there have been enough, or the disk fails.
fn work(
    seed: u64,
    (machine, database): (&SimulatedMachine, &Arc<Database>),
    prng: &mut Prng,
    history: Vec<Vec<String>>,
) -> Expected {
    let model = model(&history);
    let (mut ours, mut theirs) = (database.session(), model.session());
    let mut expected = Expected { history, in_doubt: None, states: vec![seen(&model)] };
    for _ in 0..prng.below(14) {
        machine.set_mark(expected.states.len() as u64 - 1);
        if prng.below(6) == 0 {
            let state = ours.execute("CHECKPOINT").err().map_or("", |it| it.state.0);
            assert!(state.is_empty() || DISK.contains(&state), "seed {seed}: {state}");
        }
        let mut statements = transaction(prng);
        let mut states = run(&mut ours, &statements);
        if states.last().is_some_and(|it| DISK.contains(it)) {
            // What is not durable is not shown.
            assert_eq!(
                Some(&seen(database)),
                expected.states.last(),
                "seed {seed}: {statements:?}"
            );
            expected.in_doubt = Some(statements);
            return expected;
        }
        // A load that the disk refuses fails as any statement does: a savepoint before it takes it back.
        for (statement, state) in statements.iter_mut().zip(&mut states) {
            if DISK.contains(state) {
                (*statement, *state) = ("SELECT 1 / 0".to_owned(), "22012");
            }
        }
        assert_eq!(run(&mut theirs, &statements), states, "seed {seed}: {statements:?}");
        let after = seen(&model);
        assert_eq!(seen(database), after, "seed {seed}: {statements:?}");
        expected.history.push(statements);
        expected.states.push(after);
    }
    machine.set_mark(expected.states.len() as u64 - 1);
    expected
}

/// Of each moment before a change of the disk, images of a crash: each is the state that was answered last, or the one of the
/// transaction that ran, if it was never answered or was answered later. Gives how many there were.
fn check_pictures(seed: u64, pictures: &[Picture], expected: &Expected) -> usize {
    let in_doubt = OnceCell::new();
    let if_done = || {
        let all = [&expected.history[..], expected.in_doubt.as_slice()].concat();
        in_doubt.get_or_init(|| seen(&model(&all)))
    };
    let mut prng = Prng::new(seed);
    for (place, picture) in pictures.iter().enumerate() {
        for _ in 0..images_of_each() {
            let image = picture.crash(prng.next_u64());
            let context = || format!("seed {seed}, before change {place} of the disk");
            if prng.below(8) == 0 {
                assert_eq!(damages(&image), [], "{}", context());
            }
            let again = open_with_files(&machine(image.clone()), false, loading(&mut prng));
            let found = seen(&again.unwrap_or_else(|it| panic!("{it}: {}", context())));
            let mark = picture.mark as usize;
            let next = expected.states.get(mark + 1);
            let is_right = found == expected.states[mark] || found == *next.unwrap_or_else(if_done);
            assert!(is_right, "{found:?}: {}", context());
        }
    }
    pictures.len() * images_of_each()
}

/// Lets the disk fail at some time from now on, or not at all.
fn endanger(machine: &SimulatedMachine, prng: &mut Prng) {
    match prng.below(4) {
        0 => machine.set_disk(Bytes(u64::MAX), Some(prng.below(60))),
        1 => machine.set_syncs(Some(prng.below(12))),
        2 => machine.set_disk(Bytes(200_000 + prng.below(400_000)), None),
        _ => {}
    }
}

/// Gives how many images were looked at.
fn crash_again_and_again(seed: u64) -> usize {
    let mut prng = Prng::new(seed);
    let (mut history, mut image, mut images) = (Vec::new(), DiskImage::default(), 0);
    for round in 0..3 {
        let machine = machine(image);
        let database = open_with_files(&machine, prng.below(3) == 0, loading(&mut prng))
            .unwrap_or_else(|it| panic!("seed {seed}, round {round}: {it}"));
        let small = "SET checkpoint_log_size = '3kB'";
        if prng.below(2) == 0 {
            database.session().execute(small).unwrap();
        }
        endanger(&machine, &mut prng);
        machine.keep_pictures();
        let expected = work(seed, (&machine, &database), &mut prng, history);
        images += check_pictures(seed, &machine.take_pictures(), &expected);
        let Expected { history: answered, in_doubt, .. } = expected;
        image = machine.crash(prng.next_u64());
        assert_eq!(damages(&image), [], "seed {seed}, round {round}: a crash is no damage");
        let again = self::machine(image);
        let found = open_with_files(&again, false, loading(&mut prng))
            .unwrap_or_else(|it| panic!("seed {seed}, round {round}: {it}"));
        let found = seen(&found);
        history = answered;
        if found != seen(&model(&history)) {
            history.extend(in_doubt);
            assert_eq!(found, seen(&model(&history)), "seed {seed}, round {round}");
        }
        // A crash right after it was opened changes nothing.
        image = again.crash(prng.next_u64());
        let twice = self::machine(image);
        let found_again = open_with_files(&twice, false, loading(&mut prng)).unwrap();
        assert_eq!(seen(&found_again), found, "seed {seed}, round {round}, once more");
        image = twice.crash(0);
        images += 2;
        // A crash leaves numbers of sequences out, and the model knows of none.
        if history.iter().flatten().any(|it| it.contains("SERIAL")) {
            break;
        }
    }
    images
}

#[test]
fn what_was_answered_survives_any_crash() {
    let images: usize = seeds(0..40).map(crash_again_and_again).sum();
    println!("{images} images");
    assert!(images > 0);
}

#[test]
fn a_flipped_bit_is_an_error_or_changes_nothing() {
    for files in [false, true] {
        flip_bits(files, Loading::Resident);
        flip_bits(files, Loading::Mapped);
    }
}

/// Flips bits of a folder whose log has rows, or names files.
fn flip_bits(files: bool, loading: Loading) {
    let first = machine(DiskImage::default());
    let mut prng = Prng::new(5);
    let database = open_with_files(&first, files, Loading::Resident).unwrap();
    let mut session = database.session();
    for _ in 0..30 {
        run(&mut session, &transaction(&mut prng));
    }
    session.execute("CHECKPOINT").unwrap();
    for _ in 0..10 {
        run(&mut session, &transaction(&mut prng));
    }
    let right = seen(&database);
    drop((session, database));
    let (mut refused, mut unharmed) = (0, 0);
    for seed in seeds(0..150) {
        let mut image = first.crash(0);
        let (path, place) = image.flip(seed).unwrap();
        let checked = damages(&image);
        let opened = open_with_files(&machine(image), false, loading);
        match opened.and_then(|it| try_seen(&it)) {
            Ok(found) => {
                assert_eq!(found, right, "seed {seed}: {} at {place}", path.display());
                unharmed += 1;
            }
            Err(error) => {
                assert!(["XX001", "0A000"].contains(&error.state.0), "{error}");
                assert!(error.message.contains("/db/"), "{error}");
                assert!(!checked.is_empty(), "seed {seed}: {} at {place}", path.display());
                refused += 1;
            }
        }
    }
    assert!(refused > 5 && unharmed > 5, "{refused} refused, {unharmed} unharmed");
}

#[test]
fn the_disk_is_the_machine_s() {
    let machine = machine(DiskImage::default());
    assert!(machine.open_folder(Path::new("/db")).unwrap().list().unwrap().is_empty());
    drop(open(&machine).unwrap());
    assert!(!machine.open_folder(Path::new("/db")).unwrap().list().unwrap().is_empty());
}

/// What the clients were answered: how many transactions each.
type Answered = [i64; 3];

/// Several sessions write at once, statement by statement in turns; then the machine crashes. Gives how many images were looked at.
fn crash_of_writers(seed: u64) -> usize {
    let mut prng = Prng::new(seed);
    let (mut image, mut answered, mut images) = (DiskImage::default(), Answered::default(), 0);
    for round in 0..3 {
        let machine = machine(image);
        let database = open_with_files(&machine, prng.below(3) == 0, loading(&mut prng))
            .unwrap_or_else(|it| panic!("seed {seed}, round {round}: {it}"));
        if round == 0 {
            database.session().execute(WRITERS).unwrap();
        }
        endanger(&machine, &mut prng);
        machine.keep_pictures();
        let (states, in_doubt) = write_in_turns((&machine, &database), &mut prng, answered);
        for (place, picture) in machine.take_pictures().iter().enumerate() {
            let mark = picture.mark as usize;
            let is_next = |client: &usize| {
                states.get(mark + 1).is_some_and(|it| it[*client] > states[mark][*client])
            };
            let next = (0..states[mark].len())
                .find(is_next)
                .or(in_doubt.filter(|_| mark + 1 == states.len()));
            for _ in 0..images_of_each() {
                let context =
                    format!("seed {seed}, round {round}, before change {place} of the disk");
                what_is_there(
                    &picture.crash(prng.next_u64()),
                    (states[mark], next),
                    &mut prng,
                    &context,
                );
                images += 1;
            }
        }
        image = machine.crash(prng.next_u64());
        let last = *states.last().expect("one at least");
        let context = format!("seed {seed}, round {round}");
        (image, answered) = what_is_there(&image, (last, in_doubt), &mut prng, &context);
        images += 1;
    }
    images
}

/// Looks whether an image holds what clients were answered, and of the one that may not have been its transaction as a whole; gives
/// what it holds, and an image of it.
fn what_is_there(
    image: &DiskImage,
    (answered, in_doubt): (Answered, Option<usize>),
    prng: &mut Prng,
    context: &str,
) -> (DiskImage, Answered) {
    if prng.below(4) == 0 {
        assert_eq!(damages(image), [], "{context}: a crash is no damage");
    }
    let again = machine(image.clone());
    let found = open_with_files(&again, false, loading(prng))
        .unwrap_or_else(|it| panic!("{context}: {it}"));
    let mut session = found.session();
    let mut numbers = |sql: &str| -> Vec<i64> {
        let answer = session.query(sql).unwrap();
        let columns = answer.batches[0].columns().iter();
        columns.map(|it| Cells::new(it).text(0).unwrap().parse().unwrap()).collect()
    };
    let whole = "SELECT (SELECT CAST(sum(v) AS BIGINT) FROM accounts), \
                 (SELECT count(*) FROM children WHERE p NOT IN (SELECT id FROM accounts))";
    assert_eq!(numbers(whole), [80, 0], "{context}");
    let of = |client: usize| {
        let own = format!("FILTER (WHERE client = {client})");
        format!("count(*) {own}, coalesce(max(n) {own}, 0)")
    };
    let counts = numbers(&format!("SELECT {} FROM counts", [0, 1, 2].map(of).join(", ")));
    let mut held = answered;
    for (place, held) in held.iter_mut().enumerate() {
        let (count, most) = (counts[2 * place], counts[2 * place + 1]);
        let last = *held + i64::from(in_doubt == Some(place));
        let is_right = count == most && (*held..=last).contains(&most);
        assert!(is_right, "{context}: {count} up to {most}, not {held}");
        *held = most;
    }
    (again.crash(prng.next_u64()), held)
}

const WRITERS: &str = "CREATE TABLE accounts (id INT PRIMARY KEY, v INT);
    CREATE TABLE counts (client INT, n INT, PRIMARY KEY (client, n));
    CREATE TABLE children (n INT, p INT REFERENCES accounts);
    INSERT INTO accounts SELECT i, 10 FROM generate_series(1, 8) AS t (i)";

/// Lets sessions do transactions until there have been enough, or the disk fails. Gives what was answered, at first and after each
/// transaction, as pictures are marked, and whose commit was not.
fn write_in_turns(
    (machine, database): (&SimulatedMachine, &Arc<Database>),
    prng: &mut Prng,
    mut answered: Answered,
) -> (Vec<Answered>, Option<usize>) {
    let mut states = vec![answered];
    let mut sessions: [Session; 3] = std::array::from_fn(|_| database.session());
    machine.set_mark(0);
    for session in &mut sessions {
        session.execute("SET lock_timeout = 1").unwrap();
    }
    for _ in 0..prng.below(60) {
        let place = prng.below(sessions.len() as u64) as usize;
        let session = &mut sessions[place];
        let (a, b) = (1 + prng.below(8), 1 + prng.below(8));
        let sql = match (session.open_transaction(), prng.below(6)) {
            (None, 0) => "CHECKPOINT".to_owned(),
            (None, 1) => "CALL nodewise.merge('accounts')".to_owned(),
            (None, _) => {
                format!("BEGIN; INSERT INTO counts VALUES ({place}, {})", answered[place] + 1)
            }
            (Some(true), _) | (_, 0) => "ROLLBACK".to_owned(),
            (_, 1 | 2) => "COMMIT".to_owned(),
            (_, 3) => format!("INSERT INTO children VALUES (1, {a})"),
            _ => format!(
                "WITH x AS (UPDATE accounts SET v = v - 1 WHERE id = {a} AND {a} <> {b}) \
                          UPDATE accounts SET v = v + 1 WHERE id = {b} AND {a} <> {b}"
            ),
        };
        match session.execute(&sql) {
            Ok(_) if sql == "COMMIT" => {
                answered[place] += 1;
                machine.set_mark(states.len() as u64);
                states.push(answered);
            }
            Ok(_) => {}
            Err(error) if DISK.contains(&error.state.0) => {
                return (states, (sql == "COMMIT").then_some(place));
            }
            Err(error) => {
                let known = ["55P03", "40P01", "25P02"].contains(&error.state.0);
                assert!(known, "{sql}: {error}");
            }
        }
    }
    (states, None)
}

#[test]
fn what_several_writers_were_answered_survives_any_crash() {
    let images: usize = seeds(0..24).map(crash_of_writers).sum();
    println!("{images} images");
    assert!(images > 0);
}
