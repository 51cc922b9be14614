//! The form of all our files: a head of one page, segments that each begin on a page, and a directory at the end.
//!
//! ```text
//! 0     8   magic "NODEWISE"
//! 8     4   version
//! 12    4   kind of file: 1 part, 2 table
//! 16    8   bytes of the file
//! 24    8   where the directory begins
//! 32    8   bytes of the directory
//! 40    4   CRC-32C of the directory
//! 44    4   CRC-32C of bytes 0 to 44
//! 4096      the first segment; each begins at a multiple of 4096, with zeros before it
//! ```
//!
//! The directory is a record: `segments`, a list of (name, offset, bytes, checksums of its pieces of 1 MiB, four bytes
//! each), and `meta`, which says what they mean. All numbers are little end first.

use crc32c::crc32c;
use memory::{Checksums, Segment};
use stdx::sync::Mutex;
use types::{SqlError, SqlResult, SqlState};

use super::medium::{Sink, Source, damaged, in_file};
use super::record::Record;
use crate::parallel::try_map;
use crate::place::{Places, check_file, out_of_memory};
use crate::{BuildContext, Parallel};

/// The version of the form that is written, and the latest that is read.
pub const VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"NODEWISE";
/// Segments begin at multiples of this, so that a file can be mapped.
const PAGE: u64 = 4096;
/// Bytes of the head that have a meaning.
const HEAD: usize = 48;
/// Bytes under one checksum, which are read as one task.
const PIECE: usize = 1 << 20;

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Part = 1,
    Table = 2,
}

/// A segment in a file.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    offset: u64,
    bytes: usize,
    checksums: Vec<u8>,
}

impl Entry {
    /// Its length.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn checksums(&self) -> Checksums {
        let sums = self.checksums.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it));
        Checksums { piece: PIECE, sums: sums.collect() }
    }
}

/// A file that is written: segments first, then what they mean.
pub(super) struct Writer<'a> {
    sink: &'a mut dyn Sink,
    end: u64,
    entries: Vec<Record>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink) -> Self {
        Self { sink, end: PAGE, entries: Vec::new() }
    }

    /// Appends a segment. One of a mapped file that cannot be read any more is an error (XX001), before and after.
    pub(super) fn segment(&mut self, name: &str, segment: &Segment) -> SqlResult<()> {
        check_file(segment)?;
        let bytes = segment.as_bytes();
        let offset = self.end.next_multiple_of(PAGE);
        let mut checksums = Vec::with_capacity(bytes.len().div_ceil(PIECE) * 4);
        for (number, piece) in bytes.chunks(PIECE).enumerate() {
            self.sink.put(offset + (number * PIECE) as u64, piece)?;
            checksums.extend(crc32c(piece).to_le_bytes());
        }
        self.end = offset + bytes.len() as u64;
        let entry = Record::default().text("name", name).number("offset", offset);
        self.entries.push(entry.count("bytes", bytes.len()).bytes("checksums", checksums));
        check_file(segment)
    }

    /// Ends the file; its length in bytes and the checksum of its directory, which tells it from others.
    pub(super) fn finish(self, kind: Kind, meta: Record) -> SqlResult<(u64, u32)> {
        let directory = Record::default().list("segments", self.entries).record("meta", meta);
        let directory = directory.to_bytes();
        let offset = self.end.next_multiple_of(PAGE);
        let bytes = offset + directory.len() as u64;
        self.sink.put(offset, &directory)?;
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend((kind as u32).to_le_bytes());
        head.extend(bytes.to_le_bytes());
        head.extend(offset.to_le_bytes());
        head.extend((directory.len() as u64).to_le_bytes());
        let checksum = crc32c(&directory);
        head.extend(checksum.to_le_bytes());
        head.extend(crc32c(&head).to_le_bytes());
        self.sink.put(0, &head)?;
        Ok((bytes, checksum))
    }
}

/// A file whose head and directory are whole; its segments are taken in their order.
pub(super) struct Reader<'a> {
    source: &'a dyn Source,
    pub(super) kind: u32,
    pub(super) checksum: u32,
    /// Where it begins.
    directory: u64,
    entries: std::vec::IntoIter<Entry>,
    pub(super) meta: Record,
}

