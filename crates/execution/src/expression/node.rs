//! The nodes of a compiled expression: a shape, what it reads, and a kernel that was chosen for its operands.

use std::fmt::Debug;

use plan::BinaryOperator;
use stdx::sync::Arc;
use storage::{Column, Encoding};
use types::{DataType, SqlResult, Value};

use super::kernels::{Lanes, keep_valid, select_rows};
use crate::{Batch, Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// A computation over a batch, with its operands inside.
pub(super) trait Kernel: Send + Sync + Debug {
    /// The values for all rows.
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector>;

    /// For a Boolean kernel: the rows for which it is TRUE.
    fn select(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        select_true(&self.evaluate(batch)?, rows);
        Ok(())
    }

    /// The operator and operands of a sum, difference or product in 64 bits that cannot fail.
    fn exact(&self) -> Option<(BinaryOperator, &Node, &Node)> {
        None
    }
}

/// The rows of a Boolean vector that are TRUE.
pub(super) fn select_true(vector: &Vector, rows: &mut Vec<u32>) {
    let Values::Bool(values) = &vector.values else {
        unreachable!("invariant: a condition is held as Bool");
    };
    select_rows(values.len(), rows, |row| values[row]);
    keep_valid(vector.validity.as_ref(), rows);
}

#[derive(Debug)]
pub(super) enum Body {
    Column(usize),
    Constant(Value),
    Kernel(Box<dyn Kernel>),
}

/// A node: what it yields, what it needs, how it gets it.
#[derive(Debug)]
pub(super) struct Node {
    pub shape: ColumnShape,
    pub facts: Facts,
    pub body: Body,
}

/// What follows from the operands of a node for the node.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The columns read, ascending.
    pub columns: Vec<usize>,
    /// Whether a row can raise an error.
    pub fallible: bool,
    /// Whether equal input may give different results.
    pub volatile: bool,
    /// Whether any operand can be NULL.
    pub nullable: bool,
}

impl Facts {
    pub fn of<'a>(operands: impl IntoIterator<Item = &'a Node>) -> Self {
        let mut facts = Self::default();
        for node in operands {
            facts.columns.extend(&node.facts.columns);
            facts.fallible |= node.facts.fallible;
            facts.volatile |= node.facts.volatile;
            facts.nullable |= node.shape.nullable;
        }
        facts.columns.sort_unstable();
        facts.columns.dedup();
        facts
    }

    /// The same, for a kernel that can itself raise an error when `fallible`.
    pub fn or_fallible(mut self, fallible: bool) -> Self {
        self.fallible |= fallible;
        self
    }
}

impl Node {
    pub fn column(index: usize, shape: ColumnShape) -> Self {
        let facts = Facts { columns: vec![index], nullable: shape.nullable, ..Facts::default() };
        Self { shape, facts, body: Body::Column(index) }
    }

    /// A constant; its shape is as narrow as the value.
    pub fn constant(value: Value, data_type: DataType) -> Self {
        let number = value.as_i128().filter(|_| data_type != DataType::Boolean);
        let representation = match number {
            Some(number) if i64::try_from(number).is_ok() => Representation::I64,
            Some(_) => Representation::I128,
            None => Representation::of(data_type),
        };
        let bounds = number.map(|it| (it, it));
        let nullable = value.is_null();
        let shape = ColumnShape { data_type, representation, bounds, nullable };
        Self { shape, facts: Facts::default(), body: Body::Constant(value) }
    }

    pub fn null(data_type: DataType) -> Self {
        Self::constant(Value::Null, data_type)
    }

    /// A node for a kernel; without columns it is computed at once, unless that fails: the error is only raised when
    /// a row needs the value.
    pub fn new(shape: ColumnShape, facts: Facts, kernel: impl Kernel + 'static) -> Self {
        if facts.columns.is_empty() && !facts.volatile {
            let one = Batch { rows: 1, ..Batch::default() };
            if let Ok(vector) = kernel.evaluate(&one) {
                return Self::constant(vector.value(&shape, 0), shape.data_type);
            }
        }
        Self { shape, facts, body: Body::Kernel(Box::new(kernel)) }
    }

