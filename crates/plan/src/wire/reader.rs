//! Reads plans. Every count is checked against the bytes that are left before anything is made of it.

use super::form::{Digest, Fault, NESTING_MAX, Nesting, damaged, no_such_word};
use serde::de::value::U32Deserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use stdx::stack;
use types::SqlResult;

/// The value that all of the bytes are, and the digest of the names in it.
pub fn read<'de, T: de::Deserialize<'de>>(bytes: &'de [u8]) -> SqlResult<(T, Digest)> {
    let mut reader = Reader { rest: bytes, names: Digest::new(), nesting: Nesting::default() };
    let read = stack::with_levels(NESTING_MAX, || T::deserialize(&mut reader));
    let value = read.map_err(|it| it.0)?;
    if !reader.rest.is_empty() {
        return Err(damaged("there are more of them than the plan has"));
    }
    Ok((value, reader.names))
}

struct Reader<'de> {
    rest: &'de [u8],
    names: Digest,
    nesting: Nesting,
}

fn fault(why: &str) -> Fault {
    Fault(damaged(why))
}

impl<'de> Reader<'de> {
    fn take(&mut self, count: usize) -> Result<&'de [u8], Fault> {
        let split = self.rest.split_at_checked(count);
        let (taken, rest) = split.ok_or_else(|| fault("they end too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        self.take(N)?.try_into().map_err(|_| fault("they end too early"))
    }

    fn unsigned(&mut self) -> Result<u128, Fault> {
        let mut value = 0u128;
        for shift in (0..u128::BITS).step_by(7) {
            let [byte] = self.array()?;
            let bits = u128::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(fault("a number is too long"))
    }

    fn signed(&mut self) -> Result<i128, Fault> {
        let value = self.unsigned()?;
        Ok((value >> 1) as i128 ^ -((value & 1) as i128))
    }

    fn fitting<T: TryFrom<N>, N>(number: N) -> Result<T, Fault> {
        T::try_from(number).map_err(|_| fault("a number is out of its range"))
    }

    fn flag(&mut self) -> Result<bool, Fault> {
        match self.unsigned()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(fault("a truth value is neither")),
        }
    }

    /// A count of things of a byte at least.
    fn count(&mut self) -> Result<usize, Fault> {
        let count: usize = Self::fitting(self.unsigned()?)?;
        if count > self.rest.len() {
            return Err(fault("they end too early"));
        }
        Ok(count)
    }

    fn text(&mut self) -> Result<&'de str, Fault> {
        let count = self.count()?;
        std::str::from_utf8(self.take(count)?).map_err(|_| fault("a text is not UTF-8"))
    }

    /// Hands a visitor so many elements, which have names in a struct.
    fn elements<V: Visitor<'de>>(
        &mut self,
        left: usize,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_seq(Elements { reader: self, left, fields: fields.iter() })
    }
}

macro_rules! integers {
    ($($method:ident $visit:ident $read:ident;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            visitor.$visit(Reader::fitting(self.$read()?)?)
        })+
    };
}

macro_rules! refused {
    ($($method:ident $what:literal;)+) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
            Err(no_such_word($what))
        })+
    };
}

impl<'de> de::Deserializer<'de> for &mut Reader<'de> {
    type Error = Fault;

    integers! {
        deserialize_u8 visit_u8 unsigned;
        deserialize_u16 visit_u16 unsigned;
        deserialize_u32 visit_u32 unsigned;
        deserialize_u64 visit_u64 unsigned;
        deserialize_u128 visit_u128 unsigned;
        deserialize_i8 visit_i8 signed;
        deserialize_i16 visit_i16 signed;
        deserialize_i32 visit_i32 signed;
        deserialize_i64 visit_i64 signed;
        deserialize_i128 visit_i128 signed;
    }

    refused! {
        deserialize_any "words that say themselves what they are";
        deserialize_ignored_any "words that nobody reads";
        deserialize_identifier "names of fields";
        deserialize_bytes "bytes";
        deserialize_byte_buf "bytes";
        deserialize_map "maps";
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_bool(self.flag()?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_f32(f32::from_bits(u32::from_le_bytes(self.array()?)))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_f64(f64::from_bits(u64::from_le_bytes(self.array()?)))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let code: u32 = Reader::fitting(self.unsigned()?)?;
        visitor.visit_char(Reader::fitting(code)?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.flag()? { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.names.name(name);
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.names.name(name);
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let count = self.count()?;
        self.elements(count, &[], visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.elements(count, &[], visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.names.name(name);
        self.elements(count, &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.names.name(name);
        self.elements(fields.len(), fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.names.name(name);
        visitor.visit_enum(Variant { reader: self, variants })
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The elements of a list, a tuple or a struct.
struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: usize,
    fields: std::slice::Iter<'static, &'static str>,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if let Some(name) = self.fields.next() {
            self.reader.names.name(name);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// A variant and what it holds.
struct Variant<'a, 'de> {
    reader: &'a mut Reader<'de>,
    variants: &'static [&'static str],
}

impl Variant<'_, '_> {
    fn nested<T>(self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let mut this = self;
        this.reader.nesting.enter()?;
        let value = read(&mut this)?;
        this.reader.nesting.leave();
        Ok(value)
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        let place: u32 = Reader::fitting(self.reader.unsigned()?)?;
        let name = self.variants.get(place as usize).ok_or_else(|| fault("a word is unknown"))?;
        self.reader.names.name(name);
        let place: U32Deserializer<Fault> = place.into_deserializer();
        Ok((seed.deserialize(place)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        self.nested(|it| seed.deserialize(&mut *it.reader))
    }

    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, Fault> {
        self.nested(|it| it.reader.elements(count, &[], visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.nested(|it| it.reader.elements(fields.len(), fields, visitor))
    }
}
