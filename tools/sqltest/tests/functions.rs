//! docs/functions.md says of each call what it gives.

use nodewise::{Database, DatabaseOptions};
use sqltest::functions;

#[test]
fn the_page_of_functions_is_true() {
    let text = std::fs::read_to_string(functions::calls()).expect("the calls are there");
    let options = DatabaseOptions { workers: Some(1), ..DatabaseOptions::default() };
    let database = Database::open(hardware_linux::open(), options).expect("the database opens");
    let mut session = database.session();
    session.execute("SET timezone = 'UTC'").expect("it is a setting");
    let (made, count) = functions::made(&text, &mut session).expect("all calls are run");
    let page = std::fs::read_to_string(functions::page()).unwrap_or_default();
    let fresh = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("functions.md");
    std::fs::write(&fresh, &made).expect("the fresh page is kept");
    assert!(count.same > 400, "{count:?}");
    let differs = made.lines().zip(page.lines()).find(|(made, page)| made != page);
    assert!(
        made == page,
        "docs/functions.md is not what the calls give ({differs:?}); copy {} there",
        fresh.display()
    );
}