impl<'a> Reader<'a> {
    /// Opens a file.
    pub(super) fn open(source: &'a dyn Source) -> SqlResult<Self> {
        let mut head = [0; HEAD];
        if source.bytes() < PAGE {
            return Err(damaged(format!("it has {} bytes, too few for its head", source.bytes())));
        }
        source.get(0, &mut head)?;
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|it| head[at + it]));
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        if !head.starts_with(MAGIC) {
            return Err(damaged("it does not begin as a file of Nodewise"));
        }
        if crc32c(&head[..44]) != word(44) {
            return Err(damaged("the checksum of its head (bytes 0 to 44) is another one"));
        }
        if word(8) != VERSION {
            let message = format!("{} is of version {}; {VERSION} is read", source.name(), word(8));
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                .with_hint("read it with the build that wrote it"));
        }
        let (bytes, offset, length) = (long(16), long(24), long(32));
        if bytes != source.bytes() || offset.checked_add(length) != Some(bytes) || offset < PAGE {
            let message = format!("it has {} bytes, and its head says {bytes}", source.bytes());
            return Err(damaged(message));
        }
        let mut bytes = vec![0; length as usize];
        source.get(offset, &mut bytes)?;
        if crc32c(&bytes) != word(40) {
            let message =
                format!("the checksum of its directory (from byte {offset}) is another one");
            return Err(damaged(message));
        }
        let mut directory = Record::of_bytes(&bytes)?;
        let entries = directory.take_each("segments", entry)?;
        check_entries(&entries, offset)?;
        let meta = directory.take_list("meta")?.pop();
        let meta = meta.ok_or_else(|| damaged("\"meta\" is empty"))?;
        directory.close()?;
        let (kind, checksum) = (word(12), word(40));
        let entries = entries.into_iter();
        Ok(Self { source, kind, checksum, directory: offset, entries, meta })
    }

    /// Takes the next segments.
    pub(super) fn take(&mut self, count: usize) -> SqlResult<Entries<'a>> {
        if count > self.entries.len() {
            return Err(damaged("a segment is missing"));
        }
        let list = self.entries.by_ref().take(count).collect();
        Ok(Entries { source: self.source, list })
    }

    /// Ends the reading: all segments must have been taken.
    pub(super) fn close(mut self) -> SqlResult<()> {
        self.meta.close()?;
        match self.entries.next() {
            None => Ok(()),
            Some(it) => Err(damaged(format!("nothing is known of its segment \"{}\"", it.name))),
        }
    }
}

fn entry(record: &mut Record) -> SqlResult<Entry> {
    Ok(Entry {
        name: record.take_text("name")?,
        offset: record.take_number("offset")?,
        bytes: record.take_number("bytes")?,
        checksums: record.take_bytes("checksums")?,
    })
}

/// Segments follow each other up to the directory, so that all together are no longer than the file.
fn check_entries(entries: &[Entry], directory: u64) -> SqlResult<()> {
    let mut before = PAGE;
    for entry in entries {
        let end = entry.offset.checked_add(entry.bytes as u64);
        let pieces = entry.bytes.div_ceil(PIECE);
        let fits = end.is_some_and(|it| it <= directory) && entry.offset >= before;
        if !fits || !entry.offset.is_multiple_of(PAGE) || entry.checksums.len() != pieces * 4 {
            let message = format!("its segment \"{}\" is said to lie where it cannot", entry.name);
            return Err(damaged(message));
        }
        before = entry.offset + entry.bytes as u64;
    }
    Ok(())
}

/// Some segments of a file.
pub(super) struct Entries<'a> {
    source: &'a dyn Source,
    list: Vec<Entry>,
}

