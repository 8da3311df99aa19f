// SPDX-License-Identifier: GPL-2.0

//! The check that the running kernel is compatible with the module.

use core::ffi::CStr;

use kernel::prelude::*;

use super::{
    private::{
        cstr_ext::CStrExt,
        symbols::{
            self,
            Resolved, //
        },
    },
    task::{
        saved_cmdlines,
        sched, //
    },
    time::clock, //
};

extern "C" {
    fn ktrace_find_task_probes() -> *const c_char;
}

/// Looks up all symbols and tracepoints, and checks all types. May sleep.
///
/// # Errors
///
/// For the first three, a line in the kernel log names what is missing or different.
///
/// * `EPERM`: the kernel is locked down and does not allow tracing.
/// * `ENOENT`: the kernel lacks a symbol or tracepoint.
/// * `ENOEXEC`: the layout of a type differs from that in the kernel that the module was built for.
/// * `ENOMEM`, and other errors of `register_kprobe()`.
pub fn resolve(module: &'static ThisModule) -> Result<Resolved> {
    symbols::find(module)?;
    find_tracepoints()?;
    check_clocks()?;
    // SAFETY: All of this was checked above.
    Ok(unsafe { Resolved::new() })
}

fn find_tracepoints() -> Result {
    // SAFETY: Only iterates over the kernel's own tracepoints; sleeping is allowed here.
    let name = unsafe { ktrace_find_task_probes() };
    // SAFETY: The pointer is null or points to one of the constant strings in `task.c`.
    let of_tasks = (!name.is_null()).then(|| unsafe { CStr::from_chars(name) });
    let Some(name) = of_tasks
        .or_else(saved_cmdlines::find_probe)
        .or_else(sched::find_probes)
    else {
        return Ok(());
    };
    pr_err!("tracepoint '{}' not found\n", name.to_str().unwrap_or("?"));
    Err(ENOENT)
}

/// Checks the kernel's table of trace clocks, whose type is not in BTF.
fn check_clocks() -> Result {
    if clock::check_table() {
        return Ok(());
    }
    pr_err!("'trace_clocks' differs from the supported kernels\n");
    Err(ENOEXEC)
}
