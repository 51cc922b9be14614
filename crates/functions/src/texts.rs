//! An array of texts that is written value by value and cannot grow past the limits.
//!
//! - Invariant: no byte is allocated before it is counted, so a call that asks for too much fails at once.

use std::fmt::Write;

use arrow_array::ArrayRef;
use arrow_array::builder::StringBuilder;
use stdx::sync::Arc;
use types::SqlResult;

use crate::error::too_long;

/// The longest text that a function makes, in bytes.
pub const VALUE_BYTES_MAX: usize = 256 << 20;
/// The longest array of texts that a call makes, in bytes.
pub const ARRAY_BYTES_MAX: usize = 1 << 30;

/// Texts under construction. A value is written in pieces, and ended.
pub(crate) struct Texts {
    builder: StringBuilder,
    /// Bytes of the values that are ended.
    total: usize,
    /// Bytes of the value that is written.
    open: usize,
}

impl Texts {
    /// No texts yet.
    pub fn with_capacity(rows: usize) -> Self {
        Self { builder: StringBuilder::with_capacity(rows, 0), total: 0, open: 0 }
    }

    /// Fails when so many bytes more would break a limit.
    pub fn claim(&self, bytes: usize) -> SqlResult<()> {
        let open = self.open.saturating_add(bytes);
        if open > VALUE_BYTES_MAX || self.total.saturating_add(open) > ARRAY_BYTES_MAX {
            return Err(too_long());
        }
        Ok(())
    }

    /// Appends to the value that is written.
    pub fn push(&mut self, part: &str) -> SqlResult<()> {
        self.claim(part.len())?;
        self.open += part.len();
        self.builder.write_str(part).map_err(|_| too_long())
    }

    /// Appends a character to the value that is written.
    pub fn push_char(&mut self, part: char) -> SqlResult<()> {
        self.push(part.encode_utf8(&mut [0; 4]))
    }

    /// Appends a text several times, the check for the limits first.
    pub fn push_repeated(&mut self, part: &str, times: usize) -> SqlResult<()> {
        // Short parts go in stretches.
        const STRETCH_BYTES: usize = 4096;
        if part.is_empty() {
            return Ok(());
        }
        self.claim(part.len().saturating_mul(times))?;
        let together = (STRETCH_BYTES / part.len()).clamp(1, times.max(1));
        let stretch = part.repeat(together);
        (0..times / together).try_for_each(|_| self.push(&stretch))?;
        self.push(&stretch[..part.len() * (times % together)])
    }

    /// Ends the value that is written; without a piece it is the empty text.
    pub fn end(&mut self) {
        self.total += self.open;
        self.open = 0;
        self.builder.append_value("");
    }

    /// Appends NULL.
    pub fn null(&mut self) {
        self.builder.append_null();
    }

    /// The array.
    pub fn finish(mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}
