//! What statements have cost, by their texts: the view of PostgreSQL's extension of the same name, without what there is none of here
//! (plans apart, blocks, WAL).

use ::types::SqlResult;
use arrow_array::RecordBatch;

use super::oids;
use super::shapes;
use super::shared::number;
use crate::Session;
use crate::views::ViewBuilder;

/// Nanoseconds of a millisecond, the unit of its times.
const MILLISECOND: f64 = 1e6;

pub(super) fn statements(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(shapes::PG_STAT_STATEMENTS);
    let sees_all = session.sees_all_texts();
    for (id, text, entry) in session.database.statements.texts.list() {
        let time = |it: f64| it / MILLISECOND;
        view.row([
            number(oids::OWNER),
            number(oids::DATABASE),
            true.into(),
            number(id),
            if sees_all { &*text } else { "<insufficient privilege>" }.into(),
            entry.calls.into(),
            time(entry.total).into(),
            time(entry.least).into(),
            time(entry.most).into(),
            time(entry.mean()).into(),
            time(entry.deviation()).into(),
            entry.rows.into(),
        ]);
    }
    view.finish()
}
