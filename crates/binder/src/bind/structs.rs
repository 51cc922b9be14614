//! Structs and rows: `{'a': 1}`, `ROW(1, 2)`, `s.a`, `(s).a`, `s['a']`, `s.*`, and the functions of structs.
//!
//! Key decision: a struct that is taken apart where it is made is not made at all.

use plan::build::{null, unary};
use plan::{BinaryOperator, Expr, ExprKind, Function, UnaryOperator};
use sqlparser::ast::{self, AccessExpr, FunctionArg, FunctionArgExpr, Ident, Spanned, Subscript};
use types::structs::{Field, StructType};
use types::{DataType, SqlError, SqlResult, SqlState, Value, array};

use super::Binder;
use super::coercion::name_of;
use super::errors::{at, suggested, unsupported};
use super::upper::Item;
use crate::syntax::ident;

/// The functions of structs, some of whose arguments have names.
const NAMES: [&str; 9] = [
    "row",
    "struct_concat",
    "struct_extract",
    "struct_extract_at",
    "struct_insert",
    "struct_keys",
    "struct_pack",
    "struct_update",
    "struct_values",
];

/// An argument of a call and its name, if it has one.
type Argument<'a> = (Option<String>, &'a ast::Expr);

impl<'a> Binder<'a> {
    /// `{'a': 1, 'b': 'x'}`.
    pub(super) fn struct_literal(
        &mut self,
        fields: &'a [ast::DictionaryField],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let fields: Vec<_> = fields.iter().map(|it| (ident(&it.key), &*it.value)).collect();
        self.struct_of(fields, whole)
    }

    /// `ROW(a, b)` or `(a, b)`: a struct whose fields have no names.
    pub(super) fn row_of_values(
        &mut self,
        parts: Vec<&'a ast::Expr>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        self.struct_of(parts.into_iter().map(|it| (String::new(), it)).collect(), whole)
    }

    fn struct_of(
        &mut self,
        fields: Vec<(String, &'a ast::Expr)>,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let mut made = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            made.push((name, self.expr(value)?));
        }
        self.packed(made).map_err(|it| at(it, whole))
    }

    /// A struct of bound values. The type of a bare NULL stays open, so that it meets any other.
    fn packed(&mut self, fields: Vec<(String, Expr)>) -> SqlResult<Expr> {
        if fields.is_empty() {
            return Err(SqlError::unsupported("a struct without fields is not supported"));
        }
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for (name, value) in fields {
            let value = match value.data_type {
                DataType::Null if super::constant(&value).is_none_or(|it| !it.is_null()) => {
                    self.coerce_unknown(value, DataType::Text)?
                }
                _ => value,
            };
            types.push(Field::new(name, value.data_type));
            values.push(value);
        }
        self.fold_call(Function::StructOf, values, DataType::Struct(StructType::new(types)?))
    }

    /// The row of a relation as a struct of its columns; NULL where an outer join has none.
    pub(super) fn row_of_relation(&mut self, row: &Ident) -> SqlResult<Expr> {
        self.of_row(row, |this, columns| this.packed(columns))
    }

    /// What is made of the columns of a relation's row; NULL where an outer join has none.
    pub(super) fn of_row(
        &mut self,
        row: &Ident,
        make: impl FnOnce(&mut Self, Vec<(String, Expr)>) -> SqlResult<Expr>,
    ) -> SqlResult<Expr> {
        let name = ast::ObjectName::from(vec![row.clone()]);
        let columns = self.whole_row(&name)?.columns.iter();
        let columns: Vec<(String, usize)> = columns.map(|it| (it.0.to_owned(), it.1)).collect();
        let values = columns.into_iter().map(|(name, attr)| Ok((name, self.named_column(attr)?)));
        let values = values.collect::<SqlResult<_>>()?;
        let made = make(self, values)?;
        let there = unary(UnaryOperator::IsNotNull, self.whole_row_marker(&name)?);
        let data_type = made.data_type;
        let kind = ExprKind::Case { branches: vec![(there, made)], otherwise: None };
        Ok(Expr { kind, data_type })
    }

