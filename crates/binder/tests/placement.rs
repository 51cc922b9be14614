//! The clauses about nodes and parts as a user spells them, right and wrong.

use binder::{
    DesignClause, NodeClause, NodeDemand, NodeRange, NodeWay, PartitionClause, PlacedItem,
    Statement, TableChange,
};
use types::{DataType, SqlError};

fn one(sql: &str) -> Statement {
    let mut all = binder::parse::parse(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert_eq!(all.len(), 1, "{sql}");
    all.remove(0)
}

fn design(sql: &str) -> DesignClause {
    match one(sql) {
        Statement::CreateTable { design, .. } | Statement::CreateTableAs { design, .. } => design,
        other => panic!("{sql}: {other:?}"),
    }
}

fn change(sql: &str) -> TableChange {
    match one(sql) {
        Statement::AlterTable { table, change, .. } if table == "t" => change,
        other => panic!("{sql}: {other:?}"),
    }
}

fn on(way: NodeWay, nodes: &[(u64, u64)]) -> NodeClause {
    let nodes = nodes.iter().map(|&(first, last)| NodeRange { first, last }).collect();
    NodeClause { demand: NodeDemand::On { way, nodes }, deferred: false }
}

fn placed(sql: &str) -> (PlacedItem, NodeClause) {
    match change(sql) {
        TableChange::Place(mut places) if places.len() == 1 => places.remove(0),
        other => panic!("{sql}: {other:?}"),
    }
}

#[test]
fn nodes_are_named_one_by_one_and_in_ranges() {
    let fitting = |nodes| on(NodeWay::Fitting, nodes);
    let of = |clause: &str| placed(&format!("ALTER TABLE t {clause}")).1;
    assert_eq!(of("NUMA NODE (0, 2 TO 3)"), fitting(&[(0, 0), (2, 3)]));
    assert_eq!(of("numa node ('1' TO '3') immediate"), fitting(&[(1, 3)]));
    let deferred = of("NUMA NODE (1) DEFERRED");
    assert_eq!(deferred, NodeClause { deferred: true, ..fitting(&[(1, 1)]) });
    assert_eq!(of("NUMA NODE SPLIT (0, 1)"), on(NodeWay::Split, &[(0, 0), (1, 1)]));
    assert_eq!(of("NUMA NODE INTERLEAVE"), on(NodeWay::Interleave, &[]));
    assert_eq!(of("NUMA NODE ROUNDROBIN (4)"), on(NodeWay::RoundRobin, &[(4, 4)]));
    assert_eq!(of("NUMA NODE REPLICATE /* all */"), on(NodeWay::Replicate, &[]));
    let back = of("NUMA NODE NULL -- as before");
    assert_eq!(back, NodeClause { demand: NodeDemand::TakenBack, deferred: false });
}

#[test]
fn tables_columns_parts_and_rows_are_placed() {
    let item = |sql: &str| placed(sql).0;
    let column = |name: &str, data_type| PlacedItem::Column { name: name.into(), data_type };
    assert_eq!(item("ALTER TABLE t NUMA NODE (0)"), PlacedItem::Table);
    assert_eq!(item("ALTER TABLE t ALTER COLUMN c NUMA NODE (0)"), column("c", None));
    assert_eq!(item("ALTER TABLE T ALTER \"C\" NUMA NODE NULL"), column("C", None));
    assert_eq!(item("ALTER TABLE t ALTER column NUMA NODE (0)"), column("column", None));
    assert_eq!(item("ALTER TABLE t PARTITION 2 NUMA NODE (0)"), PlacedItem::Part(2));
    assert_eq!(item("ALTER TABLE t ALTER PARTITION 2 NUMA NODE (0)"), PlacedItem::Part(2));
    let rows = PlacedItem::Rows { first: 10, last: 99 };
    assert_eq!(item("ALTER TABLE t ROWS 10 TO 99 NUMA NODE (0)"), rows);
    let hana = "ALTER TABLE t ALTER (a DECIMAL(12, 2) NUMA NODE ('1'), b NUMA NODE ('2'))";
    let decimal = DataType::Decimal { precision: 12, scale: 2 };
    let expected = [
        (column("a", Some(decimal)), on(NodeWay::Fitting, &[(1, 1)])),
        (column("b", None), on(NodeWay::Fitting, &[(2, 2)])),
    ];
    assert_eq!(change(hana), TableChange::Place(expected.into()));
}

#[test]
fn tables_are_cut_merged_and_split() {
    let hash = PartitionClause::Hash { columns: vec!["a".into(), "B".into()], parts: 4 };
    assert_eq!(
        change("ALTER TABLE t PARTITION BY HASH (a, \"B\") PARTITIONS 4 NUMA NODE (1 TO 2)"),
        TableChange::Partition { partition: hash, nodes: Some(on(NodeWay::Fitting, &[(1, 2)])) }
    );
    assert_eq!(
        change("ALTER TABLE t PARTITION BY ROUNDROBIN PARTITIONS 3"),
        TableChange::Partition { partition: PartitionClause::RoundRobin { parts: 3 }, nodes: None }
    );
    assert_eq!(change("ALTER TABLE t MERGE PARTITIONS"), TableChange::Merge { parts: None });
    let some = TableChange::Merge { parts: Some((1, 3)) };
    assert_eq!(change("ALTER TABLE t MERGE PARTITIONS 1 TO 3"), some);
    let split = |part| TableChange::Split { part, at: "10 * (1 + 2)".into() };
    assert_eq!(change("ALTER TABLE t SPLIT PARTITION AT (10*(1+2))"), split(None));
    assert_eq!(change("ALTER TABLE t SPLIT PARTITION 2 AT (10 * (1 + 2))"), split(Some(2)));
}

#[test]
fn ranges_leave_no_gap() {
    let bounds = |parts: &str| {
        let sql = format!("ALTER TABLE t PARTITION BY RANGE (c) ({parts})");
        match change(&sql) {
            TableChange::Partition {
                partition: PartitionClause::Range { column, bounds }, ..
            } => {
                assert_eq!(column, "c");
                bounds.join(" | ")
            }
            other => panic!("{other:?}"),
        }
    };
    let open = "PARTITION VALUES < 10, PARTITION 10 <= VALUES < 20, PARTITION 20 <= VALUES";
    assert_eq!(bounds(open), "10 | 20");
    assert_eq!(bounds("PARTITION VALUE < -5, PARTITION OTHERS"), "-5");
    let hana = "PARTITION '0' <= VALUES < '10', PARTITION '10' <= VALUES < '20', PARTITION OTHERS";
    assert_eq!(bounds(hana), "'0' | '10' | '20'");
    let dates = "PARTITION VALUES < DATE '1994-01-01', PARTITION DATE '1994-01-01' <= VALUES";
    assert_eq!(bounds(dates), "DATE '1994-01-01'");
    assert_eq!(bounds("PARTITION 5 <= VALUES, PARTITION OTHERS"), "5");
}

#[test]
fn create_table_says_it_too() {
    let sql = "CREATE COLUMN TABLE IF NOT EXISTS t (a INTEGER NUMA NODE (1) NOT NULL, numa TEXT,
        b DECIMAL(10, 2) NOT NULL NUMA NODE ('2') DEFERRED)
        PARTITION BY HASH (a) PARTITIONS 4 NUMA NODE (0, 2)";
    let Statement::CreateTable { name, columns, if_not_exists: true, design: said, .. } = one(sql)
    else {
        panic!()
    };
    assert_eq!((name.as_str(), columns.len()), ("t", 3));
    assert!(!columns[0].nullable && columns[1].nullable && !columns[2].nullable);
    assert_eq!(said.nodes, Some(on(NodeWay::Fitting, &[(0, 0), (2, 2)])));
    assert!(matches!(said.partition, Some(PartitionClause::Hash { parts: 4, .. })));
    let deferred = NodeClause { deferred: true, ..on(NodeWay::Fitting, &[(2, 2)]) };
    let columns = [("a".to_owned(), on(NodeWay::Fitting, &[(1, 1)])), ("b".to_owned(), deferred)];
    assert_eq!(said.columns, columns);

    let before = "CREATE TABLE t PARTITION BY ROUNDROBIN PARTITIONS 2 AS SELECT 1 AS a";
    let behind =
        "CREATE OR REPLACE TABLE t AS (SELECT 1 AS a) PARTITION BY ROUNDROBIN PARTITIONS 2";
    for sql in [before, behind] {
        assert!(matches!(one(sql), Statement::CreateTableAs { .. }));
        let round = Some(PartitionClause::RoundRobin { parts: 2 });
        assert_eq!(design(sql), DesignClause { partition: round, ..DesignClause::default() });
    }
    let named = design("CREATE TABLE s.t (x INT, y INT) NUMA NODE (0)");
    assert_eq!(named.nodes, Some(on(NodeWay::Fitting, &[(0, 0)])));
    // What only looks like a clause stays where it is.
    let windows = "CREATE TABLE t AS SELECT node FROM (SELECT 1 AS node) AS numa";
    assert!(design(windows).is_empty());
    assert!(design("CREATE TABLE t (numa INTEGER, node INTEGER)").is_empty());
}

