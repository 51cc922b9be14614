//! Calls of functions.

use plan::build::unary;
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use types::numeric::interval_text::Fields;
use types::{DataType, SqlError, SqlResult, SqlState, Value, array, names};

use super::Binder;
use super::coercion::{fold_cast, roomy, with_blanks};
use super::errors::{at, suggested, unsupported};
use super::failing::Failing;
use super::{aggregate_names, constant};
use crate::sequence_names::{as_relation, relation_in, without_class};
use crate::syntax::ident;

impl<'a> Binder<'a> {
    /// A call of a function, aggregates included.
    pub(super) fn call(
        &mut self,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let Some(name) = function_name(&call.name) else {
            return Err(self.no_such_call(call, whole));
        };
        if let Some(one) = self.call_of_functions(call, whole) {
            return one;
        }
        if call.uses_odbc_syntax || call.parameters != FunctionArguments::None {
            return Err(unsupported("this form of a call", whole));
        }
        if let (Some(column), "columns") = (self.chosen, &*name) {
            return self.named_column(column);
        }
        if let Some(over) = &call.over {
            return self.window(&name, call, over, whole);
        }
        if let (FunctionArguments::Subquery(query), "array") = (&call.args, &*name) {
            return self.array_of_rows(query, whole);
        }
        if let Some(of_rows) = self.call_of_rows(&name, call, whole) {
            return of_rows;
        }
        if let Some(bound) = self.named_arguments(&name, call, whole)? {
            let made = self.made_call(&name, &bound, whole);
            return made
                .unwrap_or_else(|| self.plain_call(functions::lookup(&name), &name, bound, whole));
        }
        let arguments = plain_arguments(call, whole)?;
        if let (Some(function), [digits]) = (of_the_time(&name), &arguments[..]) {
            return self.now_in_digits(function, digits, whole);
        }
        let arguments = match spread(&name, arguments, whole)? {
            Spread::Arguments(arguments) => arguments,
            Spread::Array(before, array) => return self.variadic(&name, &before, array, whole),
        };
        let before = self.series_count();
        let made = self.call_of_arguments(&name, arguments, whole)?;
        if matches!(&*name, "coalesce" | "ifnull" | "nvl") {
            self.no_series_since(before, "COALESCE", whole)?;
        }
        Ok(made)
    }

