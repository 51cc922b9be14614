//! The catalogue as a section of the report.

use std::fmt::Write;

use crate::catalogue::{Item, Way};
use crate::papers::PAPERS;

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
