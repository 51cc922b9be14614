//! The distinct texts of many pieces, and which of them each code of a piece means: equal texts are found by their hashes, so
//! that only texts that differ are ever put in order.

use arrow_array::{Array, StringArray};
use types::SqlResult;

use super::hash::{TextTable, hash_bytes};
use super::piece::{Piece, PieceValues, text_bytes};
use super::text_order::order_of;
use crate::Parallel;
use crate::parallel::map;

/// Texts of all pieces from which on they are told apart in parts, each by some worker.
const TEXTS_PER_PART: usize = 16 << 10;
/// Parts at most: a piece has a list for each.
const MAX_PARTS: usize = 64;

/// The texts of a piece by code.
pub(super) struct PieceTexts<'a> {
    /// The codes of the rows, when the piece has none itself.
    codes: Option<Vec<u32>>,
    /// The texts that some row has.
    used: Vec<Used<'a>>,
    /// One more than the greatest code.
    codes_end: usize,
}

/// A text that some row of a piece has.
#[derive(Clone, Copy)]
struct Used<'a> {
    hash: u64,
    code: u32,
    text: &'a [u8],
}

impl<'a> PieceTexts<'a> {
    /// The texts of a piece; of numbers there are none.
    fn new(piece: &'a Piece) -> Self {
        match &piece.values {
            PieceValues::Text(texts) => Self::of_rows(piece, texts),
            PieceValues::Coded { codes, texts } => {
                let used = used_codes(piece, codes, texts.len());
                let codes_end = used.len();
                let used = (0..codes_end as u32).filter(|&it| used[it as usize]);
                let used = used.map(|code| {
                    let text = text_bytes(texts, code as usize);
                    Used { hash: hash_bytes(text), code, text }
                });
                Self { codes: None, used: used.collect(), codes_end }
            }
            PieceValues::Int { .. } | PieceValues::Wide(_) => {
                Self { codes: None, used: Vec::new(), codes_end: 0 }
            }
        }
    }

    /// The texts of rows, which get codes in the order of their first rows; NULL rows get code 0.
    fn of_rows(piece: &Piece, texts: &'a StringArray) -> Self {
        let mut table = TextTable::default();
        let codes = (0..texts.len()).map(|row| match piece.is_null(row) {
            true => 0,
            false => {
                let text = text_bytes(texts, row);
                table.number_of(hash_bytes(text), text)
            }
        });
        let codes = codes.collect();
        let used = table.texts().iter().enumerate();
        let used = used.map(|(code, &(hash, text))| Used { hash, code: code as u32, text });
        let used: Vec<_> = used.collect();
        Self { codes: Some(codes), codes_end: used.len(), used }
    }

    /// The codes of the rows of the piece that the texts are of.
    pub(super) fn codes<'b>(&'b self, piece: &'b Piece) -> Option<&'b [u32]> {
        match (&self.codes, &piece.values) {
            (Some(codes), _) => Some(codes),
            (None, PieceValues::Coded { codes, .. }) => Some(codes),
            _ => None,
        }
    }
}

/// The distinct texts of pieces.
pub(super) struct TextUnion<'a> {
    /// In their order.
    pub(super) texts: Vec<&'a [u8]>,
    /// By piece: what its codes mean.
    pub(super) pieces: Vec<PieceTexts<'a>>,
    /// By piece, and by its code: the place of the text among all. What no row uses is zero.
    pub(super) places: Vec<Vec<u32>>,
}

impl<'a> TextUnion<'a> {
    /// Finds the texts of all pieces.
    pub(super) fn of(list: &'a [Piece], parallel: &dyn Parallel) -> SqlResult<Self> {
        let pieces = map(parallel, list.len(), |index| PieceTexts::new(&list[index]))?;
        let all: usize = pieces.iter().map(|it| it.used.len()).sum();
        let parts = (all / TEXTS_PER_PART).next_power_of_two().min(MAX_PARTS);
        let by_part = map(parallel, pieces.len(), |index| pieces[index].by_part(parts))?;
        let found = map(parallel, parts, |part| Part::of(by_part.iter().map(|it| &it[part][..])))?;

        // Texts have the numbers of their parts one after the other, until they are put in order.
        let mut firsts = Vec::with_capacity(parts);
        let mut texts = Vec::new();
        for part in &found {
            firsts.push(texts.len() as u32);
            texts.extend(part.table.texts().iter().map(|it| it.1));
        }
        let order = order_of(parallel, &texts)?;
        let mut place = vec![0; texts.len()];
        order.iter().zip(0..).for_each(|(&number, at)| place[number as usize] = at);
        let places = map(parallel, pieces.len(), |index| {
            let mut places = vec![0; pieces[index].codes_end];
            for (part, first) in firsts.iter().enumerate() {
                for (used, number) in by_part[index][part].iter().zip(&found[part].numbers[index]) {
                    places[used.code as usize] = place[(first + number) as usize];
                }
            }
            places
        })?;
        let texts = order.iter().map(|&it| texts[it as usize]).collect();
        Ok(Self { texts, pieces, places })
    }
}

impl<'a> PieceTexts<'a> {
    /// The texts that some row has, by the part of their hashes.
    fn by_part(&self, parts: usize) -> Vec<Vec<Used<'a>>> {
        if parts == 1 {
            return vec![self.used.clone()];
        }
        let mut lists = vec![Vec::with_capacity(self.used.len() / parts * 5 / 4); parts];
        for used in &self.used {
            // The low bits say where a text stands in the table of its part.
            lists[(used.hash >> (u64::BITS - parts.ilog2())) as usize].push(*used);
        }
        lists
    }
}

/// The texts of all pieces whose hashes begin alike.
struct Part<'a> {
    table: TextTable<'a>,
    /// By piece: the number of each of its texts.
    numbers: Vec<Vec<u32>>,
}

impl<'a> Part<'a> {
    fn of<'b>(pieces: impl Iterator<Item = &'b [Used<'a>]>) -> Self
    where
        'a: 'b,
    {
        let mut table = TextTable::default();
        let mut number = |it: &Used<'a>| table.number_of(it.hash, it.text);
        let numbers = pieces.map(|it| it.iter().map(&mut number).collect()).collect();
        Self { table, numbers }
    }
}

/// Which codes stand at rows that are not NULL.
pub(super) fn used_codes(piece: &Piece, codes: &[u32], count: usize) -> Vec<bool> {
    let mut used = vec![false; count];
    match &piece.nulls {
        None => codes.iter().for_each(|&it| used[it as usize] = true),
        Some(nulls) => {
            nulls.valid_indices().for_each(|row| used[codes[row] as usize] = true);
        }
    }
    used
}
