//! A table: a file for each part, and one for what they share and what may change without them.

use types::{SqlError, SqlResult, TableId};

use super::column::{ColumnReader, write_column};
use super::container::{Kind, Reader, Writer};
use super::design::{column_id, design_record, read_design, read_rules, rules_record};
use super::medium::{Sink, Source, damaged, in_file};
use super::record::Record;
use super::values::{read_type, type_record};
use crate::part::Translation;
use crate::place::ColumnPlace;
use crate::{
    BLOCK_ROWS, BuildContext, Column, ColumnSchema, ItemTraffic, Part, Rules, Table, TableDesign,
};
use placement::Placement;
use stdx::sync::Arc;

/// What tells the file of a part from all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartStamp {
    /// Its bytes.
    pub bytes: u64,
    /// The checksum of its directory, which holds those of all else.
    pub checksum: u32,
}

/// Writes a part of a table: its columns, with nothing that depends on other parts, on names or on rules. So the file of
/// a part stays good as long as its rows do. Panics when there is no such part.
pub fn write_part(table: &Table, part: usize, sink: &mut dyn Sink) -> SqlResult<PartStamp> {
    let part = &table.parts()[part];
    let mut writer = Writer::new(sink);
    let columns = part.columns.iter().map(|it| write_column(it, &mut writer));
    let columns = columns.collect::<SqlResult<Vec<Record>>>()?;
    let meta = Record::default().count("rows", part.rows()).list("columns", columns);
    let (bytes, checksum) = writer.finish(Kind::Part, meta)?;
    Ok(PartStamp { bytes, checksum })
}

/// Writes what the parts of a table share; `stamps` are those of the files of its parts. The length of the file.
pub fn write_table(table: &Table, stamps: &[PartStamp], sink: &mut dyn Sink) -> SqlResult<u64> {
    if stamps.len() != table.parts().len() {
        return Err(SqlError::internal("a table is written with the files of some of its parts"));
    }
    let mut writer = Writer::new(sink);
    let column = |it: &Arc<Column>| {
        Record::default()
            .text("name", &*it.name)
            .record("type", type_record(it.data_type))
            .number("nullable", it.nullable)
    };
    let mut parts = Vec::with_capacity(stamps.len());
    for (part, stamp) in table.parts().iter().zip(stamps) {
        let mut translations = Vec::new();
        for place in 0..table.columns.len() {
            let Some(translation) = part.translation(place) else { continue };
            writer.segment("translation", translation.segment().as_bytes())?;
            let codes = translation.codes().len();
            translations.push(Record::default().count("column", place).count("codes", codes));
        }
        let record = Record::default().number("bytes", stamp.bytes);
        let record = record.number("checksum", stamp.checksum).count("first", part.first);
        parts.push(record.list("translations", translations));
    }
    let mut shared = Vec::new();
    if table.design().is_parted() {
        for column in &table.columns {
            shared.push(write_column(column, &mut writer)?);
        }
    }
    let meta = Record::default()
        .number("id", table.id.0)
        .text("name", &*table.name)
        .list("columns", table.columns.iter().map(column).collect())
        .record("design", design_record(table.design()))
        .record("rules", rules_record(table.rules()))
        .list("parts", parts)
        .list("shared", shared);
    Ok(writer.finish(Kind::Table, meta)?.0)
}

/// Reads a table of its file and those of its parts, in their order. Memory is placed as when the table is built, and filled
/// by the workers of the context. The table has the id that it was written with.
pub fn read_table(
    file: &dyn Source,
    parts: &[&dyn Source],
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let mut reader = in_file(file, Reader::open(file))?;
    let head = in_file(file, Head::read(&mut reader, context))?;
    if head.parts.len() != parts.len() {
        let message = format!("it has {} parts, not {}", head.parts.len(), parts.len());
        return in_file(file, Err(damaged(message)));
    }
    let mut read = Vec::with_capacity(parts.len());
    for (number, source) in parts.iter().enumerate() {
        read.push(in_file(*source, head.part(number, *source, context))?);
    }
    let table = in_file(file, head.table(read, reader, context))?;
    table.follow_preference(context)
}

