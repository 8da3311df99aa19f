// SPDX-License-Identifier: GPL-2.0

//! Names of tasks in text. A task may have any bytes in its name, so names are escaped as
//! `/proc/PID/status` does it: a newline is written `\n`, a backslash `\\`.

/// How long a name may be.
pub const MAX_NAME: usize = 15;

/// Each byte becomes two at most.
const MAX_LEN: usize = 2 * MAX_NAME;

/// A name as it is printed.
#[derive(Clone, Copy)]
pub struct Escaped {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl Escaped {
    /// Escapes a name. What does not fit is cut off.
    pub fn new(name: &[u8]) -> Self {
        Self::with(name, false)
    }

    /// Escapes a name that stands in a comment, which it must not end: `*/` is written `*\/`.
    pub fn in_comment(name: &[u8]) -> Self {
        Self::with(name, true)
    }

    fn with(name: &[u8], in_comment: bool) -> Self {
        let mut this = Self {
            bytes: [0; MAX_LEN],
            len: 0,
        };
        let mut last = 0;
        for &byte in name.iter().take(MAX_NAME) {
            match byte {
                b'\n' => this.push(b"\\n"),
                b'\\' => this.push(b"\\\\"),
                b'/' if in_comment && last == b'*' => this.push(b"\\/"),
                byte => this.push(&[byte]),
            }
            last = byte;
        }
        this
    }

    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if let Some(place) = self.bytes.get_mut(self.len) {
                *place = byte;
                self.len += 1;
            }
        }
    }

    /// The bytes of the text.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    /// The beginning of the text, of `len` bytes at most, with no half of an escape at its end.
    pub fn prefix(&self, len: usize) -> &[u8] {
        let mut end = 0;
        while let Some(&byte) = self.as_bytes().get(end) {
            let next = end + if byte == b'\\' { 2 } else { 1 };
            if next > len {
                break;
            }
            end = next;
        }
        self.as_bytes().get(..end).unwrap_or(&[])
    }
}
