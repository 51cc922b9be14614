//! Bracket expressions, whose syntax differs most: here `[` and `&&` mean nothing inside one.

use types::SqlResult;

use super::character::{escaped_character, malformed, push_literal};
use super::flags::Flags;

/// Translates a bracket expression; `at` is behind its `[`, and in the end behind its `]`.
pub(super) fn translate(
    rest: &[char],
    at: &mut usize,
    out: &mut String,
    flags: Flags,
) -> SqlResult<()> {
    let unbalanced = || malformed("brackets [] not balanced");
    out.push('[');
    if rest.get(*at) == Some(&'^') {
        *at += 1;
        out.push('^');
        if flags.stops_at_newline {
            out.push_str("\\n");
        }
    }
    let first = *at;
    loop {
        let it = *rest.get(*at).ok_or_else(unbalanced)?;
        *at += 1;
        match it {
            ']' if *at - 1 > first => break,
            '[' => named(rest, at, out)?,
            '\\' => escape(rest, at, out)?,
            // A range, unless it stands at an end.
            '-' if *at - 1 > first && rest.get(*at) != Some(&']') => {
                out.push('-');
                if rest.get(*at) == Some(&'-') {
                    *at += 1;
                    out.push_str("\\-");
                }
            }
            other => push_literal(out, other),
        }
    }
    out.push(']');
    Ok(())
}

/// `[:class:]`, `[.x.]`, `[=x=]`, or a plain `[`.
fn named(rest: &[char], at: &mut usize, out: &mut String) -> SqlResult<()> {
    let Some(&kind @ (':' | '.' | '=')) = rest.get(*at) else {
        out.push_str("\\[");
        return Ok(());
    };
    let start = *at + 1;
    let mut end = start;
    while rest.get(end) != Some(&kind) || rest.get(end + 1) != Some(&']') {
        if end >= rest.len() {
            return Err(malformed("brackets [] not balanced"));
        }
        end += 1;
    }
    *at = end + 2;
    let name: String = rest[start..end].iter().collect();
    if kind == ':' {
        out.push_str(class(&name)?);
        return Ok(());
    }
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(it), None) => push_literal(out, it),
        _ => return Err(malformed("invalid collating element")),
    }
    Ok(())
}

fn class(name: &str) -> SqlResult<&'static str> {
    Ok(match name {
        "alnum" => "\\p{Alphabetic}\\p{Nd}",
        "alpha" => "\\p{Alphabetic}",
        "ascii" => "\\x00-\\x7f",
        "blank" => "\\t\\p{Zs}",
        "cntrl" => "\\p{Cc}",
        "digit" => "\\p{Nd}",
        "graph" => "[[:graph:]]\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}",
        "lower" => "\\p{Lowercase}",
        "print" => "[[:print:]]\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}",
        "punct" => "[[:punct:]]\\p{P}",
        "space" => "\\s",
        "upper" => "\\p{Uppercase}",
        "word" => "\\w",
        "xdigit" => "[[:xdigit:]]",
        _ => return Err(malformed("invalid character class")),
    })
}

fn escape(rest: &[char], at: &mut usize, out: &mut String) -> SqlResult<()> {
    let it = *rest.get(*at).ok_or_else(|| malformed("invalid escape \\ sequence"))?;
    *at += 1;
    match it {
        'd' => out.push_str("\\d"),
        's' => out.push_str("\\s"),
        'w' => out.push_str("\\w"),
        'D' => out.push_str("\\D"),
        'S' => out.push_str("\\S"),
        'W' => out.push_str("\\W"),
        other => push_literal(out, escaped_character(other, rest, at)?),
    }
    Ok(())
}
