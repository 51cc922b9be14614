//! The values of parameters and of rows in binary, of whatever type.

use nodewise::pg_types::wire_type;
use nodewise::{DataType, SqlResult, Value};
use types::{Charset, Zone};

use crate::compound_parameters;
use crate::declared::declared;
use crate::parameters::{binary, text};
use crate::replies::Format;

/// The value of a parameter, whose type is known to the client by a number, and to us where the statement or the client has
/// told it; texts are read in a session of a time zone and its styles.
pub fn value(
    bytes: &[u8],
    format: Format,
    (oid, data_type): (u32, Option<DataType>),
    zone: &Zone,
    charset: Charset,
) -> SqlResult<Value> {
    match format {
        Format::Text => text(&charset.decode(bytes)?, data_type, zone),
        Format::Binary => {
            let of = data_type.unwrap_or(DataType::Text);
            if let Some(it) = compound_parameters::written(bytes, of, charset)? {
                return Ok(it);
            }
            // A domain is sent as what it is made of.
            let oid = if declared(oid).is_none() { wire_type(of).oid } else { oid };
            binary(bytes, oid, charset)
        }
    }
}

#[cfg(test)]
mod tests {
    use nodewise::SqlState;
    use nodewise::pg_types::{DATE, INT2, INT4};

    use super::*;

    #[test]
    fn values_are_read_in_both_formats() {
        let price = Some(DataType::Decimal { precision: 5, scale: 2 });
        let zone = Zone::utc();
        let text = |text: &str, of| {
            value(text.as_bytes(), Format::Text, (0, of), &zone, Charset::UTF8).unwrap()
        };
        assert_eq!(text("1.005", price), Value::Decimal { unscaled: 1005, scale: 3 });
        assert_eq!(text("7", Some(DataType::BigInt)), Value::Integer(7));
        assert_eq!(text("t", Some(DataType::Boolean)), Value::Boolean(true));
        assert_eq!(text("x", None), Value::Text("x".into()));
        let binary =
            |bytes: &[u8], oid| value(bytes, Format::Binary, (oid, None), &zone, Charset::UTF8);
        assert_eq!(binary(&[0, 7], INT2).unwrap(), Value::Integer(7));
        assert_eq!(binary(&[0, 0, 0, 0], DATE).unwrap(), Value::Date(10_957));
        assert_eq!(binary(&[0x7f, 0xff, 0xff, 0xff], DATE).unwrap(), Value::Date(i32::MAX));
        assert_eq!(binary(b"x", 25).unwrap(), Value::Text("x".into()));
        for (bytes, oid, state) in [
            (&[0u8, 7][..], INT4, "22P03"),
            (&[0x7f, 0xff, 0xff, 0xfe], DATE, "22008"),
            (&[0xff], 25, "22021"),
            (b"a\0b", 25, "22021"),
        ] {
            assert_eq!(binary(bytes, oid).unwrap_err().state.0, state);
        }
        let wrong = value(b"1x", Format::Text, (0, Some(DataType::Integer)), &zone, Charset::UTF8);
        assert_eq!(wrong.unwrap_err().state, SqlState::INVALID_TEXT);
    }
}
