//! Arrays: `ARRAY[..]`, `ARRAY(query)`, subscripts and slices, ANY and ALL of an array, and their operators.

use plan::build::{compare, negated, null, unary};
use plan::relation::{Apply, Rel};
use plan::{
    Aggregate, AggregateFunction, BinaryOperator, Expr, ExprKind, Function, SortKey, UnaryOperator,
};
use sqlparser::ast::{self, AccessExpr, Subscript};
use types::array::{Items, value_of};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::coercion::{fold_cast, has_key, key_of, name_of, nested_call};
use super::errors::{at, unsupported};
use super::level::one_row;
use super::quantified_test::Test;
use super::{Answer, Binder, OutputColumn};

impl<'a> Binder<'a> {
    /// `ARRAY[a, b]` or `[a, b]`.
    pub(super) fn array_of(
        &mut self,
        items: &'a [ast::Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut bound = items.iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
        // As DuckDB has it, brackets around nothing are an array of whatever is asked for.
        if bound.is_empty() && matches!(whole, ast::Expr::Array(it) if !it.named) {
            return Ok(Expr::literal(Value::Text("{}".into()), DataType::Null));
        }
        if bound.is_empty() {
            let message = "cannot determine type of empty array";
            let hint = "explicitly cast to the desired type, for example ARRAY[]::integer[]";
            return Err(at(SqlError::new(SqlState("42P18"), message).with_hint(hint), whole));
        }
        let data_type = self.unify(&mut bound, "ARRAY").map_err(|it| at(it, whole))?;
        match data_type.array() {
            Some(array) => self.fold_call(Function::ArrayOf, bound, array),
            None => self.fold_call(Function::ArrayStack, bound, data_type),
        }
    }

    /// `ARRAY(query)`: the rows in the order of the query, none is an empty array.
    pub(super) fn array_of_rows(
        &mut self,
        query: &'a ast::Query,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut answer = self.query(query)?;
        self.decide_types(&mut answer)?;
        let [column] = &answer.columns[..] else {
            let message = "subquery must return only one column";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
        };
        let argument = self.column_expr(column.attr);
        let data_type = argument.data_type.array().unwrap_or(argument.data_type);
        let order = order_of(&answer.rel);
        let (source, value) = (self.attribute(data_type, true), self.attribute(data_type, true));
        let aggregate = Aggregate {
            order,
            ..Aggregate::of(AggregateFunction::ArrayAggregate, Some(argument), data_type)
        };
        let input = Box::new(answer.rel);
        let rel = Rel::Aggregate {
            input,
            keys: Vec::new(),
            aggregates: vec![(source, aggregate)],
            rows: 0.0,
        };
        self.attach(rel, Apply::Scalar { value, source })?;
        let value = Expr::column(value, data_type);
        let there = unary(UnaryOperator::IsNotNull, value.clone());
        let empty = Expr::literal(Value::Text("".into()), data_type);
        let kind =
            ExprKind::Case { branches: vec![(there, value)], otherwise: Some(Box::new(empty)) };
        Ok(Expr { kind, data_type })
    }

    /// Binds what nothing beside it gives a type: brackets around nothing are an array of INTEGER there, as DuckDB has it.
    pub(super) fn alone(&mut self, expr: &'a ast::Expr) -> SqlResult<Expr> {
        match expr {
            ast::Expr::Array(it) if it.elem.is_empty() && !it.named => {
                let data_type = DataType::Integer.array().unwrap_or(DataType::Integer);
                Ok(super::literal::empty_array(data_type))
            }
            _ => self.declared(expr),
        }
    }

