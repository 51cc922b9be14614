//! Engines in processes of their own: `nodewise bench monet`, what becomes of it when one is killed, and of them when it is.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to show what is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder of this test that is removed again.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let name = format!("nodewise-shards-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn monet(folder: &Temporary, more: &[&str]) -> Child {
    let data = folder.0.join("data");
    Command::new(env!("CARGO_BIN_EXE_nodewise"))
        .args(["bench", "monet", "--scale", "0.01", "--threads", "1", "--parts", "2"])
        .arg("--data")
        .arg(data)
        .args(more)
        .arg(&folder.0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The processes that one has started and that are not gone.
fn children(parent: u32) -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = numbers.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |number: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // Behind the name, which may hold anything: state and parent.
        let mut words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let state = words.next().unwrap_or("Z").to_owned();
        state != "Z" && words.next() == Some(&parent.to_string())
    };
    numbers.filter(is_child).collect()
}

fn exists(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !matches!(stat.rsplit(')').next().and_then(|it| it.split_whitespace().next()), None | Some("Z"))
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(process: u32) {
    assert!(Command::new("kill").args(["-9", &process.to_string()]).status().unwrap().success());
}

/// A run that goes on until somebody ends it, once its engines are at work.
fn endless(folder: &Temporary) -> (Child, Vec<u32>) {
    let child = monet(folder, &["--modes", "distr", "--runs", "1000000", "--queries", "1,3,18"]);
    let id = child.id();
    wait_until("there are two engines", || children(id).len() == 2);
    (child, children(id))
}

#[test]
fn all_configurations_answer_right() {
    let folder = Temporary::new("right");
    let output = monet(&folder, &["--runs", "1", "--queries", "1,3,4,6,12,18,19"]);
    let output = output.wait_with_output().unwrap();
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    for mode in ["NUMA_Obliv", "NUMA_Shard", "NUMA_Distr"] {
        assert!(stdout.contains(&format!("{mode}: opened")), "{stdout}");
    }
    assert_eq!(stdout.matches("; ok").count(), 3 * 7, "{stdout}{stderr}");
}

#[test]
fn a_killed_engine_is_one_clear_error_and_leaves_nobody_behind() {
    let folder = Temporary::new("killed");
    let (child, engines) = endless(&folder);
    kill(engines[1]);
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    assert!(stderr.contains("ERROR 08006: the process of a shard is gone"), "{stderr}");
    assert!(stderr.contains("signal: 9"), "{stderr}");
    wait_until("the other engine has ended", || !exists(engines[0]));
}

#[test]
fn engines_end_with_their_coordinator() {
    let folder = Temporary::new("orphans");
    let (mut child, engines) = endless(&folder);
    kill(child.id());
    child.wait().unwrap();
    wait_until("both engines have ended", || !engines.iter().any(|it| exists(*it)));
}
