//! All files: each in a process of its own, several at once.

use sqltest::corpus::{FileResult, Finding, Kind, Report};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::Arguments;

/// Records of one file that may end its process before the file is given up.
const DEATHS: usize = 8;

/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(20);

/// Runs all files and prints the report; whether nothing was wrong.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let files = files(arguments)?;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    let threads = std::thread::available_parallelism().map_or(1, |it| it.get());
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.unwrap_or(threads).max(1) {
            let (sender, files, next) = (sender.clone(), &files, &next);
            scope.spawn(move || take_files(files, next, arguments, &sender));
        }
        drop(sender);
        collect(arguments, files.len(), &receiver)
    })
}

fn take_files(
    files: &[PathBuf],
    next: &AtomicUsize,
    arguments: &Arguments,
    sender: &Sender<FileResult>,
) {
    while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        if sender.send(file(path, arguments)).is_err() {
            return;
        }
    }
}

fn collect(
    arguments: &Arguments,
    files: usize,
    receiver: &Receiver<FileResult>,
) -> Result<bool, String> {
    let create =
        |path: &PathBuf| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    let mut wrong = arguments.wrong.as_ref().map(create).transpose()?;
    let mut all = arguments.all.as_ref().map(create).transpose()?;
    let mut report = Report::default();
    let begun = Instant::now();
    let mut told = begun;
    for (at, result) in receiver.iter().enumerate() {
        for finding in result.findings.iter().filter(|it| !it.sql.is_empty()) {
            let is_wrong = finding.kind.is_wrong();
            for (out, wanted) in [(&mut wrong, is_wrong), (&mut all, true)] {
                if let Some(out) = out.as_mut().filter(|_| wanted) {
                    out.write_all(text(&result.name, finding).as_bytes())
                        .map_err(|error| error.to_string())?;
                }
            }
        }
        report.add(result);
        if told.elapsed() > PROGRESS {
            told = Instant::now();
            let seconds = begun.elapsed().as_secs();
            eprintln!("{} of {files} files after {seconds} s: {}", at + 1, report.totals());
        }
    }
    print!("{}", report.tables(arguments.top));
    println!("{} s", begun.elapsed().as_secs());
    Ok(report.passed())
}

/// A finding for the files that hold all of them.
fn text(name: &str, finding: &Finding) -> String {
    let Finding { kind, line, cause, sql, ours, expected } = finding;
    let word = kind.word();
    format!("-- {name}:{line} {word}: {cause}\n{sql}\n-- ours\n{ours}\n-- expected\n{expected}\n\n")
}

/// The files in order of name, sampled.
fn files(arguments: &Arguments) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in &arguments.paths {
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        if path.is_dir() { add_files(&path, &mut files)? } else { files.push(path) }
    }
    files.sort();
    files.dedup();
    let sampled: Vec<PathBuf> = files.into_iter().step_by(arguments.sample.max(1)).collect();
    if sampled.is_empty() {
        Err("no files of extension test or slt".to_owned())
    } else {
        Ok(sampled)
    }
}

fn add_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|it| it.path()) {
        if path.is_dir() {
            add_files(&path, files)?;
        } else if path.extension().is_some_and(|it| it == "test" || it == "slt") {
            files.push(path);
        }
    }
    Ok(())
}

/// Runs a file, again without a record that ended the process, until it comes to its end.
fn file(path: &Path, arguments: &Arguments) -> FileResult {
    let mut deadly: Vec<usize> = Vec::new();
    let mut reasons: Vec<(usize, String)> = Vec::new();
    loop {
        let (mut result, died) = match once(path, arguments, &deadly) {
            Ok(it) => it,
            Err(reason) => (FileResult { broken: Some(reason), ..Default::default() }, None),
        };
        result.name = shown(path);
        if let Some((line, reason)) = died {
            let last = deadly.len() >= DEATHS || deadly.contains(&line);
            let file_limit = reason.contains("the file");
            deadly.push(line);
            reasons.push((line, reason.clone()));
            if !last && !file_limit && line > 0 {
                continue;
            }
            result.broken = Some(format!("given up at line {line}: {reason}"));
        }
        for finding in result.findings.iter_mut().filter(|it| it.kind == Kind::Died) {
            let reason = reasons.iter().find(|it| it.0 == finding.line);
            finding.cause = reason.map_or_else(String::new, |it| it.1.clone());
        }
        return result;
    }
}

/// The last two folders and the name.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|it| it.to_string_lossy()).collect();
    parts[parts.len().saturating_sub(4)..].join("/")
}

