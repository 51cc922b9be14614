//! Brings the keys of the probe side to the form of the build side. Dictionaries are translated once per query, so that
//! rows compare integers (docs/design/04-execution.md, "work on codes").

use stdx::sync::Arc;
use storage::Column;
use types::{SqlError, SqlResult};

use super::JoinTable;
use super::dictionary::{NO_CODE, decode, dictionary_len, find, translate};
use super::key::{KeyDomain, KeySlice};
use super::known::{KnownCodes, Unknown};
use super::out::{mismatch, write_words};
use super::packing::Packing;
use crate::lookups::Lookup;
use crate::{ColumnShape, Representation, TextVector, Values, Vector};

/// How one key is brought over.
pub(super) enum KeyReader {
    /// As it is.
    Same,
    /// As words.
    Words,
    /// 128-bit integers against 64-bit ones: those that do not fit have no partner.
    Narrow,
    /// 64-bit integers against 128-bit ones.
    Widen,
    /// Codes of one dictionary as codes of another.
    Translate(Vec<u32>),
    /// Texts, or positions of a plain column, as codes of a dictionary with that many codes.
    Find { from: Option<Arc<Column>>, to: Arc<Column>, codes: u32 },
    /// Codes or positions as texts.
    Decode(Arc<Column>),
    /// Codes of a dictionary as their first partners, for the only key of a hash table.
    Known(KnownCodes),
}

impl KeyReader {
    /// The reader of a key of a table, whose probe side is of a shape.
    pub(super) fn new(table: &JoinTable, key: usize, shape: &ColumnShape) -> SqlResult<Self> {
        use KeyDomain as D;
        use Representation as R;
        Ok(match (&table.domains[key], &shape.representation) {
            (D::Integer, R::I64) | (D::Wide, R::I128) | (D::Text, R::Text) => Self::Same,
            (D::Integer, R::Bool) | (D::Float, R::F64) => Self::Words,
            (D::Integer, R::I128) => Self::Narrow,
            (D::Wide, R::I64) => Self::Widen,
            (D::Text, R::Codes(column)) => match dictionary_len(column) {
                Some(codes) if table.texts().is_some() => {
                    Self::Known(KnownCodes::new(column.clone(), codes, table.scratch())?)
                }
                _ => Self::Decode(column.clone()),
            },
            (D::Dictionary(to), R::Codes(from)) if Arc::ptr_eq(to, from) => Self::Words,
            (D::Dictionary(to), R::Codes(from)) => {
                let codes = dictionary_len(to).unwrap_or(0);
                match dictionary_len(from) {
                    Some(len) => Self::Translate(translate(from, len, to, codes)),
                    None => Self::Find { from: Some(from.clone()), to: to.clone(), codes },
                }
            }
            (D::Dictionary(to), R::Text) => {
                let codes = dictionary_len(to).unwrap_or(0);
                Self::Find { from: None, to: to.clone(), codes }
            }
            _ => return Err(SqlError::internal("the keys of a join have different types")),
        })
    }
}

impl KeyReader {
    /// What is looked at for each row, if it is a translation.
    pub(super) fn lookup(&self) -> Option<Lookup> {
        match self {
            Self::Translate(codes) => Some(Lookup::dealt(codes.len() as u64 * 4)),
            _ => None,
        }
    }
}

/// One key of a batch, brought over.
#[derive(Default)]
pub(super) struct KeyBuffer {
    /// The key as it came: its NULLs, and its values when they needed no change.
    source: Option<Arc<Vector>>,
    form: Form,
    words: Vec<i64>,
    wide: Vec<i128>,
    text: TextVector,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Form {
    #[default]
    Source,
    Words,
    Wide,
    Text,
}

/// The keys of a batch.
#[derive(Default)]
pub(super) struct ProbeKeys {
    pub(super) rows: usize,
    buffers: Vec<KeyBuffer>,
    /// All keys in one word, when the table has them so.
    packed: Option<Vec<i64>>,
    /// In place of keys the first partner of each row, where that is known by code.
    partners: Vec<u32>,
    is_known: bool,
    unknown: Unknown,
    /// Rows that may have a partner: no key is NULL, each has a form on the build side.
    possible: Vec<bool>,
    all_possible: bool,
}

impl ProbeKeys {
    /// Takes in the keys of a batch of `rows` rows.
    pub(super) fn read(
        &mut self,
        rows: usize,
        table: &JoinTable,
        readers: &[KeyReader],
        vectors: impl Iterator<Item = SqlResult<Arc<Vector>>>,
    ) -> SqlResult<()> {
        self.rows = rows;
        // The batch before may have been of another table.
        self.packed = self.packed.take().filter(|_| table.packing.is_some());
        self.all_possible = true;
        self.is_known = false;
        self.possible.clear();
        self.possible.resize(rows, true);
        self.buffers.resize_with(readers.len(), KeyBuffer::default);
        for ((reader, buffer), vector) in readers.iter().zip(&mut self.buffers).zip(vectors) {
            let vector = vector?;
            let texts = table.texts();
            if let (KeyReader::Known(known), Values::Codes(codes), Some(texts)) =
                (reader, &vector.values, texts)
            {
                known.partners(texts, &vector, codes, &mut self.unknown, &mut self.partners);
                self.is_known = true;
                buffer.source = Some(vector);
                continue;
            }
            if let Some(map) = &vector.validity {
                for (row, possible) in self.possible.iter_mut().enumerate() {
                    *possible &= map.get(row);
                }
                self.all_possible = false;
            }
            let all = buffer.read(reader, &vector, &mut self.possible)?;
            self.all_possible &= all;
            buffer.source = Some(vector);
        }
        Ok(())
    }

