//! Finds the partners of a batch of keys, a batch of pairs at a time.

use std::ops::Range;

use types::SqlResult;

use super::direct::{DirectTable, Rows};
use super::hashed::{Candidates, HashTable};
use super::probe_key::ProbeKeys;
use super::row_numbers::{RowNumbers, Unchanged};
use super::table::Finder;
use super::{JoinTable, NO_ROW, Pairs};
use crate::BATCH_ROWS;
use crate::leveled::{find_places, find_ranks, level};

/// Memory that lookups use again.
#[derive(Default)]
pub(super) struct Workspace {
    hashes: Vec<u64>,
    candidates: Candidates,
    /// Rows and the slots of their keys.
    found: Pairs,
    pairs: Pairs,
}

/// Keys of a batch by which it is told how near to each other they are.
const SAMPLED_KEYS: usize = 128;
/// Keys that share a cache line in an array by key, of four bytes each.
const LINE_KEYS: i64 = 16;

/// Takes pairs, at most [`BATCH_ROWS`] at a time, and may change them; they are cleared afterwards.
pub(super) type Flush<'a> = &'a mut dyn FnMut(&mut Pairs) -> SqlResult<()>;

fn flush_full(pairs: &mut Pairs, flush: Flush<'_>) -> SqlResult<()> {
    if pairs.len() >= BATCH_ROWS { flush_all(pairs, flush) } else { Ok(()) }
}

fn flush_all(pairs: &mut Pairs, flush: Flush<'_>) -> SqlResult<()> {
    flush(pairs)?;
    pairs.clear();
    Ok(())
}

impl JoinTable {
    /// Hands every pair of equal keys to `flush`, which is called once more at the end. With `stop`, some partners of
    /// a row may be left out after the first one.
    pub(super) fn lookup(
        &self,
        keys: &ProbeKeys,
        stop: bool,
        work: &mut Workspace,
        flush: Flush<'_>,
    ) -> SqlResult<()> {
        work.pairs.clear();
        match &self.finder {
            Finder::Nothing => {}
            Finder::Everything => {
                cross(0..keys.rows as u32, 0..self.rows, &mut work.pairs, flush)?;
            }
            Finder::Direct(table) => direct(table, keys, work, flush)?,
            Finder::InPlace(numbers) => in_place(numbers, keys, &mut work.pairs),
            Finder::Hashed(table) => hashed(table, keys, stop, work, flush)?,
        }
        flush_all(&mut work.pairs, flush)
    }

    /// About how many cache lines of a column of the table looks for these keys touch, those side by side once.
    pub(super) fn lines_of(&self, keys: &ProbeKeys) -> usize {
        match &self.finder {
            Finder::Nothing | Finder::Everything => 0,
            Finder::Hashed(_) => keys.rows,
            Finder::Direct(_) | Finder::InPlace(_) => {
                let sample = &keys.words()[..keys.words().len().min(SAMPLED_KEYS)];
                let changes = sample.windows(2).filter(|it| it[0] / LINE_KEYS != it[1] / LINE_KEYS);
                changes.count() * keys.rows / sample.len().max(1)
            }
        }
    }

