//! The files of one crate as a graph: which file uses something that another file defines.

use super::module::{Module, modules_of};
use std::collections::{BTreeMap, BTreeSet};

type Path = Vec<String>;

/// The modules of a crate and the files that they are in.
#[derive(Default)]
pub struct CrateFiles {
    modules: BTreeMap<Path, (Module, String)>,
}

/// What a path leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Target {
    /// A file that defines it.
    File(String),
    /// A module.
    Module(Path),
    /// Another crate, or something that is no path.
    Outside,
}

/// How long a chain of re-exports may be: longer ones are circles of `use`.
const CHAIN_MAX: usize = 16;

impl CrateFiles {
    /// Reads a crate from its root file on; `text_of` gives the contents of a file that exists.
    pub fn read(root: &str, text_of: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut files = Self::default();
        if let Some(text) = text_of(root) {
            let folder = folder_of(root);
            files.add(root, folder, Vec::new(), &text, text_of);
        }
        files
    }

    fn add(
        &mut self,
        file: &str,
        children_at: &str,
        own: Path,
        text: &str,
        text_of: &dyn Fn(&str) -> Option<String>,
    ) {
        for (inner, module) in modules_of(text) {
            let path: Path = own.iter().chain(&inner).cloned().collect();
            let folder = [&[children_at.to_owned()], inner.as_slice()].concat().join("/");
            for name in &module.children {
                let named =
                    module.named_files.get(name).map(|it| format!("{}/{it}", folder_of(file)));
                let candidates = [
                    named.unwrap_or_default(),
                    format!("{folder}/{name}.rs"),
                    format!("{folder}/{name}/mod.rs"),
                ];
                let found = candidates.iter().find_map(|it| Some((it, text_of(it)?)));
                let Some((child, text)) = found else { continue };
                let path: Path = path.iter().cloned().chain([name.clone()]).collect();
                self.add(child, &format!("{folder}/{name}"), path, &text, text_of);
            }
            self.modules.insert(path, (module, file.to_owned()));
        }
    }

    /// For each file the files that it uses, with the first line that does.
    pub fn edges(&self) -> BTreeMap<String, BTreeMap<String, usize>> {
        let mut edges: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for (own, (module, file)) in &self.modules {
            let mut uses: Vec<(&[String], usize)> = Vec::new();
            for import in &module.imports {
                // What is only handed on is no use of it.
                let used = |name: &String| module.words.contains(name);
                if !import.public || import.name.as_ref().is_some_and(used) {
                    uses.push((&import.path, import.line));
                }
            }
            uses.extend(module.paths.iter().map(|(path, line)| (path.as_slice(), *line)));
            let own_edges = edges.entry(file.clone()).or_default();
            for (path, line) in uses {
                let Target::File(other) = self.resolve(own, path, 0) else { continue };
                if other != *file {
                    let first = own_edges.entry(other).or_insert(line);
                    *first = line.min(*first);
                }
            }
        }
        edges
    }

    /// Where a path that is written in the module `own` leads.
    fn resolve(&self, own: &[String], path: &[String], chain: usize) -> Target {
        let Some((first, rest)) = path.split_first() else { return Target::Outside };
        let (from, rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            "self" => (own.to_vec(), rest),
            "super" => (own[..own.len().saturating_sub(1)].to_vec(), rest),
            name if self.knows(own, name) => (own.to_vec(), path),
            _ => return Target::Outside,
        };
        self.walk(from, rest, chain)
    }

    /// Whether a name means something in a module that is of this crate.
    fn knows(&self, own: &[String], name: &str) -> bool {
        self.modules.get(own).is_some_and(|(module, _)| {
            module.children.contains(name)
                || module.items.contains(name)
                || module.imports.iter().any(|it| it.name.as_deref() == Some(name))
        })
    }

    fn walk(&self, from: Path, path: &[String], chain: usize) -> Target {
        let mut own = from;
        for (at, segment) in path.iter().enumerate() {
            if segment == "super" {
                own.pop();
                continue;
            }
            let below: Path = own.iter().cloned().chain([segment.clone()]).collect();
            if self.modules.contains_key(&below) {
                own = below;
                continue;
            }
            return self.find(&own, segment, &path[at + 1..], chain);
        }
        Target::Module(own)
    }

