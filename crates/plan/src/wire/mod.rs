//! Queries and plans as bytes, and back: what one process keeps or sends, another reads.
//!
//! Key decision: a form of our own under serde, because a reader must bound its nesting, which the formats at hand
//! leave to the stack. Numbers are LEB128 (signed ones zigzag), floats their bits; texts and lists have their length
//! first, variants their place. A head names the form and its version; a digest stands at the end.
//!
//! - Invariant: what is read equals what was written, bit for bit: NaN, infinities and 128-bit numbers survive.
//! - Invariant: the digest covers the bytes and the names of all fields and variants, so that a plan of a build whose
//!   words have other names or another order is refused and not misread.
//! - Invariant: no bytes make reading panic, exhaust the stack or take more memory than a multiple of their length.
//!   They may make a plan that means nothing: [`crate::validate()`] checks that.

mod form;
mod reader;
mod writer;

use form::Digest;
use serde::{Serialize, de::DeserializeOwned};
use types::{SqlError, SqlResult, SqlState};

pub use form::{BYTES_MAX, NESTING_MAX, VERSION};

const MAGIC: &[u8; 4] = b"NWPL";
/// Magic and version.
const HEAD: usize = 8;
/// The digest.
const TAIL: usize = 8;

/// A [`crate::Plan`], a [`crate::relation::Query`] or a part of one as bytes. An error (54000 or 54001) when it nests
/// deeper than [`NESTING_MAX`] or comes to more than [`BYTES_MAX`].
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> SqlResult<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    let names = writer::write(value, &mut bytes)?;
    let digest = Digest::of(names, &bytes);
    bytes.extend(digest.to_le_bytes());
    if bytes.len() > BYTES_MAX {
        return Err(form::too_long(bytes.len()));
    }
    Ok(bytes)
}

/// What [`to_bytes`] made these bytes of. Anything else is an error: 0A000 for another version, XX001 for damage, 54000
/// and 54001 for what is longer or nested deeper than the limits.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> SqlResult<T> {
    if bytes.len() > BYTES_MAX {
        return Err(form::too_long(bytes.len()));
    }
    let head = bytes.split_at_checked(HEAD).filter(|it| it.0.starts_with(MAGIC));
    let (head, rest) = head.ok_or_else(|| form::damaged("they do not begin as a plan does"))?;
    let version = head.last_chunk().map_or(0, |it| u32::from_le_bytes(*it));
    if version != VERSION {
        let message = format!("the plan is of version {version}, and this is version {VERSION}");
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
            .with_hint("plan the statement again"));
    }
    let split = rest.len().checked_sub(TAIL).map(|it| rest.split_at(it));
    let (body, tail) = split.ok_or_else(|| form::damaged("they end too early"))?;
    let (value, names) = reader::read(body)?;
    let digest = Digest::of(names, &bytes[..bytes.len() - TAIL]);
    if digest.to_le_bytes() != tail {
        return Err(form::damaged("their digest is another one"));
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
