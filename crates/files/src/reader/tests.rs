//! Bytes of any kind, read in blocks of any size: the rows and errors are those of the whole.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use memory::Allocator;
use stdx::Prng;
use storage::Parallel;
use types::DataType;

use super::*;

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

fn texts(array: &ArrayRef) -> Vec<String> {
    let value = |row: usize| match array.data_type() {
        _ if array.is_null(row) => "NULL".to_owned(),
        arrow_schema::DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        _ => format!("{:?}", array.as_string::<i32>().value(row)),
    };
    (0..array.len()).map(value).collect()
}

/// Rows as text, rows left out, or the error.
type Read = Result<(Vec<String>, u64), SqlError>;

fn read(path: &Path, format: &TextFormat, width: usize, block: usize) -> Read {
    let machine = simulator::SimulatedMachine::new(hardware::samples::laptop(), 1);
    let allocator = Allocator::new(machine);
    let context = BuildContext { parallel: &Wide(width), ..BuildContext::serial(&allocator) };
    let columns = [
        TextColumn::new("a", DataType::BigInt),
        TextColumn { force_null: true, ..TextColumn::new("b", DataType::Text) },
    ];
    let paths = [path.to_path_buf(), path.to_path_buf()];
    let rows = read_blocks(&paths, &columns, format, &context, Some(block))?;
    let mut lines = Vec::new();
    for batch in &rows.batches {
        let (a, b) = (texts(batch.column(0)), texts(batch.column(1)));
        lines.extend(a.into_iter().zip(b).map(|(a, b)| format!("{a} {b}")));
    }
    Ok((lines, rows.skipped))
}

fn formats() -> Vec<TextFormat> {
    let quotes = |quote, escape| Quoting::Quotes { quote, escape };
    let format = |quoting, strict, on_error| TextFormat {
        dialect: Dialect { delimiter: b',', quoting },
        nulls: vec![String::new()],
        default: None,
        header: Header::Absent,
        skip: 0,
        compression: Some(Compression::None),
        encoding: Encoding::Utf8,
        on_error,
        strict,
        trailing: false,
        padded: false,
        zone: types::Zone::utc(),
    };
    let skip = |malformed| OnError::Skip { limit: None, malformed };
    vec![
        format(quotes(b'"', b'"'), true, OnError::Stop),
        format(quotes(b'"', b'\\'), true, skip(false)),
        format(quotes(b'"', b'"'), false, skip(true)),
        format(Quoting::Backslash, true, OnError::Stop),
        format(Quoting::None, false, skip(true)),
        TextFormat {
            header: Header::Skipped,
            skip: 1,
            ..format(quotes(b'"', b'"'), false, skip(true))
        },
        TextFormat {
            encoding: Encoding::Latin1,
            ..format(quotes(b'"', b'"'), false, OnError::Stop)
        },
    ]
}

#[test]
fn bytes_of_any_kind_are_read_alike_in_blocks_of_any_size() {
    let path = std::env::temp_dir().join(format!("files-mutations-{}", std::process::id()));
    let mut prng = Prng::new(21);
    let formats = formats();
    let line_ends = ["\n", "\r\n", "\r"];
    let pieces = [
        "\"", "\\", "\n", "\r\n", "\r", ",", "\"\"", "\\.", "\u{e4}", "\u{feff}", "x", "12", "\0",
        "",
    ];
    let (mut rows, mut errors) = (0, 0);
    for round in 0..1500 {
        let line_end = line_ends[prng.below(3) as usize];
        let mut text = Vec::new();
        for _ in 0..prng.below(9) {
            let quoted = prng.below(3) == 0;
            let b = pieces[prng.below(pieces.len() as u64) as usize];
            let b = if quoted {
                format!("\"{}\"", b.replace('"', "\"\""))
            } else {
                "t".repeat(prng.below(4) as usize)
            };
            text.extend_from_slice(format!("{},{b}{line_end}", prng.below(2000)).as_bytes());
            if prng.below(16) == 0 {
                // The end of a file in PostgreSQL's text format, whatever comes behind it.
                text.extend_from_slice(format!("\\.{line_end}").as_bytes());
            }
        }
        for _ in 0..prng.below(3) {
            let at = prng.below(text.len() as u64 + 1) as usize;
            match prng.below(4) {
                0 if at < text.len() => _ = text.remove(at),
                1 if at < text.len() => text[at] = prng.next_u64() as u8,
                2 => text.truncate(at),
                _ => {
                    let piece = pieces[prng.below(pieces.len() as u64) as usize].bytes();
                    text.splice(at..at, piece);
                }
            }
        }
        std::fs::write(&path, &text).unwrap();
        for format in &formats {
            let whole = read(&path, format, 1, 1 << 20);
            for _ in 0..2 {
                let (width, block) = (1 + prng.below(3) as usize, 1 + prng.below(24) as usize);
                let parts = read(&path, format, width, block);
                assert_eq!(
                    parts,
                    whole,
                    "{round} {format:?} {width} {block} {:?}",
                    String::from_utf8_lossy(&text)
                );
            }
            match whole {
                Ok(it) => rows += it.0.len(),
                Err(_) => errors += 1,
            }
        }
    }
    let _ = std::fs::remove_file(&path);
    assert!(rows > 10_000 && errors > 1000, "{rows} rows, {errors} errors");
}

#[test]
fn what_is_behind_the_mark_of_an_end_is_not_read() {
    let path = std::env::temp_dir().join(format!("files-ended-{}", std::process::id()));
    std::fs::write(&path, "1,a\n\\.\nwrong,\n2,b,3\n").unwrap();
    let format = formats().into_iter().find(|it| it.dialect.quoting == Quoting::Backslash).unwrap();
    for (width, block) in (1..4).flat_map(|width| (1..30).map(move |block| (width, block))) {
        let (rows, _) = read(&path, &format, width, block).unwrap();
        assert_eq!(rows, ["1 \"a\"", "1 \"a\""], "both files have one row: {width} {block}");
    }
    std::fs::remove_file(&path).unwrap();
}