    /// `a[1]`, `a[1][2]`, `a[2:3]`, and parts of structs: `s['a']`, `(s).a`.
    pub(super) fn subscripted(
        &mut self,
        root: &'a ast::Expr,
        mut chain: &'a [AccessExpr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut value = self.expr(root)?;
        while let [access, rest @ ..] = chain {
            let own = value.data_type;
            (value, chain) = match own {
                DataType::Struct(of) => (self.struct_access(value, of, access, whole)?, rest),
                _ if let AccessExpr::Dot(ast::Expr::Identifier(name)) = access => {
                    (self.field(value, &crate::syntax::ident(name), whole)?, rest)
                }
                DataType::Map(_) => (self.map_access(value, access, whole)?, rest),
                DataType::Jsonb => return self.json_subscripted(value, chain, whole),
                DataType::Null if chain.len() == 1 => {
                    let text = self.coerce_unknown(value, DataType::Text);
                    return self.part_of_text(text.map_err(|it| at(it, root))?, &chain[0], whole);
                }
                it if it.is_text() && chain.len() == 1 => {
                    return self.part_of_text(value, &chain[0], whole);
                }
                _ => {
                    let is_subscript = |it: &&AccessExpr| matches!(it, AccessExpr::Subscript(_));
                    let most = if types::structs::is_nested(own) { 1 } else { chain.len() };
                    let count = chain.iter().take(most).take_while(is_subscript).count().max(1);
                    let (subscripts, rest) = chain.split_at(count);
                    (self.item_of_array(value, subscripts, whole)?, rest)
                }
            };
        }
        Ok(value)
    }

