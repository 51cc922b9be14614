//! Whether the collector of traces can be reached, each change of that a line of JSON on standard error.

use std::io::Write;

use nodewise::Database;
use server::Tell;
use stdx::sync::Arc;

/// Tells it from now on.
pub fn teller(database: &Arc<Database>) -> Tell {
    let machine = database.machine().clone();
    Box::new(move |message| {
        let line = serde_json::json!({
            "unix_ms": machine.wall_clock() / 1000,
            "event": "traces",
            "message": message,
        });
        // Who cannot write it goes on serving.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    })
}
