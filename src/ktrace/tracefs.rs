// SPDX-License-Identifier: GPL-2.0

//! Control files in tracefs.
//!
//! C headers: `include/linux/tracefs.h`, `include/linux/seq_file.h`.
//!
//! # Lifetimes
//!
//! An open file holds the module (`owner`), so the module cannot go while one is open. A file that
//! is being opened while the module goes is the hard case, since tracefs itself has no protection
//! from it: [`FileOps::drop`] says how it is dealt with.
//!
//! # Locking
//!
//! An open file has a lock of its own. Whoever executes a program while he has a file open that is closed by that calls
//! `flush()` with `exec_update_lock` held (`do_close_on_exec()`), which files of /proc take with the lock of their `seq_file`
//! held (`proc_pid_wchan()`): those locks of all files are one to lockdep, and so must not be taken there. The order is: lock
//! of a `seq_file`, `exec_update_lock`, that of an open file, and whatever what it does takes.

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
    cstr::Chars,
    live,
    symbols::{
        this_module,
        Data,
        Resolved, //
    },
    task::synchronize_tasks,
    trace_array::TraceArray, //
};

/// Mode of a file that can be written to, before tracefs's mount options (`TRACE_MODE_WRITE`).
pub const MODE_WRITE: u16 = 0o640;
/// Mode of a file that can only be read (`TRACE_MODE_READ`).
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

/// A file or folder, with a reference of its own: the memory stays, whatever happens to the file.
///
/// # Invariants
///
/// Owns a reference to the dentry, which is of tracefs and has an inode.
pub(super) struct Dentry(NonNull<bindings::dentry>);

// SAFETY: A reference count belongs to no thread.
unsafe impl Send for Dentry {}
// SAFETY: All that is done to it is done by functions that lock what they need.
unsafe impl Sync for Dentry {}

impl Dentry {
    /// # Safety
    ///
    /// `dentry` must be null or what tracefs returned just now.
    unsafe fn new(dentry: *mut bindings::dentry) -> Result<Self> {
        // tracefs reports every failure as null, or, for folders, as an error pointer.
        let dentry = kernel::error::from_err_ptr(dentry)?;
        let dentry = NonNull::new(dentry).ok_or(ENOMEM)?;
        // SAFETY: A live dentry, by the precondition.
        unsafe { ktrace_get_dentry(dentry.as_ptr()) };
        // INVARIANT: Just taken.
        Ok(Self(dentry))
    }

    /// Creates a file below `parent`.
    ///
    /// # Safety
    ///
    /// `parent` must be a folder of tracefs that stays, or null for its root, and `fops` be valid
    /// until [`Dentry::disarm`] was called and [`synchronize_tasks`] after that.
    pub(super) unsafe fn file(
        name: &CStr,
        mode: u16,
        parent: *mut bindings::dentry,
        data: *mut c_void,
        fops: *const bindings::file_operations,
    ) -> Result<Self> {
        // SAFETY: By the preconditions.
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

    pub(super) fn as_ptr(&self) -> *mut bindings::dentry {
        self.0.as_ptr()
    }

    /// Leaves the file nothing to do when it is opened from now on.
    pub(super) fn disarm(&self) {
        // SAFETY: A live dentry with an inode, by the invariant; the operations are the kernel's
        // own and constant.
        unsafe { ktrace_set_operations(self.as_ptr(), Data::InertFops.as_ptr()) }
    }

    /// Whether it was taken away. `trace_types_lock` must be held, or it may be now.
    pub(super) fn is_gone(&self) -> bool {
        // SAFETY: A live dentry, by the invariant.
        unsafe { ktrace_dentry_is_gone(self.as_ptr()) }
    }

    /// Takes the file or folder away, with all that is in it, unless that has happened already.
    /// `trace_types_lock` must be held, as it is when an instance removes its files.
    pub(super) fn remove(&self) {
        if !self.is_gone() {
            // SAFETY: A live dentry, by the invariant, which is still there: nobody else removes it
            // without the lock.
            unsafe { ktrace_call_tracefs_remove(self.as_ptr()) };
        }
    }
}

impl Drop for Dentry {
    fn drop(&mut self) {
        // SAFETY: Gives back the reference that this owns.
        unsafe { bindings::dput(self.as_ptr()) }
    }
}

/// Puts bytes into what a file shows, as they are: names of tasks need not be text.
pub fn write_bytes(out: &SeqFile, bytes: &[u8]) {
    // SAFETY: A `SeqFile` is laid out as the `struct seq_file` that it wraps, and is alive; the
    // bytes are copied.
    unsafe {
        bindings::seq_write(
            core::ptr::from_ref(out).cast_mut().cast(),
            bytes.as_ptr().cast(),
            bytes.len(),
        )
    };
}

/// Prints the name of the function at an address.
pub fn write_symbol(out: &SeqFile, ip: usize) {
    // SAFETY: As above; `%ps` takes any address.
    unsafe {
        bindings::seq_printf(
            core::ptr::from_ref(out).cast_mut().cast(),
            c"%ps".as_chars(),
            ip as *const c_void,
        )
    };
}

/// How a file was opened.
#[derive(Clone, Copy)]
pub struct OpenMode {
    /// For writing (as well).
    pub write: bool,
    /// What it held is to be replaced: `O_TRUNC`, the shell's `>`.
    pub truncate: bool,
}

/// A control file, opened.
pub trait ControlFile: Send + Sized + Unpin + 'static {
    /// Opens the file that was made with `handle`; not before [`live::set`]. Task context.
    fn open(handle: usize, mode: OpenMode) -> Result<Self>;

