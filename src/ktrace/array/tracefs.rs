// SPDX-License-Identifier: GPL-2.0

//! Control files in tracefs.
//!
//! C headers: `include/linux/tracefs.h`, `include/linux/seq_file.h`.
//!
//! # Lifetimes
//!
//! An open file holds a reference to the module (`owner`), so the module cannot be unloaded while a
//! file is open. tracefs does not protect a file that is being opened while the module is unloaded;
//! [`FileOps::drop`] describes how this case is handled.
//!
//! # Locking
//!
//! Each open file has its own lock. When a task that executes a program has a close-on-exec file
//! open, `flush()` is called with `exec_update_lock` held (`do_close_on_exec()`). Some files in
//! /proc take that lock with the lock of their `seq_file` held (`proc_pid_wchan()`), and lockdep
//! treats the `seq_file` locks of all files as one. So `flush()` must not take the lock of a
//! `seq_file`. The order of locks is: lock of a `seq_file`, `exec_update_lock`, lock of an open
//! file, locks that its functions take.

use core::{
    ffi::CStr,
    marker::PhantomData,
    ptr::NonNull, //
};

use kernel::{
    alloc::KVVec,
    bindings,
    error::from_result,
    fs::file::flags,
    new_mutex,
    prelude::*,
    seq_file::SeqFile,
    sync::Mutex,
    types::ForeignOwnable,
    uaccess::{
        UserPtr,
        UserSlice, //
    },
};

use super::{
    module_state,
    notify,
    trace_array::TraceArray, //
};
use crate::ktrace::{
    private::{
        cstr_ext::CStrExt,
        symbols::{
            this_module,
            Data,
            Resolved, //
        },
    },
    sync::quiesce::synchronize_tasks, //
};

/// The mode of a writable file, before tracefs applies its mount options (`TRACE_MODE_WRITE`).
pub const MODE_WRITE: u16 = 0o640;
/// The mode of a read-only file (`TRACE_MODE_READ`).
pub const MODE_READ: u16 = 0o440;

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_call_tracefs_create_file(
        name: *const c_char,
        mode: bindings::umode_t,
        parent: *mut bindings::dentry,
        data: *mut c_void,
        fops: *const bindings::file_operations,
    ) -> *mut bindings::dentry;
    fn ktrace_call_tracefs_create_dir(
        name: *const c_char,
        parent: *mut bindings::dentry,
    ) -> *mut bindings::dentry;
    fn ktrace_call_tracefs_remove(dentry: *mut bindings::dentry);
    fn ktrace_get_dentry(dentry: *mut bindings::dentry);
    fn ktrace_dentry_is_gone(dentry: *mut bindings::dentry) -> bool;
    fn ktrace_dentry_parent(dentry: *mut bindings::dentry) -> *mut bindings::dentry;
    fn ktrace_set_operations(dentry: *mut bindings::dentry, fops: *const bindings::file_operations);
    fn ktrace_inode_private(inode: *mut bindings::inode) -> *mut c_void;
}

/// A file or directory in tracefs. Its memory stays valid even if the file is removed.
///
/// # Invariants
///
/// This owns a reference to the dentry, which belongs to tracefs and has an inode.
pub(in crate::ktrace) struct Dentry(NonNull<bindings::dentry>);

// SAFETY: A reference count is not bound to a thread.
unsafe impl Send for Dentry {}
// SAFETY: All functions that are called on the dentry take the locks that they need.
unsafe impl Sync for Dentry {}

impl Dentry {
    /// Takes a reference to what a tracefs function has created. Fails with the error that the
    /// function has returned, or with `ENOMEM` if that is null.
    ///
    /// # Safety
    ///
    /// `dentry` must be the return value of a tracefs function that was called just before.
    unsafe fn new(dentry: *mut bindings::dentry) -> Result<Self> {
        // tracefs reports an error as null or, for directories, as an error pointer.
        let dentry = kernel::error::from_err_ptr(dentry)?;
        let dentry = NonNull::new(dentry).ok_or(ENOMEM)?;
        // SAFETY: `dentry` is not an error, so the caller guarantees that it is a live dentry.
        unsafe { ktrace_get_dentry(dentry.as_ptr()) };
        // INVARIANT: The reference was taken above.
        Ok(Self(dentry))
    }

