//! What stands for the figures and tables of the four papers here, so that what is missing can be seen.
//!
//! - Invariant: no number of a paper is left out, and every experiment is named.

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
