//! The file in which `nodewise probe` keeps its figures for this machine, and which every start reads.

use std::io;
use std::path::{Path, PathBuf};

use hardware::{Performance, Topology};

/// Where the figures of a machine are kept: `$XDG_CACHE_HOME/nodewise` or `~/.cache/nodewise`.
pub fn kept_file(topology: &Topology) -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let cache =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|it| it.join(".cache")))?;
    Some(cache.join("nodewise").join(format!("probe-{:016x}.txt", topology.fingerprint())))
}

/// Writes figures, with the folders above.
pub fn keep(performance: &Performance, file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent().filter(|it| !it.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, performance.to_text())
}

/// The figures of an earlier probe of this machine. A file that cannot be used is told on standard error and passed over:
/// the distances do as well.
pub fn load(topology: &Topology) -> Option<Performance> {
    let file = kept_file(topology)?;
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            eprintln!("note: {} cannot be read: {error}", file.display());
            return None;
        }
    };
    let problem = match Performance::from_text(&text) {
        Ok(performance) if performance.fits(topology) => return Some(performance),
        Ok(_) => "it is of another machine".to_owned(),
        Err(problem) => problem,
    };
    eprintln!("note: {} is of no use ({problem}); nodewise probe makes it anew", file.display());
    None
}
