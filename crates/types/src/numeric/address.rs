//! Addresses of hosts and networks.
//!
//! Key decision: one is held as a text whose order is PostgreSQL's: the version, the address of the network, the bits of its
//! mask, and the whole address where it is another one, each number in hexadecimal digits of one width. So the first bits of the network that
//! differ decide, then the shorter mask, then the other bits; and what is equal is held alike.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use super::errors::invalid_text;
use crate::{DataType, Network, SqlError, SqlResult, SqlState};

/// What stands for version 4 where an address is sent, and for version 6.
const SENT_FOUR: u8 = 2;
const SENT_SIX: u8 = 3;

/// An address of version 4 or 6 and how many of its first bits are those of its network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// Whether it is of version 6.
    pub is_six: bool,
    /// Bits of the network.
    pub mask: u8,
    /// Its bits, the first one the highest, whatever the version.
    pub bits: u128,
}

impl Address {
    /// Bits that it has.
    pub fn width(self) -> u8 {
        if self.is_six { 128 } else { 32 }
    }

    /// The bits of its network, of the same place as those of the address.
    pub fn netmask(self) -> u128 {
        u128::MAX.checked_shl(128 - u32::from(self.mask)).unwrap_or(0)
    }

    /// The bits that are none of its network.
    pub fn hostmask(self) -> u128 {
        !self.netmask() & self.all()
    }

    /// All bits that an address of its version has.
    pub fn all(self) -> u128 {
        u128::MAX << (128 - u32::from(self.width()))
    }

    /// Other bits, as an address of a host.
    pub fn host(self, bits: u128) -> Self {
        Self { bits, mask: self.width(), ..self }
    }

    /// Its network.
    pub fn network(self) -> Self {
        Self { bits: self.bits & self.netmask(), ..self }
    }

    /// Its bits as a number.
    pub fn number(self) -> u128 {
        self.bits >> (128 - u32::from(self.width()))
    }

    /// The address whose bits are a number; `None` of more bits than there are.
    pub fn of_number(self, number: u128) -> Option<Self> {
        let bits = number << (128 - u32::from(self.width()));
        let it = Self { bits, ..self };
        (it.number() == number).then_some(it)
    }

    /// Whether the network of another one is in its own; a network is in itself.
    pub fn contains(self, other: Self) -> bool {
        self.is_six == other.is_six
            && self.mask <= other.mask
            && (self.bits ^ other.bits) & self.netmask() == 0
    }

    /// The smallest network that has both; `None` of two versions.
    pub fn merged(self, other: Self) -> Option<Self> {
        let alike = (self.bits ^ other.bits).leading_zeros() as u8;
        let mask = self.mask.min(other.mask).min(alike);
        (self.is_six == other.is_six).then(|| Self { mask, ..self }.network())
    }

    /// The text as which it is held.
    pub fn held(self) -> String {
        let digits = usize::from(self.width() / 4);
        let network = self.network();
        let mut out = String::with_capacity(3 + 2 * digits);
        let version = if self.is_six { '6' } else { '4' };
        let put = |it: Self, out: &mut String| write!(out, "{:0digits$x}", it.number());
        out.push(version);
        // Nothing fails to be written to a string.
        let _ = put(network, &mut out);
        let _ = write!(out, "{:02x}", self.mask);
        if network.bits != self.bits {
            let _ = put(self, &mut out);
        }
        out
    }

    /// The address that a text holds.
    pub fn of_held(held: &str) -> Self {
        let is_six = held.starts_with('6');
        let none = Self { is_six, mask: 0, bits: 0 };
        let digits = usize::from(none.width() / 4);
        let number = |from: usize, count: usize| {
            let digits = held.get(from..from + count);
            digits.and_then(|it| u128::from_str_radix(it, 16).ok())
        };
        let network = number(1, digits).unwrap_or(0);
        let mask = number(1 + digits, 2).map_or(0, |it| it as u8);
        let whole = number(3 + digits, digits).unwrap_or(network);
        let mask = mask.min(none.width());
        Self { mask, ..none.of_number(whole).unwrap_or(none) }
    }

