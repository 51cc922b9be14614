//! A column: an index vector, the way from code to value, zones and statistics (P-HANA 4.1).

use std::ops::Range;

use hardware::NodeId;
use memory::Segment;
use stdx::sync::Arc;
use types::{ColumnInfo, ColumnStatistics, DataType, SqlResult, Value};

use crate::dictionary::Move;
use crate::index_vector::{bytes_on_nodes, node_at, shares};
use crate::word::{int_of_word, value_of_int, value_of_key};
use crate::{
    BLOCK_ROWS, ColumnSchema, Dictionary, IndexVector, InvertedIndex, KeyRows, PlainStrings, Zones,
};

/// What a code means.
#[derive(Clone, Debug)]
pub enum Encoding {
    /// Value = code + `min`.
    Offset {
        /// The value of code 0.
        min: i64,
    },
    /// Value = the code-th of the sorted distinct values.
    Dictionary(Dictionary),
    /// No codes: near-unique texts, one per row.
    Plain(PlainStrings),
    /// No codes: the IV holds 64-bit words in the order of the values ([`crate::word`]).
    Raw,
    /// No codes: a column of numbers of a table with parts, each of which encodes its own rows.
    Parts,
}

/// An immutable column. A clone shares the memory.
///
/// The column of a table with parts has statistics, and for text a way from a code (or a position) to the text, but no
/// rows of its own: those are in the columns of its parts ([`crate::Part`]).
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, as written when it was made.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may hold NULL (whether it does: `statistics.nulls`).
    pub nullable: bool,
    /// What its codes mean.
    pub encoding: Encoding,
    /// A zone per [`crate::BLOCK_ROWS`] rows.
    pub zones: Zones,
    /// Exact facts.
    pub statistics: ColumnStatistics,
    pub(crate) rows: usize,
    pub(crate) iv: IndexVector,
    /// Codes of values: they are below this.
    pub(crate) code_count: usize,
    /// A 1 per NULL, for encodings without codes that do hold NULL.
    pub(crate) null_rows: Option<IndexVector>,
    /// From values to positions, when there is an index on it.
    pub index: Option<Arc<InvertedIndex>>,
    /// In a column of a table with parts that is a dense key of them: its rows by key.
    pub(crate) key_rows: Option<Arc<KeyRows>>,
}

impl Column {
    /// How many rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bits per code: 0 to 32, 64 for raw; 0 for plain.
    #[inline]
    pub fn bits(&self) -> u32 {
        self.iv.bits()
    }

    /// The index vector.
    pub fn iv(&self) -> &IndexVector {
        &self.iv
    }

    /// The packed codes and the padding behind them.
    #[inline]
    pub fn packed(&self) -> &[u8] {
        self.iv.packed()
    }

    /// How many codes stand for values: all below. Zero for plain and raw columns.
    #[inline]
    pub fn code_count(&self) -> usize {
        self.code_count
    }

    /// The code of NULL: [`Column::code_count`], when the column has codes and holds NULL.
    #[inline]
    pub fn null_code(&self) -> Option<u32> {
        let codes = matches!(self.encoding, Encoding::Offset { .. } | Encoding::Dictionary(_));
        (codes && self.statistics.nulls > 0).then_some(self.code_count as u32)
    }

    /// The 1-bit vector that marks the NULLs of a plain or raw column that holds some.
    pub fn null_rows(&self) -> Option<&IndexVector> {
        self.null_rows.as_ref()
    }

