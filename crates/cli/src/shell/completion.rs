//! What Tab offers: commands, keywords, tables, their columns, functions, settings, files.

use std::path::Path;

use nodewise::Database;
use nodewise::text::{quoted_name, relation_name};
use reedline::{Completer, CompletionResult, Span, Suggestion};
use stdx::sync::Arc;

use super::keywords::KEYWORDS;
use crate::dot::{COMMANDS, Takes};

/// Suggestions that are offered at most: more help nobody.
const SUGGESTIONS_MAX: usize = 200;

/// Completes what is typed, from what the database knows at that moment.
pub(super) struct SqlCompleter {
    database: Arc<Database>,
    functions: Vec<String>,
    settings: Vec<String>,
}

impl SqlCompleter {
    pub(super) fn new(database: &Arc<Database>) -> Self {
        let mut session = database.session();
        let mut names = |sql: &str| -> Vec<String> {
            let answer = session.query(sql);
            let batches = answer.map(|it| it.batches).unwrap_or_default();
            let columns = batches.iter().map(|it| nodewise::text::Cells::new(it.column(0)));
            let rows = columns.zip(&batches).flat_map(|(cells, batch)| {
                (0..batch.num_rows()).filter_map(|row| cells.text(row)).collect::<Vec<_>>()
            });
            rows.collect()
        };
        let functions = names("SELECT function_name FROM nodewise.functions");
        let settings = names("SELECT name FROM nodewise.settings");
        Self { database: database.clone(), functions, settings }
    }

    fn tables(&self) -> Vec<TableNames> {
        let views = nodewise::view_names().map(|it| (format!("nodewise.{it}"), Vec::new()));
        let tables = self.database.tables();
        let tables = tables.iter().map(|it| {
            (relation_name(&it.name), it.columns.iter().map(|it| it.name.to_string()).collect())
        });
        tables.chain(views).map(|(name, columns)| TableNames { name, columns }).collect()
    }
}

impl Completer for SqlCompleter {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let known =
            Known { tables: &self.tables(), functions: &self.functions, settings: &self.settings };
        let before = line.get(..pos).unwrap_or(line);
        let (start, values) = complete(line, before, &known);
        let suggestion = |value: String| Suggestion {
            append_whitespace: !value.ends_with(['/', '(', '.', '\'']),
            span: Span::new(start, before.len()),
            value,
            ..Suggestion::default()
        };
        let suggestions: Vec<Suggestion> =
            values.into_iter().take(SUGGESTIONS_MAX).map(suggestion).collect();
        CompletionResult::fresh(suggestions)
    }
}

/// A table that may be named.
struct TableNames {
    /// As SQL reads it.
    name: String,
    columns: Vec<String>,
}

/// All names that there are.
struct Known<'a> {
    tables: &'a [TableNames],
    functions: &'a [String],
    settings: &'a [String],
}

/// Where the text begins that is completed, and what it may become. `before` is what of the line is before the cursor.
fn complete(line: &str, before: &str, known: &Known<'_>) -> (usize, Vec<String>) {
    let blanks = before.len() - before.trim_start().len();
    if before[blanks..].starts_with('.') {
        return complete_command(before, blanks, known);
    }
    if let Some(open) = open_quote(before) {
        return (open + 1, files(&before[open + 1..]));
    }
    let start = before
        .rfind(|it: char| !is_name(it))
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[start..];
    // `nodewise.ta` is one name, `t.colu` is a column of t.
    if let Some((owner, part)) = word.rsplit_once('.')
        && let Some(columns) = columns_of(line, owner, known)
    {
        return (start + owner.len() + 1, quoted(columns.iter(), part));
    }
    (start, names(line, &before[..start], word, known))
}

/// What a word may become, by the word before it.
fn names(line: &str, before: &str, word: &str, known: &Known<'_>) -> Vec<String> {
    let previous = before.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let tables = || known.tables.iter().map(|it| &it.name);
    match previous.as_str() {
        "from" | "join" | "into" | "update" | "table" | "describe" | "truncate" | "copy" => {
            return matching(tables(), word);
        }
        "set" | "show" | "reset" if before.split_whitespace().count() == 1 => {
            return matching(known.settings.iter(), word);
        }
        _ => {}
    }
    let mentioned = known.tables.iter().filter(|it| mentions(line, &it.name));
    let columns: Vec<&String> = mentioned.flat_map(|it| &it.columns).collect();
    let mut found = quoted(columns.into_iter(), word);
    if word.is_empty() {
        return found;
    }
    found.extend(matching(tables(), word));
    let upper = word.chars().all(|it| !it.is_lowercase());
    let lower = word.to_lowercase();
    let keywords = KEYWORDS.iter().filter(|it| it.starts_with(&lower));
    found.extend(keywords.map(|it| if upper { it.to_uppercase() } else { (*it).to_owned() }));
    found.extend(
        known.functions.iter().filter(|it| it.starts_with(&lower)).map(|it| format!("{it}(")),
    );
    let mut seen = std::collections::HashSet::new();
    found.retain(|it| seen.insert(it.clone()));
    found
}

fn complete_command(before: &str, blanks: usize, known: &Known<'_>) -> (usize, Vec<String>) {
    let text = &before[blanks..];
    let Some(end) = text.find(char::is_whitespace) else {
        let names = COMMANDS.iter().map(|it| it.name).filter(|it| it.starts_with(text));
        return (blanks, names.map(str::to_owned).collect());
    };
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &before[start..];
    let found = match COMMANDS.iter().find(|it| it.name == &text[..end]).map(|it| it.takes) {
        None | Some(Takes::Nothing) => Vec::new(),
        Some(Takes::Words(words)) => {
            words.iter().filter(|it| it.starts_with(word)).map(|it| (*it).to_owned()).collect()
        }
        Some(Takes::Table) => matching(known.tables.iter().map(|it| &it.name), word),
        Some(Takes::File) => files(word),
    };
    (start, found)
}

