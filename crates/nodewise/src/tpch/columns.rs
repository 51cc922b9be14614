//! The columns of the eight tables: rows of the generator as Arrow arrays.

use std::fmt::{Display, Write};

use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, Date32Array, Decimal128Array, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use stdx::sync::Arc;
use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

/// A part of a table: its columns, and batches of its rows.
pub(super) struct Reader {
    /// The columns.
    pub schema: SchemaRef,
    /// Batches in order.
    pub batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

/// A column of a table with rows of type `R`.
struct Column<R> {
    name: &'static str,
    data_type: DataType,
    array: fn(&[R]) -> ArrayRef,
}

const MONEY: DataType = DataType::Decimal128(15, 2);

fn key<'a>(values: impl Iterator<Item = &'a i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values.copied()))
}

fn number<'a>(values: impl Iterator<Item = &'a i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values.copied()))
}

fn date<'a>(values: impl Iterator<Item = &'a TPCHDate>) -> ArrayRef {
    Arc::new(Date32Array::from_iter_values(values.map(|it| it.to_unix_epoch())))
}

fn money<'a>(values: impl Iterator<Item = &'a TPCHDecimal>) -> ArrayRef {
    decimals(values.map(|it| i128::from(it.into_inner())))
}

/// A decimal that the generator gives as a whole number.
fn whole<'a>(values: impl Iterator<Item = &'a i64>) -> ArrayRef {
    decimals(values.map(|it| i128::from(*it) * 100))
}

fn decimals(hundredths: impl Iterator<Item = i128>) -> ArrayRef {
    Arc::new(Decimal128Array::from_iter_values(hundredths).with_data_type(MONEY))
}

fn text(values: impl Iterator<Item: Display>) -> ArrayRef {
    let mut builder = StringViewBuilder::with_capacity(values.size_hint().0);
    let mut buffer = String::new();
    for value in values {
        buffer.clear();
        // A String takes all that it is told to.
        let _ = write!(buffer, "{value}");
        builder.append_value(&buffer);
    }
    Arc::new(builder.finish())
}

/// Rows in batches of `rows`.
fn read<R: 'static>(
    mut source: impl Iterator<Item = R> + 'static,
    rows: usize,
    columns: Vec<Column<R>>,
) -> Reader {
    let field = |it: &Column<R>| Field::new(it.name, it.data_type.clone(), false);
    let schema = SchemaRef::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let own = schema.clone();
    let next = move || {
        let rows: Vec<R> = source.by_ref().take(rows).collect();
        let arrays = || columns.iter().map(|it| (it.array)(&rows)).collect();
        (!rows.is_empty()).then(|| RecordBatch::try_new(own.clone(), arrays()))
    };
    Reader { schema, batches: Box::new(std::iter::from_fn(next)) }
}

/// Part `part` of `parts` of a table, in batches of so many rows.
pub(super) fn reader(name: &str, scale: f64, part: i32, parts: i32, rows: usize) -> Reader {
    macro_rules! table {
        ($generator:ident: $($name:ident $kind:ident $data_type:expr),+) => {
            read(
                $generator::new(scale, part, parts).iter(),
                rows,
                vec![$(Column {
                    name: stringify!($name),
                    data_type: $data_type,
                    array: |rows| $kind(rows.iter().map(|it| &it.$name)),
                }),+],
            )
        };
    }
    use DataType::{Date32 as DATE, Int32 as INT, Int64 as KEY, Utf8View as TEXT};
    match name {
        "region" => {
            table!(RegionGenerator: r_regionkey key KEY, r_name text TEXT, r_comment text TEXT)
        }
        "nation" => table!(NationGenerator:
            n_nationkey key KEY, n_name text TEXT, n_regionkey key KEY, n_comment text TEXT),
        "supplier" => table!(SupplierGenerator:
            s_suppkey key KEY, s_name text TEXT, s_address text TEXT, s_nationkey key KEY, s_phone text TEXT,
            s_acctbal money MONEY, s_comment text TEXT),
        "customer" => table!(CustomerGenerator:
            c_custkey key KEY, c_name text TEXT, c_address text TEXT, c_nationkey key KEY, c_phone text TEXT,
            c_acctbal money MONEY, c_mktsegment text TEXT, c_comment text TEXT),
        "part" => table!(PartGenerator:
            p_partkey key KEY, p_name text TEXT, p_mfgr text TEXT, p_brand text TEXT, p_type text TEXT,
            p_size number INT, p_container text TEXT, p_retailprice money MONEY, p_comment text TEXT),
        "partsupp" => table!(PartSuppGenerator:
            ps_partkey key KEY, ps_suppkey key KEY, ps_availqty number INT, ps_supplycost money MONEY,
            ps_comment text TEXT),
        "orders" => table!(OrderGenerator:
            o_orderkey key KEY, o_custkey key KEY, o_orderstatus text TEXT, o_totalprice money MONEY,
            o_orderdate date DATE, o_orderpriority text TEXT, o_clerk text TEXT, o_shippriority number INT,
            o_comment text TEXT),
        _ => table!(LineItemGenerator:
            l_orderkey key KEY, l_partkey key KEY, l_suppkey key KEY, l_linenumber number INT,
            l_quantity whole MONEY, l_extendedprice money MONEY, l_discount money MONEY, l_tax money MONEY,
            l_returnflag text TEXT, l_linestatus text TEXT, l_shipdate date DATE, l_commitdate date DATE,
            l_receiptdate date DATE, l_shipinstruct text TEXT, l_shipmode text TEXT, l_comment text TEXT),
    }
}