    /// A call of a function of structs; `None` of any other name.
    pub(super) fn struct_call(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let starred = (name == "row").then(|| self.row_with_stars(call, whole)).flatten();
        starred.or_else(|| NAMES.contains(&name).then(|| self.called_of_structs(name, call, whole)))
    }

    fn called_of_structs(
        &mut self,
        name: &str,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        let given = arguments(call, whole)?;
        let named = given.iter().filter(|it| it.0.is_some()).count();
        let none = |this: &Self, bound: &[Expr]| this.no_function(name, bound, whole);
        if let Some(made) = self.made_of_values(name, &given, whole) {
            return made;
        }
        let mut bound = Vec::with_capacity(given.len());
        for (_, expr) in &given {
            bound.push(self.expr(expr)?);
        }
        let struct_type = |it: &Expr| match it.data_type {
            DataType::Struct(of) => Some(of),
            _ => None,
        };
        let Some((first, of)) = bound.first().and_then(|it| Some((it.clone(), struct_type(it)?)))
        else {
            return Err(none(self, &bound));
        };
        match (name, &bound[..]) {
            ("struct_extract" | "struct_extract_at", [_, key]) if named == 0 => {
                let by_place = name == "struct_extract_at" || of.is_row();
                let place = place_of(of, key, by_place);
                let place = place.map_err(|it| at(it, whole))?;
                let place = place.ok_or_else(|| none(self, &bound))?;
                self.field_at(first, of, place)
            }
            ("struct_keys", [_]) if named == 0 && !of.is_row() => {
                let names = of.fields().iter().map(|it| Value::Text((&*it.name).into()));
                let names = array::list(&names.collect::<Vec<_>>())?;
                let texts = DataType::Array(types::Element::Text);
                self.unless_null(first, Expr::literal(names, texts))
            }
            ("struct_values", [_]) if named == 0 => {
                let fields = self.all_fields(&first, of)?;
                let fields = fields.into_iter().map(|it| (String::new(), it.1)).collect();
                let made = self.packed(fields)?;
                self.unless_null(first, made)
            }
            ("struct_concat", [_, others @ ..]) if named == 0 && !others.is_empty() => {
                let mut fields = self.all_fields(&first, of)?;
                for other in others {
                    let other_of = struct_type(other).filter(|it| it.is_row() == of.is_row());
                    let other_of = other_of.ok_or_else(|| none(self, &bound))?;
                    fields.extend(self.all_fields(other, other_of)?);
                }
                if of.is_row() {
                    fields.iter_mut().for_each(|it| it.0.clear());
                }
                self.packed(fields).map_err(|it| at(it, whole))
            }
            ("struct_insert" | "struct_update", [_, values @ ..])
                if named == values.len() && named > 0 && !of.is_row() =>
            {
                let names = given[1..].iter().map(|it| it.0.clone().unwrap_or_default());
                let new: Vec<_> = names.zip(values.iter().cloned()).collect();
                self.with_fields(first, of, new, name == "struct_update")
                    .map_err(|it| at(it, whole))
            }
            _ => Err(none(self, &bound)),
        }
    }

