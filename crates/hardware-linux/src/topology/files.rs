//! Small text files below a root folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::{TopologyError, lists};

/// The folder that stands for `/`.
#[derive(Clone, Debug)]
pub struct Root(PathBuf);

impl Root {
    /// The tree below `path`.
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.join(path.trim_start_matches('/'))
    }

    /// An error about a file.
    pub fn malformed(&self, path: &str, problem: impl Into<String>) -> TopologyError {
        TopologyError::Malformed { path: self.at(path), problem: problem.into() }
    }

    /// The text of a file without surrounding blanks; `None` when it cannot be read. Bytes that are no text become
    /// replacement characters, which no parser accepts.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.at(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The numbers N of the entries `prefixN` of a folder, ascending.
    pub fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(self.at(folder)) else { return Vec::new() };
        let mut numbers: Vec<u32> = entries
            .filter_map(|it| it.ok()?.file_name().to_str()?.strip_prefix(prefix)?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Whether a folder exists.
    pub fn is_folder(&self, path: &str) -> bool {
        self.at(path).is_dir()
    }

    /// The number in a file.
    pub fn number<T: std::str::FromStr>(&self, path: &str) -> Result<Option<T>, TopologyError> {
        let Some(text) = self.text(path) else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => {
                Err(self.malformed(path, format!("\"{}\" is no number", lists::shortened(&text))))
            }
        }
    }

    /// The list (`0-3,8`) in a file.
    pub fn list(&self, path: &str) -> Result<Option<Vec<u32>>, TopologyError> {
        let Some(text) = self.text(path) else { return Ok(None) };
        lists::parse_list(&text).map(Some).map_err(|problem| self.malformed(path, problem))
    }

    /// The mask (`ff,00000000`) in a file.
    pub fn mask(&self, path: &str) -> Result<Option<Vec<u32>>, TopologyError> {
        let Some(text) = self.text(path) else { return Ok(None) };
        lists::parse_mask(&text).map(Some).map_err(|problem| self.malformed(path, problem))
    }

    /// A list in `proc/self/status`, such as `Mems_allowed_list`.
    pub fn status_list(&self, key: &str) -> Result<Option<Vec<u32>>, TopologyError> {
        const STATUS: &str = "proc/self/status";
        let Some(text) = self.text(STATUS) else { return Ok(None) };
        let Some(value) = field(&text, key) else { return Ok(None) };
        lists::parse_list(value)
            .map(Some)
            .map_err(|problem| self.malformed(STATUS, format!("{key}: {problem}")))
    }
}

/// The value behind `key:` at the start of a line.
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        Some(line.trim().strip_prefix(key)?.trim_start().strip_prefix(':')?.trim())
    })
}

/// Bytes behind `key:` in a file that counts in kB.
pub fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let value = field(text, key)?;
    let number = value.strip_suffix("kB").unwrap_or(value).trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}
