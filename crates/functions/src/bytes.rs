//! Strings of bytes: parts, digests, and as texts of other alphabets. They are held as texts ([`types::numeric::bytes`]).

use arrow_array::ArrayRef;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use plan::Function;
use sha2::Digest;
use types::numeric::bytes::{bytes_of, from_hex, held, unescaped};
use types::{Charset, SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::error::invalid;

/// Characters of a line of base 64, as MIME has it.
const LINE: usize = 76;

fn base64() -> GeneralPurpose {
    let config = GeneralPurposeConfig::new();
    GeneralPurpose::new(
        &STANDARD,
        config.with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
    )
}

fn no_encoding(name: &str) -> SqlError {
    invalid(format!("unrecognized encoding: \"{name}\""))
}

/// Bytes as a text of an alphabet.
pub(crate) fn encode(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, names) = (call.texts(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        let bytes = bytes_of(values.value(row));
        match names.value(row).to_ascii_lowercase().as_str() {
            "hex" => bytes.iter().try_for_each(|it| out.push(&format!("{it:02x}"))),
            "base64" => {
                out.claim(bytes.len().saturating_mul(3) / 2)?;
                let text = base64().encode(&bytes);
                let mut rest = text.as_str();
                while rest.len() > LINE {
                    let (line, after) = rest.split_at(LINE);
                    out.push(line)?;
                    out.push("\n")?;
                    rest = after;
                }
                out.push(rest)
            }
            "escape" => bytes.iter().try_for_each(|it| match it {
                b'\\' => out.push("\\\\"),
                0 | 128.. => out.push(&format!("\\{it:03o}")),
                _ => out.push_char(char::from(*it)),
            }),
            _ => Err(no_encoding(names.value(row))),
        }
    })
}

/// Bytes from a text of an alphabet.
pub(crate) fn decode(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, names) = (call.texts(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        let text = values.value(row);
        let bytes = match names.value(row).to_ascii_lowercase().as_str() {
            "hex" => from_hex(text)?,
            "base64" => {
                let blank = |it: &char| matches!(it, ' ' | '\t' | '\n' | '\r');
                let text: String = text.chars().filter(|it| !blank(it)).collect();
                base64().decode(&text).map_err(|_| {
                    let message = "invalid base64 end sequence or symbol found while decoding base64 sequence";
                    invalid(message).with_hint("the text may be cut, or of another alphabet")
                })?
            }
            "escape" => unescaped(text).ok_or_else(|| {
                let message = "invalid input syntax for type bytea";
                SqlError::new(SqlState::INVALID_TEXT, message)
            })?,
            _ => return Err(no_encoding(names.value(row))),
        };
        out.push(&held(&bytes))
    })
}

/// Digests: md5 as a text, of SHA-2 as bytes.
pub(crate) fn digest(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    call.map_texts(|row, out| {
        let value = values.value(row);
        match call.function {
            // A text counts as it is encoded.
            Function::Md5 => push_md5(&md5::Md5::digest(value.as_bytes()), out),
            Function::Md5OfBytes => push_md5(&md5::Md5::digest(bytes_of(value)), out),
            Function::Sha224 => out.push(&held(&sha2::Sha224::digest(bytes_of(value)))),
            Function::Sha256 => out.push(&held(&sha2::Sha256::digest(bytes_of(value)))),
            Function::Sha384 => out.push(&held(&sha2::Sha384::digest(bytes_of(value)))),
            _ => out.push(&held(&sha2::Sha512::digest(bytes_of(value)))),
        }
    })
}

fn push_md5(digest: &[u8], out: &mut crate::texts::Texts) -> SqlResult<()> {
    digest.iter().try_for_each(|it| out.push(&format!("{it:02x}")))
}

/// The byte at a place, from 0.
pub(crate) fn get_byte(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places) = (call.texts(0)?, call.integers(1)?);
    call.map_integers(|row| {
        let (value, place) = (values.value(row), places.at(row));
        let found = usize::try_from(place).ok().and_then(|it| value.chars().nth(it));
        found.map(|it| it as usize).ok_or_else(|| no_place(place, value))
    })
}

fn no_place(place: i64, value: &str) -> SqlError {
    let last = value.chars().count() as i64 - 1;
    let message = format!("index {place} out of valid range, 0..{last}");
    SqlError::new(SqlState("2202E"), message)
}

/// The bytes with another one at a place, from 0.
pub(crate) fn set_byte(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, places, bytes) = (call.texts(0)?, call.integers(1)?, call.integers(2)?);
    call.map_texts(|row, out| {
        let (value, place) = (values.value(row), places.at(row));
        let mut all = bytes_of(value);
        let found = usize::try_from(place).ok().and_then(|it| all.get_mut(it));
        // As PostgreSQL: of the number, the lowest byte counts.
        *found.ok_or_else(|| no_place(place, value))? = bytes.at(row) as u8;
        out.push(&held(&all))
    })
}

/// The character set of a name, which plays a role. Errors: 22023.
pub(crate) fn charset(name: &str, role: &str) -> SqlResult<Charset> {
    Charset::named(name).ok_or_else(|| {
        let message = format!("invalid {role} encoding name \"{name}\"");
        SqlError::new(SqlState::INVALID_PARAMETER, message)
    })
}

/// A text as bytes in UTF-8, and back.
pub(crate) fn convert(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, names) = (call.texts(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        let (value, name) = (values.value(row), names.value(row));
        let to = call.function == Function::ConvertTo;
        let charset = charset(name, if to { "destination" } else { "source" })?;
        if call.function == Function::ConvertTo {
            return out.push(&held(&charset.encode(value)?));
        }
        out.push(&charset.decode(&bytes_of(value))?)
    })
}
