//! The methods of a path.

use types::json::Node;
use types::numeric::number::Number;
use types::{DataType, SqlError, SqlState};

use super::moment::Moment;
use super::path::{Method, Step, name_of};
use super::run::{Fault, Out, Outcome, Run, number_in, number_of, soft, whole};
use super::value::Value;

/// 22036: a value of which a method makes nothing.
const NO_NUMBER: &str = "22036";
/// 22031: a value of which a method makes no point of time.
const NO_MOMENT: &str = "22031";

impl<'j> Run<'j> {
    pub fn method(
        &mut self,
        step: &'j Step,
        rest: &'j [Step],
        value: Value<'j>,
        out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        let made = match step {
            Step::Decimal(digits, behind) => decimal(&value, *digits, *behind)?,
            Step::Method(Method::KeyValue) => return self.key_values(rest, &value, out),
            Step::Method(Method::Size) => match self.size(&value)? {
                Some(size) => size,
                None => return Ok(false),
            },
            Step::Method(method) => called(*method, &value)?,
            Step::DateTime(template) => match template {
                None => Value::of_moment(read(&value, "datetime")?),
                Some(template) => {
                    let made = Moment::by_template(text_of(&value, "datetime")?, template);
                    Value::of_moment(made.map_err(Fault::Hard)?.map_err(Fault::Soft)?)
                }
            },
            Step::Moment(kind, digits) => {
                let name = name_of(*kind);
                let found = read(&value, name)?.cast(*kind, self.given.clocks);
                let found = found.map_err(Fault::Hard)?;
                let found = found.ok_or_else(|| not_recognized(&value, name))?;
                let digits = digits.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
                Value::of_moment(digits.map_or(found, |it| found.rounded(it)))
            }
            _ => return Ok(false),
        };
        self.next(rest, made, out)
    }

    fn size(&self, value: &Value<'j>) -> Outcome<Option<Value<'j>>> {
        match value.node() {
            Node::Array(items) => Ok(Some(number_of(&whole(items.len() as i64)))),
            _ if self.lax => Ok(Some(number_of(&whole(1)))),
            _ if self.is_forgiving() => Ok(None),
            _ => {
                let message = "jsonpath item method .size() can only be applied to an array";
                Err(soft("22039", message))
            }
        }
    }

    /// An object for each member of an object, with the number of this.
    fn key_values(
        &mut self,
        rest: &'j [Step],
        value: &Value<'j>,
        mut out: Out<'_, 'j>,
    ) -> Outcome<bool> {
        let Node::Object(members) = value.node() else {
            let message = "jsonpath item method .keyvalue() can only be applied to an object";
            return Err(soft("2203C", message));
        };
        let id = match self.is_root(value) {
            true => 0,
            false => {
                self.numbered += 1;
                self.numbered
            }
        };
        let mut any = false;
        for (key, of) in members.clone() {
            let id = Node::Number(id.to_string().into());
            let members =
                vec![("id".into(), id), ("key".into(), Node::String(key)), ("value".into(), of)];
            let member = Value::made(Node::Object(members));
            any |= self.next(rest, member, out.as_deref_mut())?;
            if any && out.is_none() {
                return Ok(true);
            }
        }
        Ok(any)
    }
}

/// The string that a method of points of time is called of.
fn text_of<'v>(value: &'v Value<'_>, method: &str) -> Outcome<&'v str> {
    match (value.moment(), value.node()) {
        (None, Node::String(text)) => Ok(text),
        _ => {
            let message =
                format!("jsonpath item method .{method}() can only be applied to a string");
            Err(soft(NO_MOMENT, message))
        }
    }
}

/// The point of time that a string says.
fn read(value: &Value<'_>, method: &str) -> Outcome<Moment> {
    let text = text_of(value, method)?;
    Moment::read(text).ok_or_else(|| not_recognized(value, method))
}

fn not_recognized(value: &Value<'_>, method: &str) -> Fault {
    let text = match value.node() {
        Node::String(text) => text,
        _ => "",
    };
    let error = SqlError::new(
        SqlState(NO_MOMENT),
        format!("{method} format is not recognized: \"{text}\""),
    );
    Fault::Soft(match method {
        "datetime" => {
            error.with_hint("Use a datetime template argument to specify the input data format.")
        }
        _ => error,
    })
}

fn called<'j>(method: Method, value: &Value<'j>) -> Outcome<Value<'j>> {
    let name = method.name();
    match method {
        Method::Type => {
            let kind = match value.node() {
                Node::Null => "null",
                Node::Boolean(_) => "boolean",
                Node::Number(_) => "number",
                Node::String(_) => value.moment().map_or("string", |it| it.kind.name()),
                Node::Array(_) => "array",
                Node::Object(_) => "object",
            };
            Ok(Value::made(Node::String(kind.into())))
        }
        Method::Abs | Method::Floor | Method::Ceiling => {
            let Some(number) = number_in(value).transpose().map_err(Fault::Hard)? else {
                let message = format!(
                    "jsonpath item method .{name}() can only be applied to a numeric value"
                );
                return Err(soft(NO_NUMBER, message));
            };
            Ok(number_of(&match method {
                Method::Abs => number.abs(),
                Method::Floor => number.floor(),
                _ => number.ceil(),
            }))
        }
        Method::BigInt => whole_number(value, name, DataType::BigInt),
        Method::Integer => whole_number(value, name, DataType::Integer),
        Method::Number => number_like(value, name, "numeric").map(|it| number_of(&it)),
        Method::Double => {
            let number = number_like(value, name, "double precision")?;
            let refused = || not_of(&number.to_string(), name, "double precision");
            let float = number.to_float(false).map_err(|_| refused())?;
            // A number stays as it is.
            if matches!(value.node(), Node::Number(_)) {
                return Ok(value.clone());
            }
            Number::of_float(float, false).map(|it| number_of(&it)).map_err(|_| refused())
        }
        Method::Boolean => boolean(value, name),
        Method::Text => match value.node() {
            Node::String(_) => Ok(value.clone()),
            Node::Number(digits) => Ok(Value::made(Node::String(digits.clone()))),
            Node::Boolean(truth) => Ok(Value::made(Node::String(truth.to_string().into()))),
            _ => {
                let what = "a boolean, string, numeric, or datetime value";
                let message =
                    format!("jsonpath item method .string() can only be applied to {what}");
                Err(soft(NO_NUMBER, message))
            }
        },
        // They are called elsewhere.
        Method::Size | Method::KeyValue => Ok(value.clone()),
    }
}

