//! What `nodewise probe` measured between the nodes (P-SNC tables 1 to 8), and the small text that keeps it.
//!
//! Firmware's distances are coarse, and some machines tell the same number for a neighbour and for the far end. Where a
//! measurement of this machine is at hand, [`crate::Topology`] prefers it.

use std::fmt::{Display, Write};
use std::str::{FromStr, SplitWhitespace};

use stdx::Bytes;

use crate::NodeId;

/// The first line of the text.
const HEAD: &str = "nodewise probe 1";

/// A value per pair of nodes: the row is the node whose CPUs ask, the column the node whose memory answers. `None` where
/// one has no CPUs to use, the other no memory, or nothing could be measured.
pub type Matrix<T> = Vec<Vec<Option<T>>>;

/// Nanoseconds of one access, over some hardware threads of the asking node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Latency {
    /// Of the fastest thread.
    pub least: f64,
    /// The mean over the threads.
    pub mean: f64,
    /// Of the slowest thread.
    pub greatest: f64,
}

/// The latency within a region of some size: a step of the staircase of caches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CacheStep {
    /// The region.
    pub bytes: Bytes,
    /// Nanoseconds of one access.
    pub latency_ns: f64,
}

/// How fast the nodes reach each other's memory.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Performance {
    /// [`crate::Topology::fingerprint`] of the machine.
    pub fingerprint: u64,
    /// The nodes of rows and columns: those of the topology, in its order.
    pub nodes: Vec<NodeId>,
    /// Latency while nothing else runs.
    pub idle_ns: Matrix<Latency>,
    /// Latency while all other threads of both nodes stream from the same memory.
    pub loaded_ns: Matrix<f64>,
    /// Millions of bytes a second that all threads of a node read.
    pub read_mb_s: Matrix<u64>,
    /// Millions of bytes a second that all threads of a node write.
    pub write_mb_s: Matrix<u64>,
    /// Ascending regions on the first node with CPUs and memory.
    pub caches: Vec<CacheStep>,
}

impl Performance {
    /// Mean idle nanoseconds of an access from one node's CPUs to another's memory.
    pub fn latency_ns(&self, from: NodeId, to: NodeId) -> Option<f64> {
        Some(self.value(&self.idle_ns, from, to)?.mean)
    }

    /// Millions of bytes a second that the CPUs of one node read from the memory of another.
    pub fn read_mb_s(&self, from: NodeId, to: NodeId) -> Option<u64> {
        self.value(&self.read_mb_s, from, to)
    }

    /// Millions of bytes a second that the CPUs of one node write to the memory of another.
    pub fn write_mb_s(&self, from: NodeId, to: NodeId) -> Option<u64> {
        self.value(&self.write_mb_s, from, to)
    }

    fn value<T: Copy>(&self, matrix: &Matrix<T>, from: NodeId, to: NodeId) -> Option<T> {
        let index = |node| self.nodes.iter().position(|it| *it == node);
        *matrix.get(index(from)?)?.get(index(to)?)?
    }

    /// The mean latency of nodes to their own memory.
    pub fn local_ns(&self) -> Option<f64> {
        let local: Vec<f64> = self.nodes.iter().filter_map(|&it| self.latency_ns(it, it)).collect();
        (!local.is_empty()).then(|| local.iter().sum::<f64>() / local.len() as f64)
    }

    /// A text that [`Performance::from_text`] reads: a line per measured pair.
    pub fn to_text(&self) -> String {
        let mut out = format!("{HEAD}\nmachine {:016x}\nnodes", self.fingerprint);
        for node in &self.nodes {
            let _ = write!(out, " {node}");
        }
        out.push('\n');
        let idle = |it: &Latency| format!("{:.1} {:.1} {:.1}", it.least, it.mean, it.greatest);
        self.write(&mut out, "idle", &self.idle_ns, idle);
        self.write(&mut out, "loaded", &self.loaded_ns, |it| format!("{it:.1}"));
        self.write(&mut out, "read", &self.read_mb_s, u64::to_string);
        self.write(&mut out, "write", &self.write_mb_s, u64::to_string);
        for step in &self.caches {
            let _ = writeln!(out, "cache {} {:.1}", step.bytes.0, step.latency_ns);
        }
        out
    }

    fn write<T, S: Display>(
        &self,
        out: &mut String,
        name: &str,
        matrix: &Matrix<T>,
        show: impl Fn(&T) -> S,
    ) {
        for (from, row) in self.nodes.iter().zip(matrix) {
            for (to, value) in self.nodes.iter().zip(row) {
                if let Some(value) = value {
                    let _ = writeln!(out, "{name} {from} {to} {}", show(value));
                }
            }
        }
    }

