//! From the rows of a finished query to Arrow: the output's last step, by tasks near the rows (P-HANA 5.2).

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType as ArrowType, Field, Schema, SchemaRef, TimeUnit};
use execution::{Accesses, Batch, Executed, Rows, map_batches};
use memory::Workspace;
use plan::{ColumnOrigin, OutputColumn};
use stdx::sync::Arc;
use storage::outside;
use types::{DataType, SqlError, SqlResult, Value, Zone, numeric};

/// The schema of a result as others see it; moments are in UTC ([`Session::zoned`]).
pub fn schema_of(output: &[OutputColumn]) -> SchemaRef {
    let field = |it: &OutputColumn| {
        let field = outside::field(&it.name, it.data_type, None);
        match is_text_of(it.data_type) && numeric::depends_on_zone(it.data_type, DataType::Text) {
            true => zoned_texts(&field, &Zone::utc()),
            false => field,
        }
    };
    Arc::new(Schema::new(output.iter().map(field).collect::<Vec<_>>()))
}

/// Whether values of a type go out as texts that may tell moments.
fn is_text_of(data_type: DataType) -> bool {
    data_type.has_parts() || data_type.range().is_some()
}

/// What of a field says in which time zone its texts tell moments.
const ZONE: &str = "nodewise.zone";

fn zoned_texts(field: &Field, zone: &Zone) -> Field {
    field.clone().with_metadata([(ZONE.to_owned(), zone.arrow_name())].into())
}

/// The schema of the rows of a result as tables hold them.
pub fn held_schema_of(output: &[OutputColumn]) -> SchemaRef {
    let field = |it: &OutputColumn| Field::new(&it.name, storage::arrow_type(it.data_type), true);
    Arc::new(Schema::new(output.iter().map(field).collect::<Vec<_>>()))
}

/// The types of a result.
pub fn types_of(output: &[OutputColumn]) -> Vec<DataType> {
    output.iter().map(|it| it.data_type).collect()
}

/// Where the columns of a result come from.
pub fn origins_of(output: &[OutputColumn]) -> Vec<Option<ColumnOrigin>> {
    output.iter().map(|it| it.origin).collect()
}

use crate::{CancelToken, Described, Session};

impl Described {
    /// Rows of such columns.
    pub(crate) fn of(output: &[OutputColumn]) -> Self {
        Self { schema: schema_of(output), types: types_of(output), origins: origins_of(output) }
    }
}

/// The memory that rows are in, and the number of the pipeline that they come from.
pub(crate) type PlaceOfRows<'a> = (&'a Arc<Workspace>, usize);

/// Where the rows of a finished query are.
pub(crate) fn place_of(executed: &Executed) -> PlaceOfRows<'_> {
    (&executed.workspace, executed.reports.len().saturating_sub(1))
}

impl Session {
    /// Rows of such columns, with their moments in the time zone of the session.
    pub(crate) fn described(&self, output: &[OutputColumn]) -> Described {
        let described = Described::of(output);
        Described { schema: self.zoned(&described.schema), ..described }
    }

    /// The schema of a result with its moments in the time zone of the session.
    pub(crate) fn zoned(&self, schema: &SchemaRef) -> SchemaRef {
        let is_moment =
            |it: &Arc<Field>| matches!(it.data_type(), ArrowType::Timestamp(_, Some(_)));
        let has_moments = |it: &Arc<Field>| it.metadata().contains_key(ZONE);
        let zone = self.settings.client.zone();
        if zone.is_utc() || !schema.fields().iter().any(|it| is_moment(it) || has_moments(it)) {
            return schema.clone();
        }
        let name: Arc<str> = zone.arrow_name().into();
        let field = |it: &Arc<Field>| match is_moment(it) {
            _ if has_moments(it) => Arc::new(zoned_texts(it, &zone)),
            true => {
                let moment = ArrowType::Timestamp(TimeUnit::Microsecond, Some(name.clone()));
                Arc::new(Field::clone(it).with_data_type(moment))
            }
            false => it.clone(),
        };
        Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
    }

