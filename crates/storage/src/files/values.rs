//! Values, types and statistics as records.

use types::structs::{Field, StructType};
use types::{Bits, ColumnStatistics, DataType, EnumType, Network, SqlResult, Value, Whole};

use super::medium::damaged;
use super::record::Record;

/// A value.
pub(super) fn value_record(value: &Value) -> Record {
    let kind = |it: &str| Record::default().text("kind", it);
    match value {
        Value::Null => kind("null"),
        Value::Boolean(it) => kind("boolean").number("value", *it),
        Value::Integer(it) => kind("integer").number("value", *it),
        // Bit for bit: NaN and both zeros come back.
        Value::Float(it) => kind("float").number("value", it.to_bits()),
        Value::Decimal { unscaled, scale } => {
            kind("decimal").number("value", *unscaled).number("scale", *scale)
        }
        Value::Date(it) => kind("date").number("value", *it),
        Value::Timestamp(it) => kind("timestamp").number("value", *it),
        Value::Text(it) => kind("text").text("value", &**it),
    }
}

/// The value of a record.
pub(super) fn read_value(record: &mut Record) -> SqlResult<Value> {
    let kind = record.take_text("kind")?;
    Ok(match &*kind {
        "null" => Value::Null,
        "boolean" => Value::Boolean(record.take_flag("value")?),
        "integer" => Value::Integer(record.take_number("value")?),
        "float" => Value::Float(f64::from_bits(record.take_number("value")?)),
        "decimal" => Value::Decimal {
            unscaled: record.take_number("value")?,
            scale: record.take_number("scale")?,
        },
        "date" => Value::Date(record.take_number("value")?),
        "timestamp" => Value::Timestamp(record.take_number("value")?),
        "text" => Value::Text(record.take_text("value")?.into()),
        other => return Err(damaged(format!("\"{other}\" is no kind of value"))),
    })
}

/// A type.
pub(super) fn type_record(data_type: DataType) -> Record {
    let kind = |it: &str| Record::default().text("kind", it);
    match data_type {
        DataType::Null => kind("null"),
        DataType::Boolean => kind("boolean"),
        DataType::SmallInt => kind("smallint"),
        DataType::Integer => kind("integer"),
        DataType::BigInt => kind("bigint"),
        DataType::Real => kind("real"),
        DataType::Double => kind("double"),
        DataType::Decimal { precision, scale } => {
            kind("decimal").number("precision", precision).number("scale", scale)
        }
        DataType::Date => kind("date"),
        DataType::Timestamp => kind("timestamp"),
        DataType::TimestampTz => kind("timestamptz"),
        DataType::Time => kind("time"),
        DataType::TimeTz => kind("timetz"),
        DataType::Interval => kind("interval"),
        DataType::Uuid => kind("uuid"),
        DataType::Bits(it) => {
            let kind = kind(if it.is_varying() { "varbit" } else { "bit" });
            match it.length() {
                Some(length) => kind.number("length", length),
                None => kind,
            }
        }
        DataType::Network(it) => kind(it.name()),
        DataType::Range(it) => kind(it.name()),
        DataType::Multirange(it) => kind(it.set_name()),
        DataType::Bytea => kind("bytea"),
        DataType::Json => kind("json"),
        DataType::Jsonb => kind("jsonb"),
        DataType::Numeric => kind("numeric"),
        DataType::Char(length) => kind("char").number("length", length),
        DataType::Bpchar => kind("bpchar"),
        DataType::Varchar(length) => kind("varchar").number("length", length),
        DataType::Text => kind("text"),
        DataType::Letter => kind("letter"),
        DataType::Name => kind("name"),
        DataType::Whole(it) => kind("whole").text("name", it.name()),
        DataType::Enum(it) => {
            let named =
                kind("enum").text("name", it.name()).number("labels", it.labels().len() as u64);
            let each = it.labels().iter().enumerate();
            each.fold(named, |record, (place, it)| record.text(&place.to_string(), it))
        }
        DataType::Array(element) => {
            kind("array").record("element", type_record(element.data_type()))
        }
        DataType::Struct(it) if !it.name().is_empty() => {
            kind("struct").text("type name", it.name()).list("fields", fields(it))
        }
        DataType::Struct(it) => kind("struct").list("fields", fields(it)),
        DataType::Map(it) => kind("map").list("fields", fields(it)),
    }
}

fn fields(of: StructType) -> Vec<Record> {
    let field = |it: &Field| {
        Record::default().text("name", &*it.name).record("type", type_record(it.data_type))
    };
    of.fields().iter().map(field).collect()
}

