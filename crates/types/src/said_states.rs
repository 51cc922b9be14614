//! States of errors that users say.

use crate::interned::Interned;
use crate::{SqlResult, SqlState};

impl SqlState {
    /// A state that a user says. Errors: 54000 for more of them than there is room for.
    pub fn kept(code: &str) -> SqlResult<Self> {
        static SAID: Interned<Box<str>> = Interned::new();
        SAID.keep(code.into(), size_of::<Box<str>>() + code.len()).map(|it| Self(it))
    }
}
