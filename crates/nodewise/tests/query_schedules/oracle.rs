//! Tiny tables by chance, queries by chance, and their answers by loops over the rows.

use std::collections::BTreeMap;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use nodewise::{Answer, text::Cells};
use stdx::Prng;
use stdx::sync::Arc;

/// A row of `t`.
struct Row {
    n: i64,
    k: Option<i64>,
    g: &'static str,
}

/// The rows of `t (n, k, g)` and `d (k, w)`.
pub struct Tables {
    t: Vec<Row>,
    d: Vec<(i64, i64)>,
}

/// A query and its answer; in any order unless the text says ORDER BY.
pub struct Question {
    pub sql: String,
    pub answer: Vec<String>,
}

const GROUPS: [&str; 5] = ["red", "green", "blue", "", "infrared"];

impl Tables {
    pub fn new(prng: &mut Prng) -> Self {
        let rows = [0, 1, 1000, 5000, 20_000, 70_000][prng.below(6) as usize];
        let row = |n| Row {
            n,
            k: (prng.below(20) > 0).then(|| prng.below(120) as i64),
            g: GROUPS[prng.below(5) as usize],
        };
        let t = (0..rows).map(row).collect();
        Self { t, d: (0..100).map(|k| (k, k * k % 17)).collect() }
    }

    /// What to import: names and rows.
    pub fn batches(&self) -> [(&'static str, Vec<RecordBatch>); 2] {
        let integers = |it: Vec<Option<i64>>| -> ArrayRef {
            Arc::new(it.into_iter().map(|it| it.map(|it| it as i32)).collect::<Int32Array>())
        };
        let t = vec![
            integers(self.t.iter().map(|it| Some(it.n)).collect()),
            integers(self.t.iter().map(|it| it.k).collect()),
            Arc::new(self.t.iter().map(|it| Some(it.g)).collect::<StringArray>()) as ArrayRef,
        ];
        let d = vec![
            integers(self.d.iter().map(|it| Some(it.0)).collect()),
            integers(self.d.iter().map(|it| Some(it.1)).collect()),
        ];
        let batch = |names: &[&str], columns: Vec<ArrayRef>| {
            let field = |(name, it): (&&str, &ArrayRef)| {
                let text = *it.data_type() == DataType::Utf8;
                Field::new(*name, if text { DataType::Utf8 } else { DataType::Int32 }, true)
            };
            let fields: Vec<Field> = names.iter().zip(&columns).map(field).collect();
            vec![RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()]
        };
        [("t", batch(&["n", "k", "g"], t)), ("d", batch(&["k", "w"], d))]
    }

    /// A query by chance.
    pub fn ask(&self, prng: &mut Prng) -> Question {
        let (low, k) = (prng.below(self.t.len() as u64 + 1) as i64, prng.below(130) as i64);
        match prng.below(6) {
            0 => self.sums(low, k),
            1 => self.groups(low),
            2 => self.join(k),
            3 => self.last(k),
            4 => self.rows(low, k),
            _ => self.distinct(low),
        }
    }

    fn where_k(&self, k: i64) -> impl Iterator<Item = &Row> {
        self.t.iter().filter(move |it| it.k.is_some_and(|it| it < k))
    }

    fn sums(&self, low: i64, k: i64) -> Question {
        let found: Vec<&Row> = self.where_k(k).filter(|it| it.n >= low).collect();
        let sum = found.iter().filter_map(|it| it.k).reduce(|a, b| a + b);
        let least = found.iter().map(|it| it.n).min();
        let answer = vec![format!("{}|{}|{}", found.len(), shown(sum), shown(least))];
        let sql = format!("SELECT count(*), sum(k), min(n) FROM t WHERE n >= {low} AND k < {k}");
        Question { sql, answer }
    }

    fn groups(&self, low: i64) -> Question {
        let mut groups: BTreeMap<&str, (i64, Option<i64>)> = BTreeMap::new();
        for row in self.t.iter().filter(|it| it.n >= low) {
            let group = groups.entry(row.g).or_default();
            group.0 += 1;
            group.1 = group.1.max(row.k);
        }
        let line =
            |(g, (count, most)): (&str, (i64, Option<i64>))| format!("{g}|{count}|{}", shown(most));
        let answer = groups.into_iter().map(line).collect();
        let sql =
            format!("SELECT g, count(*), max(k) FROM t WHERE n >= {low} GROUP BY g ORDER BY g");
        Question { sql, answer }
    }

    fn join(&self, k: i64) -> Question {
        let pairs = self.where_k(k).filter_map(|it| {
            let partner = self.d.iter().find(|d| Some(d.0) == it.k)?;
            Some(it.n * partner.1)
        });
        let (count, sum) =
            pairs.fold((0, None), |(count, sum), it| (count + 1, Some(sum.unwrap_or(0) + it)));
        let sql =
            format!("SELECT count(*), sum(t.n * d.w) FROM t JOIN d ON t.k = d.k WHERE t.k < {k}");
        Question { sql, answer: vec![format!("{count}|{}", shown(sum))] }
    }

    fn last(&self, k: i64) -> Question {
        let found = self.t.iter().rev().filter(|it| it.k == Some(k)).take(7);
        let answer = found.map(|it| format!("{}|{}", it.n, it.g)).collect();
        let sql = format!("SELECT n, g FROM t WHERE k = {k} ORDER BY n DESC LIMIT 7");
        Question { sql, answer }
    }

    fn rows(&self, low: i64, k: i64) -> Question {
        let found = self.where_k(k).filter(|it| it.n >= low);
        let answer = found.map(|it| format!("{}|{}|{}", it.n, shown(it.k), it.g)).collect();
        let sql = format!("SELECT n, k, g FROM t WHERE n >= {low} AND k < {k}");
        Question { sql, answer }
    }

    fn distinct(&self, low: i64) -> Question {
        let found: BTreeMap<Option<i64>, ()> =
            self.t.iter().filter(|it| it.n >= low).map(|it| (it.k, ())).collect();
        let answer = found.into_keys().map(shown).collect();
        Question { sql: format!("SELECT DISTINCT k FROM t WHERE n >= {low}"), answer }
    }
}

fn shown(value: Option<i64>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |it| it.to_string())
}

impl Question {
    /// What is wrong with an answer.
    pub fn differs(&self, answer: &Answer) -> Option<String> {
        let mut lines = Vec::new();
        for batch in &answer.batches {
            let cells: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
            lines.extend((0..batch.num_rows()).map(|row| {
                let cell = |it: &Cells<'_>| it.text(row).unwrap_or_else(|| "NULL".to_owned());
                cells.iter().map(cell).collect::<Vec<_>>().join("|")
            }));
        }
        let mut expected = self.answer.clone();
        if !self.sql.contains("ORDER BY") {
            lines.sort_unstable();
            expected.sort_unstable();
        }
        let at = lines.iter().zip(&expected).position(|(a, b)| a != b);
        let at =
            at.or((lines.len() != expected.len()).then_some(lines.len().min(expected.len())))?;
        let (is, should) = (lines.get(at), expected.get(at));
        Some(format!("{}: row {at} is {is:?}, should be {should:?}", self.sql))
    }
}
