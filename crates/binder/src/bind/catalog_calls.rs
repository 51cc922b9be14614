//! Functions and types of PostgreSQL's catalog, which clients call about what they find there.
//!
//! Key decision: what they tell of a number is known when a statement is bound, so they are constants, or look it up among all
//! numbers that there are ([`super::lookup`]). Such a statement is bound anew each time.

use plan::{BinaryOperator, Expr, ExprKind, Function};
use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::coercion::fold_cast;
use super::errors::at;
use super::literal::truth;
use super::lookup::{look_up, or_else, text, unknown};
use super::{Binder, constant};
use crate::registered::Registered;

/// Whether a function tells of what there is none of here, as triggers and publications: of anything NULL.
fn is_of_nothing(name: &str, arguments: usize) -> bool {
    match arguments {
        1 => matches!(
            name,
            "pg_get_triggerdef"
                | "pg_get_ruledef"
                | "pg_get_function_sqlbody"
                | "pg_get_statisticsobjdef_columns"
                | "pg_get_statisticsobjdef"
                | "pg_get_partkeydef"
                | "pg_tablespace_location"
                | "pg_partition_ancestors"
                | "pg_partition_root"
        ),
        2 => matches!(name, "pg_get_triggerdef" | "pg_get_ruledef" | "pg_get_function_sqlbody"),
        3 => name == "pg_describe_object",
        _ => false,
    }
}

/// Whether a function tells whether somebody has a right.
fn asks_for_right(name: &str, arguments: usize) -> bool {
    match name {
        "has_table_privilege"
        | "has_sequence_privilege"
        | "has_any_column_privilege"
        | "has_schema_privilege"
        | "has_database_privilege"
        | "has_type_privilege"
        | "has_function_privilege"
        | "pg_has_role" => matches!(arguments, 2 | 3),
        "has_column_privilege" => matches!(arguments, 3 | 4),
        _ => false,
    }
}

/// Whether a function tells the number of what a text names.
fn finds_by_name(name: &str) -> bool {
    matches!(
        name,
        "to_regclass"
            | "to_regtype"
            | "to_regnamespace"
            | "to_regrole"
            | "to_regproc"
            | "to_regprocedure"
    )
}

/// Whether a role may use a type or a function of some number, which everybody may.
fn used_by_everybody(name: &str, object: &Expr, whole: &ast::Expr) -> SqlResult<Expr> {
    if !object.data_type.plain().is_integer() {
        let message = format!("only constants and numbers are looked up by {name}()");
        return Err(at(SqlError::unsupported(message), whole));
    }
    let is_null = plan::build::unary(plan::UnaryOperator::IsNull, object.clone());
    let branches = vec![(is_null, truth(Value::Null))];
    let otherwise = Some(Box::new(truth(Value::Boolean(true))));
    let kind = ExprKind::Case { branches, otherwise };
    Ok(Expr { kind, data_type: DataType::Boolean })
}

