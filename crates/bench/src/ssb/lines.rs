//! The lines of orders.

use tpchgen::distribution::Distributions;

use super::days::{ORDER_DAYS, day, key};
use super::layout::{Column, Columns};
use super::size::Size;
use super::things::{one_of, price};
use crate::dice::Dice;

const ORDER: u64 = 14;
const LINE: u64 = 15;
/// Lines that an order may have; it has four in the mean.
const LINES_MAX: u64 = 7;

/// A line of an order, with what all lines of that have.
pub struct Line {
    order: u64,
    number: i32,
    customer: i32,
    part: i32,
    supplier: i32,
    day: u64,
    priority: &'static str,
    quantity: i32,
    extended_price: i32,
    total_price: i32,
    discount: i32,
    tax: i32,
    supply_cost: i32,
    days_until_commit: u64,
    ship_mode: &'static str,
}

/// Puts the lines of an order behind those that are there. Orders are numbered from 0 on.
pub fn lines_of(order: u64, size: Size, out: &mut Vec<Line>) {
    let dice = Dice::of(ORDER, order);
    let lists = Distributions::static_default();
    let customer = 1 + dice.below(1, size.customers) as i32;
    let (day, priority) = (dice.below(2, ORDER_DAYS), one_of(dice, 3, lists.order_priority()));
    let count = 1 + dice.below(4, LINES_MAX);
    let first = out.len();
    for number in 0..count {
        let dice = Dice::of(LINE, order * LINES_MAX + number);
        let part = dice.below(1, size.parts);
        let quantity = 1 + dice.below(2, 50) as i32;
        out.push(Line {
            order: order + 1,
            number: number as i32 + 1,
            customer,
            part: part as i32 + 1,
            supplier: 1 + dice.below(3, size.suppliers) as i32,
            day,
            priority,
            quantity,
            extended_price: quantity * price(part),
            total_price: 0,
            discount: dice.below(4, 11) as i32,
            tax: dice.below(5, 9) as i32,
            supply_cost: 6 * price(part) / 10,
            days_until_commit: 30 + dice.below(6, 61),
            ship_mode: one_of(dice, 7, lists.ship_modes()),
        });
    }
    let total = out[first..].iter().map(Line::charge).sum();
    out[first..].iter_mut().for_each(|it| it.total_price = total);
}

impl Line {
    fn revenue(&self) -> i32 {
        (i64::from(self.extended_price) * i64::from(100 - self.discount) / 100) as i32
    }

    /// With the tax.
    fn charge(&self) -> i32 {
        (i64::from(self.revenue()) * i64::from(100 + self.tax) / 100) as i32
    }
}

/// The columns of `lineorder`.
pub const COLUMNS: Columns<Line> = &[
    ("lo_orderkey", Column::Number(|it| it.order as i32)),
    ("lo_linenumber", Column::Number(|it| it.number)),
    ("lo_custkey", Column::Number(|it| it.customer)),
    ("lo_partkey", Column::Number(|it| it.part)),
    ("lo_suppkey", Column::Number(|it| it.supplier)),
    ("lo_orderdate", Column::Number(|it| key(day(it.day)))),
    ("lo_orderpriority", Column::Text(|it, out| out.push_str(it.priority))),
    ("lo_shippriority", Column::Number(|_| 0)),
    ("lo_quantity", Column::Number(|it| it.quantity)),
    ("lo_extendedprice", Column::Number(|it| it.extended_price)),
    ("lo_ordtotalprice", Column::Number(|it| it.total_price)),
    ("lo_discount", Column::Number(|it| it.discount)),
    ("lo_revenue", Column::Number(Line::revenue)),
    ("lo_supplycost", Column::Number(|it| it.supply_cost)),
    ("lo_tax", Column::Number(|it| it.tax)),
    ("lo_commitdate", Column::Number(|it| key(day(it.day + it.days_until_commit)))),
    ("lo_shipmode", Column::Text(|it, out| out.push_str(it.ship_mode))),
];
