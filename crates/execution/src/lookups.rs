//! What is looked up by code or position: dictionaries, translations of codes, texts; counted for the traffic, a batch at a time
//! (docs/design/02-memory-and-placement.md, "traffic").

use memory::Segment;
use stdx::sync::Arc;
use storage::{Column, Encoding, ItemTraffic, PlainStrings};

use crate::traffic::{Item, Place};
use crate::{Batch, ColumnShape, Layout, Representation, WorkContext};

/// A structure of which entries are looked at here and there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup {
    place: Place,
    /// All of it.
    bytes: u64,
}

impl Lookup {
    /// Of a segment, if it is larger than a cache of so many bytes.
    pub(crate) fn beyond(cache_bytes: u64, segment: &Segment) -> Option<Self> {
        let bytes = segment.bytes() as u64;
        (bytes > cache_bytes).then(|| Self { place: Place::of_segment(segment), bytes })
    }

    /// Of something that is dealt round the nodes.
    pub(crate) fn dealt(bytes: u64) -> Self {
        Self { place: Place::Dealt, bytes }
    }

    /// Counts what so many looks at once bring from memory: a line each, and never more than there is.
    pub(crate) fn count(&self, item: Item, looks: usize, context: &WorkContext) {
        context.touch(item, self.place, self.missed(looks, context));
    }

    /// As [`Lookup::count`], of the dictionary of a column of a part, in the counters of its table too.
    pub(crate) fn count_in(
        &self,
        (table, item): (&ItemTraffic, (usize, usize)),
        looks: usize,
        context: &WorkContext,
    ) {
        let missed = self.missed(looks, context);
        context.touch(Item::Dictionaries, self.place, missed);
        context.accesses.add_item(table, item, context.node, self.place, missed);
    }

    fn missed(&self, looks: usize, context: &WorkContext) -> u64 {
        context.accesses.missed(looks, self.bytes).min(self.bytes)
    }
}

/// The texts behind the codes or positions of a column.
struct Texts {
    lookup: Lookup,
    /// Bytes of a text in the mean.
    mean: u64,
}

impl Texts {
    /// Of a column; of one in parts as if they were dealt round, as its batches do not tell their part.
    fn of(column: &Column) -> Option<Self> {
        let one = |segment: &Arc<Segment>, texts: usize| {
            let bytes = segment.bytes() as u64;
            let lookup = Lookup { place: Place::of_segment(segment), bytes };
            Self { lookup, mean: bytes / texts.max(1) as u64 }
        };
        match &column.encoding {
            Encoding::Dictionary(dictionary) => {
                dictionary.segments().last().map(|it| one(it, dictionary.len()))
            }
            Encoding::Plain(PlainStrings::Own(texts)) => {
                Some(one(texts.stored().bytes_segment(), column.rows()))
            }
            Encoding::Plain(PlainStrings::Parts(parts)) => {
                let heaps = || parts.iter().map(|it| it.1.stored());
                let bytes = heaps().map(|it| it.bytes_segment().bytes() as u64).sum::<u64>();
                let texts = heaps().map(|it| it.len() as u64).sum::<u64>();
                Some(Self { lookup: Lookup::dealt(bytes), mean: bytes / texts.max(1) })
            }
            _ => None,
        }
    }
}

/// Bytes of all values of a batch.
pub(crate) fn batch_bytes(batch: &Batch) -> u64 {
    batch.columns.iter().map(|it| it.value_bytes()).sum()
}

/// How the columns of an answer become what a client gets.
pub(crate) struct Output(Vec<Option<Texts>>);

impl Output {
    /// Of an answer.
    pub(crate) fn of(layout: &Layout) -> Self {
        let texts = |shape: &ColumnShape| match &shape.representation {
            Representation::Codes(column) => Texts::of(column),
            _ => None,
        };
        Self(layout.iter().map(texts).collect())
    }

    /// Counts a batch of the answer, that is read from where it was kept, and what is made of it, written by the worker who
    /// does; texts are fetched by their codes.
    pub(crate) fn count(&self, batch: &Batch, home: Place, context: &WorkContext) {
        let kept = batch_bytes(batch);
        let mut written = kept;
        for texts in self.0.iter().flatten() {
            texts.lookup.count(Item::Dictionaries, batch.rows, context);
            written += texts.mean * batch.rows as u64;
        }
        context.touch(Item::Results, home, kept);
        context.touch(Item::Results, Place::Own, written);
    }
}
