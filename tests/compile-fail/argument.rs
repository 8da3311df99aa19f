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

    trace_event! {
        system sample;

        /// The argument has a type that C does not pass in a register.
        pub event thing(
            number: &str, //~ is not satisfied
        );

        record {
            text: Str = b"two",
        }

        print "{}", text;
    }
}
