//! Distinct texts in their order: cut into ranges that workers sort each by itself, eight bytes at a time.

use std::ops::Range;

use types::SqlResult;

use crate::Parallel;
use crate::parallel::map;
use crate::plain::head;

/// Texts that one worker sorts in less time than ranges of them are found.
const ALONE: usize = 8192;
/// Ranges for each worker, so that none waits long for another.
const RANGES_PER_WORKER: usize = 4;
/// Samples for each range: few ranges become half as large again as they should be.
const SAMPLES_PER_RANGE: usize = 32;
/// Texts that are compared as they are rather than by words.
const FEW: usize = 16;
/// The bytes of a word.
const WORD: usize = size_of::<u64>();

/// A text to be put in order: some eight bytes of it, and its number.
#[derive(Clone, Copy)]
struct Item {
    word: u64,
    number: u32,
}

/// The numbers of distinct texts, in the order of the texts.
pub(super) fn order_of(parallel: &dyn Parallel, texts: &[&[u8]]) -> SqlResult<Vec<u32>> {
    let items = |numbers: Range<usize>| {
        let texts = texts[numbers.clone()].iter();
        texts.zip(numbers.start as u32..).map(|(text, number)| Item { word: head(text), number })
    };
    if texts.len() <= ALONE {
        return Ok(sorted(items(0..texts.len()).collect(), texts));
    }
    let tasks = parallel.width() * RANGES_PER_WORKER;
    let splitters = splitters(texts, tasks);
    let size = texts.len().div_ceil(tasks);
    let cut = map(parallel, texts.len().div_ceil(size), |task| {
        let mut ranges = vec![Vec::new(); splitters.len() + 1];
        for item in items(task * size..((task + 1) * size).min(texts.len())) {
            let text = (item.word, texts[item.number as usize]);
            ranges[splitters.partition_point(|it| *it <= text)].push(item);
        }
        ranges
    })?;
    let ranges = map(parallel, splitters.len() + 1, |range| {
        sorted(cut.iter().flat_map(|it| &it[range]).copied().collect(), texts)
    })?;
    Ok(ranges.concat())
}

/// Texts behind their heads that cut all texts into so many ranges of about the same size.
fn splitters<'a>(texts: &[&'a [u8]], ranges: usize) -> Vec<(u64, &'a [u8])> {
    let samples = (ranges * SAMPLES_PER_RANGE).min(texts.len());
    let mut samples: Vec<_> = (0..samples)
        .map(|it| texts[it * texts.len() / samples])
        .map(|text| (head(text), text))
        .collect();
    samples.sort_unstable();
    (1..ranges).map(|it| samples[it * samples.len() / ranges]).collect()
}

/// The numbers of some texts in their order.
fn sorted(mut items: Vec<Item>, texts: &[&[u8]]) -> Vec<u32> {
    // What is left to do: items whose texts are alike up to some byte, from which on their words are.
    let mut left: Vec<(Range<usize>, usize)> = vec![(0..items.len(), 0)];
    while let Some((range, at)) = left.pop() {
        let alike = &mut items[range.clone()];
        let rest = |it: &Item| &texts[it.number as usize][at..];
        if alike.len() <= FEW {
            alike.sort_unstable_by(|a, b| a.word.cmp(&b.word).then_with(|| rest(a).cmp(rest(b))));
            continue;
        }
        alike.sort_unstable_by_key(|it| it.word);
        let mut start = 0;
        for run in alike.chunk_by_mut(|a, b| a.word == b.word) {
            let run_start = range.start + start;
            start += run.len();
            if run.len() == 1 {
                continue;
            }
            // A word may stand for texts that end within it, of which the shorter one comes first, and for longer ones.
            run.sort_unstable_by_key(|it| rest(it).len().min(WORD + 1));
            let ended = run.partition_point(|it| rest(it).len() <= WORD);
            for item in &mut run[ended..] {
                item.word = head(&texts[item.number as usize][at + WORD..]);
            }
            left.push((run_start + ended..run_start + run.len(), at + WORD));
        }
    }
    items.iter().map(|it| it.number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Serial;

    /// Texts that are alike for long, that end within words and that have zeros at their ends.
    fn texts(count: usize) -> Vec<Vec<u8>> {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut texts: Vec<Vec<u8>> = (0..count)
            .map(|_| {
                let mut text = b"http://example.org/a/b/c/"[..next(26) as usize].to_vec();
                text.extend((0..next(12)).map(|_| [0, b'a', b'b', 255][next(4) as usize]));
                text
            })
            .collect();
        texts.sort_unstable();
        texts.dedup();
        // Another order than theirs.
        texts.sort_by_key(|it| super::super::hash::hash_bytes(it));
        texts
    }

    #[test]
    fn texts_come_as_they_compare() {
        for count in [0, 1, 2, FEW + 1, 1000, 200_000] {
            let texts = texts(count);
            let texts: Vec<&[u8]> = texts.iter().map(|it| &it[..]).collect();
            assert!(count < 200_000 || texts.len() > ALONE, "ranges are cut");
            let order = order_of(&Serial, &texts).unwrap();
            assert_eq!(order.len(), texts.len());
            assert!(order.windows(2).all(|it| texts[it[0] as usize] < texts[it[1] as usize]));
        }
    }
}
