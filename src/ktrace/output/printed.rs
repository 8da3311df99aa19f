// SPDX-License-Identifier: GPL-2.0

//! The result of printing a record.

use kernel::prelude::*;

use crate::ktrace::private::abi;

/// The result of printing a record (`enum print_line_t`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Printed {
    /// Its line did not fit. The line is removed, and printed again when there is room.
    Partial = 0,
    /// The record is finished.
    Done = 1,
    /// The kernel prints the record in its default format.
    Unhandled = 2,
    /// The kernel must not consume the record: either that was already done, or the record is not
    /// finished. The next record is the one that is found in the buffer then.
    Kept = 3,
    /// Text that was left from before was printed. The record itself is not printed yet.
    Earlier = 4,
}

impl Printed {
    /// Returns the value that the kernel expects.
    pub(in crate::ktrace) fn code(self) -> c_uint {
        match self {
            Self::Earlier => Self::Kept as c_uint,
            other => other as c_uint,
        }
    }
}

const _: () = {
    assert!(Printed::Partial as u32 == abi::print_line_t_TRACE_TYPE_PARTIAL_LINE);
    assert!(Printed::Done as u32 == abi::print_line_t_TRACE_TYPE_HANDLED);
    assert!(Printed::Unhandled as u32 == abi::print_line_t_TRACE_TYPE_UNHANDLED);
    assert!(Printed::Kept as u32 == abi::print_line_t_TRACE_TYPE_NO_CONSUME);
};
