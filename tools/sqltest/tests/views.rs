//! What is shown of a view makes the same view: of every query of `tests/sql` of which a view can be made.

use nodewise::{Database, DatabaseOptions};

#[test]
fn texts_of_views_make_the_same_views() {
    let (mut made, mut wrong) = (0, Vec::new());
    for file in sqltest::files() {
        let session = Database::open(hardware_linux::open(), DatabaseOptions::default());
        let session = session.expect("the database opens").session();
        let (count, failures) = sqltest::kept::check_file(&file, session);
        made += count;
        wrong.extend(failures);
    }
    assert!(made > 1_500, "only {made} views were made");
    assert!(wrong.is_empty(), "{} of {made}\n{}", wrong.len(), wrong.join("\n\n"));
}
