//! Comparisons of two operands, and IS [NOT] DISTINCT FROM.

use std::cell::RefCell;

use plan::BinaryOperator;
use stdx::sync::Arc;
use storage::{Encoding, PlainStrings};
use types::numeric::comparison_type;
use types::{DataType, SqlError, SqlResult, Value};

use super::characters::trim_blanks;
use super::float::to_float;
use super::integers::{widened, with_scale};
use super::kernels::{Lanes, both_valid, keep_valid, map2, select_rows, select2};
use super::logic;
use super::node::{Argument, Facts, Kernel, Node, Texts, compressed, for_texts};
use crate::{Batch, Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// What the operands are compared as.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    I64,
    I128,
    F64,
    Bool,
    /// Codes of one dictionary: their order is that of the texts.
    Codes,
    /// Bytes; blanks at the end do not count for CHAR.
    Text {
        trimmed: bool,
    },
}

#[derive(Debug)]
struct Compare {
    operator: BinaryOperator,
    kind: Kind,
    left: Node,
    right: Node,
}

/// Compiles a comparison.
pub(super) fn compare(operator: BinaryOperator, left: Node, right: Node) -> SqlResult<Node> {
    if left.is_null() || right.is_null() {
        return Ok(Node::null(DataType::Boolean));
    }
    let (kind, left, right) = aligned(left, right)?;
    // A constant stands right, so that kernels have one case less.
    let (operator, left, right) = match left.as_constant() {
        Some(_) => (operator.mirrored(), right, left),
        None => (operator, left, right),
    };
    let facts = Facts::of([&left, &right]);
    let shape = ColumnShape::computed(DataType::Boolean, facts.nullable);
    Ok(Node::new(shape, facts, Compare { operator, kind, left, right }))
}

/// Compiles IS [NOT] DISTINCT FROM.
pub(super) fn distinct(left: Node, right: Node, negated: bool) -> SqlResult<Node> {
    match (left.is_null(), right.is_null()) {
        (true, true) => return Ok(Node::constant(Value::Boolean(negated), DataType::Boolean)),
        (true, false) => return Ok(logic::is_null(right, !negated)),
        (false, true) => return Ok(logic::is_null(left, !negated)),
        (false, false) => {}
    }
    let (kind, left, right) = aligned(left, right)?;
    let facts = Facts::of([&left, &right]);
    let shape = ColumnShape::computed(DataType::Boolean, false);
    let comparison = Compare { operator: BinaryOperator::Equal, kind, left, right };
    Ok(Node::new(shape, facts, Distinct { comparison, negated }))
}

/// Brings two operands to one way of holding values.
fn aligned(left: Node, right: Node) -> SqlResult<(Kind, Node, Node)> {
    let (a, b) = (left.shape.data_type.stored(), right.shape.data_type.stored());
    if a.is_text() && b.is_text() {
        let kind = if same_dictionary(&left, &right) {
            Kind::Codes
        } else {
            // TEXT beside CHAR compares as text, in which blanks count; CHAR is held without any at its end.
            let trimmed = matches!(comparison_type(a, b), Some(DataType::Char(_)));
            Kind::Text { trimmed }
        };
        return Ok((kind, left, right));
    }
    if a == DataType::Boolean && b == DataType::Boolean {
        return Ok((Kind::Bool, left, right));
    }
    if a.is_float() || b.is_float() {
        return Ok((Kind::F64, to_float(left)?, to_float(right)?));
    }
    if !(a == b || a.is_exact() && b.is_exact()) {
        return Err(SqlError::internal(format!("{a} is compared with {b}")));
    }
    let (left, right) = with_scales(left, right);
    if !left.is_wide() && !right.is_wide() {
        return Ok((Kind::I64, left, right));
    }
    Ok((Kind::I128, widened(left), widened(right)))
}

/// Gives both operands one scale: the smaller one if a constant allows it, else the greater.
fn with_scales(left: Node, right: Node) -> (Node, Node) {
    let (a, b) = (left.shape.data_type.scale(), right.shape.data_type.scale());
    let (left, right) =
        if a > b { (shortened(left, b), right) } else { (left, shortened(right, a)) };
    let scale = left.shape.data_type.scale().max(right.shape.data_type.scale());
    (with_scale(left, scale), with_scale(right, scale))
}

/// A constant without zeros at the end, down to a scale; 5.00 as 5 spares rescaling a column.
fn shortened(node: Node, scale: u8) -> Node {
    let Some(mut value) = node.as_constant().and_then(Value::as_i128) else { return node };
    let mut digits = node.shape.data_type.scale();
    while digits > scale && value % 10 == 0 {
        value /= 10;
        digits -= 1;
    }
    let data_type = DataType::Decimal { precision: 38, scale: digits };
    Node::constant(Value::Decimal { unscaled: value, scale: digits }, data_type)
}

