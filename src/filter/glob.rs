// SPDX-License-Identifier: GPL-2.0

//! Patterns that match a task's name.
//!
//! The syntax is that of `glob_match()` in `lib/glob.c`: `*` matches any number of bytes, `?`
//! matches one byte, `[a-z]` matches one byte of a class, `[!a-z]` one byte that is not in the
//! class, and `\` makes the next byte literal. In a class, a `]` in first position, a `-` in first
//! or last position, and every `\` are literal; a range whose start is greater than its end is
//! empty. A pattern must match the whole name. [`Glob::new`] rejects malformed patterns, which
//! `glob_match()` would treat as literals.

/// Maximum length of a task's name in bytes: `TASK_COMM_LEN` without the NUL.
pub(crate) const MAX_COMM: usize = 15;

/// Maximum length of a pattern in bytes.
pub(crate) const MAX_PATTERN: usize = 64;

/// The bytes with a special meaning outside of a class.
const SPECIAL: [u8; 4] = *b"*?[\\";

/// Returns the name in a task's `comm`, which ends at the first NUL or after [`MAX_COMM`] bytes.
pub(crate) fn name_of(comm: &[u8]) -> &[u8] {
    let name = comm.get(..MAX_COMM).unwrap_or(comm);
    let end = name.iter().position(|byte| *byte == 0);
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

/// The reason why a pattern is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobError {
    /// The pattern is empty.
    Empty,
    /// The pattern has more than [`MAX_PATTERN`] bytes, or needs a longer name than there is.
    TooLong,
    /// A `[` without a closing `]`.
    UnterminatedClass,
    /// A `\` with nothing after it.
    TrailingBackslash,
    /// A control character, including NUL.
    ControlCharacter,
}

/// A pattern that can match some task's name.
///
/// # Invariants
///
/// - `len` is at most [`MAX_PATTERN`], and the bytes after it are zero.
/// - Every `[` that opens a class has a closing `]`, and every `\` outside of a class is followed
///   by a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    text: [u8; MAX_PATTERN],
    len: usize,
}

impl Glob {
    /// Checks a pattern and copies it.
    ///
    /// A `#` in front is stored as `\#`, which has the same meaning. So the text can be written
    /// back to a control file, where `#` begins a comment.
    pub(crate) fn new(pattern: &[u8]) -> Result<Self, GlobError> {
        Self::with_limit(pattern, MAX_COMM)
    }

    /// Checks a pattern that matches names of up to `longest` bytes, and copies it.
    pub(crate) fn with_limit(pattern: &[u8], longest: usize) -> Result<Self, GlobError> {
        let escape: &[u8] = if pattern.first() == Some(&b'#') {
            b"\\"
        } else {
            b""
        };
        let len = pattern.len().saturating_add(escape.len());
        if len > MAX_PATTERN {
            return Err(GlobError::TooLong);
        }
        if pattern.is_empty() {
            return Err(GlobError::Empty);
        }
        if pattern.iter().any(|byte| *byte < 0x20 || *byte == 0x7f) {
            return Err(GlobError::ControlCharacter);
        }

        // Every part except `*` matches exactly one byte of the name.
        let mut needed: usize = 0;
        let mut rest = pattern;
        while let Some((part, after)) = next_part(rest)? {
            if !matches!(part, GlobToken::Any) {
                needed = needed.saturating_add(1);
            }
            rest = after;
        }
        if needed > longest {
            return Err(GlobError::TooLong);
        }

        let mut text = [0; MAX_PATTERN];
        for (to, from) in text.iter_mut().zip(escape.iter().chain(pattern)) {
            *to = *from;
        }
        // INVARIANT: The length was checked above, and the loop has parsed the whole pattern. An
        // added escape is followed by the `#`.
        Ok(Self { text, len })
    }

