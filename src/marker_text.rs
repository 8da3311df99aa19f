// SPDX-License-Identifier: GPL-2.0

//! The text of markers, as Android's atrace and Perfetto's SDK write them to `trace_marker`.
//!
//! | text | meaning |
//! | --- | --- |
//! | `B\|PID\|NAME` ... `E\|PID` | a section of the thread; sections nest |
//! | `S\|PID\|NAME\|COOKIE` ... `F\|PID\|NAME\|COOKIE` | an asynchronous section of the process |
//! | `C\|PID\|NAME\|VALUE` | a counter |
//! | `I\|PID\|NAME` | an instant |
//!
//! Any other text is a marker that is named by the whole text. Nothing here depends on the kernel.

/// The meaning of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkerKind {
    /// The beginning of a section of the thread.
    Begin,
    /// The end of the innermost section of the thread.
    End,
    /// The beginning of the asynchronous section with this cookie.
    AsyncBegin(i64),
    /// The end of the asynchronous section with this cookie.
    AsyncEnd(i64),
    /// A counter has this value.
    Counter(i64),
    /// Anything else.
    Text,
}

/// A marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MarkerText<'a> {
    pub(crate) kind: MarkerKind,
    /// The name; of [`MarkerKind::Text`] that is no instant, the whole text; of
    /// [`MarkerKind::End`], nothing.
    pub(crate) name: &'a [u8],
}

/// Splits at the last `|`, and reads the number behind it.
fn split_number(text: &[u8]) -> Option<(&[u8], i64)> {
    let at = text.iter().rposition(|byte| *byte == b'|')?;
    let number = text.get(at + 1..)?.trim_ascii();
    let number = core::str::from_utf8(number).ok()?.parse().ok()?;
    Some((text.get(..at)?, number))
}

impl<'a> MarkerText<'a> {
    /// Reads a marker, without the newline at its end.
    pub(crate) fn parse(text: &'a [u8]) -> Self {
        Self::parse_known(text).unwrap_or(Self {
            kind: MarkerKind::Text,
            name: text,
        })
    }

    fn parse_known(text: &'a [u8]) -> Option<Self> {
        let (letter, rest) = text.split_first()?;
        if *letter == b'E' && rest.is_empty() {
            return Some(Self::new(MarkerKind::End, rest));
        }
        let rest = rest.strip_prefix(b"|")?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let after = rest.get(digits..)?;
        if *letter == b'E' {
            // Some writers add the name that the section has.
            let is_end = after.is_empty() || after.starts_with(b"|");
            return is_end.then(|| Self::new(MarkerKind::End, b""));
        }
        let after = after.strip_prefix(b"|").filter(|_| digits != 0)?;
        Some(match letter {
            b'B' => Self::new(MarkerKind::Begin, after),
            b'I' => Self::new(MarkerKind::Text, after),
            b'S' => {
                let (name, cookie) = split_number(after)?;
                Self::new(MarkerKind::AsyncBegin(cookie), name)
            }
            b'F' => {
                let (name, cookie) = split_number(after)?;
                Self::new(MarkerKind::AsyncEnd(cookie), name)
            }
            b'C' => {
                let (name, value) = split_number(after)?;
                Self::new(MarkerKind::Counter(value), name)
            }
            _ => return None,
        })
    }

    fn new(kind: MarkerKind, name: &'a [u8]) -> Self {
        Self { kind, name }
    }
}
