//! Three schemas in the manner of SAP BW: a fact table with a date and three dimension tables (an *info cube*), and a flat
//! table of documents (a *DSO*) each; calendar and countries are master data that all share.
//!
//! ```text
//! calendar    day_key, year, quarter, month
//! country     country_key, country, continent                     (a snowflake's outer table)
//! C_customer  customer_key, country_key, segment
//! C_material  material_key, material_group, category
//! C_unit      unit_key, division, company
//! C_fact      day_key, customer_key, material_key, unit_key, quantity, amount, cost
//! C_items     document, day_key, customer_key, material_key, status, quantity, amount
//! ```
//!
//! Every value follows from the seed, the table and the column. Keys of customers are skewed: the smaller of two uniform
//! numbers, so that the lower half has three quarters of the rows.

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use nodewise::{Session, SqlError, SqlResult};
use stdx::Prng;
use stdx::sync::Arc;

/// The cubes, the hottest first; its place is its weight's (see `steps`).
pub const CUBES: [&str; 3] = ["sales", "purchase", "delivery"];
/// Days of the calendar: four years of twelve months of 30 days.
pub const DAYS: u64 = 4 * 360;
/// Rows of a fact table at scale 1; a DSO has half as many.
const FACT_ROWS: f64 = 1e6;
/// Countries, five on each continent.
pub const COUNTRIES: u64 = 25;
/// Companies; each has four divisions.
pub const COMPANIES: u64 = 8;
/// Categories of materials; each has eight groups.
pub const CATEGORIES: u64 = 12;
const UNITS: u64 = 4 * COMPANIES;
const BATCH_ROWS: u64 = 1 << 16;
const STATUS: [&str; 4] = ["open", "billed", "paid", "returned"];
const SEGMENTS: [&str; 5] = ["retail", "wholesale", "public", "industry", "export"];

/// Rows of the tables at a scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Rows of each fact table.
    pub facts: u64,
    /// Rows of each DSO.
    pub items: u64,
    /// Customers of each cube.
    pub customers: u64,
    /// Materials of each cube.
    pub materials: u64,
}

impl Sizes {
    /// At a scale: 1 is a million facts in each cube.
    pub fn at(scale: f64) -> Self {
        let facts = ((FACT_ROWS * scale) as u64).max(100);
        let (customers, materials) = ((facts / 50).max(10), (facts / 200).max(10));
        Self { facts, items: facts / 2, customers, materials }
    }
}

/// All tables in the order in which they are made: facts and DSOs of a cube are `true`.
pub fn tables() -> Vec<(String, bool)> {
    let shared = ["calendar", "country"].map(|it| (it.to_owned(), false));
    let of_cube = |cube: &&str| {
        let kinds = [
            ("fact", true),
            ("items", true),
            ("customer", false),
            ("material", false),
            ("unit", false),
        ];
        kinds.map(|(kind, large)| (format!("{cube}_{kind}"), large))
    };
    shared.into_iter().chain(CUBES.iter().flat_map(of_cube)).collect()
}

/// Makes and loads all tables, empty first where some were there.
pub fn load(session: &mut Session, scale: f64, seed: u64) -> SqlResult<()> {
    for (number, (name, _)) in tables().iter().enumerate() {
        let table = Table::new(name, Sizes::at(scale), seed ^ (number as u64 + 1) << 40);
        session.execute(&format!("DROP TABLE IF EXISTS {name}"))?;
        session.import(name, table.batches()?)?;
    }
    Ok(())
}

/// A table to be generated.
struct Table<'a> {
    name: &'a str,
    sizes: Sizes,
    prng: Prng,
}

impl<'a> Table<'a> {
    fn new(name: &'a str, sizes: Sizes, seed: u64) -> Self {
        Self { name, sizes, prng: Prng::new(seed) }
    }

    fn batches(mut self) -> SqlResult<Vec<RecordBatch>> {
        let kind = self.name.rsplit('_').next().unwrap_or_default();
        let rows = match kind {
            "calendar" => DAYS,
            "country" => COUNTRIES,
            "customer" => self.sizes.customers,
            "material" => self.sizes.materials,
            "unit" => UNITS,
            "items" => self.sizes.items,
            _ => self.sizes.facts,
        };
        let starts = (0..rows).step_by(BATCH_ROWS as usize);
        starts.map(|start| self.batch(kind, start..(start + BATCH_ROWS).min(rows))).collect()
    }

