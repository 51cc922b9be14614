//! What may go wrong on a modelled machine.

use std::fmt;
use std::str::FromStr;

use hardware::{CpuId, NodeId, Topology};
use stdx::Nanos;

/// A fault, injected when the machine is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fault {
    /// A core whose clock runs at a share of what it should.
    SlowCore {
        /// One of its hardware threads.
        cpu: CpuId,
        /// The share, above zero.
        speed: f64,
    },
    /// A worker that takes no step for a while, as one that the OS does not let run.
    StalledWorker {
        /// The worker, in the order in which they are started.
        worker: usize,
        /// From when on.
        from: Nanos,
        /// For how long.
        span: Nanos,
    },
    /// A node whose memory is gone.
    NoMemory {
        /// The node.
        node: NodeId,
    },
    /// Another process that keeps a hardware thread busy and reads memory.
    Interference {
        /// The thread that it shares with whoever else runs there.
        cpu: CpuId,
        /// The node whose memory it reads.
        node: NodeId,
        /// Bytes per second that it reads.
        bandwidth: f64,
    },
}

impl Fault {
    /// How faults are written, for messages and help.
    pub const FORMS: &'static str = "slow-core=CPU:SPEED, stalled-worker=WORKER:FROM_MS:SPAN_MS, no-memory=NODE, \
                                     busy=CPU:NODE:GB_PER_S";

    /// Whether a machine has what the fault is about; says what it lacks if not.
    pub fn check(&self, topology: &Topology) -> Result<(), String> {
        let (cpu, node) = match *self {
            Self::SlowCore { cpu, .. } => (Some(cpu), None),
            Self::StalledWorker { .. } => (None, None),
            Self::NoMemory { node } => (None, Some(node)),
            Self::Interference { cpu, node, .. } => (Some(cpu), Some(node)),
        };
        if let Some(cpu) = cpu.filter(|cpu| !topology.cpus.iter().any(|it| it.id == *cpu)) {
            return Err(format!("{self}: there is no cpu {cpu} on this machine"));
        }
        if let Some(node) = node.filter(|it| topology.node_index(*it).is_none()) {
            return Err(format!("{self}: there is no node {node} on this machine"));
        }
        match self {
            Self::NoMemory { node } if topology.memory_nodes() == [*node] => {
                Err(format!("{self}: no other node has memory"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SlowCore { cpu, speed } => write!(f, "slow-core={cpu}:{speed}"),
            Self::StalledWorker { worker, from, span } => {
                let (from, span) = (from.as_millis_f64(), span.as_millis_f64());
                write!(f, "stalled-worker={worker}:{from}:{span}")
            }
            Self::NoMemory { node } => write!(f, "no-memory={node}"),
            Self::Interference { cpu, node, bandwidth } => {
                write!(f, "busy={cpu}:{node}:{}", bandwidth / 1e9)
            }
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    /// Reads what [`Fault::FORMS`] says and [`fmt::Display`] writes.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is no fault; known are {}", Self::FORMS);
        let (kind, values) = text.split_once('=').ok_or_else(wrong)?;
        let numbers: Result<Vec<f64>, _> = values.split(':').map(str::parse).collect();
        let numbers = numbers.map_err(|_| wrong())?;
        if numbers.iter().any(|it| !it.is_finite() || *it < 0.0) {
            return Err(wrong());
        }
        let id = |number: f64| match number {
            whole if whole.fract() == 0.0 && whole < 65_536.0 => Ok(whole as usize),
            _ => Err(wrong()),
        };
        let millis = |number: f64| Nanos((number * 1e6) as u64);
        match (kind, &numbers[..]) {
            ("slow-core", &[cpu, speed]) if speed > 0.0 && speed <= 1.0 => {
                Ok(Self::SlowCore { cpu: CpuId::from_index(id(cpu)?), speed })
            }
            ("stalled-worker", &[worker, from, span]) => Ok(Self::StalledWorker {
                worker: id(worker)?,
                from: millis(from),
                span: millis(span),
            }),
            ("no-memory", &[node]) => Ok(Self::NoMemory { node: NodeId::from_index(id(node)?) }),
            ("busy", &[cpu, node, rate]) => Ok(Self::Interference {
                cpu: CpuId::from_index(id(cpu)?),
                node: NodeId::from_index(id(node)?),
                bandwidth: rate * 1e9,
            }),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_written() {
        for text in [
            "slow-core=3:0.5",
            "stalled-worker=2:10:0.5",
            "no-memory=1",
            "busy=0:2:1.5",
            "busy=0:0:0",
        ] {
            let fault: Fault = text.parse().unwrap();
            assert_eq!(fault.to_string(), text);
        }
        for text in [
            "",
            "slow-core",
            "slow-core=1",
            "slow-core=1:0",
            "slow-core=1:2",
            "slow-core=0.5:1",
            "no-memory=x",
            "no-memory=-1",
            "busy=1:2",
            "busy=99999:0:1",
            "stalled-worker=1:2:inf",
            "flood=1",
        ] {
            let error = text.parse::<Fault>().unwrap_err();
            assert!(error.contains("known are slow-core="), "{text}: {error}");
        }
    }

    #[test]
    fn a_machine_must_have_what_fails() {
        let machine = hardware::samples::four_sockets();
        let check = |text: &str| text.parse::<Fault>().unwrap().check(&machine);
        assert_eq!(check("no-memory=3"), Ok(()));
        assert!(check("no-memory=4").unwrap_err().contains("there is no node 4"));
        assert!(check("slow-core=9999:0.5").unwrap_err().contains("there is no cpu 9999"));
        assert!(check("busy=0:7:1").unwrap_err().contains("there is no node 7"));
        let laptop = hardware::samples::laptop();
        let only = "no-memory=0".parse::<Fault>().unwrap().check(&laptop);
        assert!(only.unwrap_err().contains("no other node"));
    }
}
