//! Which of several functions in SQL a call means: PostgreSQL's rules, by the types of its arguments (`crate::overloads`).
//!
//! A function whose parameters are those types wins; else those to whose types the arguments become unasked, of these the ones with the
//! most parameters of the very types, then with the most of the preferred types of a category. An argument without a type is a text
//! where a function takes one, else of the one category or the one type that all others have.

use sqlparser::ast::{self, FunctionArg, TableAlias};
use types::{DataType, SqlError, SqlResult, SqlState, names};

use super::Binder;
use super::coercion::name_of;
use super::errors::at;
use super::from::Source;
use super::level::{Clause, Level, one_row};
use super::scope::Frame;
use crate::overloads::{self, Choice};
use crate::resolved::place;

/// The type of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Wanted {
    Of(DataType),
    /// What the arguments make of it, in a call of a number.
    Polymorphic(String, String),
}

/// A kind of types, of which one is preferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Category {
    Number,
    Text,
    Moment,
    Span,
    Bits,
    Network,
    Boolean,
    Array,
    Polymorphic,
    /// Any other type, each by itself.
    Other,
}

impl<'a> Binder<'a> {
    /// A call of one of some functions, in an expression.
    pub(super) fn call_of_functions(
        &mut self,
        call: &'a ast::Function,
        whole: &'a ast::Expr,
    ) -> Option<SqlResult<plan::Expr>> {
        let (_, choice) = overloads::of_expr(whole)?;
        let chosen = self.chosen_function(&choice, &call.name).map_err(|it| at(it, whole));
        Some(chosen.and_then(|it| self.expr(choice.candidates[it].body)))
    }

    /// The rows of a call of one of some functions, in FROM.
    pub(super) fn rows_of_functions(
        &mut self,
        name: &'a ast::ObjectName,
        arguments: &'a [FunctionArg],
        alias: Option<&'a TableAlias>,
    ) -> SqlResult<Source> {
        let read = || SqlError::internal("no functions to choose from");
        let choice = overloads::choice(arguments).ok_or_else(read)?;
        let chosen = self.chosen_function(&choice, name)?;
        match choice.candidates[chosen].body {
            ast::Expr::Subquery(query) => {
                let answer = self.query(query)?;
                self.derived(answer, alias)
            }
            _ => Err(read()),
        }
    }

    /// The place of the function that is meant.
    fn chosen_function(&mut self, choice: &Choice<'a>, node: &ast::ObjectName) -> SqlResult<usize> {
        // What is bound here is bound once more in what the call stands for, so nothing of it may stay.
        let level = Level::new(Frame::default(), one_row(), Clause::Select);
        let (given, _) = self.in_level(level, |this| {
            let bound = choice.arguments.iter().map(|it| Ok(this.expr(it)?.data_type));
            bound.collect::<SqlResult<Vec<DataType>>>()
        })?;
        let mut wanted = Vec::with_capacity(choice.candidates.len());
        for it in &choice.candidates {
            let all = it.types.iter().map(|it| self.wanted(it)).collect::<SqlResult<Vec<_>>>()?;
            wanted.push(all);
        }
        let called = || {
            let types: Vec<String> = given.iter().map(|it| name_of(*it)).collect();
            format!("function {}({})", choice.name, types.join(", "))
        };
        let found = match best(&given, &wanted) {
            Best::One(it) => it,
            Best::None => {
                let hint = "No function matches the given name and argument types. You might need to add explicit \
                            type casts.";
                let message = format!("{} does not exist", called());
                return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message).with_hint(hint));
            }
            Best::Several => {
                let hint = "Could not choose a best candidate function. You might need to add explicit type casts.";
                let message = format!("{} is not unique", called());
                return Err(SqlError::new(SqlState("42725"), message).with_hint(hint));
            }
        };
        self.say_polymorphic(&given, &wanted[found])?;
        if let Some(resolved) = &mut self.resolved {
            resolved.functions.insert(place(node), found);
        }
        Ok(found)
    }

    /// The type of a parameter, as it is kept.
    fn wanted(&self, said: &str) -> SqlResult<Wanted> {
        let data_type = crate::file_reference::written_type(said)?;
        if let Some((call, name)) = overloads::in_call(&data_type) {
            return Ok(Wanted::Polymorphic(call.to_owned(), name.to_owned()));
        }
        let find = |name: &str| -> SqlResult<Option<DataType>> {
            let (schema, bare) = names::said(name, self.environment.catalog.database())?;
            let found = self.environment.catalog.user_type(schema.as_deref(), &bare);
            Ok(found.map(|it| it.data_type))
        };
        crate::data_types::data_type_with(&data_type, &find).map(Wanted::Of)
    }

    /// Notes what the polymorphic types of a function mean in a call.
    fn say_polymorphic(&mut self, given: &[DataType], wanted: &[Wanted]) -> SqlResult<()> {
        let Some(call) = wanted.iter().find_map(|it| match it {
            Wanted::Polymorphic(call, _) => Some(call.clone()),
            Wanted::Of(_) => None,
        }) else {
            return Ok(());
        };
        for (is_loose, family) in [(false, "any"), (true, "anycompatible")] {
            let element = match element(given, wanted, is_loose) {
                Element::Of(it) => it,
                // Nothing of the family is said.
                Element::None => continue,
                Element::Unknown if is_loose => DataType::Text,
                Element::Unknown | Element::Several => {
                    let message =
                        "could not determine polymorphic type because input has type unknown";
                    return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
                }
            };
            let bare = if is_loose { "anycompatible" } else { "anyelement" };
            for name in [bare.to_owned(), format!("{family}nonarray"), "anyenum".to_owned()] {
                self.polymorphic.insert((call.clone(), name), element);
            }
            if let Some(of) = element.array() {
                self.polymorphic.insert((call.clone(), format!("{family}array")), of);
            }
        }
        Ok(())
    }

    /// What a polymorphic type means in the call that names it so; `None` of any other type.
    pub(super) fn polymorphic_named(
        &mut self,
        node: &ast::DataType,
    ) -> Option<SqlResult<DataType>> {
        let (call, name) = overloads::in_call(node)?;
        let found = self.polymorphic.get(&(call.to_owned(), name.to_owned())).copied();
        if let (Some(found), Some(resolved)) = (found, &mut self.resolved) {
            resolved.polymorphic.insert(place(node), name_of(found));
        }
        let missing = || {
            let message = format!("could not determine actual result type: {name}");
            SqlError::new(SqlState::DATATYPE_MISMATCH, message)
        };
        Some(found.ok_or_else(missing))
    }
}

