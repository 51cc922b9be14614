//! Rewrites against the meaning of relations: random queries, interpreted before and after.
//!
//! Constant rows become tables with exact statistics, so that keys, bounds and dense numbers are what rewrites may use.

use std::collections::HashMap;

use plan::relation::{Query, Rel, ScanRel};
use plan::{BinaryOperator, Expr, ExprKind};
use stdx::prng::Prng;
use stdx::sync::Arc;
use types::{ColumnInfo, ColumnStatistics, DataType, TableId, TableInfo, Value};

use super::optimise;
use crate::options::Options;
use crate::unnest::tests::generator::Generator;
use crate::unnest::tests::interpreter::answer;
use crate::unnest::unnest;

/// The rows of the tables.
#[derive(Default)]
struct Tables(HashMap<u32, Vec<Vec<Expr>>>);

impl Tables {
    /// Constant rows as a table, where they are rows of one.
    fn store(&mut self, rel: Rel) -> Rel {
        let Rel::Values { output, rows } = &rel else { return rel };
        let plain = |it: &Expr| matches!(it.kind, ExprKind::Literal(_));
        let adjacent = output.windows(2).all(|it| it[0] + 1 == it[1]);
        if output.is_empty() || !adjacent || !rows.iter().flatten().all(plain) {
            return rel;
        }
        let id = self.0.len() as u32;
        let columns = (0..output.len()).map(|place| column(place, rows)).collect();
        let count = rows.len() as u64;
        let table = TableInfo {
            id: TableId(id),
            name: format!("t{id}"),
            columns,
            rows: count,
            is_guess: false,
        };
        self.0.insert(id, rows.clone());
        let (table, filters) = (Arc::new(table), Vec::new());
        Rel::Scan(ScanRel { table, base: output[0], filters, rows: count as f64 })
    }

    /// What the interpreter knows: constant rows in the place of tables, conditions in the place of keys.
    fn restore(&self, rel: Rel) -> Rel {
        match rel {
            Rel::Scan(scan) => {
                let output = (scan.base..scan.base + scan.table.columns.len()).collect();
                let rows = self.0[&scan.table.id.0].clone();
                Rel::Values { output, rows }.filtered(scan.filters)
            }
            Rel::Join(mut join) => {
                let keys = std::mem::take(&mut join.keys).into_iter();
                let equal = |it: (Expr, Expr)| Expr::predicate(BinaryOperator::Equal, it.0, it.1);
                join.residual.splice(0..0, keys.map(equal));
                Rel::Join(join)
            }
            other => other,
        }
    }
}

fn column(place: usize, rows: &[Vec<Expr>]) -> ColumnInfo {
    let mut values: Vec<i64> = Vec::new();
    let mut nulls = 0;
    for row in rows {
        match row[place].kind {
            ExprKind::Literal(Value::Integer(it)) => values.push(it),
            _ => nulls += 1,
        }
    }
    let sorted = nulls == 0 && values.is_sorted();
    values.sort_unstable();
    values.dedup();
    let statistics = ColumnStatistics {
        nulls,
        distinct: values.len() as u64,
        distinct_exact: true,
        min: values.first().map(|it| Value::Integer(*it)),
        max: values.last().map(|it| Value::Integer(*it)),
        sorted,
        widened: false,
    };
    let (name, data_type) = (format!("c{place}"), DataType::BigInt);
    let span = values.first().zip(values.last()).map(|it| it.1 - it.0 + 1);
    let numbers_rows = sorted && span == Some(rows.len() as i64);
    let (nullable, scan_bytes, index) = (true, 8, None);
    ColumnInfo { name, data_type, nullable, statistics, scan_bytes, numbers_rows, index }
}

/// Replaces every relation of a query.
fn each(query: &mut Query, body: &mut dyn FnMut(Rel) -> Rel) {
    let scalars = query.scalars.iter_mut().map(|it| &mut it.rel);
    for rel in query.shared.iter_mut().chain(scalars).chain([&mut query.root]) {
        *rel = rel.take().transform(&mut |it| Ok(body(it))).expect("nothing fails");
    }
}

#[test]
fn random_queries_mean_the_same_after_all_rewrites() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let count = setting("NODEWISE_REWRITE_CASES").unwrap_or(3000);
    let first = setting("NODEWISE_REWRITE_SEED").unwrap_or(0);
    let mut full = 0;
    for seed in first..first + count {
        let mut generator = Generator::new(Prng::new(seed));
        let mut query = generator.query();
        let mut tables = Tables::default();
        each(&mut query, &mut |it| tables.store(it));
        let mut expected = query.clone();
        each(&mut expected, &mut |it| tables.restore(it));
        let never = types::Interrupt::default();
        unnest(&mut query, &mut crate::Outsides::default(), &never)
            .expect("every query can be unnested");
        let expected = answer(&expected);
        full += u64::from(expected.as_ref().is_ok_and(|it| !it.is_empty()));
        for rewrites in [false, true] {
            let mut found = query.clone();
            optimise(&mut found, Options { rewrites, ..Options::default() }, &never)
                .expect("every query can be optimised");
            each(&mut found, &mut |it| tables.restore(it));
            let answered = answer(&found);
            if generator.may_raise && (expected.is_err() || answered.is_err()) {
                continue;
            }
            assert_eq!(expected, answered, "seed {seed}\n{query:#?}\n\n{found:#?}");
        }
    }
    assert!(full > count / 10, "{full} answers with rows");
}
