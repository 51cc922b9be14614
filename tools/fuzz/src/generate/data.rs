//! Values of columns and constants of expressions. They repeat often, so that joins and groups hit; edges are rare.

use std::collections::BTreeSet;

use crate::draw::Draw;
use crate::kind::{Class, Kind};
use crate::world::{Column, Constraint};

/// Rows for columns; so many percent of the values are NULL.
pub fn rows(draw: &mut Draw, columns: &[Column], count: usize, nulls: usize) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut taken: Vec<BTreeSet<String>> = vec![BTreeSet::new(); columns.len()];
    for _ in 0..count {
        let row: Vec<String> = columns.iter().map(|it| value(draw, it, nulls)).collect();
        let keyed = |at: usize| {
            let constraint = columns[at].constraint;
            constraint == Constraint::PrimaryKey
                || constraint == Constraint::Unique && row[at] != "NULL"
        };
        if (0..columns.len()).any(|at| keyed(at) && taken[at].contains(&row[at])) {
            continue;
        }
        for (at, value) in row.iter().enumerate() {
            taken[at].insert(value.clone());
        }
        rows.push(row);
    }
    rows
}

fn value(draw: &mut Draw, column: &Column, nulls: usize) -> String {
    let nullable = matches!(column.constraint, Constraint::Nothing | Constraint::Unique);
    if nullable && draw.chance(nulls) {
        return "NULL".to_owned();
    }
    if !nullable && column.constraint == Constraint::PrimaryKey {
        return draw.between(0, 40).to_string();
    }
    constant(draw, column.kind, draw_edges(column.kind))
}

/// How many percent of a column's values are edges.
fn draw_edges(kind: Kind) -> usize {
    if kind.class() == Class::Float { 2 } else { 5 }
}

