//! Expressions that can be written in another way, wherever they stand.

use crate::ast::{Expr, Form, Query};
use crate::kind::Kind;
use crate::logic::rule::{Equation, Rule};
use crate::walk::{self, Node};

/// The rules of this file.
pub const RULES: &[Rule] = &[
    Rule { name: "a list of IN is a chain of OR", make: |query| each(query, list) },
    Rule { name: "BETWEEN is two comparisons", make: |query| each(query, between) },
    Rule { name: "IN is = ANY, NOT IN is <> ALL", make: |query| each(query, quantified) },
    Rule { name: "AND is NOT (NOT .. OR NOT ..)", make: |query| each(query, de_morgan) },
    Rule { name: "FILTER is CASE in the argument", make: |query| each(query, filtered) },
    Rule { name: "COALESCE and NULLIF are CASE", make: |query| each(query, choices) },
    Rule { name: "IS DISTINCT FROM is CASE", make: |query| each(query, distinct) },
    Rule { name: "IS TRUE and its like are COALESCE", make: |query| each(query, truths) },
    Rule { name: "CASE x WHEN a is CASE WHEN x = a", make: |query| each(query, searched) },
    Rule { name: "a < b is b > a", make: |query| each(query, turned) },
];

/// The query with every expression written anew that can be.
fn each(query: &Query, rewrite: fn(&Expr) -> Option<Expr>) -> Option<Equation> {
    let mut other = query.clone();
    walk::query(&mut other, &mut |node, _| {
        if let Node::Expr(expr) = node
            && let Some(made) = rewrite(expr)
        {
            *expr = made;
        }
    });
    Equation::between(query, other)
}

fn truth(operator: &'static str, left: Expr, right: Expr) -> Expr {
    Expr::infix(operator, Kind::Boolean, left, right)
}

fn literal(text: &str) -> Expr {
    Expr::literal(text, Kind::Boolean)
}

fn case(kind: Kind, parts: Vec<Expr>) -> Expr {
    let otherwise = parts.len() % 2 == 1;
    Expr::new(Form::Case { operand: false, otherwise }, kind, parts)
}

fn list(expr: &Expr) -> Option<Expr> {
    let Form::In { negated } = expr.form else { return None };
    // Parentheses around a query alone make no list: it is IN of all its rows.
    if let [_, only] = expr.parts.as_slice()
        && only.form == Form::Scalar
    {
        return None;
    }
    let (compare, join) = if negated { ("<>", "AND") } else { ("=", "OR") };
    let one = |it: &Expr| truth(compare, expr.parts[0].clone(), it.clone());
    expr.parts[1..].iter().map(one).reduce(|left, right| truth(join, left, right))
}

fn between(expr: &Expr) -> Option<Expr> {
    let Form::Between { negated } = expr.form else { return None };
    let [part, low, high] = [0, 1, 2].map(|at| expr.parts[at].clone());
    Some(if negated {
        truth("OR", truth("<", part.clone(), low), truth(">", part, high))
    } else {
        truth("AND", truth(">=", part.clone(), low), truth("<=", part, high))
    })
}

fn quantified(expr: &Expr) -> Option<Expr> {
    let form = match expr.form {
        Form::InQuery { negated: false } => Form::Quantified { operator: "=", all: false },
        Form::InQuery { negated: true } => Form::Quantified { operator: "<>", all: true },
        Form::Quantified { operator: "=", all: false } => Form::InQuery { negated: false },
        Form::Quantified { operator: "<>", all: true } => Form::InQuery { negated: true },
        _ => return None,
    };
    Some(Expr { form, ..expr.clone() })
}

fn de_morgan(expr: &Expr) -> Option<Expr> {
    let other = match expr.form {
        Form::Infix("AND") => "OR",
        Form::Infix("OR") => "AND",
        _ => return None,
    };
    let [left, right] = [0, 1].map(|at| expr.parts[at].clone().negated());
    Some(unmet(other, left, right).negated())
}

