//! The one binary of Nodewise.
fn main() {}
