//! `nodewise simulate` from outside: experiments, real queries, machines of all kinds, faults.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hardware::{Latency, NodeId, Performance};

fn nodewise(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nodewise")).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A folder that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("nodewise-simulate-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn file(&self, path: &str) -> String {
        self.0.join(path).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_figure_is_printed_drawn_and_reported() {
    let folder = Folder::new("figure");
    let (svg, report) = (folder.file("charts/c.svg"), folder.file("r.md"));
    let output =
        nodewise(&["simulate", "hana-14", "--clients", "8", "--svg", &svg, "--report", &report]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("P-HANA figure 14") && text.contains("at most 8 clients"), "{text}");
    assert!(text.contains("published") && text.contains("comes out"), "{text}");
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    let report = std::fs::read_to_string(&report).unwrap();
    assert!(report.contains("The point of 1 of 1 figures comes out"), "{report}");
    let list = stdout(&nodewise(&["simulate"]));
    assert!(list.contains("hyper-54") && list.contains("e5-4657l-v2"), "{list}");
    for (arguments, part) in [
        (&["simulate", "hana-99"][..], "known are hana-01"),
        (&["simulate", "hana-14", "--on", "abacus"], "no such machine"),
        (&["simulate", "hana-14", "--fault", "no-memory=7", "--clients", "1"], "no node 7"),
        (&["simulate", "tpch", "--fault", "slow-core=999:1"], "no cpu 999"),
        (&["simulate", "tpch", "--queries", "23"], "no query 23"),
    ] {
        let output = nodewise(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

/// The virtual times of a table that the command prints, and whether all answers are right.
fn times(output: &Output) -> Vec<f64> {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let text = stdout(output);
    let rows = text.lines().filter(|it| it.contains(" q0") || it.contains(" q1"));
    rows.map(|row| {
        assert!(row.contains(" ok "), "{text}");
        row.split_whitespace().nth(3).unwrap().parse().unwrap_or_else(|_| panic!("{row}"))
    })
    .collect()
}

#[test]
fn real_queries_answer_right_in_virtual_time_whatever_fails() {
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simulated-tpch");
    let run = |more: &[&str]| {
        let data = data.to_str().unwrap();
        let fine = "SET morsel_rows = 1024";
        let fixed = ["simulate", "tpch", "--queries", "1,3,6,18", "--data", data, "--sql", fine];
        times(&nodewise(&[&fixed[..], more].concat()))
    };
    let sound = run(&["--on", "sandy-bridge-ep"]);
    assert_eq!(sound.len(), 4);
    assert!(sound.iter().all(|it| *it > 0.0), "{sound:?}");
    assert_eq!(sound, run(&["--on", "sandy-bridge-ep"]), "the same seed, the same times");
    let faults = [
        "--on",
        "sandy-bridge-ep",
        "--fault",
        "slow-core=0:0.01",
        "--fault",
        "busy=9:1:5",
        "--fault",
        "stalled-worker=3:0:1000",
        "--fault",
        "no-memory=2",
    ];
    let faulty = run(&faults);
    assert!(faulty.iter().sum::<f64>() > sound.iter().sum(), "{faulty:?} {sound:?}");
    run(&["--on", "skylake-snc", "--sql", "SET strategy = bound", "--threads", "5", "--seed", "9"]);
}

#[test]
fn a_captured_machine_with_its_probe_is_a_machine() {
    let folder = Folder::new("captured");
    for cpu in 0..4 {
        let base = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        folder.put(&format!("{base}/physical_package_id"), &(cpu / 2).to_string());
        folder.put(&format!("{base}/core_id"), &(cpu % 2).to_string());
        folder.put(&format!("{base}/thread_siblings_list"), &cpu.to_string());
    }
    folder.put("sys/devices/system/cpu/online", "0-3\n");
    folder.put("sys/devices/system/node/online", "0-1\n");
    for (node, distances) in [(0, "10 21\n"), (1, "21 10\n")] {
        let base = format!("sys/devices/system/node/node{node}");
        folder.put(&format!("{base}/cpulist"), &format!("{}-{}\n", 2 * node, 2 * node + 1));
        let memory = format!("Node {node} MemTotal: 9999999 kB\nNode {node} MemFree: 9999999 kB\n");
        folder.put(&format!("{base}/meminfo"), &memory);
        folder.put(&format!("{base}/distance"), distances);
    }
    folder.put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Made-up CPU\n");
    let topology = hardware_linux::read_topology(&folder.0).unwrap();
    let mut probe = Performance::unknown(&topology);
    for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let ns = if from == to { 80.0 } else { 140.0 };
        probe.idle_ns[from][to] = Some(Latency { least: ns, mean: ns, greatest: ns });
        probe.read_mb_s[from][to] = Some(if from == to { 30_000 } else { 9_000 });
    }
    assert_eq!(topology.memory_nodes(), [NodeId(0), NodeId(1)]);
    folder.put("probe.txt", &probe.to_text());
    let (captured, measured) = (folder.file(""), folder.file("probe.txt"));
    let there = ["--machine", &captured, "--probe", &measured];
    let shown = nodewise(&[&["simulate"], &there[..]].concat());
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    let text = stdout(&shown);
    assert!(text.contains("Made-up CPU") && text.contains("    30.0     9.0"), "{text}");
    let on = ["simulate", "hana-01", "--clients", "4", "--on", &captured, "--probe", &measured];
    let text = stdout(&nodewise(&on));
    assert!(text.contains("on Made-up CPU"), "{text}");
    let without = nodewise(&["simulate", "--machine", &captured]);
    assert!(stderr(&without).contains("--probe names a file"), "{}", stderr(&without));
}

/// The rows of a table that `bench reporting` prints: placement and strategy with the cells behind.
fn reporting(arguments: &[&str]) -> (String, Vec<Vec<String>>) {
    let output = nodewise(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("Every statement gave the same rows in all runs."), "{text}");
    let cells =
        |line: &str| line.split('\u{2502}').map(|it| it.trim().to_owned()).collect::<Vec<_>>();
    let rows = text.lines().map(cells).filter(|it| it.len() == 13 && it[2] != "strategy");
    let rows = rows.collect();
    (text, rows)
}

#[test]
fn reports_by_many_clients_take_modelled_time_that_a_seed_repeats() {
    let line = "bench reporting --on nehalem-ex --clients 6 --scale 0.01 --reports 8 --threads 8 \
        --placement rr,pp --parts 1,4 --strategy target,bound";
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let (text, rows) = reporting(&arguments);
    let names: Vec<String> = rows.iter().map(|it| format!("{} {}", it[1], it[2])).collect();
    let wanted =
        ["rr target", "rr bound", "pp 1 target", "pp 1 bound", "pp 4 target", "pp 4 bound"];
    assert_eq!(names, wanted, "{text}");
    assert!(rows.iter().all(|it| it[3] == "40"), "{text}");
    assert_eq!(reporting(&arguments).1, rows, "the same seed gives the same times");
}

#[test]
fn reports_and_q1_run_here() {
    let line = "bench reporting --clients 3 --scale 0.01 --reports 4 --strategy os,bound";
    let (_, rows) = reporting(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(rows.len(), 8);
    let (folder, json) = (Folder::new("q1"), Folder::new("q1-json").file("q1.json"));
    let (data, line) = (folder.file("d"), "bench q1 --clients 3 --scale 0.01 --reports 4 --json");
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend([json.as_str(), "--data", &data, "--placement", "rr,ivp"]);
    std::fs::create_dir_all(Path::new(&json).parent().unwrap()).unwrap();
    let (_, rows) = reporting(&arguments);
    assert_eq!(rows.len(), 6);
    let json = std::fs::read_to_string(&json).unwrap();
    assert!(json.contains("\"p99_ms\"") && json.contains("\"busy\""), "{json}");
}
