//! What users do: they open a report on one cube or over all of them (a *multi-provider*), and navigate it step by step,
//! each a query of its own that keeps the filters of the one before.
//!
//! Which cube a report is about is skewed six to three to one; one report of five is over all cubes; and of the years the
//! last two get four fifths. Whatever a report's number means follows from the seed alone. Each step orders its rows by
//! all that tells them apart, so an answer is one text whatever the placement.

use stdx::Prng;

use super::schema::{CATEGORIES, COMPANIES, COUNTRIES, CUBES};

/// Steps of a report.
pub const STEPS: usize = 5;
/// The cubes' shares of the reports, in tenths.
const WEIGHTS: [u64; CUBES.len()] = [6, 3, 1];

/// The steps of the report with a number.
pub fn report(number: usize, seed: u64) -> [String; STEPS] {
    let mut prng = Prng::new(seed.wrapping_mul(31) ^ (number as u64 + 1) << 20);
    let year = if prng.below(5) > 0 { 2022 + prng.below(2) } else { 2020 + prng.below(2) };
    let first = (year - 2020) * 360;
    let filter = Filter {
        days: (first, first + 359),
        year,
        company: prng.below(COMPANIES),
        category: prng.below(CATEGORIES),
        country: prng.below(COUNTRIES),
        quantity: 100 * (1 + prng.below(8)),
    };
    match prng.below(5) {
        0 => over_all(&filter),
        _ => on_cube(CUBES[pick(&mut prng)], &filter),
    }
}

/// The ad hoc filters of a report.
struct Filter {
    days: (u64, u64),
    year: u64,
    company: u64,
    category: u64,
    country: u64,
    quantity: u64,
}

fn pick(prng: &mut Prng) -> usize {
    let mut left = prng.below(WEIGHTS.iter().sum());
    for (cube, &weight) in WEIGHTS.iter().enumerate() {
        if left < weight {
            return cube;
        }
        left -= weight;
    }
    0
}

/// A whole cube by category; a year of it by month; a company's division; a category's customers; its documents.
fn on_cube(cube: &str, filter: &Filter) -> [String; STEPS] {
    let Filter { days: (first, last), year, company, category, country, quantity } = filter;
    [
        format!(
            "SELECT m.category, count(*), sum(f.quantity), sum(f.amount), sum(f.amount - f.cost) \
             FROM {cube}_fact f JOIN {cube}_material m ON f.material_key = m.material_key \
             WHERE f.quantity >= {quantity} GROUP BY m.category ORDER BY m.category"
        ),
        format!(
            "SELECT d.month, sum(f.quantity), sum(f.amount), min(f.cost), max(f.cost) \
             FROM {cube}_fact f JOIN calendar d ON f.day_key = d.day_key \
             WHERE d.year = {year} AND f.quantity >= {quantity} GROUP BY d.month ORDER BY d.month"
        ),
        format!(
            "SELECT u.division, d.quarter, sum(f.amount), count(*) \
             FROM {cube}_fact f JOIN calendar d ON f.day_key = d.day_key \
             JOIN {cube}_unit u ON f.unit_key = u.unit_key \
             WHERE d.year = {year} AND u.company = {company} AND f.quantity >= {quantity} \
             GROUP BY u.division, d.quarter ORDER BY u.division, d.quarter"
        ),
        format!(
            "SELECT o.continent, c.segment, sum(f.amount), sum(f.cost) \
             FROM {cube}_fact f JOIN {cube}_material m ON f.material_key = m.material_key \
             JOIN {cube}_customer c ON f.customer_key = c.customer_key \
             JOIN country o ON c.country_key = o.country_key \
             WHERE m.category = {category} AND f.day_key BETWEEN {first} AND {last} \
             GROUP BY o.continent, c.segment ORDER BY o.continent, c.segment"
        ),
        format!(
            "SELECT i.document, i.status, i.amount FROM {cube}_items i \
             JOIN {cube}_customer c ON i.customer_key = c.customer_key \
             WHERE c.country_key = {country} AND i.day_key BETWEEN {first} AND {last} \
             ORDER BY i.amount DESC, i.document LIMIT 20"
        ),
    ]
}

/// The same measures of all cubes side by side.
fn over_all(filter: &Filter) -> [String; STEPS] {
    let Filter { days: (first, last), year, company, category, country, quantity } = filter;
    let union = |select: &dyn Fn(&str) -> String| {
        CUBES.map(|cube| format!("SELECT '{cube}' AS area, {}", select(cube))).join(" UNION ALL ")
    };
    let all = union(&|cube| {
        format!(
            "sum(amount) AS amount, sum(cost) AS cost FROM {cube}_fact WHERE quantity >= {quantity}"
        )
    });
    let months = union(&|cube| {
        format!(
            "d.month AS month, f.amount AS amount FROM {cube}_fact f \
             JOIN calendar d ON f.day_key = d.day_key WHERE d.year = {year}"
        )
    });
    let units = union(&|cube| {
        format!(
            "u.division AS division, f.amount AS amount FROM {cube}_fact f \
             JOIN {cube}_unit u ON f.unit_key = u.unit_key WHERE u.company = {company} \
             AND f.day_key BETWEEN {first} AND {last}"
        )
    });
    let materials = union(&|cube| {
        format!(
            "m.material_group AS part, f.quantity AS quantity FROM {cube}_fact f \
             JOIN {cube}_material m ON f.material_key = m.material_key WHERE m.category = {category}"
        )
    });
    let items = union(&|cube| {
        format!(
            "i.status AS status, i.amount AS amount FROM {cube}_items i \
             JOIN {cube}_customer c ON i.customer_key = c.customer_key WHERE c.country_key = {country}"
        )
    });
    let grouped = |keys: &str, value: &str, rows: &str| {
        format!(
            "SELECT {keys}, count(*), sum({value}) FROM ({rows}) r GROUP BY {keys} ORDER BY {keys}"
        )
    };
    [
        format!("SELECT area, amount, cost FROM ({all}) r ORDER BY area"),
        grouped("area, month", "amount", &months),
        grouped("division, area", "amount", &units),
        grouped("part, area", "quantity", &materials),
        grouped("status, area", "amount", &items),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_one_report_and_cubes_are_skewed() {
        let all: Vec<_> = (0..1000).map(|it| report(it, 7)).collect();
        assert_eq!(all, (0..1000).map(|it| report(it, 7)).collect::<Vec<_>>());
        assert_ne!(all, (0..1000).map(|it| report(it, 8)).collect::<Vec<_>>());
        let on =
            |cube: &str| all.iter().filter(|it| it[0].contains(&format!("{cube}_fact f"))).count();
        let [hot, warm, cold] = CUBES.map(on);
        assert!((430..530).contains(&hot) && (190..290).contains(&warm), "{hot} {warm}");
        assert!((50..110).contains(&cold), "{cold}");
        let all_cubes = 1000 - hot - warm - cold;
        assert!((150..250).contains(&all_cubes), "{all_cubes}");
    }
}
