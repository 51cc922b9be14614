//! Constants as they are spelt.

use plan::build::null;
use plan::{Expr, ExprKind};
use sqlparser::ast;
use types::numeric;
use types::{Bits, DataType, SqlError, SqlResult, SqlState, Value};

use super::Binder;
use super::errors::{at, unsupported};
use super::failing::Failing;

impl<'a> Binder<'a> {
    pub(super) fn literal(
        &mut self,
        value: &'a ast::Value,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match value {
            ast::Value::Number(text, _) => {
                let (value, data_type) =
                    numeric::parse_literal(text).map_err(|it| at(it, whole))?;
                Ok(Expr::literal(value, data_type))
            }
            ast::Value::SingleQuotedByteStringLiteral(digits) => {
                super::bit_strings::constant(digits).map_err(|it| at(it, whole))
            }
            ast::Value::HexStringLiteral(digits) => {
                super::bit_strings::constant(&format!("x{digits}")).map_err(|it| at(it, whole))
            }
            ast::Value::Boolean(it) => Ok(truth(Value::Boolean(*it))),
            ast::Value::Null => Ok(null(DataType::Null)),
            ast::Value::Placeholder(id) => {
                let number = crate::parameters::number(id).map_err(|it| at(it, whole))?;
                let data_type = self.parameters.entry(number).unwrap_or(DataType::Null);
                Ok(Expr { kind: ExprKind::Parameter(number), data_type })
            }
            other => match text_of(other) {
                Some(text) if text.contains('\0') => {
                    let message = "invalid byte sequence for encoding \"UTF8\": 0x00";
                    Err(at(SqlError::new(SqlState("22021"), message), whole))
                }
                Some(text) => Ok(Expr::literal(Value::Text(text.into()), DataType::Null)),
                None => Err(unsupported("this kind of constant", whole)),
            },
        }
    }

    /// `DATE '..'` and the like.
    pub(super) fn typed_string(
        &mut self,
        it: &'a ast::TypedString,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let domain = self.domain_named(&it.data_type).map_err(|it| at(it, whole))?;
        let fields = crate::interval_fields::fields_of_type(&it.data_type);
        let data_type = match &domain {
            Some(domain) => domain.data_type,
            None if fields.is_some() => {
                crate::data_types::without_fields(&it.data_type).map_err(|it| at(it, whole))?
            }
            // Of a constant it is no type of one bit, as it is elsewhere.
            None if it.data_type == ast::DataType::Bit(None) => DataType::Bits(Bits::Any),
            None => self.type_named(&it.data_type).map_err(|it| at(it, whole))?,
        };
        let Some(text) = text_of(&it.value.value) else {
            return Err(unsupported("this kind of constant", whole));
        };
        let text = Value::Text(text.into());
        let value = self.read(&text, data_type).map_err(|it| at(it, whole))?;
        let read = Expr::literal(value, data_type);
        match (domain, fields) {
            (Some(domain), _) => {
                self.as_domain(Failing::Raises, read, &domain).map_err(|it| at(it, whole))
            }
            (None, Some(fields)) => self.fitted(read, fields).map_err(|it| at(it, whole)),
            (None, None) => Ok(read),
        }
    }
}

/// The text of a constant in quotes.
pub(crate) fn text_of(value: &ast::Value) -> Option<&str> {
    match value {
        ast::Value::SingleQuotedString(text)
        | ast::Value::EscapedStringLiteral(text)
        | ast::Value::UnicodeStringLiteral(text)
        | ast::Value::NationalStringLiteral(text) => Some(text),
        ast::Value::DollarQuotedString(it) => Some(&it.value),
        _ => None,
    }
}

/// A truth value as a constant.
pub(super) fn truth(value: Value) -> Expr {
    Expr::literal(value, DataType::Boolean)
}

/// Whether an expression is `ARRAY[]`, whose type only a cast tells.
pub(super) fn is_empty_array(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Array(it) if it.elem.is_empty())
}

/// An array without items.
pub(super) fn empty_array(data_type: DataType) -> Expr {
    Expr::literal(Value::Text("".into()), data_type)
}