/// An AND or OR that the walk does not meet again: its operator is written in small letters.
fn unmet(operator: &str, left: Expr, right: Expr) -> Expr {
    truth(if operator == "AND" { "and" } else { "or" }, left, right)
}

fn filtered(expr: &Expr) -> Option<Expr> {
    let Form::Aggregate { name, distinct, filter: true } = expr.form else { return None };
    let condition = expr.parts.last()?.clone();
    let counted = Expr::literal("1", Kind::Integer);
    let argument = if expr.parts.len() == 2 { expr.parts[0].clone() } else { counted };
    let argument = case(argument.kind, vec![condition, argument]);
    Some(Expr::new(Form::Aggregate { name, distinct, filter: false }, expr.kind, vec![argument]))
}

fn choices(expr: &Expr) -> Option<Expr> {
    match expr.form {
        Form::Call("coalesce") => {
            // ELSE would be the first to say what type it is.
            let last = expr.parts.len().checked_sub(1)?;
            let when = |(at, part): (usize, &Expr)| match at == last {
                true => [literal("TRUE"), part.clone()],
                false => [Expr::postfix("IS NOT NULL", part.clone()), part.clone()],
            };
            Some(case(expr.kind, expr.parts.iter().enumerate().flat_map(when).collect()))
        }
        Form::Call("nullif") => {
            let [one, other] = [0, 1].map(|at| expr.parts[at].clone());
            let equal = truth("=", one.clone(), other);
            Some(case(expr.kind, vec![equal, Expr::null(expr.kind), one]))
        }
        _ => None,
    }
}

fn distinct(expr: &Expr) -> Option<Expr> {
    let [same, other] = match expr.form {
        Form::Infix("IS DISTINCT FROM") => ["FALSE", "TRUE"],
        Form::Infix("IS NOT DISTINCT FROM") => ["TRUE", "FALSE"],
        _ => return None,
    };
    let [left, right] = [0, 1].map(|at| expr.parts[at].clone());
    let null = |it: &Expr| Expr::postfix("IS NULL", it.clone());
    let both = truth("AND", null(&left), null(&right));
    let either = truth("OR", null(&left), null(&right));
    let compare = if same == "TRUE" { "=" } else { "<>" };
    let compared = truth(compare, left, right);
    Some(case(Kind::Boolean, vec![both, literal(same), either, literal(other), compared]))
}

fn truths(expr: &Expr) -> Option<Expr> {
    let Form::Postfix(operator) = expr.form else { return None };
    let part = expr.parts[0].clone();
    let sure =
        |it: Expr| Expr::new(Form::Call("coalesce"), Kind::Boolean, vec![it, literal("FALSE")]);
    Some(match operator {
        "IS TRUE" => sure(part),
        "IS NOT TRUE" => sure(part).negated(),
        "IS FALSE" => sure(part.negated()),
        "IS NOT FALSE" => sure(part.negated()).negated(),
        "IS UNKNOWN" => Expr::postfix("IS NULL", part),
        "IS NOT UNKNOWN" => Expr::postfix("IS NOT NULL", part),
        _ => return None,
    })
}

fn searched(expr: &Expr) -> Option<Expr> {
    let Form::Case { operand: true, otherwise } = expr.form else { return None };
    let operand = expr.parts[0].clone();
    let mut parts = expr.parts[1..].to_vec();
    let arms = parts.len() - usize::from(otherwise);
    for at in (0..arms).step_by(2) {
        parts[at] = truth("=", operand.clone(), parts[at].clone());
    }
    Some(Expr::new(Form::Case { operand: false, otherwise }, expr.kind, parts))
}

fn turned(expr: &Expr) -> Option<Expr> {
    let operator = match expr.form {
        Form::Infix("<") => ">",
        Form::Infix("<=") => ">=",
        Form::Infix(">") => "<",
        Form::Infix(">=") => "<=",
        Form::Infix("=") => "=",
        Form::Infix("<>") => "<>",
        _ => return None,
    };
    let [left, right] = [0, 1].map(|at| expr.parts[at].clone());
    Some(truth(operator, right, left))
}
