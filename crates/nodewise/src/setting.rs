//! A setting as the views show it.

/// A setting as the views show it.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What it does.
    pub description: &'static str,
}
