//! One file in a process of its own. What happens is written to standard output, a line each: `@LINE` when a record
//! begins, findings as JSON, `-RECORDS REASON` for records that did not run, `=RIGHT` at the end, `!REASON` when the
//! file cannot be run.

use nodewise::{Database, DatabaseOptions, Session, SqlResult};
use sqltest::corpus::{Finding, Flavour, Run, Sessions, Sink};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Arguments;

/// Findings of one cause that are written in full; of further ones only the cause, unless they are wrong.
const FULL: usize = 3;

/// Runs the one file of the arguments.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    hardware_linux::keep_freed_memory();
    let path = arguments.paths.first().ok_or("no file")?;
    let watch = Arc::new(Watch { begun: Instant::now(), record: AtomicU64::new(0) });
    let (watched, limits) = (watch.clone(), Limits::of(arguments));
    std::thread::spawn(move || watched.guard(&limits));
    let mut out = Output { watch, causes: HashMap::new(), right: 0 };
    match script(path, arguments, &mut out) {
        Ok(()) => line(&format!("={}", out.right)),
        Err(reason) => line(&format!("!{}", reason.replace('\n', " "))),
    }
    Ok(true)
}

fn script(path: &Path, arguments: &Arguments, sink: &mut Output) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    let flavour = match &arguments.flavour {
        Some(name) => Flavour::named(name).ok_or_else(|| format!("no such flavour: {name}"))?,
        None => Flavour::of(path, &text),
    };
    let mut settings = vec![format!("SET statement_timeout = '{}s'", arguments.timeout)];
    if flavour == Flavour::DuckDb {
        settings.push("SET default_null_order = 'nulls_last'".to_owned());
    }
    settings.extend(arguments.before.iter().cloned());
    let open = || open(arguments);
    let sessions = Sessions::open(open, settings).map_err(|error| error.to_string())?;
    let folder = std::env::current_dir().unwrap_or_default().display().to_string();
    let scratch = std::env::temp_dir().join(format!("slt-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
    let name = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let surroundings = vec![
        pair("TEST_DIR", &scratch.display().to_string()),
        pair("TEMP_DIR", &scratch.display().to_string()),
        pair("DATA_DIR", "data"),
        pair("WORKING_DIRECTORY", &folder),
        pair("BASE_TEST_NAME", &name),
        pair("TEST_NAME", &name),
    ];
    let deadly = arguments.deadly.iter().copied().collect();
    let engine = &arguments.engine;
    let mut run = Run { sessions, sink, engine, flavour, deadly, surroundings };
    let done = run.script(&text);
    // Nothing of ours is left behind; what cannot be removed lies in the folder for such things.
    let _ = std::fs::remove_dir_all(&scratch);
    done
}

fn open(arguments: &Arguments) -> SqlResult<Session> {
    let options = DatabaseOptions {
        workers: Some(arguments.workers),
        memory_limit: Some(stdx::Bytes(arguments.memory << 20)),
        ..DatabaseOptions::default()
    };
    Ok(Database::open(hardware_linux::open(), options)?.session())
}

/// What is written as the records go by.
struct Output {
    watch: Arc<Watch>,
    causes: HashMap<String, usize>,
    right: usize,
}

/// Writes a line at once: what comes next may end the process.
fn line(text: &str) {
    let text = format!("{text}\n");
    if std::io::stdout().lock().write_all(text.as_bytes()).is_err() {
        std::process::exit(1);
    }
}

impl Sink for Output {
    fn begin(&mut self, number: usize) {
        self.watch.begin();
        line(&format!("@{number}"));
    }

    fn right(&mut self) {
        self.watch.end();
        self.right += 1;
    }

    fn finding(&mut self, finding: Finding) {
        self.watch.end();
        let count = self.causes.entry(finding.cause.clone()).or_default();
        *count += 1;
        let full = *count <= FULL || finding.kind.is_wrong();
        let empty = String::new;
        line(
            &if full {
                finding
            } else {
                Finding { sql: empty(), ours: empty(), expected: empty(), ..finding }
            }
            .to_json(),
        );
    }

    fn skipped(&mut self, reason: &str, records: usize) {
        line(&format!("-{records} {reason}"));
    }
}

/// What no record may exceed.
struct Limits {
    record: Duration,
    file: Duration,
    memory: u64,
}

impl Limits {
    fn of(arguments: &Arguments) -> Self {
        // A statement ends itself at the limit; this is for one that does not.
        let record = Duration::from_secs(arguments.timeout * 3 / 2 + 1);
        let file = Duration::from_secs(arguments.file_timeout);
        Self { record, file, memory: arguments.memory << 21 }
    }
}

/// Since when a record runs.
struct Watch {
    begun: Instant,
    /// Milliseconds from `begun`, plus 1; 0 between records.
    record: AtomicU64,
}

impl Watch {
    fn begin(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.record.store(now + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.record.store(0, Ordering::Relaxed);
    }

    /// Ends the process when a limit is exceeded.
    fn guard(&self, limits: &Limits) {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let since = self.record.load(Ordering::Relaxed);
            let ran = self.begun.elapsed();
            let record = ran.saturating_sub(Duration::from_millis(since.saturating_sub(1)));
            if since > 0 && record > limits.record {
                self.stop("the time limit does not end it");
            } else if ran > limits.file {
                self.stop("the file ran into its time limit");
            } else if resident() > limits.memory {
                self.stop("it takes more memory than it may");
            }
        }
    }

    fn stop(&self, reason: &str) {
        line(&format!("~{reason}"));
        std::process::exit(3);
    }
}

/// Bytes of this process in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}
