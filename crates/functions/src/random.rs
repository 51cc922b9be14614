//! Random numbers and ids, drawn anew for each row.
//!
//! The state is one of the process: each call takes a stretch of one seeded sequence, so no two calls, on whatever
//! threads, draw the same numbers. The seed comes from the keys that the standard library takes from the operating system
//! for its hash maps, once, so that two runs differ. It is no source for secrets, and a statement that uses it is not
//! repeatable on a modelled machine either.

use std::hash::{BuildHasher, RandomState};

use arrow_array::ArrayRef;
use arrow_array::types::Float64Type;
use stdx::Prng;
use stdx::sync::{Mutex, OnceLock};
use types::SqlResult;

use crate::call::Call;

static SOURCE: OnceLock<Mutex<Prng>> = OnceLock::new();

/// A generator for one call, seeded by the one of the process.
pub(crate) fn generator() -> Prng {
    let source = SOURCE.get_or_init(|| Mutex::new(Prng::new(RandomState::new().hash_one(0))));
    Prng::new(source.lock().next_u64())
}

/// Numbers from 0 (included) to 1 (excluded).
pub(crate) fn random(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let mut prng = generator();
    // As many bits as a float has digits for.
    call.map::<Float64Type>(|_| Ok((prng.next_u64() >> 11) as f64 / (1u64 << 53) as f64))
}

/// UUIDs of version 4.
pub(crate) fn uuid(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let mut prng = generator();
    call.map_texts(|_, out| {
        let (high, low) = (prng.next_u64(), prng.next_u64());
        let (version, variant) = (0x4000 | (high & 0x0fff), 0x8000 | (low >> 48 & 0x3fff));
        let (first, second) = (high >> 32, high >> 16 & 0xffff);
        let last = low & 0xffff_ffff_ffff;
        out.push(&format!("{first:08x}-{second:04x}-{version:04x}-{variant:04x}-{last:012x}"))
    })
}

/// Numbers of the normal distribution, two of which come from each pair of draws (Box and Muller).
pub(crate) fn normal(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let argument = |it: usize| (it < call.count()).then(|| call.floats(it)).transpose();
    let (means, deviations) = (argument(0)?, argument(1)?);
    let mut prng = generator();
    let mut draw = || ((prng.next_u64() >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
    call.map::<Float64Type>(|row| {
        let (radius, angle) = ((-2.0 * draw().ln()).sqrt(), std::f64::consts::TAU * draw());
        let mean = means.map_or(0.0, |it| it.value(row));
        let deviation = deviations.map_or(1.0, |it| it.value(row));
        Ok(mean + deviation * radius * angle.cos())
    })
}
