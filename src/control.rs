// SPDX-License-Identifier: GPL-2.0

//! The control files in the directory `ferrotrace/` of each trace array.
//!
//! They behave like ftrace's own files. If a file is opened with `>`, a write replaces its
//! contents; with `>>`, a write adds to them. If it is opened with `>` and closed without a write,
//! or only white space is written, its contents are cleared, except for boolean files. An invalid
//! write fails, adds a message to `error_log` of the trace array, and leaves the settings
//! unchanged: a `>` takes effect with the first valid write, not when the file is opened.
//!
//! A word may be split over several writes. A word that is not followed by white space takes effect
//! when a descriptor of the file is closed, including a duplicated or an inherited one; `close()`
//! returns the error if it is invalid.

mod causes;
mod lists;
mod triggers;

use core::ffi::CStr;

use kernel::{
    prelude::*,
    seq_file::SeqFile,
    seq_print,
    sync::{
        atomic::Atomic,
        Arc, //
    },
};

use crate::{
    arrays::{
        Array,
        State,
        STATE, //
    },
    filter::{
        decision::ClearInherited, //
        error::{
            Fault,
            InputError, //
        },
        input::{
            parse_switch,
            Input,
            ListName, //
        },
    },
    function_trace::Count,
    ktrace::array::{
        error_log::{
            self,
            ErrorLog, //
        },
        instances,
        trace_array::{
            pin,
            Pinned, //
        },
        tracefs::{
            ControlFile,
            FileSpec,
            OpenMode,
            MODE_READ,
            MODE_WRITE, //
        },
    },
    thresholds::{
        parse_depth,
        parse_thresholds,
        Thresholds, //
        TimeKind,
    },
    works,
};

/// The setting or information that a file represents.
#[derive(Clone, Copy)]
enum Kind {
    List(ListName),
    FollowFork,
    FollowWork,
    MaxGraphDepth,
    Thresholds,
    Profile,
    Paths,
    Latency,
    MaxStack,
    Triggers,
    ChainThresh,
    Stats,
}

impl Kind {
    /// Returns whether opening the file with `>` clears its contents.
    fn can_be_cleared(self) -> bool {
        match self {
            Kind::List(_)
            | Kind::MaxGraphDepth
            | Kind::Thresholds
            | Kind::Profile
            | Kind::Paths
            | Kind::Latency
            | Kind::MaxStack
            | Kind::Triggers
            | Kind::ChainThresh => true,
            Kind::FollowFork | Kind::FollowWork | Kind::Stats => false,
        }
    }
}

/// A control file: its name, its kind, and the text in the header that it prints.
struct Description {
    name: &'static CStr,
    kind: Kind,
    help: &'static str,
}

