//! Statements and errors as a user meets them.

use crate::catalog::plan_query;
use binder::files::files_in;
use binder::parse::parse;
use binder::{CopyPlace, ExplainFormat, Statement};
use types::{DataType, SqlError};

fn one(sql: &str) -> Statement {
    let mut all = parse(sql).unwrap();
    assert_eq!(all.len(), 1, "{sql}");
    all.remove(0)
}

fn plan(sql: &str) -> Result<plan::Plan, SqlError> {
    match &parse(sql)?[0] {
        Statement::Query { query } => plan_query(query),
        other => panic!("{other:?} is no query"),
    }
}

#[test]
fn statements_become_data() {
    assert_eq!(
        one("SET nodewise.strategy = 'Bound'"),
        Statement::Set {
            name: "nodewise.strategy".into(),
            value: Some("Bound".into()),
            local: false
        }
    );
    assert_eq!(one("KILL QUERY 12"), Statement::Kill { statement: 12 });
    let alter = |name: &str, value: &str| Statement::AlterQuery {
        statement: 7,
        name: name.into(),
        value: value.into(),
    };
    assert_eq!(one("ALTER QUERY 7 PRIORITY 5"), alter("priority", "5"));
    assert_eq!(one("alter query 7 set Stealing = None; "), alter("stealing", "None"));
    assert_eq!(one("ALTER /* that */ QUERY 7 SET nodes TO '0, 2'"), alter("nodes", "0, 2"));
    for wrong in ["ALTER QUERY", "ALTER QUERY 7", "ALTER QUERY 7 SET x", "ALTER QUERY 7 PRIORITY"] {
        assert_eq!(parse(wrong).unwrap_err().state.0, "42601", "{wrong}");
    }
    assert_eq!(one("SHOW strategy"), Statement::Show { name: "strategy".into() });
    assert_eq!(
        one("DROP TABLE IF EXISTS a, \"B\""),
        Statement::DropTable {
            names: vec!["a".into(), "B".into()],
            if_exists: true,
            cascade: false
        }
    );
    assert!(matches!(
        one("CREATE OR REPLACE TABLE t AS SELECT 1"),
        Statement::CreateTableAs { or_replace: true, .. }
    ));
    assert!(matches!(
        one("EXPLAIN ANALYZE SELECT 1"),
        Statement::Explain { analyze: true, format: ExplainFormat::Text, .. }
    ));
    assert!(matches!(
        one("EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1"),
        Statement::Explain { analyze: true, format: ExplainFormat::Json, .. }
    ));
    assert!(matches!(
        one("INSERT INTO t (b, a) VALUES (1, 2)"),
        Statement::Change { query } if query.to_string() == "INSERT INTO t (b, a) VALUES (1, 2)"
    ));
    assert!(matches!(
        one("COPY t FROM 'a b.parquet' WITH (FORMAT parquet)"),
        Statement::CopyFrom { place: CopyPlace::File(path), options, .. }
            if path == "a b.parquet" && options == [("format".into(), "parquet".into())]
    ));
    assert_eq!(parse("SELECT 1; ; SELECT 2;").unwrap().len(), 2);
}

#[test]
fn created_tables_become_data() {
    let Statement::CreateTable { name, columns, if_not_exists, constraints, .. } =
        one("CREATE TABLE T (a INT NOT NULL, b DECIMAL(10,2), c CHAR(3), d VARCHAR, e TIMESTAMP, \
         UNIQUE (a, B), CONSTRAINT k PRIMARY KEY (a))")
    else {
        panic!()
    };
    let key = |name: Option<&str>, columns: &[&str], primary| binder::KeyDefinition {
        nulls_equal: false,
        name: name.map(str::to_owned),
        columns: columns.iter().map(|it| (*it).to_owned()).collect(),
        primary,
        deferral: types::Deferral::None,
    };
    assert_eq!(constraints.keys, [key(None, &["a", "b"], false), key(Some("k"), &["a"], true)]);
    assert_eq!((name.as_str(), if_not_exists), ("t", false));
    let types: Vec<(DataType, bool)> =
        columns.iter().map(|it| (it.data_type, it.nullable)).collect();
    assert_eq!(
        types,
        [
            (DataType::Integer, false),
            (DataType::Decimal { precision: 10, scale: 2 }, true),
            (DataType::Char(3), true),
            (DataType::VARCHAR, true),
            (DataType::Timestamp, true)
        ]
    );
}

