// SPDX-License-Identifier: GPL-2.0

//! Converts one format string to the two that C needs: the one with which the kernel prints a
//! record, and the `print fmt` of the event's `format` file, with which all other programs do.
//!
//! The string has the syntax of Rust: `{}` for each argument, optionally with an alignment, a width
//! and `x` (`{:>16}`, `{:03}`, `{:#x}`, `{:08x}`), and `{{` and `}}` for literal braces. The two
//! results differ only in their quotes, so they are always consistent.
//!
//! All of this happens at compile time, and errors are compile errors. All functions are `inline`,
//! so that none of them is in the module.

use core::ffi::CStr;

use super::text::Text;
use crate::ktrace::value_names::ValueNames;

/// The kind of C conversion that an argument needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `d`, with a length modifier.
    Signed(&'static str),
    /// `u`, with a length modifier.
    Unsigned(&'static str),
    /// `s`
    Str,
    /// `pS`: an address that is printed as a symbol.
    Symbol,
}

/// A part of the C expression for an argument.
#[derive(Clone, Copy)]
enum ExprPart {
    /// C code, which is used unchanged.
    Code(&'static str),
    /// The name of the field.
    Field,
    /// A number.
    Number(u64),
    /// A string literal with this content.
    Literal(&'static CStr),
    /// `, { value, "name" }` for each name.
    Names(ValueNames),
}

/// The maximum number of parts of an expression.
const MAX_PARTS: usize = 12;

/// A C expression whose value is the argument.
#[derive(Clone, Copy)]
pub struct Expression {
    parts: [ExprPart; MAX_PARTS],
    len: usize,
}

impl Expression {
    /// Creates an empty expression.
    #[expect(clippy::new_without_default, reason = "it would not be `const`")]
    #[inline]
    pub const fn new() -> Self {
        Self {
            parts: [const { ExprPart::Field }; MAX_PARTS],
            len: 0,
        }
    }

    #[inline]
    const fn part(mut self, part: ExprPart) -> Self {
        self.parts[self.len] = part;
        self.len += 1;
        self
    }

    /// Appends C code.
    #[inline]
    pub const fn code(self, code: &'static str) -> Self {
        self.part(ExprPart::Code(code))
    }

    /// Appends the name of the field.
    #[inline]
    pub const fn field(self) -> Self {
        self.part(ExprPart::Field)
    }

    /// Appends a number.
    #[inline]
    pub const fn number(self, value: usize) -> Self {
        self.part(ExprPart::Number(value as u64))
    }

    /// Appends a string literal.
    #[inline]
    pub const fn literal(self, text: &'static CStr) -> Self {
        self.part(ExprPart::Literal(text))
    }

    /// Appends names with their values, each preceded by a comma.
    #[inline]
    pub const fn names(self, names: ValueNames) -> Self {
        self.part(ExprPart::Names(names))
    }

    /// Appends another expression.
    #[inline]
    pub const fn then(mut self, other: Self) -> Self {
        let mut i = 0;
        while i < other.len {
            self = self.part(other.parts[i]);
            i += 1;
        }
        self
    }
}

/// An argument: its conversion, and the C expression for its value.
#[derive(Clone, Copy)]
pub struct Argument {
    family: Family,
    field: &'static str,
    expression: Expression,
}

impl Argument {
    /// Creates an argument for the field with the name `field`.
    #[inline]
    pub const fn new(family: Family, field: &'static str, expression: Expression) -> Self {
        Self {
            family,
            field,
            expression,
        }
    }
}

/// The content between the braces of a placeholder.
struct Placeholder {
    left: bool,
    alternate: bool,
    zero: bool,
    width: u64,
    hex: u8,
    /// The index after the closing brace.
    end: usize,
}

/// Parses the placeholder whose opening brace is directly before `at`.
#[inline]
const fn placeholder(format: &[u8], mut at: usize) -> Placeholder {
    let mut this = Placeholder {
        left: false,
        alternate: false,
        zero: false,
        width: 0,
        hex: 0,
        end: 0,
    };
    if at < format.len() && format[at] == b':' {
        at += 1;
        if at < format.len() && (format[at] == b'<' || format[at] == b'>') {
            this.left = format[at] == b'<';
            at += 1;
        }
        if at < format.len() && format[at] == b'#' {
            this.alternate = true;
            at += 1;
        }
        if at < format.len() && format[at] == b'0' {
            this.zero = true;
            at += 1;
        }
        while at < format.len() && format[at].is_ascii_digit() {
            this.width = this.width * 10 + (format[at] - b'0') as u64;
            at += 1;
        }
        if at < format.len() && (format[at] == b'x' || format[at] == b'X') {
            this.hex = format[at];
            at += 1;
        }
    }
    let closed = at < format.len() && format[at] == b'}';
    assert!(
        closed,
        "{}",
        "in a trace event's format string, only ':' and [<|>][#][0][width][x|X] \
         is allowed between { and }"
    );
    this.end = at + 1;
    this
}

#[inline]
const fn conversion(mut out: Text, how: &Placeholder, family: Family) -> Text {
    out = out.byte(b'%');
    if how.left {
        out = out.byte(b'-');
    }
    if how.alternate {
        assert!(
            how.hex != 0,
            "'#' in a placeholder of a trace event goes with 'x'"
        );
        out = out.byte(b'#');
    }
    let number = matches!(family, Family::Signed(_) | Family::Unsigned(_));
    assert!(
        number || (how.hex == 0 && !how.zero),
        "'x' and leading zeros in a placeholder of a trace event are for integers"
    );
    if how.zero {
        out = out.byte(b'0');
    }
    if how.width != 0 {
        out = out.number(how.width);
    }
    match family {
        Family::Str => out.byte(b's'),
        Family::Symbol => out.str("pS"),
        Family::Signed(length) if how.hex == 0 => out.str(length).byte(b'd'),
        Family::Unsigned(length) if how.hex == 0 => out.str(length).byte(b'u'),
        Family::Signed(length) | Family::Unsigned(length) => out.str(length).byte(how.hex),
    }
}

/// Returns the C format, without a newline.
#[inline]
const fn c_format(format: &str, arguments: &[Argument]) -> Text {
    let format = format.as_bytes();
    let mut out = Text::new();
    let mut used = 0;
    let mut at = 0;
    while at < format.len() {
        let byte = format[at];
        let doubled = at + 1 < format.len() && format[at + 1] == byte;
        if byte == b'{' && !doubled {
            let how = placeholder(format, at + 1);
            assert!(
                used < arguments.len(),
                "a trace event's format string has more placeholders than arguments"
            );
            out = conversion(out, &how, arguments[used].family);
            used += 1;
            at = how.end;
            continue;
        }
        if byte == b'{' || byte == b'}' {
            assert!(doubled, "a lone bracket in a trace event's format string");
            at += 1;
        }
        if byte == b'%' {
            out = out.byte(b'%');
        }
        out = out.byte(byte);
        at += 1;
    }
    assert!(
        used == arguments.len(),
        "a trace event's format string has fewer placeholders than arguments"
    );
    out
}

/// Returns the format with which the kernel prints a record, with a newline.
#[inline]
pub const fn for_printing(format: &str, arguments: &[Argument]) -> Text {
    c_format(format, arguments).byte(b'\n')
}

/// Returns the `print fmt` of the `format` file.
#[inline]
pub const fn for_readers(format: &str, arguments: &[Argument]) -> Text {
    let c = c_format(format, arguments);
    let mut out = Text::new().byte(b'"');
    let mut i = 0;
    while i < c.len() {
        out = out.escaped(&[c.at(i)]);
        i += 1;
    }
    out = out.byte(b'"');
    let mut i = 0;
    while i < arguments.len() {
        out = expression(out.str(", "), &arguments[i]);
        i += 1;
    }
    out
}

#[inline]
const fn expression(mut out: Text, argument: &Argument) -> Text {
    let mut i = 0;
    while i < argument.expression.len {
        out = match argument.expression.parts[i] {
            ExprPart::Code(code) => out.str(code),
            ExprPart::Field => out.str(argument.field),
            ExprPart::Number(value) => out.number(value),
            ExprPart::Literal(text) => out.byte(b'"').escaped(text.to_bytes()).byte(b'"'),
            ExprPart::Names(names) => names_list(out, names),
        };
        i += 1;
    }
    out
}

#[inline]
const fn names_list(mut out: Text, names: ValueNames) -> Text {
    let mut i = 0;
    while i < names.len() {
        out = out.str(", { ").number(names[i].0).str(", \"");
        out = out.escaped(names[i].1.to_bytes()).str("\" }");
        i += 1;
    }
    out
}
