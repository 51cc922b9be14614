//! A few statements end to end, and what is counted as a finding.

use crate::compare::Tolerance;
use crate::limits::judge::{Compare, Wanted, judge};
use crate::limits::{Limits, tables};
use crate::peers::reply::{Reply, Rows, Shown};

#[test]
fn a_few_statements_give_rows_or_clear_errors() {
    let mut limits = Limits::open().unwrap();
    for number in 0..6 {
        limits.statement(1, number, 1).unwrap();
    }
    assert_eq!(limits.counts.failures, 0);
}

#[test]
fn other_rows_and_other_errors_are_findings() {
    let error = |state: &str| Reply::Error { state: state.to_owned(), message: String::new() };
    let rows = Rows { shown: vec![Shown::Exact], rows: vec![vec![Some("1".to_owned())]] };
    let compare = Compare::Rows { ordered: false, near: Tolerance::DOUBLE };
    let wanted = Wanted::Rows(rows.clone(), compare);
    assert!(judge(&wanted, &Reply::Rows(rows)).is_ok());
    for state in ["53200", "53100", "58030", "54000"] {
        assert!(judge(&wanted, &error(state)).is_ok(), "{state}");
    }
    for state in ["XX000", "22012", "53000"] {
        assert!(judge(&wanted, &error(state)).is_err(), "{state}");
    }
    assert!(judge(&wanted, &tables::plain_answer()).is_err());
    assert!(judge(&wanted, &Reply::Stuck).is_err());
}
