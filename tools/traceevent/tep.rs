// SPDX-License-Identifier: GPL-2.0

//! Wrappers of the libtraceevent functions that the plugin uses. All unsafe code of the plugin is
//! here, except for the exported functions.

use core::{
    ffi::{
        c_char,
        c_int,
        c_ulonglong,
        c_void,
        CStr, //
    },
    fmt::{
        self,
        Write, //
    },
    ptr::{
        null_mut,
        NonNull, //
    },
    slice,
};

use crate::{
    columns::Text,
    pack::Numbers,
    text::Names, //
};

#[allow(dead_code, non_camel_case_types, non_upper_case_globals)]
#[allow(clippy::all, missing_docs, unreachable_pub)]
mod abi {
    include!(env!("TRACEEVENT_BINDINGS"));
}

/// A handle of libtraceevent, which represents a trace file or the running machine.
#[derive(Clone, Copy)]
pub struct Tep(NonNull<abi::tep_handle>);

/// The description of an event.
#[derive(Clone, Copy)]
pub struct Event(NonNull<abi::tep_event>);

/// The text buffer for the output.
pub struct Seq(NonNull<abi::trace_seq>);

/// A record.
pub struct Record<'a>(&'a abi::tep_record);

/// A part of the text before the name of an event.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// The task's id and the CPU.
    Task,
    /// The context flags.
    Flags,
    /// The time, in a format of libtraceevent.
    Time(&'a CStr),
}

/// Prints records of an event in place of libtraceevent.
pub trait Handler {
    const SYSTEM: &'static CStr;
    const EVENT: &'static CStr;

    /// Prints one record.
    fn print(tep: Tep, out: &mut Seq, record: &Record<'_>, event: Event) -> fmt::Result;
}

/// The callback that libtraceevent calls for a record of an event.
///
/// # Safety
///
/// Must be called by libtraceevent only: all pointers are valid until this returns.
unsafe extern "C" fn print<H: Handler>(
    seq: *mut abi::trace_seq,
    record: *mut abi::tep_record,
    event: *mut abi::tep_event,
    _context: *mut c_void,
) -> c_int {
    // SAFETY: All pointers are valid by the safety requirements of this function. A record is not
    // modified while it is printed, and an event refers to the handle that it was created for.
    unsafe {
        let (Some(seq), Some(record), Some(event)) =
            (NonNull::new(seq), record.as_ref(), NonNull::new(event))
        else {
            return -1;
        };
        let Some(tep) = NonNull::new((*event.as_ptr()).tep) else {
            return -1;
        };
        match H::print(Tep(tep), &mut Seq(seq), &Record(record), Event(event)) {
            Ok(()) => 0,
            Err(fmt::Error) => -1,
        }
    }
}

impl Tep {
    /// Wraps a handle; returns `None` if `raw` is null.
    ///
    /// # Safety
    ///
    /// `raw` must be null or a handle of libtraceevent that stays valid as long as the result is
    /// used.
    pub unsafe fn new(raw: *mut c_void) -> Option<Self> {
        NonNull::new(raw.cast()).map(Self)
    }

    /// Registers a handler that prints the records of an event. The code of the handler must stay
    /// loaded until [`Tep::unregister`] is called.
    pub fn register<H: Handler>(self) -> Result<(), c_int> {
        // SAFETY: The handle is valid, the strings are NUL-terminated, and the function has the
        // required type.
        let status = unsafe {
            abi::tep_register_event_handler(
                self.0.as_ptr(),
                -1,
                H::SYSTEM.as_ptr(),
                H::EVENT.as_ptr(),
                Some(print::<H>),
                null_mut(),
            )
        };
        if status < 0 {
            Err(status)
        } else {
            Ok(())
        }
    }

    /// Unregisters a handler.
    pub fn unregister<H: Handler>(self) {
        // SAFETY: The handle is valid, the strings are NUL-terminated, and the function has the
        // required type.
        unsafe {
            abi::tep_unregister_event_handler(
                self.0.as_ptr(),
                -1,
                H::SYSTEM.as_ptr(),
                H::EVENT.as_ptr(),
                Some(print::<H>),
                null_mut(),
            );
        }
    }

    /// Returns the description of an event, if the trace file contains it.
    pub fn event(self, system: &CStr, name: &CStr) -> Option<Event> {
        // SAFETY: The handle is valid, and the strings are NUL-terminated.
        NonNull::new(unsafe {
            abi::tep_find_event_by_name(self.0.as_ptr(), system.as_ptr(), name.as_ptr())
        })
        .map(Event)
    }

    /// Returns whether the program prints times in ns.
    pub fn shows_ns(self) -> bool {
        // SAFETY: The handle is valid.
        unsafe { abi::tep_test_flag(self.0.as_ptr(), abi::tep_flag_TEP_NSEC_OUTPUT) }
    }

    /// Returns the name of the task that wrote a record.
    pub fn comm<'a>(self, record: &'a Record<'_>) -> &'a [u8] {
        let mut made = *record.0;
        // SAFETY: The handle and the record are valid, and the record is only read. The string
        // belongs to the handle, which does not change while a record is printed.
        unsafe {
            let pid = abi::tep_data_pid(self.0.as_ptr(), &mut made);
            let comm = abi::tep_data_comm_from_pid(self.0.as_ptr(), pid);
            if comm.is_null() {
                return b"<...>";
            }
            CStr::from_ptr(comm).to_bytes()
        }
    }

