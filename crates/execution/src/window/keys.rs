//! Keys of rows that are compared with those of other rows, whatever their kind, and where groups of equal ones begin.

use std::cmp::Ordering;

use types::SqlResult;

use crate::Batch;
use crate::sort::{BytesKey, KeyEncoder, RowKey};

/// Keys of rows, as the sort has them.
pub(super) enum Keys {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
    Bytes(Vec<BytesKey>),
}

impl Keys {
    /// The keys of the rows of a batch.
    pub(super) fn of(encoder: &KeyEncoder, batch: &Batch) -> SqlResult<Self> {
        Ok(match encoder.bits() {
            Some(..=64) => Self::Narrow(u64::encode(encoder, batch)?),
            Some(_) => Self::Wide(u128::encode(encoder, batch)?),
            None => Self::Bytes(BytesKey::encode(encoder, batch)?),
        })
    }

    /// The keys of several batches as one.
    pub(super) fn joined(all: Vec<Self>) -> Self {
        let mut all = all.into_iter();
        let mut first = all.next().unwrap_or(Self::Narrow(Vec::new()));
        for more in all {
            match (&mut first, more) {
                (Self::Narrow(to), Self::Narrow(from)) => to.extend(from),
                (Self::Wide(to), Self::Wide(from)) => to.extend(from),
                (Self::Bytes(to), Self::Bytes(from)) => to.extend(from),
                _ => unreachable!("invariant: keys of one encoder are of one kind"),
            }
        }
        first
    }

    fn len(&self) -> usize {
        match self {
            Self::Narrow(it) => it.len(),
            Self::Wide(it) => it.len(),
            Self::Bytes(it) => it.len(),
        }
    }

    /// How two rows compare.
    pub(super) fn compare(&self, left: usize, right: usize) -> Ordering {
        match self {
            Self::Narrow(it) => it[left].cmp(&it[right]),
            Self::Wide(it) => it[left].cmp(&it[right]),
            Self::Bytes(it) => it[left].cmp(&it[right]),
        }
    }

    /// The key of a row, apart from the others.
    fn only(&self, row: usize) -> Self {
        match self {
            Self::Narrow(it) => Self::Narrow(vec![it[row]]),
            Self::Wide(it) => Self::Wide(vec![it[row]]),
            Self::Bytes(it) => Self::Bytes(vec![it[row].detached()]),
        }
    }

    /// Whether the only keys of two are equal.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Narrow(a), Self::Narrow(b)) => a == b,
            (Self::Wide(a), Self::Wide(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

/// Where groups of equal keys begin in a batch of sorted rows.
pub(super) struct Begins {
    /// Rows behind the first that differ from the one before.
    inside: Vec<u32>,
    first: Keys,
    last: Keys,
}

impl Begins {
    /// Those of a batch that has rows.
    pub(super) fn of(encoder: &KeyEncoder, batch: &Batch) -> SqlResult<Self> {
        let keys = Keys::of(encoder, batch)?;
        let differs = |row: &u32| keys.compare(*row as usize - 1, *row as usize).is_ne();
        let inside = (1..keys.len() as u32).filter(differs).collect();
        Ok(Self { inside, first: keys.only(0), last: keys.only(keys.len() - 1) })
    }

    /// The first row at which a group begins that is not the first of the batch.
    pub(super) fn inside(&self) -> Option<u32> {
        self.inside.first().copied()
    }

    /// The rows of each batch at which groups begin, the first row of all included.
    pub(super) fn resolve(all: &[Self]) -> Vec<Vec<u32>> {
        let mut before: Option<&Self> = None;
        let mut resolved = Vec::with_capacity(all.len());
        for it in all {
            let goes_on = before.is_some_and(|before| before.last.is_same(&it.first));
            let leading = (!goes_on).then_some(0);
            resolved.push(leading.into_iter().chain(it.inside.iter().copied()).collect());
            before = Some(it);
        }
        resolved
    }
}
