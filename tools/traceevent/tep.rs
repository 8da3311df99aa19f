// SPDX-License-Identifier: GPL-2.0

//! What the plugin needs of libtraceevent. All of its unsafe code is here.

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

/// What libtraceevent knows of the file, or of the machine, that events are of.
#[derive(Clone, Copy)]
pub struct Tep(NonNull<abi::tep_handle>);

/// An event's description.
#[derive(Clone, Copy)]
pub struct Event(NonNull<abi::tep_event>);

/// Text for the reader.
pub struct Seq(NonNull<abi::trace_seq>);

/// A record.
pub struct Record<'a>(&'a abi::tep_record);

/// A part of what stands before the name of an event.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    /// The task's id, and the CPU.
    Task,
    /// The context.
    Flags,
    /// The time, by a format of libtraceevent's.
    Time(&'a CStr),
}

/// Prints records of an event, in place of libtraceevent.
pub trait Handler {
    const SYSTEM: &'static CStr;
    const EVENT: &'static CStr;

    /// Prints one.
    fn print(tep: Tep, out: &mut Seq, record: &Record<'_>, event: Event) -> fmt::Result;
}

/// What libtraceevent calls for an event.
///
/// # Safety
///
/// Only for libtraceevent: all pointers are valid until this returns.
unsafe extern "C" fn print<H: Handler>(
    seq: *mut abi::trace_seq,
    record: *mut abi::tep_record,
    event: *mut abi::tep_event,
    _context: *mut c_void,
) -> c_int {
    // SAFETY: By the precondition; nobody writes to a record that is printed, and an event has the
    // handle that it was made for.
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
    /// # Safety
    ///
    /// `raw` must be null or libtraceevent's, and stay as long as this is used.
    pub unsafe fn new(raw: *mut c_void) -> Option<Self> {
        NonNull::new(raw.cast()).map(Self)
    }

    /// Has an event printed by a handler from now on. The code of that must stay until it is taken
    /// back.
    pub fn register<H: Handler>(self) -> Result<(), c_int> {
        // SAFETY: A live handle, strings, and a function of the right type.
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

    /// Takes it back.
    pub fn unregister<H: Handler>(self) {
        // SAFETY: As above.
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

    /// An event of the kernel, if the file tells of it.
    pub fn event(self, system: &CStr, name: &CStr) -> Option<Event> {
        // SAFETY: A live handle, and strings.
        NonNull::new(unsafe {
            abi::tep_find_event_by_name(self.0.as_ptr(), system.as_ptr(), name.as_ptr())
        })
        .map(Event)
    }

    /// Whether the reader was asked for times in ns.
    pub fn shows_ns(self) -> bool {
        // SAFETY: A live handle.
        unsafe { abi::tep_test_flag(self.0.as_ptr(), abi::tep_flag_TEP_NSEC_OUTPUT) }
    }

    /// The name of the task that a record is of.
    pub fn comm<'a>(self, record: &'a Record<'_>) -> &'a [u8] {
        let mut made = *record.0;
        // SAFETY: A live handle and record, which is only read; the string is the handle's, which
        // does not change while a record is printed.
        unsafe {
            let pid = abi::tep_data_pid(self.0.as_ptr(), &mut made);
            let comm = abi::tep_data_comm_from_pid(self.0.as_ptr(), pid);
            if comm.is_null() {
                return b"<...>";
            }
            CStr::from_ptr(comm).to_bytes()
        }
    }

    /// Writes a part of what stands before the name of an event, for a record that begins with these
    /// bytes, is of that time, in ns, and is like `record` in all else.
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
        // SAFETY: All is live, and of the types that are asked for; the record is only read.
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
        // SAFETY: A live handle, and as many bytes.
        unsafe { abi::tep_read_number(self.0.as_ptr(), bytes.as_ptr().cast(), 4) as u32 }
    }

    fn u64(&self, bytes: [u8; 8]) -> u64 {
        // SAFETY: As above.
        unsafe { abi::tep_read_number(self.0.as_ptr(), bytes.as_ptr().cast(), 8) }
    }
}

impl Names for Tep {
    fn write_name(&self, out: &mut dyn Write, address: usize) -> fmt::Result {
        // SAFETY: A live handle; the string is the handle's.
        let name = unsafe { abi::tep_find_function(self.0.as_ptr(), address as c_ulonglong) };
        if name.is_null() {
            return write!(out, "0x{address:x}");
        }
        // SAFETY: A string, which nobody changes while a record is printed.
        write_lossy(out, unsafe { CStr::from_ptr(name) })
    }
}

impl Event {
    /// What records of this event begin with.
    pub fn id(self) -> u16 {
        // SAFETY: A live event.
        unsafe { (*self.0.as_ptr()).id as u16 }
    }

    /// Where a field lies in a record.
    pub fn offset(self, name: &CStr) -> Option<usize> {
        // SAFETY: A live event, and a string; a field is the event's.
        unsafe {
            let field = abi::tep_find_any_field(self.0.as_ptr(), name.as_ptr());
            field.as_ref()?.offset.try_into().ok()
        }
    }
}

impl Record<'_> {
    /// When it was written, in ns.
    pub fn time(&self) -> u64 {
        self.0.ts
    }

    /// Where.
    pub fn cpu(&self) -> usize {
        self.0.cpu.max(0) as usize
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        let len = self.0.size.max(0) as usize;
        if self.0.data.is_null() {
            return &[];
        }
        // SAFETY: A record has so many bytes, which stay as long as it.
        unsafe { slice::from_raw_parts(self.0.data.cast(), len) }
    }
}

impl Seq {
    /// What was written since the last newline.
    pub fn line(&self) -> &[u8] {
        // SAFETY: Live text, which has as many bytes, and does not change while this is borrowed.
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

    /// What `write` writes, which is taken back.
    pub fn taken_back<const N: usize>(&mut self, write: impl FnOnce(&mut Self)) -> Text<N> {
        // SAFETY: Live text.
        let len = unsafe { self.0.as_ref() }.len;
        // So that it has a line of its own.
        let _ = self.write_char('\n');
        write(self);
        let text = Text::new(self.line());
        // SAFETY: Live text with no other writer. It had that length before.
        unsafe { self.0.as_mut() }.len = len;
        text
    }

    /// Writes bytes that need not be UTF-8.
    pub fn write_bytes(&mut self, bytes: &[u8]) -> fmt::Result {
        // SAFETY: Live text, which is given as much as its length tells.
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
    // SAFETY: The C library's.
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