    /// Creates a file in the directory `parent`.
    ///
    /// # Safety
    ///
    /// `parent` must be a tracefs directory that is not removed during the call, or null for the
    /// root. `fops` must be valid until [`Dentry::disarm`] and, after it, [`synchronize_tasks`]
    /// have returned.
    pub(in crate::ktrace) unsafe fn file(
        name: &CStr,
        mode: u16,
        parent: *mut bindings::dentry,
        data: *mut c_void,
        fops: *const bindings::file_operations,
    ) -> Result<Self> {
        // SAFETY: The caller guarantees that `parent` and `fops` are valid; `name` is a C string.
        unsafe {
            Self::new(ktrace_call_tracefs_create_file(
                name.as_chars(),
                mode,
                parent,
                data,
                fops,
            ))
        }
    }

    pub(in crate::ktrace) fn as_ptr(&self) -> *mut bindings::dentry {
        self.0.as_ptr()
    }

    /// Replaces the file's operations by inert ones, so that a later `open()` does not use this
    /// module.
    pub(in crate::ktrace) fn disarm(&self) {
        // SAFETY: By the type invariant, this is a live dentry with an inode. The inert operations
        // are the kernel's own and constant.
        unsafe { ktrace_set_operations(self.as_ptr(), Data::InertFops.as_ptr()) }
    }

    /// Returns whether the file was removed. Without `trace_types_lock`, it may be removed at any
    /// time.
    pub(in crate::ktrace) fn is_gone(&self) -> bool {
        // SAFETY: By the type invariant, this is a live dentry.
        unsafe { ktrace_dentry_is_gone(self.as_ptr()) }
    }

    /// Removes the file, or the directory with its content, unless it has been removed already. The
    /// caller must hold `trace_types_lock`, as the kernel does when it removes the files of an
    /// instance.
    pub(in crate::ktrace) fn remove(&self) {
        if !self.is_gone() {
            // SAFETY: By the type invariant, this is a live dentry, and it has not been removed:
            // other code removes it only with the lock held.
            unsafe { ktrace_call_tracefs_remove(self.as_ptr()) };
        }
    }
}

impl Drop for Dentry {
    fn drop(&mut self) {
        // SAFETY: Releases the reference that this owns.
        unsafe { bindings::dput(self.as_ptr()) }
    }
}

/// Writes bytes to the output of a file without changes; task names may not be valid UTF-8.
pub fn write_bytes(out: &SeqFile, bytes: &[u8]) {
    // SAFETY: `SeqFile` has the layout of the `struct seq_file` that it wraps, and is alive; the
    // bytes are copied.
    unsafe {
        bindings::seq_write(
            core::ptr::from_ref(out).cast_mut().cast(),
            bytes.as_ptr().cast(),
            bytes.len(),
        )
    };
}

/// Writes the name of the function at address `ip` to the output of a file.
pub fn write_symbol(out: &SeqFile, ip: usize) {
    // SAFETY: `SeqFile` has the layout of the `struct seq_file` that it wraps, and is alive; `%ps`
    // takes any address.
    unsafe {
        bindings::seq_printf(
            core::ptr::from_ref(out).cast_mut().cast(),
            c"%ps".as_chars(),
            ip as *const c_void,
        )
    };
}

/// The mode in which a file was opened.
#[derive(Clone, Copy)]
pub struct OpenMode {
    /// The file was opened for writing, or for reading and writing.
    pub write: bool,
    /// The previous content must be replaced: `O_TRUNC`, the shell's `>`.
    pub truncate: bool,
}

