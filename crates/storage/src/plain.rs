//! The texts of plain columns: one per row, as they are or compressed.

use std::borrow::Cow;

use stdx::sync::Arc;
use types::SqlResult;

use crate::dictionary::{Move, StringHeap};
use crate::symbols::{SymbolTable, begins_character};

/// The texts of a column in row order; a NULL row has an empty one.
#[derive(Clone, Debug)]
pub struct PlainTexts {
    stored: StringHeap,
    symbols: Option<Arc<SymbolTable>>,
}

impl PlainTexts {
    /// Texts as they stand in a heap: compressed, when there are symbols.
    pub(crate) fn new(stored: StringHeap, symbols: Option<SymbolTable>) -> Self {
        Self { stored, symbols: symbols.map(Arc::new) }
    }

    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        Ok(Self { stored: self.stored.moved(body)?, symbols: self.symbols.clone() })
    }

    /// The bytes as they are stored.
    pub fn stored(&self) -> &StringHeap {
        &self.stored
    }

    /// What the bytes mean, when they are compressed.
    pub fn symbols(&self) -> Option<&Arc<SymbolTable>> {
        self.symbols.as_ref()
    }

    /// Appends the text of a row; past the end there is none.
    #[inline]
    pub fn append(&self, row: usize, out: &mut Vec<u8>) {
        let stored = self.stored.bytes_at(row);
        match &self.symbols {
            None => out.extend_from_slice(stored),
            Some(symbols) => symbols.append(stored, out),
        }
    }

    /// The [`head`] of a row's text. Of a compressed text no more is read than that takes.
    #[inline]
    pub fn head(&self, row: usize) -> u64 {
        let stored = self.stored.bytes_at(row);
        match &self.symbols {
            None => head(stored),
            Some(symbols) => symbols.head(stored),
        }
    }

    /// The text of a row as bytes; past the end it is empty.
    #[inline]
    pub fn bytes_at(&self, row: usize) -> Cow<'_, [u8]> {
        let stored = self.stored.bytes_at(row);
        match &self.symbols {
            None => Cow::Borrowed(stored),
            Some(symbols) => {
                let mut out = Vec::new();
                symbols.append(stored, &mut out);
                Cow::Owned(out)
            }
        }
    }

    /// The text of a row; past the end it is empty.
    #[inline]
    pub fn get(&self, row: usize) -> Cow<'_, str> {
        match self.bytes_at(row) {
            Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).expect(WHOLE)),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).expect(WHOLE)),
        }
    }
}

/// The first eight bytes of a text as a number, zeros behind its end. Of two texts the one with the lesser head comes
/// first; equal heads tell nothing.
#[inline]
pub fn head(text: &[u8]) -> u64 {
    if let Some(head) = text.first_chunk() {
        return u64::from_be_bytes(*head);
    }
    let mut head = [0; 8];
    head[..text.len()].copy_from_slice(text);
    u64::from_be_bytes(head)
}

const WHOLE: &str = "invariant: only whole texts are stored";

/// What the positions of a plain column are looked up in.
#[derive(Clone, Debug)]
pub enum PlainStrings {
    /// The texts of a column that has rows.
    Own(PlainTexts),
    /// The texts of the parts of a table, each from its first position on.
    Parts(Vec<(usize, PlainTexts)>),
}

impl PlainStrings {
    /// The texts that a row, or a position of a table with parts, is found in, and its row there.
    #[inline]
    pub fn find(&self, position: usize) -> Option<(&PlainTexts, usize)> {
        match self {
            Self::Own(texts) => Some((texts, position)),
            Self::Parts(parts) => {
                let index = parts.partition_point(|it| it.0 <= position).checked_sub(1)?;
                let (first, texts) = &parts[index];
                Some((texts, position - first))
            }
        }
    }

    /// The text of a row, or of a position of a table with parts.
    #[inline]
    pub fn get(&self, row: usize) -> Cow<'_, str> {
        self.find(row).map_or(Cow::Borrowed(""), |(texts, row)| texts.get(row))
    }

    /// Appends the first `bytes` bytes of a row's text, and maybe some of those behind them.
    #[inline]
    pub fn append_first(&self, row: usize, bytes: usize, out: &mut Vec<u8>) {
        let Some((texts, row)) = self.find(row) else { return };
        let stored = texts.stored.bytes_at(row);
        match &texts.symbols {
            None => out.extend_from_slice(&stored[..stored.len().min(bytes)]),
            Some(symbols) => symbols.append_first(stored, bytes, out),
        }
    }

    /// Appends the text of a row.
    #[inline]
    pub fn append(&self, row: usize, out: &mut Vec<u8>) {
        if let Some((texts, row)) = self.find(row) {
            texts.append(row, out);
        }
    }

    /// How many bytes a row's text has, or else characters.
    #[inline]
    pub fn length(&self, row: usize, bytes: bool) -> usize {
        let Some((texts, row)) = self.find(row) else { return 0 };
        let stored = texts.stored.bytes_at(row);
        match &texts.symbols {
            Some(symbols) => symbols.length(stored, bytes),
            None if bytes => stored.len(),
            None => stored.iter().filter(|it| begins_character(**it)).count(),
        }
    }

    /// The [`head`] of a row's text.
    #[inline]
    pub fn head(&self, row: usize) -> u64 {
        self.find(row).map_or(0, |(texts, row)| texts.head(row))
    }

    /// The bytes of a row as they are stored.
    #[inline]
    pub fn stored_at(&self, row: usize) -> &[u8] {
        self.find(row).map_or(&[], |(texts, row)| texts.stored.bytes_at(row))
    }

    /// Whether some texts are compressed.
    pub fn is_compressed(&self) -> bool {
        match self {
            Self::Own(texts) => texts.symbols.is_some(),
            Self::Parts(parts) => parts.iter().any(|it| it.1.symbols.is_some()),
        }
    }

    /// The texts behind the rows; none when they are those of parts.
    pub fn own(&self) -> Option<&PlainTexts> {
        match self {
            Self::Own(texts) => Some(texts),
            Self::Parts(_) => None,
        }
    }
}
