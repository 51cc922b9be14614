//! Strings of bits: functions that know them under the names of those of texts and bytes, and constants.

use plan::{BinaryOperator, Expr, Function};
use sqlparser::ast;
use types::numeric::bit_text;
use types::{Bits, DataType, SqlError, SqlResult, Value};

use super::Binder;

/// A constant of bits: `B'101'`, or behind `x` hexadecimal digits.
///
/// # Errors
/// 22P02 for other digits.
pub(super) fn constant(digits: &str) -> SqlResult<Expr> {
    let bits = bit_text::parse(digits)?;
    Ok(Expr::literal(Value::Text(bits.into()), DataType::Bits(Bits::Any)))
}

impl<'a> Binder<'a> {
    /// A function of bits by its own kernel; the arguments come back where it is none.
    pub(super) fn of_bit_strings(
        &mut self,
        function: Function,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Result<Expr, Vec<Expr>>> {
        if !arguments.iter().any(|it| matches!(it.data_type, DataType::Bits(_))) {
            return Ok(Err(arguments));
        }
        let own = match function {
            // The places of bits are those of the digits that they are held as.
            Function::BitLength => Function::CharacterLength,
            Function::Strpos if arguments.len() == 2 => {
                arguments.swap(0, 1);
                Function::BitPosition
            }
            Function::GetBit => Function::GetBitOfBits,
            Function::SetBit => Function::SetBitOfBits,
            Function::BitCount => Function::BitCountOfBits,
            Function::OctetLength => {
                let length = self.invoke(Function::CharacterLength, arguments, whole)?;
                return self.octets(length).map(Ok);
            }
            _ => return Ok(Err(arguments)),
        };
        self.invoke(own, arguments, whole).map(Ok)
    }

    /// The bytes that so many bits take.
    fn octets(&mut self, bits: Expr) -> SqlResult<Expr> {
        let number = |it: i64| Expr::literal(Value::Integer(it), DataType::Integer);
        let none = || Err(SqlError::internal("a length is no number"));
        let above = self.calculate(BinaryOperator::Add, bits, number(7)).unwrap_or_else(none)?;
        self.calculate(BinaryOperator::Divide, above, number(8)).unwrap_or_else(none)
    }
}
