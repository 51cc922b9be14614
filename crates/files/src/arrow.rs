//! Files of Arrow (IPC): with a footer that tells where its batches are, or a stream of them.
//!
//! Key decision: the bytes are read at once and taken apart here, each length compared with what there is, before the decoder of the
//! `arrow-ipc` crate sees a batch; it takes memory as the bytes say. Batches are decoded by all workers, out of the bytes as they lie.

use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{CompressionType, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use stdx::sync::Arc;
use storage::regular;
use types::{SqlError, SqlResult, SqlState};

use crate::input::read_failed;

/// What a file with a footer begins and ends with.
const MAGIC: &[u8] = b"ARROW1";
/// What stands before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of one buffer, once it is not compressed any more.
const BUFFER_MAX: i64 = 2 << 30;

/// A message: its description and its bytes.
#[derive(Clone, Debug)]
struct Place {
    description: Range<usize>,
    body: Range<usize>,
}

/// A file of Arrow in memory.
#[derive(Debug)]
pub struct ArrowFile {
    path: PathBuf,
    bytes: Buffer,
    schema: SchemaRef,
    /// Batches, and the number of the state of the dictionaries that each has.
    batches: Vec<(Place, usize)>,
    /// Dictionaries by their id, as they were one after the other.
    dictionaries: Vec<HashMap<i64, ArrayRef>>,
}

/// What is wrong with a file.
enum Wrong {
    /// Bytes that do not mean what they should.
    Damaged(String),
    Refused(SqlError),
}

impl From<ArrowError> for Wrong {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::NotYetImplemented(what) => {
                Self::Refused(SqlError::unsupported(format!("{what} is not supported")))
            }
            other => Self::Damaged(other.to_string()),
        }
    }
}

fn damaged(what: impl Into<String>) -> Wrong {
    Wrong::Damaged(what.into())
}

type Checked<T> = Result<T, Wrong>;

