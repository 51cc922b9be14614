//! The types of results: operators, aggregates, values that meet, and which casts exist.

use crate::structs::{self, StructType};
use crate::{DataType, EnumType, Network};

/// Digits that a decimal has at most.
pub(crate) const MAX_DIGITS: u8 = 38;
/// Digits after the point that a quotient or an average has at least, where they fit.
const QUOTIENT_DIGITS: u8 = 16;
/// Digits before the point that a product keeps, when its digits after the point would take all 38.
const PRODUCT_INTEGER_DIGITS: u8 = 18;

/// An operator on two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

impl Arithmetic {
    /// The operator as SQL spells it.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
        }
    }
}

/// Digits in all and after the point of an exact number; an integer has as many as its greatest value.
pub(crate) fn digits(of: DataType) -> Option<(u8, u8)> {
    match of.plain() {
        DataType::SmallInt => Some((5, 0)),
        DataType::Integer => Some((10, 0)),
        DataType::BigInt => Some((19, 0)),
        DataType::Decimal { precision, scale } => Some((precision, scale)),
        _ => None,
    }
}

/// A decimal with these digits before and after the point, or as many before it as 38 leave.
fn decimal(whole: u8, scale: u8) -> DataType {
    let scale = scale.min(MAX_DIGITS);
    let precision = whole.saturating_add(scale).clamp(1, MAX_DIGITS);
    DataType::Decimal { precision, scale }
}

/// The integer type that holds both, where both are integers.
fn wider_integer(a: DataType, b: DataType) -> Option<DataType> {
    let both = a.is_integer() && b.is_integer();
    both.then(|| [DataType::BigInt, DataType::Integer].into_iter().find(|&it| a == it || b == it))
        .map(|wider| wider.unwrap_or(DataType::SmallInt))
}

/// The type of `left op right` for numbers; a bare NULL takes the other's type. `None` where there is no such operator.
pub fn arithmetic_type(op: Arithmetic, left: DataType, right: DataType) -> Option<DataType> {
    let (left, right) = match (left.plain(), right.plain()) {
        (DataType::Null, it) | (it, DataType::Null) => (it, it),
        both => both,
    };
    if !left.is_numeric() || !right.is_numeric() {
        return None;
    }
    if left.is_float() || right.is_float() {
        let single = left == DataType::Real && right == DataType::Real;
        let result = if single { DataType::Real } else { DataType::Double };
        return (op != Arithmetic::Modulo).then_some(result);
    }
    if left == DataType::Numeric || right == DataType::Numeric {
        return Some(DataType::Numeric);
    }
    if let Some(integer) = wider_integer(left, right) {
        return Some(integer);
    }
    let ((p1, s1), (p2, s2)) = (digits(left)?, digits(right)?);
    Some(match op {
        Arithmetic::Add | Arithmetic::Subtract => decimal((p1 - s1).max(p2 - s2) + 1, s1.max(s2)),
        Arithmetic::Multiply => product(p1 - s1 + p2 - s2, s1, s2),
        Arithmetic::Divide => quotient((p1, s1), (p2, s2)),
        Arithmetic::Modulo => decimal((p1 - s1).min(p2 - s2), s1.max(s2)),
    })
}

/// All digits after the point, as long as enough of the 38 are left for the digits before it.
fn product(whole: u8, s1: u8, s2: u8) -> DataType {
    let room = MAX_DIGITS - whole.min(PRODUCT_INTEGER_DIGITS);
    decimal(whole, (s1 + s2).min(room))
}

/// What 38 digits leave after the digits before the point, but 16 at least, and no more than tell small quotients apart.
fn quotient((p1, s1): (u8, u8), (p2, s2): (u8, u8)) -> DataType {
    let whole = (p1 - s1 + s2).min(MAX_DIGITS);
    let most = (QUOTIENT_DIGITS + p2 - s2).max(s1).max(s2).min(MAX_DIGITS);
    let scale = (MAX_DIGITS - whole).max(QUOTIENT_DIGITS).min(most);
    decimal(whole, scale)
}

