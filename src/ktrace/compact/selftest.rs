// SPDX-License-Identifier: GPL-2.0

//! Checks what packs require of the kernel beyond the layout of its types: `selftest.c` tests it on
//! a ring buffer of its own when the module is loaded.

use core::ffi::CStr;

use kernel::{
    bindings,
    error::from_err_ptr,
    prelude::*,
    sync::atomic::Relaxed, //
};

use crate::ktrace::{
    private::{
        abi,
        cstr_ext::CStrExt,
        symbols::{
            Data,
            Resolved, //
        },
    },
    sync::atomic::AtomicBool, //
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_test_packs(
        ops: *const bindings::seq_operations,
        tr: *mut abi::trace_array,
    ) -> *const c_char;
}

static REFUSED: AtomicBool = AtomicBool::new(false);

/// Runs the self-test of packs.
///
/// If it fails, [`supported`] returns an error from then on, and a line in the kernel log has the
/// reason. May sleep.
///
/// # Errors
///
/// `ENOMEM` if memory is short; a failed test is not an error.
pub fn run(_: Resolved) -> Result {
    let ops = Data::TraceSeqOps.as_ptr::<bindings::seq_operations>();
    let tr = Data::GlobalTrace.as_ptr::<abi::trace_array>();
    // SAFETY: Task context. `Resolved` shows that the layouts of the types that are used are right
    // and that both symbols were found, and the symbols have these types.
    let reason = from_err_ptr(unsafe { ktrace_test_packs(ops, tr) }.cast_mut())?;
    if reason.is_null() {
        return Ok(());
    }
    // SAFETY: `reason` is not null, so it is a constant string in `selftest.c`.
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
/// `EOPNOTSUPP` if the self-test failed.
pub fn supported() -> Result {
    match REFUSED.load(Relaxed) {
        true => Err(Error::from_errno(-(bindings::EOPNOTSUPP as c_int))),
        false => Ok(()),
    }
}
