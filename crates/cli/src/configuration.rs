//! Where the arguments of the server come from: the command line, then the environment, then a file.
//!
//! Key decision: each setting is the long option of the same name, and what stands in the file or the environment is put behind the
//! command line as if it had been typed there. So there is one list of settings with one check of their values, clap's; here
//! is only known which places named what.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::mistyped::is_near;

/// How variables of the environment begin: `NODEWISE_MAX_CONNECTIONS` is `--max-connections`.
const PREFIX: &str = "NODEWISE_";
/// The setting that names the file.
const FILE: &str = "config";
/// The setting that stands for the folder, which has no name on the command line.
const FOLDER: &str = "folder";
/// Bytes of a file that are read.
const BYTES_MAX: usize = 1 << 20;

/// A setting that does not come from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    name: String,
    value: String,
    /// The line of the file, or the variable.
    place: String,
}

/// An option of the server.
struct Known {
    name: String,
    takes_value: bool,
}

/// Reads the command line; for commands of the server with what environment and file add to it.
pub fn parse(typed: Vec<OsString>, variables: &[(String, String)]) -> Result<Arguments, Failure> {
    let Some(words) = words_of_server(&typed) else {
        return Ok(Arguments::parse_from(typed));
    };
    let known = known_options();
    let is_typed = |name: &str| match name {
        FOLDER => has_folder(&typed[words..], &known),
        _ => value_typed(&typed, name).is_some(),
    };
    let mut given = of_environment(variables, &known);
    let in_environment = given.iter().find(|it| it.name == FILE).map(|it| it.value.clone().into());
    if let Some(path) = value_typed(&typed, FILE).flatten().or(in_environment) {
        let of_file = of_file(&path, &known)?;
        given.extend(
            of_file
                .into_iter()
                .filter(|it| !given.iter().any(|of| of.name == it.name))
                .collect::<Vec<_>>(),
        );
    }
    given.retain(|it| !is_typed(&it.name));
    let mut all = typed;
    for it in &given {
        all.extend(argument(it, &known)?);
    }
    match Arguments::try_parse_from(all) {
        Ok(arguments) => Ok(arguments),
        Err(error) => match given.iter().find(|it| is_about(&error, &it.name)) {
            Some(it) => Err(Failure::Arguments(format!("{}: {}", it.place, cause_of(&error)))),
            None => error.exit(),
        },
    }
}

/// How many words name a command of the server, if it is one.
fn words_of_server(typed: &[OsString]) -> Option<usize> {
    let word = |at: usize| typed.get(at).and_then(|it| it.to_str());
    match (word(1), word(2)) {
        (Some("serve"), _) => Some(2),
        (Some("config"), Some("check")) => Some(3),
        _ => None,
    }
}

fn known_options() -> Vec<Known> {
    let commands = Arguments::command();
    let serve = commands.find_subcommand("serve").expect("invariant: there is such a command");
    let options =
        serve.get_arguments().filter(|it| !["help", "version"].contains(&it.get_id().as_str()));
    let known = options.map(|it| Known {
        name: it.get_long().unwrap_or(FOLDER).to_owned(),
        takes_value: it.get_action().takes_values(),
    });
    known.collect()
}

/// The value of an option on the command line, if it is there; `Some(None)` for one without.
fn value_typed(typed: &[OsString], name: &str) -> Option<Option<PathBuf>> {
    let option = format!("--{name}");
    let with_value = format!("{option}=");
    typed.iter().enumerate().find_map(|(at, it)| {
        let text = it.to_string_lossy();
        if text == option {
            return Some(typed.get(at + 1).map(PathBuf::from));
        }
        text.strip_prefix(&with_value).map(|value| Some(PathBuf::from(value)))
    })
}

/// Whether a word behind the command is the folder.
fn has_folder(typed: &[OsString], known: &[Known]) -> bool {
    let mut words = typed.iter().map(|it| it.to_string_lossy());
    while let Some(word) = words.next() {
        match word.strip_prefix("--") {
            None => return true,
            Some(name) if known.iter().any(|it| it.takes_value && it.name == name) => {
                _ = words.next()
            }
            Some(_) => {}
        }
    }
    false
}