    /// `ROW(a, t.*)`; `None` without such a star.
    fn row_with_stars(
        &mut self,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let ast::FunctionArguments::List(list) = &call.args else { return None };
        let is_star = |it: &FunctionArg| {
            matches!(it, FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(_)))
        };
        list.args.iter().any(is_star).then(|| self.row_of_arguments(&list.args, whole))
    }

    fn row_of_arguments(
        &mut self,
        arguments: &'a [FunctionArg],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if self.is_resolving() {
            return Err(unsupported("t.* within a row in a view", whole));
        }
        let mut fields = Vec::with_capacity(arguments.len());
        for it in arguments {
            match it {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(it)) => {
                    fields.push((String::new(), self.expr(it)?));
                }
                FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(of)) => {
                    let columns: Vec<_> =
                        self.whole_row(of)?.columns.iter().map(|it| it.1).collect();
                    for attr in columns {
                        fields.push((String::new(), self.named_column(attr)?));
                    }
                }
                _ => return Err(unsupported("* as an argument", whole)),
            }
        }
        self.packed(fields).map_err(|it| at(it, whole))
    }

    /// A row or a struct of values; `None` of any other call.
    fn made_of_values(
        &mut self,
        name: &str,
        given: &[Argument<'a>],
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<Expr>> {
        let named = given.iter().filter(|it| it.0.is_some()).count();
        match name {
            "row" if named == 0 => {
                Some(self.row_of_values(given.iter().map(|it| it.1).collect(), whole))
            }
            "struct_pack" if named == given.len() => {
                let named = |it: &Argument<'a>| (it.0.clone().unwrap_or_default(), it.1);
                Some(self.struct_of(given.iter().map(named).collect(), whole))
            }
            _ => None,
        }
    }

    /// A struct with other fields behind its own, or in the place of those that have their names.
    fn with_fields(
        &mut self,
        value: Expr,
        of: StructType,
        new: Vec<(String, Expr)>,
        replaces: bool,
    ) -> SqlResult<Expr> {
        let mut fields = self.all_fields(&value, of)?;
        for (name, field) in new {
            match of.find(&name).filter(|_| replaces) {
                Some(place) => fields[place].1 = field,
                None => fields.push((name, field)),
            }
        }
        let made = self.packed(fields)?;
        self.unless_null(value, made)
    }

    /// What is made of a struct, NULL where that is.
    fn unless_null(&mut self, value: Expr, made: Expr) -> SqlResult<Expr> {
        let data_type = made.data_type;
        if let Some(known) = super::constant(&value) {
            return Ok(if known.is_null() { null(data_type) } else { made });
        }
        let branches = vec![(unary(UnaryOperator::IsNotNull, value), made)];
        Ok(Expr { kind: ExprKind::Case { branches, otherwise: None }, data_type })
    }

    /// All fields of a struct with their names.
    pub(super) fn all_fields(
        &mut self,
        value: &Expr,
        of: StructType,
    ) -> SqlResult<Vec<(String, Expr)>> {
        let mut all = Vec::with_capacity(of.fields().len());
        for (place, field) in of.fields().iter().enumerate() {
            let copy = self.copy(value)?;
            all.push((it_or_place(&field.name, place), self.field_at(copy, of, place)?));
        }
        Ok(all)
    }

    /// The field of a struct at a place.
    pub(super) fn field_at(
        &mut self,
        value: Expr,
        of: StructType,
        place: usize,
    ) -> SqlResult<Expr> {
        let data_type = of.fields()[place].data_type;
        if data_type == DataType::Null {
            self.leave_out([value]);
            return Ok(null(DataType::Null));
        }
        if let ExprKind::Call { function: Function::StructOf, mut arguments } = value.kind {
            let wanted = arguments.swap_remove(place);
            self.leave_out(arguments);
            return Ok(wanted);
        }
        let number = Expr::literal(Value::Integer(place as i64 + 1), DataType::Integer);
        self.fold_call(Function::StructField, vec![value, number], data_type)
    }

    /// The field of a value by name.
    pub(super) fn field(
        &mut self,
        value: Expr,
        name: &str,
        node: &impl Spanned,
    ) -> SqlResult<Expr> {
        let DataType::Struct(of) = value.data_type else {
            let message = format!(
                "column notation .{name} applied to type {}, which is not a composite type",
                name_of(value.data_type)
            );
            return Err(at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), node));
        };
        let place = field_place(of, name).map_err(|it| at(it, node))?;
        self.field_at(value, of, place)
    }

    /// The part of a struct that an access names.
    pub(super) fn struct_access(
        &mut self,
        value: Expr,
        of: StructType,
        access: &'a AccessExpr,
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        match access {
            AccessExpr::Dot(ast::Expr::Identifier(name)) => self.field(value, &ident(name), whole),
            AccessExpr::Subscript(Subscript::Index { index }) => {
                let key = self.expr(index)?;
                let place = place_of(of, &key, of.is_row()).map_err(|it| at(it, index))?;
                let place = place.ok_or_else(|| {
                    let message = "the subscript of a struct must be the name of a field";
                    at(SqlError::new(SqlState::DATATYPE_MISMATCH, message), index)
                })?;
                self.field_at(value, of, place)
            }
            _ => Err(unsupported("this access to a part of a value", whole)),
        }
    }

    /// `s.a.b` where `s` or what stands before it is a column; `None` where no column is a struct of that name.
    pub(super) fn fields_of_column(&mut self, parts: &'a [Ident]) -> Option<SqlResult<Expr>> {
        for behind in (1..parts.len().min(4)).rev() {
            let (column, fields) = parts.split_at(behind);
            let found = self.any_column(&column.iter().collect::<Vec<_>>());
            let Some(found) = found else { continue };
            let mut value = match found {
                Ok(value) if matches!(value.data_type, DataType::Struct(_)) => value,
                _ => continue,
            };
            for name in fields {
                value = match self.field(value, &ident(name), &super::errors::Name(name)) {
                    Ok(value) => value,
                    Err(error) => return Some(Err(error)),
                };
            }
            return Some(Ok(value));
        }
        None
    }

    /// A column by its name, which the names of its relation and of its schema may precede; `None` where names are more.
    fn any_column(&mut self, parts: &[&'a Ident]) -> Option<SqlResult<Expr>> {
        match *parts {
            [name] if self.is_relation(name) => None,
            [name] => Some(self.column(name)),
            [relation, name] => Some(self.column_of(None, relation, name)),
            [schema, relation, name] => Some(self.column_of(Some(schema), relation, name)),
            _ => None,
        }
    }

    /// The fields of the struct that a name before `.*` means; `None` where it means no column.
    pub(super) fn fields_of_name(
        &mut self,
        name: &'a ast::ObjectName,
    ) -> Option<SqlResult<Vec<Item>>> {
        let parts = name.0.iter().map(|it| it.as_ident()).collect::<Option<Vec<_>>>()?;
        let value = self.any_column(&parts)?.ok()?;
        let is_struct = matches!(value.data_type, DataType::Struct(_));
        is_struct.then(|| self.fields_as_items(value, name))
    }

    /// All fields of a struct as entries of a select list.
    pub(super) fn fields_as_items(
        &mut self,
        value: Expr,
        node: &impl Spanned,
    ) -> SqlResult<Vec<Item>> {
        let DataType::Struct(of) = value.data_type else {
            let message = format!("type {} is not composite", name_of(value.data_type));
            return Err(at(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message), node));
        };
        let fields = self.all_fields(&value, of)?;
        Ok(fields.into_iter().map(|(name, expr)| Item::computed(name, expr)).collect())
    }

    /// Whether a row is NULL, or is not: all of its values decide, as in PostgreSQL.
    pub(super) fn row_test(&mut self, test: UnaryOperator, row: &Expr) -> SqlResult<Expr> {
        let DataType::Struct(of) = row.data_type else {
            return Err(SqlError::internal("a row that is none"));
        };
        let fields = self.all_fields(row, of)?;
        let tests = fields.into_iter().map(|(_, it)| match it.data_type {
            DataType::Null => {
                let is_null = Value::Boolean(test == UnaryOperator::IsNull);
                Expr::literal(is_null, DataType::Boolean)
            }
            _ => unary(test, it),
        });
        let all = plan::relation::combine(BinaryOperator::And, tests.collect());
        all.ok_or_else(|| SqlError::internal("an empty row"))
    }
}