    /// A call of a function that is no aggregate, and makes no rows.
    pub(super) fn call_of_arguments(
        &mut self,
        name: &str,
        mut arguments: Vec<&'a ast::Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if let Some(made) = self.sql_json_call(name, &arguments, whole) {
            return made;
        }
        if matches!(name, "grouping" | "grouping_id") {
            return self.grouping_call(&arguments, whole);
        }
        let function = functions::lookup(name);
        if function.is_some_and(Function::is_of_sequences)
            && let Some(first) = arguments.first_mut()
        {
            *first = without_class(first);
        }
        let told = self.json_of_row(name, &arguments, whole);
        if let Some(told) = told.or_else(|| self.type_of(name, &arguments)) {
            return told;
        }
        if let Some(of_items) = self.call_of_items(name, &arguments, whole) {
            return of_items;
        }
        let bound = match arguments[..] {
            [one] if super::literal::is_empty_array(one) => vec![self.alone(one)?],
            [text, ast::Expr::Identifier(form)] if name == "normalize" && is_form(form) => {
                vec![self.expr(text)?, super::json::word(&form.value)]
            }
            _ => arguments.iter().map(|&it| self.expr(it)).collect::<SqlResult<_>>()?,
        };
        if let Some(made) = self.made_call(name, &bound, whole) {
            return made;
        }
        if name == "merge_action" && bound.is_empty() {
            return self.action_of_merge(whole);
        }
        self.plain_call(function, name, bound, whole)
    }

    /// A call whose last arguments are the items of an array.
    fn variadic(
        &mut self,
        name: &str,
        before: &[&'a ast::Expr],
        array: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let before = before.iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
        let array = self.expr(array)?;
        let as_text = name.ends_with("_text");
        if array.data_type != DataType::Null && array.data_type.element().is_none() {
            let message = "VARIADIC argument must be an array";
            return Err(at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), whole));
        }
        match (name, &before[..]) {
            ("concat", []) => {
                self.invoke(Function::ArrayToString, vec![array, super::json::word("")], whole)
            }
            ("concat_ws", [between]) => {
                self.invoke(Function::ArrayToString, vec![array, between.clone()], whole)
            }
            (
                "json_extract_path"
                | "jsonb_extract_path"
                | "json_extract_path_text"
                | "jsonb_extract_path_text",
                [json],
            ) => {
                let kind = match name.starts_with("jsonb") {
                    true => DataType::Jsonb,
                    false => DataType::Json,
                };
                let json = self.converted(json.clone(), kind)?;
                let function = if as_text { Function::JsonPathText } else { Function::JsonPath };
                self.invoke(function, vec![json, array], whole)
            }
            ("jsonb_delete", [json]) => {
                self.invoke(Function::JsonDelete, vec![json.clone(), array], whole)
            }
            (_, []) if let Some(set) = self.set_of_array(name, &array, whole) => set,
            _ => self.spread_constant(name, before, &array, whole),
        }
    }

    /// A call whose last arguments are the items of a constant array.
    fn spread_constant(
        &mut self,
        name: &str,
        before: Vec<Expr>,
        array: &Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let counts = matches!(name, "num_nulls" | "num_nonnulls");
        let builds = name
            .strip_prefix("jsonb")
            .or_else(|| name.strip_prefix("json"))
            .is_some_and(|it| matches!(it, "_build_array" | "_build_object"));
        let known = array.data_type.element().filter(|_| counts || builds || name == "format");
        let (Some(element), Some(value)) = (known, constant(array)) else {
            return Err(unsupported("VARIADIC of what is no constant array", whole));
        };
        let items: Vec<Expr> = match value {
            Value::Text(held) => array::Items::new(held)
                .map(|it| Expr::literal(array::value_of(it, element), element))
                .collect(),
            // PostgreSQL's own rule: no array is no arguments to one, and the whole is nothing to the others.
            _ if name == "format" => Vec::new(),
            _ if counts => return Ok(plan::build::null(DataType::Integer)),
            _ if name.starts_with("jsonb") => return Ok(plan::build::null(DataType::Jsonb)),
            _ => return Ok(plan::build::null(DataType::Json)),
        };
        if counts && items.is_empty() && before.is_empty() {
            return Ok(Expr::literal(Value::Integer(0), DataType::Integer));
        }
        let arguments = [before, items].concat();
        let made = self.made_call(name, &arguments, whole);
        made.unwrap_or_else(|| self.plain_call(functions::lookup(name), name, arguments, whole))
    }

    /// `current_timestamp(2)`: the time with so many digits of seconds.
    fn now_in_digits(
        &mut self,
        function: Function,
        digits: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(said, _), .. }) =
            digits
        else {
            let message = "syntax error: the digits of a time must be a whole number";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), digits));
        };
        let Ok(said) = said.parse::<u64>() else {
            let message = format!("syntax error: {said} is no number of digits");
            return Err(at(SqlError::new(SqlState::SYNTAX, message), digits));
        };
        let time = self.invoke(function, Vec::new(), whole)?;
        self.fitted(time, Fields { digits: Some(said.min(6) as u8), ..Fields::default() })
    }

    /// A call of a function of bound arguments, or of what PostgreSQL's catalog tells.
    fn plain_call(
        &mut self,
        function: Option<Function>,
        name: &str,
        bound: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut bound = self.with_clocks(name, bound);
        match function {
            Some(function) if function.is_of_sequences() => {
                self.check_sequence(&mut bound).map_err(|it| at(it, whole))?;
                self.invoke(function, bound, whole)
            }
            Some(Function::Coalesce | Function::Nvl) => self.coalesce(bound, whole),
            Some(Function::Nullif) => self.nullif(bound, whole),
            Some(function @ (Function::Greatest | Function::Least)) => {
                self.extreme((function, name), bound, whole)
            }
            // The function of that name takes texts; the operator sees the blanks of CHAR.
            Some(function @ Function::RegexLike) => {
                let text = |it: Expr| match it.data_type.is_blank_padded() {
                    true => fold_cast(it, DataType::Text),
                    false => it,
                };
                self.invoke(function, bound.into_iter().map(text).collect(), whole)
            }
            Some(Function::Version) if bound.is_empty() => {
                let told = self.catalog_call(name, Vec::new(), whole);
                told.unwrap_or_else(|| self.invoke(Function::Version, bound, whole))
            }
            Some(function) => self.of_times(function, bound, whole),
            None => {
                let error = self.no_function(name, &bound, whole);
                if let Some(told) = self.catalog_call(name, bound.clone(), whole) {
                    return told;
                }
                // As in PostgreSQL, the name of a type is a cast.
                match (&bound[..], crate::file_reference::named_type(name)) {
                    ([of], Ok(to)) if !name.contains('(') => {
                        let made = self.as_type(Failing::Raises, of.clone(), to);
                        // What does not become the type is no argument of it.
                        made.map_err(|it| match it.state {
                            SqlState::CANNOT_COERCE => error,
                            _ => at(it, whole),
                        })
                    }
                    _ => Err(error),
                }
            }
        }
    }

    /// A call that is bound to something else than a function of its name; `None` of any other.
    fn made_call(
        &mut self,
        name: &str,
        bound: &[Expr],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let made = self.made_of_others(name, bound, whole);
        let made = made.or_else(|| self.list_call(name, bound, whole));
        let made = made.or_else(|| self.enum_call(name, bound, whole));
        let made = made.or_else(|| self.range_call(name, bound, whole));
        made.or_else(|| self.json_call(name, bound, whole))
    }

    /// GREATEST and LEAST.
    fn extreme(
        &mut self,
        (function, name): (Function, &str),
        mut bound: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let meet = self.unify(&mut bound, &name.to_uppercase());
        let meet = meet.map_err(|it| at(it, whole))?;
        super::json::check_extreme(meet, name).map_err(|it| at(it, whole))?;
        self.invoke(function, bound, whole)
    }

    /// A call of what is computed of several rows, or makes several, or of structs; `None` of any other name.
    fn call_of_rows(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        if let Some(function) = aggregate_names::by_name(name) {
            return Some(self.aggregate(function, name, call, whole));
        }
        if super::ordered_set::is_hypothetical(name) && !call.within_group.is_empty() {
            return Some(self.hypothetical(name, call, whole));
        }
        if super::row_functions::is_series(name) || super::row_functions::makes_rows(name) {
            return Some(self.series_in_list(name, call, whole));
        }
        if super::window::by_name(name).is_some() {
            return Some(Err(super::window::needs_over(name, whole)));
        }
        self.struct_call(name, call, whole)
    }

    /// Finds the sequence that a constant names, which is then named with its schema. Refuses the name of none.
    fn check_sequence(&mut self, arguments: &mut [Expr]) -> SqlResult<()> {
        let Some(first) = arguments.first_mut() else { return Ok(()) };
        let Some(Value::Text(text)) = constant(first) else { return Ok(()) };
        let text = text.clone();
        let (schema, name) = relation_in(&text)?;
        let catalog = self.environment.catalog;
        if let Some(found) = catalog.sequence(schema.as_deref(), &name) {
            self.note_used(&found, std::iter::empty());
            let (schema, name) = names::split(&found);
            let full = format!("{}.{}", as_relation(&schema), as_relation(&name));
            *first = Expr::literal(Value::Text(full.as_str().into()), DataType::Text);
            return Ok(());
        }
        let is_view = catalog.view(schema.as_deref(), &name).is_some();
        match is_view || catalog.table(schema.as_deref(), &name).is_some() {
            true => {
                let message = format!("cannot open relation \"{name}\": it is no sequence");
                Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message))
            }
            false => {
                let message = format!("relation \"{text}\" does not exist");
                Err(SqlError::new(SqlState::UNDEFINED_TABLE, message))
            }
        }
    }

    /// What a MERGE did with a row.
    fn action_of_merge(&self, whole: &ast::Expr) -> SqlResult<Expr> {
        self.merge_action.map(|it| self.column_expr(it)).ok_or_else(|| {
            let message =
                "MERGE_ACTION() can only be used in the RETURNING list of a MERGE command";
            at(SqlError::new(SqlState::SYNTAX, message), whole)
        })
    }

    /// The error of a call of a function in a schema where no such one is: 3F000 where there is none, 42501 where nobody may look.
    fn no_such_call(&mut self, call: &'a ast::Function, whole: &'a ast::Expr) -> SqlError {
        let bound = plain_arguments(call, whole)
            .and_then(|all| all.into_iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>());
        bound.map_or_else(|error| error, |all| self.no_function_in(&call.name, &all, whole))
    }

    /// [`Self::no_function`] by a name that says a schema.
    pub(super) fn no_function_in(
        &self,
        name: &ast::ObjectName,
        arguments: &[Expr],
        node: &impl sqlparser::ast::Spanned,
    ) -> SqlError {
        let catalog = self.environment.catalog;
        let parts = name.0.iter().filter_map(|it| it.as_ident().map(ident)).collect::<Vec<_>>();
        let said = names::within(parts, &name.to_string(), catalog.database());
        let error = match said {
            Ok((Some(schema), own)) => catalog.check_schema(&schema).err().unwrap_or_else(|| {
                let types = arguments.iter().map(|it| super::coercion::name_of(it.data_type));
                let types = types.collect::<Vec<_>>().join(", ");
                let message = format!("function {schema}.{own}({types}) does not exist");
                SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
            }),
            Ok((None, own)) => {
                let message = format!("function {own} does not exist");
                SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
            }
            Err(error) => error,
        };
        at(error, node)
    }

    pub(super) fn no_function(
        &self,
        name: &str,
        arguments: &[Expr],
        whole: &'a ast::Expr,
    ) -> SqlError {
        if let Some(why) = functions::refusal(name) {
            return at(SqlError::unsupported(format!("{name} is not supported: {why}")), whole);
        }
        let types: Vec<String> =
            arguments.iter().map(|it| super::coercion::name_of(it.data_type)).collect();
        let message = format!("function {name}({}) does not exist", types.join(", "));
        let error = at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole);
        suggested(
            error,
            name,
            functions::names().chain(aggregate_names::names()).chain(super::json::names()),
        )
    }

    /// A function of bound arguments, which are converted to the types that it takes.
    pub(super) fn invoke(
        &mut self,
        function: Function,
        arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let arguments = match self.by_clocks(function, arguments, whole)? {
            Ok(done) => return Ok(done),
            Err(arguments) => arguments,
        };
        let arguments = match self.of_bit_strings(function, arguments, whole)? {
            Ok(done) => return Ok(done),
            Err(arguments) => arguments,
        };
        let (function, arguments) = self.of_networks(function, arguments)?;
        let types: Vec<DataType> = arguments.iter().map(|it| it.data_type).collect();
        let constants: Vec<Option<Value>> =
            arguments.iter().map(|it| constant(it).cloned()).collect();
        let signature = functions::resolve_call(function, &types, &constants);
        let signature = signature.map_err(|it| at(it, whole))?;
        if let Some(operand) = arguments.first()
            && let Some(call) = self.conversion_call(function, operand.clone(), signature.result)
        {
            return call.map_err(|it| at(it, whole));
        }
        if functions::volatility(function) == functions::Volatility::Stable {
            let zone = self.environment.session.zone();
            let now = functions::statement_constant(function, self.environment.now, &zone);
            if let Some((value, data_type)) = now {
                let number = functions::STABLE.iter().position(|it| *it == function);
                if let Some((first, number)) = self.environment.moments.zip(number) {
                    return Ok(Expr { kind: ExprKind::Parameter(first + number), data_type });
                }
                self.is_stable = false;
                return Ok(Expr::literal(value, data_type));
            }
        }
        let mut converted = Vec::with_capacity(arguments.len());
        for (argument, wanted) in arguments.into_iter().zip(signature.arguments) {
            converted.push(match argument.data_type {
                DataType::Null => {
                    self.coerce_unknown(argument, wanted).map_err(|it| at(it, whole))?
                }
                it if it.is_blank_padded() && sees_blanks(function, converted.len()) => {
                    with_blanks(argument)
                }
                _ => fold_cast(argument, wanted),
            });
        }
        if let Some(kind) = known_kind(function, &converted) {
            return Ok(Expr { kind, data_type: signature.result });
        }
        let converted = self.by_item_keys(function, converted)?;
        self.fold_call(function, converted, signature.result)
    }

    /// A call of converted arguments, made at once where they are constants. A call that fails is left for who needs it.
    pub(super) fn fold_call(
        &mut self,
        function: Function,
        arguments: Vec<Expr>,
        data_type: DataType,
    ) -> SqlResult<Expr> {
        let values: Option<Vec<(Value, DataType)>> =
            arguments.iter().map(|it| Some((constant(it)?.clone(), it.data_type))).collect();
        if let Some(values) = values
            && functions::volatility(function) == functions::Volatility::Immutable
            && let Ok(value) = functions::evaluate(function, &values, data_type)
        {
            return Ok(Expr::literal(value, data_type));
        }
        Ok(Expr { kind: ExprKind::Call { function, arguments }, data_type })
    }

    /// The first argument that is not NULL.
    pub(super) fn coalesce(
        &mut self,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let data_type = self.unify(&mut arguments, "COALESCE").map_err(|it| at(it, whole))?;
        let Some(last) = arguments.pop() else {
            let message = "syntax error: coalesce needs at least one argument";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), whole));
        };
        if arguments.is_empty() {
            return Ok(last);
        }
        let mut branches = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let again = self.copy(&argument)?;
            branches.push((unary(UnaryOperator::IsNotNull, again), argument));
        }
        Ok(Expr { kind: ExprKind::Case { branches, otherwise: Some(Box::new(last)) }, data_type })
    }

    /// NULL where both arguments are equal, else the first.
    fn nullif(&mut self, arguments: Vec<Expr>, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let [mut left, right] = <[Expr; 2]>::try_from(arguments).map_err(|_| {
            at(SqlError::new(SqlState::SYNTAX, "syntax error: nullif takes two arguments"), whole)
        })?;
        if left.data_type == DataType::Null {
            let to = match right.data_type {
                DataType::Null => DataType::Text,
                known => roomy(known, &left),
            };
            left = self.coerce_unknown(left, to).map_err(|it| at(it, whole))?;
        }
        // CHAR and TEXT are compared as TEXT, VARCHAR and CHAR as CHAR, and what was compared is the answer.
        left = match (left.data_type, right.data_type) {
            (own, DataType::Text) if own.is_blank_padded() => fold_cast(left, DataType::Text),
            (own, other) if own.is_cut_text() && other.is_blank_padded() => {
                fold_cast(left, DataType::Bpchar)
            }
            _ => left,
        };
        let data_type = match left.data_type {
            DataType::Varchar(_) => DataType::Text,
            own => own,
        };
        let again = self.copy(&left)?;
        let same = self.compare(BinaryOperator::Equal, again, right, whole)?;
        let branches = vec![(same, plan::build::null(data_type))];
        Ok(Expr { kind: ExprKind::Case { branches, otherwise: Some(Box::new(left)) }, data_type })
    }
}

