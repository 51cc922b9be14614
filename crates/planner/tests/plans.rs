//! The plans of the 22 TPC-H queries against stored texts. `UPDATE=1 cargo test -p planner` writes them anew.

mod catalog;

use std::fs;
use std::path::Path;

use catalog::Tpch;
use planner::{Planner, Statement};

#[test]
fn tpch_plans_are_as_stored() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let planner = Planner::new();
    let catalog = Tpch::new();
    let mut wrong = Vec::new();
    for number in 1..=22 {
        let path = root.join(format!("../nodewise/queries/tpch/q{number:02}.sql"));
        let sql = fs::read_to_string(path).unwrap();
        let statements = planner.parse(&sql).unwrap();
        let [Statement::Query { query }] = statements.as_slice() else {
            panic!("q{number:02} is one query");
        };
        let plan = match planner.plan_query(query, &catalog) {
            Ok(plan) => plan,
            Err(error) => {
                wrong.push(format!("q{number:02}: {error}"));
                continue;
            }
        };
        if let Err(error) = plan::validate(&plan) {
            wrong.push(format!("q{number:02}: {error}"));
        }
        let text = plan::explain::text(&plan, &|_| None);
        let stored = root.join(format!("tests/plans/q{number:02}.txt"));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&stored, &text).unwrap();
        } else if fs::read_to_string(&stored).unwrap_or_default() != text {
            wrong.push(format!("q{number:02} differs:\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
