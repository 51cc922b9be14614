//! P-HYPER's hash table (4.1): a tagged directory of exactly the right size, chains through a vector, and the keys by
//! column. Probed a batch at a time: all heads first, so that their cache misses overlap, then rounds over what is left.

use memory::{Placed, shared};
use stdx::sync::atomic::AtomicU64;
use stdx::tagged::{self, Directory};
use types::SqlResult;

use super::hash::{START, hash_word};
use super::key::{KeyColumn, KeySlice};
use super::{NO_ROW, Pairs};
use crate::Team;
use crate::pieces::{Pieces, piece_rows, unspecified, zeros};

/// A hash table over rows 0 to n of some key columns.
pub(super) struct HashTable {
    /// Entry = row + 1.
    pub(super) directory: Directory<Placed<AtomicU64>>,
    /// By row the entry that follows it in its bucket, 0 at the end.
    next: Placed<u32>,
    /// By row; empty for a key of one word, where comparing the key costs as little.
    hashes: Placed<u64>,
    pub(super) keys: Vec<KeyColumn>,
    /// No two rows have equal keys.
    unique: bool,
}

/// Pairs that share a bucket and still have to be compared.
#[derive(Default)]
pub(super) struct Candidates {
    probe: Vec<u32>,
    build: Vec<u32>,
    hits: Vec<u32>,
}

impl Candidates {
    pub(super) fn len(&self) -> usize {
        self.probe.len()
    }
}

impl HashTable {
    pub(super) fn build(
        keys: Vec<KeyColumn>,
        rows: usize,
        unique: bool,
        team: &dyn Team,
    ) -> SqlResult<Self> {
        let directory = Directory::over(shared(zeros(tagged::buckets_for(rows), team)?));
        let mut next: Placed<u32> = unspecified(rows, team)?;
        let mut hashes: Placed<u64> = unspecified(if is_word(&keys) { 0 } else { rows }, team)?;
        let piece = piece_rows(rows, team.width() * 8);
        let mut pieces = Pieces::new();
        let mut parts = hashes.chunks_mut(piece);
        for (index, next) in next.chunks_mut(piece).enumerate() {
            let (keys, directory) = (&keys, &directory);
            let hashes = parts.next().unwrap_or_default();
            let start = index * piece;
            pieces.add(next.len(), move || insert(directory, keys, start, next, hashes));
        }
        pieces.run(team)?;
        Ok(Self { directory, next, hashes, keys, unique })
    }

