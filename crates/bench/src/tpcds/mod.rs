//! TPC-DS: its data, its queries, and whether an answer is right.
//!
//! Key decision: answers are stored for one small scale, where they take half a megabyte; at every other scale
//! `tools/bench-compare` compares them with DuckDB's of the same run.

mod queries;
mod tables;

use crate::suite::MadeSuite;

/// The benchmark, whose queries are called `q01` to `q99`.
pub static SUITE: MadeSuite = MadeSuite {
    name: "tpcds",
    title: "TPC-DS",
    queries: queries::QUERIES,
    answered_scale: queries::SCALE,
    answers: queries::ANSWERS,
    data: tables::data,
};
