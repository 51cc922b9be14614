//! The rows of TPC-H's refresh functions (specification 2.27, 4.2 and 4.3): new orders with their lines, whose keys lie in the
//! gaps that the generator of the tables leaves, and the keys of as many old orders.
//!
//! The values follow the rules of the specification and come from a generator of our own, as `tpchgen` makes the tables
//! only: the same scale and stream give the same rows, but not those of the specification's own program.

use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use stdx::Prng;
use stdx::sync::Arc;
use tpchgen::distribution::Distributions;
use tpchgen::generators::OrderGenerator;
use tpchgen::text::TextPool;

/// Orders of a stream at scale 1: 0.1 % of all.
const ORDERS: f64 = 1500.0;
/// Streams that there are keys for: each has orders of its own to insert and to delete.
pub const STREAMS_MAX: u64 = 1000;
/// Bytes of text that comments are cut from.
const TEXT_BYTES: i32 = 4 << 20;
/// What the key of a new order has more than that of the old one beside it.
const GAP: i64 = 8;
/// 1992-01-01, 151 days before 1998-12-31, and 1995-06-17, in days from 1970-01-01.
const FIRST_DAY: u64 = 8035;
const LAST_DAY: u64 = 10440;
const TODAY: i32 = 9298;

const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const INSTRUCTIONS: [&str; 4] = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];

/// The rows of a pair of refresh functions.
#[derive(Clone, PartialEq, Debug)]
pub struct RefreshRows {
    /// New rows of `orders`.
    pub orders: RecordBatch,
    /// Their rows of `lineitem`.
    pub lines: RecordBatch,
    /// The keys of the orders that go.
    pub old_keys: RecordBatch,
}

/// Orders that a stream inserts, and as many that it deletes.
pub fn orders_of_stream(scale: f64) -> u64 {
    (ORDERS * scale).round().max(1.0) as u64
}

/// The rows of a stream, from 1 on up to [`STREAMS_MAX`].
pub fn refresh_rows(scale: f64, stream: u64) -> RefreshRows {
    let count = orders_of_stream(scale);
    let first = (stream - 1) * count + 1;
    let old = (first..first + count).map(|it| OrderGenerator::make_order_key(it as i64));
    let old: Vec<i64> = old.collect();
    let new: Vec<i64> = old.iter().map(|it| it + GAP).collect();
    let (orders, lines) = rows_of_keys(&new, scale, stream);
    let old_keys = batch(vec![("o_orderkey", Arc::new(Int64Array::from(old)))]);
    RefreshRows { orders, lines, old_keys }
}

/// Orders with some keys, and their lines.
pub(crate) fn rows_of_keys(keys: &[i64], scale: f64, seed: u64) -> (RecordBatch, RecordBatch) {
    let pool = TextPool::new(TEXT_BYTES, Distributions::static_default());
    let mut maker = Maker { prng: Prng::new(seed ^ scale.to_bits()), scale, pool };
    let (mut orders, mut lines) = (Vec::with_capacity(keys.len()), Vec::new());
    for key in keys {
        let (order, its_lines) = maker.order(*key);
        orders.push(order);
        lines.extend(its_lines);
    }
    (orders_batch(&orders), lines_batch(&lines))
}

struct Order {
    key: i64,
    customer: i64,
    status: &'static str,
    price: i64,
    date: i32,
    priority: &'static str,
    clerk: String,
    comment: String,
}

struct Line {
    order: i64,
    part: i64,
    supplier: i64,
    number: i32,
    quantity: i64,
    price: i64,
    discount: i64,
    tax: i64,
    returned: &'static str,
    status: &'static str,
    /// Shipped, committed, received.
    dates: [i32; 3],
    instruction: &'static str,
    mode: &'static str,
    comment: String,
}

struct Maker {
    prng: Prng,
    scale: f64,
    pool: TextPool,
}

impl Maker {
    /// A number from `least` to `most`.
    fn number(&mut self, least: u64, most: u64) -> i64 {
        (least + self.prng.below(most - least + 1)) as i64
    }

