//! Functions of the catalog that make rows: the channels that the session listens to, and the items of an array with their places.

use plan::Expr;
use plan::relation::Rel;
use types::structs::{Field, StructType};
use types::{DataType, SqlResult};

use super::Binder;
use super::row_functions::EXPAND_ARRAY;
use super::series_parts::{Part, Rule};

impl Binder<'_> {
    /// The rows of such a function, or of the matches of a pattern; `None` where it takes other arguments.
    pub(super) fn other_rows(
        &mut self,
        name: &str,
        bound: Vec<Expr>,
        input: Rel,
    ) -> SqlResult<Option<(Rel, Part)>> {
        match (name, &bound[..]) {
            ("pg_listening_channels", []) => {
                let told = self.environment.session.session_value(name, &[]);
                self.is_stable = false;
                let Some((held, of)) = told.transpose()? else { return Ok(None) };
                self.items_of(Expr::literal(held, of), input).transpose()
            }
            (EXPAND_ARRAY, [array]) => self.placed_items(array.clone(), input),
            ("regexp_matches", _) => self.matches_of_text(bound, input),
            _ => Ok(None),
        }
    }

    /// The items of an array, each as a row of it, `x`, and of its place from 1 on, `n`; `None` of what is none.
    fn placed_items(&mut self, array: Expr, input: Rel) -> SqlResult<Option<(Rel, Part)>> {
        let Some(items) = self.items_of(array, input) else { return Ok(None) };
        let (input, Part { length, rule: Rule::Items(array), value: item }) = items? else {
            return Ok(None);
        };
        let of_item = self.attributes[item].data_type;
        let fields = vec![Field::new("x", of_item), Field::new("n", DataType::Integer)];
        // With a name it is written as a row.
        let row = StructType::named(EXPAND_ARRAY, fields)?;
        let value = self.attribute(DataType::Struct(row), true);
        Ok(Some((input, Part { length, rule: Rule::Placed { array, item, row }, value })))
    }
}