    /// Writes a part of the text before the name of an event, for a record with these bytes and
    /// this time in ns; otherwise it is like `record`.
    pub fn write_part(
        self,
        out: &mut Seq,
        record: &Record<'_>,
        bytes: &[u8],
        time: u64,
        part: Part<'_>,
    ) {
        let mut made = abi::tep_record {
            ts: time,
            size: bytes.len() as c_int,
            record_size: bytes.len() as c_int,
            data: bytes.as_ptr().cast_mut().cast(),
            ..*record.0
        };
        let (tep, out, made) = (self.0.as_ptr(), out.0.as_ptr(), &mut made);
        // SAFETY: All pointers are valid, the arguments have the types that the formats require,
        // and the record is only read.
        unsafe {
            match part {
                Part::Task => abi::tep_print_event(
                    tep,
                    out,
                    made,
                    c"-%-5d [%03d] ".as_ptr(),
                    abi::TEP_PRINT_PID,
                    abi::TEP_PRINT_CPU,
                ),
                Part::Flags => abi::tep_print_event(
                    tep,
                    out,
                    made,
                    c"%s".as_ptr(),
                    abi::TEP_PRINT_LATENCY.as_ptr(),
                ),
                Part::Time(format) => {
                    abi::tep_print_event(tep, out, made, format.as_ptr(), abi::TEP_PRINT_TIME)
                }
            }
        }
    }
}

impl Numbers for Tep {
    fn u32(&self, bytes: [u8; 4]) -> u32 {
        // SAFETY: The handle is valid, and `bytes` has 4 bytes.
        unsafe { abi::tep_read_number(self.0.as_ptr(), bytes.as_ptr().cast(), 4) as u32 }
    }

    fn u64(&self, bytes: [u8; 8]) -> u64 {
        // SAFETY: The handle is valid, and `bytes` has 8 bytes.
        unsafe { abi::tep_read_number(self.0.as_ptr(), bytes.as_ptr().cast(), 8) }
    }
}

impl Names for Tep {
    fn write_name(&self, out: &mut dyn Write, address: usize) -> fmt::Result {
        // SAFETY: The handle is valid. The string belongs to it.
        let name = unsafe { abi::tep_find_function(self.0.as_ptr(), address as c_ulonglong) };
        if name.is_null() {
            return write!(out, "0x{address:x}");
        }
        // SAFETY: The string is NUL-terminated, and does not change while a record is printed.
        write_lossy(out, unsafe { CStr::from_ptr(name) })
    }
}

impl Event {
    /// Returns the number of the event type, with which its records begin.
    pub fn id(self) -> u16 {
        // SAFETY: The event is valid as long as its handle.
        unsafe { (*self.0.as_ptr()).id as u16 }
    }

    /// Returns the offset of a field in a record.
    pub fn offset(self, name: &CStr) -> Option<usize> {
        // SAFETY: The event is valid as long as its handle, the string is NUL-terminated, and the
        // field belongs to the event.
        unsafe {
            let field = abi::tep_find_any_field(self.0.as_ptr(), name.as_ptr());
            field.as_ref()?.offset.try_into().ok()
        }
    }
}

impl Record<'_> {
    /// Returns the timestamp of the record in ns.
    pub fn time(&self) -> u64 {
        self.0.ts
    }

    /// Returns the CPU that wrote the record.
    pub fn cpu(&self) -> usize {
        self.0.cpu.max(0) as usize
    }

    /// Returns the bytes of the record.
    pub fn bytes(&self) -> &[u8] {
        let len = self.0.size.max(0) as usize;
        if self.0.data.is_null() {
            return &[];
        }
        // SAFETY: The data of a record has `size` bytes, and stays valid as long as the record.
        unsafe { slice::from_raw_parts(self.0.data.cast(), len) }
    }
}

impl Seq {
    /// Returns the text that was written since the last newline.
    pub fn line(&self) -> &[u8] {
        // SAFETY: The buffer is valid and has `len` bytes of text, which do not change while it is
        // borrowed.
        let all = unsafe {
            let seq = self.0.as_ref();
            match seq.buffer.is_null() || seq.len > seq.buffer_size {
                true => &[],
                false => slice::from_raw_parts(seq.buffer.cast::<u8>(), seq.len as usize),
            }
        };
        let begin = all.iter().rposition(|byte| *byte == b'\n');
        all.get(begin.map_or(0, |at| at + 1)..).unwrap_or(&[])
    }

    /// Returns the text that `write` writes. The text is removed from the buffer again.
    pub fn taken_back<const N: usize>(&mut self, write: impl FnOnce(&mut Self)) -> Text<N> {
        // SAFETY: The buffer is valid.
        let len = unsafe { self.0.as_ref() }.len;
        // Write the text to a line of its own.
        let _ = self.write_char('\n');
        write(self);
        let text = Text::new(self.line());
        // SAFETY: The buffer is valid, and nothing else writes to it. It had this length before.
        unsafe { self.0.as_mut() }.len = len;
        text
    }

    /// Writes bytes, which need not be valid UTF-8.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> fmt::Result {
        // SAFETY: The buffer is valid, and the precision limits the string to the length of
        // `bytes`.
        let written = unsafe {
            abi::trace_seq_printf(
                self.0.as_ptr(),
                c"%.*s".as_ptr(),
                bytes.len() as c_int,
                bytes.as_ptr().cast::<c_char>(),
            )
        };
        if written < 0 || (written == 0 && !bytes.is_empty()) {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

impl Write for Seq {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write_bytes(text.as_bytes())
    }
}

/// Ends the program.
pub fn abort() -> ! {
    extern "C" {
        fn abort() -> !;
    }
    // SAFETY: `abort()` of the C library has no preconditions.
    unsafe { abort() }
}

fn write_lossy(out: &mut dyn Write, name: &CStr) -> fmt::Result {
    for chunk in name.to_bytes().utf8_chunks() {
        out.write_str(chunk.valid())?;
        if !chunk.invalid().is_empty() {
            out.write_char('\u{fffd}')?;
        }
    }
    Ok(())
}