    /// Reads what [`Performance::to_text`] wrote; the error names the line.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate();
        if lines.next().map(|it| it.1.trim()) != Some(HEAD) {
            return Err(format!("line 1: \"{HEAD}\" is expected"));
        }
        let mut performance = Self::default();
        for (number, line) in lines.filter(|it| !it.1.trim().is_empty()) {
            let read = performance.read_line(&mut line.split_whitespace());
            read.ok_or_else(|| format!("line {}: cannot understand \"{line}\"", number + 1))?;
        }
        Ok(performance)
    }

    fn read_line(&mut self, words: &mut SplitWhitespace<'_>) -> Option<()> {
        match words.next()? {
            "machine" => self.fingerprint = u64::from_str_radix(words.next()?, 16).ok()?,
            "nodes" => self.read_nodes(words)?,
            "cache" => {
                let (bytes, latency_ns) = (Bytes(number(words)?), measured(words)?);
                self.caches.push(CacheStep { bytes, latency_ns });
            }
            name => {
                let index = |node: u16| self.nodes.iter().position(|it| it.0 == node);
                let (from, to) = (index(number(words)?)?, index(number(words)?)?);
                match name {
                    "idle" => {
                        let (least, mean) = (measured(words)?, measured(words)?);
                        let greatest = measured(words)?;
                        self.idle_ns[from][to] = Some(Latency { least, mean, greatest });
                    }
                    "loaded" => self.loaded_ns[from][to] = Some(measured(words)?),
                    "read" => self.read_mb_s[from][to] = Some(number(words)?),
                    "write" => self.write_mb_s[from][to] = Some(number(words)?),
                    _ => return None,
                }
            }
        }
        words.next().is_none().then_some(())
    }

    fn read_nodes(&mut self, words: &mut SplitWhitespace<'_>) -> Option<()> {
        self.nodes = words.map(|it| it.parse().map(NodeId)).collect::<Result<_, _>>().ok()?;
        let count = self.nodes.len();
        // A row per node; more than any machine has would only take memory.
        if count > 4096 {
            return None;
        }
        self.idle_ns = vec![vec![None; count]; count];
        self.loaded_ns = vec![vec![None; count]; count];
        self.read_mb_s = vec![vec![None; count]; count];
        self.write_mb_s = vec![vec![None; count]; count];
        Some(())
    }
}

fn number<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

/// A time: finite and above zero.
fn measured(words: &mut SplitWhitespace<'_>) -> Option<f64> {
    number(words).filter(|it: &f64| it.is_finite() && *it > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn sample() -> Performance {
        let mut performance = Performance::unknown(&samples::cpuless());
        let latency = |mean| Latency { least: mean - 1.5, mean, greatest: mean + 2.5 };
        performance.idle_ns[0][0] = Some(latency(80.5));
        performance.idle_ns[0][2] = Some(latency(250.0));
        performance.loaded_ns[1][0] = Some(300.0);
        performance.read_mb_s[0][0] = Some(61_502);
        performance.write_mb_s[1][2] = Some(9);
        performance.caches = vec![CacheStep { bytes: Bytes(32 << 10), latency_ns: 1.1 }];
        performance
    }

    #[test]
    fn the_text_is_read_as_it_was_written() {
        let performance = sample();
        assert_eq!(Performance::from_text(&performance.to_text()).unwrap(), performance);
        assert!(performance.fits(&samples::cpuless()));
        assert!(!performance.fits(&samples::ring()));
        let nothing = Performance::unknown(&samples::laptop());
        assert_eq!(Performance::from_text(&nothing.to_text()).unwrap(), nothing);
        assert_eq!(performance.latency_ns(NodeId(0), NodeId(2)), Some(250.0));
        assert_eq!(performance.latency_ns(NodeId(0), NodeId(1)), None);
        assert_eq!(performance.read_mb_s(NodeId(9), NodeId(0)), None);
        assert_eq!(performance.write_mb_s(NodeId(1), NodeId(2)), Some(9));
    }

    #[test]
    fn broken_texts_are_errors_that_name_the_line() {
        for (text, line) in [
            ("", 1),
            ("nodewise probe 2\n", 1),
            ("nodewise probe 1\nmachine xyz\n", 2),
            ("nodewise probe 1\nnodes 0 1\nidle 0 2 1 1 1\n", 3),
            ("nodewise probe 1\nnodes 0 1\nidle 0 1 1 1\n", 3),
            ("nodewise probe 1\nnodes 0\nidle 0 0 1 1 1 1\n", 3),
            ("nodewise probe 1\nnodes 0\n\nloaded 0 0 NaN\n", 4),
            ("nodewise probe 1\nnodes 0\nread 0 0 -3\n", 3),
            ("nodewise probe 1\nnodes 0\nfly 0 0 3\n", 3),
            ("nodewise probe 1\nidle 0 0 1 1 1\n", 2),
            ("nodewise probe 1\ncache 10\n", 2),
        ] {
            let error = Performance::from_text(text).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: ")), "{text:?}: {error}");
        }
    }
}