impl ArrowFile {
    /// Reads a file, and which batches it has.
    ///
    /// # Errors
    /// 22P04 for what is no file of Arrow, XX001 for one that is damaged; 58P01 and 58030 where it cannot be read.
    pub fn open(path: &Path) -> SqlResult<Self> {
        let mut file = regular::open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| read_failed(path, &error))?;
        let is_file = bytes.starts_with(MAGIC);
        if !is_file && !bytes.starts_with(&CONTINUATION) {
            let message = format!("file {} is not an Arrow file", path.display());
            return Err(SqlError::new(SqlState::BAD_FILE_FORMAT, message)
                .with_hint("it begins with the letters ARROW1, or as a stream of Arrow does"));
        }
        let bytes = Buffer::from_vec(bytes);
        let read = || match is_file {
            true => Self::of_file(path, bytes),
            false => Self::of_stream(path, bytes),
        };
        told(path, regular::guard(read))
    }

    /// Names and types of the columns, as the file has them.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many batches it has.
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The rows of a batch with those columns, by their places; at least one has to be wanted.
    ///
    /// # Errors
    /// XX001 for a file that is damaged, 0A000 for what the decoder does not read.
    pub fn read(&self, batch: usize, columns: &[usize]) -> SqlResult<RecordBatch> {
        told(&self.path, regular::guard(|| self.batch(batch, columns)))
    }

    fn of_file(path: &Path, bytes: Buffer) -> Checked<Self> {
        let cut = || damaged("its end is missing");
        let end = bytes.len().checked_sub(10).filter(|it| *it >= MAGIC.len()).ok_or_else(cut)?;
        let trailer = bytes[end..].try_into().map_err(|_| cut())?;
        let length = read_footer_length(trailer)?;
        let start = end.checked_sub(length).ok_or_else(cut)?;
        let footer = root_as_footer(&bytes[start..end])
            .map_err(|error| damaged(format!("its footer: {error}")))?;
        let schema = footer.schema().ok_or_else(|| damaged("its footer has no schema"))?;
        let schema = Arc::new(fb_to_schema(schema));
        let place = |block: &arrow_ipc::Block| {
            let at =
                usize::try_from(block.offset()).map_err(|_| damaged("a block without a place"))?;
            let place =
                next(&bytes[..start], at)?.ok_or_else(|| damaged("a block without a message"))?;
            let length = usize::try_from(block.bodyLength()).ok();
            match length == Some(place.body.len()) {
                true => Ok(place),
                false => Err(damaged("a block is not as long as its message")),
            }
        };
        let dictionaries = footer.dictionaries().unwrap_or_default();
        let dictionaries = dictionaries.iter().map(place).collect::<Checked<Vec<_>>>()?;
        let batches = footer.recordBatches().unwrap_or_default();
        let batches = batches.iter().map(place).collect::<Checked<Vec<_>>>()?;
        let mut file = Self::empty(path, bytes.clone(), schema);
        for place in dictionaries.into_iter().chain(batches) {
            file.add(place)?;
        }
        Ok(file)
    }

    fn of_stream(path: &Path, bytes: Buffer) -> Checked<Self> {
        let first = next(&bytes, 0)?.ok_or_else(|| damaged("it has no schema"))?;
        let message = message_at(&bytes, &first)?;
        let schema = message.header_as_schema().ok_or_else(|| damaged("it has no schema"))?;
        let schema = Arc::new(fb_to_schema(schema));
        let mut file = Self::empty(path, bytes.clone(), schema);
        let mut at = first.body.end;
        while at < bytes.len() {
            let Some(place) = next(&bytes, at)? else { break };
            at = place.body.end;
            file.add(place)?;
        }
        Ok(file)
    }

    fn empty(path: &Path, bytes: Buffer, schema: SchemaRef) -> Self {
        let dictionaries = vec![HashMap::new()];
        Self { path: path.to_path_buf(), bytes, schema, batches: Vec::new(), dictionaries }
    }

    /// Takes the next message in: a dictionary is read at once.
    fn add(&mut self, place: Place) -> Checked<()> {
        let bytes = self.bytes.clone();
        let message = message_at(&bytes, &place)?;
        let body = bytes.slice_with_length(place.body.start, place.body.len());
        match message.header_type() {
            MessageHeader::RecordBatch => self.batches.push((place, self.dictionaries.len() - 1)),
            MessageHeader::DictionaryBatch => {
                let batch = message.header_as_dictionary_batch();
                let batch = batch.ok_or_else(|| damaged("a dictionary without a header"))?;
                let data = batch.data().ok_or_else(|| damaged("a dictionary without values"))?;
                check(&data, &body)?;
                let mut known = self.dictionaries.last().cloned().unwrap_or_default();
                read_dictionary(&body, batch, &self.schema, &mut known, &message.version())?;
                // What no batch has used is of no use any more.
                match self.batches.last() {
                    Some((_, used)) if *used + 1 == self.dictionaries.len() => {
                        self.dictionaries.push(known);
                    }
                    _ => {
                        self.dictionaries.pop();
                        self.dictionaries.push(known);
                    }
                }
            }
            other => {
                return Err(damaged(format!("a message of the kind {other:?} among its rows")));
            }
        }
        Ok(())
    }

    fn batch(&self, index: usize, columns: &[usize]) -> Checked<RecordBatch> {
        let (place, dictionaries) = &self.batches[index];
        let message = message_at(&self.bytes, place)?;
        let batch = message.header_as_record_batch();
        let batch = batch.ok_or_else(|| damaged("a batch without a header"))?;
        let body = self.bytes.slice_with_length(place.body.start, place.body.len());
        check(&batch, &body)?;
        let known = &self.dictionaries[*dictionaries];
        let version = message.version();
        Ok(read_record_batch(&body, batch, self.schema.clone(), known, Some(columns), &version)?)
    }
}

