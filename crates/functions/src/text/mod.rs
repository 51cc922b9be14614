//! Functions of texts. Places and lengths count characters, as code points.

mod build;
mod case;
mod format;
mod identifier;
mod list;
mod measure;
mod part;
mod place;
mod quote;
mod size;
mod unicode;

pub(crate) use build::{
    chr, concat, concat_ws, in_base, overlay, pad, repeat, replace, reverse, translate,
};
pub(crate) use case::{change_case, initcap};
pub(crate) use format::format;
pub(crate) use identifier::parse_ident;
pub(crate) use list::{find_in_set, split_part, substring_index};
pub(crate) use measure::{levenshtein, measure};
pub(crate) use part::{left_or_right, substring, trim};
pub(crate) use place::{search, strpos};
pub(crate) use quote::quote;
pub(crate) use size::size_bytes;
pub(crate) use unicode::{casefold, normalize, unicode_assigned, unistr};

/// The byte at which the character of a place (from 0) begins; the end when there are not so many.
fn byte_of(text: &str, characters: usize) -> usize {
    if text.is_ascii() {
        return characters.min(text.len());
    }
    text.char_indices().nth(characters).map_or(text.len(), |it| it.0)
}

/// How many characters a text has.
fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}