impl<'a> Binder<'a> {
    /// The call of a function of the catalog; `None` where it is none.
    pub(super) fn catalog_call(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        match (name, arguments.len()) {
            ("pg_table_is_visible" | "pg_function_is_visible", 1) => {
                Some(self.is_visible(name, arguments, whole))
            }
            (
                "pg_type_is_visible"
                | "pg_operator_is_visible"
                | "pg_opclass_is_visible"
                | "pg_opfamily_is_visible"
                | "pg_conversion_is_visible"
                | "pg_statistics_obj_is_visible"
                | "pg_ts_config_is_visible"
                | "pg_ts_dict_is_visible"
                | "pg_ts_parser_is_visible"
                | "pg_ts_template_is_visible"
                | "pg_collation_is_visible",
                1,
            ) => Some(Ok(self.constant_truth(true, arguments))),
            _ if asks_for_right(name, arguments.len()) => {
                Some(self.privilege(name, arguments, whole))
            }
            ("shobj_description" | "col_description", 2) | ("obj_description", 1 | 2) => {
                Some(self.description(name, arguments, whole))
            }
            _ if arguments.len() == 1 && finds_by_name(name) => {
                Some(self.number_of_name(&name[3..], arguments, whole))
            }
            ("pg_relation_is_publishable", 1) => Some(Ok(self.constant_truth(false, arguments))),
            ("pg_table_size" | "pg_total_relation_size" | "pg_relation_size", 1 | 2) => {
                let bytes = self.told_of_relation("pg_table_size", arguments, whole);
                Some(bytes.map(|it| fold_cast(it, DataType::BigInt)))
            }
            ("pg_get_viewdef", 1 | 2) => Some(self.told_of_relation(name, arguments, whole)),
            ("pg_sequence_last_value", 1) => Some(self.last_value(arguments, whole)),
            ("pg_indexes_size" | "pg_database_size" | "pg_tablespace_size", 1) => {
                self.told_by_session(name, arguments, whole)
            }
            ("pg_get_expr", 2 | 3) => {
                let mut arguments = arguments.into_iter();
                let text = arguments.next();
                self.leave_out(arguments);
                text.map(|it| Ok(fold_cast(it, DataType::Text)))
            }
            ("format_type", 2)
            | ("pg_get_userbyid", 1)
            | ("pg_get_function_result" | "pg_get_function_arguments", 1)
            | ("pg_get_function_identity_arguments" | "pg_get_functiondef", 1)
            | ("pg_get_indexdef", 1) => Some(self.told_of_number(name, arguments, whole)),
            ("pg_get_constraintdef", 1 | 2) => Some(self.constraint_told(arguments, whole)),
            ("pg_get_indexdef", 3) => Some(self.index_told(arguments, whole)),
            ("pg_get_serial_sequence", 2) => Some(self.serial_sequence(arguments, whole)),
            ("current_setting", 1 | 2) if arguments.iter().any(|it| constant(it).is_none()) => {
                Some(self.setting_named(arguments, whole))
            }
            _ if is_of_nothing(name, arguments.len()) => {
                self.leave_out(arguments);
                let is_number = name.starts_with("pg_partition");
                let of = if is_number { DataType::BigInt } else { DataType::Text };
                Some(Ok(Expr::literal(Value::Null, of)))
            }
            _ => self.told_by_session(name, arguments, whole),
        }
    }

    /// The same, whatever it is asked of.
    fn constant_truth(&mut self, is_true: bool, arguments: Vec<Expr>) -> Expr {
        self.leave_out(arguments);
        truth(Value::Boolean(is_true))
    }

    /// Whether a role has a right: a constant, or told of the numbers of all objects.
    fn privilege(
        &mut self,
        name: &str,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        self.is_stable = false;
        let of_column = name == "has_column_privilege";
        let last = arguments.len() - 1;
        let place = if of_column { last - 2 } else { last - 1 };
        let of_everybody = matches!(name, "has_type_privilege" | "has_function_privilege");
        if of_everybody && constant(&arguments[place]).is_none() {
            return used_by_everybody(name, &arguments[place], whole);
        }
        let text = |it: &Expr| match constant(it) {
            Some(Value::Text(it)) => Some(it.to_string()),
            _ => None,
        };
        let is_known = arguments.iter().all(|it| constant(it).is_some());
        let values: Vec<Value> =
            arguments.iter().map(|it| constant(it).cloned().unwrap_or(Value::Null)).collect();
        let told = self.environment.session.session_value(name, &values);
        let told = told.transpose().map_err(|it| at(it, whole))?.map(|it| it.0);
        match told {
            Some(it @ Value::Boolean(_)) => {
                self.leave_out(arguments);
                return Ok(truth(it));
            }
            _ if is_known => {
                self.leave_out(arguments);
                return Ok(truth(Value::Null));
            }
            _ => {}
        }
        let user = if place == 1 { text(&arguments[0]) } else { Some(String::new()) };
        let (Some(user), Some(right)) = (user, text(&arguments[last])) else {
            let message = format!("{name}() takes a role and a right that are constants");
            return Err(at(SqlError::unsupported(message), whole));
        };
        let asked: Vec<Expr> = arguments.drain(place..last).collect();
        if !asked.iter().all(|it| it.data_type.is_integer()) {
            let message =
                format!("{name}() takes the name of an object as a constant, or a number");
            return Err(at(SqlError::unsupported(message), whole));
        }
        self.leave_out(arguments);
        let question = format!("{name}\0{user}\0{right}");
        let told = self.told_of_number(&question, asked, whole)?;
        Ok(plan::build::unary(plan::UnaryOperator::IsNotNull, told))
    }

