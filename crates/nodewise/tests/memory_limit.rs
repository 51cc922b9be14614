//! What happens when memory runs out. A binary of its own, because what other tests take would count, too.

use hardware::Machine;
use nodewise::{Database, DatabaseOptions};
use stdx::Bytes;

#[test]
fn the_statement_that_takes_too_much_ends_and_the_database_lives_on() {
    let machine = hardware_linux::open();
    // The probe of the test: what the process has now, and some room for a table and a modest query.
    let limit = Bytes(machine.resident_bytes().1.0 + (192 << 20));
    let options = DatabaseOptions { memory_limit: Some(limit), ..DatabaseOptions::default() };
    let database = Database::open(machine, options).unwrap();
    let mut session = database.session();
    session.execute("CREATE TABLE d (x BIGINT)").unwrap();
    let digits: Vec<String> = (0..100).map(|it| format!("({it})")).collect();
    session.execute(&format!("INSERT INTO d VALUES {}", digits.join(","))).unwrap();
    // A hundred million groups take gigabytes.
    let error = session
        .query(
            "SELECT count(*) FROM (SELECT a.x + 100 * b.x + 10000 * c.x + 1000000 * e.x AS v \
             FROM d a, d b, d c, d e) s GROUP BY v ORDER BY 1 LIMIT 1",
        )
        .unwrap_err();
    assert_eq!(error.state.0, "53200", "{error}");
    let answer = session.query("SELECT sum(x) FROM d").unwrap();
    assert_eq!(answer.rows(), 1);
}
