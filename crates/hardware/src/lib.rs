//! The words of the machine: what it looks like ([`Topology`]) and what it can do ([`Machine`]).
//!
//! - Invariant: no call to the OS and no clock here; the two siblings `hardware-linux` and `simulator` have them.
//! - Invariant: no branch on a vendor's name anywhere; distances and caches decide.
#![forbid(unsafe_code)]

mod demand;
mod files;
mod folder;
mod ids;
pub mod machine;
pub mod performance;
mod render;
mod render_performance;
pub mod samples;
pub mod topology;

pub use demand::{Access, Demand, Pattern};
pub use files::{FileError, TemporaryFile};
pub use folder::{FileMapping, Folder, FolderError, LastingFile};
pub use ids::{CpuId, LlcId, NodeId, SocketId};
pub use machine::{
    Advice, Counters, Machine, MachineError, Mapping, NodeMemory, PagePolicy, Restriction, Step,
    Worker, WorkerSpec, WorkerTeam,
};
pub use performance::{CacheStep, Latency, Matrix, Performance};
pub use topology::{Spread, Topology};
