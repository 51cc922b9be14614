//! The placement of a table as a picture: columns x nodes, on a terminal or as a file.
//!
//! Key decision: both show the same facts from the same data ([`nodewise::picture`]): how many bytes of each column
//! are on each node, and the nodes of its rows from the first to the last.

mod show;
mod svg;
mod terminal;

pub use show::{no_table, show};
pub use svg::svg;
pub use terminal::{Style, draw};

use nodewise::picture::TablePicture;

/// What a table is, in one line.
fn summary(picture: &TablePicture) -> String {
    let plural = |count: usize, what: &str| {
        format!("{} {what}{}", thousands(count as u64), if count == 1 { "" } else { "s" })
    };
    let mut text = format!(
        "{} in {}, {}",
        plural(picture.rows as usize, "row"),
        plural(picture.columns.len(), "column"),
        stdx::Bytes(picture.bytes),
    );
    if let Some(partitioning) = &picture.partitioning {
        text += &format!(", {partitioning}");
        if !partitioning.contains("PARTITIONS") {
            text += &format!(" with {}", plural(picture.parts, "part"));
        }
    }
    text
}

/// Bytes of the table on each of the picture's nodes.
fn totals(picture: &TablePicture) -> Vec<u64> {
    let of = |node: usize| picture.columns.iter().map(|it| it.shares[node].total()).sum();
    (0..picture.nodes.len()).map(of).collect()
}

/// A number with a comma every three digits.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
