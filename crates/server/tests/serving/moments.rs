//! Moments as parameters in binary: they are counted from UTC, whatever the zone of the session and however a statement is planned.

use crate::binary::{ask, first};
use crate::common::{Raw, Running, query};

const TIMESTAMPTZ: u32 = 1184;
const TIMESTAMPTZS: u32 = 1185;
const TEXT: u32 = 25;

#[test]
fn moments_are_those_that_were_sent() {
    let server = Running::start();
    let mut raw = Raw::connect(server.address);
    raw.kinds(&query("SET TimeZone = 'Europe/Athens'; CREATE TABLE seen (at timestamptz)"));
    // 2000-01-01 00:00 UTC, from which moments are counted, and one as far from it as there may be.
    let (moment, infinity) = (0_i64.to_be_bytes(), i64::MAX.to_be_bytes());
    for (sent, shown) in [(&moment, "2000-01-01 02:00:00+02"), (&infinity, "infinity")] {
        // One plan for all values; planned for these, as the time of the statement is asked; of a type that the client tells or not.
        for sql in
            ["SELECT $1::text", "SELECT $1::text, now()", "SELECT $1::timestamptz::text, now()"]
        {
            let answers = ask(&mut raw, sql, &[TIMESTAMPTZ], &[Some(sent)]);
            assert_eq!(first(&answers), (TEXT, shown.into()), "{sql}");
        }
        for sql in [
            "SELECT (timestamptz '2000-01-01 00:00+00' <= $1)::text",
            "SELECT (timestamptz '2000-01-01 00:00+00' <= $1)::text, now()",
        ] {
            let answers = ask(&mut raw, sql, &[0], &[Some(sent)]);
            assert_eq!(first(&answers), (TEXT, "true".into()), "{sql}");
        }
        ask(
            &mut raw,
            "INSERT INTO seen SELECT $1::timestamptz WHERE now() > '2020-01-01'",
            &[0],
            &[Some(sent)],
        );
        assert_eq!(raw.value("DELETE FROM seen RETURNING at"), shown);
    }
    let list =
        [&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4, 160, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8], &moment[..]];
    let answers = ask(&mut raw, "SELECT $1::text, now()", &[TIMESTAMPTZS], &[Some(&list.concat())]);
    assert_eq!(first(&answers), (TEXT, "{\"2000-01-01 02:00:00+02\"}".into()));
}
