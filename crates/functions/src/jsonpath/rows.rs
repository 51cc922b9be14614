//! A path and a JSON for each row of a call.

use arrow_array::cast::AsArray;
use arrow_array::types::Date32Type;
use stdx::stack;
use types::json::{Node, with_room};
use types::{SqlError, SqlResult, Zone};

use super::moment::Clocks;
use super::parse;
use super::path::Path;
use super::run::{Fault, Given};
use crate::call::Call;
use crate::json::invalid;

/// The paths of a batch, of which most are one.
#[derive(Default)]
pub(super) struct Paths {
    last: Option<(String, Path)>,
}

impl Paths {
    fn of(&mut self, text: &str) -> SqlResult<&Path> {
        if self.last.as_ref().is_none_or(|it| it.0 != text) {
            let path = parse::parse(text)?;
            self.last = Some((text.to_owned(), path));
        }
        match &self.last {
            Some((_, path)) => Ok(path),
            None => Err(SqlError::internal("a path was not kept")),
        }
    }
}

/// What runs for each row: a path, a JSON and its variables.
pub(super) type Runs<'r, T> = dyn FnMut(&Path, &Node<'_>, Given<'_>) -> Result<T, Fault> + 'r;

/// Runs the path of a row; `None` where the JSON is not as it says and the call is silent.
pub(super) fn run_row<T>(
    call: &Call<'_>,
    paths: &mut Paths,
    row: usize,
    runs: &mut Runs<'_, T>,
) -> SqlResult<Option<T>> {
    let (json, path) = (call.texts(0)?.value(row), call.texts(1)?.value(row));
    let variables = call.optional_texts(2)?.map_or("{}", |it| it.value(row));
    let is_silent = call.count() > 3 && call.booleans(3)?.value(row);
    let clocks = clocks(call, row)?;
    let path = paths.of(path)?;
    let outcome = with_room(&[json, variables], || {
        let root = Node::read(json)?;
        let variables = Node::read(variables)?;
        let Node::Object(variables) = &variables else {
            return Err(invalid("\"vars\" argument is not an object").with_detail(
                "Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.",
            ));
        };
        let given = Given { variables, clocks: clocks.as_ref() };
        Ok(stack::with_levels(path.size, || runs(path, &root, given)))
    })?;
    match outcome {
        Ok(it) => Ok(Some(it)),
        Err(Fault::Soft(_)) if is_silent => Ok(None),
        Err(Fault::Soft(error) | Fault::Hard(error)) => Err(error),
    }
}

/// The clocks of the session, which a call has that goes by them: their zone, and the day that they show.
fn clocks(call: &Call<'_>, row: usize) -> SqlResult<Option<Clocks>> {
    if call.count() < 6 {
        return Ok(None);
    }
    let zone = Zone::of_value(call.texts(4)?.value(row))?;
    let today = call.argument(5)?.as_primitive::<Date32Type>().value(row);
    Ok(Some(Clocks { zone, today: today.into() }))
}
