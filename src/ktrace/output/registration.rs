// SPDX-License-Identifier: GPL-2.0

//! Registers a tracer with the kernel, and removes it again.
//!
//! C header: `kernel/trace/trace.h`.
//!
//! The kernel registers tracers only at boot, so this module puts the tracer where the kernel looks
//! for it: on the list of all tracers (`trace_types`, which a new instance copies), and on that of
//! each trace array (`tr->tracers`), with its option files. All of this happens under
//! `trace_types_lock`, which guards these lists.

use core::{
    ffi::CStr,
    marker::PhantomData,
    ptr::addr_of_mut, //
};

use kernel::{
    alloc::KVVec,
    bindings,
    error::to_result,
    prelude::*, //
};

use super::{
    callbacks,
    print::print_line,
    tracer::Tracer, //
};
use crate::ktrace::{
    array::{
        trace_array::TypesLock,
        tracefs::Dentry, //
    },
    private::{
        abi,
        callbacks::ktrace_print_line_t,
        cstr_ext::CStrExt,
        symbols::{
            this_module,
            Data,
            Resolved, //
        },
    },
    sync::quiesce::synchronize_tasks, //
};

// In some configurations, some structs behind these pointers have no members.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_set_print_line(print_line: ktrace_print_line_t) -> c_int;
    fn ktrace_tracer_print_line(iter: *mut abi::trace_iterator) -> abi::print_line_t;
}

/// A registered tracer.
///
/// # Invariants
///
/// * `tracer` is on `trace_types` until drop, and on the list of each trace array for which
///   [`TracerRegistration::attach_instance`] was called.
/// * `tracer`, `options`, `_no_flags`, `_no_options` and `option_fops` do not move, and point to
///   each other as `new()` made them.
/// * `files` are all files whose inodes may have `option_fops`.
pub struct TracerRegistration<T: Tracer> {
    resolved: Resolved,
    tracer: KBox<abi::tracer>,
    /// The options, and an empty one that ends the table.
    pub(super) options: KVec<abi::tracer_opt>,
    /// The options of an instance between its creation and [`TracerRegistration::attach_instance`]:
    /// none.
    _no_flags: KBox<abi::tracer_flags>,
    _no_options: KBox<abi::tracer_opt>,
    pub(super) option_fops: KBox<bindings::file_operations>,
    /// The option files, including those of instances that were removed after the last
    /// [`TracerRegistration::remove_gone`].
    pub(super) files: KVVec<Dentry>,
    _type: PhantomData<T>,
}

// SAFETY: Owns plain memory; all changes to what the kernel reads are made under its lock.
unsafe impl<T: Tracer> Send for TracerRegistration<T> {}
// SAFETY: Shared references allow no change except under `trace_types_lock`.
unsafe impl<T: Tracer> Sync for TracerRegistration<T> {}

