//! Running a path over a JSON.
//!
//! An error of the JSON ([`Fault::Soft`]) is none where a condition or a silent call asks: there it makes what is unknown.

use std::borrow::Cow;

use types::json::Node;
use types::numeric::Arithmetic;
use types::numeric::number::Number;
use types::{SqlError, SqlState};

use super::moment::Clocks;
use super::path::{Chain, LAST_LEVEL, Path, Step, sign};
use super::value::Value;

/// Why a path has no result.
#[derive(Debug)]
pub(super) enum Fault {
    /// The JSON is not as the path says.
    Soft(SqlError),
    /// Anything else.
    Hard(SqlError),
}

pub(super) type Outcome<T> = Result<T, Fault>;

/// Where found values go; without it one is enough.
pub(super) type Out<'o, 'j> = Option<&'o mut Vec<Value<'j>>>;

/// An error of the JSON.
pub(super) fn soft(state: &'static str, message: impl Into<String>) -> Fault {
    Fault::Soft(SqlError::new(SqlState(state), message))
}

/// What a path is given beside a JSON.
#[derive(Clone, Copy)]
pub(super) struct Given<'j> {
    pub variables: &'j [(Cow<'j, str>, Node<'j>)],
    /// The clocks by which points of time become others, where the function goes by them.
    pub clocks: Option<&'j Clocks>,
}

/// A path that runs.
pub(super) struct Run<'j> {
    pub lax: bool,
    /// Whether what is not there is none, without an error.
    forgiving: bool,
    root: &'j Node<'j>,
    current: Value<'j>,
    pub given: Given<'j>,
    /// How many elements the array around has.
    elements: Option<usize>,
    /// How many objects have got a number.
    pub numbered: i64,
}

/// The values that a path gives.
///
/// # Errors
/// Those of the path; `found` has what was found before.
pub(super) fn all<'j>(
    path: &'j Path,
    root: &'j Node<'j>,
    given: Given<'j>,
    found: &mut Vec<Value<'j>>,
) -> Outcome<()> {
    Run::new(path, root, given).steps(&path.chain, Value::Held(root), Some(found)).map(drop)
}

/// Whether a path gives anything.
///
/// # Errors
/// Those of the path, in lax mode up to the first value alone.
pub(super) fn any<'j>(path: &'j Path, root: &'j Node<'j>, given: Given<'j>) -> Outcome<bool> {
    if path.lax {
        return Run::new(path, root, given).steps(&path.chain, Value::Held(root), None);
    }
    let mut found = Vec::new();
    all(path, root, given, &mut found)?;
    Ok(!found.is_empty())
}

impl<'j> Run<'j> {
    fn new(path: &Path, root: &'j Node<'j>, given: Given<'j>) -> Self {
        Self {
            lax: path.lax,
            forgiving: path.lax,
            root,
            current: Value::Held(root),
            given,
            elements: None,
            numbered: 0,
        }
    }

    /// The steps of a chain from a value on; whether anything is found.
    pub fn steps(
        &mut self,
        chain: &'j [Step],
        value: Value<'j>,
        out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        self.step(chain, value, out, self.lax)
    }

    /// Whether what is not there is none.
    pub fn is_forgiving(&self) -> bool {
        self.forgiving
    }

    /// Whether a value is the whole JSON.
    pub fn is_root(&self, value: &Value<'j>) -> bool {
        matches!(value, Value::Held(it) if std::ptr::eq(*it, self.root))
    }

    /// What follows a step that gave a value.
    pub fn next(&mut self, rest: &'j [Step], value: Value<'j>, out: Out<'_, 'j>) -> Outcome<bool> {
        if !rest.is_empty() {
            return self.steps(rest, value, out);
        }
        if let Some(out) = out {
            out.push(value);
        }
        Ok(true)
    }

