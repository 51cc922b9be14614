//! Whether a table is what it says of itself: what no checksum tells, since whoever writes wrong facts seals them, too.
//!
//! Key decision: codes are compared, and values only at their ends, so that a table is looked through at about the cost of a
//! scan of all its columns.

use std::cmp::Ordering;

use types::{ColumnId, ColumnStatistics, SqlError, SqlResult, Value};

use crate::parallel::try_map;
use crate::{
    BLOCK_ROWS, BuildContext, Column, Dictionary, Encoding, IndexKind, Part, StringHeap, Table,
    word_of_float,
};

impl Table {
    /// What the table says of itself and is not so, a sentence each; nothing where all is well. Errors: as of a statement that
    /// is cancelled.
    pub fn contradictions(&self, context: &BuildContext<'_>) -> SqlResult<Vec<String>> {
        let width = self.columns.len();
        let found = try_map(context.parallel, self.parts.len() * width, |task| {
            context.check_cancelled()?;
            let (part, column) = (task / width, task % width);
            let here = self.part_contradictions(part, column);
            let name = &self.columns[column].name;
            Ok(here.into_iter().map(move |it| format!("column \"{name}\" of part {part}: {it}")))
        })?;
        let mut found: Vec<String> = found.into_iter().flatten().collect();
        if self.rows != self.parts.iter().map(|it| it.live_rows() as u64).sum::<u64>() {
            found.push("it has another number of rows than its parts".into());
        }
        if !found.is_empty() {
            // Keys are compared by values, which may not be there.
            return Ok(found);
        }
        for rule in self.rules.indexes.iter().filter(|it| it.kind.is_unique()) {
            let nulls = self.check_filled(rule, &self.parts);
            let twice = self.find_duplicate(rule.key(), context)?;
            let twice = twice.map(|(part, row)| self.exists_twice(rule, &self.parts[part], row));
            let told = |it: SqlError| match it.detail() {
                Some(detail) => format!("{}: {detail}", it.message),
                None => it.message,
            };
            found.extend(nulls.err().into_iter().chain(twice).map(told));
        }
        Ok(found)
    }

    fn part_contradictions(&self, part: usize, place: usize) -> Vec<String> {
        let (part, whole) = (&self.parts[part], &self.columns[place]);
        let column = &part.columns[place];
        let mut found = Vec::new();
        if !has_order(&column.encoding) || !has_order(&whole.encoding) {
            found.push("the values of its dictionary do not ascend".to_owned());
            // Nothing else that is told by codes means anything.
            return found;
        }
        let looked = Look::at(part, column);
        found.extend(looked.wrong.clone());
        if looked.nulls != column.statistics.nulls {
            let (is, said) = (looked.nulls, column.statistics.nulls);
            found.push(format!("it holds {is} NULLs, and is said to hold {said}"));
        }
        if looked.live_nulls > 0 && self.is_filled(place) {
            found.push("it holds NULL, and must not".into());
        }
        if looked.live_nulls > whole.statistics.nulls {
            found.push("it holds more NULLs than its table is said to".into());
        }
        let outside = |ends: &Option<(Value, Value)>, facts: &ColumnStatistics| {
            ends.as_ref().is_some_and(|it| !contains(facts, it))
        };
        if outside(&looked.ends, &column.statistics)
            || outside(&looked.live_ends, &whole.statistics)
        {
            found.push("it holds values outside of its statistics".into());
        }
        if let Some(it) = part.translation(place) {
            let mut codes = it.codes().iter().zip(0..);
            if codes.any(|(all, own)| whole.value_of_code(*all) != column.value_of_code(own)) {
                found.push("a code is translated to another value".into());
            }
        }
        found
    }

    /// Whether no row may hold NULL in a column.
    fn is_filled(&self, place: usize) -> bool {
        let is_in = |columns: &[ColumnId]| columns.iter().any(|it| it.index() == place);
        let mut keys = self.rules.indexes.iter().filter(|it| it.kind == IndexKind::PrimaryKey);
        !self.columns[place].nullable || keys.any(|it| is_in(&it.columns))
    }
}

