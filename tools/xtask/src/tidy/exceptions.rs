//! Exceptions from the rules: `RULE PATH REASON` per line, a reason always given.

use super::report::Report;

struct Exception {
    rule: String,
    path: String,
    used: bool,
}

/// The listed exceptions, and which of them were needed.
#[derive(Default)]
pub struct Exceptions(Vec<Exception>);

const RULES: &[&str] = &["size", "unsafe", "sync", "clock", "circle"];

impl Exceptions {
    /// Reads the list; a line without a reason or with an unknown rule is an error.
    pub fn parse(text: &str, report: &mut Report) -> Self {
        let mut list = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut words = line.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some(rule), Some(path), Some(reason))
                    if RULES.contains(&rule) && !reason.trim().is_empty() =>
                {
                    list.push(Exception { rule: rule.into(), path: path.into(), used: false });
                }
                _ => report.error(format!("exceptions.txt: not `RULE PATH REASON`: {line}")),
            }
        }
        Self(list)
    }

    /// True if the rule may be broken there; a path ending in `/` covers the folder.
    pub fn allow(&mut self, rule: &str, path: &str) -> bool {
        let mut allowed = false;
        for exception in self.0.iter_mut().filter(|exception| exception.rule == rule) {
            let covers = match exception.path.strip_suffix('/') {
                Some(folder) => path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
                None => exception.path == path,
            };
            exception.used |= covers;
            allowed |= covers;
        }
        allowed
    }

    /// An exception that nothing needs any more has to go.
    pub fn check_all_used(&self, report: &mut Report) {
        for exception in self.0.iter().filter(|exception| !exception.used) {
            let Exception { rule, path, .. } = exception;
            report.error(format!("exceptions.txt: `{rule} {path}` is no longer needed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_needs_a_rule_a_path_and_a_reason() {
        let mut report = Report::default();
        Exceptions::parse(
            "size a.rs\nspeed a.rs why not\n# note\n\nsize a.rs grown\n",
            &mut report,
        );
        assert_eq!(report.errors.len(), 2);
    }

    #[test]
    fn a_folder_covers_its_files_only() {
        let mut report = Report::default();
        let mut list = Exceptions::parse("sync crates/cli/ it draws progress\n", &mut report);
        assert!(list.allow("sync", "crates/cli/src/main.rs"));
        assert!(!list.allow("sync", "crates/client/src/main.rs"));
        assert!(!list.allow("size", "crates/cli/src/main.rs"));
    }

    #[test]
    fn a_stale_exception_is_an_error() {
        let mut report = Report::default();
        let mut list = Exceptions::parse("size a.rs x\nsize b.rs x\n", &mut report);
        assert!(list.allow("size", "a.rs"));
        list.check_all_used(&mut report);
        assert_eq!(report.errors, ["exceptions.txt: `size b.rs` is no longer needed"]);
    }
}
