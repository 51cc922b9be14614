//! Rewrites of hand-made queries.

mod common;
mod guards;
mod large;
mod repetitions;
