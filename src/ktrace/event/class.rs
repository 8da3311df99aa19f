// SPDX-License-Identifier: GPL-2.0

//! Event classes and events in the kernel's representation.
//!
//! C header: `include/linux/trace_events.h`.

use core::{
    cell::UnsafeCell,
    mem::{
        offset_of,
        zeroed,
        ManuallyDrop, //
    },
};

use kernel::prelude::*;

use super::{
    field::FieldType,
    show::printer::Printer,
    tracepoint::Tracepoint, //
};
use crate::ktrace::private::abi;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    static ktrace_event_functions: abi::trace_event_functions;
    static ktrace_pack_functions: abi::trace_event_functions;
    fn trace_event_raw_init(call: *mut abi::trace_event_call) -> c_int;
    fn ktrace_event_reg(
        call: *mut abi::trace_event_call,
        kind: abi::trace_reg,
        data: *mut c_void,
    ) -> c_int;
    fn ktrace_event_reg_about(
        call: *mut abi::trace_event_call,
        kind: abi::trace_reg,
        data: *mut c_void,
    ) -> c_int;
}

/// Describes one field to the kernel. `name` must end with a zero byte.
pub const fn field(shape: &'static FieldType, name: &'static str) -> abi::trace_event_fields {
    // SAFETY: The struct consists of pointers and numbers, all of which may be zero.
    let mut about: abi::trace_event_fields__bindgen_ty_1__bindgen_ty_1 = unsafe { zeroed() };
    about.name = name.as_ptr().cast();
    about.size = shape.size as c_int;
    about.align = shape.align as c_int;
    // `is_signed` is the lowest bit.
    about._bitfield_1 = abi::__BindgenBitfieldUnit::new([shape.signed as u8]);
    about.len = shape.len as c_int;
    // SAFETY: The struct consists of pointers and numbers, all of which may be zero.
    let mut field: abi::trace_event_fields = unsafe { zeroed() };
    field.type_ = shape.name.as_ptr();
    field.__bindgen_anon_1.__bindgen_anon_1 = ManuallyDrop::new(about);
    field
}

/// The fields of a class, followed by an empty one that marks the end.
#[repr(transparent)]
pub struct Fields<const N: usize>(pub UnsafeCell<[abi::trace_event_fields; N]>);

// SAFETY: Only the kernel reads and writes it, under its own locks.
unsafe impl<const N: usize> Sync for Fields<N> {}

/// Returns the end marker of a list of fields.
pub const fn end() -> abi::trace_event_fields {
    // SAFETY: The struct consists of pointers and numbers, all of which may be zero.
    unsafe { zeroed() }
}

/// `struct trace_event_class`.
#[repr(transparent)]
pub struct Class(UnsafeCell<abi::trace_event_class>);

// SAFETY: Only the kernel reads and writes it, under its own locks.
unsafe impl Sync for Class {}

impl Class {
    /// Creates a class with these fields. If `about_task` is set, its events are delivered to the
    /// perf events that were opened for the task that they are about
    /// ([`sink::Perf`](super::sink::Perf)).
    ///
    /// # Safety
    ///
    /// `this` must be the address of the static that is initialised with the returned value, and
    /// `system` a static C string. `probe` and `perf_probe` must be functions with the prototype of
    /// listeners of the events' tracepoints. The first is called with a `struct trace_event_file`
    /// as its data, the second with a `struct trace_event_call`. `perf_probe` must submit records
    /// with a task if, and only if, `about_task` is set.
    pub const unsafe fn new<const N: usize>(
        this: *const Self,
        system: *const c_char,
        fields: &'static Fields<N>,
        probe: *mut c_void,
        perf_probe: *mut c_void,
        about_task: bool,
    ) -> Self {
        // SAFETY: The struct consists of pointers, all of which may be null.
        let mut class: abi::trace_event_class = unsafe { zeroed() };
        class.system = system;
        class.probe = probe;
        #[cfg(CONFIG_PERF_EVENTS)]
        {
            class.perf_probe = perf_probe;
        }
        #[cfg(not(CONFIG_PERF_EVENTS))]
        let _ = perf_probe;
        class.fields_array = fields.0.get().cast();
        class.raw_init = Some(trace_event_raw_init);
        class.reg = match about_task {
            true => Some(ktrace_event_reg_about),
            false => Some(ktrace_event_reg),
        };
        // An empty list points to itself.
        let head = this
            .cast::<u8>()
            .cast_mut()
            .wrapping_add(offset_of!(abi::trace_event_class, fields))
            .cast();
        class.fields.next = head;
        class.fields.prev = head;
        Self(UnsafeCell::new(class))
    }