#[test]
fn procedures_are_called() {
    let call = |sql: &str| match one(sql) {
        Statement::Call { procedure, arguments } => (procedure, arguments.join("|")),
        other => panic!("{other:?}"),
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(call("CALL nodewise.verify_placement('T')"), pair("nodewise.verify_placement", "T"));
    assert_eq!(call("CALL verify_placement(T, 2)"), pair("verify_placement", "t|2"));
    assert_eq!(call("call p()"), pair("p", ""));
    assert_eq!(call("call p"), pair("p", ""));
}

#[test]
fn statements_keep_their_order() {
    let sql = "SELECT 1; ALTER TABLE t NUMA NODE (0); ; CREATE TABLE u (a INT) NUMA NODE (0); \
               SELECT ';'";
    let kinds: Vec<&str> = (binder::parse::parse(sql).unwrap().iter())
        .map(|it| match it {
            Statement::Query { .. } => "query",
            Statement::AlterTable { .. } => "alter",
            Statement::CreateTable { .. } => "create",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["query", "alter", "create", "query"]);
}

#[test]
fn errors_name_the_place() {
    let cases = [
        ("ALTER TABLE t NUMA NODE", "42601", "found the end"),
        ("ALTER TABLE t NUMA NODE ()", "42601", "line 1, column 26: expected the number of a node"),
        ("ALTER TABLE t NUMA NODE (0, , )", "42601", "column"),
        ("ALTER TABLE t NUMA NODE (0 1)", "42601", "expected , or ), found 1"),
        ("ALTER TABLE t NUMA NODE (3 TO 1)", "42601", "3 TO 1 are in the wrong order"),
        ("ALTER TABLE t NUMA NODE (-1)", "42601", "found -"),
        ("ALTER TABLE t NUMA NODE (1.5)", "42601", "found 1.5"),
        ("ALTER TABLE t NUMA NODE (99999999999999999999)", "42601", "the number of a node"),
        ("ALTER TABLE t NUMA NODE (0) NOW", "42601", "the end of the statement, found NOW"),
        ("ALTER TABLE t\n  NUMA NODES (0)", "0A000", "line 2, column 3"),
        ("ALTER TABLE t ENABLE ROW LEVEL SECURITY", "0A000", "ALTER TABLE .. ENABLE"),
        ("ALTER TABLE t", "42601", "found the end"),
        ("ALTER TABLE 5 NUMA NODE (0)", "42601", "a name, found 5"),
        ("ALTER TABLE t ROWS 9 TO 3 NUMA NODE (0)", "42601", "rows 9 TO 3"),
        ("ALTER TABLE t ROWS 9 NUMA NODE (0)", "42601", "expected TO"),
        ("ALTER TABLE t ALTER c INT", "42601", "expected NUMA NODE"),
        ("ALTER TABLE t ALTER (c FANCY(1) NUMA NODE (0))", "0A000", "the type FANCY"),
        ("ALTER TABLE t PARTITION x NUMA NODE (0)", "42601", "the number of a part"),
        ("ALTER TABLE t MERGE PARTITIONS 3 TO 3", "42601", "not several"),
        ("ALTER TABLE t SPLIT PARTITION AT (1 2)", "42601", "expected one value, found 2"),
        ("ALTER TABLE t PARTITION BY LIST (a)", "42601", "expected HASH, RANGE or ROUNDROBIN"),
        ("ALTER TABLE t PARTITION BY HASH () PARTITIONS 2", "42601", "the name of a column"),
        ("ALTER TABLE t PARTITION BY HASH (a)", "42601", "expected PARTITIONS"),
        ("ALTER TABLE t PARTITION BY RANGE (a, b) (PARTITION OTHERS)", "0A000", "several columns"),
        ("ALTER TABLE t PARTITION BY RANGE (a) (PARTITION OTHERS)", "42601", "name no value"),
        (
            "ALTER TABLE t PARTITION BY RANGE (a) (PARTITION VALUES < 5, PARTITION 6 <= VALUES)",
            "42601",
            "ends at 5 and the next begins at 6",
        ),
        (
            "ALTER TABLE t PARTITION BY RANGE (a) (PARTITION 5 <= VALUES < 6)",
            "42601",
            "values below 5 have no part",
        ),
        (
            "ALTER TABLE t PARTITION BY RANGE (a) (PARTITION VALUES < 6)",
            "42601",
            "values from 6 on have no part",
        ),
        (
            "ALTER TABLE t PARTITION BY RANGE (a) (PARTITION VALUE = 6, PARTITION OTHERS)",
            "0A000",
            "single values",
        ),
        (
            "ALTER TABLE t PARTITION BY RANGE (a) (PARTITION OTHERS, PARTITION VALUES < 6)",
            "42601",
            "OTHERS is the last",
        ),
        ("CREATE TABLE t (a INT NUMA NODE (x))", "42601", "line 1, column 34"),
        ("CREATE TABLE t (a INT) NUMA NODE (0) NUMA NODE (1)", "42601", "said twice"),
        ("CREATE TABLE t NUMA NODE (0) AS (SELECT 1) NUMA NODE (0)", "42601", "said twice"),
        ("CREATE TABLE t (a INT) NUMA NODE (0) WHENEVER", "42601", "WHENEVER"),
        ("CALL", "42601", "the name of a procedure"),
        ("CALL p(SELECT)) ", "42601", "the end of the statement"),
        ("CALL p(1", "42601", ", or )"),
    ];
    for (sql, state, message) in cases {
        let error: SqlError = binder::parse::parse(sql).expect_err(sql);
        assert_eq!(error.state.0, state, "{sql}: {error}");
        assert!(error.message.contains(message), "{sql}: {error}");
    }
}
