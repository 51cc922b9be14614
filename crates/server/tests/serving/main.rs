//! What clients of the server see.

mod binary;
mod catalog;
mod charsets;
mod clients;
mod collector;
mod column_rights;
#[path = "../common/mod.rs"]
mod common;
mod composites;
mod copy;
mod flight;
mod http;
mod moments;
mod origins;
mod protocol;
mod psql;
mod ranges;
mod records;
mod roles;
mod safety;
mod sessions;
mod traces;