/// The settings that variables of the environment are. Others that begin alike are none of ours.
fn of_environment(variables: &[(String, String)], known: &[Known]) -> Vec<Given> {
    let of_variable = |(variable, value): &(String, String)| {
        let name = variable.strip_prefix(PREFIX)?.to_ascii_lowercase().replace('_', "-");
        let is_known = known.iter().any(|it| it.name == name);
        let place = format!("{variable} in the environment");
        is_known.then(|| Given { name, value: value.clone(), place })
    };
    variables.iter().filter_map(of_variable).collect()
}

/// The settings of a file: lines `name = value`, with `#` before what is a remark.
fn of_file(path: &Path, known: &[Known]) -> Result<Vec<Given>, Failure> {
    let shown = path.display();
    let text = std::fs::read(path).map_err(|it| Failure::Arguments(format!("{shown}: {it}")))?;
    if text.len() > BYTES_MAX {
        return Err(Failure::Arguments(format!(
            "{shown}: more than {BYTES_MAX} bytes are no settings"
        )));
    }
    let text = String::from_utf8(text);
    let text = text.map_err(|_| Failure::Arguments(format!("{shown}: it is no text in UTF-8")))?;
    let mut given: Vec<Given> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let place = format!("{shown}, line {}", number + 1);
        let wrong = |what: String| Failure::Arguments(format!("{place}: {what}"));
        let Some((name, value)) = setting_of(line).map_err(wrong)? else { continue };
        if name == FILE || !known.iter().any(|it| it.name == name) {
            let near = known.iter().map(|it| &it.name).find(|it| is_near(&name, it) && *it != FILE);
            let tip = near.map_or(String::new(), |it| format!("; did you mean {it}?"));
            return Err(wrong(format!("there is no setting \"{name}\"{tip}")));
        }
        if let Some(before) = given.iter().find(|it| it.name == name) {
            return Err(wrong(format!("{name} is set before, by {}", before.place)));
        }
        given.push(Given { name, value, place });
    }
    Ok(given)
}

/// The name and the value of a line; nothing of one that is empty.
fn setting_of(line: &str) -> Result<Option<(String, String)>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let Some((name, value)) = line.split_once('=') else {
        return Err("a line is: name = value".to_owned());
    };
    let value = value.trim();
    let value = match value.strip_prefix('\'') {
        Some(quoted) => {
            let Some((value, behind)) = quoted.split_once('\'') else {
                return Err("the quote does not end".to_owned());
            };
            if !behind.trim().is_empty() && !behind.trim().starts_with('#') {
                return Err(format!("there is more behind the quote: {}", behind.trim()));
            }
            value
        }
        None => value.split(" #").next().unwrap_or_default().trim(),
    };
    Ok(Some((name.trim().to_ascii_lowercase().replace('_', "-"), value.to_owned())))
}

/// A setting as it would be typed.
fn argument(given: &Given, known: &[Known]) -> Result<Option<OsString>, Failure> {
    let Given { name, value, place } = given;
    if name == FOLDER {
        return Ok(Some(value.into()));
    }
    if known.iter().any(|it| it.name == *name && it.takes_value) {
        return Ok(Some(format!("--{name}={value}").into()));
    }
    match value.to_ascii_lowercase().as_str() {
        "on" | "true" | "yes" | "1" => Ok(Some(format!("--{name}").into())),
        "off" | "false" | "no" | "0" => Ok(None),
        _ => Err(Failure::Arguments(format!("{place}: {name} is on or off, not \"{value}\""))),
    }
}

fn is_about(error: &clap::Error, name: &str) -> bool {
    let names = |it: &ContextValue| match it {
        ContextValue::String(text) => is_named(text, name),
        ContextValue::Strings(texts) => texts.iter().any(|it| is_named(it, name)),
        _ => false,
    };
    error.get(ContextKind::InvalidArg).is_some_and(names)
        || error.get(ContextKind::PriorArg).is_some_and(names)
}

fn is_named(text: &str, name: &str) -> bool {
    text.split([' ', '=']).next() == Some(&format!("--{name}"))
}

