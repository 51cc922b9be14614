//! Random tables. A column's name says its class in all tables of a world, so that NATURAL and USING find partners.

use crate::draw::Draw;
use crate::generate::data;
use crate::kind::{Class, Kind};
use crate::world::{Column, Constraint, Table, World};

/// Names that columns have, by class.
const NAMES: &[(&str, Class)] = &[
    ("i", Class::Integer),
    ("j", Class::Integer),
    ("k", Class::Integer),
    ("n", Class::Decimal),
    ("m", Class::Decimal),
    ("f", Class::Float),
    ("b", Class::Boolean),
    ("d", Class::Date),
    ("t", Class::Timestamp),
    ("z", Class::Moment),
    ("c", Class::Time),
    ("p", Class::Interval),
    ("g", Class::Uuid),
    ("h", Class::Bytes),
    ("w", Class::Clock),
    ("x", Class::Bits),
    ("s", Class::Text),
    ("u", Class::Text),
];

/// The class of a column of that name.
pub fn class_of(name: &str) -> Option<Class> {
    NAMES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// A world of 2 to 5 tables; columns are of `kinds` only.
pub fn world(draw: &mut Draw, kinds: &[Kind]) -> World {
    let count = draw.between(2, 5);
    World { tables: (0..count).map(|at| table(draw, &format!("t{at}"), kinds)).collect() }
}

fn table(draw: &mut Draw, name: &str, kinds: &[Kind]) -> Table {
    let share = draw.between(35, 75);
    let mut columns = Vec::new();
    for (at, &(name, class)) in NAMES.iter().enumerate() {
        // Each table has an integer to join by.
        if at > 0 && !draw.chance(share) {
            continue;
        }
        let of_class: Vec<Kind> =
            class.kinds().iter().filter(|it| kinds.contains(it)).copied().collect();
        if of_class.is_empty() {
            continue;
        }
        let kind = *draw.pick(&of_class);
        columns.push(Column { name: name.to_owned(), kind, constraint: Constraint::Nothing });
    }
    constrain(draw, &mut columns);
    let rows = draw.weighted(&[(5, 0), (10, 1), (25, 4), (30, 9), (25, 25), (5, 60)]);
    let rows = if rows > 1 { draw.between(rows / 2, rows) } else { rows };
    let nulls = draw.weighted(&[(1, 0), (3, 15), (1, 50)]);
    let rows = data::rows(draw, &columns, rows, nulls);
    Table { name: name.to_owned(), columns, rows }
}

/// Some tables have a key, and some columns no NULL.
fn constrain(draw: &mut Draw, columns: &mut [Column]) {
    for column in columns.iter_mut() {
        if draw.chance(12) {
            column.constraint = Constraint::NotNull;
        }
    }
    let keyed = |it: &&mut Column| it.kind.class() == Class::Integer;
    let word = draw.weighted(&[
        (6, Constraint::Nothing),
        (2, Constraint::PrimaryKey),
        (2, Constraint::Unique),
    ]);
    if word != Constraint::Nothing
        && let Some(column) = columns.iter_mut().find(keyed)
    {
        column.constraint = word;
    }
}
