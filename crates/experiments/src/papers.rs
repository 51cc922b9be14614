//! The rows of the catalogue, paper by paper.

use crate::catalogue::Item::{Figures, Section, Tables};
use crate::catalogue::Way::{Counted, Drawing, Model, Not, Ran, Simulated};
use crate::catalogue::{Item, Paper, Row, Way};

/// All of them, in the order of the report.
pub const PAPERS: [&Paper; 4] = [&HANA, &HYPER, &SNC, &MONET];

const fn row(item: Item, shows: &'static str, ways: &'static [Way]) -> Row {
    Row { item, shows, ways }
}

/// Psaroudakis et al. 2015.
pub const HANA: Paper = Paper {
    name: "P-HANA",
    figures: 20,
    tables: 2,
    rows: &[
        row(Figures(1, 1), "what awareness of NUMA is worth", &[Simulated(&["hana-01"], "")]),
        row(Figures(2, 2), "a server of four sockets", &[Model(&["4x-ivybridge-ex"])]),
        row(
            Tables(1, 1),
            "latencies and bandwidths of three servers",
            &[Model(&["4x-ivybridge-ex", "8x-westmere-ex", "32x-ivybridge-ex"])],
        ),
        row(Figures(3, 3), "a column with its dictionary", &[Drawing("placement.md")]),
        row(Figures(4, 4), "where RR, IVP and PP put a column", &[Drawing("placement.md")]),
        row(
            Tables(2, 2),
            "which workload each placement suits, in words",
            &[
                Simulated(&["hana-10"], "concurrency"),
                Simulated(&["hana-16", "hana-17"], "selectivity and skew"),
                Simulated(&["hana-11"], "spread of latencies"),
                Simulated(&["hana-12", "hana-13"], "overhead on 32 sockets"),
                Not("memory consumed and time to move are in no experiment"),
            ],
        ),
        row(Figures(5, 5), "a summary of where pages lie", &[Drawing("placement.md")]),
        row(Figures(6, 7), "the scheduler and the tasks of a scan", &[Drawing("scheduling.md")]),
        row(Figures(8, 8), "three strategies, even load", &[Simulated(&["hana-08"], "")]),
        row(Figures(9, 9), "the same on eight sockets", &[Simulated(&["hana-09"], "")]),
        row(Figures(10, 10), "parallelism within a statement", &[Simulated(&["hana-10"], "")]),
        row(
            Figures(11, 11),
            "how latencies are spread",
            &[Simulated(&["hana-11"], ""), Ran("nodewise bench scans", "scheduling.md")],
        ),
        row(Figures(12, 12), "granularity on 32 sockets", &[Simulated(&["hana-12"], "")]),
        row(Figures(13, 13), "the same by clients", &[Simulated(&["hana-13"], "")]),
        row(Figures(14, 14), "selectivity, with indexes", &[Simulated(&["hana-14"], "")]),
        row(Figures(15, 15), "three strategies, skewed load", &[Simulated(&["hana-15"], "")]),
        row(Figures(16, 16), "three placements, skewed load", &[Simulated(&["hana-16"], "")]),
        row(Figures(17, 17), "the same with large results", &[Simulated(&["hana-17"], "")]),
        row(Figures(18, 18), "the same with stealing", &[Simulated(&["hana-18"], "")]),
        row(
            Figures(19, 19),
            "TPC-H Q1 and BW-EML by parts",
            &[Simulated(&["hana-19"], ""), Ran("nodewise bench reporting", "reporting.md")],
        ),
        row(
            Figures(20, 20),
            "a placer that adapts, envisioned",
            &[Drawing("adaptive-placement.md")],
        ),
    ],
};