/// The first line of an error, without the word that it begins with.
fn cause_of(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("error: ").unwrap_or(first).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Command;

    fn of(typed: &str, variables: &[(&str, &str)]) -> Result<Arguments, String> {
        let variables: Vec<_> =
            variables.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        parse(typed.split(' ').map(OsString::from).collect(), &variables).map_err(|it| match it {
            Failure::Arguments(message) => message,
            other => panic!("{other:?}"),
        })
    }

    fn serve(arguments: Arguments) -> crate::serve_arguments::ServeArguments {
        let Some(Command::Serve(it)) = arguments.command else { panic!("{arguments:?}") };
        it
    }

    /// A file of settings that is gone with the test.
    struct File(PathBuf);

    impl File {
        fn new(name: &str, text: &str) -> Self {
            let name = format!("nodewise-config-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, text).unwrap();
            Self(path)
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn the_command_line_goes_before_the_environment_and_that_before_the_file() {
        let file = File::new(
            "order",
            "# of tests\ntraces = http://collector\nfolder = '/from file' # the folder\nmax_connections = 3\ngrace=4\n\n\
             trust-loopback = on\nallow-files = off\n",
        );
        let typed = format!("nodewise serve --config {} --grace 7", file.0.display());
        let variables = [
            ("NODEWISE_MAX_CONNECTIONS", "5"),
            ("NODEWISE_TRACES_RATIO", "0.5"),
            ("NODEWISE_ELSE", "x"),
            ("PATH", "y"),
        ];
        let it = serve(of(&typed, &variables).unwrap());
        assert_eq!((it.grace, it.max_connections), (7, 5));
        assert_eq!(it.folder.as_deref(), Some(Path::new("/from file")));
        assert_eq!((it.trust_loopback, it.allow_files), (true, false));
        let traces = (it.traces.url.as_deref(), it.traces.ratio);
        assert_eq!(traces, (Some("http://collector"), Some(0.5)));
        let it = serve(of(&format!("{typed} --threads 2 here"), &[]).unwrap());
        assert_eq!(it.folder.as_deref(), Some(Path::new("here")));
        assert_eq!((it.grace, it.max_connections, it.pool.threads), (7, 3, Some(2)));
        let named = file.0.display().to_string();
        let it = serve(of("nodewise serve", &[("NODEWISE_CONFIG", &named)]).unwrap());
        assert_eq!((it.grace, it.max_connections), (4, 3));
    }

    #[test]
    fn the_file_to_begin_with_is_right() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
        let path = folder.join("nodewise.conf");
        let typed = ["nodewise", "serve", "--config"].map(OsString::from);
        let all = typed.into_iter().chain([path.into_os_string()]).collect();
        let it = serve(parse(all, &[]).unwrap());
        assert_eq!(it.folder.as_deref(), Some(Path::new("/var/lib/nodewise/data")));
        assert_eq!((it.slow_statements, it.slow_plans), (Some(2000), true));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, expected) in [
            (
                "max_conections = 3",
                "line 1: there is no setting \"max-conections\"; did you mean max-connections?",
            ),
            ("config = x", "line 1: there is no setting \"config\""),
            (
                "\n\nmax-connections = none",
                "line 3: invalid value 'none' for '--max-connections <N>': a number from 1 on is needed",
            ),
            (
                "traces = collector:4317",
                "line 1: invalid value 'collector:4317' for '--traces <URL>': traces go to an address as http://127.0.0.1:4317",
            ),
            (
                "traces = http://collector\ntraces-ratio = 2",
                "line 2: invalid value '2' for '--traces-ratio <SHARE>': a number from 0 to 1 is needed",
            ),
            ("grace", "line 1: a line is: name = value"),
            ("grace = 1\ngrace = 2", "line 2: grace is set before"),
            ("folder = 'open", "line 1: the quote does not end"),
            ("folder = 'a' b", "line 1: there is more behind the quote: b"),
            ("allow_files = maybe", "line 1: allow-files is on or off, not \"maybe\""),
        ] {
            let file = File::new("wrong", text);
            let error = of(&format!("nodewise config check --config {}", file.0.display()), &[]);
            let error = error.expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let error = of("nodewise serve", &[("NODEWISE_GRACE", "x")]).unwrap_err();
        assert!(
            error.starts_with("NODEWISE_GRACE in the environment: invalid value 'x'"),
            "{error}"
        );
        assert!(
            of("nodewise serve --config /no/such/file", &[]).unwrap_err().contains("/no/such/file")
        );
    }
}
