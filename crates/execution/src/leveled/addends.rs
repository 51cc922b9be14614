//! What is added up of packed rows, some of them at a time.

/// Values per call of the sums at most: so many 26-bit values in lanes of 32 bits, sixteen to a register.
pub(crate) const PACKED_ROWS: usize = 1024;

/// Values of a row that are added up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Addends<'a> {
    /// Codes of a byte.
    Bytes(&'a [u8]),
    /// Numbers, none above `high`.
    Words { values: &'a [u32], high: u32 },
}
