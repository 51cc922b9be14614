//! Limits by control groups, version 1, version 2, or both at once: the least over the group and its ancestors.
//!
//! `/proc/self/cgroup` names our group, `/proc/self/mountinfo` says where its hierarchy is mounted and which group is
//! the mount's root. A container often sees its own group as the root of the mount while the first file still has the
//! full path, or sees `..` in it: then the mount's root is our group.

use super::files::kilobytes;
use super::lists::shortened;
use super::{Root, TopologyError};

/// From here on a limit of version 1 means that there is none (it writes the largest multiple of a page).
const UNLIMITED: u64 = 1 << 62;

/// What the groups leave to this process.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Limits {
    /// CPU time in hardware threads.
    pub cpus: Option<f64>,
    /// Memory in bytes.
    pub memory: Option<u64>,
}

/// A group's folder, in which version its files are.
struct Group {
    folder: String,
    version: u8,
}

/// The limits of this process.
pub fn limits(root: &Root) -> Result<Limits, TopologyError> {
    let mut limits = Limits::default();
    for group in groups(root, "cpu") {
        limits.cpus = least(limits.cpus, quota(root, &group)?, f64::min);
    }
    for group in groups(root, "memory") {
        limits.memory = least(limits.memory, memory_limit(root, &group)?, u64::min);
    }
    Ok(limits)
}

/// The bytes this process may still take: what the kernel calls available, what the nodes open to us have, and in each
/// group its limit less its use; page cache that the kernel can drop counts as free. `None` where nothing is known.
pub fn available_bytes(root: &Root, nodes: Option<&[u16]>) -> Option<u64> {
    let system = root
        .text("proc/meminfo")
        .and_then(|it| kilobytes(&it, "MemAvailable").or_else(|| kilobytes(&it, "MemFree")));
    let open = nodes
        .and_then(|nodes| nodes.iter().map(|&it| node_available(root, it)).sum::<Option<u64>>());
    let mut left = least(system, open, u64::min);
    for group in groups(root, "memory") {
        let limit = memory_limit(root, &group).ok().flatten();
        if let Some((limit, used)) = limit.zip(memory_used(root, &group)) {
            left = least(left, Some(limit.saturating_sub(used)), u64::min);
        }
    }
    left
}

/// What a node has free or can make free, as far as its own file tells.
pub fn node_available(root: &Root, node: u16) -> Option<u64> {
    let text = root.text(&format!("sys/devices/system/node/node{node}/meminfo"))?;
    let of = |key: &str| kilobytes(&text, &format!("Node {node} {key}"));
    Some(of("MemFree")? + of("Inactive(file)").unwrap_or(0))
}

fn least<T>(one: Option<T>, other: Option<T>, least: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(least(one, other)),
        (one, other) => one.or(other),
    }
}

/// Our group and its ancestors up to the mount, in each hierarchy that has the controller (version 2: any).
fn groups(root: &Root, controller: &str) -> Vec<Group> {
    let mut groups = Vec::new();
    let mounts = root.text("proc/self/mountinfo").unwrap_or_default();
    let memberships = root.text("proc/self/cgroup").unwrap_or_default();
    for line in memberships.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let version = if id == "0" && controllers.is_empty() { 2 } else { 1 };
        if version == 1 && !controllers.split(',').any(|it| it == controller) {
            continue;
        }
        let Some((mount, mounted)) = find_mount(root, &mounts, version, controllers, controller)
        else {
            continue;
        };
        let below = path.strip_prefix(mounted.trim_end_matches('/')).unwrap_or("");
        let whole = format!("{mount}{}", below.trim_end_matches('/'));
        let usable = !below.split('/').any(|it| it == "..") && root.is_folder(&whole);
        let mut folder = if usable { whole } else { mount.clone() };
        loop {
            groups.push(Group { folder: folder.clone(), version });
            if folder.len() <= mount.len() {
                break;
            }
            folder.truncate(folder.rfind('/').unwrap_or(0));
        }
    }
    groups
}

