// SPDX-License-Identifier: GPL-2.0

//! Event classes and events, as the kernel keeps them.
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
    field::Shape,
    show::Printer,
    tracepoint::Tracepoint, //
};
use crate::ktrace::abi;

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

/// What one field is to the kernel. `name` has to end with a zero.
pub const fn field(shape: &'static Shape, name: &'static str) -> abi::trace_event_fields {
    // SAFETY: Pointers and numbers, all of which may be zero.
    let mut about: abi::trace_event_fields__bindgen_ty_1__bindgen_ty_1 = unsafe { zeroed() };
    about.name = name.as_ptr().cast();
    about.size = shape.size as c_int;
    about.align = shape.align as c_int;
    // `is_signed` is the lowest bit.
    about._bitfield_1 = abi::__BindgenBitfieldUnit::new([shape.signed as u8]);
    about.len = shape.len as c_int;
    // SAFETY: As above.
    let mut field: abi::trace_event_fields = unsafe { zeroed() };
    field.type_ = shape.name.as_ptr();
    field.__bindgen_anon_1.__bindgen_anon_1 = ManuallyDrop::new(about);
    field
}

/// The fields of a class, and an empty one that ends them.
#[repr(transparent)]
pub struct Fields<const N: usize>(pub UnsafeCell<[abi::trace_event_fields; N]>);

// SAFETY: Read and written by the kernel alone, under its own locks.
unsafe impl<const N: usize> Sync for Fields<N> {}

/// The end of a list of fields.
pub const fn end() -> abi::trace_event_fields {
    // SAFETY: Pointers and numbers, all of which may be zero.
    unsafe { zeroed() }
}

/// `struct trace_event_class`.
#[repr(transparent)]
pub struct Class(UnsafeCell<abi::trace_event_class>);

// SAFETY: As above.
unsafe impl Sync for Class {}

impl Class {
    /// A class with these fields. If `about_task`, its events are delivered to what perf has opened
    /// for the task that they are about ([`sink::Perf`](super::sink::Perf)).
    ///
    /// # Safety
    ///
    /// `this` must be the address of the static that this becomes, `system` a C string that stays,
    /// and `probe` and `perf_probe` functions with the prototype of the listeners of the events'
    /// tracepoints, the first to be called with a `struct trace_event_file`, the second with a
    /// `struct trace_event_call`. `perf_probe` must submit with a task if, and only if, `about_task`.
    pub const unsafe fn new<const N: usize>(
        this: *const Self,
        system: *const c_char,
        fields: &'static Fields<N>,
        probe: *mut c_void,
        perf_probe: *mut c_void,
        about_task: bool,
    ) -> Self {
        // SAFETY: Pointers, all of which may be null.
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

    /// The same for events that nobody can listen to, since they are written by hand.
    pub const fn without_listeners(mut self) -> Self {
        self.0.get_mut().reg = None;
        self
    }

    const fn as_ptr(&self) -> *mut abi::trace_event_class {
        self.0.get()
    }
}

/// An event.
#[repr(C)]
pub struct Event {
    // First, so that the one can be found from the other.
    call: UnsafeCell<abi::trace_event_call>,
    print: unsafe fn(&Printer),
}

// SAFETY: As above; `print` is constant.
unsafe impl Sync for Event {}

impl Event {
    /// An event of `class` that fires with `tp`.
    ///
    /// # Safety
    ///
    /// `print_fmt` must be a C string that stays, and `print` be safe to call with a printer at a
    /// record of this event.
    pub const unsafe fn new(
        class: &'static Class,
        tp: &'static Tracepoint,
        print_fmt: *const u8,
        print: unsafe fn(&Printer),
    ) -> Self {
        // SAFETY: Pointers and numbers, all of which may be zero.
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

    /// An event of `class` that is written by hand and cannot be turned on.
    ///
    /// # Safety
    ///
    /// As for [`Event::new`]; `name` must be a C string that stays as well.
    pub const unsafe fn by_hand(
        class: &'static Class,
        name: *const u8,
        print_fmt: *const u8,
        print: unsafe fn(&Printer),
    ) -> Self {
        // SAFETY: Pointers and numbers, all of which may be zero.
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

    /// The same event, whose records are packs ([`crate::ktrace::compact`]) and are printed item by
    /// item.
    pub const fn item_by_item(mut self) -> Self {
        self.call.get_mut().event.funcs = (&raw const ktrace_pack_functions).cast_mut();
        self
    }

    /// The number that its records begin with.
    #[inline]
    pub fn kind(&self) -> u32 {
        // SAFETY: One word, which the kernel sets when the module is loaded.
        unsafe { (&raw const (*self.call.get()).event.type_).read_volatile() as u32 }
    }
}

/// A pointer to an event, as `_ftrace_events` has them.
#[repr(transparent)]
pub struct EventRef(pub &'static Event);

// SAFETY: Constant; an event is `Sync`.
unsafe impl Sync for EventRef {}

/// Prints a record: called by `event.c` for every event there is.
///
/// # Safety
///
/// `iter` must be at a record of `event`, which must be that of an [`Event`].
#[no_mangle]
unsafe extern "C" fn ktrace_event_print(
    iter: *mut abi::trace_iterator,
    event: *mut abi::trace_event,
) {
    let call = kernel::container_of!(event, abi::trace_event_call, event);
    // SAFETY: By the precondition; `call` is the first member.
    unsafe { ((*call.cast::<Event>()).print)(&Printer::new(iter)) }
}
