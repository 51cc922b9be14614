//! The view `nodewise.functions`: the scalar functions and the aggregates, from the tables that the binder looks in.

use arrow_array::RecordBatch;
use functions::Volatility;
use types::SqlResult;

use super::{Columns, ViewBuilder};

/// The columns of [`rows`].
pub(super) const COLUMNS: Columns = &[("function_name", 't'), ("kind", 't'), ("volatility", 't')];

/// A row for each name.
pub fn rows() -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMNS);
    let scalars = functions::names().map(|name| {
        let function = functions::lookup(name).expect("invariant: a listed name is found");
        (name, "scalar", word(functions::volatility(function)))
    });
    let aggregates = binder::bind::aggregate_names().map(|it| (it, "aggregate", "immutable"));
    let of_json = binder::bind::json_names().map(|it| (it, "scalar", "immutable"));
    let mut all: Vec<_> = scalars.chain(of_json).chain(aggregates).collect();
    all.sort_unstable();
    for (name, kind, volatility) in all {
        view.row([name.into(), kind.into(), volatility.into()]);
    }
    view.finish()
}

fn word(volatility: Volatility) -> &'static str {
    match volatility {
        Volatility::Immutable => "immutable",
        Volatility::Stable => "stable",
        Volatility::Volatile => "volatile",
    }
}