/// What the file of a table says of a part.
struct PartHead {
    stamp: PartStamp,
    first: usize,
    /// The columns whose codes are translated, and how many codes.
    translations: Vec<(usize, usize)>,
}

/// What the file of a table says before any column is read.
struct Head {
    id: TableId,
    name: String,
    schema: Vec<ColumnSchema>,
    design: TableDesign,
    rules: Rules,
    parts: Vec<PartHead>,
}

impl Head {
    fn read(reader: &mut Reader<'_>, context: &BuildContext<'_>) -> SqlResult<Self> {
        if reader.kind != Kind::Table as u32 {
            return Err(damaged("it is not the file of a table"));
        }
        let topology = context.allocator.machine().topology();
        let meta = &mut reader.meta;
        let (id, name) = (TableId(meta.take_number("id")?), meta.take_text("name")?);
        let schema = meta.take_each("columns", |it| {
            let (name, nullable) = (it.take_text("name")?, it.take_flag("nullable")?);
            Ok(ColumnSchema { name, data_type: it.take_record("type", read_type)?, nullable })
        })?;
        if schema.len() > usize::from(u16::MAX) {
            return Err(damaged("it has too many columns"));
        }
        let design = meta.take_record("design", |it| read_design(it, &schema, topology))?;
        let rules = meta.take_record("rules", |it| read_rules(it, schema.len()))?;
        let parts = meta.take_each("parts", |it| {
            let (bytes, checksum) = (it.take_number("bytes")?, it.take_number("checksum")?);
            let translations = it.take_each("translations", |it| {
                let column = column_id(it.take_number("column")?, schema.len())?;
                Ok((column.index(), it.take_number("codes")?))
            })?;
            let first = it.take_number("first")?;
            Ok(PartHead { stamp: PartStamp { bytes, checksum }, first, translations })
        })?;
        if parts.len() != design.partitioning.parts() {
            return Err(damaged("it has another number of parts than it is cut into"));
        }
        Ok(Self { id, name, schema, design, rules, parts })
    }

    /// Reads the file of a part.
    fn part(
        &self,
        number: usize,
        source: &dyn Source,
        context: &BuildContext<'_>,
    ) -> SqlResult<Part> {
        let (head, topology) = (&self.parts[number], context.allocator.machine().topology());
        let mut reader = Reader::open(source)?;
        let stamp = PartStamp { bytes: source.bytes(), checksum: reader.checksum };
        if reader.kind != Kind::Part as u32 || stamp != head.stamp {
            let message = format!("it is not the file of part {number} of \"{}\"", self.name);
            return Err(damaged(message));
        }
        let rows: usize = reader.meta.take_number("rows")?;
        let records = reader.meta.take_list("columns")?;
        if records.len() != self.schema.len() {
            return Err(damaged("it has another number of columns than its table"));
        }
        let parted = self.design.is_parted();
        let mut columns = Vec::with_capacity(records.len());
        for (place, (mut record, schema)) in records.into_iter().zip(&self.schema).enumerate() {
            let placement = self.design.placement_of(topology, place, number);
            let turn = if parted { number } else { context.turn.wrapping_add(place) };
            let to = ColumnPlace::new(context.allocator, &placement, turn);
            let column = ColumnReader { schema, place: to, parts: None, context };
            let column = column.read(&mut record, &mut reader)?;
            record.close()?;
            if column.rows() != rows {
                return Err(damaged(format!("column \"{}\" has other rows", column.name)));
            }
            columns.push(Arc::new(column));
        }
        reader.close()?;
        let nodes = if parted { self.design.nodes_of_part(topology, number) } else { Vec::new() };
        let (translations, replicas) = (Vec::new(), Vec::new());
        Ok(Part { columns, rows, first: head.first, nodes, translations, replicas })
    }

