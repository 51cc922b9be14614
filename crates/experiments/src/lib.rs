//! The papers' experiments on modelled machines (docs/design/06-proof-without-hardware.md, "modelled machines"): the
//! real scheduler and placement, data that only cost.
//!
//! Key decision: an experiment is a file in `experiments/` that says what is varied, what the paper's text states about
//! the outcome, and what became of it. What comes out is set beside it; nothing is fitted.
//!
//! - Invariant: the same experiment and seed give the same outcome.
//! - Invariant: tasks, their affinities and who runs them are the scheduler's; where data lie is `placement`'s. Only what a
//!   task costs is stated here, in `tasks` and `costs`.
//! - Invariant: a claim that fails is shown as such, and what became of each claim is written down and held to.
//!
//! Reading order: [`settings`], `layout` (data), `tasks` (P-HANA 5.2), [`run()`], [`adaptive`], `claim`, [`experiment`], [`figure`], [`text`],
//! [`catalogue`], [`papers`], [`listing`], [`mod@report`], [`svg`], [`timeline`].
#![forbid(unsafe_code)]

pub mod adaptive;
pub mod catalogue;
mod claim;
pub mod costs;
pub mod experiment;
pub mod figure;
mod layout;
pub mod listing;
pub mod outcome;
pub mod papers;
pub mod report;
mod run;
pub mod settings;
pub mod svg;
mod tasks;
pub mod text;
pub mod timeline;

pub use claim::{Claim, Class, Expected};
pub use experiment::Experiment;
pub use figure::{Figure, Finding};
pub use outcome::{MEASURES, Outcome};
pub use run::run;
pub use settings::Settings;
