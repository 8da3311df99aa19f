// SPDX-License-Identifier: GPL-2.0

//! Names of functions, and a notification before a module's function names become unavailable.
//!
//! C header: `include/linux/module.h`.

use kernel::{
    bindings,
    error::to_result,
    prelude::*, //
};

use super::{
    callbacks::ktrace_text_leaves_t,
    symbols::{
        this_module,
        Data,
        Resolved, //
    },
};

/// The size of the buffer for a name: at least `KSYM_SYMBOL_LEN`.
const MAX_NAME: usize = 640;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_watch_modules(leaves: ktrace_text_leaves_t) -> c_int;
    fn ktrace_unwatch_modules();
    fn ktrace_module_has(
        module: *const bindings::module,
        init_only: bool,
        address: c_ulong,
    ) -> bool;
    fn ktrace_symbol_name(text: *mut c_char, size: usize, address: c_ulong) -> usize;
}

/// Returns the name of the function at `address` as the kernel prints it, followed by the name of
/// its module in brackets. May sleep.
///
/// # Errors
///
/// `ENOMEM` if memory is short.
pub fn name_of(address: usize) -> Result<KVec<u8>> {
    let mut name = KVec::from_elem(0u8, MAX_NAME, GFP_KERNEL)?;
    // SAFETY: The buffer has room for `MAX_NAME` bytes; `%ps` takes any address.
    let len = unsafe { ktrace_symbol_name(name.as_mut_ptr().cast(), MAX_NAME, address as c_ulong) };
    name.truncate(len);
    Ok(name)
}

/// Returns the offset of `address` from the start of the kernel's own text, or `None` if the
/// address is outside of it.
pub fn text_offset(address: usize) -> Option<usize> {
    let offset = address.checked_sub(Data::Text.address())?;
    // The kernel image takes at most this many bytes on both architectures; modules are outside.
    (offset < 1 << 30 && !is_in_module(address)).then_some(offset)
}

/// Returns whether the kernel's name for the function at `address` includes that of a module.
fn is_in_module(address: usize) -> bool {
    name_of(address).is_ok_and(|name| name.ends_with(b"]"))
}

/// Returns whether `address` is in the text of this module. Any context.
pub(in crate::ktrace) fn is_in_this_module(address: usize) -> bool {
    // SAFETY: This module is alive, as its code runs.
    unsafe { ktrace_module_has(this_module(), false, address as c_ulong) }
}

/// The text of a module that is about to be freed.
pub struct LeavingText<'a> {
    module: &'a bindings::module,
    init_only: bool,
}

impl LeavingText<'_> {
    /// Returns whether `address` is in this text.
    pub fn has(&self, address: usize) -> bool {
        // SAFETY: The reference shows that the module is alive.
        unsafe { ktrace_module_has(self.module, self.init_only, address as c_ulong) }
    }
}

/// A callback for module text that is about to be freed.
pub trait TextLeaves {
    /// Handles the removal of `text`. Called in task context, with no lock of ktrace held, while
    /// the names of functions are still available. No function in this text runs any more.
    fn leaves(text: &LeavingText<'_>);
}

/// The module notifier, which is registered while this value exists.
///
/// # Invariants
///
/// The notifier is registered until drop.
pub struct ModuleWatch(());

impl ModuleWatch {
    /// Registers the notifier. May sleep.
    ///
    /// # Errors
    ///
    /// The errors of `register_module_notifier()`.
    pub fn new<T: TextLeaves>(_: Resolved) -> Result<Self> {
        // SAFETY: The notifier block is static; the kernel refuses to register it twice.
        to_result(unsafe { ktrace_watch_modules(Some(leaves::<T>)) })?;
        // INVARIANT: The notifier was registered above.
        Ok(Self(()))
    }
}

impl Drop for ModuleWatch {
    fn drop(&mut self) {
        // SAFETY: By the type invariant, the notifier is registered. This waits for running calls.
        unsafe { ktrace_unwatch_modules() }
    }
}

/// # Safety
///
/// Only for `modules.c`: the module must be alive until this returns.
unsafe extern "C" fn leaves<T: TextLeaves>(module: *const bindings::module, init_only: bool) {
    // SAFETY: The caller guarantees that the module is alive until this returns.
    let module = unsafe { &*module };
    T::leaves(&LeavingText { module, init_only });
}
