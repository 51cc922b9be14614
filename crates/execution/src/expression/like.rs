//! LIKE and ILIKE: the pattern is compiled once into the simplest matcher that does.

use stdx::sync::{Arc, Mutex};
use storage::{PlainStrings, SymbolTable};
use types::{DataType, SqlResult};

use super::automaton::Automaton;
use super::node::{Facts, Kernel, Node, Texts, compressed, for_texts};
use super::pattern::{Matcher, matches_all};
use crate::{Batch, ColumnShape, TextVector, Values, Vector};

/// A symbol table and the automaton over its codes, if there is one.
type Known = (Arc<SymbolTable>, Option<Arc<Automaton>>);

#[derive(Debug)]
struct Like {
    operand: Node,
    matcher: Matcher,
    case_insensitive: bool,
    negated: bool,
    /// Those of the symbol tables that were met.
    automata: Mutex<Vec<Known>>,
}

/// Compiles [NOT] LIKE and [NOT] ILIKE.
pub(super) fn like(
    operand: Node,
    pattern: &str,
    escape: Option<char>,
    case_insensitive: bool,
    negated: bool,
) -> SqlResult<Node> {
    if operand.is_null() {
        return Ok(Node::null(DataType::Boolean));
    }
    let matcher = if case_insensitive {
        let escape = escape.and_then(|it| it.to_lowercase().next());
        Matcher::new(&pattern.to_lowercase(), escape)?
    } else {
        Matcher::new(pattern, escape)?
    };
    let automata = Mutex::new(Vec::new());
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(DataType::Boolean, facts.nullable);
    Ok(Node::new(shape, facts, Like { operand, matcher, case_insensitive, negated, automata }))
}

/// Writes a text in lower case.
fn lower_into(text: &[u8], out: &mut Vec<u8>) {
    out.clear();
    if text.is_ascii() {
        out.extend(text.iter().map(u8::to_ascii_lowercase));
    } else {
        let text = std::str::from_utf8(text).expect("invariant: text is UTF-8");
        out.extend_from_slice(text.to_lowercase().as_bytes());
    }
}

impl Like {
    fn automaton(&self, symbols: &Arc<SymbolTable>) -> Option<Arc<Automaton>> {
        let mut known = self.automata.lock();
        if let Some((_, automaton)) = known.iter().find(|it| Arc::ptr_eq(&it.0, symbols)) {
            return automaton.clone();
        }
        let made = self.matcher.pattern().and_then(|it| Automaton::new(&it, symbols));
        let made = made.map(Arc::new);
        known.push((symbols.clone(), made.clone()));
        made
    }

    /// Whether the texts at some positions match, without reading those that are compressed in full; `None` when the
    /// pattern does not allow it.
    fn matches_compressed(&self, strings: &PlainStrings, positions: &[u32]) -> Option<Vec<bool>> {
        if self.case_insensitive {
            return None;
        }
        let mut found = vec![self.negated; positions.len()];
        let mut last: Option<(&Arc<SymbolTable>, Arc<Automaton>)> = None;
        let mut row = 0;
        while row < positions.len() {
            let (texts, first) = strings.find(positions[row] as usize)?;
            let follow = |pair: &&[u32]| pair[0].wrapping_add(1) == pair[1];
            let run = 1 + positions[row..].windows(2).take_while(follow).count();
            let found = &mut found[row..];
            let run = run.min(texts.stored().len().saturating_sub(first)).max(1);
            let found = &mut found[..run];
            match texts.symbols() {
                None => {
                    for (index, found) in found.iter_mut().enumerate() {
                        let text = texts.stored().bytes_at(first + index);
                        *found = self.matcher.matches(text) != self.negated;
                    }
                }
                Some(symbols) => {
                    if last.as_ref().is_none_or(|it| !Arc::ptr_eq(it.0, symbols)) {
                        last = Some((symbols, self.automaton(symbols)?));
                    }
                    let (_, automaton) = last.as_ref()?;
                    automaton.matches_run(texts.stored(), first, self.negated, found);
                }
            }
            row += run;
        }
        Some(found)
    }
}

impl Like {
    /// Whether texts match that stand one after the other in memory, as the entries of a dictionary do; behind those
    /// may stand what NULL is looked up as.
    fn matches_run(&self, texts: &Texts<'_>, rows: usize) -> Option<Vec<bool>> {
        if self.case_insensitive {
            return None;
        }
        if let Some(run) = texts.run(rows) {
            return self.matcher.matches_run(run, self.negated);
        }
        let last = rows.checked_sub(1)?;
        let mut found = self.matcher.matches_run(texts.run(last)?, self.negated)?;
        found.push(self.matcher.matches(texts.get(last)) != self.negated);
        Some(found)
    }
}

impl Kernel for Like {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let found = compressed(&argument, &self.operand.shape)
            .and_then(|(strings, positions)| self.matches_compressed(strings, positions));
        if let Some(found) = found {
            let validity = argument.validity().cloned();
            return Ok(Vector { values: Values::Bool(found), validity });
        }
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.operand.shape, &mut space);
        let run = self.matches_run(&texts, batch.rows);
        let mut buffer = Vec::new();
        let negated = self.negated;
        let values: Vec<bool> = for_texts!(texts, get => {
            if self.case_insensitive {
                let folded = |row| {
                    lower_into(get(row), &mut buffer);
                    self.matcher.matches(&buffer) != negated
                };
                (0..batch.rows).map(folded).collect()
            } else if let Some(found) = run {
                found
            } else {
                matches_all(&self.matcher, batch.rows, get, negated)
            }
        });
        Ok(Vector { values: Values::Bool(values), validity: argument.validity().cloned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_folded() {
        let mut out = Vec::new();
        lower_into("\u{c9}CLAIR".as_bytes(), &mut out);
        assert_eq!(out, "\u{e9}clair".as_bytes());
        lower_into(b"AbC", &mut out);
        assert_eq!(out, b"abc");
    }
}
