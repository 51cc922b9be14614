//! Right sides that are made of nothing but the left row: functions in FROM that make rows of it (`FROM t, unnest(t.a)`). What
//! they are made by hands all columns on, so the left rows take the place of the row of no columns deep in them.

use plan::relation::Rel;

/// Whether a relation is made of the row of no columns by operators that hand all columns on.
pub(super) fn is_of_row(rel: &Rel) -> bool {
    match rel {
        Rel::Values { output, rows } => output.is_empty() && rows.len() == 1,
        Rel::Map { input, .. } | Rel::Filter { input, .. } | Rel::Repeat { input, .. } => {
            is_of_row(input)
        }
        _ => false,
    }
}

/// Such a relation over other rows.
pub(super) fn over(rel: Rel, rows: Rel) -> Rel {
    match rel {
        Rel::Map { input, exprs } => Rel::Map { input: Box::new(over(*input, rows)), exprs },
        Rel::Filter { input, predicates } => {
            Rel::Filter { input: Box::new(over(*input, rows)), predicates }
        }
        Rel::Repeat { input, count, number, items } => {
            Rel::Repeat { input: Box::new(over(*input, rows)), count, number, items }
        }
        _ => rows,
    }
}