    /// Prints what the file says. May be called again for the same read, with more room.
    fn show(&self, out: &SeqFile) -> Result;

    /// The longest write that is taken, in bytes; a longer one is refused before it is looked at.
    const MAX_WRITE: usize;

    /// Takes what was written in one call.
    fn write(&mut self, data: &[u8]) -> Result;

    /// A write was longer than [`ControlFile::MAX_WRITE`]. The error for it.
    fn too_long(&mut self) -> Error;

    /// What was written could not be copied: the address was bad, or there was no memory.
    fn not_copied(&mut self);

    /// A descriptor of this open file is being closed; there may be others.
    fn flush(&mut self) -> Result;

    /// The file is not open any more. [`ControlFile::flush`] was called before, unless it was opened for nobody, as
    /// the kernel found that it must not be, or for a user who had no descriptor of it (io_uring).
    fn closed(&mut self);
}

/// Operations for files of type `T`.
///
/// # Invariants
///
/// `ops` is as `new()` made it and outlives every file that was made with it.
pub struct FileOps<T: ControlFile> {
    ops: KBox<bindings::file_operations>,
    _type: PhantomData<fn() -> T>,
}

// SAFETY: A table of constants, which is only read.
unsafe impl<T: ControlFile> Send for FileOps<T> {}
// SAFETY: As above.
unsafe impl<T: ControlFile> Sync for FileOps<T> {}

