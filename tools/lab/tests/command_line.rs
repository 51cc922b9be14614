//! What the lab says without booting anything.

use std::process::{Command, Output};

fn lab(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab")).args(words).output().unwrap()
}

#[test]
fn topologies_are_listed() {
    let output = lab(&["topologies"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for (name, _) in lab::topology::list() {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}");
    }
}

#[test]
fn mistakes_are_explained() {
    for (words, said) in [
        (&["--topology"][..], "--topology has no value"),
        (&["--topology", "9", "--", "true"], "there is no topology 9; there are 1, 4-mesh"),
        (&["--speed", "1", "--", "true"], "there is no option --speed"),
        (&["--limit", "x", "--", "true"], "x is no number of seconds"),
        (&["--cache", "0", "--", "true"], "0 is no number of KiB"),
        (&["nodewise"], "nodewise has no value"),
        (&["--copy", "a"], "there is no -- and no command"),
    ] {
        let output = lab(words);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(text.contains(said), "{words:?}: {text}");
    }
}

#[test]
fn the_program_for_guests_wants_a_machine_and_suites() {
    let guest = |words: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_lab-guest")).args(words).output().unwrap()
    };
    assert_eq!(guest(&[]).status.code(), Some(1));
    assert_eq!(guest(&["abacus", "topology"]).status.code(), Some(1));
    let unknown = guest(&["1", "astrology"]);
    let text = String::from_utf8(unknown.stdout).unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text.contains("test lab::1::astrology ... FAILED"), "{text}");
    assert!(text.contains("0 passed; 1 failed"), "{text}");
}
