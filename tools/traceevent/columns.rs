// SPDX-License-Identifier: GPL-2.0

//! The columns that precede the name of an event.
//!
//! Programs that read traces have options for these columns (`trace-cmd report -l`, `--ts-diff`)
//! which libtraceevent does not know. Therefore the columns of an item are derived from the columns
//! that the program has written for the packed record, with other flags and another time.

/// The minimum width of a time difference in trace-cmd.
const DIFFERENCE: usize = 8;

/// A text of limited length. Excess bytes are dropped.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    /// Creates a text.
    pub fn new(bytes: &[u8]) -> Self {
        let mut this = Self {
            bytes: [0; N],
            len: 0,
        };
        this.push(bytes);
        this
    }

    /// Returns the text.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    fn push(&mut self, bytes: &[u8]) {
        for (to, from) in self.bytes.iter_mut().skip(self.len).zip(bytes) {
            *to = *from;
            self.len += 1;
        }
    }

    fn pad_to(&mut self, len: usize) {
        while self.len < len.min(N) {
            self.push(b" ");
        }
    }
}

impl<const N: usize> core::fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// The columns that the program has written for a packed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns<'a> {
    /// Everything before the flags.
    head: &'a [u8],
    /// The text between the flags and the time.
    middle: &'a [u8],
    /// The length of the time.
    time: usize,
    /// The text between the time and the time difference or, if there is none, the name.
    tail: &'a [u8],
    /// Whether there is a time difference to the previous line.
    difference: bool,
}

fn find_last(text: &[u8], what: &[u8]) -> Option<usize> {
    if what.is_empty() {
        return None;
    }
    text.windows(what.len()).rposition(|part| part == what)
}

impl<'a> Columns<'a> {
    /// Parses the line of a record of the event `name`, as far as it is written when the event is
    /// printed. `flags` and `time` are the expected texts of these columns. Returns `None` if the
    /// line does not contain them.
    pub fn new(line: &'a [u8], name: &[u8], flags: &[u8], time: &[u8]) -> Option<Self> {
        let front = line.get(..find_last(line, name)?)?;
        let time_at = find_last(front, time)?;
        let before = front.get(..time_at)?;
        // The match must not be the end of a longer number.
        if before.last().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let flags_at = find_last(before, flags)?;
        let behind = front.get(time_at + time.len()..)?;
        let opening = behind.iter().position(|byte| *byte == b'(');
        let difference = opening.is_some() || behind.len() > DIFFERENCE;
        // A space separates the time difference, or the spaces in its place, from the name.
        let tail = match opening {
            Some(at) => at,
            None if difference => behind.len() - DIFFERENCE - 1,
            None => behind.len(),
        };
        Some(Self {
            head: before.get(..flags_at)?,
            middle: before.get(flags_at + flags.len()..)?,
            time: time.len(),
            tail: behind.get(..tail)?,
            difference,
        })
    }

    /// Returns whether lines have a time difference to the previous line.
    pub fn has_difference(&self) -> bool {
        self.difference
    }

    /// Writes the columns for another record of this task on this CPU. `difference` is in the units
    /// of the time.
    pub fn write<const N: usize>(
        &self,
        out: &mut Text<N>,
        flags: &[u8],
        time: &[u8],
        difference: i64,
    ) {
        out.push(self.head);
        out.push(flags);
        // Times are right-aligned.
        let end = out.len + self.middle.len() + self.time;
        let spaces = self.middle.iter().rev().take_while(|byte| **byte == b' ');
        let least = self.middle.len() - spaces.count();
        out.push(self.middle.get(..least).unwrap_or(&[]));
        if self.middle.len() > least {
            out.push(b" ");
        }
        out.pad_to(end.saturating_sub(time.len()));
        out.push(time);
        out.push(self.tail);
        if self.difference {
            let end = out.len + DIFFERENCE;
            let _ = core::fmt::Write::write_fmt(out, format_args!("(+{difference})"));
            out.pad_to(end);
            out.push(b" ");
        }
    }
}