    /// The rows whose key is there, with the slots of their keys; of a table of slots.
    pub(super) fn slots<'a>(&self, keys: &ProbeKeys, work: &'a mut Workspace) -> &'a Pairs {
        match &self.finder {
            Finder::Direct(table) => find_slots(table, keys, &mut work.found),
            _ => work.found.clear(),
        }
        &work.found
    }

    /// Whether each row has a partner.
    pub(super) fn exists(
        &self,
        keys: &ProbeKeys,
        work: &mut Workspace,
        matched: &mut [bool],
    ) -> SqlResult<()> {
        match &self.finder {
            Finder::Nothing => {}
            Finder::Everything => matched.fill(self.rows > 0),
            Finder::Direct(table) => {
                for (matched, &key) in matched.iter_mut().zip(keys.words()) {
                    let place = key.wrapping_sub(table.min) as u64 as usize;
                    let word = table.bitmap.get(place / 64).copied().unwrap_or(0);
                    *matched = word >> (place % 64) & 1 == 1;
                }
                if let Some(possible) = keys.possible() {
                    matched.iter_mut().zip(possible).for_each(|(it, &possible)| *it &= possible);
                }
            }
            Finder::InPlace(numbers) => {
                let found = |key: i64| numbers.find(key).is_some();
                matched.iter_mut().zip(keys.words()).for_each(|(it, &key)| *it = found(key));
                if let Some(possible) = keys.possible() {
                    matched.iter_mut().zip(possible).for_each(|(it, &possible)| *it &= possible);
                }
            }
            Finder::Hashed(table) => {
                hashed(table, keys, true, work, &mut |pairs| {
                    pairs.probe.iter().for_each(|&row| matched[row as usize] = true);
                    Ok(())
                })?;
                work.pairs.probe.iter().for_each(|&row| matched[row as usize] = true);
            }
        }
        Ok(())
    }

    /// Hands every pair of the given rows, whatever their keys, to `flush`, which is called once more at the end.
    pub(super) fn lookup_cross(
        &self,
        probe: impl Iterator<Item = u32>,
        build: Range<u32>,
        work: &mut Workspace,
        flush: Flush<'_>,
    ) -> SqlResult<()> {
        work.pairs.clear();
        cross(probe, build, &mut work.pairs, flush)?;
        flush_all(&mut work.pairs, flush)
    }
}

fn cross(
    probe: impl Iterator<Item = u32>,
    build: Range<u32>,
    pairs: &mut Pairs,
    flush: Flush<'_>,
) -> SqlResult<()> {
    for row in probe {
        for partner in build.clone() {
            pairs.push(row, partner);
            flush_full(pairs, flush)?;
        }
    }
    Ok(())
}

fn direct(
    table: &DirectTable,
    keys: &ProbeKeys,
    work: &mut Workspace,
    flush: Flush<'_>,
) -> SqlResult<()> {
    let Workspace { found, pairs, .. } = work;
    match &table.rows {
        Rows::Unique(rows) if table.ranks.is_none() => unique(rows, table.min, keys, pairs),
        Rows::InOrder => find_slots(table, keys, pairs),
        Rows::Unique(rows) => {
            find_slots(table, keys, pairs);
            pairs.build.iter_mut().for_each(|it| *it = rows[*it as usize] - 1);
        }
        Rows::Runs { starts, rows } => {
            find_slots(table, keys, found);
            runs(starts, rows.as_deref(), found, pairs, flush)?;
        }
    }
    Ok(())
}

/// The rows whose key is there, and the slots of their keys.
fn find_slots(table: &DirectTable, keys: &ProbeKeys, found: &mut Pairs) {
    let (words, bitmap) = (keys.words(), table.bitmap.as_slice());
    found.resize(words.len());
    let Pairs { probe, build } = found;
    let count = match &table.ranks {
        Some(ranks) => find_ranks(level(), words, table.min, bitmap, ranks, probe, build),
        None => find_places(level(), words, table.min, bitmap, probe, build),
    };
    found.resize(count);
    if let Some(possible) = keys.possible() {
        found.retain(|row, _| possible[row as usize]);
    }
}

fn unique(rows: &[u32], min: i64, keys: &ProbeKeys, pairs: &mut Pairs) {
    let words = keys.words();
    pairs.resize(words.len());
    let mut count = 0;
    let mut look_up = |row: usize, possible: bool| {
        let place = words[row].wrapping_sub(min) as u64 as usize;
        let entry = rows.get(place).copied().unwrap_or(0);
        pairs.probe[count] = row as u32;
        pairs.build[count] = entry.wrapping_sub(1);
        count += usize::from(entry != 0 && possible);
    };
    match keys.possible() {
        None => (0..words.len()).for_each(|row| look_up(row, true)),
        Some(possible) => (0..words.len()).for_each(|row| look_up(row, possible[row])),
    }
    pairs.resize(count);
}

