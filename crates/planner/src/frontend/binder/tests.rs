//! What is bound here against what the library makes of the same text: the plans must be the same, to the letter.

#[path = "../../../tests/catalog/mod.rs"]
mod catalog;

use catalog::Tpch;
use datafusion_sql::sqlparser::ast;

use super::super::Frontend;
use super::bind;
use crate::{Statement, lower, rewrite};
use ::binder::parse;
use plan::relation::Query;

/// Output columns and plan.
fn planned(mut query: Query) -> String {
    let output = query.output.iter().map(|it| {
        let attribute = &query.attributes[it.1];
        format!("{} {} {}\n", it.0, attribute.data_type, attribute.nullable)
    });
    let output: String = output.collect();
    rewrite::optimise(&mut query).unwrap();
    let plan = lower::lower(&query).unwrap();
    plan::validate(&plan).unwrap();
    output + &ascending(&plan::explain::text(&plan, &|_| None))
}

/// The library turns `a < b` into `b > a` in some places: of two columns the lower place comes first.
fn ascending(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for place in 0..words.len().saturating_sub(2) {
        let column = |word: &str| word.trim_matches(['(', ')', '#', '\n']).parse::<u32>().ok();
        let mirrored = match words[place + 1].as_str() {
            "<" => ">",
            ">" => "<",
            "<=" => ">=",
            ">=" => "<=",
            "=" | "<>" => words[place + 1].as_str(),
            _ => continue,
        };
        if let (Some(left), Some(right)) = (column(&words[place]), column(&words[place + 2]))
            && left > right
        {
            let (low, high) = (right.to_string(), left.to_string());
            words[place + 1] = mirrored.to_owned();
            words[place] = words[place].replacen(&high, &low, 1);
            words[place + 2] = words[place + 2].replacen(&low, &high, 1);
        }
    }
    words.join(" ")
}

