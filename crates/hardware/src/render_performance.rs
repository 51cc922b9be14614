//! Prints what a probe measured as tables, rows the CPUs and columns the memory, as P-SNC tables 1 to 8.

use std::fmt::Write;

use crate::performance::{Latency, Matrix, Performance};

/// Up to so many nodes a cell has room for the spread over the threads.
const WIDE: usize = 4;

impl Performance {
    /// The tables for a terminal, each line ended by a line feed.
    pub fn to_tables(&self) -> String {
        let mut out = String::new();
        let wide = self.nodes.len() <= WIDE;
        let idle = |it: &Latency| match wide && it.greatest - it.least >= 0.1 {
            true => {
                format!("{:.1} {:+.1} {:+.1}", it.mean, it.least - it.mean, it.greatest - it.mean)
            }
            false => format!("{:.1}", it.mean),
        };
        let spread = if wide { "; below and above it the fastest and slowest thread" } else { "" };
        let title = format!("Idle latency, ns (mean{spread})");
        self.table(&mut out, &title, &self.idle_ns, idle);
        let title = "Loaded latency, ns (while all other threads of both nodes read)";
        self.table(&mut out, title, &self.loaded_ns, |it| format!("{it:.1}"));
        self.table(&mut out, "Read bandwidth, MB/s", &self.read_mb_s, |it| grouped(*it));
        self.table(&mut out, "Write bandwidth, MB/s (bytes stored)", &self.write_mb_s, |it| {
            grouped(*it)
        });
        self.staircase(&mut out);
        out
    }

    fn table<T>(
        &self,
        out: &mut String,
        title: &str,
        matrix: &Matrix<T>,
        show: impl Fn(&T) -> String,
    ) {
        let cells: Vec<Vec<String>> = matrix
            .iter()
            .map(|row| row.iter().map(|it| it.as_ref().map_or("-".into(), &show)).collect())
            .collect();
        if cells.iter().flatten().all(|it| it == "-") {
            return;
        }
        let heads: Vec<String> = self.nodes.iter().map(|it| format!("node {it}")).collect();
        let width = cells.iter().flatten().chain(&heads).map(String::len).max().unwrap_or(0) + 2;
        let _ = writeln!(out, "{title}");
        let _ = write!(out, "{:<12}", "CPU \\ memory");
        for head in &heads {
            let _ = write!(out, "{head:>width$}");
        }
        out.push('\n');
        for (head, row) in heads.iter().zip(&cells).filter(|it| it.1.iter().any(|it| it != "-")) {
            let _ = write!(out, "{head:<12}");
            for cell in row {
                let _ = write!(out, "{cell:>width$}");
            }
            out.push('\n');
        }
        out.push('\n');
    }

    fn staircase(&self, out: &mut String) {
        let Some(slowest) = self.caches.iter().map(|it| it.latency_ns).reduce(f64::max) else {
            return;
        };
        let _ = writeln!(out, "Caches: latency within a region, ns");
        for step in &self.caches {
            // One to forty marks, by ratio: a cache is ten times as fast as the one behind it.
            let share = (step.latency_ns.max(1.0).ln() / slowest.max(2.0).ln() * 40.0).round();
            let bar = "\u{2588}".repeat((share as usize).clamp(1, 40));
            let _ = writeln!(out, "{:>12} {:>7.1} {bar}", step.bytes.to_string(), step.latency_ns);
        }
    }
}

/// `12 345 678`: as the tables of the paper.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::CacheStep;
    use crate::samples;
    use stdx::Bytes;

    #[test]
    fn the_tables_look_as_drawn() {
        let mut performance = Performance::unknown(&samples::cpuless());
        let latency = |least, mean, greatest| Some(Latency { least, mean, greatest });
        performance.idle_ns[0][0] = latency(79.0, 80.5, 82.8);
        performance.idle_ns[0][1] = latency(139.0, 139.0, 139.0);
        performance.idle_ns[1][2] = latency(249.9, 250.0, 250.3);
        performance.read_mb_s[0][0] = Some(111_083);
        performance.read_mb_s[1][0] = Some(999);
        performance.caches = vec![
            CacheStep { bytes: Bytes(16 << 10), latency_ns: 1.0 },
            CacheStep { bytes: Bytes(1 << 20), latency_ns: 10.0 },
            CacheStep { bytes: Bytes(64 << 20), latency_ns: 100.0 },
        ];
        let drawn = "\
Idle latency, ns (mean; below and above it the fastest and slowest thread)
CPU \\ memory           node 0           node 1           node 2
node 0         80.5 -1.5 +2.3            139.0                -
node 1                      -                -  250.0 -0.1 +0.3

Read bandwidth, MB/s
CPU \\ memory   node 0   node 1   node 2
node 0        111 083        -        -
node 1            999        -        -

Caches: latency within a region, ns
    16.0 KiB     1.0 #
     1.0 MiB    10.0 ####################
    64.0 MiB   100.0 ########################################
";
        assert_eq!(performance.to_tables().replace('\u{2588}', "#"), drawn);
        assert_eq!(Performance::unknown(&samples::laptop()).to_tables(), "");
    }

    #[test]
    fn many_nodes_have_narrow_cells() {
        let mut performance = Performance::unknown(&samples::eight());
        let latency = Latency { least: 100.0, mean: 131.4, greatest: 140.0 };
        performance.idle_ns = vec![vec![Some(latency); 8]; 8];
        let tables = performance.to_tables();
        assert!(tables.lines().all(|it| it.len() <= 80), "{tables}");
        assert_eq!(tables.matches("131.4").count(), 64);
    }

    #[test]
    fn thousands_are_apart() {
        let all = [0, 12, 123, 1234, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "12", "123", "1 234", "1 234 567"]);
    }
}
