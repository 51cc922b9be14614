//! Who looks at views.

/// What who looks at views may see in them.
pub trait Viewer {
    /// Whether the text of what a session runs may be seen.
    fn sees_texts_of(&self, session: u64) -> bool;
    /// Whether the values of a table may be seen.
    fn reads_table(&self, name: &str) -> bool;
    /// Whether the numbers of a sequence may be seen.
    fn reads_sequence(&self, name: &str) -> bool;
}
