//! P-HYPER's tables 1 and 3 by counting: the share of remote lines of each query of TPC-H and of the star schema benchmark,
//! with tables as they come under `os` and with tables co-located by key under bound tasks. Remote is what lies at another
//! place, which is a socket.

use std::path::PathBuf;

use crate::count::Phase;
use crate::topology::{self, GuestMachine};
use crate::{LabResult, failed};

/// The queries of a benchmark, and what they are to reach.
pub struct Suite {
    /// What `nodewise generate` calls it.
    name: &'static str,
    scale: &'static str,
    /// The tables, and by which key each is cut into a part for each node; others are copied to all nodes.
    tables: &'static [(&'static str, Option<&'static str>)],
    /// Name and text of each query.
    queries: &'static [(&'static str, &'static str)],
    /// Queries with the least share of local lines that they must reach when co-located, in percent.
    local_percent_min: &'static [(&'static str, f64)],
    /// The greatest mean share of remote lines when co-located, in percent.
    remote_percent_max: f64,
}

/// TPC-H, of whose table 1 P-HYPER has 27.4 % in the mean, without co-location.
pub fn tpch() -> Suite {
    Suite {
        name: "tpch",
        scale: "0.2",
        tables: &[
            ("lineitem", Some("l_orderkey")),
            ("orders", Some("o_orderkey")),
            ("partsupp", Some("ps_partkey")),
            ("part", Some("p_partkey")),
            ("customer", Some("c_custkey")),
            ("supplier", Some("s_suppkey")),
            ("nation", None),
            ("region", None),
        ],
        queries: nodewise::tpch::queries(),
        local_percent_min: &[("q03", 90.0), ("q18", 90.0), ("q09", 75.0)],
        remote_percent_max: 15.0,
    }
}

/// The star schema benchmark, of whose table 3 P-HYPER has 11.8 % in the mean.
pub fn ssb() -> Suite {
    Suite {
        name: "ssb",
        scale: "0.2",
        tables: &[
            ("lineorder", Some("lo_orderkey")),
            ("customer", None),
            ("supplier", None),
            ("part", None),
            ("date_dim", None),
        ],
        queries: bench::ssb::SUITE.queries,
        local_percent_min: &[],
        remote_percent_max: 11.8,
    }
}

/// What was counted for a query.
pub struct Counted {
    /// Its name.
    pub query: &'static str,
    /// Without placement or affinity.
    pub unplaced: Phase,
    /// Co-located and bound.
    pub co_located: Phase,
    /// What the database itself says of that: the share of remote bytes, in percent.
    pub own_percent: f64,
}

/// Asks what the database says that it has read and written: local bytes, and all.
fn traffic(machine: &GuestMachine) -> String {
    let sockets = machine.nodes.iter().map(|it| it.socket).enumerate();
    let whens: String =
        sockets.map(|(node, socket)| format!(" WHEN {node} THEN {socket}")).collect();
    let socket = |column: &str| format!("CASE {column}{whens} END");
    let (from, to) = (socket("running_node"), socket("memory_node"));
    format!(
        "SELECT 'traffic ' || coalesce(sum(CASE WHEN {from} = {to} THEN bytes END), 0) || ' ' || sum(bytes) \
         AS traffic FROM nodewise.traffic;\n"
    )
}

