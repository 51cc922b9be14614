//! What the checks look at, and what they found.

/// What the checks found.
#[derive(Default)]
pub struct Report {
    /// Rules that are broken.
    pub errors: Vec<String>,
    /// What should change some day.
    pub warnings: Vec<String>,
}

impl Report {
    /// A rule is broken.
    pub fn error(&mut self, message: impl Into<String>) {
        self.errors.push(message.into());
    }

    /// Something should change some day.
    pub fn warning(&mut self, message: impl Into<String>) {
        self.warnings.push(message.into());
    }
}

/// One tracked text file.
pub struct File {
    /// Path from the root, with forward slashes.
    pub path: String,
    /// Contents.
    pub text: String,
}