impl Entries<'_> {
    /// The length of the next segment of a name, zero when there is none.
    pub(super) fn bytes_of(&self, name: &str) -> usize {
        self.list.iter().find(|it| it.name == name).map_or(0, Entry::bytes)
    }

    /// Takes out the next segment of a name, of at least `least` bytes: read by all workers into memory at the places for so
    /// many bytes, or left where it is in a mapped file.
    pub(super) fn read(
        &mut self,
        name: &str,
        least: Option<usize>,
        places: impl FnOnce(usize) -> Places,
        context: &BuildContext<'_>,
    ) -> SqlResult<Segment> {
        let at = self.list.iter().position(|it| it.name == name);
        let at = at.ok_or_else(|| damaged(format!("its segment \"{name}\" is missing")))?;
        let entry = self.list.remove(at);
        if least.is_none_or(|it| entry.bytes < it) {
            return Err(damaged(format!("its segment \"{name}\" is too short")));
        }
        let places = places(entry.bytes);
        if let Some(file) = self.source.mapped() {
            let start = entry.offset as usize;
            let range = start..start + entry.bytes;
            let segment = context.allocator.segment_of_file(file, range, entry.checksums(), places);
            return segment.map_err(out_of_memory);
        }
        let segment = context.allocator.allocate_placed(entry.bytes, &places);
        let mut segment = segment.map_err(out_of_memory)?;
        let pieces: Vec<Mutex<&mut [u8]>> =
            segment.as_bytes_mut().chunks_mut(PIECE).map(Mutex::new).collect();
        try_map(context.parallel, pieces.len(), |piece| {
            context.check_cancelled()?;
            read_piece(self.source, &entry, piece, &mut pieces[piece].lock())
        })?;
        drop(pieces);
        Ok(segment)
    }

    /// Ends the reading: all must have been taken.
    pub(super) fn close(self) -> SqlResult<()> {
        match self.list.first() {
            None => Ok(()),
            Some(it) => Err(damaged(format!("nothing is known of its segment \"{}\"", it.name))),
        }
    }
}

fn read_piece(source: &dyn Source, entry: &Entry, piece: usize, into: &mut [u8]) -> SqlResult<()> {
    let offset = entry.offset + (piece * PIECE) as u64;
    source.get(offset, into)?;
    if crc32c(into).to_le_bytes() != entry.checksums[piece * 4..piece * 4 + 4] {
        let (name, end) = (&entry.name, offset + into.len() as u64);
        let message = format!(
            "the checksum of bytes {offset} to {end}, of its segment \"{name}\", is another one"
        );
        return Err(damaged(message));
    }
    Ok(())
}

/// Compares all checksums of a file, of a part or a table, and what must be zero, without making anything of it. Each place
/// that is damaged is an error, in their order.
pub fn check(source: &dyn Source, parallel: &dyn Parallel) -> Vec<SqlError> {
    let found = check_all(source, parallel).unwrap_or_else(|it| vec![it]);
    found.into_iter().filter_map(|it| in_file::<()>(source, Err(it)).err()).collect()
}

fn check_all(source: &dyn Source, parallel: &dyn Parallel) -> SqlResult<Vec<SqlError>> {
    let reader = Reader::open(source)?;
    let directory = reader.directory;
    let entries: Vec<Entry> = reader.entries.collect();
    let pieces: Vec<(usize, usize)> = (entries.iter().enumerate())
        .flat_map(|(at, it)| (0..it.bytes.div_ceil(PIECE)).map(move |piece| (at, piece)))
        .collect();
    let found = try_map(parallel, pieces.len(), |task| {
        let (at, piece) = pieces[task];
        let entry = &entries[at];
        let mut bytes = vec![0; PIECE.min(entry.bytes - piece * PIECE)];
        Ok(read_piece(source, entry, piece, &mut bytes).err())
    })?;
    let mut found: Vec<SqlError> = found.into_iter().flatten().collect();
    let begins = entries.iter().map(|it| it.offset).chain([directory]);
    let ends = entries.iter().map(|it| it.offset + it.bytes as u64);
    for (end, begin) in [HEAD as u64].into_iter().chain(ends).zip(begins) {
        let mut bytes = vec![0; (begin - end).min(PAGE) as usize];
        source.get(end, &mut bytes)?;
        if bytes.iter().any(|it| *it != 0) {
            found.push(damaged(format!("bytes {end} to {begin} hold something, and should not")));
        }
    }
    Ok(found)
}
