//! Files of JSON, read part by part by any worker.

use std::path::{Path, PathBuf};

use stdx::sync::{Arc, Mutex};
use storage::{BuildContext, Check};
use types::SqlResult;

use super::layout::Layout;
use super::pieces::{Piece, Pieces};
use super::reader::{JsonFormat, Reader};
use crate::dialect::Quoting;
use crate::fault::Origin;
use crate::feed::{Feed, Source, block_of, bytes_of};
use crate::input::{Compression, Encoding};
use crate::rows::{GivePart, Part, Parts, Rows, all_rows};
use crate::text_column::{Columns, TextColumn};

/// Reads files of JSON.
///
/// # Errors
/// 22P04 for what is no JSON, 22021 for bytes that are no text; for values those of a cast from text; 23502; 58P01, 58030 and
/// XX001 for files that cannot be read.
pub fn read_json(
    paths: &[PathBuf],
    columns: &Columns,
    format: &JsonFormat,
    context: &BuildContext<'_>,
) -> SqlResult<Rows> {
    read_in(paths, columns, format, context, None)
}

/// [`read_json`] in blocks of some size.
pub(super) fn read_in(
    paths: &[PathBuf],
    columns: &Columns,
    format: &JsonFormat,
    context: &BuildContext<'_>,
    block: Option<usize>,
) -> SqlResult<Rows> {
    let workers = context.parallel.width();
    let reader = JsonReader::in_blocks(paths, columns.to_vec(), format.clone(), workers, block);
    all_rows(&reader, format.on_error, context)
}

/// Files that are read part by part.
pub struct JsonReader {
    paths: Arc<[PathBuf]>,
    columns: Vec<TextColumn>,
    format: JsonFormat,
    segments: Vec<Segment>,
}

/// Files that are read alike.
struct Segment {
    /// The number of the first of them.
    first: usize,
    /// The number of its first step among all.
    step: u64,
    steps: u64,
    feeding: Feeding,
}

enum Feeding {
    /// Values on lines of their own.
    Lines(Feed),
    /// Others, of one file.
    Pieces { layout: Layout, size: u64, open: Mutex<Cutting> },
}

/// A file that is cut.
struct Cutting {
    /// Not before somebody comes for the first piece.
    pieces: Option<Pieces>,
    block: usize,
    given: u64,
    read: u64,
    is_ended: bool,
}

/// Bits of an order that tell parts of a segment; those above tell the segment.
const PART_BITS: u32 = 18;

impl JsonReader {
    /// Begins to read files; so many workers will.
    pub fn new(
        paths: &[PathBuf],
        columns: Vec<TextColumn>,
        format: JsonFormat,
        workers: usize,
    ) -> Self {
        Self::in_blocks(paths, columns, format, workers, None)
    }

    pub(super) fn in_blocks(
        paths: &[PathBuf],
        columns: Vec<TextColumn>,
        format: JsonFormat,
        workers: usize,
        block: Option<usize>,
    ) -> Self {
        let (mut segments, mut step) = (Vec::new(), 0);
        let is_lines = |it: usize| format.layouts[it] == Layout::Lines;
        let alike = (0..paths.len()).collect::<Vec<_>>();
        for files in alike.chunk_by(|a, b| is_lines(*a) && is_lines(*b)) {
            let first = files[0];
            let own = &paths[first..first + files.len()];
            let bytes = bytes_of(own);
            let (steps, feeding) = match format.layouts[first] {
                Layout::Lines => {
                    let source = Source {
                        paths: own.into(),
                        compression: format.compression,
                        encoding: Encoding::Utf8,
                        skip: 0,
                        quoting: Quoting::None,
                    };
                    let feed = Feed::new(source, workers, block);
                    (feed.steps(), Feeding::Lines(feed))
                }
                layout => {
                    let block = block.unwrap_or_else(|| block_of(bytes, workers));
                    let steps = bytes.div_ceil(block as u64).max(1);
                    let cutting =
                        Cutting { pieces: None, block, given: 0, read: 0, is_ended: false };
                    (steps, Feeding::Pieces { layout, size: bytes, open: Mutex::new(cutting) })
                }
            };
            segments.push(Segment { first, step, steps, feeding });
            step += steps;
        }
        Self { paths: paths.into(), columns, format, segments }
    }

    /// Reads the values that come next in a file that is cut; whether there were some.
    fn piece(
        &self,
        segment: &Segment,
        (layout, open): (Layout, &Mutex<Cutting>),
        give: &mut dyn FnMut(u64, SqlResult<Part>) -> SqlResult<()>,
    ) -> SqlResult<bool> {
        let path = &self.paths[segment.first];
        let (number, piece) = {
            let mut cutting = open.lock();
            if cutting.is_ended {
                return Ok(false);
            }
            let found = cutting.next(path, layout, self.format.compression);
            cutting.given += 1;
            cutting.is_ended = !matches!(found, Ok(Some(_)));
            match found {
                Ok(None) => return Ok(false),
                Ok(Some(piece)) => (cutting.given - 1, Ok(piece)),
                Err(error) => (cutting.given - 1, Err(error)),
            }
        };
        let origin = (Origin::Files(std::slice::from_ref(path)), segment.first);
        let reader = Reader::new(origin, &self.columns, &self.format);
        let is_array = layout == Layout::Array;
        give(number, piece.and_then(|it| reader.piece(&it, is_array)))?;
        Ok(true)
    }
}

impl Cutting {
    fn next(
        &mut self,
        path: &Path,
        layout: Layout,
        compression: Option<Compression>,
    ) -> SqlResult<Option<Piece>> {
        let pieces = match self.pieces.take() {
            Some(it) => it,
            None => Pieces::open(path, layout, compression, self.block)?,
        };
        let piece = self.pieces.insert(pieces).next()?;
        self.read += piece.as_ref().map_or(0, |it| it.bytes.len() as u64);
        Ok(piece)
    }
}

impl Parts for JsonReader {
    fn steps(&self) -> u64 {
        self.segments.iter().map(|it| it.steps).sum()
    }

    fn step(&self, step: u64, check: Check<'_>, give: GivePart<'_>) -> SqlResult<()> {
        let place = self.segments.partition_point(|it| it.step <= step) - 1;
        let segment = &self.segments[place];
        let step = step - segment.step;
        let mut give =
            |number: u64, part: SqlResult<Part>| give((place as u64) << PART_BITS | number, part);
        match &segment.feeding {
            Feeding::Lines(feed) => {
                let origin = (Origin::Files(feed.paths()), segment.first);
                let reader = Reader::new(origin, &self.columns, &self.format);
                feed.step(step, check, &mut |number, chunk| {
                    give(number, chunk.and_then(|it| reader.chunk(&it)))
                })
            }
            Feeding::Pieces { layout, open, .. } => loop {
                check()?;
                let is_more = self.piece(segment, (*layout, open), &mut give)?;
                if !is_more || step + 1 < segment.steps {
                    return Ok(());
                }
            },
        }
    }

    fn progress(&self) -> (u64, u64) {
        let of = |it: &Segment| match &it.feeding {
            Feeding::Lines(feed) => feed.progress(),
            Feeding::Pieces { size, open, .. } => (open.lock().read.min(*size), *size),
        };
        let sum = |(read, all): (u64, u64), (a, b): (u64, u64)| (read + a, all + b);
        let (read, all) = self.segments.iter().map(of).fold((0, 0), sum);
        (read, all.max(1))
    }
}