static FILES: &[Description] = &[
    Description {
        name: c"set_pid",
        kind: Kind::List(ListName::Pid),
        help: "thread ids to trace, for example '1234 1240'; 0 is the idle tasks",
    },
    Description {
        name: c"set_notrace_pid",
        kind: Kind::List(ListName::NotracePid),
        help: "thread ids not to trace, for example '1234'; overrides the other files",
    },
    Description {
        name: c"set_tgid",
        kind: Kind::List(ListName::Tgid),
        help: "process ids to trace with all threads, also later ones, for example '1234'",
    },
    Description {
        name: c"set_notrace_tgid",
        kind: Kind::List(ListName::NotraceTgid),
        help: "process ids not to trace, for example '1234'; overrides the other files",
    },
    Description {
        name: c"set_comm",
        kind: Kind::List(ListName::Comm),
        help: "patterns of task names to trace (* ? [a-z]; \\ before a space), for example \
               'nginx* kworker/*'",
    },
    Description {
        name: c"set_notrace_comm",
        kind: Kind::List(ListName::NotraceComm),
        help: "patterns of task names not to trace, for example 'sshd*'; overrides the other files",
    },
    Description {
        name: c"set_cgroup",
        kind: Kind::List(ListName::Cgroup),
        help: "cgroups (v2) whose tasks to trace, with all below, for example \
               '/system.slice/cron.service'",
    },
    Description {
        name: c"set_notrace_cgroup",
        kind: Kind::List(ListName::NotraceCgroup),
        help: "cgroups (v2) whose tasks not to trace, for example '/user.slice'; overrides the \
               other files",
    },
    Description {
        name: c"follow_fork",
        kind: Kind::FollowFork,
        help: "0 or 1: whether the children of traced tasks are traced, for example 1",
    },
    Description {
        name: c"follow_work",
        kind: Kind::FollowWork,
        help: "0 or 1: whether the work that traced tasks queue on workqueues is traced (event \
               task_work), for example 1",
    },
    Description {
        name: c"max_graph_depth",
        kind: Kind::MaxGraphDepth,
        help: "depth to which calls are recorded, for example 3; 0 means no limit",
    },
    Description {
        name: c"tracing_thresh",
        kind: Kind::Thresholds,
        help: "least time in us of recorded calls, [total|run|wait|block] US, for example 'block 1000'",
    },
    Description {
        name: c"profile",
        kind: Kind::Profile,
        help: "times in us by function, task, place, waker, section; needs ferro-profile; \
               any text, for example 0, resets it",
    },
    Description {
        name: c"profile_folded",
        kind: Kind::Paths,
        help: "times in ns by path of calls, for flame graphs; needs ferro-profile and \
               ferro-profile-paths; any text, for example 0, resets it",
    },
    Description {
        name: c"latency",
        kind: Kind::Latency,
        help: "the longest times in us with interrupts and with preemption off; enable with \
               options/ferro-latency; any text, for example 0, resets it",
    },
    Description {
        name: c"max_stack",
        kind: Kind::MaxStack,
        help: "the deepest kernel stack of each task, in bytes; enable with \
               options/ferro-max-stack; any text, for example 0, resets it",
    },
    Description {
        name: c"triggers",
        kind: Kind::Triggers,
        help: "rules, one a line: WHEN [if CONDITION] do ACTION, for example \
               'exit vfs_read if block > 20ms do snapshot, stop:1'",
    },
    Description {
        name: c"chain_thresh",
        kind: Kind::ChainThresh,
        help: "least time in us of a block whose wakers are followed (event task_chain), and of a \
               wait whose causes are reported (task_wait_behind), for example 20000; 0 means none",
    },
    Description {
        name: c"stats",
        kind: Kind::Stats,
        help: "numbers of tasks and records, and of everything that was lost; read-only",
    },
];

/// Returns the control files of the trace array with this serial number. A file's handle encodes
/// the serial number and the index of the file.
pub(crate) fn files(serial: usize) -> impl Iterator<Item = FileSpec> {
    FILES.iter().enumerate().map(move |(n, file)| FileSpec {
        name: file.name,
        mode: match file.kind {
            Kind::Stats => MODE_READ,
            _ => MODE_WRITE,
        },
        handle: serial.wrapping_mul(FILES.len()).wrapping_add(n),
    })
}

/// An open control file.
pub(crate) struct Control {
    about: &'static Description,
    serial: usize,
    /// Keeps the trace array alive as long as the file is open.
    tr: Pinned,
    errors: Arc<ErrorLog>,
    /// The input parser, if the file is a list that is opened for writing.
    input: Option<Input>,
    /// The next valid write replaces the contents.
    replace: bool,
    /// Nothing was written so far, not even unsuccessfully.
    untouched: bool,
    /// A descriptor of the file has been closed.
    flushed: bool,
    /// The number of bytes accepted before the current write.
    written: usize,
    /// How often rules had fired when the file was opened or last read.
    seen_fired: Atomic<u64>,
}

impl Control {
    /// Calls `with` with the state of this file's trace array.
    fn with<R>(&self, with: impl FnOnce(&State, &Array) -> R) -> Result<R> {
        let state = STATE.lock();
        let state = state.as_ref().ok_or(ENODEV)?;
        Ok(with(state, state.by_serial(self.serial).ok_or(ENODEV)?))
    }

    /// Processes written data. Empty data clears the contents if `replace` is set.
    fn take(&mut self, data: &[u8]) -> Result {
        match self.about.kind {
            Kind::List(name) => self.add_to_list(name, data),
            Kind::FollowFork => self.set_follow_fork(data),
            Kind::FollowWork => self.set_follow_work(data),
            Kind::MaxGraphDepth => self.set_max_depth(data),
            Kind::Thresholds => self.set_thresholds(data),
            Kind::Profile => self.clear(State::clear_profile),
            Kind::Paths => self.clear(State::clear_paths),
            Kind::Latency => self.clear(State::clear_latency),
            Kind::MaxStack => self.clear(State::clear_max_stack),
            Kind::Triggers => self.set_triggers(data),
            Kind::ChainThresh => self.set_chain_thresh(data),
            Kind::Stats => Err(EBADF),
        }
    }

