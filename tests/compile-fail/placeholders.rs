// SPDX-License-Identifier: GPL-2.0

#[path = "../../src/ktrace/mod.rs"]
pub mod ktrace;

/// Prefix of log messages, which macros of the kernel crate use.
const __LOG_PREFIX: &[u8] = b"compile_fail\0";

mod events {
    use crate::ktrace::event::{
        field::Str,
        trace_event, //
    };

    trace_event! { //~ more placeholders than arguments
        system sample;

        /// An argument of the format is missing.
        pub event thing(number: u32);

        record {
            number: u32 = number,
            text: Str = b"two",
        }

        print "{} {} {}", number, text;
    }
}
