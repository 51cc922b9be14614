//! The kernel's two spellings of a set of small numbers: lists (`0-3,8`) and masks (`1,0000000f`).

/// Past any kernel's number of CPUs; a longer range is damage, not a machine, and must not fill our memory.
const NUMBERS_MAX: u32 = 1 << 16;

/// A list, sorted, without doubles. The empty text is the empty list. `0-7:2/4` (a stride: the first 2 of each 4) is
/// understood too.
pub fn parse_list(text: &str) -> Result<Vec<u32>, String> {
    let mut numbers = Vec::new();
    let text = text.trim();
    for item in text.split(',').filter(|_| !text.is_empty()) {
        let wrong = || format!("\"{}\" is no list of numbers", shortened(text));
        let number = |it: &str| it.trim().parse::<u32>().map_err(|_| wrong());
        let (range, stride) = match item.split_once(':') {
            Some((range, stride)) => (range, Some(stride)),
            None => (item, None),
        };
        let (start, end) = match range.split_once('-') {
            Some((start, end)) => (number(start)?, number(end)?),
            None => (number(range)?, number(range)?),
        };
        if start > end || end >= NUMBERS_MAX {
            return Err(wrong());
        }
        let (used, group) = match stride {
            Some(stride) => {
                let (used, group) = stride.split_once('/').ok_or_else(wrong)?;
                (number(used)?, number(group)?)
            }
            None => (1, 1),
        };
        if group == 0 || used > group {
            return Err(wrong());
        }
        numbers.extend((start..=end).filter(|it| (it - start) % group < used));
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// A mask: groups of 32 bits in hexadecimal, the highest first.
pub fn parse_mask(text: &str) -> Result<Vec<u32>, String> {
    let wrong = || format!("\"{}\" is no mask", shortened(text));
    let mut numbers = Vec::new();
    for (at, group) in text.trim().split(',').rev().enumerate() {
        let base = u32::try_from(at * 32).ok().filter(|it| *it < NUMBERS_MAX).ok_or_else(wrong)?;
        let bits = u32::from_str_radix(group.trim(), 16).map_err(|_| wrong())?;
        numbers.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| base + bit));
    }
    Ok(numbers)
}

/// The beginning of a text, for a message.
pub fn shortened(text: &str) -> String {
    let line: String =
        text.chars().take(40).map(|it| if it.is_control() { ' ' } else { it }).collect();
    if line.len() < text.len() { format!("{line}...") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        assert_eq!(parse_list("").unwrap(), [0_u32; 0]);
        assert_eq!(parse_list("0-2,8,4-4\n").unwrap(), [0, 1, 2, 4, 8]);
        assert_eq!(parse_list("0-7:2/4").unwrap(), [0, 1, 4, 5]);
        for bad in
            ["a", "3-1", "1-", "-1", ",", "0-4294967295", "1,,2", "0-7:2", "0-7:5/4", "0-7:1/0"]
        {
            assert!(parse_list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn masks_are_read() {
        assert_eq!(parse_mask("3").unwrap(), [0, 1]);
        assert_eq!(parse_mask("1,80000001").unwrap(), [0, 31, 32]);
        assert_eq!(parse_mask("00000000,00000000").unwrap(), [0_u32; 0]);
        for bad in ["", "g", "1,,2", "123456789"] {
            assert!(parse_mask(bad).is_err(), "{bad}");
        }
    }
}