    /// The item, or the slice, of an array at subscripts.
    fn item_of_array(
        &mut self,
        array: Expr,
        chain: &'a [AccessExpr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let own = array.data_type;
        let Some(element) = own.element() else {
            let message = format!(
                "cannot subscript type {} because it does not support subscripting",
                name_of(own)
            );
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        };
        let mut bounds = Vec::with_capacity(chain.len());
        let mut sliced = false;
        for access in chain {
            bounds.push(match access {
                AccessExpr::Subscript(Subscript::Index { index }) => {
                    (None, Some(self.subscript(index)?))
                }
                AccessExpr::Subscript(Subscript::Slice {
                    lower_bound,
                    upper_bound,
                    stride: None,
                }) => {
                    sliced = true;
                    let mut bound = |it: &'a Option<ast::Expr>, open: i32| match it {
                        Some(it) => self.subscript(it),
                        None => Ok(big(open)),
                    };
                    (Some(bound(lower_bound, i32::MIN)?), Some(bound(upper_bound, i32::MAX)?))
                }
                _ => return Err(unsupported("this access to a part of a value", whole)),
            });
        }
        let mut arguments = vec![array];
        for (lower, upper) in bounds {
            // Among slices, a subscript means all from one up to it.
            if sliced {
                arguments.push(lower.unwrap_or_else(|| big(1)));
            }
            arguments.extend(upper);
        }
        match sliced {
            true => self.fold_call(Function::ArraySlice, arguments, own),
            false => self.fold_call(Function::ArrayItem, arguments, element),
        }
    }

    /// `'abc'[1]` and `'abc'[2:3]`, as DuckDB has them.
    fn part_of_text(
        &mut self,
        text: Expr,
        access: &'a AccessExpr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (first, last) = match access {
            AccessExpr::Subscript(Subscript::Index { index }) => {
                let place = self.subscript(index)?;
                (self.copy(&place)?, place)
            }
            AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride: None }) => {
                let mut bound = |it: &'a Option<ast::Expr>, open: i32| match it {
                    Some(it) => self.subscript(it),
                    None => Ok(big(open)),
                };
                (bound(lower_bound, i32::MIN)?, bound(upper_bound, i32::MAX)?)
            }
            AccessExpr::Dot(_) | AccessExpr::Subscript(_) => {
                return Err(unsupported("this access to a part of a value", whole));
            }
        };
        self.invoke(Function::TextSlice, vec![text, first, last], whole)
    }

    fn subscript(&mut self, expr: &'a ast::Expr) -> SqlResult<Expr> {
        let bound = self.expr(expr)?;
        match bound.data_type {
            DataType::Null => {
                self.coerce_unknown(bound, DataType::BigInt).map_err(|it| at(it, expr))
            }
            // Beyond INTEGER there is no place: 22003.
            it if it.is_numeric() => {
                Ok(fold_cast(fold_cast(bound, DataType::Integer), DataType::BigInt))
            }
            _ => {
                let message = "array subscript must have type integer";
                Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), expr))
            }
        }
    }

    /// `x operator ANY (array)`, or ALL.
    pub(super) fn quantified_array(
        &mut self,
        left: &'a ast::Expr,
        test: Test,
        right: &'a ast::Expr,
        all: bool,
    ) -> SqlResult<Expr> {
        let item = self.expr(left)?;
        let array = self.expr(right)?;
        let (item, array) = match (item.data_type, array.data_type) {
            (own, DataType::Null) => {
                let element = if own == DataType::Null { DataType::Text } else { own };
                let Some(of) = super::coercion::roomy(element, &array).array() else {
                    return Err(not_an_array(right));
                };
                (item, self.coerce_unknown(array, of).map_err(|it| at(it, right))?)
            }
            (DataType::Null, known) => {
                let element = known.element().ok_or_else(|| not_an_array(right))?;
                // Patterns are for texts, whatever the items are.
                let element = match test {
                    Test::Compares(_) => element,
                    _ => DataType::Text,
                };
                (self.coerce_unknown(item, element).map_err(|it| at(it, left))?, array)
            }
            (_, known) if known.element().is_none() => return Err(not_an_array(right)),
            _ => (item, array),
        };
        // ALL of an operator is not ANY of the opposite one.
        let asked = if all { test.opposite() } else { test };
        let found = self.any_of_array(asked, item, array, left)?;
        Ok(if all { negated(found) } else { found })
    }

    fn any_of_array(
        &mut self,
        test: Test,
        item: Expr,
        array: Expr,
        node: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let element = array.data_type.element().unwrap_or(DataType::Text);
        if let ExprKind::Literal(value) = &array.kind {
            let Value::Text(held) = value else {
                self.leave_out([item]);
                return Ok(null(DataType::Boolean));
            };
            let literal = |it| Expr::literal(value_of(it, element), element);
            let items: Vec<Expr> = Items::new(held).map(literal).collect();
            if items.is_empty() {
                self.leave_out([item]);
                return Ok(super::literal::truth(Value::Boolean(false)));
            }
            if test == Test::Compares(BinaryOperator::Equal) {
                return self.member(item, items, node);
            }
            let mut any = Vec::with_capacity(items.len());
            for other in items {
                let own = self.copy(&item)?;
                any.push(self.tested(test, own, other, node)?);
            }
            let any = plan::relation::combine(BinaryOperator::Or, any);
            return any.ok_or_else(|| SqlError::internal("an empty list"));
        }
        if test == Test::Compares(BinaryOperator::Equal) {
            // Numbers of two kinds meet as floats in comparisons, as in PostgreSQL.
            let meet = types::numeric::comparison_type(item.data_type, element);
            let Some(meet) = meet else {
                return Err(super::comparison::no_operator("=", item.data_type, element, node));
            };
            let of = meet.array().unwrap_or(array.data_type);
            let (item, array) = (fold_cast(item, meet), fold_cast(array, of));
            return self.invoke(Function::ArrayAny, vec![key_of(item), key_of(array)], node);
        }
        let (copy, again) = (self.copy(&array)?, self.copy(&array)?);
        let Some(items) = self.items_of(copy, one_row()) else { return Err(not_an_array(node)) };
        let (input, part) = items?;
        let attr = part.value;
        let (rel, _) = self.side_by_side(input, &[part])?;
        let other = self.column_expr(attr);
        let condition = self.tested(test, item, other, node)?;
        let columns = vec![OutputColumn::made("", attr)];
        let mark = self.mark(Answer { rel, columns }, condition, false)?;
        let there = unary(UnaryOperator::IsNotNull, again);
        let kind = ExprKind::Case { branches: vec![(there, mark)], otherwise: None };
        Ok(Expr { kind, data_type: DataType::Boolean })
    }

    /// `a || b` where one of them is an array; `None` where none is.
    pub(super) fn array_concatenation(
        &mut self,
        left: &Expr,
        right: &Expr,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let is_array = |it: &Expr| it.data_type.element().is_some();
        // A constant of unknown type beside an array is read as one.
        let like_array = |it: &Expr| is_array(it) || it.data_type == DataType::Null;
        let function = match (is_array(left), is_array(right)) {
            (false, false) => return None,
            _ if like_array(left) && like_array(right) => Function::ArrayCat,
            (true, _) => Function::ArrayAppend,
            (false, _) => Function::ArrayPrepend,
        };
        let (a, b) = (left.data_type, right.data_type);
        if functions::resolve(function, &[a, b]).is_err() {
            return Some(Err(super::comparison::no_operator("||", a, b, whole)));
        }
        Some(self.invoke(function, vec![left.clone(), right.clone()], whole))
    }

    /// `@>`, `<@` and `&&`.
    pub(super) fn array_sets(
        &mut self,
        function: Function,
        (left, right): (&'a ast::Expr, &'a ast::Expr),
        sign: &str,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (left, right) = self.operands(left, right)?;
        if let Some(of_json) = self.jsonb_operator(&left, &right, sign, whole) {
            return of_json;
        }
        if let Some(found) = self.own_operator(sign, &left, &right, whole)? {
            return Ok(found);
        }
        let (a, b) = (left.data_type, right.data_type);
        if functions::resolve(function, &[a, b]).is_err() {
            return Err(super::comparison::no_operator(sign, a, b, whole));
        }
        let own = if a == DataType::Null { b } else { a };
        let mut side = |it: Expr| match it.data_type {
            DataType::Null => self.coerce_unknown(it, own),
            _ => Ok(it),
        };
        let (left, right) = (key_of(side(left)?), key_of(side(right)?));
        let arguments = match sign {
            "<@" => vec![right, left],
            _ => vec![left, right],
        };
        self.invoke(function, arguments, whole)
    }

    /// The arguments of a function that looks for an item in an array: where items may be equal and yet be held otherwise, it
    /// compares keys, which stand behind the items where these are kept.
    pub(super) fn by_item_keys(
        &mut self,
        function: Function,
        mut given: Vec<Expr>,
    ) -> SqlResult<Vec<Expr>> {
        use Function::{ArrayPosition, ArrayPositions, ArrayRemove, ArrayReplace};
        let [array, item, ..] = &given[..] else { return Ok(given) };
        if !has_key(item.data_type)
            || !matches!(function, ArrayPosition | ArrayPositions | ArrayRemove | ArrayReplace)
        {
            return Ok(given);
        }
        let (array, item) = (key_of(self.copy(array)?), self.copy(item)?);
        let item = match item.data_type {
            // The keys of items are texts.
            DataType::Numeric => nested_call(Function::NestedKey, item, DataType::Text),
            _ => key_of(item),
        };
        let keys = [array, item];
        match function {
            ArrayRemove | ArrayReplace => given.extend(keys),
            _ => drop(given.splice(..2, keys)),
        }
        Ok(given)
    }

    /// `list_sort(l, 'DESC')` and `list_reverse_sort`; `None` of any other call.
    fn sorted_call(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let (array, descending, nulls) = match (name, bound) {
            ("list_sort" | "array_sort", [array, order, nulls @ ..]) => {
                (array, direction(order)?, nulls)
            }
            ("list_reverse_sort" | "array_reverse_sort", [array, nulls @ ..]) => {
                (array, true, nulls)
            }
            _ => return None,
        };
        array.data_type.element()?;
        Some(self.sorted_by_words(array, descending, nulls, whole))
    }

    /// A list sorted as DuckDB's words say: NULLs are last unless they are said to be first, in either direction.
    fn sorted_by_words(
        &mut self,
        array: &Expr,
        descending: bool,
        nulls: &[Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let first = match nulls {
            [] => Some(false),
            [word] => match super::constant(word) {
                Some(Value::Text(it)) if it.eq_ignore_ascii_case("nulls first") => Some(true),
                Some(Value::Text(it)) if it.eq_ignore_ascii_case("nulls last") => Some(false),
                _ => None,
            },
            _ => None,
        };
        let Some(first) = first else {
            let message = "the order of NULLs in a list is NULLS FIRST or NULLS LAST";
            return Err(at(SqlError::new(SqlState::INVALID_PARAMETER, message), whole));
        };
        let truth = |it: bool| Expr::literal(Value::Boolean(it), DataType::Boolean);
        let arguments = vec![array.clone(), truth(descending), truth(first)];
        self.invoke(Function::ArraySort, arguments, whole)
    }

    /// DuckDB's functions of lists that PostgreSQL spells in another way, and those of maps; `None` of any other call.
    pub(super) fn list_call(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let is_array = |it: &Expr| it.data_type.element().is_some();
        if let Some(sorted) = self.sorted_call(name, bound, whole) {
            return Some(sorted);
        }
        match (name, bound) {
            ("len" | "length" | "array_length", [array]) if is_array(array) => {
                let arguments = vec![array.clone()];
                let count = self.invoke(Function::Cardinality, arguments, whole);
                Some(count.map(|it| fold_cast(it, DataType::BigInt)))
            }
            // DuckDB's `len` of a text.
            ("len", [text]) if text.data_type.is_text() || text.data_type == DataType::Null => {
                let count = self.invoke(Function::CharacterLength, vec![text.clone()], whole);
                Some(count.map(|it| fold_cast(it, DataType::BigInt)))
            }
            ("list_value" | "list_pack", []) => {
                let data_type = DataType::Integer.array()?;
                Some(Ok(Expr::literal(Value::Text("".into()), data_type)))
            }
            ("list_value" | "list_pack" | "array_value", [_, ..]) => {
                let mut items = bound.to_vec();
                Some(self.unify(&mut items, "LIST").and_then(|it| match it.array() {
                    Some(array) => self.fold_call(Function::ArrayOf, items, array),
                    None => self.fold_call(Function::ArrayStack, items, it),
                }))
            }
            ("list_contains" | "list_has" | "array_contains" | "array_has", [array, item])
                if is_array(array) =>
            {
                Some(self.list_has(array, item, whole))
            }
            ("list_has_all" | "array_has_all", [a, b]) if is_array(a) => {
                Some(self.has_all(a, b, whole))
            }
            ("list_has_any" | "array_has_any", [a, b]) if is_array(a) => {
                let flat = self.flat(a.clone());
                Some(
                    flat.and_then(|it| {
                        self.invoke(Function::ArrayOverlap, vec![it, b.clone()], whole)
                    }),
                )
            }
            ("list_extract" | "list_element" | "array_extract", [array, place])
                if is_array(array) =>
            {
                Some(self.list_item(array, place, whole))
            }
            ("list_slice" | "array_slice", [text, _, _])
                if text.data_type.is_text() || text.data_type == DataType::Null =>
            {
                Some(self.invoke(Function::TextSlice, bound.to_vec(), whole))
            }
            ("list_slice" | "array_slice", [array, from, to]) if is_array(array) => {
                Some(self.list_slice(array, (from, to), whole))
            }
            _ => self.map_call(name, bound, whole),
        }
    }
}

