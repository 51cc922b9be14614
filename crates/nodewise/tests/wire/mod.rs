//! All queries of the tree as bytes and back: TPC-H on its statistics, the others on tables that are only declared.

use std::fs;
use std::path::{Path, PathBuf};

use binder::Statement;
use binder::bind::{Environment, bind};
use binder::parse::parse;
use plan::relation::{Output, Query};
use plan::{Plan, wire};
use stdx::sync::{Arc, RwLock};
use types::{CatalogView, ColumnInfo, ColumnStatistics, DataType, TableId, TableInfo};

use crate::catalog::Tpch;

/// The tables of SSB's queries, and what ClickBench's need of theirs.
const DECLARED: &str = "
CREATE TABLE date_dim (d_datekey INTEGER, d_year INTEGER, d_yearmonthnum INTEGER, d_yearmonth TEXT,
    d_weeknuminyear INTEGER);
CREATE TABLE customer (c_custkey INTEGER, c_name TEXT, c_city TEXT, c_nation TEXT, c_region TEXT);
CREATE TABLE supplier (s_suppkey INTEGER, s_name TEXT, s_city TEXT, s_nation TEXT, s_region TEXT);
CREATE TABLE part (p_partkey INTEGER, p_mfgr TEXT, p_category TEXT, p_brand1 TEXT, p_color TEXT);
CREATE TABLE lineorder (lo_orderkey INTEGER, lo_linenumber INTEGER, lo_custkey INTEGER, lo_partkey INTEGER,
    lo_suppkey INTEGER, lo_orderdate INTEGER, lo_quantity INTEGER, lo_extendedprice INTEGER, lo_discount INTEGER,
    lo_revenue INTEGER, lo_supplycost INTEGER, lo_tax INTEGER);
CREATE TABLE hits (watch_id BIGINT, title TEXT, event_time TIMESTAMP, event_date DATE, counter_id INTEGER,
    client_ip INTEGER, region_id INTEGER, user_id BIGINT, url TEXT, referer TEXT, is_refresh SMALLINT,
    resolution_width SMALLINT, mobile_phone SMALLINT, mobile_phone_model TEXT, trafic_source_id SMALLINT,
    search_engine_id SMALLINT, search_phrase TEXT, adv_engine_id SMALLINT, window_client_width SMALLINT,
    window_client_height SMALLINT, is_link SMALLINT, is_download SMALLINT, dont_count_hits SMALLINT,
    referer_hash BIGINT, url_hash BIGINT)";

/// Tables without rows.
#[derive(Default)]
struct Declared(RwLock<Vec<Arc<TableInfo>>>);

impl Declared {
    fn add(&self, name: &str, columns: impl Iterator<Item = (String, DataType)>) {
        let column = |(name, data_type)| ColumnInfo {
            name,
            data_type,
            nullable: true,
            statistics: ColumnStatistics::default(),
            scan_bytes: 0,
            numbers_rows: false,
            index: None,
        };
        let mut tables = self.0.write();
        let id = TableId::from_index(tables.len());
        let columns = columns.map(column).collect();
        tables.push(Arc::new(TableInfo {
            id,
            name: name.to_owned(),
            columns,
            rows: 0,
            is_guess: false,
        }));
    }
}

impl CatalogView for Declared {
    fn table(&self, _: Option<&str>, name: &str) -> Option<Arc<TableInfo>> {
        let tables = self.0.read();
        tables.iter().rev().find(|it| it.name.eq_ignore_ascii_case(name)).cloned()
    }

    fn table_names(&self) -> Vec<String> {
        self.0.read().iter().map(|it| it.name.clone()).collect()
    }
}

/// What has gone there and back.
#[derive(Default)]
struct Tally {
    queries: usize,
    plans: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn query(&mut self, sql: &str, query: Query) {
        self.queries += 1;
        if let Err(error) = same::<Query>(&query) {
            self.wrong.push(format!("{error}, bound: {sql}"));
        }
        // What cannot be planned is for other tests to judge.
        let Ok(plan) = optimizer::plan(query) else { return };
        self.plans += 1;
        let read = same::<Plan>(&plan);
        match read.and_then(|it| plan::validate(&it)) {
            Ok(()) => {}
            Err(error) => self.wrong.push(format!("{error}, planned: {sql}")),
        }
    }

