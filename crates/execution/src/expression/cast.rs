//! Conversions between all types. The form of CHAR(n) inside is without blanks at its end, as they do not count; CHAR of no
//! one length has them.

use types::numeric::datetime::{self, DAY};
use types::numeric::errors::{cannot_cast, date_beyond_timestamp};
use types::numeric::{NAME_BYTES, float, format, spelling};
use types::{Bits, DataType, Network, SqlResult, Value, Zone};

use super::by_value::converted;
use super::characters::{characters, trim_blanks, whole_characters};
use super::compare::compare;
use super::float::float_of;
use super::integers::{Finish, bounds_of, may_be_infinite, multiplied, rescaled, type_range};
use super::kernels::{Lanes, map2, valid_at};
use super::node::{Facts, Kernel, Node, Texts, for_texts, push_text};
use crate::{Batch, Bitmap, ColumnShape, Representation, TextVector, Values, Vector};

/// Compiles a conversion that no time zone decides; of a value that has the type already, nothing is left.
pub(super) fn cast(operand: Node, to: DataType) -> SqlResult<Node> {
    cast_in(operand, to, None)
}

/// Compiles a conversion in a session of a time zone.
pub(super) fn cast_in(operand: Node, to: DataType, zone: Option<&Zone>) -> SqlResult<Node> {
    let from = operand.shape.data_type;
    if operand.is_null() {
        return Ok(Node::null(to));
    }
    if from == to {
        return Ok(operand);
    }
    Ok(match (from, to) {
        // Bits, a UUID and JSON are held as they are written.
        (DataType::Bits(_) | DataType::Uuid | DataType::Json | DataType::Jsonb, to)
            if to.is_text() =>
        {
            limited(operand.relabelled(DataType::Text), to)
        }
        (DataType::Bits(from), DataType::Bits(of)) if is_as_long(from, of) => {
            operand.relabelled(to)
        }
        (DataType::Network(_), DataType::Network(Network::Inet)) => operand.relabelled(to),
        (from, to) if is_held_apart(from) || is_held_apart(to) => converted(operand, to, zone)?,
        (DataType::Char(length), DataType::Bpchar) => padded(operand, length),
        // The blanks at its end go first.
        (DataType::Bpchar, cut) if cut.is_cut_text() => {
            limited(limited(operand, DataType::Text), to)
        }
        (_, to) if from.is_text() && to.is_text() => limited(operand, to),
        (from, to) if is_styled(from, to, zone) => converted(operand, to, zone)?,
        (_, to) if to.is_text() => {
            let facts = Facts::of([&operand]);
            let shape = ColumnShape::computed(DataType::Text, facts.nullable);
            limited(Node::new(shape, facts, Format(operand)), to)
        }
        (from, to) if from.is_text() => parsed(operand, to),
        (from, to) if from.is_exact() && to.is_exact() => rescaled(operand, to),
        (DataType::Boolean, to) if to.is_exact() => rescaled(integer_of_boolean(operand), to),
        (from, DataType::Boolean) if from.is_exact() => {
            let zero = Node::constant(Value::Integer(0), DataType::Integer);
            compare(plan::BinaryOperator::NotEqual, operand, zero)?
        }
        (from, to) if to.is_float() && (from.is_exact() || from.is_float()) => {
            float_of(operand, to)
        }
        (from, to) if from.is_float() && to.is_exact() => exact_of_float(operand, to),
        (DataType::Date, DataType::Timestamp) if may_be_infinite(&operand.shape) => {
            timestamp_of_date(operand)
        }
        (DataType::Date, DataType::Timestamp) => multiplied(operand, i128::from(DAY), to),
        (DataType::Timestamp, DataType::Date) => date_of_timestamp(operand),
        (from, to) => {
            return Err(cannot_cast(from, to));
        }
    })
}

/// Whether bits of a type are neither cut nor filled as another.
fn is_as_long(from: Bits, to: Bits) -> bool {
    match (from.length(), to) {
        (_, Bits::Any | Bits::AnyVarying) => true,
        (Some(most), Bits::Varying(length)) => most <= length,
        (Some(most), Bits::Fixed(length)) => from == Bits::Fixed(most) && most == length,
        (None, _) => false,
    }
}

/// Whether the style of the session makes other texts, or reads texts otherwise, than is usual.
fn is_styled(from: DataType, to: DataType, zone: Option<&Zone>) -> bool {
    let styles = zone.map(Zone::styles).unwrap_or_default();
    to.is_text() && styles.shows(from) || from.is_text() && styles.reads(to)
}

/// Whether values of a type are no more than held as those of another: a text or a number tells nothing of them.
fn is_held_apart(of: DataType) -> bool {
    of.stored() != of.plain()
}

#[derive(Debug)]
struct IntegerOfBoolean(Node);

fn integer_of_boolean(operand: Node) -> Node {
    let facts = Facts::of([&operand]);
    let shape = ColumnShape {
        data_type: DataType::SmallInt,
        representation: Representation::I64,
        bounds: Some((0, 1)),
        nullable: facts.nullable,
    };
    Node::new(shape, facts, IntegerOfBoolean(operand))
}

