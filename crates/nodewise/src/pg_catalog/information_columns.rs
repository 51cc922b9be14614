//! The view `columns` of `information_schema`.

use ::types::{
    ColumnId, DataType, Identity, RowRules, SequenceDefinition, SqlError, SqlResult,
    ViewDefinition, names,
};
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::ArrowError;
use arrow_select::concat::concat_batches;
use binder::bind::changeable_columns;
use stdx::sync::{Arc, OnceLock};
use storage::ColumnSchema;

use super::attributes::shown_default;
use super::shared::{none, number};
use super::standard_types::{catalog, digits, octets, radix, said, said_type, sizes, udt};
use super::types::TYPES;
use super::{standard_shapes, system_views};
use crate::Session;
use crate::pg_types::{element_of, wire_type};
use crate::views::{Cell, ViewBuilder};

pub(super) fn columns(session: &Session) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::of(standard_shapes::COLUMNS);
    for of in listed(session) {
        for (place, column) in shown(&of.columns) {
            row(&mut view, session, &of, (place, column));
        }
    }
    let (own, of_system) = (view.finish()?, of_system(session)?);
    concat_batches(of_system.schema_ref(), [&own, &of_system]).map_err(malformed)
}

fn malformed(error: ArrowError) -> SqlError {
    SqlError::internal(format!("the view columns is malformed: {error}"))
}

/// The columns of the relations of the system, which are made once: only what the database is called depends on the session.
fn of_system(session: &Session) -> SqlResult<RecordBatch> {
    static ALL: OnceLock<SqlResult<RecordBatch>> = OnceLock::new();
    let made = ALL.get_or_init(|| {
        let mut view = ViewBuilder::of(standard_shapes::COLUMNS);
        for it in system_views::standard()? {
            let of = Listed {
                relation: names::joined(it.schema, it.name),
                columns: it.columns.clone(),
                rules: Arc::default(),
                is_updatable: Vec::new(),
            };
            for at in of.columns.iter().enumerate() {
                row(&mut view, session, &of, at);
            }
        }
        view.finish()
    });
    let made = made.as_ref().map_err(SqlError::clone)?;
    let mut columns = made.columns().to_vec();
    let name = || StringArray::from(vec![&*session.client.database; made.num_rows()]);
    for named in ["table_catalog", "udt_catalog"] {
        columns[made.schema_ref().index_of(named).map_err(malformed)?] = Arc::new(name());
    }
    RecordBatch::try_new(made.schema(), columns).map_err(malformed)
}

fn row(view: &mut ViewBuilder, session: &Session, of: &Listed, at: (usize, &ColumnSchema)) {
    let Listed { relation, rules, is_updatable, .. } = of;
    let (place, ColumnSchema { name, data_type, nullable, .. }) = at;
    let id = ColumnId(place as u16);
    let written = shown_default(rules, id, *data_type);
    let is_made = rules.generated(id).is_some();
    let (default, expression) = if is_made { (None, written) } else { (written, None) };
    let own: [Cell; 7] = [
        catalog(session),
        names::schema_of(relation).into(),
        names::bare(relation).into(),
        name.as_str().into(),
        number(place as i64 + 1),
        default.into(),
        said(*nullable),
    ];
    // Scopes, and what only the standard has.
    let standards_own: [Cell; 6] =
        [none(), none(), none(), Cell::Integer(None), (place + 1).to_string().into(), "NO".into()];
    let generated: [Cell; 3] = [
        if is_made { "ALWAYS" } else { "NEVER" }.into(),
        expression.into(),
        said(is_updatable.get(place).copied().unwrap_or_default()),
    ];
    let cells = own.into_iter().chain(type_cells(session, *data_type, rules, id));
    let cells = cells.chain(standards_own);
    view.row(
        cells.chain(identity_cells(session, relation, name, rules.identity(id))).chain(generated),
    );
}

