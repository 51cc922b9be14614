//! Codes of a dictionary against a table of texts: what a text has found is kept by its code, so that each text of the
//! dictionary is hashed and compared once, however many rows have it (docs/design/04-execution.md, "work on codes":
//! dictionaries are translated once, and rows compare integers). Nothing is looked up that no row asks for.

use memory::{Placed, Scratch};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU32, Ordering};
use storage::Column;
use types::SqlResult;

use super::Pairs;
use super::dictionary::decode;
use super::hashed::{Candidates, HashTable};
use super::key::KeySlice;
use crate::{BATCH_ROWS, TextVector, Values, Vector};

/// Not looked up yet.
const UNKNOWN: u32 = 0;
/// Looked up: there is no partner. Above it is the first partner + 2.
const NOBODY: u32 = 1;

/// The first partner of each code in the chain of its bucket.
pub(super) struct KnownCodes {
    column: Arc<Column>,
    first: Placed<AtomicU32>,
}

/// Memory that batches use again.
#[derive(Default)]
pub(super) struct Unknown {
    codes: Vec<u32>,
    texts: TextVector,
    hashes: Vec<u64>,
    candidates: Candidates,
    pairs: Pairs,
    found: Vec<u32>,
}

impl KnownCodes {
    /// Nothing is known yet of the codes of a dictionary column.
    pub(super) fn new(column: Arc<Column>, codes: u32, scratch: &Scratch) -> SqlResult<Self> {
        let first = scratch.filled(codes as usize, || AtomicU32::new(UNKNOWN))?;
        Ok(Self { column, first })
    }

    /// The first partner of each row; [`NO_ROW`](super::NO_ROW) where there is none.
    pub(super) fn partners(
        &self,
        table: &HashTable,
        vector: &Vector,
        codes: &[u32],
        unknown: &mut Unknown,
        partners: &mut Vec<u32>,
    ) {
        partners.clear();
        unknown.codes.clear();
        for (row, &code) in codes.iter().enumerate() {
            // What stands at a NULL need not be in the dictionary.
            let known = match self.first.get(code as usize) {
                Some(first) if vector.is_valid(row) => first.load(Ordering::Relaxed),
                _ => NOBODY,
            };
            if known == UNKNOWN {
                unknown.codes.push(code);
            }
            partners.push(known.wrapping_sub(2));
        }
        if unknown.codes.is_empty() {
            return;
        }
        self.look_up(table, unknown);
        for (row, &code) in codes.iter().enumerate() {
            if partners[row] == UNKNOWN.wrapping_sub(2) {
                partners[row] = self.first[code as usize].load(Ordering::Relaxed).wrapping_sub(2);
            }
        }
    }

    /// Looks up the unknown codes. Two workers may do so for the same one, and find the same.
    fn look_up(&self, table: &HashTable, unknown: &mut Unknown) {
        let Unknown { codes, texts, hashes, candidates, pairs, found } = unknown;
        codes.sort_unstable();
        codes.dedup();
        for codes in codes.chunks(BATCH_ROWS) {
            let all = Vector::new(Values::Codes(codes.to_vec()));
            decode(&self.column, codes, &all, texts);
            let texts = [KeySlice::Text(texts)];
            table.hash(&texts, codes.len(), hashes);
            table.heads(hashes, None, candidates);
            pairs.clear();
            while candidates.len() > 0 {
                table.round(&texts, hashes, true, candidates, pairs);
            }
            // Each is told once: others read it at the same time.
            found.clear();
            found.resize(codes.len(), NOBODY);
            for (&place, &row) in pairs.probe.iter().zip(&pairs.build) {
                found[place as usize] = row + 2;
            }
            for (&code, &first) in codes.iter().zip(found.iter()) {
                self.first[code as usize].store(first, Ordering::Relaxed);
            }
        }
    }
}
