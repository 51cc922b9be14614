//! A column: its segments as they are, and a record of what they mean.

use memory::Segment;
use types::{SqlResult, Value};

use super::container::{Entries, Reader, Writer};
use super::medium::damaged;
use super::record::Record;
use super::values::{read_statistics, read_type, statistics_record, type_record};
use crate::dense_keys::rows_of_dense_key;
use crate::dictionary::Sorted;
use crate::domain::plain_domain;
use crate::place::ColumnPlace;
use crate::zones::ZONE_BYTES;
use crate::{
    BLOCK_ROWS, BuildContext, Column, ColumnSchema, Dictionary, Encoding, IndexVector,
    InvertedIndex, Part, PlainStrings, PlainTexts, StringHeap, SymbolTable, Zones,
};

/// Writes the segments of a column; the record tells the rest, but for what belongs to the table: name and nullability.
pub(super) fn write_column(column: &Column, writer: &mut Writer<'_>) -> SqlResult<Record> {
    let segments = column.segments();
    for (name, segment) in &segments {
        writer.segment(name, segment)?;
    }
    let mut record = Record::default()
        .count("segments", segments.len())
        .record("type", type_record(column.data_type))
        .record("statistics", statistics_record(&column.statistics))
        .count("rows", column.rows())
        .count("code count", column.code_count())
        .count("zones", column.zones.len())
        .record("iv", vector_record(column.iv()))
        .record("encoding", encoding_record(&column.encoding));
    if let Some(marks) = column.null_rows() {
        record = record.record("nulls", vector_record(marks));
    }
    if let Some(index) = &column.index {
        let (least, shift, prefix) = index.facts();
        let [starts, positions] = index.vectors();
        let index = Record::default().number("least", least).number("shift", shift);
        let index = index.count("prefix", prefix).record("starts", vector_record(starts));
        record = record.record("index", index.record("positions", vector_record(positions)));
    }
    Ok(record)
}

fn vector_record(vector: &IndexVector) -> Record {
    Record::default().number("bits", vector.bits()).count("rows", vector.rows())
}

fn encoding_record(encoding: &Encoding) -> Record {
    let kind = |it: &str| Record::default().text("kind", it);
    match encoding {
        Encoding::Offset { min } => kind("offset").number("min", *min),
        Encoding::Dictionary(Dictionary::Int(it)) => {
            kind("integers").count("values", it.as_slice().len())
        }
        Encoding::Dictionary(Dictionary::Wide(it)) => {
            kind("wide").count("values", it.as_slice().len())
        }
        Encoding::Dictionary(Dictionary::Float(it)) => {
            kind("floats").count("values", it.as_slice().len())
        }
        Encoding::Dictionary(Dictionary::Text(it)) => heap_record(kind("texts"), it),
        Encoding::Plain(PlainStrings::Own(it)) => {
            let record = heap_record(kind("plain"), it.stored());
            match it.symbols() {
                Some(symbols) => record.bytes("symbols", symbols.to_bytes()),
                None => record,
            }
        }
        Encoding::Plain(PlainStrings::Parts(_)) => kind("plain of parts"),
        Encoding::Raw => kind("raw"),
        Encoding::Parts => kind("parts"),
    }
}

fn heap_record(record: Record, heap: &StringHeap) -> Record {
    record
        .count("values", heap.len())
        .count("used", heap.all_bytes().len())
        .number("wide", heap.narrow_ends().is_none())
}

/// A vector whose bits a kernel exists for.
fn read_vector(record: &mut Record) -> SqlResult<(u32, usize)> {
    let (bits, rows): (u32, usize) = (record.take_number("bits")?, record.take_number("rows")?);
    if rows > u32::MAX as usize || bits > 32 && bits != 64 {
        return Err(damaged(format!("there is no vector of {rows} codes of {bits} bits")));
    }
    Ok((bits, rows))
}

/// What a column is read with.
pub(super) struct ColumnReader<'a> {
    pub(super) schema: &'a ColumnSchema,
    /// Where it goes, as if it were built.
    pub(super) place: ColumnPlace<'a>,
    /// For a column of the table: its number, and the parts that hold its rows.
    pub(super) parts: Option<(usize, &'a [Part])>,
    pub(super) context: &'a BuildContext<'a>,
}

