//! The tests of the page in a browser: Chromium and its driver, which Debian has.

use crate::programs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The driver.
const DRIVER: &str = "chromedriver";
/// The Debian packages.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Why nothing ran in a browser.
pub const NO_BROWSER: &str =
    "there is no chromedriver to run; Debian has it in the packages chromium and chromium-driver";

/// Whether there is a browser with its driver. In CI, as root on a Debian, it is installed first.
pub fn is_there() -> bool {
    let there = || runs(Command::new(DRIVER).arg("--version"));
    if there() {
        return true;
    }
    if std::env::var_os("CI").is_none() || !runs(Command::new("apt-get").arg("--version")) {
        return false;
    }
    let install = || {
        println!("== page: installing {}", PACKAGES.join(" and "));
        let mut install = Command::new("apt-get");
        install.args(["install", "--yes", "--no-install-recommends"]).args(PACKAGES);
        runs(&mut install)
    };
    if !install() {
        runs(Command::new("apt-get").arg("update"));
        install();
    }
    there()
}

fn runs(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env("DEBIAN_FRONTEND", "noninteractive").status().is_ok_and(|it| it.success())
}

/// The command that runs the tests.
pub fn tests(root: &Path) -> Command {
    // Of all packages, so that cargo builds nothing anew.
    let mut command = programs::cargo(root);
    command.args(["test", "--workspace", "--test", "page", "--", "--ignored"]);
    command
}
