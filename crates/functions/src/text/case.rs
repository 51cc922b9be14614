//! Upper and lower case, by the full mappings of Unicode (a sharp s in upper case is `SS`).

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;

use crate::call::Call;

/// lower and upper.
pub(crate) fn change_case(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    let upper = call.function == Function::Upper;
    call.map_texts(|row, out| {
        let text = texts.value(row);
        // A character becomes three at most.
        out.claim(if text.is_ascii() { text.len() } else { text.len().saturating_mul(3) })?;
        let changed = if upper { text.to_uppercase() } else { text.to_lowercase() };
        out.push(&changed)
    })
}

/// Words of letters and digits with a first letter in upper case.
pub(crate) fn initcap(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    call.map_texts(|row, out| {
        let mut inside = false;
        for character in texts.value(row).chars() {
            let mut changed = [None; 3];
            if inside {
                fill(&mut changed, character.to_lowercase());
            } else {
                fill(&mut changed, character.to_uppercase());
            }
            for (place, it) in changed.into_iter().flatten().enumerate() {
                // A sharp s begins a word as `Ss`.
                let follows = !inside && place > 0 && it.is_uppercase();
                if follows {
                    it.to_lowercase().try_for_each(|it| out.push_char(it))?;
                } else {
                    out.push_char(it)?;
                }
            }
            inside = character.is_alphanumeric();
        }
        Ok(())
    })
}

fn fill(into: &mut [Option<char>; 3], characters: impl Iterator<Item = char>) {
    for (place, it) in into.iter_mut().zip(characters) {
        *place = Some(it);
    }
}
