// SPDX-License-Identifier: GPL-2.0

//! A tracer of one's own: an entry in `available_tracers`, and what `current_tracer` does with it.
//!
//! C header: `kernel/trace/trace.h`.
//!
//! The kernel registers tracers at boot alone, so this puts the tracer where the kernel looks for
//! it: on the list of all tracers (`trace_types`, which a new instance copies), and on that of each
//! trace array (`tr->tracers`), along with its option files. All of that happens under
//! `trace_types_lock`, which guards those lists.
//!
//! # Lifetimes
//!
//! `struct tracer` has no owner, so the module's reference count is kept here: a reference for each
//! trace array whose current tracer this is, and for each iterator (an open `trace` or
//! `trace_pipe`) that may call it. All callbacks that give a reference back are called under
//! `trace_types_lock`, and unregistering takes that lock, so the code that follows the last
//! `module_put()` is still there.

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
    abi, array_options,
    compact::{
        expand::{
            At,
            Shared, //
        },
        file,
        pipe, //
    },
    cstr::Chars,
    instances,
    iter::{
        Line,
        Printed, //
    },
    live,
    seq::Seq,
    symbols::{
        this_module,
        Data,
        Resolved, //
    },
    task::synchronize_tasks,
    trace_array::{
        TraceArray,
        TypesLock, //
    },
    tracefs::{
        Dentry,
        MODE_WRITE, //
    },
};

// Some structs behind these pointers have no members in some configurations.
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

/// A tracer.
pub trait Tracer: Send + Sync + 'static {
    /// Its name in `available_tracers`.
    const NAME: &'static CStr;

    /// Its options below `options/`; number `n` is bit `n` of the flags.
    const OPTIONS: &'static [&'static CStr];

    /// Those options that are on at first.
    const DEFAULT_OPTIONS: u32;

    /// What is kept for each reader of a trace; one for each CPU that there may be.
    type Reading: Default + Send + 'static;

    /// The number that its records in compact form begin with ([`super::compact`]), if it writes any.
    fn pack_kind() -> u32 {
        // No record begins with that.
        0
    }

    /// Prints a record of that CPU. `readings` is what was kept for each CPU; `None` if there was no memory, and
    /// when the kernel prints the trace as it dies. It is called in any context then.
    fn print(line: &mut Line<'_>, readings: Option<&mut [Self::Reading]>, cpu: usize) -> Printed;

    /// Which head the trace has, given the tracer's options.
    fn head(options: u32) -> Head;

    /// It becomes the current tracer of `tr`, whose options are `flags`; not before it was adopted there. Under
    /// `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// Are what the write to `current_tracer` returns; nothing may be left behind.
    fn init(tr: &TraceArray, flags: u32) -> Result;

    /// It is the current tracer of `tr` no longer. Under `trace_types_lock`.
    fn reset(tr: &TraceArray);

    /// `tracing_thresh` is another one; it is current in `tr`, the top trace array. Under
    /// `trace_types_lock`.
    fn thresh_changed(_tr: &TraceArray) {}

    /// An option of `tr` changes, whether the tracer is current there or not; all options will be
    /// `flags`. Under `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// Are what the write returns; the option stays as it was.
    fn set_options(tr: &TraceArray, flags: u32) -> Result;
}

/// What stands above a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Head {
    /// What the function tracer has.
    Default,
    /// What the function graph tracer has, with these columns.
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
    /// As the kernel's function graph tracer has them in its flags (`TRACE_GRAPH_PRINT_*`).
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
/// * `tracer` is on `trace_types` until drop, and on the list of every trace array that
///   [`Registration::adopt`] was called for.
/// * `tracer`, `options`, `flags` and `option_fops` stay where they are and point to each other as
///   `new()` made them.
/// * `files` are all files whose inodes may have `option_fops`.
pub struct Registration<T: Tracer> {
    resolved: Resolved,
    tracer: KBox<abi::tracer>,
    /// The options, and an empty one that ends the table.
    options: KVec<abi::tracer_opt>,
    /// What an instance has between its creation and [`Registration::adopt`]: no options.
    _no_flags: KBox<abi::tracer_flags>,
    _no_options: KBox<abi::tracer_opt>,
    option_fops: KBox<bindings::file_operations>,
    /// The option files, those of instances that were removed since [`Registration::forget_gone`] too.
    files: KVVec<Dentry>,
    _type: PhantomData<T>,
}

// SAFETY: Owns plain memory; all changes to what the kernel reads are made under its lock.
unsafe impl<T: Tracer> Send for Registration<T> {}
// SAFETY: As above.
unsafe impl<T: Tracer> Sync for Registration<T> {}

