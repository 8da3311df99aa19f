// SPDX-License-Identifier: GPL-2.0

//! Registers a tracer: an entry in `available_tracers` that can be written to `current_tracer`.
//!
//! C header: `kernel/trace/trace.h`.
//!
//! The kernel registers tracers only at boot, so this module puts the tracer where the kernel looks
//! for it: on the list of all tracers (`trace_types`, which a new instance copies), and on that of
//! each trace array (`tr->tracers`), with its option files. All of this happens under
//! `trace_types_lock`, which guards these lists.
//!
//! # Lifetimes
//!
//! `struct tracer` has no owner, so this module counts references to itself: one for each trace
//! array whose current tracer this is, and one for each iterator (an open `trace` or `trace_pipe`)
//! that may call it. All callbacks that put a reference are called under `trace_types_lock`, and
//! unregistering takes that lock. So the code after the last `module_put()` still exists when it
//! runs.

use core::{
    ffi::CStr,
    marker::PhantomData,
    mem::size_of,
    ptr::addr_of_mut, //
};

use kernel::{
    alloc::KVVec,
    bindings,
    error::from_result,
    prelude::*, //
};

use super::{
    iter::Line,
    iter_pos::IterPos,
    pipe_reader,
    printed::Printed,
    reader_state::Shared,
    seq::Seq,
    trace_reader, //
};
use crate::ktrace::{
    array::{
        instances, module_state, options,
        trace_array::{
            TraceArray,
            TypesLock, //
        },
        tracefs::{
            Dentry,
            MODE_WRITE, //
        },
    },
    private::{
        abi,
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
    fn ktrace_buffer_iter(iter: *mut abi::trace_iterator) -> *mut abi::ring_buffer_iter;
    fn ktrace_call_print_trace_line(iter: *mut abi::trace_iterator) -> abi::print_line_t;
    fn ktrace_call_trace_default_header(file: *mut abi::seq_file);
    fn ktrace_call_print_graph_headers_flags(file: *mut abi::seq_file, flags: u32);
    fn ktrace_tracer_print_line(iter: *mut abi::trace_iterator) -> abi::print_line_t;
    fn ktrace_zalloc(size: usize) -> *mut c_void;
    fn ktrace_open_by(
        fops: *const bindings::file_operations,
        inode: *mut bindings::inode,
        file: *mut bindings::file,
    ) -> c_int;
    fn ktrace_irqs_disabled() -> bool;
}

/// A tracer, as in `available_tracers`.
pub trait Tracer: Send + Sync + 'static {
    /// Its name in `available_tracers`.
    const NAME: &'static CStr;

    /// Its options in `options/`; option number `n` is bit `n` of the flags.
    const OPTIONS: &'static [&'static CStr];

    /// The options that are on at first, as flags.
    const DEFAULT_OPTIONS: u32;

    /// The state of a reader of a trace for a CPU; each reader has one for each possible CPU.
    type Reading: Default + Send + 'static;

    /// Returns the type number of its compact records ([`crate::ktrace::compact`]), or 0 if it
    /// writes none.
    fn pack_kind() -> u32 {
        // No record has this type number.
        0
    }

    /// Prints the current record, which was written on `cpu`.
    ///
    /// `readings` is the reader's state for each possible CPU. It is `None` if memory was short
    /// when the reader was opened, and while the kernel dumps the trace as it crashes; then this is
    /// called in any context.
    fn print(line: &mut Line<'_>, readings: Option<&mut [Self::Reading]>, cpu: usize) -> Printed;

    /// Returns the type of the trace's header, given the tracer's options.
    fn head(options: u32) -> Head;

    /// Makes the tracer the current one of `tr`, where its options are `flags`. Called only after
    /// it was adopted there. Under `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// The write to `current_tracer` returns the error; nothing may be left behind.
    fn init(tr: &TraceArray, flags: u32) -> Result;

    /// Ends the tracer's use as the current one of `tr`. Under `trace_types_lock`.
    fn reset(tr: &TraceArray);

    /// Reacts to a new value of `tracing_thresh`, while the tracer is current in `tr`, the top
    /// trace array. Under `trace_types_lock`.
    fn thresh_changed(_tr: &TraceArray) {}

    /// Changes the options of `tr` to `flags`, whether the tracer is current there or not. Under
    /// `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// The write to the option returns the error; the option does not change.
    fn set_options(tr: &TraceArray, flags: u32) -> Result;
}