impl Suite {
    /// Runs the experiment on a machine of the lab: each way in a guest of its own, because the heap of a process keeps its
    /// pages where threads touched them first, whichever way is on by then.
    pub fn run(&self, machine: &str, nodewise: PathBuf) -> LabResult<Vec<Counted>> {
        let guest = topology::by_name(machine)
            .ok_or_else(|| failed(machine, "there is no such machine"))?;
        let phases = |sql: &str| -> LabResult<(Vec<Phase>, Vec<f64>)> {
            let data = (self.name, self.scale);
            let (outcome, phases) = super::counted(machine, nodewise.clone(), data, sql)?;
            let phases: Vec<Phase> = phases.iter().map(|it| it.by_place(&guest)).collect();
            let own = own_percents(&outcome.stdout);
            let queries = self.queries.len();
            if (phases.len(), own.len()) == (queries, queries) {
                return Ok((phases, own));
            }
            let (phases, own) = (phases.len(), own.len());
            let why = format!("it counted {phases} phases, and told of {own}:\n{}", outcome.stderr);
            Err(failed("the experiment", why))
        };
        let traffic = traffic(&guest);
        let (unplaced, _) = phases(&self.unplaced(&traffic))?;
        let (co_located, own) = phases(&self.co_located(&traffic))?;
        let queries = self.queries.iter().map(|it| it.0);
        let counted = |(query, ((unplaced, co_located), own_percent))| Counted {
            query,
            unplaced,
            co_located,
            own_percent,
        };
        Ok(queries.zip(unplaced.into_iter().zip(co_located).zip(own)).map(counted).collect())
    }

    /// The queries over tables as they come.
    fn unplaced(&self, traffic: &str) -> String {
        let tables: String = self.tables.iter().map(|(table, _)| self.created(table, "")).collect();
        let queries = self.asked(traffic);
        format!("SET strategy = os;\nSET default_placement = os;\n{tables}{queries}")
    }

    /// The queries over tables in parts, one on each node.
    fn co_located(&self, traffic: &str) -> String {
        let table = |(table, key): &(&str, Option<&str>)| match key {
            Some(key) => self.created(table, &format!("PARTITION BY HASH ({key}) PARTITIONS 4")),
            None => {
                format!("{}ALTER TABLE {table} NUMA NODE REPLICATE;\n", self.created(table, ""))
            }
        };
        let tables: String = self.tables.iter().map(table).collect();
        format!("SET strategy = bound;\n{tables}{}", self.asked(traffic))
    }

    fn created(&self, table: &str, parts: &str) -> String {
        let Self { name, scale, .. } = self;
        format!(
            "CREATE TABLE {table} {parts} AS SELECT * FROM '/lab/{name}-{scale}/{table}.parquet';\n"
        )
    }

    /// Each query twice, the second time counted, between looks at the traffic.
    fn asked(&self, traffic: &str) -> String {
        let counted = |(_, query): &(&str, &str)| {
            let query = query.trim().trim_end_matches(';');
            let counted =
                format!("SET access_counting = on;\n{query};\nSET access_counting = off;\n");
            format!("{query};\n{traffic}{counted}{traffic}")
        };
        self.queries.iter().map(counted).collect()
    }

    /// The bars: the first that is not held.
    pub fn judge(&self, counted: &[Counted]) -> LabResult<()> {
        for &(query, least) in self.local_percent_min {
            let found = counted.iter().find(|it| it.query == query);
            let percent = found.map_or(0.0, |it| it.co_located.local_percent());
            if percent < least {
                let why = format!("{percent:.1} % of the lines are local, not {least}");
                return Err(failed(query, why));
            }
        }
        let remote = mean(counted.iter().map(|it| remote_percent(&it.co_located)));
        if counted.len() != self.queries.len() || remote > self.remote_percent_max {
            let most = self.remote_percent_max;
            let why = format!(
                "{remote:.1} % of the lines of {} queries are remote, not {most}",
                counted.len()
            );
            return Err(failed("the mean of all queries", why));
        }
        Ok(())
    }
}

/// The share of remote bytes, in percent, between each two looks at the traffic that an output holds.
fn own_percents(output: &str) -> Vec<f64> {
    let look = |line: &str| {
        let mut numbers = line.trim_matches('"').strip_prefix("traffic ")?.split(' ');
        Some((numbers.next()?.parse::<f64>().ok()?, numbers.next()?.parse::<f64>().ok()?))
    };
    let looks: Vec<(f64, f64)> = output.lines().filter_map(look).collect();
    let percent = |it: &[(f64, f64)]| match it {
        [before, after] => 100.0 - (after.0 - before.0) / (after.1 - before.1).max(1.0) * 100.0,
        _ => f64::NAN,
    };
    looks.chunks(2).map(percent).collect()
}

