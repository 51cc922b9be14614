//! Values as DuckDB shows them, made of what PostgreSQL's texts say.

use types::DataType;

/// The text of a value of a type, as PostgreSQL writes it, in the manner of DuckDB.
pub fn shown(text: String, data_type: DataType) -> String {
    match data_type {
        DataType::Real | DataType::Double => float(text),
        DataType::Boolean => match text.as_str() {
            "t" => "true".to_owned(),
            "f" => "false".to_owned(),
            _ => text,
        },
        DataType::Interval => interval(&text),
        DataType::Bytea => bytes(&text),
        DataType::Date | DataType::Timestamp | DataType::TimestampTz => {
            text.strip_suffix(" BC").map_or(text.clone(), |it| match it.split_once(' ') {
                Some((day, time)) => format!("{day} (BC) {time}"),
                None => format!("{it} (BC)"),
            })
        }
        DataType::Array(element) => list(&text, element.data_type()).unwrap_or(text),
        _ => text,
    }
}

/// A whole number has a point, too.
fn float(text: String) -> String {
    let is_whole = text.bytes().all(|it| it.is_ascii_digit() || it == b'-');
    match text.as_str() {
        "NaN" => "nan".to_owned(),
        "Infinity" => "inf".to_owned(),
        "-Infinity" => "-inf".to_owned(),
        _ if is_whole => text + ".0",
        _ => text,
    }
}

/// Months in full, no sign of what is positive, and one of a unit also below zero.
fn interval(text: &str) -> String {
    let (mut out, mut before) = (Vec::new(), "");
    for word in text.split(' ') {
        let unit = match word {
            "mon" => "month",
            "mons" => "months",
            other => other.trim_start_matches('+'),
        };
        out.push(if before == "-1" { unit.trim_end_matches('s') } else { unit });
        before = word;
    }
    out.join(" ")
}

/// Printable letters as they are, other bytes in hexadecimal digits of their own.
fn bytes(text: &str) -> String {
    let Some(digits) = text.strip_prefix("\\x") else { return text.to_owned() };
    let mut out = String::new();
    for pair in digits.as_bytes().chunks(2) {
        let pair = String::from_utf8_lossy(pair);
        match u8::from_str_radix(&pair, 16) {
            Ok(it) if (b' '..=b'~').contains(&it) && !matches!(it, b'\\' | b'\'' | b'"') => {
                out.push(char::from(it));
            }
            _ => out.push_str(&format!("\\x{}", pair.to_uppercase())),
        }
    }
    out
}

/// `{1,NULL,"a b"}` as `[1, NULL, a b]`; `None` for what has bounds of its own.
fn list(text: &str, element: DataType) -> Option<String> {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    if letters.peek() != Some(&'{') {
        return None;
    }
    while let Some(letter) = letters.next() {
        match letter {
            '{' => out.push('['),
            '}' => out.push(']'),
            ',' => out.push_str(", "),
            '"' => {
                let mut item = String::new();
                while let Some(letter) = letters.next().filter(|it| *it != '"') {
                    item.extend(if letter == '\\' { letters.next() } else { Some(letter) });
                }
                out.push_str(&as_item(item, element));
            }
            first => {
                let mut item = first.to_string();
                while let Some(letter) = letters.next_if(|it| !matches!(it, ',' | '}')) {
                    item.push(letter);
                }
                out.push_str(&if item == "NULL" { item } else { as_item(item, element) });
            }
        }
    }
    Some(out)
}

/// A value as an item of a list; JSON stands there as it is.
fn as_item(text: String, element: DataType) -> String {
    match element {
        DataType::Json | DataType::Jsonb => text,
        _ => quoted(shown(text, element)),
    }
}

/// An item with quotes where a list would be read otherwise without.
fn quoted(item: String) -> String {
    let special = |it: char| "\"'\\(){}[],:=".contains(it);
    let edges = item.starts_with(' ') || item.ends_with(' ') || item.is_empty();
    if !edges && !item.contains(special) && !item.eq_ignore_ascii_case("null") {
        return item;
    }
    let escaped = item.replace('\\', "\\\\").replace('\'', "\\'");
    format!("'{escaped}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_look_like_those_of_duckdb() {
        let list = |of: DataType| of.array().unwrap();
        for (ours, data_type, theirs) in [
            ("1", DataType::Double, "1.0"),
            ("1e+20", DataType::Double, "1e+20"),
            ("NaN", DataType::Real, "nan"),
            ("1 year -2 mons +3 days", DataType::Interval, "1 year -2 months 3 days"),
            ("-1 years -1 mons +1 day", DataType::Interval, "-1 year -1 month 1 day"),
            ("{\"[1, 2]\",NULL}", list(DataType::Json), "[[1, 2], NULL]"),
            ("\\x6100ff", DataType::Bytea, "a\\x00\\xFF"),
            ("0044-03-15 BC", DataType::Date, "0044-03-15 (BC)"),
            ("{1,NULL,3}", list(DataType::Integer), "[1, NULL, 3]"),
            ("{{1,2},{3,4}}", list(DataType::Integer), "[[1, 2], [3, 4]]"),
            ("{1,2.5}", list(DataType::Double), "[1.0, 2.5]"),
            ("{t,NULL,f}", list(DataType::Boolean), "[true, NULL, false]"),
            ("{\"a b\",\"\",\"x,y\",NULL}", list(DataType::Text), "[a b, '', 'x,y', NULL]"),
            ("{\"2020-01-01 00:00:00\"}", list(DataType::Timestamp), "['2020-01-01 00:00:00']"),
            ("{}", list(DataType::Integer), "[]"),
            ("{a=b}", list(DataType::Text), "['a=b']"),
            ("0044-03-15 10:00:00 BC", DataType::Timestamp, "0044-03-15 (BC) 10:00:00"),
            ("[0:1]={1,2}", list(DataType::Integer), "[0:1]={1,2}"),
        ] {
            assert_eq!(shown(ours.to_owned(), data_type), theirs, "{ours}");
        }
    }
}
