//! What `cargo xtask` offers.

/// The subcommands; documentation may name no other.
pub const COMMANDS: &[(&str, &str)] = &[
    ("ci", "everything a change must pass: format, lints, tidy, documentation, all tests"),
    (
        "test",
        "all tests, also in guests, model checks and Miri; --quick runs only what cargo test runs",
    ),
    (
        "lab",
        "runs a command on an emulated machine of several nodes: lab --topology 4-ring -- nodewise topology",
    ),
    (
        "slt",
        "runs sqllogictest files of any project, and tells right, wrong and refused by cause: slt DIR.. [--help]",
    ),
    ("python", "builds the Python package and runs its tests; skipped where there is no Python"),
    (
        "page",
        "runs the tests of the server's page in Chromium; NODEWISE_PICTURES=DIR keeps pictures of it",
    ),
    (
        "dist",
        "makes what is given away: the binary, and the Python package's wheel, in target/dist",
    ),
    ("tidy", "the rules of the house: layers, unsafe code, locks, sizes, documents"),
    ("help", "this list"),
];