/// The name of a function in lower case, unless quoted; that of the catalog's schema may stand before it. `None` of one in another schema.
fn function_name(name: &ast::ObjectName) -> Option<String> {
    let parts = name.0.iter().map(|it| it.as_ident().map(ident)).collect::<Option<Vec<_>>>()?;
    match &parts[..] {
        [name] => Some(name.clone()),
        [schema, name] if schema == names::CATALOG => Some(name.clone()),
        [schema, own] if format!("{schema}.{own}") == super::row_functions::EXPAND_ARRAY => {
            Some(super::row_functions::EXPAND_ARRAY.to_owned())
        }
        _ => None,
    }
}

/// The arguments of a call without anything that aggregates and windows alone have.
/// The functions of the time that take a number of digits.
fn of_the_time(name: &str) -> Option<Function> {
    Some(match name {
        "current_timestamp" => Function::Now,
        "localtimestamp" => Function::LocalTimestamp,
        "localtime" => Function::LocalTime,
        "current_time" => Function::CurrentTime,
        _ => return None,
    })
}

fn plain_arguments<'e>(
    call: &'e ast::Function,
    whole: &ast::Expr,
) -> SqlResult<Vec<&'e ast::Expr>> {
    if call.filter.is_some() || !call.within_group.is_empty() || call.null_treatment.is_some() {
        let message = format!("{} is not an aggregate function", call.name);
        return Err(at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), whole));
    }
    let list = match &call.args {
        FunctionArguments::None => return Ok(Vec::new()),
        FunctionArguments::List(list) => list,
        FunctionArguments::Subquery(_) => {
            return Err(unsupported("a subquery as the argument list of a function", whole));
        }
    };
    if list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct) {
        let message = format!("DISTINCT specified, but {} is not an aggregate function", call.name);
        return Err(at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), whole));
    }
    if !list.clauses.is_empty() {
        return Err(unsupported("a clause after the arguments of a function", whole));
    }
    let argument = |it: &'e FunctionArg| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok(expr),
        _ => Err(unsupported("a named argument, or * as one,", whole)),
    };
    list.args.iter().map(argument).collect()
}