    /// The table of its parts, and of what is left in its file.
    fn table(
        self,
        mut parts: Vec<Part>,
        mut reader: Reader<'_>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Table> {
        self.check_positions(&parts)?;
        for (head, part) in self.parts.iter().zip(&mut parts) {
            part.translations = read_translations(head, part, &mut reader, context)?;
        }
        let rows = parts.iter().map(|it| it.rows as u64).sum();
        let shared = reader.meta.take_list("shared")?;
        let columns = match self.design.is_parted() {
            true => self.shared(shared, &parts, &mut reader, context)?,
            false => parts[0].columns.clone(),
        };
        reader.close()?;
        check_translations(&parts, &columns)?;
        let (id, name, rules) = (self.id, self.name, Arc::new(self.rules));
        let traffic = Arc::new(ItemTraffic::new(parts.len(), columns.len()));
        let indexed = |it: &Part| {
            it.columns.iter().enumerate().all(|it| it.1.index.is_some() == rules.has_index(it.0))
        };
        let built = parts.iter().all(indexed);
        let design = self.design;
        let table = Table { id, name, columns, rows, parts, design, rules, traffic };
        match built {
            true => Ok(table),
            // An index may have come or gone since the file of a part was written.
            false => {
                let rules = table.rules.clone();
                table.with_rules(rules, context)
            }
        }
    }

    /// Parts begin at blocks of their own, and all positions have 32 bits.
    fn check_positions(&self, parts: &[Part]) -> SqlResult<()> {
        let mut end = 0;
        for part in parts {
            let behind = part.first.checked_add(part.rows).filter(|it| *it <= u32::MAX as usize);
            match behind {
                Some(behind) if part.first >= end && part.first.is_multiple_of(BLOCK_ROWS) => {
                    end = behind;
                }
                _ => return Err(damaged("its parts are said to lie where they cannot")),
            }
        }
        Ok(())
    }

    /// The columns that know what all parts have in common.
    fn shared(
        &self,
        records: Vec<Record>,
        parts: &[Part],
        reader: &mut Reader<'_>,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<Arc<Column>>> {
        if records.len() != self.schema.len() {
            return Err(damaged("it has other columns than its parts"));
        }
        let everywhere = everywhere(parts.iter().flat_map(|it| it.nodes.iter().copied()));
        let mut columns = Vec::with_capacity(records.len());
        for (place, (mut record, schema)) in records.into_iter().zip(&self.schema).enumerate() {
            let to = ColumnPlace::new(context.allocator, &everywhere, 0);
            let column = ColumnReader { schema, place: to, parts: Some((place, parts)), context };
            let column = column.read(&mut record, reader)?;
            record.close()?;
            if column.rows() != parts.iter().map(Part::rows).sum::<usize>() {
                return Err(damaged(format!("column \"{}\" has other rows", column.name)));
            }
            columns.push(Arc::new(column));
        }
        Ok(columns)
    }
}

/// On all of some nodes.
fn everywhere(nodes: impl Iterator<Item = hardware::NodeId>) -> Placement {
    let mut nodes: Vec<_> = nodes.collect();
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.is_empty() { Placement::Os } else { Placement::Interleaved(nodes) }
}

fn read_translations(
    head: &PartHead,
    part: &Part,
    reader: &mut Reader<'_>,
    context: &BuildContext<'_>,
) -> SqlResult<Vec<Option<Translation>>> {
    let mut translations: Vec<Option<Translation>> = vec![None; part.columns.len()];
    let placement = everywhere(part.nodes.iter().copied());
    let place = ColumnPlace::new(context.allocator, &placement, 0);
    for &(column, len) in &head.translations {
        let mut entries = reader.take(1)?;
        let allocate = |bytes: usize| place.dictionary(bytes, 0);
        let segment = entries.read("translation", len.checked_mul(4), allocate, context)?;
        translations[column] = Some(Translation { segment: Arc::new(segment), len });
    }
    Ok(translations)
}

/// A translation leads from each code of a part to one of the table; without one they are the same.
fn check_translations(parts: &[Part], columns: &[Arc<Column>]) -> SqlResult<()> {
    for part in parts {
        for (place, column) in columns.iter().enumerate() {
            let (own, all) = (part.columns[place].code_count(), column.code_count());
            let right = match part.translation(place) {
                Some(it) => {
                    let codes = it.codes();
                    codes.len() == own && codes.iter().all(|it| (*it as usize) < all)
                }
                None => own <= all || matches!(column.encoding, crate::Encoding::Parts),
            };
            if !right {
                let name = &column.name;
                return Err(damaged(format!("codes of column \"{name}\" lead nowhere")));
            }
        }
    }
    Ok(())
}