/// An open control file.
pub trait ControlFile: Send + Sized + Unpin + 'static {
    /// Opens the file that was created with `handle`. Called only after [`module_state::set`], in
    /// task context.
    fn open(handle: usize, mode: OpenMode) -> Result<Self>;

    /// Prints the content of the file. May be called again for the same read, with a larger buffer.
    fn show(&self, out: &SeqFile) -> Result;

    /// The maximum length of a write, in bytes. A longer write is rejected without being copied.
    const MAX_WRITE: usize;

    /// Handles the data of one `write()` call.
    fn write(&mut self, data: &[u8]) -> Result;

    /// Handles a write that is longer than [`ControlFile::MAX_WRITE`], and returns the error for
    /// it.
    fn too_long(&mut self) -> Error;

    /// Handles a write whose data could not be copied: the address was invalid, or memory was
    /// short.
    fn not_copied(&mut self);

    /// Returns whether the content has changed since the file was opened or last read, for
    /// `poll()`; `None` for a file that can always be read. A change must be followed by
    /// [`notify`](super::notify::notify).
    fn has_news(&self) -> Option<bool> {
        None
    }

    /// Handles the `close()` of a descriptor of this open file; there may be other descriptors.
    fn flush(&mut self) -> Result;

    /// Handles the release of the open file. [`ControlFile::flush`] was called before, unless the
    /// file never had a descriptor: because the kernel rejected the `open()` after this module had
    /// accepted it, or because the file was opened by io_uring without a descriptor.
    fn closed(&mut self);
}

/// The operations of control files of type `T`.
///
/// # Invariants
///
/// `ops` does not change after `new()` and outlives every file that was created with it.
pub struct FileOps<T: ControlFile> {
    ops: KBox<bindings::file_operations>,
    _type: PhantomData<fn() -> T>,
}

// SAFETY: The table is constant and only read.
unsafe impl<T: ControlFile> Send for FileOps<T> {}
// SAFETY: The table is constant and only read.
unsafe impl<T: ControlFile> Sync for FileOps<T> {}

impl<T: ControlFile> FileOps<T> {
    /// Creates the table of operations. May sleep. Fails with `ENOMEM` if memory is short.
    pub fn new(_: Resolved) -> Result<Self> {
        let ops = bindings::file_operations {
            owner: this_module(),
            open: Some(open::<T>),
            read: Some(bindings::seq_read),
            write: Some(write::<T>),
            llseek: Some(bindings::seq_lseek),
            poll: Some(poll::<T>),
            flush: Some(flush::<T>),
            release: Some(release::<T>),
            ..pin_init::zeroed()
        };
        Ok(Self {
            ops: KBox::new(ops, GFP_KERNEL)?,
            _type: PhantomData,
        })
    }
}

impl<T: ControlFile> Drop for FileOps<T> {
    /// Waits until no task uses the operations. All directories with these files must have been
    /// dropped before, which replaced the operations in their inodes. A task may have read the
    /// operations of an inode just before that and access `owner` now. It does so without sleeping,
    /// so it has finished when every task has slept once.
    fn drop(&mut self) {
        notify::sync();
        synchronize_tasks();
    }
}

/// The specification of a control file.
pub struct FileSpec {
    /// The name of the file.
    pub name: &'static CStr,
    /// The file mode, [`MODE_WRITE`] or [`MODE_READ`].
    pub mode: u16,
    /// The argument of [`ControlFile::open`].
    pub handle: usize,
}

/// A directory of control files.
///
/// Must be dropped with `trace_types_lock` held, because an instance may be removed at any other
/// time. Dropping it removes what is left of the directory.
pub struct Dir {
    dir: Dentry,
    files: KVec<Dentry>,
}

