//! What a session knows of texts without their integers ([`crate::similar_planning`] looks at them).

use std::collections::HashMap;

use stdx::sync::Arc;

use crate::Prepared;

/// Texts that are remembered; when there are more, all are forgotten.
const TEXTS_MAX: usize = 256;

/// What a session knows of texts without their integers.
#[derive(Default)]
pub(crate) struct SimilarStatements(HashMap<String, Known>);

/// What is known of such a text.
#[derive(Clone)]
pub(crate) enum Known {
    /// It has come once.
    Once,
    /// It runs like a prepared statement.
    Kept(Similar),
    /// It has to be planned for its values.
    Other,
}

/// A statement for all texts like one.
#[derive(Clone)]
pub(crate) struct Similar {
    pub(crate) prepared: Prepared,
    /// What all of them are counted as.
    pub(crate) normalized: Arc<str>,
}

impl SimilarStatements {
    /// What is known of a text.
    pub(crate) fn get(&self, text: &str) -> Option<&Known> {
        self.0.get(text)
    }

    /// Notes what is known of a text.
    pub(crate) fn put(&mut self, text: String, known: Known) {
        if self.0.len() >= TEXTS_MAX && !self.0.contains_key(&text) {
            self.0.clear();
        }
        self.0.insert(text, known);
    }
}