    /// Removes the registration function, for events that are written directly and have no
    /// listeners.
    pub const fn without_listeners(mut self, (): ()) -> Self {
        self.0.get_mut().reg = None;
        self
    }

    /// Sets the BTF ids that the kernel shows in `btf_ids`, since Linux 7.3: of a function with the
    /// prototype of listeners, and of the record. They must be static, as `KTRACE_PROBESTUB()`
    /// defines them.
    pub const fn with_btf_ids(mut self, ids: *const [u32; 2]) -> Self {
        #[cfg(has_trace_event_class_btf_ids)]
        {
            self.0.get_mut().btf_ids = ids.cast();
        }
        #[cfg(not(has_trace_event_class_btf_ids))]
        let _ = (&mut self, ids);
        self
    }

    const fn as_ptr(&self) -> *mut abi::trace_event_class {
        self.0.get()
    }
}

/// An event.
#[repr(C)]
pub struct Event {
    // Must be first, so that a pointer to it is a pointer to the `Event`.
    call: UnsafeCell<abi::trace_event_call>,
    print: unsafe fn(&Printer),
}

// SAFETY: Only the kernel reads and writes `call`, under its own locks; `print` is constant.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event of `class` that fires with the tracepoint `tp`.
    ///
    /// # Safety
    ///
    /// `print_fmt` must be a static C string. `print` must be safe to call with a printer that is
    /// at a record of this event.
    pub const unsafe fn new(
        class: &'static Class,
        tp: &'static Tracepoint,
        print_fmt: *const u8,
        print: unsafe fn(&Printer),
    ) -> Self {
        // SAFETY: The struct consists of pointers and numbers, all of which may be zero.
        let mut call: abi::trace_event_call = unsafe { zeroed() };
        call.class = class.as_ptr();
        call.__bindgen_anon_1.tp =
            ManuallyDrop::new(core::ptr::from_ref(tp).cast::<abi::tracepoint>().cast_mut());
        call.event.funcs = (&raw const ktrace_event_functions).cast_mut();
        call.print_fmt = print_fmt.cast::<c_char>().cast_mut();
        call.flags = abi::TRACE_EVENT_FL_TRACEPOINT as c_int;
        Self {
            call: UnsafeCell::new(call),
            print,
        }
    }

    /// Creates an event of `class` whose records are written directly and that cannot be enabled.
    ///
    /// # Safety
    ///
    /// `name` and `print_fmt` must be static C strings. `print` must be safe to call with a printer
    /// that is at a record of this event.
    pub const unsafe fn by_hand(
        class: &'static Class,
        name: *const u8,
        print_fmt: *const u8,
        print: unsafe fn(&Printer),
    ) -> Self {
        // SAFETY: The struct consists of pointers and numbers, all of which may be zero.
        let mut call: abi::trace_event_call = unsafe { zeroed() };
        call.class = class.as_ptr();
        call.__bindgen_anon_1.name = ManuallyDrop::new(name.cast::<c_char>().cast_mut());
        call.event.funcs = (&raw const ktrace_event_functions).cast_mut();
        call.print_fmt = print_fmt.cast::<c_char>().cast_mut();
        call.flags = abi::TRACE_EVENT_FL_IGNORE_ENABLE as c_int;
        Self {
            call: UnsafeCell::new(call),
            print,
        }
    }

    /// Changes the output functions, for events whose records are packed records
    /// ([`crate::ktrace::compact`]) and are printed item by item.
    pub const fn item_by_item(mut self) -> Self {
        self.call.get_mut().event.funcs = (&raw const ktrace_pack_functions).cast_mut();
        self
    }

    /// Returns the event type number, with which the event's records start.
    #[inline]
    pub fn kind(&self) -> u32 {
        // SAFETY: This reads one aligned word, which the kernel sets when the module is loaded.
        unsafe { (&raw const (*self.call.get()).event.type_).read_volatile() as u32 }
    }
}

/// A pointer to an event, an element of the section `_ftrace_events`.
#[repr(transparent)]
pub struct EventRef(pub &'static Event);

// SAFETY: The pointer is constant, and an event is `Sync`.
unsafe impl Sync for EventRef {}

/// Prints a record. `event.c` calls this for all events of the module.
///
/// # Safety
///
/// `iter` must be at a record of `event`, which must be part of an [`Event`].
#[no_mangle]
unsafe extern "C" fn ktrace_event_print(
    iter: *mut abi::trace_iterator,
    event: *mut abi::trace_event,
) {
    let call = kernel::container_of!(event, abi::trace_event_call, event);
    // SAFETY: The caller guarantees that `event` is part of an `Event`, whose first member is
    // `call`, and that `iter` is at a record of it.
    unsafe { ((*call.cast::<Event>()).print)(&Printer::new(iter)) }
}
