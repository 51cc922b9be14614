//! Writes plans: serde's data model as bytes.

use super::form::{BYTES_MAX, Digest, Fault, NESTING_MAX, Nesting, no_such_word, too_long};
use serde::ser::{self, Impossible, Serialize};
use stdx::stack;
use types::SqlResult;

/// Appends a value; gives the digest of the names in it.
pub fn write<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) -> SqlResult<Digest> {
    let mut writer = Writer { bytes, names: Digest::new(), nesting: Nesting::default() };
    stack::with_levels(NESTING_MAX, || value.serialize(&mut writer)).map_err(|it| it.0)?;
    Ok(writer.names)
}

struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    names: Digest,
    nesting: Nesting,
}

impl Writer<'_> {
    fn unsigned(&mut self, mut value: u128) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn signed(&mut self, value: i128) {
        self.unsigned((value << 1 ^ value >> 127) as u128);
    }

    fn variant(&mut self, name: &str, place: u32, variant: &str) {
        self.names.name(name);
        self.names.name(variant);
        self.unsigned(u128::from(place));
    }

    fn field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        if self.bytes.len() > BYTES_MAX {
            return Err(Fault(too_long(self.bytes.len())));
        }
        value.serialize(self)
    }
}

macro_rules! integers {
    ($($method:ident($kind:ty) as $write:ident;)+) => {
        $(fn $method(self, value: $kind) -> Result<(), Fault> {
            self.$write(value.into());
            Ok(())
        })+
    };
}

impl<'a, 'b> ser::Serializer for &'a mut Writer<'b> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Nested<'a, 'b>;
    type SerializeMap = Impossible<(), Fault>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Nested<'a, 'b>;

    integers! {
        serialize_bool(bool) as unsigned;
        serialize_u8(u8) as unsigned;
        serialize_u16(u16) as unsigned;
        serialize_u32(u32) as unsigned;
        serialize_u64(u64) as unsigned;
        serialize_u128(u128) as unsigned;
        serialize_i8(i8) as signed;
        serialize_i16(i16) as signed;
        serialize_i32(i32) as signed;
        serialize_i64(i64) as signed;
        serialize_i128(i128) as signed;
        serialize_char(char) as unsigned;
    }

    fn serialize_f32(self, value: f32) -> Result<(), Fault> {
        self.bytes.extend(value.to_bits().to_le_bytes());
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Fault> {
        self.bytes.extend(value.to_bits().to_le_bytes());
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        self.unsigned(value.len() as u128);
        self.bytes.extend(value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<(), Fault> {
        Err(no_such_word("bytes"))
    }

    fn serialize_none(self) -> Result<(), Fault> {
        self.serialize_bool(false)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        self.unsigned(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Fault> {
        Ok(())
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), Fault> {
        self.names.name(name);
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        place: u32,
        variant: &'static str,
    ) -> Result<(), Fault> {
        self.variant(name, place, variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.names.name(name);
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        place: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.variant(name, place, variant);
        self.nesting.enter()?;
        value.serialize(&mut *self)?;
        self.nesting.leave();
        Ok(())
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Fault> {
        let length = length.ok_or_else(|| no_such_word("lists of unknown length"))?;
        self.unsigned(length as u128);
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Fault> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Self, Fault> {
        self.names.name(name);
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        place: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Nested<'a, 'b>, Fault> {
        self.variant(name, place, variant);
        self.nesting.enter()?;
        Ok(Nested(self))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Fault> {
        Err(no_such_word("maps"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Self, Fault> {
        self.names.name(name);
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        place: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Nested<'a, 'b>, Fault> {
        self.variant(name, place, variant);
        self.nesting.enter()?;
        Ok(Nested(self))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! unnamed {
    ($($what:ident::$method:ident)+) => {
        $(impl ser::$what for &mut Writer<'_> {
            type Ok = ();
            type Error = Fault;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
                Writer::field(self, value)
            }

            fn end(self) -> Result<(), Fault> {
                Ok(())
            }
        })+
    };
}

unnamed! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
}

impl ser::SerializeStruct for &mut Writer<'_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.names.name(name);
        Writer::field(self, value)
    }

    fn end(self) -> Result<(), Fault> {
        Ok(())
    }
}

/// The fields of a variant: one level deeper than the writer was.
struct Nested<'a, 'b>(&'a mut Writer<'b>);

impl ser::SerializeTupleVariant for Nested<'_, '_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.0.field(value)
    }

    fn end(self) -> Result<(), Fault> {
        self.0.nesting.leave();
        Ok(())
    }
}

impl ser::SerializeStructVariant for Nested<'_, '_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.0.names.name(name);
        self.0.field(value)
    }

    fn end(self) -> Result<(), Fault> {
        self.0.nesting.leave();
        Ok(())
    }
}