/// The header of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Head {
    /// That of the function tracer.
    Default,
    /// That of the function graph tracer, with these columns.
    Graph(Columns),
}

/// Columns of the call graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "they are named as the kernel's options are")]
pub struct Columns {
    pub cpu: bool,
    pub proc: bool,
    pub duration: bool,
    pub abstime: bool,
    pub reltime: bool,
}

impl Columns {
    /// Returns the flags of the kernel's function graph tracer for these columns
    /// (`TRACE_GRAPH_PRINT_*`).
    fn flags(self) -> u32 {
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        bit(self.cpu, 0x2)
            | bit(self.proc, 0x8)
            | bit(self.duration, 0x10)
            | bit(self.abstime, 0x20)
            | bit(self.reltime, 0x40)
    }
}

/// A registered tracer.
///
/// # Invariants
///
/// * `tracer` is on `trace_types` until drop, and on the list of each trace array for which
///   [`Registration::attach_instance`] was called.
/// * `tracer`, `options`, `_no_flags`, `_no_options` and `option_fops` do not move, and point to
///   each other as `new()` made them.
/// * `files` are all files whose inodes may have `option_fops`.
pub struct Registration<T: Tracer> {
    resolved: Resolved,
    tracer: KBox<abi::tracer>,
    /// The options, and an empty one that ends the table.
    options: KVec<abi::tracer_opt>,
    /// The options of an instance between its creation and [`Registration::attach_instance`]: none.
    _no_flags: KBox<abi::tracer_flags>,
    _no_options: KBox<abi::tracer_opt>,
    option_fops: KBox<bindings::file_operations>,
    /// The option files, including those of instances that were removed after the last
    /// [`Registration::remove_gone`].
    files: KVVec<Dentry>,
    _type: PhantomData<T>,
}

// SAFETY: Owns plain memory; all changes to what the kernel reads are made under its lock.
unsafe impl<T: Tracer> Send for Registration<T> {}
// SAFETY: Shared references allow no change except under `trace_types_lock`.
unsafe impl<T: Tracer> Sync for Registration<T> {}

