// SPDX-License-Identifier: GPL-2.0

//! Symbols that the kernel does not export, and the check that the running kernel is compatible.
//!
//! A module calls `find()` first. It looks up every symbol in the two tables below and compares
//! the types in the running kernel's BTF with those that the module was compiled against. If a
//! symbol is missing or a type differs, it fails before the module has changed anything.
//!
//! # How the functions are called
//!
//! Each `ktrace_call_NAME()` is a branch whose target `find()` sets; `symbols.c` explains why it
//! is not a call through a pointer. These functions must not be called before that. Therefore
//! nothing in `ktrace` can be constructed without a [`Resolved`].

use core::ffi::CStr;

use kernel::{
    alloc::KVVec,
    bindings,
    error::to_result,
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use super::{
    abi,
    btf::Btf,
    cstr_ext::CStrExt, //
};
use crate::ktrace::sync::{
    atomic::AtomicPtr,
    read_once::ReadOnce, //
};

/// A symbol that the kernel does not export.
struct Symbol {
    name: &'static CStr,
    /// The feature that needs this symbol.
    user: &'static str,
    /// The kernel option or version that provides it.
    option: &'static str,
}

macro_rules! functions {
    ($($(#[$meta:meta])* $name:literal, $option:literal: $user:literal;)*) => {
        /// The functions to call, in the order of `unexported.h`.
        const FUNCTIONS: &[Symbol] = &[
            $($(#[$meta])* Symbol { name: $name, user: $user, option: $option }),*
        ];
    };
}

functions! {
    c"kallsyms_lookup_name", "CONFIG_KALLSYMS": "every other symbol";
    c"tracefs_create_file", "CONFIG_TRACING": "control files";
    c"tracefs_create_dir", "CONFIG_TRACING": "the directory of control files";
    c"tracefs_remove", "CONFIG_TRACING": "removing control files and options";
    c"tracing_check_open_get_tr", "CONFIG_TRACING": "references to trace arrays";
    c"trace_array_put", "CONFIG_TRACING": "references to trace arrays";
    c"tracing_log_err", "CONFIG_TRACING": "error_log";
    c"sched_clock_noinstr", "Linux 6.5 or later": "the durations of calls";
    c"tracing_start_cmdline_record", "CONFIG_TRACING": "names of tasks in the output";
    c"tracing_stop_cmdline_record", "CONFIG_TRACING": "names of tasks in the output";
    c"tracing_record_taskinfo_sched_switch", "CONFIG_TRACING": "names of tasks in the output";
    c"ring_buffer_record_is_on_cpu", "CONFIG_RING_BUFFER": "counting lost records";
    c"__get_wchan", "CONFIG_KALLSYMS": "the function in which a task sleeps";
    c"register_ftrace_graph", "CONFIG_FUNCTION_GRAPH_TRACER": "the call graph";
    c"unregister_ftrace_graph", "CONFIG_FUNCTION_GRAPH_TRACER": "the call graph";
    c"fgraph_init_ops", "CONFIG_FUNCTION_GRAPH_TRACER": "the call graph";
    c"fgraph_reserve_data", "CONFIG_FUNCTION_GRAPH_TRACER": "the call graph";
    c"fgraph_retrieve_parent_data", "CONFIG_FUNCTION_GRAPH_TRACER": "the call graph";
    c"fgraph_get_task_var", "CONFIG_FUNCTION_GRAPH_TRACER": "the call graph";
    c"ftrace_graph_ret_addr", "CONFIG_FUNCTION_GRAPH_TRACER": "the caller under a graph tracer";
    c"ftrace_graph_get_ret_stack", "CONFIG_FUNCTION_GRAPH_TRACER": "the callers of a call";
    c"ftrace_graph_top_ret_addr", "CONFIG_FUNCTION_GRAPH_TRACER": "where a call returns to";
    c"kallsyms_on_each_match_symbol", "CONFIG_KALLSYMS": "set_graph_function";
    c"trace_default_header", "CONFIG_TRACING": "the head of the output";
    c"print_graph_headers_flags", "CONFIG_FUNCTION_GRAPH_TRACER": "the head of the output";
    c"trace_print_graph_duration", "CONFIG_FUNCTION_GRAPH_TRACER": "durations in the output";
    c"trace_find_mark", "CONFIG_FUNCTION_GRAPH_TRACER": "marks of long calls";
    c"trace_print_lat_fmt", "CONFIG_TRACING": "contexts in the output";
    c"trace_find_cmdline", "CONFIG_TRACING": "names of tasks in the output";
    c"ftrace_find_event", "CONFIG_TRACING": "other records among calls";
    c"trace_print_bputs_msg_only", "CONFIG_TRACING": "trace_puts() among calls";
    c"trace_print_bprintk_msg_only", "CONFIG_TRACING": "trace_printk() among calls";
    c"trace_print_printk_msg_only", "CONFIG_TRACING": "trace_marker among calls";
    c"print_function_args", "CONFIG_FUNCTION_TRACE_ARGS": "arguments of calls";
    c"print_trace_line", "CONFIG_TRACING": "compact records in the output";
    c"task_work_add", "Linux 6.12 or later": "noticing new instances";
    #[cfg(CONFIG_TRACER_SNAPSHOT)]
    c"tracing_arm_snapshot", "CONFIG_TRACER_SNAPSHOT": "snapshots by triggers";
    #[cfg(CONFIG_TRACER_SNAPSHOT)]
    c"tracing_disarm_snapshot", "CONFIG_TRACER_SNAPSHOT": "snapshots by triggers";
    #[cfg(CONFIG_TRACER_SNAPSHOT)]
    c"tracing_snapshot_instance", "CONFIG_TRACER_SNAPSHOT": "snapshots by triggers";
}

// The build fails if `unexported.h` has other functions, or another order.
const _: () = {
    /// Returns the rest of `text` after `prefix`, or `None` if it does not begin with it.
    const fn strip_prefix<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
        match (text.split_first(), prefix.split_first()) {
            (_, None) => Some(text),
            (Some((byte, text)), Some((expected, prefix))) if *byte == *expected => {
                strip_prefix(text, prefix)
            }
            _ => None,
        }
    }

    let mut text = include_bytes!("unexported.h").as_slice();
    let mut index = 0;
    while !text.is_empty() {
        // The functions after this line are built neither here nor there.
        let rest = strip_prefix(text, b"\n#ifdef CONFIG_TRACER_SNAPSHOT");
        if rest.is_some() && !cfg!(CONFIG_TRACER_SNAPSHOT) {
            break;
        }
        if let Some(name) = strip_prefix(text, b"\nKTRACE_FUNCTION(") {
            let listed = strip_prefix(name, FUNCTIONS[index].name.to_bytes());
            assert!(matches!(listed, Some([b')', b';', ..])));
            index += 1;
        }
        text = text.split_at(1).1;
    }
    assert!(index == FUNCTIONS.len());
};

macro_rules! data {
    ($($id:ident = $name:literal, $option:literal: $user:literal;)*) => {
        /// Kernel data that is accessed by its address.
        #[derive(Clone, Copy)]
        pub(in crate::ktrace) enum Data { $(#[doc = concat!("For ", $user, ".")] $id),* }
        static DATA: &[Symbol] = &[$(Symbol { name: $name, user: $user, option: $option }),*];
        static ADDRESSES: [Atomic<usize>; [$($name),*].len()] =
            [const { Atomic::new(0) }; [$($name),*].len()];
    };
}

data! {
    TraceTypes = c"trace_types", "CONFIG_KALLSYMS_ALL": "available_tracers";
    TraceTypesLock = c"trace_types_lock", "CONFIG_KALLSYMS_ALL": "both lists";
    TraceArrays = c"ftrace_trace_arrays", "CONFIG_KALLSYMS_ALL": "finding every trace array";
    ErrorLogLock = c"tracing_err_log_lock", "CONFIG_KALLSYMS_ALL": "clearing error_log";
    OptionFops = c"trace_options_fops", "CONFIG_KALLSYMS_ALL": "files below options/";
    InertFops = c"tracefs_file_operations", "CONFIG_KALLSYMS_ALL": "removing files safely";
    TaskinfoSave = c"trace_taskinfo_save", "CONFIG_KALLSYMS_ALL": "names of tasks in the output";
    ReturnToHandler = c"return_to_handler", "CONFIG_FUNCTION_GRAPH_TRACER": "the true caller";
    GraphHash = c"ftrace_graph_hash", "CONFIG_KALLSYMS_ALL": "set_graph_function";
    GraphNotraceHash = c"ftrace_graph_notrace_hash", "CONFIG_KALLSYMS_ALL": "set_graph_notrace";
    GraphLock = c"graph_lock", "CONFIG_KALLSYMS_ALL": "set_graph_function";
    EventMutex = c"event_mutex", "CONFIG_KALLSYMS_ALL": "events between compact records";
    GraphMaxDepth = c"fgraph_max_depth", "CONFIG_KALLSYMS_ALL": "max_graph_depth";
    TracingThresh = c"tracing_thresh", "CONFIG_KALLSYMS_ALL": "tracing_thresh";
    TraceSeqOps = c"tracer_seq_ops", "CONFIG_KALLSYMS_ALL": "compact records";
    GlobalTrace = c"global_trace", "CONFIG_KALLSYMS_ALL": "the trace clock in use";
    TraceClocks = c"trace_clocks", "CONFIG_KALLSYMS_ALL": "the trace clock in use";
    IrqTextStart = c"__irqentry_text_start", "CONFIG_KALLSYMS": "interrupts in the output";
    IrqTextEnd = c"__irqentry_text_end", "CONFIG_KALLSYMS": "interrupts in the output";
    NoinstrTextStart = c"__noinstr_text_start", "CONFIG_KALLSYMS": "where the kernel is entered";
    NoinstrTextEnd = c"__noinstr_text_end", "CONFIG_KALLSYMS": "where the kernel is entered";
    Text = c"_stext", "CONFIG_KALLSYMS": "functions in compact records";
    TextEnd = c"_etext", "CONFIG_KALLSYMS": "the range of kernel text";
    BtfStart = c"__start_BTF", "CONFIG_DEBUG_INFO_BTF": "the check of types";
    BtfStop = c"__stop_BTF", "CONFIG_DEBUG_INFO_BTF": "the check of types";
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn ktrace_bind(index: c_uint, addr: c_ulong);
    fn ktrace_locked_down() -> c_int;
    fn ktrace_find_kallsyms(addr: *mut c_ulong) -> c_int;
    fn ktrace_find_data(name: *const c_char, text: c_ulong, text_end: c_ulong) -> c_ulong;
    fn ktrace_call_kallsyms_lookup_name(name: *const c_char) -> c_ulong;
}

static MODULE: AtomicPtr<bindings::module> = AtomicPtr::null();

/// Returns the module that called `find()`.
pub(in crate::ktrace) fn this_module() -> *mut bindings::module {
    MODULE.load(Relaxed)
}

impl Data {
    /// Returns the address that `find()` found for this symbol; never 0 once it has succeeded.
    #[inline]
    pub(in crate::ktrace) fn address(self) -> usize {
        ADDRESSES.get(self as usize).map_or(0, ReadOnce::read_once)
    }

    /// Returns the address that `find()` found for this symbol, as a pointer.
    #[inline]
    pub(in crate::ktrace) fn as_ptr<T>(self) -> *mut T {
        self.address() as *mut T
    }
}

/// Evidence that all symbols were found and all types are compatible.
///
/// # Invariants
///
/// A value exists only after `find()` has succeeded: each `ktrace_call_*()` calls the function
/// with that name, whose prototype is the one in the target's BTF, and each address in `ADDRESSES`
/// is that of its symbol.
#[derive(Clone, Copy)]
pub struct Resolved(());

impl Resolved {
    /// Creates the evidence, after all checks have succeeded.
    ///
    /// # Safety
    ///
    /// `find()` must have succeeded, and the kernel must have the tracepoints and clocks that
    /// [`crate::ktrace::resolve`] looks for.
    pub(in crate::ktrace) unsafe fn new() -> Self {
        // INVARIANT: All symbols and types were checked, as the caller guarantees.
        Self(())
    }
}

/// Looks up all symbols and compares all types. May sleep.
///
/// # Errors
///
/// Those of [`crate::ktrace::resolve::resolve`].
pub(in crate::ktrace) fn find(module: &'static ThisModule) -> Result {
    MODULE.store(module.as_ptr(), Relaxed);
    // SAFETY: Queries the security modules, in task context: modules are loaded in task context.
    if unsafe { ktrace_locked_down() } != 0 {
        pr_err!("the kernel is locked down: tracing is not allowed\n");
        return Err(EPERM);
    }
    find_functions()?;
    find_data()?;
    check_types()
}

/// Returns the address of the symbol `name`, or 0 if there is none.
///
/// # Safety
///
/// The first entry of [`FUNCTIONS`] must have been bound.
unsafe fn lookup(name: &CStr) -> c_ulong {
    // SAFETY: The caller guarantees that the function is bound. `name` is a C string that is valid
    // during the call. The function takes no lock that the caller could hold.
    unsafe { ktrace_call_kallsyms_lookup_name(name.as_chars()) }
}

fn missing(symbol: &Symbol) -> Error {
    pr_err!(
        "symbol '{}' not found (needed for {}; requires {})\n",
        symbol.name.to_str().unwrap_or("?"),
        symbol.user,
        symbol.option
    );
    ENOENT
}

fn find_functions() -> Result {
    let mut past_landing_pad = 0;
    // SAFETY: The function registers and unregisters a kprobe, which may sleep: modules are loaded
    // in task context. It writes to a variable of this function.
    let found = to_result(unsafe { ktrace_find_kallsyms(&mut past_landing_pad) });
    if found == Err(ENOENT) {
        pr_err!(
            "symbol 'kallsyms_lookup_name' not found (requires CONFIG_KALLSYMS, CONFIG_KPROBES)\n"
        );
    }
    found?;
    // SAFETY: `kallsyms_lookup_name` is the first entry of `FUNCTIONS`, so it has index 0. The
    // address of a kprobe is behind the landing pad; a branch that needs no landing pad can enter
    // the function there.
    unsafe { ktrace_bind(0, past_landing_pad) };
    for (index, function) in FUNCTIONS.iter().enumerate() {
        // SAFETY: `lookup()` calls the first entry of `FUNCTIONS`, whose address
        // `ktrace_bind(0, ...)` has set above.
        let addr = unsafe { lookup(function.name) };
        if addr == 0 {
            return Err(missing(function));
        }
        // SAFETY: `addr` is the address of the function that `symbols.c` has at `index`: the build
        // compares both lists.
        unsafe { ktrace_bind(index as c_uint, addr) };
    }
    Ok(())
}

fn find_data() -> Result {
    for (symbol, address) in DATA.iter().zip(&ADDRESSES) {
        // SAFETY: `find()` calls this after `find_functions()`, which has bound the first entry of
        // `FUNCTIONS`.
        let found = unsafe { lookup(symbol.name) };
        if found == 0 {
            return Err(missing(symbol));
        }
        address.store(found as usize, Relaxed);
    }
    // With lockdep, there is also a function with this name.
    let (lock, place) = (
        Data::GraphLock as usize,
        ADDRESSES.get(Data::GraphLock as usize),
    );
    let (Some(symbol), Some(place)) = (DATA.get(lock), place) else {
        return Err(EINVAL);
    };
    let (text, end) = (Data::Text.address(), Data::TextEnd.address());
    // SAFETY: `find_functions()` has bound the functions before; `name` is a C string.
    let found =
        unsafe { ktrace_find_data(symbol.name.as_chars(), text as c_ulong, end as c_ulong) };
    if found == 0 {
        return Err(missing(symbol));
    }
    place.store(found as usize, Relaxed);
    Ok(())
}

/// Compares the types of this kernel with those that the module was compiled against.
fn check_types() -> Result {
    let (start, stop) = (Data::BtfStart.address(), Data::BtfStop.address());
    let len = stop.checked_sub(start).ok_or(ENOEXEC)?;
    // SAFETY: The two symbols are the start and the end of the kernel's `.BTF` section, which is
    // constant and stays mapped (include/asm-generic/vmlinux.lds.h).
    let raw = unsafe { core::slice::from_raw_parts(start as *const u8, len) };
    let unreadable = |why| {
        pr_err!("failed to read vmlinux BTF: {:?}\n", why);
        ENOEXEC
    };
    let btf = Btf::new(raw).map_err(unreadable)?;
    let mut index = KVVec::from_elem(0u32, btf.count().map_err(unreadable)?, GFP_KERNEL)?;
    let indexed = btf.index(&mut index).map_err(unreadable)?;
    for expected in abi::fingerprints() {
        let name = expected.name.to_str().unwrap_or("?");
        match indexed.fingerprint(expected.item, expected.name.to_bytes(), expected.id) {
            Some(hash) if hash == expected.hash => {}
            Some(_) => {
                pr_err!(
                    "'{}' differs from the kernel that this module was built for\n",
                    name
                );
                return Err(ENOEXEC);
            }
            None => {
                pr_err!("type '{}' not found in vmlinux BTF\n", name);
                return Err(ENOEXEC);
            }
        }
    }
    Ok(())
}
