//! One run of a guest: boot, command, output, files, end.
//!
//! Four serial ports carry standard output, standard error, the exit code and a tar archive of `/out` into files of the
//! host. A file is read when the guest has ended, and its growth is shown before if the caller wants to see it.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::image::{self, Contents};
use crate::packages::{self, Kernel};
use crate::topology::GuestMachine;
use crate::{LabResult, failed};

/// What a guest did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The command's exit code.
    pub code: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// A guest's tests take one minute or two; a busy host may need more.
pub(crate) const TESTS_LIMIT: Duration = Duration::from_secs(600);

/// How to run a guest.
#[derive(Clone, Debug)]
pub struct Run {
    /// The emulated machine.
    pub machine: GuestMachine,
    /// What it holds and does.
    pub contents: Contents,
    /// When it is killed.
    pub limit: Duration,
    /// Whether the command's output is shown while it runs.
    pub show: bool,
    /// Where the files go that the command leaves in `/out`.
    pub out: Option<PathBuf>,
    /// More words for the emulator's command line.
    pub emulator: Vec<String>,
    /// More words for the kernel's command line.
    pub kernel: Vec<String>,
}

/// What the emulator always gets: no devices but those named, and a CPU with all that it can emulate, which tells of dies
/// as only one vendor's do. Without BMI2, and so without our AVX2 kernels: QEMU 7.2 takes some of its instructions wrongly
/// (the property tests of `bitpack` fail in such a guest and pass on processors). Without ERMS the kernel copies words,
/// which are emulated faster than bytes.
const EMULATOR: &str = "-machine pc,usb=off,graphics=off -cpu max,vendor=GenuineIntel,-bmi2,-erms -nodefaults -no-user-config \
    -display none -no-reboot -device virtio-serial-pci,max_ports=8";

/// From so many CPUs on, one thread of the host emulates all: many would mostly wait for each other's locks.
const CPUS_MANY: usize = 16;

/// What the kernel always gets: no waiting for clocks and interrupts that a busy host delays, a panic that ends the
/// guest, and no automatic moving of pages, so that only we move them.
const KERNEL: &str = "console=ttyS0 quiet loglevel=4 panic=-1 nokaslr no_timer_check tsc=reliable nowatchdog \
    rcupdate.rcu_cpu_stall_suppress=1 random.trust_cpu=on mitigations=off numa_balancing=disable";

const PORTS: [&str; 4] = ["stdout", "stderr", "code", "files"];
const CONSOLE: &str = "console";
/// What a guest says on the port of the exit code when it is up.
const UP: &str = "up\n";
/// An emulated kernel of several CPUs now and then stalls while it boots (seen once in some thirty boots on a busy host).
const BOOTS_MAX: usize = 3;
/// How often the output of a running guest is looked at.
const PAUSE: Duration = Duration::from_millis(50);
/// Lines of the console that an error shows.
const CONSOLE_LINES: usize = 25;

impl Run {
    /// A run on a machine with defaults for the rest.
    pub fn new(machine: GuestMachine, contents: Contents) -> Self {
        Self {
            machine,
            contents,
            limit: Duration::from_secs(300),
            show: false,
            out: None,
            emulator: Vec::new(),
            kernel: Vec::new(),
        }
    }

    /// Boots the guest, runs the command and waits for its end.
    pub fn start(&self) -> LabResult<Outcome> {
        let folder = crate::folder()?;
        let kernel = packages::provide(&folder)?;
        let work = Work::new(&folder)?;
        let image = work.0.join("initramfs");
        image::write(&image, &folder, &kernel, &self.contents, self.limit.as_secs() + 10)?;
        let mut boots = 0;
        loop {
            let mut guest = Guest(self.spawn(&kernel, &image, &work.0)?);
            let end = self.watch(&mut guest.0, &work.0)?;
            drop(guest);
            boots += 1;
            if end != End::NeverUp || boots == BOOTS_MAX {
                return self.collect(&work.0, end);
            }
            eprintln!("lab: the guest {} does not come up and is started anew", self.machine.name);
        }
    }

    /// How long a boot may take before it is taken for stalled.
    fn boot_limit(&self) -> Duration {
        Duration::from_secs(60 + 2 * self.machine.cpus() as u64)
    }

