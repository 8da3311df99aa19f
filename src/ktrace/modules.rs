// SPDX-License-Identifier: GPL-2.0

//! Names of functions, and the moment at which a module's functions lose theirs.
//!
//! C header: `include/linux/module.h`.

use kernel::{
    bindings,
    error::to_result,
    prelude::*, //
};

use super::symbols::{
    Data,
    Resolved, //
};

/// Room for the longest name: `KSYM_SYMBOL_LEN` and some more.
const MAX_NAME: usize = 640;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_watch_modules() -> c_int;
    fn ktrace_unwatch_modules();
    fn ktrace_module_has(
        module: *const bindings::module,
        init_only: bool,
        address: c_ulong,
    ) -> bool;
    fn ktrace_symbol_name(text: *mut c_char, size: usize, address: c_ulong) -> usize;
}

/// Returns the name of the function at an address as the kernel prints it: that of its module
/// follows in brackets. May sleep.
///
/// # Errors
///
/// `ENOMEM`.
pub fn name_of(address: usize) -> Result<KVec<u8>> {
    let mut name = KVec::from_elem(0u8, MAX_NAME, GFP_KERNEL)?;
    // SAFETY: There is room for so many bytes; `%ps` takes any address.
    let len = unsafe { ktrace_symbol_name(name.as_mut_ptr().cast(), MAX_NAME, address as c_ulong) };
    name.truncate(len);
    Ok(name)
}

/// Returns how far an address is behind the start of the kernel's own text, if it lies in that.
pub fn text_offset(address: usize) -> Option<usize> {
    let offset = address.checked_sub(Data::Text.address())?;
    // What the kernel's image takes at most on both architectures; modules lie elsewhere.
    (offset < 1 << 30 && !is_in_module(address)).then_some(offset)
}

/// Whether the kernel's name for the function at an address has that of a module.
fn is_in_module(address: usize) -> bool {
    name_of(address).is_ok_and(|name| name.ends_with(b"]"))
}

/// Text of a module that is about to be freed.
pub struct LeavingText<'a> {
    module: &'a bindings::module,
    init_only: bool,
}

impl LeavingText<'_> {
    /// Whether an address lies in it.
    pub fn has(&self, address: usize) -> bool {
        // SAFETY: The module is alive as long as the reference.
        unsafe { ktrace_module_has(self.module, self.init_only, address as c_ulong) }
    }
}

/// What to do when text of a module is about to be freed.
pub trait TextLeaves {
    /// Called in task context without locks of ours, while names are still known. No function in
    /// this text runs any more.
    fn leaves(text: &LeavingText<'_>);
}

/// The notifier, registered as long as this lives.
///
/// # Invariants
///
/// It is registered until drop.
pub struct Watch(());

impl Watch {
    /// Registers the notifier. May sleep.
    ///
    /// # Errors
    ///
    /// Those of `register_module_notifier()`.
    pub fn new(_: Resolved) -> Result<Self> {
        // SAFETY: The block is static; the kernel refuses to register it twice.
        to_result(unsafe { ktrace_watch_modules() })?;
        // INVARIANT: Just registered.
        Ok(Self(()))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: Registered, by the invariant. Waits for calls that are under way.
        unsafe { ktrace_unwatch_modules() }
    }
}

/// Calls `with` for `modules.c`.
///
/// # Safety
///
/// The module must be alive until this returns.
#[doc(hidden)]
pub unsafe fn text_leaves<T: TextLeaves>(module: *const bindings::module, init_only: bool) {
    // SAFETY: Alive, by the precondition.
    let module = unsafe { &*module };
    T::leaves(&LeavingText { module, init_only });
}

/// Names the one type whose [`TextLeaves`] is called.
#[macro_export]
macro_rules! bind_text_leaves {
    ($type:ty) => {
        const _: () = {
            /// # Safety
            ///
            /// For `modules.c`: the module lives until this returns.
            #[no_mangle]
            unsafe extern "C" fn ktrace_module_text_goes(
                module: *const ::kernel::bindings::module,
                init_only: bool,
            ) {
                // SAFETY: By the precondition.
                unsafe { $crate::ktrace::modules::text_leaves::<$type>(module, init_only) }
            }
        };
    };
}
pub use bind_text_leaves;
