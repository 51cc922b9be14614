//! Finds the partners of a batch of keys, a batch of pairs at a time.

use std::ops::Range;

use types::SqlResult;

use super::direct::{DirectTable, Rows};
use super::hashed::{Candidates, HashTable};
use super::probe_key::ProbeKeys;
use super::table::Finder;
use super::{JoinTable, Pairs};
use crate::BATCH_ROWS;

/// Memory that lookups use again.
#[derive(Default)]
pub(super) struct Workspace {
    hashes: Vec<u64>,
    candidates: Candidates,
    pairs: Pairs,
}

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
            Finder::Direct(DirectTable { min, rows: Rows::Unique(rows), .. }) => {
                unique(rows, *min, keys, &mut work.pairs);
            }
            Finder::Direct(DirectTable { min, rows: Rows::Runs { starts, rows }, .. }) => {
                runs(starts, rows.as_deref(), *min, keys, &mut work.pairs, flush)?;
            }
            Finder::Hashed(table) => hashed(table, keys, stop, work, flush)?,
        }
        flush_all(&mut work.pairs, flush)
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

fn runs(
    starts: &[u32],
    rows: Option<&[u32]>,
    min: i64,
    keys: &ProbeKeys,
    pairs: &mut Pairs,
    flush: Flush<'_>,
) -> SqlResult<()> {
    let possible = keys.possible();
    for (row, &key) in keys.words().iter().enumerate() {
        let place = key.wrapping_sub(min) as u64 as usize;
        // The last start is the end of the last run and belongs to no key.
        if place >= starts.len() - 1 || possible.is_some_and(|it| !it[row]) {
            continue;
        }
        let (mut start, end) = (starts[place], starts[place + 1]);
        while start < end {
            let free = (BATCH_ROWS - pairs.len()) as u32;
            let stop = end.min(start.saturating_add(free));
            pairs.probe.resize(pairs.len() + (stop - start) as usize, row as u32);
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

/// Leaves the last pairs in the workspace.
fn hashed(
    table: &HashTable,
    keys: &ProbeKeys,
    stop: bool,
    work: &mut Workspace,
    flush: Flush<'_>,
) -> SqlResult<()> {
    let Workspace { hashes, candidates, pairs } = work;
    pairs.clear();
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
