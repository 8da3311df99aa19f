// SPDX-License-Identifier: GPL-2.0

//! The columns in front of an event's name. A reader has options for them (`trace-cmd report -l`,
//! `--ts-diff`) that libtraceevent does not know of, so those of an item are made of what the reader
//! has written in front of its pack: the same, with other flags and another time.

/// How wide a difference of times is at least, as trace-cmd has it.
const DIFFERENCE: usize = 8;

/// Text of limited length. What does not fit is cut off.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    /// A text.
    pub fn new(bytes: &[u8]) -> Self {
        let mut this = Self {
            bytes: [0; N],
            len: 0,
        };
        this.push(bytes);
        this
    }

    /// All of it.
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

/// What the reader has written in front of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns<'a> {
    /// All that precedes the flags.
    head: &'a [u8],
    /// What is between the flags and the time.
    middle: &'a [u8],
    /// How long the time is.
    time: usize,
    /// What is between the time and the difference, or the name.
    tail: &'a [u8],
    /// Whether there is a difference to the time of the line before.
    difference: bool,
}

fn find_last(text: &[u8], what: &[u8]) -> Option<usize> {
    if what.is_empty() {
        return None;
    }
    text.windows(what.len()).rposition(|part| part == what)
}

impl<'a> Columns<'a> {
    /// Takes the line of a record of the event `name` apart, as far as it is written when the event is
    /// printed. `flags` and `time` are those of the record as they are expected there. `None` if they
    /// are not there.
    pub fn new(line: &'a [u8], name: &[u8], flags: &[u8], time: &[u8]) -> Option<Self> {
        let front = line.get(..find_last(line, name)?)?;
        let time_at = find_last(front, time)?;
        let before = front.get(..time_at)?;
        // Not the end of a number that is longer.
        if before.last().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let flags_at = find_last(before, flags)?;
        let behind = front.get(time_at + time.len()..)?;
        let opening = behind.iter().position(|byte| *byte == b'(');
        let difference = opening.is_some() || behind.len() > DIFFERENCE;
        // A space separates the difference, or its place, from the name.
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

    /// Whether lines tell how much later they are than the line before.
    pub fn has_difference(&self) -> bool {
        self.difference
    }

    /// The same for another record of this task on this CPU. `difference` is in the units of the time.
    pub fn write<const N: usize>(
        &self,
        out: &mut Text<N>,
        flags: &[u8],
        time: &[u8],
        difference: i64,
    ) {
        out.push(self.head);
        out.push(flags);
        // Times end in one column.
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