#[test]
fn files_are_found_once() {
    let sql = "SELECT * FROM 'A.parquet' a JOIN 'b.parquet' USING (x), nation
               WHERE EXISTS (SELECT 1 FROM 'A.parquet')";
    let Statement::Query { query } = &parse(sql).unwrap()[0] else { panic!() };
    assert_eq!(files_in(query), ["A.parquet", "b.parquet"]);
}

#[test]
fn errors_have_state_and_advice() {
    let cases = [
        ("SELEC 1", "42601", "line 1, column 1", ""),
        ("SELECT 1 +", "42601", "found the end", ""),
        ("SELECT * FROM lineitm", "42P01", "\"lineitm\"", "did you mean \"lineitem\"?"),
        ("SELECT l_quantty FROM lineitem", "42703", "l_quantty", "did you mean \"l_quantity\"?"),
        ("SELECT x.n_name FROM nation", "42P01", "missing FROM-clause entry for table \"x\"", ""),
        (
            "SELECT nation.n_name FROM nation nations",
            "42P01",
            "missing FROM-clause entry for table \"nation\"",
            "did you mean \"nations\"?",
        ),
        ("SELECT n.name FROM nation n", "42703", "\"n.name\"", "did you mean \"n_name\"?"),
        (
            "SELECT n_name + 1 FROM nation",
            "42883",
            "operator does not exist: character varying + integer",
            "CAST",
        ),
        ("SELECT n_name FROM nation a, nation b", "42702", "n_name", ""),
        ("SELECT subsrt(n_name, 1, 2) FROM nation", "42883", "subsrt", "did you mean"),
        ("SELECT n_name, count(*) FROM nation", "42803", "n_name", ""),
        ("SELECT rank() FROM nation", "42809", "requires an OVER clause", ""),
        ("SELECT sum(n_name) FROM nation", "42883", "sum(character varying)", ""),
        ("SELECT gini(n_nationkey) FROM nation", "42883", "gini(integer)", ""),
    ];
    for (sql, state, message, hint) in cases {
        let error = match parse(sql) {
            Err(error) => error,
            Ok(statements) => match &statements[0] {
                Statement::Query { query } => plan_query(query).expect_err(sql),
                other => panic!("{other:?}"),
            },
        };
        if !state.is_empty() {
            assert_eq!(error.state.0, state, "{sql}: {error}");
        }
        assert!(error.message.contains(message), "{sql}: {error}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{sql}: {error}");
    }
}

#[test]
fn result_columns_are_named_as_in_postgres() {
    let sql = "SELECT n_name, n.n_regionkey AS r, upper(n_name), 1 + 1, n_nationkey::bigint,
               CASE WHEN n_nationkey > 1 THEN 1 END, (SELECT max(v) FROM odd) FROM nation n ORDER BY n_comment LIMIT 1";
    let names = |sql: &str| -> Vec<String> {
        plan(sql).unwrap().output.into_iter().map(|it| it.name).collect()
    };
    assert_eq!(names(sql), ["n_name", "r", "upper", "?column?", "n_nationkey", "case", "max"]);
    let sql = "SELECT count(*), sum(v), max(v) AS top, count(*) + 1 FROM odd";
    assert_eq!(names(sql), ["count", "sum", "top", "?column?"]);
    let sql = "SELECT v * 2, count(*) FROM odd GROUP BY v * 2 ORDER BY 1";
    assert_eq!(names(sql), ["?column?", "count"]);
    assert_eq!(names("SELECT * FROM region"), ["r_regionkey", "r_name", "r_comment"]);
}

