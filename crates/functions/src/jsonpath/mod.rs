//! SQL/JSON path: a language of its own for parts of JSON, as PostgreSQL has it.
//!
//! Key decision: a path is held as its text, the one that PostgreSQL shows, and read when it is first met in a batch. It runs over
//! a JSON that is taken apart, value by value, in the order in which the standard says so.
//!
//! Different from PostgreSQL: `keyvalue()` numbers objects one after the other, where PostgreSQL gives the place where one is held.
//!
//! Reading order: `signature`, `path` (what there is), `lexer` and `parse`, `print`, `value`, `run` (steps), `condition`, `method`, `moment`, `regex`, `rows` (a path and a JSON for each row),
//! `found` (what functions make of it), `single` (one value).

mod condition;
mod found;
mod lexer;
mod method;
mod moment;
mod parse;
mod path;
mod print;
mod regex;
mod rows;
mod run;
mod signature;
mod single;
mod value;

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;

use crate::call::Call;

pub(crate) use signature::signature;

/// The kernel of a function of paths; `None` of any other.
pub(crate) fn kernel(call: &Call<'_>) -> Option<SqlResult<ArrayRef>> {
    use Function as F;
    Some(match call.function {
        F::JsonPathNormal => found::normal(call),
        F::JsonPathExists | F::JsonPathMatch => found::truths(call),
        F::JsonPathItems | F::JsonPathArray | F::JsonPathFirst => found::values(call),
        F::JsonSingle => single::value(call),
        F::JsonSingleState => single::state(call),
        _ => return None,
    })
}
