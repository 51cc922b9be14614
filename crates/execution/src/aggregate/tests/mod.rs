//! Aggregation against an oracle that goes row by row, and particular cases.

mod edges;
mod packed;
mod random;
mod single_group;
mod spilled;

use std::collections::HashMap;

use plan::{AggregateFunction, Expr};
use stdx::sync::Arc;
use types::{DataType, SqlResult, Value};

use super::{AggregateSink, AggregateSpec};
use crate::expression::Compiled;
use crate::testing::*;
use crate::{Batch, Layout, Rows, Sink, State};

/// A grouping by columns of the input.
#[derive(Clone, Debug)]
struct Query {
    keys: Vec<usize>,
    aggregates: Vec<Aggregate>,
}

#[derive(Clone, Debug)]
struct Aggregate {
    function: AggregateFunction,
    argument: Option<usize>,
    distinct: bool,
    filter: Option<usize>,
    data_type: DataType,
}

impl Query {
    /// Runs it, the batches dealt over slots.
    fn run(&self, layout: &Layout, batches: &[Batch], slots: usize) -> SqlResult<Arc<Rows>> {
        self.run_having(None, layout, batches, slots)
    }

    /// As [`Query::run`], with a condition on the finished groups.
    fn run_having(
        &self,
        having: Option<&Expr>,
        layout: &Layout,
        batches: &[Batch],
        slots: usize,
    ) -> SqlResult<Arc<Rows>> {
        let compile = |place: usize| {
            let expr = Expr::column(place, layout[place].data_type);
            Compiled::new(&expr, layout, &NoOutside).unwrap()
        };
        let keys = self.keys.iter().map(|&it| compile(it)).collect();
        let spec = |it: &Aggregate| AggregateSpec {
            function: it.function,
            argument: it.argument,
            rest: Vec::new(),
            distinct: it.distinct,
            order: Vec::new(),
            filter: it.filter,
            data_type: it.data_type,
        };
        let specs = self.aggregates.iter().map(spec).collect();
        // Arguments and filters are named by place among all columns.
        let arguments = (0..layout.len()).map(compile).collect();
        // As a planner would that knows of no key that comes twice.
        let rows: usize = batches.iter().map(|it| it.rows).sum();
        let mut sink =
            AggregateSink::new(keys, arguments, specs, slots)?.expecting(rows as f64, None);
        if let Some(condition) = having {
            sink = sink.having(condition, types::Zone::utc());
        }
        for (number, batch) in batches.iter().enumerate() {
            sink.consume(batch.clone(), &context(number * 7 / 3 % slots))?;
        }
        match sink.finish(&Serial(slots))? {
            State::Rows(rows) => Ok(rows),
            _ => panic!("a grouping leaves rows"),
        }
    }
}

fn aggregate(function: AggregateFunction, argument: usize, data_type: DataType) -> Aggregate {
    Aggregate { function, argument: Some(argument), distinct: false, filter: None, data_type }
}

fn count_rows() -> Aggregate {
    Aggregate {
        function: AggregateFunction::Count,
        argument: None,
        distinct: false,
        filter: None,
        data_type: DataType::BigInt,
    }
}

/// Rows by key, as tokens.
type ByKey = HashMap<Vec<String>, Vec<Value>>;

fn by_key(rows: Vec<Vec<Value>>, keys: usize) -> ByKey {
    let mut found = ByKey::new();
    for mut row in rows {
        let aggregates = row.split_off(keys);
        let old = found.insert(row.iter().map(token).collect(), aggregates);
        assert!(old.is_none(), "a group comes twice: {row:?}");
    }
    found
}
