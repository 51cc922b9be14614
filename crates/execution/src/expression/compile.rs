//! From an expression of the plan to nodes: types and ways of holding values are decided here, once.

use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use types::{DataType, SqlError, SqlResult, Value};

use super::entries::Coded;
use super::node::Node;
use super::outside::{Outside, is_of_rows};
use super::{
    arithmetic, by_value, case, cast, codes, compare, constant_array, date, function, length, like,
    list, logic, text, try_cast,
};
use crate::Layout;

/// What an expression is compiled against.
pub(super) struct Compiler<'a> {
    pub layout: &'a Layout,
    pub outside: &'a dyn Outside,
    /// Whether parts over one dictionary column become tables over its entries; not inside such a part.
    pub tables: bool,
}

impl Compiler<'_> {
    pub fn compile(&self, expr: &Expr) -> SqlResult<Node> {
        if self.tables
            && let Some(of) = self.dictionary_of(expr)
        {
            let inner = Compiler { tables: false, ..*self }.node(expr)?;
            if !inner.facts.volatile {
                let expected = self.outside.expected_rows();
                return Ok(codes::per_entry(inner, &of, expected));
            }
        }
        self.node(expr)
    }

    /// The only column of an expression that is worth a table, when it has a dictionary.
    fn dictionary_of(&self, expr: &Expr) -> Option<Coded> {
        match &expr.kind {
            ExprKind::Column(_)
            | ExprKind::Literal(_)
            | ExprKind::Parameter(_)
            | ExprKind::Scalar(_) => return None,
            // One bit per row answers these already.
            ExprKind::Unary {
                operator: UnaryOperator::IsNull | UnaryOperator::IsNotNull,
                operand,
            } if matches!(operand.kind, ExprKind::Column(_)) => return None,
            _ => {}
        }
        // In a long chain this is asked for each link: the first column that is none, or another, ends the search.
        let (mut found, mut open): (Option<Coded>, _) = (None, vec![expr]);
        while let Some(expr) = open.pop() {
            if let ExprKind::Column(column) = expr.kind {
                match &found {
                    Some(known) if known.place == column => {}
                    Some(_) => return None,
                    None => found = Some(Coded::of(self.layout, column)?),
                }
            }
            open.extend(expr.children());
        }
        found
    }

    fn node(&self, expr: &Expr) -> SqlResult<Node> {
        let data_type = expr.data_type;
        let node = match &expr.kind {
            ExprKind::Column(index) => {
                let shape = self.layout.get(*index).ok_or_else(|| {
                    SqlError::internal(format!("column {index} of {} is read", self.layout.len()))
                })?;
                Node::column(*index, shape.clone())
            }
            ExprKind::Literal(value) => literal(value, data_type)?,
            ExprKind::Parameter(_) => {
                return Err(SqlError::internal("a parameter of the plan was given no value"));
            }
            ExprKind::Scalar(pipeline) => match self.outside.scalar(*pipeline) {
                Ok(value) => literal(&value, data_type)?,
                // Whoever asks for the value raises it; there may be no such row.
                Err(error) if is_of_rows(&error) => function::raised(error, data_type),
                Err(error) => return Err(error),
            },
            ExprKind::Binary { operator, left, right } => {
                self.binary(*operator, left, right, data_type)?
            }
            ExprKind::Unary { operator, operand } => self.unary(*operator, operand, data_type)?,
            ExprKind::Case { branches, otherwise } => {
                let conditions = (branches.iter())
                    .map(|(condition, _)| self.condition(condition))
                    .collect::<SqlResult<_>>()?;
                let mut results = (branches.iter())
                    .map(|(_, result)| self.compile(result))
                    .collect::<SqlResult<Vec<_>>>()?;
                results.push(match otherwise {
                    Some(otherwise) => self.compile(otherwise)?,
                    None => Node::null(data_type),
                });
                case::case(conditions, results, data_type)?
            }
            ExprKind::InList { operand, list, negated } => {
                list::in_list(self.compile(operand)?, list, *negated)
            }
            ExprKind::Like { operand, pattern, escape, case_insensitive, negated } => {
                let operand = self.compile(operand)?;
                like::like(operand, pattern, *escape, *case_insensitive, *negated)?
            }
            ExprKind::Cast(operand) => self.cast(operand, data_type)?,
            ExprKind::Extract { field, operand } => {
                date::extract(*field, self.compile(operand)?, data_type)?
            }
            ExprKind::Substring { operand, start, length } => {
                text::substring(self.compile(operand)?, *start, *length, data_type)?
            }
            ExprKind::Call { function, arguments } if needs_type(*function) => {
                self.of_known_type(*function, arguments, data_type)?
            }
            ExprKind::Call { function, arguments } => self.call(*function, arguments, data_type)?,
        };
        // The plan's word on a type holds, down to the scale of a decimal.
        if node.shape.data_type == data_type || node.shape.data_type == DataType::Null {
            Ok(node)
        } else {
            cast::cast(node, data_type)
        }
    }

    /// A call that depends on the type of its first argument.
    fn of_known_type(
        &self,
        function: Function,
        arguments: &[Expr],
        to: DataType,
    ) -> SqlResult<Node> {
        let operand = arguments.first().ok_or_else(|| SqlError::internal("no operand"))?;
        let (operand, zone) = (self.compile(operand)?, self.outside.zone());
        match function {
            // A third argument says that a value converts as a whole or not at all.
            Function::InputError => {
                let of = arguments.get(1).map_or(DataType::Null, |it| it.data_type);
                Ok(by_value::input_error(operand, of, &zone))
            }
            Function::TryCastToType => try_cast::try_cast(operand, to, &zone, arguments.len() > 2),
            _ => Ok(by_value::of_nested(function, operand, to, &zone)),
        }
    }

    fn call(&self, function: Function, arguments: &[Expr], data_type: DataType) -> SqlResult<Node> {
        let arguments = arguments.iter().map(|it| self.compile(it)).collect::<SqlResult<_>>()?;
        let call = |it| function::function(function, it, data_type, self.outside.sequences());
        let known = length::length(function, arguments);
        let known = known.or_else(|it| constant_array::of_constant(function, it, data_type));
        Ok(known.unwrap_or_else(call))
    }

    fn cast(&self, operand: &Expr, to: DataType) -> SqlResult<Node> {
        cast::cast_in(self.compile(operand)?, to, Some(&self.outside.zone()))
    }

    fn condition(&self, expr: &Expr) -> SqlResult<Node> {
        cast::cast(self.compile(expr)?, DataType::Boolean)
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        data_type: DataType,
    ) -> SqlResult<Node> {
        use BinaryOperator::*;
        if matches!(operator, And | Or) {
            let mut operands = Vec::new();
            self.flatten(operator, left, &mut operands)?;
            self.flatten(operator, right, &mut operands)?;
            return Ok(logic::logic(operands, operator == Or));
        }
        let (left, right) = (self.compile(left)?, self.compile(right)?);
        match operator {
            Add | Subtract if has_dates(&left, &right) => {
                date::days(operator, left, right, data_type)
            }
            Add | Subtract | Multiply | Divide | Modulo => {
                arithmetic::arithmetic(operator, left, right, data_type)
            }
            IsDistinctFrom => compare::distinct(left, right, false),
            IsNotDistinctFrom => compare::distinct(left, right, true),
            _ => compare::compare(operator, left, right),
        }
    }

    /// The operands of nested ANDs, or ORs, in order.
    fn flatten(
        &self,
        wanted: BinaryOperator,
        expr: &Expr,
        operands: &mut Vec<Node>,
    ) -> SqlResult<()> {
        match &expr.kind {
            // A nest over one dictionary column is one table.
            ExprKind::Binary { operator, left, right }
                if *operator == wanted && !(self.tables && self.dictionary_of(expr).is_some()) =>
            {
                self.flatten(wanted, left, operands)?;
                self.flatten(wanted, right, operands)
            }
            _ => {
                operands.push(self.condition(expr)?);
                Ok(())
            }
        }
    }

    fn unary(
        &self,
        operator: UnaryOperator,
        operand: &Expr,
        data_type: DataType,
    ) -> SqlResult<Node> {
        Ok(match operator {
            UnaryOperator::Not => logic::not(self.condition(operand)?),
            UnaryOperator::Negate => arithmetic::negate(self.compile(operand)?, data_type)?,
            UnaryOperator::IsNull => logic::is_null(self.compile(operand)?, false),
            UnaryOperator::IsNotNull => logic::is_null(self.compile(operand)?, true),
            UnaryOperator::IsTrue => logic::is_truth(self.condition(operand)?, true, false),
            UnaryOperator::IsFalse => logic::is_truth(self.condition(operand)?, false, false),
            UnaryOperator::IsNotTrue => logic::is_truth(self.condition(operand)?, true, true),
            UnaryOperator::IsNotFalse => logic::is_truth(self.condition(operand)?, false, true),
        })
    }
}

