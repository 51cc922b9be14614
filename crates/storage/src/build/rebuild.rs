//! Tables made of tables: with more rows, cut into other parts, with one part made two.
//!
//! A table does not change, so each of these builds the columns of the parts that do and shares all others.

use arrow_array::RecordBatch;
use hardware::NodeId;
use types::{ColumnId, SqlError, SqlResult, SqlState, Value};

use super::context::BuildContext;
use super::reader::{ChunkReader, RowSource};
use super::sources::{BatchRows, Chained, KeptRows};
use super::{build_designed, build_table, parts};
use crate::partition::Router;
use crate::preference::check_nodes;
use crate::{ColumnSchema, Part, Partitioning, PlaceTarget, Table, TableDesign};

impl Table {
    /// A table without rows.
    pub fn empty(
        name: &str,
        schema: &[ColumnSchema],
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        build_table(name, schema, &BatchRows::new(Vec::new()), context)
    }

    /// This table with more rows, under the same id. Columns of the batches go by place. All columns of the parts that grow are
    /// decoded and encoded anew, so the cost is that of these parts; [`Table::changed`] keeps what came beside them.
    pub fn append(&self, batches: &[RecordBatch], context: &BuildContext<'_>) -> SqlResult<Self> {
        self.append_rows(&BatchRows::new(batches.to_vec()), context)
    }

    /// This table put together anew without the rows at some positions, which rise, and with more rows, under the same id.
    pub(crate) fn rewritten(
        &self,
        gone: &[u64],
        batches: &[RecordBatch],
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        if gone.is_empty() && !self.has_changed() {
            return self.append(batches, context);
        }
        self.rebuilt_with(gone, &BatchRows::new(batches.to_vec()), context)
    }

    /// All parts built anew, of the rows that are left and new ones.
    fn rebuilt_with(
        &self,
        gone: &[u64],
        new: &dyn RowSource,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let (schema, design) = (self.schema(), self.followed_design());
        let kept = KeptRows::new(self, gone);
        let rows = Chained::new(vec![&kept, new]);
        // Few rows are not worth waking workers for, for their indexes neither.
        let reader = ChunkReader::new(&schema, &rows, context);
        let context = reader.context();
        let table = build_designed(&self.name, &schema, &rows, design, context)?;
        Self { id: self.id, ..table }.with_rules(self.rules().clone(), context)
    }

    /// This table without its rows, under the same id.
    pub fn emptied(&self, context: &BuildContext<'_>) -> SqlResult<Self> {
        let (schema, design) = (self.schema(), self.followed_design());
        let none = BatchRows::new(Vec::new());
        let table = build_designed(&self.name, &schema, &none, design, context)?;
        Self { id: self.id, ..table }.with_rules(self.rules().clone(), context)
    }

    /// This table with the rows of a source behind its own; in a table with parts, behind those of each part.
    pub(crate) fn append_rows(
        &self,
        new: &dyn RowSource,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let (schema, design) = (self.schema(), self.followed_design());
        let router = Router::new(&design.partitioning, &schema, self.rows() as usize)?;
        let Some(router) = router.filter(|_| !self.has_changed()) else {
            return self.rebuilt_with(&[], new, context);
        };
        let reader = ChunkReader::new(&schema, new, context);
        let columns = parts::build(&reader, &router, &design, self.parts())?;
        let table = Self::parted(&self.name, &schema, columns, design, context)?;
        let table =
            Self { id: self.id, ..table }.follow_preference(&PlaceTarget::Table, context)?;
        table.with_rules(self.rules().clone(), context)
    }

    /// This table cut into other parts, dealt to some nodes (none: those that were demanded for the table, else all).
    /// Demands for its columns stay; those for the table, for parts and rows are forgotten, but for one of the table that
    /// becomes a single piece.
    pub fn repartitioned(
        &self,
        partitioning: &Partitioning,
        nodes: &[NodeId],
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        check_nodes(context.allocator.machine().topology(), nodes)?;
        let (preference, part_nodes) = match partitioning {
            Partitioning::None => {
                (self.preference().for_other_parts(|_| None).followed(), nodes.to_vec())
            }
            _ => self.preference().for_new_parts(nodes),
        };
        let design = TableDesign {
            partitioning: partitioning.clone(),
            part_nodes,
            part_turns: Vec::new(),
            preference,
        };
        let schema = self.schema();
        let table =
            build_designed(&self.name, &schema, &KeptRows::new(self, &[]), design, context)?;
        Self { id: self.id, ..table }.with_rules(self.rules().clone(), context)
    }

