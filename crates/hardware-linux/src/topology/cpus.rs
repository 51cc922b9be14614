//! The hardware threads: which are online, and their sockets, cores and last-level caches.

use std::collections::BTreeMap;

use hardware::{NodeId, SocketId};

use super::files::field;
use super::lists::shortened;
use super::{Root, TopologyError};

const FOLDER: &str = "sys/devices/system/cpu";

/// An online hardware thread.
#[derive(Clone, Debug)]
pub struct FoundCpu {
    /// Its number.
    pub number: u32,
    /// Its socket.
    pub socket: SocketId,
    /// Its core, numbered over the whole machine.
    pub core: u32,
    /// The first CPU of its last-level cache; `None` when the whole node is one group.
    pub llc: Option<u32>,
    /// Bytes of that cache, zero when not known.
    pub llc_bytes: u64,
    /// Its node; the first node until the nodes are read.
    pub node: NodeId,
}

/// All online hardware threads, ascending.
pub fn read(root: &Root, allowed: Option<&[u32]>) -> Result<Vec<FoundCpu>, TopologyError> {
    let numbers = online(root, allowed)?;
    let mut packages = Vec::new();
    let mut cores = Vec::new();
    let mut found = Vec::new();
    for &number in &numbers {
        packages.push(package(root, number)?);
        cores.push(core_key(root, number)?);
    }
    let socket_of = sockets(&packages);
    let core_of = numbered(&cores);
    for (at, &number) in numbers.iter().enumerate() {
        let (llc, llc_bytes) = last_level_cache(root, number, &cores, &numbers, at)?;
        found.push(FoundCpu {
            number,
            socket: socket_of[at],
            core: core_of[at],
            llc,
            llc_bytes,
            node: NodeId(0),
        });
    }
    Ok(found)
}

/// The CPU's name for people.
pub fn model_name(root: &Root) -> Option<String> {
    let text = root.text("proc/cpuinfo")?;
    // x86, then what arm64, riscv and s390 have.
    ["model name", "Model", "cpu model", "uarch"]
        .iter()
        .find_map(|key| field(&text, key))
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
}

fn online(root: &Root, allowed: Option<&[u32]>) -> Result<Vec<u32>, TopologyError> {
    if let Some(list) = root.list(&format!("{FOLDER}/online"))?
        && !list.is_empty()
    {
        return Ok(list);
    }
    let mut folders = root.numbered(FOLDER, "cpu");
    if !folders.is_empty() {
        // A CPU that can go offline says whether it is online.
        folders
            .retain(|it| root.text(&format!("{FOLDER}/cpu{it}/online")).is_none_or(|it| it != "0"));
        return Ok(folders);
    }
    if let Some(text) = root.text("proc/cpuinfo") {
        let mut processors: Vec<u32> =
            text.lines().filter_map(|line| field(line, "processor")?.parse().ok()).collect();
        processors.sort_unstable();
        processors.dedup();
        if !processors.is_empty() {
            return Ok(processors);
        }
    }
    match allowed {
        Some(allowed) if !allowed.is_empty() => Ok(allowed.to_vec()),
        _ => Err(TopologyError::NoCpus { root: root.path().to_owned() }),
    }
}

/// The package number; firmware that does not know writes -1.
fn package(root: &Root, cpu: u32) -> Result<u32, TopologyError> {
    let path = format!("{FOLDER}/cpu{cpu}/topology/physical_package_id");
    let number: Option<i64> = root.number(&path)?;
    Ok(number.and_then(|it| u32::try_from(it).ok()).unwrap_or(0))
}

/// The packages' own numbers when they fit, else counted from zero in their order.
fn sockets(packages: &[u32]) -> Vec<SocketId> {
    if let Ok(fit) = packages.iter().map(|&it| u16::try_from(it).map(SocketId)).collect() {
        return fit;
    }
    numbered(packages).into_iter().map(|it| SocketId::from_index(it as usize)).collect()
}

