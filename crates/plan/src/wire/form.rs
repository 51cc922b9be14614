//! What the writer and the reader of plans agree on: limits, the digest, the error.

use std::fmt;
use types::{SqlError, SqlState};

/// The version of the form. To be raised when the way of writing a word changes, or a field changes its type and keeps
/// its name: the digest tells all else.
pub const VERSION: u32 = 1;
/// The longest plan in bytes.
pub const BYTES_MAX: usize = 64 << 20;
/// How deep expressions and relations may nest. Who walks what was read makes room for so many levels ([`stdx::stack`]).
pub const NESTING_MAX: usize = 400;

/// Bytes and names in one number (FNV-1a): it finds accidents, and is no proof against intent.
pub struct Digest(u64);

impl Digest {
    /// Of no names yet.
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds the name of a type, a variant or a field.
    pub fn name(&mut self, name: &str) {
        self.add(name.as_bytes());
        self.add(&[0]);
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The digest of names and bytes.
    pub fn of(names: Self, bytes: &[u8]) -> u64 {
        let mut all = names;
        all.add(bytes);
        all.0
    }
}

/// How deep the value at hand is nested.
#[derive(Default)]
pub struct Nesting(usize);

impl Nesting {
    /// One level down; every expression and relation is one.
    pub fn enter(&mut self) -> Result<(), Fault> {
        self.0 += 1;
        if self.0 > NESTING_MAX {
            let message = format!("the plan nests deeper than {NESTING_MAX} levels");
            return Err(Fault(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message)));
        }
        Ok(())
    }

    /// One level up.
    pub fn leave(&mut self) {
        self.0 -= 1;
    }
}

/// Why writing or reading ended, for serde.
#[derive(Debug)]
pub struct Fault(pub SqlError);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(damaged(&message.to_string()))
    }
}

impl serde::ser::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(SqlError::internal(format!("a plan cannot be written: {message}")))
    }
}

/// The error for a word that plans do not use.
pub fn no_such_word(what: &str) -> Fault {
    Fault(SqlError::internal(format!("plans have no {what}")))
}

/// The error for bytes that are no plan.
pub fn damaged(why: &str) -> SqlError {
    let message = format!("the bytes are not a plan of this build: {why}");
    SqlError::new(SqlState::DATA_CORRUPTED, message).with_hint("plan the statement again")
}

/// The error for a plan of so many bytes.
pub fn too_long(bytes: usize) -> SqlError {
    let message = format!("a plan of {bytes} bytes is longer than {BYTES_MAX}");
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
}