    /// Returns the text of the pattern.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.text.get(..self.len).unwrap_or_default()
    }

    /// Returns whether the pattern matches the whole of `comm`, which ends at the first NUL or
    /// after [`MAX_COMM`] bytes, as a name in the kernel does.
    ///
    /// May be called from any context. The time is bounded: each byte of the name is tried at most
    /// once as the end of the match of the latest `*`, against at most [`MAX_PATTERN`] bytes.
    #[cfg(test)]
    pub(crate) fn matches(&self, comm: &[u8]) -> bool {
        self.matches_name(name_of(comm))
    }

    /// Returns whether the pattern matches the whole of `name`, which is a result of [`name_of`].
    /// May be called from any context.
    #[inline(always)]
    pub(crate) fn matches_name(&self, name: &[u8]) -> bool {
        let [first, ..] = &self.text;
        // Most patterns differ from the name in the first byte. No pattern is empty.
        (SPECIAL.contains(first) || name.first() == Some(first)) && self.matches_whole(name)
    }

    #[inline(never)]
    fn matches_whole(&self, mut name: &[u8]) -> bool {
        let mut pattern = self.as_bytes();
        // The pattern after the latest `*`, and the rest of the name where it was tried last. An
        // earlier `*` never needs a retry: its shortest match leaves the most bytes for the later
        // ones.
        let mut retry: Option<(&[u8], &[u8])> = None;

        loop {
            // INVARIANT: The pattern is well-formed, so this cannot fail.
            let Ok(part) = next_part(pattern) else {
                return false;
            };
            match (part, name.split_first()) {
                (Some((GlobToken::Any, after)), _) => {
                    if after.is_empty() {
                        return true;
                    }
                    retry = Some((after, name));
                    pattern = after;
                    continue;
                }
                (Some((part, after)), Some((byte, tail))) => {
                    if part.takes(*byte) {
                        pattern = after;
                        name = tail;
                        continue;
                    }
                }
                (None, None) => return true,
                // The name is too short, and a later start only makes it shorter.
                (Some(_), None) => return false,
                // The name is too long: the latest `*` has to match more of it.
                (None, Some(_)) => (),
            }

            let Some((after_star, start)) = retry else {
                return false;
            };
            let Some((_, start)) = start.split_first() else {
                return false;
            };
            retry = Some((after_star, start));
            pattern = after_star;
            name = start;
        }
    }
}

/// A part of a pattern.
enum GlobToken<'a> {
    /// `*`: matches any number of bytes.
    Any,
    /// `?`: matches one byte.
    One,
    /// Matches this byte.
    Byte(u8),
    /// Matches one byte of a class or, if `inverted`, one byte that is not in it. `spans` is the
    /// text between the brackets, without the `!`.
    Class { inverted: bool, spans: &'a [u8] },
}

impl GlobToken<'_> {
    /// Returns whether the part matches this one byte.
    fn takes(&self, byte: u8) -> bool {
        match self {
            GlobToken::Any => false,
            GlobToken::One => true,
            GlobToken::Byte(own) => *own == byte,
            GlobToken::Class { inverted, spans } => in_class(spans, byte) != *inverted,
        }
    }
}

/// Splits the first part off a pattern. Returns `None` at the end of the pattern.
fn next_part(pattern: &[u8]) -> Result<Option<(GlobToken<'_>, &[u8])>, GlobError> {
    let Some((first, rest)) = pattern.split_first() else {
        return Ok(None);
    };
    match first {
        b'*' => Ok(Some((GlobToken::Any, rest))),
        b'?' => Ok(Some((GlobToken::One, rest))),
        b'\\' => match rest.split_first() {
            Some((byte, rest)) => Ok(Some((GlobToken::Byte(*byte), rest))),
            None => Err(GlobError::TrailingBackslash),
        },
        b'[' => {
            let (inverted, class) = match rest.split_first() {
                Some((b'!', class)) => (true, class),
                _ => (false, rest),
            };
            let end = class_len(class).ok_or(GlobError::UnterminatedClass)?;
            let spans = class.get(..end).unwrap_or_default();
            let rest = class.get(end.saturating_add(1)..).unwrap_or_default();
            Ok(Some((GlobToken::Class { inverted, spans }, rest)))
        }
        byte => Ok(Some((GlobToken::Byte(*byte), rest))),
    }
}

/// Splits the first span, a byte or a range, off the inside of a class.
fn next_span(class: &[u8]) -> Option<(u8, u8, &[u8])> {
    match class {
        // A `-` directly before the closing bracket is literal.
        [low, b'-', high, rest @ ..] if *high != b']' => Some((*low, *high, rest)),
        [byte, rest @ ..] => Some((*byte, *byte, rest)),
        [] => None,
    }
}

/// Returns the number of bytes before the `]` that closes a class; `None` if it is not closed.
fn class_len(class: &[u8]) -> Option<usize> {
    // The first span is read before the search for the end, so a `]` in first position is literal.
    let mut rest = class;
    loop {
        let (_, _, after) = next_span(rest)?;
        rest = after;
        if rest.first()? == &b']' {
            return class.len().checked_sub(rest.len());
        }
    }
}

/// Returns whether a byte is in one of the spans.
fn in_class(spans: &[u8], byte: u8) -> bool {
    let mut rest = spans;
    while let Some((low, high, after)) = next_span(rest) {
        if (low..=high).contains(&byte) {
            return true;
        }
        rest = after;
    }
    false
}
