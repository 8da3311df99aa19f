// SPDX-License-Identifier: GPL-2.0

//! Whether this kernel does what packs rely on beyond the layout of its types: `selftest.c` tries it on a
//! ring buffer of its own when the module is loaded.

use core::ffi::CStr;

use kernel::{
    bindings,
    error::from_err_ptr,
    prelude::*,
    sync::atomic::Relaxed, //
};

use crate::ktrace::{
    abi,
    atomic::AtomicBool,
    cstr::Chars,
    symbols::{
        Data,
        Resolved, //
    },
};

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_test_packs(
        ops: *const bindings::seq_operations,
        tr: *mut abi::trace_array,
    ) -> *const c_char;
}

static REFUSED: AtomicBool = AtomicBool::new(false);

/// Tries what packs rely on. If the kernel does not do it, [`supported`] returns an error, and a line in the
/// kernel log says why. May sleep.
///
/// # Errors
///
/// `ENOMEM`.
pub fn run(_: Resolved) -> Result {
    let ops = Data::TraceSeqOps.as_ptr::<bindings::seq_operations>();
    let tr = Data::GlobalTrace.as_ptr::<abi::trace_array>();
    // SAFETY: In task context. The types that it looks into fit, as `Resolved` shows, and both variables
    // are of these types.
    let reason = from_err_ptr(unsafe { ktrace_test_packs(ops, tr) }.cast_mut())?;
    if reason.is_null() {
        return Ok(());
    }
    // SAFETY: Not null, hence a constant string in `selftest.c`.
    let reason = unsafe { CStr::from_chars(reason) };
    pr_warn!(
        "self-test: {}: compact records are not supported with this kernel\n",
        reason.to_str().unwrap_or("?")
    );
    REFUSED.store(true, Relaxed);
    Ok(())
}

/// Checks that packs can be written.
///
/// # Errors
///
/// `EOPNOTSUPP`.
pub fn supported() -> Result {
    match REFUSED.load(Relaxed) {
        true => Err(Error::from_errno(-(bindings::EOPNOTSUPP as c_int))),
        false => Ok(()),
    }
}