/// What the polymorphic parameters of a family make of the arguments.
enum Element {
    None,
    Of(DataType),
    /// All of them have no type.
    Unknown,
    Several,
}

fn element(given: &[DataType], wanted: &[Wanted], is_loose: bool) -> Element {
    let mut found = Element::None;
    for (given, wanted) in given.iter().zip(wanted) {
        let Wanted::Polymorphic(_, name) = wanted else { continue };
        if name.starts_with("anycompatible") != is_loose || name == "any" {
            continue;
        }
        let is_array = name.ends_with("array") && !name.ends_with("nonarray");
        let own = match given {
            DataType::Null => None,
            it if is_array => match it.element() {
                Some(it) => Some(it),
                None => return Element::Several,
            },
            it if name.ends_with("nonarray") && it.element().is_some() => return Element::Several,
            DataType::Enum(_) => Some(*given),
            _ if name == "anyenum" => return Element::Several,
            it => Some(*it),
        };
        let own = own.map(bare_type);
        found = match (found, own) {
            (Element::None | Element::Unknown, None) => Element::Unknown,
            (Element::None | Element::Unknown, Some(it)) => Element::Of(it),
            (Element::Of(known), None) => Element::Of(known),
            (Element::Of(known), Some(it)) if is_same(known, it) => Element::Of(known),
            (Element::Of(known), Some(it)) if is_loose => {
                match types::numeric::common_type(known, it) {
                    Some(it) => Element::Of(it),
                    None => return Element::Several,
                }
            }
            _ => return Element::Several,
        };
    }
    found
}

/// A type without its length and digits.
fn bare_type(data_type: DataType) -> DataType {
    match data_type.plain() {
        DataType::Char(_) => DataType::Bpchar,
        DataType::Varchar(_) => DataType::VARCHAR,
        own => own,
    }
}