    /// A step and those behind it. `unwraps`: whether an array in its way stands for its elements.
    fn step(
        &mut self,
        chain: &'j [Step],
        value: Value<'j>,
        out: Out<'_, 'j>,
        unwraps: bool,
    ) -> Outcome<bool> {
        let Some((first, rest)) = chain.split_first() else { return self.next(&[], value, out) };
        let made = |node: Node<'j>| Value::made(node);
        match first {
            Step::Null => self.next(rest, made(Node::Null), out),
            Step::Boolean(truth) => self.next(rest, made(Node::Boolean(*truth)), out),
            Step::Number(number) => self.next(rest, number_of(number), out),
            Step::Text(text) => self.next(rest, made(Node::String(text.as_str().into())), out),
            Step::Variable(name) => {
                let variable = self.variable(name)?;
                self.next(rest, variable, out)
            }
            Step::Root => self.next(rest, Value::Held(self.root), out),
            Step::Current => self.next(rest, self.current.clone(), out),
            Step::Last => {
                let elements = self.elements.unwrap_or(0) as i64;
                self.next(rest, number_of(&whole(elements - 1)), out)
            }
            Step::Arithmetic(operation, left, right) => {
                let made = self.arithmetic(*operation, (left, right), &value)?;
                self.next(rest, number_of(&made), out)
            }
            Step::Signed { negative, of } => self.signed((*negative, of), rest, &value, out),
            it if unwraps && value.is_array() && unwrapped(it) => {
                self.parts(chain, &value, out, (1, 1, 1), (false, false))
            }
            Step::Filter(condition) => self.filtered(condition, rest, value, out),
            Step::Key(key) => self.key(key, rest, &value, out),
            Step::AnyKey => match value.node() {
                Node::Object(_) => self.parts(rest, &value, out, (1, 1, 1), (false, self.lax)),
                _ => self.missing("2203C", || {
                    "jsonpath wildcard member accessor can only be applied to an object".to_owned()
                }),
            },
            Step::AnyElement => match value.node() {
                Node::Array(_) => self.parts(rest, &value, out, (1, 1, 1), (false, self.lax)),
                _ if self.lax => self.next(rest, value, out),
                _ => self.missing("22039", || {
                    "jsonpath wildcard array accessor can only be applied to an array".to_owned()
                }),
            },
            Step::Elements(all) => self.elements_at(all, rest, value, out),
            Step::Levels(from, to) => self.levels((*from, *to), rest, value, out),
            Step::Method(_) | Step::Decimal(..) | Step::DateTime(_) | Step::Moment(..) => {
                self.method(first, rest, value, out)
            }
            _ => {
                let truth = self.truth(first, &value)?;
                self.next(rest, made(truth.map_or(Node::Null, Node::Boolean)), out)
            }
        }
    }