/// The arguments of a call with VARIADIC, or without.
enum Spread<'e> {
    Arguments(Vec<&'e ast::Expr>),
    /// Those before it, and the array.
    Array(Vec<&'e ast::Expr>, &'e ast::Expr),
}

/// Takes VARIADIC apart: the items of a constructor of an array are arguments.
fn spread<'e>(
    name: &str,
    mut arguments: Vec<&'e ast::Expr>,
    whole: &ast::Expr,
) -> SqlResult<Spread<'e>> {
    let Some(array) = arguments.last().and_then(|it| variadic_array(it)) else {
        return Ok(Spread::Arguments(arguments));
    };
    arguments.pop();
    let known = matches!(
        name,
        "concat"
            | "concat_ws"
            | "format"
            | "num_nulls"
            | "num_nonnulls"
            | "json_build_array"
            | "jsonb_build_array"
            | "json_build_object"
            | "jsonb_build_object"
            | "json_extract_path"
            | "jsonb_extract_path"
            | "json_extract_path_text"
            | "jsonb_extract_path_text"
            | "jsonb_delete"
    ) || types::Range::by_set_name(name).is_some();
    if !known {
        let message = format!("function {name}(VARIADIC ..) does not exist");
        return Err(at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole));
    }
    match array {
        ast::Expr::Array(items) if !items.elem.is_empty() && name != "jsonb_delete" => {
            arguments.extend(&items.elem);
            Ok(Spread::Arguments(arguments))
        }
        _ => Ok(Spread::Array(arguments, array)),
    }
}

