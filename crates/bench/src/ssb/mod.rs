//! The star schema benchmark (O'Neil et al., 2009): one fact table of the lines of orders, four dimensions, 13 queries in four
//! flights. P-HYPER 5.5 measures it.
//!
//! Key decision: the rows are made by ourselves, as no generator of its data is kept up as a crate. They have the columns,
//! numbers of rows and ranges of values of the benchmark's definition, so that each query takes the share of the lines that it
//! says; each order follows from its number alone, so that parts are made in any order.
//!
//! Reading order: `layout`, `size`, `days`, `things`, `lines`.

mod days;
mod layout;
mod lines;
mod size;
mod things;

use nodewise::made_files::MadeData;
use nodewise::{SqlError, SqlResult, SqlState};

use crate::suite::MadeSuite;
use layout::Layout;
use size::Size;
use things::{Firm, Part};

/// Calls a macro with the numbers of all queries behind what else it takes.
macro_rules! of_all {
    ($each:ident $($more:tt)*) => {
        $each!($($more)* "1.1" "1.2" "1.3" "2.1" "2.2" "2.3" "3.1" "3.2" "3.3" "3.4" "4.1" "4.2" "4.3")
    };
}

macro_rules! texts {
    ($($number:literal)+) => {
        &[$((
            concat!("q", $number),
            include_str!(concat!("../../queries/ssb/q", $number, ".sql")),
        )),+]
    };
}

macro_rules! answers {
    ($scale:literal $($number:literal)+) => {
        &[$(include_str!(concat!("../../queries/ssb/answers/sf", $scale, "/q", $number, ".csv"))),+]
    };
}

/// The benchmark, whose queries are called `q1.1` to `q4.3`.
pub static SUITE: MadeSuite = MadeSuite {
    name: "ssb",
    title: "The star schema benchmark",
    queries: of_all!(texts),
    answered_scale: 0.1,
    answers: of_all!(answers "0.1"),
    data,
};

/// The five tables of a scale; 1 has 6 million lines.
fn data(scale: f64) -> SqlResult<MadeData> {
    if !(0.01..=1_000.0).contains(&scale) {
        let message = format!("no star schema benchmark of scale {scale}");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
            .with_hint("scales go from 0.01 to 1000"));
    }
    let size = Size::of(scale);
    let lineorder = Layout {
        name: "lineorder",
        columns: lines::COLUMNS,
        sources: size.orders,
        rows_of_source: 4,
    };
    let firms = |name, columns, sources| Layout { name, columns, sources, rows_of_source: 1 };
    let parts = Layout {
        name: "part",
        columns: things::PART_COLUMNS,
        sources: size.parts,
        rows_of_source: 1,
    };
    let days =
        Layout { name: "date_dim", columns: days::COLUMNS, sources: days::DAYS, rows_of_source: 1 };
    let customers = firms("customer", things::CUSTOMER_COLUMNS, size.customers);
    let suppliers = firms("supplier", things::SUPPLIER_COLUMNS, size.suppliers);
    Ok(MadeData {
        title: "the star schema benchmark",
        marker: "nodewise-ssb.txt",
        maker: "ssb, layout 1",
        size: format!("scale {scale}"),
        tables: vec![
            days.made(|number, out| out.push(days::day(number))),
            customers.made(|number, out| out.push(Firm::customer(number))),
            suppliers.made(|number, out| out.push(Firm::supplier(number))),
            parts.made(|number, out| out.push(Part::new(number))),
            lineorder.made(move |order, out| lines::lines_of(order, size, out)),
        ],
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::RecordBatch;

    use super::*;

    #[test]
    fn rows_are_the_same_in_any_parts() {
        let columns =
            [("date_dim", 17), ("customer", 8), ("supplier", 7), ("part", 9), ("lineorder", 17)];
        for (table, (name, fields)) in data(0.01).unwrap().tables.into_iter().zip(columns) {
            assert_eq!((table.name, table.schema.fields().len()), (name, fields));
            let rows = |parts| -> Vec<String> {
                let batches = (1..=parts).flat_map(|part| (table.part)(part, parts));
                let text = |it: Result<RecordBatch, _>| {
                    let batch = it.unwrap();
                    let row = |row| format!("{:?}", batch.slice(row, 1));
                    (0..batch.num_rows().min(9)).map(row).collect::<Vec<_>>()
                };
                batches.flat_map(text).collect()
            };
            assert!(!rows(1).is_empty());
            assert_eq!(rows(1)[..5], rows(7)[..5], "{name}");
            let count = |parts| -> usize {
                (1..=parts)
                    .flat_map(|part| (table.part)(part, parts))
                    .map(|it| it.unwrap().num_rows())
                    .sum()
            };
            assert_eq!(count(1), count(7), "{name}");
        }
    }

    #[test]
    fn scales_have_bounds() {
        assert!(data(0.0).is_err() && data(f64::NAN).is_err() && data(1e9).is_err());
    }
}