fn not_of(argument: &str, method: &str, data_type: &str) -> Fault {
    let message = format!(
        "argument \"{argument}\" of jsonpath item method .{method}() is invalid for type {data_type}"
    );
    soft(NO_NUMBER, message)
}

fn no_number(method: &str) -> Fault {
    let what = "a string or numeric value";
    soft(NO_NUMBER, format!("jsonpath item method .{method}() can only be applied to {what}"))
}

/// The number that a number or a string says.
fn number_like(value: &Value<'_>, method: &str, data_type: &str) -> Outcome<Number> {
    let (digits, number) = match value.node() {
        _ if value.moment().is_some() => return Err(no_number(method)),
        Node::Number(digits) => (digits, Number::parse(digits)),
        Node::String(text) => (text, Number::parse(text.trim())),
        _ => return Err(no_number(method)),
    };
    let number = number.map_err(|_| not_of(digits, method, data_type))?;
    match number {
        Number::Finite(_) => Ok(number),
        _ => {
            let message =
                format!("NaN or Infinity is not allowed for jsonpath item method .{method}()");
            Err(soft(NO_NUMBER, message))
        }
    }
}

fn whole_number<'j>(value: &Value<'j>, method: &str, to: DataType) -> Outcome<Value<'j>> {
    let (text, number) = match value.node() {
        _ if value.moment().is_some() => return Err(no_number(method)),
        Node::Number(digits) => (digits, Number::parse(digits).map_err(Fault::Soft)?.round(0)),
        Node::String(text) => {
            let is_whole = text.trim().trim_start_matches(['+', '-']);
            let is_whole = !is_whole.is_empty() && is_whole.bytes().all(|it| it.is_ascii_digit());
            let number = Number::parse(text.trim()).ok().filter(|_| is_whole);
            (text, number.ok_or_else(|| not_of(text, method, &to.to_string().to_lowercase()))?)
        }
        _ => return number_like(value, method, "").map(|it| number_of(&it)),
    };
    match number.to_exact(to) {
        Ok(exact) => Ok(number_of(&Number::of_exact(exact, 0))),
        Err(_) => Err(not_of(text, method, &to.to_string().to_lowercase())),
    }
}

fn boolean<'j>(value: &Value<'j>, method: &str) -> Outcome<Value<'j>> {
    let truth = match value.node() {
        _ if value.moment().is_some() => None,
        Node::Boolean(truth) => Some(*truth),
        Node::Number(digits) => {
            let number = digits.parse::<i32>().map_err(|_| not_of(digits, method, "boolean"))?;
            Some(number != 0)
        }
        Node::String(text) => {
            let truth = types::numeric::spelling::boolean(text).ok();
            Some(truth.ok_or_else(|| not_of(text, method, "boolean"))?)
        }
        _ => None,
    };
    truth.map(|it| Value::made(Node::Boolean(it))).ok_or_else(|| {
        let what = "a boolean, string, or numeric value";
        soft(NO_NUMBER, format!("jsonpath item method .{method}() can only be applied to {what}"))
    })
}

fn decimal<'j>(value: &Value<'j>, digits: Option<i64>, behind: Option<i64>) -> Outcome<Value<'j>> {
    let number = number_like(value, "decimal", "numeric")?;
    let Some(digits) = digits else { return Ok(number_of(&number)) };
    let behind = behind.unwrap_or(0);
    if !(1..=1000).contains(&digits) {
        let message = format!("NUMERIC precision {digits} must be between 1 and 1000");
        return Err(soft("22023", message));
    }
    if !(-1000..=1000).contains(&behind) {
        let message = format!("NUMERIC scale {behind} must be between -1000 and 1000");
        return Err(soft("22023", message));
    }
    let rounded = number.round(behind);
    let whole = rounded.digits().map_or(0, |(_, all, scale)| {
        let significant = all.trim_start_matches('0').len() as i64;
        significant - i64::from(scale)
    });
    if whole > digits - behind {
        return Err(not_of(&number.to_string(), "decimal", "numeric"));
    }
    Ok(number_of(&rounded))
}
