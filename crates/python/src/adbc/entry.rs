//! Where driver managers come in: the functions that give them the table of the driver's functions.
//!
//! Key decision: the table is that of `adbc_ffi`, but for binding. That takes rows that are NULL as a whole for a bug, by which it panics,
//! and does nothing any more in the whole process; so such rows are refused before it sees them.
#![expect(unsafe_code, reason = "managers call by C's conventions, with pointers")]

use std::os::raw::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use adbc_core::constants::{ADBC_STATUS_OK, ADBC_VERSION_1_1_0};
use adbc_core::error::{AdbcStatusCode, Error, Status};
use adbc_ffi::{FFI_AdbcDriver, FFI_AdbcError, FFI_AdbcStatement, FFIDriver, export_error};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};

use super::driver::Driver;
use super::errors::refused;

/// The entry by the name of the product.
///
/// # Safety
/// `driver` is null or a table of this version; `error` is null or an error of ADBC.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "ADBC calls it so")]
unsafe extern "C" fn AdbcNodewiseInit(
    version: c_int,
    driver: *mut c_void,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    let wrong = match (version, driver.is_null()) {
        (ADBC_VERSION_1_1_0, false) => {
            let mut table = Driver::ffi_driver();
            table.StatementBind = Some(bind);
            // SAFETY: the caller gives a place for a table of this version. What was there has no owner yet.
            unsafe { driver.cast::<FFI_AdbcDriver>().write_unaligned(table) };
            return ADBC_STATUS_OK;
        }
        (ADBC_VERSION_1_1_0, true) => {
            refused(Status::InvalidArguments, "there is no table to fill")
        }
        _ => refused(Status::NotImplemented, format!("version {version} of ADBC is not spoken")),
    };
    // SAFETY: by the contract of this function.
    unsafe { fail(error, wrong) }
}

/// The entry by the name that managers look for in the end.
///
/// # Safety
/// As of [`AdbcNodewiseInit`].
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "ADBC calls it so")]
unsafe extern "C" fn AdbcDriverInit(
    version: c_int,
    driver: *mut c_void,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: by the contract of this function.
    unsafe { AdbcNodewiseInit(version, driver, error) }
}

/// Binds rows to a statement, unless some are NULL as a whole.
///
/// # Safety
/// Pointers are null or to what their types say, as ADBC has it; the rows are given away.
unsafe extern "C" fn bind(
    statement: *mut FFI_AdbcStatement,
    values: *mut FFI_ArrowArray,
    schema: *mut FFI_ArrowSchema,
    error: *mut FFI_AdbcError,
) -> AdbcStatusCode {
    // SAFETY: by the contract of this function; nobody else has the rows.
    let rows = unsafe { values.as_ref() };
    if rows.is_some_and(|it| it.is_released() || may_be_null(it)) {
        let message = "rows that are NULL as a whole cannot be bound";
        // SAFETY: by the contract of this function.
        return unsafe { fail(error, refused(Status::InvalidArguments, message)) };
    }
    match Driver::ffi_driver().StatementBind {
        // SAFETY: the contract is the same.
        Some(bind) => unsafe { bind(statement, values, schema, error) },
        // SAFETY: by the contract of this function.
        None => unsafe { fail(error, refused(Status::NotImplemented, "nothing can be bound")) },
    }
}

/// Whether rows may be NULL as a whole; so where that cannot be told.
fn may_be_null(rows: &FFI_ArrowArray) -> bool {
    match rows.null_count_opt() {
        Some(count) => count > 0,
        None => {
            let has_bits = || rows.num_buffers() > 0 && !rows.buffer(0).is_null();
            catch_unwind(AssertUnwindSafe(has_bits)).unwrap_or(true)
        }
    }
}

/// Tells an error.
///
/// # Safety
/// `error` is null or an error of ADBC.
unsafe fn fail(error: *mut FFI_AdbcError, why: Error) -> AdbcStatusCode {
    let code = why.status.into();
    // SAFETY: by the contract of this function.
    unsafe { export_error(error, why) };
    code
}
