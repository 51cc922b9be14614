//! The span of a client in which a statement is: `traceparent` of W3C's Trace Context, in a remark of the statement as sqlcommenter
//! writes it, or as a field of a call.

use hyper::header::HeaderMap;
use stdx::sync::{Arc, Mutex};

/// The name of the field.
const FIELD: &str = "traceparent";
/// Letters of its value in version 00.
const LETTERS: usize = 55;

/// The span of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    pub trace: [u8; 16],
    pub span: [u8; 8],
    /// Whether the client traces it.
    pub is_sampled: bool,
}

/// What the call said whose statements come now; nothing where there are no calls.
pub type SharedParent = Arc<Mutex<Option<Parent>>>;

impl Parent {
    /// Reads the value of the field. What is not as it should be says nothing.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        // Later versions may add something behind.
        let is_00 = value.starts_with("00-");
        let behind = value.as_bytes().get(LETTERS);
        if value.starts_with("ff") || behind.is_some_and(|it| is_00 || *it != b'-') {
            return None;
        }
        let mut parts = value.get(..LETTERS)?.split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let _: [u8; 1] = bytes(version)?;
        let [flags] = bytes(flags)?;
        let parent = Self { trace: bytes(trace)?, span: bytes(span)?, is_sampled: flags & 1 == 1 };
        (parent.trace != [0; 16] && parent.span != [0; 8]).then_some(parent)
    }

    /// What the head of a call says of it.
    pub fn of_fields(fields: &HeaderMap) -> Option<Self> {
        fields.get(FIELD).and_then(|it| Self::parse(it.to_str().ok()?))
    }

    /// What a statement says of it in a remark at its end, or its beginning.
    pub fn of_statement(text: &str) -> Option<Self> {
        let text = text.trim_matches(|it: char| it.is_whitespace() || it == ';');
        let last = text.strip_suffix("*/").and_then(|it| Some(it.rsplit_once("/*")?.1));
        let first = || text.strip_prefix("/*").and_then(|it| Some(it.split_once("*/")?.0));
        last.and_then(Self::of_remark).or_else(|| first().and_then(Self::of_remark))
    }

    /// Remarks are pairs `name='value'` between commas.
    fn of_remark(remark: &str) -> Option<Self> {
        remark.split(',').find_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            let value = value.trim().strip_prefix('\'')?.strip_suffix('\'')?;
            (name.trim() == FIELD).then(|| Self::parse(value))?
        })
    }
}

/// Bytes of digits, small ones only.
fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let digit = |it: u8| match it {
        b'0'..=b'9' => Some(it - b'0'),
        b'a'..=b'f' => Some(it - b'a' + 10),
        _ => None,
    };
    let digits = digits.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use stdx::prng::Prng;

    use super::*;

    const RIGHT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn values_are_read_as_the_standard_has_them() {
        let parent = Parent::parse(RIGHT).unwrap();
        assert_eq!(parent.span, [0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        assert!(parent.is_sampled && parent.trace[0] == 0x4b);
        assert!(!Parent::parse(&RIGHT.replace("-01", "-00")).unwrap().is_sampled);
        let later = format!("{}-more", RIGHT.replacen("00", "01", 1));
        assert!(Parent::parse(&later).is_some());
        for wrong in [
            "",
            "00",
            &RIGHT[..54],
            &format!("{RIGHT}-more"),
            &RIGHT.replacen("00", "ff", 1),
            &RIGHT.to_uppercase(),
            &RIGHT.replace("00f067aa0ba902b7", "0000000000000000"),
            &RIGHT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &RIGHT.replace("-01", "\u{e4}1"),
        ] {
            assert_eq!(Parent::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn remarks_are_found_at_both_ends_and_in_no_constant() {
        let remark = format!("/*application='x',traceparent='{RIGHT}'*/");
        for text in [
            format!("SELECT 1 {remark}"),
            format!("SELECT 1 {remark} ;\n"),
            format!("{remark} SELECT 1"),
            format!("/* a */ SELECT 1 {remark}"),
        ] {
            assert_eq!(Parent::of_statement(&text), Parent::parse(RIGHT), "{text}");
        }
        for text in [
            format!("SELECT 'traceparent=''{RIGHT}'''"),
            format!("SELECT 1 -- traceparent='{RIGHT}'"),
            format!("SELECT 1 /*traceparent={RIGHT}*/"),
            format!("SELECT 1 /*parent='{RIGHT}'*/"),
            "*/".to_owned(),
            "/*".to_owned(),
        ] {
            assert_eq!(Parent::of_statement(&text), None, "{text}");
        }
    }

    /// Whatever a client sends is a parent or none.
    #[test]
    fn any_text_is_read() {
        let letters: Vec<char> = "/*'=,;- 0f\u{e4}".chars().chain("traceparent=".chars()).collect();
        let mut prng = Prng::new(3);
        for _ in 0..50_000 {
            let length = prng.below(70);
            let letter = |_| letters[prng.below(letters.len() as u64) as usize];
            let text: String = (0..length).map(letter).collect();
            let _ = (Parent::parse(&text), Parent::of_statement(&text));
        }
    }
}
