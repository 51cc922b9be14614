//! Files that Nodewise wrote, and what becomes of their bytes.

use std::path::{Path, PathBuf};

use crate::draw::Draw;
use crate::peers::reply::{Peer, Reply};

/// A file of each kind: its ending, and the options it is written with.
const KINDS: [(&str, &str); 8] = [
    ("csv", "FORMAT csv, HEADER true"),
    ("tsv", "FORMAT csv, HEADER false, DELIMITER E'\\t'"),
    ("csv.gz", "FORMAT csv, COMPRESSION gzip"),
    ("csv.zst", "FORMAT csv, COMPRESSION zstd"),
    ("parquet", "FORMAT parquet"),
    ("json", "FORMAT json, ARRAY true"),
    ("jsonl", "FORMAT json"),
    ("arrow", "FORMAT arrow"),
];

/// How many rows the files have.
const ROWS: [usize; 3] = [0, 7, 3000];

/// Columns of many types, with NULL here and there.
const COLUMNS: &str = "i::int AS a, (i * 103 % 77)::bigint AS b, (i / 7.0)::decimal(12, 3) AS c, sqrt(i)::double AS d, \
    CASE WHEN i % 5 <> 0 THEN 'text, \"' || i || '\"' END AS e, DATE '2020-01-01' + i::int AS f, \
    TIMESTAMP '2020-01-01' + i * INTERVAL '61 seconds' AS g, i % 3 = 0 AS h, repeat('z', (i % 40)::int) AS k";

/// Files with their ending and bytes, and the folder in which they are mutated.
pub struct Samples {
    folder: PathBuf,
    files: Vec<(&'static str, Vec<u8>)>,
    /// Kinds that were refused, each with the error.
    pub left_out: Vec<String>,
}

impl Samples {
    /// Has a session write them.
    pub fn write(peer: &mut impl Peer) -> Result<Self, String> {
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let name = format!("nodewise-bytes-{process}-{thread:?}");
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut samples = Self { folder, files: Vec::new(), left_out: Vec::new() };
        for (ending, options) in KINDS {
            for rows in ROWS {
                let path = samples.folder.join(format!("sample.{ending}"));
                let query = format!("SELECT {COLUMNS} FROM generate_series(1, {rows}) AS s(i)");
                let reply =
                    peer.run(&format!("COPY ({query}) TO '{}' ({options})", path.display()));
                if let Reply::Error { .. } = reply {
                    samples.left_out.push(format!("files of {ending}: {}", reply.describe()));
                    break;
                }
                samples.files.push((ending, std::fs::read(&path).map_err(|it| it.to_string())?));
            }
        }
        Ok(samples)
    }

    /// Whether no file could be written.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Writes one of them with other bytes, and gives statements that read it.
    pub fn mutated(&self, draw: &mut Draw) -> Result<Vec<String>, String> {
        let (ending, bytes) = draw.pick(&self.files);
        let (_, other) = draw.pick(&self.files);
        let mut bytes = bytes.clone();
        for _ in 0..draw.between(1, 5) {
            change(&mut bytes, other, draw);
        }
        let path = self.folder.join(format!("mutated.{ending}"));
        std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
        Ok(readings(&path, ending))
    }
}

impl Drop for Samples {
    fn drop(&mut self) {
        // It lies among temporary files, and what is left there has no meaning.
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

fn readings(path: &Path, ending: &str) -> Vec<String> {
    let path = path.display();
    let format = match ending {
        "parquet" | "arrow" => ending,
        "json" | "jsonl" => "json",
        _ => "csv",
    };
    let mut statements = vec![
        format!("SELECT * FROM '{path}'"),
        format!("SELECT count(*), min(a), max(e) FROM '{path}' WHERE b > 5"),
        "CREATE TABLE t (a int, b bigint, c decimal(12, 3), d double precision, e text, f date, g timestamp, h boolean, k text)"
            .to_owned(),
        format!("COPY t FROM '{path}' (FORMAT {format})"),
        "SELECT count(*), sum(a) FROM t".to_owned(),
    ];
    if format == "csv" {
        statements.push(format!("SELECT * FROM sniff_csv('{path}')"));
        statements.push(format!("SELECT count(*) FROM read_csv('{path}', ignore_errors = true)"));
    }
    if format == "json" {
        for options in [
            "ignore_errors = true",
            "sample_size = 1",
            "format = 'unstructured'",
            "maximum_depth = 1",
        ] {
            statements.push(format!("SELECT * FROM read_json('{path}', {options})"));
        }
    }
    statements
}

/// Bytes that end or begin something in one format or another, and numbers at the edges of their widths.
const PIECES: [&[u8]; 16] = [
    b"\"",
    b"\"\"",
    b",",
    b"\n",
    b"\r\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff",
    b"\x80\x80\x80\x80\x10",
    b"\x00\x00\x00\x80\x00\x00\x00\x00",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"[{",
    b"}]",
];

fn change(bytes: &mut Vec<u8>, other: &[u8], draw: &mut Draw) {
    if bytes.is_empty() {
        bytes.extend_from_slice(draw.pick::<&[u8]>(&PIECES));
        return;
    }
    // What says how the rest is to be read stands at the ends of files.
    let at = match draw.below(4) {
        0 => draw.below(bytes.len().min(64)),
        1 => bytes.len() - 1 - draw.below(bytes.len().min(600)),
        _ => draw.below(bytes.len()),
    };
    let until = (at + draw.between(1, 40)).min(bytes.len());
    match draw.below(9) {
        0 | 1 => bytes[at] ^= 1 << draw.below(8),
        2 => bytes[at] = draw.below(256) as u8,
        3 => drop(bytes.drain(at..until)),
        4 => {
            let again = bytes[at..until].to_vec();
            bytes.splice(at..at, again);
        }
        5 => {
            let piece = *draw.pick(&PIECES);
            bytes.splice(at..at, piece.iter().copied());
        }
        6 => {
            let piece = *draw.pick(&PIECES);
            let end = (at + piece.len()).min(bytes.len());
            bytes.splice(at..end, piece.iter().copied());
        }
        7 => bytes.truncate(at),
        _ => {
            let from = draw.below(other.len().max(1)).min(other.len());
            let to = (from + draw.between(1, 200)).min(other.len());
            bytes.splice(at..until, other[from..to].iter().copied());
        }
    }
}