    fn add_to_list(&mut self, name: ListName, data: &[u8]) -> Result {
        let input = self.input.as_mut().ok_or(EBADF)?;
        if let Err(error) = input.write(data) {
            return Err(self.refuse(data, &error));
        }
        // White space alone clears the list. An unfinished word waits for its rest, and so do the
        // entries before it in the same write, because all of them are rejected if the word is
        // invalid.
        if !input.has_half_word() && (input.has_entries() || self.replace) {
            self.commit(name, data)?;
        }
        self.written = self.written.saturating_add(data.len());
        Ok(())
    }

    /// Installs the list entries that were written so far. Without entries, the list is cleared if
    /// `replace` is set.
    fn commit(&mut self, name: ListName, data: &[u8]) -> Result {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        let mut state = STATE.lock();
        let state = state.as_mut().ok_or(ENODEV)?;
        let current = state.by_serial(self.serial).ok_or(ENODEV)?.filter();
        let filter = match input.take(self.replace, current) {
            Ok(filter) => filter,
            Err(error) => return Err(self.refuse(data, &error)),
        };
        let clear = match self.replace {
            true => name.clears_inherited(),
            false => ClearInherited::default(),
        };
        // These entries must not take effect when the file is closed.
        if let Err(error) = state.set_filter(self.serial, filter, clear) {
            input.give_up();
            return Err(error);
        }
        self.replace = false;
        Ok(())
    }

    /// Adds an error about `data`, the latest piece of the input, to `error_log`, and returns the
    /// error for the caller. The message shows all of `data` with a mark at the word if `data` is
    /// short enough, otherwise the word alone.
    fn refuse(&self, data: &[u8], error: &InputError) -> Error {
        let text = data.trim_ascii_end();
        let at = error.offset().checked_sub(self.written);
        let at = at.filter(|&at| at < text.len() && text.len() <= error_log::MAX_COMMAND);
        let (mut command, at) = match at {
            Some(at) => (text, at),
            None => (error.token(), 0),
        };
        let mut with_comm = [0; error_log::MAX_COMMAND];
        if let Some(comm) = error.kept_comm() {
            let parts = [command, b" (comm: ", comm, b")"];
            let mut len = 0;
            for (to, from) in with_comm.iter_mut().zip(parts.into_iter().flatten()) {
                *to = *from;
                len += 1;
            }
            command = with_comm.get(..len).unwrap_or(command);
        }
        self.errors.log(
            &self.tr,
            self.about.name,
            command,
            error.fault().index(),
            at,
        );
        error.errno()
    }

    fn set_follow_fork(&mut self, data: &[u8]) -> Result {
        let Some(on) = parse_switch(data).map_err(|error| self.refuse(data, &error))? else {
            return Ok(());
        };
        let mut state = STATE.lock();
        let state = state.as_mut().ok_or(ENODEV)?;
        let mut filter = state
            .by_serial(self.serial)
            .ok_or(ENODEV)?
            .filter()
            .try_clone()?;
        filter.follow_fork = on;
        // Turning the option off also clears what tasks have inherited.
        let clear = if on {
            ClearInherited::default()
        } else {
            ClearInherited::ALL
        };
        state.set_filter(self.serial, filter, clear)
    }

    fn set_max_depth(&mut self, data: &[u8]) -> Result {
        let depth = parse_depth(data, self.replace).map_err(|error| self.refuse(data, &error))?;
        let Some(depth) = depth else {
            return Ok(());
        };
        self.with(|_, array| array.recorder().set_max_depth(depth))?;
        self.replace = false;
        Ok(())
    }

    /// Sets the thresholds. Empty input or white space clears them if `replace` is set.
    fn set_thresholds(&mut self, data: &[u8]) -> Result {
        // Read and set under one lock, so that concurrent writers do not overwrite each other's
        // additions.
        let set = self.with(|_, array| {
            let recorder = array.recorder();
            let mut thresholds = match self.replace {
                true => Thresholds::default(),
                false => recorder.limits().thresholds(),
            };
            parse_thresholds(data, &mut thresholds)?;
            recorder.set_thresholds(thresholds);
            Ok(())
        })?;
        set.map_err(|error| self.refuse(data, &error))?;
        self.replace = false;
        if let Some(state) = STATE.lock().as_mut() {
            state.sync_markers();
        }
        Ok(())
    }