    /// The bytes as which it is sent: PostgreSQL's number of the version, the mask, whether it is a network, how many bytes it has, and
    /// these.
    pub fn sent(self, of: Network) -> Vec<u8> {
        let count = usize::from(self.width() / 8);
        let version = if self.is_six { SENT_SIX } else { SENT_FOUR };
        let mut out = vec![version, self.mask, u8::from(of == Network::Cidr), count as u8];
        out.extend(&self.bits.to_be_bytes()[..count]);
        out
    }

    /// The address that bytes are; `None` of what is none, and of a network with bits behind its mask.
    pub fn of_sent(bytes: &[u8], of: Network) -> Option<Self> {
        let ([version, mask, _, count], bytes) = bytes.split_first_chunk::<4>()?;
        let is_six = match *version {
            SENT_FOUR => false,
            SENT_SIX => true,
            _ => return None,
        };
        let none = Self { is_six, mask: *mask, bits: 0 };
        let width = none.width();
        if *mask > width || *count != width / 8 || bytes.len() != usize::from(*count) {
            return None;
        }
        let it =
            none.of_number(bytes.iter().fold(0, |number, it| number << 8 | u128::from(*it)))?;
        (of == Network::Inet || it.network() == it).then_some(it)
    }

    /// Reads an address as PostgreSQL does: of INET all four parts where no mask is said, of CIDR as many as there are.
    ///
    /// # Errors
    /// 22P02 for anything else, and for a CIDR that has bits behind its mask.
    pub fn parse(text: &str, of: Network) -> SqlResult<Self> {
        let data_type = DataType::Network(of);
        let read = match (text.contains(':'), of) {
            (true, _) => six(text),
            (false, Network::Inet) => four(text, false),
            (false, Network::Cidr) => four(text, true),
        };
        let it = read.ok_or_else(|| invalid_text(text, data_type))?;
        if of == Network::Cidr && it.network() != it {
            let message = format!("invalid cidr value: \"{text}\"");
            return Err(SqlError::new(SqlState::INVALID_TEXT, message)
                .with_detail("Value has bits set to right of mask."));
        }
        Ok(it)
    }

    /// Appends it as it is shown: an address of a host without its mask, unless it is one of CIDR.
    pub fn format(self, of: Network, out: &mut String) {
        self.push_host(out);
        if of == Network::Cidr || self.mask < self.width() {
            self.push_mask(out);
        }
    }

    /// Appends it with its mask, as a cast to a text has it.
    pub fn format_whole(self, out: &mut String) {
        self.push_host(out);
        self.push_mask(out);
    }

    /// Appends a network in short: without the bytes behind the mask.
    pub fn format_short(self, out: &mut String) {
        if self.is_six {
            return self.format_six_in_short(out);
        }
        let bytes = (self.number() as u32).to_be_bytes();
        let count = usize::from(self.mask.div_ceil(8)).max(1);
        for (place, byte) in bytes[..count].iter().enumerate() {
            let point = if place > 0 { "." } else { "" };
            let _ = write!(out, "{point}{byte}");
        }
        self.push_mask(out);
    }

    /// A network of version 6 in short, to the letter as PostgreSQL does it: words behind the mask are left out, and of several
    /// runs of zeros one is, too.
    fn format_six_in_short(self, out: &mut String) {
        if self.mask == 0 {
            return out.push_str("::/0");
        }
        let network = self.network().bits;
        let all = Ipv6Addr::from(network).segments();
        let words = &all[..usize::from(self.mask.div_ceil(16)).max(2)];
        let (start, count) = zeros_left_out(words);
        let has_four = count != words.len()
            && start == 0
            && (count == 6
                || count == 5 && words[5] == 0xffff
                || count == 7 && words[7] >> 8 != 0 && words[7] & 0xff != 1);
        let begin = out.len();
        for (place, word) in words.iter().enumerate() {
            if count > 0 && (start..start + count).contains(&place) {
                out.push_str(if place == start { ":" } else { "" });
                out.push_str(if place + 1 == words.len() { ":" } else { "" });
            } else if has_four && place > 5 {
                let [first, second] = word.to_be_bytes();
                let _ = write!(out, "{}{first}", if place == 6 { ':' } else { '.' });
                if place != 7 || self.mask > 120 {
                    let _ = write!(out, ".{second}");
                }
            } else {
                out.push_str(if out.len() > begin { ":" } else { "" });
                let _ = write!(out, "{word:x}");
            }
        }
        self.push_mask(out);
    }