    fn batch(&mut self, kind: &str, rows: std::ops::Range<u64>) -> SqlResult<RecordBatch> {
        let count = rows.end - rows.start;
        let columns: Vec<(&str, ArrayRef)> = match kind {
            "calendar" => vec![
                ("day_key", integers(rows.clone())),
                ("year", integers(rows.clone().map(|it| 2020 + it / 360))),
                ("quarter", integers(rows.clone().map(|it| 1 + it % 360 / 90))),
                ("month", integers(rows.map(|it| 1 + it % 360 / 30))),
            ],
            "country" => vec![
                ("country_key", integers(rows.clone())),
                ("country", texts(rows.clone().map(|it| format!("country {it}")))),
                ("continent", texts(rows.map(|it| format!("continent {}", it / 5)))),
            ],
            "customer" => vec![
                ("customer_key", integers(rows.clone())),
                ("country_key", self.uniform(count, COUNTRIES)),
                ("segment", texts(rows.map(|it| SEGMENTS[(it % 5) as usize].to_owned()))),
            ],
            "material" => vec![
                ("material_key", integers(rows.clone())),
                ("material_group", integers(rows.clone().map(|it| it % (8 * CATEGORIES)))),
                ("category", integers(rows.map(|it| it % (8 * CATEGORIES) / 8))),
            ],
            "unit" => vec![
                ("unit_key", integers(rows.clone())),
                ("division", integers(rows.clone())),
                ("company", integers(rows.map(|it| it / 4))),
            ],
            "items" => self.items(&rows),
            _ => self.facts(count),
        };
        let batch = RecordBatch::try_from_iter(columns);
        batch.map_err(|error| SqlError::internal(error.to_string()))
    }

    fn facts(&mut self, count: u64) -> Vec<(&'static str, ArrayRef)> {
        vec![
            ("day_key", self.uniform(count, DAYS)),
            ("customer_key", self.skewed(count, self.sizes.customers)),
            ("material_key", self.uniform(count, self.sizes.materials)),
            ("unit_key", self.uniform(count, UNITS)),
            ("quantity", self.uniform(count, 1_000)),
            ("amount", self.money(count)),
            ("cost", self.money(count)),
        ]
    }

    fn items(&mut self, rows: &std::ops::Range<u64>) -> Vec<(&'static str, ArrayRef)> {
        let count = rows.end - rows.start;
        let status: Vec<u64> = (0..count).map(|_| self.prng.below(4)).collect();
        vec![
            ("document", integers(rows.clone())),
            ("day_key", self.uniform(count, DAYS)),
            ("customer_key", self.skewed(count, self.sizes.customers)),
            ("material_key", self.uniform(count, self.sizes.materials)),
            ("status", texts(status.into_iter().map(|it| STATUS[it as usize].to_owned()))),
            ("quantity", self.uniform(count, 1_000)),
            ("amount", self.money(count)),
        ]
    }

    fn uniform(&mut self, count: u64, bound: u64) -> ArrayRef {
        let values = (0..count).map(|_| self.prng.below(bound) as i32);
        Arc::new(Int32Array::from_iter_values(values))
    }

    fn skewed(&mut self, count: u64, bound: u64) -> ArrayRef {
        let values = (0..count).map(|_| self.prng.below(bound).min(self.prng.below(bound)) as i32);
        Arc::new(Int32Array::from_iter_values(values))
    }

    /// Cents up to ten thousand.
    fn money(&mut self, count: u64) -> ArrayRef {
        let values = (0..count).map(|_| self.prng.below(1_000_000) as i64);
        Arc::new(Int64Array::from_iter_values(values))
    }
}

fn integers(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values.map(|it| it as i32)))
}

fn texts(values: impl Iterator<Item = String>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, seed: u64) -> Vec<RecordBatch> {
        Table::new(name, Sizes::at(0.1), seed).batches().unwrap()
    }

    #[test]
    fn a_seed_repeats_its_rows_and_another_does_not() {
        for (name, large) in tables() {
            assert_eq!(made(&name, 7), made(&name, 7), "{name}");
            if large {
                assert_ne!(made(&name, 7), made(&name, 8), "{name}");
            }
        }
    }

    #[test]
    fn low_customers_have_three_quarters_of_the_facts() {
        let sizes = Sizes::at(0.1);
        let low = |batch: &RecordBatch| {
            let keys = batch.column(1).as_any().downcast_ref::<Int32Array>().unwrap();
            keys.values().iter().filter(|it| (**it as u64) < sizes.customers / 2).count()
        };
        let share = made("sales_fact", 1).iter().map(low).sum::<usize>() as f64 / 1e5;
        assert!((share - 0.75).abs() < 0.01, "{share}");
    }
}
