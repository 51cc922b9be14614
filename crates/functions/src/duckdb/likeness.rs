//! How much two texts are alike.

use arrow_array::ArrayRef;
use arrow_array::types::{Float64Type, Int64Type};
use plan::Function;
use types::SqlResult;

use crate::call::Call;
use crate::error::{invalid, too_long};

/// Steps that all comparisons of a call may take.
const STEPS_MAX: usize = 1 << 30;

/// Counts the steps of a comparison; an error when they come to too many.
fn count(steps: &mut usize, left: &str, right: &str) -> SqlResult<()> {
    *steps = steps.saturating_add(left.len().saturating_mul(right.len()));
    if *steps > STEPS_MAX { Err(too_long()) } else { Ok(()) }
}

/// damerau_levenshtein and hamming: how many characters differ, or must be changed or swapped.
pub(super) fn distance(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    let mut steps = 0;
    call.map::<Int64Type>(|row| {
        let (left, right) = (left.value(row), right.value(row));
        let found = match call.function {
            Function::Hamming => hamming(left, right)?,
            _ => {
                count(&mut steps, left, right)?;
                edits(left, right)
            }
        };
        Ok(found as i64)
    })
}

fn hamming(left: &str, right: &str) -> SqlResult<usize> {
    if left.chars().count() != right.chars().count() {
        return Err(invalid("hamming needs texts of one length"));
    }
    Ok(left.chars().zip(right.chars()).filter(|it| it.0 != it.1).count())
}

/// Insertions, deletions, substitutions and swaps of neighbours that make one text of another; what was swapped may be changed
/// further.
fn edits(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let width = right.len() + 2;
    let far = left.len() + right.len();
    let mut table = vec![far; (left.len() + 2) * width];
    for row in 0..=left.len() {
        table[(row + 1) * width + 1] = row;
    }
    for column in 0..=right.len() {
        table[width + column + 1] = column;
    }
    let mut last_rows = std::collections::HashMap::new();
    for row in 1..=left.len() {
        let mut last_column = 0;
        for column in 1..=right.len() {
            let known = last_rows.get(&right[column - 1]).copied().unwrap_or(0);
            let before = last_column;
            let differs = usize::from(left[row - 1] != right[column - 1]);
            if differs == 0 {
                last_column = column;
            }
            let replaced = table[row * width + column] + differs;
            let inserted = table[(row + 1) * width + column] + 1;
            let deleted = table[row * width + column + 1] + 1;
            let swapped =
                table[known * width + before] + (row - known - 1) + 1 + (column - before - 1);
            let best = replaced.min(inserted).min(deleted).min(swapped);
            table[(row + 1) * width + column + 1] = best;
        }
        last_rows.insert(left[row - 1], row);
    }
    table[(left.len() + 1) * width + right.len() + 1]
}

/// jaccard, jaro_similarity and jaro_winkler_similarity: from 0 to 1.
pub(super) fn likeness(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    let least = if call.count() > 2 { Some(call.floats(2)?) } else { None };
    let mut steps = 0;
    call.map::<Float64Type>(|row| {
        let (left, right) = (left.value(row), right.value(row));
        count(&mut steps, left, right)?;
        let found = match call.function {
            Function::Jaccard => jaccard(left, right)?,
            Function::JaroSimilarity => jaro(left, right),
            _ => winkler(left, right),
        };
        Ok(if least.is_some_and(|it| found < it.value(row)) { 0.0 } else { found })
    })
}

/// How many of the characters of either text both have.
fn jaccard(left: &str, right: &str) -> SqlResult<f64> {
    if left.is_empty() || right.is_empty() {
        return Err(invalid("jaccard needs texts of one character at least"));
    }
    let set = |it: &str| it.chars().collect::<std::collections::HashSet<char>>();
    let (left, right) = (set(left), set(right));
    let both = left.intersection(&right).count();
    Ok(both as f64 / (left.len() + right.len() - both) as f64)
}

/// By characters that both have not far from each other, and how many of them are in another order.
fn jaro(left: &str, right: &str) -> f64 {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if left.is_empty() || right.is_empty() {
        return 0.0;
    }
    let reach = (left.len().max(right.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; right.len()];
    let mut ours = Vec::new();
    for (place, letter) in left.iter().enumerate() {
        let from = place.saturating_sub(reach);
        let to = (place + reach + 1).min(right.len());
        let found = (from..to).find(|it| !taken[*it] && right[*it] == *letter);
        if let Some(found) = found {
            taken[found] = true;
            ours.push(*letter);
        }
    }
    if ours.is_empty() {
        return 0.0;
    }
    let theirs = right.iter().zip(&taken).filter(|it| *it.1).map(|it| it.0);
    let moved = ours.iter().zip(theirs).filter(|it| it.0 != it.1).count() / 2;
    let count = ours.len() as f64;
    let parts = count / left.len() as f64 + count / right.len() as f64;
    (parts + (count - moved as f64) / count) / 3.0
}

/// More where texts begin alike.
fn winkler(left: &str, right: &str) -> f64 {
    let plain = jaro(left, right);
    if plain <= 0.7 {
        return plain;
    }
    let same = left.chars().zip(right.chars()).take(4).take_while(|it| it.0 == it.1).count();
    plain + same as f64 * 0.1 * (1.0 - plain)
}
