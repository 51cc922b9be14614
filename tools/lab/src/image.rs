//! The first file system of a guest: busybox, the modules, the programs with their shared libraries, files, a command.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use crate::cpio::Archive;
use crate::packages::{self, Kernel};
use crate::{LabResult, failed};

/// What a guest holds and does.
#[derive(Clone, Default, Debug)]
pub struct Contents {
    /// Programs, which come to lie in `/bin` under the given name, with the libraries that they load.
    pub programs: Vec<(String, PathBuf)>,
    /// Files or folders, which come to lie in `/lab` under their own name.
    pub copies: Vec<PathBuf>,
    /// Variables of the command.
    pub environment: Vec<(String, String)>,
    /// The size of the last-level caches that the guest's kernel tells of, in KiB, in place of the emulator's.
    pub cache_kib: Option<u64>,
    /// The command, run in `/lab`; what it leaves in `/out` comes back.
    pub command: Vec<String>,
}

/// Writes the file system as one archive.
pub fn write(
    path: &Path,
    folder: &Path,
    kernel: &Kernel,
    contents: &Contents,
    limit_seconds: u64,
) -> LabResult<()> {
    let file = File::create(path).map_err(|error| failed(path.display(), error))?;
    let mut archive = Archive::new(BufWriter::new(file));
    let problem = |error: std::io::Error| failed("writing the guest's file system", error);
    let busybox = packages::find("busybox").ok_or_else(|| failed("busybox", "it is not there"))?;
    archive.file("init", include_bytes!("init.sh")).map_err(problem)?;
    let cache = contents.cache_kib.map_or_else(String::new, |it| it.to_string());
    let settings = format!("LIMIT={limit_seconds}\nCACHE_KIB={cache}\n");
    archive.file("lab.settings", settings.as_bytes()).map_err(problem)?;
    archive.file("lab.command", script(contents).as_bytes()).map_err(problem)?;
    for empty in ["proc", "sys", "dev"] {
        archive.folder(empty).map_err(problem)?;
    }
    for module in &kernel.modules {
        add(&mut archive, &format!("modules/{}", name_of(module)), module)?;
    }
    let mut libraries = BTreeSet::new();
    let mut programs = vec![("busybox".to_owned(), busybox)];
    programs.extend(contents.programs.iter().cloned());
    for (name, program) in &programs {
        libraries.extend(libraries_of(program)?);
        add(&mut archive, &format!("bin/{name}"), &without_symbols(folder, program)?)?;
    }
    for library in libraries {
        let inside = library.to_string_lossy().trim_start_matches('/').to_owned();
        add(&mut archive, &inside, &library)?;
    }
    for copy in &contents.copies {
        add_all(&mut archive, &format!("lab/{}", name_of(copy)), copy)?;
    }
    archive.finish().and_then(|mut out| out.flush()).map_err(problem)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn add<W: Write>(archive: &mut Archive<W>, inside: &str, path: &Path) -> LabResult<()> {
    let bytes = fs::read(path).map_err(|error| failed(path.display(), error))?;
    archive.file(inside, &bytes).map_err(|error| failed(inside, error))
}

fn add_all<W: Write>(archive: &mut Archive<W>, inside: &str, path: &Path) -> LabResult<()> {
    if !path.is_dir() {
        return add(archive, inside, path);
    }
    archive.folder(inside).map_err(|error| failed(inside, error))?;
    let entries = fs::read_dir(path).map_err(|error| failed(path.display(), error))?;
    for entry in entries.filter_map(Result::ok) {
        add_all(archive, &format!("{inside}/{}", name_of(&entry.path())), &entry.path())?;
    }
    Ok(())
}

/// The command as a script of the guest's shell.
fn script(contents: &Contents) -> String {
    let mut script = String::new();
    for (name, value) in &contents.environment {
        script.push_str(&format!("export {name}={}\n", quoted(value)));
    }
    script.push_str("cd /lab\nexec");
    for word in &contents.command {
        script.push(' ');
        script.push_str(&quoted(word));
    }
    script.push('\n');
    script
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The shared libraries that a program loads, as absolute paths; none for a static one.
fn libraries_of(program: &Path) -> LabResult<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output();
    let output = output.map_err(|error| failed("cannot run ldd", error))?;
    // A static program is an error to ldd and fine with us.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if let Some(line) = text.lines().find(|line| line.contains("not found")) {
        return Err(failed(program.display(), line.trim()));
    }
    Ok(library_paths(&text))
}

/// Lines are `name => path (address)`, or `path (address)` for the loader.
fn library_paths(text: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let place = line.split("=>").last()?.split(" (").next()?.trim();
        place.starts_with('/').then(|| PathBuf::from(place))
    };
    text.lines().filter_map(path).collect()
}

/// A copy of a program without its symbols, which are a third of it; kept until the program changes.
fn without_symbols(folder: &Path, program: &Path) -> LabResult<PathBuf> {
    let problem = |error: std::io::Error| failed(program.display(), error);
    let facts = fs::metadata(program).map_err(problem)?;
    let age = facts.modified().map_err(problem)?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let kept = folder.join("programs");
    fs::create_dir_all(&kept).map_err(problem)?;
    let name = name_of(program);
    let goal = kept.join(format!("{name}.{}.{}", age.as_nanos(), facts.len()));
    if goal.exists() {
        return Ok(goal);
    }
    for old in fs::read_dir(&kept).map_err(problem)?.filter_map(Result::ok) {
        let stem = name_of(&old.path());
        if stem.rsplitn(3, '.').nth(2) == Some(&name) {
            let _ = fs::remove_file(old.path());
        }
    }
    let partial = kept.join(format!("{name}.partial{}", std::process::id()));
    let stripped = Command::new("strip").arg("-o").arg(&partial).arg(program).status();
    if !stripped.is_ok_and(|it| it.success()) {
        // Then it is only larger.
        fs::copy(program, &partial).map_err(problem)?;
    }
    fs::rename(&partial, &goal).map_err(problem)?;
    Ok(goal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_ldd() {
        let text = "\tlinux-vdso.so.1 (0x00007ffc)\n\
                    \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f06)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f07)\n";
        let paths = library_paths(text);
        assert_eq!(
            paths,
            [
                Path::new("/lib/x86_64-linux-gnu/libm.so.6"),
                Path::new("/lib64/ld-linux-x86-64.so.2")
            ]
        );
        assert!(library_paths("\tnot a dynamic executable\n").is_empty());
    }

    #[test]
    fn words_reach_the_guest_as_they_are() {
        let contents = Contents {
            command: vec!["echo".into(), "it's $HOME; *".into()],
            environment: vec![("A".into(), "b c".into())],
            ..Contents::default()
        };
        assert_eq!(script(&contents), "export A='b c'\ncd /lab\nexec 'echo' 'it'\\''s $HOME; *'\n");
    }
}