/// The type of a sum; `None` where values cannot be summed.
pub fn sum_type(of: DataType) -> Option<DataType> {
    match of.plain() {
        DataType::SmallInt | DataType::Integer => Some(DataType::BigInt),
        DataType::BigInt => Some(DataType::Decimal { precision: MAX_DIGITS, scale: 0 }),
        DataType::Decimal { precision, scale } => {
            Some(DataType::Decimal { precision: (precision + 10).min(MAX_DIGITS), scale })
        }
        DataType::Real | DataType::Double | DataType::Numeric => Some(of),
        _ => None,
    }
}

/// The type of an average, which has as many digits behind the point whatever its values are; a mean whose whole part
/// leaves no room for them is out of range. `None` where values have none.
pub fn average_type(of: DataType) -> Option<DataType> {
    if of.is_float() {
        return Some(DataType::Double);
    }
    if of == DataType::Numeric {
        return Some(of);
    }
    let (_, scale) = digits(of)?;
    Some(DataType::Decimal { precision: MAX_DIGITS, scale: QUOTIENT_DIGITS.max(scale) })
}

/// The type that values of both are converted to where they meet in CASE, COALESCE, VALUES, UNION or a list. A bare NULL takes
/// the other's type. `None` where they do not go together.
pub fn common_type(a: DataType, b: DataType) -> Option<DataType> {
    match (a, b) {
        (DataType::Null, it) | (it, DataType::Null) => Some(it),
        _ if a == b => Some(a),
        _ if is_declared(a, b) => common_type(a.plain(), b.plain()),
        _ if a.is_numeric() && b.is_numeric() => common_number(a, b),
        _ if a.is_text() && b.is_text() => Some(common_text(a, b)),
        (DataType::Array(a), DataType::Array(b)) => {
            common_type(a.data_type(), b.data_type())?.array()
        }
        (DataType::Struct(a), DataType::Struct(b)) => {
            structs::common(a, b, &common_type).map(DataType::Struct)
        }
        (DataType::Map(a), DataType::Map(b)) => {
            structs::common(a, b, &common_type).map(DataType::Map)
        }
        (DataType::Date, DataType::Timestamp) | (DataType::Timestamp, DataType::Date) => {
            Some(DataType::Timestamp)
        }
        (DataType::Date | DataType::Timestamp, DataType::TimestampTz)
        | (DataType::TimestampTz, DataType::Date | DataType::Timestamp) => {
            Some(DataType::TimestampTz)
        }
        (DataType::Bits(a), DataType::Bits(b)) => Some(DataType::Bits(a.common(b))),
        (DataType::Network(_), DataType::Network(_)) => Some(DataType::Network(Network::Inet)),
        (DataType::Time, DataType::TimeTz) | (DataType::TimeTz, DataType::Time) => {
            Some(DataType::TimeTz)
        }
        _ => None,
    }
}

/// Whether a type of labels is what has become of another.
fn is_changed(from: EnumType, to: EnumType) -> bool {
    from.name() == to.name() && !to.name().is_empty()
}

/// Whether either is known by another type to operators.
fn is_declared(a: DataType, b: DataType) -> bool {
    a.plain() != a || b.plain() != b
}

fn common_number(a: DataType, b: DataType) -> Option<DataType> {
    if a == DataType::Double || b == DataType::Double {
        return Some(DataType::Double);
    }
    if a == DataType::Real || b == DataType::Real {
        return Some(DataType::Real);
    }
    if a == DataType::Numeric || b == DataType::Numeric {
        return Some(DataType::Numeric);
    }
    if let Some(integer) = wider_integer(a, b) {
        return Some(integer);
    }
    let ((p1, s1), (p2, s2)) = (digits(a)?, digits(b)?);
    Some(decimal((p1 - s1).max(p2 - s2), s1.max(s2)))
}