/// Replaces keys by their rank.
fn numbered<T: Ord>(keys: &[T]) -> Vec<u32> {
    let mut ranks: BTreeMap<&T, u32> = keys.iter().map(|it| (it, 0)).collect();
    for (rank, value) in ranks.values_mut().enumerate() {
        *value = rank as u32;
    }
    keys.iter().map(|it| ranks[it]).collect()
}

/// The first hardware thread of the core that `cpu` belongs to. The siblings' list is asked before `core_id`, which is
/// unique only within a package (or a die of it).
fn core_key(root: &Root, cpu: u32) -> Result<(u32, u32, u32), TopologyError> {
    let folder = format!("{FOLDER}/cpu{cpu}/topology");
    for file in ["core_cpus_list", "thread_siblings_list"] {
        if let Some(first) =
            root.list(&format!("{folder}/{file}"))?.and_then(|it| it.first().copied())
        {
            return Ok((0, 0, first));
        }
    }
    let core: Option<i64> = root.number(&format!("{folder}/core_id"))?;
    match core.and_then(|it| u32::try_from(it).ok()) {
        Some(core) => {
            let die: Option<i64> = root.number(&format!("{folder}/die_id"))?;
            let die = die.and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
            Ok((1 + package(root, cpu)?, die, core))
        }
        None => Ok((0, 0, cpu)),
    }
}

/// The first CPU and the bytes of the largest-level cache that holds data. A private cache below level 3 is no group:
/// such machines (arm64 with a memory-side cache) do share a cache, they only do not say so.
fn last_level_cache(
    root: &Root,
    cpu: u32,
    cores: &[(u32, u32, u32)],
    numbers: &[u32],
    at: usize,
) -> Result<(Option<u32>, u64), TopologyError> {
    let folder = format!("{FOLDER}/cpu{cpu}/cache");
    let mut best: Option<(u32, Vec<u32>, u64)> = None;
    for index in root.numbered(&folder, "index") {
        let entry = format!("{folder}/index{index}");
        if root.text(&format!("{entry}/type")).is_some_and(|it| it == "Instruction") {
            continue;
        }
        let Some(level) = root.number::<u32>(&format!("{entry}/level"))? else { continue };
        let shared = match root.list(&format!("{entry}/shared_cpu_list"))? {
            Some(list) => list,
            None => root.mask(&format!("{entry}/shared_cpu_map"))?.unwrap_or_default(),
        };
        if !shared.is_empty() && best.as_ref().is_none_or(|(highest, ..)| level > *highest) {
            let path = format!("{entry}/size");
            let bytes = match root.text(&path) {
                Some(text) => parse_size(&text).ok_or_else(|| {
                    root.malformed(&path, format!("\"{}\" is no size", shortened(&text)))
                })?,
                None => 0,
            };
            best = Some((level, shared, bytes));
        }
    }
    let Some((level, shared, bytes)) = best else { return Ok((None, 0)) };
    let private = numbers
        .iter()
        .zip(cores)
        .filter(|(number, _)| shared.binary_search(number).is_ok())
        .all(|(_, core)| *core == cores[at]);
    if private && level < 3 { Ok((None, 0)) } else { Ok((shared.first().copied(), bytes)) }
}

/// `32768K` and the like in bytes.
fn parse_size(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        'K' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => 1,
    };
    text.trim_end_matches(['K', 'M', 'G']).parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_ranks_and_sockets() {
        assert_eq!(parse_size("512K"), Some(512 << 10));
        assert_eq!(parse_size("1G"), Some(1 << 30));
        assert_eq!(parse_size("7"), Some(7));
        assert!(
            [parse_size(""), parse_size("K"), parse_size("99999999999999999999K")] == [None; 3]
        );
        assert_eq!(numbered(&[30, 10, 30, 20]), [2, 0, 2, 1]);
        assert_eq!(sockets(&[3, 0]), [SocketId(3), SocketId(0)]);
        assert_eq!(sockets(&[70_000, 0]), [SocketId(1), SocketId(0)]);
    }
}