impl<T: Tracer> Registration<T> {
    /// Registers the tracer, in no trace array yet. May sleep.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is a tracer of that name; `ENOMEM`.
    pub fn new(resolved: Resolved, lock: &TypesLock) -> Result<Self> {
        if Self::is_taken(lock) {
            pr_err!("there is a tracer of this name already\n");
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

        // SAFETY: The kernel's own constant table, found by its name. It is plain data.
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

    /// Whether there is a tracer of that name.
    fn is_taken(_: &TypesLock) -> bool {
        // SAFETY: The head of the kernel's list of tracers, which the lock guards; names are C
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
        // SAFETY: As above. The tracer stays where it is until it is taken off again.
        unsafe {
            self.tracer.next = *head;
            *head = &mut *self.tracer;
        }
    }

    /// Makes the tracer available in `tr`, with options of its own there, if it is not yet. To be
    /// called for every trace array, those made later too. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; the tracer is then not available there (`EAGAIN` for who wants it to be current), or lacks option files
    /// there. The next time makes up for it.
    pub fn adopt(&mut self, tr: &TraceArray, lock: &TypesLock) -> Result {
        if array_options::find(tr, self.tracer_ptr(), lock).is_none() {
            self.add_options(tr, lock)?;
        }
        self.make_option_files(tr, lock)
    }

    /// Lets go of the option files of instances that were removed. Somebody may have such a file at hand still, found
    /// but not open: it is left nothing to do. To be called when an instance was removed. May sleep.
    pub fn forget_gone(&mut self, _: &TypesLock) {
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

    /// Flags for `tr`: an instance starts with those of the top trace array, as with the kernel's
    /// own tracers.
    fn first_flags(&self, tr: &TraceArray, lock: &TypesLock) -> abi::tracer_flags {
        let val = lock
            .arrays()
            .find(|other| other.is_top() && other.id() != tr.id())
            .and_then(|top| array_options::find(top, self.tracer_ptr(), lock))
            // SAFETY: Flags of the top trace array, which the lock guards.
            .map_or(T::DEFAULT_OPTIONS, |flags| unsafe { (*flags).val });
        abi::tracer_flags {
            val,
            opts: self.options.as_ptr().cast_mut(),
            trace: self.tracer_ptr(),
        }
    }

    /// Makes the flags, and what files below `options/` belong to, in the form that the kernel gives them.
    fn add_options(&self, tr: &TraceArray, lock: &TypesLock) -> Result {
        // What the kernel made for an instance that found the tracer without options: no files.
        // SAFETY: There would be options if there were files.
        unsafe { self.drop_places(tr, lock) };

        let n = T::OPTIONS.len();
        let size = size_of::<abi::trace_option_dentry>()
            .wrapping_mul(n)
            .wrapping_add(size_of::<abi::tracer_flags>());
        // SAFETY: No preconditions; may sleep.
        let files: *mut abi::trace_option_dentry = unsafe { ktrace_zalloc(size) }.cast();
        if files.is_null() {
            return Err(ENOMEM);
        }
        // SAFETY: There is room for the flags behind so many files, and the alignment of both is that of a pointer. The
        // files belong to this until they are published, with their flags.
        let published = unsafe {
            let room = files.add(n).cast();
            let value = self.first_flags(tr, lock);
            array_options::provide(tr, self.tracer_ptr(), value, room, lock).and_then(|flags| {
                for (i, option) in self.options.iter().take(n).enumerate() {
                    let file = files.add(i);
                    (*file).opt = core::ptr::from_ref(option).cast_mut();
                    (*file).flags = flags;
                    (*file).tr = tr.as_ptr();
                }
                array_options::publish(tr, self.tracer_ptr(), files, n, lock)
            })
        };
        if let Err(error) = published {
            // SAFETY: Allocated above, and published nowhere.
            unsafe { bindings::kfree(files.cast()) };
            return Err(error);
        }
        Ok(())
    }

    /// Makes the files that there are not yet, in their order, with operations that hold this module while a file is open.
    fn make_option_files(&mut self, tr: &TraceArray, _: &TypesLock) -> Result {
        let raw = tr.as_ptr();
        // SAFETY: The trace array is alive, and the lock guards its table of options, where what belongs to this tracer
        // is of `add_options()`: so many files. The folder stays as long as the trace array does. `option_fops` outlives
        // the file, by the invariants: it goes after `drop()` has disarmed what is in `files`, and waited.
        unsafe {
            // Where the kernel had no memory for the folder. The root would be taken for it.
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
                    // INVARIANT: There is room, so this does not fail.
                    self.files.push(dentry, GFP_KERNEL)?;
                }
            }
        }
        Ok(())
    }

    /// Takes away this tracer's place in the table of options of `tr`.
    ///
    /// # Safety
    ///
    /// There must be no option files of this tracer in `tr` (any more), nor an open one.
    unsafe fn drop_places(&self, tr: &TraceArray, _: &TypesLock) {
        let raw = tr.as_ptr();
        // SAFETY: The trace array is alive, and the lock guards its table of options. What lies behind a place is from
        // the same allocator, whoever made it, and by the precondition no inode leads there.
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

    /// Takes the tracer from `tr`.
    ///
    /// # Safety
    ///
    /// As for [`Registration::drop_places`].
    unsafe fn abandon(&self, tr: &TraceArray, lock: &TypesLock) {
        // SAFETY: By the precondition.
        unsafe { self.drop_places(tr, lock) };
        array_options::remove(tr, self.tracer_ptr(), lock);
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
            // SAFETY: All files, by the invariants, were removed just now. None is open: that would hold the module.
            unsafe { self.abandon(tr, &lock) };
        }
        drop(lock);
        // Whoever has just read a file's operations looks at their owner next.
        synchronize_tasks();
    }
}

/// # Safety
///
/// For the VFS: the inode of an option file, and a file that is being opened.
unsafe extern "C" fn open_option(inode: *mut bindings::inode, file: *mut bindings::file) -> c_int {
    from_result(|| {
        live::check()?;
        // SAFETY: The kernel's own constant table of operations for such files, found by its name, which has this one;
        // its arguments are what the VFS has passed.
        Ok(unsafe { ktrace_open_by(Data::OptionFops.as_ptr(), inode, file) })
    })
}

/// The trace array that a callback is given.
///
/// # Safety
///
/// For callbacks of `struct tracer`: the kernel holds `trace_types_lock` and calls them with a
/// trace array of its list, or one that it has just taken off to free it afterwards (`reset()` at
/// its removal).
unsafe fn given<'a>(tr: *mut abi::trace_array) -> &'a TraceArray {
    // SAFETY: By the precondition; used within the callback only.
    unsafe { TraceArray::from_raw(tr) }
}

/// # Safety
///
/// For the kernel, as a callback of `struct tracer`: with a trace array of its list, under
/// `trace_types_lock`.
unsafe extern "C" fn init<T: Tracer>(tr: *mut abi::trace_array) -> c_int {
    from_result(|| {
        // SAFETY: Called by `tracing_set_tracer()`.
        let tr = unsafe { given(tr) };
        live::check()?;
        // SAFETY: The module whose code this is. Fails if it is being removed.
        if !unsafe { bindings::try_module_get(this_module()) } {
            return Err(ENODEV);
        }
        instances::look_again();
        // An instance that nobody has brought to `adopt()` yet, or not with success. What would be recorded there is not
        // what the options say that come later.
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
/// For the kernel, as a callback of `struct tracer`: with a trace array where `init()` succeeded, which
/// may be about to be freed, under `trace_types_lock`.
unsafe extern "C" fn reset<T: Tracer>(tr: *mut abi::trace_array) {
    // SAFETY: Called when the tracer stops being the current one.
    T::reset(unsafe { given(tr) });
    release_current();
}

/// Gives back what `init()` has taken.
fn release_current() {
    // SAFETY: Taken by `init()`. The code behind `module_put()` stays: see the module's comment.
    unsafe { bindings::module_put(this_module()) };
}

/// # Safety
///
/// For the kernel, as a callback of `struct tracer`: with a trace array of its list, under
/// `trace_types_lock`.
unsafe extern "C" fn set_flag<T: Tracer>(
    tr: *mut abi::trace_array,
    old: u32,
    bit: u32,
    set: c_int,
) -> c_int {
    from_result(|| {
        let flags = if set != 0 { old | bit } else { old & !bit };
        // SAFETY: Called for a write to an option file or to `trace_options`.
        T::set_options(unsafe { given(tr) }, flags)?;
        Ok(0)
    })
}

/// # Safety
///
/// For the kernel, as a callback of `struct tracer`: with a trace array where `init()` succeeded,
/// under `trace_types_lock`.
unsafe extern "C" fn update_thresh<T: Tracer>(tr: *mut abi::trace_array) -> c_int {
    // SAFETY: Called for a write to `tracing_thresh`, which is one of the top trace array's files.
    T::thresh_changed(unsafe { given(tr) });
    0
}

/// Whether the iterator belongs to an open `trace` file, or reads as such a one does. That of
/// `ftrace_dump()` is opened, but never closed; it has no per-CPU iterators.
///
/// # Safety
///
/// `iter` must be what the kernel passed to a callback.
unsafe fn is_file(iter: *mut abi::trace_iterator) -> bool {
    // SAFETY: By the precondition.
    !unsafe { (*iter).buffer_iter }.is_null()
}

/// What is kept for a reader.
struct Readings<T: Tracer> {
    /// For each CPU that there may be.
    cpus: KVVec<T::Reading>,
    /// What is kept for packs.
    shared: Shared,
}

/// Gives an iterator what is kept for it, if there is memory. May sleep.
///
/// # Safety
///
/// `iter` must be what the kernel passed to a callback, and have nothing yet.
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
    // SAFETY: By the precondition: the member is the tracer's own.
    unsafe { (*iter).private = readings.cast() };
}

/// Takes that back.
///
/// # Safety
///
/// `iter` must have been passed to [`give_readings`], and its `private` not have been changed.
unsafe fn take_readings<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: By the precondition.
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
/// For the kernel, as a callback of `struct tracer`: with an iterator whose tracer this is.
unsafe extern "C" fn open<T: Tracer>(iter: *mut abi::trace_iterator) {
    // Not so that of kdb, which is never closed either and keeps its per-CPU iterators for the next time
    // (`kdb_ftdump()`). The machine stands still then: nothing may be allocated. A file is opened with a mutex held.
    // SAFETY: No preconditions.
    let stands_still = unsafe { ktrace_irqs_disabled() };
    // SAFETY: As passed by the kernel. The iterator of a file calls the tracer that is current in its trace array, under
    // `trace_types_lock`, so there is a reference already and one more can be had.
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
/// For the kernel, as a callback of `struct tracer`: with an iterator that was passed to `open()`.
unsafe extern "C" fn close<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: As passed by the kernel; the counterpart of `open()`.
    unsafe {
        if is_file(iter) {
            take_readings::<T>(iter);
            bindings::module_put(this_module());
        }
    }
}

/// # Safety
///
/// For the kernel, as a callback of `struct tracer`: with an iterator whose tracer this is.
unsafe extern "C" fn pipe_open<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: As in `open()`.
    unsafe {
        bindings::__module_get(this_module());
        give_readings::<T>(iter);
    }
}

/// # Safety
///
/// For the kernel, as a callback of `struct tracer`: with an iterator that was passed to
/// `pipe_open()`.
unsafe extern "C" fn pipe_close<T: Tracer>(iter: *mut abi::trace_iterator) {
    // SAFETY: The counterpart of `pipe_open()`.
    unsafe {
        take_readings::<T>(iter);
        bindings::module_put(this_module());
    }
}

/// # Safety
///
/// For the kernel, as a callback of `struct tracer`: with the file of an iterator whose tracer this
/// is.
unsafe extern "C" fn print_header<T: Tracer>(file: *mut abi::seq_file) {
    // SAFETY: As passed by the kernel: the file's private data is the iterator (`s_show()`).
    unsafe {
        let iter: *mut abi::trace_iterator = (*file.cast::<bindings::seq_file>()).private.cast();
        let tr = given((*iter).tr);
        match T::head(tr.current_flags().unwrap_or(0)) {
            Head::Default => ktrace_call_trace_default_header(file),
            Head::Graph(columns) => ktrace_call_print_graph_headers_flags(file, columns.flags()),
        }
    }
}

/// # Safety
///
/// For `fgraph.c`: `iter` is what the kernel passed to `print_line` of this tracer.
#[doc(hidden)]
pub unsafe fn dispatch_print<T: Tracer>(iter: *mut c_void) -> c_uint {
    let iter: *mut abi::trace_iterator = iter.cast();
    // What dumps the buffer clears the place of the text each time, and looks at it even if nothing was printed
    // (`ftrace_dump_one()`): it is made ready by whoever prints first, be it nothing.
    // SAFETY: By the precondition.
    let mut seq = unsafe { Seq::from_raw(addr_of_mut!((*iter).seq)) };
    seq.bytes(&[]);
    // There was no memory to walk through the buffer of that CPU when the file was opened: the kernel comes to the
    // same record for ever (`trace_find_next_entry_inc()`), and does not return from the read as long as nothing is
    // printed.
    // SAFETY: By the precondition.
    if unsafe { is_file(iter) && ktrace_buffer_iter(iter).is_null() } {
        seq.bytes(b"# there was no memory to read what another CPU has recorded\n");
        return Printed::Done.code();
    }
    // SAFETY: By the precondition.
    let (readings, cpu) = unsafe {
        (
            (*iter).private.cast::<Readings<T>>(),
            (*iter).cpu.max(0) as usize,
        )
    };
    // SAFETY: As below.
    if let Some(printed) = unsafe { print_packs::<T>(iter, readings) } {
        return printed.code();
    }
    // SAFETY: By the precondition: null, or what `give_readings()` has made. Only the one who reads
    // comes to it.
    let printed = match unsafe { readings.as_mut() } {
        Some(readings) => {
            // SAFETY: By the precondition.
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
            // SAFETY: By the precondition.
            let mut line = unsafe { Line::new(iter, None, T::pack_kind(), None) };
            T::print(&mut line, None, cpu)
        }
    };
    if printed == Printed::Unhandled {
        // SAFETY: By the precondition; what is kept is not referred to any more.
        return unsafe { leave_to_kernel(iter) };
    }
    printed.code()
}

/// Leaves a record to the kernel, which prints those of calls by what function_graph keeps in the place where we keep
/// ours: such a one is printed right here, while there is nothing.
///
/// # Safety
///
/// As for [`dispatch_print`], with no reference to what is kept for the iterator.
unsafe fn leave_to_kernel(iter: *mut abi::trace_iterator) -> c_uint {
    // SAFETY: By the precondition: the iterator is at a record, and nobody else uses it. The kernel's function comes back
    // here, with nothing kept, and goes on by itself then. Lost records were told before it came here at first.
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

/// Whether the kernel's function graph tracer prints records of that kind.
fn is_of_call(kind: u32) -> bool {
    matches!(
        kind,
        abi::trace_type_TRACE_GRAPH_ENT
            | abi::trace_type_TRACE_GRAPH_RETADDR_ENT
            | abi::trace_type_TRACE_GRAPH_RET
    )
}

/// Prints what packs say, if the iterator is at one, or comes for more of one; `None` if the line is an
/// ordinary one.
///
/// # Safety
///
/// As for [`dispatch_print`]; `readings` must be null, or what `give_readings()` has made, with no
/// reference to it.
unsafe fn print_packs<T: Tracer>(
    iter: *mut abi::trace_iterator,
    readings: *mut Readings<T>,
) -> Option<Printed> {
    let kind = T::pack_kind();
    // SAFETY: By the precondition, here and below; no reference is left while a line is printed.
    let (is_pack, is_file) = unsafe { (At::new(iter).is_pack(kind), is_file(iter)) };
    if readings.is_null() {
        if !is_pack {
            return None;
        }
        // There was no memory to show what is in it: what stands before it is shown.
        if is_file {
            return Some(Printed::Unhandled);
        }
        // Nothing is kept from one line to the next, but lines have to know of what follows.
        let mut none = Readings::<T> {
            cpus: KVVec::new(),
            shared: Shared::passing(),
        };
        let none = &raw mut none;
        // SAFETY: As above; the member is the tracer's own, and as it was in the end.
        return Some(unsafe {
            (*iter).private = none.cast();
            let printed = pipe::print(iter, addr_of_mut!((*none).shared), kind);
            (*iter).private = core::ptr::null_mut();
            printed
        });
    }
    // SAFETY: As above.
    unsafe {
        let shared = addr_of_mut!((*readings).shared);
        match ((*shared).is_chosen(), is_file) {
            (true, _) => None,
            (false, true) => {
                ((*shared).resumes(iter) || is_pack).then(|| file::print(iter, shared, kind))
            }
            (false, false) => is_pack.then(|| pipe::print(iter, shared, kind)),
        }
    }
}

/// Names the one type whose [`Tracer::print`] is called.
#[macro_export]
macro_rules! bind_tracer {
    ($tracer:ty) => {
        const _: () = {
            /// # Safety
            ///
            /// For `fgraph.c`: what the kernel passed to `print_line` of this tracer.
            #[no_mangle]
            unsafe extern "C" fn ktrace_print_line(
                iter: *mut ::kernel::ffi::c_void,
            ) -> ::kernel::ffi::c_uint {
                // SAFETY: By the precondition.
                unsafe { $crate::ktrace::tracer::dispatch_print::<$tracer>(iter) }
            }
        };
    };
}
pub use bind_tracer;
