//! The bytes of a log file: a head of one sector, then records, each a multiple of eight bytes long, then zeros.
//!
//! All numbers are little-endian. The head: magic (8 bytes), version (4), salt (4), number of the first record (8), CRC-32C
//! of these (4). A record: magic (4), CRC of the rest of its head (4), its number (8), up to which number the log was
//! durable when it was written (8), length of what it holds (8), CRC of what it holds (4), zeros (4), what it holds. The
//! CRCs of records begin with the salt, so that bytes of a user's never pass for a record.

use crate::{JournalError, JournalResult};
use std::path::Path;

/// The format of sealed files that this build writes, and the newest that it reads. Format 1 had no roles.
pub const VERSION: u32 = 2;
/// The format of logs that this build writes. Format 2 had no roles, and 3 no rows of their own form; what they have is the same.
pub const LOG_VERSION: u32 = 4;
/// The oldest format of logs whose records are read: the same numbers of rows in a record of format 1 are of other rows.
pub(crate) const READ_FROM: u32 = 2;
/// Bytes of a file's head.
pub(crate) const FILE_HEAD: u64 = 512;
/// Bytes of a record's head.
pub(crate) const RECORD_HEAD: usize = 40;
/// What places of records are multiples of.
pub(crate) const ALIGNMENT: u64 = 8;

const FILE_MAGIC: &[u8; 8] = b"NWLOG\r\n\x1a";
pub(crate) const RECORD_MAGIC: &[u8; 4] = b"NWR\x9d";

/// The number of a record; from 1 on. 0 is before all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Lsn(pub u64);

impl Lsn {
    /// The next number.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A record that is being put together, with room for its head.
#[derive(Clone, Debug)]
pub struct Record(Vec<u8>);

impl Default for Record {
    fn default() -> Self {
        Self(vec![0; RECORD_HEAD])
    }
}

impl Record {
    /// Bytes that it holds.
    pub fn length(&self) -> usize {
        self.0.len() - RECORD_HEAD
    }

    /// Adds bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Forgets all but the first so many bytes.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(RECORD_HEAD + length);
    }

    /// Its bytes in a file.
    pub(crate) fn sealed(mut self, salt: u32, lsn: Lsn, durable: Lsn) -> Vec<u8> {
        let length = self.length() as u64;
        let (head, held) = self.0.split_at_mut(RECORD_HEAD);
        head[..4].copy_from_slice(RECORD_MAGIC);
        head[8..16].copy_from_slice(&lsn.0.to_le_bytes());
        head[16..24].copy_from_slice(&durable.0.to_le_bytes());
        head[24..32].copy_from_slice(&length.to_le_bytes());
        head[32..36].copy_from_slice(&crc32c::crc32c_append(salt, held).to_le_bytes());
        let crc = crc32c::crc32c_append(salt, &head[8..]);
        head[4..8].copy_from_slice(&crc.to_le_bytes());
        let whole = self.0.len().next_multiple_of(ALIGNMENT as usize);
        self.0.resize(whole, 0);
        self.0
    }
}

/// The head of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordHead {
    pub(crate) lsn: Lsn,
    pub(crate) durable: Lsn,
    pub(crate) length: u64,
    crc: u32,
}

impl RecordHead {
    /// Reads a head; `None` when the bytes are none.
    pub(crate) fn read(bytes: &[u8], salt: u32) -> Option<Self> {
        let head = bytes.get(..RECORD_HEAD)?;
        let is_whole = head.starts_with(RECORD_MAGIC)
            && u32_at(head, 4) == crc32c::crc32c_append(salt, &head[8..]);
        is_whole.then(|| Self {
            lsn: Lsn(u64_at(head, 8)),
            durable: Lsn(u64_at(head, 16)),
            length: u64_at(head, 24),
            crc: u32_at(head, 32),
        })
    }

    /// Whether these bytes are what the record held.
    pub(crate) fn fits(&self, held: &[u8], salt: u32) -> bool {
        self.crc == crc32c::crc32c_append(salt, held)
    }
}

/// The head of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileHead {
    pub(crate) version: u32,
    pub(crate) salt: u32,
    pub(crate) first: Lsn,
}

impl FileHead {
    pub(crate) fn bytes(self) -> Vec<u8> {
        let mut bytes = FILE_MAGIC.to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.salt.to_le_bytes());
        bytes.extend(self.first.0.to_le_bytes());
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes.resize(FILE_HEAD as usize, 0);
        bytes
    }

    /// Reads the head of a file.
    pub(crate) fn read(bytes: &[u8], folder: &Path, name: &str) -> JournalResult<Self> {
        let damaged = |what| JournalError::damaged(folder, name, 0, what);
        if bytes.len() < FILE_HEAD as usize || !bytes.starts_with(FILE_MAGIC) {
            return Err(damaged("it does not begin as a log does"));
        }
        if u32_at(bytes, 24) != crc32c::crc32c(&bytes[..24]) {
            return Err(damaged("its head has another checksum"));
        }
        let version = u32_at(bytes, 8);
        if version > LOG_VERSION {
            return Err(JournalError::Newer { path: folder.join(name), version });
        }
        Ok(Self { version, salt: u32_at(bytes, 12), first: Lsn(u64_at(bytes, 16)) })
    }
}

/// The number at a place; zero past the end.
pub(crate) fn u32_at(bytes: &[u8], place: usize) -> u32 {
    let found = bytes.get(place..).and_then(|it| it.first_chunk());
    found.map_or(0, |it| u32::from_le_bytes(*it))
}

/// The number at a place; zero past the end.
pub(crate) fn u64_at(bytes: &[u8], place: usize) -> u64 {
    let found = bytes.get(place..).and_then(|it| it.first_chunk());
    found.map_or(0, |it| u64::from_le_bytes(*it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_no_record() {
        let mut record = Record::default();
        record.extend(b"what");
        let mark = record.length();
        record.extend(b"ever");
        record.truncate(mark);
        let bytes = record.sealed(7, Lsn(3), Lsn(2));
        assert_eq!(bytes.len(), 48);
        let whole = |bytes: &[u8], salt| {
            let head = RecordHead::read(bytes, salt)?;
            let held = &bytes[RECORD_HEAD..RECORD_HEAD + head.length as usize];
            head.fits(held, salt).then_some((head.lsn, head.durable, held.to_vec()))
        };
        assert_eq!(whole(&bytes, 7), Some((Lsn(3), Lsn(2), b"what".to_vec())));
        assert_eq!(whole(&bytes, 8), None, "of another file");
        for bit in 0..(RECORD_HEAD + 4) * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(whole(&flipped, 7), None, "bit {bit}");
        }
    }

    #[test]
    fn a_newer_file_and_a_damaged_one_are_told_apart() {
        let head = FileHead { version: LOG_VERSION, salt: 5, first: Lsn(9) };
        let folder = Path::new("/d");
        let bytes = head.bytes();
        assert_eq!(FileHead::read(&bytes, folder, "log"), Ok(head));
        for bit in 0..28 * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let read = FileHead::read(&flipped, folder, "log");
            assert!(matches!(read, Err(JournalError::Damaged { .. })), "bit {bit}");
        }
        let mut newer = bytes[..24].to_vec();
        newer[8] = LOG_VERSION as u8 + 1;
        newer.extend(crc32c::crc32c(&newer).to_le_bytes());
        newer.resize(512, 0);
        let read = FileHead::read(&newer, folder, "log");
        let Err(JournalError::Newer { version, .. }) = read else { panic!("{read:?}") };
        assert_eq!(version, LOG_VERSION + 1);
    }
}