fn read_fields(record: &mut Record) -> SqlResult<StructType> {
    let name = match record.has("type name") {
        true => record.take_text("type name")?,
        false => String::new(),
    };
    let fields = record.take_each("fields", |it| {
        Ok(Field::new(it.take_text("name")?, it.take_record("type", read_type)?))
    })?;
    StructType::named(&name, fields)
}

/// The type of bits of a kind.
fn read_bits(record: &mut Record, kind: &str) -> SqlResult<Bits> {
    let length = match record.has("length") {
        true => Some(record.take_number("length")?),
        false => None,
    };
    Ok(match (length, kind) {
        (Some(length), "bit") => Bits::Fixed(length),
        (None, "bit") => Bits::Any,
        (Some(length), _) => Bits::Varying(length),
        (None, _) => Bits::AnyVarying,
    })
}

/// The type of a record.
pub(super) fn read_type(record: &mut Record) -> SqlResult<DataType> {
    let kind = record.take_text("kind")?;
    Ok(match &*kind {
        "null" => DataType::Null,
        "boolean" => DataType::Boolean,
        "smallint" => DataType::SmallInt,
        "integer" => DataType::Integer,
        "bigint" => DataType::BigInt,
        "real" => DataType::Real,
        "double" => DataType::Double,
        "decimal" => {
            let (precision, scale) =
                (record.take_number("precision")?, record.take_number("scale")?);
            if !(1..=38).contains(&precision) || scale > precision {
                return Err(damaged(format!("there is no type DECIMAL({precision},{scale})")));
            }
            DataType::Decimal { precision, scale }
        }
        "date" => DataType::Date,
        "timestamp" => DataType::Timestamp,
        "timestamptz" => DataType::TimestampTz,
        "time" => DataType::Time,
        "timetz" => DataType::TimeTz,
        "interval" => DataType::Interval,
        "uuid" => DataType::Uuid,
        "bit" | "varbit" => DataType::Bits(read_bits(record, &kind)?),
        "inet" => DataType::Network(Network::Inet),
        "cidr" => DataType::Network(Network::Cidr),
        "bytea" => DataType::Bytea,
        "json" => DataType::Json,
        "jsonb" => DataType::Jsonb,
        "numeric" => DataType::Numeric,
        "char" => DataType::Char(record.take_number("length")?),
        "bpchar" => DataType::Bpchar,
        "varchar" => DataType::Varchar(record.take_number("length")?),
        "letter" => DataType::Letter,
        "name" => DataType::Name,
        "text" => DataType::Text,
        "whole" => {
            let name = record.take_text("name")?;
            let none = || damaged(format!("there is no type {name}"));
            DataType::Whole(Whole::by_name(&name).ok_or_else(none)?)
        }
        "enum" => {
            let name = record.take_text("name")?;
            let count: usize = record.take_number("labels")?;
            let labels = (0..count).map(|it| record.take_text(&it.to_string()));
            DataType::Enum(EnumType::new(&name, labels.collect::<SqlResult<_>>()?)?)
        }
        "array" => {
            let element = record.take_record("element", read_type)?;
            let none = || damaged(format!("there is no type {element}[]"));
            element.array().ok_or_else(none)?
        }
        "struct" => DataType::Struct(read_fields(record)?),
        "map" => match read_fields(record)? {
            entry if entry.fields().len() == 2 => DataType::Map(entry),
            other => return Err(damaged(format!("there is no map of {other}"))),
        },
        other => DataType::range_by_name(other)
            .ok_or_else(|| damaged(format!("\"{other}\" is no type")))?,
    })
}

/// Statistics; bounds are there when there is a value.
pub(super) fn statistics_record(statistics: &ColumnStatistics) -> Record {
    let ColumnStatistics { nulls, distinct, distinct_exact, min, max, sorted, widened } =
        statistics;
    let mut record = Record::default()
        .number("nulls", *nulls)
        .number("distinct", *distinct)
        .number("exact", *distinct_exact)
        .number("sorted", *sorted)
        .number("widened", *widened);
    for (name, bound) in [("min", min), ("max", max)] {
        if let Some(value) = bound {
            record = record.record(name, value_record(value));
        }
    }
    record
}

/// The statistics of a record.
pub(super) fn read_statistics(record: &mut Record) -> SqlResult<ColumnStatistics> {
    let mut bound = |name: &str| match record.has(name) {
        true => record.take_record(name, read_value).map(Some),
        false => Ok(None),
    };
    let (min, max) = (bound("min")?, bound("max")?);
    Ok(ColumnStatistics {
        nulls: record.take_number("nulls")?,
        distinct: record.take_number("distinct")?,
        distinct_exact: record.take_flag("exact")?,
        min,
        max,
        sorted: record.take_flag("sorted")?,
        widened: record.take_flag("widened")?,
    })
}