fn same_dictionary(left: &Node, right: &Node) -> bool {
    match (&left.shape.representation, &right.shape.representation) {
        (Representation::Codes(a), Representation::Codes(b)) => {
            Arc::ptr_eq(a, b) && matches!(a.encoding, Encoding::Dictionary(_))
        }
        _ => false,
    }
}

/// Where the outcome of a comparison goes.
trait Emit {
    fn pairs<T: Copy>(
        &mut self,
        rows: usize,
        left: Lanes<'_, T>,
        right: Lanes<'_, T>,
        holds: impl Fn(T, T) -> bool,
    );
    fn rows(&mut self, rows: usize, holds: impl Fn(usize) -> bool);
}

/// A Boolean per row.
struct Booleans(Vec<bool>);

impl Emit for Booleans {
    #[inline]
    fn pairs<T: Copy>(
        &mut self,
        rows: usize,
        left: Lanes<'_, T>,
        right: Lanes<'_, T>,
        holds: impl Fn(T, T) -> bool,
    ) {
        self.0 = map2(rows, left, right, holds);
    }

    #[inline]
    fn rows(&mut self, rows: usize, holds: impl Fn(usize) -> bool) {
        self.0 = (0..rows).map(holds).collect();
    }
}

/// The rows for which it holds.
struct Rows<'a>(&'a mut Vec<u32>);

impl Emit for Rows<'_> {
    #[inline]
    fn pairs<T: Copy>(
        &mut self,
        rows: usize,
        left: Lanes<'_, T>,
        right: Lanes<'_, T>,
        holds: impl Fn(T, T) -> bool,
    ) {
        select2(rows, left, right, self.0, holds);
    }

    #[inline]
    fn rows(&mut self, rows: usize, holds: impl Fn(usize) -> bool) {
        select_rows(rows, self.0, holds);
    }
}

/// Values with a total order, NaN above all floats and equal to itself.
trait Ordered: Copy {
    fn less(self, other: Self) -> bool;
    fn same(self, other: Self) -> bool;
}

