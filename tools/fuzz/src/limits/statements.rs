//! Random statements over the tables: half of the generator that the other commands use, half of shapes that keep many rows.

use crate::case;
use crate::compare::Tolerance;
use crate::differences;
use crate::draw::Draw;
use crate::kind::Kind;
use crate::limits::judge::Compare;
use crate::world::World;

/// A statement, and how its rows compare.
pub struct Statement {
    pub sql: String,
    pub compare: Compare,
}

/// Types of the columns, and what casts may name.
const KINDS: [Kind; 8] = [
    Kind::Integer,
    Kind::BigInt,
    Kind::Decimal(12, 4),
    Kind::Double,
    Kind::Boolean,
    Kind::Date,
    Kind::Text,
    Kind::Varchar(20),
];

/// The statement of a number.
pub fn draw(seed: u64, number: u64, world: &World, depth: usize) -> Statement {
    let mut draw = Draw::new(seed ^ 0x1173, number);
    if draw.chance(50) {
        let compare = Compare::Rows { ordered: false, near: Tolerance::DOUBLE };
        return Statement { sql: keeping(&mut draw), compare };
    }
    let query = case::query(seed, number, world, &KINDS, depth);
    let real = differences::names(&query, |kind| kind == Kind::Real);
    let near = if real { Tolerance::REAL } else { Tolerance::DOUBLE };
    let compare = match case::is_determined(&query) {
        true => Compare::Rows { ordered: case::is_ordered(&query), near },
        false => Compare::Number,
    };
    Statement { sql: query.to_string(), compare }
}

/// Expressions of many values, and of few, over either large table.
const MANY: [&str; 8] =
    ["i", "j", "s", "k", "i % 30000", "j * 3 - k", "'k' || j", "coalesce(s, 'none') || k"];
const FEW: [&str; 4] = ["k % 7", "nullif(i % 3, 1)", "j % 4", "length(s)"];
/// Aggregates that do not depend on the order of rows.
const SUMS: [&str; 14] = [
    "count(*)",
    "sum(j)",
    "min(s)",
    "max('m' || i)",
    "avg(k)",
    "sum(f)",
    "count(DISTINCT k % 11)",
    "sum(i) FILTER (WHERE k > 3000)",
    "max(length(s))",
    "bit_xor(j)",
    "stddev(j)",
    "approx_count_distinct(k)",
    "percentile_disc(0.3) WITHIN GROUP (ORDER BY j)",
    "length(string_agg(DISTINCT 'x' || k % 50, ','))",
];
/// What becomes of rows of two columns, so that few are given out.
const ENDS: [&str; 4] = [
    "SELECT count(*), min(a), max(b) FROM ({}) e",
    "SELECT count(a), count(b), count(DISTINCT a) FROM ({}) e",
    "SELECT * FROM ({}) e ORDER BY a, b LIMIT 50",
    "WITH e AS MATERIALIZED ({}) SELECT (SELECT count(*) FROM e), (SELECT max(b) FROM e)",
];

/// A statement that keeps many rows or groups.
fn keeping(draw: &mut Draw) -> String {
    let inner = rows(draw);
    draw.pick(&ENDS).replace("{}", &inner)
}

/// Rows of the columns `a` and `b`.
fn rows(draw: &mut Draw) -> String {
    let table = |draw: &mut Draw| *draw.pick(&["t0", "t0", "t1"]);
    let (one, other) = (table(draw), table(draw));
    let key = *draw.pick(&MANY);
    let (few, sum) = (*draw.pick(&FEW), *draw.pick(&SUMS));
    let direction = *draw.pick(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]);
    let some = draw.between(0, 90_000);
    match draw.below(11) {
        0 => format!("SELECT {key} AS a, {sum} AS b FROM {one} GROUP BY {key}"),
        1 => format!(
            "SELECT x AS a, {few} AS b FROM (SELECT {key} AS x, i, j, k, s, {sum} AS y FROM {one} \
             GROUP BY {key}, i, j, k, s) g"
        ),
        2 => format!("SELECT DISTINCT {key} AS a, {few} AS b FROM {one}"),
        3 => format!(
            "SELECT {key} AS a, i AS b FROM {one} ORDER BY {key}{direction}, i OFFSET {some}"
        ),
        4 => format!(
            "SELECT s AS a, k AS b FROM {one} ORDER BY {key}{direction}, i OFFSET {some} LIMIT 30000"
        ),
        5 => {
            let word = draw.pick(&["UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL"]);
            format!("SELECT i AS a, k AS b FROM {one} {word} SELECT k, i % 5000 FROM {other}")
        }
        6 => {
            let word = draw.pick(&["JOIN", "LEFT JOIN", "FULL JOIN"]);
            format!("SELECT x.s AS a, y.k AS b FROM {one} x {word} {other} y ON x.i = y.j")
        }
        7 => {
            format!(
                "SELECT {few} AS a, count(DISTINCT {key}) AS b FROM {one} GROUP BY {few}, k % 500"
            )
        }
        8 => format!("SELECT repeat(s, {}) AS a, i AS b FROM {one}", some / 300),
        9 => format!(
            "SELECT x.s AS a, x.k AS b FROM {one} x WHERE x.k IN (SELECT j % 20000 FROM {other} \
             WHERE i % 7 = 0)"
        ),
        _ => {
            let length = some / 30;
            format!("SELECT lpad(s, {length}, 'xy') AS a, {key} AS b FROM {one} WHERE i % 10 = 0")
        }
    }
}