    /// An item of a module: defined there, or brought there from elsewhere.
    fn find(&self, own: &[String], name: &str, rest: &[String], chain: usize) -> Target {
        let Some((module, file)) = self.modules.get(own) else { return Target::Outside };
        if module.items.contains(name) || chain > CHAIN_MAX {
            return Target::File(file.clone());
        }
        if let Some(import) = module.imports.iter().find(|it| it.name.as_deref() == Some(name)) {
            if import.path.len() < 2 {
                return Target::Outside;
            }
            let path: Path = import.path.iter().chain(rest).cloned().collect();
            return self.resolve(own, &path, chain + 1);
        }
        for import in module.imports.iter().filter(|it| it.name.is_none()) {
            let Target::Module(path) = self.resolve(own, &import.path, chain + 1) else { continue };
            if path != own && self.offers(&path, name) {
                return self.find(&path, name, rest, chain + 1);
            }
        }
        // Made by a macro, or a variant of an enum: it is of this file.
        Target::File(file.clone())
    }

    fn offers(&self, own: &[String], name: &str) -> bool {
        self.modules.get(own).is_some_and(|(module, _)| {
            module.items.contains(name)
                || module.imports.iter().any(|it| it.public && it.name.as_deref() == Some(name))
        })
    }
}

fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The circles of a graph: sets of files each of which leads to all others, of two files or more.
pub fn circles(edges: &BTreeMap<String, BTreeMap<String, usize>>) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|from| (from, reached(edges, from))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &reach {
        let back = |it: &&&String| reach.get(**it).is_some_and(|its| its.contains(*from));
        let circle: BTreeSet<String> =
            to.iter().filter(back).map(|&it| it.clone()).chain([(*from).clone()]).collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

fn reached<'a>(
    edges: &'a BTreeMap<String, BTreeMap<String, usize>>,
    from: &String,
) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut left = vec![from];
    while let Some(file) = left.pop() {
        for next in edges.get(file).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next) {
                left.push(next);
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let text_of = |path: &str| {
            files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
        };
        let edges = CrateFiles::read("src/lib.rs", &text_of).edges();
        let short = |it: &String| it.trim_start_matches("src/").to_owned();
        (edges.iter())
            .flat_map(|(from, to)| to.keys().map(move |it| (short(from), short(it))))
            .collect()
    }

    fn pair(from: &str, to: &str) -> (String, String) {
        (from.to_owned(), to.to_owned())
    }

    #[test]
    fn an_import_leads_to_the_file_that_defines_the_item() {
        let files = [
            ("src/lib.rs", "mod a;\nmod b;\npub use a::A;\n"),
            ("src/a/mod.rs", "mod x;\npub use x::{A, Other as Renamed};\npub use std::fmt;\n"),
            ("src/a/x.rs", "pub struct A;\npub struct Other;\n"),
            ("src/b.rs", "use crate::{a::Renamed, fmt};\nuse crate::A;\nuse crate::a::fmt as f;\n"),
        ];
        assert_eq!(edges(&files), [pair("b.rs", "a/x.rs"), pair("b.rs", "lib.rs")]);
    }

    #[test]
    fn paths_in_code_count_and_handing_on_does_not() {
        let files = [
            ("src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\npub use b::B;\nfn f(_: B) {}\n"),
            ("src/a.rs", "use crate::c;\npub struct A(u8);\nfn g() -> super::b::B { c::make() }\n"),
            ("src/b.rs", "pub struct B;\n#[cfg(test)]\nmod tests { use crate::a::A; }\n"),
            ("src/c.rs", "pub fn make() {}\n"),
        ];
        let expected = [pair("a.rs", "b.rs"), pair("a.rs", "c.rs"), pair("lib.rs", "b.rs")];
        assert_eq!(edges(&files), expected);
    }

    #[test]
    fn what_a_macro_or_a_star_brings_is_found() {
        let files = [
            ("src/lib.rs", "mod a;\nmod b;\n"),
            ("src/a.rs", "ids! { NodeId }\npub struct A;\n"),
            ("src/b/mod.rs", "mod c;\nmod d;\nuse crate::a::*;\nuse d::D;\n"),
            ("src/b/c.rs", "use super::{A, D};\nuse crate::a::NodeId;\n"),
            ("src/b/d.rs", "pub struct D;\n"),
        ];
        let expected =
            [pair("b/c.rs", "a.rs"), pair("b/c.rs", "b/d.rs"), pair("b/mod.rs", "b/d.rs")];
        assert_eq!(edges(&files), expected);
    }

    #[test]
    fn a_circle_is_all_files_that_lead_to_each_other() {
        let edge = |from: &str, to: &[&str]| {
            (from.to_owned(), to.iter().map(|&it| (it.to_owned(), 1)).collect())
        };
        let graph = BTreeMap::from([
            edge("a", &["b"]),
            edge("b", &["c"]),
            edge("c", &["b", "d"]),
            edge("d", &[]),
        ]);
        assert_eq!(circles(&graph), [BTreeSet::from(["b".to_owned(), "c".to_owned()])]);
    }
}
