//! The batches of the build side put one after the other, column by column. A piece of the work writes some neighbouring rows of
//! all columns, tells what it sees of them while they are in its cache, and frees the batches that it has read: nobody frees
//! what many have made.

use memory::Placed;
use types::SqlResult;

use super::chunk::Chunk;
use super::direct::{KeyRange, Seen};
use super::key::{KeyColumn, KeyDomain};
use super::out::{Out, mismatch};
use super::stored::{Stored, append_bits};
use crate::pieces::{PIECE_ROWS, Pieces, piece_rows, zeros};
use crate::{Layout, Team, Values, Vector};

/// All rows of the build side.
pub(super) struct Assembled {
    pub(super) keys: Vec<KeyColumn>,
    /// Of each key that is words, what they range over.
    pub(super) ranges: Vec<Option<KeyRange>>,
    pub(super) payload: Vec<Stored>,
}

/// Batches that follow each other, and where their rows go.
struct Piece<'a> {
    chunks: Vec<Chunk>,
    rows: usize,
    keys: Vec<Out<'a>>,
    payload: Vec<Out<'a>>,
}

/// What a piece has seen.
#[derive(Default)]
struct Told {
    rows: usize,
    /// By key.
    seen: Vec<Option<Seen>>,
    /// By column of the payload a bit for each row, where some are not set.
    validity: Vec<Option<Vec<u64>>>,
}

impl Piece<'_> {
    fn write(mut self, domains: &[KeyDomain]) -> SqlResult<Told> {
        let mut told = Told {
            rows: self.rows,
            seen: vec![None; self.keys.len()],
            validity: vec![None; self.payload.len()],
        };
        let mut row = 0;
        for chunk in self.chunks {
            if chunk.keyed {
                for (key, vector) in chunk.keys.iter().enumerate() {
                    if !domains[key].has(&vector.values) {
                        return Err(mismatch("a key", &vector.values));
                    }
                    let more = self.keys[key].put(&vector.values, "a key")?;
                    let before = &mut told.seen[key];
                    *before = [*before, more].into_iter().flatten().reduce(Seen::and);
                }
            }
            for (column, vector) in chunk.payload.iter().enumerate() {
                self.payload[column].put(&vector.values, "another representation")?;
                note_validity(&mut told.validity[column], vector, row, self.rows);
            }
            row += chunk.rows;
        }
        Ok(told)
    }
}

/// Notes which rows of a vector, whose first is this one of so many, are not NULL.
fn note_validity(bits: &mut Option<Vec<u64>>, vector: &Vector, row: usize, rows: usize) {
    if bits.is_none() && vector.validity.is_none() {
        return;
    }
    let bits = bits.get_or_insert_with(|| {
        let mut all = vec![0; rows.div_ceil(64)];
        append_bits(&mut all, 0, None, row);
        all
    });
    append_bits(bits, row, vector.validity.as_ref().map(|it| &it.0[..]), vector.values.len());
}

/// Bytes of the texts of a column of some batches.
fn text_bytes<'a>(vectors: impl Iterator<Item = &'a Vector>) -> usize {
    let bytes = |it: &Vector| match &it.values {
        Values::Text(text) => text.bytes.len(),
        _ => 0,
    };
    vectors.map(bytes).sum()
}

/// Cuts batches into runs of about so many rows.
fn runs(chunks: Vec<Chunk>, rows: usize) -> Vec<Vec<Chunk>> {
    let mut runs: Vec<Vec<Chunk>> = Vec::new();
    let mut room = 0;
    for chunk in chunks {
        if room == 0 {
            runs.push(Vec::new());
            room = rows;
        }
        room = room.saturating_sub(chunk.rows);
        if let Some(run) = runs.last_mut() {
            run.push(chunk);
        }
    }
    runs
}

