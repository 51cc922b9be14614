//! Conditions of a path: true, false or unknown. An error of the JSON makes them unknown.

use std::cmp::Ordering;

use types::json::Node;
use types::numeric::number::Number;
use types::{SqlError, SqlResult};

use super::moment::Clocks;
use super::path::{Chain, Compare, RegexFlags, Step};
use super::run::{Fault, Outcome, Run};
use super::value::Value;

/// What a test of two values comes to.
type Test<'t> = dyn FnMut(&Value<'_>, &Value<'_>) -> SqlResult<Option<bool>> + 't;

impl<'j> Run<'j> {
    /// A condition that is a chain of one step.
    pub fn condition(&mut self, chain: &'j Chain, value: &Value<'j>) -> Outcome<Option<bool>> {
        match chain.first() {
            Some(step) => self.truth(step, value),
            None => Err(Fault::Hard(SqlError::internal("a condition without a step"))),
        }
    }

    pub fn truth(&mut self, step: &'j Step, value: &Value<'j>) -> Outcome<Option<bool>> {
        match step {
            Step::And(left, right) => {
                let left = self.condition(left, value)?;
                if left == Some(false) {
                    return Ok(left);
                }
                let right = self.condition(right, value)?;
                Ok(if right == Some(true) { left } else { right })
            }
            Step::Or(left, right) => {
                let left = self.condition(left, value)?;
                if left == Some(true) {
                    return Ok(left);
                }
                let right = self.condition(right, value)?;
                Ok(if right == Some(false) { left } else { right })
            }
            Step::Not(of) => Ok(self.condition(of, value)?.map(|it| !it)),
            Step::IsUnknown(of) => Ok(Some(self.condition(of, value)?.is_none())),
            Step::Exists(of) => self.exists(of, value),
            Step::Compare(compare, left, right) => {
                let clocks = self.given.clocks;
                let test = &mut |a: &Value<'_>, b: &Value<'_>| compared(*compare, (a, b), clocks);
                self.tested((left, Some((right, true))), value, test)
            }
            Step::StartsWith(left, right) => {
                let test = &mut |a: &Value<'_>, b: &Value<'_>| match (string(a), string(b)) {
                    (Some(whole), Some(start)) => Ok(Some(whole.starts_with(start))),
                    _ => Ok(None),
                };
                self.tested((left, Some((right, false))), value, test)
            }
            Step::LikeRegex { of, pattern, flags } => self.like(of, (pattern, *flags), value),
            _ => Err(Fault::Hard(SqlError::internal("a value where a condition stands"))),
        }
    }

    fn like(
        &mut self,
        of: &'j Chain,
        (pattern, flags): (&str, RegexFlags),
        value: &Value<'j>,
    ) -> Outcome<Option<bool>> {
        let pattern = super::regex::compiled(pattern, flags).map_err(Fault::Hard)?;
        let test = &mut |a: &Value<'_>, _: &Value<'_>| Ok(string(a).map(|it| pattern.is_match(it)));
        self.tested((of, None), value, test)
    }

    fn exists(&mut self, of: &'j Chain, value: &Value<'j>) -> Outcome<Option<bool>> {
        if self.lax {
            return unknown_if_soft(self.steps(of, value.clone(), None).map(Some));
        }
        let mut found = Vec::new();
        let outcome = self.steps(of, value.clone(), Some(&mut found));
        unknown_if_soft(outcome.map(|_| Some(!found.is_empty())))
    }

    /// Whether any pair of what two sides give passes a test; of one side, any value. The right side stands for its elements, too,
    /// where that is said.
    fn tested(
        &mut self,
        (left, right): (&'j Chain, Option<(&'j Chain, bool)>),
        value: &Value<'j>,
        test: &mut Test<'_>,
    ) -> Outcome<Option<bool>> {
        let Some(left) = soft_as_none(self.operands(left, value))? else { return Ok(None) };
        let right = match right {
            None => vec![Value::made(Node::Null)],
            Some((right, unwraps)) => {
                let found = match unwraps {
                    true => self.operands(right, value),
                    false => {
                        let mut found = Vec::new();
                        self.steps(right, value.clone(), Some(&mut found)).map(|_| found)
                    }
                };
                let Some(found) = soft_as_none(found)? else { return Ok(None) };
                found
            }
        };
        let (mut any, mut is_unknown) = (false, false);
        for a in &left {
            for b in &right {
                match test(a, b).map_err(Fault::Hard)? {
                    None if !self.lax => return Ok(None),
                    None => is_unknown = true,
                    Some(true) if self.lax => return Ok(Some(true)),
                    Some(true) => any = true,
                    Some(false) => {}
                }
            }
        }
        Ok(if !any && is_unknown { None } else { Some(any) })
    }
}

/// What came out; `None` where the JSON is not as the path says.
fn soft_as_none<T>(outcome: Outcome<T>) -> Outcome<Option<T>> {
    match outcome {
        Ok(it) => Ok(Some(it)),
        Err(Fault::Soft(_)) => Ok(None),
        Err(hard) => Err(hard),
    }
}

fn unknown_if_soft(outcome: Outcome<Option<bool>>) -> Outcome<Option<bool>> {
    soft_as_none(outcome).map(Option::flatten)
}

/// The string that a value is; a point of time is none.
fn string<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match (value.moment(), value.node()) {
        (None, Node::String(it)) => Some(it),
        _ => None,
    }
}

fn compared(
    compare: Compare,
    (a, b): (&Value<'_>, &Value<'_>),
    clocks: Option<&Clocks>,
) -> SqlResult<Option<bool>> {
    let order = match (a.node(), b.node()) {
        (Node::Null, Node::Null) => Ordering::Equal,
        // Only `!=` is true of null beside another value.
        (Node::Null, _) | (_, Node::Null) => return Ok(Some(compare == Compare::NotEqual)),
        _ if a.moment().is_some() || b.moment().is_some() => {
            let (Some(a), Some(b)) = (a.moment(), b.moment()) else { return Ok(None) };
            match a.compare(b, clocks)? {
                Some(order) => order,
                None => return Ok(None),
            }
        }
        (Node::Boolean(a), Node::Boolean(b)) => a.cmp(b),
        (Node::Number(a), Node::Number(b)) => Number::parse(a)?.compare(&Number::parse(b)?),
        (Node::String(a), Node::String(b)) => a.cmp(b),
        _ => return Ok(None),
    };
    Ok(Some(match compare {
        Compare::Equal => order.is_eq(),
        Compare::NotEqual => order.is_ne(),
        Compare::Less => order.is_lt(),
        Compare::LessEqual => order.is_le(),
        Compare::Greater => order.is_gt(),
        Compare::GreaterEqual => order.is_ge(),
    }))
}