/// Leis et al. 2014.
pub const HYPER: Paper = Paper {
    name: "P-HYPER",
    figures: 13,
    tables: 3,
    rows: &[
        row(Figures(1, 5), "morsels, pipelines and the dispatcher", &[Drawing("scheduling.md")]),
        row(
            Figures(6, 6),
            "time of a query by rows of a morsel",
            &[Ran("nodewise bench scheduling", "scheduling.md")],
        ),
        row(
            Figures(7, 9),
            "a hash table, a grouping and a sort in parallel",
            &[Drawing("design/04-execution.md")],
        ),
        row(Figures(10, 10), "two machines", &[Model(&["nehalem-ex", "sandy-bridge-ep"])]),
        row(
            Figures(11, 11),
            "speed-up of 22 queries on 1 to 64 threads, in four variants",
            &[
                Simulated(&["hyper-11"], "Q1 and Q6"),
                Not(
                    "the other 20: the simulator charges the bytes of joins and sorts but hardly their computing; Vectorwise",
                ),
            ],
        ),
        row(
            Tables(1, 1),
            "22 queries: time, scaling, bytes, remote share, links",
            &[
                Counted("cargo xtask lab experiment tpch", "lab.md"),
                Simulated(&["hyper-53", "hyper-11"], "scaling of Q1 and Q6"),
                Ran("nodewise simulate tpch", "simulator.md"),
                Not(
                    "times of the others, as in figure 11; use of links query by query; Vectorwise",
                ),
            ],
        ),
        row(
            Tables(2, 2),
            "the same on Sandy Bridge EP: time and scaling",
            &[Simulated(&["hyper-53"], "scaling of Q1 and Q6"), Not("the others, as in figure 11")],
        ),
        row(
            Figures(12, 12),
            "throughput of 1 to 64 streams",
            &[Ran("nodewise bench scheduling", "scheduling.md")],
        ),
        row(
            Figures(13, 13),
            "who ran which morsel when a second query came",
            &[Ran("nodewise trace", "scheduling.md")],
        ),
        row(
            Tables(3, 3),
            "13 queries of the star schema benchmark: time, scaling, bytes, remote share, links",
            &[
                Counted("cargo xtask lab experiment ssb", "lab.md"),
                Ran("nodewise bench ssb", "benchmarks.md"),
                Not("scaling over sockets and use of links"),
            ],
        ),
        row(
            Section("5.3"),
            "other placements; bandwidth and latency of a mix of nodes",
            &[Simulated(&["hyper-53"], ""), Model(&["nehalem-ex", "sandy-bridge-ep"])],
        ),
        row(Section("5.4"), "static division beside a busy core", &[Simulated(&["hyper-54"], "")]),
        row(
            Section("5.5"),
            "the star schema benchmark",
            &[Counted("cargo xtask lab experiment ssb", "lab.md")],
        ),
    ],
};

/// Greinsmark 2020.
pub const SNC: Paper = Paper {
    name: "P-SNC",
    figures: 14,
    tables: 8,
    rows: &[
        row(Figures(1, 1), "a processor and its memory", &[Drawing("simulator.md")]),
        row(Figures(2, 2), "how Linux keeps a topology", &[Not("a structure of Linux")]),
        row(Figures(3, 5), "machines with sub-domains", &[Drawing("simulator.md")]),
        row(Figures(6, 7), "how a task finds a worker, and is stolen", &[Drawing("scheduling.md")]),
        row(
            Tables(1, 4),
            "Broadwell: latencies and bandwidths, with and without sub-domains",
            &[Model(&["broadwell", "broadwell-cod"])],
        ),
        row(
            Tables(5, 8),
            "Skylake: latencies and bandwidths, with and without sub-domains",
            &[Model(&["skylake", "skylake-snc"])],
        ),
        row(Figures(8, 10), "schema and statements of the load", &[Drawing("simulator.md")]),
        row(Figures(11, 11), "random accesses to an index", &[Simulated(&["snc-11"], "")]),
        row(
            Figures(12, 14),
            "two tables on two sub-domains, by result size",
            &[Simulated(&["snc-12", "snc-13", "snc-14"], "")],
        ),
    ],
};

const MAPPED: &str = "a guest keeps files in its memory, where they were written: `nodewise bench monet` tells pages and times on a machine with sockets, which nobody had yet";
const COUNTED: Way = Counted("cargo xtask lab experiment monet", "lab.md");
const MEASURED: Way = Ran("nodewise bench monet", "design/14-coordinator.md");

/// Gawade and Kersten 2015.
pub const MONET: Paper = Paper {
    name: "P-MONET",
    figures: 10,
    tables: 2,
    rows: &[
        row(Figures(1, 1), "a server of four sockets", &[Model(&["e5-4657l-v2"])]),
        row(
            Figures(2, 2),
            "TPC-H Q1 with memory on one socket or another",
            &[Not(
                "`NODEWISE_NODES` binds CPUs and memory to the same nodes: nothing works on two of them with the memory of a third",
            )],
        ),
        row(
            Figures(3, 3),
            "queries of TPC-H by three kinds of plans",
            &[
                COUNTED,
                MEASURED,
                Not("its times, which need a machine with sockets, which nobody had yet"),
            ],
        ),
        row(Figures(4, 4), "on which socket pages of files were mapped", &[Not(MAPPED)]),
        row(
            Tables(1, 1),
            "lines that Q6 fetches locally and remotely",
            &[COUNTED, Counted("cargo xtask lab experiment q6", "lab.md")],
        ),
        row(Tables(2, 2), "numbers of cores by socket", &[Model(&["e5-4657l-v2"])]),
        row(Figures(5, 6), "local and remote accesses and time by threads", &[Not(MAPPED)]),
        row(
            Figures(7, 7),
            "threads that the kernel moved",
            &[Not("our workers are bound, and the model knows no threads that move")],
        ),
        row(
            Figures(8, 8),
            "time of a scan: one process against one per socket",
            &[COUNTED, MEASURED, Not("as time, as figure 3")],
        ),
        row(
            Figures(9, 10),
            "MonetDB against Vectorwise and HyPer",
            &[Not("times of other engines on a machine that we do not have")],
        ),
    ],
};