impl Kernel for IntegerOfBoolean {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.0.argument(batch)?;
        let values = map2(batch.rows, argument.bool(), Lanes::Constant(()), |it, ()| i64::from(it));
        Ok(Vector { values: Values::I64(values), validity: argument.validity().cloned() })
    }
}

#[derive(Debug)]
struct ExactOfFloat {
    operand: Node,
    to: DataType,
    finish: Finish,
}

fn exact_of_float(operand: Node, to: DataType) -> Node {
    let facts = Facts::of([&operand]).or_fallible(true);
    let (finish, shape) = Finish::new(to, Some(type_range(to)), facts.nullable);
    Node::new(shape, facts, ExactOfFloat { operand, to, finish })
}

impl Kernel for ExactOfFloat {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let validity = argument.validity();
        let single = self.operand.shape.data_type == DataType::Real;
        let mut values = vec![0; batch.rows];
        for (row, value) in values.iter_mut().enumerate() {
            if !valid_at(validity, row) {
                continue;
            }
            let float = match argument.f64() {
                Lanes::Slice(values) => values[row],
                Lanes::Constant(value) => value,
            };
            *value = float::to_exact(float, single, self.to)?;
        }
        Ok(Vector { values: self.finish.widen(values, validity)?, validity: validity.cloned() })
    }
}

#[derive(Debug)]
struct DateOfTimestamp(Node);

fn date_of_timestamp(operand: Node) -> Node {
    let (low, high) = bounds_of(&operand.shape);
    let day = |it: i128| i128::from(datetime::date_of_timestamp(it as i64));
    let facts = Facts::of([&operand]);
    let shape = ColumnShape {
        data_type: DataType::Date,
        representation: Representation::I64,
        bounds: Some((day(low), day(high))),
        nullable: facts.nullable,
    };
    Node::new(shape, facts, DateOfTimestamp(operand))
}

/// Dates of which some may be infinite as points of time.
#[derive(Debug)]
struct TimestampOfDate(Node);

fn timestamp_of_date(operand: Node) -> Node {
    let facts = Facts::of([&operand]).or_fallible(true);
    let shape = ColumnShape {
        data_type: DataType::Timestamp,
        representation: Representation::I64,
        bounds: None,
        nullable: facts.nullable,
    };
    Node::new(shape, facts, TimestampOfDate(operand))
}

impl Kernel for TimestampOfDate {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.0.evaluate(batch)?;
        let Values::I64(days) = &vector.values else {
            unreachable!("invariant: dates are held as I64");
        };
        let moment = |(row, &day): (usize, &i64)| match vector.is_valid(row) {
            true => datetime::timestamp_of_date(day).ok_or_else(date_beyond_timestamp),
            false => Ok(0),
        };
        let values = days.iter().enumerate().map(moment).collect::<SqlResult<_>>()?;
        Ok(Vector { values: Values::I64(values), validity: vector.validity.clone() })
    }
}

impl Kernel for DateOfTimestamp {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.0.argument(batch)?;
        let (rows, values) = (batch.rows, argument.i64());
        let values = match may_be_infinite(&self.0.shape) {
            true => {
                map2(rows, values, Lanes::Constant(()), |it, ()| datetime::date_of_timestamp(it))
            }
            false => map2(rows, values, Lanes::Constant(()), |it, ()| it.div_euclid(DAY)),
        };
        Ok(Vector { values: Values::I64(values), validity: argument.validity().cloned() })
    }
}

#[derive(Debug)]
struct Format(Node);

impl Kernel for Format {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = self.0.evaluate(batch)?;
        let data_type = self.0.shape.data_type;
        let mut texts = TextVector::default();
        let mut text = String::new();
        for row in 0..batch.rows {
            text.clear();
            if vector.is_valid(row) {
                match &vector.values {
                    Values::I64(values) => {
                        format::number(i128::from(values[row]), data_type, &mut text);
                    }
                    Values::I128(values) => format::number(values[row], data_type, &mut text),
                    Values::F64(values) => {
                        format::float(values[row], data_type == DataType::Real, &mut text);
                    }
                    Values::Bool(values) => {
                        text.push_str(format::boolean(values[row]));
                    }
                    Values::Codes(_) | Values::Text(_) => {
                        unreachable!("invariant: text is not formatted")
                    }
                }
            }
            push_text(&mut texts, text.as_bytes());
        }
        Ok(Vector { values: Values::Text(texts), validity: vector.validity.clone() })
    }
}

#[derive(Debug)]
struct Parse {
    operand: Node,
    to: DataType,
    /// For exact types.
    finish: Option<Finish>,
}

fn parsed(operand: Node, to: DataType) -> Node {
    let facts = Facts::of([&operand]).or_fallible(true);
    let exact = to.is_exact() || matches!(to, DataType::Date | DataType::Timestamp);
    if exact {
        let (finish, shape) = Finish::new(to, Some(type_range(to)), facts.nullable);
        return Node::new(shape, facts, Parse { operand, to, finish: Some(finish) });
    }
    let shape = ColumnShape::computed(to, facts.nullable);
    Node::new(shape, facts, Parse { operand, to, finish: None })
}

