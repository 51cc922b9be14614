//! What is on disk: after crashes, in backups and exports, checked.

mod backup;
mod check;
#[path = "../common/mod.rs"]
mod common;
mod compressed;
mod crashes;
mod durability;
mod export;
mod roles_last;
