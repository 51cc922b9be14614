//! Access counting: which node's CPUs fetch how many cache lines from which node's memory
//! (docs/design/06-proof-without-hardware.md, "counting accesses").
//!
//! The emulator sees every load and store with its physical address. `plugin.c`, built here with the host's compiler,
//! passes them through a model of each socket's last-level cache and counts the lines that miss, as the papers count
//! with the counters of the processor. A phase is what a session runs between `SET access_counting = on` and `off`, and
//! only the steps of workers count in it: planning, printing and the kernel do not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::guest::Run;
use crate::topology::GuestMachine;
use crate::{LabError, LabResult, failed, packages};

/// The last-level cache of each socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheModel {
    /// Its size.
    pub kib: u64,
    /// Lines of a set.
    pub ways: u64,
}

impl Default for CacheModel {
    /// Small, because the tables of a guest are.
    fn default() -> Self {
        Self { kib: 256, ways: 16 }
    }
}

/// What one phase counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phase {
    /// Loads and stores.
    pub accesses: u64,
    /// `lines[running node][memory node]`: the lines that missed.
    pub lines: Vec<Vec<u64>>,
}

impl Phase {
    /// Lines from the memory of the node that runs.
    pub fn local(&self) -> u64 {
        self.lines.iter().enumerate().map(|(node, row)| row[node]).sum()
    }

    /// Lines from the memory of other nodes.
    pub fn remote(&self) -> u64 {
        self.lines.iter().flatten().sum::<u64>() - self.local()
    }

    /// The share of local lines, in percent; 100 if none was counted.
    pub fn local_percent(&self) -> f64 {
        match self.local() + self.remote() {
            0 => 100.0,
            all => self.local() as f64 * 100.0 / all as f64,
        }
    }

    /// The same lines by place: a socket, over whose nodes what is placed is interleaved (docs/design/02-memory-and-placement.md,
    /// "the unit of placement").
    pub fn by_place(&self, machine: &GuestMachine) -> Self {
        let places = machine.nodes.iter().map(|it| it.socket + 1).max().unwrap_or(0);
        let mut lines = vec![vec![0; places]; places];
        for (from, row) in machine.nodes.iter().zip(&self.lines) {
            for (to, count) in machine.nodes.iter().zip(row) {
                lines[from.socket][to.socket] += count;
            }
        }
        Self { accesses: self.accesses, lines }
    }

    /// The matrix, drawn.
    pub fn to_table(&self, machine: &GuestMachine) -> String {
        let mut text = String::from("running        lines from memory of node\nsocket node");
        for node in 0..self.lines.len() {
            text.push_str(&format!("{node:>9}"));
        }
        for (node, row) in self.lines.iter().enumerate() {
            if machine.nodes[node].cpus == 0 {
                continue;
            }
            text.push_str(&format!("\n{:>6} {node:>4}", machine.nodes[node].socket));
            for lines in row {
                text.push_str(&format!("{lines:>9}"));
            }
        }
        let (local, remote) = (self.local(), self.remote());
        let percent = self.local_percent();
        text.push_str(&format!("\nlocal {local}, remote {remote} ({percent:.1} % local)\n"));
        text
    }
}

/// Makes a run count; the file is where [`read`] finds the phases after it.
pub fn attach(run: &mut Run, folder: &Path, cache: CacheModel) -> LabResult<PathBuf> {
    let plugin = build(folder)?;
    let out = folder.join(format!("phases-{}", std::process::id()));
    let _ = fs::remove_file(&out);
    run.contents.cache_kib = Some(cache.kib);
    let machine = &run.machine;
    let list = |items: &mut dyn Iterator<Item = usize>| {
        items.map(|it| it.to_string()).collect::<Vec<_>>().join(":")
    };
    let nodes = || machine.nodes.iter().enumerate();
    let cpus = nodes().flat_map(|(number, node)| std::iter::repeat_n(number, node.cpus));
    run.emulator.push("-plugin".to_owned());
    run.emulator.push(format!(
        "{},out={},mib={},sockets={},cpus={},cache={},ways={},stride={}",
        plugin.display(),
        out.display(),
        list(&mut nodes().map(|it| it.1.memory_mib)),
        list(&mut nodes().map(|it| it.1.socket)),
        list(&mut { cpus }),
        cache.kib,
        cache.ways,
        address_stride()?
    ));
    Ok(out)
}

