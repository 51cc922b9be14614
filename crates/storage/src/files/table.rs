//! A table: a file for each part, and one for what they share and what may change without them.

use types::{SqlError, SqlResult, TableId};

use super::column::{ColumnReader, write_column};
use super::container::{Kind, Reader, Writer};
use super::design::{column_id, design_record, read_design, read_rules, rules_record};
use super::medium::{Sink, Source, damaged, in_file};
use super::record::Record;
use super::values::{read_statistics, read_type, statistics_record, type_record};
use crate::domain::Shared;
use crate::part::Translation;
use crate::place::ColumnPlace;
use crate::tail::is_looked_through;
use crate::{
    BLOCK_ROWS, BuildContext, Column, ColumnSchema, Deletions, ItemTraffic, Part, PlaceTarget,
    Rules, Table, TableDesign,
};
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

/// What tells a file of a part from all others.
pub fn part_stamp(source: &dyn Source) -> SqlResult<PartStamp> {
    let reader = in_file(source, Reader::open(source))?;
    Ok(PartStamp { bytes: source.bytes(), checksum: reader.checksum })
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
            writer.segment("translation", translation.segment())?;
            let codes = translation.codes().len();
            translations.push(Record::default().count("column", place).count("codes", codes));
        }
        let record = Record::default().number("bytes", stamp.bytes);
        let record = record.number("checksum", stamp.checksum).count("first", part.first);
        let record = record.count("number", part.number).list("deleted", deletions_records(part));
        parts.push(record.list("translations", translations));
    }
    let (mut shared, mut facts) = (Vec::new(), Vec::new());
    for column in table.columns.iter().filter(|_| table.is_in_pieces()) {
        match is_marked_only(table.design(), table.parts().len()) {
            // The rest of them is that of the part.
            true => facts.push(statistics_record(&column.statistics)),
            false => shared.push(write_column(column, &mut writer)?),
        }
    }
    let meta = Record::default()
        .number("id", table.id.0)
        .text("name", &*table.name)
        .list("columns", table.columns.iter().map(column).collect())
        .record("design", design_record(table.design()))
        .record("rules", rules_record(table.rules()))
        .list("parts", parts)
        .list("facts", facts)
        .list("shared", shared);
    Ok(writer.finish(Kind::Table, meta)?.0)
}

/// Whether a table that is in pieces is so only as rows of it have gone.
fn is_marked_only(design: &TableDesign, parts: usize) -> bool {
    !design.is_parted() && parts == 1
}

/// The rows of a part that have gone: a record for each block of which some have, with a bit for each row.
fn deletions_records(part: &Part) -> Vec<Record> {
    let blocks = part.deletions().into_iter().flat_map(|it| it.blocks().enumerate());
    let record = |(block, bits): (usize, Option<&[u64]>)| {
        let bytes = bits?.iter().flat_map(|it| it.to_le_bytes()).collect();
        Some(Record::default().count("block", block).bytes("bits", bytes))
    };
    blocks.filter_map(record).collect()
}

fn read_deletions(meta: &mut Record) -> SqlResult<Option<Arc<Deletions>>> {
    let mut blocks: Vec<Option<Vec<u64>>> = Vec::new();
    for mut record in meta.take_list("deleted")? {
        let (block, bytes): (usize, _) = (record.take_number("block")?, record.take_bytes("bits")?);
        record.close()?;
        if block < blocks.len() || block > u32::MAX as usize / BLOCK_ROWS {
            return Err(damaged("its deleted rows are said to lie where they cannot"));
        }
        blocks.resize(block, None);
        let (words, _) = bytes.as_chunks();
        blocks.push(Some(words.iter().map(|it| u64::from_le_bytes(*it)).collect()));
    }
    if blocks.is_empty() {
        return Ok(None);
    }
    let deletions = Deletions::of_blocks(blocks.iter().map(Option::as_deref));
    let deletions = deletions.ok_or_else(|| damaged("its deleted rows are malformed"))?;
    Ok(Some(Arc::new(deletions)))
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
    table.follow_preference(&PlaceTarget::Table, context)
}

