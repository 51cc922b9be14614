//! TPC-H at scale 1 as storage would describe it: names, types and exact statistics, without any row.

use binder::bind::Environment;
use stdx::sync::Arc;
use types::value::civil_from_days;
use types::{
    CatalogView, ColumnInfo, ColumnStatistics, DataType, SqlResult, TableId, TableInfo, Value,
};

/// The eight tables.
pub struct Tpch(Vec<Arc<TableInfo>>);

fn day(text: &str) -> i32 {
    (0..20_000)
        .find(|it| {
            let (y, m, d) = civil_from_days(i64::from(*it));
            format!("{y:04}-{m:02}-{d:02}") == text
        })
        .expect("a day after 1970")
}

/// `name type distinct [min max]`, one column a line.
fn table(id: u32, name: &str, rows: u64, columns: &str) -> TableInfo {
    let columns = columns.trim().lines().map(|line| column(line, rows)).collect();
    TableInfo { id: TableId(id), name: name.to_owned(), columns, rows, is_guess: false }
}

fn column(line: &str, rows: u64) -> ColumnInfo {
    let words: Vec<&str> = line.split_whitespace().collect();
    let data_type = match words[1] {
        "int" => DataType::Integer,
        "bigint" => DataType::BigInt,
        "date" => DataType::Date,
        "money" => DataType::Decimal { precision: 15, scale: 2 },
        "text" => DataType::Varchar(200),
        other => panic!("type {other}"),
    };
    let value = |text: &str| match data_type {
        DataType::Date => Value::Date(day(text)),
        DataType::Decimal { scale, .. } => {
            let number: f64 = text.parse().unwrap();
            Value::Decimal { unscaled: (number * 100.0).round() as i128, scale }
        }
        DataType::Varchar(_) => Value::Text(text.into()),
        _ => Value::Integer(text.parse().unwrap()),
    };
    let distinct = words[2].parse().unwrap();
    let statistics = ColumnStatistics {
        nulls: 0,
        distinct,
        distinct_exact: true,
        min: words.get(3).map(|it| value(it)),
        max: words.get(4).map(|it| value(it)),
        // Keys are numbers from the first row to the last.
        sorted: data_type.is_integer() && distinct == rows,
        widened: false,
    };
    let name = words[0].to_owned();
    let bound = |it: &Option<Value>| it.as_ref().and_then(Value::as_i128);
    let span = bound(&statistics.min).zip(bound(&statistics.max)).map(|it| it.1 - it.0 + 1);
    let numbers_rows = statistics.sorted && span == Some(rows.into());
    let (nullable, scan_bytes, index) = (true, rows, None);
    ColumnInfo { name, data_type, nullable, statistics, scan_bytes, numbers_rows, index }
}

/// The plan of a parsed query on the tables.
pub fn plan_query(query: &binder::ParsedQuery) -> SqlResult<plan::Plan> {
    let environment = Environment {
        catalog: &Tpch::new(),
        session: &(),
        now: functions::Began::default(),
        moments: None,
        check: &|| Ok(()),
    };
    optimizer::plan(binder::bind::bind(&query.0, &[], &environment)?.query)
}

impl Tpch {
    /// Scale 1.
    pub fn new() -> Self {
        let mut tables = vec![
            table(
                0,
                "region",
                5,
                "r_regionkey int 5 0 4\nr_name text 5 AFRICA MIDDLE\nr_comment text 5",
            ),
            table(
                1,
                "nation",
                25,
                "n_nationkey int 25 0 24\nn_name text 25 ALGERIA VIETNAM\nn_regionkey int 5 0 4\nn_comment text 25",
            ),
        ];
        tables.push(table(
            2,
            "supplier",
            10_000,
            "s_suppkey int 10000 1 10000\ns_name text 10000\ns_address text 10000\ns_nationkey int 25 0 24
             s_phone text 10000\ns_acctbal money 9955 -998.22 9999.72\ns_comment text 10000",
        ));
        tables.push(table(
            3,
            "customer",
            150_000,
            "c_custkey int 150000 1 150000\nc_name text 150000\nc_address text 150000
             c_nationkey int 25 0 24\nc_phone text 150000\nc_acctbal money 140187 -999.99 9999.99
             c_mktsegment text 5 AUTOMOBILE MACHINERY\nc_comment text 149968",
        ));
        tables.push(table(
            4,
            "part",
            200_000,
            "p_partkey int 200000 1 200000\np_name text 199997\np_mfgr text 5\np_brand text 25
             p_type text 150\np_size int 50 1 50\np_container text 40
             p_retailprice money 20899 901.00 2098.99\np_comment text 131753",
        ));
        tables.push(table(
            5,
            "partsupp",
            800_000,
            "ps_partkey int 200000 1 200000\nps_suppkey int 10000 1 10000
             ps_availqty int 9999 1 9999\nps_supplycost money 99901 1.00 1000.00\nps_comment text 799124",
        ));
        tables.push(table(
            6,
            "orders",
            1_500_000,
            "o_orderkey int 1500000 1 6000000\no_custkey int 99996 1 149999\no_orderstatus text 3
             o_totalprice money 1464556 857.71 555285.16\no_orderdate date 2406 1992-01-01 1998-08-02
             o_orderpriority text 5\no_clerk text 1000\no_shippriority int 1 0 0\no_comment text 1482071",
        ));
        tables.push(table(
            7,
            "lineitem",
            6_001_215,
            "l_orderkey int 1500000 1 6000000\nl_partkey int 200000 1 200000\nl_suppkey int 10000 1 10000
             l_linenumber int 7 1 7\nl_quantity money 50 1.00 50.00\nl_extendedprice money 933900 901.00 104949.50
             l_discount money 11 0.00 0.10\nl_tax money 9 0.00 0.08\nl_returnflag text 3\nl_linestatus text 2
             l_shipdate date 2526 1992-01-02 1998-12-01\nl_commitdate date 2466 1992-01-31 1998-10-31
             l_receiptdate date 2554 1992-01-04 1998-12-31\nl_shipinstruct text 4\nl_shipmode text 7
             l_comment text 4580667",
        ));
        let mut odd = table(8, "odd", 100, "k bigint 100 1 100\nv int 10 1 10\nname text 90");
        odd.columns[1].statistics.nulls = 5;
        tables.push(odd);
        Self(tables.into_iter().map(Arc::new).collect())
    }
}

impl CatalogView for Tpch {
    fn table(&self, schema: Option<&str>, name: &str) -> Option<Arc<TableInfo>> {
        let found = self.0.iter().find(|it| it.name.eq_ignore_ascii_case(name));
        found.filter(|_| schema.is_none_or(|it| it == "public")).cloned()
    }

    fn table_names(&self) -> Vec<String> {
        self.0.iter().map(|it| it.name.clone()).collect()
    }
}
