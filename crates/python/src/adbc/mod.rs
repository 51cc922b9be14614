//! The driver of ADBC (Arrow Database Connectivity): the same database behind the C functions that its driver managers call.
//!
//! Key decision: the tables of C functions, and what comes through their pointers, are those of the crate `adbc_ffi`; here are safe traits.
//! What is known of tables and columns is asked of the catalog by SQL, as anybody could.
//!
//! Reading order: `entry` (for managers), `driver` (databases), `client` (a session, and who uses it), `connection`, `statement`, `query` (texts and
//! what is bound to them), `rows` (what comes out), `ingest` (what goes in), `objects` with `catalog` and `nested`,
//! `info`, `options`, `errors`.
//!
//! - Invariant: nothing of a client makes it panic; what panics nevertheless is an error of the call.
//! - Invariant: rows of others are read while no session is locked, as they may wait for whoever waits for it.

mod catalog;
mod client;
mod connection;
mod driver;
mod entry;
mod errors;
mod info;
mod ingest;
mod nested;
mod objects;
mod options;
mod query;
mod rows;
mod statement;