/// A constant of a type as SQL writes it; so many percent are edges of the type.
pub fn constant(draw: &mut Draw, kind: Kind, edges: usize) -> String {
    let edge = draw.chance(edges);
    match kind {
        Kind::SmallInt | Kind::Integer | Kind::BigInt => integer(draw, kind, edge),
        Kind::Decimal(precision, scale) => decimal(draw, precision, scale, edge),
        Kind::Numeric => {
            let edges = [
                "NaN",
                "Infinity",
                "-Infinity",
                "1e60",
                "-1e-50",
                "123456789012345678901234567890.5",
            ];
            let usual = [
                "0", "0.00", "1", "1.0", "1.5", "1.50", "2.5", "-1", "-0.500", "0.1", "10.25", "3",
                "12",
            ];
            let text = if edge { *draw.pick(&edges) } else { *draw.pick(&usual) };
            format!("CAST('{text}' AS NUMERIC)")
        }
        Kind::Real | Kind::Double => {
            let edges = ["1e10", "-1e10", "0.1", "0.3", "1e-5", "123456.789"];
            let usual = ["0.0", "0.5", "1.0", "1.5", "-0.25", "2.0", "-1.0", "3.0", "100.25"];
            let text = if edge { *draw.pick(&edges) } else { *draw.pick(&usual) };
            format!("CAST('{text}' AS {kind})")
        }
        Kind::Boolean => (*draw.pick(&["TRUE", "FALSE"])).to_owned(),
        Kind::Date => {
            let edges = ["0001-01-01", "9999-12-31", "1900-02-28", "2000-02-29", "1582-10-10"];
            let usual = [
                "2024-01-01",
                "2024-02-29",
                "2023-12-31",
                "2024-03-01",
                "1970-01-01",
                "1969-12-31",
            ];
            format!("DATE '{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        Kind::Timestamp => {
            let edges = ["0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"];
            let usual = [
                "2024-01-01 00:00:00",
                "2024-02-29 12:30:00",
                "2023-12-31 23:59:59.5",
                "1970-01-01 00:00:00",
                "1969-12-31 23:59:59.999999",
            ];
            format!("TIMESTAMP '{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        Kind::TimestampTz
        | Kind::Time
        | Kind::TimeTz
        | Kind::Interval
        | Kind::Uuid
        | Kind::Bytea
        | Kind::Bit(_)
        | Kind::Varbit(_) => rarer(draw, kind, edge),
        Kind::Varchar(_) | Kind::Char(_) | Kind::Text => format!("'{}'", text(draw, kind, edge)),
    }
}

/// A text.
fn text(draw: &mut Draw, kind: Kind, edge: bool) -> &'static str {
    let edges = ["", " ", "%", "_b", "A", "it''s", "a\\", "NULL"];
    let usual = ["a", "b", "ab", "abc", "b", "zz", "1", "12", "-3"];
    let text = if edge { *draw.pick(&edges) } else { *draw.pick(&usual) };
    // Longer than any VARCHAR(n), for what is assigned to one.
    let is_long = edge && matches!(kind, Kind::Text | Kind::Varchar(0)) && draw.chance(20);
    if is_long { "longer than a column" } else { text }
}

/// A constant of a type of `rarer`.
fn rarer(draw: &mut Draw, kind: Kind, edge: bool) -> String {
    match kind {
        Kind::TimestampTz => {
            let edges = ["0001-01-01 00:00:00+00", "9999-12-31 23:59:59.999999+00"];
            let usual = [
                "2024-01-01 00:00:00+00",
                "2024-01-01 02:00:00+02",
                "2024-02-29 12:30:00-05",
                "2023-12-31 23:59:59.5Z",
                "1970-01-01 00:00:00 Europe/Berlin",
            ];
            format!("TIMESTAMPTZ '{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        Kind::Time => {
            let edges = ["23:59:59.999999", "24:00:00"];
            let usual = ["00:00:00", "12:30:00", "12:30:00.5", "23:59:59", "06:07:08"];
            format!("TIME '{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        Kind::TimeTz => {
            let edges = ["23:59:59.999999-15:59:59", "24:00:00+00", "00:00:00+15:59:59"];
            let usual = ["00:00:00+00", "12:30:00+00", "14:30:00+02", "10:30:00-02", "23:59:59-08"];
            format!("TIMETZ '{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        Kind::Bit(_) => {
            let usual = ["0000", "1111", "0101", "1010", "0001"];
            format!("B'{}'", *draw.pick(&usual))
        }
        Kind::Varbit(_) => {
            let edges = ["", "000000000000", "111111111111", "00000000", "000000001"];
            let usual = ["0", "1", "01", "10", "0101", "1010", "101"];
            format!("B'{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        Kind::Interval => {
            let edges = ["178 years", "-178 years", "0.000001 seconds"];
            let usual = [
                "0",
                "1 day",
                "24 hours",
                "1 month",
                "30 days",
                "-1 day",
                "90 minutes",
                "1 year 2 months 3 days 04:05:06.7",
                "1 month -1 day",
            ];
            format!("INTERVAL '{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        Kind::Uuid => {
            let edges =
                ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"];
            let usual = [
                "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12",
                "0189f7ea-ae2e-7ac0-8000-000000000001",
                "7fffffff-ffff-4fff-bfff-ffffffffffff",
            ];
            format!("UUID '{}'", if edge { *draw.pick(&edges) } else { *draw.pick(&usual) })
        }
        _ => {
            let edges = ["\\x", "\\x00", "\\xff00ff"];
            let usual = ["\\x61", "\\x6162", "\\x62", "\\x616263", "\\x0161"];
            format!(
                "CAST('{}' AS BYTEA)",
                if edge { *draw.pick(&edges) } else { *draw.pick(&usual) }
            )
        }
    }
}

fn integer(draw: &mut Draw, kind: Kind, edge: bool) -> String {
    let (low, high) = match kind {
        Kind::SmallInt => ("-32768", "32767"),
        Kind::Integer => ("-2147483648", "2147483647"),
        _ => ("-9223372036854775808", "9223372036854775807"),
    };
    let text = match draw.below(if edge { 3 } else { 10 }) {
        0 if edge => low.to_owned(),
        1 if edge => high.to_owned(),
        2 if edge => "1000".to_owned(),
        9 => (*draw.pick(&["-1", "-2", "20", "100"])).to_owned(),
        _ => draw.between(0, 5).to_string(),
    };
    in_parentheses(text)
}

fn decimal(draw: &mut Draw, precision: u8, scale: u8, edge: bool) -> String {
    let whole = usize::from(precision - scale);
    if edge {
        let point = if scale > 0 { "." } else { "" };
        let most = format!("{}{point}{}", "9".repeat(whole), "9".repeat(usize::from(scale)));
        let least = format!("0{point}{}", "0".repeat(usize::from(scale).saturating_sub(1)));
        let least = if scale > 0 { format!("{least}1") } else { "1".to_owned() };
        let sign = if draw.chance(50) { "-" } else { "" };
        return in_parentheses(format!("{sign}{}", draw.pick(&[most, least])));
    }
    let usual: &[&str] = match scale {
        0 => &["0", "1", "2", "3", "5", "-1", "12"],
        _ => &["0.0", "1.0", "1.5", "2.5", "0.1", "-1.0", "-0.5", "10.25", "3.0", "2.0"],
    };
    in_parentheses((*draw.pick(usual)).to_owned())
}

/// A sign could join with an operator in front, and binds weaker than a cast.
fn in_parentheses(text: String) -> String {
    if text.starts_with('-') { format!("({text})") } else { text }
}
