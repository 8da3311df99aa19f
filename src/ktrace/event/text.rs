// SPDX-License-Identifier: GPL-2.0

//! Text that is built at compile time. All functions are `inline`, so that none of them is in the
//! module.

/// The maximum length of a text, in bytes.
const MAX: usize = 4096;

/// A text that is being built.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; MAX],
    len: usize,
}

impl Text {
    /// Creates an empty text.
    #[expect(clippy::new_without_default, reason = "it would not be `const`")]
    #[inline]
    pub const fn new() -> Self {
        Self {
            bytes: [0; MAX],
            len: 0,
        }
    }

    /// Returns the length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "no caller needs it")]
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Appends a byte.
    #[inline]
    pub const fn byte(mut self, byte: u8) -> Self {
        assert!(self.len < MAX, "the text of this event is too long");
        self.bytes[self.len] = byte;
        self.len += 1;
        self
    }

    /// Appends bytes.
    #[inline]
    pub const fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            self = self.byte(bytes[i]);
            i += 1;
        }
        self
    }

    /// Appends a string.
    #[inline]
    pub const fn str(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Appends the representation of these bytes in a C string literal.
    #[inline]
    pub const fn escaped(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            if bytes[i] == b'"' || bytes[i] == b'\\' {
                self = self.byte(b'\\');
            }
            self = self.byte(bytes[i]);
            i += 1;
        }
        self
    }

    /// Appends a number in decimal.
    #[inline]
    pub const fn number(self, value: u64) -> Self {
        let with_rest = if value < 10 {
            self
        } else {
            self.number(value / 10)
        };
        with_rest.byte(b'0' + (value % 10) as u8)
    }

    /// Returns the text as a C string. `N` must be the length of the text plus 1, for the
    /// terminating zero, so that the array has no unused bytes.
    #[inline]
    pub const fn terminated<const N: usize>(&self) -> [u8; N] {
        assert!(N == self.len + 1);
        let mut out = [0; N];
        let mut i = 0;
        while i < self.len {
            out[i] = self.bytes[i];
            i += 1;
        }
        out
    }

    /// Returns the byte at index `at`.
    #[inline]
    pub const fn at(&self, at: usize) -> u8 {
        self.bytes[at]
    }
}