/// From `data_type` to `udt_name`.
fn type_cells(
    session: &Session,
    data_type: DataType,
    rules: &RowRules,
    id: ColumnId,
) -> [Cell; 21] {
    let of = wire_type(data_type).oid;
    let element = i64::from(element_of(of).unwrap_or(of));
    let known = TYPES.iter().find(|it| it.oid == element);
    let (length, moment) = sizes(data_type);
    let kept = rules.fields(id);
    let (precision, scale) = match kept.and_then(|it| it.number) {
        Some(it) => (Some(it.precision.into()), Some(it.scale.into())),
        None => digits(data_type),
    };
    let moment = kept.and_then(|it| it.digits).map(i64::from).or(moment);
    let range = kept.filter(|it| it.range.is_some());
    let range = range.map(|it| it.suffix().trim_start().to_uppercase());
    let (udt_schema, udt_name) = udt(data_type, known.map_or("", |it| it.name));
    let domain = rules.domain(id);
    [
        said_type(data_type, known.map_or("", |it| it.sql)).into(),
        Cell::Integer(length),
        Cell::Integer(octets(data_type)),
        Cell::Integer(precision),
        Cell::Integer(radix(data_type)),
        Cell::Integer(scale),
        Cell::Integer(moment),
        range.into(),
        Cell::Integer(None),
        // Sets of characters and collations.
        none(),
        none(),
        none(),
        none(),
        none(),
        none(),
        if domain.is_some() { catalog(session) } else { none() },
        domain.map(|it| names::schema_of(it)).into(),
        domain.map(|it| names::bare(it)).into(),
        catalog(session),
        udt_schema.into(),
        udt_name.into(),
    ]
}

/// A type as views say it that are not about columns: from `data_type` to `interval_precision`, and its name of PostgreSQL.
pub(super) fn said_type_cells(session: &Session, of: DataType) -> ([Cell; 15], [Cell; 3]) {
    let all = type_cells(session, of, &RowRules::default(), ColumnId(0));
    let [
        name,
        length,
        octets,
        precision,
        radix,
        scale,
        moment,
        range,
        digits,
        set_catalog,
        set_schema,
        set,
        order_catalog,
        order_schema,
        order,
        _,
        _,
        _,
        udt_catalog,
        udt_schema,
        udt,
    ] = all;
    let said = [
        name,
        length,
        octets,
        set_catalog,
        set_schema,
        set,
        order_catalog,
        order_schema,
        order,
        precision,
        radix,
        scale,
        moment,
        range,
        digits,
    ];
    (said, [udt_catalog, udt_schema, udt])
}

/// From `is_identity` to `identity_cycle`.
fn identity_cells(
    session: &Session,
    relation: &str,
    column: &str,
    identity: Option<Identity>,
) -> [Cell; 7] {
    let numbers = identity.and_then(|_| session.identity_sequence(relation, column).ok());
    let numbers = numbers.map(|it| it.definition.clone());
    let bound = |of: fn(&SequenceDefinition) -> i64| -> Cell {
        numbers.as_ref().map(|it| of(it).to_string()).into()
    };
    let kind = identity.map(|it| if it.always { "ALWAYS" } else { "BY DEFAULT" }.to_owned());
    [
        said(identity.is_some()),
        kind.into(),
        bound(|it| it.start),
        bound(|it| it.increment),
        bound(|it| it.max),
        bound(|it| it.min),
        said(numbers.as_ref().is_some_and(|it| it.cycles)),
    ]
}

/// A relation with its columns.
pub(super) struct Listed {
    pub(super) relation: String,
    pub(super) columns: Vec<ColumnSchema>,
    /// Those of a view are none.
    pub(super) rules: Arc<RowRules>,
    /// By column.
    is_updatable: Vec<bool>,
}

/// The columns that people see, with their places.
pub(super) fn shown(columns: &[ColumnSchema]) -> impl Iterator<Item = (usize, &ColumnSchema)> {
    columns.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name))
}

/// All tables and views with their columns.
pub(super) fn listed(session: &Session) -> Vec<Listed> {
    let snapshot = session.snapshot();
    let tables = super::relations::all(session).into_iter().map(|it| Listed {
        relation: it.name.clone(),
        columns: it.schema(),
        rules: it.rules().rows.clone(),
        is_updatable: vec![true; it.columns.len()],
    });
    let columns = |it: &ViewDefinition| {
        it.columns.iter().map(|it| ColumnSchema::new(&it.0, it.1, true)).collect()
    };
    let views = snapshot.views().into_iter().filter(|it| it.materialized.is_none());
    let views = views.map(|it| Listed {
        relation: it.name.clone(),
        columns: columns(&it),
        rules: Arc::default(),
        is_updatable: changeable_columns(&it.name, &*snapshot).unwrap_or_default(),
    });
    tables.chain(views).collect()
}
