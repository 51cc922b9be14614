//! Functions of structs, rows and maps, on texts that hold them ([`types::structs`]).
//!
//! Reading order: `fields` (structs and rows), `maps`.

mod fields;
mod maps;

pub(crate) use fields::{is_of_structs, kernel, of_constants, signature};
pub use fields::{json_of, kind_of};
pub(crate) use maps::{
    is_of_maps, kernel as map_kernel, signature as map_signature, takes_null as map_takes_null,
};
