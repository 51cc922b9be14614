//! The parts of a text that is known to be JSON, each as a part of that text.

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// `[..]`
    Array,
    /// `{..}`
    Object,
}

impl Kind {
    /// The word that `json_typeof` has for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Whether it is neither an array nor an object.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Self::Array | Self::Object)
    }
}

fn is_space(it: char) -> bool {
    matches!(it, ' ' | '\t' | '\n' | '\r')
}

/// What a JSON is.
pub fn kind(json: &str) -> Kind {
    match json.trim_start_matches(is_space).as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'-' | b'0'..=b'9') => Kind::Number,
        _ => Kind::Null,
    }
}

/// Where the value at the beginning of a text ends.
fn value_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut place = 0;
    while let Some(&it) = bytes.get(place) {
        match it {
            b'"' => {
                place = string_end(bytes, place);
                if depth == 0 {
                    return place;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return if depth == 1 { place + 1 } else { place },
            b'}' | b']' => depth -= 1,
            b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => return place,
            _ => {}
        }
        place += 1;
    }
    place
}

/// Where a string that begins at a place ends.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut place = start + 1;
    while let Some(&it) = bytes.get(place) {
        match it {
            b'"' => return place + 1,
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
    bytes.len()
}

/// The values of an array or an object, with the keys of an object as they are written, in quotes.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: &'a str,
    is_object: bool,
}

impl<'a> Members<'a> {
    fn value(&mut self) -> Option<&'a str> {
        let begin = self.rest.trim_start_matches(is_space);
        let end = value_end(begin);
        let value = begin.get(..end).filter(|it| !it.is_empty())?;
        self.rest = begin.get(end..)?.trim_start_matches(is_space);
        Some(value)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let key = match self.is_object {
            true => {
                let key = self.value()?;
                self.rest = self.rest.strip_prefix(':')?;
                key
            }
            false => "",
        };
        let value = self.value()?;
        self.rest = self.rest.strip_prefix(',').unwrap_or("");
        Some((key, value))
    }
}

fn inside(json: &str, is_object: bool) -> Members<'_> {
    let opens = if is_object { '{' } else { '[' };
    let rest = json.trim_start_matches(is_space).strip_prefix(opens).unwrap_or("");
    Members { rest, is_object }
}

/// The members of an object: keys in quotes, and values. Nothing of what is none.
pub fn members(json: &str) -> Members<'_> {
    inside(json, true)
}

/// The elements of an array. Nothing of what is none.
pub fn elements(json: &str) -> impl Iterator<Item = &str> + Clone {
    inside(json, false).map(|it| it.1)
}

/// The value of a key; where it stands several times, the last one.
pub fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let is_it = |quoted: &str| match quoted.contains('\\') {
        false => quoted.get(1..quoted.len().saturating_sub(1)) == Some(key),
        // A key that no text holds is none that is asked for.
        true => super::string_of(quoted).is_ok_and(|it| it == key),
    };
    members(json).filter(|it| is_it(it.0)).last().map(|it| it.1)
}
