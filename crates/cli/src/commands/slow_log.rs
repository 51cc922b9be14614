//! Slow statements, each a line of JSON on standard error.

use std::io::Write;
use std::time::Duration;

use nodewise::{Database, SlowStatement, SlowStatements};
use stdx::Nanos;
use stdx::sync::Arc;

/// Tells statements that take so long from now on.
pub fn begin(database: &Arc<Database>, from: Duration, plans: bool) {
    let machine = database.machine().clone();
    let tell = Box::new(move |it: &SlowStatement| {
        // Who cannot write what is slow goes on serving.
        let _ = writeln!(std::io::stderr().lock(), "{}", line(it, machine.wall_clock()));
    });
    let from = Nanos(u64::try_from(from.as_nanos()).unwrap_or(u64::MAX));
    database.tell_slow_statements(SlowStatements { from, plans, tell });
}

fn line(it: &SlowStatement, micros: i64) -> String {
    serde_json::json!({
        "unix_ms": micros / 1000,
        "event": "slow statement",
        "duration_ms": it.took.0 as f64 / 1e6,
        "rows": it.rows,
        "session": it.session,
        "sqlstate": it.error.as_ref().map(|it| it.0),
        "text": it.text,
        "plan": it.plan,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_whatever_the_text_has() {
        let slow = SlowStatement {
            text: "SELECT 'a\n\"b'".to_owned(),
            session: 7,
            took: Nanos(1_500_000),
            rows: 3,
            error: None,
            plan: Some("pipeline 1\n  scan".to_owned()),
        };
        let text = line(&slow, 1_700_000_000_123_456);
        assert!(!text.contains('\n'), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["unix_ms"], 1_700_000_000_123_i64);
        assert_eq!(read["duration_ms"], 1.5);
        assert_eq!(read["text"], "SELECT 'a\n\"b'");
        assert_eq!(read["sqlstate"], serde_json::Value::Null);
    }
}
