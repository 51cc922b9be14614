//! Customers, suppliers and parts.

use std::fmt::Write;

use tpchgen::distribution::{Distribution, Distributions};

use super::layout::{Column, Columns};
use crate::dice::Dice;

/// Kinds of things that are drawn for.
const CUSTOMER: u64 = 11;
const SUPPLIER: u64 = 16;
const PART: u64 = 13;

/// A customer or a supplier.
pub struct Firm {
    key: i32,
    title: &'static str,
    nation: &'static str,
    region: &'static str,
    nation_number: u64,
    dice: Dice,
}

impl Firm {
    /// The customer of a number, counted from 0 on.
    pub fn customer(number: u64) -> Self {
        Self::new("Customer", CUSTOMER, number)
    }

    /// The supplier of a number, counted from 0 on.
    pub fn supplier(number: u64) -> Self {
        Self::new("Supplier", SUPPLIER, number)
    }

    fn new(title: &'static str, kind: u64, number: u64) -> Self {
        let dice = Dice::of(kind, number);
        let nation_number = dice.below(1, nation_count());
        let (nation, region) = nation(nation_number);
        Self { key: number as i32 + 1, title, nation, region, nation_number, dice }
    }

    fn name(&self, out: &mut String) {
        let _ = write!(out, "{}#{:09}", self.title, self.key);
    }

    fn address(&self, out: &mut String) {
        let length = 10 + self.dice.below(2, 16);
        let letter = |at| char::from(b'a' + self.dice.below(100 + at, 26) as u8);
        out.extend((0..length).map(letter));
    }

    /// One of ten of its nation, called by nine letters of that and a digit.
    fn city(&self, out: &mut String) {
        let _ = write!(out, "{:<9.9}{}", self.nation, self.dice.below(3, 10));
    }

    fn phone(&self, out: &mut String) {
        let digits = |salt, bound: u64| bound / 10 + self.dice.below(salt, bound - bound / 10);
        let (a, b, c) = (digits(4, 1000), digits(5, 1000), digits(6, 10_000));
        let _ = write!(out, "{}-{a}-{b}-{c}", 10 + self.nation_number);
    }

    fn segment(&self) -> &'static str {
        one_of(self.dice, 7, Distributions::static_default().market_segments())
    }
}

/// How many nations there are.
fn nation_count() -> u64 {
    Distributions::static_default().nations().size() as u64
}

/// Name and region of the nation of a number.
fn nation(number: u64) -> (&'static str, &'static str) {
    let lists = Distributions::static_default();
    let (nations, number) = (lists.nations(), number as usize);
    // The list holds numbers of regions where others have weights.
    let region = nations.get_weight(number) as usize;
    (nations.get_values()[number], lists.regions().get_values()[region])
}

/// One of the values of a distribution, each as likely.
pub fn one_of(dice: Dice, salt: u64, from: &Distribution) -> &'static str {
    dice.one_of(salt, from.get_values())
}

/// The columns of `customer`.
pub const CUSTOMER_COLUMNS: Columns<Firm> = &[
    ("c_custkey", Column::Number(|it| it.key)),
    ("c_name", Column::Text(Firm::name)),
    ("c_address", Column::Text(Firm::address)),
    ("c_city", Column::Text(Firm::city)),
    ("c_nation", Column::Text(|it, out| out.push_str(it.nation))),
    ("c_region", Column::Text(|it, out| out.push_str(it.region))),
    ("c_phone", Column::Text(Firm::phone)),
    ("c_mktsegment", Column::Text(|it, out| out.push_str(it.segment()))),
];

/// The columns of `supplier`.
pub const SUPPLIER_COLUMNS: Columns<Firm> = &[
    ("s_suppkey", Column::Number(|it| it.key)),
    ("s_name", Column::Text(Firm::name)),
    ("s_address", Column::Text(Firm::address)),
    ("s_city", Column::Text(Firm::city)),
    ("s_nation", Column::Text(|it, out| out.push_str(it.nation))),
    ("s_region", Column::Text(|it, out| out.push_str(it.region))),
    ("s_phone", Column::Text(Firm::phone)),
];

/// A part.
pub struct Part {
    key: i32,
    maker: u64,
    category: u64,
    brand: u64,
    dice: Dice,
}

impl Part {
    /// The part of a number, counted from 0 on: one of five makers, of five categories of his, of 40 brands of that.
    pub fn new(number: u64) -> Self {
        let dice = Dice::of(PART, number);
        let draw = |salt, bound| 1 + dice.below(salt, bound);
        Self {
            key: number as i32 + 1,
            maker: draw(1, 5),
            category: draw(2, 5),
            brand: draw(3, 40),
            dice,
        }
    }

    fn color(&self, salt: u64) -> &'static str {
        one_of(self.dice, salt, Distributions::static_default().part_colors())
    }
}

/// What a part costs in cents, which follows from its number as in TPC-H.
pub fn price(number: u64) -> i32 {
    let key = number + 1;
    (90_000 + (key / 10) % 20_001 + 100 * (key % 1_000)) as i32
}

/// The columns of `part`.
pub const PART_COLUMNS: Columns<Part> = &[
    ("p_partkey", Column::Number(|it| it.key)),
    (
        "p_name",
        Column::Text(|it, out| {
            let _ = write!(out, "{} {}", it.color(4), it.color(5));
        }),
    ),
    (
        "p_mfgr",
        Column::Text(|it, out| {
            let _ = write!(out, "MFGR#{}", it.maker);
        }),
    ),
    (
        "p_category",
        Column::Text(|it, out| {
            let _ = write!(out, "MFGR#{}{}", it.maker, it.category);
        }),
    ),
    (
        "p_brand1",
        Column::Text(|it, out| {
            let _ = write!(out, "MFGR#{}{}{}", it.maker, it.category, it.brand);
        }),
    ),
    ("p_color", Column::Text(|it, out| out.push_str(it.color(4)))),
    (
        "p_type",
        Column::Text(|it, out| {
            out.push_str(one_of(it.dice, 6, Distributions::static_default().part_types()));
        }),
    ),
    ("p_size", Column::Number(|it| 1 + it.dice.below(7, 50) as i32)),
    (
        "p_container",
        Column::Text(|it, out| {
            out.push_str(one_of(it.dice, 8, Distributions::static_default().part_containers()));
        }),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nations_lie_in_their_regions() {
        let of = |region| (0..nation_count()).map(nation).filter(move |it| it.1 == region);
        for region in ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"] {
            assert_eq!(of(region).count(), 5, "{region}");
        }
        assert!(of("AMERICA").any(|it| it.0 == "UNITED STATES"));
        assert!(of("EUROPE").any(|it| it.0 == "UNITED KINGDOM"));
        let mut city = String::new();
        Firm { nation: "UNITED KINGDOM", ..Firm::customer(0) }.city(&mut city);
        assert_eq!((city.len(), &city[..9]), (10, "UNITED KI"));
    }
}