    /// Whether a relation or a function is found without its schema: told of those that are not.
    fn is_visible(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let hidden = self.told_of_number(name, arguments, whole)?;
        Ok(plan::build::unary(plan::UnaryOperator::IsNull, hidden))
    }

    /// The comment on an object, by its number; the class of objects is named by a constant.
    fn description(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match (name, arguments.get(1).map(constant)) {
            // There are none on what all databases share.
            ("shobj_description", _) => {
                self.leave_out(arguments);
                Ok(Expr::literal(Value::Null, DataType::Text))
            }
            ("col_description", _) | (_, None) => self.told_of_number(name, arguments, whole),
            (_, Some(Some(Value::Text(class)))) => {
                let of = format!("{name} {class}");
                self.told_of_number(&of, arguments, whole)
            }
            _ => {
                let message = "obj_description() takes the name of a view of the catalog";
                Err(at(SqlError::unsupported(message), whole))
            }
        }
    }

    fn told_by_session(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        // What does not depend on its argument needs none that is known.
        let values: Vec<Value> =
            arguments.iter().map(|it| constant(it).cloned().unwrap_or(Value::Null)).collect();
        let told = self.environment.session.session_value(name, &values)?;
        self.leave_out(arguments);
        self.is_stable = false;
        Some(told.map(|it| Expr::literal(it.0, it.1)).map_err(|it| at(it, whole)))
    }

    /// The number of what a constant names; NULL where there is no such thing.
    fn number_of_name(
        &mut self,
        kind: &str,
        arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        self.is_stable = false;
        let number = match arguments.first().and_then(constant) {
            Some(Value::Text(name)) => self.environment.session.relation_number(kind, name),
            Some(Value::Null) => None,
            _ => {
                let message = format!("only constants are looked up by to_{kind}()");
                return Err(at(SqlError::unsupported(message), whole));
            }
        };
        self.leave_out(arguments);
        let value = number.map_or(Value::Null, Value::Integer);
        Ok(Expr::literal(value, DataType::BigInt))
    }

    /// What a function tells of a relation, by its number or its name.
    fn told_of_relation(
        &mut self,
        function: &str,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if let Some(Value::Text(name)) = arguments.first().and_then(constant) {
            let name = name.clone();
            let number = self.number_named(Registered::Relation, &name, whole)?;
            arguments[0] = Expr::literal(Value::Integer(number), DataType::BigInt);
        }
        self.told_of_number(function, arguments, whole)
    }

    /// The last number of a sequence; NULL where none was given out.
    fn last_value(&mut self, arguments: Vec<Expr>, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let told = self.told_of_relation("pg_sequence_last_value", arguments, whole)?;
        Ok(fold_cast(told, DataType::BigInt))
    }

    /// What a function tells of a number, and of the modifier of a type where that is the second argument.
    fn told_of_number(
        &mut self,
        function: &str,
        arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let all = self.environment.session.catalog_texts(function).unwrap_or_default();
        self.is_stable = false;
        let mut arguments = arguments.into_iter();
        let Some(number) = arguments.next() else { return Err(SqlError::internal("no number")) };
        let number = self.number(number, whole)?;
        let modifier = match arguments.next() {
            Some(it) if all.iter().any(|it| it.1.is_some()) => Some(self.number(it, whole)?),
            other => {
                self.leave_out(other);
                None
            }
        };
        self.leave_out(arguments);
        let (mut branches, mut pairs) = (Vec::new(), Vec::with_capacity(all.len()));
        for (of, with, told) in all {
            match (with, &modifier) {
                (None, _) => pairs.push((Value::Integer(of), text(&told))),
                (Some(with), Some(modifier)) => {
                    let is = |expr: Expr, value| {
                        let value = Expr::literal(Value::Integer(value), DataType::BigInt);
                        Expr::predicate(BinaryOperator::Equal, expr, value)
                    };
                    let (number, modifier) = (self.copy(&number)?, self.copy(modifier)?);
                    let test =
                        Expr::predicate(BinaryOperator::And, is(number, of), is(modifier, with));
                    branches.push((test, Expr::literal(text(&told), DataType::Text)));
                }
                (Some(_), None) => {}
            }
        }
        if let ("format_type", Some(modifier)) = (function, &modifier) {
            branches.extend(self.limited_types(&number, modifier)?);
        }
        self.leave_out(modifier);
        let found = look_up(number, pairs, (DataType::BigInt, DataType::Text))?;
        if branches.is_empty() {
            return Ok(found);
        }
        let kind = ExprKind::Case { branches, otherwise: Some(Box::new(found)) };
        Ok(Expr { kind, data_type: DataType::Text })
    }