    /// The value, when it is the same for all rows.
    pub fn as_constant(&self) -> Option<&Value> {
        match &self.body {
            Body::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub fn is_null(&self) -> bool {
        self.shape.data_type == DataType::Null || matches!(self.body, Body::Constant(Value::Null))
    }

    /// The same values under another type that is held alike.
    pub fn relabelled(mut self, data_type: DataType) -> Self {
        self.shape.data_type = data_type;
        self
    }

    pub fn is_wide(&self) -> bool {
        matches!(self.shape.representation, Representation::I128)
    }

    pub fn evaluate(&self, batch: &Batch) -> SqlResult<Arc<Vector>> {
        match &self.body {
            Body::Column(index) => Ok(batch.columns[*index].clone()),
            Body::Constant(value) => Ok(Arc::new(filled(value, &self.shape, batch.rows))),
            Body::Kernel(kernel) => Ok(Arc::new(kernel.evaluate(batch)?)),
        }
    }

    pub fn select(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        match &self.body {
            Body::Column(index) => select_true(&batch.columns[*index], rows),
            Body::Constant(value) => {
                rows.clear();
                if *value == Value::Boolean(true) {
                    rows.extend(0..batch.rows as u32);
                }
            }
            Body::Kernel(kernel) => kernel.select(batch, rows)?,
        }
        Ok(())
    }

    /// The operand of a kernel: constants stay constants.
    pub fn argument(&self, batch: &Batch) -> SqlResult<Argument<'_>> {
        match &self.body {
            Body::Constant(value) => Ok(Argument::Constant(value)),
            _ => Ok(Argument::Vector(self.evaluate(batch)?)),
        }
    }
}

/// An evaluated operand.
#[derive(Debug)]
pub(super) enum Argument<'a> {
    Constant(&'a Value),
    Vector(Arc<Vector>),
}

macro_rules! lanes {
    ($name:ident, $variant:ident, $type:ty, $constant:expr) => {
        pub fn $name(&self) -> Lanes<'_, $type> {
            match self {
                Self::Constant(value) => Lanes::Constant($constant(*value)),
                Self::Vector(vector) => match &vector.values {
                    Values::$variant(values) => Lanes::Slice(values),
                    _ => unreachable!("invariant: an operand is held as its shape says"),
                },
            }
        }
    };
}

impl Argument<'_> {
    lanes!(i64, I64, i64, |it: &Value| it.as_i128().unwrap_or_default() as i64);
    lanes!(i128, I128, i128, |it: &Value| it.as_i128().unwrap_or_default());
    lanes!(f64, F64, f64, |it: &Value| if let Value::Float(it) = it { *it } else { 0.0 });
    lanes!(bool, Bool, bool, |it: &Value| *it == Value::Boolean(true));
    lanes!(codes, Codes, u32, |_: &Value| unreachable!("invariant: no constant is a code"));

    /// Which rows are not NULL. Kernels never see a constant NULL but where they ask for it.
    pub fn validity(&self) -> Option<&Bitmap> {
        match self {
            Self::Constant(_) => None,
            Self::Vector(vector) => vector.validity.as_ref(),
        }
    }
}

/// The column and the positions of an operand whose texts are compressed.
pub(super) fn compressed<'a>(
    argument: &'a Argument<'_>,
    shape: &'a ColumnShape,
) -> Option<(&'a storage::PlainStrings, &'a [u32])> {
    let (Argument::Vector(vector), Representation::Codes(column)) =
        (argument, &shape.representation)
    else {
        return None;
    };
    match (&vector.values, &column.encoding) {
        (Values::Codes(positions), Encoding::Plain(strings)) if strings.is_compressed() => {
            Some((strings, positions))
        }
        _ => None,
    }
}

/// The texts of an operand, as bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Texts<'a> {
    Constant(&'a [u8]),
    Vector(&'a TextVector),
    Dictionary(&'a storage::Dictionary, &'a [u32]),
    /// Texts that are stored as they are.
    Plain(&'a storage::PlainStrings, &'a [u32]),
}

impl<'a> Texts<'a> {
    /// The texts of an operand; compressed ones are read into `space`.
    pub fn of(
        argument: &'a Argument<'_>,
        shape: &'a ColumnShape,
        space: &'a mut TextVector,
    ) -> Self {
        if let Some((strings, positions)) = compressed(argument, shape) {
            for &position in positions {
                strings.append(position as usize, &mut space.bytes);
                push_text(space, b"");
            }
            return Self::Vector(space);
        }
        match argument {
            Argument::Constant(Value::Text(text)) => Self::Constant(text.as_bytes()),
            Argument::Constant(_) => Self::Constant(b""),
            Argument::Vector(vector) => match (&vector.values, &shape.representation) {
                (Values::Text(texts), _) => Self::Vector(texts),
                (Values::Codes(codes), Representation::Codes(column)) => {
                    Self::of_codes(codes, column)
                }
                _ => unreachable!("invariant: text is held as Text or Codes"),
            },
        }
    }

    fn of_codes(codes: &'a [u32], column: &'a Column) -> Self {
        match &column.encoding {
            Encoding::Dictionary(dictionary) => Self::Dictionary(dictionary, codes),
            Encoding::Plain(strings) => Self::Plain(strings, codes),
            _ => unreachable!("invariant: only text columns travel as codes"),
        }
    }

    /// The first `rows` texts as one run of bytes, if that is how they stand.
    pub fn run(&self, rows: usize) -> Option<TextRun<'a>> {
        match self {
            Self::Constant(_) => None,
            Self::Dictionary(storage::Dictionary::Text(heap), codes) => {
                let codes = codes.get(..rows)?;
                run_of(heap, *codes.first()? as usize, codes)
            }
            Self::Dictionary(..) => None,
            Self::Vector(texts) => {
                let ends = texts.ends.get(..rows)?;
                let end = ends.last().map_or(0, |&it| it as usize);
                Some(TextRun { bytes: &texts.bytes[..end], ends, start: 0 })
            }
            Self::Plain(strings, positions) => {
                let positions = positions.get(..rows)?;
                // Rows of one part stand in its heap.
                let (texts, first) = strings.find(*positions.first()? as usize)?;
                let (same, _) = strings.find(*positions.last()? as usize)?;
                run_of(texts.stored(), first, positions).filter(|_| std::ptr::eq(texts, same))
            }
        }
    }

    /// A text; where one side is constant, prefer [`for_texts`], which decides once per vector.
    #[inline]
    pub fn get(&self, row: usize) -> &'a [u8] {
        match self {
            Self::Constant(text) => text,
            Self::Vector(texts) => texts.bytes_at(row),
            Self::Dictionary(dictionary, codes) => dictionary.as_bytes(codes[row]),
            Self::Plain(strings, codes) => strings.stored_at(codes[row] as usize),
        }
    }
}