fn message_at<'a>(bytes: &'a [u8], place: &Place) -> Checked<Message<'a>> {
    root_as_message(&bytes[place.description.clone()])
        .map_err(|error| damaged(format!("a message: {error}")))
}

/// The message that begins at a place; nothing where the end of all is marked.
fn next(bytes: &[u8], at: usize) -> Checked<Option<Place>> {
    let number =
        |at: usize| -> Option<[u8; 4]> { bytes.get(at..at.checked_add(4)?)?.try_into().ok() };
    let cut = || damaged(format!("it ends within a message at byte {at}"));
    let mut start = at;
    let mut length = number(start).ok_or_else(cut)?;
    // Streams of old have a length only.
    if length == CONTINUATION {
        start += 4;
        length = number(start).ok_or_else(cut)?;
    }
    start += 4;
    let length = usize::try_from(i32::from_le_bytes(length)).map_err(|_| cut())?;
    if length == 0 {
        return Ok(None);
    }
    let end = start.checked_add(length).filter(|it| *it <= bytes.len()).ok_or_else(cut)?;
    let mut place = Place { description: start..end, body: end..end };
    let body = usize::try_from(message_at(bytes, &place)?.bodyLength()).map_err(|_| cut())?;
    place.body.end = end.checked_add(body).filter(|it| *it <= bytes.len()).ok_or_else(cut)?;
    Ok(Some(place))
}

/// Whether the buffers and lengths of a batch are within its bytes.
fn check(batch: &arrow_ipc::RecordBatch<'_>, body: &Buffer) -> Checked<()> {
    let compressed = batch.compression().map(|it| it.codec());
    if let Some(codec) = compressed
        && !matches!(codec, CompressionType::LZ4_FRAME | CompressionType::ZSTD)
    {
        return Err(damaged(format!("a compression {codec:?} that nobody knows")));
    }
    if batch.length() < 0 {
        return Err(damaged("a batch with less than no rows"));
    }
    for node in batch.nodes().unwrap_or_default() {
        if node.length() < 0 || node.null_count() < 0 || node.null_count() > node.length() {
            return Err(damaged("a column with less than no rows"));
        }
    }
    for buffer in batch.buffers().unwrap_or_default() {
        let range =
            usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let range = range.and_then(|(from, length)| Some(from..from.checked_add(length)?));
        let bytes = range.and_then(|it| body.as_slice().get(it));
        let bytes = bytes.ok_or_else(|| damaged("a buffer that is not within its batch"))?;
        if compressed.is_some_and(|it| !is_sized(it, bytes)) {
            return Err(damaged("a compressed buffer is of no length that it can have"));
        }
    }
    Ok(())
}

/// Whether the length that a compressed buffer says can be that of its bytes: so much memory is taken for it.
fn is_sized(codec: CompressionType, bytes: &[u8]) -> bool {
    let Some((length, frame)) = bytes.split_first_chunk() else { return bytes.is_empty() };
    match i64::from_le_bytes(*length) {
        -1 | 0 => true,
        it if !(0..=BUFFER_MAX).contains(&it) => false,
        it if codec == CompressionType::LZ4_FRAME => it as usize <= (frame.len() + 256) << 8,
        it => match zstd::zstd_safe::get_frame_content_size(frame) {
            Ok(Some(said)) => said == it as u64,
            Ok(None) => true,
            Err(_) => false,
        },
    }
}

/// What is told of a file.
fn told<T>(path: &Path, read: Result<Checked<T>, String>) -> SqlResult<T> {
    let what = match read {
        Ok(Ok(it)) => return Ok(it),
        Ok(Err(Wrong::Refused(error))) => {
            let message = format!("{} (file {})", error.message, path.display());
            return Err(SqlError { message, ..error });
        }
        Ok(Err(Wrong::Damaged(what))) | Err(what) => what,
    };
    let message = format!("file {} is not a sound Arrow file: {what}", path.display());
    Err(SqlError::new(SqlState::DATA_CORRUPTED, message))
}
