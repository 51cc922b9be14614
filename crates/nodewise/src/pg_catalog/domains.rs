//! The view `domain_constraints` of `information_schema`.

use ::types::{SqlResult, names};
use arrow_array::RecordBatch;

use super::constraints::domain_checks;
use super::standard_shapes;
use super::standard_types::catalog;
use crate::Session;
use crate::views::ViewBuilder;

pub(super) fn constraints(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::DOMAIN_CONSTRAINTS);
    for (own, it) in domain_checks(session) {
        view.row([
            catalog(session),
            names::schema_of(&own.name).into(),
            it.name.into(),
            catalog(session),
            names::schema_of(&own.name).into(),
            names::bare(&own.name).into(),
            "NO".into(),
            "NO".into(),
        ]);
    }
    view.finish()
}
