//! A table: columns of equal length, in one part or several.

use memory::Segment;
use stdx::sync::Arc;
use types::{
    ColumnId, ColumnInfo, ColumnStatistics, DataType, SqlError, SqlResult, SqlState, TableId,
    TableInfo, Value,
};

use crate::domain::{Shared, domain, heap_of, plain_domain};
use crate::part::{Part, Replica};
use crate::{
    BLOCK_ROWS, BuildContext, Column, ColumnSchema, DenseKey, Dictionary, Encoding, ItemTraffic,
    Partitioning, Preference, RowStream, Rules, TableDesign,
};

/// An immutable table; an append makes a new one.
#[derive(Debug)]
pub struct Table {
    /// Its id, given by the catalog.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// Its columns in order. In a table with several parts they know the statistics and the texts, and the rows are in
    /// the columns of its parts.
    pub columns: Vec<Arc<Column>>,
    pub(crate) rows: u64,
    pub(crate) parts: Vec<Part>,
    pub(crate) design: TableDesign,
    /// Its keys and indexes.
    pub(crate) rules: Arc<Rules>,
    /// What was read of it, shared with the table that it was moved from.
    pub(crate) traffic: Arc<ItemTraffic>,
    /// What makes its rows, where it holds none itself.
    pub(crate) stream: Option<Arc<dyn RowStream>>,
}

/// A segment of a table, and what it is of it.
#[derive(Clone, Copy, Debug)]
pub struct Component<'a> {
    /// The column.
    pub column: ColumnId,
    /// The part; `None` for what all parts share.
    pub part: Option<usize>,
    /// The number of the copy; `None` for the original.
    pub replica: Option<usize>,
    /// `iv`, `zones`, `dictionary`, `texts`, `ends`, `nulls`, `translation`, `key rows`, ...
    pub name: &'static str,
    /// The memory.
    pub segment: &'a Arc<Segment>,
}

impl Table {
    /// A table in one piece.
    pub(crate) fn whole(
        name: &str,
        columns: Vec<Arc<Column>>,
        rows: u64,
        design: TableDesign,
    ) -> Self {
        let part = Part { rows: rows as usize, ..Part::new(columns.clone(), 0, 0, Vec::new()) };
        let traffic = Arc::new(ItemTraffic::new(1, columns.len()));
        Self {
            id: TableId(0),
            name: name.into(),
            columns,
            rows,
            parts: vec![part],
            design,
            rules: Arc::default(),
            traffic,
            stream: None,
        }
    }

    /// A table whose rows nobody keeps: a stream makes them for each scan. It lives as long as a statement.
    pub fn streamed(
        name: &str,
        schema: &[ColumnSchema],
        stream: Arc<dyn RowStream>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        Ok(Self { stream: Some(stream), ..Self::empty(name, schema, context)? })
    }

    /// What makes its rows, where it holds none itself.
    pub fn stream(&self) -> Option<&Arc<dyn RowStream>> {
        self.stream.as_ref()
    }

    /// A table of parts with these columns.
    pub(crate) fn parted(
        name: &str,
        schema: &[ColumnSchema],
        columns: Vec<Vec<Arc<Column>>>,
        design: TableDesign,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let topology = context.allocator.machine().topology();
        let mut parts = Vec::with_capacity(columns.len());
        let (mut first, mut rows) = (0, 0);
        for (number, columns) in columns.into_iter().enumerate() {
            parts.push(Part::new(columns, number, first, design.nodes_of_part(topology, number)));
            let here = parts[number].rows;
            first += here.next_multiple_of(BLOCK_ROWS);
            rows += here as u64;
        }
        check_positions(name, &parts)?;
        let mut columns = Vec::with_capacity(schema.len());
        for (place, schema) in schema.iter().enumerate() {
            context.check_cancelled()?;
            let key = design.partitioning.columns();
            let additive = key.len() == 1 && key[0].index() == place;
            let shared = Shared { design: &design, column: place };
            let (column, translations) = domain(schema, shared, &parts, additive, context)?;
            columns.push(Arc::new(column));
            for (part, translation) in parts.iter_mut().zip(translations) {
                Arc::make_mut(&mut part.translations).push(translation);
            }
        }
        let (id, rules) = (TableId(0), Arc::default());
        let traffic = Arc::new(ItemTraffic::new(parts.len(), columns.len()));
        let (name, stream) = (name.into(), None);
        Ok(Self { id, name, columns, rows, parts, design, rules, traffic, stream })
    }