impl ColumnReader<'_> {
    /// Reads a column of a record.
    pub(super) fn read(&self, record: &mut Record, file: &mut Reader<'_>) -> SqlResult<Column> {
        let count: usize = record.take_number("segments")?;
        let mut entries = file.take(count)?;
        let column = self.column(record, &mut entries)?;
        entries.close()?;
        Ok(column)
    }

    fn column(&self, record: &mut Record, entries: &mut Entries<'_>) -> SqlResult<Column> {
        let data_type = record.take_record("type", read_type)?;
        if data_type != self.schema.data_type {
            let wanted = self.schema.data_type;
            let message = format!("\"{}\" is {data_type}, and not {wanted}", self.schema.name);
            return Err(damaged(message));
        }
        let (bits, rows) = record.take_record("iv", read_vector)?;
        let all: usize = record.take_number("rows")?;
        let (zones, code_count) = (record.take_number("zones")?, record.take_number("code count")?);
        let mut reader = SegmentReader { entries, place: &self.place, context: self.context };
        let iv = reader.vector("iv", bits, rows)?;
        let zones = reader.zones(zones)?;
        let encoding = record.take_list("encoding")?.pop();
        let mut encoding = encoding.ok_or_else(|| damaged("\"encoding\" is empty"))?;
        let decoded = self.encoding(&mut encoding, &mut reader)?;
        encoding.close()?;
        let null_rows = match record.has("nulls") {
            true => {
                let (bits, rows) = record.take_record("nulls", read_vector)?;
                Some(reader.vector("nulls", bits, rows)?)
            }
            false => None,
        };
        let index = match record.has("index") {
            true => Some(reader.index(record)?.into()),
            false => None,
        };
        let statistics = record.take_record("statistics", read_statistics)?;
        // No file has it: it follows from the rows.
        let key_rows = match self.parts {
            Some((column, parts)) => rows_of_dense_key(column, parts, &self.place, self.context)?,
            None => None,
        };
        let column = Column {
            name: self.schema.name.clone(),
            data_type,
            nullable: self.schema.nullable,
            encoding: decoded,
            zones,
            statistics,
            rows: all,
            iv,
            code_count,
            null_rows,
            index,
            key_rows,
        };
        self.check(&column)?;
        Ok(column)
    }

    fn encoding(
        &self,
        record: &mut Record,
        reader: &mut SegmentReader<'_, '_>,
    ) -> SqlResult<Encoding> {
        Ok(match &*record.take_text("kind")? {
            "offset" => Encoding::Offset { min: record.take_number("min")? },
            "integers" => {
                let (segment, len) = reader.numbers(record, 8)?;
                Encoding::Dictionary(Dictionary::Int(Sorted::new(segment, len)))
            }
            "wide" => {
                let (segment, len) = reader.numbers(record, 16)?;
                Encoding::Dictionary(Dictionary::Wide(Sorted::new(segment, len)))
            }
            "floats" => {
                let (segment, len) = reader.numbers(record, 8)?;
                Encoding::Dictionary(Dictionary::Float(Sorted::new(segment, len)))
            }
            "texts" => Encoding::Dictionary(Dictionary::Text(reader.heap(record, false)?)),
            "plain" => {
                let heap = reader.heap(record, true)?;
                let symbols = match record.has("symbols") {
                    true => {
                        let symbols = SymbolTable::of_bytes(&record.take_bytes("symbols")?);
                        Some(symbols.ok_or_else(|| damaged("its symbols are not whole"))?)
                    }
                    false => None,
                };
                Encoding::Plain(PlainStrings::Own(PlainTexts::new(heap, symbols)))
            }
            "plain of parts" => match self.parts {
                Some((column, parts)) if parts.iter().all(|it| is_plain(&it.columns[column])) => {
                    plain_domain(parts, column)
                }
                _ => return Err(damaged("its texts are said to be in parts, which have none")),
            },
            "raw" => Encoding::Raw,
            "parts" => Encoding::Parts,
            other => return Err(damaged(format!("\"{other}\" is no encoding"))),
        })
    }

    /// What readers of a column rely on, and no checksum tells.
    fn check(&self, column: &Column) -> SqlResult<()> {
        let (rows, bits) = (column.rows(), column.bits());
        let data_type = column.data_type;
        let own = self.parts.is_none();
        let vectors = match own {
            true => column.iv().rows() == rows && column.zones.len() == rows.div_ceil(BLOCK_ROWS),
            false => column.iv().rows() == 0 && column.zones.is_empty(),
        };
        let codes = column.code_count();
        let (encoded, narrow) = match &column.encoding {
            Encoding::Offset { .. } => (own && !data_type.stored().is_text(), bits <= 32),
            Encoding::Dictionary(it) => {
                let kind = match it {
                    Dictionary::Text(_) => data_type.stored().is_text(),
                    Dictionary::Float(_) => data_type.is_float() && own,
                    Dictionary::Int(_) | Dictionary::Wide(_) => {
                        !data_type.stored().is_text() && !data_type.is_float() && own
                    }
                };
                (kind && it.len() == codes, bits <= 32)
            }
            Encoding::Plain(it) => {
                let len = it.own().map_or(rows, |it| it.stored().len());
                (codes == 0 && len == rows && it.own().is_some() == own, bits == 0)
            }
            Encoding::Raw => (own && codes == 0, bits == 64 || rows == 0),
            Encoding::Parts => (!own && codes == 0, bits == 0),
        };
        let nulls = column.null_rows().is_none_or(|it| it.bits() == 1 && it.rows() == rows);
        let index = column.index.as_ref().is_none_or(|it| it.len() <= rows);
        let room = codes as u64 + u64::from(column.statistics.nulls > 0) <= 1 << 32;
        let bounds = [&column.statistics.min, &column.statistics.max];
        let kinds = bounds.iter().all(|it| it.as_ref().is_none_or(|it| is_of(data_type, it)));
        let right = vectors && encoded && narrow && nulls && index && room && kinds;
        match right && rows <= u32::MAX as usize {
            true => Ok(()),
            false => Err(damaged(format!("column \"{}\" contradicts itself", column.name))),
        }
    }
}

