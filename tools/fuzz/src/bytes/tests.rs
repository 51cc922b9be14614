//! A few cases of both sorts, end to end.

use std::path::Path;

use super::{Mutations, texts};
use crate::peers::reply::Reply;

fn records() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sql"))
}

#[test]
fn a_few_cases_give_answers_or_errors_of_the_user() {
    let mut mutations = Mutations::open(records(), None).unwrap();
    (0..12).for_each(|number| mutations.run(1, number).unwrap());
    assert_eq!(mutations.failures, 0);
    assert!(mutations.by_state.contains_key("an answer"), "{:?}", mutations.by_state);
    assert!(mutations.by_state.len() > 3, "{:?}", mutations.by_state);
}

#[test]
fn what_is_no_error_of_the_user_is_a_failure() {
    let mut mutations = Mutations::open(records(), None).unwrap();
    let error = |state: &str| Reply::Error { state: state.to_owned(), message: String::new() };
    for fine in [Reply::Done, error("42601"), error("57014")] {
        mutations.take(&fine, false, (1, 1), "SELECT");
    }
    mutations.take(&error("XX001"), true, (1, 1), "SELECT");
    assert_eq!(mutations.failures, 0);
    mutations.take(&error("XX000"), false, (1, 1), "SELECT");
    mutations.take(&error("XX001"), false, (1, 1), "SELECT");
    mutations.take(&Reply::Stuck, false, (1, 1), "SELECT");
    assert_eq!(mutations.failures, 3);
}

#[test]
fn a_folder_without_records_is_told() {
    assert!(texts::records(Path::new("/proc/no/such/place")).is_err());
}