/// What the file of a table says of a part.
struct PartHead {
    stamp: PartStamp,
    first: usize,
    number: usize,
    deletions: Option<Arc<Deletions>>,
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
            let (first, number) = (it.take_number("first")?, it.take_number("number")?);
            let (deletions, stamp) = (read_deletions(it)?, PartStamp { bytes, checksum });
            Ok(PartHead { stamp, first, number, deletions, translations })
        })?;
        // Those that it is cut into come first, then the deltas of any of them.
        let mains = design.partitioning.parts();
        let is_right = |(place, it): (usize, &PartHead)| {
            it.number == place || place >= mains && it.number < mains
        };
        if parts.len() < mains || !parts.iter().enumerate().all(is_right) {
            return Err(damaged("it has other parts than it is cut into"));
        }
        Ok(Self { id, name, schema, design, rules, parts })
    }

    /// Reads the file of a part.
    fn part(
        &self,
        place: usize,
        source: &dyn Source,
        context: &BuildContext<'_>,
    ) -> SqlResult<Part> {
        let (head, topology) = (&self.parts[place], context.allocator.machine().topology());
        let number = head.number;
        let mut reader = Reader::open(source)?;
        let stamp = PartStamp { bytes: source.bytes(), checksum: reader.checksum };
        if reader.kind != Kind::Part as u32 || stamp != head.stamp {
            let message = format!("it is not the file of part {place} of \"{}\"", self.name);
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
            let turn = self.design.turn_of(place, number, context.turn);
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
        let last = head.deletions.as_ref().and_then(|it| it.last());
        if last.is_some_and(|it| it >= rows) {
            return Err(damaged("it has fewer rows than have gone"));
        }
        let part = Part::new(columns, number, head.first, nodes);
        Ok(Part { deletions: head.deletions.clone(), ..part })
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
            let read = read_translations(head, (part, &self.design), &mut reader, context)?;
            part.translations = read.into();
        }
        let rows = parts.iter().map(|it| it.live_rows() as u64).sum();
        let (shared, facts) = (reader.meta.take_list("shared")?, reader.meta.take_list("facts")?);
        let has_changed = parts.len() > 1 || parts[0].deletions.is_some();
        let columns = match has_changed || self.design.is_parted() {
            true if is_marked_only(&self.design, parts.len()) => with_facts(&parts[0], facts)?,
            true => self.shared(shared, &parts, &mut reader, context)?,
            false => parts[0].columns.to_vec(),
        };
        reader.close()?;
        check_translations(&parts, &columns)?;
        let (id, name, rules) = (self.id, self.name, Arc::new(self.rules));
        let mains = self.design.partitioning.parts();
        let traffic = Arc::new(ItemTraffic::new(mains, columns.len()));
        let indexed = |(number, part): (usize, &Part)| {
            let is_indexed = !is_looked_through(part, number, mains);
            let wanted = |it: usize| is_indexed && rules.has_index(it);
            part.columns.iter().enumerate().all(|it| it.1.index.is_some() == wanted(it.0))
        };
        let built = parts.iter().enumerate().all(indexed);
        let design = self.design;
        let stream = None;
        let table = Table { id, name, columns, rows, parts, design, rules, traffic, stream };
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
        let mut columns = Vec::with_capacity(records.len());
        for (place, (mut record, schema)) in records.into_iter().zip(&self.schema).enumerate() {
            let of_all = Shared { design: &self.design, column: place };
            let placement = of_all.placement(context);
            let to = of_all.place(&placement, context);
            let column = ColumnReader { schema, place: to, parts: Some((place, parts)), context };
            let mut column = column.read(&mut record, reader)?;
            record.close()?;
            let main = &parts[0].columns[place];
            let has_codes_of_main =
                parts[0].translation(place).is_none() && main.code_count() == column.code_count();
            if !self.design.is_parted() && column.code_count() > 0 && has_codes_of_main {
                // As when the first delta came: the dictionary of the main is that of the table.
                column.encoding = main.encoding.clone();
            }
            if column.rows() != parts.iter().map(Part::rows).sum::<usize>() {
                return Err(damaged(format!("column \"{}\" has other rows", column.name)));
            }
            columns.push(Arc::new(column));
        }
        Ok(columns)
    }
}

/// The columns of a part with facts of their own: rows of it have gone.
fn with_facts(part: &Part, facts: Vec<Record>) -> SqlResult<Vec<Arc<Column>>> {
    if facts.len() != part.columns.len() {
        return Err(damaged("it tells facts about other columns than it has"));
    }
    let column = |(column, mut record): (&Arc<Column>, Record)| {
        let statistics = read_statistics(&mut record)?;
        record.close()?;
        Ok(Arc::new(Column { statistics, ..Column::clone(column) }))
    };
    part.columns.iter().zip(facts).map(column).collect()
}

fn read_translations(
    head: &PartHead,
    (part, design): (&Part, &TableDesign),
    reader: &mut Reader<'_>,
    context: &BuildContext<'_>,
) -> SqlResult<Vec<Option<Translation>>> {
    let mut translations: Vec<Option<Translation>> = vec![None; part.columns.len()];
    let topology = context.allocator.machine().topology();
    for &(column, len) in &head.translations {
        let placement = design.placement_of(topology, column, part.number);
        let turn = design.turn_of(column, part.number, context.turn);
        let place = ColumnPlace::new(context.allocator, &placement, turn);
        let mut entries = reader.take(1)?;
        let places = |bytes: usize| place.places_of_dictionary(bytes, 0);
        let segment = entries.read("translation", len.checked_mul(4), places, context)?;
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
