//! Quantities with their unit in the type.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// A span or a point of time in nanoseconds; a point counts from the Machine's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The span in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

macro_rules! arithmetic {
    ($name:ident) => {
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $name {
            type Output = Self;
            /// Saturates at zero: clocks of two cores may disagree by a few nanoseconds.
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                Self(iter.map(|it| it.0).sum())
            }
        }
    };
}
arithmetic!(Bytes);
arithmetic!(Nanos);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 { write!(f, "{} B", self.0) } else { write!(f, "{value:.1} {}", UNITS[unit]) }
    }
}

/// Units of a setting, each 1024 times the one before.
const SETTING_UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];

impl Bytes {
    /// What a setting says: a number with `B`, `kB`, `MB`, `GB` or `TB`, in steps of 1024 as PostgreSQL has them; `KiB` and the
    /// like are the same. `None` for anything else, and for what is too large.
    pub fn of_setting(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim().replace('i', "");
        let power = SETTING_UNITS.iter().position(|it| it.eq_ignore_ascii_case(&unit))?;
        let number: u64 = number.parse().ok()?;
        Some(Self(number.checked_mul(1 << (10 * power))?))
    }

    /// The text that [`Bytes::of_setting`] reads as this.
    pub fn setting_text(self) -> String {
        let divides = |it: &usize| self.0 != 0 && self.0.is_multiple_of(1 << (10 * it));
        let power = (0..SETTING_UNITS.len()).rev().find(divides).unwrap_or(0);
        format!("{}{}", self.0 >> (10 * power), SETTING_UNITS[power])
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n < 10_000 => write!(f, "{n} ns"),
            n if n < 10_000_000 => write!(f, "{:.1} us", n as f64 / 1e3),
            n if n < 10_000_000_000 => write!(f, "{:.1} ms", n as f64 / 1e6),
            n => write!(f, "{:.1} s", n as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_bytes() {
        for (text, bytes) in [
            ("1MB", Some(1 << 20)),
            (" 3 GiB ", Some(3 << 30)),
            ("17kb", Some(17 << 10)),
            ("5B", Some(5)),
            ("5", None),
            ("-5MB", None),
            ("MB", None),
            ("99999999TB", None),
            ("", None),
        ] {
            assert_eq!(Bytes::of_setting(text), bytes.map(Bytes), "{text}");
        }
        for bytes in [0, 1, 1023, 1024, 1536, 1 << 20, (1 << 30) + 1, 7 << 40] {
            let text = Bytes(bytes).setting_text();
            assert_eq!(Bytes::of_setting(&text), Some(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn quantities_print_with_their_unit() {
        assert_eq!(Bytes(512).to_string(), "512 B");
        assert_eq!(Bytes(3 << 20).to_string(), "3.0 MiB");
        assert_eq!(Nanos(1_500_000).to_string(), "1500.0 us");
        assert_eq!((Nanos(5) - Nanos(9)).0, 0);
    }
}