    fn clear(&mut self, clear: impl FnOnce(&mut State, usize) -> Result) -> Result {
        let mut state = STATE.lock();
        clear(state.as_mut().ok_or(ENODEV)?, self.serial)?;
        self.replace = false;
        Ok(())
    }

    fn show_profile(&self, out: &SeqFile) -> Result {
        self.with(|state, array| match array.profile() {
            Some(profile) => profile.show(out, array.paths(), state.gone()),
            None => Ok(()),
        })?
    }

    fn show_paths(&self, out: &SeqFile) -> Result {
        self.with(|state, array| match array.paths() {
            Some(paths) => paths.show(out, state.gone()),
            None => Ok(()),
        })?
    }

    fn show_latency(&self, out: &SeqFile) -> Result {
        self.with(|state, array| match array.latency() {
            Some(latency) => latency.show(out, state.gone()),
            None => Ok(()),
        })?
    }

    fn show_max_stack(&self, out: &SeqFile) -> Result {
        self.with(|state, array| match array.max_stack() {
            Some(max_stack) => max_stack.show(out, state.gone()),
            None => Ok(()),
        })?
    }

    fn show_thresholds(&self, out: &SeqFile) -> Result {
        let thresholds = self.with(|_, array| array.recorder().limits().thresholds())?;
        for kind in TimeKind::ALL {
            match thresholds.get(kind) {
                0 => {}
                ns => seq_print!(out, "{} {}\n", kind.name(), ns / 1000),
            }
        }
        Ok(())
    }

    fn show_stats(&self, out: &SeqFile) -> Result {
        let (entries, overrun) = self.tr.entries();
        self.with(|state, array| {
            let count = |what| array.recorder().count(what);
            seq_print!(out, "recording: {}\n", u32::from(array.is_recording()));
            match state.matched(array) {
                Some(matched) => seq_print!(out, "tasks traced: {}\n", matched),
                None => seq_print!(out, "tasks traced: all\n"),
            }
            seq_print!(out, "function records: {}\n", count(Count::Functions));
            seq_print!(out, "kernel_stack records: {}\n", count(Count::Stacks));
            seq_print!(out, "funcgraph_entry records: {}\n", count(Count::Entries));
            seq_print!(out, "funcgraph_exit records: {}\n", count(Count::Returns));
            seq_print!(out, "funcgraph_times records: {}\n", count(Count::Times));
            seq_print!(out, "entries: {}\n", entries);
            seq_print!(out, "overrun: {}\n", overrun);
            seq_print!(out, "dropped events: {}\n", count(Count::NoRoom));
            seq_print!(out, "recursion: {}\n", count(Count::Recursion));
            seq_print!(out, "shadow stack overrun: {}\n", count(Count::StackFull));
            seq_print!(out, "truncated stack traces: {}\n", count(Count::StackCut));
            seq_print!(
                out,
                "filter updates lost: {}\n",
                state.filter_updates_lost()
            );
            seq_print!(out, "tasks accounted: {}\n", state.accounted_tasks());
            seq_print!(out, "accounting gaps: {}\n", state.time_gaps());
            seq_print!(out, "work lost: {}\n", works::lost());
            seq_print!(out, "sections lost: {}\n", state.sections_lost());
            seq_print!(out, "task tables KiB: {}\n", state.tables_size() / 1024);
        })
    }
}

impl ControlFile for Control {
    /// Enough for the largest list that is accepted.
    const MAX_WRITE: usize = 256 * 1024;

    fn open(handle: usize, mode: OpenMode) -> Result<Self> {
        let serial = handle / FILES.len();
        let about = FILES.get(handle % FILES.len()).ok_or(ENODEV)?;
        let (resolved, id, errors) = {
            let state = STATE.lock();
            let state = state.as_ref().ok_or(ENODEV)?;
            let id = state.by_serial(serial).ok_or(ENODEV)?.id();
            (state.resolved(), id, Arc::clone(state.errors()))
        };
        let tr = pin(resolved, id)?;
        // In between, another instance may have got the address. This is impossible from here on,
        // because the trace array is pinned.
        let fired = {
            let state = STATE.lock();
            let array = state.as_ref().and_then(|state| state.by_serial(serial));
            let array = array.filter(|array| array.is_of(&tr)).ok_or(ENODEV)?;
            array.fired()
        };
        instances::look_again();
        let input = match about.kind {
            Kind::List(name) if mode.write => Some(Input::new(name, &lists::NAMES)),
            _ => None,
        };
        Ok(Self {
            about,
            serial,
            tr,
            errors,
            replace: mode.write && mode.truncate && about.kind.can_be_cleared(),
            input,
            untouched: true,
            flushed: false,
            written: 0,
            seen_fired: Atomic::new(fired),
        })
    }

