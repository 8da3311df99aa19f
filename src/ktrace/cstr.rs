// SPDX-License-Identifier: GPL-2.0

//! C strings as the kernel's functions take and return them: its `char` has no sign.

use core::ffi::CStr;

use kernel::ffi::c_char;

/// To and from the kernel's `char *`.
///
/// The kernel's own trait for that is not in kernels with long-term support, whose `CStr` is another type.
pub(super) trait Chars {
    /// Where it begins.
    fn as_chars(&self) -> *const c_char;

    /// What begins there.
    ///
    /// # Safety
    ///
    /// As for [`CStr::from_ptr`].
    unsafe fn from_chars<'a>(chars: *const c_char) -> &'a Self;
}

#[allow(clippy::disallowed_methods)]
impl Chars for CStr {
    #[inline(always)]
    fn as_chars(&self) -> *const c_char {
        self.as_ptr().cast()
    }

    #[inline(always)]
    unsafe fn from_chars<'a>(chars: *const c_char) -> &'a Self {
        // SAFETY: By the precondition.
        unsafe { CStr::from_ptr(chars.cast()) }
    }
}