/// Whether each value of a dictionary is greater than the one before it.
fn has_order(encoding: &Encoding) -> bool {
    let texts = |it: &StringHeap| {
        (0..it.len()).all(|at| str::from_utf8(it.bytes_at(at)).is_ok())
            && (1..it.len()).all(|at| it.bytes_at(at - 1) < it.bytes_at(at))
    };
    let floats = |it: &[f64]| it.is_sorted_by(|a, b| word_of_float(*a) < word_of_float(*b));
    match encoding {
        Encoding::Dictionary(Dictionary::Int(it)) => it.as_slice().is_sorted_by(|a, b| a < b),
        Encoding::Dictionary(Dictionary::Wide(it)) => it.as_slice().is_sorted_by(|a, b| a < b),
        Encoding::Dictionary(Dictionary::Float(it)) => floats(it.as_slice()),
        Encoding::Dictionary(Dictionary::Text(it)) => texts(it),
        Encoding::Offset { .. } | Encoding::Plain(_) | Encoding::Raw | Encoding::Parts => true,
    }
}

/// Whether values lie within the bounds of some facts; without bounds there are none.
fn contains(facts: &ColumnStatistics, (least, greatest): &(Value, Value)) -> bool {
    let (Some(min), Some(max)) = (&facts.min, &facts.max) else { return false };
    let is = |a: &Value, b: &Value| a.compare(b).is_some_and(Ordering::is_le);
    is(min, least) && is(greatest, max)
}

/// What a look at all rows of a column of a part has shown.
#[derive(Default)]
struct Look {
    wrong: Option<String>,
    nulls: u64,
    live_nulls: u64,
    /// The least and the greatest value of all rows, and of those that have not gone.
    ends: Option<(Value, Value)>,
    live_ends: Option<(Value, Value)>,
}

/// The least and the greatest of what was seen.
#[derive(Clone)]
struct Ends<T>(Option<(T, T)>);

impl<T: PartialOrd + Clone> Ends<T> {
    fn add(&mut self, value: &T) {
        match &mut self.0 {
            None => self.0 = Some((value.clone(), value.clone())),
            Some((least, _)) if value < least => *least = value.clone(),
            Some((_, greatest)) if value > greatest => *greatest = value.clone(),
            Some(_) => {}
        }
    }

    fn values(self, value: impl Fn(T) -> Value) -> Option<(Value, Value)> {
        self.0.map(|(least, greatest)| (value(least), value(greatest)))
    }
}

impl Look {
    fn at(part: &Part, column: &Column) -> Self {
        match &column.encoding {
            Encoding::Plain(texts) => {
                let mut look = Self::default();
                let text = |row: usize| {
                    let mut bytes = Vec::new();
                    texts.append(row, &mut bytes);
                    String::from_utf8(bytes).ok()
                };
                look.rows(part, column, text, |it| Value::Text(it.into()));
                look
            }
            Encoding::Raw => {
                let mut look = Self::default();
                let value = |word| column.value_of_word(word);
                look.rows(part, column, |row| Some(column.iv().get(row)), value);
                look
            }
            _ => Self::codes(part, column),
        }
    }

    /// At codes: each leads to a value or is that of NULL, and lies within its zone.
    fn codes(part: &Part, column: &Column) -> Self {
        let mut look = Self::default();
        let (codes, null) = (column.code_count() as u64, column.null_code().map(u64::from));
        let code = |row: usize| {
            let code = column.iv().get(row);
            let zone = column.zones.get(row / BLOCK_ROWS)?;
            let zone = u64::from(zone.min_code)..=u64::from(zone.max_code);
            (code < codes && zone.contains(&code) || Some(code) == null).then_some(code)
        };
        look.rows(part, column, code, |it| column.value_of_code(it as u32));
        look
    }