impl<'a> Binder<'a> {
    /// DuckDB's `list_extract`, which counts places below zero from the end.
    fn list_item(&mut self, array: &Expr, place: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let array = self.flat(array.clone())?;
        let place = self.place_in(&array, place, whole)?;
        self.invoke(Function::ArrayItem, vec![array, place], whole)
    }

    /// DuckDB's `list_slice`, which does so too.
    fn list_slice(
        &mut self,
        array: &Expr,
        (from, to): (&Expr, &Expr),
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let (from, to) = (self.place_in(array, from, whole)?, self.place_in(array, to, whole)?);
        self.invoke(Function::ArraySlice, vec![array.clone(), from, to], whole)
    }

    /// A place in a list from its beginning, where those below zero are counted from the end.
    fn place_in(&mut self, array: &Expr, place: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let is_known = matches!(super::constant(place), Some(Value::Integer(it)) if *it >= 0);
        if is_known || !place.data_type.is_integer() {
            return Ok(place.clone());
        }
        let (copy, again) = (self.copy(array)?, self.copy(place)?);
        let place = fold_cast(place.clone(), DataType::BigInt);
        let count = self.invoke(Function::Cardinality, vec![copy], whole)?;
        let again = fold_cast(again, DataType::BigInt);
        let one = Expr::literal(Value::Integer(1), DataType::BigInt);
        let sum = |this: &mut Self, a, b| {
            let wrong = || Err(SqlError::internal("places do not add up"));
            this.calculate(BinaryOperator::Add, a, b).unwrap_or_else(wrong)
        };
        let behind = sum(self, fold_cast(count, DataType::BigInt), one)?;
        let from_end = sum(self, behind, again)?;
        let zero = Expr::literal(Value::Integer(0), DataType::BigInt);
        let is_below = compare(BinaryOperator::Less, place.clone(), zero);
        let kind = ExprKind::Case {
            branches: vec![(is_below, from_end)],
            otherwise: Some(Box::new(place)),
        };
        Ok(Expr { kind, data_type: DataType::BigInt })
    }

