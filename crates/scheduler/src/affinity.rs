//! Where a job may run, and in which order jobs are served.

use std::fmt;
use std::str::FromStr;

/// How strongly a job is tied to the nodes of its ranges (P-HANA 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Affinity {
    /// The home node's workers come first; others may steal.
    #[default]
    Soft,
    /// Only the home node's workers.
    Hard,
    /// The nodes of the ranges do not matter: any worker, and nothing counts as stolen.
    None,
    /// Hard until the first morsels have shown whether the job is bound by memory, and soft from then on if it is not
    /// (P-HANA 7).
    Adaptive,
}

/// How far from home a worker may steal (P-SNC 2.6).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum StealingScope {
    /// Not at all.
    None,
    /// From the other nodes of its socket.
    Socket,
    /// From everywhere.
    #[default]
    All,
}

/// When a worker is confined to hardware threads of its own (P-SNC 2.6, P-HANA 5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Binding {
    /// Never: the OS moves workers as it likes.
    None,
    /// To the hardware threads of its group while it works on a range that has a node.
    Preferred,
    /// As preferred, and also while it works on a direct child of such a job.
    Opportunistic,
    /// To one hardware thread, for good.
    #[default]
    Always,
}

/// What P-HANA compares in its section 6, as one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// No affinities, and workers that the OS may move.
    Os,
    /// Soft affinities.
    #[default]
    Target,
    /// Hard affinities.
    Bound,
    /// Hard affinities for what is bound by memory, soft ones for the rest.
    Adaptive,
}

impl Strategy {
    /// The affinity of jobs.
    pub fn affinity(self) -> Affinity {
        match self {
            Self::Os => Affinity::None,
            Self::Target => Affinity::Soft,
            Self::Bound => Affinity::Hard,
            Self::Adaptive => Affinity::Adaptive,
        }
    }

    /// The binding that belongs to it when nobody asks for another.
    pub fn binding(self) -> Binding {
        if self == Self::Os { Binding::None } else { Binding::Always }
    }
}

/// Gives an enum the words by which users name its values.
macro_rules! words {
    ($name:ident, $($variant:ident = $word:literal),+) => {
        impl $name {
            /// The words of all values, in order.
            pub const WORDS: &[&'static str] = &[$($word),+];

            const VALUES: &[Self] = &[$(Self::$variant),+];

            /// The value as a small number, for atomics.
            pub(crate) fn code(self) -> u8 {
                Self::VALUES.iter().position(|it| *it == self).map_or(0, |it| it as u8)
            }

        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(Self::WORDS[usize::from(self.code())])
            }
        }

        impl FromStr for $name {
            type Err = ();

            fn from_str(word: &str) -> Result<Self, ()> {
                let found = Self::WORDS.iter().position(|it| it.eq_ignore_ascii_case(word));
                found.map(|it| Self::VALUES[it]).ok_or(())
            }
        }
    };
}
words!(Affinity, Soft = "soft", Hard = "hard", None = "none", Adaptive = "adaptive");
words!(StealingScope, None = "none", Socket = "neighbours", All = "all");
words!(
    Binding,
    None = "none",
    Preferred = "preferred",
    Opportunistic = "opportunistic",
    Always = "always"
);

/// Which scans are served together with others that read the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ScanSharing {
    /// None.
    Off,
    /// Those that read more than a cache keeps until the next one comes.
    #[default]
    Auto,
    /// All.
    On,
}

words!(ScanSharing, Off = "off", Auto = "auto", On = "on");

/// Gives back the values of codes.
macro_rules! codes {
    ($($name:ident),+) => {$(
        impl $name {
            /// The value of a code.
            pub(crate) fn from_code(code: u8) -> Self {
                Self::VALUES[usize::from(code) % Self::VALUES.len()]
            }
        }
    )+};
}
codes!(Affinity, StealingScope, Binding);
words!(Strategy, Os = "os", Target = "target", Bound = "bound", Adaptive = "adaptive");

/// Query classes: the lower number is served first.
pub mod class {
    /// Somebody waits at the other end for a short answer.
    pub const INTERACTIVE: u8 = 0;
    /// What a query gets when nobody says otherwise.
    pub const NORMAL: u8 = 100;
    /// Loading and upkeep.
    pub const BACKGROUND: u8 = 200;
}

/// A place in the order of service; lower is served first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Priority {
    pub(crate) class: u8,
    pub(crate) statement: u64,
    /// The order of submission breaks ties.
    pub(crate) sequence: u64,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_name_values_and_codes_come_back() {
        assert_eq!("Neighbours".parse(), Ok(StealingScope::Socket));
        assert_eq!("os".parse(), Ok(Strategy::Os));
        assert_eq!("far".parse::<StealingScope>(), Err(()));
        assert_eq!(Binding::Opportunistic.to_string(), "opportunistic");
        for affinity in Affinity::VALUES {
            assert_eq!(Affinity::from_code(affinity.code()), *affinity);
            assert_eq!(affinity.to_string().parse(), Ok(*affinity));
        }
        assert_eq!(Strategy::Os.binding(), Binding::None);
        assert_eq!(Strategy::Adaptive.affinity(), Affinity::Adaptive);
    }
}
