//! Rows as text that a client sends: read wave by wave as they come.

use storage::BuildContext;
use types::SqlResult;

use crate::blocks::{BLOCK_MAX, BLOCK_MIN, RECORD_MAX, Raw, Records};
use crate::fault::Origin;
use crate::input::Encoding;
use crate::reader::{Reader, TextFormat};
use crate::rows::Rows;
use crate::text_column::TextColumn;

/// Bytes that are read at once, at least: enough for several workers.
const WAVE_BYTES: usize = 2 << 20;

/// Rows as text that come in pieces of any size.
pub struct TextStream {
    /// The table that they are for.
    table: String,
    columns: Vec<TextColumn>,
    format: TextFormat,
    records: Records,
    /// What has come and was not read.
    pending: Vec<u8>,
    /// What ends lines, once the first has ended.
    line_end: Option<(u8, bool)>,
    is_begun: bool,
    rows: Rows,
    /// Some once the end was marked.
    ended: Option<usize>,
}

impl TextStream {
    /// Rows for a table, of which nothing has come.
    pub fn new(table: String, columns: Vec<TextColumn>, format: TextFormat) -> Self {
        let records = Records::new(format.dialect.quoting);
        Self {
            table,
            columns,
            format,
            records,
            pending: Vec::new(),
            line_end: None,
            is_begun: false,
            rows: Rows::default(),
            ended: None,
        }
    }

    /// Takes in what comes next. Errors as [`crate::read_text`], with the line as their context.
    pub fn push(&mut self, bytes: &[u8], context: &BuildContext<'_>) -> SqlResult<()> {
        if self.ended.is_some() || self.is_refused() {
            return Ok(());
        }
        match self.format.encoding {
            Encoding::Utf8 => self.pending.extend_from_slice(bytes),
            Encoding::Latin1 => {
                let text: String = bytes.iter().map(|it| char::from(*it)).collect();
                self.pending.extend_from_slice(text.as_bytes());
            }
        }
        if self.pending.len() >= WAVE_BYTES { self.read(context, false) } else { Ok(()) }
    }

    /// Whether a row has come that has NULL where there must be a value.
    pub fn is_refused(&self) -> bool {
        self.rows.refused.is_some()
    }

    /// All rows, once nothing more comes.
    pub fn finish(mut self, context: &BuildContext<'_>) -> SqlResult<Rows> {
        if self.ended.is_none() && !self.is_refused() {
            self.read(context, true)?;
        }
        Ok(self.rows)
    }

    fn read(&mut self, context: &BuildContext<'_>, is_last: bool) -> SqlResult<()> {
        if !self.is_begun && self.pending.starts_with(&[0xef, 0xbb, 0xbf]) {
            self.pending.drain(..3);
        }
        let Some(ends) = self.line_end.or_else(|| first_end(&self.pending, is_last)) else {
            return Ok(());
        };
        self.line_end = Some(ends);
        let pending = std::mem::take(&mut self.pending);
        let share = pending.len() / (2 * context.parallel.width().max(1));
        let size = share.clamp(BLOCK_MIN, BLOCK_MAX);
        let mut blocks = pending.chunks(size).peekable();
        let mut raw = Vec::new();
        while let Some(block) = blocks.next() {
            let is_end = is_last && blocks.peek().is_none();
            let is_first = !std::mem::replace(&mut self.is_begun, true);
            raw.push(Raw::of_client(block.to_vec(), ends, is_first, is_end));
        }
        if raw.is_empty() && is_last {
            raw.push(Raw::of_client(Vec::new(), ends, !self.is_begun, true));
        }
        let origin = Origin::Client(&self.table);
        let wave = self.records.wave(raw, origin, context)?;
        let reader = Reader { origin, columns: &self.columns, format: &self.format };
        reader.add(&wave, context, &mut self.rows, &mut self.ended)
    }
}

/// What ends the first line, and whether a carriage return stands before it; nothing where that cannot be told yet.
fn first_end(bytes: &[u8], is_last: bool) -> Option<(u8, bool)> {
    match memchr::memchr2(b'\n', b'\r', bytes) {
        Some(at) if bytes[at] == b'\n' => Some((b'\n', false)),
        Some(at) if at + 1 < bytes.len() => {
            let follows = bytes[at + 1] == b'\n';
            Some((if follows { b'\n' } else { b'\r' }, follows))
        }
        Some(_) => is_last.then_some((b'\r', false)),
        None => (is_last || bytes.len() > RECORD_MAX).then_some((b'\n', false)),
    }
}
