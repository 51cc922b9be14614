//! What a paper states of its figure as a ratio, and what became of it (docs/design/06-proof-without-hardware.md, "what
//! a claim is worth").

/// A statement of the paper as a ratio of two cells.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// In words.
    pub says: String,
    /// The measure of which the ratio is taken.
    pub measure: String,
    /// The cell above the line: series and point, by index.
    pub of: (usize, usize),
    /// The cell below the line.
    pub over: (usize, usize),
    /// What must come out.
    pub expected: Expected,
    /// Where it is published.
    pub source: String,
    /// Whether it is the figure's point; the others are shown beside it.
    pub main: bool,
    /// Whether it is about our own strategy, of which the paper has no figure.
    pub ours: bool,
    /// Why it follows from what was put in, or empty.
    pub arithmetic: String,
    /// What became of it when this was last written down; tests hold it to that.
    pub recorded: Class,
    /// The likely reason when the simulated ratio is another, or empty.
    pub why: String,
}

/// What must come out of a claim, least and greatest.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Expected {
    /// The paper gives the ratio, or its range: too much is as wrong as too little.
    Published(f64, f64),
    /// The paper gives no number for this ratio, but says on which side of a bound it is.
    Direction(f64, f64),
}

/// What became of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The published ratio came out within a tenth.
    Within10,
    /// Within a quarter.
    Within25,
    /// What was said without a number came out; or a published change of less than a quarter did, at less than half its
    /// size.
    Direction,
    /// It follows from what was put in.
    Arithmetic,
    /// It did not come out.
    Fails,
}

impl Class {
    /// All, the best first.
    pub const ALL: [Self; 5] =
        [Self::Within10, Self::Within25, Self::Direction, Self::Arithmetic, Self::Fails];

    /// Its name in files and in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Within10 => "within 10 %",
            Self::Within25 => "within 25 %",
            Self::Direction => "direction",
            Self::Arithmetic => "arithmetic",
            Self::Fails => "fails",
        }
    }

    /// The class of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

impl Claim {
    /// What becomes of the claim at a ratio.
    pub fn class_of(&self, ratio: f64) -> Class {
        let class = match self.expected {
            Expected::Published(low, high) => class_of_number(low, high, ratio),
            Expected::Direction(least, most) if (least..=most).contains(&ratio) => Class::Direction,
            Expected::Direction(..) => Class::Fails,
        };
        match class {
            Class::Fails => Class::Fails,
            _ if !self.arithmetic.is_empty() => Class::Arithmetic,
            class => class,
        }
    }
}

/// The class of a ratio where a range was published. Close is not enough: a published change must show. 0.99 is within a
/// tenth of 1.05, and says that nothing rose.
fn class_of_number(low: f64, high: f64, ratio: f64) -> Class {
    let nearest = ratio.clamp(low, high);
    let off = (ratio / nearest).max(nearest / ratio);
    // The share of the published change that came out; all of it where none was published.
    let shown = if low <= 1.0 && 1.0 <= high { 1.0 } else { ratio.ln() / nearest.ln() };
    match off {
        it if it > 1.25 || shown < 0.1 => Class::Fails,
        _ if shown < 0.5 => Class::Direction,
        it if it > 1.1 => Class::Within25,
        _ => Class::Within10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(expected: Expected, arithmetic: &str, ratio: f64) -> Class {
        let claim = Claim {
            says: String::new(),
            measure: String::new(),
            of: (0, 0),
            over: (0, 0),
            expected,
            source: String::new(),
            main: false,
            ours: false,
            arithmetic: arithmetic.to_owned(),
            recorded: Class::Fails,
            why: String::new(),
        };
        claim.class_of(ratio)
    }

    #[test]
    fn a_published_number_has_two_sides() {
        let number =
            |published: f64, ratio| class(Expected::Published(published, published), "", ratio);
        for (published, ratio, expected) in [
            (0.3, 0.89, Class::Fails),
            (32.0, 16.0, Class::Fails),
            (5.0, 1.5, Class::Fails),
            (5.0, 12.0, Class::Fails),
            (5.0, 5.4, Class::Within10),
            (5.0, 4.6, Class::Within10),
            (5.0, 5.6, Class::Within25),
            (2.0, 1.62, Class::Within25),
            (1.0, 1.09, Class::Within10),
            (1.0, 0.85, Class::Within25),
            (0.85, 0.93, Class::Direction),
            (1.05, 0.99, Class::Fails),
            (1.05, 1.002, Class::Fails),
            (1.05, 1.04, Class::Within10),
        ] {
            assert_eq!(number(published, ratio), expected, "{ratio} for {published}");
        }
        let range = |ratio| class(Expected::Published(0.9, 0.97), "", ratio);
        assert_eq!([range(0.93), range(0.88), range(1.05)].map(Class::name)[2], "fails");
        assert_eq!((range(0.93), range(0.88)), (Class::Within10, Class::Within10));
    }

    #[test]
    fn a_direction_is_one_and_arithmetic_is_no_reproduction() {
        let side = Expected::Direction(1.5, f64::INFINITY);
        assert_eq!((class(side, "", 9.0), class(side, "", 1.4)), (Class::Direction, Class::Fails));
        assert_eq!(class(side, "as many cores", 9.0), Class::Arithmetic);
        assert_eq!(class(side, "as many cores", 1.4), Class::Fails);
        assert!(Class::ALL.into_iter().all(|it| Class::by_name(it.name()) == Some(it)));
    }
}