    fn variable(&self, name: &str) -> Outcome<Value<'j>> {
        let found = self.given.variables.iter().find(|it| it.0 == name);
        found.map(|it| Value::Held(&it.1)).ok_or_else(|| {
            let message = format!("could not find jsonpath variable \"{name}\"");
            Fault::Hard(SqlError::new(SqlState("42704"), message))
        })
    }

    /// Nothing where what is not there does not count, else an error.
    fn missing(&self, state: &'static str, message: impl FnOnce() -> String) -> Outcome<bool> {
        if self.forgiving { Ok(false) } else { Err(soft(state, message())) }
    }

    fn filtered(
        &mut self,
        condition: &'j Chain,
        rest: &'j [Step],
        value: Value<'j>,
        out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        let around = std::mem::replace(&mut self.current, value.clone());
        let truth = self.condition(condition, &value);
        self.current = around;
        match truth? {
            Some(true) => self.next(rest, value, out),
            _ => Ok(false),
        }
    }

    fn key(
        &mut self,
        key: &str,
        rest: &'j [Step],
        value: &Value<'j>,
        out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        match (value.node(), value.member(key)) {
            (_, Some(found)) => self.next(rest, found, out),
            (Node::Object(_), None) => {
                self.missing("2203A", || format!("JSON object does not contain key \"{key}\""))
            }
            _ => self.missing("2203A", || {
                "jsonpath member accessor can only be applied to an object".to_owned()
            }),
        }
    }

    /// The parts of an array or an object, as deep as is said: the level of these, the first and the last one that count.
    /// `forgiving`: whether what follows is; `unwraps`: whether it takes arrays apart.
    pub fn parts(
        &mut self,
        chain: &'j [Step],
        of: &Value<'j>,
        mut out: Out<'_, 'j>,
        (level, first, last): (u32, u32, u32),
        (forgiving, unwraps): (bool, bool),
    ) -> Outcome<bool> {
        if level > last {
            return Ok(false);
        }
        let mut any = false;
        for part in of.parts() {
            let is_leaf = first == LAST_LEVEL && last == LAST_LEVEL && !part.is_container();
            if level >= first || is_leaf {
                let before = self.forgiving;
                self.forgiving |= forgiving;
                let found = match chain.is_empty() {
                    true => self.next(chain, part.clone(), out.as_deref_mut()),
                    false => self.step(chain, part.clone(), out.as_deref_mut(), unwraps),
                };
                self.forgiving = before;
                any |= found?;
            }
            if !(any && out.is_none()) && level < last && part.is_container() {
                let deeper = (level + 1, first, last);
                let out = out.as_deref_mut();
                any |= self.parts(chain, &part, out, deeper, (forgiving, unwraps))?;
            }
            if any && out.is_none() {
                return Ok(true);
            }
        }
        Ok(any)
    }

    fn levels(
        &mut self,
        (first, last): (u32, u32),
        rest: &'j [Step],
        value: Value<'j>,
        mut out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        let mut any = false;
        if first == 0 {
            let before = std::mem::replace(&mut self.forgiving, true);
            let found = self.next(rest, value.clone(), out.as_deref_mut());
            self.forgiving = before;
            any = found?;
            if any && out.is_none() {
                return Ok(true);
            }
        }
        if value.is_container() {
            any |= self.parts(rest, &value, out, (1, first, last), (true, self.lax))?;
        }
        Ok(any)
    }

    fn elements_at(
        &mut self,
        all: &'j [(Chain, Option<Chain>)],
        rest: &'j [Step],
        value: Value<'j>,
        mut out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        let size = match value.node() {
            Node::Array(items) => items.len(),
            _ if self.lax => 1,
            _ => {
                return self.missing("22039", || {
                    "jsonpath array accessor can only be applied to an array".to_owned()
                });
            }
        };
        let around = self.elements.replace(size);
        let mut any = false;
        for (from, to) in all {
            let ends = self.place(from, &value).and_then(|first| match to {
                None => Ok((first, first)),
                Some(to) => self.place(to, &value).map(|last| (first, last)),
            });
            let (first, last) = match ends {
                Ok(it) => it,
                Err(fault) => {
                    self.elements = around;
                    return Err(fault);
                }
            };
            if !self.forgiving && (first < 0 || first > last || last >= size as i64) {
                self.elements = around;
                return Err(soft("22033", "jsonpath array subscript is out of bounds"));
            }
            for place in first.max(0)..=last.min(size as i64 - 1) {
                let part = match value.element(usize::try_from(place).unwrap_or(usize::MAX)) {
                    Some(part) => part,
                    None => value.clone(),
                };
                // What follows sees the array around again.
                self.elements = around;
                let found = self.next(rest, part, out.as_deref_mut());
                self.elements = Some(size);
                match found {
                    Ok(found) => any |= found,
                    Err(fault) => {
                        self.elements = around;
                        return Err(fault);
                    }
                }
                if any && out.is_none() {
                    self.elements = around;
                    return Ok(true);
                }
            }
        }
        self.elements = around;
        Ok(any)
    }

    /// The place that a subscript is.
    fn place(&mut self, subscript: &'j Chain, value: &Value<'j>) -> Outcome<i64> {
        let mut found = Vec::new();
        self.steps(subscript, value.clone(), Some(&mut found))?;
        let number = match &found[..] {
            [one] => number_in(one),
            _ => None,
        };
        let Some(number) = number.transpose().map_err(Fault::Hard)? else {
            return Err(soft("22033", "jsonpath array subscript is not a single numeric value"));
        };
        let place = number.trunc(0).to_string().parse::<i32>();
        place
            .map(i64::from)
            .map_err(|_| soft("22033", "jsonpath array subscript is out of integer range"))
    }

    fn arithmetic(
        &mut self,
        operation: Arithmetic,
        (left, right): (&'j Chain, &'j Chain),
        value: &Value<'j>,
    ) -> Outcome<Number> {
        let (left, right) = (self.operands(left, value)?, self.operands(right, value)?);
        let (a, b) = (single(&left, "left", operation)?, single(&right, "right", operation)?);
        a.arithmetic(operation, &b).map_err(Fault::Soft)
    }

    /// What a side of an operator gives; in lax mode arrays stand for their elements.
    pub fn operands(&mut self, chain: &'j Chain, value: &Value<'j>) -> Outcome<Vec<Value<'j>>> {
        let mut found = Vec::new();
        self.steps(chain, value.clone(), Some(&mut found))?;
        if !self.lax || !found.iter().any(Value::is_array) {
            return Ok(found);
        }
        let apart = |it: Value<'j>| if it.is_array() { it.parts() } else { vec![it] };
        Ok(found.into_iter().flat_map(apart).collect())
    }

    fn signed(
        &mut self,
        (negative, of): (bool, &'j Chain),
        rest: &'j [Step],
        value: &Value<'j>,
        mut out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        let mut any = false;
        for operand in self.operands(of, value)? {
            let Some(number) = number_in(&operand).transpose().map_err(Fault::Hard)? else {
                if out.is_none() && rest.is_empty() {
                    continue;
                }
                let sign = if negative { "-" } else { "+" };
                let message =
                    format!("operand of unary jsonpath operator {sign} is not a numeric value");
                return Err(soft("2203B", message));
            };
            let number = if negative { number.negated() } else { number };
            any |= self.next(rest, number_of(&number), out.as_deref_mut())?;
            if any && out.is_none() {
                return Ok(true);
            }
        }
        Ok(any)
    }
}

