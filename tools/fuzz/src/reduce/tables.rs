//! Cuts of tables: those that are not read, rows, columns, constraints.

use crate::case::Case;
use crate::walk;
use crate::world::{Constraint, World};

/// Rows of the largest table.
pub fn largest(world: &World) -> usize {
    world.tables.iter().map(|it| it.rows.len()).max().unwrap_or(0)
}

/// The case without tables that its query does not name.
pub fn without_unused(case: &Case) -> Case {
    let used = walk::tables(&case.query);
    let mut case = case.clone();
    case.world.tables.retain(|it| used.contains(&it.name));
    case
}

/// The world without some rows, counted over all tables; none behind the last row.
pub fn without_rows(world: &World, from: usize, count: usize) -> Option<World> {
    let mut first = 0;
    let mut world = world.clone();
    for table in &mut world.tables {
        let last = first + table.rows.len();
        if from < last {
            let end = (from - first + count).min(table.rows.len());
            table.rows.drain(from - first..end);
            return Some(world);
        }
        first = last;
    }
    None
}

/// The world with one column left out, or one constraint; none behind the last of them. For each column: first without
/// the column, then without its constraint.
pub fn simpler(world: &World, at: usize) -> Option<World> {
    let mut world = world.clone();
    let mut left = at / 2;
    for table in &mut world.tables {
        if left >= table.columns.len() {
            left -= table.columns.len();
            continue;
        }
        if at % 2 == 1 {
            table.columns[left].constraint = Constraint::Nothing;
        } else if table.columns.len() > 1 {
            table.columns.remove(left);
            for row in &mut table.rows {
                row.remove(left);
            }
        }
        return Some(world);
    }
    None
}