/// The columns of what `owner` names in the statement: a table, or an alias of one.
fn columns_of<'a>(line: &str, owner: &str, known: &Known<'a>) -> Option<&'a [String]> {
    let find = |name: &str| known.tables.iter().find(|it| it.name.eq_ignore_ascii_case(name));
    let table = find(owner).or_else(|| {
        let words: Vec<&str> =
            line.split(|it: char| !is_name(it)).filter(|it| !it.is_empty()).collect();
        let at = words.iter().skip(1).position(|it| it.eq_ignore_ascii_case(owner))?;
        match words[at] {
            as_word if as_word.eq_ignore_ascii_case("as") => find(words.get(at.checked_sub(1)?)?),
            table => find(table),
        }
    });
    table.map(|it| it.columns.as_slice()).filter(|it| !it.is_empty())
}

/// Whether a line has a name as a word.
fn mentions(line: &str, name: &str) -> bool {
    line.split(|it: char| !is_name(it)).any(|it| it.eq_ignore_ascii_case(name))
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '.'
}

/// Those that begin so, as SQL reads them.
fn quoted<'a>(names: impl Iterator<Item = &'a String>, start: &str) -> Vec<String> {
    matching(names, start).iter().map(|it| quoted_name(it)).collect()
}

/// Those that begin so.
fn matching<'a>(names: impl Iterator<Item = &'a String>, start: &str) -> Vec<String> {
    let start = start.to_lowercase();
    let mut found: Vec<String> =
        names.filter(|it| it.to_lowercase().starts_with(&start)).cloned().collect();
    found.sort();
    found.dedup();
    found
}

/// Where the string begins in which a text ends, if it does.
fn open_quote(text: &str) -> Option<usize> {
    let quotes: Vec<usize> = text.match_indices('\'').map(|it| it.0).collect();
    (quotes.len() % 2 == 1).then(|| quotes.last().copied()).flatten()
}

/// The files and folders whose paths begin so.
fn files(start: &str) -> Vec<String> {
    let (folder, name) = start
        .rsplit_once('/')
        .map_or(("", start), |(folder, name)| (if folder.is_empty() { "/" } else { folder }, name));
    let place = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let path = |entry: std::fs::DirEntry| {
        let own = entry.file_name().to_str()?.to_owned();
        let hidden = own.starts_with('.') && !name.starts_with('.');
        if hidden || !own.starts_with(name) {
            return None;
        }
        let end = if entry.file_type().is_ok_and(|it| it.is_dir()) { "/" } else { "" };
        let before = &start[..start.len() - name.len()];
        Some(format!("{before}{own}{end}"))
    };
    let mut found: Vec<String> = entries.flatten().filter_map(path).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(text: &str) -> Vec<String> {
        let table = |name: &str, columns: &[&str]| TableNames {
            name: name.to_owned(),
            columns: columns.iter().map(|it| (*it).to_owned()).collect(),
        };
        let tables = [
            table("orders", &["o_orderkey", "o_total"]),
            table("lineitem", &["l_orderkey", "Odd"]),
            table("nodewise.tables", &[]),
        ];
        let functions = ["abs".to_owned(), "substr".to_owned()];
        let settings = ["memory_limit".to_owned(), "workers".to_owned()];
        let known = Known { tables: &tables, functions: &functions, settings: &settings };
        // The bar is the cursor.
        let before = text.split('|').next().unwrap();
        complete(&text.replace('|', ""), before, &known).1
    }

    #[test]
    fn words_become_what_may_stand_there() {
        assert_eq!(completed("SEL|"), ["SELECT"]);
        assert_eq!(completed("sel|"), ["select"]);
        assert_eq!(completed("select * from |"), ["lineitem", "nodewise.tables", "orders"]);
        assert_eq!(completed("select * from ord|"), ["orders"]);
        assert_eq!(completed("select * from nodewise.t|"), ["nodewise.tables"]);
        assert_eq!(completed("select o_| from orders"), ["o_orderkey", "o_total"]);
        assert_eq!(completed("select od| from lineitem"), ["\"Odd\""]);
        assert_eq!(completed("select abs|"), ["abs("]);
        assert_eq!(completed("set mem|"), ["memory_limit"]);
        assert!(completed("select x|yz").is_empty());
    }

    #[test]
    fn a_dot_asks_for_columns() {
        assert_eq!(completed("select orders.o_t| from orders"), ["o_total"]);
        assert_eq!(completed("select x.| from orders as x"), ["o_orderkey", "o_total"]);
        assert_eq!(completed("select x.o_o| from orders x"), ["o_orderkey"]);
        assert!(completed("select y.|").is_empty());
    }

    #[test]
    fn commands_and_their_words_are_completed() {
        assert_eq!(completed(".mod|"), [".mode"]);
        assert_eq!(completed(".mode ma|"), ["markdown"]);
        assert_eq!(completed(".schema li|"), ["lineitem"]);
        assert_eq!(completed(".timer o|"), ["on", "off"]);
        assert!(completed(".nothing x|").is_empty());
    }

    #[test]
    fn files_are_completed_in_quotes() {
        let folder = std::env::temp_dir().join(format!("nodewise-complete-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(folder.join("a.csv"), "").unwrap();
        std::fs::write(folder.join(".hidden"), "").unwrap();
        let root = folder.display().to_string();
        let found = completed(&format!("select * from '{root}/|"));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, [format!("{root}/a.csv"), format!("{root}/sub/")]);
    }
}