/// In versions 7 and 8, where each node has a memory object of its own, QEMU tells plugins an address with the start
/// of the object in it twice. What other versions tell was not tried.
fn address_stride() -> LabResult<u64> {
    let output = Command::new(packages::QEMU).arg("--version").output();
    let text = output.map_err(|error| LabError::Missing(format!("{}: {error}", packages::QEMU)))?;
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    let version = text.split("version ").nth(1).and_then(|it| it.split('.').next());
    match version {
        Some("7" | "8") => Ok(2),
        _ => Err(LabError::Missing(format!(
            "counting was tried with QEMU 7.2 only, and this is {}",
            text.lines().next().unwrap_or("unknown")
        ))),
    }
}

/// Compiles the plugin, unless it was compiled from the same text before.
fn build(folder: &Path) -> LabResult<PathBuf> {
    const SOURCE: &str = include_str!("plugin.c");
    let (source, plugin) = (folder.join("counter.c"), folder.join("counter.so"));
    if plugin.exists() && fs::read_to_string(&source).is_ok_and(|it| it == SOURCE) {
        return Ok(plugin);
    }
    let _ = fs::remove_file(&plugin);
    fs::write(&source, SOURCE).map_err(|error| failed(source.display(), error))?;
    let mut compiler = Command::new("cc");
    compiler.args([
        "-O2",
        "-Wall",
        "-Wextra",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-pthread",
    ]);
    match compiler.arg("-o").arg(&plugin).arg(&source).status() {
        Ok(status) if status.success() => Ok(plugin),
        Ok(_) => Err(failed("cc", "it cannot build the access counter")),
        Err(error) => Err(LabError::Missing(format!("counting needs a C compiler: cc: {error}"))),
    }
}

/// Reads the phases that a run counted.
pub fn read(path: &Path, machine: &GuestMachine) -> LabResult<Vec<Phase>> {
    let text = fs::read_to_string(path).map_err(|error| failed(path.display(), error))?;
    let _ = fs::remove_file(path);
    parse(&text, machine.nodes.len()).ok_or_else(|| failed("the counts", "they are incomplete"))
}

fn parse(text: &str, nodes: usize) -> Option<Vec<Phase>> {
    let mut phases: Vec<Phase> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["phase", _, "accesses", accesses] => {
                phases.push(Phase { accesses: accesses.parse().ok()?, lines: Vec::new() });
            }
            ["from", _, ref lines @ ..] => {
                let row: Result<Vec<u64>, _> = lines.iter().map(|it| it.parse()).collect();
                phases.last_mut()?.lines.push(row.ok()?);
            }
            _ => return None,
        }
    }
    let whole =
        |it: &Phase| it.lines.len() == nodes && it.lines.iter().all(|row| row.len() == nodes);
    phases.iter().all(whole).then_some(phases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn phases_are_read_and_drawn() {
        let text = "phase 1 accesses 90\nfrom 0 5 1\nfrom 1 0 4\nphase 2 accesses 0\nfrom 0 0 0\nfrom 1 0 0\n";
        let phases = parse(text, 2).unwrap();
        assert_eq!(phases.len(), 2);
        assert_eq!((phases[0].accesses, phases[0].local(), phases[0].remote()), (90, 9, 1));
        assert_eq!((phases[0].local_percent(), phases[1].local_percent()), (90.0, 100.0));
        let mut machine = topology::by_name("cpuless").unwrap();
        machine.nodes[1].cpus = 0;
        let table = phases[0].to_table(&machine);
        assert!(table.contains("     0    0        5        1\nlocal 9"), "{table}");
        assert!(table.ends_with("local 9, remote 1 (90.0 % local)\n"), "{table}");
    }

    #[test]
    fn nodes_of_a_socket_are_one_place() {
        let lines = vec![vec![9, 1, 2, 0], vec![3, 8, 0, 1], vec![0, 1, 7, 4], vec![1, 0, 5, 6]];
        let phase = Phase { accesses: 90, lines };
        let found = phase.by_place(&topology::by_name("2x2-snc").unwrap());
        assert_eq!((found.accesses, found.lines), (90, vec![vec![21, 3], vec![2, 22]]));
        let mesh = topology::by_name("4-mesh").unwrap();
        assert_eq!(phase.by_place(&mesh), phase, "each node is a socket");
    }

    #[test]
    fn half_a_report_is_none() {
        assert_eq!(parse("", 2), Some(Vec::new()));
        assert!(parse("phase 1 accesses 90\nfrom 0 5 1\nfrom 1 0 4\n", 2).is_some());
        assert_eq!(parse("phase 1 accesses 90\nfrom 0 5 1\n", 2), None);
        assert_eq!(parse("phase 1 accesses 90\nfrom 0 5 1\nfrom 1 0", 2), None);
        assert_eq!(parse("from 0 5\n", 1), None);
        assert_eq!(parse("what\n", 1), None);
    }
}
