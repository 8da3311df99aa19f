// SPDX-License-Identifier: GPL-2.0

//! Text that is put together at compile time. All is `inline`, so that none of it is in the module.

/// How long it may get.
const MAX: usize = 4096;

/// A text under construction.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; MAX],
    len: usize,
}

impl Text {
    /// An empty one.
    #[expect(clippy::new_without_default, reason = "it would not be `const`")]
    #[inline]
    pub const fn new() -> Self {
        Self {
            bytes: [0; MAX],
            len: 0,
        }
    }

    /// Its length, in bytes.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks")]
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Adds a byte.
    #[inline]
    pub const fn byte(mut self, byte: u8) -> Self {
        assert!(self.len < MAX, "the text of this event is too long");
        self.bytes[self.len] = byte;
        self.len += 1;
        self
    }

    /// Adds bytes.
    #[inline]
    pub const fn bytes(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            self = self.byte(bytes[i]);
            i += 1;
        }
        self
    }

    /// Adds a string.
    #[inline]
    pub const fn str(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds what stands for these bytes within a C string literal.
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

    /// Adds a number in decimal.
    #[inline]
    pub const fn number(self, value: u64) -> Self {
        let with_rest = if value < 10 {
            self
        } else {
            self.number(value / 10)
        };
        with_rest.byte(b'0' + (value % 10) as u8)
    }

    /// The text, ended by a zero, which `N` has to count: a C string that needs no more room than
    /// it takes.
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

    /// Its byte at `at`.
    #[inline]
    pub const fn at(&self, at: usize) -> u8 {
        self.bytes[at]
    }
}
