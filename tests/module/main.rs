// SPDX-License-Identifier: GPL-2.0

//! A module for tests: trace events of every kind, fired from every context on demand.
//!
//! The file `ktrace_test/fire` in the tracing directory accepts a context and a number (see
//! `contexts.c`), `attach`, `detach`, or `probed` and the name of an event, which fails with
//! `ENODATA` if no probe is attached to it (see `attach.c`), `tree` and a name (see `tree.c`),
//! `floor` and a name (see `floors.c`), `watch` and a process (see `dead.c`), or `set_back` and a
//! number of counts (see `compact.c`). It shows the sum of the numbers that the attached probe got,
//! and the number of open calls of the watched process at its exit and after its last context
//! switch.
//!
//! The module also tests that ktrace can be used by another module than ferrotrace.

use kernel::{
    cpumask::Cpumask,
    error::to_result,
    prelude::*,
    seq_file::SeqFile,
    seq_print,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

#[path = "../../src/ktrace/mod.rs"]
pub mod ktrace;

mod events;

use events::Foo;

use ktrace::{
    array::{
        module_state,
        trace_array::TypesLock,
        tracefs::{
            ControlFile,
            Dir,
            FileOps,
            FileSpec,
            OpenMode,
            MODE_WRITE, //
        },
    },
    private::symbols::Resolved,
    resolve,
    task::task_ref::with_current, //
};

module! {
    type: KtraceTest,
    name: "ktrace_test",
    authors: ["The ferrotrace authors"],
    description: "Trace events in Rust, for tests",
    license: "GPL",
}

/// The number with which events are fired.
static NUMBER: Atomic<i64> = Atomic::new(0);

extern "C" {
    fn ktrace_test_in(context: *const u8, len: usize) -> c_int;
    fn ktrace_test_tree(which: *const u8, len: usize, n: c_long) -> c_int;
    fn ktrace_test_floor(
        which: *const u8,
        len: usize,
        function: *const u8,
        function_len: usize,
    ) -> c_int;
    fn ktrace_test_no_floor();
    fn ktrace_test_attach() -> c_int;
    fn ktrace_test_detach();
    fn ktrace_test_heard() -> c_ulong;
    fn ktrace_test_probed(name: *const u8, len: usize) -> c_int;
    fn ktrace_test_watch(pid: c_int) -> c_int;
    fn ktrace_test_open_frames(gone: bool) -> c_int;
    fn ktrace_test_set_back(counts: c_long) -> c_int;
}

/// Fires all events, in any context.
#[no_mangle]
extern "C" fn ktrace_test_fire() {
    let number = NUMBER.load(Relaxed);
    let text = [b'x'; 5000];
    let long = text.get(..number.unsigned_abs() as usize).unwrap_or(&text);
    // SAFETY: `__cpu_online_mask` is always valid, and `Cpumask` is a transparent wrapper of
    // `struct cpumask`.
    let mask: &Cpumask = unsafe { &*(&raw const kernel::bindings::__cpu_online_mask).cast() };
    events::foo_bar::trace(&Foo {
        foo: b"hello you out there",
        bar: number as i32,
        list: &[1, -2, 3],
        string: b"a string",
        bits: &[0b1011],
        mask,
        formatted: b"iter=1",
        cut: b"hel",
    });
    events::integers::trace(number, number % 2 != 0);
    with_current(|task| {
        events::others::trace(
            task,
            ktrace_test_fire as usize,
            &long.get(..3).unwrap_or(long),
        );
    });
    events::long_one::trace(&long);
    events::thing::thing_made::trace(number as u32);
    events::thing::thing_gone::trace(number as u32);
    events::even::trace(number as u32);
}

/// The file `fire`.
struct Fire;

impl ControlFile for Fire {
    const MAX_WRITE: usize = 64;

    fn open(_: usize, _: OpenMode) -> Result<Self> {
        Ok(Self)
    }

    fn show(&self, out: &SeqFile) -> Result {
        // SAFETY: In task context. Accesses to this file are serialized, as
        // `ktrace_test_open_frames` requires.
        let (heard, at_end, gone) = unsafe {
            let at_end = ktrace_test_open_frames(false);
            (ktrace_test_heard(), at_end, ktrace_test_open_frames(true))
        };
        seq_print!(out, "heard {heard}\nopen {at_end} {gone}\n");
        Ok(())
    }

    fn write(&mut self, data: &[u8]) -> Result {
        let text = core::str::from_utf8(data).map_err(|_| EINVAL)?;
        let mut words = text.split_ascii_whitespace();
        let context = words.next().ok_or(EINVAL)?;
        match context {
            // SAFETY: A write may sleep. If the probe is already attached, registering it again
            // fails.
            "attach" => return to_result(unsafe { ktrace_test_attach() }),
            "detach" => {
                // SAFETY: A write may sleep. If the probe is not attached, unregistering it fails
                // without effect.
                unsafe { ktrace_test_detach() };
                return Ok(());
            }
            "probed" => {
                let name = words.next().ok_or(EINVAL)?;
                // SAFETY: `name` is valid for reads of `name.len()` bytes.
                return to_result(unsafe { ktrace_test_probed(name.as_ptr(), name.len()) });
            }
            "watch" => {
                let pid = words.next().unwrap_or("0");
                let pid = pid.parse().map_err(|_| EINVAL)?;
                // SAFETY: A write may sleep. Tests write to this file from one process at a time.
                return to_result(unsafe { ktrace_test_watch(pid) });
            }
            "set_back" => {
                let counts = words.next().unwrap_or("0");
                let counts = counts.parse().map_err(|_| EINVAL)?;
                // SAFETY: Tests keep ferrotrace loaded, and let it record nothing, while they write
                // this.
                return to_result(unsafe { ktrace_test_set_back(counts) });
            }
            "tree" => {
                let which = words.next().ok_or(EINVAL)?;
                let n = words.next().unwrap_or("0").parse().map_err(|_| EINVAL)?;
                // SAFETY: `which` is valid for reads of `which.len()` bytes. A write may sleep.
                return to_result(unsafe { ktrace_test_tree(which.as_ptr(), which.len(), n) });
            }
            "floor" => {
                let which = words.next().ok_or(EINVAL)?;
                let Some(function) = words.next() else {
                    // SAFETY: A write may sleep.
                    unsafe { ktrace_test_no_floor() };
                    return Ok(());
                };
                // SAFETY: Both pointers are valid for reads of as many bytes as passed. A write may
                // sleep.
                return to_result(unsafe {
                    ktrace_test_floor(
                        which.as_ptr(),
                        which.len(),
                        function.as_ptr(),
                        function.len(),
                    )
                });
            }
            _ => {}
        }
        let number = words.next().unwrap_or("0").parse().map_err(|_| EINVAL)?;
        NUMBER.store(number, Relaxed);
        // SAFETY: `context` is valid for reads of `context.len()` bytes. A write may sleep.
        to_result(unsafe { ktrace_test_in(context.as_ptr(), context.len()) })
    }

    fn not_copied(&mut self) {}

    fn too_long(&mut self) -> Error {
        EFBIG
    }

    fn flush(&mut self) -> Result {
        Ok(())
    }

    fn closed(&mut self) {}
}

/// The loaded module.
struct KtraceTest {
    resolved: Resolved,
    dir: Option<Dir>,
    _files: FileOps<Fire>,
}

impl Drop for KtraceTest {
    fn drop(&mut self) {
        // SAFETY: Unloading a module may sleep. A PID of 0 only ends the watch, which cannot fail.
        unsafe {
            ktrace_test_no_floor();
            ktrace_test_watch(0);
        }
        let _lock = TypesLock::new(self.resolved);
        self.dir = None;
    }
}

impl kernel::Module for KtraceTest {
    fn init(module: &'static ThisModule) -> Result<Self> {
        let resolved = resolve::resolve(module)?;
        let files = FileOps::new(resolved)?;
        let lock = TypesLock::new(resolved);
        let top = lock.arrays().find(|tr| tr.is_top()).ok_or(ENODEV)?;
        let fire = FileSpec {
            name: c"fire",
            mode: MODE_WRITE,
            handle: 0,
        };
        let dir = Dir::new(top, c"ktrace_test", core::iter::once(fire), &files)?;
        module_state::set(&lock);
        drop(lock);
        Ok(Self {
            resolved,
            dir: Some(dir),
            _files: files,
        })
    }
}
