//! Addresses of hosts and networks: operators on them, and functions that tell INET and CIDR apart.

use plan::{Expr, Function};
use sqlparser::ast;
use types::{DataType, Element, Network, SqlResult, Value};

use super::Binder;
use super::coercion::fold_cast;
use super::comparison::no_operator;
use super::errors::at;

const INET: DataType = DataType::Network(Network::Inet);

fn is_network(expr: &Expr) -> bool {
    matches!(expr.data_type, DataType::Network(_))
}

impl<'a> Binder<'a> {
    /// An operator on addresses; `None` where neither operand is one.
    ///
    /// Errors: 42883 for an operator that there is not.
    pub(super) fn with_networks(
        &mut self,
        sign: &str,
        left: &Expr,
        right: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Option<Expr>> {
        if !is_network(left) && !is_network(right) {
            return Ok(None);
        }
        let (a, b) = (left.data_type, right.data_type);
        let is_number = |it: DataType| it.is_integer();
        let may_be = |it: DataType| matches!(it, DataType::Network(_) | DataType::Null);
        let unknown = if sign == "+" { DataType::BigInt } else { INET };
        let mut known = |it: &Expr| match it.data_type {
            DataType::Null => self.coerce_unknown(it.clone(), unknown).map_err(|it| at(it, whole)),
            _ => Ok(it.clone()),
        };
        let (left, right) = (known(left)?, known(right)?);
        let truth = |it| Expr::literal(Value::Boolean(it), DataType::Boolean);
        let both = may_be(a) && may_be(b);
        let (function, arguments) = match sign {
            "<<" | "<<=" if both => (Function::InetWithin, vec![left, right, truth(sign == "<<=")]),
            ">>" | ">>=" if both => (Function::InetWithin, vec![right, left, truth(sign == ">>=")]),
            "&&" if both => (Function::InetOverlaps, vec![left, right]),
            "&" if both => (Function::InetAnd, vec![left, right]),
            "|" if both => (Function::InetOr, vec![left, right]),
            "-" if both => (Function::InetDifference, vec![left, right]),
            "-" if is_number(b) => (Function::InetSubtract, vec![left, right]),
            "+" if is_number(b) || b == DataType::Null => (Function::InetAdd, vec![left, right]),
            "+" if is_number(a) || a == DataType::Null => (Function::InetAdd, vec![right, left]),
            _ => return Err(no_operator(sign, a, b, whole)),
        };
        self.invoke(function, arguments, whole).map(Some)
    }

    /// A function of addresses by the kernel of their type, and one of texts of how they are shown; else the arguments as they are.
    pub(super) fn of_networks(
        &mut self,
        function: Function,
        mut arguments: Vec<Expr>,
    ) -> SqlResult<(Function, Vec<Expr>)> {
        let has_items = |it: &Expr| matches!(it.data_type.element(), Some(DataType::Network(_)));
        let of_items =
            function == Function::ArrayToString && arguments.first().is_some_and(has_items);
        if !of_items && !arguments.iter().any(is_network) {
            return Ok((function, arguments));
        }
        let is_cidr = |it: &Expr| it.data_type == DataType::Network(Network::Cidr);
        match function {
            Function::Abbrev if arguments.len() == 1 && is_cidr(&arguments[0]) => {
                Ok((Function::AbbrevOfCidr, arguments))
            }
            Function::Concat | Function::ConcatWs | Function::Format => {
                for it in arguments.iter_mut().filter(|it| is_network(it)) {
                    *it = self.as_shown(it.clone())?;
                }
                Ok((function, arguments))
            }
            // The text of a whole array has its items as they are shown.
            Function::ArrayToString => {
                let texts = fold_cast(arguments[0].clone(), DataType::Text);
                arguments[0] = fold_cast(texts, DataType::Array(Element::Text));
                Ok((function, arguments))
            }
            _ => Ok((function, arguments)),
        }
    }

    /// An address as it is shown: a cast to a text has the mask of hosts, too. Other values as they are.
    pub(super) fn as_shown(&mut self, value: Expr) -> SqlResult<Expr> {
        match value.data_type {
            DataType::Network(Network::Inet) => {
                self.fold_call(Function::Abbrev, vec![value], DataType::Text)
            }
            DataType::Network(Network::Cidr) => Ok(fold_cast(value, DataType::Text)),
            _ => Ok(value),
        }
    }
}
