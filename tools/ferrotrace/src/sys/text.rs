// SPDX-License-Identifier: MIT OR Apache-2.0

//! The text of a record, as libtraceevent prints it.

use std::{
    ffi::{
        c_int, //
        CStr,
    },
    slice, //
};

use super::{
    bindings,
    formats::Formats, //
};

/// The part of the text that is made of the fields of an event.
const INFO: &CStr = c"INFO";

impl Formats {
    /// Returns the text of a record. This is slow.
    pub fn text(&self, time: u64, cpu: usize, data: &[u8]) -> String {
        let Ok(size) = c_int::try_from(data.len()) else {
            return String::new();
        };
        // SAFETY: A record and a sequence of zeros are valid; the latter is initialized next.
        let (mut record, mut seq) = unsafe {
            (
                std::mem::zeroed::<bindings::tep_record>(),
                std::mem::zeroed::<bindings::trace_seq>(),
            )
        };
        record.ts = time;
        record.cpu = c_int::try_from(cpu).unwrap_or(0);
        record.size = size;
        record.record_size = size;
        record.data = data.as_ptr().cast_mut().cast();
        // SAFETY: The sequence is initialized before use and destroyed after it. The library only
        // reads the data of the record, which is valid, and the format takes one string.
        unsafe {
            bindings::trace_seq_init(&raw mut seq);
            bindings::tep_print_event(
                self.tep(),
                &raw mut seq,
                &raw mut record,
                c"%s".as_ptr(),
                INFO.as_ptr(),
            );
            let len = usize::try_from(seq.len).unwrap_or(0);
            let text = match seq.buffer.is_null() {
                true => String::new(),
                false => {
                    let bytes = slice::from_raw_parts(seq.buffer.cast::<u8>(), len);
                    String::from_utf8_lossy(bytes).into_owned()
                }
            };
            bindings::trace_seq_destroy(&raw mut seq);
            text
        }
    }
}
