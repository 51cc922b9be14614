//! Made-up words, names and addresses. Most sites write Cyrillic letters, so that texts are not one byte a letter.

use std::fmt::Write;

use crate::dice::Dice;

const LATIN: [&str; 24] = [
    "an", "be", "co", "da", "el", "fo", "gi", "ha", "in", "ju", "ko", "li", "ma", "no", "or", "pe",
    "qui", "ra", "sta", "to", "un", "ve", "wi", "za",
];
const CYRILLIC: [&str; 24] = [
    "\u{430}\u{432}",
    "\u{431}\u{435}",
    "\u{432}\u{43e}",
    "\u{433}\u{430}",
    "\u{434}\u{435}",
    "\u{436}\u{438}",
    "\u{437}\u{430}",
    "\u{438}\u{43d}",
    "\u{43a}\u{43e}",
    "\u{43b}\u{435}",
    "\u{43c}\u{430}",
    "\u{43d}\u{43e}",
    "\u{43e}\u{440}",
    "\u{43f}\u{435}",
    "\u{440}\u{430}",
    "\u{441}\u{442}\u{430}",
    "\u{442}\u{43e}",
    "\u{443}\u{441}",
    "\u{444}\u{438}",
    "\u{445}\u{43e}",
    "\u{446}\u{438}",
    "\u{447}\u{430}",
    "\u{448}\u{435}",
    "\u{44f}\u{440}",
];
const ENDINGS: [&str; 6] = ["com", "net", "org", "info", "example", "shop"];

/// Kinds of things that are drawn for.
const WORD: u64 = 101;
const SITE: u64 = 102;

/// Writes word number so and so: two to four syllables.
pub fn word(number: u64, latin: bool, out: &mut String) {
    let dice = Dice::of(WORD, number);
    for syllable in 0..2 + dice.below(0, 3) {
        out.push_str(dice.one_of(1 + syllable, if latin { &LATIN } else { &CYRILLIC }));
    }
}

/// Writes some words, common ones more often, with something between them.
pub fn words(dice: Dice, count: u64, latin: bool, between: char, out: &mut String) {
    for place in 0..count {
        if place > 0 {
            out.push(between);
        }
        word(dice.skewed(200 + place, 20_000, 3), latin, out);
    }
}

/// Whether a site writes Latin letters.
pub fn is_latin(site: u64) -> bool {
    Dice::of(SITE, site).chance(1, 3000)
}

/// Writes the host of a site.
pub fn host(site: u64, out: &mut String) {
    let dice = Dice::of(SITE, site);
    if dice.chance(2, 5000) {
        out.push_str("www.");
    }
    word(dice.below(3, 1_000_000), true, out);
    // No text is out of reach of a String.
    let _ = write!(out, "{site}.{}", dice.one_of(4, &ENDINGS));
}

/// Writes the address of a page of a site; page 0 is where its visitors begin.
pub fn address(site: u64, page: u64, out: &mut String) {
    let dice = Dice::of(SITE ^ page.rotate_left(20), site);
    out.push_str(if Dice::of(SITE, site).chance(5, 300) { "https://" } else { "http://" });
    host(site, out);
    out.push('/');
    if page > 0 {
        words(dice, 2 + dice.below(0, 4), true, '/', out);
        let _ = write!(out, "/{page}{}", dice.one_of(1, &["", "/", ".html", ".php"]));
    }
}
