//! Bytes of any kind, read in blocks of any size: the rows and errors are those of the whole.

use std::path::{Path, PathBuf};

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use memory::Allocator;
use stdx::Prng;
use storage::{BuildContext, Parallel};
use types::{DataType, SqlError, SqlResult, Zone};

use super::parts::read_in;
use super::*;
use crate::rows::OnError;
use crate::text_column::TextColumn;

/// As many workers as there are to be, all of them the calling thread.
struct Wide(usize);

impl Parallel for Wide {
    fn run(&self, tasks: usize, body: &(dyn Fn(usize) -> SqlResult<()> + Sync)) -> SqlResult<()> {
        (0..tasks).rev().try_for_each(body)
    }

    fn width(&self) -> usize {
        self.0
    }
}

fn read(path: &Path, format: &JsonFormat, width: usize, block: usize) -> Result<String, SqlError> {
    let machine = simulator::SimulatedMachine::new(hardware::samples::laptop(), 1);
    let allocator = Allocator::new(machine);
    let context = BuildContext { parallel: &Wide(width), ..BuildContext::serial(&allocator) };
    let columns = [TextColumn::new("a", DataType::BigInt), TextColumn::new("b", DataType::Json)];
    let paths: Vec<PathBuf> = vec![path.to_path_buf(); format.layouts.len()];
    let rows = read_in(&paths, &columns, format, &context, Some(block))?;
    let mut shown = format!("{} left out;", rows.skipped);
    for (batch, file) in rows.batches.iter().zip(&rows.files) {
        let (a, b) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(1));
        let b = arrow_array::cast::as_string_array(b);
        for row in 0..batch.num_rows() {
            let a = a.is_valid(row).then(|| a.value(row));
            let b = b.is_valid(row).then(|| b.value(row));
            shown.push_str(&format!(" {file} {a:?} {b:?},"));
        }
    }
    Ok(shown)
}

fn format(layout: Layout, files: usize, number: usize) -> JsonFormat {
    JsonFormat {
        layouts: vec![layout; files],
        is_records: true,
        is_closed: number.is_multiple_of(2),
        compression: None,
        on_error: match number % 3 {
            0 => OnError::Skip { limit: None, malformed: false },
            _ => OnError::Stop,
        },
        is_lenient: number % 5 == 1,
        zone: Zone::utc(),
    }
}

/// A text that is nearly a file of JSON.
fn text(prng: &mut Prng, layout: Layout) -> Vec<u8> {
    const PARTS: [&str; 12] = [
        "{\"a\":1,\"b\":\"x\\\"]\"}",
        "{\"b\":[{\"c\":[]}],\"a\":null}",
        "{}",
        "{\"a\":12}",
        "null",
        "{\"a\":\"\u{e9}\"}",
        "{\"a\":2,\"a\":3}",
        "{\"z\":{}}",
        "[1]",
        "7",
        "{\"a\"",
        "\\\"",
    ];
    let mut out = String::from(if layout == Layout::Array { "[" } else { "" });
    let count = prng.below(12);
    for place in 0..count {
        let rare = prng.below(8) == 0;
        out.push_str(PARTS[prng.below(if rare { 12 } else { 6 }) as usize]);
        out.push_str(match layout {
            Layout::Lines => "\n",
            Layout::Sequence => ["", " ", "\n\n"][prng.below(3) as usize],
            Layout::Array if place + 1 == count => "\n",
            Layout::Array => [",", " ,\n"][prng.below(2) as usize],
        });
    }
    if layout == Layout::Array && prng.below(9) > 0 {
        out.push(']');
    }
    let mut bytes = out.into_bytes();
    if prng.below(9) == 0 && !bytes.is_empty() {
        let at = prng.below(bytes.len() as u64) as usize;
        bytes[at] = [b'\n', b'"', 0xff, b']', b','][prng.below(5) as usize];
    }
    bytes
}

#[test]
fn blocks_of_any_size_give_the_same_rows_and_errors() {
    let name = format!("nodewise-json-blocks-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let mut prng = Prng::new(11);
    let layouts = [Layout::Lines, Layout::Array, Layout::Sequence];
    let (mut fine, mut wrong) = (0, 0);
    for round in 0..3000 {
        let layout = layouts[round % 3];
        let bytes = text(&mut prng, layout);
        std::fs::write(&path, &bytes).unwrap();
        let format = format(layout, 1 + round % 2, prng.below(30) as usize);
        let whole = read(&path, &format, 1, 1 << 20);
        *(if whole.is_ok() { &mut fine } else { &mut wrong }) += 1;
        for _ in 0..3 {
            let (width, block) = (1 + prng.below(4) as usize, 1 + prng.below(30) as usize);
            let cut = read(&path, &format, width, block);
            let shown = String::from_utf8_lossy(&bytes);
            assert_eq!(cut, whole, "{shown} {format:?} width {width} block {block}");
        }
    }
    let _ = std::fs::remove_file(&path);
    assert!(fine > 500 && wrong > 300, "{fine} {wrong}");
}

#[test]
fn how_values_stand_is_seen() {
    for (text, is_whole, expected) in [
        ("", true, Layout::Sequence),
        ("{\"a\":1}", true, Layout::Sequence),
        ("\n{\"a\":1}\n{\"a\":2}\n", true, Layout::Lines),
        ("{\"a\":1} {\"a\":2}\n", true, Layout::Sequence),
        ("{\n\"a\":1}\n", true, Layout::Sequence),
        ("[{\"a\":1}]", true, Layout::Array),
        ("[{\"a\":1}]\n", true, Layout::Array),
        ("[\n{\"a\":1}]\n", true, Layout::Array),
        ("[1]\n[2]\n", true, Layout::Lines),
        ("[1] [2]\n", true, Layout::Sequence),
        ("[{\"a\":", false, Layout::Array),
    ] {
        assert_eq!(Layout::of(text, is_whole), expected, "{text:?}");
    }
}