    /// Puts the keys into one word, as the table has them.
    pub(super) fn pack(&mut self, packing: &Packing) {
        let mut packed = self.packed.take().unwrap_or_default();
        let mut possible = std::mem::take(&mut self.possible);
        self.all_possible &= packing.pack(&self.slices(), &mut packed, &mut possible);
        self.possible = possible;
        self.packed = Some(packed);
    }

    /// Lets go of the batch.
    pub(super) fn release(&mut self) {
        self.buffers.iter_mut().for_each(|it| it.source = None);
    }

    /// Which rows may have a partner; `None` for all.
    pub(super) fn possible(&self) -> Option<&[bool]> {
        (!self.all_possible).then_some(&self.possible)
    }

    /// The first partner of each row, [`NO_ROW`](super::NO_ROW) for none, where that is known without a look at keys.
    pub(super) fn partners(&self) -> Option<&[u32]> {
        self.is_known.then_some(&self.partners)
    }

    /// Whether the first key of a row is NULL.
    pub(super) fn is_null(&self, row: usize) -> bool {
        let source = self.buffers.first().and_then(|it| it.source.as_ref());
        source.is_some_and(|it| !it.is_valid(row))
    }

    pub(super) fn slices(&self) -> Vec<KeySlice<'_>> {
        if let Some(packed) = &self.packed {
            return vec![KeySlice::Words(packed)];
        }
        self.buffers.iter().map(KeyBuffer::slice).collect()
    }

    /// The first key as words; empty when it has another form.
    pub(super) fn words(&self) -> &[i64] {
        match (&self.packed, self.buffers.first().map(KeyBuffer::slice)) {
            (Some(packed), _) => packed,
            (None, Some(KeySlice::Words(words))) => words,
            _ => &[],
        }
    }
}

impl KeyBuffer {
    fn slice(&self) -> KeySlice<'_> {
        match (self.form, self.source.as_deref().map(|it| &it.values)) {
            (Form::Source, Some(Values::I64(it))) => KeySlice::Words(it),
            (Form::Source, Some(Values::I128(it))) => KeySlice::Wide(it),
            (Form::Source, Some(Values::Text(it))) => KeySlice::Text(it),
            (Form::Wide, _) => KeySlice::Wide(&self.wide),
            (Form::Text, _) => KeySlice::Text(&self.text),
            _ => KeySlice::Words(&self.words),
        }
    }

    /// Brings a vector over, and clears `possible` where a value has no form on the build side. Tells whether all had.
    fn read(
        &mut self,
        reader: &KeyReader,
        vector: &Vector,
        possible: &mut [bool],
    ) -> SqlResult<bool> {
        let rows = vector.values.len();
        self.form = Form::Words;
        if matches!(reader, KeyReader::Same) {
            self.form = Form::Source;
            return Ok(true);
        }
        self.words.resize(rows, 0);
        match (reader, &vector.values) {
            (KeyReader::Words, values) => write_words(values, &mut self.words),
            (KeyReader::Narrow, Values::I128(from)) => {
                for ((word, possible), &wide) in self.words.iter_mut().zip(possible).zip(from) {
                    *word = wide as i64;
                    *possible &= i128::from(*word) == wide;
                }
                return Ok(false);
            }
            (KeyReader::Widen, Values::I64(from)) => {
                self.form = Form::Wide;
                self.wide.clear();
                self.wide.extend(from.iter().map(|&it| i128::from(it)));
            }
            (KeyReader::Translate(codes), Values::Codes(from)) => {
                for ((word, possible), &code) in self.words.iter_mut().zip(possible).zip(from) {
                    // What stands at a NULL need not be in the dictionary.
                    let code = codes.get(code as usize).copied().unwrap_or(NO_CODE);
                    *word = i64::from(code);
                    *possible &= code != NO_CODE;
                }
                return Ok(false);
            }
            (KeyReader::Find { from, to, codes }, values) => {
                let texts = match (from, values) {
                    (Some(column), Values::Codes(positions)) => {
                        decode(column, positions, vector, &mut self.text);
                        &self.text
                    }
                    (None, Values::Text(texts)) => texts,
                    (_, other) => return Err(mismatch("text", other)),
                };
                for (row, (word, possible)) in self.words.iter_mut().zip(possible).enumerate() {
                    let code = find(to, *codes, texts.bytes_at(row));
                    *word = i64::from(code);
                    *possible &= code != NO_CODE;
                }
                return Ok(false);
            }
            (KeyReader::Decode(column), Values::Codes(codes)) => {
                self.form = Form::Text;
                decode(column, codes, vector, &mut self.text);
            }
            (_, other) => return Err(mismatch("a key", other)),
        }
        Ok(true)
    }
}
