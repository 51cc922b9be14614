//! How the files of a folder come into memory.

/// How the files of a folder come into memory (docs/design/10-files.md, "mapped").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Loading {
    /// Opening reads all of them, to where tables are placed.
    #[default]
    Resident,
    /// They are mapped, and read when a statement looks at them, first by workers of the nodes where tables are placed
    /// (unless its strategy is `os`). Their pages lie where the OS has put them.
    Mapped,
}

impl Loading {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Mapped => "mapped",
        }
    }
}
