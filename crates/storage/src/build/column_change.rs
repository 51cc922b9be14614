//! Tables with a column more or less, or with another in the place of one: the columns that are not touched are shared, and all
//! parts, rows and their ids stay where they are.

use arrow_array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow_select::take::take;
use stdx::sync::Arc;
use types::{ColumnId, ColumnStatistics, DataType, SqlError, SqlResult, SqlState};

use super::column::ColumnBuild;
use super::context::BuildContext;
use super::convert::piece_of;
use super::piece::{Piece, Pieces};
use super::text::near_unique;
use crate::domain::{Shared, domain};
use crate::place::ColumnPlace;
use crate::{BLOCK_ROWS, Column, ColumnSchema, ItemTraffic, Part, PlaceTarget, Table};

/// Rows that are converted at a time.
const CHUNK_ROWS: usize = 8 * BLOCK_ROWS;

/// What is done to a column.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnChange {
    /// One more comes behind all others.
    Add(ColumnSchema),
    /// It has other values, of this type.
    Retype(ColumnId, DataType),
    /// It has a type of other labels, as which the same places are read.
    Relabel(ColumnId, DataType),
    /// It goes. No index, key or partition may have it.
    Drop(ColumnId),
    /// It gets a name.
    Rename(ColumnId, String),
    /// It may hold NULL, or not.
    Nullable(ColumnId, bool),
}

impl Table {
    /// This table with a column changed, under the same id. `values` are those of a column that is built: one for each row, in
    /// the order of their positions, or one for all.
    ///
    /// Errors: those of storing the values; 23505 where they break a key.
    pub fn with_column_changed(
        &self,
        change: &ColumnChange,
        values: Option<&ArrayRef>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        if values.is_some() && self.rows() == 0 && self.has_changed() {
            // Rows that have gone have no values.
            return self.merged(context)?.with_column_changed(change, values, context);
        }
        let place = |it: &ColumnId| it.index();
        let schema = match change {
            ColumnChange::Add(schema) => Some((self.columns.len(), schema.clone())),
            ColumnChange::Retype(id, data_type) => {
                let old = self.column(*id);
                let schema = ColumnSchema::new(old.name.clone(), *data_type, old.nullable);
                Some((id.index(), schema))
            }
            _ => None,
        };
        match (change, schema, values) {
            (ColumnChange::Drop(id), ..) => self.without_column(*id),
            (ColumnChange::Rename(id, name), ..) => {
                Ok(self.with_each(place(id), &|it| Column { name: name.clone(), ..it.clone() }))
            }
            (ColumnChange::Relabel(id, data_type), ..) => {
                let relabelled = |it: &Column| Column { data_type: *data_type, ..it.clone() };
                Ok(self.with_each(place(id), &relabelled))
            }
            (ColumnChange::Nullable(id, nullable), ..) => {
                Ok(self.with_each(place(id), &|it| Column { nullable: *nullable, ..it.clone() }))
            }
            (_, Some((place, schema)), Some(values)) => {
                let is_new = place == self.columns.len();
                let built = self.built(place, &schema, values, context)?;
                let table = self.with_built(place, &schema, built, context)?;
                // What is new is in no key.
                let rules = self.rules.clone();
                if is_new { Ok(table) } else { table.with_rules(rules, context) }
            }
            _ => Err(SqlError::internal("a column without values")),
        }
    }

    /// Whether a row that is there holds NULL in a column.
    pub fn has_null(&self, column: ColumnId) -> bool {
        self.parts.iter().any(|it| it.has_null(column.index()))
    }

    fn with_each(&self, place: usize, change: &dyn Fn(&Column) -> Column) -> Self {
        let changed = |columns: &[Arc<Column>]| -> Vec<Arc<Column>> {
            let mut columns = columns.to_vec();
            columns[place] = Arc::new(change(&columns[place]));
            columns
        };
        let mut parts = self.parts.clone();
        for part in &mut parts {
            part.columns = Arc::new(changed(&part.columns));
            for replica in &mut part.replicas {
                replica.columns = changed(&replica.columns);
            }
        }
        let columns = match self.is_in_pieces() {
            true => changed(&self.columns),
            false => parts[0].columns.to_vec(),
        };
        self.version(parts, columns)
    }

    fn without_column(&self, id: ColumnId) -> SqlResult<Self> {
        let place = id.index();
        let has_it = |it: &ColumnId| *it == id;
        let in_rule = self.rules.indexes.iter().any(|it| it.columns.iter().any(has_it))
            || self.rules.references.iter().any(|it| it.columns.iter().any(has_it));
        if in_rule || self.partitioning().columns().iter().any(has_it) || self.columns.len() == 1 {
            return Err(SqlError::internal("a column that is needed cannot go"));
        }
        let mut parts = self.parts.clone();
        for part in &mut parts {
            Arc::make_mut(&mut part.columns).remove(place);
            if place < part.translations.len() {
                Arc::make_mut(&mut part.translations).remove(place);
            }
            for replica in &mut part.replicas {
                replica.columns.remove(place);
            }
        }
        let mut columns = self.columns.clone();
        columns.remove(place);
        let design = self.design.without_column(id);
        let rules = Arc::new(self.rules.without_column(id));
        let traffic = Arc::new(ItemTraffic::new(self.partitioning().parts(), columns.len()));
        Ok(Self { design, rules, traffic, ..self.version(parts, columns) })
    }

