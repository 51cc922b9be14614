//! What one file says of modules and names: what it declares, what it imports, and which paths it mentions.

use super::tokens::{Token, after_closing, tokens_of};
use crate::tidy::text::code_of;
use std::collections::{BTreeMap, BTreeSet};

/// A `use`, taken apart to single names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Import {
    /// The path as it is written.
    pub path: Vec<String>,
    /// The name it has here; none for `*`.
    pub name: Option<String>,
    /// Whether others may take it from here.
    pub public: bool,
    /// Where it stands.
    pub line: usize,
}

/// A module: a file, or a `mod` with a body inside one.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Module {
    /// Names of modules below it.
    pub children: BTreeSet<String>,
    /// Files of modules below it, where a `#[path]` names one.
    pub named_files: BTreeMap<String, String>,
    /// Modules below it that only tests have.
    pub test_children: BTreeSet<String>,
    /// Items that it defines.
    pub items: BTreeSet<String>,
    /// What it imports.
    pub imports: Vec<Import>,
    /// Paths of two or more segments in its code, and where.
    pub paths: Vec<(Vec<String>, usize)>,
    /// Words that stand alone in its code.
    pub words: BTreeSet<String>,
}

/// The modules of a file: its own under the empty path, those with a body inside it under theirs. What only tests or the
/// documentation see is left out.
pub fn modules_of(source: &str) -> BTreeMap<Vec<String>, Module> {
    let code = code_of(source);
    let names = path_attributes(source);
    let tokens = tokens_of(&code);
    let mut modules = BTreeMap::new();
    read(&tokens, &names, Vec::new(), &mut modules);
    modules
}

/// `#[path = "x.rs"]` by line, since `code_of` blanks the literal.
fn path_attributes(source: &str) -> BTreeMap<usize, String> {
    let named = |line: &str| {
        let rest = line.trim_start().strip_prefix("#[path = \"")?;
        rest.split('"').next().map(str::to_owned)
    };
    source.lines().enumerate().filter_map(|(at, line)| Some((at + 1, named(line)?))).collect()
}

