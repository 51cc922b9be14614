//! The length or the digits of a type, as `format_type` shows them of a modifier: PostgreSQL's rules about these numbers.

use plan::relation::combine;
use plan::{BinaryOperator, Expr, ExprKind, Function};
use types::{DataType, SqlResult, Value};

use super::Binder;
use super::coercion::fold_cast;

/// What a modifier says of a type.
#[derive(Clone, Copy)]
enum Limit {
    /// How many characters, and four.
    Characters,
    /// How many bits.
    Bits,
    /// How many digits in all, by 65536, with the scale in eleven bits, and four.
    Digits,
}

/// The types that have one, each with its number, that of its arrays and its name.
const LIMITED: [(Limit, i64, i64, &str); 5] = [
    (Limit::Characters, 1042, 1014, "character"),
    (Limit::Characters, 1043, 1015, "character varying"),
    (Limit::Bits, 1560, 1561, "bit"),
    (Limit::Bits, 1562, 1563, "bit varying"),
    (Limit::Digits, 1700, 1231, "numeric"),
];

/// What a modifier of characters and of digits is more than that.
const BASE: i64 = 4;

/// Digits are counted by so much.
const DIGITS: i64 = 1 << 16;

/// The scales that there are, half of them below zero.
const SCALES: i64 = 1 << 11;

impl Binder<'_> {
    /// The cases of the types that have limits: whether a number and a modifier are such, and what they are called.
    pub(super) fn limited_types(
        &mut self,
        number: &Expr,
        modifier: &Expr,
    ) -> SqlResult<Vec<(Expr, Expr)>> {
        let mut cases = Vec::with_capacity(2 * LIMITED.len());
        for (limit, own, of_arrays, name) in LIMITED {
            for (oid, end) in [(own, ")"), (of_arrays, ")[]")] {
                let least = match limit {
                    Limit::Characters => BASE + 1,
                    Limit::Bits => 0,
                    Limit::Digits => BASE,
                };
                let is = Expr::predicate(BinaryOperator::Equal, self.copy(number)?, integer(oid));
                let modifier = self.copy(modifier)?;
                let (operator, least) = (BinaryOperator::GreaterEqual, integer(least));
                let has = Expr::predicate(operator, modifier.clone(), least);
                let Some(test) = combine(BinaryOperator::And, vec![is, has]) else { continue };
                cases.push((test, self.limited_type(limit, modifier, (name, end))?));
            }
        }
        Ok(cases)
    }

    fn limited_type(
        &mut self,
        limit: Limit,
        modifier: Expr,
        (name, end): (&str, &str),
    ) -> SqlResult<Expr> {
        use BinaryOperator::{Add, Divide, Modulo, Subtract};
        let number = match limit {
            Limit::Bits => modifier,
            Limit::Characters | Limit::Digits => calculated(Subtract, modifier, BASE),
        };
        let shown = match limit {
            Limit::Bits | Limit::Characters => vec![number],
            Limit::Digits => {
                let digits = calculated(Divide, self.copy(&number)?, DIGITS);
                let moved = calculated(Add, number, SCALES / 2);
                let scale = calculated(Modulo, moved, SCALES);
                vec![digits, calculated(Subtract, scale, SCALES / 2)]
            }
        };
        let mut written = text(&format!("{name}("));
        for (place, number) in shown.into_iter().enumerate() {
            if place > 0 {
                written = self.joined_texts(written, text(","))?;
            }
            written = self.joined_texts(written, fold_cast(number, DataType::Text))?;
        }
        self.joined_texts(written, text(end))
    }

    fn joined_texts(&mut self, left: Expr, right: Expr) -> SqlResult<Expr> {
        self.fold_call(Function::ConcatOperator, vec![left, right], DataType::Text)
    }
}

fn text(of: &str) -> Expr {
    Expr::literal(Value::Text(of.into()), DataType::Text)
}

fn integer(of: i64) -> Expr {
    Expr::literal(Value::Integer(of), DataType::BigInt)
}

fn calculated(operator: BinaryOperator, left: Expr, right: i64) -> Expr {
    let (left, right) = (Box::new(left), Box::new(integer(right)));
    Expr { kind: ExprKind::Binary { operator, left, right }, data_type: DataType::BigInt }
}
