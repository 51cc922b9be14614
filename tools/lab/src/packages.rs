//! What a guest is made of and we do not build: QEMU, a static busybox, and Debian's cloud kernel.
//!
//! The kernel's package is fetched and unpacked below `target/lab`, never installed: only the image and the few modules
//! of the serial ports are taken from it. Programs are installed with apt-get when we may; otherwise the error says what to do.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{LabError, LabResult, failed};

/// The emulator.
pub const QEMU: &str = "qemu-system-x86_64";
/// The programs and the Debian packages that have them.
const PROGRAMS: &[(&str, &str)] = &[(QEMU, "qemu-system-x86"), ("busybox", "busybox-static")];
/// The package that depends on the newest kernel without drivers for real hardware.
const KERNEL_PACKAGE: &str = "linux-image-cloud-amd64";
/// The modules that carry output and files; what they depend on is read from them.
const MODULES: &[&str] = &["virtio_pci", "virtio_console"];

/// A kernel that boots in a guest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The compressed image.
    pub image: PathBuf,
    /// The modules to load, each after what it needs.
    pub modules: Vec<PathBuf>,
}

/// Finds a program on the search path.
pub fn find(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join(program));
    found.find(|path| path.is_file())
}

/// Sees to it that QEMU, busybox and the kernel are there.
pub fn provide(folder: &Path) -> LabResult<Kernel> {
    let lock = folder.join("lock");
    let lock = File::create(&lock).map_err(|error| failed(lock.display(), error))?;
    lock.lock().map_err(|error| failed("locking target/lab", error))?;
    install_programs()?;
    provide_kernel(folder)
}

