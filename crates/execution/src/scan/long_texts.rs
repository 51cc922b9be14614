//! Conditions on the texts of long dictionaries, as LIKE is: decided for all texts before the scan, by all workers, or only for
//! the rows that pass all other tests.
//!
//! Key decision: a sample of the rows tells how many those are, since statistics know nothing of tests together
//! (docs/design/04-execution.md, "scans").

use bitpack::bitmap;
use plan::properties::is_volatile;
use plan::{Expr, Scan};
use stdx::sync::Arc;
use storage::{Column, Part};
use types::SqlResult;

use super::predicate::CodePredicate;
use super::predicate_of::is_long;
use super::repeated::Repeated;
use super::residual::Residual;
use crate::states::States;
use crate::team::QueryTeam;
use crate::{Batch, Layout, Vector};

/// Windows of a sample, spread over a part, and the rows of each.
const WINDOWS: usize = 16;
const WINDOW_ROWS: usize = 1024;

/// How many texts of a dictionary are searched one after the other in the time that one takes which is fetched for a row.
const FETCH_COST: f64 = 2.0;

/// Whether a condition has to look at each of the texts of a long dictionary, or at those of its rows. What is volatile is asked
/// once for each row and not of a sample.
pub(super) fn is_of_long_texts(
    filter: &Expr,
    columns: &[Arc<Column>],
    states: &States<'_>,
) -> SqlResult<bool> {
    let Some(column) = column_of(filter, columns).filter(|it| is_long(it)) else {
        return Ok(false);
    };
    if is_volatile(filter) {
        return Ok(false);
    }
    Ok(CodePredicate::simple(filter, column, states)?.is_none())
}

/// The only column of a condition.
fn column_of<'a>(filter: &Expr, columns: &'a [Arc<Column>]) -> Option<&'a Arc<Column>> {
    let mut used = std::collections::BTreeSet::new();
    filter.collect_columns(&mut used);
    match used.len() {
        1 => used.first().map(|&it| &columns[it]),
        _ => None,
    }
}

/// What such conditions of a part are made with.
pub(super) struct LongTexts<'a> {
    pub scan: &'a Scan,
    pub part: &'a Part,
    pub columns: &'a [Arc<Column>],
    pub shapes: &'a Layout,
    /// What was built before, what other scans leave, and who decides for many texts.
    pub made_with: (&'a States<'a>, &'a Repeated, Option<&'a dyn Fn() -> QueryTeam>),
}

/// Picks rows of some columns: those at some places of a window that begins at a row and has so many.
type Pick<'a> = dyn Fn(&[usize], (usize, usize), &[u32]) -> Vec<Arc<Vector>> + 'a;

impl LongTexts<'_> {
    /// Adds conditions to the other `predicates` of a part, or gives them back as tests of rows.
    pub fn tests(
        &self,
        filters: &[&Expr],
        predicates: &mut Vec<CodePredicate>,
        pick: &Pick<'_>,
    ) -> SqlResult<Vec<Residual>> {
        let (states, repeated, team) = self.made_with;
        let mut sample = Sample::new(self.part.rows(), predicates);
        let mut on_rows = Vec::new();
        for (place, filter) in filters.iter().enumerate() {
            let is_last = place + 1 == filters.len();
            let texts = column_of(filter, self.columns).map_or(0, |it| it.code_count());
            if sample.rows_left() * FETCH_COST >= texts as f64
                && let Some(found) = CodePredicate::of(filter, self.columns, (states, team))?
            {
                sample.keep(&found);
                predicates.push(found.kept(repeated.filter(self.scan, self.part, filter)));
                continue;
            }
            // It is not known how many rows will be left, and no table of all texts shall be made for few.
            let (zone, cancel) = (states.zone.clone(), states.cancel.clone());
            let states = States { expected_rows: 0.0, zone, cancel, ..*states };
            let residual = Residual::new(filter, self.shapes, &states)?;
            if !is_last {
                sample.keep_where(&residual, pick);
            }
            on_rows.push(residual);
        }
        Ok(on_rows)
    }
}

/// Some rows of a part, and which of them pass what is asked.
struct Sample {
    windows: Vec<Window>,
    /// The rows of the part.
    of: usize,
}

struct Window {
    start: usize,
    rows: usize,
    words: Vec<u64>,
}

impl Sample {
    fn new(of: usize, predicates: &[CodePredicate]) -> Self {
        let step = of.div_ceil(WINDOWS).next_multiple_of(WINDOW_ROWS).max(WINDOW_ROWS);
        let window = |start: usize| {
            let rows = WINDOW_ROWS.min(of - start);
            let mut words = vec![0; bitmap::words_for(rows)];
            bitmap::fill(&mut words, rows);
            Window { start, rows, words }
        };
        let mut this = Self { windows: (0..of).step_by(step).map(window).collect(), of };
        predicates.iter().for_each(|it| this.keep(it));
        this
    }