/// Whether a function depends on the type of its argument, which its held form does not tell.
fn needs_type(function: Function) -> bool {
    use Function::{InputError, NestedFit, NestedJson, NestedKey, TryCastToType};
    matches!(function, InputError | NestedFit | NestedJson | NestedKey | TryCastToType)
}

fn has_dates(left: &Node, right: &Node) -> bool {
    left.shape.data_type == DataType::Date || right.shape.data_type == DataType::Date
}

/// A constant of a type; a value of another kind or scale is converted.
pub(super) fn literal(value: &Value, data_type: DataType) -> SqlResult<Node> {
    let stored = data_type.stored();
    let natural = match value {
        Value::Null => return Ok(Node::null(data_type)),
        Value::Boolean(_) => DataType::Boolean,
        Value::Integer(_) if stored.is_integer() => stored,
        Value::Integer(_) => DataType::BigInt,
        Value::Float(_) if data_type.is_float() => data_type,
        Value::Float(_) => DataType::Double,
        Value::Decimal { scale, .. } if stored.scale() == *scale => stored,
        Value::Decimal { scale, .. } => DataType::Decimal { precision: 38, scale: *scale },
        Value::Date(_) => DataType::Date,
        Value::Timestamp(_) => DataType::Timestamp,
        Value::Text(_) if stored.is_text() => stored,
        Value::Text(_) => DataType::Text,
    };
    if natural == stored {
        return Ok(Node::constant(value.clone(), data_type));
    }
    cast::cast(Node::constant(value.clone(), natural), data_type)
}
