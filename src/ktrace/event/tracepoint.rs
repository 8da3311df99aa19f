// SPDX-License-Identifier: GPL-2.0

//! Tracepoints and their listeners.
//!
//! C header: `include/linux/tracepoint.h`.

use core::{
    cell::UnsafeCell,
    mem::{
        offset_of,
        size_of, //
    },
};

use kernel::{
    bindings,
    prelude::*, //
};

use crate::ktrace::task::Task;

extern "C" {
    fn ktrace_tracepoint_enter(ctr: *mut *mut c_void) -> bool;
    fn ktrace_tracepoint_exit(ctr: *mut c_void);
    static ktrace_event_users: bindings::tracepoint_ext;
}

/// A type of arguments of a tracepoint: one that C passes in one register and BPF sees as a number.
///
/// # Safety
///
/// The type must be passed like an integer or a pointer in C.
pub unsafe trait Arg: Copy {
    /// Returns the argument as BPF sees it.
    fn to_u64(self) -> u64;
}

macro_rules! integers {
    ($($type:ty as $unsigned:ty),*) => {$(
        // SAFETY: The type is an integer.
        unsafe impl Arg for $type {
            #[inline]
            fn to_u64(self) -> u64 {
                u64::from(self as $unsigned)
            }
        }
    )*};
}
// Signed values are zero-extended, as in C's events.
integers!(u8 as u8, u16 as u16, u32 as u32, u64 as u64);
integers!(i8 as u8, i16 as u16, i32 as u32, i64 as u64);

// SAFETY: A `bool` is passed like an integer.
unsafe impl Arg for bool {
    fn to_u64(self) -> u64 {
        u64::from(self)
    }
}

// SAFETY: The type is an integer.
unsafe impl Arg for usize {
    fn to_u64(self) -> u64 {
        self as u64
    }
}

// SAFETY: The type is an integer.
unsafe impl Arg for isize {
    fn to_u64(self) -> u64 {
        self as u64
    }
}

// SAFETY: The type is a pointer to a sized type.
unsafe impl<T> Arg for *mut T {
    fn to_u64(self) -> u64 {
        self as usize as u64
    }
}

// SAFETY: The type is a pointer to a sized type.
unsafe impl<T> Arg for *const T {
    fn to_u64(self) -> u64 {
        self as usize as u64
    }
}

// SAFETY: A reference to a sized type is passed like a pointer.
unsafe impl<T> Arg for &T {
    fn to_u64(self) -> u64 {
        core::ptr::from_ref(self) as usize as u64
    }
}

// SAFETY: `Task` is a transparent wrapper of a pointer.
unsafe impl Arg for Task<'_> {
    fn to_u64(self) -> u64 {
        self.as_ptr() as usize as u64
    }
}

/// A `struct tracepoint`.
///
/// It has no static call, like the tracepoints of synthetic events: `tracepoint_update_call()`
/// ignores tracepoints without one, and firing iterates over the list of listeners.
///
/// # Invariants
///
/// The kernel reads and writes all members. The module itself only uses `key`, in patched code, and
/// reads `funcs` in an SRCU read-side section.
#[repr(C)]
pub struct Tracepoint {
    name: *const c_char,
    #[doc(hidden)]
    pub key: bindings::static_key_false,
    static_call_key: *mut c_void,
    static_call_tramp: *mut c_void,
    iterator: *const c_void,
    probestub: *const c_void,
    funcs: UnsafeCell<*mut bindings::tracepoint_func>,
    ext: *const bindings::tracepoint_ext,
}

const _: () = {
    assert!(size_of::<Tracepoint>() == size_of::<bindings::tracepoint>());
    assert!(offset_of!(Tracepoint, key) == offset_of!(bindings::tracepoint, key));
    assert!(offset_of!(Tracepoint, iterator) == offset_of!(bindings::tracepoint, iterator));
    assert!(offset_of!(Tracepoint, probestub) == offset_of!(bindings::tracepoint, probestub));
    assert!(offset_of!(Tracepoint, funcs) == offset_of!(bindings::tracepoint, funcs));
    assert!(offset_of!(Tracepoint, ext) == offset_of!(bindings::tracepoint, ext));
};

// SAFETY: By the type invariant, it is accessed according to the kernel's rules.
unsafe impl Sync for Tracepoint {}

