//! An array that was read, and errors about arrays.

use types::array::{Dimension, Items, dimensions_behind};
use types::{SqlError, SqlResult, SqlState};

/// An array that was read: its items as they are held, and its dimensions.
pub(crate) struct Array<'a> {
    pub items: Vec<&'a str>,
    pub dimensions: Vec<Dimension>,
}

impl<'a> Array<'a> {
    /// Of a text that holds it.
    pub fn read(held: &'a str) -> Self {
        let mut items = Items::new(held);
        let all: Vec<&str> = items.by_ref().collect();
        let dimensions = dimensions_behind(items.rest(), all.len());
        let lengths = dimensions.iter().map(|it| usize::try_from(it.length).unwrap_or(0));
        let count = lengths.fold(1, usize::saturating_mul);
        match dimensions.is_empty() || count != all.len() {
            // A text that holds no array is read as one without items.
            true => Self { items: Vec::new(), dimensions: Vec::new() },
            false => Self { items: all, dimensions },
        }
    }

    /// The only dimension of a list; a list without items begins at one.
    ///
    /// Errors: those of `refused` for an array of several.
    pub fn list(self, refused: impl FnOnce() -> SqlError) -> SqlResult<(Vec<&'a str>, i32)> {
        match self.dimensions[..] {
            [] => Ok((Vec::new(), 1)),
            [one] => Ok((self.items, one.lower)),
            _ => Err(refused()),
        }
    }

    /// Items of the first dimension, each as all items that stand in it.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[&'a str]> {
        let each = self.dimensions.iter().skip(1);
        let size = each.fold(1usize, |size, it| {
            size.saturating_mul(usize::try_from(it.length).unwrap_or(1).max(1))
        });
        self.items.rchunks(size).rev()
    }
}

/// An error with a state.
pub(super) fn error(state: &'static str, message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState(state), message)
}