fn install_programs() -> LabResult<()> {
    let missing = || PROGRAMS.iter().filter(|it| find(it.0).is_none());
    let packages: Vec<&str> = missing().map(|it| it.1).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let line = format!("apt-get install --no-install-recommends {}", packages.join(" "));
    if !is_root() || find("apt-get").is_none() {
        return Err(LabError::Missing(format!("the lab needs programs: as root, run {line}")));
    }
    eprintln!("lab: {line}");
    let install = || {
        let mut words = vec!["install", "--yes", "--no-install-recommends"];
        words.extend(&packages);
        apt("apt-get", &words, None)
    };
    if install().is_err() {
        apt("apt-get", &["update"], None)?;
        install()?;
    }
    match missing().next() {
        None => Ok(()),
        Some(it) => Err(LabError::Missing(format!("{} is not in the package {}", it.0, it.1))),
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// Runs a program of apt and gives its output back.
fn apt(program: &str, arguments: &[&str], folder: Option<&Path>) -> LabResult<String> {
    let mut command = Command::new(program);
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let line = format!("{program} {}", arguments.join(" "));
    let output = command
        .output()
        .map_err(|error| LabError::Missing(format!("cannot run {line}: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(LabError::Missing(format!("{line} failed: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn provide_kernel(folder: &Path) -> LabResult<Kernel> {
    let goal = folder.join("kernel");
    if !goal.join("complete").exists() {
        let unpacked = folder.join("unpacked");
        fetch_kernel(folder, &unpacked)?;
        let problem = |error: std::io::Error| failed("keeping the kernel", error);
        let _ = fs::remove_dir_all(&goal);
        fs::create_dir_all(&goal).map_err(problem)?;
        let image = only(&unpacked.join("boot"), &|name| name.starts_with("vmlinuz-"))?;
        fs::copy(image, goal.join("vmlinuz")).map_err(problem)?;
        let order = modules(&only(&unpacked.join("lib/modules"), &|_| true)?)?;
        for (number, module) in order.iter().enumerate() {
            let name = module.file_name().unwrap_or_default().to_string_lossy().into_owned();
            fs::copy(module, goal.join(format!("{number}-{name}"))).map_err(problem)?;
        }
        fs::write(goal.join("complete"), "").map_err(problem)?;
        fs::remove_dir_all(&unpacked).map_err(problem)?;
    }
    let mut modules = all(&goal, &|name| name.ends_with(".ko"))?;
    modules.sort();
    Ok(Kernel { image: goal.join("vmlinuz"), modules })
}

/// Fetches the newest cloud kernel and unpacks it, without installing it.
fn fetch_kernel(folder: &Path, unpacked: &Path) -> LabResult<()> {
    let depends = || {
        let text = apt("apt-cache", &["depends", KERNEL_PACKAGE], None)?;
        let package =
            text.lines().find_map(|line| line.trim().strip_prefix("Depends: linux-image-"));
        let missing = || LabError::Missing(format!("apt knows no package {KERNEL_PACKAGE}"));
        package.map(|it| format!("linux-image-{it}")).ok_or_else(missing)
    };
    let package = match depends() {
        Err(_) if is_root() => apt("apt-get", &["update"], None).and_then(|_| depends())?,
        other => other?,
    };
    eprintln!("lab: fetching {package}");
    let problem = |error: std::io::Error| failed("unpacking the kernel", error);
    let download = folder.join("download");
    let _ = fs::remove_dir_all(&download);
    let _ = fs::remove_dir_all(unpacked);
    fs::create_dir_all(&download).map_err(problem)?;
    if apt("apt-get", &["download", &package], Some(&download)).is_err() && is_root() {
        // The lists were older than what the archive has.
        apt("apt-get", &["update"], None)?;
        apt("apt-get", &["download", &package], Some(&download))?;
    }
    let archive = only(&download, &|name| name.ends_with(".deb"))?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    apt("dpkg-deb", &["-x", &text(&archive), &text(unpacked)], None)?;
    fs::remove_dir_all(&download).map_err(problem)
}

/// The entries of a folder whose name passes.
fn all(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> LabResult<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| failed(folder.display(), error))?;
    let paths = entries.filter_map(|it| Some(it.ok()?.path()));
    let name = |path: &PathBuf| path.file_name().is_some_and(|it| wanted(&it.to_string_lossy()));
    Ok(paths.filter(name).collect())
}

fn only(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> LabResult<PathBuf> {
    let mut found = all(folder, wanted)?;
    match (found.pop(), found.is_empty()) {
        (Some(path), true) => Ok(path),
        _ => Err(failed(folder.display(), "it does not have the one entry that the lab expects")),
    }
}

/// [`MODULES`] and what they need below a folder of modules, each after what it needs.
fn modules(folder: &Path) -> LabResult<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in all(&folder, &|_| true)? {
            if path.is_dir() && !path.is_symlink() { folders.push(path) } else { files.push(path) }
        }
    }
    let mut order = Vec::new();
    for name in MODULES {
        load_order(name, &files, &mut order)?;
    }
    Ok(order)
}

fn load_order(name: &str, files: &[PathBuf], order: &mut Vec<PathBuf>) -> LabResult<()> {
    let file_name = format!("{}.ko", name.replace('-', "_"));
    let same = |path: &&PathBuf| {
        let own = path.file_name().unwrap_or_default().to_string_lossy();
        own.replace('-', "_") == file_name
    };
    let path = files
        .iter()
        .find(same)
        .ok_or_else(|| failed("the kernel's package", format!("it has no module {name}")))?;
    let bytes = fs::read(path).map_err(|error| failed(path.display(), error))?;
    for need in needs(&bytes) {
        load_order(&need, files, order)?;
    }
    if !order.contains(path) {
        order.push(path.clone());
    }
    Ok(())
}

/// The modules that a module names as its needs: the text `depends=a,b` that ends with a zero byte.
fn needs(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = module.windows(KEY.len()).position(|it| it == KEY) else { return Vec::new() };
    let list = &module[at + KEY.len()..];
    let list = &list[..list.iter().position(|&it| it == 0).unwrap_or(0)];
    let text = String::from_utf8_lossy(list);
    text.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_read_from_the_module() {
        assert_eq!(
            needs(b"x\0license=GPL\0depends=virtio,virtio_ring\0name=y\0"),
            ["virtio", "virtio_ring"]
        );
        assert!(needs(b"x\0depends=\0name=y\0").is_empty());
        assert!(needs(b"").is_empty());
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find("sh").is_some_and(|it| it.is_absolute()));
        assert!(find("no-such-program-of-ours").is_none());
    }
}