/// Of texts the first decides, but that a name is made of others unasked and they of a name are not; what has two limits has none.
fn common_text(first: DataType, other: DataType) -> DataType {
    match (first, other) {
        (DataType::Letter, _) | (_, DataType::Letter) => DataType::Text,
        (DataType::Text, _) => DataType::Text,
        (DataType::Name, _) | (_, DataType::Name) => DataType::Name,
        (DataType::Varchar(_), _) => DataType::VARCHAR,
        _ => DataType::Bpchar,
    }
}

/// The type in which `a = b`, `a < b` and the like compare: as [`common_type`], but REAL meets other numbers as DOUBLE
/// PRECISION, and CHAR meets VARCHAR without blanks at the end.
pub fn comparison_type(a: DataType, b: DataType) -> Option<DataType> {
    match (a, b) {
        (DataType::Bpchar, DataType::Bpchar) => Some(DataType::Char(u32::MAX)),
        _ if is_declared(a, b) => comparison_type(a.plain(), b.plain()),
        _ if a == b => Some(a),
        (DataType::Time, DataType::Interval) | (DataType::Interval, DataType::Time) => {
            Some(DataType::Interval)
        }
        (DataType::Array(a), DataType::Array(b)) => {
            comparison_type(a.data_type(), b.data_type())?.array()
        }
        (DataType::Struct(a), DataType::Struct(b)) => {
            structs::common(a, b, &comparison_type).map(DataType::Struct)
        }
        (DataType::Map(a), DataType::Map(b)) => {
            structs::common(a, b, &comparison_type).map(DataType::Map)
        }
        (DataType::Real, it) | (it, DataType::Real) if it.is_numeric() => Some(DataType::Double),
        (DataType::Text, it) | (it, DataType::Text) if it.is_text() => Some(DataType::Text),
        _ if a.is_text() && b.is_text() && (a.is_blank_padded() || b.is_blank_padded()) => {
            Some(DataType::Char(u32::MAX))
        }
        _ => common_type(a, b),
    }
}

/// Whether `CAST(.. AS to)` exists.
pub fn is_castable(from: DataType, to: DataType) -> bool {
    if let (DataType::Array(from), DataType::Array(to)) = (from, to) {
        return is_castable(from.data_type(), to.data_type());
    }
    if let Some((from, to)) = both_structs(from, to) {
        return all_pairs(from, to, is_castable);
    }
    // A map is a list of its entries.
    match (from, to) {
        (DataType::Map(from), DataType::Array(_)) => {
            return is_castable(DataType::Array(crate::Element::Struct(from)), to);
        }
        // The names of fields are keys.
        (DataType::Struct(from), DataType::Map(to)) => {
            let [key, value] = to.fields() else { return false };
            return !from.is_row()
                && is_castable(DataType::Text, key.data_type)
                && from.fields().iter().all(|it| {
                    it.data_type == DataType::Null || is_castable(it.data_type, value.data_type)
                });
        }
        (DataType::Array(crate::Element::Struct(from)), DataType::Map(to)) => {
            let mut pairs = from.fields().iter().zip(to.fields());
            return from.fields().len() == to.fields().len()
                && pairs.all(|(from, to)| is_castable(from.data_type, to.data_type));
        }
        _ => {}
    }
    match (from, to) {
        (DataType::Enum(from), DataType::Enum(to)) if is_changed(from, to) => return true,
        (DataType::Boolean, DataType::Whole(_)) | (DataType::Whole(_), DataType::Boolean) => {
            return true;
        }
        (DataType::Bytea, DataType::Whole(_)) | (DataType::Whole(_), DataType::Bytea) => {
            return false;
        }
        _ if is_declared(from, to) => return is_castable(from.plain(), to.plain()),
        _ => {}
    }
    is_assignable(from, to)
        || from.is_text() && to != DataType::Null
        || matches!((from, to), (DataType::Range(from), DataType::Multirange(to)) if from == to)
        || from == DataType::Jsonb && (to == DataType::Boolean || to.is_numeric())
        || matches!(
            (from, to),
            (DataType::Boolean, DataType::Integer)
                | (DataType::Integer, DataType::Boolean)
                | (DataType::Bytea, DataType::SmallInt | DataType::Integer | DataType::BigInt)
                | (DataType::SmallInt | DataType::Integer | DataType::BigInt, DataType::Bytea)
        )
        || matches!(
            (from, to),
            (DataType::Bits(it), DataType::Integer | DataType::BigInt)
                | (DataType::Integer | DataType::BigInt, DataType::Bits(it))
                if !it.is_varying()
        )
}

