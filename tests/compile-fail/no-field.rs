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

        /// The field has a type that no field can have.
        pub event thing(number: u32);

        record {
            number: f64 = 1.0, //~ Field` is not satisfied
            text: Str = b"two",
        }

        print "{}", text;
    }
}