impl Dir {
    /// Creates the directory `name` in that of `tr`, with `files` in it. May sleep; the caller must
    /// hold `trace_types_lock`.
    ///
    /// # Errors
    ///
    /// `ENOMEM` for all errors, because tracefs does not distinguish them: out of memory, the
    /// directory exists, lockdown, or `tr` has no directory. After an error, no file or directory
    /// is left.
    pub fn new<T: ControlFile>(
        tr: &TraceArray,
        name: &CStr,
        files: impl Iterator<Item = FileSpec>,
        ops: &FileOps<T>,
    ) -> Result<Self> {
        // A null parent would create the directory in the root of tracefs.
        if tr.dir().is_null() && !tr.is_top() {
            return Err(ENOMEM);
        }
        // SAFETY: `tr.dir()` is the directory of a live trace array, or null for the root.
        let dir =
            unsafe { Dentry::new(ktrace_call_tracefs_create_dir(name.as_chars(), tr.dir()))? };
        let mut this = Self {
            dir,
            files: KVec::new(),
        };
        for spec in files {
            // Reserved first, so that each file that is created is in `files` and will be disarmed.
            this.files.reserve(1, GFP_KERNEL)?;
            // SAFETY: The directory was created above. By its invariant, `ops` outlives the file:
            // its drop waits after the drop of this directory has disarmed the file.
            let file = unsafe {
                Dentry::file(
                    spec.name,
                    spec.mode,
                    this.dir.as_ptr(),
                    spec.handle as *mut c_void,
                    &*ops.ops,
                )?
            };
            this.files.push(file, GFP_KERNEL)?;
        }
        Ok(this)
    }

    /// Returns whether this directory is (still) in that of `tr`, and not in that of a removed
    /// trace array that had the same address.
    pub fn is_of(&self, tr: &TraceArray) -> bool {
        // SAFETY: By the invariant of `Dentry`, this is a live dentry. It holds a reference to its
        // parent, so no other directory can have the parent's address.
        let parent = unsafe { ktrace_dentry_parent(self.dir.as_ptr()) };
        tr.is_top() || parent == tr.dir()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        self.files.iter().for_each(Dentry::disarm);
        self.dir.remove();
    }
}

/// The private data of an open file's `seq_file`.
type Opened<T> = Pin<KBox<Mutex<T>>>;

/// Returns the control file of an open `struct file`.
///
/// # Safety
///
/// `file` must have been opened by `open::<T>()` and must not be released during `'a`.
unsafe fn opened<'a, T: ControlFile>(file: *mut bindings::file) -> &'a Mutex<T> {
    // SAFETY: `single_open()` stored a `seq_file` in `private_data`, and `open()` passed it the
    // pointer of an `Opened<T>`, which is valid until the file is released.
    unsafe {
        let seq: *mut bindings::seq_file = (*file).private_data.cast();
        Opened::<T>::borrow((*seq).private).get_ref()
    }
}

/// # Safety
///
/// Only for the VFS: `inode` must be that of a file that [`Dir::new`] created for `T`, and `file`
/// must be a file that is being opened.
unsafe extern "C" fn open<T: ControlFile>(
    inode: *mut bindings::inode,
    file: *mut bindings::file,
) -> c_int {
    from_result(|| {
        module_state::check()?;
        // SAFETY: The inode belongs to a file of this module; its private data is the handle.
        let handle = unsafe { ktrace_inode_private(inode) } as usize;
        // SAFETY: The file is being opened, so its flags do not change.
        let how = unsafe { (*file).f_flags };
        let mode = OpenMode {
            write: how & flags::O_ACCMODE != flags::O_RDONLY,
            truncate: how & flags::O_TRUNC != 0,
        };
        let opened: Opened<T> = KBox::pin_init(
            new_mutex!(T::open(handle, mode)?, "ControlFile::lock"),
            GFP_KERNEL,
        )?;
        let opened = opened.into_foreign();
        // SAFETY: `file` is being opened, and `show()` has the right type.
        let ret = unsafe { bindings::single_open(file, Some(show::<T>), opened) };
        if ret < 0 {
            // SAFETY: The pointer is from `into_foreign()` above; `single_open()` has failed and
            // does not keep it.
            drop(unsafe { Opened::<T>::from_foreign(opened) });
        }
        Ok(ret)
    })
}

