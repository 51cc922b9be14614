//! `kill -9` of the real program: what it had answered is there when it is opened again. `NODEWISE_KILLS=N` kills more often.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodewise"));
    command.arg(folder).args(["--threads", "1", "--format", "csv"]);
    command
}

fn ask(folder: &Path, sql: &str) -> String {
    let output = program(folder).args(["-c", sql]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{sql}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("nodewise-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

#[test]
fn a_killed_program_has_lost_nothing_that_it_answered() {
    let kills = std::env::var("NODEWISE_KILLS").map_or(4, |it| it.parse().expect("a number"));
    let folder = folder("killed");
    ask(&folder, "CREATE TABLE t (i BIGINT PRIMARY KEY, v TEXT)");
    let mut next = 0_u64;
    for kill in 0..kills {
        let mut child = program(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut answers = BufReader::new(from).lines();
        // Two rows in a transaction, then a question: its answer says that the transaction was answered.
        let mut answered = next;
        for _ in 0..3 + kill % 5 {
            let (one, two) = (answered, answered + 1);
            let sql = format!(
                "BEGIN; INSERT INTO t VALUES ({one}, 'a'); INSERT INTO t VALUES ({two}, 'b'); COMMIT;\n\
                 SELECT 'at {two}' AS answer;\n"
            );
            to.write_all(sql.as_bytes()).unwrap();
            let wanted = format!("at {two}");
            assert!(answers.by_ref().map_while(Result::ok).any(|it| it.contains(&wanted)));
            answered += 2;
        }
        // One that may or may not come to its end.
        let sql = format!(
            "BEGIN; INSERT INTO t VALUES ({answered}, 'a'), ({}, 'b'); COMMIT;\n",
            answered + 1
        );
        to.write_all(sql.as_bytes()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let found = ask(&folder, "SELECT count(*), coalesce(max(i) + 1, 0) FROM t");
        let found = found.lines().nth(1).unwrap().to_owned();
        let possible = [answered, answered + 2].map(|it| format!("{it},{it}"));
        assert!(possible.contains(&found), "kill {kill}: {found}, not {possible:?}");
        next = found.split(',').next().unwrap().parse().unwrap();
        if kill % 8 == 3 {
            ask(&folder, "CHECKPOINT");
        }
    }
    ask(&folder, "CHECKPOINT");
    assert!(ask(&folder, "SELECT count(*) FROM t").contains(&next.to_string()));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Whether a process has a file of a folder open, by whatever name.
fn has_file_of(process: u32, folder: &Path) -> bool {
    let open = std::fs::read_dir(format!("/proc/{process}/fd"));
    let targets = open.into_iter().flatten().flatten().map(|it| std::fs::read_link(it.path()));
    targets.flatten().any(|it| it.starts_with(folder))
}

#[test]
fn a_killed_program_leaves_no_temporary_files() {
    let (tables, folder) = (folder("spilled-tables"), folder("spilled"));
    let sorted = "SELECT sum(a) FROM (SELECT a, b FROM t ORDER BY b, a OFFSET 10) x";
    let joined = "SELECT sum(x.a + y.b) FROM t x JOIN t y ON x.b = y.b";
    let digits = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS d (d)";
    let numbers = "a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d";
    ask(
        &tables,
        &format!(
            "CREATE TABLE d AS SELECT CAST(d AS BIGINT) AS d FROM {digits}; \
             CREATE TABLE t AS SELECT n AS a, n * 7919 % 1000003 AS b \
                FROM (SELECT {numbers} AS n FROM d a, d b, d c, d e, d f) n; CHECKPOINT"
        ),
    );
    for sql in [sorted, joined] {
        let mut child = program(&tables)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut to = child.stdin.take().unwrap();
        // So many that it is still at work when it is seen.
        let sql = format!(
            "SET temp_directory = '{}'; SET memory_limit = '4MB'; {};\n",
            folder.display(),
            [sql; 500].join("; ")
        );
        to.write_all(sql.as_bytes()).unwrap();
        let seen = (0..10_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            has_file_of(child.id(), &folder)
        });
        assert!(seen, "it writes to files: {}", &sql[..200]);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{}", &sql[..200]);
    }
    // Who comes next spills as ever, and leaves nothing either.
    let sql =
        format!("SET temp_directory = '{}'; SET memory_limit = '4MB'; {sorted}", folder.display());
    assert!(!ask(&tables, &sql).is_empty());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir_all(&tables).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_folder_in_use_and_a_damaged_one_are_refused() {
    let folder = folder("refused");
    let mut holder = program(&folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = holder.stdin.take().unwrap();
    to.write_all(b"CREATE TABLE t (i INTEGER); SELECT 'ready' AS answer;\n").unwrap();
    let answers = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(answers.map_while(Result::ok).any(|it| it.contains("ready")));
    let refused = program(&folder).args(["-c", "SELECT 1"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("is open in another process"), "{text}");
    drop(to);
    assert!(holder.wait().unwrap().success());
    let log = folder.join("log-0000000000000001");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[560] ^= 4;
    std::fs::write(&log, bytes).unwrap();
    let refused = program(&folder).args(["-c", "SELECT 1"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("is damaged at byte 512"), "{text}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What `nodewise check` says, and what it ends with.
fn check(folder: &Path) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodewise"));
    let output = command.arg("check").arg(folder).args(["--threads", "1"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code())
}

/// The files of a folder with what they hold.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let names = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<_> = names.map(|it| (it.clone(), std::fs::read(it).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn a_check_names_damage_in_each_kind_of_file_and_changes_nothing() {
    let folder = folder("checked");
    assert_eq!(check(&folder).1, Some(1), "there is none");
    assert!(!folder.exists());
    ask(
        &folder,
        "CREATE TABLE t (i BIGINT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'a'); CHECKPOINT",
    );
    ask(&folder, "INSERT INTO t VALUES (2, 'b')");
    let before = files(&folder);
    let (text, code) = check(&folder);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("table \"t\": 2 rows, 1 part, 2 files\n"), "{text}");
    assert!(text.ends_with(": no damage\n"), "{text}");
    assert!(files(&folder) == before, "nothing is changed");
    let mut kinds = 0;
    for (path, bytes) in before.iter().filter(|it| !it.1.is_empty()) {
        // A byte of a record, of a segment, and of the manifest.
        let place =
            if path.to_str().unwrap().contains("table") { 4096 } else { 520.min(bytes.len() - 1) };
        let mut damaged = bytes.clone();
        damaged[place] ^= 16;
        std::fs::write(path, &damaged).unwrap();
        let (text, code) = check(&folder);
        assert_eq!(code, Some(1), "{path:?}: {text}");
        let name = path.to_str().unwrap();
        assert!(
            text.lines().any(|it| it.starts_with("DAMAGE XX001: ") && it.contains(name)),
            "{text}"
        );
        std::fs::write(path, bytes).unwrap();
        kinds += 1;
    }
    assert_eq!(kinds, 4, "a part, a table, the manifest, the log");
    let mut holder = program(&folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = holder.stdin.take().unwrap();
    to.write_all(b"SELECT 'ready' AS answer;\n").unwrap();
    let answers = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(answers.map_while(Result::ok).any(|it| it.contains("ready")));
    let (text, code) = check(&folder);
    assert!(code == Some(1) && text.contains("is open in another process"), "{text}");
    drop(to);
    assert!(holder.wait().unwrap().success());
    std::fs::remove_dir_all(&folder).unwrap();
}