    /// What is made of each batch of rows of a schema ([`Self::zoned`]), as they are shown: CHAR with its blanks.
    pub(crate) fn shown_batches<T: Send>(
        &self,
        rows: &Rows,
        place: PlaceOfRows<'_>,
        schema: &SchemaRef,
        cancel: &CancelToken,
        map: &(dyn Fn(RecordBatch) -> T + Sync),
    ) -> SqlResult<Vec<T>> {
        self.batches(rows, place, schema, cancel, (&shown, map))
    }

    /// The rows of a finished query as Arrow batches, as tables hold them.
    pub(crate) fn record_batches(
        &self,
        executed: &Executed,
        schema: &SchemaRef,
        cancel: &CancelToken,
    ) -> SqlResult<Vec<RecordBatch>> {
        let own = |array: ArrayRef, _: DataType, _: &Field| array;
        let finish = (&own as Finish<'_>, &(|it| it) as &_);
        let mut batches: Vec<RecordBatch> =
            self.batches(&executed.rows, place_of(executed), schema, cancel, finish)?;
        batches.retain(|it| it.num_rows() > 0);
        Ok(batches)
    }

    fn batches<T: Send>(
        &self,
        rows: &Rows,
        (workspace, pipeline): PlaceOfRows<'_>,
        schema: &SchemaRef,
        cancel: &CancelToken,
        (finish, map): (Finish<'_>, &(dyn Fn(RecordBatch) -> T + Sync)),
    ) -> SqlResult<Vec<T>> {
        let mut team = self.team(cancel, pipeline);
        team.settings.workspace = workspace.clone();
        let traffic = &self.database.traffic;
        let accesses = Arc::new(Accesses::new(traffic, self.database.scheduler.slots()));
        team.settings.accesses = accesses.clone();
        let _entered = workspace.enter(None);
        let convert = |batch: &Batch| to_record_batch(batch, rows, schema, finish).map(map);
        let made = map_batches(rows, &team, &convert)?;
        traffic.settle(&accesses);
        Ok(made)
    }
}

/// The last step of a column, for a field.
type Finish<'a> = &'a (dyn Fn(ArrayRef, DataType, &Field) -> ArrayRef + Sync);

fn to_record_batch(
    batch: &Batch,
    rows: &Rows,
    schema: &SchemaRef,
    finish: &dyn Fn(ArrayRef, DataType, &Field) -> ArrayRef,
) -> SqlResult<RecordBatch> {
    let columns: Vec<ArrayRef> = (batch.columns.iter().zip(&rows.layout))
        .zip(schema.fields())
        .map(|((vector, shape), field)| {
            finish(execution::arrow::to_arrow(vector, shape), shape.data_type, field)
        })
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|error| SqlError::internal(format!("a result does not fit its schema: {error}")))
}

/// The values of a column as they are shown in a field: CHAR(n) is held without the blanks that fill it, and some types are
/// held as others.
pub(crate) fn shown(array: ArrayRef, data_type: DataType, field: &Field) -> ArrayRef {
    if is_text_of(data_type) {
        return texts_of(&array, data_type, field);
    }
    let DataType::Char(length) = data_type else {
        return outside::shown(&array, data_type, field);
    };
    let Some(texts) = array.as_string_opt::<i32>() else { return array };
    let is_full = |it: &str| it.chars().count() >= length as usize;
    if texts.iter().flatten().all(is_full) {
        return array;
    }
    let padded = texts.iter().map(|it| it.map(|it| numeric::padded(it, length)));
    Arc::new(StringArray::from_iter(padded))
}

/// Arrays as PostgreSQL writes them: no type of Arrow has all dimensions and bounds that they may have
/// ([`Answer::with_lists`](crate::Answer::with_lists) makes lists of those that are). Structs and maps as they are written.
fn texts_of(array: &ArrayRef, data_type: DataType, field: &Field) -> ArrayRef {
    let Some(held) = array.as_string_opt::<i32>() else { return array.clone() };
    let zone =
        field.metadata().get(ZONE).and_then(|it| Zone::of_arrow_name(it)).unwrap_or_default();
    let text = |it: &str| {
        let mut out = String::new();
        numeric::format::value(&Value::Text(it.into()), data_type, &zone, &mut out);
        out
    };
    Arc::new(StringArray::from_iter(held.iter().map(|it| it.map(text))))
}
