//! Columns in parsed text.

use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState};

use crate::column_definition::{ColumnDefinition, Numbering};
use crate::data_types::data_type;
use crate::sequence_words;
use crate::syntax::{ident, unsupported};

/// What a column is, but for its keys and conditions.
pub(crate) fn column(column: &ast::ColumnDef) -> SqlResult<ColumnDefinition> {
    let serial = serial(&column.data_type);
    let (mut nullable, mut default, mut numbering) =
        (None, None, serial.map(|_| Numbering::Serial));
    let mut set_nullable = |it: bool| match nullable.replace(it) {
        Some(said) if said != it => {
            let message = format!(
                "conflicting NULL/NOT NULL declarations for column \"{}\"",
                ident(&column.name)
            );
            Err(SqlError::new(SqlState::SYNTAX, message))
        }
        _ => Ok(()),
    };
    for option in &column.options {
        match &option.option {
            ast::ColumnOption::Null => set_nullable(true)?,
            ast::ColumnOption::NotNull | ast::ColumnOption::PrimaryKey(_) => set_nullable(false)?,
            ast::ColumnOption::DialectSpecific(tokens) => {
                let identity = sequence_words::numbering(tokens)?;
                if numbering.replace(identity).is_some() {
                    let message = format!(
                        "multiple identity specifications for column \"{}\"",
                        ident(&column.name)
                    );
                    return Err(SqlError::new(SqlState::SYNTAX, message));
                }
            }
            ast::ColumnOption::Default(_) if default.is_some() => {
                let message = format!(
                    "multiple default values specified for column \"{}\"",
                    ident(&column.name)
                );
                return Err(SqlError::new(SqlState::SYNTAX, message));
            }
            ast::ColumnOption::Default(it) => default = Some(it.to_string()),
            ast::ColumnOption::Unique(_)
            | ast::ColumnOption::Check(_)
            | ast::ColumnOption::ForeignKey(_) => {}
            other => return Err(unsupported(format!("the column option {other}"))),
        }
    }
    if numbering.is_some() {
        set_nullable(false)?;
        if default.is_some() {
            let what = if serial.is_some() {
                "multiple default values"
            } else {
                "both default and identity"
            };
            let message = format!("{what} specified for column \"{}\"", ident(&column.name));
            return Err(SqlError::new(SqlState::SYNTAX, message));
        }
    }
    Ok(ColumnDefinition {
        name: ident(&column.name),
        data_type: serial.map_or_else(|| data_type(&column.data_type), Ok)?,
        nullable: nullable.unwrap_or(true),
        default,
        numbering,
    })
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
