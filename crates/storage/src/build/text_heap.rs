//! A heap for the texts of a column, one per row, into which its pieces are written in parallel.

use types::SqlResult;

use super::column::ColumnBuild;
use crate::StringHeap;
use crate::parallel::for_each;

/// Ends of texts as they are stored: an offset in the heap.
pub(super) trait End: memory::Pod {
    fn of(offset: usize) -> Self;
}

impl End for u32 {
    fn of(offset: usize) -> Self {
        offset as u32
    }
}

impl End for u64 {
    fn of(offset: usize) -> Self {
        offset as u64
    }
}

/// The ends of the texts of a piece, to be written.
pub(super) enum EndsMut<'a> {
    Narrow(&'a mut [u32]),
    Wide(&'a mut [u64]),
}

/// A heap for the texts of all pieces, which have so many bytes each. `fill` writes those of a piece and where each ends,
/// given the number of the piece and the bytes before it.
pub(super) fn heap_of_pieces(
    build: &ColumnBuild<'_>,
    sizes: &[usize],
    fill: impl Fn(usize, &mut [u8], EndsMut<'_>, usize) + Sync,
) -> SqlResult<StringHeap> {
    let mut starts = vec![0];
    for size in sizes {
        starts.push(starts[starts.len() - 1] + size);
    }
    let used = starts[starts.len() - 1];
    let wide = u32::try_from(used).is_err();
    let rows = build.pieces.rows();
    let mut bytes = build.place.rows(used, 8)?;
    let mut ends = build.place.rows(rows * if wide { 8 } else { 4 }, if wide { 64 } else { 32 })?;
    let texts = bytes.split_mut(&starts[1..]);
    let cuts = &build.pieces.starts[1..];
    let of_pieces: Vec<EndsMut<'_>> = if wide {
        split(ends.as_mut_slice(), cuts).map(EndsMut::Wide).collect()
    } else {
        split(ends.as_mut_slice(), cuts).map(EndsMut::Narrow).collect()
    };
    let tasks = texts.into_iter().zip(of_pieces).collect();
    for_each(build.context.parallel, tasks, |index, (texts, ends)| {
        fill(index, texts, ends, starts[index]);
    })?;
    Ok(StringHeap::new(ends, wide, bytes, rows, used as u64))
}

/// Cuts a slice at some places.
fn split<'a, T>(mut rest: &'a mut [T], cuts: &[usize]) -> impl Iterator<Item = &'a mut [T]> {
    let mut start = 0;
    cuts.iter().map(move |&end| {
        let (mine, behind) = std::mem::take(&mut rest).split_at_mut(end - start);
        (rest, start) = (behind, end);
        mine
    })
}
