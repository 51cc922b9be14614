//! Nodewise in Python: the native half of the package `nodewise`, which lies beside it and makes a DB-API of it; and the driver of ADBC,
//! which is in the same library.
//!
//! Key decision: nothing but conversion is here. Statements are the library's, rows leave and come in as Arrow's C streams, and
//! what can be said in Python is said there.
//!
//! Reading order: `opening`, `shared`, `running` (without the GIL, with Ctrl-C), `connection` and `statements`, `source` and `rows` (what a
//! statement gives), `stream` (Arrow), `values` and `parameters` (Python's objects), `placeholders`, `errors`; `adbc`.
//!
//! - Invariant: the GIL is not held while the engine works, and the engine never asks for it.
//! - Invariant: unsafe code is in `stream` and `adbc::entry` only, where pointers cross the border.
#![deny(unsafe_code)]

mod adbc;
mod connection;
mod errors;
mod opening;
mod parameters;
mod placeholders;
mod rows;
mod running;
mod shared;
mod source;
mod statements;
mod stream;
mod values;

use pyo3::prelude::*;

/// So that memory is counted and placed as in the binary.
#[global_allocator]
static ALLOCATOR: memory::ReservingAllocator = memory::ReservingAllocator;

/// The native half of the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    memory::take_reserve();
    module.add_class::<connection::Connection>()?;
    module.add_class::<rows::Rows>()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