fn is_plain(column: &Column) -> bool {
    matches!(column.encoding, Encoding::Plain(PlainStrings::Own(_)))
}

/// Whether a bound is of the kind of its column.
fn is_of(data_type: types::DataType, value: &Value) -> bool {
    match value {
        Value::Text(_) => data_type.stored().is_text(),
        Value::Float(_) => data_type.is_float(),
        Value::Null => false,
        _ => !data_type.stored().is_text() && !data_type.is_float(),
    }
}

/// Reads the segments of a column to where they would have been built.
struct SegmentReader<'a, 'f> {
    entries: &'a mut Entries<'f>,
    place: &'a ColumnPlace<'a>,
    context: &'a BuildContext<'a>,
}

impl SegmentReader<'_, '_> {
    /// A segment of at least so many bytes that belongs to rows, `bits` for each.
    fn rows(&mut self, name: &str, least: Option<usize>, bits: u32) -> SqlResult<Segment> {
        let place = self.place;
        self.entries.read(name, least, |bytes| place.places_of_rows(bytes, bits), self.context)
    }

    /// A segment of at least so many bytes that all rows may read.
    fn shared(&mut self, name: &str, least: Option<usize>) -> SqlResult<Segment> {
        let beside = self.entries.bytes_of("texts").max(self.entries.bytes_of("iv"));
        let place = self.place;
        let places = |bytes| place.places_of_dictionary(bytes, beside);
        self.entries.read(name, least, places, self.context)
    }

    fn vector(&mut self, name: &str, bits: u32, rows: usize) -> SqlResult<IndexVector> {
        let least = Some(bitpack::packed_bytes(rows, bits));
        Ok(IndexVector::new(self.rows(name, least, bits)?, bits, rows))
    }

    fn zones(&mut self, zones: usize) -> SqlResult<Zones> {
        let segment = self.shared("zones", zones.checked_mul(ZONE_BYTES))?;
        Ok(Zones::of_segment(segment, zones))
    }

    /// A dictionary of numbers of so many bytes each.
    fn numbers(&mut self, record: &mut Record, bytes: usize) -> SqlResult<(Segment, usize)> {
        let len: usize = record.take_number("values")?;
        Ok((self.shared("dictionary", len.checked_mul(bytes))?, len))
    }

    /// Texts: one per row, or of a dictionary.
    fn heap(&mut self, record: &mut Record, per_row: bool) -> SqlResult<StringHeap> {
        let (len, used): (usize, usize) =
            (record.take_number("values")?, record.take_number("used")?);
        let wide = record.take_flag("wide")?;
        let least = len.checked_mul(if wide { 8 } else { 4 });
        let (ends, texts) = match per_row {
            true => {
                let bits = if wide { 64 } else { 32 };
                (self.rows("ends", least, bits)?, self.rows("texts", Some(used), 8)?)
            }
            false => (self.shared("dictionary", least)?, self.shared("dictionary", Some(used))?),
        };
        let ascends = match wide {
            // Nothing of a mapped file is looked at yet; its checksums vouch for it when it is.
            _ if ends.is_mapped() => true,
            true => ascend(&ends.as_slice::<u64>()[..len], used as u64),
            false => ascend(&ends.as_slice::<u32>()[..len], used as u64),
        };
        if !ascends {
            return Err(damaged("its texts do not end where they can"));
        }
        Ok(StringHeap::new(ends, wide, texts, len, used as u64))
    }

    fn index(&mut self, record: &mut Record) -> SqlResult<InvertedIndex> {
        let (least, shift, prefix, starts, positions) = record.take_record("index", |it| {
            let vectors =
                (it.take_record("starts", read_vector)?, it.take_record("positions", read_vector)?);
            let shift: u32 = it.take_number("shift")?;
            if shift > 63 {
                return Err(damaged("its index has buckets of no width"));
            }
            Ok((it.take_number("least")?, shift, it.take_number("prefix")?, vectors.0, vectors.1))
        })?;
        let mut vector = |name: &str, (bits, rows): (u32, usize)| -> SqlResult<IndexVector> {
            let segment = self.shared(name, Some(bitpack::packed_bytes(rows, bits)))?;
            Ok(IndexVector::new(segment, bits, rows))
        };
        let starts = vector("ix starts", starts)?;
        let positions = vector("ix positions", positions)?;
        Ok(InvertedIndex::of_vectors((least, shift, prefix), starts, positions))
    }
}

/// Whether the ends of texts never fall, and the last is where the bytes end.
fn ascend<T: Copy + Into<u64> + PartialOrd>(ends: &[T], used: u64) -> bool {
    ends.is_sorted() && ends.last().map_or(0, |it| (*it).into()) == used
}