    /// Runs the declarations of a script and sends its queries there and back.
    fn script<'a>(&mut self, catalog: &Declared, statements: impl Iterator<Item = &'a str>) {
        for sql in statements {
            let Ok(statements) = parse(sql) else { continue };
            for statement in statements.iter() {
                self.statement(catalog, sql, statement.clone());
            }
        }
    }

    fn statement(&mut self, catalog: &Declared, sql: &str, statement: Statement) {
        let environment = Environment {
            catalog,
            session: &(),
            now: functions::Began::default(),
            moments: None,
            check: &|| Ok(()),
        };
        let bound =
            |query: &binder::ParsedQuery| bind(&query.0, &[], &environment).map(|it| it.query);
        match statement {
            Statement::CreateTable { name, columns, .. } => {
                catalog.add(&name, columns.into_iter().map(|it| (it.name, it.data_type)));
            }
            Statement::CreateTableAs { name, columns, query, .. } => {
                let Ok(query) = bound(&query) else { return };
                let mut columns = columns.into_iter();
                let named = |it: &Output| {
                    let name = columns.next().unwrap_or_else(|| it.name.clone());
                    (name, query.attributes[it.attr].data_type)
                };
                catalog.add(&name, query.output.iter().map(named).collect::<Vec<_>>().into_iter());
                self.query(sql, query);
            }
            Statement::Query { query } | Statement::Explain { query, .. } => {
                if let Ok(query) = bound(&query) {
                    self.query(sql, query);
                }
            }
            Statement::Change { query } => {
                if let Ok(change) = binder::bind::bind_change(&query.0, &[], &environment) {
                    self.query(sql, change.query);
                }
            }
            Statement::Prepare { statement, .. } => self.statement(catalog, sql, *statement),
            _ => {}
        }
    }
}

/// Writes a value, reads it and writes it again; gives what was read. Bytes and texts are compared, because a volatile
/// expression equals none.
fn same<T>(value: &T) -> Result<T, String>
where
    T: serde::Serialize + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let bytes = wire::to_bytes(value).map_err(|it| it.to_string())?;
    let read: T = wire::from_bytes(&bytes).map_err(|it| it.to_string())?;
    let again = wire::to_bytes(&read).map_err(|it| it.to_string())?;
    if again != bytes || format!("{read:?}") != format!("{value:?}") {
        return Err("it is read as another one".to_owned());
    }
    Ok(read)
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    let paths = entries.map(|it| it.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|it| it.extension().is_some_and(|it| it == extension)).collect();
    paths.sort();
    paths
}

/// The statements of a file of SQL tests that are to succeed.
fn records(text: &str) -> Vec<&str> {
    let records = text.split("\n\n").filter_map(|it| {
        let at = it.find("query ").into_iter().chain(it.find("statement ok")).min()?;
        let (head, sql) = it[at..].split_once('\n')?;
        let starts = at == 0 || it.as_bytes()[at - 1] == b'\n';
        let sql = sql.split("\n----").next()?;
        (starts && !head.contains("error")).then_some(sql)
    });
    records.collect()
}

#[test]
fn tpch_is_read_as_it_was_written() {
    let catalog = Tpch::new();
    let mut tally = Tally::default();
    for path in files("queries/tpch", "sql") {
        let sql = fs::read_to_string(path).unwrap();
        let environment = Environment {
            catalog: &catalog,
            session: &(),
            now: functions::Began::default(),
            moments: None,
            check: &|| Ok(()),
        };
        let statements = parse(&sql).unwrap();
        let [Statement::Query { query }] = statements.as_slice() else { panic!("one query") };
        tally.query(&sql, bind(&query.0, &[], &environment).unwrap().query);
    }
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert_eq!((tally.queries, tally.plans), (22, 22));
}

#[test]
fn workloads_are_read_as_they_were_written() {
    let mut tally = Tally::default();
    let catalog = Declared::default();
    tally.script(&catalog, [DECLARED].into_iter());
    let paths = [files("../bench/queries/ssb", "sql"), files("../bench/queries/clickbench", "sql")]
        .concat();
    for path in &paths {
        tally.script(&catalog, [fs::read_to_string(path).unwrap().as_str()].into_iter());
    }
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    assert_eq!((tally.queries, tally.plans), (paths.len(), paths.len()));
}

#[test]
fn queries_of_the_sql_tests_are_read_as_they_were_written() {
    let mut tally = Tally::default();
    let mut asked = 0;
    for path in files("../../tests/sql", "slt") {
        let text = fs::read_to_string(path).unwrap();
        let records = records(&text);
        asked += records.len();
        tally.script(&Declared::default(), records.into_iter());
    }
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
    // The rest are other statements, and queries of what only a database has: sequences, views, its catalog.
    assert!(tally.plans * 8 > asked * 5, "{} of {asked} records planned", tally.plans);
    assert_eq!(tally.queries, tally.plans);
}
