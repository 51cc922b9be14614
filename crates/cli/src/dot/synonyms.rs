//! What people know from other shells, as the dot commands that do it.

/// The dot command that a line is, where a statement may begin: itself, or a synonym of one.
pub fn command(line: &str) -> Option<String> {
    let line = line.trim();
    if line.starts_with('.') {
        return Some(line.to_owned());
    }
    if line.starts_with('\\') {
        return Some(of_psql(line));
    }
    let words = line.trim_end_matches(';').trim_end();
    let (name, argument) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let argument = argument.trim();
    Some(match (name.to_ascii_lowercase().as_str(), argument) {
        ("exit" | "quit", "") => ".quit".to_owned(),
        ("help", "") => ".help".to_owned(),
        ("show", tables) if tables.eq_ignore_ascii_case("tables") => ".tables".to_owned(),
        ("describe" | "desc", table) if !table.is_empty() && !table.contains(' ') => {
            format!(".describe {table}")
        }
        _ => return None,
    })
}

/// A command of psql. One that is not known stays what it is, and is told to be unknown.
fn of_psql(line: &str) -> String {
    let line = line.trim_end_matches(';').trim_end();
    // `\!ls` needs no blank.
    let end = if line.starts_with("\\!") {
        2
    } else {
        line.find(char::is_whitespace).unwrap_or(line.len())
    };
    let (name, argument) = line.split_at(end);
    let argument = argument.trim();
    // `\d+` shows more there; here it is shown anyhow.
    match (name.trim_end_matches('+'), argument) {
        ("\\q", _) => ".quit".to_owned(),
        ("\\?" | "\\h", _) => ".help".to_owned(),
        ("\\d" | "\\dt", "") => ".tables".to_owned(),
        ("\\d" | "\\dt", table) => format!(".describe {table}"),
        ("\\di", table) => format!(".indexes {table}"),
        ("\\df", part) => format!(".functions {}", part.trim_matches('*')),
        ("\\dconfig", part) => format!(".settings {}", part.trim_matches('*')),
        ("\\l" | "\\conninfo", _) => ".show".to_owned(),
        ("\\x", "") => ".mode line-or-back".to_owned(),
        ("\\x", "off") => ".mode box".to_owned(),
        ("\\x", _) => ".mode line".to_owned(),
        ("\\timing", "") => ".timer toggle".to_owned(),
        ("\\timing", on) => format!(".timer {on}"),
        ("\\i" | "\\ir", file) => format!(".read {file}"),
        ("\\o", file) => format!(".output {file}"),
        ("\\echo" | "\\qecho", text) => format!(".print {text}"),
        ("\\cd", folder) => format!(".cd {folder}"),
        ("\\!", command) => format!(".shell {command}"),
        ("\\watch", seconds) => format!(".watch {seconds}"),
        ("\\copy", rest) => format!(".copy {rest}"),
        ("\\t", "") => ".headers toggle".to_owned(),
        ("\\pset", rest) if rest.starts_with("null") => {
            format!(".nullvalue {}", rest["null".len()..].trim())
        }
        ("\\pset", rest) if rest.starts_with("pager") => {
            format!(".pager {}", rest["pager".len()..].trim())
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_other_shells_are_known() {
        let is = |line: &str| command(line).unwrap_or_default();
        for (line, known) in [
            (" .tables ", ".tables"),
            ("\\q", ".quit"),
            ("exit;", ".quit"),
            ("QUIT", ".quit"),
            ("help", ".help"),
            ("\\?", ".help"),
            ("\\d", ".tables"),
            ("\\dt+", ".tables"),
            ("\\d  \"Order Key\";", ".describe \"Order Key\""),
            ("\\i a b.sql", ".read a b.sql"),
            ("\\x", ".mode line-or-back"),
            ("\\!ls -l", ".shell ls -l"),
            ("\\df *sub*", ".functions sub"),
            ("\\copy t from 'x.csv' csv", ".copy t from 'x.csv' csv"),
            ("\\pset null '(none)'", ".nullvalue '(none)'"),
            ("\\y", "\\y"),
            ("SHOW TABLES;", ".tables"),
            ("describe t;", ".describe t"),
        ] {
            assert_eq!(is(line), known, "{line}");
        }
        for sql in [
            "select 1;",
            "exit from t",
            "help me",
            "",
            "-- exit",
            "quit_smoking",
            "show workers;",
            "desc",
            "describe select 1",
        ] {
            assert_eq!(command(sql), None, "{sql}");
        }
    }
}
