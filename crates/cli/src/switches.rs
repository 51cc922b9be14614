//! What the environment switches off, to measure what it is worth: `NODEWISE_SIMD` and `NODEWISE_HUGE_PAGES`; and the nodes
//! to which it binds a process, CPUs and memory, as numactl does: `NODEWISE_NODES`.

use bench::primitives::packed::{Instructions, Kernels, Level};
use hardware::{Machine, NodeId};
use hardware_linux::{LinuxMachine, LinuxOptions};
use stdx::sync::Arc;

use crate::failure::Failure;

const SIMD: &str = "NODEWISE_SIMD";
const HUGE_PAGES: &str = "NODEWISE_HUGE_PAGES";
/// Also set for the processes that have a shard each.
pub const NODES: &str = "NODEWISE_NODES";

/// This machine, with what is switched off: all that runs here opens it by this.
pub fn open_machine() -> Result<Arc<LinuxMachine>, Failure> {
    let level = level(std::env::var_os(SIMD).as_deref().map(|it| it.to_string_lossy()).as_deref())?;
    if let Some(level) = level
        && !Level::of(level).is_some_and(Kernels::choose)
    {
        let best = word(Level::detect().instructions());
        return Err(Failure::Arguments(format!(
            "{SIMD} is {}, but this processor has at most {best}",
            word(level)
        )));
    }
    let huge = std::env::var_os(HUGE_PAGES);
    let huge_pages = huge_pages(huge.as_deref().map(|it| it.to_string_lossy()).as_deref())?;
    let asked = std::env::var_os(NODES);
    let nodes = nodes(asked.as_deref().map(|it| it.to_string_lossy()).as_deref())?;
    let bound = !nodes.is_empty();
    let machine = hardware_linux::open_with(LinuxOptions { huge_pages, nodes });
    // Whoever measures nodes is not to get others.
    match machine.restrictions().iter().find(|it| bound && it.call == "nodes") {
        Some(it) => Err(Failure::Arguments(format!("{NODES}: {}", it.consequence))),
        None => Ok(machine),
    }
}

/// The numbers of nodes in a list like `0,2`.
fn nodes(text: Option<&str>) -> Result<Vec<NodeId>, Failure> {
    let Some(text) = text.filter(|it| !it.is_empty()) else { return Ok(Vec::new()) };
    let numbers = text.split(',').map(|it| it.trim().parse().map(NodeId));
    numbers.collect::<Result<_, _>>().map_err(|_| {
        Failure::Arguments(format!("{NODES} is \"{text}\"; it can be numbers of nodes, as 0,1"))
    })
}

fn word(level: Instructions) -> &'static str {
    match level {
        Instructions::Portable => "portable",
        Instructions::Avx2 => "avx2",
        Instructions::Avx512 => "avx512",
    }
}

/// The level of instructions that is asked for.
fn level(text: Option<&str>) -> Result<Option<Instructions>, Failure> {
    let Some(text) = text.filter(|it| !it.is_empty()) else { return Ok(None) };
    let all = [Instructions::Portable, Instructions::Avx2, Instructions::Avx512];
    match all.into_iter().find(|it| word(*it) == text) {
        Some(level) => Ok(Some(level)),
        None => {
            let known = all.map(word).join(", ");
            Err(Failure::Arguments(format!("{SIMD} is \"{text}\"; it can be {known}")))
        }
    }
}

fn huge_pages(text: Option<&str>) -> Result<bool, Failure> {
    match text {
        None | Some("" | "on") => Ok(true),
        Some("off") => Ok(false),
        Some(text) => {
            Err(Failure::Arguments(format!("{HUGE_PAGES} is \"{text}\"; it can be on or off")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood_and_others_refused() {
        assert_eq!(level(None).unwrap(), None);
        assert_eq!(level(Some("")).unwrap(), None);
        assert_eq!(level(Some("avx2")).unwrap(), Some(Instructions::Avx2));
        assert_eq!(level(Some("portable")).unwrap(), Some(Instructions::Portable));
        assert!(huge_pages(None).unwrap() && huge_pages(Some("on")).unwrap());
        assert!(!huge_pages(Some("off")).unwrap());
        assert_eq!(nodes(Some("0, 3")).unwrap(), [NodeId(0), NodeId(3)]);
        assert!(nodes(None).unwrap().is_empty() && nodes(Some("")).unwrap().is_empty());
        let wrong = [
            level(Some("AVX")).unwrap_err(),
            huge_pages(Some("0")).unwrap_err(),
            nodes(Some("0,")).unwrap_err(),
        ];
        for failure in wrong {
            assert!(matches!(failure, Failure::Arguments(text) if text.contains("it can be")));
        }
    }
}