    /// Whether a row is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        match (&self.null_rows, self.null_code()) {
            (Some(marks), _) => marks.get(row) == 1,
            (None, Some(code)) => self.iv.get(row) == u64::from(code),
            (None, None) => false,
        }
    }

    /// Clears the bits of NULL rows in a bitmap over `rows` rows from `start` on. Does nothing for columns with codes:
    /// a code range never holds NULL.
    pub fn clear_nulls(&self, start: usize, rows: usize, words: &mut [u64]) {
        if let Some(marks) = &self.null_rows {
            bitpack::scan_range_and(marks.packed(), 1, start, rows, 0, 0, words);
        }
    }

    /// The first and the last word of a block of a raw column, when words never fall there and none is NULL: the least and
    /// the greatest.
    pub fn sorted_words(&self, block: usize) -> Option<(u64, u64)> {
        let sorted = matches!(self.encoding, Encoding::Raw) && self.zones.get(block)?.sorted;
        let (first, end) = (block * BLOCK_ROWS, self.rows.min((block + 1) * BLOCK_ROWS));
        (sorted && first < end).then(|| (self.iv.get(first), self.iv.get(end - 1)))
    }

    /// The value of a row; slow, for results of few rows and tests.
    pub fn value(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        match &self.encoding {
            Encoding::Plain(strings) => Value::Text(strings.get(row).into()),
            Encoding::Raw => self.value_of_word(self.iv.get(row)),
            _ => self.value_of_code(self.iv.get(row) as u32),
        }
    }

    /// The value of a word of a raw column.
    pub(crate) fn value_of_word(&self, word: u64) -> Value {
        value_of_key(self.data_type, int_of_word(word))
    }

    /// The value of a code below [`Column::code_count`]; NULL for any other.
    pub fn value_of_code(&self, code: u32) -> Value {
        if code as usize >= self.code_count {
            return Value::Null;
        }
        match &self.encoding {
            Encoding::Offset { min } => {
                value_of_int(self.data_type, i128::from(*min) + i128::from(code))
            }
            Encoding::Dictionary(dictionary) => dictionary.value(self.data_type, code),
            Encoding::Plain(_) | Encoding::Raw | Encoding::Parts => Value::Null,
        }
    }

    /// The node that holds a row: of its code, or of its text in a plain column. `None` when that is not known.
    pub fn node_of_row(&self, row: usize) -> Option<NodeId> {
        match &self.encoding {
            Encoding::Plain(PlainStrings::Own(texts)) if row < self.rows => {
                let heap = texts.stored();
                node_at(heap.bytes_segment(), heap.range(row).start)
            }
            _ => self.iv.node_of_row(row),
        }
    }

    /// The node of each byte that a scan of some rows reads, summed: of their codes, and of their texts in a plain
    /// column. From the page-socket maps; bytes whose place is not known are left out.
    pub fn scan_bytes_on_nodes(&self, rows: Range<usize>, nodes: &mut Vec<(NodeId, u64)>) {
        if rows.start >= rows.end || rows.end > self.rows {
            return;
        }
        let mut add = |segment: &Segment, bytes: Range<usize>| {
            bytes_on_nodes(segment, bytes, nodes);
        };
        match &self.encoding {
            Encoding::Plain(PlainStrings::Own(texts)) => {
                let heap = texts.stored();
                let bytes = heap.range(rows.start).start..heap.range(rows.end - 1).end;
                add(heap.bytes_segment(), bytes);
            }
            _ => {
                add(self.iv.segment(), bitpack::byte_range(rows.start, rows.len(), self.bits()));
            }
        }
    }

    /// The shares of the nodes in what a scan reads, where they are the same for every stretch of rows: the column is on one
    /// node as a whole, or dealt round some. `None` where ranges of rows are on nodes of their own, or nothing is known.
    pub fn scan_nodes(&self) -> Option<Vec<(NodeId, f64)>> {
        shares(match &self.encoding {
            Encoding::Plain(PlainStrings::Own(texts)) => texts.stored().bytes_segment(),
            _ => self.iv.segment(),
        })
    }

    /// Bits of a row that a scan reads, the mean of texts in a plain column.
    pub fn scan_bits(&self) -> f64 {
        match &self.encoding {
            Encoding::Plain(PlainStrings::Own(texts)) => {
                texts.stored().bytes_segment().bytes() as f64 * 8.0 / self.rows.max(1) as f64
            }
            _ => f64::from(self.bits()),
        }
    }

    /// Its segments with a name for each: IV, zones, dictionary, texts, NULL marks, both vectors of the IX.
    pub fn segments(&self) -> Vec<(&'static str, &Arc<Segment>)> {
        let mut segments = vec![("iv", self.iv.segment()), ("zones", self.zones.segment())];
        match &self.encoding {
            Encoding::Dictionary(dictionary) => {
                segments.extend(dictionary.segments().into_iter().map(|it| ("dictionary", it)));
            }
            Encoding::Plain(PlainStrings::Own(texts)) => {
                segments.push(("ends", texts.stored().ends_segment()));
                segments.push(("texts", texts.stored().bytes_segment()));
            }
            Encoding::Plain(PlainStrings::Parts(_))
            | Encoding::Offset { .. }
            | Encoding::Raw
            | Encoding::Parts => {}
        }
        segments.extend(self.null_rows.as_ref().map(|it| ("nulls", it.segment())));
        segments.extend(self.index.iter().flat_map(|it| it.segments()));
        segments
    }

    /// The same column over other segments with the same bytes: `body` gives one for each, by its name.
    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        let encoding = match &self.encoding {
            Encoding::Dictionary(it) => Encoding::Dictionary(it.moved(body)?),
            Encoding::Plain(PlainStrings::Own(texts)) => {
                Encoding::Plain(PlainStrings::Own(texts.moved(body)?))
            }
            other => other.clone(),
        };
        let null_rows = self.null_rows.as_ref().map(|it| it.moved("nulls", body)).transpose()?;
        let key_rows = self.key_rows.as_ref().map(|it| it.moved(body).map(Arc::new)).transpose()?;
        Ok(Self {
            name: self.name.clone(),
            encoding,
            zones: self.zones.moved(body)?,
            statistics: self.statistics.clone(),
            iv: self.iv.moved("iv", body)?,
            null_rows,
            index: self.index.as_ref().map(|it| it.moved(body).map(Arc::new)).transpose()?,
            key_rows,
            ..*self
        })
    }

    /// Bytes on each node, ascending by node, as the page-socket maps know them.
    pub fn bytes_per_node(&self) -> Vec<(NodeId, u64)> {
        let mut nodes: Vec<(NodeId, u64)> = Vec::new();
        for (_, segment) in self.segments() {
            let map = segment.page_map();
            // Small segments share pages, so a page may hold more than this segment's bytes.
            let pages = map.pages();
            for (node, count) in map.summary() {
                let bytes = segment.bytes() as u64 * count as u64 / pages.max(1) as u64;
                match nodes.iter_mut().find(|it| it.0 == node) {
                    Some(entry) => entry.1 += bytes,
                    None => nodes.push((node, bytes)),
                }
            }
        }
        nodes.sort_by_key(|it| it.0);
        nodes
    }

    /// The name of its encoding, for views.
    pub fn encoding_name(&self) -> &'static str {
        match self.encoding {
            Encoding::Offset { .. } => "offset",
            Encoding::Dictionary(_) => "dictionary",
            Encoding::Plain(ref texts) if texts.is_compressed() => "fsst",
            Encoding::Plain(_) => "plain",
            Encoding::Raw => "raw",
            Encoding::Parts => "parts",
        }
    }

    /// Bytes read to scan it: its codes, or the texts and ends of a plain column.
    pub fn scan_bytes(&self) -> u64 {
        match &self.encoding {
            Encoding::Plain(PlainStrings::Own(texts)) => texts.stored().memory_bytes(),
            _ => self.iv.bytes(),
        }
    }

    /// Bytes of all its parts.
    pub fn memory_bytes(&self) -> u64 {
        self.segments().iter().map(|it| it.1.bytes() as u64).sum()
    }

    /// Its name, type and whether it may hold NULL.
    pub fn schema(&self) -> ColumnSchema {
        ColumnSchema::new(self.name.clone(), self.data_type, self.nullable)
    }

    /// The column as the planner sees it.
    pub fn info(&self) -> ColumnInfo {
        ColumnInfo {
            name: self.name.clone(),
            data_type: self.data_type,
            nullable: self.nullable,
            statistics: self.statistics.clone(),
            scan_bytes: self.scan_bytes(),
            numbers_rows: false,
            index: None,
        }
    }
}