impl<T: ControlFile> FileOps<T> {
    /// Makes the table. May sleep.
    pub fn new(_: Resolved) -> Result<Self> {
        let ops = bindings::file_operations {
            owner: this_module(),
            open: Some(open::<T>),
            read: Some(bindings::seq_read),
            write: Some(write::<T>),
            llseek: Some(bindings::seq_lseek),
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
    /// All folders with these files must have been dropped, which took the operations from their
    /// inodes. Somebody may have read an inode's operations just before and look at `owner` now:
    /// that is done without sleeping, so it is over when every task has slept once.
    fn drop(&mut self) {
        synchronize_tasks();
    }
}

/// A file to be made.
pub struct FileSpec {
    /// Its name.
    pub name: &'static CStr,
    /// [`MODE_WRITE`] or [`MODE_READ`].
    pub mode: u16,
    /// What [`ControlFile::open`] is given.
    pub handle: usize,
}

/// A folder of control files.
///
/// Dropped under `trace_types_lock` (an instance may be removed at any other time); what is left of
/// it is taken away.
pub struct Dir {
    dir: Dentry,
    files: KVec<Dentry>,
}

impl Dir {
    /// Makes the folder `name` in that of `tr`, with `files` in it. May sleep;
    /// `trace_types_lock` must be held.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, whatever was wrong, as tracefs tells no more (there is such a folder; lockdown; `tr` itself has
    /// none); nothing is left behind.
    pub fn new<T: ControlFile>(
        tr: &TraceArray,
        name: &CStr,
        files: impl Iterator<Item = FileSpec>,
        ops: &FileOps<T>,
    ) -> Result<Self> {
        // The root would be taken for the folder of an instance that has none.
        if tr.dir().is_null() && !tr.is_top() {
            return Err(ENOMEM);
        }
        // SAFETY: The folder of a trace array that is alive, or null for the root.
        let dir =
            unsafe { Dentry::new(ktrace_call_tracefs_create_dir(name.as_chars(), tr.dir()))? };
        let mut this = Self {
            dir,
            files: KVec::new(),
        };
        for spec in files {
            // So that no file is made that is not among `files`, which are disarmed.
            this.files.reserve(1, GFP_KERNEL)?;
            // SAFETY: The folder was made just now; `ops` outlives the file, by its invariant: its
            // drop waits after this folder's has disarmed the file.
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

    /// Whether this folder is (still) in that of `tr`, and not in that of a trace array which had
    /// the same address before.
    pub fn is_of(&self, tr: &TraceArray) -> bool {
        // SAFETY: A live dentry, by the invariant of `Dentry`; it keeps its parent's memory, so no
        // other folder can have that address.
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

/// What an open file's `seq_file` refers to.
type Opened<T> = Pin<KBox<Mutex<T>>>;

/// The opened file that `file` stands for.
///
/// # Safety
///
/// `file` must have been opened by `open::<T>()`, and not be released while this is used.
unsafe fn opened<'a, T: ControlFile>(file: *mut bindings::file) -> &'a Mutex<T> {
    // SAFETY: `single_open()` put a `seq_file` there, and `open()` what it opened into that.
    unsafe {
        let seq: *mut bindings::seq_file = (*file).private_data.cast();
        Opened::<T>::borrow((*seq).private).get_ref()
    }
}

/// # Safety
///
/// For the VFS: the inode of a file that [`Dir::new`] made for `T`, and a file that is being
/// opened.
unsafe extern "C" fn open<T: ControlFile>(
    inode: *mut bindings::inode,
    file: *mut bindings::file,
) -> c_int {
    from_result(|| {
        live::check()?;
        // SAFETY: The inode of one of our files, which carries the handle.
        let handle = unsafe { ktrace_inode_private(inode) } as usize;
        // SAFETY: The file is being opened: nobody changes its flags.
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
        // SAFETY: A file that is being opened, and a function of the right type.
        let ret = unsafe { bindings::single_open(file, Some(show::<T>), opened) };
        if ret < 0 {
            // SAFETY: From `into_foreign()` just above; a failed `single_open()` has not kept it.
            drop(unsafe { Opened::<T>::from_foreign(opened) });
        }
        Ok(ret)
    })
}

/// # Safety
///
/// For `seq_read()`: the `seq_file` that `open()` set up.
unsafe extern "C" fn show<T: ControlFile>(seq: *mut bindings::seq_file, _: *mut c_void) -> c_int {
    from_result(|| {
        // SAFETY: `open()` put it there, and it lives until `release()`.
        let this = unsafe { Opened::<T>::borrow((*seq).private) };
        // SAFETY: A live seq_file, while this function runs.
        this.lock().show(unsafe { SeqFile::from_raw(seq) })?;
        Ok(0)
    })
}

/// # Safety
///
/// For the VFS: a file of this module's that `open()` opened and that is not released yet. `from`
/// is a pointer of user space, `pos` a valid one.
unsafe extern "C" fn write<T: ControlFile>(
    file: *mut bindings::file,
    from: *const c_char,
    count: usize,
    pos: *mut bindings::loff_t,
) -> isize {
    from_result(|| {
        // Copied before the lock is taken: a fault may take time.
        let mut data = KVVec::new();
        let copied = match count <= T::MAX_WRITE {
            true => UserSlice::new(UserPtr::from_ptr(from.cast_mut().cast()), count)
                .read_all(&mut data, GFP_KERNEL),
            false => Ok(()),
        };
        // SAFETY: The VFS calls this for a file that `open()` opened.
        let mut this = unsafe { opened::<T>(file) }.lock();
        if count > T::MAX_WRITE {
            return Err(this.too_long());
        }
        copied.inspect_err(|_| this.not_copied())?;
        this.write(&data)?;
        // SAFETY: The VFS passes a valid position.
        unsafe { *pos = (*pos).wrapping_add(count as bindings::loff_t) };
        Ok(count as isize)
    })
}

/// # Safety
///
/// For the VFS: a file of this module's that `open()` opened and that is not released yet.
unsafe extern "C" fn flush<T: ControlFile>(
    file: *mut bindings::file,
    _: bindings::fl_owner_t,
) -> c_int {
    from_result(|| {
        // SAFETY: The VFS calls this for a file that `open()` opened.
        unsafe { opened::<T>(file) }.lock().flush()?;
        Ok(0)
    })
}

/// # Safety
///
/// For the VFS: a file of this module's that `open()` opened and that is not released yet. This
/// is its release.
unsafe extern "C" fn release<T: ControlFile>(
    inode: *mut bindings::inode,
    file: *mut bindings::file,
) -> c_int {
    // SAFETY: `single_open()` put a `seq_file` there, and `open()` into that what it made by `into_foreign()`; this is the
    // last use of the file.
    let opened = unsafe {
        let seq: *mut bindings::seq_file = (*file).private_data.cast();
        Opened::<T>::from_foreign((*seq).private)
    };
    opened.lock().closed();
    drop(opened);
    // SAFETY: Opened by `single_open()`.
    unsafe { bindings::single_release(inode, file) }
}