    fn one(&mut self, words: &[&'static str]) -> &'static str {
        words[self.prng.below(words.len() as u64) as usize]
    }

    /// How many there are of something that there are `base` of at scale 1.
    fn scaled(&self, base: f64) -> u64 {
        ((base * self.scale) as u64).max(4)
    }

    fn comment(&mut self, least: u64, most: u64) -> String {
        let length = self.number(least, most) as i32;
        let start = self.number(0, (TEXT_BYTES - length) as u64) as i32;
        self.pool.text(start, start + length).to_owned()
    }

    fn order(&mut self, key: i64) -> (Order, Vec<Line>) {
        // A third of the customers has no orders.
        let customers = self.scaled(150_000.0);
        let customer = match self.number(1, customers) {
            it if it % 3 == 0 => it - 1,
            it => it,
        };
        let date = self.number(FIRST_DAY, LAST_DAY) as i32;
        let count = self.number(1, 7) as i32;
        let lines: Vec<Line> = (1..=count).map(|it| self.line(key, it, date)).collect();
        let shipped = lines.iter().filter(|it| it.status == "F").count();
        let status = match shipped {
            0 => "O",
            it if it == lines.len() => "F",
            _ => "P",
        };
        let charged = |it: &Line| it.price * (100 - it.discount) / 100 * (100 + it.tax) / 100;
        let clerks = self.scaled(1000.0).max(1000);
        let order = Order {
            key,
            customer,
            status,
            price: lines.iter().map(charged).sum(),
            date,
            priority: self.one(&PRIORITIES),
            clerk: format!("Clerk#{:09}", self.number(1, clerks)),
            comment: self.comment(19, 78),
        };
        (order, lines)
    }

    fn line(&mut self, order: i64, number: i32, ordered: i32) -> Line {
        let parts = self.scaled(200_000.0);
        let part = self.number(1, parts);
        let suppliers = self.scaled(10_000.0) as i64;
        let turn = self.number(0, 3);
        let supplier = (part + turn * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1;
        let quantity = self.number(1, 50);
        let shipped = ordered + self.number(1, 121) as i32;
        let committed = ordered + self.number(30, 90) as i32;
        let received = shipped + self.number(1, 30) as i32;
        let returned = if received <= TODAY { self.one(&["R", "A"]) } else { "N" };
        Line {
            order,
            part,
            supplier,
            number,
            quantity,
            price: quantity * (90_000 + part / 10 % 20_001 + 100 * (part % 1000)),
            discount: self.number(0, 10),
            tax: self.number(0, 8),
            returned,
            status: if shipped > TODAY { "O" } else { "F" },
            dates: [shipped, committed, received],
            instruction: self.one(&INSTRUCTIONS),
            mode: self.one(&MODES),
            comment: self.comment(10, 43),
        }
    }
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("invariant: the columns are of one length")
}

fn keys<R>(rows: &[R], of: impl Fn(&R) -> i64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(rows.iter().map(of)))
}

fn numbers<R>(rows: &[R], of: impl Fn(&R) -> i32) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(rows.iter().map(of)))
}

/// Numbers in hundredths.
fn decimals<R>(rows: &[R], of: impl Fn(&R) -> i64) -> ArrayRef {
    let values = Decimal128Array::from_iter_values(rows.iter().map(|it| i128::from(of(it))));
    Arc::new(values.with_data_type(arrow_schema::DataType::Decimal128(15, 2)))
}

fn days<R>(rows: &[R], of: impl Fn(&R) -> i32) -> ArrayRef {
    Arc::new(Date32Array::from_iter_values(rows.iter().map(of)))
}

fn texts<R>(rows: &[R], of: impl Fn(&R) -> &str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
}

fn orders_batch(rows: &[Order]) -> RecordBatch {
    batch(vec![
        ("o_orderkey", keys(rows, |it| it.key)),
        ("o_custkey", keys(rows, |it| it.customer)),
        ("o_orderstatus", texts(rows, |it| it.status)),
        ("o_totalprice", decimals(rows, |it| it.price)),
        ("o_orderdate", days(rows, |it| it.date)),
        ("o_orderpriority", texts(rows, |it| it.priority)),
        ("o_clerk", texts(rows, |it| &it.clerk)),
        ("o_shippriority", numbers(rows, |_| 0)),
        ("o_comment", texts(rows, |it| &it.comment)),
    ])
}

fn lines_batch(rows: &[Line]) -> RecordBatch {
    batch(vec![
        ("l_orderkey", keys(rows, |it| it.order)),
        ("l_partkey", keys(rows, |it| it.part)),
        ("l_suppkey", keys(rows, |it| it.supplier)),
        ("l_linenumber", numbers(rows, |it| it.number)),
        ("l_quantity", decimals(rows, |it| it.quantity * 100)),
        ("l_extendedprice", decimals(rows, |it| it.price)),
        ("l_discount", decimals(rows, |it| it.discount)),
        ("l_tax", decimals(rows, |it| it.tax)),
        ("l_returnflag", texts(rows, |it| it.returned)),
        ("l_linestatus", texts(rows, |it| it.status)),
        ("l_shipdate", days(rows, |it| it.dates[0])),
        ("l_commitdate", days(rows, |it| it.dates[1])),
        ("l_receiptdate", days(rows, |it| it.dates[2])),
        ("l_shipinstruct", texts(rows, |it| it.instruction)),
        ("l_shipmode", texts(rows, |it| it.mode)),
        ("l_comment", texts(rows, |it| &it.comment)),
    ])
}