    fn push_mask(self, out: &mut String) {
        let _ = write!(out, "/{}", self.mask);
    }

    /// Appends the address alone.
    pub fn push_host(self, out: &mut String) {
        if !self.is_six {
            let _ = write!(out, "{}", Ipv4Addr::from(self.number() as u32));
            return;
        }
        let words = Ipv6Addr::from(self.bits).segments();
        let (start, count) = longest_zeros(&words);
        // Addresses of version 4 in those of 6 are written as such.
        let has_four = start == 0
            && (count == 6 || count == 5 && words[5] == 0xffff || count == 7 && words[7] != 1);
        let mut place = 0;
        while place < 8 {
            if count > 1 && place == start {
                out.push_str("::");
                place += count;
                continue;
            }
            if place > 0 && !(count > 1 && place == start + count) {
                out.push(':');
            }
            if place == 6 && has_four {
                let _ = write!(out, "{}", Ipv4Addr::from(self.bits as u32));
                return;
            }
            let _ = write!(out, "{:x}", words[place]);
            place += 1;
        }
    }
}

/// Where the first of the longest runs of words that are zero begins, and how many they are.
fn longest_zeros(words: &[u16; 8]) -> (usize, usize) {
    let (mut best, mut start) = ((0, 0), 0);
    for (place, word) in words.iter().enumerate() {
        if *word != 0 {
            start = place + 1;
        } else if place + 1 - start > best.1 {
            best = (start, place + 1 - start);
        }
    }
    best
}

/// Where the run of zeros begins that PostgreSQL leaves out of a network in short, and how many they are: a later run is counted on
/// from an earlier one that was not longer than the longest before it.
fn zeros_left_out(words: &[u16]) -> (usize, usize) {
    let (mut best, mut run) = ((0, 0), (0, 0));
    for (place, word) in words.iter().enumerate() {
        if *word == 0 {
            if run.1 == 0 {
                run.0 = place;
            }
            run.1 += 1;
        } else if best.1 < run.1 {
            (best, run.1) = (run, 0);
        }
    }
    if best.1 < run.1 { run } else { best }
}

/// Digits of a number up to a greatest one, and what is behind them.
fn number_below(text: &str, most: u32) -> Option<(u32, &str)> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let digits = text.get(..end).filter(|it| !it.is_empty())?;
    let value = digits.bytes().try_fold(0_u32, |value, it| {
        Some(value * 10 + u32::from(it - b'0')).filter(|it| *it <= most)
    })?;
    Some((value, &text[end..]))
}

/// An address of version 4; where it is of a network, the mask that is not said follows from the first byte.
fn four(text: &str, of_network: bool) -> Option<Address> {
    let (bytes, rest) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if of_network && digits.starts_with(|it: char| it.is_ascii_hexdigit()) => {
            hex_bytes(digits)?
        }
        _ => decimal_bytes(text)?,
    };
    let said = match rest.strip_prefix('/') {
        Some(rest) => Some(number_below(rest, 32).filter(|it| it.1.is_empty())?.0 as u8),
        None if rest.is_empty() => None,
        None => return None,
    };
    let count = bytes.len() as u8;
    let mask = match (said, of_network) {
        (Some(said), _) => said,
        (None, false) if count == 4 => 32,
        (None, false) => return None,
        (None, true) => class_of(bytes[0], count),
    };
    if !of_network && mask / 8 > count {
        return None;
    }
    let byte = |at: usize| u32::from(bytes.get(at).copied().unwrap_or(0));
    let number = (0..4).fold(0, |number, at| number << 8 | byte(at));
    Address { is_six: false, mask, bits: 0 }.of_number(number.into())
}