    /// DuckDB's `list_contains`: unlike ANY, NULL in the list does not count; but nothing is known of NULL itself.
    fn list_has(&mut self, array: &Expr, item: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let item = match (item.data_type, array.data_type.element()) {
            (DataType::Null, Some(element)) => self.coerce_unknown(item.clone(), element)?,
            _ => item.clone(),
        };
        let array = self.flat(array.clone())?;
        let arguments = vec![key_of(item.clone()), key_of(array.clone())];
        let found = self.invoke(Function::ArrayAny, arguments, whole)?;
        let there = |it: &Expr| unary(UnaryOperator::IsNotNull, it.clone());
        let known = Expr::predicate(BinaryOperator::And, there(&array), there(&item));
        let branches = vec![(known, unary(UnaryOperator::IsTrue, found))];
        let kind = ExprKind::Case { branches, otherwise: None };
        Ok(Expr { kind, data_type: DataType::Boolean })
    }

    /// DuckDB's `list_has_all`: NULL among what is looked for does not count, unlike for `@>`.
    fn has_all(&mut self, a: &Expr, b: &Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let a = &self.flat(a.clone())?;
        let plain = self.invoke(Function::ArrayContains, vec![a.clone(), b.clone()], whole)?;
        if b.data_type.element().is_none() {
            return Ok(plain);
        }
        let arguments = vec![b.clone(), null(DataType::Null)];
        let known = self.invoke(Function::ArrayRemove, arguments, whole)?;
        let counted = self.invoke(Function::ArrayContains, vec![a.clone(), known], whole)?;
        let levels = self.invoke(Function::ArrayNdims, vec![b.clone()], whole)?;
        let one = Expr::literal(Value::Integer(1), levels.data_type);
        let is_flat = compare(BinaryOperator::Equal, levels, one);
        let (branches, otherwise) = (vec![(is_flat, counted)], Some(Box::new(plain)));
        let kind = ExprKind::Case { branches, otherwise };
        Ok(Expr { kind, data_type: DataType::Boolean })
    }
}

fn big(value: i32) -> Expr {
    Expr::literal(Value::Integer(value.into()), DataType::BigInt)
}

fn not_an_array(node: &ast::Expr) -> SqlError {
    let message = "op ANY/ALL (array) requires array on right side";
    at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), node)
}

/// The order of the rows of a query.
fn order_of(rel: &Rel) -> Vec<SortKey> {
    match rel {
        Rel::Sort { partition, keys, .. } if partition.is_empty() => keys.clone(),
        Rel::Limit { input, .. } | Rel::Filter { input, .. } | Rel::Map { input, .. } => {
            order_of(input)
        }
        _ => Vec::new(),
    }
}

/// Whether a constant is one of DuckDB's words for a direction, and that for descending.
fn direction(order: &Expr) -> Option<bool> {
    match super::constant(order) {
        Some(Value::Text(it)) if it.eq_ignore_ascii_case("desc") => Some(true),
        Some(Value::Text(it)) if it.eq_ignore_ascii_case("asc") => Some(false),
        _ => None,
    }
}