impl<T: Tracer> TracerRegistration<T> {
    /// Registers the tracer, but in no trace array yet. May sleep.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is a tracer of that name; `EBUSY` if the module has registered another
    /// type; `ENOMEM` if memory is short.
    pub fn new(resolved: Resolved, lock: &TypesLock) -> Result<Self> {
        if Self::is_taken(lock) {
            let name = T::NAME.to_str().unwrap_or("?");
            pr_err!("a tracer named '{}' is already registered\n", name);
            return Err(EEXIST);
        }
        // SAFETY: `print_line()` has the preconditions of a callback of `struct tracer`, and only
        // this type of tracer has it.
        to_result(unsafe { ktrace_set_print_line(Some(print_line::<T>)) })?;
        let mut options = KVec::with_capacity(T::OPTIONS.len().wrapping_add(1), GFP_KERNEL)?;
        for (n, name) in T::OPTIONS.iter().enumerate() {
            let option = abi::tracer_opt {
                name: name.as_chars(),
                bit: 1u32.wrapping_shl(n as u32),
            };
            options.push(option, GFP_KERNEL)?;
        }
        options.push(pin_init::zeroed::<abi::tracer_opt>(), GFP_KERNEL)?;

        let mut no_options = KBox::new(pin_init::zeroed::<abi::tracer_opt>(), GFP_KERNEL)?;
        let mut no_flags = KBox::new(pin_init::zeroed::<abi::tracer_flags>(), GFP_KERNEL)?;
        no_flags.opts = &mut *no_options;
        let mut tracer = KBox::new(pin_init::zeroed::<abi::tracer>(), GFP_KERNEL)?;
        tracer.name = T::NAME.as_chars();
        tracer.init = Some(callbacks::init::<T>);
        tracer.reset = Some(callbacks::reset::<T>);
        tracer.set_flag = Some(callbacks::set_flag::<T>);
        tracer.update_thresh = Some(callbacks::update_thresh::<T>);
        tracer.open = Some(callbacks::open::<T>);
        tracer.close = Some(callbacks::close::<T>);
        tracer.pipe_open = Some(callbacks::pipe_open::<T>);
        tracer.pipe_close = Some(callbacks::pipe_close::<T>);
        tracer.print_header = Some(callbacks::print_header::<T>);
        tracer.print_line = Some(ktrace_tracer_print_line);
        tracer.allow_instances = true;
        tracer.flags = &mut *no_flags;
        no_flags.trace = &mut *tracer;

        // SAFETY: The kernel's constant table, found by its name. It is plain data.
        let mut fops = unsafe {
            Data::OptionFops
                .as_ptr::<bindings::file_operations>()
                .read()
        };
        fops.owner = this_module();
        fops.open = Some(callbacks::open_option);

        let mut this = Self {
            resolved,
            tracer,
            options,
            _no_flags: no_flags,
            _no_options: no_options,
            option_fops: KBox::new(fops, GFP_KERNEL)?,
            files: KVVec::new(),
            _type: PhantomData,
        };
        this.enlist(lock);
        Ok(this)
    }

    /// Returns whether there is a tracer of that name.
    fn is_taken(_: &TypesLock) -> bool {
        // SAFETY: The head of the kernel's list of tracers, which the lock guards. Names are C
        // strings.
        unsafe {
            let mut at = *Data::TraceTypes.as_ptr::<*mut abi::tracer>();
            while !at.is_null() && CStr::from_chars((*at).name) != T::NAME {
                at = (*at).next;
            }
            !at.is_null()
        }
    }

    /// Puts the tracer on the list of all tracers.
    fn enlist(&mut self, _: &TypesLock) {
        let head: *mut *mut abi::tracer = Data::TraceTypes.as_ptr();
        // SAFETY: The head of the kernel's list of tracers, which the lock guards. The tracer does
        // not move until it is removed from the list.
        unsafe {
            self.tracer.next = *head;
            *head = &mut *self.tracer;
        }
    }

    pub(super) fn tracer_ptr(&self) -> *mut abi::tracer {
        core::ptr::from_ref(&*self.tracer).cast_mut()
    }
}

impl<T: Tracer> Drop for TracerRegistration<T> {
    fn drop(&mut self) {
        let lock = TypesLock::new(self.resolved);
        let head: *mut *mut abi::tracer = Data::TraceTypes.as_ptr();
        // SAFETY: The head of the kernel's list of tracers, which the lock guards.
        unsafe {
            let mut link = head;
            while !(*link).is_null() {
                if *link == self.tracer_ptr() {
                    *link = self.tracer.next;
                    break;
                }
                link = addr_of_mut!((**link).next);
            }
        }
        for file in &self.files {
            file.disarm();
            file.remove();
        }
        for tr in lock.arrays() {
            // SAFETY: All files were just removed, by the type invariants. None is open: an open
            // one would hold the module.
            unsafe { self.abandon(tr, &lock) };
        }
        drop(lock);
        // A task that has just read a file's operations reads their owner next.
        synchronize_tasks();
    }
}
