//! The plans of the 22 TPC-H queries against stored texts. `UPDATE=1 cargo test -p nodewise --test plans` writes them anew.

use std::fs;
use std::path::Path;

use crate::catalog::plan_query;
use binder::Statement;
use binder::parse::parse;

#[test]
fn tpch_plans_are_as_stored() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for number in 1..=22 {
        let path = root.join(format!("queries/tpch/q{number:02}.sql"));
        let sql = fs::read_to_string(path).unwrap();
        let statements = parse(&sql).unwrap();
        let [Statement::Query { query }] = statements.as_slice() else {
            panic!("q{number:02} is one query");
        };
        let plan = match plan_query(query) {
            Ok(plan) => plan,
            Err(error) => {
                wrong.push(format!("q{number:02}: {error}"));
                continue;
            }
        };
        if let Err(error) = plan::validate(&plan) {
            wrong.push(format!("q{number:02}: {error}"));
        }
        let text = plan::explain::text(&plan, &());
        let stored = root.join(format!("tests/plans/q{number:02}.txt"));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&stored, &text).unwrap();
        } else if fs::read_to_string(&stored).unwrap_or_default() != text {
            wrong.push(format!("q{number:02} differs:\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn explain(sql: &str) -> String {
    let statements = parse(sql).unwrap();
    let [Statement::Query { query }] = statements.as_slice() else { panic!("one query: {sql}") };
    plan::explain::text(&plan_query(query).unwrap(), &())
}

/// Where the cards of a picture lie: left, top, right, bottom.
fn cards(svg: &str) -> Vec<[f64; 4]> {
    let number = |tag: &str, name: &str| -> f64 {
        let (_, rest) = tag.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let tags = svg.split("<rect class=\"card\"").skip(1);
    let card = |tag: &str| {
        let (x, y) = (number(tag, "x"), number(tag, "y"));
        [x, y, x + number(tag, "width"), y + number(tag, "height")]
    };
    tags.map(card).collect()
}

/// Every element that begins ends, in the right order, and no text holds what XML reserves.
fn is_well_formed(svg: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut parts = svg.split('<');
    let before = parts.next().unwrap_or_default();
    let fits = parts.all(|part| {
        let Some((tag, text)) = part.split_once('>') else { return false };
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        let fits = match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => open.pop() == Some(name),
            (false, true) => true,
            (false, false) => {
                open.push(name);
                true
            }
        };
        fits && !text.contains('>')
    });
    before.is_empty() && fits && open.is_empty()
}

#[test]
fn a_plan_is_drawn_with_a_card_for_each_pipeline_and_none_over_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for number in 1..=22 {
        let path = root.join(format!("queries/tpch/q{number:02}.sql"));
        let statements = parse(&fs::read_to_string(path).unwrap()).unwrap();
        let [Statement::Query { query }] = statements.as_slice() else { unreachable!() };
        let plan = plan_query(query).unwrap();
        let svg = plan::explain::svg(&plan, &());
        assert!(is_well_formed(&svg), "q{number:02}: {svg}");
        let cards = cards(&svg);
        assert_eq!(cards.len(), plan.pipelines.len(), "q{number:02}");
        for (at, [left, top, right, bottom]) in cards.iter().enumerate() {
            let apart = |it: &[f64; 4]| {
                it[0] >= *right || it[2] <= *left || it[1] >= *bottom || it[3] <= *top
            };
            assert!(cards[at + 1..].iter().all(apart), "q{number:02}: {svg}");
        }
        let links: usize = plan.pipelines.iter().map(|it| it.inputs().len()).sum();
        assert!(links == 0 || svg.contains("class=\"link\""), "q{number:02}");
    }
}

#[test]
fn joins_that_do_nothing_are_left_out() {
    let scans = |sql: &str| explain(sql).matches("scan customer").count();
    // Every order names a customer, and nothing of it is wanted but its key.
    assert_eq!(scans("SELECT count(*) FROM orders JOIN customer ON o_custkey = c_custkey"), 0);
    assert_eq!(
        scans("SELECT sum(c_custkey) FROM orders JOIN customer ON o_custkey = c_custkey"),
        0
    );
    let exists = "SELECT count(*) FROM orders WHERE EXISTS (SELECT 1 FROM customer WHERE c_custkey = o_custkey)";
    assert_eq!(scans(exists), 0);
    // A name, a condition, rows without partner, and keys that may lie outside all need the table.
    for needed in [
        "SELECT max(c_name) FROM orders JOIN customer ON o_custkey = c_custkey",
        "SELECT count(*) FROM orders JOIN customer ON o_custkey = c_custkey WHERE c_acctbal > 0",
        "SELECT count(*) FROM orders JOIN customer ON o_custkey = c_custkey AND o_totalprice > c_acctbal",
        "SELECT count(*) FROM orders FULL JOIN customer ON o_custkey = c_custkey",
        "SELECT count(*) FROM orders JOIN customer ON o_orderkey = c_custkey",
        "SELECT count(*) FROM orders WHERE NOT EXISTS (SELECT 1 FROM customer WHERE c_custkey = o_custkey)",
    ] {
        assert_eq!(scans(needed), 1, "{needed}");
    }
}

/// A semi join of two occurrences of lineitem, of which the outer has a condition.
fn another(operator: &str, outer: &str) -> String {
    explain(&format!(
        "SELECT count(*) FROM lineitem l WHERE {outer} AND EXISTS (SELECT * FROM lineitem r
         WHERE r.l_partkey = l.l_partkey AND r.l_suppkey {operator} l.l_suppkey)"
    ))
}

