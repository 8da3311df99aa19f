// SPDX-License-Identifier: GPL-2.0

//! Gives a tracer its options in each trace array, with the files in `options/`.
//!
//! C header: `kernel/trace/trace.h`.

use core::mem::size_of;

use kernel::{
    bindings,
    prelude::*, //
};

use super::{
    registration::TracerRegistration,
    tracer::Tracer, //
};
use crate::ktrace::private::zalloc::ktrace_zalloc;
use crate::ktrace::{
    array::{
        options,
        trace_array::{
            TraceArray,
            TypesLock, //
        },
        tracefs::{
            Dentry,
            MODE_WRITE, //
        },
    },
    private::abi, //
};

impl<T: Tracer> TracerRegistration<T> {
    /// Makes the tracer available in `tr`, with its own options there, if it is not yet. Must be
    /// called for each trace array, also for those that are created later. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if memory is short: then the tracer is not available there (`current_tracer`
    /// returns `EAGAIN`), or lacks option files there. The next call retries.
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
    pub(super) unsafe fn abandon(&self, tr: &TraceArray, lock: &TypesLock) {
        // SAFETY: There is no option file, as the caller guarantees.
        unsafe { self.drop_places(tr, lock) };
        options::remove(tr, self.tracer_ptr(), lock);
    }
}
