//! Archives in the `newc` format, as the kernel unpacks them into its first file system.
//!
//! Several archives may follow each other in one file; each begins at a multiple of four bytes.

use std::io::{self, Write};

const DIRECTORY: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
const LINK: u32 = 0o120_777;

/// Writes an archive. Folders come into being with the first file below them.
pub struct Archive<W: Write> {
    out: W,
    next_inode: u32,
    folders: std::collections::BTreeSet<String>,
}

impl<W: Write> Archive<W> {
    /// An empty archive.
    pub fn new(out: W) -> Self {
        Self { out, next_inode: 1, folders: Default::default() }
    }

    /// Adds a folder and those above it.
    pub fn folder(&mut self, path: &str) -> io::Result<()> {
        if path.is_empty() || self.folders.contains(path) {
            return Ok(());
        }
        self.folder(parent(path))?;
        self.folders.insert(path.to_owned());
        self.entry(path, DIRECTORY, b"")
    }

    /// Adds an executable file; the path has no slash in front.
    pub fn file(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.folder(parent(path))?;
        self.entry(path, FILE, bytes)
    }

    /// Adds a symbolic link to `goal`.
    pub fn link(&mut self, path: &str, goal: &str) -> io::Result<()> {
        self.folder(parent(path))?;
        self.entry(path, LINK, goal.as_bytes())
    }

    /// Ends the archive and gives the writer back.
    pub fn finish(mut self) -> io::Result<W> {
        self.entry("TRAILER!!!", 0, b"")?;
        Ok(self.out)
    }

    fn entry(&mut self, path: &str, mode: u32, bytes: &[u8]) -> io::Result<()> {
        let length = u32::try_from(bytes.len())
            .map_err(|_| io::Error::other(format!("{path} is too large for an archive")))?;
        // Inode, mode, owner, group, links, time, length, four device numbers, length of the name, checksum.
        let name_length = path.len() as u32 + 1;
        let fields = [self.next_inode, mode, 0, 0, 1, 0, length, 0, 0, 0, 0, name_length, 0];
        self.next_inode += 1;
        let mut head = String::from("070701");
        for field in fields {
            head.push_str(&format!("{field:08X}"));
        }
        head.push_str(path);
        head.push('\0');
        self.out.write_all(head.as_bytes())?;
        self.pad(head.len())?;
        self.out.write_all(bytes)?;
        self.pad(bytes.len())
    }

    fn pad(&mut self, length: usize) -> io::Result<()> {
        self.out.write_all(&[0; 3][..length.wrapping_neg() % 4])
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(above, _)| above)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names, modes and contents, read back field by field.
    fn read(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut entries = Vec::new();
        loop {
            assert_eq!(&bytes[..6], b"070701");
            let field = |at: usize| {
                let text = std::str::from_utf8(&bytes[6 + 8 * at..14 + 8 * at]).unwrap();
                u32::from_str_radix(text, 16).unwrap()
            };
            let (mode, length, name_length) = (field(1), field(6) as usize, field(11) as usize);
            let name = String::from_utf8(bytes[110..110 + name_length - 1].to_vec()).unwrap();
            assert_eq!(bytes[110 + name_length - 1], 0);
            let start = (110 + name_length).next_multiple_of(4);
            if name == "TRAILER!!!" {
                assert_eq!(bytes.len(), start);
                return entries;
            }
            entries.push((name, mode, bytes[start..start + length].to_vec()));
            bytes = &bytes[(start + length).next_multiple_of(4)..];
        }
    }

    #[test]
    fn what_goes_in_comes_out() {
        let mut archive = Archive::new(Vec::new());
        archive.file("a/b/c", b"12345").unwrap();
        archive.file("a/d", b"").unwrap();
        archive.link("a/e", "b/c").unwrap();
        archive.folder("a/b").unwrap();
        let bytes = archive.finish().unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let entry = |name: &str, mode, bytes: &[u8]| (name.to_owned(), mode, bytes.to_vec());
        assert_eq!(
            read(&bytes),
            [
                entry("a", DIRECTORY, b""),
                entry("a/b", DIRECTORY, b""),
                entry("a/b/c", FILE, b"12345"),
                entry("a/d", FILE, b""),
                entry("a/e", LINK, b"b/c"),
            ]
        );
    }

    #[test]
    fn an_empty_archive_is_one() {
        assert!(read(&Archive::new(Vec::new()).finish().unwrap()).is_empty());
    }
}