/// The array behind VARIADIC.
fn variadic_array(argument: &ast::Expr) -> Option<&ast::Expr> {
    let ast::Expr::Function(call) = argument else { return None };
    let name = call.name.0.first()?.as_ident()?;
    match &call.args {
        FunctionArguments::List(list) if name.value == crate::own_names::VARIADIC => {
            match &list.args[..] {
                [FunctionArg::Unnamed(FunctionArgExpr::Expr(array))] => Some(array),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a name is that of a normal form of Unicode.
fn is_form(name: &ast::Ident) -> bool {
    let forms = ["nfc", "nfd", "nfkc", "nfkd"];
    name.quote_style.is_none() && forms.iter().any(|it| name.value.eq_ignore_ascii_case(it))
}

/// Whether an argument of CHAR is taken with the blanks that fill it; other functions take it as TEXT, which has none.
fn sees_blanks(function: Function, place: usize) -> bool {
    match function {
        Function::Concat => true,
        Function::ConcatWs => place > 0,
        Function::OctetLength | Function::Like | Function::RegexLike => place == 0,
        _ => false,
    }
}

/// Functions that execution has an operation for.
fn known_kind(function: Function, arguments: &[Expr]) -> Option<ExprKind> {
    let integer = |expr: &Expr| match constant(expr) {
        Some(Value::Integer(it)) => Some(*it),
        _ => None,
    };
    match (function, arguments) {
        _ if !arguments.first().is_some_and(|it| it.data_type.is_text()) => None,
        (Function::Substring, [operand, start]) => Some(ExprKind::Substring {
            operand: Box::new(operand.clone()),
            start: integer(start)?,
            length: None,
        }),
        (Function::Substring, [operand, start, length]) => {
            let length = integer(length).filter(|it| *it >= 0)?;
            let operand = Box::new(operand.clone());
            Some(ExprKind::Substring { operand, start: integer(start)?, length: Some(length) })
        }
        _ => None,
    }
}
