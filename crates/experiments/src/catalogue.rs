//! Every figure and table of the four papers, and what stands for it here: so that what is missing can be seen.
//!
//! - Invariant: no number of a paper is left out, and every experiment is named.

use std::fmt::Write;

use crate::papers::{HANA, HYPER, MONET, SNC};

/// Lists of all papers, in the order of the report.
pub const PAPERS: [&Paper; 4] = [&HANA, &HYPER, &SNC, &MONET];

/// A paper: how it is called here, how many numbered figures and tables it has, and each of them.
pub struct Paper {
    /// As in docs/design/00-house.md.
    pub name: &'static str,
    /// Figures are numbered from 1 to this.
    pub figures: u32,
    /// Tables are numbered from 1 to this.
    pub tables: u32,
    /// In the order of the paper; measurements of its text that have no number come last.
    pub rows: &'static [Row],
}

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// Figures of these numbers, both ends among them.
    Figures(u32, u32),
    /// Tables of these numbers.
    Tables(u32, u32),
    /// A measurement in the text of this section.
    Section(&'static str),
}

/// Figures or tables that are alike.
pub struct Row {
    /// Which they are.
    pub item: Item,
    /// What they show.
    pub shows: &'static str,
    /// What stands for them here; several where each covers a part.
    pub ways: &'static [Way],
}

/// What stands for a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Experiments of this report, and what part of the figure they are.
    Simulated(&'static [&'static str], &'static str),
    /// Models that were given these numbers; each measures its own tables within 3 %.
    Model(&'static [&'static str]),
    /// Cache lines counted in a guest: the command, and the page with the outcome.
    Counted(&'static str, &'static str),
    /// A run of the program: the command, and the page with the outcome or of the command.
    Ran(&'static str, &'static str),
    /// A drawing of what something is or does, without an outcome, and the page about ours.
    Drawing(&'static str),
    /// Not, and why.
    Not(&'static str),
}

/// The list as a section of the report.
pub fn section() -> String {
    let mut text = String::from(
        "## Every figure and table of the four papers\n\n\
         An *input* was given to the models and proves nothing; a *drawing* has no outcome. Times are compared only where they\n\
         are simulated: guests count cache lines, and real runs were made on two cores.\n\n\
         | Where | What it shows | Here |\n|---|---|---|\n",
    );
    for paper in PAPERS {
        for row in paper.rows {
            let ways: Vec<String> = row.ways.iter().map(told).collect();
            let (name, item, shows) = (paper.name, named(row.item), row.shows);
            let _ = writeln!(text, "| {name} {item} | {shows} | {} |", ways.join("; "));
        }
    }
    text
}

fn named(item: Item) -> String {
    let numbers = |what: &str, first, last| match (first, last) {
        _ if first == last => format!("{what} {first}"),
        _ => format!("{what}s {first} to {last}"),
    };
    match item {
        Item::Figures(first, last) => numbers("figure", first, last),
        Item::Tables(first, last) => numbers("table", first, last),
        Item::Section(section) => format!("section {section}"),
    }
}

fn told(way: &Way) -> String {
    let page = |page: &str| format!("[{page}]({page})");
    match way {
        Way::Simulated(names, part) => {
            let links: Vec<String> = names.iter().map(|it| format!("[{it}](#{it})")).collect();
            let part = if part.is_empty() { String::new() } else { format!(" ({part})") };
            format!("simulated: {}{part}", links.join(", "))
        }
        Way::Model(names) => {
            let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
            format!("input of the models {}: `nodewise simulate --machine NAME`", names.join(", "))
        }
        Way::Counted(command, at) => format!("counted in a guest: `{command}`, {}", page(at)),
        Way::Ran(command, at) => format!("run: `{command}`, {}", page(at)),
        Way::Drawing(at) => format!("drawing; ours: {}", page(at)),
        Way::Not(why) => format!("**not**: {why}"),
    }
}