    fn spawn(&self, kernel: &Kernel, image: &Path, work: &Path) -> LabResult<Child> {
        let mut command = Command::new(packages::QEMU);
        let threads = if self.machine.cpus() < CPUS_MANY { "multi" } else { "single" };
        command.arg("-accel").arg(format!("tcg,thread={threads}"));
        command.args(EMULATOR.split_whitespace()).args(self.machine.arguments());
        command.arg("-kernel").arg(&kernel.image).arg("-initrd").arg(image);
        command.arg("-append").arg(format!("{KERNEL} {}", self.kernel.join(" ")));
        command.arg("-serial").arg(format!("file:{}", work.join(CONSOLE).display()));
        for (number, port) in PORTS.iter().enumerate() {
            let path = work.join(port);
            command.arg("-chardev").arg(format!("file,id={port},path={}", path.display()));
            let port = format!("virtserialport,chardev={port},nr={}", number + 1);
            command.arg("-device").arg(port);
        }
        command.args(&self.emulator).stdin(Stdio::null()).stdout(Stdio::null());
        let errors = File::create(work.join("emulator"));
        command.stderr(errors.map_err(|error| failed("the emulator's messages", error))?);
        command.spawn().map_err(|error| failed(format!("cannot run {}", packages::QEMU), error))
    }

    /// Waits for the end, whatever it is.
    fn watch(&self, child: &mut Child, work: &Path) -> LabResult<End> {
        let start = Instant::now();
        let mut shown = [0, 0];
        loop {
            let ended = child.try_wait().map_err(|error| failed("waiting for the guest", error))?;
            if self.show {
                show_new(&work.join(PORTS[0]), &mut shown[0], &mut std::io::stdout().lock());
                show_new(&work.join(PORTS[1]), &mut shown[1], &mut std::io::stderr().lock());
            }
            if ended.is_some() {
                return Ok(End::Ended);
            }
            let passed = start.elapsed();
            if passed > self.limit {
                return Ok(End::Killed);
            }
            if passed > self.boot_limit() && read(work, PORTS[2]).is_empty() {
                return Ok(End::NeverUp);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn collect(&self, work: &Path, end: End) -> LabResult<Outcome> {
        let text = |name: &str| read(work, name);
        let code = text(PORTS[2]);
        let Some(code) = code.strip_prefix(UP).and_then(|it| it.trim().parse().ok()) else {
            let why = match end {
                End::Ended => "it ended before the command did".to_owned(),
                End::Killed => format!("it was killed at its limit of {} s", self.limit.as_secs()),
                End::NeverUp => format!("it did not come up in {BOOTS_MAX} attempts"),
            };
            let (console, emulator) = (text(CONSOLE), text("emulator"));
            let tail = tail(&console, CONSOLE_LINES);
            let output = tail_of_output(&text("stdout"), &text("stderr"));
            return Err(failed(
                format!("the guest {}", self.machine.name),
                format!("{why}\n{emulator}{output}its console:\n{tail}"),
            ));
        };
        if let Some(out) = &self.out {
            unpack(&work.join("files"), out)?;
        }
        Ok(Outcome { code, stdout: text("stdout"), stderr: text("stderr") })
    }
}

/// How a guest's run ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// By itself.
    Ended,
    /// At its limit.
    Killed,
    /// It stalled while it booted.
    NeverUp,
}

/// The text that has come through a port so far.
fn read(work: &Path, port: &str) -> String {
    String::from_utf8_lossy(&fs::read(work.join(port)).unwrap_or_default()).into_owned()
}

/// Kills the emulator if it still runs, whatever happened.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder of one run, removed at its end.
struct Work(PathBuf);

impl Work {
    fn new(folder: &Path) -> LabResult<Self> {
        let path = folder.join(format!("run-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).map_err(|error| failed(path.display(), error))?;
        Ok(Self(path))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn show_new(path: &Path, shown: &mut u64, out: &mut dyn Write) {
    let Ok(mut file) = File::open(path) else { return };
    let mut bytes = Vec::new();
    if file.seek(SeekFrom::Start(*shown)).is_ok() && file.read_to_end(&mut bytes).is_ok() {
        *shown += bytes.len() as u64;
        let _ = out.write_all(&bytes).and_then(|()| out.flush());
    }
}

fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn tail_of_output(stdout: &str, stderr: &str) -> String {
    let mut text = String::new();
    for (name, output) in [("standard output", stdout), ("standard error", stderr)] {
        if !output.trim().is_empty() {
            text.push_str(&format!("its {name} ends with:\n{}\n", tail(output, 10)));
        }
    }
    text
}

/// Unpacks the archive of `/out`; an empty one means that there was nothing in it.
fn unpack(archive: &Path, out: &Path) -> LabResult<()> {
    fs::create_dir_all(out).map_err(|error| failed(out.display(), error))?;
    if fs::metadata(archive).map_or(0, |it| it.len()) == 0 {
        return Ok(());
    }
    let status = Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(out).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed("unpacking the guest's files", status)),
        Err(error) => Err(failed("cannot run tar", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_the_end_of_the_console() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
        assert_eq!(tail_of_output("", " \n"), "");
        assert!(tail_of_output("x\n", "").starts_with("its standard output ends with:\nx"));
    }
}