/// # Safety
///
/// Only for `seq_read()`: `seq` must be the `seq_file` that `open()` set up.
unsafe extern "C" fn show<T: ControlFile>(seq: *mut bindings::seq_file, _: *mut c_void) -> c_int {
    from_result(|| {
        // SAFETY: `open()` stored the pointer of an `Opened<T>`, which is valid until `release()`.
        let this = unsafe { Opened::<T>::borrow((*seq).private) };
        // SAFETY: The caller guarantees that `seq` is a valid `seq_file` until this returns.
        this.lock().show(unsafe { SeqFile::from_raw(seq) })?;
        Ok(0)
    })
}

/// # Safety
///
/// Only for the VFS: `file` must have been opened by `open()` and not be released until this
/// returns. `from` is a user-space pointer, and `pos` must be valid.
unsafe extern "C" fn write<T: ControlFile>(
    file: *mut bindings::file,
    from: *const c_char,
    count: usize,
    pos: *mut bindings::loff_t,
) -> isize {
    from_result(|| {
        // Copied before the lock is taken, because a page fault may take long.
        let mut data = KVVec::new();
        let copied = match count <= T::MAX_WRITE {
            true => UserSlice::new(UserPtr::from_ptr(from.cast_mut().cast()), count)
                .read_all(&mut data, GFP_KERNEL),
            false => Ok(()),
        };
        // SAFETY: The caller guarantees that `open()` opened `file` and that it is not released.
        let mut this = unsafe { opened::<T>(file) }.lock();
        if count > T::MAX_WRITE {
            return Err(this.too_long());
        }
        copied.inspect_err(|_| this.not_copied())?;
        this.write(&data)?;
        // SAFETY: The caller guarantees that `pos` is valid.
        unsafe { *pos = (*pos).wrapping_add(count as bindings::loff_t) };
        Ok(count as isize)
    })
}

/// # Safety
///
/// Only for the VFS: `file` must have been opened by `open()` and not be released until this
/// returns, and `table` must be valid.
unsafe extern "C" fn poll<T: ControlFile>(
    file: *mut bindings::file,
    table: *mut bindings::poll_table_struct,
) -> bindings::__poll_t {
    // SAFETY: The caller guarantees that `open()` opened `file`, that it is not released, and that
    // the arguments are those of the VFS.
    unsafe { notify::poll(file, table, || opened::<T>(file).lock().has_news()) }
}

/// # Safety
///
/// Only for the VFS: `file` must have been opened by `open()` and not be released until this
/// returns.
unsafe extern "C" fn flush<T: ControlFile>(
    file: *mut bindings::file,
    _: bindings::fl_owner_t,
) -> c_int {
    from_result(|| {
        // SAFETY: The caller guarantees that `open()` opened `file` and that it is not released.
        unsafe { opened::<T>(file) }.lock().flush()?;
        Ok(0)
    })
}

/// # Safety
///
/// Only for the VFS: `file` must have been opened by `open()`. This is its release, which is called
/// once.
unsafe extern "C" fn release<T: ControlFile>(
    inode: *mut bindings::inode,
    file: *mut bindings::file,
) -> c_int {
    // SAFETY: `single_open()` stored a `seq_file` in `private_data`, and `open()` passed it the
    // pointer of an `Opened<T>` from `into_foreign()`. The VFS does not use the file after this.
    let opened = unsafe {
        let seq: *mut bindings::seq_file = (*file).private_data.cast();
        Opened::<T>::from_foreign((*seq).private)
    };
    opened.lock().closed();
    drop(opened);
    // SAFETY: `single_open()` opened the file.
    unsafe { bindings::single_release(inode, file) }
}