    /// The column of each part that has some values.
    fn built(
        &self,
        place: usize,
        schema: &ColumnSchema,
        values: &ArrayRef,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<Arc<Column>>> {
        let (mut pieces, mut first) = (Vec::with_capacity(self.parts.len()), 0);
        for part in &self.parts {
            pieces.push(pieces_of_part(part, first, schema, values, context)?);
            first += part.live_rows();
        }
        let is_text = schema.data_type.stored().is_text() || schema.data_type == DataType::Null;
        let mains = self.partitioning().parts();
        // Alike in all parts, as where they are built at once.
        let mut plain = None;
        if is_text {
            let all: Vec<&Piece> = pieces[..mains].iter().flatten().collect();
            plain = self.is_in_pieces().then_some(near_unique(context.parallel, &all)?.is_some());
        }
        let topology = context.allocator.machine().topology();
        let parts = self.parts.iter().zip(pieces);
        parts
            .map(|(part, pieces)| {
                let placement = self.design.placement_of(topology, place, part.number);
                let turn = self.design.turn_of(place, part.number, context.turn);
                let column_place = ColumnPlace::new(context.allocator, &placement, turn);
                let (pieces, context) = (Pieces::new(pieces), *context);
                let build = ColumnBuild { schema, pieces, context, place: column_place, plain };
                build.finish().map(Arc::new)
            })
            .collect()
    }

    /// This table with a column of each part at a place.
    fn with_built(
        &self,
        place: usize,
        schema: &ColumnSchema,
        built: Vec<Arc<Column>>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let put =
            |columns: &mut Vec<Arc<Column>>, column: &Arc<Column>| match columns.get_mut(place) {
                Some(it) => *it = column.clone(),
                None => columns.push(column.clone()),
            };
        let mut parts = self.parts.clone();
        for (part, column) in parts.iter_mut().zip(&built) {
            put(Arc::make_mut(&mut part.columns), column);
            part.replicas.iter_mut().for_each(|it| put(&mut it.columns, column));
        }
        let mut columns = self.columns.clone();
        let joined = match self.is_in_pieces() {
            false => built[0].clone(),
            true if parts.len() == 1 && !self.design.is_parted() => {
                let statistics = widened(&built[0].statistics, &parts);
                Arc::new(Column { statistics, ..Column::clone(&built[0]) })
            }
            true => {
                let shared = Shared { design: &self.design, column: place };
                let (column, translations) = domain(schema, shared, &parts, false, context)?;
                for (part, translation) in parts.iter_mut().zip(translations) {
                    let all = Arc::make_mut(&mut part.translations);
                    all.resize(part.columns.len(), None);
                    all[place] = translation;
                }
                let statistics = widened(&column.statistics, &parts);
                Arc::new(Column { statistics, ..column })
            }
        };
        put(&mut columns, &joined);
        let traffic = match columns.len() == self.columns.len() {
            true => self.traffic.clone(),
            false => Arc::new(ItemTraffic::new(self.partitioning().parts(), columns.len())),
        };
        let table = Self { traffic, ..self.version(parts, columns) };
        table.follow_preference(&PlaceTarget::Column(ColumnId(place as u16)), context)
    }
}

/// Facts of all rows of some parts, of which some may have gone.
fn widened(facts: &ColumnStatistics, parts: &[Part]) -> ColumnStatistics {
    if parts.iter().all(|it| it.deletions.is_none()) {
        return facts.clone();
    }
    let rows: u64 = parts.iter().map(|it| it.live_rows() as u64).sum();
    let distinct = facts.distinct.min(rows);
    ColumnStatistics { distinct, distinct_exact: false, widened: true, ..facts.clone() }
}

/// The values of the rows of a part, of which the first that is there has a number among all; rows that have gone get any.
fn pieces_of_part(
    part: &Part,
    first: usize,
    schema: &ColumnSchema,
    values: &ArrayRef,
    context: &BuildContext<'_>,
) -> SqlResult<Vec<Piece>> {
    let mut next = first;
    let mut pieces = Vec::with_capacity(part.rows.div_ceil(CHUNK_ROWS));
    for start in (0..part.rows).step_by(CHUNK_ROWS) {
        context.check_cancelled()?;
        let rows = start..part.rows.min(start + CHUNK_ROWS);
        let place = |row: usize| {
            let place = if values.len() == 1 { 0 } else { next.min(values.len() - 1) };
            next += usize::from(part.is_live(row));
            place as u32
        };
        let array = match values.is_empty() {
            true => new_null_array(values.data_type(), rows.len()),
            false => take(values, &UInt32Array::from_iter_values(rows.map(place)), None)
                .map_err(|error| SqlError::new(SqlState::INTERNAL, error.to_string()))?,
        };
        pieces.push(piece_of(&array, schema)?);
    }
    Ok(pieces)
}