impl Tracepoint {
    /// Creates a tracepoint without listeners. For `counted`, see [`users`](super::users).
    ///
    /// # Safety
    ///
    /// `name` must be a static C string. `iterator` and `probestub` must be functions with the
    /// prototype of the listeners. The returned value must be used to initialise a static of the
    /// module.
    pub const unsafe fn new(
        name: *const c_char,
        iterator: *const c_void,
        probestub: *const c_void,
        counted: bool,
    ) -> Self {
        Self {
            name,
            // SAFETY: A key with all bytes zero is a disabled key.
            key: unsafe { core::mem::zeroed() },
            static_call_key: core::ptr::null_mut(),
            static_call_tramp: core::ptr::null_mut(),
            iterator,
            probestub,
            funcs: UnsafeCell::new(core::ptr::null_mut()),
            ext: match counted {
                true => &raw const ktrace_event_users,
                false => core::ptr::null(),
            },
        }
    }

    /// Calls `call` with the function and the data of each listener. Any context in which RCU is
    /// watching.
    #[inline]
    pub fn for_each_listener(&self, mut call: impl FnMut(*mut c_void, *mut c_void)) {
        let mut ctr = core::ptr::null_mut();
        // SAFETY: The function can be called in any context.
        if !unsafe { ktrace_tracepoint_enter(&mut ctr) } {
            return;
        }
        // SAFETY: The pointer to the list is one word, which the kernel replaces as a whole. The
        // list is not freed during the read-side section, and ends with an entry without a
        // function.
        unsafe {
            let mut listener = self.funcs.get().read_volatile();
            while !listener.is_null() {
                let func = core::ptr::addr_of!((*listener).func).read_volatile();
                if func.is_null() {
                    break;
                }
                call(func, (*listener).data);
                listener = listener.add(1);
            }
            ktrace_tracepoint_exit(ctr);
        }
    }
}

/// A `struct bpf_raw_event_map`, with which BPF finds a raw tracepoint.
#[repr(C, align(32))]
pub struct RawMap {
    tp: *const Tracepoint,
    func: *const c_void,
    num_args: u32,
    writable_size: u32,
}

// SAFETY: Nothing writes to a `RawMap` after its creation, and what it points to is static and may
// be used by every CPU.
unsafe impl Sync for RawMap {}

impl RawMap {
    /// Creates the entry for `tp`.
    ///
    /// # Safety
    ///
    /// `func` must be a listener of `tp` that passes its `num_args` arguments to BPF.
    pub const unsafe fn new(tp: *const Tracepoint, func: *const c_void, num_args: usize) -> Self {
        Self {
            tp,
            func,
            num_args: num_args as u32,
            writable_size: 0,
        }
    }
}

/// Functions that pass the arguments of a raw tracepoint to BPF.
#[cfg(CONFIG_BPF_EVENTS)]
pub mod bpf {
    use super::*;

    /// Defines `run()` from the kernel's functions for each number of arguments.
    macro_rules! runs {
        (@u64 $n:literal) => { u64 };
        ($($len:literal => $function:ident($($n:literal),+);)*) => {
            extern "C" {
                $(fn $function(link: *mut c_void, $(_: runs!(@u64 $n)),+);)*
            }

            /// Runs the BPF programs of `link` with one to twelve arguments.
            ///
            /// # Safety
            ///
            /// `link` must be the data with which BPF attached the caller as a listener.
            #[inline]
            pub unsafe fn run<const N: usize>(link: *mut c_void, args: [u64; N]) {
                let a = |n: usize| args.get(n).copied().unwrap_or(0);
                match N {
                    // SAFETY: The caller guarantees that `link` is the data from BPF.
                    $($len => unsafe { $function(link, $(a($n)),+) },)*
                    _ => {}
                }
            }
        };
    }

    runs! {
        1 => bpf_trace_run1(0);
        2 => bpf_trace_run2(0, 1);
        3 => bpf_trace_run3(0, 1, 2);
        4 => bpf_trace_run4(0, 1, 2, 3);
        5 => bpf_trace_run5(0, 1, 2, 3, 4);
        6 => bpf_trace_run6(0, 1, 2, 3, 4, 5);
        7 => bpf_trace_run7(0, 1, 2, 3, 4, 5, 6);
        8 => bpf_trace_run8(0, 1, 2, 3, 4, 5, 6, 7);
        9 => bpf_trace_run9(0, 1, 2, 3, 4, 5, 6, 7, 8);
        10 => bpf_trace_run10(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        11 => bpf_trace_run11(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        12 => bpf_trace_run12(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    }
}
