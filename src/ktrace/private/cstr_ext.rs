// SPDX-License-Identifier: GPL-2.0

//! C strings as the kernel's functions take and return them: the kernel's `char` is unsigned.

use core::ffi::CStr;

use kernel::ffi::c_char;

/// Conversions between [`CStr`] and the kernel's `char *`.
///
/// LTS kernels lack the kernel's own trait for this, and their `CStr` is another type.
pub(in crate::ktrace) trait CStrExt {
    /// Returns a pointer to the first character.
    fn as_chars(&self) -> *const c_char;

    /// Returns the C string that starts at `chars`.
    ///
    /// # Safety
    ///
    /// `chars` must meet the requirements of [`CStr::from_ptr`].
    unsafe fn from_chars<'a>(chars: *const c_char) -> &'a Self;
}

#[allow(clippy::disallowed_methods)]
impl CStrExt for CStr {
    #[inline(always)]
    fn as_chars(&self) -> *const c_char {
        self.as_ptr().cast()
    }

    #[inline(always)]
    unsafe fn from_chars<'a>(chars: *const c_char) -> &'a Self {
        // SAFETY: The caller guarantees the requirements of `CStr::from_ptr`; the cast only changes
        // the sign of the characters.
        unsafe { CStr::from_ptr(chars.cast()) }
    }
}