/// The name of a field, of a row that of its place as PostgreSQL gives it.
fn it_or_place(name: &str, place: usize) -> String {
    if name.is_empty() { format!("f{}", place + 1) } else { name.to_owned() }
}

/// The place of a field by a name, `f1` and so on in a row.
fn field_place(of: StructType, name: &str) -> SqlResult<usize> {
    let by_place = || {
        let number: usize = name.strip_prefix('f')?.parse().ok()?;
        let place = number.checked_sub(1)?;
        (of.is_row() && place < of.fields().len()).then_some(place)
    };
    of.find(name).or_else(by_place).ok_or_else(|| {
        let message = format!("could not find field \"{name}\" in a struct");
        let error = SqlError::new(SqlState::UNDEFINED_COLUMN, message);
        suggested(error, name, of.fields().iter().map(|it| &*it.name))
    })
}

/// The place of a field by a constant: a name, or a number from 1 on. `None` of what is neither.
fn place_of(of: StructType, key: &Expr, by_place: bool) -> SqlResult<Option<usize>> {
    match super::constant(key) {
        Some(Value::Text(name)) if !by_place || !of.is_row() => field_place(of, name).map(Some),
        Some(Value::Integer(number)) if by_place => {
            let place = number.checked_sub(1).and_then(|it| usize::try_from(it).ok());
            let place = place.filter(|it| *it < of.fields().len());
            place.map(Some).ok_or_else(|| {
                let count = of.fields().len();
                let message = format!("a struct of {count} fields has no field {number}");
                SqlError::new(SqlState::UNDEFINED_COLUMN, message)
            })
        }
        _ => Ok(None),
    }
}