/// Where a hierarchy is mounted and which group that shows: from mountinfo, else at the usual place.
fn find_mount(
    root: &Root,
    mounts: &str,
    version: u8,
    controllers: &str,
    controller: &str,
) -> Option<(String, String)> {
    for line in mounts.lines() {
        // `31 23 0:28 ROOT MOUNT OPTIONS ... - TYPE SOURCE SUPER-OPTIONS`
        let Some((fields, kind)) = line.split_once(" - ") else { continue };
        let fields: Vec<&str> = fields.split(' ').collect();
        let kind: Vec<&str> = kind.split(' ').collect();
        let ([_, _, _, shown, mount, ..], [fs, _, options, ..]) = (&fields[..], &kind[..]) else {
            continue;
        };
        let fits = match version {
            2 => *fs == "cgroup2",
            _ => *fs == "cgroup" && options.split(',').any(|it| it == controller),
        };
        if fits {
            return Some((unescaped(mount), unescaped(shown)));
        }
    }
    let usual = match version {
        2 => vec!["/sys/fs/cgroup".to_owned(), "/sys/fs/cgroup/unified".to_owned()],
        _ => vec![format!("/sys/fs/cgroup/{controllers}"), format!("/sys/fs/cgroup/{controller}")],
    };
    usual.into_iter().find(|it| root.is_folder(it)).map(|it| (it, "/".to_owned()))
}

/// Blanks in mountinfo are written as `\040`.
fn unescaped(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

fn quota(root: &Root, group: &Group) -> Result<Option<f64>, TopologyError> {
    let (quota, period, path) = if group.version == 2 {
        let path = format!("{}/cpu.max", group.folder);
        let Some(text) = root.text(&path) else { return Ok(None) };
        let mut words = text.split_whitespace();
        match (words.next(), words.next().unwrap_or("100000")) {
            (Some("max"), _) => return Ok(None),
            (Some(quota), period) => (quota.to_owned(), period.to_owned(), path),
            (None, _) => return Err(root.malformed(&path, "it is empty")),
        }
    } else {
        let path = format!("{}/cpu.cfs_quota_us", group.folder);
        let Some(quota) = root.text(&path) else { return Ok(None) };
        if quota.starts_with('-') {
            return Ok(None);
        }
        let period = root.text(&format!("{}/cpu.cfs_period_us", group.folder));
        (quota, period.unwrap_or_else(|| "100000".to_owned()), path)
    };
    match (quota.parse::<u64>(), period.parse::<u64>()) {
        (Ok(quota), Ok(period)) if quota > 0 && period > 0 => {
            Ok(Some(quota as f64 / period as f64))
        }
        _ => {
            let text = shortened(&format!("{quota} {period}"));
            Err(root.malformed(&path, format!("\"{text}\" is no quota")))
        }
    }
}

/// The limit of a group. `memory.high` counts as well: past it the kernel slows the process down until it is useless.
fn memory_limit(root: &Root, group: &Group) -> Result<Option<u64>, TopologyError> {
    let files: &[&str] = match group.version {
        2 => &["memory.max", "memory.high"],
        _ => &["memory.limit_in_bytes"],
    };
    let mut limit = None;
    for file in files {
        let path = format!("{}/{file}", group.folder);
        match root.text(&path) {
            None => {}
            Some(text) if text == "max" || text == "-1" => {}
            Some(_) => limit = least(limit, root.number(&path)?, u64::min),
        }
    }
    if group.version == 1 {
        // The least over ancestors that a container cannot see.
        let stat = root.text(&format!("{}/memory.stat", group.folder)).unwrap_or_default();
        limit = least(limit, counter(&stat, "hierarchical_memory_limit"), u64::min);
    }
    Ok(limit.filter(|&it| it < UNLIMITED))
}

fn memory_used(root: &Root, group: &Group) -> Option<u64> {
    let (usage, droppable) = match group.version {
        2 => ("memory.current", "inactive_file"),
        _ => ("memory.usage_in_bytes", "total_inactive_file"),
    };
    let used: u64 = root.text(&format!("{}/{usage}", group.folder))?.parse().ok()?;
    let stat = root.text(&format!("{}/memory.stat", group.folder)).unwrap_or_default();
    Some(used.saturating_sub(counter(&stat, droppable).unwrap_or(0)))
}

/// A line `key value`.
fn counter(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Peak and current resident bytes of this process.
pub fn resident_bytes(root: &Root) -> Option<(u64, u64)> {
    let text = root.text("proc/self/status")?;
    Some((kilobytes(&text, "VmHWM")?, kilobytes(&text, "VmRSS")?))
}

/// Current resident bytes that are not pages of files.
pub fn anonymous_bytes(root: &Root) -> Option<u64> {
    let text = root.text("proc/self/status")?;
    Some(kilobytes(&text, "VmRSS")?.saturating_sub(kilobytes(&text, "RssFile").unwrap_or(0)))
}