/// Whether PostgreSQL has one type for both.
fn is_same(a: DataType, b: DataType) -> bool {
    a == b || name_of(a) == name_of(b)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Best {
    None,
    One(usize),
    Several,
}

/// The function that arguments mean, by the types of the parameters of each.
fn best(given: &[DataType], wanted: &[Vec<Wanted>]) -> Best {
    let is_of = |of: &DataType, it: &Wanted| matches!(it, Wanted::Of(to) if is_same(*of, *to));
    let exact = |it: &Vec<Wanted>| given.iter().zip(it).filter(|it| is_of(it.0, it.1)).count();
    if let Some(it) = wanted.iter().position(|it| exact(it) == given.len()) {
        return Best::One(it);
    }
    let takes = |it: &Vec<Wanted>| {
        let each = given.iter().zip(it).all(|(of, to)| match to {
            Wanted::Of(to) => types::numeric::is_implicit(*of, *to),
            Wanted::Polymorphic(..) => true,
        });
        each && [false, true].iter().all(|of| !matches!(element(given, it, *of), Element::Several))
    };
    let mut left: Vec<usize> = (0..wanted.len()).filter(|it| takes(&wanted[*it])).collect();
    let is_known = |place: usize| given[place] != DataType::Null;
    let known: Vec<usize> = (0..given.len()).filter(|it| is_known(*it)).collect();
    keep_most(&mut left, |it| {
        known.iter().filter(|at| is_of(&given[**at], &wanted[it][**at])).count()
    });
    keep_most(&mut left, |it| {
        let fits = |at: &&usize| {
            let to = &wanted[it][**at];
            is_of(&given[**at], to)
                || matches!(to, Wanted::Of(to) if is_preferred(*to) && category(*to) == category(given[**at]))
        };
        known.iter().filter(fits).count()
    });
    if let Some(one) = told(&left) {
        return one;
    }
    if known.len() == given.len() {
        return Best::Several;
    }
    by_unknown(given, wanted, left)
}

/// What is left, if it is one or none.
fn told(left: &[usize]) -> Option<Best> {
    match left {
        [] => Some(Best::None),
        [one] => Some(Best::One(*one)),
        _ => None,
    }
}

/// Keeps those of which a number is the greatest.
fn keep_most(left: &mut Vec<usize>, count: impl Fn(usize) -> usize) {
    let most = left.iter().map(|it| count(*it)).max().unwrap_or(0);
    left.retain(|it| count(*it) == most);
}

/// The function by what arguments without types may be.
fn by_unknown(given: &[DataType], wanted: &[Vec<Wanted>], left: Vec<usize>) -> Best {
    let unknown = (0..given.len()).filter(|it| given[*it] == DataType::Null);
    let mut meant = Vec::new();
    for at in unknown {
        let all: Vec<Category> = left.iter().map(|it| category_of(&wanted[*it][at])).collect();
        let is_text = all.contains(&Category::Text);
        let one = if is_text { Category::Text } else { all[0] };
        if !is_text && (all.iter().any(|it| *it != one) || one == Category::Other) {
            meant.clear();
            break;
        }
        let prefers = |it: &usize| matches!(wanted[*it][at], Wanted::Of(to) if category(to) == one && is_preferred(to));
        meant.push((at, one, left.iter().any(prefers)));
    }
    let mut kept = left.clone();
    kept.retain(|it| {
        meant.iter().all(|(at, one, prefers)| {
            let to = &wanted[*it][*at];
            category_of(to) == *one
                && (!prefers || matches!(to, Wanted::Of(to) if is_preferred(*to)))
        })
    });
    if let (false, [one]) = (meant.is_empty(), &kept[..]) {
        return Best::One(*one);
    }
    let left = if kept.is_empty() { left } else { kept };
    // As if all were of the one type that those with types have.
    let mut known = given.iter().filter(|it| **it != DataType::Null);
    let Some(first) = known.next() else { return Best::Several };
    if !known.all(|it| is_same(*it, *first)) {
        return Best::Several;
    }
    let takes = |it: &&usize| {
        wanted[**it].iter().all(|to| match to {
            Wanted::Of(to) => types::numeric::is_implicit(*first, *to),
            Wanted::Polymorphic(..) => true,
        })
    };
    match &left.iter().filter(takes).collect::<Vec<_>>()[..] {
        [one] => Best::One(**one),
        _ => Best::Several,
    }
}

fn category_of(wanted: &Wanted) -> Category {
    match wanted {
        Wanted::Of(it) => category(*it),
        Wanted::Polymorphic(..) => Category::Polymorphic,
    }
}

fn category(data_type: DataType) -> Category {
    match data_type.plain() {
        it if it.is_numeric() => Category::Number,
        it if it.is_text() => Category::Text,
        DataType::Date
        | DataType::Time
        | DataType::TimeTz
        | DataType::Timestamp
        | DataType::TimestampTz => Category::Moment,
        DataType::Interval => Category::Span,
        DataType::Bits(_) => Category::Bits,
        DataType::Network(_) => Category::Network,
        DataType::Boolean => Category::Boolean,
        DataType::Array(_) => Category::Array,
        _ => Category::Other,
    }
}

/// Whether a type is the one that its category prefers.
fn is_preferred(data_type: DataType) -> bool {
    match data_type {
        DataType::Double
        | DataType::Text
        | DataType::TimestampTz
        | DataType::Interval
        | DataType::Boolean => true,
        DataType::Bits(it) => it.is_varying(),
        DataType::Network(it) => it == types::Network::Inet,
        _ => false,
    }
}