impl<T: Tracer> Registration<T> {
    /// Registers the tracer, but in no trace array yet. May sleep.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is a tracer of that name; `ENOMEM` if memory is short.
    pub fn new(resolved: Resolved, lock: &TypesLock) -> Result<Self> {
        if Self::is_taken(lock) {
            pr_err!("a tracer of this name is already registered\n");
            return Err(EEXIST);
        }
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
        tracer.init = Some(init::<T>);
        tracer.reset = Some(reset::<T>);
        tracer.set_flag = Some(set_flag::<T>);
        tracer.update_thresh = Some(update_thresh::<T>);
        tracer.open = Some(open::<T>);
        tracer.close = Some(close::<T>);
        tracer.pipe_open = Some(pipe_open::<T>);
        tracer.pipe_close = Some(pipe_close::<T>);
        tracer.print_header = Some(print_header::<T>);
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
        fops.open = Some(open_option);

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

    /// Makes the tracer available in `tr`, with its own options there, if it is not yet. Must be
    /// called for each trace array, also for those that are created later. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if memory is short: then the tracer is not available there (`current_tracer`
    /// returns `EAGAIN`), or lacks option files there. The next call makes up for it.
    pub fn attach_instance(&mut self, tr: &TraceArray, lock: &TypesLock) -> Result {
        if options::find(tr, self.tracer_ptr(), lock).is_none() {
            self.add_options(tr, lock)?;
        }
        self.make_option_files(tr, lock)
    }

    /// Drops the option files of instances that were removed, and disarms their inodes: another
    /// task may have found such a file and not opened it yet. Must be called after an instance was
    /// removed. May sleep.
    pub fn remove_gone(&mut self, _: &TypesLock) {
        self.files.retain(|file| {
            let gone = file.is_gone();
            if gone {
                file.disarm();
            }
            !gone
        });
    }

    fn tracer_ptr(&self) -> *mut abi::tracer {
        core::ptr::from_ref(&*self.tracer).cast_mut()
    }

    /// Returns the first flags for `tr`: an instance inherits those of the top trace array, as with
    /// the kernel's own tracers.
    fn first_flags(&self, tr: &TraceArray, lock: &TypesLock) -> abi::tracer_flags {
        let val = lock
            .arrays()
            .find(|other| other.is_top() && other.id() != tr.id())
            .and_then(|top| options::find(top, self.tracer_ptr(), lock))
            // SAFETY: Flags of the top trace array, which the lock guards.
            .map_or(T::DEFAULT_OPTIONS, |flags| unsafe { (*flags).val });
        abi::tracer_flags {
            val,
            opts: self.options.as_ptr().cast_mut(),
            trace: self.tracer_ptr(),
        }
    }

    /// Creates the flags, and what the files in `options/` refer to, in the kernel's format.
    fn add_options(&self, tr: &TraceArray, lock: &TypesLock) -> Result {
        // For an instance that found the tracer without options, the kernel has made an empty
        // table.
        // SAFETY: There are no option files yet, since there are no options.
        unsafe { self.drop_places(tr, lock) };

        let n = T::OPTIONS.len();
        let size = size_of::<abi::trace_option_dentry>()
            .wrapping_mul(n)
            .wrapping_add(size_of::<abi::tracer_flags>());
        // SAFETY: `ktrace_zalloc()` may sleep, and so may this function; it has no other
        // preconditions.
        let files: *mut abi::trace_option_dentry = unsafe { ktrace_zalloc(size) }.cast();
        if files.is_null() {
            return Err(ENOMEM);
        }
        // SAFETY: There is room for the flags after `n` files, and both have the alignment of a
        // pointer. Before it is published, this memory is used by no other code.
        let published = unsafe {
            let room = files.add(n).cast();
            let value = self.first_flags(tr, lock);
            options::provide(tr, self.tracer_ptr(), value, room, lock).and_then(|flags| {
                for (i, option) in self.options.iter().take(n).enumerate() {
                    let file = files.add(i);
                    (*file).opt = core::ptr::from_ref(option).cast_mut();
                    (*file).flags = flags;
                    (*file).tr = tr.as_ptr();
                }
                options::publish(tr, self.tracer_ptr(), files, n, lock)
            })
        };
        if let Err(error) = published {
            // SAFETY: Allocated above, and not published.
            unsafe { bindings::kfree(files.cast()) };
            return Err(error);
        }
        Ok(())
    }

    /// Creates the files that do not exist yet, in order. Their operations hold this module while a
    /// file is open.
    fn make_option_files(&mut self, tr: &TraceArray, _: &TypesLock) -> Result {
        let raw = tr.as_ptr();
        // SAFETY: The trace array is alive, and the lock guards its table of options. Each entry of
        // this tracer in it was made by `add_options()`, so it has a file for each option. The
        // folder exists as long as the trace array. `option_fops` outlives the file, by the type
        // invariants: it is freed after `drop()` has disarmed all `files` and waited.
        unsafe {
            // Null if the kernel had no memory for the folder; tracefs would take it for its root.
            if (*raw).options.is_null() {
                return Err(ENOMEM);
            }
            for at in 0..(*raw).nr_topts.max(0) as usize {
                let place = (*raw).topts.add(at);
                if (*place).tracer != self.tracer_ptr() {
                    continue;
                }
                for (i, name) in T::OPTIONS.iter().enumerate() {
                    let file = (*place).topts.add(i);
                    if !(*file).entry.is_null() {
                        continue;
                    }
                    self.files.reserve(1, GFP_KERNEL)?;
                    let dentry = Dentry::file(
                        name,
                        MODE_WRITE,
                        (*raw).options.cast(),
                        file.cast(),
                        &*self.option_fops,
                    )?;
                    (*file).entry = dentry.as_ptr().cast();
                    // INVARIANT: Room was reserved above, so this does not fail, and `files` has
                    // this file.
                    self.files.push(dentry, GFP_KERNEL)?;
                }
            }
        }
        Ok(())
    }

    /// Removes this tracer's entries from the table of options of `tr`.
    ///
    /// # Safety
    ///
    /// `tr` must have no option file of this tracer any more, also no open one.
    unsafe fn drop_places(&self, tr: &TraceArray, _: &TypesLock) {
        let raw = tr.as_ptr();
        // SAFETY: The trace array is alive, and the lock guards its table of options. The table of
        // an entry has the same allocator, whether the kernel or this module allocated it, and no
        // inode refers to it, as the caller guarantees.
        unsafe {
            let mut at = 0;
            while at < (*raw).nr_topts.max(0) as usize {
                let place = (*raw).topts.add(at);
                if (*place).tracer != self.tracer_ptr() {
                    at = at.wrapping_add(1);
                    continue;
                }
                bindings::kfree((*place).topts.cast());
                let last = (*raw).nr_topts.wrapping_sub(1);
                core::ptr::copy(place.add(1), place, (last as usize).wrapping_sub(at));
                (*raw).nr_topts = last;
            }
        }
    }

    /// Removes the tracer from `tr`.
    ///
    /// # Safety
    ///
    /// `tr` must have no option file of this tracer any more, also no open one.
    unsafe fn abandon(&self, tr: &TraceArray, lock: &TypesLock) {
        // SAFETY: There is no option file, as the caller guarantees.
        unsafe { self.drop_places(tr, lock) };
        options::remove(tr, self.tracer_ptr(), lock);
    }
}

impl<T: Tracer> Drop for Registration<T> {
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

/// Opens an option file. Fails with `ENODEV` before the module's initialization has succeeded.
///
/// # Safety
///
/// Only for the VFS: `inode` must be that of an option file, and `file` one that is being opened.
unsafe extern "C" fn open_option(inode: *mut bindings::inode, file: *mut bindings::file) -> c_int {
    from_result(|| {
        module_state::check()?;
        // SAFETY: The kernel's constant table of operations for option files, found by its name,
        // which has `open`. The arguments are what the VFS has passed.
        Ok(unsafe { ktrace_open_by(Data::OptionFops.as_ptr(), inode, file) })
    })
}

/// Returns the trace array of a callback.
///
/// # Safety
///
/// Only for callbacks of `struct tracer`: the kernel calls them under `trace_types_lock`, with a
/// trace array on its list, or with one that it has just taken off the list and frees after that
/// (`reset()` when it is removed). The result must not be used after the callback.
unsafe fn given<'a>(tr: *mut abi::trace_array) -> &'a TraceArray {
    // SAFETY: `tr` is alive until the callback returns, as the caller guarantees.
    unsafe { TraceArray::from_raw(tr) }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `tr` must be on its list of trace arrays,
/// and `trace_types_lock` must be held.
unsafe extern "C" fn init<T: Tracer>(tr: *mut abi::trace_array) -> c_int {
    from_result(|| {
        // SAFETY: Called by `tracing_set_tracer()`, with a trace array on its list.
        let tr = unsafe { given(tr) };
        module_state::check()?;
        // SAFETY: The module is the one whose code this is. Fails if it is being removed.
        if !unsafe { bindings::try_module_get(this_module()) } {
            return Err(ENODEV);
        }
        instances::look_again();
        // Without flags, `adopt()` was not called for this instance yet, or failed. Calls would be
        // recorded with other options than those that the instance gets later.
        let flags = tr.current_flags().ok_or(EAGAIN);
        if let Err(error) = flags.and_then(|flags| T::init(tr, flags)) {
            release_current();
            return Err(error);
        }
        Ok(0)
    })
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `init()` must have succeeded for `tr`,
/// which may be freed after this, and `trace_types_lock` must be held.
unsafe extern "C" fn reset<T: Tracer>(tr: *mut abi::trace_array) {
    // SAFETY: Called when the tracer stops being the current one of `tr`, which is alive until this
    // returns.
    T::reset(unsafe { given(tr) });
    release_current();
}

/// Puts the module reference of `init()`.
fn release_current() {
    // SAFETY: `init()` took the reference. The code after `module_put()` exists until
    // `trace_types_lock` is released: see the module documentation.
    unsafe { bindings::module_put(this_module()) };
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `tr` must be on its list of trace arrays,
/// and `trace_types_lock` must be held.
unsafe extern "C" fn set_flag<T: Tracer>(
    tr: *mut abi::trace_array,
    old: u32,
    bit: u32,
    set: c_int,
) -> c_int {
    from_result(|| {
        let flags = if set != 0 { old | bit } else { old & !bit };
        // SAFETY: Called for a write to an option file or to `trace_options` of `tr`, which is on
        // the list.
        T::set_options(unsafe { given(tr) }, flags)?;
        Ok(0)
    })
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `init()` must have succeeded for `tr`,
/// and `trace_types_lock` must be held.
unsafe extern "C" fn update_thresh<T: Tracer>(tr: *mut abi::trace_array) -> c_int {
    // SAFETY: Called for a write to `tracing_thresh`, which is a file of the top trace array.
    T::thresh_changed(unsafe { given(tr) });
    0
}

/// Returns whether the iterator belongs to an open `trace` file, or reads like one. The iterator of
/// `ftrace_dump()` is opened, but never closed; it has no per-CPU iterators.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to a callback.
unsafe fn is_file(iter: *mut abi::trace_iterator) -> bool {
    // SAFETY: `iter` is valid, as the caller guarantees.
    !unsafe { (*iter).buffer_iter }.is_null()
}

/// The state of a reader.
struct Readings<T: Tracer> {
    /// For each possible CPU.
    cpus: KVVec<T::Reading>,
    /// For packs.
    shared: Shared,
}

/// Allocates the state of a reader, and stores it in the iterator; null if memory is short. May
/// sleep.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to a callback, without a state.
unsafe fn give_readings<T: Tracer>(iter: *mut abi::trace_iterator) {
    let fill = || -> Result<KBox<Readings<T>>> {
        let nr = kernel::cpu::nr_cpu_ids() as usize;
        let mut cpus = KVVec::with_capacity(nr, GFP_KERNEL)?;
        for _ in 0..nr {
            cpus.push(T::Reading::default(), GFP_KERNEL)?;
        }
        let shared = Shared::kept()?;
        Ok(KBox::new(Readings { cpus, shared }, GFP_KERNEL)?)
    };
    let readings = fill().map_or(core::ptr::null_mut(), KBox::into_raw);
    // SAFETY: `iter` is valid, as the caller guarantees, and `private` belongs to the tracer.
    unsafe { (*iter).private = readings.cast() };
}

/// Frees the state of a reader.
///
/// # Safety
///
/// `iter` must have been passed to [`give_readings`], and its `private` must not have changed.
unsafe fn take_readings<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `private` is null or a pointer of `KBox::into_raw()` in `give_readings()`, as the
    // caller guarantees.
    unsafe {
        let readings: *mut Readings<T> = (*iter).private.cast();
        (*iter).private = core::ptr::null_mut();
        if !readings.is_null() {
            drop(KBox::from_raw(readings));
        }
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must be valid, and its tracer must
/// be this one.
unsafe extern "C" fn open<T: Tracer>(iter: *mut abi::trace_iterator) {
    // The iterator of kdb (`kdb_ftdump()`) is never closed either, but has per-CPU iterators, which
    // it keeps for the next time. The machine is stopped then, with interrupts off: no memory may
    // be allocated. A file is opened with a mutex held, so with interrupts on.
    // SAFETY: `ktrace_irqs_disabled()` has no preconditions.
    let stands_still = unsafe { ktrace_irqs_disabled() };
    // SAFETY: `iter` is valid, and `private` belongs to the tracer. A file is opened under
    // `trace_types_lock`, and this tracer is current in its trace array, so the module has a
    // reference already.
    unsafe {
        if is_file(iter) && !stands_still {
            bindings::__module_get(this_module());
            give_readings::<T>(iter);
        } else {
            (*iter).private = core::ptr::null_mut();
        }
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must have been passed to `open()`.
unsafe extern "C" fn close<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` was passed to `open()`, which took the reference and stored the state.
    unsafe {
        if is_file(iter) {
            take_readings::<T>(iter);
            bindings::module_put(this_module());
        }
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must be valid, and its tracer must
/// be this one.
unsafe extern "C" fn pipe_open<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` is valid and has no state yet. The tracer is current in its trace array, under
    // `trace_types_lock`, so the module has a reference already.
    unsafe {
        bindings::__module_get(this_module());
        give_readings::<T>(iter);
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `iter` must have been passed to
/// `pipe_open()`.
unsafe extern "C" fn pipe_close<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: `iter` was passed to `pipe_open()`, which took the reference and stored the state.
    unsafe {
        take_readings::<T>(iter);
        bindings::module_put(this_module());
    }
}

/// # Safety
///
/// Only for the kernel, as a callback of `struct tracer`: `file` must be that of an iterator whose
/// tracer is this one.
unsafe extern "C" fn print_header<T: Tracer>(file: *mut abi::seq_file) {
    // SAFETY: The private data of the file is the iterator (`s_show()`), which is valid.
    unsafe {
        let iter: *mut abi::trace_iterator = (*file.cast::<bindings::seq_file>()).private.cast();
        let tr = given((*iter).tr);
        match T::head(tr.current_flags().unwrap_or(0)) {
            Head::Default => ktrace_call_trace_default_header(file),
            Head::Graph(columns) => ktrace_call_print_graph_headers_flags(file, columns.flags()),
        }
    }
}

/// Prints the current record of an iterator, or what remains of an earlier one.
///
/// # Safety
///
/// Only for `fgraph.c`: `iter` must be an iterator that the kernel passed to `print_line` of this
/// tracer.
#[doc(hidden)]
pub unsafe fn dispatch_print<T: Tracer>(iter: *mut c_void) -> c_uint {
    let iter: *mut abi::trace_iterator = iter.cast();
    // `ftrace_dump_one()` clears the `seq` before each record, and reads it even if nothing was
    // printed. The first text that is added initializes it, so an empty text is added.
    // SAFETY: `iter` is valid, as the caller guarantees, and no other code uses its text.
    let mut seq = unsafe { Seq::from_raw(addr_of_mut!((*iter).seq)) };
    seq.bytes(&[]);
    // When the file was opened, there was no memory to read the buffer of that CPU. The kernel
    // returns to the same record forever (`trace_find_next_entry_inc()`), and the read does not
    // return as long as nothing is printed.
    // SAFETY: `iter` is valid, as the caller guarantees.
    if unsafe { is_file(iter) && ktrace_buffer_iter(iter).is_null() } {
        seq.bytes(b"# out of memory: records of other CPUs are not shown\n");
        return Printed::Done.code();
    }
    // SAFETY: `iter` is valid, as the caller guarantees.
    let (readings, cpu) = unsafe {
        (
            (*iter).private.cast::<Readings<T>>(),
            (*iter).cpu.max(0) as usize,
        )
    };
    // SAFETY: `iter` is valid, as the caller guarantees. `readings` is null or was made by
    // `give_readings()`, and there is no reference to it.
    if let Some(printed) = unsafe { print_packs::<T>(iter, readings) } {
        return printed.code();
    }
    // SAFETY: Null, or made by `give_readings()`. Only the reader to which it belongs uses it.
    let printed = match unsafe { readings.as_mut() } {
        Some(readings) => {
            // SAFETY: `iter` is valid, as the caller guarantees, and the callback has not returned
            // when `line` is dropped.
            let mut line = unsafe {
                let shared = &mut readings.shared;
                let place = shared.sources.get_mut(cpu).map(|source| &mut source.place);
                Line::new(iter, shared.ahead.as_mut(), T::pack_kind(), place)
            };
            let printed = T::print(&mut line, Some(&mut readings.cpus), cpu);
            readings.shared.is_earlier = printed == Printed::Earlier;
            printed
        }
        None => {
            // SAFETY: `iter` is valid, as the caller guarantees, and the callback has not returned
            // when `line` is dropped.
            let mut line = unsafe { Line::new(iter, None, T::pack_kind(), None) };
            T::print(&mut line, None, cpu)
        }
    };
    if printed == Printed::Unhandled {
        // SAFETY: `iter` is valid, as the caller guarantees, and the references to the reader's
        // state are not used any more.
        return unsafe { leave_to_kernel(iter) };
    }
    printed.code()
}

/// Leaves a record to the kernel. For records of calls, the kernel's print functions take `private`
/// for the state of function_graph. Such a record is printed here, with a null `private`.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to `print_line` of this tracer, with no
/// reference to the state of the reader.
unsafe fn leave_to_kernel(iter: *mut abi::trace_iterator) -> c_uint {
    // SAFETY: `iter` is valid and at a record, and no other code uses it, as the caller guarantees.
    // The kernel's function calls this tracer again, which finds no state and leaves the record to
    // the kernel. Lost records were reported before the first call, so they are not reported again.
    unsafe {
        let kind = u32::from((&raw const (*(*iter).ent).type_).read_unaligned());
        let (private, lost) = ((*iter).private, (*iter).lost_events);
        if private.is_null() || !is_of_call(kind) {
            return Printed::Unhandled as c_uint;
        }
        (*iter).private = core::ptr::null_mut();
        (*iter).lost_events = 0;
        let printed = ktrace_call_print_trace_line(iter);
        (*iter).private = private;
        (*iter).lost_events = lost;
        printed
    }
}

/// Returns whether the kernel's function graph tracer prints records of this type.
fn is_of_call(kind: u32) -> bool {
    matches!(
        kind,
        abi::trace_type_TRACE_GRAPH_ENT
            | abi::trace_type_TRACE_GRAPH_RETADDR_ENT
            | abi::trace_type_TRACE_GRAPH_RET
    )
}

/// Prints items of packs, if the current record is a pack or the iterator resumes with an open one.
/// `None` if the line is that of a normal record.
///
/// # Safety
///
/// `iter` must be an iterator that the kernel passed to `print_line` of this tracer. `readings`
/// must be null, or made by `give_readings()`, with no reference to it.
unsafe fn print_packs<T: Tracer>(
    iter: *mut abi::trace_iterator,
    readings: *mut Readings<T>,
) -> Option<Printed> {
    let kind = T::pack_kind();
    // SAFETY: `iter` is valid and at a record, as the caller guarantees.
    let (is_pack, is_file) = unsafe { (IterPos::new(iter).is_pack(kind), is_file(iter)) };
    if readings.is_null() {
        if !is_pack {
            return None;
        }
        // Memory was short when the file was opened: the kernel prints the pack by its event.
        if is_file {
            return Some(Printed::Unhandled);
        }
        // No state is kept between calls, but lines need to know the next item.
        let mut none = Readings::<T> {
            cpus: KVVec::new(),
            shared: Shared::passing(),
        };
        let none = &raw mut none;
        // SAFETY: `iter` is valid, as the caller guarantees, and `private` belongs to the tracer;
        // it is null again after that. No reference to `none` exists while a line is printed.
        return Some(unsafe {
            (*iter).private = none.cast();
            let printed = pipe_reader::print(iter, addr_of_mut!((*none).shared), kind);
            (*iter).private = core::ptr::null_mut();
            printed
        });
    }
    // SAFETY: `readings` was made by `give_readings()`, as the caller guarantees, and no reference
    // to it exists while a line is printed. `iter` is valid; if it is at a pack, that has type
    // number `kind`.
    unsafe {
        let shared = addr_of_mut!((*readings).shared);
        match ((*shared).is_chosen(), is_file) {
            (true, _) => None,
            (false, true) => ((*shared).resumes(iter) || is_pack)
                .then(|| trace_reader::print(iter, shared, kind)),
            (false, false) => is_pack.then(|| pipe_reader::print(iter, shared, kind)),
        }
    }
}

/// Selects the one type whose [`Tracer::print`] is called.
#[macro_export]
macro_rules! bind_tracer {
    ($tracer:ty) => {
        const _: () = {
            /// # Safety
            ///
            /// Only for `fgraph.c`: `iter` must be an iterator that the kernel passed to
            /// `print_line` of this tracer.
            #[no_mangle]
            unsafe extern "C" fn ktrace_print_line(
                iter: *mut ::kernel::ffi::c_void,
            ) -> ::kernel::ffi::c_uint {
                // SAFETY: The caller guarantees what `dispatch_print()` requires.
                unsafe { $crate::ktrace::output::tracer::dispatch_print::<$tracer>(iter) }
            }
        };
    };
}
pub use bind_tracer;