fn read(
    tokens: &[Token<'_>],
    names: &BTreeMap<usize, String>,
    own: Vec<String>,
    modules: &mut BTreeMap<Vec<String>, Module>,
) {
    let mut module = Module::default();
    let (mut at, mut depth, mut public, mut hidden) = (0, 0usize, false, false);
    let mut file = None;
    while at < tokens.len() {
        let token = tokens[at];
        let next = |ahead: usize| tokens.get(at + ahead).map_or("", |it: &Token<'_>| it.text);
        match token.text {
            "#" if next(1) == "[" || next(1) == "!" => {
                let open = if next(1) == "[" { at + 1 } else { at + 2 };
                let end = after_closing(tokens, open);
                hidden |= open == at + 1 && is_hidden(&tokens[open..end]);
                file = names.get(&token.line).cloned().or(file);
                at = end;
                continue;
            }
            "pub" => {
                public = true;
                at = if next(1) == "(" { after_closing(tokens, at + 1) } else { at + 1 };
                continue;
            }
            "mod" if depth == 0 && next(2) == ";" => {
                let name = next(1).to_owned();
                if let Some(file) = file.take() {
                    module.named_files.insert(name.clone(), file);
                }
                if hidden { &mut module.test_children } else { &mut module.children }.insert(name);
                at += 3;
            }
            _ if hidden => at = after_item(tokens, at),
            "mod" if next(2) == "{" => {
                let end = after_closing(tokens, at + 2);
                let path: Vec<String> = own.iter().cloned().chain([next(1).to_owned()]).collect();
                module.children.insert(next(1).to_owned());
                read(&tokens[at + 3..end - 1], names, path, modules);
                at = end;
            }
            "use" => at = read_use(tokens, at + 1, public, &mut module.imports),
            _ => {
                if depth == 0 {
                    module.items.extend(defined(tokens, at));
                }
                at = read_word(tokens, at, &mut module, &mut depth);
            }
        }
        (public, hidden, file) = (false, false, None);
    }
    modules.insert(own, module);
}

/// Whether an attribute keeps what follows from all but tests or the documentation.
fn is_hidden(attribute: &[Token<'_>]) -> bool {
    let text = |at: usize| attribute.get(at).map_or("", |it| it.text);
    text(1) == "cfg"
        && (matches!(text(3), "test" | "doc") || (text(3) == "all" && text(5) == "test"))
}

/// The place after an item: its `;`, its body, or, of a field or a variant, its comma.
fn after_item(tokens: &[Token<'_>], mut at: usize) -> usize {
    while at < tokens.len() {
        match tokens[at].text {
            ";" | "," => return at + 1,
            "}" => return at,
            "{" => {
                let end = after_closing(tokens, at);
                // `use a::{b, c};` goes on behind its braces.
                if tokens.get(end).is_none_or(|it| it.text != ";") {
                    return end;
                }
                at = end;
            }
            "(" | "[" => at = after_closing(tokens, at),
            _ => at += 1,
        }
    }
    at
}

/// The name of the item whose keyword stands at `at`.
fn defined(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let text = |ahead: usize| tokens.get(at + ahead).map_or("", |it| it.text);
    let name = match text(0) {
        "fn" | "struct" | "enum" | "trait" | "type" | "static" | "union" => text(1),
        "const" if text(1) != "fn" => text(1),
        "macro_rules" if text(1) == "!" => text(2),
        _ => return None,
    };
    Some(name.to_owned())
}

/// Takes one word, path or sign of code; gives the place after it.
fn read_word(tokens: &[Token<'_>], at: usize, module: &mut Module, depth: &mut usize) -> usize {
    let token = tokens[at];
    match token.text {
        "{" => *depth += 1,
        "}" => *depth = depth.saturating_sub(1),
        _ => {}
    }
    let before = at.checked_sub(1).map_or("", |it| tokens[it].text);
    if !token.is_word() || before == "." || before == "::" {
        return at + 1;
    }
    let mut path = vec![token.text.to_owned()];
    let mut end = at + 1;
    while tokens.get(end).is_some_and(|it| it.text == "::")
        && tokens.get(end + 1).is_some_and(Token::is_word)
    {
        path.push(tokens[end + 1].text.to_owned());
        end += 2;
    }
    module.words.insert(token.text.to_owned());
    if path.len() > 1 {
        module.paths.push((path, token.line));
    }
    end
}

/// Takes a `use` apart; gives the place after its `;`.
fn read_use(tokens: &[Token<'_>], at: usize, public: bool, imports: &mut Vec<Import>) -> usize {
    let length = tokens[at..].iter().position(|it| it.text == ";").unwrap_or(tokens.len() - at);
    read_tree(&tokens[at..at + length], &[], public, imports);
    at + length + 1
}

fn read_tree(tokens: &[Token<'_>], prefix: &[String], public: bool, imports: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text {
            "::" => at += 1,
            "{" => {
                let end = after_closing(tokens, at);
                for part in parts(&tokens[at + 1..end - 1]) {
                    read_tree(part, &path, public, imports);
                }
                return;
            }
            "*" => {
                imports.push(Import { path, name: None, public, line: tokens[at].line });
                return;
            }
            "as" => break,
            name => {
                path.push(name.to_owned());
                at += 1;
            }
        }
    }
    let Some(first) = tokens.first() else { return };
    // `a::{self}` is `a` itself.
    if path.len() > 1 && path.last().is_some_and(|it| it == "self") {
        path.pop();
    }
    let renamed = tokens.get(at + 1).map(|it| it.text.to_owned());
    let name = renamed.or_else(|| path.last().cloned());
    imports.push(Import { path, name, public, line: first.line });
}

/// The parts of a list, cut at its own commas.
fn parts<'a, 'b>(tokens: &'a [Token<'b>]) -> Vec<&'a [Token<'b>]> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while at < tokens.len() {
        match tokens[at].text {
            "{" => at = after_closing(tokens, at),
            "," => {
                parts.push(&tokens[from..at]);
                at += 1;
                from = at;
            }
            _ => at += 1,
        }
    }
    parts.push(&tokens[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_taken_apart() {
        let source = "pub(crate) use a::{b::C as D, e::{self, *}};\nuse super::f;\n";
        let modules = modules_of(source);
        let imports: Vec<(String, Option<&str>, bool)> = (modules[&Vec::new()].imports.iter())
            .map(|it| (it.path.join("::"), it.name.as_deref(), it.public))
            .collect();
        let expected = [
            ("a::b::C", Some("D"), true),
            ("a::e", Some("e"), true),
            ("a::e", None, true),
            ("super::f", Some("f"), false),
        ];
        assert_eq!(imports, expected.map(|(path, name, it)| (path.to_owned(), name, it)));
    }

    #[test]
    fn items_paths_and_modules_are_found_and_tests_are_not() {
        let source = "mod a;\n#[cfg(test)]\nmod b;\n#[path = \"x.rs\"]\nmod c;\n\
            #[cfg(test)]\nuse hidden::{One, Two};\nmod inner { fn deep() { super::g(); } }\n\
            pub const fn f() -> crate::h::T { Self::x.y::<u8>() }\nstruct S { fnord: u8 }\n\
            #[cfg(test)]\nmod tests { use gone::Gone; }\n";
        let modules = modules_of(source);
        let module = &modules[&Vec::new()];
        let set = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(module.children, set(&["a", "c", "inner"]));
        assert_eq!(module.test_children, set(&["b"]));
        assert_eq!(module.named_files["c"], "x.rs");
        assert_eq!(module.items, set(&["f", "S"]));
        assert!(module.imports.is_empty());
        assert_eq!(module.paths[0].0, ["crate", "h", "T"]);
        let inner = &modules[&vec!["inner".to_owned()]];
        assert_eq!(inner.paths[0].0, ["super", "g"]);
    }
}