/// The texts at some places, if these follow one another; the first is that of number `first` in the heap.
fn run_of<'a>(heap: &'a storage::StringHeap, first: usize, places: &[u32]) -> Option<TextRun<'a>> {
    let ends = heap.narrow_ends()?;
    let follow = |pair: &[u32]| pair[0].wrapping_add(1) == pair[1];
    if !places.windows(2).all(follow) {
        return None;
    }
    let start = if first == 0 { 0 } else { *ends.get(first - 1)? };
    let ends = ends.get(first..first + places.len())?;
    let bytes = &heap.all_bytes()[start as usize..*ends.last()? as usize];
    Some(TextRun { bytes, ends, start })
}

/// Texts that stand one after the other in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextRun<'a> {
    /// All of them.
    pub bytes: &'a [u8],
    /// The end of each, counted from `start` bytes before `bytes`.
    pub ends: &'a [u32],
    /// What the first one begins at, as ends are counted.
    pub start: u32,
}

/// Runs a body once per way of holding texts, with `$get` bound to a closure from a row to its bytes.
macro_rules! for_texts {
    ($texts:expr, $get:ident => $body:expr) => {
        match $texts {
            $crate::expression::node::Texts::Constant(text) => {
                let $get = |_row: usize| text;
                $body
            }
            $crate::expression::node::Texts::Vector(texts) => {
                let $get = |row: usize| texts.bytes_at(row);
                $body
            }
            $crate::expression::node::Texts::Dictionary(dictionary, codes) => {
                let $get = |row: usize| dictionary.as_bytes(codes[row]);
                $body
            }
            $crate::expression::node::Texts::Plain(strings, codes) => {
                let $get = |row: usize| strings.stored_at(codes[row] as usize);
                $body
            }
        }
    };
}
pub(super) use for_texts;

/// Appends bytes that are a whole UTF-8 text.
#[inline]
pub(super) fn push_text(texts: &mut TextVector, text: &[u8]) {
    texts.bytes.extend_from_slice(text);
    let end = u32::try_from(texts.bytes.len());
    texts.ends.push(end.expect("invariant: a batch holds less than 4 GiB"));
}

/// A vector of one value.
pub(super) fn filled(value: &Value, shape: &ColumnShape, rows: usize) -> Vector {
    let number = value.as_i128().unwrap_or_default();
    let values = match &shape.representation {
        Representation::I64 => Values::I64(vec![number as i64; rows]),
        Representation::I128 => Values::I128(vec![number; rows]),
        Representation::Bool => Values::Bool(vec![*value == Value::Boolean(true); rows]),
        Representation::F64 => {
            let value = if let Value::Float(it) = value { *it } else { 0.0 };
            Values::F64(vec![value; rows])
        }
        Representation::Codes(_) => Values::Codes(vec![0; rows]),
        Representation::Text => {
            let mut texts = TextVector::default();
            let text = if let Value::Text(it) = value { it.as_bytes() } else { b"" };
            (0..rows).for_each(|_| push_text(&mut texts, text));
            Values::Text(texts)
        }
    };
    let validity = value.is_null().then(|| Bitmap::filled(rows, false));
    Vector { values, validity }
}

/// The given rows of the columns that `facts` names; other columns keep their rows and are not read.
pub(super) fn compact(batch: &Batch, facts: &Facts, rows: &[u32]) -> Batch {
    let mut columns = batch.columns.clone();
    for &index in &facts.columns {
        columns[index] = Arc::new(columns[index].take(rows));
    }
    Batch { rows: rows.len(), columns, sequence: batch.sequence }
}

/// A vector of NULLs.
pub(crate) fn null_vector(shape: &ColumnShape, rows: usize) -> Vector {
    filled(&Value::Null, shape, rows)
}
