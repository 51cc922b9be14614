//! The one type of values that can stand for each other.

use types::{DataType, SqlError, SqlResult, SqlState, numeric};

use crate::error::type_name;

/// The type to which all are cast; TEXT when all are NULL. `what` begins the sentence of the error, 42804.
pub(crate) fn common_type(what: &str, types: &[DataType]) -> SqlResult<DataType> {
    let common = types.iter().try_fold(DataType::Null, |left, &right| {
        numeric::common_type(left, right).ok_or_else(|| {
            let (left, right) = (type_name(left), type_name(right));
            let message = format!("{what} types {left} and {right} cannot be matched");
            SqlError::new(SqlState::DATATYPE_MISMATCH, message)
        })
    })?;
    Ok(if common == DataType::Null { DataType::Text } else { common })
}
