// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads the records of all buffers of a recording, in the order of their times.

use std::{
    any::Any,
    ffi::{
        c_int,
        c_void, //
    },
    ops::ControlFlow,
    panic::{
        self,
        AssertUnwindSafe, //
    },
    ptr::NonNull,
    slice, //
};

use anyhow::bail;

use super::{
    bindings,
    input::Input,
    pages::Pages, //
};

/// A record as it is in the ring buffer.
#[derive(Clone, Copy, Debug)]
pub struct RawRecord<'a> {
    /// The timestamp in ns.
    pub time: u64,
    /// The CPU that wrote the record.
    pub cpu: usize,
    /// The number of the buffer: 0 is the top one.
    pub buffer: usize,
    /// The number of records that are missing before this one; `None` if none is, -1 if the number
    /// is unknown.
    pub missed: Option<i64>,
    /// The data.
    pub data: &'a [u8],
}

/// A function that gets each record, and says whether to continue.
type Visit<'a> = dyn FnMut(RawRecord<'_>) -> ControlFlow<()> + 'a;

struct State<'a> {
    visit: &'a mut Visit<'a>,
    buffers: &'a [*mut bindings::tracecmd_input],
    /// The buffer of the latest record, which is likely that of the next.
    buffer: usize,
    pages: Pages,
    stopped: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// The return value that ends the iteration. libtracecmd uses -1 for its own errors.
const STOP: c_int = 1;

impl Input {
    /// Calls `visit` for each record of all buffers, in the order of their times, until it breaks.
    ///
    /// # Errors
    ///
    /// If the recording cannot be read to its end.
    pub fn for_each(
        &self,
        mut visit: impl FnMut(RawRecord<'_>) -> ControlFlow<()>,
    ) -> anyhow::Result<()> {
        let mut buffers: Vec<_> = self.buffers.iter().map(|buffer| buffer.as_ptr()).collect();
        let nr = c_int::try_from(buffers.len())?;
        let known = buffers.clone();
        let mut state = State {
            visit: &mut visit,
            buffers: &known,
            buffer: 0,
            pages: Pages::default(),
            stopped: false,
            panic: None,
        };
        // SAFETY: All handles are open. The callback gets a pointer to `state`, which lives longer
        // than the call and is not used by others during it.
        let status = unsafe {
            bindings::tracecmd_iterate_events_multi(
                buffers.as_mut_ptr(),
                nr,
                Some(callback),
                (&raw mut state).cast(),
            )
        };
        if let Some(panic) = state.panic {
            panic::resume_unwind(panic);
        }
        if status != 0 && !state.stopped {
            bail!("the recording is incomplete or damaged");
        }
        Ok(())
    }
}

/// Passes a record on to the function in `data`.
///
/// # Safety
///
/// Must be called by [`Input::for_each`]'s iteration only: `record` must be valid during the call,
/// and `data` point to a [`State`] that nothing else uses.
unsafe extern "C" fn callback(
    handle: *mut bindings::tracecmd_input,
    record: *mut bindings::tep_record,
    _index: c_int,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `data` is the state that the iteration was started with.
    let state = unsafe { &mut *data.cast::<State<'_>>() };
    let Some(record) = NonNull::new(record) else {
        return 0;
    };
    if state.buffers.get(state.buffer) != Some(&handle) {
        let found = state.buffers.iter().position(|buffer| *buffer == handle);
        state.buffer = found.unwrap_or(0);
    }
    // SAFETY: The record is valid during the call. The recording is open during the iteration, at
    // the end of which the state is dropped.
    unsafe { state.pages.hold(state.buffer, record) };
    // SAFETY: The record is valid during the call, and not changed before its end.
    let record = unsafe { record.as_ref() };
    let size = usize::try_from(record.size).unwrap_or(0);
    let data = match record.data.is_null() || size == 0 {
        true => &[][..],
        // SAFETY: The data of a record are `size` bytes, which are valid as long as it is.
        false => unsafe { slice::from_raw_parts(record.data.cast::<u8>(), size) },
    };
    let raw = RawRecord {
        time: record.ts,
        cpu: usize::try_from(record.cpu).unwrap_or(0),
        buffer: state.buffer,
        missed: (record.missed_events != 0).then_some(record.missed_events),
        data,
    };
    // A panic must not unwind into C.
    match panic::catch_unwind(AssertUnwindSafe(|| (state.visit)(raw))) {
        Ok(ControlFlow::Continue(())) => 0,
        Ok(ControlFlow::Break(())) => {
            state.stopped = true;
            STOP
        }
        Err(panic) => {
            state.panic = Some(panic);
            STOP
        }
    }
}