    fn has_news(&self) -> Option<bool> {
        matches!(self.about.kind, Kind::Triggers).then(|| self.has_fired())
    }

    fn show(&self, out: &SeqFile) -> Result {
        // Programs read the paths, which have no syntax for comments.
        let is_data = matches!(self.about.kind, Kind::Paths)
            && self.with(|_, array| array.paths().is_some())?;
        if !is_data {
            let name = self.about.name.to_str().unwrap_or("?");
            seq_print!(out, "# {}: {}\n", name, self.about.help);
        }
        match self.about.kind {
            Kind::List(name) => {
                let filter = self.with(|_, array| Arc::clone(array.filter()))?;
                lists::show(out, filter.list(name))
            }
            Kind::FollowFork => self.with(|_, array| {
                seq_print!(out, "{}\n", u32::from(array.filter().follow_fork));
            }),
            Kind::FollowWork => self.with(|_, array| {
                seq_print!(out, "{}\n", u32::from(array.follows_work()));
            }),
            Kind::MaxGraphDepth => self.with(|_, array| {
                seq_print!(out, "{}\n", array.recorder().limits().max_depth());
            }),
            Kind::Thresholds => self.show_thresholds(out),
            Kind::Profile => self.show_profile(out),
            Kind::Paths => self.show_paths(out),
            Kind::Latency => self.show_latency(out),
            Kind::MaxStack => self.show_max_stack(out),
            Kind::Triggers => self.show_triggers(out),
            Kind::ChainThresh => self.show_chain_thresh(out),
            Kind::Stats => self.show_stats(out),
        }
    }

    fn write(&mut self, data: &[u8]) -> Result {
        if data.is_empty() {
            return Ok(());
        }
        self.untouched = false;
        self.take(data)
    }

    fn too_long(&mut self) -> Error {
        self.untouched = false;
        if let Some(input) = &mut self.input {
            input.refuse_size();
        }
        let fault = match self.about.kind {
            Kind::List(_)
            | Kind::Profile
            | Kind::Paths
            | Kind::Latency
            | Kind::MaxStack
            | Kind::Triggers
            | Kind::Stats => Fault::TooMany,
            Kind::FollowFork | Kind::FollowWork => Fault::NotASwitch,
            Kind::MaxGraphDepth => Fault::NotADepth,
            Kind::ChainThresh => Fault::NotMicroseconds,
            Kind::Thresholds => Fault::NotAThreshold,
        };
        self.errors
            .log(&self.tr, self.about.name, b"", fault.index(), 0);
        EFBIG
    }

    fn not_copied(&mut self) {
        self.untouched = false;
        if let Some(input) = &mut self.input {
            input.give_up();
        }
    }

    fn flush(&mut self) -> Result {
        self.flushed = true;
        let (Kind::List(name), Some(input)) = (self.about.kind, &mut self.input) else {
            return Ok(());
        };
        if self.untouched || input.has_failed() {
            return Ok(());
        }
        if let Err(error) = input.finish() {
            return Err(self.refuse(b"", &error));
        }
        if input.has_entries() || self.replace {
            self.commit(name, b"")?;
        }
        Ok(())
    }

    fn closed(&mut self) {
        let result = match (self.untouched, self.flushed) {
            // `> file` without a write.
            (true, true) if self.replace => self.take(b""),
            // No descriptor was returned, because the open was refused afterwards (Landlock).
            (true, _) => Ok(()),
            // The file never had a normal descriptor, so `flush()` was not called (io_uring).
            (false, false) => self.flush(),
            (false, true) => Ok(()),
        };
        if result.is_err() {
            let name = self.about.name.to_str().unwrap_or("?");
            pr_warn!("failed to apply a write to '{}' when it was closed\n", name);
        }
    }
}