    /// This table with two neighbouring range parts made one: `part` and the one behind it. Other parts stay as they
    /// are, so that an empty part is dropped at the cost of nothing.
    pub fn merge_parts(&self, part: usize, context: &BuildContext<'_>) -> SqlResult<Self> {
        if self.has_changed() {
            return self.merged(context)?.merge_parts(part, context);
        }
        let (column, bounds) = self.range_bounds("merged")?;
        if part >= bounds.len() {
            return Err(self.no_such_part(part + 1));
        }
        let mut merged = bounds.to_vec();
        merged.remove(part);
        let partitioning = Partitioning::Range { column, bounds: merged };
        let renumber = |old: usize| match old {
            old if old <= part => Some(old),
            old => Some(old - 1).filter(|&it| it != part),
        };
        self.rebuilt(partitioning, part..part + 2, part..part + 1, renumber, context)
    }

    /// This table with a range part cut in two at a value, which begins the second. Other parts stay as they are.
    pub fn split_part(&self, at: &Value, context: &BuildContext<'_>) -> SqlResult<Self> {
        if self.has_changed() {
            return self.merged(context)?.split_part(at, context);
        }
        let (column, bounds) = self.range_bounds("split")?;
        let schema = self.schema();
        let part = self.partitioning().part_of(&schema, &[at]).unwrap_or(0);
        let mut split = bounds.to_vec();
        split.insert(part, at.clone());
        let partitioning = Partitioning::Range { column, bounds: split };
        partitioning.check(&schema)?;
        let renumber = |old: usize| Some(if old <= part { old } else { old + 1 });
        self.rebuilt(partitioning, part..part + 1, part..part + 2, renumber, context)
    }

    fn range_bounds(&self, what: &str) -> SqlResult<(ColumnId, &[Value])> {
        match self.partitioning() {
            Partitioning::Range { column, bounds } => Ok((*column, bounds)),
            _ => {
                let message =
                    format!("only parts of ranges can be {what}; table \"{}\" has none", self.name);
                Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                    .with_hint("partition the whole table anew"))
            }
        }
    }

    /// Builds the parts `new` of the rows of the parts `old`, and keeps all others.
    fn rebuilt(
        &self,
        partitioning: Partitioning,
        old: std::ops::Range<usize>,
        new: std::ops::Range<usize>,
        renumber: impl Fn(usize) -> Option<usize>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let schema = self.schema();
        let preference = self.preference().for_other_parts(renumber).followed();
        let part_nodes = self.design().part_nodes.clone();
        let part_turns = self.design().turns_with(old.clone(), new.clone());
        let design = TableDesign { partitioning, part_nodes, part_turns, preference };
        // As if the parts were there and empty: each gets the rows that the router deals to it.
        let empty = |number| {
            parts::empty_part(&self.parts()[old.start], &schema, (&design, number), context)
        };
        let fresh = new.map(empty).collect::<SqlResult<Vec<Part>>>()?;
        let (before, behind) = (&self.parts()[..old.start], &self.parts()[old.end..]);
        let parts = [before, &fresh, behind].concat();
        let Some(router) = Router::new(&design.partitioning, &schema, 0)? else {
            return Err(SqlError::internal("a table of ranges has no router"));
        };
        let rows = KeptRows::of_parts(self.parts(), &old.collect::<Vec<_>>(), &[]);
        let reader = ChunkReader::new(&schema, &rows, context);
        let columns = parts::build(&reader, &router, &design, &parts)?;
        let table = Self::parted(&self.name, &schema, columns, design, context)?;
        let table = Self { id: self.id, ..table };
        let table = match self.preference().rows().next() {
            None => table,
            // Parts that stay lie where rows were demanded that have other numbers now.
            Some(_) => table.follow_deferred(context)?,
        };
        let table = table.follow_preference(&PlaceTarget::Table, context)?;
        table.with_rules(self.rules().clone(), context)
    }

    fn followed_design(&self) -> TableDesign {
        TableDesign { preference: self.preference().followed(), ..self.design().clone() }
    }
}