/// The fields of two structs, or of the entries of two maps.
fn both_structs(from: DataType, to: DataType) -> Option<(StructType, StructType)> {
    match (from, to) {
        (DataType::Struct(from), DataType::Struct(to))
        | (DataType::Map(from), DataType::Map(to)) => Some((from, to)),
        _ => None,
    }
}

/// Whether each field goes into the one that is made of it.
fn all_pairs(from: StructType, to: StructType, goes: fn(DataType, DataType) -> bool) -> bool {
    structs::fields_pair(from, to).is_some_and(|places| {
        let mut pairs = places.iter().zip(to.fields());
        pairs.all(|(place, field)| {
            place.is_none_or(|it| goes(from.fields()[it].data_type, field.data_type))
        })
    })
}

/// Whether INSERT, COPY and UPDATE store values of `from` in a column of `to`.
pub fn is_assignable(from: DataType, to: DataType) -> bool {
    if let (DataType::Array(from), DataType::Array(to)) = (from, to) {
        return is_assignable(from.data_type(), to.data_type());
    }
    if let Some((from, to)) = both_structs(from, to) {
        // A constant in a struct is a text before anything is known of the column.
        return all_pairs(from, to, |from, to| from == DataType::Text || is_assignable(from, to));
    }
    if let (DataType::Enum(from), DataType::Enum(to)) = (from, to)
        && is_changed(from, to)
    {
        return true;
    }
    if is_declared(from, to) {
        return is_assignable(from.plain(), to.plain());
    }
    is_implicit(from, to)
        || from.is_numeric() && to.is_numeric()
        || to.is_text()
        || from.is_json() && to.is_json()
        || matches!(
            (from, to),
            (DataType::Timestamp, DataType::Date | DataType::Time)
                | (DataType::TimestampTz, DataType::Date | DataType::Timestamp | DataType::Time)
                | (DataType::TimestampTz, DataType::TimeTz)
                | (DataType::TimeTz | DataType::Interval, DataType::Time)
                | (DataType::Network(_), DataType::Network(_))
        )
}

/// Whether a value becomes another one by the zone of the session.
pub fn depends_on_zone(from: DataType, to: DataType) -> bool {
    from != to && (has_moment(from) || has_moment(to) || is_in_zone(to))
}

/// Whether values of a type are moments, or have such parts.
fn has_moment(of: DataType) -> bool {
    match of {
        DataType::TimestampTz => true,
        DataType::Range(it) | DataType::Multirange(it) => has_moment(it.bound()),
        DataType::Array(it) => has_moment(it.data_type()),
        DataType::Struct(it) | DataType::Map(it) => {
            it.fields().iter().any(|it| has_moment(it.data_type))
        }
        _ => false,
    }
}

/// Whether values of a type are times of a day in a zone, or have such parts: of other values they are in that of the session.
fn is_in_zone(of: DataType) -> bool {
    match of {
        DataType::TimeTz => true,
        DataType::Array(it) => is_in_zone(it.data_type()),
        DataType::Struct(it) | DataType::Map(it) => {
            it.fields().iter().any(|it| is_in_zone(it.data_type))
        }
        _ => false,
    }
}

