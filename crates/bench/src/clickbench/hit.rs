//! One look at a page: who, when, where, from where. The columns are drawn from it.
//!
//! Users, sites, pages and phrases are skewed as on the web: a few are seen all the time, most hardly ever.

use std::fmt::Write;

use super::words::{address, host, is_latin, words};
use crate::dice::Dice;

/// Kinds of things that are drawn for.
const HIT: u64 = 1;
const USER: u64 = 2;
const PHRASE: u64 = 3;
/// The first second: 1 July 2013.
pub const FIRST_SECOND: i64 = 1_372_636_800;
const MONTH_SECONDS: u64 = 31 * 86_400;
/// Sites, each with a counter.
const SITES: u64 = 6_500;
/// Pages of a site.
const PAGES: u64 = 20_000;
/// The site whose counter the reports of the workload ask for, and that counter.
const REPORTED: (u64, i32) = (5, 62);

/// A row before it is cut into columns.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Draws of this hit.
    pub dice: Dice,
    /// Draws of its user.
    pub user: Dice,
    /// Seconds since 1970.
    pub second: i64,
    /// Which site was looked at.
    pub site: u64,
    /// Which of its pages.
    pub page: u64,
    /// What was searched for on the way, if anything.
    phrase: Option<u64>,
    /// Whether the user holds a phone.
    pub mobile: bool,
    origin: Origin,
}

/// Where a user came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Nowhere,
    SameSite,
    OtherSite,
    Search,
}

impl Hit {
    /// Hit number `row` of `rows`; they come in the order of time.
    pub fn new(row: u64, rows: u64) -> Self {
        let dice = Dice::of(HIT, row);
        let user = Dice::of(USER, dice.skewed(1, (rows / 4).max(1), 2));
        let since = u128::from(row) * u128::from(MONTH_SECONDS) / u128::from(rows.max(1));
        let searched = dice.chance(2, 1300);
        let origin = match dice.below(3, 100) {
            _ if searched => Origin::Search,
            0..20 => Origin::Nowhere,
            20..70 => Origin::SameSite,
            _ => Origin::OtherSite,
        };
        Self {
            dice,
            user,
            second: FIRST_SECOND + since as i64,
            site: dice.skewed(4, SITES, 4),
            page: dice.skewed(5, PAGES, 12),
            phrase: searched.then(|| dice.skewed(6, (rows / 10).max(1), 3)),
            mobile: user.chance(1, 900),
            origin,
        }
    }

    /// The counter of the site.
    pub fn counter(&self) -> i32 {
        match self.site {
            site if site == REPORTED.0 => REPORTED.1,
            site => (Dice::of(USER + 100, site).below(1, 250_000) + 100) as i32,
        }
    }

    /// The address of the page.
    pub fn url(&self, out: &mut String) {
        address(self.site, self.page, out);
        if self.dice.chance(10, 500) {
            // No text is out of reach of a String.
            let _ = write!(out, "?id={}", self.dice.below(11, 10_000_000));
        }
        if self.dice.chance(12, 3) {
            out.push_str("#from=google");
        }
    }

    /// What the page is called.
    pub fn title(&self, out: &mut String) {
        let page = Dice::of(self.site + 1000, self.page / 2);
        if page.chance(1, 100) {
            return;
        }
        words(page, 4 + page.below(2, 9), is_latin(self.site), ' ', out);
        if page.chance(3, 20) {
            out.push_str(" - Google");
        }
    }

    /// What was searched for; empty when nothing was.
    pub fn phrase(&self, out: &mut String) {
        let Some(phrase) = self.phrase else { return };
        let dice = Dice::of(PHRASE, phrase);
        words(dice, 1 + dice.below(1, 5), dice.chance(2, 3000), ' ', out);
    }

    /// Whether something was searched for.
    pub fn searched(&self) -> bool {
        self.phrase.is_some()
    }

    /// The page that led here; empty when none did.
    pub fn referer(&self, out: &mut String) {
        let dice = self.dice;
        match self.origin {
            Origin::Nowhere => {}
            Origin::SameSite => address(self.site, dice.skewed(13, PAGES, 12), out),
            Origin::OtherSite => address(dice.skewed(14, SITES, 3), dice.skewed(13, PAGES, 9), out),
            Origin::Search => {
                let engine = dice.skewed(15, 5, 3);
                out.push_str(if engine == 1 { "http://www.google.example" } else { "http://" });
                if engine != 1 {
                    host(SITES + engine, out);
                }
                out.push_str("/search?q=");
                self.phrase(out);
            }
        }
    }

    /// How the user came: -1 and 0 by the address, 1 by a link, 2 by a search, 3 by an advertisement, 6 within the site.
    pub fn source(&self) -> i16 {
        match self.origin {
            Origin::Nowhere if self.dice.chance(16, 2000) => -1,
            Origin::Nowhere => 0,
            Origin::SameSite => 6,
            Origin::OtherSite if self.advertised() > 0 => 3,
            Origin::OtherSite => 1,
            Origin::Search => 2,
        }
    }

    /// The network of the advertisement that led here, or 0.
    pub fn advertised(&self) -> i16 {
        let shown = self.origin == Origin::OtherSite && self.dice.chance(17, 200);
        if shown { 1 + self.dice.skewed(18, 60, 2) as i16 } else { 0 }
    }
}