#[test]
fn an_inequality_of_many_rows_is_looked_up_in_extremes() {
    let all = "l.l_quantity > 0";
    for (operator, extremes) in [
        ("<>", "groups by [l_partkey] of [min(l_suppkey), max(l_suppkey)]"),
        ("<", "groups by [l_partkey] of [min(l_suppkey)]"),
        (">=", "groups by [l_partkey] of [max(l_suppkey)]"),
    ] {
        let text = another(operator, all);
        assert!(text.contains(extremes) && text.contains("semi join"), "{text}");
    }
    let not = explain(
        "SELECT count(*) FROM lineitem l WHERE NOT EXISTS (SELECT * FROM lineitem r
         WHERE r.l_partkey = l.l_partkey AND l.l_suppkey <> r.l_suppkey)",
    );
    assert!(
        not.contains("anti join") && not.contains("of [min(l_suppkey), max(l_suppkey)]"),
        "{not}"
    );
    // Few rows mark their partners, equality is a key, and a key without repetition needs no groups.
    let few = another("<>", "l.l_suppkey = 5");
    assert!(few.contains("marking join") && !few.contains("min("), "{few}");
    let two = another("IS DISTINCT FROM", all);
    assert!(!two.contains("min("), "{two}");
    let unique = explain(
        "SELECT count(*) FROM lineitem WHERE EXISTS (SELECT * FROM orders
         WHERE o_orderkey = l_orderkey AND o_orderdate <> l_shipdate)",
    );
    assert!(!unique.contains("min("), "{unique}");
}

#[test]
fn what_an_order_does_not_need_is_fetched_late() {
    // The last pipeline looks up what the sorted rows lack.
    let late = |sql: &str| {
        let text = explain(sql);
        text[text.rfind("\npipeline ").unwrap()..].contains("inner join")
    };
    let customers = "SELECT c_name, c_acctbal FROM customer ORDER BY c_acctbal";
    assert!(late(&format!("{customers} LIMIT 10")));
    assert!(late(
        "SELECT c_name, o_totalprice FROM orders JOIN customer ON o_custkey = c_custkey ORDER BY 2 LIMIT 9"
    ));
    // All rows, too many of them, a table whose keys are no row numbers, columns that are ordered by.
    assert!(!late(customers));
    assert!(!late(&format!("{customers} LIMIT 100000")));
    assert!(!late("SELECT o_comment FROM orders ORDER BY o_totalprice LIMIT 10"));
    assert!(!late("SELECT c_name FROM customer ORDER BY c_name LIMIT 10"));
    assert!(!late("SELECT c_custkey, c_nationkey FROM customer ORDER BY c_acctbal LIMIT 10"));
}

#[test]
fn what_statistics_tell_is_not_looked_for() {
    let scans = |sql: &str| explain(sql).matches("scan ").count();
    assert_eq!(scans("SELECT min(o_orderdate), max(o_orderdate), count(*) FROM orders"), 0);
    assert_eq!(scans("SELECT count(o_orderkey) + 1 FROM orders HAVING max(o_orderkey) > 3"), 0);
    // Not of some rows, of groups, of an expression, or of what is not known exactly.
    assert_eq!(scans("SELECT max(o_orderdate) FROM orders WHERE o_orderkey < 100"), 1);
    assert_eq!(scans("SELECT max(o_orderdate) FROM orders GROUP BY o_orderpriority"), 1);
    assert_eq!(scans("SELECT max(o_orderkey + 1) FROM orders"), 1);
    assert_eq!(scans("SELECT max(o_orderkey), sum(o_orderkey) FROM orders"), 1);
    assert_eq!(scans("SELECT max(o_orderkey) FILTER (WHERE o_orderkey < 9) FROM orders"), 1);
}
