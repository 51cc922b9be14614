//! CRC-32C (Castagnoli), the checksum of all that is kept in files: it finds every error of up to three bits in a piece
//! of 128 MiB, and every burst of up to 32.

/// The polynomial, its bits turned round.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// What each value of each of eight bytes adds to the checksum.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum of some bytes.
pub fn crc32c(bytes: &[u8]) -> u32 {
    append(0, bytes)
}

/// The checksum of the bytes that gave `crc` and of more behind them.
pub fn append(crc: u32, bytes: &[u8]) -> u32 {
    let mut crc = !crc;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        // Eight bytes at once: the first four meet the checksum so far.
        let word = u64::from_le_bytes(*word) ^ u64::from(crc);
        crc = 0;
        for (at, byte) in word.to_le_bytes().into_iter().enumerate() {
            crc ^= TABLES[7 - at][byte as usize];
        }
    }
    for byte in rest {
        crc = crc >> 8 ^ TABLES[0][((crc ^ u32::from(*byte)) & 0xff) as usize];
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_rfc_3720() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let ascending: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&ascending), 0x46dd_794e);
    }

    #[test]
    fn a_checksum_of_pieces_is_that_of_the_whole() {
        let bytes: Vec<u8> = (0..1000).map(|it| (it * 7 % 251) as u8).collect();
        for cut in [0, 1, 7, 8, 500, 999, 1000] {
            assert_eq!(append(crc32c(&bytes[..cut]), &bytes[cut..]), crc32c(&bytes));
        }
    }
}