    /// Keeps the rows that pass a test.
    fn keep(&mut self, test: &CodePredicate) {
        for Window { start, rows, words } in &mut self.windows {
            test.scan(*start, *rows, words, true);
        }
    }

    /// Keeps the rows for which a condition holds, and those of which it cannot be told.
    fn keep_where(&mut self, residual: &Residual, pick: &Pick<'_>) {
        for Window { start, rows, words } in &mut self.windows {
            let mut places = vec![0; bitmap::count(words)];
            bitmap::positions(words, *rows, &mut places);
            let columns = pick(&residual.columns, (*start, *rows), &places);
            let batch = Batch { rows: places.len(), columns, sequence: 0 };
            let mut chosen = Vec::new();
            if residual.condition.select(&batch, &mut chosen).is_ok() {
                words.fill(0);
                chosen.iter().for_each(|it| bitmap::set(words, places[*it as usize] as usize));
            }
        }
    }

    /// How many rows of the part are expected to be left.
    fn rows_left(&self) -> f64 {
        let looked_at: usize = self.windows.iter().map(|it| it.rows).sum();
        let left: usize = self.windows.iter().map(|it| bitmap::count(&it.words)).sum();
        self.of as f64 * left as f64 / looked_at.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use plan::{BinaryOperator, ExprKind};
    use types::{ColumnId, DataType, TableId, Value};

    use super::*;
    use crate::scan::ScanSource;
    use crate::scan::tests::{Stored, binary, boolean};
    use crate::testing::text;

    const ROWS: usize = 60_000;

    /// Two columns of long dictionaries, and the rests of the row numbers.
    fn table() -> Stored {
        let long = |row: usize, word: &str| {
            text(format!(
                "{:06} {word} {} at the end",
                row / 3,
                "text that begins alike ".repeat(3)
            ))
        };
        let words = ["red", "green", "blue", "grey", "white"];
        let column = |step: usize| {
            let value = |row: usize| match row % 97 {
                0 => Value::Null,
                _ => long(row * step % ROWS, words[row * step % ROWS / 3 % 5]),
            };
            (DataType::Text, (0..ROWS).map(value).collect())
        };
        let rests = (0..ROWS).map(|row| Value::Integer(row as i64 % 50)).collect();
        Stored::new(vec![column(1), column(7), (DataType::BigInt, rests)])
    }

    fn like(stored: &Stored, column: usize, pattern: &str, negated: bool) -> Expr {
        boolean(ExprKind::Like {
            operand: Box::new(stored.column(column)),
            pattern: pattern.into(),
            escape: None,
            case_insensitive: false,
            negated,
        })
    }

    /// The tests of codes and of rows that a scan with some conditions makes.
    fn tests_of(stored: &Stored, filters: &[Expr]) -> (usize, usize) {
        let scan = Scan {
            table: TableId(0),
            name: "t".into(),
            columns: (0..3).map(ColumnId).collect(),
            column_names: Vec::new(),
            filters: filters.to_vec(),
            transfers: vec![],
            output: vec![0],
            index: None,
        };
        let source = ScanSource::new(&scan, stored.table.clone(), &States::of(&[])).unwrap();
        (source.predicates, source.residuals)
    }

    #[test]
    fn long_texts_are_searched_only_where_rows_are_left() {
        let stored = table();
        assert!(is_long(&stored.table.parts()[0].columns[0]));
        let rest = |operator, value| {
            let value = Expr::literal(Value::Integer(value), DataType::BigInt);
            binary(operator, stored.column(2), value)
        };
        let few = rest(BinaryOperator::Less, 3);
        let most = rest(BinaryOperator::GreaterEqual, 3);
        let (green, no_green) =
            (like(&stored, 0, "%green%", false), like(&stored, 0, "%green%", true));
        let other = like(&stored, 1, "%blue%end", false);
        let none = like(&stored, 1, "%yellow%", false);
        let cases: [(&[&Expr], (usize, usize)); 9] = [
            (&[&green], (1, 0)),
            (&[&no_green], (1, 0)),
            (&[&green, &few], (1, 1)),
            (&[&few, &no_green], (1, 1)),
            (&[&most, &green], (2, 0)),
            (&[&green, &other, &few], (1, 2)),
            // What the first leaves is too little for the second.
            (&[&none, &green], (1, 1)),
            (&[&most, &none, &no_green], (2, 1)),
            (&[&few, &none, &other, &green], (1, 3)),
        ];
        for (filters, tests) in cases {
            let filters: Vec<Expr> = filters.iter().map(|it| (*it).clone()).collect();
            assert_eq!(tests_of(&stored, &filters), tests, "{filters:?}");
            let found = stored.scan(&filters, &[0, 1, 2]);
            let expected: Vec<Vec<Value>> = (stored.expected(&filters).into_iter())
                .map(|row| stored.columns.iter().map(|it| it[row].clone()).collect())
                .collect();
            assert_eq!(found, expected, "{filters:?}");
        }
    }
}