    /// Its rows, without those that have gone.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Its parts, in the order of their positions: those it is cut into by number, then their deltas. A table in one piece
    /// has one.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How its rows are cut into parts.
    pub fn partitioning(&self) -> &Partitioning {
        &self.design.partitioning
    }

    /// How its columns shall be placed.
    pub fn preference(&self) -> &Preference {
        &self.design.preference
    }

    /// Its keys and indexes.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// What was read of it.
    pub fn traffic(&self) -> &ItemTraffic {
        &self.traffic
    }

    /// How it is cut and placed.
    pub fn design(&self) -> &TableDesign {
        &self.design
    }

    /// A column by id.
    pub fn column(&self, id: ColumnId) -> &Arc<Column> {
        &self.columns[id.index()]
    }

    /// The id under which a scan gives the positions of rows ([`Part::positions`]), as statements that change rows ask for:
    /// that behind all columns.
    pub fn position_column(&self) -> ColumnId {
        ColumnId(self.columns.len() as u16)
    }

    /// The names and types of its columns.
    pub fn schema(&self) -> Vec<ColumnSchema> {
        self.columns.iter().map(|it| it.schema()).collect()
    }

    /// Whether its columns have the names and types of another's, and may hold NULL where they may.
    pub fn has_schema_of(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Arc<Column>, &Arc<Column>)| {
            one.data_type == other.data_type
                && one.nullable == other.nullable
                && one.name == other.name
        };
        self.columns.len() == other.columns.len()
            && self.columns.iter().zip(&other.columns).all(is_same)
    }

    /// Whether its rows are in columns of parts, or some have gone: its own columns then tell only what all parts have in
    /// common.
    pub fn is_in_pieces(&self) -> bool {
        self.design.is_parted() || self.has_changed()
    }

    /// Whether it has deltas, or rows of it have gone.
    pub fn has_changed(&self) -> bool {
        self.parts.len() > self.design.partitioning.parts()
            || self.parts.iter().any(|it| it.deletions.is_some())
    }

    /// The value of a row of a column; slow. Rows that are there are numbered from 0 over all parts. Panics past the end.
    pub fn value(&self, column: ColumnId, row: u64) -> Value {
        let mut row = row as usize;
        for part in &self.parts {
            if row < part.live_rows() {
                let place = match part.deletions() {
                    None => Some(row),
                    Some(gone) => (0..part.rows()).filter(|it| !gone.contains(*it)).nth(row),
                };
                let place = place.expect("invariant: so many rows are there");
                return part.columns[column.index()].value(place);
            }
            row -= part.live_rows();
        }
        panic!("row {row} past the end of table {}", self.name);
    }

    /// A column of which each integer from the least to the greatest is in one row of what the table was built of. Rows that
    /// came later, in deltas, have values that no other row has.
    pub fn dense_key(&self, column: ColumnId) -> Option<DenseKey<'_>> {
        let is_key = || !self.has_changed() || self.is_key(column);
        match self.partitioning() {
            Partitioning::None => self.rising_key(column).filter(|_| is_key()),
            _ => {
                let places = self.column(column).key_rows.as_ref().filter(|_| is_key())?;
                let (min, rows) = (places.min(), places.rows().len());
                Some(DenseKey { min, rows, places: Some(places) })
            }
        }
    }

    /// A column of the main of a table in one piece whose value in each row is the least one plus the row's number.
    fn rising_key(&self, column: ColumnId) -> Option<DenseKey<'_>> {
        let main = &self.parts[0].columns[column.index()];
        let (facts, rows) = (&main.statistics, main.rows());
        let rises = facts.sorted && facts.nulls == 0 && facts.distinct_exact;
        let is_key = rises && rows > 0 && facts.distinct == rows as u64;
        let ends = facts.min.as_ref().and_then(Value::as_i128).zip(facts.max.as_ref()?.as_i128());
        let (min, max) = ends.filter(|_| is_key)?;
        let is_offset = matches!(main.encoding, Encoding::Offset { .. });
        let min = i64::try_from(min).ok().filter(|_| is_offset && max - min + 1 == rows as i128)?;
        Some(DenseKey { min, rows, places: None })
    }

    /// The columns as the planner sees them.
    fn column_infos(&self) -> Vec<ColumnInfo> {
        let mut infos: Vec<ColumnInfo> = self.columns.iter().map(|it| it.info()).collect();
        for rule in &self.rules.indexes {
            for column in rule.inverted_columns() {
                infos[column.index()].index.get_or_insert_with(|| rule.name.clone());
            }
        }
        infos
    }

    /// The table as the planner sees it.
    pub fn info(&self) -> TableInfo {
        let mut columns = self.column_infos();
        if let Some(stream) = &self.stream {
            let rows = stream.expected_rows();
            columns.iter_mut().for_each(|it| it.statistics = guessed(it, rows));
            return TableInfo {
                id: self.id,
                name: self.name.clone(),
                columns,
                rows,
                is_guess: true,
            };
        }
        for (place, column) in columns.iter_mut().enumerate() {
            column.numbers_rows = self.dense_key(ColumnId(place as u16)).is_some();
            column.scan_bytes = self.parts.iter().map(|it| it.columns[place].scan_bytes()).sum();
        }
        let (name, rows, is_guess) = (self.name.clone(), self.rows, false);
        TableInfo { id: self.id, name, columns, rows, is_guess }
    }

    /// Bytes of all its columns, with copies.
    pub fn memory_bytes(&self) -> u64 {
        self.components().iter().map(|it| it.segment.bytes() as u64).sum()
    }

    /// Its segments, column by column: of each part, of copies of it, and what the parts share.
    pub fn components(&self) -> Vec<Component<'_>> {
        let mut components: Vec<Component<'_>> = Vec::new();
        for place in 0..self.columns.len() {
            let column = ColumnId(place as u16);
            for (number, part) in self.parts.iter().enumerate() {
                let part_number = Some(number);
                let own = part.columns[place].segments();
                for &(name, segment) in &own {
                    components.push(Component {
                        column,
                        part: part_number,
                        replica: None,
                        name,
                        segment,
                    });
                }
                if let Some(translation) = part.translation(place) {
                    let (name, segment) = ("translation", &translation.segment);
                    components.push(Component {
                        column,
                        part: part_number,
                        replica: None,
                        name,
                        segment,
                    });
                }
                for (copy, replica) in part.replicas.iter().enumerate() {
                    for (name, segment) in replica.columns[place].segments() {
                        // What is not copied is shared.
                        if own.iter().all(|it| !Arc::ptr_eq(it.1, segment)) {
                            let replica = Some(copy);
                            components.push(Component {
                                column,
                                part: part_number,
                                replica,
                                name,
                                segment,
                            });
                        }
                    }
                }
            }
            if self.is_in_pieces() {
                let parts = || self.parts.iter().flat_map(|it| it.columns[place].segments());
                let shared = &self.columns[place];
                let key_rows = shared.key_rows.iter().map(|it| ("key rows", it.segment()));
                for (name, segment) in shared.segments().into_iter().chain(key_rows) {
                    // What a part has too was counted there.
                    if segment.bytes() > 0 && !parts().any(|it| Arc::ptr_eq(it.1, segment)) {
                        let (part, replica) = (None, None);
                        components.push(Component { column, part, replica, name, segment });
                    }
                }
            }
        }
        components
    }

    /// [`Table::components`] as pairs for views: column, part, name, segment.
    pub fn component_placement(
        &self,
    ) -> impl Iterator<Item = (ColumnId, Option<usize>, &'static str, &Arc<Segment>)> {
        self.components().into_iter().map(|it| (it.column, it.part, it.name, it.segment))
    }

    pub(crate) fn no_such_part(&self, part: usize) -> SqlError {
        let message = format!(
            "table \"{}\" has no part {part}; it has parts 0 to {}",
            self.name,
            self.partitioning().parts() - 1
        );
        SqlError::new(SqlState::INVALID_PARAMETER, message)
    }

    /// The same rows under another design, in columns that were moved.
    pub(crate) fn with_parts(&self, parts: Vec<Part>, design: TableDesign) -> Self {
        let columns = match self.is_in_pieces() {
            true => (0..self.columns.len()).map(|it| self.joined_again(it, &parts)).collect(),
            false => parts[0].columns.to_vec(),
        };
        Self { design, ..self.version(parts, columns) }
    }

    /// What the columns of parts that were moved have in common, as it was before: its texts are theirs as they are now.
    fn joined_again(&self, place: usize, parts: &[Part]) -> Arc<Column> {
        let (column, main) = (&self.columns[place], &parts[0].columns[place]);
        if parts.len() == 1 && !self.design.is_parted() {
            let statistics = column.statistics.clone();
            return Arc::new(Column { statistics, ..Column::clone(main) });
        }
        let encoding = match &column.encoding {
            Encoding::Plain(_) => plain_domain(parts, place),
            // The dictionary of the main may be that of the table.
            Encoding::Dictionary(Dictionary::Text(heap))
                if heap.is(heap_of(&self.parts[0].columns[place])) =>
            {
                main.encoding.clone()
            }
            _ => return column.clone(),
        };
        Arc::new(Column { encoding, ..Column::clone(column) })
    }

    /// Another version of the table: of these parts, whose columns have this in common.
    pub(crate) fn version(&self, parts: Vec<Part>, columns: Vec<Arc<Column>>) -> Self {
        let (id, name, design) = (self.id, self.name.clone(), self.design.clone());
        let (rules, traffic) = (self.rules.clone(), self.traffic.clone());
        let rows = parts.iter().map(|it| it.live_rows() as u64).sum();
        Self { id, name, columns, rows, parts, design, rules, traffic, stream: None }
    }

    /// The copies of each part, for tests and views.
    pub fn replicas(&self) -> impl Iterator<Item = &Replica> {
        self.parts.iter().flat_map(|it| &it.replicas)
    }
}

/// What is said of a column whose values nobody has seen: texts often repeat, numbers seldom.
fn guessed(column: &ColumnInfo, rows: u64) -> ColumnStatistics {
    let distinct = match column.data_type.stored() {
        DataType::Boolean => 2,
        it if it.is_text() => rows.isqrt(),
        _ => rows / 2,
    };
    ColumnStatistics {
        nulls: u64::from(column.nullable),
        distinct: distinct.max(1),
        distinct_exact: false,
        min: None,
        max: None,
        sorted: false,
        widened: true,
    }
}

/// Refuses positions of rows that are too great: those of plain columns travel as 32-bit codes.
pub(crate) fn check_positions(name: &str, parts: &[Part]) -> SqlResult<()> {
    let end = parts.last().map_or(0, |it| it.first + it.rows.next_multiple_of(BLOCK_ROWS));
    if end <= u32::MAX as usize {
        return Ok(());
    }
    let rows: usize = parts.iter().map(Part::rows).sum();
    let message = format!(
        "table \"{name}\" would have {rows} rows in {} parts, which is too many",
        parts.len()
    );
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}