    /// The hashes of rows of the probe side.
    pub(super) fn hash(&self, keys: &[KeySlice<'_>], rows: usize, hashes: &mut Vec<u64>) {
        hashes.clear();
        hashes.resize(rows, START);
        for key in keys {
            key.combine_into(0..rows, hashes);
        }
    }

    /// The first candidate of each row that `possible` allows.
    pub(super) fn heads(
        &self,
        hashes: &[u64],
        possible: Option<&[bool]>,
        candidates: &mut Candidates,
    ) {
        let rows = hashes.len();
        let Candidates { probe, build, .. } = candidates;
        probe.resize(rows, 0);
        build.resize(rows, 0);
        // First only loads, which do not wait for each other; then the survivors, without branches.
        for (head, &hash) in build.iter_mut().zip(hashes) {
            *head = self.directory.head(hash) as u32;
        }
        let mut count = 0;
        for row in 0..rows {
            let head = build[row];
            probe[count] = row as u32;
            build[count] = head.wrapping_sub(1);
            count += usize::from(head != 0 && possible.is_none_or(|it| it[row]));
        }
        probe.truncate(count);
        build.truncate(count);
    }

    /// Compares all candidates, adds the equal pairs to `found`, and moves on in the chains. With `stop`, rows that
    /// found a partner are done.
    pub(super) fn round(
        &self,
        keys: &[KeySlice<'_>],
        hashes: &[u64],
        stop: bool,
        candidates: &mut Candidates,
        found: &mut Pairs,
    ) {
        let stop = stop || self.unique;
        match (self.keys.as_slice(), keys) {
            ([KeyColumn::Words(build)], [KeySlice::Words(probe)]) => {
                self.round_words(build, probe, stop, candidates, found);
            }
            _ => self.round_any(keys, hashes, stop, candidates, found),
        }
    }

    fn round_words(
        &self,
        keys: &[i64],
        words: &[i64],
        stop: bool,
        candidates: &mut Candidates,
        found: &mut Pairs,
    ) {
        let Candidates { probe, build, .. } = candidates;
        let (mut hits, mut left) = (found.len(), 0);
        found.resize(hits + probe.len());
        for index in 0..probe.len() {
            let (row, partner) = (probe[index], build[index]);
            let equal = keys[partner as usize] == words[row as usize];
            found.probe[hits] = row;
            found.build[hits] = partner;
            hits += usize::from(equal);
            let next = self.next[partner as usize];
            probe[left] = row;
            build[left] = next.wrapping_sub(1);
            left += usize::from(next != 0 && !(stop && equal));
        }
        found.resize(hits);
        probe.truncate(left);
        build.truncate(left);
    }

    fn round_any(
        &self,
        keys: &[KeySlice<'_>],
        hashes: &[u64],
        stop: bool,
        candidates: &mut Candidates,
        found: &mut Pairs,
    ) {
        let Candidates { probe, build, hits } = candidates;
        hits.clear();
        hits.extend(
            (0..probe.len())
                .filter(|&index| self.is_alike(build[index], hashes[probe[index] as usize]))
                .map(|it| it as u32),
        );
        for (column, &key) in self.keys.iter().zip(keys) {
            column.retain_equal(key, probe, build, hits);
        }
        for &hit in hits.iter() {
            found.push(probe[hit as usize], build[hit as usize]);
        }
        if stop {
            hits.iter().for_each(|&hit| build[hit as usize] = NO_ROW);
        }
        let mut left = 0;
        for index in 0..probe.len() {
            let next = self.next.get(build[index] as usize).copied().unwrap_or(0);
            probe[left] = probe[index];
            build[left] = next.wrapping_sub(1);
            left += usize::from(next != 0);
        }
        probe.truncate(left);
        build.truncate(left);
    }

    /// Whether its only key is a text. Numbers of rows are taken with room for two marks.
    pub(super) fn is_of_texts(&self) -> bool {
        matches!(self.keys.as_slice(), [KeyColumn::Text(_)])
            && self.next.len() < NO_ROW as usize - 2
    }

    /// Whether a row that has found a partner has no other one.
    pub(super) fn is_unique(&self) -> bool {
        self.unique
    }

    /// The rows behind one in its chain that have an equal text for their only key.
    pub(super) fn equals_behind(&self, row: u32) -> impl Iterator<Item = u32> {
        let link = |row: u32| self.next[row as usize].checked_sub(1);
        let text = |row: u32| match self.keys.as_slice() {
            [KeyColumn::Text(texts)] => texts.bytes_at(row as usize),
            _ => &[],
        };
        let hash = self.hashes[row as usize];
        let chain = std::iter::successors(link(row), move |&it| link(it));
        chain.filter(move |&it| self.is_alike(it, hash) && text(it) == text(row))
    }

    fn is_alike(&self, row: u32, hash: u64) -> bool {
        // A key of one word has no stored hashes.
        self.hashes.get(row as usize).is_none_or(|&it| it == hash)
    }
}

fn is_word(keys: &[KeyColumn]) -> bool {
    matches!(keys, [KeyColumn::Words(_)])
}

/// Inserts the rows from `start` on, whose links and hashes are `next` and `hashes`.
fn insert(
    directory: &Directory<Placed<AtomicU64>>,
    keys: &[KeyColumn],
    start: usize,
    next: &mut [u32],
    hashes: &mut [u64],
) {
    if let [KeyColumn::Words(words)] = keys {
        let words = &words[start..start + next.len()];
        for (index, (next, &word)) in next.iter_mut().zip(words).enumerate() {
            *next = directory.insert(hash_word(word), (start + index) as u64 + 1) as u32;
        }
        return;
    }
    hashes.fill(START);
    for key in keys {
        key.slice().combine_into(start..start + next.len(), hashes);
    }
    for (index, (next, &hash)) in next.iter_mut().zip(hashes.iter()).enumerate() {
        *next = directory.insert(hash, (start + index) as u64 + 1) as u32;
    }
}