    /// At all rows: `item` is what a row holds, or nothing where it holds nothing that can be.
    fn rows<T: PartialOrd + Clone>(
        &mut self,
        part: &Part,
        column: &Column,
        item: impl Fn(usize) -> Option<T>,
        value: impl Fn(T) -> Value,
    ) {
        let (mut all, mut live) = (Ends(None), Ends(None));
        for row in 0..column.rows() {
            let is_live = part.is_live(row);
            if column.is_null(row) {
                self.nulls += 1;
                self.live_nulls += u64::from(is_live);
                continue;
            }
            let Some(item) = item(row) else {
                self.wrong.get_or_insert_with(|| format!("row {row} holds no value that can be"));
                continue;
            };
            all.add(&item);
            if is_live {
                live.add(&item);
            }
        }
        (self.ends, self.live_ends) = (all.values(&value), live.values(&value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use hardware::samples;
    use memory::Allocator;
    use simulator::SimulatedMachine;
    use stdx::sync::Arc;
    use types::DataType;

    use crate::{ColumnSchema, TableBuilder, TableIndex};

    /// A table of a column of many values, one of few far apart, and one that holds NULL.
    fn table(context: &BuildContext<'_>) -> Table {
        let column = |value: &dyn Fn(i64) -> Option<i64>| -> ArrayRef {
            Arc::new((0..200).map(value).collect::<Int64Array>())
        };
        let columns = [
            ("many", column(&|it| Some(it))),
            ("few", column(&|it| Some(it % 3 * 1_000_000_000_000))),
            ("nulls", column(&|it| (it % 5 > 0).then_some(it % 7))),
        ];
        let schema = columns.iter().map(|it| ColumnSchema::new(it.0, DataType::BigInt, true));
        let builder = TableBuilder::new("t", schema.collect());
        builder.push(0, RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        builder.finish(context).unwrap()
    }

    /// What is found when one column is not what it was.
    fn found(place: usize, change: impl FnOnce(&Table, &mut Column)) -> String {
        let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let allocator = Allocator::new(machine);
        let context = BuildContext::serial(&allocator);
        let mut table = table(&context);
        let mut column = Column::clone(&table.columns[place]);
        change(&table, &mut column);
        table.columns[place] = Arc::new(column);
        Arc::make_mut(&mut table.parts[0].columns)[place] = table.columns[place].clone();
        table.contradictions(&context).unwrap().join("; ")
    }

    #[test]
    fn a_table_that_is_what_it_says_has_no_contradiction() {
        assert_eq!(found(0, |_, _| ()), "");
    }

    #[test]
    fn each_fact_that_does_not_hold_is_found() {
        let nulls = found(2, |_, it| it.nullable = false);
        assert_eq!(nulls, "column \"nulls\" of part 0: it holds NULL, and must not");
        let bounds = found(0, |_, it| it.statistics.max = Some(Value::Integer(198)));
        assert!(bounds.ends_with("it holds values outside of its statistics"), "{bounds}");
        let counted = found(0, |_, it| it.statistics.nulls = 1);
        assert!(counted.contains("it holds 0 NULLs, and is said to hold 1"), "{counted}");
        let codes = found(1, |table, it| it.iv = table.columns[0].iv.clone());
        assert!(codes.contains("row 3 holds no value that can be"), "{codes}");
    }

    #[test]
    fn a_dictionary_out_of_order_is_found() {
        let found = found(1, |table, column| {
            let Encoding::Dictionary(Dictionary::Int(values)) = &column.encoding else {
                panic!("a dictionary was expected, not {:?}", column.encoding);
            };
            let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
            let allocator = Allocator::new(machine);
            let mut segment =
                allocator.allocate_zeroed(64, hardware::PagePolicy::FirstTouch).unwrap();
            let turned = segment.as_mut_slice::<i64>().iter_mut().rev().skip(5);
            turned.zip(values.as_slice()).for_each(|(to, from)| *to = *from);
            column.encoding = Encoding::Dictionary(Dictionary::Int(crate::Sorted::new(segment, 3)));
            assert_eq!(table.rows, 200);
        });
        assert_eq!(found, "column \"few\" of part 0: the values of its dictionary do not ascend");
    }

    #[test]
    fn keys_and_numbers_of_rows_are_compared() {
        let machine = SimulatedMachine::new(samples::by_name("laptop").unwrap(), 1);
        let allocator = Allocator::new(machine);
        let context = BuildContext::serial(&allocator);
        let mut table = table(&context);
        let key = TableIndex::new("t_key", vec![ColumnId(1)], IndexKind::UniqueKey);
        table.rules = Arc::new(crate::Rules { indexes: vec![key], ..Default::default() });
        let found = table.contradictions(&context).unwrap();
        assert!(matches!(&found[..], [it] if it.contains("t_key\": Key (")), "{found:?}");
        table.rows += 1;
        let found = table.contradictions(&context).unwrap();
        assert_eq!(found, ["it has another number of rows than its parts"]);
    }
}
