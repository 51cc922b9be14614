//! Statements with parameters and results in binary, and values as they are sent.

use crate::common::{Message, Raw, execute, frame, sync};

/// A value behind its length.
pub fn sized(value: &[u8]) -> Vec<u8> {
    [&(value.len() as i32).to_be_bytes(), value].concat()
}

/// An array of one dimension as `array_send` writes it.
pub fn list(element: u32, items: &[Option<&[u8]>]) -> Vec<u8> {
    let has_null = items.iter().any(Option::is_none);
    let head = [1, i32::from(has_null), element.cast_signed(), items.len() as i32, 1];
    let mut all: Vec<u8> = head.iter().flat_map(|it| it.to_be_bytes()).collect();
    items.iter().for_each(|it| all.extend(it.map_or((-1_i32).to_be_bytes().to_vec(), sized)));
    all
}

/// The number of a type.
pub fn number_of(raw: &mut Raw, name: &str) -> u32 {
    raw.value(&format!("SELECT '{name}'::regtype::oid")).parse().unwrap()
}

/// The answers to a statement with parameters and results in binary, the parameters of types of these numbers, 0 for those that it
/// tells itself.
pub fn ask(raw: &mut Raw, sql: &str, oids: &[u32], values: &[Option<&[u8]>]) -> Vec<Message> {
    let mut parsed = format!("\0{sql}\0").into_bytes();
    parsed.extend((oids.len() as i16).to_be_bytes());
    oids.iter().for_each(|it| parsed.extend(it.to_be_bytes()));
    let mut bound = b"\0\0\0\x01\0\x01".to_vec();
    bound.extend((values.len() as i16).to_be_bytes());
    values.iter().for_each(|it| bound.extend(it.map_or((-1_i32).to_be_bytes().to_vec(), sized)));
    bound.extend(b"\0\x01\0\x01");
    let described = frame(b'D', b"P\0");
    let all = [frame(b'P', &parsed), frame(b'B', &bound), described, execute("", 0), sync()];
    raw.send(&all.concat());
    raw.until_ready()
}

/// The first value of the only row, and the number of its type.
pub fn first(messages: &[Message]) -> (u32, Vec<u8>) {
    let body = |kind: u8| {
        let found = messages.iter().find(|it| it.0 == kind);
        &found.unwrap_or_else(|| panic!("{messages:?}")).1
    };
    let (described, row) = (body(b'T'), body(b'D'));
    let end = described.iter().skip(2).position(|it| *it == 0).unwrap() + 3 + 6;
    let length = u32::from_be_bytes(row[2..6].try_into().unwrap()) as usize;
    (u32::from_be_bytes(described[end..end + 4].try_into().unwrap()), row[6..6 + length].to_vec())
}

/// The state of the error among messages, if there is one.
pub fn state(messages: &[Message]) -> String {
    messages.iter().find(|it| it.0 == b'E').map_or(String::new(), |it| it.field(b'C'))
}
