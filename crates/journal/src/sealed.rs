//! Small files that are replaced whole and checked when they are read: manifests.
//!
//! A sealed file is its magic (8 bytes), its version (4), the CRC-32C of what it holds (4), and what it holds.

use hardware::{Folder, FolderError};

use crate::frame::{VERSION, u32_at};
use crate::{JournalError, JournalResult};

const MAGIC: &[u8; 8] = b"NWSEAL\r\n";
const HEAD: usize = 16;

/// Puts bytes in a file, in the place of what it held: after a crash it holds the one or the other. Returns when it lasts.
pub fn write_sealed(folder: &dyn Folder, name: &str, bytes: &[u8]) -> JournalResult<()> {
    let mut sealed = MAGIC.to_vec();
    sealed.extend(VERSION.to_le_bytes());
    sealed.extend(crc32c::crc32c(bytes).to_le_bytes());
    sealed.extend_from_slice(bytes);
    let new = format!("{name}.new");
    let file = folder.create(&new)?;
    file.write_at(0, &sealed)?;
    file.sync()?;
    // What a write that was cut short has left under this name would else be renamed, where a crash keeps the new name of it but
    // not that it was made anew.
    folder.sync()?;
    folder.rename(&new, name)?;
    Ok(folder.sync()?)
}

/// What a sealed file holds; `None` when there is no such file.
pub fn read_sealed(folder: &dyn Folder, name: &str) -> JournalResult<Option<Vec<u8>>> {
    if !folder.list()?.iter().any(|it| it == name) {
        return Ok(None);
    }
    let read = || -> Result<Vec<u8>, FolderError> {
        let file = folder.open(name)?;
        let mut bytes = vec![0; file.length()? as usize];
        file.read_at(0, &mut bytes)?;
        Ok(bytes)
    };
    let mut bytes = read()?;
    let damaged = |what| Err(JournalError::damaged(folder.path(), name, 0, what));
    if bytes.len() < HEAD || !bytes.starts_with(MAGIC) {
        return damaged("it does not begin as it should");
    }
    let version = u32_at(&bytes, 8);
    let is_whole = u32_at(&bytes, 12) == crc32c::crc32c(&bytes[HEAD..]);
    match (is_whole, version) {
        (true, ..=VERSION) => Ok(Some(bytes.split_off(HEAD))),
        (true, _) => Err(JournalError::Newer { path: folder.path().join(name), version }),
        (false, _) => damaged("it has another checksum"),
    }
}