/// Bytes of the texts of each key and of each column of the payload, for the columns that are texts.
fn texts_of(chunks: &[Chunk], keys: &[bool], payload: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let keyed = || chunks.iter().filter(|it| it.keyed);
    let of_key = |(key, &is_text): (usize, &bool)| match is_text {
        true => text_bytes(keyed().map(|it| &*it.keys[key])),
        false => 0,
    };
    let of_column = |(column, &is_text): (usize, &bool)| match is_text {
        true => text_bytes(chunks.iter().map(|it| &*it.payload[column])),
        false => 0,
    };
    let keys = keys.iter().enumerate().map(of_key).collect();
    (keys, payload.iter().enumerate().map(of_column).collect())
}

/// Puts batches one after the other, those with keys first, by the domains of their keys and the layout of what is stored.
pub(super) fn assemble(
    chunks: Vec<Chunk>,
    (domains, layout): (&[KeyDomain], &Layout),
    team: &dyn Team,
) -> SqlResult<Assembled> {
    let rows: usize = chunks.iter().map(|it| it.rows).sum();
    let keyed: usize = chunks.iter().filter(|it| it.keyed).map(|it| it.rows).sum();
    let key_texts: Vec<bool> = domains.iter().map(|it| matches!(it, KeyDomain::Text)).collect();
    let payload_texts: Vec<bool> = layout.iter().map(Stored::is_text).collect();
    let (key_bytes, payload_bytes) = texts_of(&chunks, &key_texts, &payload_texts);
    let workspace = team.workspace();
    let scratch = workspace.spread();
    let sized = domains.iter().zip(&key_bytes);
    let mut keys = sized
        .map(|(domain, &bytes)| KeyColumn::sized(domain, (keyed, bytes), scratch))
        .collect::<SqlResult<Vec<_>>>()?;
    let sized = layout.iter().zip(&payload_bytes);
    let mut payload = sized
        .map(|(shape, &bytes)| Stored::sized(shape, (rows, bytes), scratch))
        .collect::<SqlResult<Vec<_>>>()?;
    let runs = runs(chunks, piece_rows(rows, team.width() * 4).max(PIECE_ROWS));
    let mut told: Vec<Told> = runs.iter().map(|_| Told::default()).collect();
    let mut key_outs: Vec<Out<'_>> = keys.iter_mut().map(KeyColumn::out).collect();
    let mut outs: Vec<Out<'_>> = payload.iter_mut().map(Stored::out).collect::<SqlResult<_>>()?;
    let mut pieces = Pieces::new();
    for (chunks, told) in runs.into_iter().zip(&mut told) {
        let rows = chunks.iter().map(|it| it.rows).sum();
        let keyed = chunks.iter().filter(|it| it.keyed).map(|it| it.rows).sum();
        let (key_bytes, bytes) = texts_of(&chunks, &key_texts, &payload_texts);
        let of_keys = key_outs.iter_mut().zip(key_bytes).map(|(it, bytes)| it.take(keyed, bytes));
        let keys = of_keys.collect();
        let payload = outs.iter_mut().zip(bytes).map(|(it, bytes)| it.take(rows, bytes)).collect();
        let piece = Piece { chunks, rows, keys, payload };
        pieces.try_add(rows, move || {
            *told = piece.write(domains)?;
            Ok(())
        });
    }
    pieces.run(team)?;
    let seen = |key: usize| Seen::all(told.iter().map(|it| it.seen.get(key).copied().flatten()));
    let ranges = (0..keys.len()).map(seen).collect();
    for (column, stored) in payload.iter_mut().enumerate() {
        if let Some(bits) = validity_of(column, &told, rows, team)? {
            stored.set_validity(bits);
        }
    }
    Ok(Assembled { keys, ranges, payload })
}

/// A bit for each row of a column, unless all are set.
fn validity_of(
    column: usize,
    told: &[Told],
    rows: usize,
    team: &dyn Team,
) -> SqlResult<Option<Placed<u64>>> {
    if told.iter().all(|it| it.validity[column].is_none()) {
        return Ok(None);
    }
    let mut bits = zeros(rows.div_ceil(64), team)?;
    let mut row = 0;
    for told in told {
        append_bits(&mut bits, row, told.validity[column].as_deref(), told.rows);
        row += told.rows;
    }
    Ok(Some(bits))
}
