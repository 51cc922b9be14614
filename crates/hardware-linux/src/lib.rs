//! The real machine: Linux topology, pages on NUMA nodes, pinned worker threads.
//!
//! Key decision: system calls directly, without libnuma, and each call that a container refuses is probed once when the
//! machine is opened and becomes a [`hardware::Restriction`]; the database runs on without it. Reading order:
//! [`topology`] (files only), `kernel` (system calls), `mappings` (what was asked for), `file_mappings`, `machine`, `team`, `counters`, `interrupt`.
//!
//! - Invariant: the only crate that knows libc; all unsafe code of it is in `kernel`, `file_mappings`, `interrupt` and `marks`.
//! - Invariant: opening never fails; what cannot be read or called is replaced by the documented fallback and reported.
//! - Invariant: [`topology`] reads below any root folder and calls nothing, so that captured trees are test data.
//! - Invariant: a page's placement is a preference, never a reason to be killed: when the asked node is full, the kernel
//!   takes another, and [`hardware::Machine::locate`] tells.

mod counters;
mod file_mappings;
mod files;
mod folder;
mod folder_lock;
mod interrupt;
mod kernel;
mod machine;
mod mappings;
mod marks;
mod team;
pub mod topology;

pub use interrupt::on_interrupt;
pub use kernel::{TerminalSize, keep_freed_memory, terminal_size};
pub use machine::{LinuxMachine, LinuxOptions, open, open_with};
pub use topology::{TopologyError, read_advice, read_topology};