macro_rules! ordered {
    ($($type:ty),*) => {$(
        impl Ordered for $type {
            #[inline]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline]
            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}
ordered!(i64, i128, u32, bool);

impl Ordered for f64 {
    #[inline]
    fn less(self, other: Self) -> bool {
        self < other || (other.is_nan() && !self.is_nan())
    }
    #[inline]
    fn same(self, other: Self) -> bool {
        self == other || (self.is_nan() && other.is_nan())
    }
}

fn numbers<T: Ordered>(
    operator: BinaryOperator,
    rows: usize,
    a: Lanes<'_, T>,
    b: Lanes<'_, T>,
    emit: &mut impl Emit,
) {
    match operator {
        BinaryOperator::Equal => emit.pairs(rows, a, b, |a, b| a.same(b)),
        BinaryOperator::NotEqual => emit.pairs(rows, a, b, |a, b| !a.same(b)),
        BinaryOperator::Less => emit.pairs(rows, a, b, |a, b| a.less(b)),
        BinaryOperator::LessEqual => emit.pairs(rows, a, b, |a, b| !b.less(a)),
        BinaryOperator::Greater => emit.pairs(rows, a, b, |a, b| b.less(a)),
        _ => emit.pairs(rows, a, b, |a, b| !a.less(b)),
    }
}

fn texts<'a>(
    operator: BinaryOperator,
    rows: usize,
    a: impl Fn(usize) -> &'a [u8],
    b: impl Fn(usize) -> &'a [u8],
    emit: &mut impl Emit,
) {
    match operator {
        BinaryOperator::Equal => emit.rows(rows, |row| a(row) == b(row)),
        BinaryOperator::NotEqual => emit.rows(rows, |row| a(row) != b(row)),
        BinaryOperator::Less => emit.rows(rows, |row| a(row) < b(row)),
        BinaryOperator::LessEqual => emit.rows(rows, |row| a(row) <= b(row)),
        BinaryOperator::Greater => emit.rows(rows, |row| a(row) > b(row)),
        _ => emit.rows(rows, |row| a(row) >= b(row)),
    }
}

impl Compare {
    fn emit(&self, rows: usize, a: &Argument<'_>, b: &Argument<'_>, emit: &mut impl Emit) {
        match self.kind {
            Kind::I64 => numbers(self.operator, rows, a.i64(), b.i64(), emit),
            Kind::I128 => numbers(self.operator, rows, a.i128(), b.i128(), emit),
            Kind::F64 => numbers(self.operator, rows, a.f64(), b.f64(), emit),
            Kind::Bool => numbers(self.operator, rows, a.bool(), b.bool(), emit),
            Kind::Codes => numbers(self.operator, rows, a.codes(), b.codes(), emit),
            Kind::Text { trimmed } => self.emit_texts(rows, a, b, trimmed, emit),
        }
    }

    fn emit_texts(
        &self,
        rows: usize,
        a: &Argument<'_>,
        b: &Argument<'_>,
        trimmed: bool,
        emit: &mut impl Emit,
    ) {
        if let (Some((strings, positions)), Argument::Constant(Value::Text(constant)), false) =
            (compressed(a, &self.left.shape), b, trimmed)
        {
            return self.emit_compressed(rows, (strings, positions), constant.as_bytes(), emit);
        }
        let (mut left, mut right) = (TextVector::default(), TextVector::default());
        let a = Texts::of(a, &self.left.shape, &mut left);
        let b = Texts::of(b, &self.right.shape, &mut right);
        if trimmed {
            let (a, b) = (|row| trim_blanks(a.get(row)), |row| trim_blanks(b.get(row)));
            return texts(self.operator, rows, a, b, emit);
        }
        match b {
            Texts::Constant(b) => for_texts!(a, a => texts(self.operator, rows, a, |_| b, emit)),
            b => for_texts!(a, a => texts(self.operator, rows, a, |row| b.get(row), emit)),
        }
    }
}

impl Compare {
    /// Compressed texts beside a constant: their first bytes mostly decide, and then the rest is not read.
    fn emit_compressed(
        &self,
        rows: usize,
        (strings, positions): (&PlainStrings, &[u32]),
        constant: &[u8],
        emit: &mut impl Emit,
    ) {
        let head = storage::head(constant);
        let space = RefCell::new(Vec::new());
        let order = |row: usize| {
            let position = positions[row] as usize;
            strings.head(position).cmp(&head).then_with(|| {
                let mut text = space.borrow_mut();
                text.clear();
                strings.append(position, &mut text);
                text.as_slice().cmp(constant)
            })
        };
        match self.operator {
            BinaryOperator::Equal => emit.rows(rows, |row| order(row).is_eq()),
            BinaryOperator::NotEqual => emit.rows(rows, |row| order(row).is_ne()),
            BinaryOperator::Less => emit.rows(rows, |row| order(row).is_lt()),
            BinaryOperator::LessEqual => emit.rows(rows, |row| order(row).is_le()),
            BinaryOperator::Greater => emit.rows(rows, |row| order(row).is_gt()),
            _ => emit.rows(rows, |row| order(row).is_ge()),
        }
    }
}

impl Kernel for Compare {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let left = self.left.argument(batch)?;
        let right = self.right.argument(batch)?;
        let mut booleans = Booleans(Vec::new());
        self.emit(batch.rows, &left, &right, &mut booleans);
        let validity = both_valid(left.validity(), right.validity());
        Ok(Vector { values: Values::Bool(booleans.0), validity })
    }

    fn select(&self, batch: &Batch, rows: &mut Vec<u32>) -> SqlResult<()> {
        let left = self.left.argument(batch)?;
        let right = self.right.argument(batch)?;
        self.emit(batch.rows, &left, &right, &mut Rows(rows));
        keep_valid(left.validity(), rows);
        keep_valid(right.validity(), rows);
        Ok(())
    }
}

#[derive(Debug)]
struct Distinct {
    comparison: Compare,
    /// IS NOT DISTINCT FROM.
    negated: bool,
}

impl Kernel for Distinct {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let left = self.comparison.left.argument(batch)?;
        let right = self.comparison.right.argument(batch)?;
        let mut booleans = Booleans(Vec::new());
        self.comparison.emit(batch.rows, &left, &right, &mut booleans);
        let mut same = booleans.0;
        let valid = |map: Option<&Bitmap>, row| map.is_none_or(|it| it.get(row));
        if left.validity().is_some() || right.validity().is_some() {
            for (row, same) in same.iter_mut().enumerate() {
                let (a, b) = (valid(left.validity(), row), valid(right.validity(), row));
                *same = if a && b { *same } else { a == b };
            }
        }
        if !self.negated {
            same.iter_mut().for_each(|it| *it = !*it);
        }
        Ok(Vector::new(Values::Bool(same)))
    }
}