/// The one number that a side of an operator is.
fn single(found: &[Value<'_>], side: &str, operation: Arithmetic) -> Outcome<Number> {
    let number = match found {
        [one] => number_in(one).transpose().map_err(Fault::Hard)?,
        _ => None,
    };
    number.ok_or_else(|| {
        let sign = sign(operation);
        let message =
            format!("{side} operand of jsonpath operator {sign} is not a single numeric value");
        soft("22038", message)
    })
}

/// Whether a step of a value that is an array means its elements, in lax mode.
fn unwrapped(step: &Step) -> bool {
    use super::path::Method;
    match step {
        Step::Method(it) => !matches!(it, Method::Type | Method::Size),
        Step::Key(_) | Step::AnyKey | Step::Filter(_) => true,
        Step::Decimal(..) | Step::DateTime(_) | Step::Moment(..) => true,
        _ => false,
    }
}

/// The number that a value is, if it is one.
pub(super) fn number_in(value: &Value<'_>) -> Option<Result<Number, SqlError>> {
    match value.node() {
        Node::Number(digits) => Some(Number::parse(digits)),
        _ => None,
    }
}

/// A number as a value.
pub(super) fn number_of<'j>(number: &Number) -> Value<'j> {
    Value::made(Node::Number(number.to_string().into()))
}

/// A whole number.
pub(super) fn whole(number: i64) -> Number {
    Number::of_exact(number.into(), 0)
}