fn parsed(sql: &str) -> Box<ast::Query> {
    match parse::parse(sql).unwrap().remove(0) {
        Statement::Query { query } => query.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn tpch_is_bound_without_the_library_to_the_same() {
    let (catalog, frontend) = (Tpch::new(), Frontend::new());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../nodewise/queries/tpch");
    for number in 1..=22 {
        let sql = std::fs::read_to_string(format!("{root}/q{number:02}.sql")).unwrap();
        let query = parsed(&sql);
        let own = bind(&query, &catalog).unwrap_or_else(|| panic!("q{number:02} is not plain"));
        let library = frontend.bind_by_library(&query, &[], &catalog).unwrap();
        assert_eq!(planned(own), planned(library.query), "q{number:02}");
    }
}

/// Statements that are plain.
const PLAIN: &[&str] = &[
    "SELECT * FROM nation",
    "SELECT n_name FROM nation WHERE n_nationkey = 3",
    "SELECT N_NAME, n.\"n_nationkey\" FROM public.nation AS n WHERE N.n_regionkey <> 2 ORDER BY 2, 1",
    "SELECT n_name AS name, r_name FROM nation JOIN region ON n_regionkey = r_regionkey",
    "SELECT r_name, n_name FROM region LEFT JOIN nation ON n_regionkey = r_regionkey AND n_name LIKE 'A%'",
    "SELECT r_name, count(n_name), count(*), count(r_name) AS regions FROM region LEFT JOIN nation
     ON n_regionkey = r_regionkey GROUP BY r_name",
    "SELECT r_name, count(n_name) FROM nation RIGHT JOIN region ON n_regionkey = r_regionkey GROUP BY 1",
    "SELECT n_name, r_name FROM nation FULL JOIN region ON n_regionkey = r_regionkey",
    "SELECT n_name FROM nation CROSS JOIN region WHERE r_name = 'ASIA'",
    "SELECT DISTINCT n_regionkey FROM nation",
    "SELECT DISTINCT n_regionkey AS r, n_name FROM nation ORDER BY n_name, r DESC NULLS LAST",
    "SELECT count(v), count(k), sum(v), min(name), avg(v) FROM odd",
    "SELECT count(DISTINCT v) AS c, sum(DISTINCT k) FROM odd WHERE v IS NOT NULL",
    "SELECT k FROM odd WHERE v IS NULL OR k < 5",
    "SELECT k FROM odd WHERE v NOT IN (1, 2, 3, 4) AND name IN ('a', 'b')",
    "SELECT k FROM odd WHERE k NOT BETWEEN 10 AND 20",
    "SELECT k FROM odd WHERE k BETWEEN v AND v * 2 AND NOT k < 3",
    "SELECT k FROM odd WHERE v + 2 < k - 1 AND 7 > v AND k / v > 2 AND k % 3 = v",
    "SELECT k, v * k AS p FROM odd WHERE v = 3 ORDER BY p DESC, k LIMIT 3 OFFSET 2",
    "SELECT k FROM odd ORDER BY v * k, name",
    "SELECT k FROM odd WHERE v IN (SELECT n_nationkey FROM nation WHERE n_name = 'PERU')",
    "SELECT k FROM odd WHERE v NOT IN (SELECT n_nationkey FROM nation)",
    "SELECT n_name FROM nation WHERE n_nationkey NOT IN (SELECT v FROM odd)",
    "SELECT n_name FROM nation WHERE n_nationkey NOT IN (SELECT c_nationkey FROM customer)",
    "SELECT n_name FROM nation WHERE n_nationkey IN
     (SELECT c_nationkey FROM customer WHERE c_custkey = n_regionkey AND c_acctbal > 0)",
    "SELECT n_name FROM nation WHERE EXISTS (SELECT 1 FROM customer WHERE c_nationkey = n_nationkey)",
    "SELECT n_name FROM nation AS n WHERE NOT EXISTS
     (SELECT * FROM nation AS m WHERE m.n_regionkey = n.n_regionkey AND m.n_name < n.n_name)",
    "SELECT l_orderkey FROM lineitem, part WHERE p_partkey = l_partkey AND l_quantity <
     (SELECT 0.2 * avg(l_quantity) FROM lineitem AS l WHERE l.l_partkey = p_partkey)",
    "SELECT o_orderkey FROM orders WHERE o_totalprice > (SELECT max(c_acctbal) * 2 FROM customer
     WHERE c_custkey = o_custkey AND c_mktsegment = 'BUILDING') AND o_orderdate = '1995-01-01'",
    "SELECT o_orderkey FROM orders WHERE o_totalprice = (SELECT max(o_totalprice) FROM orders)",
    "SELECT extract(month FROM o_orderdate) AS m, extract(year FROM o_orderdate), sum(o_totalprice)
     FROM orders GROUP BY m, extract(year FROM o_orderdate) ORDER BY 2 DESC, m",
    "SELECT o_orderpriority FROM orders GROUP BY o_orderpriority HAVING sum(o_totalprice) > 100.5
     AND count(*) < 10 ORDER BY sum(o_totalprice) DESC, max(o_orderdate) LIMIT 5",
    "SELECT CASE WHEN o_totalprice > 10 THEN 'high' ELSE 'low' END AS c, count(*) FROM orders
     GROUP BY c ORDER BY c",
    "SELECT sum(CASE WHEN o_orderstatus = 'F' THEN o_totalprice END) / 3 AS s, avg(o_totalprice / 2.5)
     FROM orders WHERE o_orderdate + interval '3' month > date '1996-01-31' - interval '1 year'",
    "SELECT sum(CASE WHEN o_orderstatus = 'F' THEN o_totalprice END) / 3 AS s, avg(o_totalprice / 2.5)
     FROM orders WHERE o_orderdate + interval '3' month > date '1996-01-31' - interval '11' month",
    "SELECT substring(c_phone FROM 1 FOR 2), substring(c_phone, 3) AS rest FROM customer
     WHERE substr(c_phone, 1, 2) = '13'",
    "WITH a AS (SELECT n_regionkey AS r, count(*) AS c FROM nation GROUP BY n_regionkey),
     b (x) AS (SELECT c FROM a WHERE r > 1) SELECT a.r, x FROM a, b WHERE a.c = x",
    "SELECT x, total FROM (SELECT o_custkey, sum(o_totalprice) FROM orders GROUP BY o_custkey)
     AS t (x, total) WHERE total > 1000 AND x IN (SELECT c_custkey FROM customer)",
    "SELECT t.a FROM (SELECT k AS a, v AS b FROM odd ORDER BY k LIMIT 10) AS t WHERE t.b > 2",
    "SELECT s_name FROM supplier WHERE s_acctbal BETWEEN -5.00 AND 7 AND (s_suppkey = 1 OR s_suppkey = 2)",
    "SELECT l_orderkey FROM lineitem WHERE l_shipdate < l_commitdate AND
     (l_tax = 0.01 OR l_discount = 0.02 AND l_quantity < 5)",
    "SELECT l_orderkey FROM lineitem WHERE l_quantity < 3.14159 AND l_linenumber < 2.5",
    "SELECT l_orderkey + 2, l_quantity * l_linenumber, l_quantity % 7 FROM lineitem WHERE NOT (l_tax > 0.05)",
    "SELECT l_returnflag, sum(l_quantity), sum(l_quantity) * 2 FROM lineitem GROUP BY l_returnflag",
    "SELECT min(l_shipdate), max(l_shipmode), avg(l_linenumber), sum(l_linenumber) FROM lineitem",
    "SELECT n1.n_name FROM nation n1 JOIN nation n2 ON n1.n_regionkey = n2.n_regionkey
     LEFT JOIN region ON r_regionkey = n2.n_regionkey AND r_name <> n1.n_name WHERE n2.n_name = 'CHINA'",
];

#[test]
fn plain_statements_are_bound_to_the_same() {
    let (catalog, frontend) = (Tpch::new(), Frontend::new());
    let mut wrong = Vec::new();
    for sql in PLAIN {
        let query = parsed(sql);
        let library = match frontend.bind_by_library(&query, &[], &catalog) {
            Ok(it) => planned(it.query),
            Err(error) => panic!("{sql}: {error}"),
        };
        match bind(&query, &catalog).map(planned) {
            None => wrong.push(format!("{sql}\nis not plain")),
            Some(own) if own != library => {
                wrong.push(format!("{sql}\n-- own --\n{own}-- library --\n{library}"));
            }
            Some(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What the library must bind, or must refuse.
const NOT_PLAIN: &[&str] = &[
    "SELECT 1",
    "SELECT nosuch FROM nation",
    "SELECT nation.nosuch FROM nation",
    "SELECT n_name FROM nosuch",
    "SELECT n_name FROM 'file.parquet'",
    "SELECT n_name FROM nation, nation",
    "SELECT n_name FROM nation AS a, nation AS b",
    "SELECT n_name, n_name FROM nation",
    "SELECT n_name, n_regionkey AS n_name FROM nation",
    "SELECT count(*), count(*) FROM nation",
    "SELECT count(*), count(n_name) FROM nation",
    "SELECT n_name FROM nation GROUP BY n_regionkey",
    "SELECT n_name, count(*) FROM nation",
    "SELECT n_name FROM nation HAVING n_name = 'a'",
    "SELECT n_name FROM nation WHERE count(*) > 1",
    "SELECT sum(count(*)) FROM nation",
    "SELECT count(*) FROM nation GROUP BY count(*)",
    "SELECT count(*) FROM nation GROUP BY 1",
    "SELECT count(*) AS c FROM nation GROUP BY c",
    "SELECT 2 * count(*) AS c, n_name FROM nation GROUP BY c, n_name",
    "SELECT 'x' AS k, count(*) FROM nation GROUP BY k",
    "SELECT count(*) FROM nation GROUP BY 'x'",
    "SELECT n_name FROM nation WHERE n_name",
    "SELECT n_name FROM nation WHERE n_name = 1",
    "SELECT n_name FROM nation WHERE n_name = NULL",
    "SELECT n_name FROM nation WHERE n_name = n_name",
    "SELECT n_name FROM nation WHERE 1 = 1",
    "SELECT n_name FROM nation WHERE n_nationkey IS NULL",
    "SELECT n_name FROM nation WHERE n_nationkey = 1 OR n_nationkey = 1",
    "SELECT n_name FROM nation WHERE n_nationkey = $1",
    "SELECT n_name FROM nation WHERE n_nationkey = 1e1",
    "SELECT n_name FROM nation WHERE n_nationkey = 99999999999999999999",
    "SELECT n_nationkey * 1 FROM nation",
    "SELECT n_nationkey / 0 FROM nation",
    "SELECT 9223372036854775807 + 1 FROM nation",
    "SELECT n_name FROM nation ORDER BY 2",
    "SELECT n_name FROM nation ORDER BY 0",
    "SELECT n_name FROM nation GROUP BY 3",
    "SELECT DISTINCT n_name FROM nation ORDER BY n_regionkey",
    "SELECT DISTINCT ON (n_name) n_name FROM nation",
    "SELECT n_regionkey AS n_name FROM nation ORDER BY n_name",
    "SELECT n_regionkey AS n_name, count(*) FROM nation GROUP BY n_regionkey HAVING n_name > 1",
    "SELECT n_regionkey AS r FROM nation ORDER BY r + 1",
    "SELECT sum(n_regionkey) OVER () FROM nation",
    "SELECT sum(n_regionkey) FILTER (WHERE n_name = 'a') FROM nation",
    "SELECT sum(n_regionkey + 1) FROM nation",
    "SELECT upper(n_name) FROM nation",
    "SELECT n_name FROM nation NATURAL JOIN region",
    "SELECT n_name FROM nation JOIN region USING (r_regionkey)",
    "SELECT n_name FROM nation UNION SELECT r_name FROM region",
    "SELECT * FROM nation LIMIT 1 + 1",
    "SELECT * FROM nation LIMIT -1",
    "SELECT * FROM (SELECT n_name FROM nation)",
    "SELECT * FROM (SELECT count(*) FROM nation) AS t",
    "SELECT \"count(*)\" FROM (SELECT count(*) FROM nation) AS t",
    "SELECT a FROM (SELECT n_name, n_nationkey FROM nation) AS t (a)",
    "SELECT * FROM nation, LATERAL (SELECT * FROM region WHERE r_regionkey = n_regionkey) AS r",
    "WITH w AS (SELECT nosuch FROM nation) SELECT n_name FROM nation",
    "WITH w AS (SELECT n_name FROM v), v AS (SELECT n_name FROM nation) SELECT n_name FROM w, v",
    "WITH RECURSIVE w AS (SELECT n_name FROM nation) SELECT n_name FROM w",
    "SELECT (SELECT max(c_acctbal) FROM customer WHERE c_nationkey = n_nationkey) AS m FROM nation",
    "SELECT n_name FROM nation WHERE 1 < (SELECT count(*) FROM customer WHERE c_nationkey = n_nationkey)",
    "SELECT n_name FROM nation WHERE n_nationkey = (SELECT c_nationkey FROM customer WHERE c_custkey = n_regionkey)",
    "SELECT n_name FROM nation WHERE n_nationkey < (SELECT max(c_custkey) FROM customer WHERE c_nationkey < n_regionkey)",
    "SELECT n_name FROM nation WHERE n_nationkey IN (SELECT c_nationkey, c_custkey FROM customer)",
    "SELECT n_name FROM nation WHERE n_nationkey IN (SELECT k FROM odd)",
    "SELECT n_name FROM nation WHERE n_nationkey IN (SELECT max(v) FROM odd WHERE k = n_regionkey)",
    "SELECT n_name FROM nation WHERE n_nationkey IN (SELECT v FROM odd WHERE k = n_regionkey LIMIT 1)",
    "SELECT n_name FROM nation WHERE n_nationkey NOT IN (SELECT v FROM odd WHERE k = n_regionkey)",
    "SELECT n_name FROM nation WHERE n_nationkey = 1 OR EXISTS (SELECT 1 FROM odd WHERE v = n_nationkey)",
    "SELECT n_name FROM nation WHERE EXISTS (SELECT nosuch FROM odd WHERE v = n_nationkey)",
    "SELECT n_name FROM nation WHERE EXISTS (SELECT 1 FROM odd)",
    "SELECT n_name FROM nation WHERE EXISTS (SELECT 1 FROM odd WHERE v = n_nationkey LIMIT 0)",
    "SELECT n_name FROM nation WHERE EXISTS (SELECT 1 FROM odd WHERE EXISTS
     (SELECT 1 FROM region WHERE r_regionkey = n_regionkey AND r_regionkey = v))",
    "SELECT o_orderkey FROM orders WHERE extract(year FROM o_orderdate) = 1995",
    "SELECT o_orderkey FROM orders WHERE o_orderdate = '1995-02-29'",
    "SELECT o_orderkey FROM orders WHERE o_orderdate > date '1995-01-01' + interval '1' hour",
    "SELECT o_orderdate - date '1995-01-01' FROM orders",
    "SELECT c_name LIKE c_phone FROM customer",
    "SELECT c_name FROM customer WHERE c_name LIKE 'a!%' ESCAPE '!'",
];

#[test]
fn what_is_not_plain_is_left_to_the_library() {
    let catalog = Tpch::new();
    for sql in NOT_PLAIN {
        assert!(bind(&parsed(sql), &catalog).is_none(), "{sql}");
    }
}
