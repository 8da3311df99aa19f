// SPDX-License-Identifier: GPL-2.0

//! Escaping of task names for text output. A task's name may contain any bytes, so it is escaped as
//! in `/proc/PID/status`: a newline is written as `\n`, a backslash as `\\`.

/// The maximum length of a task's name, in bytes, without the terminating zero.
pub const MAX_NAME: usize = 15;

/// The maximum length of an escaped name: each byte becomes at most two.
const MAX_LEN: usize = 2 * MAX_NAME;

/// An escaped name.
#[derive(Clone, Copy)]
pub struct Escaped {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl Escaped {
    /// Escapes a name. Bytes after the first [`MAX_NAME`] are dropped.
    pub fn new(name: &[u8]) -> Self {
        Self::with(name, false)
    }

    /// Escapes a name for use inside a C comment: `*/`, which would end it, is written as `*\/`.
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

    /// Returns the bytes of the escaped name.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    /// Returns the first bytes of the escaped name, at most `len`, without splitting an escape
    /// sequence.
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
