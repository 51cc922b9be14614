//! Statements from their text to their answers.

#[path = "../catalog/mod.rs"]
mod catalog;
#[path = "../common/mod.rs"]
mod common;
mod deep_texts;
mod errors;
mod followed_statements;
mod inequalities;
mod macros;
mod operating;
mod plans;
mod prepared;
mod profile;
mod recursion;
mod sessions;
mod slow_statements;
mod statements;
mod tpch;
mod user_types;
mod views;
#[path = "../wire/mod.rs"]
mod wire;
