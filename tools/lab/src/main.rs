//! The command line of the lab; `cargo xtask lab` builds all programs and runs it.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lab::count::{self, CacheModel};
use lab::experiment::remote_lines;
use lab::guest::Run;
use lab::image::Contents;
use lab::suites::{self, Programs};
use lab::{LabError, experiment, topology};

const HELP: &str = "cargo xtask lab [OPTIONS] -- COMMAND..   run a command in a guest
  --topology T     the machine, 4-mesh when not given
  --copy FILE      put a file or folder into /lab, where the command runs; may be repeated
  --out DIR        where the files go that the command leaves in /out
  --limit S        kill the guest after that many seconds, 300 when not given
  --count          count the cache lines that workers fetch, per running and memory node, while access_counting is on
  --cache KIB      the modelled cache of each socket, 256 when not given
  --kernel WORD    one more word for the kernel's command line; may be repeated
cargo xtask lab topologies               list the machines
cargo xtask lab test [TOPOLOGY..]        run the tests that run in guests
cargo xtask lab experiment q6            count what Q6 fetches from near and far, placed four ways
cargo xtask lab experiment tpch [T]      count what the 22 queries fetch, unplaced and co-located
cargo xtask lab experiment ssb [T]       the same of the 13 of the star schema benchmark
cargo xtask lab experiment monet         count what P-MONET's queries fetch in its three configurations
cargo xtask lab experiment reporting [T] P-HANA 6.3: reports and TPC-H Q1 by 32 clients, three placements, two strategies";

/// The exit code when QEMU or a package cannot be had.
const MISSING: u8 = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error @ LabError::Missing(_)) => {
            eprintln!("lab: {error}");
            ExitCode::from(MISSING)
        }
        Err(error) => {
            eprintln!("lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode, LabError> {
    match arguments.first().map(String::as_str) {
        None | Some("help" | "--help" | "-h") => println!("{HELP}"),
        Some("topologies") => {
            for (name, about) in topology::list() {
                println!("{name:8} {about}");
            }
        }
        Some("test") => return run_tests(&arguments[1..]),
        Some("experiment") if arguments.get(1).is_some_and(|it| it == "q6") => {
            let counted = experiment::q6::run(beside("nodewise"))?;
            print!("{}", experiment::q6::table(&counted));
            experiment::q6::judge(&counted).into_iter().try_for_each(|(_, verdict)| verdict)?;
        }
        Some("experiment") if arguments.get(1).is_some_and(|it| it == "tpch" || it == "ssb") => {
            let machine = arguments.get(2).map_or(topology::DEFAULT, String::as_str);
            let tpch = arguments.get(1).is_some_and(|it| it == "tpch");
            let suite = if tpch { remote_lines::tpch() } else { remote_lines::ssb() };
            let counted = suite.run(machine, beside("nodewise"))?;
            print!("{}", remote_lines::table(&counted));
            suite.judge(&counted)?;
        }
        Some("experiment") if arguments.get(1).is_some_and(|it| it == "monet") => {
            let counted = experiment::monet::run(beside("nodewise"))?;
            print!("{}", experiment::monet::table(&counted));
            experiment::monet::judge(&counted)?;
        }
        Some("experiment") if arguments.get(1).is_some_and(|it| it == "reporting") => {
            let machine = arguments.get(2).map_or(topology::DEFAULT, String::as_str);
            let loads = experiment::reporting::run(machine, beside("nodewise"))?;
            loads.iter().for_each(|it| println!("{}", it.text));
            experiment::reporting::judge(&loads)?;
        }
        Some(_) => return run_command(arguments),
    }
    Ok(ExitCode::SUCCESS)
}

fn run_command(arguments: &[String]) -> Result<ExitCode, LabError> {
    let mut contents = Contents::default();
    let mut name = topology::DEFAULT.to_owned();
    let (mut limit, mut out, mut kernel) = (300, None, Vec::new());
    let (mut counting, mut cache) = (false, CacheModel::default());
    let mut words = arguments.iter();
    loop {
        let wrong = |why: String| Err(LabError::Failed(format!("{why}\n{HELP}")));
        let Some(word) = words.next() else { return wrong("there is no -- and no command".into()) };
        if word == "--" {
            break;
        }
        if word == "--count" {
            counting = true;
            continue;
        }
        let Some(value) = words.next() else { return wrong(format!("{word} has no value")) };
        match word.as_str() {
            "--topology" => name.clone_from(value),
            "--copy" => contents.copies.push(PathBuf::from(value)),
            "--out" => out = Some(PathBuf::from(value)),
            "--kernel" => kernel.push(value.clone()),
            "--cache" => match value.parse() {
                Ok(kib @ 1..) => cache.kib = kib,
                _ => return wrong(format!("{value} is no number of KiB")),
            },
            "--limit" => match value.parse() {
                Ok(seconds) => limit = seconds,
                Err(_) => return wrong(format!("{value} is no number of seconds")),
            },
            _ => return wrong(format!("there is no option {word}")),
        }
    }
    contents.command = words.cloned().collect();
    contents.programs = programs(&contents.command);
    let machine = topology::by_name(&name).ok_or_else(|| {
        let names: Vec<&str> = topology::list().map(|it| it.0).collect();
        LabError::Failed(format!("there is no topology {name}; there are {}", names.join(", ")))
    })?;
    lab::packages::provide(&lab::folder()?)?;
    let mut run = Run::new(machine, contents);
    (run.limit, run.show, run.out, run.kernel) = (Duration::from_secs(limit), true, out, kernel);
    let counts =
        if counting { Some(count::attach(&mut run, &lab::folder()?, cache)?) } else { None };
    let outcome = run.start()?;
    if let Some(counts) = counts {
        for (number, phase) in count::read(&counts, &run.machine)?.iter().enumerate() {
            println!("phase {}: {} loads and stores", number + 1, phase.accesses);
            print!("{}", phase.to_table(&run.machine));
        }
    }
    Ok(ExitCode::from(u8::try_from(outcome.code).unwrap_or(u8::MAX)))
}

/// Words are names of machines, and test programs as `--program NAME=PATH`.
fn run_tests(arguments: &[String]) -> Result<ExitCode, LabError> {
    let mut programs =
        Programs { guest: beside("lab-guest"), nodewise: beside("nodewise"), tests: Vec::new() };
    let (mut only, mut words) = (Vec::new(), arguments.iter());
    while let Some(word) = words.next() {
        if word != "--program" {
            only.push(word.clone());
            continue;
        }
        let program = words.next().and_then(|it| suites::named_path(it));
        let wrong = || LabError::Failed("--program takes NAME=PATH".to_owned());
        programs.tests.push(program.ok_or_else(wrong)?);
    }
    let passed = suites::run(&programs, &only)?;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A program that lies beside this one.
fn beside(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.parent().unwrap_or(Path::new(".")).join(name)
}

/// The programs of ours that a command mentions.
fn programs(command: &[String]) -> Vec<(String, PathBuf)> {
    let command = command.join(" ");
    let mentioned = ["nodewise", "lab-guest"].into_iter().filter(|it| command.contains(it));
    let all = mentioned.map(|name| (name.to_owned(), beside(name)));
    all.filter(|(_, path)| path.is_file()).collect()
}