/// One run of a file; with the line that ended the process, and how, if one did.
fn once(
    path: &Path,
    arguments: &Arguments,
    deadly: &[usize],
) -> Result<(FileResult, Option<(usize, String)>), String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let out = std::env::temp_dir().join(format!("slt-{}-{number}.out", std::process::id()));
    let failed = |error: std::io::Error| error.to_string();
    // A file and not a pipe: a line per record then wakes nobody.
    let stdout = File::create(&out).map_err(failed)?;
    let status = command(path, arguments, deadly)?
        .stdout(stdout)
        .stderr(Stdio::null())
        .status()
        .map_err(failed)?;
    let text = std::fs::read_to_string(&out).map_err(failed)?;
    std::fs::remove_file(&out).map_err(failed)?;
    let (result, ended) = parse(&text);
    let died = match ended {
        Ended::Well => None,
        Ended::Stopped(line, reason) => Some((line, reason)),
        Ended::Died(line) => Some((line, format!("the process died: {status}"))),
    };
    Ok((result, died))
}

fn command(path: &Path, arguments: &Arguments, deadly: &[usize]) -> Result<Command, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    // Scripts name their data from the folder that holds the folder `test`.
    let root = path.ancestors().find(|it| it.file_name().is_some_and(|name| name == "test"));
    if let Some(root) = root.and_then(Path::parent) {
        command.current_dir(root);
    }
    command.arg("--child").arg(path).args(["--engine", &arguments.engine]);
    for (name, value) in [
        ("--workers", arguments.workers as u64),
        ("--timeout", arguments.timeout),
        ("--file-timeout", arguments.file_timeout),
        ("--memory", arguments.memory),
    ] {
        command.args([name, &value.to_string()]);
    }
    if let Some(flavour) = &arguments.flavour {
        command.args(["--flavour", flavour]);
    }
    for sql in &arguments.before {
        command.args(["--before", sql]);
    }
    for line in deadly {
        command.args(["--deadly", &line.to_string()]);
    }
    Ok(command)
}

/// How a process came to its end.
#[derive(Debug, PartialEq)]
enum Ended {
    Well,
    /// It ended itself at a record, for a reason.
    Stopped(usize, String),
    /// It died at a record.
    Died(usize),
}

/// Reads what a process wrote.
fn parse(text: &str) -> (FileResult, Ended) {
    let mut result = FileResult::default();
    let mut last = 0;
    let mut ended = None;
    let mut begun: usize = 0;
    for line in text.lines() {
        let Some(first) = line.chars().next() else { continue };
        let rest = &line[first.len_utf8()..];
        match first {
            '@' => {
                last = rest.parse().unwrap_or(last);
                begun += 1;
            }
            '[' => result.findings.extend(Finding::from_json(line)),
            '-' => {
                let (count, reason) = rest.split_once(' ').unwrap_or((rest, ""));
                let count: usize = count.parse().unwrap_or(0);
                *result.skipped.entry(reason.to_owned()).or_default() += count;
            }
            '=' => {
                result.right = rest.parse().unwrap_or(0);
                ended = Some(Ended::Well);
            }
            '!' => {
                result.broken = Some(rest.to_owned());
                ended = Some(Ended::Well);
            }
            '~' => ended = Some(Ended::Stopped(last, rest.to_owned())),
            _ => {}
        }
    }
    let ended = ended.unwrap_or(Ended::Died(last));
    if ended != Ended::Well {
        // All that began ended well or is told of, but for the last.
        result.right = begun.saturating_sub(result.findings.len() + 1);
    }
    (result, ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_writes_is_read() {
        let finding = Finding {
            kind: Kind::Wrong,
            line: 4,
            cause: "values".to_owned(),
            sql: "SELECT 1".to_owned(),
            ours: "1".to_owned(),
            expected: "2".to_owned(),
        };
        let text = format!("@1\n@4\n{}\n-3 require x\n-2 require x\n=17\n", finding.to_json());
        let (result, ended) = parse(&text);
        assert_eq!((result.right, ended), (17, Ended::Well));
        assert_eq!(result.findings, [finding]);
        assert_eq!(result.skipped["require x"], 5);
        assert_eq!(parse("@1\n@9\n").1, Ended::Died(9));
        assert_eq!(parse("@1\n@9\n~too long\n").1, Ended::Stopped(9, "too long".to_owned()));
        assert_eq!(parse("!line 3: bad\n").0.broken.as_deref(), Some("line 3: bad"));
    }
}
