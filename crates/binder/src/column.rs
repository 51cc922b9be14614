//! Columns in parsed text.

use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::column_definition::{ColumnDefinition, Generation, Numbering};
use crate::data_types::without_fields;
use crate::interval_fields::fields_of_type;
use crate::syntax::{ident, unsupported};
use crate::user_types::TypeName;
use crate::{generated_columns, generated_words, rewrite, sequence_words};

/// What a column is, but for its keys and conditions.
pub(crate) fn column(column: &ast::ColumnDef) -> SqlResult<ColumnDefinition> {
    let serial = serial(&column.data_type);
    let (mut nullable, mut default, mut numbering) =
        (None, None, serial.map(|_| Numbering::Serial));
    let mut generated: Option<(String, Generation)> = None;
    let refused = |what: &str| {
        let message = format!("{what} for column \"{}\"", ident(&column.name));
        SqlError::new(SqlState::SYNTAX, message)
    };
    let mut set_nullable = |it: bool| match nullable.replace(it) {
        Some(said) if said != it => Err(refused("conflicting NULL/NOT NULL declarations")),
        _ => Ok(()),
    };
    for option in &column.options {
        match &option.option {
            ast::ColumnOption::Null => set_nullable(true)?,
            ast::ColumnOption::NotNull | ast::ColumnOption::PrimaryKey(_) => set_nullable(false)?,
            ast::ColumnOption::DialectSpecific(tokens) if generated_words::is_one(tokens) => {
                if generated.replace(generated_columns::read(tokens)?).is_some() {
                    return Err(refused("multiple generation clauses specified"));
                }
            }
            ast::ColumnOption::DialectSpecific(tokens) => {
                let identity = sequence_words::numbering(tokens)?;
                if numbering.replace(identity).is_some() {
                    return Err(refused("multiple identity specifications"));
                }
            }
            ast::ColumnOption::Default(_) if default.is_some() => {
                return Err(refused("multiple default values specified"));
            }
            ast::ColumnOption::Default(it) => default = Some(crate::written::written(it)),
            ast::ColumnOption::Collation(_)
            | ast::ColumnOption::Unique(_)
            | ast::ColumnOption::Check(_)
            | ast::ColumnOption::ForeignKey(_) => {}
            other => return Err(unsupported(format!("the column option {other}"))),
        }
    }
    if numbering.is_some() {
        set_nullable(false)?;
        if default.is_some() {
            let both = serial.map_or("both default and identity", |_| "multiple default values");
            return Err(refused(&format!("{both} specified")));
        }
    }
    if generated.is_some() && (default.is_some() || numbering.is_some()) {
        let what = if default.is_some() { "default" } else { "identity" };
        return Err(refused(&format!("both {what} and generation expression specified")));
    }
    let generation = generated.as_ref().map(|it| it.1);
    let (known, type_name) = match serial {
        Some(serial) => (serial, None),
        None => type_of(column, generation)?,
    };
    check_collations(column, type_name.is_none().then_some(known))?;
    Ok(ColumnDefinition {
        name: ident(&column.name),
        data_type: known,
        type_name,
        domain: None,
        fields: fields_of_type(&column.data_type),
        nullable: nullable.unwrap_or(true),
        default: generated.map(|it| it.0).or(default),
        numbering,
        generation,
    })
}

/// Refuses collations that are not known, and those of types that have none, where the type is known.
fn check_collations(column: &ast::ColumnDef, of: Option<DataType>) -> SqlResult<()> {
    for option in &column.options {
        if let ast::ColumnOption::Collation(name) = &option.option {
            crate::collations::check(name)?;
            of.map_or(Ok(()), crate::collations::check_type)?;
        }
    }
    Ok(())
}

/// The type that a column says, and its name where users made it.
fn type_of(
    column: &ast::ColumnDef,
    generation: Option<Generation>,
) -> SqlResult<(DataType, Option<TypeName>)> {
    if fields_of_type(&column.data_type).is_some() {
        return Ok((without_fields(&column.data_type)?, None));
    }
    match generation.is_some() && rewrite::has_no_type(column) {
        true => Ok((DataType::Null, None)),
        false => TypeName::read(&column.data_type),
    }
}

/// The type of a column of SERIAL.
fn serial(sql: &ast::DataType) -> Option<DataType> {
    let ast::DataType::Custom(name, modifiers) = sql else { return None };
    let [part] = &name.0[..] else { return None };
    let word = part.as_ident().filter(|it| it.quote_style.is_none() && modifiers.is_empty())?;
    match word.value.to_lowercase().as_str() {
        "serial" | "serial4" => Some(DataType::Integer),
        "bigserial" | "serial8" => Some(DataType::BigInt),
        "smallserial" | "serial2" => Some(DataType::SmallInt),
        _ => None,
    }
}
