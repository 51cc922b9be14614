//! What is given away: the binary, and the wheel of the Python package, in `target/dist`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::python;

/// Makes both; false if one of them could not be made. A wheel needs Python and maturin.
pub fn run(root: &Path) -> bool {
    let folder = root.join("target/dist");
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("cannot make {}: {error}", folder.display());
        return false;
    }
    let binary = binary(root, &folder);
    let wheel = wheel(root, &folder);
    binary && wheel
}

fn binary(root: &Path, folder: &Path) -> bool {
    if !succeeds(root, "cargo", &["build", "--release", "--package", "cli"]) {
        return false;
    }
    let target = std::env::consts::ARCH;
    let name = format!("nodewise-{}-linux-{target}", env!("CARGO_PKG_VERSION"));
    let inside = folder.join(&name);
    let put = |from: &str| {
        let to = inside.join(Path::new(from).file_name().unwrap_or_default());
        std::fs::copy(root.join(from), to).map(drop)
    };
    let files = [
        "target/release/nodewise",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "packaging/nodewise.conf",
        "packaging/nodewise.service",
        "packaging/grafana-dashboard.json",
    ];
    let copied =
        std::fs::create_dir_all(&inside).and_then(|()| files.iter().try_for_each(|it| put(it)));
    if let Err(error) = copied {
        eprintln!("cannot put {} together: {error}", inside.display());
        return false;
    }
    let archive = format!("{name}.tar.gz");
    let packed = succeeds(folder, "tar", &["--owner=0", "--group=0", "-czf", &archive, &name]);
    if packed {
        println!("made target/dist/{archive}");
    }
    packed
}

fn wheel(root: &Path, folder: &Path) -> bool {
    if !python::is_there() {
        eprintln!("no wheel: {}", python::NO_PYTHON);
        return false;
    }
    let mut asked = Command::new("python3");
    let asked = asked.args(["-m", "maturin", "--version"]).stdout(Stdio::null());
    if !asked.stderr(Stdio::null()).status().is_ok_and(|it| it.success()) {
        eprintln!("no wheel: it needs maturin (pip install maturin)");
        return false;
    }
    let folder = folder.display().to_string();
    let build =
        ["-m", "maturin", "build", "--release", "--manifest-path", "crates/python/Cargo.toml"];
    succeeds(root, "python3", &[&build[..], &["--out", &folder]].concat())
}

fn succeeds(folder: &Path, program: &str, arguments: &[&str]) -> bool {
    match Command::new(program).current_dir(folder).args(arguments).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("cannot run {program}: {error}");
            false
        }
    }
}