/// The arguments of a call, with their names.
fn arguments<'e>(call: &'e ast::Function, whole: &ast::Expr) -> SqlResult<Vec<Argument<'e>>> {
    let ast::FunctionArguments::List(list) = &call.args else { return Ok(Vec::new()) };
    let plain = list.duplicate_treatment.is_none() && list.clauses.is_empty();
    if !plain || call.filter.is_some() || !call.within_group.is_empty() {
        return Err(unsupported("this form of a call", whole));
    }
    let argument = |it: &'e FunctionArg| match it {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => Ok((None, expr)),
        FunctionArg::Named { name, arg: FunctionArgExpr::Expr(expr), .. } => {
            Ok((Some(ident(name)), expr))
        }
        _ => Err(unsupported("* as an argument", whole)),
    };
    list.args.iter().map(argument).collect()
}

/// What `unnest(..)` alone in a select list takes apart, if it is a name, a cast or what makes a struct, so that it may be bound
/// once more.
pub(super) fn unnested(expr: &ast::Expr) -> Option<&ast::Expr> {
    let ast::Expr::Function(call) = expr else { return None };
    let [name] = &call.name.0[..] else { return None };
    let ast::FunctionArguments::List(list) = &call.args else { return None };
    let [FunctionArg::Unnamed(FunctionArgExpr::Expr(of))] = &list.args[..] else { return None };
    let is_unnest = name.as_ident().is_some_and(|it| it.value.eq_ignore_ascii_case("unnest"));
    (is_unnest && call.over.is_none() && is_plain(of)).then_some(of)
}

fn is_plain(of: &ast::Expr) -> bool {
    use ast::Expr as Ast;
    match of {
        Ast::Identifier(_) | Ast::CompoundIdentifier(_) | Ast::Value(_) => true,
        Ast::Nested(it) | Ast::Cast { expr: it, .. } => is_plain(it),
        Ast::CompoundFieldAccess { root, .. } => is_plain(root),
        Ast::Dictionary(fields) => fields.iter().all(|it| is_plain(&it.value)),
        _ => false,
    }
}

/// Whether the last access is to all fields.
pub(super) fn means_all(chain: &[AccessExpr]) -> bool {
    matches!(chain.last(), Some(AccessExpr::Dot(ast::Expr::Identifier(it)))
        if it.value == crate::struct_words::ALL)
}
