//! How the tables of the workload lie, as in P-HANA 6.3: dealt (RR), split (IVP), in parts (PP), or where they are touched.

use hardware::NodeId;
use nodewise::{Session, SqlResult};

use super::Workload;

/// A placement of all tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// Whole columns dealt round the nodes.
    RoundRobin,
    /// The index vector of each column split over all nodes.
    Split,
    /// Large tables in so many parts, dealt round the nodes one table after the other; one part is a whole table on a node.
    Parts(usize),
    /// Where pages are touched first.
    FirstTouch,
}

impl Layout {
    /// What it is called in tables.
    pub fn name(self) -> String {
        match self {
            Self::RoundRobin => "rr".to_owned(),
            Self::Split => "ivp".to_owned(),
            Self::Parts(parts) => format!("pp {parts}"),
            Self::FirstTouch => "os".to_owned(),
        }
    }

    /// Loads the tables of a workload anew so that they lie like this.
    pub fn load(self, session: &mut Session, workload: &Workload) -> SqlResult<()> {
        let setting = match self {
            Self::RoundRobin | Self::Parts(_) => "rr",
            Self::Split => "ivp",
            Self::FirstTouch => "os",
        };
        session.execute(&format!("SET default_placement = '{setting}'"))?;
        workload.load(session)?;
        let Self::Parts(parts) = self else { return Ok(()) };
        let topology = session.database().machine().topology();
        let nodes = topology.nodes.iter().filter(|it| it.memory_total.0 > 0);
        let nodes: Vec<NodeId> = nodes.map(|it| it.id).collect();
        for (number, table) in workload.large_tables().iter().enumerate() {
            let on: Vec<String> = (0..parts.min(nodes.len()))
                .map(|part| nodes[(number * parts + part) % nodes.len()].0.to_string())
                .collect();
            let on = on.join(", ");
            let sql = match parts {
                1 => format!("ALTER TABLE {table} NUMA NODE ({on})"),
                _ => format!(
                    "ALTER TABLE {table} PARTITION BY ROUNDROBIN PARTITIONS {parts} NUMA NODE ({on})"
                ),
            };
            session.execute(&sql)?;
        }
        Ok(())
    }
}