    /// `pg_get_indexdef` of an index, or of one of its columns where the second argument is not 0: of a place that it does not have
    /// an empty text.
    fn index_told(&mut self, arguments: Vec<Expr>, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let mut arguments = arguments.into_iter();
        let (Some(number), Some(place)) = (arguments.next(), arguments.next()) else {
            return Err(SqlError::internal("no number"));
        };
        self.leave_out(arguments);
        let definition = "pg_get_indexdef";
        if constant(&place) == Some(&Value::Integer(0)) {
            self.leave_out([place]);
            return self.told_of_number(definition, vec![number], whole);
        }
        self.is_stable = false;
        let (number, place) = (self.number(number, whole)?, self.number(place, whole)?);
        let session = self.environment.session;
        let columns = session.catalog_texts("pg_get_indexdef columns").unwrap_or_default();
        let wholes = session.catalog_texts(definition).unwrap_or_default();
        let nothing: Vec<(Value, Value)> =
            wholes.iter().map(|it| (Value::Integer(it.0), text(""))).collect();
        let none = Expr::literal(Value::Null, DataType::Text);
        let is_null = plan::build::unary(plan::UnaryOperator::IsNull, self.copy(&place)?);
        let mut branches = vec![(is_null, none)];
        let of_types = (DataType::BigInt, DataType::Text);
        let last = columns.iter().filter_map(|it| it.1).max().unwrap_or_default();
        // One look-up for each place, as indexes have few columns; what an index has stands before that it has nothing.
        for at in 0..=last {
            let all = if at == 0 { &wholes } else { &columns };
            let own = all.iter().filter(|it| it.1.unwrap_or_default() == at);
            let own = own.map(|it| (Value::Integer(it.0), text(&it.2)));
            let pairs: Vec<(Value, Value)> = own.chain(nothing.iter().cloned()).collect();
            let told = look_up(self.copy(&number)?, pairs, of_types)?;
            let value = Expr::literal(Value::Integer(at), DataType::BigInt);
            let is_it = Expr::predicate(BinaryOperator::Equal, self.copy(&place)?, value);
            branches.push((is_it, told));
        }
        self.leave_out([place]);
        let otherwise = Some(Box::new(look_up(number, nothing, of_types)?));
        Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type: DataType::Text })
    }

    /// `pg_get_constraintdef`, for people where the second argument is true.
    fn constraint_told(&mut self, arguments: Vec<Expr>, whole: &'a ast::Expr) -> SqlResult<Expr> {
        let is_pretty = arguments.get(1).and_then(constant) == Some(&Value::Boolean(true));
        let of = if is_pretty { "pg_get_constraintdef pretty" } else { "pg_get_constraintdef" };
        self.told_of_number(of, arguments, whole)
    }

    /// The setting of a name that is known for each row only; of a name that none has NULL where a second argument is true.
    fn setting_named(&mut self, arguments: Vec<Expr>, whole: &'a ast::Expr) -> SqlResult<Expr> {
        self.is_stable = false;
        let mut arguments = arguments.into_iter();
        let mut taken = |it: DataType| {
            let argument = arguments.next();
            argument.map(|argument| self.coerce(argument, it, whole)).transpose()
        };
        let (Some(name), missing) = (taken(DataType::Text)?, taken(DataType::Boolean)?) else {
            return Err(SqlError::internal("no name"));
        };
        let settings = self.environment.session.settings().into_iter();
        let pairs = settings.map(|(name, told)| (text(&name), text(&told))).collect();
        let name = self.fold_call(Function::Lower, vec![name], DataType::Text)?;
        let mut none = unknown("setting", self.copy(&name)?, DataType::Text);
        if let Some(missing) = missing {
            let null = Expr::literal(Value::Null, DataType::Text);
            let kind =
                ExprKind::Case { branches: vec![(missing, null)], otherwise: Some(Box::new(none)) };
            none = Expr { kind, data_type: DataType::Text };
        }
        let found = look_up(name, pairs, (DataType::Text, DataType::Text));
        let found = found.map_err(|it| at(it, whole))?;
        Ok(or_else(self.copy(&found)?, found, none))
    }

    /// The sequence of a column, by texts that name the table and the column.
    fn serial_sequence(
        &mut self,
        mut arguments: Vec<Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        self.is_stable = false;
        let sequences = self.environment.session.serial_sequences();
        if let Some(Value::Text(table)) = constant(&arguments[0]) {
            let session = self.environment.session;
            let Some(number) = session.relation_number("regclass", table) else {
                let message = format!("relation \"{table}\" does not exist");
                return Err(at(SqlError::new(SqlState::UNDEFINED_TABLE, message), whole));
            };
            // However it is written, it is the name of one relation.
            let is_it = |it: &&str| session.relation_number("regclass", it) == Some(number);
            let names = sequences.iter().flat_map(|it| it.tables.iter().map(|it| &**it));
            if let Some(name) = names.into_iter().find(|it| is_it(it)) {
                arguments[0] = Expr::literal(Value::Text(name.into()), DataType::Text);
            }
        }
        let mut as_text = |place| {
            let expr: Expr = arguments.swap_remove(place);
            match expr.data_type {
                DataType::Null => self.coerce_unknown(expr, DataType::Text),
                _ => Ok(fold_cast(expr, DataType::Text)),
            }
        };
        let column = as_text(1).map_err(|it| at(it, whole))?;
        let table = as_text(0).map_err(|it| at(it, whole))?;
        let text = |it: &str| Expr::literal(Value::Text(it.into()), DataType::Text);
        let mut branches = Vec::new();
        for sequence in sequences {
            for name in &sequence.tables {
                let is =
                    |expr, value: &str| Expr::predicate(BinaryOperator::Equal, expr, text(value));
                let is_table = is(self.copy(&table)?, name);
                let is_column = is(self.copy(&column)?, &sequence.column);
                let test = Expr::predicate(BinaryOperator::And, is_table, is_column);
                branches.push((test, text(&sequence.name)));
            }
        }
        self.leave_out([table, column]);
        let none = Expr::literal(Value::Null, DataType::Text);
        if branches.is_empty() {
            return Ok(none);
        }
        let kind = ExprKind::Case { branches, otherwise: Some(Box::new(none)) };
        Ok(Expr { kind, data_type: DataType::Text })
    }

    /// The number of a relation, a type or a function whose name is known for each row only; a text of digits is one.
    fn number_of_text(&mut self, kind: Registered, name: Expr) -> SqlResult<Expr> {
        self.is_stable = false;
        let names = format!("{} names", kind.name());
        let known = self.environment.session.catalog_texts(&names).unwrap_or_default();
        let pairs =
            known.into_iter().map(|(number, _, name)| (text(&name), Value::Integer(number)));
        let name = fold_cast(name, DataType::Text);
        let written = self.copy(&name)?;
        let number = self.tried(written, DataType::BigInt)?;
        let unknown = unknown(kind.what(), self.copy(&name)?, DataType::BigInt);
        let other = or_else(self.copy(&number)?, number, unknown);
        let found = look_up(name, pairs.collect(), (DataType::Text, DataType::BigInt))?;
        Ok(or_else(self.copy(&found)?, found, other))
    }

    fn number(&mut self, expr: Expr, whole: &'a ast::Expr) -> SqlResult<Expr> {
        match expr.data_type {
            DataType::Null => {
                self.coerce_unknown(expr, DataType::BigInt).map_err(|it| at(it, whole))
            }
            it if it.is_integer() => Ok(fold_cast(expr, DataType::BigInt)),
            other => {
                let name = super::coercion::name_of(other);
                let message = format!("a number of the catalog is expected, not {name}");
                Err(at(SqlError::new(SqlState::UNDEFINED_FUNCTION, message), whole))
            }
        }
    }

    /// `operand::regclass` and the like: the number of what a constant names; a number is one already.
    pub(super) fn registered(
        &mut self,
        kind: Registered,
        operand: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let bound = self.expr(operand)?;
        if bound.data_type.is_integer() {
            return Ok(fold_cast(bound, DataType::BigInt));
        }
        if let Some(Value::Null) = constant(&bound) {
            return Ok(Expr::literal(Value::Null, DataType::BigInt));
        }
        let is_listed =
            !matches!(kind, Registered::Schema | Registered::Role | Registered::Operator);
        if is_listed && constant(&bound).is_none() && bound.data_type.is_text() {
            return self.number_of_text(kind, bound);
        }
        let Some(Value::Text(name)) = constant(&bound) else {
            let message = format!("only constants are converted to {}", kind.name());
            return Err(at(SqlError::unsupported(message), whole));
        };
        let number = self.number_named(kind, name, whole)?;
        Ok(Expr::literal(Value::Integer(number), DataType::BigInt))
    }

    /// The number of what a text names, or is.
    fn number_named(
        &mut self,
        kind: Registered,
        name: &str,
        whole: &'a ast::Expr,
    ) -> SqlResult<i64> {
        self.is_stable = false;
        let number = match name.trim().parse::<i64>() {
            Ok(number) => Some(number),
            Err(_) => self.environment.session.relation_number(kind.name(), name),
        };
        number.ok_or_else(|| {
            let state = match kind {
                Registered::Relation => SqlState::UNDEFINED_TABLE,
                Registered::Type | Registered::Role => SqlState::UNDEFINED_OBJECT,
                Registered::Schema => SqlState::UNDEFINED_SCHEMA,
                Registered::Function | Registered::Procedure | Registered::Operator => {
                    SqlState::UNDEFINED_FUNCTION
                }
            };
            let what = kind.what();
            at(SqlError::new(state, format!("{what} \"{name}\" does not exist")), whole)
        })
    }

    /// `operand::regclass::text` and the like: the name; of a number that nothing has the number, and `-` for 0.
    pub(super) fn registered_name(
        &mut self,
        kind: Registered,
        operand: &'a ast::Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let number = self.registered(kind, operand, whole)?;
        self.name_of_number(kind, number, whole)
    }

    /// The name of what has a number; of one that nothing has the number, and `-` of 0.
    pub(super) fn name_of_number(
        &mut self,
        kind: Registered,
        number: Expr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if let Some(&Value::Integer(of)) = constant(&number) {
            self.is_stable = false;
            let known = self.environment.session.catalog_texts(kind.name()).unwrap_or_default();
            let own = known.into_iter().find(|it| it.0 == of && it.1.is_none());
            let name = match of {
                0 => "-".to_owned(),
                _ => own.map_or_else(|| of.to_string(), |it| it.2),
            };
            return Ok(Expr::literal(text(&name), DataType::Text));
        }
        let zero = Expr::literal(Value::Integer(0), DataType::BigInt);
        let is_zero = Expr::predicate(BinaryOperator::Equal, self.copy(&number)?, zero);
        let other = fold_cast(self.copy(&number)?, DataType::Text);
        let told = self.told_of_number(kind.name(), vec![number], whole)?;
        let named = or_else(self.copy(&told)?, told, other);
        let none = Expr::literal(text("-"), DataType::Text);
        let (branches, otherwise) = (vec![(is_zero, none)], Some(Box::new(named)));
        Ok(Expr { kind: ExprKind::Case { branches, otherwise }, data_type: DataType::Text })
    }
}