/// The mask of a network of so many bytes, by its class.
fn class_of(first: u8, count: u8) -> u8 {
    let of_class = match first {
        240.. => 32,
        224.. => 8,
        192.. => 24,
        128.. => 16,
        _ => 8,
    };
    match of_class.max(count * 8) {
        8 if first == 224 => 4,
        mask => mask,
    }
}

fn decimal_bytes(text: &str) -> Option<(Vec<u8>, &str)> {
    let (mut bytes, mut rest) = (Vec::with_capacity(4), text);
    loop {
        let (byte, behind) = number_below(rest, 255)?;
        if bytes.len() == 4 {
            return None;
        }
        bytes.push(byte as u8);
        match behind.strip_prefix('.') {
            Some(more) => rest = more,
            None => return Some((bytes, behind)),
        }
    }
}

fn hex_bytes(text: &str) -> Option<(Vec<u8>, &str)> {
    let end = text.find(|it: char| !it.is_ascii_hexdigit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let byte = |it: &[u8]| {
        let pair = std::str::from_utf8(it).ok()?;
        let value = u8::from_str_radix(pair, 16).ok()?;
        Some(if it.len() == 1 { value << 4 } else { value })
    };
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?;
    (bytes.len() <= 4).then_some((bytes, rest))
}

fn six(text: &str) -> Option<Address> {
    let (address, mask) = match text.split_once('/') {
        Some((address, mask)) => {
            let has_zero = mask.len() > 1 && mask.starts_with('0');
            let (mask, rest) = number_below(mask, 128)?;
            (!has_zero && rest.is_empty()).then_some((address, mask as u8))?
        }
        None => (text, 128),
    };
    let bits = address.parse::<Ipv6Addr>().ok()?.to_bits();
    Some(Address { is_six: true, mask, bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inet(text: &str) -> Address {
        Address::parse(text, Network::Inet).unwrap()
    }

    fn shown(it: Address) -> String {
        let mut out = String::new();
        it.format(Network::Inet, &mut out);
        out
    }

    #[test]
    fn what_is_held_comes_back_in_order() {
        let in_order = [
            "0.0.0.0/0",
            "10.0.0.0/8",
            "10.0.0.1/8",
            "10.1.2.3/8",
            "10.0.0.0/9",
            "10.0.0.1/31",
            "10.0.0.0",
            "10.0.0.1",
            "10.1.0.0/16",
            "11.0.0.0/8",
            "255.255.255.255",
            "::/0",
            "::1/0",
            "::1",
            "fe80::1/64",
            "ffff::/16",
        ];
        let held: Vec<String> = in_order.iter().map(|it| inet(it).held()).collect();
        assert!(held.is_sorted(), "{held:?}");
        for (text, held) in in_order.iter().zip(&held) {
            assert_eq!(Address::of_held(held), inet(text));
            assert_eq!(shown(Address::of_held(held)), *text);
        }
        Address::of_held("");
        Address::of_held("6\u{e4}");
    }

    #[test]
    fn texts_are_read_as_they_are_said() {
        for (text, of_network) in [
            ("192.168", "192.168.0.0/24"),
            ("10", "10.0.0.0/8"),
            ("10.1.2", "10.1.2.0/24"),
            ("224", "224.0.0.0/4"),
            ("128.1", "128.1.0.0/16"),
            ("0x0a01", "10.1.0.0/16"),
            ("::ffff:1.2.3.0/120", "::ffff:1.2.3.0/120"),
        ] {
            let mut out = String::new();
            Address::parse(text, Network::Cidr).unwrap().format(Network::Cidr, &mut out);
            assert_eq!(out, of_network, "{text}");
        }
        assert_eq!(shown(inet("10/8")), "10.0.0.0/8");
        for wrong in [
            "",
            "10.1",
            "1.2.3.4.5",
            "1.2.3.256",
            "1.2.3.4/33",
            " 1.2.3.4",
            "1.2.3.4/",
            "10/24",
            "::/129",
            "::1/064",
            "g::",
        ] {
            assert!(Address::parse(wrong, Network::Inet).is_err(), "{wrong}");
        }
        assert!(Address::parse("192.168.1.5/24", Network::Cidr).is_err());
    }
}