/// The row of a key is the key less the least one, or the table knows it.
fn in_place(numbers: &RowNumbers, keys: &ProbeKeys, pairs: &mut Pairs) {
    let words = keys.words();
    let Some(Unchanged { min, rows, places }) = numbers.unchanged() else {
        let is_possible = |row: usize| keys.possible().is_none_or(|it| it[row]);
        for (row, &key) in words.iter().enumerate() {
            if let Some(found) = numbers.find(key).filter(|_| is_possible(row)) {
                pairs.probe.push(row as u32);
                pairs.build.push(found);
            }
        }
        return;
    };
    pairs.resize(words.len());
    let mut count = 0;
    let mut look_up = |row: usize, possible: bool| {
        let place = words[row].wrapping_sub(min) as u64;
        pairs.probe[count] = row as u32;
        pairs.build[count] = place as u32;
        count += usize::from(place < u64::from(rows) && possible);
    };
    match keys.possible() {
        None => (0..words.len()).for_each(|row| look_up(row, true)),
        Some(possible) => (0..words.len()).for_each(|row| look_up(row, possible[row])),
    }
    pairs.resize(count);
    if let Some(places) = places {
        pairs.build.iter_mut().for_each(|it| *it = places[*it as usize]);
    }
}

/// From the slots of rows to the rows of their runs.
fn runs(
    starts: &[u32],
    rows: Option<&[u32]>,
    found: &Pairs,
    pairs: &mut Pairs,
    flush: Flush<'_>,
) -> SqlResult<()> {
    for (&row, &slot) in found.probe.iter().zip(&found.build) {
        let (mut start, end) = (starts[slot as usize], starts[slot as usize + 1]);
        while start < end {
            let free = (BATCH_ROWS - pairs.len()) as u32;
            let stop = end.min(start.saturating_add(free));
            pairs.probe.resize(pairs.len() + (stop - start) as usize, row);
            match rows {
                Some(rows) => pairs.build.extend(&rows[start as usize..stop as usize]),
                None => pairs.build.extend(start..stop),
            }
            start = stop;
            flush_full(pairs, flush)?;
        }
    }
    Ok(())
}

/// From the first partner of each row to all of them. Leaves the last pairs.
fn known(
    table: &HashTable,
    partners: &[u32],
    stop: bool,
    pairs: &mut Pairs,
    flush: Flush<'_>,
) -> SqlResult<()> {
    for (row, &first) in partners.iter().enumerate().filter(|it| *it.1 != NO_ROW) {
        pairs.push(row as u32, first);
        flush_full(pairs, flush)?;
        if !stop {
            for partner in table.equals_behind(first) {
                pairs.push(row as u32, partner);
                flush_full(pairs, flush)?;
            }
        }
    }
    Ok(())
}

/// Leaves the last pairs in the workspace.
fn hashed(
    table: &HashTable,
    keys: &ProbeKeys,
    stop: bool,
    work: &mut Workspace,
    flush: Flush<'_>,
) -> SqlResult<()> {
    let Workspace { hashes, candidates, pairs, .. } = work;
    pairs.clear();
    if let Some(partners) = keys.partners() {
        return known(table, partners, stop || table.is_unique(), pairs, flush);
    }
    let slices = keys.slices();
    table.hash(&slices, keys.rows, hashes);
    table.heads(hashes, keys.possible(), candidates);
    while candidates.len() > 0 {
        if pairs.len() > 0 && pairs.len() + candidates.len() > BATCH_ROWS {
            flush_all(pairs, flush)?;
        }
        table.round(&slices, hashes, stop, candidates, pairs);
    }
    Ok(())
}
