//! Compressed texts: a symbol table from a sample, then all pieces by it (FSST).

use fsst::Compressor;
use types::SqlResult;

use super::column::ColumnBuild;
use super::text_heap::{End, EndsMut, heap_of_pieces};
use crate::parallel::map;
use crate::{PlainTexts, SymbolTable};

/// Texts that the symbols are learnt from.
const SAMPLE_TEXTS: usize = 4096;
/// Percent of the texts' bytes that compressed ones may have: what saves less is not worth its reading.
const WORTH_PERCENT: usize = 60;

/// The texts of a column, compressed; `None` when they have too few bytes, or would not become much fewer.
pub(super) fn compress(build: &ColumnBuild<'_>, bytes: usize) -> SqlResult<Option<PlainTexts>> {
    if bytes < build.context.compress_from {
        return Ok(None);
    }
    let sample = sample(build);
    let compressor = Compressor::train(&sample);
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    compress_all(&compressor, &sample, &mut bytes, &mut ends);
    let before: usize = sample.iter().map(|it| it.len()).sum();
    if bytes.len() * 100 > before * WORTH_PERCENT {
        return Ok(None);
    }
    let symbols = SymbolTable::new(&compressor, &bytes);
    let list = &build.pieces.list;
    let pieces = map(build.context.parallel, list.len(), |index| {
        let piece = &list[index];
        let texts: Vec<&[u8]> = (0..piece.rows).map(|row| piece.text(row)).collect();
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        compress_all(&compressor, &texts, &mut bytes, &mut ends);
        bytes.shrink_to_fit();
        (bytes, ends)
    })?;
    build.context.check_cancelled()?;
    let sizes: Vec<usize> = pieces.iter().map(|it| it.0.len()).collect();
    let heap = heap_of_pieces(build, &sizes, |index, texts, ends, start| {
        let (bytes, from) = &pieces[index];
        texts.copy_from_slice(bytes);
        match ends {
            EndsMut::Narrow(ends) => set_ends(ends, from, start),
            EndsMut::Wide(ends) => set_ends(ends, from, start),
        }
    })?;
    Ok(Some(PlainTexts::new(heap, Some(symbols))))
}

fn set_ends<T: End>(ends: &mut [T], from: &[u64], start: usize) {
    for (end, from) in ends.iter_mut().zip(from) {
        *end = T::of(start + *from as usize);
    }
}

fn compress_all(
    compressor: &Compressor,
    texts: &[&[u8]],
    bytes: &mut Vec<u8>,
    ends: &mut Vec<u64>,
) {
    compressor.compress_bulk_into::<{ Compressor::DEFAULT_BULK_LANES }>(texts, bytes, ends);
}

/// Texts of rows at even distances.
fn sample<'a>(build: &'a ColumnBuild<'_>) -> Vec<&'a [u8]> {
    let rows = build.pieces.rows();
    let step = rows.div_ceil(SAMPLE_TEXTS).max(1);
    let mut texts = Vec::with_capacity(SAMPLE_TEXTS);
    for (piece, start) in build.pieces.list.iter().zip(&build.pieces.starts) {
        let first = start.next_multiple_of(step) - start;
        texts.extend((first..piece.rows).step_by(step).map(|row| piece.text(row)));
    }
    texts
}
