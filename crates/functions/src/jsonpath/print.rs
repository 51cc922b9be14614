//! A path as PostgreSQL shows it.

use std::fmt::Write;

use types::json::put_string;
use types::numeric::Arithmetic;

use super::path::{Chain, LAST_LEVEL, Path, RegexFlags, Step, name_of, sign};

/// The text of a path.
pub(super) fn text(path: &Path) -> String {
    let mut out = String::new();
    if !path.lax {
        out.push_str("strict ");
    }
    chain(&path.chain, true, &mut out);
    out
}

fn chain(steps: &Chain, brackets: bool, out: &mut String) {
    for (place, it) in steps.iter().enumerate() {
        let has_next = place + 1 < steps.len();
        step(it, (place > 0, has_next), brackets || place > 0, out);
    }
}

/// How strongly the first step of a chain binds.
fn priority(of: &Chain) -> u8 {
    of.first().map_or(6, own_priority)
}

fn own_priority(of: &Step) -> u8 {
    match of {
        Step::Or(..) => 0,
        Step::And(..) => 1,
        Step::Compare(..) | Step::StartsWith(..) => 2,
        Step::Arithmetic(Arithmetic::Add | Arithmetic::Subtract, ..) => 3,
        Step::Arithmetic(..) => 4,
        Step::Signed { .. } => 5,
        _ => 6,
    }
}

fn pair(of: &Step, (left, right): (&Chain, &Chain), name: &str, brackets: bool, out: &mut String) {
    let own = own_priority(of);
    out.push_str(if brackets { "(" } else { "" });
    chain(left, priority(left) <= own, out);
    let _ = write!(out, " {name} ");
    chain(right, priority(right) <= own, out);
    out.push_str(if brackets { ")" } else { "" });
}

fn step(it: &Step, (in_key, has_next): (bool, bool), brackets: bool, out: &mut String) {
    match it {
        Step::Null => out.push_str("null"),
        Step::Boolean(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Step::Number(number) if has_next => {
            let _ = write!(out, "({number})");
        }
        Step::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Step::Text(text) => put_string(text, out),
        Step::Variable(name) => {
            out.push('$');
            put_string(name, out);
        }
        Step::Root => out.push('$'),
        Step::Current => out.push('@'),
        Step::Last => out.push_str("last"),
        Step::Arithmetic(operation, a, b) => pair(it, (a, b), sign(*operation), brackets, out),
        Step::Compare(compare, a, b) => pair(it, (a, b), compare.sign(), brackets, out),
        Step::And(a, b) => pair(it, (a, b), "&&", brackets, out),
        Step::Or(a, b) => pair(it, (a, b), "||", brackets, out),
        Step::StartsWith(a, b) => pair(it, (a, b), "starts with", brackets, out),
        Step::Signed { negative, of } => {
            out.push_str(if brackets { "(" } else { "" });
            out.push(if *negative { '-' } else { '+' });
            chain(of, priority(of) <= own_priority(it), out);
            out.push_str(if brackets { ")" } else { "" });
        }
        Step::Not(of) => enclosed("!(", of, ")", out),
        Step::IsUnknown(of) => enclosed("(", of, ") is unknown", out),
        Step::Exists(of) => enclosed("exists (", of, ")", out),
        Step::Filter(of) => enclosed("?(", of, ")", out),
        Step::LikeRegex { of, pattern, flags } => {
            out.push_str(if brackets { "(" } else { "" });
            chain(of, priority(of) <= own_priority(it), out);
            out.push_str(" like_regex ");
            put_string(pattern, out);
            put_flags(*flags, out);
            out.push_str(if brackets { ")" } else { "" });
        }
        Step::Key(name) => {
            out.push_str(if in_key { "." } else { "" });
            put_string(name, out);
        }
        Step::AnyKey => out.push_str(".*"),
        Step::AnyElement => out.push_str("[*]"),
        Step::Elements(all) => elements(all, out),
        Step::Levels(first, last) => levels(*first, *last, out),
        Step::Method(method) => {
            let _ = write!(out, ".{}()", method.name());
        }
        Step::Decimal(digits, behind) => {
            let digits: Vec<String> =
                [digits, behind].iter().filter_map(|it| it.map(|it| it.to_string())).collect();
            let _ = write!(out, ".decimal({})", digits.join(","));
        }
        Step::DateTime(template) => {
            out.push_str(".datetime(");
            template.iter().for_each(|it| put_string(it, out));
            out.push(')');
        }
        Step::Moment(kind, digits) => {
            let digits = digits.map_or_else(String::new, |it| it.to_string());
            let _ = write!(out, ".{}({digits})", name_of(*kind));
        }
    }
}

fn enclosed(before: &str, of: &Chain, behind: &str, out: &mut String) {
    out.push_str(before);
    chain(of, false, out);
    out.push_str(behind);
}

fn put_flags(flags: RegexFlags, out: &mut String) {
    let all = [
        (flags.fold, 'i'),
        (flags.dot_all, 's'),
        (flags.lines, 'm'),
        (flags.expanded, 'x'),
        (flags.literal, 'q'),
    ];
    if all.iter().any(|it| it.0) {
        out.push_str(" flag \"");
        out.extend(all.iter().filter(|it| it.0).map(|it| it.1));
        out.push('"');
    }
}

fn elements(all: &[(Chain, Option<Chain>)], out: &mut String) {
    out.push('[');
    for (place, (from, to)) in all.iter().enumerate() {
        out.push_str(if place > 0 { "," } else { "" });
        chain(from, false, out);
        if let Some(to) = to {
            out.push_str(" to ");
            chain(to, false, out);
        }
    }
    out.push(']');
}

fn levels(first: u32, last: u32, out: &mut String) {
    let level = |it: u32| if it == LAST_LEVEL { "last".to_owned() } else { it.to_string() };
    out.push_str(".**");
    if first == last {
        let _ = write!(out, "{{{}}}", level(first));
    } else if (first, last) != (0, LAST_LEVEL) {
        let _ = write!(out, "{{{} to {}}}", level(first), level(last));
    }
}
