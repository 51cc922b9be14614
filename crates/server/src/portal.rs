//! A prepared statement with values: a portal.

use nodewise::{Described, Prepared, SqlError, SqlResult, SqlState, Value};

use crate::parameter_values::value;
use crate::parameters::format_of;
use crate::replies::Format;
use crate::requests::{Bind, violation};
use crate::rows::Rows;
use nodewise::pg_types::{TEXT, UNKNOWN, made_type, wire_type};
use types::{Charset, Zone};

/// A statement that a client has prepared, and what it has said of its parameters.
#[derive(Clone)]
pub struct Kept {
    pub prepared: Prepared,
    pub known: Known,
}

/// What a client has said of a statement's parameters, and heard of its rows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The numbers of the types that it gave.
    pub oids: Vec<u32>,
    /// The numbers of the types of the columns, once they were described.
    pub columns: Option<Vec<u32>>,
}

/// The numbers of the types of rows.
pub fn column_oids(rows: Option<&Described>) -> Vec<u32> {
    rows.into_iter().flat_map(|it| &it.types).map(|it| wire_type(*it).oid).collect()
}

impl Kept {
    /// The number of the type of a parameter, for the client.
    pub fn oid(&self, index: usize) -> u32 {
        let said = self.known.oids.get(index).copied().filter(|it| !matches!(*it, 0 | UNKNOWN));
        let domain = || self.prepared.parameter_domain(index).map(made_type);
        let known = || self.prepared.parameters()[index].map(|it| wire_type(it).oid);
        said.or_else(domain).or_else(known).unwrap_or(TEXT)
    }

    /// The numbers of the types of all parameters.
    pub fn parameter_oids(&self) -> Vec<u32> {
        (0..self.prepared.parameters().len()).map(|it| self.oid(it)).collect()
    }
}

/// A statement with values.
pub struct Portal {
    pub kept: Kept,
    pub values: Vec<Value>,
    /// The columns of its rows; none of a statement without rows.
    pub rows: Option<Described>,
    pub formats: Vec<i16>,
    pub state: State,
}

/// How far a portal is.
pub enum State {
    /// It has not run.
    New,
    /// It has run, and rows are left.
    Open(Box<Rows>),
    /// It has run, and all rows are sent. Whether it was a query.
    Done { query: bool },
}

impl Portal {
    /// Values for a statement, in a session of a time zone.
    pub fn new(
        kept: Kept,
        rows: Option<Described>,
        bind: Bind,
        (zone, charset): (&Zone, Charset),
    ) -> SqlResult<Self> {
        let wanted = kept.prepared.parameters().len();
        let Bind { statement, formats: codes, values: given, result_formats: formats, .. } = bind;
        if given.len() != wanted {
            return Err(violation(format!(
                "bind message supplies {} parameters, but prepared statement \"{statement}\" requires {wanted}",
                given.len()
            )));
        }
        let mut values = Vec::with_capacity(wanted);
        for (index, bytes) in given.iter().enumerate() {
            let format = format_of(&codes, wanted, index)?;
            values.push(match bytes {
                None => Value::Null,
                Some(it) => {
                    let of = kept.prepared.parameters()[index];
                    value(it, format, (kept.oid(index), of), zone, charset)?
                }
            });
        }
        let columns = rows.as_ref().map_or(0, |it| it.types.len());
        for index in 0..columns {
            format_of(&formats, columns, index)?;
        }
        Ok(Self { kept, values, rows, formats, state: State::New })
    }

    /// The format of a column of its rows.
    pub fn format(&self, column: usize) -> Format {
        format_of_checked(&self.formats, column)
    }

    /// The formats of all columns of its rows.
    pub fn all_formats(&self) -> Vec<Format> {
        let columns = self.rows.as_ref().map_or(0, |it| it.types.len());
        (0..columns).map(|it| self.format(it)).collect()
    }

    /// Why it cannot run again.
    pub fn finished(name: &str) -> SqlError {
        let message = format!("portal \"{name}\" cannot be run");
        SqlError::new(SqlState("55000"), message)
    }
}

/// The format of a column, by formats that were checked before.
pub fn format_of_checked(formats: &[i16], column: usize) -> Format {
    let code = match formats {
        [all] => Some(all),
        each => each.get(column),
    };
    code.and_then(|it| Format::of(*it)).unwrap_or(Format::Text)
}