/// Parses the rows that are not NULL; the first error ends it.
fn parse_all<'a, T: Clone + Default>(
    rows: usize,
    validity: Option<&Bitmap>,
    texts: Texts<'a>,
    parse: impl Fn(&'a str) -> SqlResult<T>,
) -> SqlResult<Vec<T>> {
    let mut values = vec![T::default(); rows];
    for (row, value) in values.iter_mut().enumerate() {
        if valid_at(validity, row) {
            let text = std::str::from_utf8(texts.get(row)).expect("invariant: text is UTF-8");
            *value = parse(text)?;
        }
    }
    Ok(values)
}

impl Kernel for Parse {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.operand.shape, &mut space);
        let (rows, validity, to) = (batch.rows, argument.validity(), self.to);
        let values = match (to, &self.finish) {
            (DataType::Boolean, _) => {
                Values::Bool(parse_all(rows, validity, texts, spelling::boolean)?)
            }
            (DataType::Date, _) => {
                Values::I64(parse_all(rows, validity, texts, datetime::parse_date)?)
            }
            (DataType::Timestamp, _) => {
                Values::I64(parse_all(rows, validity, texts, datetime::parse_timestamp)?)
            }
            (to, Some(finish)) => {
                let values = parse_all(rows, validity, texts, |it| spelling::exact(it, to))?;
                finish.widen(values, validity)?
            }
            (to, None) => {
                Values::F64(parse_all(rows, validity, texts, |it| spelling::float(it, to))?)
            }
        };
        Ok(Vector { values, validity: validity.cloned() })
    }
}

#[derive(Debug)]
struct Pad {
    operand: Node,
    length: u32,
}

/// CHAR(n) with the blanks that it is held without.
fn padded(operand: Node, length: u32) -> Node {
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(DataType::Bpchar, facts.nullable);
    Node::new(shape, facts, Pad { operand, length })
}

impl Kernel for Pad {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.operand.shape, &mut space);
        let mut out = TextVector::default();
        for_texts!(texts, get => {
            for row in 0..batch.rows {
                let text: &[u8] = get(row);
                let held = text.iter().filter(|it| **it & 0xc0 != 0x80).count();
                out.bytes.extend_from_slice(text);
                let missing = (self.length as usize).saturating_sub(held);
                out.bytes.resize(out.bytes.len() + missing, b' ');
                push_text(&mut out, b"");
            }
        });
        Ok(Vector { values: Values::Text(out), validity: argument.validity().cloned() })
    }
}

#[derive(Debug)]
struct Limit {
    operand: Node,
    characters: usize,
    trimmed: bool,
}

/// Text cut to the length of its type, silently, as a cast does it.
fn limited(operand: Node, to: DataType) -> Node {
    let (characters, trimmed) = match to {
        DataType::Char(most) => (most as usize, true),
        DataType::VARCHAR if !operand.shape.data_type.is_blank_padded() => {
            return operand.relabelled(to);
        }
        DataType::Varchar(most) => (most as usize, false),
        DataType::Letter => (1, false),
        DataType::Name if operand.shape.data_type != DataType::Name => {
            let facts = Facts::of([&operand]);
            let shape = ColumnShape::computed(to, facts.nullable);
            return Node::new(shape, facts, NameOf(operand));
        }
        DataType::Text if operand.shape.data_type == DataType::Bpchar => (usize::MAX, true),
        _ => return operand.relabelled(to),
    };
    let fits = match operand.shape.data_type {
        DataType::Char(most) => most as usize <= characters,
        DataType::Varchar(most) => most as usize <= characters && !trimmed,
        DataType::Letter => 1 <= characters && !trimmed,
        _ => false,
    };
    if fits {
        return operand.relabelled(to);
    }
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(to, facts.nullable);
    Node::new(shape, facts, Limit { operand, characters, trimmed })
}

impl Kernel for Limit {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.operand.shape, &mut space);
        let mut out = TextVector::default();
        for_texts!(texts, get => {
            for row in 0..batch.rows {
                let text = characters(get(row), 0, self.characters);
                push_text(&mut out, if self.trimmed { trim_blanks(text) } else { text });
            }
        });
        Ok(Vector { values: Values::Text(out), validity: argument.validity().cloned() })
    }
}

/// Text cut to the bytes of a name, whole characters of them.
#[derive(Debug)]
struct NameOf(Node);

impl Kernel for NameOf {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.0.argument(batch)?;
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.0.shape, &mut space);
        let mut out = TextVector::default();
        for_texts!(texts, get => {
            for row in 0..batch.rows {
                push_text(&mut out, whole_characters(get(row), NAME_BYTES));
            }
        });
        Ok(Vector { values: Values::Text(out), validity: argument.validity().cloned() })
    }
}