/// Whether values of `from` become values of `to` where an argument or operand needs it, unasked.
pub fn is_implicit(from: DataType, to: DataType) -> bool {
    let rank = |it: DataType| match it {
        DataType::SmallInt => Some(0),
        DataType::Integer => Some(1),
        DataType::BigInt => Some(2),
        DataType::Decimal { .. } => Some(3),
        DataType::Numeric => Some(4),
        DataType::Real => Some(5),
        DataType::Double => Some(6),
        _ => None,
    };
    match (from, to) {
        _ if from == to => true,
        (DataType::Null, _) => true,
        // Of a range of its own: nothing becomes it unasked.
        (_, DataType::Whole(_)) => false,
        (DataType::Whole(it), _) => is_implicit(it.plain(), to),
        (DataType::Date, DataType::Timestamp | DataType::TimestampTz) => true,
        (DataType::Timestamp, DataType::TimestampTz) => true,
        (DataType::Time, DataType::Interval | DataType::TimeTz) => true,
        (DataType::Bits(_), DataType::Bits(_)) => true,
        (DataType::Network(_), DataType::Network(Network::Inet)) => true,
        (DataType::Array(from), DataType::Array(to)) => {
            is_implicit(from.data_type(), to.data_type())
        }
        _ if let Some((from, to)) = both_structs(from, to) => all_pairs(from, to, is_implicit),
        _ if from.is_text() => to.is_text(),
        _ => rank(from).zip(rank(to)).is_some_and(|(from, to)| from <= to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dec(precision: u8, scale: u8) -> DataType {
        DataType::Decimal { precision, scale }
    }

    fn all() -> Vec<DataType> {
        let labels = ["a", "b"].map(str::to_owned).to_vec();
        let label = DataType::Enum(crate::EnumType::new("ab", labels).unwrap());
        PLAIN.into_iter().chain([label, label.array().unwrap()]).collect()
    }

    const PLAIN: [DataType; 53] = [
        DataType::Range(crate::Range::Int4),
        DataType::Range(crate::Range::Num),
        DataType::Multirange(crate::Range::Int4),
        DataType::Multirange(crate::Range::Tstz),
        DataType::Array(crate::Element::Range(crate::Range::Num)),
        DataType::Network(Network::Inet),
        DataType::Network(Network::Cidr),
        DataType::Null,
        DataType::Boolean,
        DataType::SmallInt,
        DataType::Integer,
        DataType::BigInt,
        DataType::Real,
        DataType::Double,
        DataType::Decimal { precision: 1, scale: 0 },
        DataType::Decimal { precision: 1, scale: 1 },
        DataType::Decimal { precision: 7, scale: 2 },
        DataType::Decimal { precision: 15, scale: 2 },
        DataType::Decimal { precision: 20, scale: 20 },
        DataType::Decimal { precision: 38, scale: 0 },
        DataType::Decimal { precision: 38, scale: 10 },
        DataType::Decimal { precision: 38, scale: 16 },
        DataType::Decimal { precision: 38, scale: 38 },
        DataType::Numeric,
        DataType::Array(crate::Element::Numeric),
        DataType::Date,
        DataType::Timestamp,
        DataType::TimestampTz,
        DataType::Time,
        DataType::TimeTz,
        DataType::Interval,
        DataType::Uuid,
        DataType::Bits(crate::Bits::Fixed(3)),
        DataType::Bits(crate::Bits::AnyVarying),
        DataType::Bytea,
        DataType::Json,
        DataType::Jsonb,
        DataType::Char(3),
        DataType::Bpchar,
        DataType::Varchar(3),
        DataType::Varchar(5),
        DataType::Text,
        DataType::Array(crate::Element::Integer),
        DataType::Array(crate::Element::Decimal { precision: 7, scale: 2 }),
        DataType::Array(crate::Element::Char(3)),
        DataType::Array(crate::Element::Varchar(3)),
        DataType::Array(crate::Element::TimestampTz),
        DataType::Array(crate::Element::Jsonb),
        DataType::Whole(crate::Whole::TinyInt),
        DataType::Whole(crate::Whole::UInteger),
        DataType::Whole(crate::Whole::UBigInt),
        DataType::Whole(crate::Whole::HugeInt),
        DataType::Array(crate::Element::Whole(crate::Whole::UTinyInt)),
    ];

    #[test]
    fn operators_have_the_types_of_postgres_with_38_digits() {
        use Arithmetic::{Add, Divide, Modulo, Multiply, Subtract};
        let (int, small, big) = (DataType::Integer, DataType::SmallInt, DataType::BigInt);
        let (real, double) = (DataType::Real, DataType::Double);
        let cases = [
            (Add, small, small, Some(small)),
            (Multiply, small, int, Some(int)),
            (Divide, int, big, Some(big)),
            (Modulo, small, big, Some(big)),
            (Add, dec(15, 2), int, Some(dec(16, 2))),
            (Subtract, dec(38, 38), int, Some(dec(38, 38))),
            (Multiply, dec(15, 2), dec(16, 2), Some(dec(31, 4))),
            (Multiply, dec(38, 16), dec(38, 16), Some(dec(38, 20))),
            (Multiply, dec(38, 38), dec(38, 38), Some(dec(38, 38))),
            (Multiply, dec(3, 1), dec(38, 38), Some(dec(38, 36))),
            (Multiply, dec(38, 16), big, Some(dec(38, 16))),
            (Divide, dec(3, 1), int, Some(dec(28, 26))),
            (Divide, int, dec(7, 1), Some(dec(33, 22))),
            (Divide, dec(2, 1), dec(38, 38), Some(dec(38, 16))),
            (Divide, dec(38, 16), dec(38, 16), Some(dec(38, 16))),
            (Modulo, dec(7, 2), int, Some(dec(7, 2))),
            (Modulo, dec(2, 2), int, Some(dec(2, 2))),
            (Add, real, real, Some(real)),
            (Add, real, int, Some(double)),
            (Multiply, dec(7, 2), real, Some(double)),
            (Modulo, double, double, None),
            (Add, DataType::Null, dec(7, 2), Some(dec(8, 2))),
            (Add, DataType::Null, DataType::Null, None),
            (Add, DataType::Text, int, None),
            (Add, DataType::Boolean, int, None),
        ];
        for (op, left, right, expected) in cases {
            assert_eq!(arithmetic_type(op, left, right), expected, "{left} {} {right}", op.sql());
        }
    }

    #[test]
    fn every_decimal_type_has_1_to_38_digits() {
        let valid = |it: Option<DataType>| {
            if let Some(DataType::Decimal { precision, scale }) = it {
                assert!((1..=38).contains(&precision) && scale <= precision, "{it:?}");
            }
        };
        let decimals = (1..=38).flat_map(|p| (0..=p).map(move |s| dec(p, s)));
        let all: Vec<_> = decimals.chain(all()).collect();
        for &a in &all {
            valid(sum_type(a));
            valid(average_type(a));
            for &b in &all {
                valid(common_type(a, b));
                valid(comparison_type(a, b));
                use Arithmetic::{Add, Divide, Modulo, Multiply, Subtract};
                for op in [Add, Subtract, Multiply, Divide, Modulo] {
                    valid(arithmetic_type(op, a, b));
                }
            }
        }
    }

    #[test]
    fn aggregates_have_room_for_their_rows() {
        assert_eq!(sum_type(DataType::SmallInt), Some(DataType::BigInt));
        assert_eq!(sum_type(DataType::BigInt), Some(dec(38, 0)));
        assert_eq!(sum_type(dec(15, 2)), Some(dec(25, 2)));
        assert_eq!(sum_type(dec(30, 2)), Some(dec(38, 2)));
        assert_eq!(sum_type(DataType::Real), Some(DataType::Real));
        assert_eq!(sum_type(DataType::Text), None);
        assert_eq!(average_type(DataType::Integer), Some(dec(38, 16)));
        assert_eq!(average_type(dec(15, 2)), Some(dec(38, 16)));
        assert_eq!(average_type(dec(38, 20)), Some(dec(38, 20)));
        assert_eq!(average_type(dec(38, 2)), Some(dec(38, 16)));
        assert_eq!(average_type(dec(30, 0)), Some(dec(38, 16)));
        assert_eq!(average_type(DataType::Real), Some(DataType::Double));
    }

    #[test]
    fn values_that_meet_have_one_type() {
        let (char3, varchar3) = (DataType::Char(3), DataType::Varchar(3));
        assert_eq!(common_type(DataType::Integer, dec(3, 2)), Some(dec(12, 2)));
        assert_eq!(common_type(dec(38, 0), dec(3, 2)), Some(dec(38, 2)));
        assert_eq!(common_type(DataType::Real, dec(3, 2)), Some(DataType::Real));
        assert_eq!(comparison_type(DataType::Real, dec(3, 2)), Some(DataType::Double));
        assert_eq!(comparison_type(DataType::Real, DataType::Real), Some(DataType::Real));
        assert_eq!(common_type(DataType::Double, DataType::BigInt), Some(DataType::Double));
        assert_eq!(common_type(DataType::Date, DataType::Timestamp), Some(DataType::Timestamp));
        assert_eq!(common_type(varchar3, DataType::Varchar(5)), Some(DataType::VARCHAR));
        assert_eq!(common_type(varchar3, DataType::Text), Some(DataType::VARCHAR));
        assert_eq!(common_type(DataType::Text, varchar3), Some(DataType::Text));
        assert_eq!(common_type(DataType::Name, DataType::Text), Some(DataType::Name));
        assert_eq!(common_type(char3, varchar3), Some(DataType::Bpchar));
        assert_eq!(common_type(char3, DataType::Char(4)), Some(DataType::Bpchar));
        assert_eq!(common_type(char3, DataType::Text), Some(DataType::Bpchar));
        assert_eq!(common_type(varchar3, char3), Some(DataType::VARCHAR));
        assert_eq!(comparison_type(varchar3, char3), Some(DataType::Char(u32::MAX)));
        assert_eq!(comparison_type(DataType::Bpchar, char3), Some(DataType::Char(u32::MAX)));
        assert_eq!(comparison_type(DataType::Bpchar, DataType::Text), Some(DataType::Text));
        assert_eq!(comparison_type(DataType::Text, char3), Some(DataType::Text));
        assert_eq!(common_type(DataType::Text, DataType::Integer), None);
        assert_eq!(common_type(DataType::Boolean, DataType::Integer), None);
        assert_eq!(common_type(DataType::Null, DataType::Date), Some(DataType::Date));
    }

    #[test]
    fn implicit_casts_are_assignments_and_those_are_casts() {
        for a in all() {
            for b in all() {
                assert!(!is_implicit(a, b) || is_assignable(a, b), "{a} {b}");
                assert!(!is_assignable(a, b) || is_castable(a, b), "{a} {b}");
                let meet = common_type(a, b).or(comparison_type(a, b));
                assert!(meet.is_none_or(|it| is_implicit(a, it) && is_implicit(b, it)), "{a} {b}");
            }
        }
        assert!(!is_assignable(DataType::Text, DataType::Integer));
        assert!(is_castable(DataType::Text, DataType::Integer));
        assert!(is_assignable(DataType::Integer, DataType::Text));
        assert!(!is_castable(DataType::BigInt, DataType::Boolean));
        assert!(is_castable(DataType::Integer, DataType::Boolean));
        assert!(!is_assignable(DataType::Integer, DataType::Boolean));
        assert!(!is_castable(DataType::Date, DataType::Integer));
        assert!(!is_castable(DataType::Integer, DataType::Date));
    }
}
