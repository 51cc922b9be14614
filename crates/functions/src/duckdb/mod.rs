//! Functions that only DuckDB has.

mod difference;
mod likeness;
mod numbers;
mod paths;
mod slice;
mod strftime;
mod strptime;
mod time_bucket;

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;

use crate::call::Call;

/// The kernel of one of them; `None` of any other function.
pub(crate) fn kernel(call: &Call<'_>) -> Option<SqlResult<ArrayRef>> {
    use Function as F;
    Some(match call.function {
        F::DamerauLevenshtein | F::Hamming => likeness::distance(call),
        F::Jaccard | F::JaroSimilarity | F::JaroWinkler => likeness::likeness(call),
        F::Binomial => numbers::binomial(call),
        F::NextAfter => numbers::next_after(call),
        F::ParseBytes => numbers::parsed_bytes(call),
        F::ParseDirname | F::ParseDirpath | F::ParseFilename => paths::part(call),
        F::ParsePath => paths::parts(call),
        F::DateDiff | F::DateSub => difference::between(call),
        F::Strftime => strftime::strftime(call),
        F::Strptime | F::TryStrptime => strptime::strptime(call),
        F::TextSlice => slice::slice(call),
        F::TimeBucket => time_bucket::time_bucket(call),
        _ => return None,
    })
}