fn mean(percents: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = percents.len().max(1) as f64;
    percents.sum::<f64>() / count
}

fn remote_percent(phase: &Phase) -> f64 {
    100.0 - phase.local_percent()
}

/// A line for each query, and the means.
pub fn table(counted: &[Counted]) -> String {
    let mut text = String::from(
        "query  unplaced: lines  remote %  co-located: lines  remote %  by nodewise.traffic\n",
    );
    for Counted { query, unplaced, co_located, own_percent } in counted {
        let lines = |it: &Phase| it.local() + it.remote();
        text += &format!(
            "{query:<6} {:>15} {:>9.1} {:>18} {:>9.1} {own_percent:>20.1}\n",
            lines(unplaced),
            remote_percent(unplaced),
            lines(co_located),
            remote_percent(co_located)
        );
    }
    let unplaced = mean(counted.iter().map(|it| remote_percent(&it.unplaced)));
    let co_located = mean(counted.iter().map(|it| remote_percent(&it.co_located)));
    let own = mean(counted.iter().map(|it| it.own_percent));
    text + &format!("mean {unplaced:>27.1} {co_located:>28.1} {own:>20.1}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(local: u64, remote: u64) -> Phase {
        Phase { accesses: 9, lines: vec![vec![local, remote], vec![0, 0]] }
    }

    fn counted(query: &'static str, local: u64) -> Counted {
        let (unplaced, co_located) = (phase(1, 3), phase(local, 100 - local));
        Counted { query, unplaced, co_located, own_percent: 5.0 }
    }

    #[test]
    fn looks_at_the_traffic_go_in_pairs() {
        let output = "traffic\n\"traffic 10 100\"\nx\n1\ntraffic\ntraffic 40 200\ntraffic 0 0\ntraffic 9 12\n";
        assert_eq!(own_percents(output), [70.0, 25.0]);
        assert!(own_percents("traffic 1 2")[0].is_nan());
    }

    #[test]
    fn the_bars_are_held() {
        let of = |locals: [u64; 4]| {
            let held = ["q03", "q18", "q09", "q01"].into_iter().zip(locals);
            let rest = tpch()
                .queries
                .iter()
                .map(|it| (it.0, 90))
                .filter(|it| !["q03", "q18", "q09", "q01"].contains(&it.0));
            held.chain(rest).map(|it| counted(it.0, it.1)).collect::<Vec<_>>()
        };
        assert!(tpch().judge(&of([90, 91, 75, 99])).is_ok());
        for short in [[89, 91, 75, 99], [90, 89, 75, 99], [90, 91, 74, 99]] {
            assert!(tpch().judge(&of(short)).is_err(), "{short:?}");
        }
        assert!(tpch().judge(&[]).is_err(), "nothing was counted");
        let flights =
            |local| ssb().queries.iter().map(|it| counted(it.0, local)).collect::<Vec<_>>();
        assert!(ssb().judge(&flights(89)).is_ok());
        assert!(ssb().judge(&flights(88)).is_err());
        assert!(ssb().judge(&flights(100)[1..]).is_err(), "one was not counted");
        assert!(
            table(&flights(90))
                .ends_with("75.0                         10.0                  5.0\n")
        );
    }

    #[test]
    fn each_query_is_counted_both_ways() {
        let traffic = traffic(&topology::by_name("2x2-snc").unwrap());
        assert!(traffic.contains(
            "CASE memory_node WHEN 0 THEN 0 WHEN 1 THEN 0 WHEN 2 THEN 1 WHEN 3 THEN 1 END"
        ));
        for (suite, queries, tables) in [(tpch(), 22, 8), (ssb(), 13, 5)] {
            for sql in [suite.unplaced(&traffic), suite.co_located(&traffic)] {
                assert_eq!(sql.matches("access_counting = on").count(), queries);
                assert_eq!(sql.matches("CREATE TABLE").count(), tables);
            }
        }
    }
}