#[test]
fn many_forms_give_valid_plans() {
    let forms = [
        "SELECT 1",
        "SELECT 1 + 1.5, 'a' || 'b', date '2000-01-31' + interval '1 month', NULL",
        "VALUES (1, 'a'), (2, NULL)",
        "SELECT count(*) FROM lineitem",
        "SELECT DISTINCT n_regionkey FROM nation ORDER BY 1 DESC LIMIT 2 OFFSET 1",
        "SELECT n_name FROM nation LIMIT 3",
        "SELECT * FROM nation FULL JOIN region ON n_regionkey = r_regionkey AND n_nationkey > 3",
        "SELECT n_name FROM nation RIGHT JOIN region ON n_regionkey = r_regionkey",
        "SELECT r_name, count(n_name) FROM region LEFT JOIN nation ON n_regionkey = r_regionkey GROUP BY r_name",
        "SELECT n_name FROM nation UNION ALL SELECT r_name FROM region",
        "SELECT n_name FROM nation UNION SELECT r_name FROM region ORDER BY 1",
        "SELECT n_regionkey FROM nation INTERSECT SELECT r_regionkey FROM region",
        "SELECT n_regionkey FROM nation EXCEPT SELECT r_regionkey FROM region",
        "SELECT * FROM nation, region",
        "SELECT * FROM nation JOIN region ON n_nationkey < r_regionkey",
        "SELECT o_orderkey, o_orderdate + interval '1' month FROM orders WHERE o_orderdate + interval '1' year > date '1998-01-01'",
        "SELECT coalesce(v, 0), nullif(v, 1), upper(name), abs(v) FROM odd",
        "SELECT * FROM odd WHERE v NOT IN (SELECT v FROM odd WHERE v IS NOT NULL)",
        "SELECT * FROM odd WHERE k = 1 OR v IN (SELECT v FROM odd)",
        "SELECT * FROM odd o WHERE k = 1 OR v NOT IN (SELECT v FROM odd)",
        "SELECT * FROM nation n WHERE EXISTS (SELECT 1 FROM region r WHERE EXISTS
         (SELECT 1 FROM supplier s WHERE s.s_nationkey = n.n_nationkey))",
        "SELECT * FROM odd WHERE k = 1 OR NOT EXISTS (SELECT 1 FROM nation WHERE n_nationkey = v)",
        "SELECT * FROM odd o JOIN nation n ON o.k = n.n_nationkey WHERE o.name LIKE 'a%' AND n.n_name ~ 'x'",
        "SELECT (SELECT max(v) FROM odd), (SELECT min(k) FROM odd) FROM nation",
        "SELECT n_name, (SELECT count(*) FROM supplier WHERE s_nationkey = n_nationkey) FROM nation",
        "SELECT a.k FROM odd a, odd b, odd c WHERE a.k = b.k AND b.v = c.v AND a.v = c.v AND a.k = 5",
        "SELECT sum(v) FILTER (WHERE k > 5), avg(DISTINCT v), bool_and(k > 1) FROM odd",
        "WITH t AS (SELECT n_regionkey AS r, count(*) AS c FROM nation GROUP BY 1) SELECT * FROM t a, t b WHERE a.c = b.c",
        "SELECT * FROM (VALUES (1), (2)) AS t (x) WHERE x IN (SELECT n_nationkey FROM nation)",
        "SELECT extract(year FROM o_orderdate), date_trunc('month', o_orderdate) FROM orders GROUP BY 1, 2",
        "SELECT n_name FROM nation WHERE n_nationkey IN (1, 2) OR n_nationkey = 3",
        "SELECT count(*) FROM nation WHERE 1 = 0",
        "SELECT l_orderkey FROM lineitem WHERE l_quantity > 1.5 AND l_discount * 2 > l_tax AND -l_tax < 1",
    ];
    for sql in forms {
        let plan = plan(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        plan::validate(&plan).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert!(plan::explain::json(&plan, &()).starts_with("{\"pipelines\""));
    }
}
