//! The text of a statement: its places for parameters, and which of the values that are bound goes where.

use arrow_array::RecordBatch;
use arrow_schema::{DataType as ArrowType, Field, Schema};
use nodewise::arrow::{parameter_types, parameter_values, shown_field};
use nodewise::{DataType, Prepared, Session, SqlError, SqlResult, SqlState, Value};

use crate::placeholders::{Places, numbered};

/// A statement that is prepared.
#[derive(Clone)]
pub struct Query {
    /// With PostgreSQL's places for parameters.
    sql: String,
    /// The names of the places, in order, where they have some.
    names: Vec<String>,
    /// As it is where nothing is known of the values.
    pub prepared: Prepared,
    /// As it ran last with values of these types.
    typed: Option<(Vec<Option<DataType>>, Prepared)>,
}

impl Query {
    /// Prepares a text. Its places are `?`, `$1` or `$name`.
    pub fn prepare(session: &mut Session, text: &str) -> SqlResult<Self> {
        let (sql, places) = numbered(text, true);
        if let Places::Named(names) = places
            && names.iter().any(|it| !it.bytes().all(|it| it.is_ascii_digit()))
        {
            let prepared = session.prepare_typed(&sql, &[])?;
            return Ok(Self { sql, names, prepared, typed: None });
        }
        let sql = numbered(text, false).0;
        match session.prepare_typed(&sql, &[]) {
            Ok(prepared) => Ok(Self { sql, names: Vec::new(), prepared, typed: None }),
            // A question mark may be an operator.
            Err(error) if error.state == SqlState::SYNTAX && sql != text => {
                let prepared = session.prepare_typed(text, &[]).map_err(|_| error)?;
                Ok(Self { sql: text.to_owned(), names: Vec::new(), prepared, typed: None })
            }
            Err(error) => Err(error),
        }
    }

    /// What a place is called.
    fn name(&self, place: usize) -> String {
        self.names.get(place).cloned().unwrap_or_else(|| format!("{}", place + 1))
    }

    /// Its parameters as columns; one of any type is of the type of nulls.
    pub fn parameters(&self) -> Schema {
        let field = |(place, of): (usize, &Option<DataType>)| {
            let name = format!("${}", self.name(place));
            match of {
                Some(of) => shown_field(&name, *of),
                None => Field::new(name, ArrowType::Null, true),
            }
        };
        Schema::new(self.prepared.parameters().iter().enumerate().map(field).collect::<Vec<_>>())
    }

    /// What runs, and the values of each run: one for each row that is bound, and one where none are.
    pub fn bind(
        &mut self,
        session: &mut Session,
        bound: Option<&[RecordBatch]>,
        by_name: bool,
    ) -> SqlResult<(Prepared, Vec<Vec<Value>>)> {
        let wanted = self.prepared.parameters().len();
        let Some(bound) = bound else {
            if wanted == 0 {
                return Ok((self.prepared.clone(), vec![Vec::new()]));
            }
            let message = format!("the statement has {wanted} parameters and no values are bound");
            return Err(SqlError::new(SqlState("07002"), message));
        };
        let mut runs = Vec::new();
        let mut types = None;
        for batch in bound {
            let batch = if by_name { self.in_order(batch)? } else { batch.clone() };
            if batch.num_columns() != wanted {
                let given = batch.num_columns();
                let message =
                    format!("the statement has {wanted} parameters, but {given} are given");
                return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message));
            }
            runs.extend(parameter_values(&batch)?);
            if types.is_none() {
                types = Some(parameter_types(&batch)?);
            }
        }
        let prepared = self.declared(session, &types.unwrap_or_default())?;
        Ok((prepared, runs))
    }

    /// The columns of a batch in the order of the places that have their names.
    fn in_order(&self, batch: &RecordBatch) -> SqlResult<RecordBatch> {
        let schema = batch.schema();
        let find = |place: usize| {
            let name = self.name(place);
            let mut fields = schema.fields().iter();
            fields.position(|it| it.name().trim_start_matches('$') == name).ok_or_else(|| {
                let message = format!("there is no value for ${name}");
                SqlError::new(SqlState::UNDEFINED_PARAMETER, message)
            })
        };
        let places = 0..self.prepared.parameters().len();
        let columns = places.map(find).collect::<SqlResult<Vec<_>>>()?;
        let malformed = |it| SqlError::internal(format!("values by name: {it}"));
        batch.project(&columns).map_err(malformed)
    }

    /// The statement with parameters of the types that the values have, as far as these are no texts; where it takes none of such types,
    /// they are converted to those that it takes.
    fn declared(
        &mut self,
        session: &mut Session,
        types: &[Option<DataType>],
    ) -> SqlResult<Prepared> {
        let known = self.prepared.parameters();
        let of = |(of, known): (&Option<DataType>, &Option<DataType>)| {
            of.filter(|it| known.is_none() || !it.is_text())
        };
        let types: Vec<Option<DataType>> = types.iter().zip(known).map(of).collect();
        if types.iter().zip(known).all(|(of, known)| of.is_none() || of == known) {
            return Ok(self.prepared.clone());
        }
        if let Some((last, prepared)) = &self.typed
            && *last == types
        {
            return Ok(prepared.clone());
        }
        let prepared = match session.prepare_typed(&self.sql, &types) {
            Err(error) if error.state.0.starts_with("42") => self.prepared.clone(),
            prepared => prepared?,
        };
        self.typed = Some((types, prepared.clone()));
        Ok(prepared)
    }
}
